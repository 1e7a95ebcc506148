# SPDX-License-Identifier: MIT
"""`inkmark record --activity` on the simulated device against what the program itself says: its kernels by
%gridid, its copies and sets. check_activity.py INKMARK FOLDER CASE"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

INKMARK, PROGRAMS, CASE = sys.argv[1:]


def record(folder, *arguments, program="busy", options=(), environment=None, wanted=0, name="run.ink"):
    """The program's stdout, inkmark's messages, and the capture's path."""
    capture = os.path.join(folder, name)
    run = subprocess.run(
        [INKMARK, "record", "--device", "sim", "--activity", "-o", capture, *options, "--",
         os.path.join(PROGRAMS, program), *arguments],
        capture_output=True, text=True, env={**os.environ, **(environment or {})})
    assert run.returncode == wanted, (run.returncode, run.stdout, run.stderr)
    assert "done" in run.stdout, run
    return run.stdout, run.stderr, capture


def report(capture, *options):
    text = subprocess.run([INKMARK, "report", "--activity", "--format", "json", *options, capture],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(text)["captures"][0]


def info(capture):
    text = subprocess.run([INKMARK, "info", "--format", "json", capture], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(text)["captures"][0]


def of_kind(seen, kind):
    return [a for a in seen["timeline"] if a["kind"] == kind]


def short(seen, name):
    return next(s["short_name"] for s in seen["summary"] if s["name"] == name)


def shared(seen, a):
    return next(s["static_shared_bytes"] + s["dynamic_shared_bytes"] for s in seen["summary"]
                if s["kind"] == "kernel" and s["name"] == a["name"] and s["block"] == a["block"])


def check_truth(out, seen, marked=True):
    """Every kernel, copy and set of the program, and nothing else."""
    told = Counter(line for line in out.splitlines() if line.split()[0] in ("kernel", "copy", "set"))
    copies = {"host to device": 1, "device to host": 2, "peer to peer": 10}
    found = Counter()
    for a in of_kind(seen, "kernel"):
        size = 128 if short(seen, a["name"]).startswith("shapes") else None
        found[f"kernel {a['device']} {a['grid_id']} {a['grid'][0]} {a['block'][0]} "
              f"{size or shared(seen, a)} {int(a['graph'] != 0)} {short(seen, a['name'])}"] += 1
        assert a["end_ns"] > a["begin_ns"] and a["grid"][1:] == [1, 1], a
        assert (a["graph"] != 0) == (a["graph_node"] != 0), a
        assert ("launch" in a) == (marked and "marked" in a["name"]), a
    for a in of_kind(seen, "copy"):
        found[f"copy {a['device']} {copies[a['name']]} {a['bytes']}"] += 1
    for a in of_kind(seen, "set"):
        found[f"set {a['device']} {a['bytes']}"] += 1
    assert sum(told.values()) >= 11, out
    assert found == told, (sorted((found - told).items()), sorted((told - found).items()))


def check_calls(seen):
    """What was launched came from a call of that correlation that began before."""
    calls = {}
    for a in of_kind(seen, "runtime call"):
        assert a["correlation"] not in calls and a["result"] == 0 and a["end_ns"] >= a["begin_ns"], a
        calls[a["correlation"]] = a
    wanted = {"kernel": ("cudaLaunchKernel", "cudaGraphLaunch"), "copy": ("cudaMemcpy",), "set": ("cudaMemset",)}
    for kind, names in wanted.items():
        for a in of_kind(seen, kind):
            call = calls[a["correlation"]]
            assert call["name"].startswith(names), (a, call)
            # calls are on the first device's clock, and simulated devices share none
            assert a["device"] != 0 or call["begin_ns"] <= a["begin_ns"], (a, call)
            assert (call["name"] == "cudaGraphLaunch") == (a["graph"] != 0), (a, call)
    assert len({c["thread"] for c in calls.values()}) >= 1
    return calls


def check_inside(capture, seen):
    """Our tracks lie inside of their kernels, to the clock's bound."""
    facts = info(capture)
    launches = subprocess.run([INKMARK, "export", "--format", "csv", "-o", "-", capture], capture_output=True,
                              text=True, check=True).stdout.splitlines()
    header = launches[0].split(",")
    bound = facts["clocks"][0]["bound_ns"]
    kernels = {a["launch"]: a for a in of_kind(seen, "kernel") if "launch" in a}
    assert len(kernels) == len(facts["launches"]), (len(kernels), len(facts["launches"]))
    rows = 0
    for line in launches[1:]:
        row = dict(zip(header, line.split(",")))
        a = kernels[int(row["launch"])]
        ns = int(row["ns"])
        assert a["begin_ns"] - bound <= ns <= a["end_ns"] + bound, (row, a, bound)
        rows += 1
    assert rows > 50, rows


def truth(folder):
    for mode, devices in (("once", 1), ("devices", 2)):
        out, errors, capture = record(folder, mode, environment={"INKMARK_SIM_DEVICES": "2"})
        seen = report(capture)
        assert seen["simulated"] and seen["activity"] == "recorded" and seen["own"] > 0, seen
        assert seen["dropped"] is None and seen["left_out"] is None and seen["missing"] is None, seen
        check_truth(out, seen)
        check_calls(seen)
        check_inside(capture, seen)
        assert [d["device"] for d in seen["devices"]] == list(range(devices)), seen["devices"]
        for d in seen["devices"]:
            assert 0 < d["kernel_busy_ns"] <= d["busy_ns"] <= d["span_ns"], d
        kernels = [s for s in seen["summary"] if s["kind"] == "kernel"]
        assert sum(s["count"] for s in kernels) == 8 * devices
        for s in kernels:
            of = sorted(a["end_ns"] - a["begin_ns"] for a in of_kind(seen, "kernel") if a["name"] == s["name"]
                        and a["block"] == s["block"] and a["device"] == s["device"])
            assert [s["count"], s["total_ns"], s["min_ns"], s["max_ns"], s["median_ns"]] == \
                [len(of), sum(of), of[0], of[-1], of[(len(of) - 1) // 2]], (s, of)
            assert s["registers"] == 32 and 0 < s["occupancy"] <= 1 and s["limited_by"], s
        n = info(capture)["activity"][0]
        assert [n["kernels"], n["kernels_with_tracks"], n["sets"], n["state"]] == \
            [8 * devices, 5 * devices, devices if devices == 1 else 3, "recorded"], n
        rows = subprocess.run([INKMARK, "report", "--activity", "--format", "csv", capture], capture_output=True,
                              text=True, check=True).stdout.splitlines()
        assert len(rows) == 1 + len(seen["timeline"]) and {r.count(",") for r in rows} == {29}, rows[:2]


def unmarked(folder):
    out, errors, capture = record(folder, program="busy_unmarked")
    assert "activity: 8 kernels, 3 copies and sets" in errors and "no track" not in errors, errors
    seen = report(capture)
    check_truth(out, seen, marked=False)
    check_calls(seen)
    assert seen["simulated"] and seen["own"] == 0, seen
    assert info(capture)["capture"][0]["tracks"] == 0
    for output in ("x.pftrace", "x.json"):
        subprocess.run([INKMARK, "export", capture, "-o", os.path.join(folder, output)], check=True)
        assert os.path.getsize(os.path.join(folder, output)) > 1000
    os.unlink(capture)
    record(folder, "none", program="busy_unmarked")  # CUDA is linked and never called
    assert not os.path.exists(capture)


def streams(folder):
    out, errors, capture = record(folder, "threads", options=["--drain-ms", "1"])
    seen = report(capture)
    kernels = of_kind(seen, "kernel")
    assert len(kernels) == 24, len(kernels)
    grids = Counter(a["grid_id"] for a in kernels)
    assert max(grids.values()) == 1, grids
    assert len({a["stream"] for a in kernels}) == 6, {a["stream"] for a in kernels}
    assert len({c["thread"] for c in check_calls(seen).values()}) == 2
    told = {int(line.split()[2]) for line in out.splitlines() if line.startswith("kernel")}
    assert told < set(grids)


def losses(folder):
    out, errors, capture = record(folder, environment={"INKMARK_SIM_CUPTI": "dropped=3"})
    seen = report(capture)
    assert seen["dropped"] == "3", seen["dropped"]
    check_truth(out, seen)
    text = subprocess.run([INKMARK, "report", "--activity", capture], capture_output=True, text=True, check=True)
    assert "3 records were dropped by CUPTI" in text.stdout, text.stdout
    assert "3 records were dropped by CUPTI" in subprocess.run([INKMARK, "info", capture], capture_output=True,
                                                               text=True, check=True).stdout
    out, errors, capture = record(folder, environment={"INKMARK_SIM_CUPTI": "untimed=1"})
    seen = report(capture)
    assert int(seen["without_time"]) >= 8 and not of_kind(seen, "kernel") and of_kind(seen, "copy"), seen
    out, errors, capture = record(folder, environment={"INKMARK_SIM_CUPTI": "kind1=1,kind5=28"})
    seen = report(capture)
    assert seen["missing"] == "copies, runtime calls", seen["missing"]
    assert len(of_kind(seen, "kernel")) == 8 and not of_kind(seen, "copy") and not of_kind(seen, "runtime call")


def refusals(folder):
    cases = {
        "subscribe=39": "another profiler is attached to this process",
        "enable=35": "NVreg_RestrictProfilingToAdminUsers=0",
        "enable=15": "CUPTI refuses (CUPTI_ERROR_NOT_INITIALIZED, 15)",
        "kind10=35": "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
        "version=10": "is older than CUDA 12",
    }
    plain, _, _ = record(folder, "seven", wanted=7)
    for asked, words in cases.items():
        out, errors, capture = record(folder, "seven", environment={"INKMARK_SIM_CUPTI": asked}, wanted=7)
        assert [line.split()[0] for line in out.splitlines()] == [line.split()[0] for line in plain.splitlines()]
        assert "the activity of process" in errors and words in errors and "wrote" in errors, (asked, errors)
        seen = report(capture)
        assert words in seen["activity"] and not seen["timeline"], (asked, seen["activity"])
        assert len(info(capture)["launches"]) == 5
        text = subprocess.run([INKMARK, "report", "--activity", capture], capture_output=True, text=True, check=True)
        assert "no activity was recorded: " in text.stdout and words in text.stdout, text.stdout
    os.unlink(capture)
    # Nothing to be written at all, and that is said too.
    _, errors, _ = record(folder, program="busy_unmarked", environment={"INKMARK_SIM_CUPTI": "subscribe=39"})
    assert "the activity of process" in errors and not os.path.exists(capture), errors


def environment(folder):
    # Somebody else's library is not pushed aside.
    out, errors, capture = record(folder, environment={"CUDA_INJECTION64_PATH": "/nowhere/else.so"})
    assert "CUDA_INJECTION64_PATH is taken, by '/nowhere/else.so'" in errors, errors
    seen = report(capture)
    assert seen["activity"] is None and not seen["timeline"], seen
    # Without --activity nothing of it is there, whatever the environment says.
    run = subprocess.run([INKMARK, "record", "--device", "sim", "-o", capture, "--",
                          os.path.join(PROGRAMS, "busy")], capture_output=True, text=True,
                         env={**os.environ, "INKMARK_ACTIVITY": "1"}, check=True)
    assert report(capture)["activity"] is None, run.stderr
    assert "no activity was asked for" in subprocess.run(
        [INKMARK, "report", "--activity", capture], capture_output=True, text=True, check=True).stdout
    # A shell in between: the programs that it runs are recorded, it itself needs no CUPTI.
    script = os.path.join(folder, "script.sh")
    with open(script, "w") as f:
        f.write(f"#!/bin/sh\n'{PROGRAMS}/busy' && '{PROGRAMS}/busy_unmarked'\n")
    os.chmod(script, 0o755)
    subprocess.run([INKMARK, "record", "--device", "sim", "--activity", "-o", os.path.join(folder, "s.%p.ink"), "--",
                    script], capture_output=True, text=True, check=True)
    captures = [f for f in os.listdir(folder) if f.startswith("s.")]
    assert len(captures) == 2, captures
    for c in captures:
        assert len(of_kind(report(os.path.join(folder, c)), "kernel")) == 8


def killed(folder):
    """What was drained is there: killed once all is."""
    said = os.path.join(folder, "said")
    with open(said, "w") as out:
        run = subprocess.Popen([INKMARK, "record", "--device", "sim", "--activity", "-o", os.path.join(folder, "run.%p.ink"),
                                "--drain-ms", "20", "--", os.path.join(PROGRAMS, "busy"), "wait"], stdout=out)
    for _ in range(6000): # a guard, minutes
        assert run.poll() is None, run.returncode
        with open(said) as f:
            out = f.read()
        found = [f for f in os.listdir(folder) if f.startswith("run.") and f.endswith(".ink")]
        try:
            if found and "done" in out:
                check_truth(out, report(os.path.join(folder, found[0])))
                break
        except (AssertionError, subprocess.CalledProcessError, KeyError, StopIteration):
            pass # not all of it yet
        time.sleep(0.1)
    assert found, "no capture"
    capture = os.path.join(folder, found[0])
    os.kill(int(found[0].split(".")[1]), signal.SIGKILL)
    assert run.wait() == -9, run.returncode
    assert not info(capture)["capture"][0]["complete"], info(capture)["capture"]
    check_truth(out, report(capture))


def forked(folder):
    out, errors, capture = record(folder, "fork", options=["--drain-ms", "50"])
    assert "child 0" in out
    files = sorted(f for f in os.listdir(folder) if f.startswith("run.ink"))
    assert len(files) == 2, (files, errors)
    parent, child = report(capture), report(os.path.join(folder, files[1]))
    assert len(of_kind(parent, "kernel")) == 8 and parent["activity"] == "recorded"
    assert child["activity"] == "CUPTI does not work in a forked process" and not child["timeline"], child


def filters(folder):
    out, errors, capture = record(folder)
    for regex, count in (("^plain$", 3), ("shapes::marked", 5), ("marked|plain", 8)):
        seen = report(capture, "--kernel", regex)
        assert len(seen["timeline"]) == count and {a["kind"] for a in seen["timeline"]} <= {"kernel"}, (regex, seen)
    wrong = subprocess.run([INKMARK, "report", "--activity", "--kernel", "nothing", capture], capture_output=True, text=True)
    assert wrong.returncode == 1 and "no kernel matches 'nothing'" in wrong.stderr and "'plain'" in wrong.stderr, wrong
    seen = report(capture, "--launch", "2")
    assert [a.get("launch") for a in seen["timeline"]] == [2], seen["timeline"]
    wrong = subprocess.run([INKMARK, "report", "--activity", "--launch", "99", capture], capture_output=True, text=True)
    assert wrong.returncode == 1 and "no launch 99" in wrong.stderr, wrong
    text = subprocess.run([INKMARK, "report", "--activity", "--unit", "ns", capture], capture_output=True, text=True)
    assert "kernels, ns" in text.stdout and "5 of 8 kernels have tracks" in text.stdout, text.stdout


def session(folder):
    """The library's own session, without `inkmark record`."""
    capture = os.path.join(folder, "own.ink")
    build = os.path.dirname(os.path.dirname(INKMARK))
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{build}/device/sim:{build}/runtime",
                   "INKMARK_CUPTI": f"{build}/device/sim/libcupti.so.13"}
    run = subprocess.run([os.path.join(PROGRAMS, "session"), capture], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and run.stdout == "no error 1\n", run
    seen = report(capture)
    kernels = of_kind(seen, "kernel")
    assert [short(seen, a["name"]) for a in kernels] == ["marked", "plain"], kernels
    assert "launch" in kernels[0] and "launch" not in kernels[1] and seen["own"] > 0, seen
    environment["INKMARK_CUPTI"] = "/nowhere/libcupti.so"
    run = subprocess.run([os.path.join(PROGRAMS, "session"), capture], capture_output=True, text=True, env=environment)
    assert run.returncode == 0 and "INKMARK_CUPTI='/nowhere/libcupti.so'" in report(capture)["activity"], run


def stalls(folder):
    """`--stalls` with and without --activity: samples for each launch, of each device, once."""
    names = sorted({a["name"] for a in of_kind(report(record(folder)[2]), "kernel")})
    code, lines = os.path.join(folder, "code"), os.path.join(folder, "lines")
    with open(code, "wb") as f:
        f.write(bytes(range(256)) * 700 + b"ink_current")
    with open(lines, "w") as f:
        f.writelines(f"{name} {offset:x} {reason} {n}\n" for n, name in enumerate(names, 1) for offset in (0, 16, 64)
                     for reason in ("wait", "barrier", "wait_not_issued"))
    made_up = {"INKMARK_SIM_CODE": code, "INKMARK_SIM_SAMPLES": lines, "INKMARK_SIM_DEVICES": "2"}

    def run(*arguments, cupti="", more=("--stalls",), **other):
        capture = os.path.join(folder, "stalls.ink")
        done = subprocess.run([INKMARK, "record", "--device", "sim", *more, "-o", capture, "--", os.path.join(PROGRAMS, "busy"), *arguments],
                              capture_output=True, text=True, env={**os.environ, **made_up, "INKMARK_SIM_CUPTI": cupti, **other})
        assert done.returncode == 0, done
        return done, (info(capture)["stalls"] or [None])[0], capture

    weights = {name: n for n, name in enumerate(names, 1)}
    for mode, cupti, more in (("once", "", ["--stalls"]), ("once", "sums=2", ["--stalls"]), ("devices", "entries=2,lost=5", ["--stalls", "--activity", "--drain-ms", "1"]),
                              ("threads", "entries=1", ["--stalls", "--activity", "--drain-ms", "1"])):
        done, facts, capture = run(mode, cupti=cupti, more=more)
        kernels = of_kind(report(record(folder, mode, environment=made_up, name="plain.ink")[2]), "kernel")
        wanted = sum(6 * weights[a["name"]] for a in kernels)
        devices = 1 + (mode == "devices")
        assert facts["samples"] == wanted and facts["elsewhere"] == 0 and facts["left_out"] == 0, (mode, facts, wanted)
        assert facts["dropped"] == ("lost" in cupti) * 5 * devices and facts["codes"] == 1, facts
        assert facts["code_bytes"] == os.path.getsize(code) and facts["period_cycles"] == 2048, facts
        assert ("activity:" in done.stderr) == ("--activity" in more), done.stderr
    # A module without marks: counted, and neither its code nor its samples are kept.
    with open(code, "wb") as f:
        f.write(bytes(1000))
    _, facts, _ = run("once")
    assert facts["samples"] == facts["elsewhere"] > 0 and facts["codes"] == 0, facts
    # Somebody else's library is not pushed aside, and without --stalls nothing of it is there.
    done, facts, _ = run("once", CUDA_INJECTION64_PATH="/nowhere/else.so")
    assert "why warps wait is not sampled: CUDA_INJECTION64_PATH is taken" in done.stderr and facts is None, (done.stderr, facts)
    _, facts, _ = run("once", more=(), INKMARK_STALLS="1")
    assert facts is None, facts
    done, facts, capture = run("fork")
    child = next(f for f in os.listdir(folder) if f.startswith("stalls.ink") and f != "stalls.ink")
    assert info(os.path.join(folder, child))["stalls"] == [], child
    assert "CUPTI does not work in a forked process" in done.stderr, done.stderr


with tempfile.TemporaryDirectory(prefix="inkmark-activity-") as scratch:
    globals()[CASE](scratch)
print("ok")
