# SPDX-License-Identifier: MIT
"""Where the module of a kernel is found that some package compiled: its handle, whether it is a CUlibrary, and the
image that it was made of, which has the names of its sections."""
from __future__ import annotations

import builtins
from typing import Any, List, NamedTuple, Optional

from ._library import Error


class Module(NamedTuple):
    handle: int
    library: bool
    image: Optional[bytes]


def _read(path: Any) -> Optional[bytes]:
    try:
        with builtins.open(path, "rb") as file:
            return file.read()
    except (OSError, TypeError):
        return None


def _of_cupy(obj: Any) -> List[Module]:
    """RawModule and RawKernel: CuPy keeps the source and not the image, so the same options make it again."""
    if hasattr(obj, "module"):
        module = obj.module
    else:
        obj.compile()
        module = obj.kernel.module if hasattr(obj.kernel, "module") else None
    if module is None:
        raise Error("this CuPy object does not tell its module: use a RawModule")
    if getattr(obj, "file_path", None):
        return [Module(module.ptr, False, _read(obj.file_path))]
    from cupy.cuda import compiler
    names = getattr(obj, "name_expressions", None)
    image = compiler.compile_using_nvrtc(obj.code, tuple(obj.options), None, "inkmark.cu", names, None, True)[0] \
        if obj.backend == "nvrtc" else None
    return [Module(module.ptr, False, image.encode() if isinstance(image, str) else image)]


def _of_cuda_core(obj: Any) -> List[Module]:
    code = obj.code
    return [Module(int(obj.handle), True, code.encode() if isinstance(code, str) else _read(code) if
                   not isinstance(code, (bytes, bytearray)) else bytes(code))]


def _of_warp(obj: Any) -> List[Module]:
    """A kernel or a module of Warp, on the devices that it is loaded on; on the current one where it is on none."""
    import warp
    module = getattr(obj, "module", obj)
    if not any(device.is_cuda for device in _warp_devices(module)):
        module.load(warp.get_device("cuda"))
    return [Module(_address(run.handle), False, _read(getattr(run, "binary_path", None)))
            for run in module.execs.values() if run.device.is_cuda]


def _warp_devices(module: Any) -> List[Any]:
    return [run.device for run in module.execs.values()]


def _address(handle: Any) -> int:
    return int(getattr(handle, "value", handle) or 0)


def find(obj: Any, image: Optional[bytes], library: bool) -> List[Module]:
    """The modules that `obj` is or has. Raises Error, which says what is taken."""
    package, name = type(obj).__module__.split(".")[0], type(obj).__name__
    if isinstance(obj, int):
        return [Module(obj, library, image)]
    if package == "cupy" and name in ("RawModule", "RawKernel"):
        found = _of_cupy(obj)
    elif package == "cuda" and name == "ObjectCode":
        found = _of_cuda_core(obj)
    elif package == "warp" and name in ("Module", "Kernel"):
        found = _of_warp(obj)
    elif hasattr(obj, "__int__"):  # CUmodule and CUlibrary of cuda.bindings
        return [Module(int(obj), library or name == "CUlibrary", image)]
    else:
        raise Error(f"cannot arm a {type(obj).__module__}.{name}: it takes CuPy's RawModule, cuda.core's ObjectCode, "
                    "Warp's kernels and modules, and handles of the driver's API")
    return [item._replace(image=image) for item in found] if image else found
