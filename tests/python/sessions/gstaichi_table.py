# SPDX-License-Identifier: MIT
# gstaichi: a solver that fills [block][iteration][section] by itself. This version has no clock for kernels: what
# stands in for it is how many steps each section takes.
import gstaichi

import inkmark

gstaichi.init(arch=gstaichi.cuda, device_memory_GB=0.25)
steps = gstaichi.field(gstaichi.i64, (4, 3, 2))


@gstaichi.kernel
def solve():
    for b in range(4):
        for i in range(3):
            for k in range(b + 1):
                steps[b, i, 0] += 10
            for k in range(i):
                steps[b, i, 1] += 7


solve()
timed = inkmark.table_from(steps, sections=["Update", "Project"], kernel="solve")
assert timed.times.tolist() == [[[10 * (b + 1), 7 * i] for i in range(3)] for b in range(4)]
assert timed.matrix("iteration")[0].tolist() == [[100, 28 * i] for i in range(3)]
rows = timed.table()
assert list(rows["total_cycles"]) == [300, 84] and list(rows["median_cycles"]) == [20, 7] and rows[0]["imbalance"] == 1.6
print("PASS")
