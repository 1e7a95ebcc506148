# SPDX-License-Identifier: MIT
"""The NPY output, loaded by NumPy: the arrays' cells against the decoder's slices, their sums against
the tables, and the axes file.

check_npy.py OUTPUT_TOOL"""
import json
import os
import sys

from scratch import Scratch, skip

try:
    import numpy
except ImportError:
    skip(f"no numpy for {sys.executable}: tests/run.sh installs it")


def load(scratch, stem):
    with open(scratch.path(stem + ".axes.json")) as f:
        axes = json.load(f)
    arrays = {what: numpy.load(scratch.path(name), allow_pickle=False)
              for what, name in axes["arrays"].items()}
    shape = (len(axes["tracks"]), len(axes["iterations"]), len(axes["sections"]))
    for what, array in arrays.items():
        assert array.dtype == numpy.int64 and array.shape == shape, (what, array.shape, shape)
    assert axes["schema_version"] == 1 and axes["axes"] == ["track", "iteration", "section"]
    return axes, arrays


def expected(truth, axes, shape, launches):
    tracks = {(t["launch"], t["block"][0], t["thread"]): i for i, t in enumerate(axes["tracks"])}
    rows = {r: i for i, r in enumerate(axes["iterations"])}
    sections = {s: i for i, s in enumerate(axes["sections"])}
    cycles, ns, counts = (numpy.zeros(shape, numpy.int64) for _ in range(3))
    for e in truth["events"]:
        if e["kind"] != "slice" or e["cut"] or e["launch"] not in launches:
            continue
        at = (tracks[e["launch"], e["block"], e["thread"]], rows[e["row"]], sections[e["name"]])
        cycles[at] += e["cycles"]
        ns[at] += int(e["end_ns"]) - int(e["begin_ns"])
        counts[at] += 1
    return cycles, ns, counts


def check(scratch, stem, kernel, truth, launches):
    axes, arrays = load(scratch, stem)
    assert axes["kernel"] == kernel and axes["clock"] == "simulated clock"
    cycles, ns, counts = expected(truth, axes, arrays["cycles"].shape, launches)
    sums = [i for i, s in enumerate(axes["sections"]) if s == "Sums"]
    for what, array in (("cycles", cycles), ("ns", ns), ("counts", counts)):
        kept = arrays[what].copy()
        kept[:, :, sums] = 0  # PROF_SUM's cells are checked below
        assert (kept == array).all(), what
    whole = {}  # the table has a row for each device
    for r in truth["table"]:
        sum_of = whole.setdefault((r["kernel"], r["name"]), {**r, "count": 0, "total_cycles": 0, "total_ns": 0})
        for field in ("count", "total_cycles", "total_ns"):
            sum_of[field] += r[field]
    for r in whole.values():
        if r["kernel"] != kernel or r["name"] == "(unmarked)" or not r["count"]:
            continue
        at = axes["sections"].index(r["name"])
        assert arrays["cycles"][:, :, at].sum() == r["total_cycles"], r
        assert arrays["counts"][:, :, at].sum() == r["count"], r
        assert abs(int(arrays["ns"][:, :, at].sum()) - r["total_ns"]) <= r["count"], r


def main(tool):
    with Scratch(tool) as scratch:
        capture = scratch.make("mixed")
        truth = scratch.dump(capture)
        scratch.write("npy", capture, "mixed.npy")
        assert not os.path.exists(scratch.path("mixed.npy"))
        check(scratch, "mixed.Step", "Step", truth, {0, 1, 3})
        check(scratch, "mixed.Main", "Main", truth, {2})
        scratch.write("npy", capture, "one", "Main")  # one kernel: its name is not in the files'
        check(scratch, "one", "Main", truth, {2})
        axes, _ = load(scratch, "mixed.Step")
        assert axes["iterations"][:3] == [0, 1, 2] and axes["iterations"][-1] == "unknown"
        assert sum(t["marks_dropped"] for t in axes["tracks"]) == sum(k["dropped"] for k in truth["kernels"] if k["name"] == "Step")
        assert not [f for f in os.listdir(scratch.folder) if f.endswith(".tmp")]
    print("ok")


main(sys.argv[1])
