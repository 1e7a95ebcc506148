# SPDX-License-Identifier: MIT
# Blind, on four streams: one kernel of one size on all of them at once, the next one of a stream beginning before
# the last has ended (launch overlap). Only times tell which is which; where they do not, the launch is said to be
# uncertain, and every wrong one is among those. Theirs come out on lanes, none lost.
# check_streams.py INKMARK PLAN_CAPTURE NODE_MODULES FIRST_SEED LAST_SEED [VERBOSE]
import json, random, re, subprocess, sys
import blind
from merged import *

inkmark, plan_capture, modules, first, last = sys.argv[1:6]
verbose = len(sys.argv) > 6
tools = Tools(inkmark, plan_capture, modules)
tools.skip_without()
BASE = 1764300000000000000
STREAMS, EACH = 4, 150


def make_trace(rng, twins=False):
    """`twins`: two streams at a time run the same, to within the microsecond that nobody sees."""
    events, last = [], {}
    for stream in range(STREAMS):
        at = rng.randrange(1000, 40000)
        for i in range(EACH):
            length = rng.randrange(20000, 80000)
            if twins and stream % 2:
                at, length = (n + rng.randrange(-300, 300) for n in last[i])
            last[i] = at, length
            events.append({"ph": "X", "cat": "kernel", "name": "void a::step<float>(float*)", "pid": 0, "tid": 7 + stream, "ts": at / 1000,
                           "dur": length / 1000, "args": {"device": 0, "stream": 7 + stream, "correlation": 1 + i * STREAMS + stream,
                                                          "grid": [64, 1, 1], "block": [128, 1, 1]}})
            # half of the time before this one has ended
            at += length + rng.choice([rng.randrange(-4000, -500), rng.randrange(200, 9000)])
    with open(here("streams.json"), "w") as file:
        json.dump({"baseTimeNanoseconds": BASE, "traceEvents": events}, file)
    return blind.Json(here("streams.json"))


# Slices of one track that begin before the one before them on the same depth has ended.
CROSSING = """select count(*) from slice a join slice b on a.track_id = b.track_id and a.id != b.id
  where a.category = 'kernel' and b.category = 'kernel' and a.ts < b.ts and b.ts < a.ts + a.dur and b.ts + b.dur > a.ts + a.dur"""
KERNELS = """select s.ts, s.dur, (select int_value from args where arg_set_id = s.arg_set_id and key = 'debug.correlation'),
  (select int_value from args where arg_set_id = s.arg_set_id and key = 'debug.stream') from slice s where s.category = 'kernel'"""


def check_lanes(other, path):
    errors, kernels, crossing = tools.query(path, ERRORS, KERNELS, CROSSING)
    theirs = [blind.Json.read(type("base", (), {"base": BASE}), e) for e in read_events(other)]
    same([(str(k.begin), str(k.end - k.begin), str(k.ident), str(k.stream)) for k in theirs], [tuple(k) for k in kernels], "kernels on lanes")
    assert not errors and int(crossing[0][0]) == 0, (errors, crossing)


def read_events(path):
    with open(path) as file:
        return [e for e in json.load(file)["traceEvents"] if blind.Json.is_kernel(e)]


def said_uncertain(said):
    found = re.search(r"(\d+) of them are uncertain", said)
    return int(found.group(1)) if found else 0


def check(seed, what, twins, cut):
    rng = random.Random(seed)
    source = make_trace(rng, twins)
    lines, other, truth = blind.make(source, seed, seed % 2, rng, cut=cut)
    subprocess.run([plan_capture, here("blind.plan"), here("blind.ink")], check=True)
    said = tools.merge(here("blind.ink"), "--with", other, "-o", here("m.json"), "--align", "--tracks", "sm")
    landed = blind.landed_in_json(here("m.json"), BASE)
    o, offs = blind.judge(landed, truth), blind.offsets_off(said, landed, truth)
    good = not o.silent and not o.astray and o.uncertain == said_uncertain(said) # never a wrong one that was called certain
    if what == "whole":
        good &= not o.wrong and not o.lost and all(off <= bound for off, bound in offs.values())
    if what == "twins": # of those that cannot be told apart half are wrong, and the most are found
        good &= o.uncertain >= o.launches / 2
    if verbose or not good:
        print("ok   " if good else "WRONG", f"seed {seed}, {what}: {o}; offset {offs}")
    if seed <= 2 and what == "whole":
        said = tools.merge(here("blind.ink"), "--with", other, "-o", here("m.pftrace"), "--align", "--tracks", "sm")
        assert "lie on" in said and "lanes below it" in said, said
        check_lanes(other, here("m.pftrace"))
        found = blind.judge(blind.landed_in_perfetto(tools, here("m.pftrace")), truth)
        assert found == o, (found, o)
    return good, o


# What, whether there are twins, of how many the last blocks are lost, and how many may be uncertain: not all of them.
FORMS = [("whole", False, 0.0, 0.01), ("last blocks lost", False, 1.0, 0.4), ("half with last blocks lost", False, 0.5, 0.2),
         ("few with last blocks lost", False, 0.03, 0.02), ("twins", True, 0.0, 1)]
failures, totals = 0, {what: [0] * 4 for what, *_ in FORMS}
for seed in range(int(first), int(last) + 1):
    for what, twins, cut, _ in FORMS:
        good, o = check(seed, what, twins, cut)
        failures += not good
        for i, n in enumerate((o.launches, o.wrong, o.lost, o.uncertain)):
            totals[what][i] += n
for what, _, _, limit in FORMS:
    launches, wrong, lost, uncertain = totals[what]
    print(f"{what}: {launches} launches, {wrong} wrong, {lost} lost, {uncertain} uncertain")
    assert wrong or what not in ("last blocks lost", "twins"), "nothing was wrong, so that nothing is shown"
    assert uncertain <= launches * limit, "too many are called uncertain"
print(f"{failures} runs wrong")
sys.exit(failures != 0)
