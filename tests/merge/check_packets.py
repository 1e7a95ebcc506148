# SPDX-License-Identifier: MIT
# Perfetto traces as the other file: what the SDK, its service, rocprofiler, GPU drivers and inkmark itself write is read
# with every kernel where its writer put it; in the merged trace their packets are byte for byte what they were, and
# Perfetto's own trace processor shows theirs as before and ours inside of their kernels.
# check_packets.py INKMARK FIT_CAPTURE NODE_MODULES FOREIGN_TOOL
import gzip, json, os, subprocess, sys, zlib
from merged import *
from packets import *

tools = Tools(*sys.argv[1:4])
UNIX = 1700000000 * 10 ** 9
BOOT = 5000 * 10 ** 9 # BOOTTIME at UNIX


def put(name, data):
    with open(here(name), "wb") as file:
        file.write(data)
    return here(name)


def read(path):
    run = subprocess.run([sys.argv[4], path], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def rows(kernels):
    return sorted((k["device"], k["stream"], k["begin"], k["end"], k["correlation"], k["name"], k["grid"], k["block"]) for k in kernels)


def row(i, begin, end, device=0, stream=7, correlation=-1, name="step", grid=(0, 0, 0), block=(0, 0, 0)):
    """begin and end: BOOTTIME after BOOT."""
    return (device, stream, UNIX + begin, UNIX + end, correlation, name, list(grid), list(block))


CLOCKS = snapshot([(BOOTTIME, BOOT), (REALTIME, UNIX), (MONOTONIC, BOOT - 1000)], BOOTTIME, 1)


def rocprofiler():
    """As its SDK writes: times given by hand, on a clock of deltas or, where they go back, on BOOTTIME; streams on which
    kernels overlap, each with its own times; another sequence on which the same numbers are other texts."""
    out, truth = CLOCKS, []
    out += packet((10, 9), (13, 1), (60, track(77, process=(4242, "app"))), (59, message((58, DELTA))),
                  (6, message((1, message((1, DELTA), (2, BOOT), (3, 1))), (1, message((1, BOOTTIME), (2, BOOT))))))
    out += packet((10, 9), (60, track(1001, 'STREAM [" 3 "] ', 77))) + packet((10, 9), (60, track(1002, "STREAM [ 4 ]", 77)))
    out += packet((10, 9), (12, interned([(1, "kernel_dispatch"), (2, "hip_api")], [(1, "step"), (2, "hipLaunch"), (3, "other")], [(1, "begin_ns"), (2, "end_ns"), (3, "agent"), (4, "corr_id")], [(1, "Agent-2")])))
    out += packet((10, 8), (13, 1), (59, message((58, MONOTONIC))), (12, interned([(1, "cpu"), (2, "kernel_dispatch")], [(1, "wrong"), (2, "late")])))
    last = BOOT
    for i in range(12):
        begin, end = BOOT + 10000 + 3000 * i, BOOT + 14000 + 3000 * i # longer than to the next
        for kind, ns in (BEGIN, begin), (END, end):
            body = event(kind, 1001, *((1 if i % 3 else 3, 1) if kind == BEGIN else ()))
            if kind == BEGIN:
                body += message((4, argument(1, begin)), (4, argument(2, end)), (4, message((1, 3), (17, 1))), (4, argument(4, i)))
            clock = [(8, ns - last)] if ns >= last else [(8, ns), (58, BOOTTIME)]
            last = max(last, ns)
            out += packet((10, 9), (13, 2), (11, body), *clock)
        truth.append(row(i, begin - BOOT, end - BOOT, 2, 3, i, "step" if i % 3 else "other"))
    # of no arguments: begin and end make it, on MONOTONIC, other things around and inside
    for i in range(5):
        at = 100000 + 2000 * i
        for kind, ns, name, category in (BEGIN, at - 10, 1, 1), (BEGIN, at, 2, 2), (BEGIN, at + 5, 1, 1), (END, at + 6, None, None), (END, at + 900, None, None), (END, at + 950, None, None):
            out += packet((10, 8), (13, 2), (8, BOOT - 1000 + ns), (11, event(kind, 1002, name, category)))
        truth.append(row(i, at, at + 900, 0, 4, -1, "late"))
    return out, truth


def driver():
    """Render stages, where a stage computes and where it draws, packed as the service packs."""
    out, truth, inner = CLOCKS, [], b""
    out += packet((10, 5), (13, 1), (12, interned(stages=[(1, "Compute queue 3", 0), (2, "Vertex", 1), (3, "Compute", 2)])))
    for i in range(8):
        stage = [(1, i), (2, 700), (13, 1), (14, 2 if i % 4 == 3 else 3), (11, 1)] + ([(17, "scan"), (21, message((1, message((1, 8), (2, 2), (3, 1))), (2, message((1, 64), (2, 1), (3, 1)))))] if i % 2 else [])
        inner += packet((10, 5), (8, BOOT + 1000 * i), (53, message(*stage)))
        truth.append(row(i, 1000 * i, 1000 * i + 700, 1, 3, -1, "scan" if i % 2 else "Compute", *(((8, 2, 1), (64, 1, 1)) if i % 2 else ())))
    return out + packet((50, zlib.compress(inner))), truth


def steps_of_the_clock():
    """Snapshots that differ: each time is by the last one before it, as the trace processor has it. Begins and ends in no
    order, a sequence of its own track, names that end with their state."""
    out, truth = CLOCKS, []
    out += packet((10, 3), (13, 1), (59, message((11, message((11, 500))), (58, MONOTONIC))), (60, track(500, "GPU 1 stream 9")))
    for i in range(6):
        if i == 3: # from here on MONOTONIC is 250 ns nearer
            out += snapshot([(BOOTTIME, BOOT + 300000), (MONOTONIC, BOOT + 299250), (REALTIME, UNIX + 300000)], BOOTTIME, 1)
        lag = 1000 if i < 3 else 750
        out += packet((10, 3), (13, 1), (59, message((11, message((11, 500))), (58, MONOTONIC))), (12, interned([(1, "kernel")], [(1, f"k{i}")], [(1, "grid"), (2, "block")])))
        begin = 100000 * (i + 1)
        end = packet((10, 3), (8, BOOT - lag + begin + 800), (11, event(END)))
        start = packet((10, 3), (8, BOOT - lag + begin), (11, event(BEGIN, None, 1, 1, [(1, [4, 2, 1]), (2, [32, 1, 1])])))
        out += end + start if i % 2 else start + end
        truth.append(row(i, begin, begin + 800, 1, 9, -1, f"k{i}", (4, 2, 1), (32, 1, 1)))
    return out, truth


def by_json():
    """What export makes of JSON, and of one with ours in it."""
    kernel = lambda i, at, d, stream=7: {"ph": "X", "cat": "kernel", "name": "void a::step<int>(int*)", "pid": 0, "tid": stream, "ts": at, "dur": d,
                                         "args": {"device": 0, "stream": stream, "correlation": i, "grid": [4, 1, 1], "block": [64, 1, 1]}}
    events = [kernel(i, 1000.125 + 50 * i, 30.5) for i in range(20)] + [kernel(100 + i, 3000 + 20 * i, 40, 7 + i % 2) for i in range(4)]
    trace = put("j.json", json.dumps({"baseTimeNanoseconds": UNIX, "traceEvents": events}).encode())
    tools.merge(tools.capture(trace, "j.ink"), "--with", trace, "-o", here("j.pftrace"))
    return plain(here("j.pftrace")), rows(read(trace)["kernels"])


THEIRS = f"not {OURS}"
OURS_IN = "select s.ts, s.ts + s.dur from slice s where s.category = 'inkmark' order by 1"


def check(name, data, truth):
    path = put(name + ".pftrace", data)
    got = read(path)
    assert got["status"] == 0 and got["kind"] == 3 and got["base_known"] and rows(got["kernels"]) == sorted(truth), (name, got, truth)
    packed = put(name + ".pftrace.gz", gzip.compress(data))
    assert read(packed)["kernels"] == got["kernels"]
    capture = tools.capture(path, name + ".ink", "--host", "another")
    said = tools.merge(capture, "--with", path, "-o", here("m.pftrace"))
    assert f"joined {len(truth)} of {len(truth)}" in said and "kept as it is" in said, said
    merged = plain(here("m.pftrace"))
    assert merged.startswith(data) and len(merged) > len(data), name
    tools.merge(capture, "--with", packed, "-o", here("n.pftrace.gz"))
    assert plain(here("n.pftrace.gz")) == merged, name
    check_shown(name, path, truth, capture)
    for ending in "json", "zip":
        said = tools.merge(capture, "--with", path, "-o", here("no." + ending), code=1)
        assert "use a name that ends in .pftrace" in said and not os.path.exists(here("no." + ending)), said
    print(f"{name}: {len(truth)} kernels, {len(data)} bytes")


def check_shown(name, path, truth, capture):
    theirs = [SLICES.format(THEIRS), ARGS.format(THEIRS), "select ts, dur, name from gpu_slice order by id"]
    before_errors, *before = tools.query(path, ERRORS, *theirs)
    errors, slices, args, stages, ours, zero = tools.query(here("m.pftrace"), ERRORS, *theirs, OURS_IN, "select count(*) from slice where category = 'track'")
    assert errors == before_errors and not errors, (name, errors)
    same(slices_of_rows(*before[:2]), slices_of_rows(slices, args), name + ": their slices")
    assert stages == before[2] and bool(stages) == (name == "driver"), (name, stages)
    if name in ("steps_of_the_clock", "by_json"): # on tracks where nothing overlaps it shows what was read
        shown, = tools.query(path, "select ts, dur from slice where category = 'kernel' order by ts")
        shift = UNIX - BOOT if name == "steps_of_the_clock" else 0
        assert sorted((int(ts) + shift, int(dur)) for ts, dur in shown) == sorted((t[2], t[3] - t[2]) for t in truth), (name, shown)
    if name != "by_json": # there are ours of before, too
        shift = UNIX - BOOT
        kernels = [(b - shift, e - shift) for _, _, b, e, *_ in truth]
        assert len(ours) == len(kernels) and all(any(b <= int(o[0]) and int(o[1]) <= e for b, e in kernels) for o in ours), (name, ours)
    assert int(zero[0][0]), name


def check_again(data):
    """Captures one after the other into one trace, the first of them twice: no id is there for two."""
    path = put("again.pftrace", data)
    one, two = (tools.capture(path, f"again{i}.ink", "--host", f"node{i}") for i in range(2))
    count = "select count(*), count(distinct track_id) from slice where category = 'inkmark'"
    tools.merge(one, "--with", path, "-o", here("a.pftrace"))
    first, = tools.query(here("a.pftrace"), count)
    tools.merge(two, "--with", here("a.pftrace"), "-o", here("b.pftrace"))
    tools.merge(one, "--with", here("b.pftrace"), "-o", here("c.pftrace"))
    errors, last = tools.query(here("c.pftrace"), ERRORS, count)
    assert not errors and [int(n) for n in last[0]] == [3 * int(n) for n in first[0]], (first, last, errors)


def check_several(data, truth):
    """Two captures, each of a part of the kernels, behind one trace."""
    parts = []
    for i, device in enumerate((0, 2)):
        events = [{"ph": "X", "cat": "kernel", "name": t[5], "pid": 0, "tid": t[1], "ts": (t[2] - UNIX) / 1000, "dur": (t[3] - t[2]) / 1000, "args": {"device": t[0], "stream": t[1]}}
                  for t in truth if t[0] == device]
        trace = put(f"part{i}.json", json.dumps({"baseTimeNanoseconds": UNIX, "traceEvents": events}).encode())
        parts.append(tools.capture(trace, f"part{i}.ink", "--host", f"node{i}"))
    said = tools.merge(parts, "--with", put("whole.pftrace", data), "-o", here("m.pftrace"))
    assert "part0.ink': joined 5 of 5" in said and "part1.ink': joined 12 of 12" in said, said
    errors, ours = tools.query(here("m.pftrace"), ERRORS, "select t.name, count(*) from slice s join track t on s.track_id = t.id where s.category = 'inkmark' group by 1 order by 1")
    assert not errors and sum(int(n) for _, n in ours) == 17 and len({n for n, _ in ours}) >= 2 and any("node1" in n for n, _ in ours), (errors, ours)


def check_lost():
    """The beginning of a ring is gone: events whose texts are not there are told, the others are read."""
    data, truth = rocprofiler()
    lost = b"".join(packet((10, 2), (13, 3 if i == 9 else 2), (8, BOOT + i), (58, BOOTTIME), *([(42, 1)] if not i else []), (11, event(1 + i % 2, 1001, 5, 6))) for i in range(10))
    path = put("lost.pftrace", CLOCKS + lost + data[len(CLOCKS):])
    assert rows(read(path)["kernels"]) == sorted(truth)
    said = tools.merge(tools.capture(path, "lost.ink"), "--with", path, "-o", here("m.pftrace"))
    assert "10 of its events refer to names that are not in it" in said, said
    alone = put("alone.pftrace", CLOCKS + lost)
    assert "10 of its events refer to names" in tools.merge(here("lost.ink"), "--with", alone, "-o", here("x.pftrace"), code=1)


tools.skip_without()
for make in rocprofiler, driver, steps_of_the_clock, by_json:
    check(make.__name__, *make())
check_again(rocprofiler()[0])
check_several(*rocprofiler())
check_lost()
