# SPDX-License-Identifier: MIT
"""A PyTorch extension as its tutorial has it: nothing here knows of inkmark."""
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="settle",
    ext_modules=[CUDAExtension("settle", ["settle.cpp", "settle_kernel.cu"], extra_compile_args={"nvcc": ["-O3"]})],
    cmdclass={"build_ext": BuildExtension},
)
