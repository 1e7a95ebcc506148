# SPDX-License-Identifier: MIT
"""check_names.py INKMARK BIN CASE: the names of template instances outlive what they were read from: a trap, SIGKILL, an
unload of the library (names.cu). Where nobody read a name in time, the report says so, and keeps the instance apart."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import recorded_child

INKMARK, BIN, CASE = sys.argv[1:4]
folder = tempfile.TemporaryDirectory(prefix="inkmark-names-")
CAPTURE = os.path.join(folder.name, "c.ink")


def record(options, words):
    command = [INKMARK, "record", "--device", os.environ.get("INKMARK_TEST_DEVICE", "sim"), "-o", CAPTURE, *options, "--",
               os.path.join(BIN, "names"), *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            start_new_session=True, env=dict(os.environ, INKMARK_SIM_ASYNC="1"))


def until(condition):
    end = time.monotonic() + 600 # a guard, no measure of speed
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def until_written(launches):
    """Until the capture that is being written has all marks of so many launches of four blocks."""
    def written():
        try:
            return sum(loads_by_instance().values()) == 4 * launches
        except (subprocess.CalledProcessError, IndexError):
            return False # it has only begun
    until(written)


def launched(run):
    signal.alarm(600)
    assert run.stdout.readline() == "launched\n", run.stderr.read()
    signal.alarm(0)


def report(*options):
    return subprocess.run([INKMARK, "report", *options, CAPTURE], capture_output=True, text=True, check=True).stdout


def loads_by_instance():
    """How often each instance passed Load."""
    found = {}
    for kernel in json.loads(report("--format", "json"))["captures"][0]["kernels"]:
        for row in kernel["rows"]:
            if row["section"] == "Load":
                found[kernel["instance"]] = found.get(kernel["instance"], 0) + row["count"]
    return found


def expect(wanted):
    found = loads_by_instance()
    rest = dict(found)
    for name, count in wanted.items():
        matching = [instance for instance in rest if instance and re.search(name, instance)]
        assert len(matching) == 1 and rest.pop(matching[0]) in count, (name, found)
    assert not rest, found


def main():
    of = {t: rf"^void k\b.*\bT ?= ?{t}\b.*\bN ?= ?{n}\b" for t, n in (("float", 4), ("double", 400), ("int", 7), ("short", 7))}
    if CASE in ("trap", "unread"):
        run = record(["--flight", "--drain-ms", "5"], ["both" if CASE == "trap" else "one"])
        launched(run)
        until_written(2 if CASE == "trap" else 1)
        out, said = run.communicate("go\n")
        assert run.returncode == 0 and out.split() == ["cudaErrorLaunchFailure"], (run.returncode, out, said)
        if CASE == "trap": # the launch before it, and of its own the blocks that came so far
            expect({of["float"]: [4], of["double"]: range(5, 9)})
            assert re.search(r"kernel Kern \(k<double, 400>\), launch 2, block 2: after Load", report()), report()
        else:
            expect({of["float"]: [4], r"function at 0x[0-9a-f]+, whose name was not read": range(1, 5)})
    elif CASE == "kill":
        run = record(["--drain-ms", "5"], ["both"])
        launched(run)
        until_written(2)
        assert recorded_child.kill_program(run.pid, os.path.join(BIN, "names")) == 1
        run.communicate()
        expect({of["float"]: [4], of["double"]: [4]})
    elif CASE == "unload": # nothing is drained before the first library goes; the second may lie where it was
        libraries = [os.path.join(BIN, f"names_{t}.so") for t in ("int", "short")]
        run = record(["--drain-ms", "600000"], ["unload", *libraries])
        out, said = run.communicate()
        assert run.returncode == 0 and out == "unloaded\n", (run.returncode, out, said)
        expect({of["int"]: [4], of["short"]: [4]})
    print(f"{CASE}: as it should be")


main()
