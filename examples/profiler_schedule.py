# SPDX-License-Identifier: MIT
"""The steps that torch.profiler.schedule records are those that a session with the same schedule records: `inkmark.step()` stands
where the program calls `prof.step()`. python3 examples/profiler_schedule.py (needs CuPy; compares with torch, where torch is there)

    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=2)) as prof, \\
         inkmark.session(schedule="wait=1,warmup=1,active=3,repeat=2") as s:
        for batch in loader:
            train(batch)
            prof.step()
            inkmark.step()"""
from typing import List

import cupy

import inkmark

WAIT, WARMUP, ACTIVE, REPEAT, STEPS = 1, 1, 3, 2, 13
SOURCE = r"""
#include <inkmark/mark.cuh>
PROF_SECTIONS(ScheduleExample, Train, Forward)

extern "C" __global__ void train(float *x) {
  PROF_KERNEL(Train);
  float y = x[threadIdx.x] * 2;
  PROF_MARK(Forward, y);
  x[threadIdx.x] = y;
}
"""


def recorded_by_torch() -> List[int]:
    """The steps that the profiler is in its active phase in; torch's own answer, where it is installed."""
    cycle = WAIT + WARMUP + ACTIVE
    mine = [s for s in range(STEPS) if s // cycle < REPEAT and s % cycle >= WAIT + WARMUP]
    try:
        from torch import profiler  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return mine
    ask = profiler.schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=REPEAT)
    theirs = [s for s in range(STEPS) if ask(s).name in ("RECORD", "RECORD_AND_SAVE")]
    assert theirs == mine, theirs
    return theirs


module = cupy.RawModule(code=SOURCE, options=inkmark.nvrtc_options())
x = cupy.zeros(32, dtype=cupy.float32)
with inkmark.session(schedule=f"wait={WAIT},warmup={WARMUP},active={ACTIVE},repeat={REPEAT}") as s:
    s.arm(module)
    for step in range(STEPS):
        module.get_function("train")((step + 1,), (32,), (x,))  # as many blocks, so that the capture tells which step it was
        inkmark.step()
steps = sorted(int(launch["grid_dim"][0]) - 1 for launch in s.capture.launches)
print("recorded steps:", *steps)
assert steps == recorded_by_torch(), steps
print("PASS")
