# SPDX-License-Identifier: MIT
"""Marks in CUDA kernels: recording them in this process, and captures as NumPy arrays and frames.

    import inkmark
    with inkmark.session() as s:
        s.arm(module)                   # of CuPy, cuda.core, Warp
        kernel(...)
    s.capture.to_pandas(by="iteration")

    with inkmark.open("solver.ink") as capture:
        rows = capture.table(by="iteration")
        cells, iterations, sections = capture.matrix("Step", by="iteration")

A binding of libinkmark by ctypes. The library is looked for at INKMARK_SHARED_LIBRARY, inside of this package, beside
the `inkmark` on the PATH, and where the loader looks; where it is not found, what needs it raises Error. An object may
be used by one thread at a time."""
from ._analyze import Sweep, analyze
from ._arrays import Timed, table_from
from ._capture import Capture, open  # noqa: A004: as in gzip.open
from ._compile import include_dir, nvrtc_options, preamble
from ._dataset import Dataset, dataset
from ._dtypes import (NO_ROLE, ROW_NONE, ROW_UNKNOWN, UNMARKED, activity_dtype, crossing_dtype, host_range_dtype,
                      launch_dtype, row_dtype, total_dtype)
from ._library import Error, lib as _lib
from ._notebook import load_ipython_extension
from ._session import Session, arm, scope, session, step

__all__ = ["open", "Capture", "Error", "session", "Session", "arm", "scope", "step", "include_dir", "nvrtc_options", "preamble",
           "table_from", "Timed", "analyze", "Sweep", "dataset", "Dataset", "UNMARKED", "NO_ROLE", "ROW_NONE", "ROW_UNKNOWN", "row_dtype", "total_dtype",
           "launch_dtype", "crossing_dtype", "activity_dtype", "host_range_dtype", "load_ipython_extension"]
__version__ = "0.1.0"

try:
    _lib()  # so that marked libraries that are loaded from here on find it
except Error:
    pass  # who needs it is told
