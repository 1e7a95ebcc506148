# SPDX-License-Identifier: MIT
"""Reactant's `@time` and `@timed nrepeat=N` in Julia give the time of each repeat of a compiled function. Written as CSV, a
column for each function, they become the same table as marks and `inkmark time` have. python3 reactant_time.py [FILE]

    using Reactant, DelimitedFiles
    seconds = [(@timed step(x)).time for _ in 1:20, step in (forward, backward)]
    writedlm("times.csv", [["forward" "backward"]; seconds], ',')"""
import io
import sys
from typing import TextIO

import numpy

import inkmark

SAMPLE = "forward,backward\n0.00200,0.00510\n0.00110,0.00300\n0.00120,0.00310\n0.00110,0.00290\n0.00130,0.00300\n"
WARMUP = 1  # the first one compiles

given: TextIO = open(sys.argv[1]) if len(sys.argv) > 1 else io.StringIO(SAMPLE)
with given as file:
    names = next(file).strip().split(",")
    seconds = numpy.loadtxt(file, delimiter=",", ndmin=2)[WARMUP:]
# a repeat is a block, with one pass; its clock counts ns
timed = inkmark.table_from(numpy.rint(seconds * 1e9).astype("i8")[:, None, :], sections=names, kernel="step", hz=1e9)
for row in timed.table():
    spread = (row["max_ns"] - row["min_ns"]) / row["median_ns"]
    print(f"{timed.section_name(row['section']):10} {row['count']} repeats: min {row['min_ns'] / 1e3:.0f} median "
          f"{row['median_ns'] / 1e3:.0f} max {row['max_ns'] / 1e3:.0f} us, spread {100 * spread:.0f} %")
if len(sys.argv) == 1:
    rows = [(timed.section_name(r["section"]), int(r["count"]), int(r["min_cycles"]), int(r["median_cycles"])) for r in timed.table()]
    assert rows == [("forward", 4, 1100000, 1100000), ("backward", 4, 2900000, 3000000)], rows
    print("PASS")
