# SPDX-License-Identifier: MIT
"""Records kernels of which it is known what a report must say, and reads that in its JSON and its text.

check_cases.py INKMARK CASES [PIPELINE]: the example of that name"""
import json
import os
import subprocess
import sys
import tempfile
import time

import schema

inkmark, cases, *examples = (os.path.abspath(path) for path in sys.argv[1:])


def run(*arguments, **environment):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def record(name, *more, **environment):
    run("record", "--device", "sim", *more, "-o", name + ".ink", "--", cases, name, **environment)
    return name + ".ink"


def kernels(path, *more):
    return schema.load(run("report", "--format", "json", *more, path))["captures"][0]["kernels"]


def rows(kernel):
    return {row["section"]: row for row in kernel["rows"]}


def imbalance():
    path = record("launches")
    (kernel,) = kernels(path)
    work = rows(kernel)["Work"]
    assert kernel["launches"] == 10 and work["imbalance"] < 1.02, work
    assert work["max_at"]["launch"] == 9 and 0 <= work["max_at"]["block"] < 16, work["max_at"]
    assert "launch 9, block" in run("report", path)
    parts = kernels(record("devices", INKMARK_SIM_DEVICES="3"))
    assert [k["device"] for k in parts] == [0, 1, 2] and all(rows(k)["Work"]["imbalance"] < 1.02 for k in parts)
    times = [rows(k)["Work"]["median_cycles"] for k in parts]
    assert times[0] < times[1] < times[2], times
    done = subprocess.run([inkmark, "report", "-q", "--check", f"Kern/Work median <= {times[1]}", "devices.ink"], capture_output=True, text=True)
    assert done.returncode == 3 and done.stderr.count("does not hold") == 1 and "does not hold on device 2: it is" in done.stderr, done
    for form in ("text", "markdown", "html"):  # which device a row is of
        told = subprocess.run([inkmark, "diff", "--all", "-f", form, "devices.ink", "devices.ink"], capture_output=True, text=True).stdout
        assert "on device 1" in told and "on device 2" in told and "on device 0" not in told, told
    (whole,) = kernels("devices.ink", "--by", "device")
    assert sorted({r["group"] for r in whole["rows"]}) == [0, 1, 2]
    assert "on device 2" in run("report", "devices.ink")


def overflow():
    path = record("loop", "--records-per-track", "1024")
    text = run("report", path)
    work = next(line for line in text.splitlines() if line.split()[:1] == ["Work"])
    assert len(work.split()) == 2, f"a count alone: {work}"
    assert "of 40,000 marks were kept, the newest of each track" in text and "median" not in text, text
    assert "median" in run("report", "--kept", path)
    dropped = json.loads(run("report", "--path", "--format", "json", path))["captures"][0]["marks_dropped"]
    assert dropped > 0 and f"{dropped:,} marks were dropped because rings were full" in run("report", "--path", path), dropped
    path = record("loop", "--records-per-track", "65536")
    assert "marks were dropped" not in run("report", "--path", path)
    text = run("report", path)
    assert "median" in text and "20,000 marks" in text, text  # an ITER is no mark


def lost_blocks():
    text = run("report", record("sampled", "--tracks", "64", "--drain-ms", "60000", "--blocks", "all"))
    assert "of the 600 blocks of launch 0 are left, those that ended last" in text, text
    assert "biased" not in run("report", record("sampled", "--tracks", "1024"))
    text = run("report", record("sampled", "--tracks", "64", "--drain-ms", "60000"))
    assert "biased" not in text and "one block of each 16 in a row" in text and "38 of 600 blocks" in text, text


def nested():
    path = record("nested")
    found = rows(kernels(path)[0])
    assert found["Outer"]["self_cycles"] == found["Outer"]["total_cycles"] - found["Inner"]["total_cycles"]
    assert 0 < found["Outer"]["self_cycles"] < found["Inner"]["self_cycles"] == found["Inner"]["total_cycles"]
    assert " self " in run("report", path)
    first = run("report", "-q", "--sort", "self", path).splitlines()
    first = [line.split()[0] for line in first if line.startswith("  ")]
    assert first.index("Outer") < first.index("Inner"), "Inner stands below Outer"


def passes():
    path = record("passes")
    for row in kernels(path, "--by", "iteration")[0]["rows"]:
        if row["group"] is not None:
            assert row["passes"] == 3 and row["count"] == (21 if row["section"] == "Inner" else row["count"]), row
    table = run("report", "--by", "iteration", path)
    assert [line.split()[1] for line in table.splitlines() if line.split()[:1] == ["4"]] == ["3"], table
    text = run("report", path)
    assert "inkmark record -g warp" in text, text  # blocks of 64 threads, and sections that nobody passed


