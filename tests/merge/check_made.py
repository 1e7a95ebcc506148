# SPDX-License-Identifier: MIT
# Merged traces of traces made here: every sort of event, lanes, arrows that wait for their slice, the zip,
# several captures, which tracks are shown, and what bad input leaves behind.
# check_made.py INKMARK FIT_CAPTURE NODE_MODULES one|several
import collections, gzip, json, os, shutil, sys, zipfile
from merged import *

tools = Tools(*sys.argv[1:4])
tools.skip_without()
BASE = 1700000000000000000


def kernel(i, begin, dur, stream=7, name="step"):
    return {"ph": "X", "cat": "kernel", "name": f"void a::{name}<int>(int*)", "pid": 0, "tid": stream, "ts": begin, "dur": dur,
            "args": {"device": 0, "stream": stream, "correlation": i, "grid": [4, 1, 1], "block": [64, 1, 1]}}


def x(name, ts, dur, tid=5, pid=1234, **more):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, **more}


EVENTS = [kernel(i, 1000.125 + 50 * i, 30.5) for i in range(20)] + [
    kernel(100, 2100, 40), kernel(101, 2120, 40), kernel(102, 2130.001, 5),  # overlap: two lanes, one inside
    # begin together, the inner ones first in the file; touching; of no length
    x("c", 10, 1), x("b", 10, 2), x("d", 10, 1.5), x("a", 10, 4), x("e", 14, 2), x("z", 12, 0), x("z", 12, 0), x("y", 14, 0),
    {**x("odd", 30, 1), "args": {"deep": {"a.b": [1, [2, {"c": None}], []], "t": True}, "big": 18446744073709551615,
                                 "huge": 123456789012345678901234567890, "neg": -5, "f": 1.5e-7, "s": "q\"\\\u00e9"}, "tts": 3},
    {"ph": "B", "cat": "q", "name": "range", "pid": 1234, "tid": 5, "ts": 40}, {"ph": "E", "pid": 1234, "tid": 5, "ts": 42},
    {"ph": "i", "name": "dot", "pid": "Spans", "tid": "x", "ts": 43, "s": "g"}, {"ph": "C", "name": "mem", "pid": 1234, "tid": 0, "ts": 44, "args": {"a": 1, "b": 2.5}},
    {"ph": "b", "cat": "as", "id": "0x1", "name": "async", "pid": 1234, "tid": 5, "ts": 45}, {"ph": "e", "cat": "as", "id": "0x1", "name": "async", "pid": 1234, "tid": 5, "ts": 47},
    {"ph": "P", "name": "sample", "pid": 1234, "tid": 5, "ts": 48}, x("late", "NaN", 1), x("far", 49, 1, tid=99999999999, pid=-1),
    {"ph": "M", "name": "process_name", "pid": 1234, "args": {"name": "py"}}, {"ph": "M", "name": "thread_name", "pid": 1234, "tid": 5, "args": {"name": "main"}},
    {"ph": "s", "cat": "ac2g", "id": 7, "name": "ac2g", "pid": 1234, "tid": 5, "ts": 30}, {"ph": "f", "cat": "ac2g", "id": 7, "name": "ac2g", "pid": 0, "tid": 7, "ts": 1000.125, "bp": "e"},
    {"ph": "s", "cat": "ac2g", "id": 8, "name": "ac2g", "pid": 1234, "tid": 5, "ts": 30}]


def put(name, events=EVENTS, base=BASE, text=None):
    data = (text or json.dumps({"strange": [1], "baseTimeNanoseconds": base, "traceEvents": events, "after": {"x": "]"}})).encode()
    with open(here(name), "wb") as file:
        file.write(gzip.compress(data) if name.endswith(".gz") else data)
    return here(name)


