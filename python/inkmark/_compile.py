# SPDX-License-Identifier: MIT
"""What compilers at run time need to compile marks: the folder of the headers, options, Warp's preamble."""
from __future__ import annotations

import os
import re
import shutil
from typing import List, Tuple

from ._library import PACKAGE, Error

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)


def _candidates() -> List[str]:
    named = os.environ.get("INKMARK_INCLUDE")
    if named:
        return [named]
    places = [os.path.join(PACKAGE, "include")]
    command = shutil.which("inkmark")
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        places += [os.path.join(folder, "..", "include"), os.path.join(folder, "..", "..", "device")]
    return places + [os.path.join(PACKAGE, "..", "..", "device")]


def include_dir() -> str:
    """The folder to hand to a compiler with -I, so that `#include <inkmark/mark.cuh>` is found: INKMARK_INCLUDE, that
    of this package, or that of the `inkmark` on the PATH. Raises Error where there is none."""
    places = _candidates()
    for place in places:
        if os.path.exists(os.path.join(place, "inkmark", "mark.cuh")):
            return os.path.abspath(place)
    raise Error(f"cannot find inkmark/mark.cuh in {', '.join(places)}; INKMARK_INCLUDE names the folder that has it")


def nvrtc_options(std: str = "c++17") -> Tuple[str, ...]:
    """Options of NVRTC: the standard, 14 at least, and the include folder.

    >>> import inkmark
    >>> [option[:2] for option in inkmark.nvrtc_options()]
    ['-s', '-I']
    """
    if std in ("c++98", "c++03", "c++11"):
        raise ValueError(f"marks need C++14 at least, not {std!r}")
    return "-std=" + std, "-I" + include_dir()


def preamble(kernel: str, *sections: str, table: str = "Warp") -> str:
    """The text that Warp's ModuleBuildOptions(extra_cuda_preamble=...) takes: the header, and the table of sections,
    of which the first is the kernel's.

    >>> import inkmark
    >>> print(inkmark.preamble("Step", "Load", "Compute"), end="")
    #include <inkmark/mark.cuh>
    PROF_SECTIONS(Warp, Step, Load, Compute)
    """
    for name in (table, kernel, *sections):
        if not _NAME.match(name):
            raise ValueError(f"{name!r} is no name of C++")
    return f"#include <inkmark/mark.cuh>\nPROF_SECTIONS({', '.join((table, kernel, *sections))})\n"
