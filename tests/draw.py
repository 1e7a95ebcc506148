# SPDX-License-Identifier: MIT
"""Which tests a run leaves out, so that it ends in time: a sample of the large ones, drawn by a seed.

draw.py COLUMN BUDGET SEED: reads names of tests, and prints those that are left out. All that tests/costs.txt does not name
run: they take less than a second. Of the others one of each suite runs, if it is none of the largest, and then as many of
all as the budget (in seconds of that table) has room for. Another seed draws others.
draw.py --costs COLUMN=LOG...: makes tests/costs.txt from logs of ctest, of which a column stands for one kind of build."""
import os
import random
import re
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "costs.txt")
COLUMNS = ("plain", "sanitized")


def read_costs():
    with open(TABLE, encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return {name: dict(zip(COLUMNS, map(float, costs))) for name, *costs in rows}


def write_costs(logs):
    found = {}
    for column, path in (log.split("=", 1) for log in logs):
        with open(path, encoding="utf-8", errors="replace") as file:
            for name, seconds in re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+ *(?:Passed|\*\*\*\w+) +([\d.]+) sec", file.read(), re.M):
                found.setdefault(name, dict.fromkeys(COLUMNS, 0.0))[column] = float(seconds)
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("# Tests that take over a second, in seconds on two busy cores: plain, with sanitizers. Made by draw.py --costs; for\n"
                   "# tests/draw.py alone, which only needs to know which take longer than others.\n")
        for name, costs in sorted(found.items()):
            if max(costs.values()) >= 1:
                file.write(f"{name} {' '.join(f'{costs[column]:.0f}' for column in COLUMNS)}\n")


def draw(names, costs, budget, seed):
    chance, suites, rest = random.Random(seed), {}, []
    for name in sorted(names):
        if name in costs:  # a short test comes sooner, so that more of them run; each can come first
            suites.setdefault(re.split(r"[._]", name)[0], []).append((chance.expovariate(1) * max(costs[name], 0.5), name))
    spent, left_out = 0.0, []
    for _, tests in sorted(suites.items()):
        tests.sort()
        first = next((test for test in tests if costs[test[1]] <= budget / 10), None)
        spent += costs[first[1]] if first else 0
        rest += [test for test in tests if test != first]
    for _, name in sorted(rest):
        if spent + costs[name] > budget:
            left_out.append(name)
        else:
            spent += costs[name]
    return sorted(left_out)


def main():
    if sys.argv[1] == "--costs":
        return write_costs(sys.argv[2:])
    column, budget, seed = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    costs = {name: of[column] or 3 * of["plain"] for name, of in read_costs().items()}
    print("\n".join(draw(sys.stdin.read().split(), costs, budget, seed)))


main()
