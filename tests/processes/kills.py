# SPDX-License-Identifier: MIT
"""kills.py INK PROGRAM ROWS WHOM COUNT [SEED]: kills WHOM (program, record, writer or all) with SIGKILL at COUNT
random moments of a recording and holds what is left against the program's own log.

program  everything that was closed 300 ms before the kill is in the capture
record   nothing is lost: the program ends as it would have, the capture is whole
writer   the program ends as it would have, with its output; the capture holds whole tracks only, and everything
         that was closed 300 ms before the kill
all      program, writer and every second time `record` too, as the end of a cgroup does: the same of the capture;
         what it lacks is said by `record`, where it lives, and by every reader

Never is a track there twice, or one that was not launched.

How the 300 ms are free of the machine's speed: the program logs a beat every 5 ms, each of which waits for the
CPU and for the runtime's lock as the recording's own thread does. What beats are late by is time that the
machine took. It is added, three times over since a drain makes several calls, to the 300 ms. On an idle machine
that is next to nothing; on a busy one the bound grows with what was taken, and no further."""
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from family import Failed, Recording, become_parent_of_orphans, wait_until

BOUND_NS = 300_000_000
BEAT_NS = 5_000_000
LATE_NS = 1_000_000  # what a beat may be late by on an idle machine
LAUNCHES_MAX, BEATS_MAX = 4096, 65536
BLOCKS = 2


class Log:
    """What the program wrote of itself: struct journal of kills.cu."""

    def __init__(self, path):
        self.path = path

    def numbers(self, first, count):
        try:
            with open(self.path, "rb") as file:
                file.seek(8 * first)
                data = file.read(8 * count)
        except FileNotFoundError:
            data = b""
        return struct.unpack(f"{len(data) // 8}Q", data) or (0,) * count

    def head(self):
        """pid, launches, beats, over"""
        return self.numbers(0, 4)

    def ended(self):
        return self.numbers(4, self.head()[1]) if self.head()[1] else ()

    def beats(self):
        return self.numbers(4 + LAUNCHES_MAX, self.head()[2]) if self.head()[2] else ()


def taken_ns(beats, begin, end):
    """How much of that time the machine took from the program's heart."""
    taken = 0
    for one, following in zip(beats, beats[1:] + (end,)):
        if following > begin and one < end:
            taken += max(0, following - one - BEAT_NS - LATE_NS)
    return taken


def rows_of(rows_tool, capture):
    """Row -> whole tracks, and whether the capture has its end. None: there is no capture."""
    if not os.path.exists(capture):
        return {}, False
    done = subprocess.run([rows_tool, capture], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"the capture is not readable: {done.stderr.strip()}")
    *lines, last = done.stdout.splitlines()
    return {int(row): int(tracks) for row, tracks in map(str.split, lines)}, last == "complete 1"


def check_rows(rows, launched):
    for row, tracks in rows.items():
        if row > launched:  # one may run that is not logged yet
            raise Failed(f"row {row} of {launched} launches")
        if tracks > BLOCKS:
            raise Failed(f"row {row} has {tracks} tracks of {BLOCKS}")


def check_whole(rows, complete, launches):
    missing = [row for row in range(launches) if rows.get(row) != BLOCKS]
    if missing or not complete:
        raise Failed(f"{len(missing)} of {launches} launches are missing, the first {missing[:5]}; "
                     f"complete: {complete}")


def check_output(recording, launches):
    said = recording.said("out")
    if said != f"did {launches} launches\n":
        raise Failed(f"the program said {said!r}")


def at_a_moment(log, draw, launches):
    """Waits for a random moment in the program's life."""
    wanted = draw.randrange(0, launches - 1)
    wait_until(lambda: log.head()[0] and log.head()[1] >= wanted, f"launch {wanted}")
    time.sleep(draw.random() * 0.02)


