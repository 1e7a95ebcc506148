# SPDX-License-Identifier: MIT
"""check_histories.py BUILD BIN MODE FIRST_SEED COUNT: records random histories (histories.cu) with `inkmark record
--MODE` and holds what the capture says of every track against the simulator's log: no word of another track, none
out of its order, none twice, counts that are exact, and everything that ended before the end is there."""
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

from ink_file import CLOSED, LOST_BEFORE, LOW, UNWRITTEN, Capture, Log, records
from recorded_child import kill_program

BUILD, BIN, MODE, FIRST, COUNT = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
MODES = {"plain": [], "flight": ["--flight"], "hang": ["--hang", "200ms"], "live": ["--live"],
         "all": ["--flight", "--live", "--hang", "300ms"]}
seen = collections.Counter()


class Wrong(Exception):
    pass


def require(holds, text):
    if not holds:
        raise Wrong(text)


def is_subsequence_at(clocks, reads):
    """All of `clocks`, in rising order, are among `reads`."""
    there = set(reads)
    require(all(a < b for a, b in zip(clocks, clocks[1:])), f"clocks fall: {clocks[:8]}")
    strange = [c for c in clocks if c not in there]
    require(not strange, f"{len(strange)} of {len(clocks)} stamps were never read by this thread: {strange[:4]}")


def check_words(words, track, reads):
    """Of a piece that ends with a whole record; the clocks of its records."""
    if not words:
        return []
    upper = track.open1 & ~LOW
    found = records(words, upper)
    require(found is not None, "a word that is no record")
    clocks = [clock for _, _, clock in found]
    is_subsequence_at(clocks, reads[2:])
    seen["records"] += len(clocks)
    return clocks


def check_parts(track, parts, reads):
    """Each record once and in order; between two that join no record of the ring is left out."""
    for ring in (0, 1):
        end, clocks = 0, []
        for part in (p for p in parts if p.ring == ring):
            seen["parts"] += 1
            require(part.first >= end, f"part at {part.first} overlaps the one before, to {end}")
            more = check_words(part.words, track, reads)
            require(not clocks or not more or more[0] > clocks[-1], "a part before the one before it")
            if part.first == 0:
                require(sum(r[1] for r in records(part.words, track.open1 & ~LOW)) == len(part.words),
                        "the first part begins inside of a record")
            seen["lost parts"] += bool(part.flags & LOST_BEFORE)
            clocks += more
            end = part.first + len(part.words)


def check_closed(track, parts, reads, ring_words):
    seen["closed"] += 1
    marks = track.words - track.extra + track.aux_words - track.aux_extra
    require(len(reads) >= 4, "closed, but the log has no closing of it")
    require(marks == len(reads) - 4, f"{marks} marks counted, {len(reads) - 4} executed")
    require(len(track.body) == min(track.words, ring_words), "words are missing")
    kept = check_words(track.body, track, reads) + check_words(track.aux, track, reads)
    if track.words <= ring_words and track.aux_words <= ring_words:
        require(sorted(kept) == sorted(reads[2:-2]), "a record is missing")
    exact = True
    for part in parts:
        exact = exact and not part.flags & LOST_BEFORE
        total = track.aux_words if part.ring else track.words
        require(part.first + len(part.words) <= total, "more words than were executed")
        held = track.aux if part.ring else track.body
        for i, word in enumerate(part.words):
            at = part.first + i - (total - len(held))
            if exact and at >= 0:
                require(held[at] == word, f"word {part.first + i} is another one than at the end")


def check_open(track, reads):
    seen["open"] += 1
    body, aux = check_words(track.body, track, reads), check_words(track.aux, track, reads)
    if track.flags & 4 and not track.flags & 1 and MODE != "live":
        seen["open whole"] += 1
        executed = sorted(body + aux)
        require(executed == sorted(reads[2:2 + len(executed)]), "records are missing in between")


def check(capture, log, ring_words):
    by_track, parts = {}, collections.defaultdict(list)
    for t in capture.tracks:
        key = (t.ticket, t.open0)
        if key in by_track and by_track[key].state == CLOSED:
            seen["twice"] += 1
        if t.state == CLOSED or key not in by_track or by_track[key].state != CLOSED:
            by_track[key] = t
    for p in capture.parts:
        parts[(p.ticket, p.open0)].append(p)
    captured = collections.Counter()
    for key, t in by_track.items():
        reads = log.reads[(t.grid, t.block)]
        require(reads[:2] == [t.open0, t.open1], f"grid {t.grid} block {t.block}: opening {t.open0}, {t.open1}, "
                f"read {reads[:2]}")
        try:
            check_parts(t, parts[key], reads)
            if t.state == CLOSED:
                check_closed(t, parts[key], reads, ring_words)
            else:
                check_open(t, reads)
        except Wrong as wrong:
            raise Wrong(f"grid {t.grid} block {t.block} ticket {t.ticket} state {t.state}: {wrong}") from wrong
        captured[t.grid] += 1
    require(all(key in by_track for key in parts), "a part of a track that is not there")
    return captured


