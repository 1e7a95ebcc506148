# SPDX-License-Identifier: MIT
"""inkmark captures as NumPy arrays.

    import inkmark
    with inkmark.open("solver.ink") as capture:
        rows = capture.table(by="iteration")
        cells, iterations, sections = capture.matrix("Step", by="iteration")

A thin binding of libinkmark by ctypes: it reads captures and records none. Cycles are clock64 of a track's
SM; ns are real time as the capture's clock map gives it. Arrays of rows lie in libinkmark's own memory and
are read-only; they keep it alive, also after the capture is closed. The library is looked for at
INKMARK_SHARED_LIBRARY, beside the `inkmark` on the PATH, and where the loader looks. An object may be used
by one thread at a time."""
import ctypes
import ctypes.util
import os
import shutil
from ctypes import (POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)

import numpy

__all__ = ["open", "Capture", "Error", "UNMARKED", "ROW_NONE", "ROW_UNKNOWN", "row_dtype", "total_dtype"]
__version__ = "0.1.0"

UNMARKED = 0xFFFFFFFF
NO_ROLE = 0xFFFFFFFF
"""`section` of the rows that count what no section claims, "(unmarked)"."""
ROW_NONE = -2**63
"""`group` of rows by iteration: before any PROF_ITER."""
ROW_UNKNOWN = -2**63 + 1
"""`group` of rows by iteration: its PROF_ITER was overwritten."""

_EVERY_LAUNCH = 0xFFFFFFFF
_MARKING = {None: 0, "in": 1, "out": 2}
_ADDS_UP = ("count", "cut", "nested", "passes", "tracks", "total_cycles", "total_ns", "self_cycles", "self_ns",
            "marking_cycles", "marking_bound_cycles", "bound_ns")
_BY = {"section": 0, "iteration": 1, "block": 2, "sm": 3, "launch": 4, "warp": 5, "device": 6, "instance": 7, "role": 8}

# One row of a table, ink_table_row: inkmark/table.h says what each field means.
row_dtype = numpy.dtype([
    ("part", "u4"), ("kernel", "u4"), ("section", "u4"), ("group", "i8"), ("depth", "u4"), ("called", "u1"),
    ("summed", "u1"), ("twice", "u1"), ("self_known", "u1"), ("inside_count", "u1"), ("inside", "u4", 4),
    ("count", "u8"), ("cut", "u8"), ("nested", "u8"), ("passes", "u8"), ("tracks", "u8"),
    ("total_cycles", "u8"), ("self_cycles", "u8"), ("min_cycles", "u8"), ("p1_cycles", "u8"), ("median_cycles", "u8"),
    ("p99_cycles", "u8"), ("max_cycles", "u8"), ("total_ns", "f8"), ("self_ns", "f8"), ("min_ns", "f8"),
    ("p1_ns", "f8"), ("median_ns", "f8"), ("p99_ns", "f8"), ("max_ns", "f8"), ("max_track", "u8"), ("max_iteration", "i8"),
    ("share", "f8"), ("imbalance", "f8"), ("marking_cycles", "u8"), ("marking_bound_cycles", "f8"),
    ("bound_ns", "f8")], align=True)
# The totals of one part of a kernel, ink_kernel_total. `instance` is a C string's address; Capture.instance reads it.
total_dtype = numpy.dtype([
    ("kernel", "u4"), ("device", "i4"), ("instance", "u8"), ("iterations", "u8"), ("tracks", "u8"), ("launches", "u8"), ("marks_executed", "u8"), ("marks_kept", "u8"),
    ("marks_dropped", "u8"), ("missed", "u8"), ("tracks_partial", "u8"), ("tracks_lost", "u8"), ("marks_lost", "u8"),
    ("total_cycles", "u8"), ("unmarked_cycles", "u8"), ("total_ns", "f8"), ("unmarked_ns", "f8"),
    ("unknown_cycles", "u8"), ("without_marking", "?"), ("marking_cycles", "u8"), ("marking_bound_cycles", "f8"),
    ("bound_ns", "f8"), ("outside_cycles", "f8"),
    ("async_ranges", "u8"), ("instants", "u8"), ("values", "u8"), ("marks_dropped_open", "u8")],
    align=True)
