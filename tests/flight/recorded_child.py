# SPDX-License-Identifier: MIT
"""Finds the program below an `inkmark record`, by /proc: `ps` may be missing, and hangs where the sanitizer's
runtime is preloaded."""
import os
import signal


def children_of(recorder):
    with open(f"/proc/{recorder}/task/{recorder}/children") as file:
        return [int(pid) for pid in file.read().split()]


def children_named(recorder, name):
    """Children of the process `recorder` whose own name (comm) is `name`."""
    found = []
    for pid in children_of(recorder):
        try:
            with open(f"/proc/{pid}/comm") as file:
                if file.read().strip() == name:
                    found.append(pid)
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return found


def kill_program(recorder, program):
    """SIGKILL for each child of the process `recorder` that runs the file `program`; how many. The writer process,
    whose command line names the program too, is left alone."""
    killed = 0
    for pid in children_of(recorder):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[0] != os.fsencode(program):
                    continue
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended
    return killed
