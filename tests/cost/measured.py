# SPDX-License-Identifier: MIT
"""Records empty.cu on the simulated device: what is left of sections that hold nothing but marks, once
what marks were measured to cost is taken out, must be nothing, within the stated bound.
measured.py INKMARK FOLDER_OF_PROGRAMS"""
import json
import os
import subprocess
import sys
import tempfile

inkmark, programs = sys.argv[1:3]
failures = []
checks = 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)
        print("FAILED:", text)


def run(*arguments):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"inkmark {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def rows(capture, *options):
    kernels = json.loads(run("report", "--format", "json", *options, capture))["captures"][0]["kernels"]
    return {k["kernel"]: k for k in kernels}


def record(program, capture, *options):
    run("record", "--device", "sim", "-o", capture, *options, "--", os.path.join(programs, program))


def costs(capture):
    found = json.loads(run("info", "--format", "json", capture))["captures"][0]["mark_costs"]
    return found, {(c["mark"], c["called"], c["recording"]): c for c in found if "mark" in c}


# One instruction of the simulated device takes 4 cycles; a call and a return are work, not marks.
INSTRUCTION, CALL = 4, 24

with tempfile.TemporaryDirectory() as folder:
    for options in ([], ["--granularity", "warp"], ["--keep", "first"]):
        capture = os.path.join(folder, "empty.ink")
        if os.path.exists(capture):
            os.remove(capture)
        record("empty", capture, *options)
        out, raw = rows(capture), rows(capture, "--raw")
        _, cost = costs(capture)
        check(len(cost) == 2 * 7 + 2 * 6 + 5, f"{options}: {len(cost)} costs")
        for (mark, called, recording), c in cost.items():
            check(c["samples"] >= 3 and c["bound_cycles"] > 0, f"{options}: {mark} {called} {recording}: {c}")
        check(0 < cost["MARK", False, True]["cycles"] < cost["VALUE", False, True]["cycles"],
              f"{options}: a mark and a value")
        check(cost["MARK", True, False]["cycles"] < cost["MARK", True, True]["cycles"] / 2,
              f"{options}: a called mark that does not record")
        check(set(out) == {"Straight", "Nested", "Calls"}, f"{options}: kernels {set(out)}")
        for name, kernel in out.items():
            stamped = raw[name]
            check(kernel["marking"] == "out" and stamped["marking"] == "in", f"{options} {name}: marking")
            check(kernel["total_cycles"] + kernel["marking_cycles"] == stamped["total_cycles"],
                  f"{options} {name}: raw total")
            check(kernel["outside_cycles"] > 1000 * kernel["tracks"], f"{options} {name}: tracks")
            allowed = CALL if name == "Calls" else 0
            for row, before in zip(kernel["rows"], stamped["rows"]):
                if row["section"] == "(unmarked)": # the kernel's own work
                    continue
                left, passes = row["total_cycles"], row["count"]
                bound = row["marking_bound_cycles"] + passes * (allowed + INSTRUCTION)
                check(before["total_cycles"] >= 30 * passes, f"{options} {name} {row['section']}: empty")
                check(row["below_marking_bound"] == (left < row["marking_bound_cycles"]) and
                      not before["below_marking_bound"], f"{options} {name} {row['section']}: marked")
                check(left <= bound, f"{options} {name} {row['section']}: {left} of "
                      f"{before['total_cycles']} cycles are left, {bound} may be")

    check("less is left than the marks' cost is known to: A, B, Outer, Inner" in run("report", capture) and
          "less is left" not in run("report", "--raw", capture), "short sections are named")

    # Clock triples, records of sums, passes: nothing is left of sections that hold nothing else, where it
    # is certain that the passes are in them.
    capture = os.path.join(folder, "sums.ink")
    record("sums", capture)
    out, raw = rows(capture), rows(capture, "--raw")
    _, cost = costs(capture)
    pair = cost["SUM_BEGIN and _END", False, True]["cycles"]
    pair_bound = cost["SUM_BEGIN and _END", False, True]["bound_cycles"]

    def one(kernels, kernel, section):
        return next(row for row in kernels[kernel]["rows"] if row["section"] == section)

    # behind an ITER's stamp the sums are set anew: five registers
    for kernel, section, work in (("Triples", "Clocks", 1), ("Passes", "Short", 6), ("Triples", "Nothing", 1)):
        row, before = one(out, kernel, section), one(raw, kernel, section)
        check(before["total_cycles"] >= 30 * before["count"] and row["total_cycles"] <=
              row["marking_bound_cycles"] + row["count"] * work * INSTRUCTION, f"{kernel} {section}: {row['total_cycles']} of "
              f"{before['total_cycles']}, known to {row['marking_bound_cycles']}")
    # one pass and four of them stay in their sections: the sum's record does not tell which it was
    tracks = out["Passes"]["tracks"]
    least = pair - pair_bound  # of four in a row, of which the compiler joins what it can
    check(0 < least < pair, f"a pair: {pair} +- {pair_bound}")
    check(one(out, "Passes", "Four")["total_cycles"] >= 3 * least * tracks, "passes are in Four")
    check(out["Passes"]["outside_cycles"] > raw["Passes"]["outside_cycles"], "and in the kernel's line")
    # In a row of nothing else all of their time is the gap's. What is left is what the same code without
    # them takes, within the bound: in a loop, where a pair costs what it was measured to cost, but for a
    # few moves that the simulated device takes for instructions, and unrolled, where it costs less.
    for name, without, passes in (("Rolled", "Bare", 50), ("Alone", "Apart", 6)):
        row, other = one(out, name, "(unmarked)"), one(out, without, "(unmarked)")
        stamped = one(raw, name, "(unmarked)")["total_cycles"] - one(raw, without, "(unmarked)")["total_cycles"]
        wrong = abs(row["total_cycles"] - other["total_cycles"])
        bound = row["marking_bound_cycles"] + other["marking_bound_cycles"]
        check(wrong <= bound and wrong <= stamped / 4, f"{name}: {row['total_cycles']}, {without}: "
              f"{other['total_cycles']}, known to {bound}, stamped {stamped} apart")
        check(stamped >= least * passes * tracks, f"{name}: {stamped} cycles of {passes} passes")
    check(out["Alone"]["total_cycles"] + out["Alone"]["marking_cycles"] == raw["Alone"]["total_cycles"], "Alone: total")
    for name, kernel in out.items():
        whole = sum(r["total_cycles"] for r in kernel["rows"] if r["depth"] == 0 and not r["summed"])
        check(whole == kernel["total_cycles"], f"{name}: {whole} in sections, {kernel['total_cycles']} in all")

    capture = os.path.join(folder, "no_cost.ink")
    record("empty_no_cost", capture)
    out, raw = rows(capture), rows(capture, "--raw")
    for name in out:
        check(out[name] == raw[name] and out[name]["marking"] == "in", f"no cost kernel, {name}")
    found, _ = costs(capture)
    check(len(found) == 1 and "INKMARK_NO_COST" in found[0]["not_measured"], f"no cost kernel: {found}")
    check("INKMARK_NO_COST" in run("report", capture), "report without a cost kernel")

    capture = os.path.join(folder, "no_called.ink")
    record("empty_no_called", capture)
    found, cost = costs(capture)
    check(len(cost) == 2 * 7 + 5 and not any(called for _, called, _ in cost) and
          any("INKMARK_NO_CALLED" in c.get("not_measured", "") for c in found), f"no marks in called functions: {found}")

print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or not checks else 0)