def check_perfetto(trace, capture):
    said = tools.merge(capture, "--with", trace, "-o", here("m.pftrace"))
    wanted = "category in ('kernel', 'cpu_op', 'q', 'as') or name = 'dot'"
    errors, slices, args, lanes, counters, names, ours = tools.query(
        here("m.pftrace"), ERRORS, SLICES.format(wanted), ARGS.format(wanted),
        "select name, depth, ts from slice where category = 'cpu_op' order by ts, depth",
        "select t.name, c.value from counter c join counter_track t on c.track_id = t.id where t.name like 'mem %' order by 1",
        "select name from process where name = 'py' union select name from thread where name = 'main' order by 1",
        "select category, count(*) from slice where category in ('inkmark', 'track') group by 1 order by 1")
    assert not errors, errors
    expected = [(c, n, t, d, dict(a)) for c, n, t, d, a in slices_of_json(plain(trace)) if n != "late"]
    for e in expected:
        if e[1] == "odd":
            e[4]["debug.tts"] = "3"
            e[4]["debug.deep.a_b[1][1].c"] = "null"
            e[4]["debug.big"] = "-1" # 64 bits without a sign, which SQL has not
    expected = [(c, n, t, d, tuple(sorted(a.items()))) for c, n, t, d, a in expected]
    found = slices_of_rows(slices, args)
    same(expected, [f for f in found if f[0] in ("kernel", "cpu_op")], "the made-up slices")
    others = {(c, n, int(t) - BASE, int(d)) for c, n, t, d, _ in found if c not in ("kernel", "cpu_op")}
    assert others == {("q", "range", 40000, 2000), (None, "dot", 43000, 0), ("as", "async", 45000, 2000)}, others
    depth = {(n, int(t) - BASE): int(d) for n, d, t in lanes}
    assert [depth[k] for k in (("a", 10000), ("b", 10000), ("d", 10000), ("c", 10000), ("e", 14000), ("y", 14000))] == [0, 1, 2, 3, 0, 1], depth
    assert [(n, float(v)) for n, v in counters] == [("mem a", 1), ("mem b", 2.5)] and names == [["main"], ["py"]], (counters, names)
    assert ours == [["inkmark", "23"], ["track", "92"]], ours
    for words in ("1 slices overlap", "events of kind 'P' (1)", "1 events were left out: their times", "strange, after", "1 arrows", "1 ends of arrows"):
        assert words in said, (words, said)


def check_zip(trace, capture):
    tools.merge(capture, "--with", trace, "-o", here("m.zip"))
    with zipfile.ZipFile(here("m.zip")) as archive:
        assert archive.testzip() is None and {i.compress_type for i in archive.infolist()} == {zipfile.ZIP_STORED}
        assert archive.read("t.json") == plain(trace)
        manifest = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]
        assert manifest["files"] == [{"path": "ink.pftrace"}, {"path": "t.json", "clocks": {
            "sync_to": {"file": "ink.pftrace", "clock": "REALTIME"}, "offset_ns": BASE}}], manifest
        with open(here("ours.pftrace"), "wb") as file:
            file.write(archive.read("ink.pftrace"))
    errors, launches = tools.query(here("ours.pftrace"), ERRORS, "select ts, ts + dur from slice where category = 'inkmark' order by ts")
    kernels = sorted((BASE + round(e["ts"] * 1000), BASE + round((e["ts"] + e["dur"]) * 1000)) for e in EVENTS if e.get("cat") == "kernel")
    assert not errors and len(launches) == len(kernels)
    assert all(any(b <= int(l[0]) and int(l[1]) <= e for b, e in kernels) for l in launches)


def check_tracks(trace, capture):
    for tracks, shown in ("all", 92), ("representative", 69), ("slowest:2", 46), ("sm", 0):
        said = tools.merge(capture, "--with", trace, "-o", here("k.pftrace"), "--tracks", tracks)
        rows, sections, blocks = tools.query(here("k.pftrace"), "select count(*) from slice where category = 'track'",
                             "select count(distinct name) from counter_track where name like 'SM % Mma'",
                             "select max(c.value), min(c.value) from counter c join counter_track t on c.track_id = t.id where t.name = 'inkmark active blocks'")
        assert int(rows[0][0]) == shown, (tracks, rows)
        assert (f"{shown} of 92 tracks are shown" in said) == (shown < 92), said
        assert (int(sections[0][0]) > 0) == (tracks == "sm")
        assert float(blocks[0][0]) >= 4 and float(blocks[0][1]) == 0, blocks


