# SPDX-License-Identifier: MIT
# check.py BUILD BIN CASE: records host.cu, whose launches are told apart by their blocks, and compares the ranges of the
# host and what was launched in them with what the program does.
import csv, io, json, os, re, signal, subprocess, sys, tempfile

build, bin, case = sys.argv[1:]
inkmark, program = os.path.join(build, "cli", "inkmark"), os.path.join(bin, "host")
os.chdir(tempfile.mkdtemp())


def record(how, *options, output="x.ink", code=0):
    done = subprocess.run([inkmark, "record", "--device", "sim", "-o", output, *options, "--", program, how],
                          capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done.stderr


def report(*options, path="x.ink"):
    return subprocess.run([inkmark, "report", "--host", *options, path], capture_output=True, check=True).stdout


def host(path="x.ink"):
    return json.loads(report("-f", "json", path=path))["captures"][0]


def blocks_in(capture, range_):
    """Of the launches whose call lies in it, in its thread or, of ranges of the process, in any."""
    found = []
    for launch in capture["launches"]:
        call = capture["calls"][launch["call"]] if launch["call"] >= 0 else None
        if call and range_["begin_ns"] <= call["begin_ns"] <= range_["end_ns"] and range_["kind"] in ("process", "thread", "scope") \
                and (range_["kind"] == "process" or call["thread"] == range_["thread"]):
            found.append(launch["blocks"])
    assert len(found) == range_["kernels"], (found, range_)
    return sorted(found)


def named(capture, name):
    found = [r for r in capture["ranges"] if r["name"] == name]
    assert len(found) == 1, (name, found)
    return found[0]


def check(capture, name, blocks, **wanted):
    r = named(capture, name)
    assert blocks_in(capture, r) == blocks, (name, blocks_in(capture, r))
    assert {key: r.get(key) for key in wanted} == wanted, (r, wanted)


def all_joined(capture):
    return capture["launches_joined"] == len(capture["launches"]) > 0


if case == "c":
    record("c", "--nvtx")
    x = host()
    assert all_joined(x) and x["events_lost"] == x["ends_without_begin"] == x["open"] == 0, x
    check(x, "step", [1, 2], kind="thread", domain="", payload=None, depth=0)
    check(x, "solve", [2, 3], domain="solver", category=7, category_name="io", color=0xff112233, payload="-5")
    check(x, "größer", [3], kind="process", domain="solver", payload="0.5")
    check(x, "checkpoint", [], kind="mark", payload="18446744073709551615")
    assert [call["kernels"] for call in x["calls"]] == [1] * 4 and all("marked" in call["function"] for call in x["calls"])
    rows = list(csv.DictReader(io.StringIO(report("-f", "csv").decode())))
    assert [(r["name"], r["payload"], r["kernels"]) for r in rows] == \
        [("step", "", "2"), ("solve", "-5", "2"), ("größer", "0.5", "1"), ("checkpoint", "18446744073709551615", "0")], rows
    text = report().decode()
    assert "4 of 4 launches are joined" in text and re.search(r"solve +solver +thread +1 ", text), text
    usual = subprocess.run([inkmark, "report", "x.ink"], capture_output=True, text=True, check=True).stdout
    assert "host: the capture has 4 ranges and marks" in usual, usual
    record("c")  # not asked for
    assert host()["events"] == 0 and b"no ranges of the host are in it" in report()
elif case == "cpp":
    record("cpp", "--nvtx")
    x = host()
    check(x, "whole", [1, 2, 3], kind="thread")
    check(x, "inner", [2], domain="cpp solver", payload="-9", color=0xff010203, category=13, category_name="cpp io")
    check(x, "done", [], kind="mark", domain="cpp solver")
elif case == "scopes":
    record("scopes", "--nvtx")
    x = host()
    assert all_joined(x) and len(x["calls"]) == 4, x  # a kernel without marks, of the dimensions of another
    check(x, "outer", [1, 2], kind="scope", depth=0, calls=3)
    check(x, "inner", [2], kind="scope", depth=1, calls=2)
    assert x["ends_without_begin"] == 0
    subprocess.run([program, "scopes"], check=False)  # dormant: nothing is there that could take them
elif case == "threads":
    record("threads", "--nvtx")
    x = host()
    assert all_joined(x), x
    check(x, "main", [])
    for n in (1, 2, 3):
        check(x, f"worker {n}", [n])
    check(x, "handed over", [1, 2], kind="process", open=False)
    assert len({r["thread"] for r in x["ranges"]}) == 4
elif case == "hostile":
    record("hostile", "--nvtx")
    x = host()
    assert all_joined(x) and x["events_lost"] == 0, (x["launches_joined"], x["events_lost"])
    check(x, "\U0001f600", [1])
    assert named(x, "ended twice")["open"] is False and x["ends_without_begin"] == 1
    assert len(max((r["name"] for r in x["ranges"]), key=len)) == 4096
    deep = [r for r in x["ranges"] if r["name"] == "deep"]
    assert 200 < len(deep) < 257 and not any(r["open"] for r in deep), len(deep)
    marks = [r["name"] for r in x["ranges"] if r["kind"] == "mark"]
    assert len(marks) == 70001 and "name 60000" in marks and "(more names than inkmark keeps)" in marks, len(marks)
    open_ = [r for r in x["ranges"] if r["open"]]
    assert len(open_) == 6 == x["open"] and blocks_in(x, open_[0]) == [1, 2], open_
    shown = report("--all")
    assert b"\x1b" not in shown and b"\xff" not in shown, shown[:400]
    for name in ("x.pftrace", "x.json", "x.html"):
        subprocess.run([inkmark, "export", "x.ink", "-o", name], check=True, capture_output=True)
    json.load(open("x.json", encoding="utf-8"))
    assert "<script>alert" not in open("x.html", encoding="utf-8").read()
elif case == "fork":
    record("fork", "--nvtx", output="%p.ink")
    captures = sorted((host(path) for path in os.listdir(".")), key=lambda x: -len(x["launches"]))
    assert len(captures) == 2 and all(x["ends_without_begin"] == x["open"] == 0 for x in captures), captures
    parent, child = captures
    assert len(parent["ranges"]) == len(child["ranges"]) == 1, captures
    check(parent, "over the fork", [1, 3])
    check(child, "child", [2])
    assert child["ranges"][0]["thread"] != parent["ranges"][0]["thread"]
elif case == "kill":
    recorder = subprocess.Popen([inkmark, "record", "--device", "sim", "--nvtx", "-o", "x.ink", "--", "sh", "-c",
                                 f"echo $$; exec '{program}' kill"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    victim = int(recorder.stdout.readline())
    assert recorder.stdout.readline() == "ready\n"
    while True:  # until a drain has taken what there is
        try:
            x = host()
            if len(x["ranges"]) == 2 and len(x["launches"]) == 2:
                break
        except subprocess.CalledProcessError:
            pass
    os.kill(victim, signal.SIGKILL)
    recorder.wait()
    x = host()
    assert all_joined(x), x
    check(x, "done before", [1], open=False)
    check(x, "open at the kill", [2], open=True)
elif case == "hang":  # no drain but the last: the range is in it, though a kernel still runs
    record("hang", "--nvtx", "--hang", "200ms", "--drain-ms", "60000", code=3)
    check(host(), "before it hangs", [1], open=False)
elif case == "graph":
    record("graph", "--nvtx")
    x = host()
    assert all_joined(x), x
    check(x, "capture", [], calls=0)
    replays = [r for r in x["ranges"] if r["name"] == "replay"]
    assert [blocks_in(x, r) for r in replays] == [[10, 11]] * 2, replays
    assert [call["graph"] for call in x["calls"]] == [False, True, True, False]
elif case == "flood":
    record("flood", "--nvtx", "--drain-ms", "3600000")  # on a slow machine drains would make room meanwhile
    x = host()
    assert x["events_lost"] > 0 and x["events"] + x["events_lost"] == 240001, (x["events"], x["events_lost"])
    assert f"{x['events_lost']:,} events of the host did not fit in memory" in report().decode()
elif case == "merged":  # into a trace of theirs, whose kernels are ours and whose time begins here or there
    record("cpp", "--nvtx")
    x = host()
    subprocess.run([inkmark, "export", "x.ink", "-o", "x.json"], check=True, capture_output=True)
    with open("x.json", encoding="utf-8") as file:
        alone = json.load(file)
    slices, open_ = [], {}
    for e in alone["traceEvents"]:
        if e.get("cat") == "kernel" and e["ph"] == "B":
            open_[e["tid"]] = e
        elif e["ph"] == "E" and e["tid"] in open_ and e["pid"] == open_[e["tid"]]["pid"]:
            begin = open_.pop(e["tid"])
            slices.append((begin["args"]["launch"], begin["ts"], e["ts"]))
        elif e.get("cat") == "kernel" and e["ph"] == "X":
            slices.append((e["args"]["launch"], e["ts"], e["ts"] + e["dur"]))
    assert sorted(s[0] for s in slices) == [0, 1, 2], slices
    unix = lambda us: int(alone["baseTimeNanoseconds"]) + round(us * 1000)
    items = [(r["begin_ns"], r["name"]) for r in x["ranges"]] + [(c["begin_ns"], "launch marked") for c in x["calls"]]
    first = min([unix(s[1]) for s in slices])
    for base in (min([first, *[i[0] for i in items]]) - 10 ** 9, first):
        theirs = [{"ph": "X", "cat": "kernel", "name": "marked(float*)", "pid": 0, "tid": 7, "ts": (unix(b) - base) / 1000,
                   "dur": (unix(e) - unix(b)) / 1000, "args": {"device": 0, "stream": 7, "correlation": 100 + n,
                   "grid": [x["launches"][n]["blocks"], 1, 1], "block": [32, 1, 1]}} for n, b, e in sorted(slices)]
        with open("theirs.json", "w", encoding="utf-8") as file:
            json.dump({"baseTimeNanoseconds": base, "traceEvents": theirs}, file)
        done = subprocess.run([inkmark, "export", "x.ink", "--with", "theirs.json", "-o", "merged.json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        with open("merged.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        wanted = sorted((name, (ns - base) / 1000) for ns, name in items if ns >= base)
        shown = sorted((e["name"], e["ts"]) for e in events if e.get("cat", "").startswith("host_"))
        assert [w[0] for w in wanted] == [s[0] for s in shown], (wanted, shown)
        assert all(abs(w[1] - s[1]) < 0.01 for w, s in zip(wanted, shown)), (wanted, shown)
        left = len(items) - len(wanted)
        assert (f"{left} ranges and calls of the host are before the trace's time zero" in done.stderr) == (left > 0), done.stderr
        pids = {e["pid"] for e in events if e.get("cat", "").startswith("host_")}
        assert len(pids) <= 1 and not pids & {e["pid"] for e in theirs} and (not pids or min(pids) > 1 << 22), pids
        if pids:  # the process and its lanes have names, and a call leads to its launch
            assert any(e["ph"] == "M" and e["name"] == "process_name" and e["pid"] in pids and
                       e["args"]["name"].startswith("inkmark: ") for e in events), events
        arrows = {phase: sorted(e["id"] for e in events if e["ph"] == phase and e["name"] == "launch") for phase in "sf"}
        assert arrows["s"] == arrows["f"] and len(arrows["s"]) == sum(w[0] == "launch marked" for w in wanted), (arrows, wanted)
elif case == "windows":  # what is outside is seen, and not mistaken for what was recorded
    record("c", "--nvtx", "--launches", "1-2")
    x = host()
    assert all_joined(x) and [call["recorded"] for call in x["calls"]] == [False, True, True, False], x
    check(x, "step", [2], calls=2)
    check(x, "solve", [2, 3])
    record("c", "--nvtx", "--range", "solve")
    check(host(), "solve", [2, 3])
    os.environ["NVTX_INJECTION64_PATH"] = "/some/tool.so"
    assert "NVTX_INJECTION64_PATH is taken, by '/some/tool.so'" in record("c", "--nvtx", code=1)
else:
    sys.exit("no such case")
print("fine")