# One launch, ink_launch: dimensions are x, y, z; times are raw globaltimer.
launch_dtype = numpy.dtype([
    ("device", "i4"), ("kernel", "u4"), ("grid_id", "u8"), ("grid_dim", "u4", 3), ("block_dim", "u4", 3),
    ("track_count", "u8"), ("first_open_global_ns", "u8"), ("last_close_global_ns", "u8"), ("at_most", "u4"),
    ("reserved", "u4")], align=True)
# Ranges across threads, ink_crossing_total: roles are indices into sections, NO_ROLE where there is none.
crossing_dtype = numpy.dtype([
    ("kernel", "u4"), ("section", "u4"), ("from_role", "u4"), ("to_role", "u4"), ("scope", "u1"), ("exact", "u1"),
    ("reserved", "u1", 6), ("count", "u8"), ("backwards", "u8"), ("without_end", "u8"), ("without_begin", "u8"),
    ("min_cycles", "u8"), ("median_cycles", "u8"), ("max_cycles", "u8"), ("total_ns", "f8"), ("min_ns", "f8"),
    ("median_ns", "f8"), ("max_ns", "f8"), ("bound_ns", "f8")], align=True)


class Error(Exception):
    """What libinkmark refused: str() is its one line, `status` its ink_status, `code` errno or 0."""

    def __init__(self, message, status=0, code=0):
        super().__init__(message)
        self.status, self.code = status, code


class _Error(Structure):
    _fields_ = [("status", c_int), ("code", c_int), ("offset", c_uint64), ("message", c_char * 512)]


class _SectionTable(Structure):
    _fields_ = [("name", c_char_p), ("file", c_char_p), ("line", c_uint32), ("section_count", c_uint32),
                ("hash48", c_uint64), ("sections", POINTER(c_char_p))]


class _Section(Structure):
    _fields_ = [("table", POINTER(_SectionTable)), ("name", c_char_p), ("id", c_uint32)]


class _Kernel(Structure):
    _fields_ = [("key", c_uint64), ("name", c_char_p), ("instance", c_char_p), ("table", POINTER(_SectionTable)), ("launches", c_uint64),
                ("tracks", c_uint64), ("marks_executed", c_uint64), ("missed", c_uint64), ("tracks_lost", c_uint64),
                ("marks_lost", c_uint64)]


class _Device(Structure):
    _fields_ = [("index", c_int32), ("simulated", c_uint32), ("sm_count", c_uint32), ("capability", c_uint32),
                ("clock_khz", c_uint32), ("track_count", c_uint32), ("records_per_track", c_uint32),
                ("aux_records_per_track", c_uint32), ("flags", c_uint32), ("runtime_version", c_uint32),
                ("driver_version", c_uint32), ("name", c_char_p)]


class _Facts(Structure):
    _fields_ = [("version", c_uint32), ("complete", c_bool), ("file_bytes", c_uint64), ("used_bytes", c_uint64),
                ("damaged_chunks", c_uint64), ("open_tracks", c_uint64), ("unknown_kernels", c_uint64),
                ("note", c_char * 256), ("full_tracks", c_uint64)]


class _Place(Structure):
    _fields_ = [("known", c_bool), ("newest", c_bool), ("ranges", c_bool), ("inside", c_uint32), ("after", c_uint32),
                ("row", c_int64), ("begin_cycles", c_uint64)]


class _OpenTrack(Structure):
    _fields_ = [("track", c_uint64), ("launch", c_uint32), ("cut", c_bool), ("seen_known", c_bool), ("seen_ns", c_int64),
                ("inside_ns", c_double), ("marks", c_uint64), ("place", _Place)]


class _TableOptions(Structure):
    _fields_ = [("size", c_size_t), ("by", c_int), ("kernel_regex", c_char_p), ("launch", c_uint32),
                ("progress", c_void_p), ("user", c_void_p), ("without_marking", c_bool), ("findings", c_bool),
                ("waits_regex", c_char_p)]


