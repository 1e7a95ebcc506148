# SPDX-License-Identifier: MIT
"""The tables once more, worked out here from every single slice that `inkmark export` writes: counts, totals, extremes, percentiles,
imbalance, shares and where the longest slice was, by section and in every other grouping.

check_recomputed.py INKMARK MAKE_CAPTURES"""
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

inkmark, make_captures = (os.path.abspath(path) for path in sys.argv[1:])
CAPTURES = ("solver", "nested", "shared", "costed", "recursive", "wide", "streamed", "unmeasured")
GROUPS = {"section": lambda s: None, "iteration": lambda s: s["iteration"], "block": lambda s: s["block"], "sm": lambda s: s["sm"], "launch": lambda s: s["launch"],
          "warp": lambda s: s["warp"]}
checked = 0


def same(what, now, wanted, close=0.0):
    global checked
    checked += 1
    if now != wanted and not (close and now is not None and abs(now - wanted) <= close * max(1.0, abs(wanted))):
        sys.exit(f"FAILED: {what}: {now}, not {wanted}")


def rank(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def slices_of(capture):
    """Every slice of every track, and how long each track was."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "all.csv")
        subprocess.run([inkmark, "export", capture, "-o", path], check=True, capture_output=True)
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    found, lengths = [], collections.defaultdict(int)
    for row in rows:
        for key in ("device", "launch", "sm", "block", "warp", "iteration", "called", "cycles", "duration_cycles"):
            row[key] = int(row[key]) if row[key] not in ("", None) else None
        row["track"] = (row["device"], row["launch"], row["block"], row["warp"])
        if row["kind"] == "kernel_end":
            lengths[row["kernel"]] += row["duration_cycles"]
        elif row["kind"] in ("mark", "end") and row["duration_cycles"] is not None:
            found.append(row)
    for one in found:  # a recursive function's range lies in its own
        one["nested"] = any(other is not one and one["kind"] == other["kind"] == "end" and other["track"] == one["track"] and other["section"] == one["section"] and other["cycles"] >= one["cycles"] and
                            other["cycles"] - other["duration_cycles"] <= one["cycles"] - one["duration_cycles"] for other in found)
    return found, lengths


def check_row(what, row, slices, length):
    times = [one["duration_cycles"] for one in slices]
    outer = [one for one in slices if not one["nested"]]
    total = sum(one["duration_cycles"] for one in outer)
    same(f"{what} count", row["count"], len(slices))
    same(f"{what} nested", row["nested"], len(slices) - len(outer))
    same(f"{what} tracks", row["tracks"], len({one["track"] for one in slices}))
    for name, wanted in (("total", total), ("min", min(times)), ("max", max(times))):
        same(f"{what} {name}", row[f"{name}_cycles"], wanted)
    for name, share in (("p1", 0.01), ("median", 0.5), ("p99", 0.99)):  # within 1 % beyond 32 slices
        same(f"{what} {name}", row[f"{name}_cycles"], rank(times, share), 0 if len(times) <= 32 else 0.0101)
    if row.get("max_at"):
        at = row["max_at"]
        longest = [one for one, time in zip(slices, times) if time == max(times)]
        same(f"{what} where the longest was", any((one["launch"], one["block"], one["warp"], one["iteration"]) == (at["launch"], at["block"], at["warp"], at["iteration"])
                                                  for one in longest), True)
    if length:
        same(f"{what} share", row["share"], total / length, 1e-9)
    launches = collections.defaultdict(lambda: collections.defaultdict(int))
    for one in outer:
        launches[one["launch"]][one["track"]] += one["duration_cycles"]
    ratios = [max(tracks.values()) * len(tracks) / sum(tracks.values()) for tracks in launches.values() if sum(tracks.values())]
    if ratios and row.get("imbalance") is not None:
        same(f"{what} imbalance", row["imbalance"], sum(ratios) / len(ratios), 1e-9)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([make_captures], check=True)
    for name in CAPTURES:
        found, lengths = slices_of(f"{name}.ink")
        for by, key in GROUPS.items():
            told = json.loads(subprocess.run([inkmark, "report", "--raw", "--format", "json", "--by", by, f"{name}.ink"], check=True, capture_output=True, text=True).stdout)
            (told,) = told["captures"]
            told_rows = set()
            for kernel in told["kernels"]:
                own = [one for one in found if one["kernel"] == kernel["kernel"]]
                if by == "section":
                    same(f"{name} {kernel['kernel']} total", kernel["total_cycles"], lengths[kernel["kernel"]])
                for row in kernel["rows"]:
                    if row["table"] is None or row["summed"]:
                        continue
                    mine = [one for one in own if one["section"] == row["section"] and key(one) == row["group"]]
                    what = f"{name}.ink by {by}, {kernel['kernel']}/{row['section']} {row['group']}"
                    same(f"{what} has slices", bool(mine), True)
                    same(f"{what} called", row["called"], all(one["called"] for one in mine))
                    told_rows.add((kernel["kernel"], row["section"], row["group"]))
                    check_row(what, row, mine, lengths[kernel["kernel"]] if by == "section" else 0)
            wanted = {(one["kernel"], one["section"], key(one)) for one in found}
            same(f"{name}.ink by {by}: which rows there are", told_rows, wanted)
print(f"ok: {checked} numbers")
sys.exit(checked < 1000)
