# SPDX-License-Identifier: MIT
# A capture with activity of its own (stand-in CUPTI, simulated device) in a trace that has the same correlation
# ids: joined by them, also where names say nothing and times are no help; not where they do not agree.
# check_correlation.py INKMARK BUSY NODE_MODULES
import json, os, random, subprocess, sys
import blind
from merged import *

inkmark, busy, modules = sys.argv[1:4]
tools = Tools(inkmark, None, modules)
tools.skip_without()
capture = here("run.ink")
run = subprocess.run([inkmark, "record", "--device", "sim", "--activity", "-o", capture, "--", busy, "threads"], capture_output=True, text=True)
assert run.returncode == 0, run


def activity_kernels():
    """Of the capture's own trace: kernels by correlation, with what else they are."""
    tools.merge(capture, "-o", here("own.json"))
    found = []
    for e in read_json(plain(here("own.json")))[0]:
        a = e.get("args", {})
        if e.get("ph") == "X" and "correlation" in a and "grid_id" in a:
            found.append(e)
    return found


def marked_launches():
    """(device, grid id) of the launches that have marks."""
    info = json.loads(subprocess.run([inkmark, "info", "--format", "json", capture], capture_output=True, text=True, check=True).stdout)
    return {(l["device"], l["grid_id"]) for l in info["captures"][0]["launches"]}


def timeline():
    report = json.loads(subprocess.run([inkmark, "report", "--activity", "--format", "json", capture], capture_output=True, text=True,
                                       check=True).stdout)
    return {(a["device"], a["grid_id"]): a for a in report["captures"][0]["timeline"] if a["kind"] == "kernel"}


def trace(name, kernels, shift, spread, rng):
    events = []
    for k in kernels:
        at = k["begin_ns"] + shift - base + rng.randint(-spread, spread)
        events.append({"ph": "X", "cat": "kernel", "name": f"anonymous_{k['correlation']}", "pid": k["device"], "tid": 7, "ts": at / 1000,
                       "dur": (k["end_ns"] - k["begin_ns"]) / 1000,
                       "args": {"device": k["device"], "stream": 7, "correlation": k["correlation"] + number, "grid": k["grid"], "block": k["block"]}})
    with open(here(name), "w") as file:
        json.dump({"baseTimeNanoseconds": base, "traceEvents": events}, file)
    return here(name)


times, marked = timeline(), marked_launches()
kernels = [{**times[k["args"]["device"] if "device" in k["args"] else k["pid"], k["args"]["grid_id"]], "correlation": k["args"]["correlation"]}
           for k in activity_kernels()]
count = collections.Counter(k["correlation"] for k in kernels)
ours = {(k["device"], k["grid_id"]): k["correlation"] for k in kernels if (k["device"], k["grid_id"]) in marked}
alone = {key for key, c in ours.items() if count[c] == 1}
assert len(alone) >= 5 and len(ours) > len(alone), (len(alone), len(ours)) # a graph's kernels share theirs
base = min(k["begin_ns"] for k in kernels) - 10 ** 6


def merge(name, **how):
    said = tools.merge(capture, "--with", trace(name, **how), "-o", here("m.json"), "--align")
    return said, {(l.device, l.grid_id): l for l in blind.landed_in_json(here("m.json"), base)}


# the times as they are: those with a correlation of their own by it, a graph's by time
number = 0
said, landed = merge("same.json", kernels=kernels, shift=0, spread=0, rng=random.Random(1))
for key, c in ours.items():
    l = landed[key]
    assert l.ident in (c, None) and (key not in alone or l.joined_by == "correlation"), (key, l, c)
assert " by correlation" in said, said
# every time is off by up to 0.2 ms in a trace of a few ms, and the other clock by 3 s: correlation alone
said, landed = merge("far.json", kernels=kernels, shift=3 * 10 ** 9, spread=200000, rng=random.Random(2))
for key in alone:
    assert landed[key].ident == ours[key] and landed[key].joined_by == "correlation", (landed[key], said)
# one in five of their kernels is missing: its launch has none
some = [k for i, k in enumerate(kernels) if i % 5]
there = {k["correlation"] for k in some}
said, landed = merge("some.json", kernels=some, shift=0, spread=0, rng=random.Random(3))
for key in alone:
    assert landed[key].ident == (ours[key] if ours[key] in there else None), (landed[key], said)
# their numbers are another session's
number = 1
said, landed = merge("other.json", kernels=kernels, shift=0, spread=0, rng=random.Random(4))
assert "correlation ids do not agree" in said and not any(l.joined_by == "correlation" for l in landed.values()), said
