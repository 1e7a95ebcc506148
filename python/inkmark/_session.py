# SPDX-License-Identifier: MIT
"""Recording in this process: a session of libinkmark as a context manager. One at a time; as many as wanted, one
after the other, in a notebook too."""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import shutil
import socket
import tempfile
import weakref
from ctypes import byref, c_bool, c_void_p
from typing import Any, Iterator, List, Optional, Tuple, Union

from . import _modules
from ._capture import Capture
from ._library import Error, ErrorOut, SessionOptions, check, lib, path_bytes

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "LOCAL_RANK")
_open: Optional["Session"] = None
_forked: Optional["Session"] = None  # the parent's, in a child


def _expanded(template: str) -> str:
    """The name of the capture: %p pid, %h host, %r rank, %% a %."""
    words = {"p": str(os.getpid()), "h": socket.gethostname(), "%": "%",
             "r": next((os.environ[name] for name in _RANKS if os.environ.get(name)), "0")}
    out, rest = "", template
    while "%" in rest:
        before, _, rest = rest.partition("%")
        if rest[:1] not in words:
            raise ValueError(f"output {template!r}: %{rest[:1]} is none of %p, %h, %r and %%")
        out, rest = out + before + words[rest[0]], rest[1:]
    return out + rest


class _Folder:
    """Of a capture without a name: goes with the last one that needs it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="inkmark-")
        weakref.finalize(self, shutil.rmtree, self.path, True)


class Session:
    """One recording; `with` starts and stops it. After it, `capture` is what was recorded."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._handle: Optional[c_void_p] = None
        self._pid = 0
        self._path = ""
        self._folder: Optional[_Folder] = None
        self._capture: Optional[Capture] = None
        self._recorded = False
        self._armed: List[Tuple[bool, int, Any]] = []

    def __enter__(self) -> "Session":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _pointer(self) -> c_void_p:
        self._check_process()
        if self._handle is None:
            raise Error("the session is not open")
        return self._handle

    def _check_process(self) -> None:
        if self._pid and self._pid != os.getpid():
            raise Error(f"this session is process {self._pid}'s, of which this one is a forked child: make one of its own "
                        "here (CUDA itself does not work in a child of a process that has used it)")

    def start(self) -> None:
        """Opens it, and arms what marked libraries are loaded. Raises Error where another one is open."""
        global _open
        _drop_forked()
        if os.environ.get("INKMARK_RECORD") == "1" and _open is None:
            raise Error("this process is recorded already, by `inkmark record` or `python -m inkmark`: run it without, "
                        "or leave the session out")
        if _open is not None:
            raise Error("a session is already open in this process")
        output = self._options["output"]
        if output is None:
            self._folder = _Folder()
            self._path = os.path.join(self._folder.path, "session.ink")
        else:
            self._path = os.path.abspath(_expanded(os.fspath(output)))
        c, error, handle = lib(), ErrorOut(), c_void_p()
        check(c.ink_session_open(byref(self._c_options()), byref(handle), byref(error)), error)
        self._handle, self._pid, self._capture, self._recorded, _open = handle, os.getpid(), None, False, self
        c.ink_session_arm(handle, byref(ErrorOut()))  # not found: modules of the driver's API may come

    def _c_options(self) -> SessionOptions:
        o = self._options
        return SessionOptions(
            ctypes.sizeof(SessionOptions), path_bytes(self._path.replace("%", "%%")), _bytes(o["kernels"]),
            _bytes(o["blocks"]), _bytes(o["warps"]), _bytes(o["devices"]), o["granularity"] == "warp",
            o["keep"] == "first", o["records_per_track"] or 0, o["tracks"] or 0, o["drain_ms"] or 0, True, o["activity"],
            o["flight"], o["live"], o["hang_ms"] or 0, o["start_off"], _bytes(o["schedule"]), o["host_ranges"],
            o["modules"])

    def arm(self, obj: Any, image: Optional[bytes] = None, library: bool = False) -> bool:
        """Has kernels recorded that were compiled at run time: CuPy's RawModule, cuda.core's ObjectCode, a kernel or
        module of Warp, or a handle of the driver's API (CUmodule; a CUlibrary with library=True) with the image that
        it was made of, without which its sections have no names. The session keeps the object alive. True: it has
        marks. The calling thread's CUDA context must be the one that it is in."""
        handle, c, any_marked = self._pointer(), lib(), False
        for module in _modules.find(obj, image, library):
            if any((module.library, module.handle) == armed[:2] for armed in self._armed):
                any_marked = True
                continue
            error, marked = ErrorOut(), c_bool(False)
            add = c.ink_session_add_library if module.library else c.ink_session_add_module
            text = module.image
            check(add(handle, module.handle, text, len(text) if text else 0, byref(marked), byref(error)), error)
            if marked.value:
                self._armed.append((module.library, module.handle, obj))
            any_marked = any_marked or marked.value
        return any_marked

    def sections(self, table: str, *names: str) -> None:
        """Names for modules that are armed by a handle alone: what PROF_SECTIONS(table, names...) says."""
        error = ErrorOut()
        self._pointer()
        check(lib().ink_register_sections(table.encode(), ", ".join(names).encode(), b"", 0, byref(error)), error)

    def buffer(self, device: int = 0) -> int:
        """The address of a device's buffer, for kernels that take a prof_buffer as an argument (numpy.uint64)."""
        error, out = ErrorOut(), c_void_p()
        check(lib().ink_session_buffer(self._pointer(), device, byref(out), byref(error)), error)
        return out.value or 0

    def on(self) -> None:
        """Goes on recording, from the next kernel's entry on. What was launched before and has not begun is a next one:
        wait for the device where it is not to be."""
        self._set_on(True)

    def off(self) -> None:
        """Records no kernel that begins from here on, until on()."""
        self._set_on(False)

    def _set_on(self, on: bool) -> None:
        error = ErrorOut()
        check(lib().ink_session_set_on(self._pointer(), on, byref(error)), error)

    def step(self) -> None:
        """A step of the program ends: with a schedule, recording begins or ends where it is time."""
        error = ErrorOut()
        check(lib().ink_session_step(self._pointer(), byref(error)), error)

    def drain(self) -> None:
        """Copies what has closed to the capture's file."""
        error = ErrorOut()
        check(lib().ink_session_drain(self._pointer(), byref(error)), error)

    def stop(self) -> None:
        """Waits for the devices, ends the capture, disarms. Raises Error where something was lost."""
        global _open
        if self._handle is None or self._pid != os.getpid():  # a forked child: it is the parent's to end
            return
        handle, c, error, written = self._pointer(), lib(), ErrorOut(), c_bool(False)
        self._handle, _open = None, None
        status = c.ink_session_close(handle, byref(written), byref(error))
        for library, module, _ in self._armed:
            (c.ink_session_remove_library if library else c.ink_session_remove_module)(None, module)
        self._armed = []
        self._recorded = written.value
        check(status, error)

    @property
    def recorded(self) -> bool:
        """Whether anything was, as far as the session has been stopped."""
        return self._recorded

    @property
    def capture(self) -> Capture:
        """What was recorded, after the session. Raises Error where it goes on, or where nothing was."""
        self._check_process()
        if self._handle is not None:
            raise Error("the session is open: its capture is whole when it has been stopped")
        if self._capture is None and not self._recorded:
            raise Error("nothing was recorded: no kernel with marks ran; modules that are compiled at run time are "
                        "armed by arm(), libraries with marks are loaded behind `import inkmark`")
        if self._capture is None:
            self._capture = Capture(self._path)
            self._capture.keep(self._folder)
        return self._capture

    def _repr_html_(self) -> str:
        return self.capture._repr_html_() if self._recorded else "<p>nothing was recorded</p>"


