# SPDX-License-Identifier: MIT
# check.py BUILD BIN CASE: records the program of this folder, whose launch i has i + 1 blocks, in a window: which of its
# launches are in the capture, and that what was left out is told.
import csv, io, json, os, re, subprocess, sys, tempfile

build, bin, case = sys.argv[1:]
inkmark = os.path.join(build, "cli", "inkmark")
os.chdir(tempfile.mkdtemp())


def record(options, *program, code=0):
    if os.path.exists("x.ink"):
        os.remove("x.ink")
    done = subprocess.run([inkmark, "record", "--device", "sim", "-o", "x.ink", *options, "--",
                           os.path.join(bin, program[0]), *program[1:]], capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done.stderr


def report(*options):
    return subprocess.run([inkmark, "report", *options, "x.ink"], capture_output=True, text=True, check=True).stdout


def blocks_of_launches():
    shown = json.loads(report("-f", "json", "--all", "--by", "launch"))["captures"][0]
    return [row["count"] for kernel in shown["kernels"] for row in kernel["rows"] if row["section"] == "A"]


def check(options, program, blocks, *told):
    record(options, *program)
    assert blocks_of_launches() == blocks, blocks_of_launches()
    shown, facts = report(), subprocess.run([inkmark, "info", "x.ink"], capture_output=True, text=True, check=True).stdout
    for words in told:
        assert words in shown, (words, shown)
        assert re.search(r"^(window|blocks) ", facts, re.M), facts


if case == "launches":
    check(["--launches", "5-7,10"], ["program"], [6, 7, 8, 11],
          "window (launches 5-7,10): 4 of 13 launches were made in it, the others are left out")
    check(["--launches", "0"], ["program"], [1], "1 of 13 launches")
    check(["--launches", "12-400"], ["program"], [13], "1 of 13 launches")
    check(["--launches", "0-400"], ["program"], list(range(1, 14)), "13 of 13 launches")
    check(["--launches", "2-8", "--kernels", "None|Kern", "-g", "warp"], ["program"], [3, 4, 5, 6, 7, 8, 9])
elif case == "profiler":
    check(["--on-start", "off"], ["program", "profiler"], [6, 7, 8], "window (on start off): 3 of 13 launches")
    check(["--on-start", "off", "--launches", "0-6"], ["program", "profiler"], [6, 7], "launches 0-6, on start off): 2 of 13")
    record([], "program", "profiler")  # without the option they say nothing
    assert blocks_of_launches() == list(range(1, 14))
elif case == "static":
    check(["--launches", "5-7"], ["program_static"], [6, 7, 8], "3 of 13 launches")
    check(["--on-start", "off"], ["program_static", "profiler"], [6, 7, 8], "3 of 13 launches")
    check(["--launches", "2-3"], ["program_static", "graph"], [50, 51, 50, 51], "2 of 13 launches")
elif case == "profiler-missing":
    said = record(["--on-start", "off"], "program")
    assert "no cudaProfilerStart" in said and "nothing was recorded" in said and not os.path.exists("x.ink"), said
elif case == "steps":
    check(["--schedule", "wait=1,warmup=1,active=3,repeat=2"], ["program", "steps"], [3, 4, 5, 8, 9, 10], "6 of 13 launches")
    check(["--schedule", "active=2,wait=4"], ["program", "steps"], [5, 6, 11, 12], "4 of 13 launches")
    said = record(["--schedule", "active=1"], "program")
    assert "never called ink_session_step" in said and blocks_of_launches() == list(range(1, 14)), said
elif case == "graph":  # the launches: 1, 2 blocks; the graph of 50 and 51 blocks, twice; 5 to 13 blocks
    check(["--launches", "2"], ["program", "graph"], [50, 51], "1 of 13 launches")
    check(["--launches", "1-3"], ["program", "graph"], [2, 50, 51, 50, 51], "3 of 13 launches")
    check(["--launches", "4"], ["program", "graph"], [5], "1 of 13 launches")
elif case == "ranges":
    for how in ("push", "wide", "start", "nested", "domain", "registered", "domain-start"):
        check(["--range", "here"], ["ranges", how], [6, 7, 8], "window (range here): 3 of 13 launches")
    check(["--range", "whole"], ["ranges", "push"], list(range(1, 14)), "13 of 13 launches")
    check(["--range", "here", "--schedule", "wait=1,active=2,repeat=2"], ["ranges", "steps"], [2, 3, 5, 6], "4 of 13 launches")
    said = record(["--range", "nowhere"], "ranges", "push")
    assert "no NVTX range of the name" in said and not os.path.exists("x.ink"), said
    os.environ["NVTX_INJECTION64_PATH"] = "/some/tool.so"
    assert "NVTX_INJECTION64_PATH is taken, by '/some/tool.so'" in record(["--range", "here"], "ranges", "push", code=1)
elif case == "time":  # where time is short all of it lies before the delay, where it is long in the middle of it
    for pause in ("20", "200", "2000"):  # on a busy machine the thread that begins the window comes late
        record(["--delay", "1ms"], "program", "time", pause)
        kept = blocks_of_launches() if os.path.exists("x.ink") else []
        if kept and kept[-1] == 13:
            break
    assert kept and kept[-1] == 13, kept
    record(["--delay", "60m"], "program", "time", "0")
    assert not os.path.exists("x.ink")
    record(["--duration", "60m"], "program", "time", "0")
    assert blocks_of_launches() == list(range(1, 14))
    record(["--duration", "200ms"], "program", "time", "300")
    kept = blocks_of_launches() if os.path.exists("x.ink") else []
    assert kept == list(range(1, len(kept) + 1)) and len(kept) < 13, kept
elif case == "refused":
    for option, given, words in (("--launches", "7-5", "not a list"), ("--launches", "x", "not a list"),
                                 ("--schedule", "wait=2", "with active at least 1"), ("--schedule", "active=1;", "is not like"),
                                 ("--delay", "soon", "is not a time"), ("--duration", "2 years", "is not a time"),
                                 ("--blocks", "::0", "::16 or auto"), ("--blocks", "9:3", "::16 or auto"), ("--blocks", ":::", "::16 or auto"), ("--blocks", "5::18446744073709551615", "::16 or auto"),
                                 ("--warps", "::2", "not a list")):
        said = record([option, given, *(["-g", "warp"] if option == "--warps" else [])], "program", code=2)
        assert words in said and given in said, (given, said)
elif case == "blocks":
    for given, chosen in (("::4", range(0, 99, 4)), ("1:9:3,0", [0, 1, 4, 7]), ("3:", range(3, 99)), (":2", [0, 1]), ("2:3", [2]),
                          ("1,::6,8-9", [0, 1, 6, 8, 9, 12])):
        wanted = [sum(b < grid for b in chosen) for grid in range(1, 14)]
        check(["--blocks", given], ["program"], [n for n in wanted if n], f"blocks ({given}): the others are left out")
elif case == "sampled":
    record(["-t", "8192", "-r", "4"], "sampled")
    whole = json.loads(report("-f", "json"))["captures"][0]["kernels"][0]
    record(["-t", "2048", "-r", "4", "--blocks", "::3"], "sampled")
    part, shown = json.loads(report("-f", "json"))["captures"][0]["kernels"][0], report()
    row, truth = part["rows"][0], whole["rows"][0]
    assert truth["count"] == 6000 and row["count"] == 2000 and part["tracks_lost"] == 0, (truth, row)
    assert "2,000 of 6,000 blocks" in shown and "between those 48.2 % and 51.8 %" in shown and "at most 0.15 %" in shown, shown
    assert row["median_cycles"] == truth["median_cycles"] < row["max_cycles"] / 5, (row, truth)
    assert abs(row["max_cycles"] - truth["max_cycles"]) <= truth["max_cycles"] / 100, (row, truth)
    assert abs(3 * row["total_cycles"] - truth["total_cycles"]) <= truth["total_cycles"] / 50, (row, truth)
elif case == "auto":
    record(["-t", "8192", "-r", "4"], "sampled")
    whole = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0]["rows"][0]
    record(["-t", "2048", "-r", "4", "--blocks", "auto"], "sampled")
    part, shown = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0], report()
    row = part["rows"][0]
    assert row["count"] == 2000 and part["tracks_lost"] == part["missed"] == 0, part
    assert "in 1 launches with more blocks than the buffer has tracks, one block of each 3" in shown, shown
    stated = re.search(r"2,000 of 6,000 blocks.*between those ([\d.]+) % and ([\d.]+) % .*at most ([\d.]+) %", shown)
    low, high, longer = map(float, stated.groups())
    table = subprocess.run([inkmark, "export", "x.ink", "-f", "csv", "-o", "-"], capture_output=True, text=True, check=True).stdout
    rows = [r for r in csv.DictReader(io.StringIO(table)) if r["kind"] == "mark"]
    lasted, blocks = sorted(int(r["duration_cycles"]) for r in rows), [int(r["block"]) for r in rows]
    assert [sum(lo <= b < lo + 3 for b in blocks) for lo in range(0, 6000, 3)] == [1] * 2000  # spread over the grid
    assert {b % 3 for b in blocks} == {0, 1, 2}  # at random in it
    assert lasted[int(len(lasted) * low / 100)] <= whole["median_cycles"] <= lasted[int(len(lasted) * high / 100)], (whole, low, high)
    assert row["median_cycles"] == whole["median_cycles"] and row["max_cycles"] * 1.01 >= whole["max_cycles"], (row, whole)
    assert abs(3 * row["total_cycles"] - whole["total_cycles"]) <= whole["total_cycles"] / 20, (row, whole)
    for name, options in (("program", []), ("program_static", []), ("program", ["-g", "warp"]), ("program", ["--flight"])):
        record(["-t", "8", "--blocks", "auto", "--drain-ms", "1", *options], name)  # 9 to 13 blocks are more than 8 tracks
        kept = blocks_of_launches()
        assert "in 5 launches with more blocks" in report() and max(kept) <= 8 and sum(kept) <= 64, (kept, report())
    record(["-t", "8", "--blocks", "auto", "--launches", "10-11", "--drain-ms", "1"], "program")  # those outside do not count
    assert "in 2 launches with more blocks" in report(), report()
    record(["-t", "64", "--blocks", "auto"], "program", "graph")
    assert "blocks (auto)" not in report(), report()
else:
    sys.exit("no such case")
print("fine")
