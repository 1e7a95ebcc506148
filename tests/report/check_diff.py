# SPDX-License-Identifier: MIT
"""`inkmark diff` on made-up pairs: how often equal ones give an alarm, how often a section that is 5 % slower is
named; that pairs that cannot be compared are refused; all forms of output.

check_diff.py INKMARK MADE_UP [PAIRS]: so many equal pairs (60), and a tenth of them slower ones"""
import json
import os
import subprocess
import sys
import tempfile

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:3])
PAIRS = int(sys.argv[3]) if len(sys.argv) > 3 else 60


def make(path, seed, *keys):
    subprocess.run([made_up, path, str(seed), *keys], check=True)
    return path


def diff(*arguments, code=0):
    done = subprocess.run([inkmark, "diff", *arguments], capture_output=True, text=True)
    assert done.returncode == code or code is None, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def rows(*arguments, code=0):
    done = diff("--format", "json", *arguments, code=code)
    def no_number(text):
        raise AssertionError(text)
    return json.loads(done.stdout, parse_constant=no_number), done.returncode


def false_alarms():
    alarms = 0
    for pair in range(PAIRS):
        make("a.ink", 2 * pair + 1000)
        make("b.ink", 2 * pair + 1001)
        found, code = rows("a.ink", "b.ink", code=None)
        assert found["tested"] == 6 and code in (0, 3) and (code == 3) == (found["slower"] > 0)
        alarms += found["slower"] + found["faster"] > 0
    allowed = max(1, PAIRS // 50)
    assert alarms <= allowed, f"{alarms} alarms in {PAIRS} equal pairs"
    print(f"{alarms} alarms in {PAIRS} equal pairs, {allowed} allowed")


def power():
    pairs, named = max(20, PAIRS // 10), 0
    for pair in range(pairs):
        section = 1 + pair % 5
        make("a.ink", 2 * pair + 50000)
        make("b.ink", 2 * pair + 50001, f"slower={section}:1.05")
        found, code = rows("a.ink", "b.ink", code=None)
        names = ["LineSearch", "UpdateConstraint", "Hessian", "Gradient", "StepLast"]
        seen = {r["section"]: r for r in found["rows"]}[names[section - 1]]
        assert seen["ratio_low"] <= seen["ratio"] <= seen["ratio_high"]
        named += seen["verdict"] == "slower" and code == 3
    assert named * 100 >= 95 * pairs or (pairs < 100 and named >= pairs - 2), f"{named} of {pairs} are named"
    print(f"{named} of {pairs} slower sections are named")


def verdicts():
    make("a.ink", 1)
    make("b.ink", 2, "slower=2:1.2", "slower=3:0.8")
    found, _ = rows("a.ink", "b.ink", code=3)
    seen = {r["section"]: r["verdict"] for r in found["rows"]}
    assert seen["UpdateConstraint"] == "slower" and seen["Hessian"] == "faster" and seen["LineSearch"] == "same", seen
    diff("--fail-over", "30%", "a.ink", "b.ink")
    diff("--fail-over", "5", "a.ink", "b.ink", code=3)
    text = diff("a.ink", "b.ink", code=3).stdout
    assert "slower" in text and "3 sections are the same (--all)" in text, text
    page = diff("--format", "html", "a.ink", "b.ink", code=3).stdout
    assert page.startswith("<!doctype html>") and "UpdateConstraint" in page
    assert "**slower**" in diff("--format", "markdown", "a.ink", "b.ink", code=3).stdout
    few = make("c.ink", 3, "launches=2"), make("d.ink", 4, "launches=2", "slower=2:3")
    found, _ = rows(*few)
    assert {r["verdict"] for r in found["rows"]} == {"too few samples"} and not found["tested"]
    assert all(r["ratio"] and r["ratio_low"] is None and r["ratio_high"] is None for r in found["rows"]), found["rows"]
    for form in ("text", "markdown", "html"):
        shown = diff("--format", form, "--all", *few).stdout
        line = next(line for line in shown.splitlines() if "UpdateConstraint" in line)
        assert line.count("%") == 1 and " to " not in line, line
    assert "about 7 launches a side are needed" in diff(*few).stdout
    assert "'--fail-over 5%' cannot be judged" in diff("--fail-over", "5%", *few, code=1).stderr
    runs = [make(f"r{i}.ink", 100 + i) for i in range(14)]
    found, _ = rows(*runs[:7], "--", *runs[7:])
    assert found["base"]["samples"] == "runs" and found["rows"][0]["base_samples"] == 7
    found, _ = rows(*runs[:2], "--", *runs[2:5])
    assert found["base"]["samples"] == "launches" and found["rows"][0]["new_samples"] == 60
    found, _ = rows(*runs[:7], "--", *runs[7:9])  # medians of one side are not held against launches of the other
    assert found["base"]["samples"] == found["new"]["samples"] == "launches", found["base"]
    assert found["rows"][0]["base_samples"] == 140 and found["rows"][0]["new_samples"] == 40, found["rows"][0]


def parameters():
    """A kernel whose parameters were changed is the same kernel, if it has one instance on each side; and that is said."""
    make("a.ink", 1, "instance=1")
    make("b.ink", 2, "instance=2", "slower=2:1.2")
    found, _ = rows("a.ink", "b.ink", code=3)
    seen = {r["section"]: r for r in found["rows"]}
    assert seen["UpdateConstraint"]["verdict"] == "slower" and seen["Hessian"]["verdict"] == "same", seen
    assert {(r["instance"], r["instance_now"]) for r in found["rows"]} == {("void step(float *, int)", "void step(float *, int, int)")}
    assert "as void step(float *, int), now void step(float *, int, int) (guessed)" in diff("a.ink", "b.ink", code=3).stdout
    assert r"now void step(float \*, int, int) (guessed)" in diff("-f", "markdown", "a.ink", "b.ink", code=3).stdout
    assert "now void step(float *, int, int) (guessed)" in diff("-f", "html", "a.ink", "b.ink", code=3).stdout
    make("c.ink", 3, "slower=2:1.2")  # recorded before captures had names of functions
    assert rows("a.ink", "c.ink", code=3)[0]["slower"] and "without its function's name" in diff("a.ink", "c.ink", code=3).stdout
    make("d.ink", 4, "instance=3")  # two on a side: neither is it
    found, _ = rows("a.ink", "--", "b.ink", "d.ink")
    assert {r["verdict"] for r in found["rows"]} == {"only in base", "only in new"} and not found["tested"], found["rows"]
    assert {r["instance_now"] for r in found["rows"]} == {None}
    assert "no section is on both sides" in diff("a.ink", "--", "b.ink", "d.ink").stdout
    found, _ = rows("b.ink", "--", "b.ink", "d.ink")
    assert found["tested"] == 6 and {r["instance_now"] for r in found["rows"]} == {None}, found


def refusals():
    assert "needs two captures" in diff("a.ink", code=2).stderr
    assert "after '--'" in diff("a.ink", "--", code=2).stderr
    assert "takes a percentage" in diff("--level", "x", "a.ink", "b.ink", code=2).stderr
    diff("a.ink", "none.ink", code=1)
    # what each is refused for, with both values; --force compares it, and every form says so
    for keys, words in ((("device=7",), "other devices, synthetic device and device of type 7"),
                        (("simulated=0",), "one is of the simulated device, simulated and a GPU"),
                        (("warps=1",), "tracks are of other threads, blocks and warps"),
                        (("rate=1.05",), "other clock rates, 1000 and 1050 MHz"),
                        (("mark=15000",), "a mark costs otherwise, 10.0 and 15.0 cycles")):
        make("a.ink", 1, "mark=10000")
        make("o.ink", 2, *([] if keys[0].startswith("mark") else ["mark=10000"]), *keys)
        for sides in (("a.ink", "o.ink"), ("a.ink", "a.ink", "--", "a.ink", "o.ink"), ("a.ink", "o.ink", "--", "a.ink")):
            done = diff(*sides, code=1)
            assert f"cannot be compared: {words}; --force" in done.stderr and not done.stdout, (sides, done)
        forced = diff("--force", "a.ink", "o.ink", code=None)
        assert forced.returncode in (0, 3) and "forced: these captures were not made alike" in forced.stdout, forced
        assert "Forced" in diff("--force", "--format", "markdown", "a.ink", "o.ink", code=None).stdout
        assert "forced" in diff("--force", "--format", "html", "a.ink", "o.ink", code=None).stdout
        assert rows("--force", "a.ink", "o.ink", code=None)[0]["forced"] is True
    for keys in (("rate=1.015",), ("mark=11000",), ("mark=11900",)):  # near enough
        make("a.ink", 1, "mark=10000")
        make("o.ink", 2, *([] if keys[0].startswith("mark") else ["mark=10000"]), *keys)
        assert rows("a.ink", "o.ink", code=None)[0]["forced"] is False
    # marks that cost more than all that was measured: nothing is left, and that is what is shown
    make("a.ink", 1, "mark=9000000")
    shown = diff("--all", "a.ink", "a.ink").stdout
    assert [line.split()[1:3] for line in shown.splitlines() if line.startswith("  Hessian")] == [["0", "0"]], shown
    diff("-o", "a.ink", "a.ink", "b.ink", code=1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check in (verdicts, parameters, refusals, false_alarms, power):
        check()
        print("ok:", check.__name__)
