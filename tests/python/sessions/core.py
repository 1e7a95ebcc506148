# SPDX-License-Identifier: MIT
# cuda.core: a library of PTX and one of machine code, by ObjectCode and by the handles of cuda.bindings.
import numpy
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

import inkmark

SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(Core, Step, Load)
extern "C" __global__ void step(float *x, int n) {
  PROF_KERNEL(Step);
  for (int i = 0; i < n; i++) {
    x[threadIdx.x] += i;
    PROF_MARK(Load);
  }
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
buffer = device.allocate(128, stream=stream)
for kind, arch in (("ptx", "compute"), ("cubin", "sm")):
    options = ProgramOptions(std="c++17", arch=f"{arch}_{device.arch}", include_path=[inkmark.include_dir()])
    code = Program(SOURCE, code_type="c++", options=options).compile(kind)
    for obj, more in ((code, {}), (driver.CUlibrary(int(code.handle)), {"image": bytes(code.code)})):
        with inkmark.session() as s:
            assert s.arm(obj, **more)
            launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("step"), buffer, numpy.int32(4))
            stream.sync()
        rows = s.capture.table()
        assert s.capture.section_name(rows[0]["section"]) == "Load" and rows[0]["count"] == 4, rows
print("PASS")
