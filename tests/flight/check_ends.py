# SPDX-License-Identifier: MIT
"""check_ends.py INKMARK BIN COUNTS CASE [ROUNDS]: records kernels that trap, leave by `exit`, hang or run for long (ends.cu,
streamed.cu) in the mode that keeps their marks, and reads what the report says of them."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import recorded_child

INKMARK, BIN, COUNTS, CASE = sys.argv[1:5]
ROUNDS = int(sys.argv[5]) if sys.argv[5:] else 50 # of "stream"
folder = tempfile.TemporaryDirectory(prefix="inkmark-ends-")
CAPTURE = os.path.join(folder.name, "c.ink")


def record(options, words):
    command = [INKMARK, "record", "--device", os.environ.get("INKMARK_TEST_DEVICE", "sim"), "-o", CAPTURE, *options, "--", os.path.join(BIN, words[0]), *words[1:]]
    # kernels of the simulated device run while nobody waits for them, as a GPU's do
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                            env=dict(os.environ, INKMARK_SIM_ASYNC="1"))


def report(*options):
    return subprocess.run([INKMARK, "report", *options, CAPTURE], capture_output=True, text=True, check=True).stdout


def row(text, section):
    """[count, total, ...] of a section in the report's table."""
    found = re.search(rf"^  {section} +([\d,]+) +([\d,]+)", text, re.M)
    return [int(cell.replace(",", "")) for cell in found.groups()] if found else None


def counts():
    words = subprocess.run([COUNTS, CAPTURE], capture_output=True, text=True, check=True).stdout.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


def has(text, *wanted):
    for line in wanted:
        assert line in text, f"'{line}' is not in:\n{text}"


def fault(word, error, launches_before):
    run = record(["--flight"], ["ends", word])
    out, said = run.communicate()
    assert out.split() == ["launches", error] and run.returncode == 0, (run.returncode, out, said)
    text = report()
    has(text, f"kernel Kern, launch {launches_before}, block 2: after Load")
    assert row(text, "Load")[0] >= 4 * launches_before + 1, text
    if launches_before:
        closed = row(text, "Store")
        assert closed and closed[0] >= 4, text
    return text


def until_said(run, words):
    """Reads record's messages up to one with these words; a guard of minutes ends a run that never says them."""
    signal.alarm(600)
    for line in run.stderr:
        if words in line:
            signal.alarm(0)
            return line
    raise AssertionError(f"record ended without saying '{words}'")


