# SPDX-License-Identifier: MIT
"""Counts machine instructions: a mark in straight line, in a rolled loop and in a called function, a
track's opening and closing (the code, and what of it the usual path runs), registers and spills; checks the limits that docs/macros.md promises.
`cost.py --some` measures the forms that few use on two targets only, `--all` on all. `cost.py --bench`
prints all beside naive forms and checks nothing. Counts of compiled code, no GPU."""
import os
import sys

from toolchain import ARCHS, HERE, Checks, Code, in_parallel, sampled, version

SOURCE = os.path.join(HERE, "cost.cu")
FEW, MANY = 24, 56  # a mark is the growth between these, less the payload's one instruction
LIMITS = {75: (5, 7), (80, "inkmark, shared"): (5, 7)}
STRAIGHT, ROLLED = 5, 6
TOLERANCE = 0.2  # a loop's own instructions change a little with its length
REGISTERS = 3
OPEN_CLOSE_MOST = 209
OPEN_CLOSE_RUN_MOST = 98  # of them, what a thread runs that gets a track at its first try, its block being no part of a sample
# What such a thread comes by and none else: it claims a track's state, and reads globaltimer at both ends.
USUAL = (r"\bATOM\w*\.\S*CAS\b", "SR_GLOBALTIMER", "SR_GLOBALTIMER")
SHARED_MORE = 13  # an entry in shared memory is looked for by the number of the warp in its block
SMALL_MOST = {75: 34, 80: 30, 90: 30, 100: 30, 120: 32}  # registers of a kernel of eight marks: more cost an SM warps, but on sm_75


def code(arch, form, marks, *flags):
    return Code(SOURCE, arch, f"-DFORM={form}", f"-DMARKS={marks}", *flags)


def slope(codes, kernel):
    return (codes[MANY].count(kernel) - codes[FEW].count(kernel)) / (MANY - FEW) - 1


def measure(arch, form, *flags):
    codes = {marks: code(arch, form, marks, *flags) for marks in ((0, 8, FEW, MANY) if form else (0, 8))}
    few = codes[8]
    result = {kernel: slope(codes, kernel) for kernel in few.instructions
              if form and kernel in ("straight", "rolled", "in_called")}
    if "-DINKMARK_NO_CALLED" in flags:
        result.pop("in_called")  # such marks are not recorded
    result["whole"] = codes[0].count("straight")
    result["run"] = codes[0].run_through("straight", USUAL if form == 1 else ())
    result["tiled"] = few.count("tiled")
    result["registers"] = few.registers["tiled"]
    result["tight"] = few.spills.get("tight", 0)
    result["small registers"] = few.registers["straight"]
    result["spills"] = sum(c.spills.get(k, 0) for c in codes.values() for k in ("straight", "rolled", "tiled"))
    return result


def off_instructions(arch):
    """Run-time off: what a thread executes of the opening before it knows (no buffer: the first branch
    or predicated exit after the load of the buffer's address), and of each mark, all but its store."""
    lines = code(arch, 1, 0).instructions["straight"]
    for n, line in enumerate(lines):
        if "BRA" in line or "EXIT" in line:
            return n + 1
    return len(lines)


def row(name, arch, m, bare):
    called = f"{m['in_called']:6.1f}" if "in_called" in m else "     -"
    print(f"sm_{arch:<4} {name:<22} {m['straight']:8.2f} {m['rolled']:8.2f} {called} "
          f"{m['whole'] - bare['whole']:9} {m['run'] - bare['run']:4} {m['registers'] - bare['registers']:+6} "
          f"{m['tight']:5} {m['small registers']:5} {m['spills']:6}", flush=True)


def main():
    bench, some = "--bench" in sys.argv, "--some" in sys.argv
    checks = Checks()
    print(f"compile-time counts, nvcc {version()}, no GPU; instructions a mark, NOPs left out")
    print("target form                   straight   rolled called open+close  run  regs tight small spills")

    def one(arch):
        rows = [("inkmark", measure(arch, 1))]
        if not some or arch in (ARCHS[0], ARCHS[2]):
            rows += [("inkmark, shared", measure(arch, 1, "-DINKMARK_SHARED")),
                     ("inkmark, none in called", measure(arch, 1, "-DINKMARK_NO_CALLED"))]
        if bench:
            rows += [("if (p < end) *p++", measure(arch, 2)), ("if (at < n) ring[at++]", measure(arch, 3))]
        return arch, measure(arch, 0), rows, off_instructions(arch)

    for arch, bare, rows, off in in_parallel(one, ARCHS if bench else sampled(ARCHS, 2)):
        for name, m in rows:
            row(name, arch, m, bare)
        print(f"sm_{arch:<4} off (no buffer)        {off} instructions up to the branch at the opening, "
              "each mark as above less its store")
        for name, m in rows[:3]:
            straight, rolled = LIMITS.get((arch, name), LIMITS.get(arch, (STRAIGHT, ROLLED)))
            checks.that(m["straight"] <= straight + TOLERANCE, f"sm_{arch} {name}: straight {m['straight']}")
            checks.that(m["rolled"] <= rolled + TOLERANCE, f"sm_{arch} {name}: rolled {m['rolled']}")
            checks.that(m["straight"] >= 3 and m["rolled"] >= 3, f"sm_{arch} {name}: the marks are gone")
            checks.that(m["spills"] == 0, f"sm_{arch} {name}: {m['spills']} bytes of spills")
            checks.that(arch == 75 or m["tight"] == 0,
                        f"sm_{arch} {name}: {m['tight']} bytes of spills in the product held to 32 registers")
            checks.that(m["small registers"] <= SMALL_MOST[arch],
                        f"sm_{arch} {name}: {m['small registers']} registers in a kernel of eight marks")
            grown = m["registers"] - bare["registers"]
            checks.that(grown <= REGISTERS, f"sm_{arch} {name}: {grown} more registers in the tiled product")
            more = SHARED_MORE if name == "inkmark, shared" else 0
            checks.that(m["whole"] - bare["whole"] <= OPEN_CLOSE_MOST + more,
                        f"sm_{arch} {name}: opening and closing take {m['whole'] - bare['whole']}")
            checks.that(60 <= m["run"] - bare["run"] <= OPEN_CLOSE_RUN_MOST + more,
                        f"sm_{arch} {name}: opening and closing run {m['run'] - bare['run']}")
        checks.that(rows[0][1]["in_called"] <= 60, f"sm_{arch}: {rows[0][1]['in_called']} a mark in a function")
    if not bench:
        checks.finish()


main()
