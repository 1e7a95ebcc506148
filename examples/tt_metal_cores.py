# SPDX-License-Identifier: MIT
"""tt-metal's device profiler writes a line for each begin and end of a zone on each core (profile_log_device.csv). The same
tables as for marks are made of it: zones over all cores, and each core's share. python3 tt_metal_cores.py [FILE]"""
import csv
import io
import sys
from typing import Any, Dict, Iterator, List, TextIO, Tuple

import numpy

import inkmark

SAMPLE = """ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, zone name, type, source line, source file
0, 1, 1, BRISC, 1, 1000, 0, 7, READ, ZONE_START, 10, reader.cpp
0, 1, 1, BRISC, 1, 1400, 0, 7, READ, ZONE_END, 10, reader.cpp
0, 1, 1, TRISC_1, 2, 1200, 0, 7, MATH, ZONE_START, 20, compute.cpp
0, 1, 1, TRISC_1, 2, 1900, 0, 7, MATH, ZONE_END, 20, compute.cpp
0, 2, 1, BRISC, 1, 1000, 0, 7, READ, ZONE_START, 10, reader.cpp
0, 2, 1, BRISC, 1, 2200, 0, 7, READ, ZONE_END, 10, reader.cpp
0, 2, 1, TRISC_1, 2, 1500, 0, 7, MATH, ZONE_START, 20, compute.cpp
0, 2, 1, TRISC_1, 2, 2300, 0, 7, MATH, ZONE_END, 20, compute.cpp
"""


def read(lines: Iterator[str]) -> Tuple[Any, List[Tuple[int, int]], List[str], float]:
    """[core][run][zone] in cycles, the cores as (x, y), the zones, and the clock's rate. Zones of a core that come again in a
    run are added up."""
    arch = next(lines)
    hz = float(arch.split("CHIP_FREQ[MHz]:")[1].split(",")[0]) * 1e6
    rows = [{key.strip(): value.strip() for key, value in row.items()} for row in csv.DictReader(lines)]
    zones = list(dict.fromkeys(f"{row['RISC processor type']} {row['zone name']}" for row in rows))
    cores = sorted({(int(row["core_x"]), int(row["core_y"])) for row in rows})
    runs = sorted({int(row["run host ID"]) for row in rows})
    cycles = numpy.zeros((len(cores), len(runs), len(zones)), "i8")
    began: Dict[Tuple[int, int, int], int] = {}
    for row in rows:
        at = (cores.index((int(row["core_x"]), int(row["core_y"]))), runs.index(int(row["run host ID"])),
              zones.index(f"{row['RISC processor type']} {row['zone name']}"))
        if row["type"] == "ZONE_START":
            began[at] = int(row["time[cycles since reset]"])
        else:
            cycles[at] += int(row["time[cycles since reset]"]) - began.pop(at)
    return cycles, cores, zones, hz


given: TextIO = open(sys.argv[1]) if len(sys.argv) > 1 else io.StringIO(SAMPLE)
with given as file:
    cycles, cores, zones, hz = read(file)
timed = inkmark.table_from(cycles, sections=zones, kernel="program", hz=hz)
for row in timed.table():
    print(f"{timed.section_name(row['section']):16} min {row['min_cycles']:6} median {row['median_cycles']:6} max {row['max_cycles']:6} "
          f"cycles, imbalance {row['imbalance']:.2f}")
for row in timed.table("block"):
    print(f"core {cores[row['group']]} {timed.section_name(row['section']):16} {row['total_cycles']:6} cycles, {row['total_ns']:.0f} ns")
if len(sys.argv) == 1:
    rows = {timed.section_name(row["section"]): row for row in timed.table()}
    assert list(rows) == ["BRISC READ", "TRISC_1 MATH"] and cores == [(1, 1), (2, 1)]
    assert (rows["BRISC READ"]["min_cycles"], rows["BRISC READ"]["max_cycles"]) == (400, 1200)
    assert rows["BRISC READ"]["imbalance"] == 1.5 and rows["TRISC_1 MATH"]["total_ns"] == 1500
    print("PASS")