def check_ranks(trace):
    captures = [tools.capture(trace, f"rank{i}.ink", "--host", f"node{i}", "--shift", str(1000 * i)) for i in range(3)]
    said = tools.merge(captures, "-o", here("all.pftrace"), "--tracks", "slowest:1")
    errors, processes, firsts = tools.query(here("all.pftrace"), ERRORS, "select name from process where name is not null order by name",
                                            "select ts from slice where category = 'inkmark' order by ts limit 3")
    assert not errors and len(processes) == 3 and all(f"node{i}" in p[0] and "GPU 0" in p[0] for i, p in enumerate(processes)), processes
    assert [int(b[0]) - int(a[0]) for a, b in zip(firsts, firsts[1:])] == [1000, 1000], firsts
    assert said.count("known within 100 ns") == 3 and "several hosts" in said and "had ended" not in said, said
    late = tools.capture(trace, "late.ink", "--shift", str(3600 * 10**9))  # of another run, as a glob takes it too
    said = tools.merge([late, captures[0]], "-o", here("runs.pftrace"))
    assert "late.ink' began" in said and "rank0.ink' had ended: if they are different runs, they share a timeline here" in said, said
    tools.capture(trace, "blind.ink", "--no-clock")
    said = tools.merge([captures[0], here("blind.ink")], "-o", here("none.pftrace"), code=1)
    assert "no host clock" in said and not os.path.exists(here("none.pftrace")), said


def check_nesting(events, lanes):
    """In the order of the file each end is that of a begin of its lane, and later: nothing of a lane overlaps."""
    open_at, last = collections.defaultdict(list), {}
    for e in events:
        if e["ph"] not in ("B", "E") or e["tid"] not in lanes:
            continue
        lane, at = e["tid"], ns(e["ts"])
        if e["ph"] == "B":
            open_at[lane].append(at)
        else:
            begin = open_at[lane].pop()
            assert begin <= at, (lane, begin, at)
            if not open_at[lane]:
                last.setdefault(lane, []).append((begin, at))
    assert not any(open_at.values())
    for lane, spans in last.items():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), (lane, spans)


def check_several(trace):
    """Captures of one program, one after the other, in one trace."""
    kernels = [e for e in EVENTS if e.get("cat") == "kernel"]
    halves = [put("first.json", kernels[:10]), put("second.json", kernels[10:])]
    captures = [tools.capture(t, f"half{i}.ink", "--host", f"node{i}") for i, t in enumerate(halves)]
    wanted = sorted((i, e["args"]["correlation"]) for i, part in enumerate([kernels[:10], kernels[10:]]) for e in part)
    said = tools.merge(captures, "--with", trace, "-o", here("s.pftrace"))
    assert all(f"half{i}.ink': joined {n} of {n} launches" in said for i, n in enumerate((10, 13))), said
    errors, rows, processes = tools.query(
        here("s.pftrace"), ERRORS,
        "select p.name, (select int_value from args where arg_set_id = s.arg_set_id and key = 'debug.kernel_correlation') from slice s"
        " join track t on s.track_id = t.id left join track p on t.id = p.id where s.category = 'inkmark'",
        "select count(*) from slice where category = 'kernel'")
    assert not errors and processes == [[str(len(kernels))]], (errors, processes)
    assert sorted((int("node1" in n), int(c)) for n, c in rows) == wanted, rows
    tools.merge(captures, "--with", trace, "-o", here("s.json"))
    events, _ = read_json(plain(here("s.json")))
    lanes = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name" and e["tid"] != 5}
    launches = [e for e in events if e["ph"] == "B" and e.get("cat") == "inkmark"]
    assert sorted((int("node1" in lanes[e["tid"]]), e["args"]["kernel_correlation"]) for e in launches) == wanted
    assert len(lanes) == len({n for n in lanes.values()}), lanes
    tracks = [e for e in events if e["ph"] == "B" and e.get("cat") == "track"]
    assert len(launches) == 23 and len(tracks) == 92, (len(launches), len(tracks))
    # as many rows as blocks that ran at once, not as launches and blocks: each launch is of four blocks, on an SM each
    streams = {(int("node1" in lanes[e["tid"]]), e["args"]["kernel_correlation"] and lanes[e["tid"]]) for e in launches}
    assert len(lanes) <= 5 * len(streams) and len(lanes) < 23 + 92, (len(lanes), streams)
    check_nesting(events, {e["tid"] for e in launches + tracks})
    # one after the other into the same JSON: the same, and nothing of the first is touched
    tools.merge(captures[0], "--with", trace, "-o", here("one.json"))
    tools.merge(captures[1], "--with", here("one.json"), "-o", here("two.json"))
    events, _ = read_json(plain(here("two.json")))
    launches = [e for e in events if e["ph"] == "B" and e.get("cat") == "inkmark"]
    assert sorted(e["args"]["kernel_correlation"] for e in launches) == sorted(c for _, c in wanted)
    ids = collections.Counter((e["id"], e["ph"]) for e in events if e["ph"] in "sf" and e.get("cat") == "inkmark")
    assert ids and set(ids.values()) == {1}, "an arrow of both"
    tools.merge(captures, "--with", trace, "-o", here("s.zip"))
    with zipfile.ZipFile(here("s.zip")) as archive, open(here("z.pftrace"), "wb") as file:
        file.write(archive.read("ink.pftrace"))
    errors, count = tools.query(here("z.pftrace"), ERRORS, "select count(*) from slice where category = 'inkmark'")
    assert not errors and count == [["23"]], (errors, count)


