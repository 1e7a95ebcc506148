# SPDX-License-Identifier: MIT
# Warp: marks in a native function, by its build options.
import os

import warp

warp.config.kernel_cache_dir = os.environ["CACHE"]
warp.config.cuda_output = "ptx"  # its NVRTC is inside of its library, where nobody can answer for it
warp.init()
options = warp.ModuleBuildOptions(
    extra_cuda_include_dirs=[os.environ["INKMARK_INCLUDE"]],
    extra_cuda_preamble="#include <inkmark/mark.cuh>\nPROF_SECTIONS(Warp, Step, Square)\n")
warp.set_module_options({"extra_build_options": options})


@warp.func_native("PROF_KERNEL(Step); float y = x * x; PROF_MARK(Square, y); return y;")
def square(x: float) -> float: ...


@warp.kernel
def step(x: warp.array(dtype=float), n: int):
    i = warp.tid()
    for k in range(n):
        x[i] = square(x[i] * 1.5 + float(k))


x = warp.zeros(32, dtype=float, device="cuda:0")
warp.launch(step, dim=32, inputs=[x, 3], device="cuda:0")
assert (x.numpy() == 12.25).all(), x.numpy()
print("PASS")