def _bytes(value: Optional[str]) -> Optional[bytes]:
    return value.encode() if value else None


def session(kernels: Optional[str] = None, granularity: str = "block",
            output: Union[str, "os.PathLike[str]", None] = None, *, blocks: Optional[str] = None,
            warps: Optional[str] = None, devices: Optional[str] = None, keep: str = "last",
            records_per_track: Optional[int] = None, tracks: Optional[int] = None, drain_ms: Optional[int] = None,
            activity: bool = False, flight: bool = False, live: bool = False, hang_ms: Optional[int] = None,
            start_off: bool = False, schedule: Optional[str] = None, host_ranges: bool = False, modules: bool = False) -> Session:
    """A recording in this process, as a context manager:

        with inkmark.session(kernels="step", granularity="warp") as s:
            s.arm(module)
            kernel(...)
        s.capture

    `kernels`: a POSIX extended regular expression of the names given to PROF_KERNEL. `granularity`: "block" or "warp",
    whose first lane records. `output`: the capture's name, in which %p is the process, %h the host and %r the rank; a
    file of that name is written over; None: a temporary one that goes with the session. `start_off`: nothing is
    recorded before on(). `schedule`: which steps are recorded, as "wait=1,warmup=1,active=3,repeat=2". `host_ranges`: what
    scope() says. `modules`: what is compiled and loaded while it is open is armed without arm(), by CUPTI, which other
    profilers may want meanwhile. The others are those of
    `inkmark record`; `drain_ms` and `hang_ms` in milliseconds."""
    if granularity not in ("block", "warp"):
        raise ValueError(f"granularity is one of 'block', 'warp', not {granularity!r}")
    if keep not in ("last", "first"):
        raise ValueError(f"keep is one of 'last', 'first', not {keep!r}")
    return Session(kernels=kernels, granularity=granularity, output=output, blocks=blocks, warps=warps, devices=devices,
                   keep=keep, records_per_track=records_per_track, tracks=tracks, drain_ms=drain_ms, activity=activity,
                   flight=flight, live=live, hang_ms=hang_ms, start_off=start_off, schedule=schedule, host_ranges=host_ranges,
                   modules=modules)