def opened_in_function():
    """PROF_KERNEL in a device function that each block calls three times: the tracks are of one launch."""
    path = record("function")
    (kernel,) = kernels(path)
    assert kernel["launches"] == 2 and kernel["tracks"] == 12 and rows(kernel)["Work"]["count"] == 12, kernel
    assert [r["count"] for r in kernels(path, "--by", "launch")[0]["rows"] if r["section"] == "Work"] == [6, 6]
    text = run("report", path)
    assert "2 launches, 12 tracks" in text and "may be up to" in text and "by PROF_KERNEL in a function that is called again" in text, text


def warps():
    path = record("roles", "-g", "warp")
    groups = {r["group"]: {} for r in kernels(path, "--by", "warp")[0]["rows"]}
    for row in kernels(path, "--by", "warp")[0]["rows"]:
        groups[row["group"]][row["section"]] = row
    assert set(groups) == {0, 1} and "ProdLoad" in groups[0] and "ConsMma" in groups[1]
    assert "ConsMma" not in groups[0] and "-g warp" not in run("report", path)
    text = run("report", record("roles", "-g", "block"))  # which roles are hidden, and how they are seen
    hidden = next(line for line in text.splitlines() if "no recording thread passed:" in line)
    assert "ConsWaitFull" in hidden and "ConsMma" in hidden and "ProdLoad" not in hidden, text
    assert "inkmark record -g warp" in text, text


def answers():
    def found(path):
        return {f["id"]: f for f in schema.load(run("report", "--format", "json", path))["captures"][0]["findings"]}
    tail = found(record("tail"))["tail"]
    assert "17 blocks on 16 slots, 2 waves, the last 6 % full" in tail["text"] and .4 < tail["numbers"]["used_share"] < .45, tail
    wait = found(record("roles", "-g", "warp"))["wait"]
    assert wait["numbers"]["waiting_warp"] == 0 and .55 < wait["numbers"]["waiting_share"] < .72, wait
    assert wait["numbers"]["holding_warp"] == 1 and .05 < wait["numbers"]["holding_share"] < .1, wait
    assert "most in ProdWaitEmpty" in wait["text"] and "warp 1 holds the others" in wait["text"], wait
    if examples:
        run("record", "--device", "sim", "-g", "warp", "-o", "pipeline.ink", "--", examples[0] + "/pipeline")
        wait = found("pipeline.ink")["wait"]
        assert "Consumer (warps 1 to 3) holds the others: Producer (warp 0) waits" in wait["text"] and "WaitEmpty" in wait["text"], wait
        assert "; it works most in Work (" in wait["text"] and " and Store (" in wait["text"], wait
    late = found(record("barrier", "-g", "warp"))["late"]
    assert "block 0, warp 2 is late" in late["text"] and "in Work, and holds them " in late["text"], late
    assert " cycles each in ConsWaitFull (" in late["text"] and late["numbers"]["held_passes"] == 5, late
    text = run("report", "--waits", "^nothing$", "roles.ink")
    assert "[wait]" not in text and "[wait]" in run("report", "roles.ink")
    assert "[wait]" not in run("report", "--silence", "late,wait", "roles.ink")


def roles_of_examples():
    """What docs/modern-kernels.md says of the two: roles, copies across threads, sections known at run time."""
    if not examples:
        return
    tables = {}
    for name in ("pipeline", "megakernel"):
        run("record", "--device", "sim", "-g", "warp", "-o", name + ".ink", "--", f"{examples[0]}/{name}")
        (tables[name],) = kernels(name + ".ink", "--by", "role")
    def counts(name):
        return {(row["group"], row["section"]): row["count"] for row in tables[name]["rows"]}
    blocks, tiles, consumers = 4, 12, 3
    got = counts("pipeline")
    for section in ("WaitEmpty", "Issue"):
        assert got["Producer", section] == blocks * tiles and ("Consumer", section) not in got, got
    for section in ("WaitFull", "Work", "Release", "Store"):
        assert got["Consumer", section] == blocks * tiles * consumers and ("Producer", section) not in got, got
    (copy,) = tables["pipeline"]["crossings"]
    assert copy["count"] == blocks * tiles and copy["min_cycles"] >= 600, copy  # a simulated copy is in flight for 600 cycles
    text = run("report", "pipeline.ink")
    assert "Producer -> Consumer" in text, text
    text = run("report", "--path", "pipeline.ink")
    assert "WaitEmpty ends when another track leaves Release" in text, text
    got, tasks, workers = counts("megakernel"), 36, 4
    for section in ("Scale", "Mix", "Scan"):
        assert got["Worker", section] == tasks // 3 * workers, got
    assert got["Worker", "Publish"] == tasks * workers and got["Scheduler", "Take"] == tasks + blocks, got


