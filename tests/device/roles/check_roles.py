# SPDX-License-Identifier: MIT
"""Roles, ranges across threads, run-time sections and template instances, recorded on the simulated device: every
stamp is that of the simulator's own log, and every output tells them.

check_roles.py INKMARK ROLES"""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

inkmark, program = (os.path.abspath(path) for path in sys.argv[1:])


def run(*arguments, **environment):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def record(which, *more, **environment):
    run("record", "--device", "sim", *more, "-o", which + ".ink", "--", program, which,
        INKMARK_SIM_LOG=which + ".log", INKMARK_SIM_BLOCKS_PER_SM="1", **environment)
    return which + ".ink"


def report(path, *more):
    return json.loads(run("report", "--raw", "--format", "json", *more, path))["captures"][0]


def rows_of(path):
    run("export", "-o", path + ".csv", path)
    with open(path + ".csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def check_stamps(path):
    """The opening's and the closing's clock pairs are the log's first and last; between them each record has one."""
    reads = collections.defaultdict(list)
    with open(path.replace(".ink", ".log"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0] == "clock64":
                reads[words[2], words[3], words[6]].append(int(words[10]))
    tracks = collections.defaultdict(list)
    for row in rows_of(path):
        tracks[row["grid_id"], row["block"], row["thread"]].append(row)
    assert tracks
    for key, rows in tracks.items():
        stamps = []
        for row in rows:  # a thread may open several tracks, one after the other
            before = 1 if row["kind"] == "kernel_start" else 0
            stamps += [None] * before + [int(row["cycles"])] + [None] * (row["kind"] == "kernel_end")
        assert len(stamps) == len(reads[key]), (key, stamps, reads[key])
        assert all(s in (None, r) for s, r in zip(stamps, reads[key])), (key, stamps, reads[key])
    return rows_of(path)


def one(items, **wanted):
    found = [item for item in items if all(item[k] == v for k, v in wanted.items())]
    assert len(found) == 1, (wanted, found, items)
    return found[0]


def check_pipe():
    path = record("pipe")
    rows = check_stamps(path)
    capture = report(path)
    kernels = capture["kernels"]
    assert [k["kernel"] for k in kernels] == ["Body (pipe<float, 4>)", "Body (pipe<double, 400>)"], kernels
    assert [k["launches"] for k in kernels] == [2, 1] and capture["problem_count"] == 0, capture["problems"]
    assert kernels[0]["instance"].startswith("void pipe(") and "float" in kernels[0]["instance"]
    assert {row["kernel"] for row in rows} == {k["kernel"] for k in kernels}
    for kernel in kernels:
        check_crossings(kernel, [row for row in rows if row["kernel"] == kernel["kernel"]])
    by_role = report(path, "--by", "role")["kernels"][0]["rows"]
    assert {(r["group"], r["section"]) for r in by_role} >= {("Producer", "Fill"), ("Consumer", "Work")}
    assert not any(r["group"] == "Producer" and r["section"] == "Work" for r in by_role)
    fills = [row for row in rows if row["section"] == "Fill" and row["kind"] == "end"]
    assert len(fills) == 36 and all(float(row["value"]) == int(row["iteration"]) + 0.5 for row in fills), fills[0]
    assert {(row["thread"], row["role"]) for row in rows} == {("0", "Producer"), ("32", "Consumer"), ("64", "Consumer")}
    text = run("report", "--by", "role", path)
    assert "Producer -> Consumer" in text and "(no role)" not in text, text
    check_trace(path)
    by_instance = report(path, "--by", "instance")["kernels"]
    assert len(by_instance) == 1 and len({r["group"] for r in by_instance[0]["rows"]}) == 2, by_instance


def check_crossings(kernel, rows):
    """Each tile's time is the difference of two stamps of one SM; a message's is between two SMs."""
    begun = {(r["launch"], r["block"], r["value"]): int(r["cycles"]) for r in rows if r["kind"] == "async_begin_block"}
    ended = {(r["launch"], r["block"], r["value"]): int(r["cycles"]) for r in rows if r["kind"] == "async_end_block"}
    assert begun.keys() == ended.keys() and len(begun) == 12 * kernel["launches"]
    times = sorted(ended[key] - begun[key] for key in begun)
    tile = one(kernel["crossings"], section="Tile", scope="block", from_role="Producer", to_role="Consumer")
    assert tile["exact"] and tile["bound_ns"] == 0 and tile["count"] == len(times)
    assert tile["min_cycles"] == times[0] and tile["max_cycles"] == times[-1], (tile, times)
    message = one(kernel["crossings"], section="Message", scope="grid", from_role="Producer", to_role="Producer")
    assert not message["exact"] and message["count"] == kernel["launches"] and message["bound_ns"] > 0, message
    sent = {r["launch"]: int(r["ns"]) for r in rows if r["kind"] == "async_begin_grid"}
    came = {r["launch"]: int(r["ns"]) for r in rows if r["kind"] == "async_end_grid"}
    assert sorted(came[k] - sent[k] for k in sent)[-1] == message["max_ns"] and message["without_end"] == 0


def check_trace(path):
    run("export", "-o", path + ".json", path)
    with open(path + ".json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert "SM 0 Producer" in names.values() and "SM 0 Consumer warp 2" in names.values(), names
    tracks = {e["args"]["track"]: names[e["tid"]] for e in events if e.get("cat") == "track" and e["args"]["launch"] == 0}
    assert tracks["block 0 Producer"] == "SM 0 Producer" and tracks["block 0 Consumer warp 2"] == "SM 0 Consumer warp 2", tracks
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 39
    for number, start in starts.items():
        assert "Producer" in names[start["tid"]] and names[start["tid"]] != names[ends[number]["tid"]]
        assert ends[number]["ts"] >= start["ts"]
    shared = [e for e in events if e.get("cat") == "shared"]
    assert len(shared) == 39 and {e["args"]["scope"] for e in shared} == {"block", "grid"}
    assert all(("cycles" in e["args"]) == (e["args"]["scope"] == "block") for e in shared)
    assert all("bound_ns" in e["args"] for e in shared if e["args"]["scope"] == "grid")
    fills = [e for e in events if e["name"] == "Fill" and e["ph"] == "X"]
    assert all(e["args"]["value"] == e["args"]["iteration"] + 0.5 for e in fills) and len(fills) == 36


def check_lost_ends():
    """Block 0 alone records: of its messages the other end is not there, and the report says what would help."""
    capture = report(record("pipe", "--blocks", "0"))
    message = one(capture["kernels"][0]["crossings"], section="Message")
    assert message["count"] == 0 and message["without_end"] == 2 and message["without_begin"] == 0, message
    assert one(capture["kernels"][0]["crossings"], section="Tile")["count"] == 12
    assert any("both threads must record" in p["advice"] for p in capture["problems"]), capture["problems"]


def check_launches():
    path = record("apart")
    check_stamps(path)
    run("export", "-o", "apart.json", path)
    with open("apart.json", encoding="utf-8") as file:
        slices = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel"]
    assert [e["name"] for e in slices] == ["Producer + Consumer"], slices
    kernels = report(path)["kernels"]
    assert sorted((k["kernel"], k["launches"], k["tracks"]) for k in kernels) == [("Consumer", 1, 1), ("Producer", 1, 1)]
    path = record("phases")
    check_stamps(path)
    (kernel,) = report(path)["kernels"]
    assert (kernel["launches"], kernel["tracks"]) == (1, 3), kernel
    assert "1 may be up to 3" in run("report", path)


def check_tasks():
    path = record("tasks")
    rows = check_stamps(path)
    sections = [row["section"] for row in rows if row["kind"] == "mark"]
    ops, pipe = ["Add", "Mul", "Neg"], ["Body", "Producer", "Consumer", "Tile"]
    expected = [name for op in (0, 2, 1, 3, -1, 0)
                for name in (ops[op] if 0 <= op < 3 else "", pipe[op] if 0 <= op < 4 else "")]
    assert sections == expected, (sections, expected)
    problems = report(path)["problems"]
    assert sum(p["times"] for p in problems) == 3 and all("PROF_MARK_ID" in p["text"] for p in problems), problems


def check_long_name():
    capture = report(record("long"))
    lengths = sorted(len(k["instance"]) for k in capture["kernels"])
    assert len(lengths) == 2 and lengths[0] < 200 and lengths[1] > 20000, lengths
    run("report", "long.ink")
    run("export", "-o", "long.pftrace", "long.ink")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_pipe()
    check_lost_ends()
    check_launches()
    check_tasks()
    check_long_name()
    print("roles, ranges, sections and instances are as the log has them")
    os.chdir("/")
