# SPDX-License-Identifier: MIT
"""Findings on made-up captures whose truth is known, on even ones (silence), and `report --check`.

check_findings.py INKMARK MADE_UP [SEEDS]: so many of each truth (8), and four times as many even captures"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import schema

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:3])
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 8


def findings(seed, *keys, more=()):
    subprocess.run([made_up, "x.ink", str(seed), *keys], check=True)
    done = subprocess.run([inkmark, "report", "--format", "json", *more, "x.ink"], capture_output=True, text=True, check=True)
    return schema.load(done.stdout)["captures"][0]["findings"]


def one(found, what, seed):
    assert [f["id"] for f in found] == [what], (seed, found)
    return found[0]["numbers"], found[0]["text"]


def late(seed, choose):
    block, factor = choose.randrange(8), choose.choice((4, 10))
    numbers, text = one(findings(seed, f"late={block}:{factor}", f"iterations={choose.choice((1, 5))}"), "late", seed)
    assert numbers["block"] == block and f"block {block} is late" in text and "in LineSearch" in text, text
    assert 0.9 < numbers["cycles"] / numbers["others_mean_cycles"] / factor < 1.1, numbers
    launch = choose.randrange(1, 20)  # in that one alone
    numbers, text = one(findings(seed, f"late={block}:{factor}", f"only={launch + 1}"), "late", seed)
    assert numbers["launch"] == launch and numbers["block"] == block, numbers
    assert 0.9 < numbers["cycles"] / numbers["others_mean_cycles"] / factor < 1.1, numbers


def held(seed, choose):
    """A late block whose others wait for it: how long, and in which section, where that one waits by its name."""
    block, factor, rounds = choose.randrange(8), choose.choice((4, 10)), choose.choice((1, 5))
    keys = [f"late={block}:{factor}", f"iterations={rounds}", "held=1"]
    numbers, text = one(findings(seed, *keys, more=("--waits", "^steplast$")), "late", seed)
    excess = numbers["cycles"] - numbers["others_mean_cycles"]
    assert 0.9 < numbers["held_cycles"] / excess < 1.1 and numbers["held_passes"] == rounds, numbers
    assert f"block {block} is late" in text and f"and holds them {numbers['held_cycles']:.0f} cycles each in StepLast" in text, text
    numbers, text = one(findings(seed, *keys), "late", seed)
    assert "held_cycles" not in numbers and "holds" not in text, text
    numbers, text = one(findings(seed, *keys[:2], more=("--waits", "^steplast$")), "late", seed)  # nobody waits for it
    assert "held_cycles" not in numbers and "holds" not in text, text


def tail(seed, choose):
    slots = choose.choice((4, 7, 16))
    blocks = slots + 1
    numbers, text = one(findings(seed, f"slots={slots}", f"blocks={blocks}", "launches=3"), "tail", seed)
    assert numbers["slots"] == slots and numbers["blocks"] == blocks and numbers["waves"] == 2, numbers
    assert abs(numbers["used_share"] - blocks / (2 * slots)) < 0.02 and "2 waves" in text, text
    assert abs(numbers["last_wave_share"] - 1 / slots) < 1e-9
    assert numbers["start_skew_ns"] == 0 and numbers["in_order_share"] == 1, numbers
    ends = sm_ends(numbers["launch"])
    behind = max(ends.values()) - sum(ends.values()) / len(ends)
    assert numbers["last_sm"] == max(ends, key=ends.get) and abs(numbers["last_sm_behind_ns"] - behind) < 5, (numbers, ends)
    assert f"SM {numbers['last_sm']} ends last, {100 * behind / numbers['elapsed_ns']:.0f} % of the launch behind" in text, (text, behind)
    # slots that begin one after another, on four SMs; and blocks in the reverse order of their numbers
    numbers, _ = one(findings(seed, f"slots={slots}", f"blocks={blocks}", "launches=3", "stagger=20", "reversed=1"), "tail", seed)
    assert abs(numbers["start_skew_ns"] - 20 * min(slots - 1, 3)) < 2 and numbers["in_order_share"] == 0, numbers


def sm_ends(launch):
    """When each SM closed its last track, in ns."""
    done = subprocess.run([inkmark, "export", "-q", "-f", "csv", "--launch", str(launch), "x.ink", "-o", "-"], capture_output=True, text=True,
                          check=True)
    ends = {}
    for row in csv.DictReader(done.stdout.splitlines()):
        ends[int(row["sm"])] = max(ends.get(int(row["sm"]), 0), int(row["ns"]))
    return {sm: ns - min(ends.values()) for sm, ns in ends.items()}


def outlier(seed, choose):
    iteration = choose.randrange(60)
    numbers, text = one(findings(seed, "iterations=60", "launches=2", f"outlier={iteration}:9"), "outlier", seed)
    assert numbers["iteration"] == iteration and f"iteration {iteration} of LineSearch took" in text, text
    assert 8 < numbers["max_cycles"] / numbers["median_cycles"] < 10.5, numbers


def first(seed, choose):
    factor = choose.choice((2, 5))
    numbers, text = one(findings(seed, f"drift={factor}", f"launches={choose.choice((6, 20))}"), "first-launch", seed)
    assert numbers["launch"] == 0 and 0.85 < numbers["track_cycles"] / numbers["others_median_cycles"] / factor < 1.15


def even():
    choose = random.Random(1)
    for seed in range(4 * SEEDS):
        keys = [f"blocks={choose.choice((1, 8, 64))}", f"iterations={choose.choice((1, 10))}",
                f"launches={choose.choice((1, 2, 20))}"]
        found = findings(seed + 900, *keys)
        assert not found, (seed, keys, found)


def opening():
    """What opening and closing a track take is no unused time of the slots: short blocks are no tail."""
    keys = ["slots=8", "blocks=64", "launches=3"]
    assert [f["id"] for f in findings(1, *keys, "mark=1000", "track=4000")] == []
    found = findings(1, "slots=8", "blocks=9", "launches=3", "mark=1000", "track=4000")
    assert [f["id"] for f in found] == ["tail"] and found[0]["numbers"]["waves"] == 2, found


def silenced():
    """Each by its id, alone and in a list; an id that there is not is no silence."""
    def run(*more, code=0):
        done = subprocess.run([inkmark, "report", *more, "x.ink"], capture_output=True, text=True)
        assert done.returncode == code, (more, done)
        return done.stdout + done.stderr
    for name, keys in (("late", ["late=3:10"]), ("tail", ["slots=4", "blocks=5", "launches=3"]),
                       ("outlier", ["iterations=60", "launches=2", "outlier=7:9"]), ("first-launch", ["drift=5"])):
        subprocess.run([made_up, "x.ink", "1", *keys], check=True)
        assert f"[{name}]" in run() and f"[{name}]" in run("-q") and f"[{name}]" in run("--silence", "wait")
        for silence in (name, f"wait,{name}", f"{name},wait"):
            assert f"[{name}]" not in run("--silence", silence) and "findings" not in run("--silence", silence), silence
    assert run("--by", "block").count("findings") == 0
    for wrong in ("lat", "latex", "first"):
        assert f"not '{wrong}'" in run("--silence", f"tail,{wrong}", code=2)
    assert "[late]" not in run("--silence", "late,")


def checks():
    subprocess.run([made_up, "x.ink", "1"], check=True)
    def check(expression, code, words=""):
        done = subprocess.run([inkmark, "report", "-q", "--check", expression, "x.ink"], capture_output=True, text=True)
        assert done.returncode == code and words in done.stderr, (expression, done.returncode, done.stderr)
    rows = schema.load(subprocess.run([inkmark, "report", "--format", "json", "x.ink"], capture_output=True, text=True,
                                      check=True).stdout)["captures"][0]["kernels"][0]["rows"]
    p99 = next(r for r in rows if r["section"] == "Hessian")
    check(f"Step/Hessian p99 <= {p99['p99_cycles']}", 0)
    check(f"Step/Hessian p99 < {p99['p99_cycles']}", 3, "does not hold")
    check(f"Step/Hessian p99 <= {p99['p99_ns'] / 1000 + 0.001}us", 0)
    check(f"Step/Hessian max < {p99['max_ns'] / 1e6 - 0.00001}ms", 3)
    check(f"Step/Hessian p99 <= {p99['p99_ns'] / 1000 + 0.001} us", 0)
    check(f"Step/Hessian p99 < {p99['p99_cycles']} cycles", 3)
    check("Step/Hessian share < 50 %", 0)
    check("Step/Hessian share < 50%", 0)
    check("Step/Hessian imbalance >= 1", 0)
    check("Step/Nothing p99 < 1", 1, "no section 'Nothing'")
    for wrong in ("Step p99 < 1", "Step/Hessian p98 < 1", "Step/Hessian p99 = 1", "Step/Hessian p99 < many",
                  "Step/Hessian count < 5us", "Step/Hessian share < 5"):
        check(wrong, 2, "cannot check")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check_one in (late, held, tail, outlier, first):
        for number in range(SEEDS):
            check_one(number + 1, random.Random(f"{check_one.__name__} {number}"))
        print("ok:", check_one.__name__)
    for check_all in (even, opening, silenced, checks):
        check_all()
        print("ok:", check_all.__name__)