def counters():
    path = record("tail")
    run("export", "-q", path, "-o", "tail.json")
    with open("tail.json") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "C"]
    whole = [e["args"]["n"] for e in events if e["name"] == "inkmark active blocks"]
    assert max(whole) == 16 and whole[-1] == 0 and len({e["name"] for e in events}) == 5, whole


def instances():
    path = record("instances", "--activity")
    parts = kernels(path)
    assert len(parts) == 3 and all(k["launches"] == 1 and rows(k)["Work"]["imbalance"] < 1.02 for k in parts), parts
    assert {k["instance"] for k in parts} == {"_Z8instanceIfLi4EEvPT_", "_Z8instanceIdLi40EEvPT_", "_Z8instanceIiLi4EEvPT_"}
    text = run("report", path)
    for name in ("<float, 4>", "<double, 40>", "<int, 4>"):
        assert f"kernel Kern (instance{name}) (Cases): 1 launch" in text, text
    assert text.index("<double, 40>") < text.index("<int, 4>") < text.index("<float, 4>"), "the most expensive first"
    assert len({r["group"] for r in kernels(path, "--by", "instance")[0]["rows"]}) == 3
    assert "instance<double, 40>" in run("report", "--by", "instance", path)


def graphs():
    """A launch outside of the graph, then five replays of its three nodes."""
    path = record("graph", "--activity")
    named = [line.split(")")[0].split("(grid")[1] for line in run("report", "--by", "launch", path).splitlines() if "(grid" in line]
    wanted = [None] + [(replay, node) for replay in range(5) for node in range(3)]
    assert len(named) == len(wanted), named
    for text, place in zip(named, wanted):
        assert ("graph" in text) == (place is not None), (text, place)
        assert not place or text.endswith(f" replay {place[0]} node {place[1]}"), (text, place)
    run("export", "-q", path, "-o", "graph.json")
    with open("graph.json") as file:
        slices = sorted((e for e in json.load(file)["traceEvents"] if e.get("cat") == "kernel" and "launch" in e["args"]),
                        key=lambda e: e["args"]["launch"])
    got = [(e["args"]["graph_replay"], e["args"]["graph_node"]) if "graph" in e["args"] else None for e in slices]
    assert got == wanted, got
    run("export", "-q", path, "-o", "graph.pftrace")
    with open("graph.pftrace", "rb") as file:
        assert b"graph_replay" in file.read()
    assert ", graph " not in run("report", "--by", "launch", record("graph"))  # who did not see it does not say it


def one_schema():
    path = record("tail")
    run("export", "-q", path, "-o", "x.tables.json")
    with open("x.tables.json") as file:
        exported = schema.load(file.read())
    reported = schema.load(run("report", "--format", "json", path))
    exported["captures"][0]["file"] = path
    assert exported == reported
    run("export", "-q", path, "-o", "x.tables.json", "--marking", "in")
    with open("x.tables.json") as file:
        exported = schema.load(file.read())
    reported = schema.load(run("report", "--raw", "--format", "json", path))
    exported["captures"][0]["file"] = path
    assert exported == reported


def runs_apart():
    """A glob takes captures of two runs: said where one began a second after the other had ended."""
    os.rename(record("nested"), "first.ink")
    time.sleep(1.1)
    path = record("nested")
    def said(*captures):
        return subprocess.run([inkmark, "export", *captures, "-o", "all.pftrace"], capture_output=True, text=True, check=True).stderr
    assert "if they are different runs, they share a timeline here" in said("first.ink", path)
    assert "'nested.ink' began " in said(path, "first.ink")


def newest():
    os.utime("tail.ink", (2**31, 2**31))
    assert run("report", "--head").startswith("tail.ink")
    os.mkdir("empty")
    done = subprocess.run([inkmark, "report"], cwd="empty", capture_output=True, text=True)
    assert done.returncode == 1 and "no capture" in done.stderr, done


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check in (imbalance, overflow, lost_blocks, nested, passes, opened_in_function, warps, answers, roles_of_examples, counters, instances, graphs, one_schema,
                  runs_apart, newest):
        check()
        print("ok:", check.__name__)
