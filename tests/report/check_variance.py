# SPDX-License-Identifier: MIT
"""`report --variance` on made-up captures: what the scatter of a section goes with is known, as are warm-up and drift.
check_variance.py INKMARK MADE_UP [SEEDS]"""
import json
import os
import random
import subprocess
import sys
import tempfile

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:3])
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 8
STEADY = ["scatter=0", "iterations=10"]


def rows(seed, *keys, more=()):
    subprocess.run([made_up, "x.ink", str(seed), *keys], check=True)
    done = subprocess.run([inkmark, "report", "--variance", "-f", "json", *more, "x.ink"], capture_output=True, text=True, check=True)
    return {row["section"]: row for row in json.loads(done.stdout)["captures"][0]["sections"]}


def only(found, section, key, **numbers):
    """The section goes with the key; the others, which are even, with nothing."""
    assert found[section]["goes_with"] == key, found[section]
    for name, row in found.items():
        assert name == section or row["goes_with"] is None, row
    for name, (low, high) in numbers.items():
        assert low <= found[section][name] <= high, (name, found[section])


def main():
    for seed in range(SEEDS):
        choose = random.Random(seed)
        even = rows(seed, *STEADY)
        assert all(row["goes_with"] is None and not row["warm_up_launches"] and row["drift"] is None for row in even.values()), even
        assert all(row["slices"] == row["looked_at"] == 1600 for row in even.values()), even
        factor = choose.choice((1.3, 2, 4))
        near = (0.95 * factor, 1.05 * factor)
        sm = choose.randrange(4)
        only(rows(seed, *STEADY, f"sm={sm}:{factor}"), "LineSearch", "SM", group=(sm, sm), group_ratio=near, explained_share=(0.9, 1))
        block = choose.randrange(8)
        only(rows(seed, *STEADY, f"late={block}:{factor}"), "LineSearch", "block", group=(block, block), group_ratio=near)
        row = choose.randrange(10)
        only(rows(seed, *STEADY, f"outlier={row}:{factor}"), "LineSearch", "iteration", group=(row, row), group_ratio=near)
        cycles = choose.choice((20, 70))
        only(rows(seed, *STEADY, f"value={cycles}"), "Hessian", "value", cycles_per_value=(0.97 * cycles, 1.03 * cycles),
             value_correlation=(0.98, 1))
        grown = choose.choice((0.2, 0.5))
        found = rows(seed, *STEADY, "launches=40", f"trend={grown}")
        only(found, "Gradient", "launch", drift=(0.6 * grown, grown), warm_up_launches=(0, 0))
        slow = choose.choice((1.3, 3))
        for r in rows(seed, *STEADY, f"drift={slow}").values():
            assert r["warm_up_launches"] == 1 and 0.97 * slow < r["warm_up_ratio"] < 1.03 * slow and r["drift"] is None, r
        spread = rows(seed, "scatter=0.05", "iterations=4")
        assert all(r["goes_with"] == "launch" and r["explained_share"] > 0.8 and r["drift"] is None for r in spread.values()), spread
    for seed in 1, 2, 3:  # about as many numbers as slices: each would explain its own
        few = rows(seed, "scatter=0", "launches=1", "blocks=16", "value=20")
        assert few["Hessian"]["slices"] == 16 and few["Hessian"]["goes_with"] is None, few["Hessian"]
    many = rows(1, *STEADY, "launches=220", "sm=2:2")  # 17,600 slices of each: of a sample the same
    only(many, "LineSearch", "SM", group=(2, 2), group_ratio=(1.9, 2.1), looked_at=(16384, 16384), launches=(220, 220))
    rows(1, *STEADY, "value=40", "drift=2", "launches=20")
    text = subprocess.run([inkmark, "report", "--variance", "x.ink"], capture_output=True, text=True, check=True).stdout
    for words in ("value of ", " cycles for each 1 of it", "the first 1 of 20 launches is slower, the first 2.0"):
        assert words in text, (words, text)
    assert "LineSearch" not in subprocess.run([inkmark, "report", "--variance", "--launch", "99", "x.ink"], capture_output=True,
                                              text=True, check=False).stdout
    for wrong in (["-f", "csv"], ["--path"], ["--activity"], ["--host"], ["--check", "Step/Hessian p99 < 1us"]):
        done = subprocess.run([inkmark, "report", "--variance", *wrong, "x.ink"], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "--variance" in done.stderr, done
    for other in ("--activity", "--host"):  # a condition that nobody looks at would pass
        done = subprocess.run([inkmark, "report", other, "--check", "Step/Hessian p99 < 1us", "x.ink"], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 2 and "--check" in done.stderr, done
    print(f"{8 * SEEDS + 2} captures")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
