# SPDX-License-Identifier: MIT
"""A capture as NumPy arrays, and as frames. Cycles are clock64 of a track's SM; ns are real time as the capture's clock map gives
it. Arrays of rows lie in libinkmark's own memory and are read-only; they keep it alive, also after the capture is
closed."""
from __future__ import annotations

import ctypes
import io
import os
from ctypes import POINTER, byref, c_size_t, c_void_p
import tempfile
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy
from numpy.typing import NDArray

from . import _frames
from ._dtypes import (ROW_NONE, ROW_UNKNOWN, UNMARKED, activity_dtype, crossing_dtype, host_range_dtype,
                      launch_dtype, row_dtype, total_dtype)
from ._library import (ROW_CROSSING, ROW_DEVICE, ROW_HOST_RANGE, ROW_KERNEL, ROW_LAUNCH, ROW_OPEN_TRACK, ROW_SECTION,
                       ROW_TABLE_ROW, ROW_TOTAL, Device, Error, ErrorOut, Facts, Kernel, OpenTrack, OutputOptions, Owned,
                       Section, TableOptions, array_at, check, lib, path_bytes, structures_at, text)

Path = Union[str, "os.PathLike[str]"]

_EVERY_LAUNCH = 0xFFFFFFFF
_MARKING = {None: 0, "in": 1, "out": 2}
_ADDS_UP = ("count", "cut", "nested", "passes", "tracks", "total_cycles", "total_ns", "self_cycles", "self_ns",
            "marking_cycles", "marking_bound_cycles", "bound_ns")
_BY = {"section": 0, "iteration": 1, "block": 2, "sm": 3, "launch": 4, "warp": 5, "device": 6, "instance": 7, "role": 8}

def open(path: Path) -> "Capture":  # noqa: A001: as in gzip.open
    """Opens a capture. Raises Error for what is none, is damaged in its header, or of a newer inkmark; what
    is cut off or damaged further on is left out, and Capture.facts["note"] says so."""
    return Capture(path)


