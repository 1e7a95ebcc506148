# SPDX-License-Identifier: MIT
# XLA profiles as JAX leaves them: what is read, what is written behind it, and a profile folder as it is.
# check_xplane.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import gzip, json, os, subprocess, sys, time
from inputs import *
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from protobuf_fields import tagged_fields
from packets import message, varint

tools = Inputs(*sys.argv[1:4])
PS = 1000


def read_fields(data):
    """[(number, value)], of the types that the schema has."""
    out = list(tagged_fields(data))
    assert all(wire in (0, 1, 2) for _, wire, _ in out), out
    return [(number, value) for number, _, value in out]


def plane(id, name, lines, events, stats, own=()):
    entry = lambda i, text: message((1, i), (2, message((1, i), (2, text))))
    return message((1, id), (2, name), *[(3, l) for l in lines], *[(4, entry(i, t)) for i, t in events], *[(5, entry(i, t)) for i, t in stats], *[(6, s) for s in own])


def line(id, name, at_ns, events):
    return message((1, id), (2, name), (3, at_ns), *[(4, e) for e in events])


def profile(base=BASE, since=0):
    """Kernels on two streams of one GPU and one of another, copies among them, lines that XLA derives, the host."""
    stats = [(1, "correlation_id"), (2, "kernel_details"), (3, "memcpy_details"), (4, "regs:32 static_shared:0 dynamic_shared:0 grid:4,2,1 block:64,1,1 occ_pct:100"), (5, "hlo_op")]
    events = [(1, "loop_fusion"), (2, "gemm"), (3, "MemcpyD2D"), (4, "fusion.1"), (5, "copying")]
    def event(kind, begin_ns, ns, correlation, *more):
        return message((1, kind), (2, begin_ns * PS + 300), (3, ns * PS), *[(4, s) for s in (message((1, 1), (3, correlation)), *more)])
    details, reference = message((1, 2), (5, "regs:8 grid:3,1,1 block:128,1,1")), message((1, 2), (7, 4))
    truth, first, second, third = [], [], [], []
    for i in range(14):
        first.append(event(1, 40000 * i + 7 * i * i, 9000, i, details if i % 2 else reference))
        truth.append((0, 13, 1000 + 40000 * i + 7 * i * i, 9000, i, "loop_fusion", [3, 1, 1] if i % 2 else [4, 2, 1]))
        first.append(event(3, 40000 * i + 12000, 500, 100 + i))
        second.append(event(2, 40000 * i + 2000, 5000, 200 + i))
        truth.append((0, 14, 1500 + 40000 * i + 2000, 5000, 200 + i, "gemm", [0, 0, 0]))
        second.append(event(5, 40000 * i + 9000, 400, 300 + i, message((1, 3), (5, "kind_src:device"))))
        third.append(event(2, 40000 * i, 3000, 400 + i))
        truth.append((1, 24, 2000 + 40000 * i, 3000, 400 + i, "gemm", [0, 0, 0]))
    planes = [plane(1, "/host:CPU", [line(7, "python3", since, [message((1, 1), (2, 5), (3, 9))])], [(1, "call")], []),
              plane(2, "/device:GPU:0", [line(13, "Stream #13(Compute,MemcpyD2D)", since + 1000, first), line(14, "Stream #14(Compute)", since + 1500, second),
                                         line(100, "XLA Ops", since, [message((1, 4), (2, 10 * PS), (3, 10 * PS))])], events, stats),
              plane(3, "/device:GPU:1", [line(24, "Stream #24(Compute)", since + 2000, third)], events, stats),
              plane(4, "Task Environment", [], [], [(1, "profile_start_time")], [message((1, 1), (3, base))] if base else [])]
    truth = sorted((d, s, (base or 0) + since + at, (base or 0) + since + at + ns, c, n, g) for d, s, at, ns, c, n, g in truth)
    return b"".join(message((1, p)) for p in planes) + message((4, "host")), truth


def check_read(path, truth, known):
    got = tools.read(path)
    assert got["status"] == 0 and got["kind"] == 4 and got["base_known"] == known and not got["left_out"], got
    rows = sorted((k["device"], k["stream"], k["begin"], k["end"], k["correlation"], k["name"], k["grid"]) for k in got["kernels"])
    assert rows == truth, (rows[:3], truth[:3])


def texts(entries):
    out = {}
    for entry in entries:
        fields = dict(read_fields(entry))
        out[fields[1]] = dict(read_fields(fields[2])).get(2, b"").decode()
    return out