def until(condition):
    end = time.monotonic() + 600 # a guard, no measure of speed
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def stat_of(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    except OSError:
        return ["-"] + ["0"] * 20


def state_of(pid):
    return stat_of(pid)[0]


def cpu_of(pid):
    """Ticks of the CPU that it has used."""
    return int(stat_of(pid)[11]) + int(stat_of(pid)[12])


def child_of(pid, name):
    found = []

    def look():
        found[:] = recorded_child.children_named(pid, name)
        return found
    until(look)
    return found[0]


def kill_program(run):
    assert recorded_child.kill_program(run.pid, os.path.join(BIN, "ends")) == 1
    run.communicate()
    assert run.returncode == -signal.SIGKILL, run.returncode


if CASE == "trap":
    fault("trap", "cudaErrorLaunchFailure", 0)
elif CASE == "illegal":
    fault("illegal", "cudaErrorIllegalAddress", 0)
elif CASE == "second":
    text = fault("second", "cudaErrorLaunchFailure", 1)
    assert counts()["launches"] == 2, text
elif CASE == "exit":
    run = record([], ["ends", "exit"])
    out, said = run.communicate()
    assert run.returncode == 0 and out.split()[1] == "cudaSuccess", (out, said)
    text = report()
    has(text, "kernel Kern, launch 0, block 2: after Load", "left the kernel past its end")
    assert row(text, "Load")[0] == 8 and row(text, "Store")[0] == 7, text
elif CASE == "rows": # as many other tracks as went on from there: those that ended, and one that is open
    run = record(["--hang", "200ms", "-g", "warp"], ["ends", CASE])
    line = until_said(run, "78 warps ended")
    assert re.search(r"kernel Kern, [\d.]+ s: block 3 warp 1 inside Wait \(began [\d.]+ s ago\), iteration 7; "
                     r"block 5 warp 0 after Load \(79 other tracks mark Wait next\), iteration 7; 78 warps ended$", line), line
    kill_program(run)
elif CASE == "resets": # the device is reset often, then the program is killed before anything was drained
    run = record(["--flight", "--drain-ms", "600000"], ["ends", "resets"])
    signal.alarm(600)
    assert run.stdout.readline() == "stays\n"
    signal.alarm(0)
    kill_program(run)
    text = report()
    # The last reset may have moved the function's name, which nobody has read since: then its launch is of a kernel apart.
    assert re.search(r"kernel Kern(?: \(function at 0x[0-9a-f]+, whose name was not read\))?, launch 70, block 3: inside Wait",
                     text), text
    loads = [int(found.replace(",", "")) for found in re.findall(r"^  Load +([\d,]+) ", text, re.M)]
    assert sum(loads) == 71 * 8, text
elif CASE == "top": # what hangs is seen while it does, and that it ended
    run = record(["--live"], ["ends", "range"])
    top = subprocess.Popen([INKMARK, "top", "-i", "20", CAPTURE], stdout=subprocess.PIPE, text=True)
    signal.alarm(600)
    seen = ""
    while not re.search(r"\(recording.*block 3: inside Wait \(.*^Kern    Load +8 .*^\n", seen, re.M | re.S):
        line = top.stdout.readline()
        assert line, seen
        seen += line
    kill_program(run)
    last = top.communicate()[0].strip().split("\n\n")[-1]
    signal.alarm(0)
    assert top.returncode == 0, (top.returncode, last)
    has(last, "(ended: the recording did not end)", "block 3: inside Wait")
elif CASE == "killed": # without any option: of a ring that no other track had before all is certain
    run = record([], ["ends", "range"])
    place = re.compile(r"kernel Kern, launch 0, block 3: inside Wait \(began [\d.]+ m?s before it was last seen\), after Load")
    until(lambda: place.search(subprocess.run([INKMARK, "report", CAPTURE], capture_output=True, text=True).stdout))
    kill_program(run)
    text = report()
    has(text, "its kernel was running when the program was ended")
    assert place.search(text), text
    assert row(text, "Load")[0] == 8 and row(text, "Check")[0] == 7, text
elif CASE in ("range", "mark"):
    place = "block 3 inside Wait (" if CASE == "range" else "block 3 after Wait (7 other tracks mark Check next)"
    run = record(["--hang", "200ms"], ["ends", CASE])
    line = until_said(run, "7 blocks ended")
    has(line, "kernel Kern", "block 3")
    has(line, place)
    assert CASE == "range" or "inside" not in line, line # only of ranges
    kill_program(run)
    text = report()
    has(text, "kernel Kern, launch 0, block 3:")
    if CASE == "range":
        assert re.search(r"block 3: inside Wait \(began [\d.]+ m?s before it was last seen\), after Load", text), text
    assert row(text, "Load")[0] == 8 and row(text, "Check")[0] == 7, text
elif CASE == "stream": # every mark of two tracks, though a ring holds few of them
    run = record(["--live", "-r", "1024", "--drain-ms", "5"], ["streamed", str(ROUNDS), "1000", CAPTURE])
    out, said = run.communicate()
    assert run.returncode == 0, (run.returncode, said)
    got = counts()
    assert got["marks"] == got["kept"] == 2000 * ROUNDS and got["lost"] == 0 and got["complete"] == 1, got
    assert row(report(), "Work")[0] == 2000 * ROUNDS
elif CASE == "stopped": # the writer process is stopped for a while, or until the program is gone: what is lost is counted
    go = os.path.join(folder.name, "go")
    for blocks, records, until_end in ((2, 1024, False), (2, 1024, True), (8, 16384, True)): # the last: none that close fit
        rounds = 2400 // blocks
        run = record(["--live", "-r", str(records), "--drain-ms", "5"], ["streamed", str(rounds), "1000", "-", str(blocks), go])
        program, writer = child_of(run.pid, "streamed"), child_of(run.pid, "inkmark-writer")
        until(lambda: os.path.exists(CAPTURE) and os.path.getsize(CAPTURE) > 10_000)
        os.kill(writer, signal.SIGSTOP)
        open(go, "w").close()
        ticks = cpu_of(program)
        until(lambda: state_of(program) in "Z-" or (not until_end and cpu_of(program) > ticks + 60)) # the ring is full
        os.kill(writer, signal.SIGCONT)
        out, said = run.communicate()
        assert run.returncode == 0, (run.returncode, said)
        got = counts()
        assert got["problems"] == 0 and got["tracks"] + got["lost"] == blocks, (got, said)
        assert got["kept"] <= got["marks"] <= 1000 * rounds * blocks, (got, said)
        assert got["lost"] or got["marks"] == 1000 * rounds * blocks, (got, said)
        os.unlink(go)
        os.unlink(CAPTURE)
elif CASE == "lapped": # a ring is lapped many times: what is lost is counted
    run = record(["--live", "-r", "64", "--drain-ms", "5"], ["streamed", "20", "10000", "-"])
    out, said = run.communicate()
    assert run.returncode == 0, (run.returncode, said)
    got = counts()
    assert got["marks"] == 400_000 and got["complete"] == 1 and 128 <= got["kept"] < got["marks"], got
    assert row(report("--kept"), "Work")[0] <= got["kept"], report("--kept")
print(f"{CASE}: as it should be")
