# SPDX-License-Identifier: MIT
# Blind, on four streams: one kernel of one size on all of them at once, the next one of a stream beginning before
# the last has ended (launch overlap). Only times tell which is which. Theirs come out on lanes, none lost.
# check_streams.py INKMARK PLAN_CAPTURE NODE_MODULES SEEDS [VERBOSE]
import json, random, subprocess, sys
import blind
from merged import *

inkmark, plan_capture, modules, seeds = sys.argv[1:5]
verbose = len(sys.argv) > 5
tools = Tools(inkmark, plan_capture, modules)
tools.skip_without()
BASE = 1764300000000000000
STREAMS, EACH = 4, 150


def make_trace(rng):
    events = []
    for stream in range(STREAMS):
        at = rng.randrange(1000, 40000)
        for i in range(EACH):
            length = rng.randrange(20000, 80000)
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


failures = 0
for seed in range(1, int(seeds) + 1):
    rng = random.Random(seed)
    source = make_trace(rng)
    lines, other, truth = blind.make(source, seed, seed % 2, rng)
    subprocess.run([plan_capture, here("blind.plan"), here("blind.ink")], check=True)
    said = tools.merge(here("blind.ink"), "--with", other, "-o", here("m.json"), "--align", "--tracks", "sm")
    landed = blind.landed_in_json(here("m.json"), BASE)
    o, offs = blind.judge(landed, truth), blind.offsets_off(said, landed, truth)
    good = not o.wrong and not o.astray and not o.lost and all(off <= bound for off, bound in offs.values())
    failures += not good
    if verbose or not good:
        print("ok   " if good else "WRONG", f"seed {seed}: {o}; offset {offs}")
    if seed <= 2:
        said = tools.merge(here("blind.ink"), "--with", other, "-o", here("m.pftrace"), "--align", "--tracks", "sm")
        assert "lie on" in said and "lanes below it" in said, said
        check_lanes(other, here("m.pftrace"))
        found = blind.judge(blind.landed_in_perfetto(tools, here("m.pftrace")), truth)
        assert (found.wrong, found.lost) == (o.wrong, o.lost), (found, o)
print(f"{seeds} runs, {failures} wrong")
sys.exit(failures != 0)
