# SPDX-License-Identifier: MIT
# Sessions one after the other in one process: RawModule, RawKernel, handles; what is refused; a fork in the middle.
import os

import cupy
import inkmark
from marked import SOURCE, counts, module, refused, run

compiled = module()
for blocks in (1, 2):
    with inkmark.session(output="again.%p.ink") as s:
        assert s.arm(compiled) and inkmark.arm(compiled)  # the second time is the first
        run(compiled, blocks)
        refused(lambda: s.capture, "is open")
        refused(inkmark.session().start, "already open")
    assert s.recorded and s.capture.simulated and s.capture.path.endswith(f"again.{os.getpid()}.ink"), s.capture.path
    assert counts(s.capture) == {"Load": 3 * blocks, "Compute": 3 * blocks}, counts(s.capture)
run(compiled)  # dormant
with inkmark.session() as s:
    run(compiled)
assert not s.recorded
refused(lambda: s.capture, "nothing was recorded")
refused(lambda: s.arm(compiled), "not open")
assert not inkmark.arm(compiled)

kernel = cupy.RawKernel(SOURCE, "step", options=inkmark.nvrtc_options())
with inkmark.session(granularity="warp", kernels="Step", activity=True) as s:
    assert s.arm(kernel)
    kernel((1,), (64,), (cupy.zeros(64, dtype=cupy.float32), cupy.int32(2)))
    cupy.cuda.Device().synchronize()
    s.off()
    kernel((1,), (64,), (cupy.zeros(64, dtype=cupy.float32), cupy.int32(5)))
    cupy.cuda.Device().synchronize()
    s.on()
assert counts(s.capture) == {"Load": 4, "Compute": 4}, counts(s.capture)
launches, activity = s.capture.columns(what="launches"), s.capture.columns(what="activity")
assert list(launches["kernel"]) == ["Step"] and list(launches["block_x"]) == [64], launches
kernels = [(n, bool(m)) for k, n, m in zip(activity["kind"], activity["name"], activity["launch"].mask) if k == "kernel"]
assert ("step", False) in kernels and ("step", True) in kernels, kernels
folder = os.path.dirname(s.capture.path)
del s, launches
assert not os.path.exists(folder)

other = module(SOURCE.replace("Session", "Other").replace("Load", "Fetch"))
with inkmark.session() as s:  # a handle alone has no names, unless they are told
    s.sections("Other", "Step", "Fetch", "Compute")
    assert s.arm(int(other.module.ptr))
    refused(lambda: s.arm(object()), "cannot arm a builtins.object")
    run(other, n=1)
assert counts(s.capture) == {"Fetch": 1, "Compute": 1}, counts(s.capture)

with inkmark.session() as s:
    s.arm(compiled)
    run(compiled)
    child = os.fork()
    if child == 0:
        refused(lambda: s.arm(compiled), "forked child")
        refused(s.drain, "forked child")
        refused(lambda: s.capture, "forked child")
        s.stop()
        with inkmark.session() as own:
            pass
        os._exit(0 if not own.recorded else 9)
    assert os.waitpid(child, 0)[1] == 0
    run(compiled)
assert counts(s.capture) == {"Load": 6, "Compute": 6}, counts(s.capture)
with inkmark.session(schedule="wait=1,active=2") as s:
    s.arm(compiled)
    for blocks in (1, 2, 4, 8, 16):
        run(compiled, blocks)
        (s if blocks > 1 else inkmark).step()
assert counts(s.capture)["Load"] == 3 * (2 + 4 + 16), counts(s.capture)
assert s.capture.fact("window") == "schedule wait=1,active=2"
with inkmark.session(start_off=True, blocks="::2") as s:
    s.arm(compiled)
    run(compiled, 4)
    s.on()
    run(compiled, 3)
assert counts(s.capture)["Load"] == 3 * 2 and s.capture.fact("blocks") == "::2", counts(s.capture)
inkmark.step()
refused(inkmark.session(schedule="soon").start, "schedule 'soon'")
refused(lambda: inkmark.session(granularity="lane"), "granularity is one of", ValueError)
refused(inkmark.session(output="%q.ink").start, "%q", ValueError)
refused(inkmark.session(blocks="x").start, "blocks 'x'")
with inkmark.session():  # the one that could not be opened is in nobody's way
    pass
print("PASS")
