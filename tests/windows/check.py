# SPDX-License-Identifier: MIT
# check.py BUILD BIN CASE: records the program of this folder, whose launch i has i + 1 blocks, in a window: which of its
# launches are in the capture, and that what was left out is told.
import csv, io, json, os, re, struct, subprocess, sys, tempfile, zlib

build, bin, case = sys.argv[1:]
inkmark = os.path.join(build, "cli", "inkmark")
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
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
    said = record(["--launches", "400-500"], "program")
    assert "no kernel with PROF_KERNEL ran in the window (--launches 400-500)\n" in said and "no CUDA device" not in said, said
    said = record(["--launches", "400-500", "--delay", "1ms", "-b", "0"], "program")
    assert "ran in the window (--launches 400-500 --delay 1ms) and passed the filter\n" in said, said
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
    assert "no kernel with PROF_KERNEL ran in the window (--on-start off)\n" in said, said
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
                                 ("--blocks", "::0", "::16, all or auto"), ("--blocks", "9:3", "::16, all or auto"), ("--blocks", ":::", "::16, all or auto"), ("--blocks", "5::18446744073709551615", "::16, all or auto"),
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
    whole = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0]
    record(["-t", "2048", "-r", "4", "--blocks", "::3"], "sampled")
    part, shown = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0], report()
    row, truth = part["rows"][0], whole["rows"][0]
    assert truth["count"] == 6000 and row["count"] == 2000 and part["tracks_lost"] == 0, (truth, row)
    assert "2,000 of 6,000 blocks" in shown and "between those 48.2 % and 51.8 %" in shown and "at most 0.15 %" in shown, shown
    assert row["median_cycles"] == truth["median_cycles"] < row["max_cycles"] / 5, (row, truth)
    assert abs(row["max_cycles"] - truth["max_cycles"]) <= truth["max_cycles"] / 100, (row, truth)
    assert abs(3 * row["total_cycles"] - truth["total_cycles"]) <= truth["total_cycles"] / 50, (row, truth)
