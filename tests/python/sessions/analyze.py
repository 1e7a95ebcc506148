# SPDX-License-Identifier: MIT
# inkmark.analyze: sections over configurations, runs that lie apart, what is refused; its frame and its HTML.
import cupy
import numpy

import inkmark
from marked import module, refused, run

compiled, calls = module(), []


@inkmark.analyze(configs=[(1, 2), (2, 5)], runs=3, warmup=2, arm=[compiled])
def step(blocks, n):
    calls.append((blocks, n))
    run(compiled, blocks, n)


sweep = step()
assert step.__name__ == "step" and calls == [(1, 2)] * 5 + [(2, 5)] * 5, calls
frame = sweep.to_pandas()
assert list(frame["blocks"]) == [1, 1, 2, 2] and list(frame["n"]) == [2, 2, 5, 5] and list(frame["runs"]) == [3] * 4
assert list(frame["section"]) == ["Load", "Compute"] * 2 and set(frame["kernel"]) == {"Step"}
with inkmark.session() as s:
    s.arm(compiled)
    run(compiled, 2, 5)
for section, row in zip(("Load", "Compute"), s.capture.table()):
    mine = frame[(frame["blocks"] == 2) & (frame["section"] == section)].iloc[0]
    assert mine["mean_cycles"] == row["total_cycles"] / row["count"] == mine["median_cycles"], (mine, row)
assert (frame["spread_cycles"] == 0).all() and not frame["doubtful"].any() and sweep.lost == 0
assert frame.attrs["clock"] == "simulated clock" and sweep.to_arrow().num_rows == 4
assert "3 runs, simulated clock" in sweep._repr_html_() and "too far apart" not in sweep._repr_html_()



class Axes:
    """What plot() calls, written down."""

    def __init__(self):
        self.bars = []

    def bar(self, labels, heights, bottom, label):
        self.bars.append((label, labels, list(heights), list(bottom)))

    def set_xlabel(self, text):
        self.x = text

    def set_ylabel(self, text):
        self.y = text

    def legend(self):
        pass


axes = sweep.plot(ax=Axes())
load, compute = list(frame["median_cycles"][::2]), list(frame["median_cycles"][1::2])
assert axes.bars == [("Step: Load", ["1, 2", "2, 5"], load, [0, 0]), ("Step: Compute", ["1, 2", "2, 5"], compute, load)], axes.bars
assert axes.x == "blocks, n" and "simulated" in axes.y

turns = iter(range(100))
source = module.__globals__["SOURCE"].replace("x[threadIdx.x] = a * a;", "for (int k = 0; k < n * n; k++) a = a * a + 1; x[threadIdx.x] = a;")
slow = module(source)


@inkmark.analyze(configs=[("a",)], runs=5, warmup=0, arm=[slow], kernels="Step")
def apart(name):
    run(slow, 1, 1 + next(turns))


sweep = apart()
frame = sweep.to_pandas()
assert list(frame["name"]) == ["a", "a"] and frame["doubtful"].any() and "too far apart" in sweep._repr_html_()
compute = frame[frame["section"] == "Compute"].iloc[0]
values = sweep.cycles[0, "Step", "Compute"]
assert list(values) == sorted(values) and compute["min_cycles"] == values[0] and compute["max_cycles"] == values[4]
assert compute["median_cycles"] == values[2] and compute["spread_cycles"] == (values[3] - values[1]) / values[2]
assert not sweep.clock_moved and "the clock moved" not in sweep._repr_html_(), sweep.clock_hz
low, high = sweep.clock_hz
assert 0.98e9 < low <= high < 1.02e9, sweep.clock_hz  # the simulated device's


class Throttled:
    """The last run's capture, of an SM that ran a tenth slower."""

    simulated = True
    kernels = [{"name": "Step"}]

    def section_name(self, section):
        return "Compute"

    def totals(self):
        return numpy.zeros(1, [(name, "u8") for name in ("tracks_lost", "marks_dropped", "missed")])

    def table(self, by="section", raw=False):
        return numpy.array([(0, 0, 0, 5, 900, 1000.0)], [("kernel", "u4"), ("group", "i8"), ("section", "u4"), ("count", "u8"),
                                                         ("total_cycles", "u8"), ("total_ns", "f8")])


sweep._take(0, 0, Throttled())
assert sweep.clock_moved and "the clock moved: SMs ran at 900 to 10" in sweep._repr_html_(), (sweep.clock_hz, sweep._repr_html_())
refused(lambda: inkmark.analyze(configs=[], runs=1), "list of tuples", ValueError)
refused(lambda: inkmark.analyze(configs=[(1,), (1, 2)]), "one length", ValueError)
refused(lambda: inkmark.analyze(configs=[(1,)], runs=0), "at least 1", ValueError)
refused(inkmark.analyze(configs=[(1,)])(lambda block: cupy.zeros(block)), "nothing was recorded")
print("PASS")