class Capture(_frames.Frames):
    """An open capture: a context manager. Attributes are read once and stay valid after close()."""

    path: str
    facts: Dict[str, Any]
    """dict: version, complete, file_bytes, used_bytes, damaged_chunks, open_tracks, unknown_kernels, note, full_tracks
    (closed tracks with more words than their rings hold)."""
    simulated: bool
    """True: made on the simulated device, whose cycles and ns are not a GPU's."""
    devices: List[Dict[str, Any]]
    """list of dicts, one a device: index, name, sm_count, capability (90 for 9.0), track_count, ..."""
    kernels: List[Dict[str, Any]]
    """list of dicts: name (the section that PROF_KERNEL named; with the function where several name it), instance
    (that function, as __PRETTY_FUNCTION__ has it, or None), table, launches, tracks, marks_executed,
    missed, tracks_lost, marks_lost. `kernel` in rows is an index into it."""
    sections: List[Dict[str, Any]]
    """list of dicts: name, table, id. `section` in rows is an index into it."""
    launches: NDArray[Any]
    """Array [launch] of launch_dtype, by device and then by begin."""

    def __init__(self, path: Path) -> None:
        c, error, pointer = lib(), ErrorOut(), c_void_p()
        self.path = os.fspath(path)
        check(c.ink_capture_open(path_bytes(self.path), byref(pointer), byref(error)), error)
        self._capture: Optional[Owned] = Owned(pointer, c.ink_capture_free)
        clock = c_void_p()
        check(c.ink_clock_map_make(pointer, byref(clock), byref(error)), error)
        self._clock: Optional[Owned] = Owned(clock, c.ink_clock_map_free)
        self._read(pointer)

    def _read(self, pointer: c_void_p) -> None:
        c = lib()
        facts = c.ink_capture_get_facts(pointer).contents
        self.facts = {name: getattr(facts, name) for name in (field[0] for field in Facts._fields_)}
        self.facts["note"] = text(self.facts["note"])
        self.simulated = c.ink_capture_simulated(pointer)
        self.track_count = c.ink_capture_track_count(pointer)
        self.devices = self._list(c.ink_capture_devices, Device, ROW_DEVICE, pointer)
        self.kernels = self._list(c.ink_capture_kernels, Kernel, ROW_KERNEL, pointer)
        self.sections = self._list(c.ink_capture_sections, Section, ROW_SECTION, pointer)
        address = c_void_p()
        count = c.ink_capture_launches(pointer, byref(address))
        self.launches = array_at(address.value, count, launch_dtype, self._capture, ROW_LAUNCH)

    @staticmethod
    def _list(function: Callable[..., int], kind: Any, row_type: int, pointer: c_void_p) -> List[Dict[str, Any]]:
        first = POINTER(kind)()
        count = function(pointer, byref(first))
        out = []
        for item in structures_at(first, count, kind, row_type):
            values = {name: getattr(item, name) for name, _ in kind._fields_}
            if "table" in values:
                values["table"] = text(item.table.contents.name) if item.table else None
            values["name"] = text(values["name"])
            if "instance" in values:
                values["instance"] = text(values["instance"])
            out.append(values)
        return out

    def keep(self, owner: object) -> None:
        """Keeps an object for as long as the capture is there: that of its file's folder."""
        self._kept = owner

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the capture as soon as no array needs it. Tables cannot be made any more."""
        self._clock = self._capture = None

    def _pointers(self) -> Tuple[c_void_p, c_void_p]:
        if self._capture is None or self._clock is None:
            raise Error("the capture is closed")
        return self._capture.pointer, self._clock.pointer

    def fact(self, key: str) -> Optional[str]:
        """What the recording noted under "command", "host", "pid", "started_ns", ...: text, or None."""
        return text(lib().ink_capture_fact(self._pointers()[0], key.encode()))

    def _table(self, by: str, kernel: Optional[str], launch: Optional[int], raw: bool) -> Owned:
        c, error, pointer = lib(), ErrorOut(), c_void_p()
        if by not in _BY:
            raise ValueError(f"by is one of {', '.join(_BY)}, not {by!r}")
        options = TableOptions(ctypes.sizeof(TableOptions), _BY[by], kernel.encode() if kernel else None,
                               _EVERY_LAUNCH if launch is None else launch, None, None, not raw, False, None)
        capture, clock = self._pointers()
        check(c.ink_table_make(capture, clock, byref(options), byref(pointer), byref(error)), error)
        table = Owned(pointer, c.ink_table_free)
        if kernel and self.kernels and not c.ink_table_kernels(table.pointer, byref(c_void_p())):
            raise KeyError(f"no kernel matches {kernel!r}; there are {[k['name'] for k in self.kernels]}")
        return table

    def table(self, by: str = "section", kernel: Optional[str] = None, launch: Optional[int] = None,
              raw: bool = False) -> NDArray[Any]:
        """Array [row] of row_dtype: one row for each part of a kernel, group and section, sorted so; "(unmarked)"
        last. A part is what of a kernel ran on one device as one template instance, as totals() has them.
        `by`: what a group is, "section" (none), "iteration", "block", "sm", "launch", "warp", "device" or
        "instance". `kernel`: a POSIX extended regular expression of kernels' names, some of which it must match.
        `launch`: an index into launches. `raw`: leave the marks' own cost in the times. Raises Error for a bad
        expression or a launch that is not there, KeyError for a kernel that is not."""
        table, address = self._table(by, kernel, launch, raw), c_void_p()
        count = lib().ink_table_rows(table.pointer, byref(address))
        return array_at(address.value, count, row_dtype, table, ROW_TABLE_ROW)

    def totals(self, kernel: Optional[str] = None, launch: Optional[int] = None, raw: bool = False) -> NDArray[Any]:
        """Array [part] of total_dtype: tracks, marks kept and dropped, time in all tracks."""
        table, address = self._table("section", kernel, launch, raw), c_void_p()
        count = lib().ink_table_kernels(table.pointer, byref(address))
        return array_at(address.value, count, total_dtype, table, ROW_TOTAL)

    def crossings(self, kernel: Optional[str] = None, launch: Optional[int] = None, raw: bool = False) -> NDArray[Any]:
        """Array of crossing_dtype: ranges across threads (PROF_ASYNC_BEGIN_BLOCK and its kin) of one kernel, section,
        scope (1 block, 2 cluster, 3 grid) and pair of roles."""
        table, address = self._table("section", kernel, launch, raw), c_void_p()
        count = lib().ink_table_crossings(table.pointer, byref(address))
        return array_at(address.value, count, crossing_dtype, table, ROW_CROSSING)

    def matrix(self, kernel: str, by: str = "iteration", value: str = "total_cycles", launch: Optional[int] = None,
               raw: bool = False) -> Tuple[NDArray[Any], NDArray[Any], List[str]]:
        """(values [group][section], groups [group], names [section]) of the one kernel of that very name; a
        group without the section has NaN where `value` is a time in ns, a share or a bound, else 0.
        `groups` are iterations (ROW_NONE and ROW_UNKNOWN first), linear blocks, SMs or launches; the last
        name is "(unmarked)" where any time is. Raises KeyError where no kernel has the name, or several."""
        found = [i for i, k in enumerate(self.kernels) if k["name"] == kernel]
        if len(found) != 1:
            raise KeyError(f"{len(found)} kernels are called {kernel!r}; there are {[k['name'] for k in self.kernels]}")
        rows = self.table(by, None, launch, raw)
        rows = rows[rows["kernel"] == found[0]]
        groups, row_at = numpy.unique(rows["group"], return_inverse=True)
        sections, column_at = numpy.unique(rows["section"], return_inverse=True)
        kind = row_dtype[value]
        values = numpy.full((len(groups), len(sections)), numpy.nan if kind.kind == "f" else 0, kind)
        if len(numpy.unique(rows["part"])) > 1:  # devices, or template instances
            if value not in _ADDS_UP:
                raise KeyError(f"{kernel!r} ran on several devices or as several instances, whose {value!r} does not "
                               "add up: use table()")
            values[row_at, column_at] = 0
            numpy.add.at(values, (row_at, column_at), rows[value])
        else:
            values[row_at, column_at] = rows[value]
        return values, groups, [self.section_name(s) for s in sections]

    def instance(self, total: Any) -> Optional[str]:
        """The full name of the function that a row of totals() is of; None: it is not known."""
        self._pointers()
        address = int(total["instance"])
        return text(ctypes.string_at(address)) if address else None

    def open_tracks(self) -> List[Dict[str, Any]]:
        """list of dicts, one for each track that never closed: track, launch, known (where it stood), inside and after
        (names, None: in no range, behind no mark), iteration (None: in none), newest (False: it may have gone on),
        cut (its thread left there), seen_ns, inside_ns (how long it was in the range then, None: not known), marks."""
        c, error, first, count = lib(), ErrorOut(), POINTER(OpenTrack)(), c_size_t()
        capture, clock = self._pointers()
        check(c.ink_open_tracks(capture, clock, byref(first), byref(count), byref(error)), error)
        out = []
        for track in structures_at(first, count.value, OpenTrack, ROW_OPEN_TRACK):
            place = track.place
            inside, after = (None if s == UNMARKED else self.section_name(s) for s in (place.inside, place.after))
            out.append({"track": track.track, "launch": track.launch, "known": place.known, "inside": inside, "after": after,
                        "iteration": None if place.row in (ROW_NONE, ROW_UNKNOWN) else place.row, "newest": place.newest,
                        "cut": track.cut, "seen_ns": track.seen_ns, "marks": track.marks,
                        "inside_ns": track.inside_ns if inside and track.seen_known else None})
        c.ink_open_tracks_free(first)
        return out

    def activities(self) -> NDArray[Any]:
        """Array of activity_dtype, by begin: what CUPTI saw, of recordings with activity. Times are CUPTI's;
        to_pandas(what="activity") has them as Unix time."""
        c, first = lib(), c_void_p()
        count = c.ink_capture_activities(self._pointers()[0], byref(first), None)
        out = numpy.empty(count, activity_dtype)
        size = activity_dtype.itemsize
        if count and first.value:
            where = (c_void_p * count).from_address(first.value)
            for i, address in enumerate(where):
                ctypes.memmove(out.ctypes.data + i * size, address or 0, size)
        return out

    def host_ranges(self) -> NDArray[Any]:
        """Array of host_range_dtype, by begin: ranges and marks of the host, in Unix time. Names are addresses there;
        to_pandas(what="ranges") has them as text."""
        first = c_void_p()
        count = lib().ink_capture_host_ranges(self._pointers()[0], byref(first))
        return array_at(first.value, count, host_range_dtype, self._capture, ROW_HOST_RANGE).copy()

    def section_name(self, section: int) -> str:
        """Of an index into sections; "(unmarked)" for UNMARKED."""
        return "(unmarked)" if section == UNMARKED else str(self.sections[int(section)]["name"])

    def export(self, path: Path, format: Optional[str] = None, kernel: Optional[str] = None, launch: Optional[int] = None,
               marking: Optional[str] = None) -> None:  # noqa: A002
        """Writes what `inkmark export` writes, by the name's ending or by `format` ("perfetto", "chrome", "csv",
        "npy", "json", "html"). `marking`: the marks' own cost "in" the times or "out" of them; None is what the
        format usually has. The file appears when it is whole. Raises Error."""
        if marking not in _MARKING:
            raise ValueError(f"marking is one of {', '.join(map(repr, _MARKING))}, not {marking!r}")
        c, error, name = lib(), ErrorOut(), path_bytes(path)
        output = c.ink_output_by_name(format.encode()) if format else c.ink_output_by_path(name)
        if not output:
            raise Error(f"no output of the format {format!r}" if format else f"the name {path!r} does not tell the format")
        options = OutputOptions(ctypes.sizeof(OutputOptions), kernel.encode() if kernel else None,
                                _EVERY_LAUNCH if launch is None else launch, None, None, _MARKING[marking])
        capture, clock = self._pointers()
        check(output.contents.write(capture, clock, byref(options), name, byref(error)), error)

    def page(self, height: int = 600) -> "_frames.Page":
        """The page that `inkmark export -o x.html` makes, in a notebook: the last value of a cell shows it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            self.export(path)
            with io.open(path, encoding="utf-8") as file:
                return _frames.Page(file.read(), height)

    def columns(self, by: str = "section", what: str = "table", kernel: Optional[str] = None,
                launch: Optional[int] = None, raw: bool = False) -> Dict[str, Any]:
        """name -> array: the columns of to_pandas. An array with a mask has no value where it is set."""
        if what == "table":
            rows = self.table(by, kernel, launch, raw)
            totals, names = self.totals(kernel, launch, raw), [k["name"] for k in self.kernels]
            return _frames.table_columns(rows, by, names, [s["name"] for s in self.sections],
                                         [int(t["device"]) for t in totals], [self.instance(t) for t in totals])
        if what == "launches":
            return _frames.launch_columns(self.launches, [k["name"] for k in self.kernels])
        if what == "activity":
            return self._activity_columns()
        if what == "ranges":
            return _frames.range_columns(self.host_ranges(), lambda at: ctypes.string_at(at).decode(errors="replace"))
        raise ValueError(f"what is one of table, launches, activity, ranges, not {what!r}")

    def _activity_columns(self) -> Dict[str, Any]:
        items, c = self.activities(), lib()
        capture, clock = self._pointers()
        to_unix = c.ink_activity_clock_make(capture, clock)
        names = {int(n): text(c.ink_capture_activity_name(capture, int(n))) or "" for n in numpy.unique(items["name"])}
        words = {int(n): text(c.ink_activity_copy_words(int(n))) for n in numpy.unique(items["copy"])}

        def unix(field: str) -> NDArray[Any]:
            return numpy.array([c.ink_activity_unix_ns(byref(to_unix), int(a["device"]), int(a[field])) for a in items], "i8")
        size = items.dtype.itemsize
        launches = numpy.array([c.ink_activity_launch(capture, items.ctypes.data + i * size) for i in range(len(items))], "u4")
        return _frames.activity_columns(items, [names[int(n)] for n in items["name"]], [words[int(n)] for n in items["copy"]],
                                        unix("begin_ns"), unix("end_ns"), launches)

    def _label(self) -> str:
        return os.path.basename(self.path) + (", simulated clock" if self.simulated else "")

    def _attributes(self) -> Dict[str, str]:
        kept = {key: self.fact(key) for key in ("command", "host", "version")}
        return {"capture": self.path, "clock": "simulated clock" if self.simulated else "clock64",
                **{key: value for key, value in kept.items() if value}}

    def _html_parts(self) -> List[Tuple[str, NDArray[Any], str]]:
        rows, parts = self.table(), []
        for part, total in enumerate(self.totals()):
            name = self.kernels[int(total["kernel"])]["name"]
            said = f"{total['launches']} launches, {total['tracks']} tracks, {total['marks_kept']} marks kept"
            for field, words in (("marks_dropped", "dropped"), ("tracks_lost", "tracks lost"), ("missed", "entries missed")):
                if total[field]:
                    said += f", {total[field]} {words}"
            parts.append((self.instance(total) or name, rows[rows["part"] == part], said))
        return parts
