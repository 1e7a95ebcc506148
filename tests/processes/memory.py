# SPDX-License-Identifier: MIT
"""memory.py INK CHILDREN COUNTS COUNT: records programs that start 10 and COUNT children, each of which records
too. Each child's capture is there and whole; the writer needs no more memory for COUNT than for 10 (its highest
resident size, in which what it shares with the programs is counted) and no more descriptors."""
import glob
import os
import subprocess
import sys
import tempfile

from family import Failed, Recording, become_parent_of_orphans, is_running

MORE_KIB = 16 << 10
WANTED = "devices 1 launches 1 tracks 2 marks 2 kept 2 lost 0 missed 0 problems 0 complete 1\n"


def peaks_of(pid):
    """Highest resident size in KiB, and descriptors open now; zeros where it is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            high = [int(line.split()[1]) for line in file if line.startswith("VmHWM:")]
        return (high or [0])[0], len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0, 0


def record(ink, children, counts, count, how):
    """The writer's peaks, after the captures were checked."""
    with tempfile.TemporaryDirectory(prefix="inkmark-memory-") as folder:
        with Recording(ink, folder, [children, str(count), how], output="run.%p.ink") as run:
            memory = descriptors = 0
            while is_running(run.record.pid):
                for pid in run.writers():
                    high, open_now = peaks_of(pid)
                    memory, descriptors = max(memory, high), max(descriptors, open_now)
            code = run.exit_code()
            run.reap_all()
            if code or run.said("out") != f"{count} children\n":
                raise Failed(f"{how} {count}: code {code}: {run.said('out')}{run.said()}")
            if not memory:
                raise Failed(f"{how} {count}: no writer process was seen")
        whole = [name for name in glob.glob(os.path.join(folder, "*.ink"))
                 if subprocess.run([counts, name], capture_output=True, text=True, check=False).stdout == WANTED]
        if len(whole) != count:
            raise Failed(f"{how}: {len(whole)} whole captures of {count} children")
        return memory, descriptors


def main():
    ink, children, counts = map(os.path.abspath, sys.argv[1:4])
    count, failures = int(sys.argv[4]), 0
    become_parent_of_orphans()
    for how in ("fork", "spawn"):
        try:
            few, many = (record(ink, children, counts, n, how) for n in (10, count))
            print(f"{how}: {few[0]} KiB and {few[1]} descriptors for 10 children, {many[0]} and {many[1]} for {count}")
            if many[0] > few[0] + MORE_KIB or many[1] > few[1] + 8:
                raise Failed(f"{how}: grows with the number of children")
        except Failed as failed:
            failures += 1
            print(f"FAILED: {failed}")
    sys.exit(1 if failures else 0)


main()