def check_written(data, original, truth, base):
    """Theirs byte for byte; ours: each launch inside of its kernel, each section inside of its block, ids of their own."""
    assert data.startswith(original) and len(data) > len(original)
    ours = [read_fields(value) for number, value in read_fields(data[len(original):]) if number == 1]
    ids = [dict(p)[1] for p in ours]
    assert len(set(ids)) == len(ids) == 2 and min(ids) > 4, ids
    launches = 0
    for p in ours:
        name = dict(p)[2].decode()
        device = int(name.removeprefix("/device:GPU:").split()[0])
        assert name.endswith("inkmark") and "/device:GPU:" in name, name
        names, stats = texts([v for n, v in p if n == 4]), texts([v for n, v in p if n == 5])
        lines = [read_fields(v) for n, v in p if n == 3]
        assert len({dict(l)[1] for l in lines}) == len(lines)
        for l in lines:
            at = dict(l).get(3, 0)
            spans = []
            for e in (read_fields(v) for n, v in l if n == 4):
                fields = dict(e)
                assert fields.get(2, 0) % PS == 0 and fields[1] in names
                begin = base + at + fields.get(2, 0) // PS
                stat = {stats[dict(s)[1]]: (dict(s).get(4), dict(s).get(5)) for s in (read_fields(v) for n, v in e if n == 4)}
                spans.append((begin, begin + fields.get(3, 0) // PS, names[fields[1]], stat))
            if dict(l)[2].decode().endswith("launches"):
                stream = int(dict(l)[2].split()[1])
                for begin, end, name, stat in spans:
                    launches += 1
                    assert any(d == device and s == stream and b <= begin and end <= e and n.encode() == stat["kernel"][1] for d, s, b, e, _, n, _ in truth), (begin, end, name)
                continue
            bodies = [s for s in spans if "track" in s[3]]
            sections = [s for s in spans if "cycles" in s[3]]
            assert bodies and sections and all(any(b[0] <= s[0] and s[1] <= b[1] for b in bodies) for s in sections), (dict(l)[2], spans[:4])
    assert launches == len(truth), launches


def check_merge(name, base, since):
    data, truth = profile(base, since)
    path = put(name + ".xplane.pb", data)
    known = bool(base or since)
    check_read(path, truth, known)
    check_read(put(name, data), truth, known) # the planes tell it, not the name
    capture = tools.capture(path, "c.ink", "--host", "another")
    said = tools.merge(capture, "--with", path, "-o", here("m.xplane.pb"))
    assert f"joined {len(truth)} of {len(truth)}" in said and "counters and arrows" in said, said
    check_written(bytes_of("m.xplane.pb"), data, truth, base or 0)
    tools.merge(capture, "--with", path, cwd=folder.name)
    assert bytes_of(name + ".merged.xplane.pb") == bytes_of("m.xplane.pb")
    for ending in "json", "zip", "pftrace":
        said = tools.merge(capture, "--with", path, "-o", here("no." + ending), code=1)
        assert "use a name that ends in .xplane.pb" in said and not os.path.exists(here("no." + ending)), said
    print(f"{name}: {len(truth)} kernels")
    return capture, data


def check_refused(capture, data):
    other = put("k.json", json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": EVENTS}))
    assert "which is none" in tools.merge(tools.capture(other, "k.ink"), "--with", other, "-o", here("x.xplane.pb"), code=1)
    bad = message((1, plane(9, "/device:GPU:0", [b"\x08\xff"], [], [])))
    for name, broken, words in [("cut", data[:-20], "ends in the middle"), ("inside", data + bad, "is no protobuf"), ("length", data + b"\x0a\xff\xff\xff\xff\x7f", "a length that no packet has"),
                                ("none", message((1, plane(1, "/host:CPU", [], [], []))), "its planes are '/host:CPU'"), ("group", data + b"\x0b", "no protobuf")]:
        said = tools.merge(capture, "--with", put(name + ".xplane.pb", broken), "-o", here("x.xplane.pb"), code=1)
        assert words in said and len(said.splitlines()) == 1 and not os.path.exists(here("x.xplane.pb")), (name, said)


def stamp(path, data, age):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (1700000000 - age, 1700000000 - age))


def check_folders(capture, data):
    """The newest of a folder is taken, what was merged is passed over, and the merged one is a run of its own."""
    runs = here("logs/plugins/profile/")
    stamp(runs + "2024_01_01/host.xplane.pb", b"older", 500)
    stamp(runs + "2024_01_02/host.xplane.pb", data, 100)
    stamp(runs + "2024_01_02/host.trace.json.gz", b"made of it later", 90)
    stamp(runs + "2024_01_03_inkmark/host.xplane.pb", b"ours", 10)
    for with_ in "logs", "logs/plugins/profile/2024_01_02":
        said = tools.merge(capture, "--with", here(with_))
        assert "2024_01_02/host.xplane.pb'" in said and "joined 42 of 42" in said, said
        assert bytes_of("logs/plugins/profile/2024_01_02_inkmark/host.xplane.pb").startswith(data)
        os.unlink(runs + "2024_01_02_inkmark/host.xplane.pb")
        os.rmdir(runs + "2024_01_02_inkmark")
    said = tools.merge(capture, "--with", here("logs"), "-o", here("chosen.xplane.pb"), "-q")
    assert not said and bytes_of("chosen.xplane.pb").startswith(data) and not os.path.exists(runs + "2024_01_02_inkmark")
    trace = json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": EVENTS}).encode()
    torch = tools.capture(put("t.json", trace), "t.ink")
    stamp(here("logs/worker_7.1699.pt.trace.json.gz"), gzip.compress(trace), 50)
    stamp(here("logs/worker_7.inkmark.pt.trace.json"), b"ours", 5)
    said = tools.merge(torch, "--with", here("logs"))
    assert "worker_7.1699.pt.trace.json.gz'" in said, said
    with gzip.open(here("logs/worker_7.1699.inkmark.pt.trace.json.gz")) as file:
        assert sum(e.get("cat") == "inkmark" and e["ph"] == "B" for e in json.load(file)["traceEvents"]) == 30
    stamp(runs + "2024_01_04/host.xplane.pb", data[:-9], 1)
    said = tools.merge(capture, "--with", here("logs"), code=1)
    assert "ends in the middle" in said and not os.path.exists(runs + "2024_01_04_inkmark"), said
    os.mkdir(here("empty"))
    assert "holds no trace of JAX's" in tools.merge(capture, "--with", here("empty"), code=1)


capture, data = check_merge("started", BASE, 0)
check_folders(capture, data)
check_refused(capture, data)
check_merge("unix", 0, BASE)
check_merge("unknown", 0, 0)
