# SPDX-License-Identifier: MIT
"""libinkmark by ctypes: where it is found, its structures as the headers have them, what its functions take."""
from __future__ import annotations

import ctypes
import os
import shutil
from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_int32, c_int64,
                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)
from typing import Any, Callable, List, Optional, Union

import numpy
from numpy.typing import NDArray

PACKAGE = os.path.dirname(os.path.abspath(__file__))


class Error(Exception):
    """What libinkmark refused: str() is its one line, `status` its ink_status, `code` errno or 0."""

    def __init__(self, message: str, status: int = 0, code: int = 0) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class ErrorOut(Structure):
    _fields_ = [("status", c_int), ("code", c_int), ("offset", c_uint64), ("message", c_char * 512)]


class SectionTable(Structure):
    _fields_ = [("name", c_char_p), ("file", c_char_p), ("line", c_uint32), ("section_count", c_uint32),
                ("hash48", c_uint64), ("sections", POINTER(c_char_p))]


class Section(Structure):
    _fields_ = [("table", POINTER(SectionTable)), ("name", c_char_p), ("id", c_uint32)]


class Kernel(Structure):
    _fields_ = [("key", c_uint64), ("name", c_char_p), ("instance", c_char_p), ("table", POINTER(SectionTable)), ("launches", c_uint64),
                ("tracks", c_uint64), ("marks_executed", c_uint64), ("missed", c_uint64), ("tracks_lost", c_uint64),
                ("marks_lost", c_uint64)]


class Device(Structure):
    _fields_ = [("index", c_int32), ("simulated", c_uint32), ("sm_count", c_uint32), ("capability", c_uint32),
                ("clock_khz", c_uint32), ("track_count", c_uint32), ("records_per_track", c_uint32),
                ("aux_records_per_track", c_uint32), ("flags", c_uint32), ("runtime_version", c_uint32),
                ("driver_version", c_uint32), ("name", c_char_p)]


class Facts(Structure):
    _fields_ = [("version", c_uint32), ("complete", c_bool), ("file_bytes", c_uint64), ("used_bytes", c_uint64),
                ("damaged_chunks", c_uint64), ("open_tracks", c_uint64), ("unknown_kernels", c_uint64),
                ("note", c_char * 256), ("full_tracks", c_uint64)]


class Place(Structure):
    _fields_ = [("known", c_bool), ("newest", c_bool), ("ranges", c_bool), ("inside", c_uint32), ("after", c_uint32),
                ("row", c_int64), ("begin_cycles", c_uint64)]


class OpenTrack(Structure):
    _fields_ = [("track", c_uint64), ("launch", c_uint32), ("cut", c_bool), ("seen_known", c_bool), ("seen_ns", c_int64),
                ("inside_ns", c_double), ("marks", c_uint64), ("place", Place)]


class TableOptions(Structure):
    _fields_ = [("size", c_size_t), ("by", c_int), ("kernel_regex", c_char_p), ("launch", c_uint32),
                ("progress", c_void_p), ("user", c_void_p), ("without_marking", c_bool), ("findings", c_bool),
                ("waits_regex", c_char_p)]


class SessionOptions(Structure):
    _fields_ = [("size", c_size_t), ("output", c_char_p), ("kernels", c_char_p), ("blocks", c_char_p), ("warps", c_char_p),
                ("devices", c_char_p), ("per_warp", c_bool), ("keep_first", c_bool), ("records_per_track", c_uint32),
                ("tracks", c_uint32), ("drain_ms", c_uint32), ("replace", c_bool), ("activity", c_bool), ("flight", c_bool),
                ("live", c_bool), ("hang_ms", c_uint32), ("start_off", c_bool), ("schedule", c_char_p),
                ("host_ranges", c_bool), ("modules", c_bool)]


class ActivityClock(Structure):
    _fields_ = [("known", c_bool), ("simulated", c_bool), ("reference_ns", c_uint64), ("offset_ns", c_int64),
                ("drift", c_double), ("bound_ns", c_int64), ("map", c_void_p)]


class OutputOptions(Structure):
    _fields_ = [("size", c_size_t), ("kernel_regex", c_char_p), ("launch", c_uint32), ("progress", c_void_p),
                ("user", c_void_p), ("marking", c_int), ("filter", c_void_p), ("comparison", c_char_p)]


WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(OutputOptions), c_char_p, POINTER(ErrorOut))


class Output(Structure):
    _fields_ = [("name", c_char_p), ("endings", c_char_p), ("summary", c_char_p), ("write", WRITE)]


def _places() -> List[str]:
    named = os.environ.get("INKMARK_SHARED_LIBRARY")
    if named:
        return [named]
    candidates = [os.path.join(PACKAGE, "lib", "libinkmark.so.0")]  # in the wheel
    command = shutil.which("inkmark")
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        candidates += [os.path.join(folder, "..", name, "libinkmark.so.0")
                       for name in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "runtime")]
    return [path for path in candidates if os.path.exists(path)] + ["libinkmark.so.0"]


