# SPDX-License-Identifier: MIT
"""What the tests of this folder share: starts `inkmark record` so that whatever it leaves behind (the program,
the writer process) becomes a child of the test, finds the processes, and ends them all when the test ends."""
import ctypes
import os
import signal
import subprocess
import sys
import time

PATIENCE_S = 1800  # for anything to happen at all; never a measure of how fast it is


class Failed(Exception):
    """What a check found."""


def become_parent_of_orphans():
    """Children of processes that end become ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        print("prctl refuses to make this process a parent of orphans: nothing can be checked")
        sys.exit(77)


def stat_of(pid):
    """State, parent and start time of a process; None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1]), fields[19]


def descendants(pid):
    """All processes below that one, by pid."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = stat_of(name)
            if found:
                parents[int(name)] = found[1]
    below, more = set(), {pid}
    while more:
        more = {p for p, parent in parents.items() if parent in more} - below
        below |= more
    return below


def is_running(pid):
    found = stat_of(pid)
    return found is not None and found[0] not in "ZX"


def executable(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def wait_until(condition, what):
    """Until it holds; a test that never comes to its end fails."""
    end = time.monotonic() + PATIENCE_S
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.002)


class Recording:
    """One `inkmark record` with all that is below it. `with` ends what is left."""

    def __init__(self, ink, folder, command, output="run.ink"):
        self.folder, self.ink = folder, os.path.realpath(ink)
        self.capture = os.path.join(folder, output)
        self.out, self.err = (open(os.path.join(folder, n), "w+", encoding="utf-8") for n in ("out", "err"))
        self.statuses = {}
        self.record = subprocess.Popen(
            [ink, "record", "--device", "sim", "-o", self.capture, "--", *command],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, cwd=folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in descendants(os.getpid()):
            if is_running(pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.reap_all()
        self.out.close()
        self.err.close()

    def writers(self):
        """Processes of inkmark other than `record` itself: they write the captures."""
        return [p for p in descendants(os.getpid())
                if p != self.record.pid and executable(p) == self.ink and is_running(p)]

    def reap(self, pid):
        """The wait status of a child; waits for it."""
        if pid not in self.statuses:
            wait_until(lambda: self._reap_one(pid), f"the end of process {pid}")
        return self.statuses[pid]

    def _reap_one(self, pid):
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            found, status = pid, None
        if found:
            self.statuses[pid] = status
        return found

    def reap_all(self):
        """Until nothing that was started is left."""
        def all_gone():
            while True:
                try:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    return True
                if pid == 0:
                    return False
                self.statuses[pid] = status
        wait_until(all_gone, "the end of everything that was started")

    def exit_code(self):
        """Of `record`."""
        status = self.reap(self.record.pid)
        self.record.returncode = os.waitstatus_to_exitcode(status)
        return self.record.returncode

    def said(self, name="err"):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()