def arm(obj: Any, image: Optional[bytes] = None, library: bool = False) -> bool:
    """Session.arm of the session that is open. Under `inkmark record` modules are armed as they are loaded, and where
    nothing records there is nothing to do: False."""
    if _open is None:
        return False
    return _open.arm(obj, image, library)


def step() -> None:
    """A step of the program ends, for the session that is open, that of `inkmark record --schedule` too; where nothing
    records there is nothing to do."""
    if _open is not None:
        _open.step()
    elif os.environ.get("INKMARK_RECORD") == "1":
        lib().ink_session_step(None, byref(ErrorOut()))


@contextlib.contextmanager
def scope(name: str) -> Iterator[None]:
    """A range of this thread, in the capture above the kernels that are launched in it: in a session with host_ranges, and
    under `inkmark record --nvtx`. Where nothing records it does nothing."""
    recorded = (_open is not None and _open._pid == os.getpid()) or os.environ.get("INKMARK_NVTX") == "1"
    begin = lib().ink_i_host_scope if recorded else None
    if begin:
        begin(name.encode())
    try:
        yield
    finally:
        if begin:
            begin(None)


@atexit.register
def _at_exit() -> None:
    if _open is not None and _open._pid == os.getpid():
        _open.stop()


def _in_child() -> None:
    global _open, _forked
    if _open is not None:
        _open, _forked = None, _open


def _drop_forked() -> None:
    """What libinkmark keeps of the parent's session in this child goes, so that one can be made here."""
    global _forked
    if _forked is not None:
        handle, _forked._handle, _forked = _forked._handle, None, None
        if handle is not None:
            lib().ink_session_close(handle, None, byref(ErrorOut()))


os.register_at_fork(after_in_child=_in_child)
