# SPDX-License-Identifier: MIT
"""Compiles the marked kernels of a file with NVRTC, and its PTX with ptxas.

nvrtc_compile.py FILE LIBNVRTC CUDA_INCLUDE INKMARK_INCLUDE PTXAS|- ARCH...
"""
import ctypes
import os
import subprocess
import sys
import tempfile

source, library, cuda_include, ink_include, ptxas, *archs = sys.argv[1:]
nvrtc = ctypes.CDLL(library)
major, minor = ctypes.c_int(), ctypes.c_int()
nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
print(f"NVRTC {major.value}.{minor.value}")


def text_of(program, size_function, text_function):
    size = ctypes.c_size_t()
    size_function(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    text_function(program, text)
    return text.value


with open(source, "rb") as file:
    code = file.read()
for arch in archs:
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), code, b"kernel.cu", 0, None, None) == 0
    options = [f"-arch=compute_{arch}", "-std=c++17", f"-I{ink_include}", f"-I{cuda_include}"]
    array = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    log = text_of(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).decode()
    if status:
        sys.exit(f"compute_{arch}: NVRTC failed ({status})\n{log}")
    ptx = text_of(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    stores = ptx.count(b"%clock64")
    if stores < 3:
        sys.exit(f"compute_{arch}: only {stores} clock reads in the PTX: the marks are not in it")
    if ptxas != "-":
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.ptx")
            with open(path, "wb") as file:
                file.write(ptx)
            done = subprocess.run([ptxas, f"-arch=sm_{arch}", path, "-o", path + ".cubin"],
                                  capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"sm_{arch}: ptxas failed\n{done.stderr}")
    print(f"compute_{arch}: {stores} clock reads, {len(ptx)} bytes of PTX")
