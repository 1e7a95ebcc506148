# SPDX-License-Identifier: MIT
"""filtered.py INK PROGRAM COUNTS: a program that filters its own system calls after it was armed (filtered.cu)
runs and ends recorded as it does alone, in each of its ways to end, and its capture is whole."""
import os
import subprocess
import sys
import tempfile

WAYS = ["return", "exit", "_exit", "quick_exit", "abort"]
WANTED = "devices 1 launches 20 tracks 40 marks 40 kept 40 lost 0 missed 0 problems 0 complete 1"


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
check=False, env=dict(os.environ, **environment))
    return (128 - done.returncode if done.returncode < 0 else done.returncode, done.stdout), done.stderr


def faults_of(way, ink, program, counts, folder):
    simulator = os.path.join(os.path.dirname(ink), "..", "device", "sim")
    alone, said = run([program, way], folder, LD_LIBRARY_PATH=simulator)
    if alone[0] == 77:
        print(said.strip())
        sys.exit(77)
    if alone[1] != "begun\ndone\n":
        yield f"alone: {alone}: {said.strip()}"
    recorded, said = run([ink, "record", "--device", "sim", "-o", "run.ink", "--", program, way], folder)
    if recorded != alone:
        yield f"{recorded}, alone {alone}: {said.strip()}"
    counted, why = run([counts, "run.ink"], folder)
    if counted != (0, WANTED + "\n"):
        yield f"captured {counted[1].strip()} {why.strip()}, expected {WANTED}"


def main():
    ink, program, counts = map(os.path.abspath, sys.argv[1:4])
    failures = 0
    for way in WAYS:
        with tempfile.TemporaryDirectory(prefix="inkmark-filtered-") as folder:
            for fault in faults_of(way, ink, program, counts, folder):
                failures += 1
                print(f"{way}: {fault}")
    print(f"{len(WAYS)} ways to end, {failures} faults")
    sys.exit(1 if failures else 0)


main()
