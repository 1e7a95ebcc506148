# SPDX-License-Identifier: MIT
"""Exports of parts of a capture: each option against the whole, filtered here.

check_parts.py INKMARK MADE_UP"""
import bisect
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:])


def export(name, *more, code=0):
    done = subprocess.run([inkmark, "export", "-q", *more, "x.ink", "-o", name], capture_output=True, text=True)
    assert done.returncode == code, (more, done.returncode, done.stderr)
    return done.stderr


def slices(*more):
    export("x.json", *more)
    with open("x.json") as file:
        trace = json.load(file)
    bodies = {}  # of each row, in the order of time: no two overlap
    for e in sorted((e for e in trace["traceEvents"] if e.get("cat") == "track"), key=lambda e: e["ts"]):
        bodies.setdefault((e["pid"], e["tid"]), []).append(e)
    found = []
    for e in trace["traceEvents"]:
        if e.get("cat") == "section":
            row = bodies[e["pid"], e["tid"]]
            body = row[bisect.bisect_right([b["ts"] for b in row], e["ts"]) - 1]
            assert e["ts"] + e["dur"] <= body["ts"] + body["dur"] + .001, (e, body)
            ns = int(trace["baseTimeNanoseconds"]) + round(e["ts"] * 1000 - .05)
            found.append((body["args"]["launch"], body["args"]["block"], e["name"], ns, round(e["dur"] * 1000 - .05),
                          e["args"].get("iteration")))
    return sorted(found), [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]


def rows(*more):
    export("x.csv", *more)
    with open("x.csv", newline="") as file:
        return list(csv.DictReader(file))


def same(got, want, what):
    assert got == want and want, (what, len(got), len(want), got[:2], want[:2])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([made_up, "x.ink", "1", "iterations=20", "launches=3", "blocks=9", "slots=4"], check=True)
    whole, kernels = slices()
    assert len(whole) == 3 * 9 * 20 * 5 and len(kernels) == 3
    zero = min(s[3] for s in whole)
    same(slices("--blocks", "2-4")[0], [s for s in whole if 2 <= s[1] <= 4], "blocks")
    same(slices("--blocks", "8")[0], [s for s in whole if s[1] == 8], "a block")
    same(slices("--iterations", "7-9")[0], [s for s in whole if 7 <= s[5] <= 9], "iterations")
    got, kernels = slices("--time", "60us-70us")
    assert kernels and len(kernels) < 3
    # a slice's ends are rounded here: those at the very border are left out of the comparison
    inner = [s for s in whole if s[3] - zero < 70000 - 5 and s[3] + s[4] - zero > 60000 + 5]
    outer = [s for s in whole if s[3] - zero < 70000 + 5 and s[3] + s[4] - zero > 60000 - 5]
    assert set(inner) <= set(got) <= set(outer) and inner, "time"
    same([s for s in slices("--shorter-than", "400ns=drop")[0] if s[4] > 405], [s for s in whole if s[4] > 405], "long ones")
    assert not [s for s in slices("--shorter-than", "400ns")[0] if s[4] < 395]
    got = slices("--launch", "2", "--blocks", "0-3", "--iterations", "5")[0]
    same(got, [s for s in whole if s[0] == 2 and s[1] <= 3 and s[5] == 5], "several")
    table = rows()
    same([r for r in rows("--blocks", "2-4")], [r for r in table if 2 <= int(r["block"]) <= 4], "csv: blocks")
    got = [r for r in rows("--iterations", "7-9") if not r["kind"].startswith("kernel")]
    same(got, [r for r in table if r["iteration"] in ("7", "8", "9") and not r["kind"].startswith("kernel")], "csv: rows")
    begin = min(int(r["ns"]) for r in table)
    got = {(r["launch"], r["block"], r["cycles"]) for r in rows("--time", "0ns-9us") if not r["kind"].startswith("kernel")}
    want = {(r["launch"], r["block"], r["cycles"]) for r in table
            if int(r["ns"]) - begin <= 9000 and not r["kind"].startswith("kernel")}
    same(got, want, "csv: time")
    # what lets nothing through is an error that says what there is, and leaves no file; what is written is not called the whole
    for name in ("n.json", "n.csv", "n.pftrace", "n.csv.gz"):
        for more, words in ((("--blocks", "9"), "blocks are 0 to 8"), (("--blocks", "900-1000"), "blocks are 0 to 8"),
                            (("--time", "5s-6s"), "ns from the begin"), (("--iterations", "20"), "no record is of an iteration from 20 to 20"),
                            (("--iterations", "5", "--launch", "1", "--blocks", "77"), "blocks are 0 to 8"),
                            (("--iterations", "30-40", "--blocks", "1"), "of an iteration from 30 to 40 there")):
            assert re.search(f"nothing passes the filter: .*{words}", export(name, *more, code=1)), (name, more)
            assert not os.path.exists(name), (name, more)
    subprocess.run([made_up, "none.ink", "1", "launches=0"], check=True)
    done = subprocess.run([inkmark, "export", "--blocks", "0", "none.ink", "-o", "n.json"], capture_output=True, text=True)
    assert done.returncode == 1 and "nothing passes the filter: the capture has no track" in done.stderr, done
    done = subprocess.run([inkmark, "export", "--blocks", "2", "x.ink", "-o", "x.json"], capture_output=True, text=True, check=True)
    assert "wrote 'x.json'" in done.stderr and "27 tracks" not in done.stderr, done.stderr
    slices("--shorter-than", "1s=drop")  # kernels and tracks alone
    export("x.pftrace", "--time", "60us-70us", "--blocks", "4-8", "--shorter-than", "1us=drop")
    for name, more, code, words in (("x.tables.json", ("--blocks", "1"), 1, "a table cannot be filtered"),
                                    ("x.html", ("--time", "1us-2us"), 1, "the page cannot be filtered"),
                                    ("x.npy", ("--iterations", "1"), 1, "arrays cannot be filtered"),
                                    ("x.csv", ("--shorter-than", "1us"), 1, "no length"),
                                    ("x.json", ("--time", "5us"), 2, "takes two times"),
                                    ("x.json", ("--time", "5us-1us"), 2, "takes two times"),
                                    ("x.json", ("--time", "1-2"), 2, "takes two times"),
                                    ("x.json", ("--blocks", "4-2"), 2, "takes 'A' or 'A-B'"),
                                    ("x.json", ("--blocks", "-1"), 2, ""),
                                    ("x.json", ("--iterations", "a"), 2, "takes 'A' or 'A-B'"),
                                    ("x.json", ("--shorter-than", "1us=merge"), 2, "takes a time"),
                                    ("x.json", ("--with", "y.json", "--blocks", "1"), 2, "'--blocks' takes one capture and no '--with'")):
        assert words in export(name, *more, code=code), (name, more)
    print("ok")
