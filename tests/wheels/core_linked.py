# SPDX-License-Identifier: MIT
# core_linked.py ptx|ltoir: two marked programs of cuda.core, linked at run time into one module. They share one buffer
# symbol, and each brings its section table.
import os
import sys

import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, Program, ProgramOptions, launch

kind = sys.argv[1]
SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Table%(name)s, %(name)s, Add)
extern "C" __global__ void %(name)s(float *x) {
  PROF_KERNEL(%(name)s);
  x[threadIdx.x] += 1;
  PROF_MARK(Add);
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", relocatable_device_code=True,
                         link_time_optimization=kind == "ltoir", include_path=[os.environ["INKMARK_INCLUDE"]])
parts = [Program(SOURCE % {"name": name}, "c++", options).compile(kind) for name in ("First", "Second")]
linked = Linker(*parts, options=LinkerOptions(arch=f"sm_{device.arch}", link_time_optimization=kind == "ltoir"))
module = linked.link("cubin")

x = numpy.zeros(32, numpy.float32)
buffer = device.allocate(x.nbytes, stream=stream)
driver.cuMemcpyHtoD(int(buffer.handle), x.ctypes.data, x.nbytes)
for name in ("First", "Second"):
    launch(stream, LaunchConfig(grid=1, block=32), module.get_kernel(name), buffer)
stream.sync()
driver.cuMemcpyDtoH(x.ctypes.data, int(buffer.handle), x.nbytes)
assert (x == 2).all(), x
print("PASS")