elif case == "auto":  # without an option: of a grid with more blocks than tracks, a sample
    record(["-t", "8192", "-r", "4"], "sampled")
    whole = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0]["rows"][0]
    assert "blocks (auto)" not in report(), report()
    record(["-t", "2048", "-r", "4"], "sampled")
    part, shown = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0], report()
    row = part["rows"][0]
    assert row["count"] == 1500 and part["tracks_lost"] == part["missed"] == 0, part
    assert "in 1 launch with more blocks than the buffer has tracks, one block of each 4 in a row" in shown, shown
    facts = subprocess.run([inkmark, "info", "x.ink"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^blocks +auto: in 1 of 1 launches one of each 4 in a row$", facts, re.M), facts
    facts = json.loads(subprocess.run([inkmark, "info", "-f", "json", "x.ink"], capture_output=True, text=True, check=True).stdout)
    assert [launch["one_block_of"] for launch in facts["captures"][0]["launches"]] == [4], facts
    stated = re.search(r"1,500 of 6,000 blocks.*between those ([\d.]+) % and ([\d.]+) % .*at most ([\d.]+) %", shown)
    low, high, longer = map(float, stated.groups())
    table = subprocess.run([inkmark, "export", "x.ink", "-f", "csv", "-o", "-"], capture_output=True, text=True, check=True).stdout
    rows = [r for r in csv.DictReader(io.StringIO(table)) if r["kind"] == "mark"]
    lasted, blocks = sorted(int(r["duration_cycles"]) for r in rows), [int(r["block"]) for r in rows]
    assert [sum(lo <= b < lo + 4 for b in blocks) for lo in range(0, 6000, 4)] == [1] * 1500  # spread over the grid
    places = [sum(b % 4 == k for b in blocks) for k in range(4)]
    assert min(places) > 300, places  # and by no fixed distance
    # to 1 %: the simulated device adds a cycle or two where the blocks beside do something else, as those left out do
    assert lasted[int(len(lasted) * low / 100)] <= 1.01 * whole["median_cycles"], (whole, low)
    assert whole["median_cycles"] <= 1.01 * lasted[int(len(lasted) * high / 100)], (whole, high)
    assert abs(row["median_cycles"] - whole["median_cycles"]) <= whole["median_cycles"] / 100 and row["max_cycles"] * 1.01 >= whole["max_cycles"], (row, whole)
    assert abs(4 * row["total_cycles"] - whole["total_cycles"]) <= whole["total_cycles"] / 20, (row, whole)
    # what blocks are left out of is no total, and other blocks are no difference
    for condition, code in (("total < 1000ms", 1), ("count < 6000", 1), ("total > 1000ms", 1), ("total < 1ns", 3), ("total > 1ns", 0), ("max < 1000ms", 0)):
        done = subprocess.run([inkmark, "report", "-q", "--check", f"Kern/A {condition}", "x.ink"], capture_output=True, text=True)
        assert done.returncode == code and ("blocks of the kernel were not recorded" in done.stderr) == (code == 1), (condition, done)
    for form, words in (("text", "one block of each 4 in a row, or of fewer, was recorded"), ("json", '"one_block_of": 4')):
        done = subprocess.run([inkmark, "time", "--device", "sim", "-n", "1", "-w", "0", "-f", form, "--", os.path.join(bin, "sampled")],
                              capture_output=True, text=True)
        assert done.returncode == 0 and words in done.stdout, done
    left = next(b for b in range(6000) if b not in blocks)
    done = subprocess.run([inkmark, "export", "--blocks", str(left), "-o", "x.csv", "x.ink"], capture_output=True, text=True)
    assert done.returncode == 1 and "(not all were recorded)" in done.stderr and not os.path.exists("x.csv"), done
    assert part["one_block_of"] == 4 and "one_block_of" not in json.dumps(whole), part
    # all: the blocks that end last are left, and that is told
    record(["-t", "2048", "-r", "4", "--blocks", "all", "--drain-ms", "60000"], "sampled")
    part, shown = json.loads(report("-f", "json", "--raw"))["captures"][0]["kernels"][0], report()
    assert part["tracks"] == 2048 and part["tracks_lost"] == 3952 and part["rows"][0]["max_cycles"] < whole["max_cycles"] / 5, part
    assert "blocks (auto)" not in shown and "biased: 2,048 of the 6,000 blocks" in shown and "record --blocks auto" in shown, shown
    with open("x.ink", "r+b") as file:  # as if it had been recorded with auto, of code with older headers
        data, at = file.read(), 32
        while struct.unpack_from("<I", data, at + 4)[0] != 3:
            at += 32 + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
        size = (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
        payload = bytearray(data[at + 32:at + 32 + size])
        payload[32] |= 8
        head = data[at:at + 24] + struct.pack("<I", zlib.crc32(payload))
        file.seek(at)
        file.write(head + struct.pack("<I", zlib.crc32(head)) + payload)
    shown = report()
    assert "biased: 2,048" in shown and "headers of this version" in shown and "record --blocks auto" not in shown, shown
    # grids of 9 to 13 blocks do not fit in 8 tracks: one of each 2, just those that record.h says, with either runtime
    with open(os.path.join(source, "device", "inkmark", "record.h")) as header:
        factor = int(re.search(r"INK_SAMPLE_FACTOR (0x\w+)u", header.read()).group(1), 16)
    chosen = [b for b in range(13) if int(f"{b:032b}"[::-1], 2) * factor >> 31 & 1 == 0]
    assert all((b in chosen) != (b + 1 in chosen) for b in range(0, 12, 2)), chosen
    for name, options in (("program", []), ("program_static", []), ("program", ["--flight"]), ("program", ["--blocks", "auto"]),
                          ("program", ["-g", "warp"]), ("program", ["-g", "warp", "-w", "0"])):
        record(["-t", "8", "--drain-ms", "1", *options], name)
        table = subprocess.run([inkmark, "export", "x.ink", "-f", "csv", "-o", "-"], capture_output=True, text=True, check=True).stdout
        seen = {}
        for r in csv.DictReader(io.StringIO(table)):
            if r["kind"] == "mark":
                seen.setdefault(int(r["launch"]), set()).add(int(r["block"]))
        facts = json.loads(subprocess.run([inkmark, "info", "-f", "json", "x.ink"], capture_output=True, text=True, check=True).stdout)
        for at, launch in enumerate(facts["captures"][0]["launches"]):
            blocks = int(launch["blocks"].split("x")[0])
            assert launch["one_block_of"] == (1 if blocks <= 8 else 2), launch
            assert blocks <= 8 or seen[at] <= set(chosen), (launch, seen[at])
        if "--flight" not in options:  # else tracks that are not drained yet are not used again
            assert launch["blocks"] == "13x1x1" and seen[at] == set(chosen), (launch, seen[at])  # the last one is there
            assert re.search(r"in \d launch(es)? with more (blocks|warps) than", report()), report()
    record(["-t", "8", "--launches", "10-11"], "program")  # those outside do not count
    assert re.search(r"in [12] launch(es)? with more blocks", report()), report()
    # eight launches of one grid are one sample eight times; the sides of a diff are to have the same one
    for tracks in ("32", "64"):
        for _ in range(20):  # on a busy machine a drain comes late, and tracks are lost
            if "lost" not in record(["-t", tracks, "--drain-ms", "1"], "uneven"):
                break
        os.rename("x.ink", tracks + ".ink")
    said = subprocess.run([inkmark, "report", "32.ink"], capture_output=True, text=True, check=True).stdout
    assert "in 8 launches" in said and "one block of each 2 in a row" in said, said
    assert "200 of 400 blocks were recorded" in said and "with 25 of 50, " in said and "at most 12.00 %" in said, said
    for form in ("text", "json", "markdown", "html"):
        done = subprocess.run([inkmark, "diff", "-f", form, "64.ink", "32.ink"], capture_output=True, text=True)
        assert done.returncode == 0 and "other blocks" in done.stdout and "<td>slower" not in done.stdout, done
        assert form == "json" or "nothing could be tested" in done.stdout, done
    subprocess.run([inkmark, "export", "-q", "64.ink", "32.ink", "-o", "both.html"], capture_output=True, check=True)
    with open("both.html") as page:
        text = page.read()
    assert text.count('"verdict": "other blocks"') == 3 and text.count('"one_block_of": 2') == 1, text.count('"verdict"')
    done = subprocess.run([inkmark, "diff", "--fail-over", "1%", "64.ink", "32.ink"], capture_output=True, text=True)
    assert done.returncode == 1 and "nothing could be tested" in done.stdout + done.stderr, done
    done = subprocess.run([inkmark, "diff", "--force", "64.ink", "32.ink"], capture_output=True, text=True)
    assert done.returncode == 3 and "slower" in done.stdout and "forced" in done.stdout, done
    done = subprocess.run([inkmark, "diff", "32.ink", "32.ink"], capture_output=True, text=True)
    assert done.returncode == 0 and "other blocks" not in done.stdout, done
    record(["-t", "64", "--blocks", "::2", "--drain-ms", "1"], "uneven")
    done = subprocess.run([inkmark, "diff", "64.ink", "x.ink"], capture_output=True, text=True)
    assert done.returncode == 1 and "other blocks were recorded, all and ::2" in done.stderr, done
    # where tracks were lost of grids that fit, no other --blocks is advised
    record(["-t", "16", "--drain-ms", "60000"], "program")
    assert "biased" in report() and "record --blocks auto" not in report(), report()
    done = subprocess.run([inkmark, "diff", "x.ink", "x.ink"], capture_output=True, text=True)
    assert re.search("'x.ink': kernel 'Kern': [0-9]+ tracks were lost or found no room", done.stderr), done
    # graphs too: of 50 and 51 blocks twice, one of each 2
    record(["-t", "32", "--launches", "2", "--drain-ms", "1"], "program", "graph")
    assert "one block of each 2 " in report() and max(blocks_of_launches()) <= 26, report()
    record(["-t", "64"], "program", "graph")
    assert "blocks (auto)" not in report(), report()
else:
    sys.exit("no such case")
print("fine")