def kill_now(pid, log):
    """A program that has said that it is over may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        if not log.head()[3]:
            raise Failed(f"process {pid} was gone before it was over") from None


def kill_program(run, log, draw, launches, tool):
    at_a_moment(log, draw, launches)
    pid, *_ = log.head()
    killed_ns = time.monotonic_ns()
    kill_now(pid, log)
    code = run.exit_code()
    if code not in (-signal.SIGKILL, 7):  # 7: it had just ended
        raise Failed(f"record ended with {code}")
    run.reap_all()
    ended, beats = log.ended(), log.beats()
    rows, _ = rows_of(tool, run.capture)
    check_rows(rows, len(ended))
    return check_due(rows, ended, beats, killed_ns)


def check_due(rows, ended, beats, killed_ns):
    """What was closed in time before the kill is there; how many launches that were."""
    due = [i for i, at in enumerate(ended) if killed_ns - at > BOUND_NS + 3 * taken_ns(beats, at, killed_ns)]
    lost = [i for i in due if rows.get(i) != BLOCKS]
    if lost:
        age, taken = killed_ns - ended[lost[0]], taken_ns(beats, ended[lost[0]], killed_ns)
        raise Failed(f"{len(lost)} of {len(due)} launches that were over in time are lost, the first {age // 1_000_000} "
                     f"ms before the kill, of which the machine took {taken // 1_000_000}")
    return len(due)


def kill_record(run, log, draw, launches, tool):
    at_a_moment(log, draw, launches)
    pid = log.head()[0]
    os.kill(run.record.pid, signal.SIGKILL)
    run.reap(run.record.pid)
    status = run.reap(pid)  # an orphan now, so ours, unless it had ended and `record` knew
    if status is None and not log.head()[3] or status is not None and os.waitstatus_to_exitcode(status) != 7:
        raise Failed(f"the program ended with status {status}")
    run.reap_all()  # the writer too ends by itself
    check_output(run, launches)
    rows, complete = rows_of(tool, run.capture)
    check_rows(rows, launches)
    check_whole(rows, complete, launches)
    return launches


def kill_writer(run, log, draw, launches, tool):
    at_a_moment(log, draw, launches)
    writers = run.writers()
    if len(writers) != 1 and not log.head()[3]:
        raise Failed(f"{len(writers)} writer processes")
    killed_ns = time.monotonic_ns()
    for pid in writers:
        os.kill(pid, signal.SIGKILL)
    code = run.exit_code()
    if code != 7:
        raise Failed(f"record ended with {code}, the program's code is 7")
    run.reap_all()
    check_output(run, launches)
    rows, _ = rows_of(tool, run.capture)
    check_rows(rows, launches)
    if os.path.exists(run.capture):
        done = subprocess.run([run.ink, "info", run.capture], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"info ends with {done.returncode}: {done.stderr}")
    return check_due(rows, log.ended(), log.beats(), killed_ns)


def kill_all(run, log, draw, launches, tool):
    at_a_moment(log, draw, launches)
    pid, with_record = log.head()[0], draw.random() < 0.5
    over, doomed = log.head()[3], run.writers() + [pid] + [run.record.pid] * with_record
    draw.shuffle(doomed)
    killed_ns = time.monotonic_ns()
    for one in doomed:
        kill_now(one, log)
    code = run.exit_code()
    if code not in (-signal.SIGKILL, 7):
        raise Failed(f"record ended with {code}")
    run.reap_all()
    rows, complete = rows_of(tool, run.capture)
    check_rows(rows, len(log.ended()))
    said = run.said()
    gone = "the writer process is gone" in said and "what it had not written is lost" in said
    told = gone or "ended by signal 9 (SIGKILL)" in said or "nothing was recorded" in said
    if not with_record and not over and not told:  # it may have been quicker
        raise Failed(f"record does not tell: {said}")
    if os.path.exists(run.capture) and not complete:
        done = subprocess.run([run.ink, "info", run.capture], capture_output=True, text=True, check=False)
        if done.returncode or not any(
                words in done.stderr for words in ("the end is missing", "killed by signal 9")):
            raise Failed(f"info ends with {done.returncode} and does not tell: {done.stderr}")
    return check_due(rows, log.ended(), log.beats(), killed_ns)


def main():
    ink, program, tool = map(os.path.abspath, sys.argv[1:4])
    whom, count = sys.argv[4:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    kill = {"program": kill_program, "record": kill_record, "writer": kill_writer, "all": kill_all}[whom]
    become_parent_of_orphans()
    failures = judged = number = 0
    # on a busy machine a kill may come before anything is old enough to be judged: then there are some more
    while number < int(count) or (not judged and number < int(count) + 30):
        draw = random.Random(f"{seed} {whom} {number}")
        launches = draw.randrange(30, 60) if whom == "record" else draw.randrange(30, 250)
        folder = tempfile.mkdtemp(prefix="inkmark-kills-")
        log = Log(os.path.join(folder, "log"))
        try:
            with Recording(ink, folder, [program, log.path, str(launches), str(draw.randrange(1 << 30))]) as run:
                judged += kill(run, log, draw, launches, tool)
        except Failed as failed:
            failures += 1
            print(f"kill {number} of {whom} (seed {seed}): {failed}")
            for name in ("out", "err"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    print("".join(f"  {name}: {line}" for line in file))
        shutil.rmtree(folder)
        number += 1
    print(f"{whom}: {number} kills, {failures} failed, {judged} launches judged")
    if not judged:
        print("FAILED: nothing could be judged")
        failures += 1
    sys.exit(1 if failures else 0)


main()
