# SPDX-License-Identifier: MIT
"""traced.py INK TRACER ARMING: traces the system calls of 20 programs of tests/arming (built in ARMING), each
alone and recorded. Recorded, none opens a capture, none has a descriptor that it has not alone, and each ends
with the same code and output."""
import collections
import os
import re
import subprocess
import sys
import tempfile

PROGRAMS = [
    ("program", "plain"), ("program", "nosync"), ("program", "_exit"), ("program", "exception"),
    ("program", "sigkill"), ("program", "twins"), ("program", "fork-idle"), ("program", "fork-cuda"),
    ("program", "vfork"), ("program", "reset"), ("program", "threads"), ("program", "graph"),
    ("program_rdc", "plain"), ("guest", "assert"), ("guest", "quick-exit"), ("guest", "error"),
    ("guest", "reset-one"), ("guest", "handler"), ("loader", "library.so"),
    ("loader", "library.so", "-", "many.so"), ("loader", "resets.so"),
]


def kind_of(target, folder):
    """Without what differs from run to run."""
    target = re.sub(r"/proc/\d+", "/proc/N", target.replace(folder, "FOLDER"))
    return re.sub(r"(pipe|socket):\[\d+\]", r"\1", target)


def read(folder):
    """Paths opened, and of each kind of descriptor the most that one process had at a time."""
    opened, most, now = [], collections.Counter(), collections.Counter()
    with open(os.path.join(folder, "report"), encoding="utf-8", errors="replace") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "open":
                opened.append(rest.split(" ", 1)[1])
            elif word == "list":
                most |= now
                now = collections.Counter()
            elif word == "held":
                now[kind_of(rest.split(" ", 1)[1], folder)] += 1
    return opened, most | now


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, env=dict(os.environ, INKMARK_SIM_DEVICES="2", KILLED_AFTER_S="2", **environment))
    if done.returncode == 77:
        print(done.stderr.strip())
        sys.exit(77)
    return done


def code_of(done):
    """As a shell has it, which is how record ends."""
    return 128 - done.returncode if done.returncode < 0 else done.returncode


def check(ink, tracer, arming, program, work):
    """What is wrong, a line each."""
    command = [os.path.join(arming, program[0])]
    command += [os.path.join(arming, word) if word.endswith(".so") else word for word in program[1:]]
    results = {}
    simulator = os.path.join(arming, "..", "..", "device", "sim")
    for how in ("alone", "recorded"):
        folder = os.path.join(work, how + "-" + "-".join(w.removesuffix(".so") for w in program))
        os.mkdir(folder)
        traced = [tracer, os.path.join(folder, "report"), *command]
        if how == "alone":
            done = run(traced, folder, LD_LIBRARY_PATH=simulator)
        else:
            done = run([ink, "record", "--device", "sim", "-o", "run.%p.ink", "--", *traced], folder)
            # The one that kills itself after a while may do so before a slow machine has drained it.
            if "sigkill" not in program and not [name for name in os.listdir(folder) if name.endswith(".ink")]:
                yield f"nothing was recorded: {done.stderr.strip()}"
        results[how] = (code_of(done), done.stdout, *read(folder))
    alone, recorded = results["alone"], results["recorded"]
    if alone[:2] != recorded[:2]:
        yield f"code and output are {recorded[:2]}, alone {alone[:2]}"
    for path in recorded[2]:
        if path.endswith(".ink"):
            yield f"opens {path}"
    for kind, count in (recorded[3] - alone[3]).items():
        yield f"has {count} more of {kind}"


def main():
    ink, tracer, arming = map(os.path.abspath, sys.argv[1:4])
    failures = 0
    with tempfile.TemporaryDirectory(prefix="inkmark-traced-") as work:
        for program in PROGRAMS:
            for wrong in check(ink, tracer, arming, program, work):
                failures += 1
                print(f"{' '.join(program)}: {wrong}")
    print(f"{len(PROGRAMS)} programs, {failures} faults")
    sys.exit(1 if failures else 0)


main()