def _load() -> ctypes.CDLL:
    failures = []
    for place in _places():
        try:
            # marked files that are loaded later look for its functions among the global ones
            return ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            failures.append(str(error))
    raise Error("cannot load libinkmark: " + "; ".join(failures) +
                "; INKMARK_SHARED_LIBRARY names it where it is not installed")


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    def function(name: str, result: Any, *arguments: Any) -> None:
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    error = POINTER(ErrorOut)
    function("ink_capture_open", c_int, c_char_p, POINTER(c_void_p), error)
    function("ink_capture_free", None, c_void_p)
    function("ink_capture_get_facts", POINTER(Facts), c_void_p)
    function("ink_capture_fact", c_char_p, c_void_p, c_char_p)
    function("ink_capture_simulated", c_bool, c_void_p)
    function("ink_capture_track_count", c_uint64, c_void_p)
    for what, kind in (("kernels", Kernel), ("devices", Device), ("sections", Section)):
        function("ink_capture_" + what, c_size_t, c_void_p, POINTER(POINTER(kind)))
    function("ink_row_bytes", c_size_t, c_int)
    function("ink_capture_launches", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_clock_map_make", c_int, c_void_p, POINTER(c_void_p), error)
    function("ink_clock_map_free", None, c_void_p)
    function("ink_table_make", c_int, c_void_p, c_void_p, POINTER(TableOptions), POINTER(c_void_p), error)
    function("ink_table_free", None, c_void_p)
    function("ink_table_rows", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_table_kernels", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_table_crossings", c_size_t, c_void_p, POINTER(c_void_p))
    function("ink_table_instance", c_char_p, c_void_p, c_int64)
    function("ink_open_tracks", c_int, c_void_p, c_void_p, POINTER(POINTER(OpenTrack)), POINTER(c_size_t), error)
    function("ink_open_tracks_free", None, c_void_p)
    function("ink_output_by_name", POINTER(Output), c_char_p)
    function("ink_output_by_path", POINTER(Output), c_char_p)
    _declare_activity(function)
    _declare_session(function)
    return library


def _declare_activity(function: Callable[..., None]) -> None:
    function("ink_capture_activities", c_size_t, c_void_p, POINTER(c_void_p), POINTER(c_uint64))
    function("ink_activity_launch", c_uint32, c_void_p, c_void_p)
    function("ink_capture_activity_name", c_char_p, c_void_p, c_uint32)
    function("ink_activity_clock_make", ActivityClock, c_void_p, c_void_p)
    function("ink_activity_unix_ns", c_int64, POINTER(ActivityClock), c_int32, c_uint64)
    function("ink_activity_copy_words", c_char_p, ctypes.c_uint)
    function("ink_capture_host_ranges", c_size_t, c_void_p, POINTER(c_void_p))


def _declare_session(function: Callable[..., None]) -> None:
    error = POINTER(ErrorOut)
    function("ink_session_open", c_int, POINTER(SessionOptions), POINTER(c_void_p), error)
    function("ink_session_arm", c_int, c_void_p, error)
    function("ink_session_buffer", c_int, c_void_p, c_int, POINTER(c_void_p), error)
    function("ink_session_set_on", c_int, c_void_p, c_bool, error)
    function("ink_session_step", c_int, c_void_p, error)
    function("ink_session_drain", c_int, c_void_p, error)
    function("ink_session_close", c_int, c_void_p, POINTER(c_bool), error)
    for what in ("module", "library"):
        function("ink_session_add_" + what, c_int, c_void_p, c_void_p, c_char_p, c_size_t, POINTER(c_bool), error)
        function("ink_session_remove_" + what, None, c_void_p, c_void_p)
    function("ink_i_host_scope", None, c_char_p)
    function("ink_register_sections", c_int, c_char_p, c_char_p, c_char_p, c_uint32, error)


_library: Optional[ctypes.CDLL] = None


def lib() -> ctypes.CDLL:
    """The library, loaded once. Raises Error where it is not found."""
    global _library
    if _library is None:
        _library = _declare(_load())
    return _library


def check(status: int, error: ErrorOut) -> None:
    if status:
        raise Error(error.message.decode(errors="replace") or f"status {status}", status, error.code)


class Owned:
    """A pointer that libinkmark frees when nobody needs it any more."""

    def __init__(self, pointer: c_void_p, free: Callable[[c_void_p], None]) -> None:
        self.pointer, self._free = pointer, free

    def __del__(self) -> None:
        self._free(self.pointer)


# enum ink_row_type of rows.h
ROW_DEVICE, ROW_KERNEL, ROW_LAUNCH, ROW_SECTION, ROW_TABLE_ROW, ROW_TOTAL, ROW_CROSSING = 1, 3, 4, 8, 10, 11, 13
ROW_HOST_RANGE, ROW_OPEN_TRACK = 16, 18


def row_bytes(row_type: int, known: int) -> int:
    """How far apart the rows of an array are: of a newer library further than the `known` bytes."""
    step = int(lib().ink_row_bytes(row_type))
    if step < known:
        raise Error(f"libinkmark is older than this package: its rows of type {row_type} have {step} bytes, not {known}")
    return step


def structures_at(first: Any, count: int, kind: Any, row_type: int) -> List[Any]:
    """`count` structures that a pointer leads to; they are the library's."""
    step, at = row_bytes(row_type, ctypes.sizeof(kind)), ctypes.cast(first, c_void_p).value or 0
    return [kind.from_address(at + i * step) for i in range(count)]


def array_at(address: Optional[int], count: int, dtype: numpy.dtype[Any], owner: object, row_type: int) -> NDArray[Any]:
    """`count` rows at `address` without a copy; they keep `owner` alive."""
    step = row_bytes(row_type, dtype.itemsize)
    if count and address:
        memory = (c_char * ((count - 1) * step + dtype.itemsize)).from_address(address)
        memory.owner = owner  # type: ignore[attr-defined]
        array: NDArray[Any] = numpy.ndarray((count,), dtype, memory, 0, (step,))  # type: ignore[arg-type,call-overload,unused-ignore]
    else:
        array = numpy.empty(0, dtype)
    array.flags.writeable = False
    return array


def path_bytes(path: Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]) -> bytes:
    """A path for the library, which would end at a zero byte: at another file. Raises ValueError for such a one."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    return name


def text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode(errors="replace")