class _OutputOptions(Structure):
    _fields_ = [("size", c_size_t), ("kernel_regex", c_char_p), ("launch", c_uint32), ("progress", c_void_p),
                ("user", c_void_p), ("marking", c_int), ("filter", c_void_p)]


_WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(_OutputOptions), c_char_p, POINTER(_Error))


class _Output(Structure):
    _fields_ = [("name", c_char_p), ("endings", c_char_p), ("summary", c_char_p), ("write", _WRITE)]


def _places():
    named = os.environ.get("INKMARK_SHARED_LIBRARY")
    if named:
        return [named]
    command = shutil.which("inkmark")
    bin_folder = os.path.dirname(os.path.realpath(command)) if command else None
    beside = [os.path.join(bin_folder, "..", folder, "libinkmark.so.0")
              for folder in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "runtime")] if command else []
    return [path for path in beside if os.path.exists(path)] + ["libinkmark.so.0"]


def _load():
    failures = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            failures.append(str(error))
    raise Error("cannot load libinkmark: " + "; ".join(failures) +
                "; INKMARK_SHARED_LIBRARY names it where it is not installed")


def _declare(lib):
    def function(name, result, *arguments):
        getattr(lib, name).restype, getattr(lib, name).argtypes = result, arguments
    error = POINTER(_Error)
    function("ink_capture_open", c_int, c_char_p, POINTER(c_void_p), error)
    function("ink_capture_free", None, c_void_p)
    function("ink_capture_get_facts", POINTER(_Facts), c_void_p)
    function("ink_capture_fact", c_char_p, c_void_p, c_char_p)
    function("ink_capture_simulated", c_bool, c_void_p)
    function("ink_capture_track_count", c_uint64, c_void_p)
    for what, kind in (("kernels", _Kernel), ("devices", _Device), ("sections", _Section)):
        function("ink_capture_" + what, c_size_t, c_void_p, POINTER(POINTER(kind)))
    function("ink_capture_launches", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_clock_map_make", c_int, c_void_p, POINTER(c_void_p), error)
    function("ink_clock_map_free", None, c_void_p)
    function("ink_table_make", c_int, c_void_p, c_void_p, POINTER(_TableOptions), POINTER(c_void_p), error)
    function("ink_table_free", None, c_void_p)
    function("ink_table_rows", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_table_kernels", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_open_tracks", c_int, c_void_p, c_void_p, POINTER(POINTER(_OpenTrack)), POINTER(c_size_t), error)
    function("ink_open_tracks_free", None, c_void_p)
    function("ink_table_crossings", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_output_by_name", POINTER(_Output), c_char_p)
    function("ink_output_by_path", POINTER(_Output), c_char_p)
    return lib


_library = None


def _lib():
    global _library
    if _library is None:
        _library = _declare(_load())
    return _library


def _check(status, error):
    if status:
        raise Error(error.message.decode(errors="replace") or f"status {status}", status, error.code)


class _Owned:
    """A pointer that libinkmark frees when nobody needs it any more."""

    def __init__(self, pointer, free):
        self.pointer, self._free = pointer, free

    def __del__(self):
        self._free(self.pointer)


def _array(address, count, dtype, owner):
    """`count` items at `address` without a copy; they keep `owner` alive."""
    if count:
        memory = (c_char * (count * dtype.itemsize)).from_address(address)
        memory.owner = owner
        array = numpy.frombuffer(memory, dtype)
    else:
        array = numpy.empty(0, dtype)
    array.flags.writeable = False
    return array


def _text(value):
    return None if value is None else value.decode(errors="replace")


def open(path):  # noqa: A001: as in gzip.open
    """Opens a capture. Raises Error for what is none, is damaged in its header, or of a newer inkmark; what
    is cut off or damaged further on is left out, and Capture.facts["note"] says so."""
    return Capture(path)


class Capture:
    """An open capture: a context manager. Attributes are read once and stay valid after close()."""

    path = None
    facts = None
    """dict: version, complete, file_bytes, used_bytes, damaged_chunks, open_tracks, unknown_kernels, note, full_tracks
    (closed tracks with more words than their rings hold)."""
    simulated = None
    """True: made on the simulated device, whose cycles and ns are not a GPU's."""
    devices = None
    """list of dicts, one a device: index, name, sm_count, capability (90 for 9.0), track_count, ..."""
    kernels = None
    """list of dicts: name (the section that PROF_KERNEL named; with the function where several name it), instance
    (that function, as __PRETTY_FUNCTION__ has it, or None), table, launches, tracks, marks_executed,
    missed, tracks_lost, marks_lost. `kernel` in rows is an index into it."""
    sections = None
    """list of dicts: name, table, id. `section` in rows is an index into it."""
    launches = None
    """Array [launch] of launch_dtype, by device and then by begin."""

    def __init__(self, path):
        lib, error, pointer = _lib(), _Error(), c_void_p()
        self.path = os.fspath(path)
        _check(lib.ink_capture_open(os.fsencode(self.path), byref(pointer), byref(error)), error)
        self._capture = _Owned(pointer, lib.ink_capture_free)
        clock = c_void_p()
        _check(lib.ink_clock_map_make(pointer, byref(clock), byref(error)), error)
        self._clock = _Owned(clock, lib.ink_clock_map_free)
        self._read(lib, pointer)

    def _read(self, lib, pointer):
        facts = lib.ink_capture_get_facts(pointer).contents
        self.facts = {name: getattr(facts, name) for name, _ in _Facts._fields_}
        self.facts["note"] = _text(self.facts["note"])
        self.simulated = lib.ink_capture_simulated(pointer)
        self.track_count = lib.ink_capture_track_count(pointer)
        self.devices = self._list(lib.ink_capture_devices, _Device, pointer)
        self.kernels = self._list(lib.ink_capture_kernels, _Kernel, pointer)
        self.sections = self._list(lib.ink_capture_sections, _Section, pointer)
        address = c_void_p()
        count = lib.ink_capture_launches(pointer, byref(address))
        self.launches = _array(address.value, count, launch_dtype, self._capture)

    @staticmethod
    def _list(function, kind, pointer):
        first = POINTER(kind)()
        items = [first[i] for i in range(function(pointer, byref(first)))]
        out = []
        for item in items:
            values = {name: getattr(item, name) for name, _ in kind._fields_}
            if "table" in values:
                values["table"] = _text(item.table.contents.name) if item.table else None
            values["name"] = _text(values["name"])
            if "instance" in values:
                values["instance"] = _text(values["instance"])
            out.append(values)
        return out

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees the capture as soon as no array needs it. Tables cannot be made any more."""
        self._clock = self._capture = None

    def _pointers(self):
        if self._capture is None:
            raise Error("the capture is closed")
        return self._capture.pointer, self._clock.pointer

    def fact(self, key):
        """What the recording noted under "command", "host", "pid", "started_ns", ...: text, or None."""
        return _text(_lib().ink_capture_fact(self._pointers()[0], key.encode()))

    def _table(self, by, kernel, launch, raw):
        lib, error, table = _lib(), _Error(), c_void_p()
        if by not in _BY:
            raise ValueError(f"by is one of {', '.join(_BY)}, not {by!r}")
        options = _TableOptions(ctypes.sizeof(_TableOptions), _BY[by], kernel.encode() if kernel else None,
                                _EVERY_LAUNCH if launch is None else launch, None, None, not raw, False, None)
        capture, clock = self._pointers()
        _check(lib.ink_table_make(capture, clock, byref(options), byref(table), byref(error)), error)
        table = _Owned(table, lib.ink_table_free)
        if kernel and self.kernels and not lib.ink_table_kernels(table.pointer, byref(c_void_p())):
            raise KeyError(f"no kernel matches {kernel!r}; there are {[k['name'] for k in self.kernels]}")
        return table

    def table(self, by="section", kernel=None, launch=None, raw=False):
        """Array [row] of row_dtype: one row for each part of a kernel, group and section, sorted so; "(unmarked)"
        last. A part is what of a kernel ran on one device as one template instance, as totals() has them.
        `by`: what a group is, "section" (none), "iteration", "block", "sm", "launch", "warp", "device" or
        "instance". `kernel`: a POSIX extended regular expression of kernels' names, some of which it must match.
        `launch`: an index into launches. `raw`: leave the marks' own cost in the times. Raises Error for a bad
        expression or a launch that is not there, KeyError for a kernel that is not."""
        table, address = self._table(by, kernel, launch, raw), c_void_p()
        count = _lib().ink_table_rows(table.pointer, byref(address))
        return _array(address.value, count, row_dtype, table)

    def totals(self, kernel=None, launch=None, raw=False):
        """Array [part] of total_dtype: tracks, marks kept and dropped, time in all tracks."""
        table, address = self._table("section", kernel, launch, raw), c_void_p()
        count = _lib().ink_table_kernels(table.pointer, byref(address))
        return _array(address.value, count, total_dtype, table)

    def crossings(self, kernel=None, launch=None, raw=False):
        """Array of crossing_dtype: ranges across threads (PROF_ASYNC_BEGIN_BLOCK and its kin) of one kernel, section,
        scope (1 block, 2 cluster, 3 grid) and pair of roles."""
        table, address = self._table("section", kernel, launch, raw), c_void_p()
        count = _lib().ink_table_crossings(table.pointer, byref(address))
        return _array(address.value, count, crossing_dtype, table)

    def matrix(self, kernel, by="iteration", value="total_cycles", launch=None, raw=False):
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

    def instance(self, total):
        """The full name of the function that a row of totals() is of; None: it is not known."""
        self._pointers()
        address = int(total["instance"])
        return _text(ctypes.string_at(address)) if address else None

    def open_tracks(self):
        """list of dicts, one for each track that never closed: track, launch, known (where it stood), inside and after
        (names, None: in no range, behind no mark), iteration (None: in none), newest (False: it may have gone on),
        cut (its thread left there), seen_ns, inside_ns (how long it was in the range then, None: not known), marks."""
        lib, error, first, count = _lib(), _Error(), POINTER(_OpenTrack)(), c_size_t()
        capture, clock = self._pointers()
        _check(lib.ink_open_tracks(capture, clock, byref(first), byref(count), byref(error)), error)
        out = []
        for track in (first[i] for i in range(count.value)):
            place = track.place
            inside, after = (None if s == UNMARKED else self.section_name(s) for s in (place.inside, place.after))
            out.append({"track": track.track, "launch": track.launch, "known": place.known, "inside": inside, "after": after,
                        "iteration": None if place.row in (ROW_NONE, ROW_UNKNOWN) else place.row, "newest": place.newest,
                        "cut": track.cut, "seen_ns": track.seen_ns, "marks": track.marks,
                        "inside_ns": track.inside_ns if inside and track.seen_known else None})
        lib.ink_open_tracks_free(first)
        return out

    def section_name(self, section):
        """Of an index into sections; "(unmarked)" for UNMARKED."""
        return "(unmarked)" if section == UNMARKED else self.sections[int(section)]["name"]

    def export(self, path, format=None, kernel=None, launch=None, marking=None):  # noqa: A002
        """Writes what `inkmark export` writes, by the name's ending or by `format` ("perfetto", "chrome", "csv",
        "npy", "json", "html"). `marking`: the marks' own cost "in" the times or "out" of them; None is what the
        format usually has. The file appears when it is whole. Raises Error."""
        if marking not in _MARKING:
            raise ValueError(f"marking is one of {', '.join(map(repr, _MARKING))}, not {marking!r}")
        lib, error, name = _lib(), _Error(), os.fsencode(path)
        output = lib.ink_output_by_name(format.encode()) if format else lib.ink_output_by_path(name)
        if not output:
            raise Error(f"no output of the format {format!r}" if format else f"the name {path!r} does not tell the format")
        options = _OutputOptions(ctypes.sizeof(_OutputOptions), kernel.encode() if kernel else None,
                                 _EVERY_LAUNCH if launch is None else launch, None, None, _MARKING[marking])
        capture, clock = self._pointers()
        _check(output.contents.write(capture, clock, byref(options), name, byref(error)), error)