def check_counts(capture, captured, log, whole, killed, lossless):
    """Of kernels that ended: every block is there, or counted as missed (or, plain, as used again). The counts of a
    program that was killed are those of the last drain that was whole: tracks may be there that they have not."""
    missed, closed = (sum(c[i] for c in capture.counts.values()) for i in (0, 1))
    stored = sum(1 for t in set((t.ticket, t.open0) for t in capture.tracks if t.state == CLOSED))
    ours = [g for g in log.done if log.grids[g][0].startswith("_Z4kern")]
    ran = sum(log.grids[g][1] for g in ours)
    if lossless:
        require(stored == closed or not whole, f"{stored} closed tracks stored, {closed} counted")
        require(stored <= closed or killed, f"{stored} closed tracks stored, {closed} counted")
    opened = sum(captured[g] for g in ours)
    require(opened <= ran, "more tracks than blocks")
    if whole and lossless:
        require(opened + missed == ran, f"{ran} blocks ran, {opened} are there, {missed} are counted as missed")
    seen["missed"] += missed


def run_one(seed, folder):
    dice = random.Random(seed)
    ring = dice.choice([4, 8, 16, 32, 64])
    tracks = dice.choice([4, 16, 64])
    ends = ["good", "good", "kill", "spin"] + (["trap", "illegal", "trap"] if "--flight" in MODES[MODE] else [])
    end = dice.choice(ends)
    program = "good" if end == "kill" else end
    rounds = dice.choice([0, 0, 0, 4000, 20000])
    output, log = os.path.join(folder, "h.ink"), os.path.join(folder, "h.log")
    environment = dict(os.environ, INKMARK_SIM_LOG=log, INKMARK_SIM_LOG_LANES="1", INKMARK_SIM_SEED=str(seed),
                       INKMARK_SIM_SKEW_CYCLES=str(dice.choice([0, 1000, 10**6])))
    command = [os.path.join(BUILD, "cli", "inkmark"), "record", "--device", "sim", "-o", output, "-r", str(ring), "-t",
               str(tracks), "--drain-ms", str(dice.choice([1, 3, 20])), "--blocks", "all", *MODES[MODE], "--",
               os.path.join(BIN, "histories"), str(seed), str(dice.randrange(1, 12)), program, str(rounds)]
    for old in (output, log):
        if os.path.exists(old):
            os.unlink(old)
    run = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           start_new_session=True)
    if end in ("kill", "spin"):
        if end == "spin":
            run.stdout.readline()
        time.sleep(dice.random() * 0.4)  # any moment will do
        kill_program(run.pid, os.path.join(BIN, "histories"))
    said = run.communicate()[1]
    seen["runs, " + end] += 1
    if not os.path.exists(output):
        require(end in ("kill", "spin"), f"no capture: {said}")
        return f"{end}, nothing captured"
    capture = Capture(output)
    truth = Log(log)
    captured = check(capture, truth, ring)
    check_counts(capture, captured, truth, end == "good", end in ("kill", "spin"), MODE != "plain")
    return end


def judged(seed):
    """In a process of the pool: what was wrong, or None; and what was seen."""
    seen.clear()
    with tempfile.TemporaryDirectory() as folder:
        try:
            run_one(seed, folder)
        except Wrong as wrong:
            return str(wrong), seen
    return None, seen


def main():
    # they wait more than they compute
    with concurrent.futures.ProcessPoolExecutor(min(2 * (os.cpu_count() or 1), COUNT)) as pool:
        for seed, (wrong, what) in zip(range(FIRST, FIRST + COUNT), pool.map(judged, range(FIRST, FIRST + COUNT))):
            seen.update(what)
            if wrong:
                pool.shutdown(wait=False, cancel_futures=True)
                sys.exit(f"FAILED: --{MODE}, seed {seed}: {wrong}")
    print(f"{MODE}: {COUNT} histories,", ", ".join(f"{n} {what}" for what, n in sorted(seen.items())))
    if not seen["closed"] or not seen["records"]:
        sys.exit("FAILED: nothing was checked")


main()
