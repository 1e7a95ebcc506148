# SPDX-License-Identifier: MIT
# Warp: marks by its build options; and a kernel that times itself into an array, without marks.
import os

import warp

import inkmark

warp.config.kernel_cache_dir = os.environ["CACHE"]
warp.config.cuda_output = "ptx"
warp.config.quiet = True
warp.init()
warp.set_module_options({"extra_build_options": warp.ModuleBuildOptions(
    extra_cuda_include_dirs=[inkmark.include_dir()], extra_cuda_preamble=inkmark.preamble("Step", "Square"))})


@warp.func_native("PROF_KERNEL(Step); float y = x * x; PROF_MARK(Square, y); return y;")
def square(x: float) -> float: ...


@warp.func_native("return clock64();")
def clock() -> warp.int64: ...


@warp.kernel
def step(x: warp.array(dtype=float), n: int):
    i = warp.tid()
    for k in range(n):
        x[i] = square(x[i] + float(k))


@warp.kernel
def timed(x: warp.array(dtype=float), clocks: warp.array(dtype=warp.int64, ndim=3)):
    i = warp.tid()
    for k in range(4):
        clocks[i, k, 0] = clock()
        x[i] = x[i] + 1.0
        clocks[i, k, 1] = clock()
        x[i] = warp.sqrt(x[i]) + warp.sqrt(x[i] + 3.0)
        clocks[i, k, 2] = clock()


x = warp.zeros(32, dtype=float, device="cuda:0")
clocks = warp.zeros((32, 4, 3), dtype=warp.int64, device="cuda:0")
with inkmark.session() as s:
    assert s.arm(step)  # loads its module
    warp.launch(step, dim=32, inputs=[x, 3], device="cuda:0")
    warp.launch(timed, dim=32, inputs=[x, clocks], device="cuda:0")
assert s.capture.kernels[0]["name"] == "Step"
rows = s.capture.table()
assert s.capture.section_name(rows[0]["section"]) == "Square" and rows[0]["count"] == 3, rows

table = inkmark.table_from(clocks, sections=["Add", "Root"], kernel="timed", stamps=True)
rows, stamps = table.table(), clocks.numpy()
assert list(rows["count"]) == [128, 128]
for section, row in enumerate(rows):
    times = stamps[..., section + 1] - stamps[..., section]
    assert row["total_cycles"] == times.sum() > 0 and row["max_cycles"] == times.max(), row
assert table.matrix("block")[0].shape == (32, 2)
print("PASS")
