# SPDX-License-Identifier: MIT
# The whole command, blind: a capture that fits a real trace but for what either side misses or has too many,
# under an offset and a drift, is merged; which kernel each launch landed in is compared with the truth, which
# the command never saw. check_blind.py INKMARK PLAN_CAPTURE NODE_MODULES TRACE FIRST_SEED LAST_SEED [VERBOSE]
# alike:TRACE: only the kernels of one name and size, as in a loop of short kernels with pauses in it.
import os, random, subprocess, sys
import blind
from dataclasses import replace
from merged import *

inkmark, plan_capture, modules, trace, first, last = sys.argv[1:7]
verbose = len(sys.argv) > 7
only_alike = trace.startswith("alike:")
trace = trace.removeprefix("alike:")
tools = Tools(inkmark, plan_capture, modules)
tools.skip_without(trace)
source = blind.open_source(trace)
loop = blind.alike(source.kernels) if only_alike else None
FORMS = "bare names", "the rewriter's names", "sizes only"


def capture_of(lines):
    subprocess.run([plan_capture, here("blind.plan"), here("blind.ink")], check=True)
    return here("blind.ink")


def check(seed, form, grid_ids, window, kernels=None):
    rng = random.Random(seed * 1000003 + form)
    lines, other, truth = blind.make(source, seed, form, rng, grid_ids, whole=seed == 1, window=window, kernels=kernels)
    capture = capture_of(lines)
    what = f"seed {seed}, {FORMS[form]}, grid ids {grid_ids}{', a window' if window else ''}{', tiled' if kernels else ''}"
    said, outcomes = "", []
    sqlite = other.endswith("sqlite")
    if not sqlite:
        said = tools.merge(capture, "--with", other, "-o", here("m.json"), "--align", "--tracks", "sm")
        landed = blind.landed_in_json(here("m.json"), source.base)
        outcomes.append(("json", blind.judge(landed, truth)))
        assert all(l.arrow for l in landed if l.ident is not None), "a joined launch without an arrow from its kernel"
    if sqlite or seed % 4 == 1:
        said = tools.merge(capture, "--with", other, "-o", here("m.pftrace"), "--align", "--tracks", "sm")
        found = blind.landed_in_perfetto(tools, here("m.pftrace"))
        outcomes.append(("pftrace", blind.judge(found, truth)))
        landed = found
    # Were the truth another, the judge would see it.
    keys = sorted(truth.partner)
    turned = replace(truth, partner=dict(zip(keys, [truth.partner[k] for k in keys[1:] + keys[:1]])))
    assert len(keys) == 1 or blind.judge(landed, turned).wrong > outcomes[0][1].partners // 2, blind.judge(landed, turned)
    good = True
    for kind, o in outcomes:
        # by sizes alone two kernels that follow each other are told apart by time only
        good &= not o.wrong and not o.astray and (o.lost * 100 <= o.partners if form == 2 else not o.lost)
    offs = blind.offsets_off(said, landed, truth)
    good &= bool(offs) and all(off <= bound if bound is not None else len(landed) < 3 for off, bound in offs.values())
    if grid_ids == "right":
        good &= all(l.joined_by == "grid id" for l in landed if l.ident is not None)
    elif grid_ids in ("wrong", "shifted"):
        good &= all(l.joined_by != "grid id" for l in landed) and "grid ids do not agree" in said
    if verbose or not good:
        print("ok   " if good else "WRONG", what, *[f"{k}: {o};" for k, o in outcomes],
              "offset " + ", ".join(f"GPU {d} off by {off:.0f} of {bound} ns" for d, (off, bound) in offs.items()))
        if not good:
            print(said)
    return good


failures = runs = 0
sqlite = trace.endswith("sqlite")
for seed in range(int(first), int(last) + 1):
    few = len(source.kernels) < 200
    kernels = blind.tiled(source.kernels, 600 // len(source.kernels) + 1, random.Random(seed)) if few and seed % 2 else None
    form = seed % 3
    many = not few or kernels
    grid_ids = ("right", "wrong")[seed % 2 if many else 0] if sqlite else "none"
    if loop:
        form, grid_ids, kernels = 0, ("wrong", "shifted")[seed % 2], loop
    failures += not check(seed, form, grid_ids, bool(many and not loop and seed % 5 == 0), kernels)
    runs += 1
print(f"{os.path.basename(trace)}: {runs} runs, {failures} wrong")
sys.exit(failures != 0)