def refuse(captures, words, *options):
    said = tools.merge(captures, *options, "-o", here("refused.pftrace"), code=1)
    assert words in said and len(said.splitlines()) == 1 and not os.path.exists(here("refused.pftrace")), said


def check_same(trace):
    one = tools.capture(trace, "one.ink")
    shutil.copy(one, here("copy.ink"))
    with open(one, "rb") as file, open(here("part.ink"), "wb") as part: # the same, as it was earlier
        part.write(file.read()[:-200])
    for options in [], ["--with", trace]:
        for again in one, here("copy.ink"):
            refuse([one, again], "are the same capture", *options)
        said = tools.merge([one, here("part.ink")], *options, "-o", here("refused.pftrace"), code=1)
        assert "are the same capture" in said and not os.path.exists(here("refused.pftrace")), said
    refuse([one, tools.capture(trace, "two.ink", "--host", "node2")], "fit the same kernels", "--with", trace)
    other = put("yesterday.json", [kernel(i, 50 * i, 30) for i in range(5)], BASE - 86400 * 10 ** 9)
    refuse([one, tools.capture(other, "yesterday.ink", "--host", "node2")], "yesterday.ink' could be joined", "--with", trace)


def check_clock(trace):
    shifted = tools.capture(trace, "shifted.ink", "--shift", "500000")
    left = tools.merge(shifted, "--with", trace, "-o", here("l.pftrace"), "--tracks", "slowest:1")
    assert "left in, --align takes it out" in left and "stick out of their kernels" in left, left
    taken = tools.merge(shifted, "--with", trace, "-o", here("a.pftrace"), "--tracks", "slowest:1", "--align")
    assert "taken out" in taken and "stick out" not in taken, taken
    begin = "select min(ts) from slice where category = 'inkmark'"
    moved = int(tools.query(here("l.pftrace"), begin)[0][0][0]) - int(tools.query(here("a.pftrace"), begin)[0][0][0])
    assert abs(moved - 500000) < 4000, moved


def check_bad(trace, capture):
    whole = json.dumps({"traceEvents": EVENTS})
    for name, text, words in [("cut.json", whole[:2000], "ends in the middle"), ("text.json", "hello", "neither"),
                              ("none.json", '{"traceEvents":[]}', "no GPU kernels"), ("empty.json", " ", "")]:
        for out in "x.json", "x.zip", "x.pftrace":
            before = set(os.listdir(folder.name)) | {name}
            said = tools.merge(capture, "--with", put(name, text=text), "-o", here(out), code=1)
            assert words in said and len(said.splitlines()) == 1, said
            assert set(os.listdir(folder.name)) == before, "something half-written is left"
    other = put("other.json", [kernel(i, 50 * i, 30) for i in range(5)], BASE + 86400 * 10 ** 9)
    said = tools.merge(capture, "--with", other, "-o", here("x.json"), code=1)
    assert "different runs" in said and "2023-11-15" in said and not os.path.exists(here("x.json")), said
    said = tools.merge(capture, "--with", trace, "-o", here("x.csv"), code=1)
    assert "not '" in said and not os.path.exists(here("x.csv")), said
    said = tools.merge(capture, "--with", trace, "-o", here("no/x.json"), code=1)
    assert "no such file" in said, said


trace = put("t.json.gz")
capture = tools.capture(trace, "c.ink")
if sys.argv[4] == "several":
    check_ranks(trace)
    check_several(trace)
    check_same(trace)
else:
    check_perfetto(trace, capture)
    check_zip(trace, capture)
    check_tracks(trace, capture)
    check_clock(trace)
    check_bad(trace, capture)
