# SPDX-License-Identifier: MIT
"""What marks do to kernels of Hopper and Blackwell and to those that are short of registers or shared memory:
ptxas' warnings of serialized wgmma, a producer's uniform registers, registers of small kernels with and without -rdc,
spills in 64 registers, static shared memory and where the dynamic segment begins."""
import os
import re
import tempfile

from toolchain import ARCHS, HERE, Checks, Code, in_parallel, nvcc, sampled

FOLDER = os.path.join(HERE, "modern")
NOTHING = ["-o", os.devnull]
# Registers of a kernel that has few, with which blocks of 256 keep the most warps an SM can hold: of 65,536 for 1,024,
# 2,048 or 1,536 threads.
MOST_REGISTERS = {75: 34, 80: 30, 90: 30, 100: 30, 120: 32}
MOST_WITH_RDC = MOST_REGISTERS
MOST_BOUNDED_WITH_RDC = 40  # of blocks of 1,024, which may have 64
# Bytes of spill stores and loads that three marks cost a kernel that fills 64 registers, without and with PROF_ITER.
SPILLS = {75: (68, 160), 80: (56, 196), 90: (132, 228), 100: (72, 136), 120: (104, 160)}
# The same behind PROF_OPEN and behind PROF_OPEN_ROWS, with PROF_CLOSE. LEAST has what prototypes of cheaper marks reached at
# best, without and with PROF_ITER, by rows each: one of these forms is to be below (docs/measurements.md).
SPILLS_BEHIND_OPEN = {
    "PROF_OPEN": {75: (16, 64), 80: (16, 48), 90: (16, 48), 100: (0, 0), 120: (96, 0)},
    "PROF_OPEN_ROWS": {75: (12, 48), 80: (12, 48), 90: (12, 32), 100: (16, 16), 120: (16, 0)},
}
LEAST = {75: (36, 116), 80: (36, 116), 90: (68, 136), 100: (52, 96), 120: (52, 104)}

# What stands in the loop, at its top, behind the commit and behind the wait; and ptxas' warnings beyond the plain build's.
FORMS = {
    "MARK": ("", "PROF_MARK(Issue)", "PROF_MARK(Wait)", ()),
    "MARK, accumulators held": ("", "PROF_MARK(Issue, d)", "PROF_MARK(Wait)", ()),
    "ITER": ("PROF_ITER(i)", "PROF_MARK(Issue)", "PROF_MARK(Wait)", ()),
    "BEGIN and END": ("", "PROF_BEGIN(Issue)", "PROF_END(Issue)", ()),
    "ASYNC": ("", "PROF_ASYNC_BEGIN(Issue, i)", "PROF_ASYNC_END(Issue, i)", ()),
    "SUM": ("", "PROF_SUM_BEGIN(Issue)", "PROF_SUM_END(Issue)", ()),
    "VALUE, EVENT, CLOCKS": ("PROF_CLOCKS()", "PROF_VALUE(Issue, i)", "PROF_EVENT(Wait)", ()),
    "STRICT on an integer": ("", "PROF_MARK_STRICT(Issue, i)", "PROF_MARK(Wait)", ()),
    "LOADED on an integer": ("", "PROF_MARK_LOADED(Issue, i)", "PROF_MARK_LOADED(Wait, i)", ()),
    "STRICT on the accumulators": ("", "PROF_MARK_STRICT(Issue, d)", "PROF_MARK(Wait)", ("C7514", "C7517")),
    "LOADED on the accumulators": ("", "PROF_MARK_LOADED(Issue, d)", "PROF_MARK(Wait)", ("C7517",)),
}


def compiled(source, arch, *flags):
    done = nvcc("-std=c++17", "-O3", f"-arch=sm_{arch}", "-DINKMARK_NO_COST", "-cubin", "-Xptxas", "-v", *flags, *NOTHING,
                os.path.join(FOLDER, source))
    return done.stdout + done.stderr


def wgmma(checks, folder):
    def warned(form):
        header = os.path.join(folder, re.sub(r"\W", "_", form or "plain") + ".h")
        with open(header, "w", encoding="utf-8") as file:  # nvcc's -D ends at a comma
            for name, text in zip(("ROW", "ISSUED", "WAITED"), FORMS[form] if form else ()):
                file.write(f"#define {name} {text}\n")
        return form, sorted(re.findall(r"C75\d\d", compiled("wgmma.cu", "90a", "-include", header)))

    results = dict(in_parallel(warned, [None, *FORMS]))
    print(f"sm_90a  plain: {results[None]}")
    for form, (_, _, _, expected) in FORMS.items():
        more = set(results[form]) - set(results[None])
        print(f"sm_90a  {form}: {sorted(more) or 'no warning more'}")
        checks.that(more <= set(expected), f"{form}: ptxas also says {sorted(more)}")


def producer(checks):
    codes = [Code(os.path.join(FOLDER, "producer.cu"), "90a", f"-DFORM={form}", "-DINKMARK_NO_COST") for form in range(3)]
    uniform = [sum("R2UR" in line for line in code.instructions["feed"]) for code in codes]
    print(f"sm_90a  producer: {[code.count('feed') for code in codes]} instructions, R2UR {uniform}: plain, "
          "PROF_OPEN and PROF_CLOSE, PROF_KERNEL")
    checks.that(uniform[1] <= uniform[0] + 2, f"PROF_OPEN and PROF_CLOSE: {uniform[1]} R2UR")
    checks.that(uniform[2] > uniform[1], "PROF_KERNEL costs none either: the comparison shows nothing")


def spills_behind_open(checks):
    def measure(job):
        arch, form, rows = job
        code = Code(os.path.join(FOLDER, "small.cu"), arch, "-DON=1", "-DHELD", f"-DROWS={rows}", "-DINKMARK_NO_COST",
                    f"-DOPEN={form}(Kernel)", "-DCLOSE=PROF_CLOSE()")
        return job, code.spills["held_to_64"]

    found = dict(in_parallel(measure, [(arch, form, rows) for arch in sampled(ARCHS, 2) for form in SPILLS_BEHIND_OPEN for rows in (0, 1)]))
    for (arch, form, rows), spilt in found.items():
        print(f"sm_{arch:<4} behind {form}, {'with' if rows else 'without'} PROF_ITER: {spilt} bytes of spills")
        checks.that(spilt <= SPILLS_BEHIND_OPEN[form][arch][rows], f"sm_{arch} behind {form}: {spilt} bytes of spills")
    for arch, both in ((arch, both) for arch, both in LEAST.items() if (arch, "PROF_OPEN", 1) in found):
        for rows, most in enumerate(both):
            least = min(found[(arch, form, rows)] for form in SPILLS_BEHIND_OPEN)
            checks.that(least <= most, f"sm_{arch}, {'with' if rows else 'without'} PROF_ITER: {least} bytes of spills in the "
                                       "form that has the fewest")


def registers(checks):
    def measure(arch):
        source = os.path.join(FOLDER, "small.cu")
        plain = Code(source, arch, "-DON=0", "-DINKMARK_NO_COST")
        return arch, plain, [Code(source, arch, "-DON=1", f"-DROWS={rows}", "-DINKMARK_NO_COST", *more)
                             for rows in (0, 1) for more in ([], ["-rdc=true"])]

    for arch, plain, codes in in_parallel(measure, sampled(ARCHS, 2)):
        names = [name for name in plain.registers if name.endswith(("straight", "loop"))]
        checks.that(len(names) == 4, f"sm_{arch}: no kernels: {names}")
        spills = [code.spills["held_to_64"] for code in codes[::2]]
        most = max(code.registers[name] for code in codes for name in names)
        print(f"sm_{arch:<4} small kernels: {max(plain.registers[n] for n in names)} registers become at most {most}; in 64 "
              f"registers {spills} bytes of spills without and with PROF_ITER, {plain.spills['held_to_64']} plain")
        for name in names:
            for code, with_rdc in zip(codes[::2], codes[1::2]):
                checks.that(code.registers[name] <= MOST_REGISTERS[arch], f"sm_{arch} {name}: {code.registers[name]} registers")
                most = MOST_BOUNDED_WITH_RDC if name.startswith("bounded") else MOST_WITH_RDC[arch]
                checks.that(with_rdc.registers[name] <= most,
                            f"sm_{arch} {name} -rdc=true: {with_rdc.registers[name]} registers")
                checks.that(code.spills[name] == 0 and with_rdc.spills[name] == 0, f"sm_{arch} {name}: spills")
        for found, limit in zip(spills, SPILLS[arch]):
            checks.that(found <= limit, f"sm_{arch} held_to_64: {found} bytes of spills, at most {limit}")


def shared_memory(checks):
    def bytes_of(arch, *flags):
        text = compiled("small.cu", arch, "-DROWS=1", *flags)
        found = re.search(r"'segment'.*?Used [^\n]*", text, re.S)
        used = re.search(r"(\d+) bytes smem", found.group(0)) if found else None
        return int(used.group(1)) if used else 0 if found else -1

    jobs = [(arch, flags) for arch in (80, 90, 100, 120)
            for flags in (["-DON=0"], ["-DON=1"], ["-DON=1", "-DINKMARK_SHARED"],
                          ["-DON=1", "-DINKMARK_SHARED", "-DINKMARK_WARPS=12"])]
    found = {(job[0], tuple(job[1])): size for job, size in in_parallel(lambda job: (job, bytes_of(job[0], *job[1])), jobs)}
    for (arch, flags), size in found.items():
        plain = found[(arch, ("-DON=0",))]
        if "-DINKMARK_SHARED" not in flags:
            checks.that(size == plain == 0, f"sm_{arch} {flags}: {size} bytes of static shared memory, {plain} plain")
        elif arch >= 90:
            checks.that(size > 0 and size % 1024 == 0, f"sm_{arch} {flags}: {size} bytes: the dynamic segment moves")
        else:
            checks.that(size == (384 if "-DINKMARK_WARPS=12" in flags else 1024), f"sm_{arch} {flags}: {size} bytes")


def pipelines(checks):
    """No kernel of pipelines.cu gets a warning, a spill, a stack or shared memory from its marks, nor loses uniform registers."""
    source = os.path.join(FOLDER, "pipelines.cu")

    def compile_one(job):
        arch, on = job
        flags = [f"-DON={on}", "-DINKMARK_NO_COST", "-Wno-deprecated-gpu-targets"]
        text = compiled("pipelines.cu", arch, f"-DON={on}")
        code = Code(source, arch, *flags)
        facts = {}
        for name in code.registers:
            found = re.search(rf"Compiling entry function '{name}'.*?(\d+) bytes stack frame.*?Used [^\n]*", text, re.S)
            shared = re.search(r"(\d+) bytes smem", found.group(0))
            warned = set(re.findall(rf"(C75\d\d)[^\n]*'{name}'", text))
            facts[name] = (warned, code.spills.get(name, 0), int(found.group(1)), int(shared.group(1)) if shared else 0,
                           sum("R2UR" in line for line in code.instructions[name]), code.count(name),
                           sum("SR_CLOCKLO" in line for line in code.instructions[name]))
        return job, facts

    jobs = [(arch, on) for arch in ("90a", "100a") for on in (0, 1)]
    results = dict(in_parallel(compile_one, jobs))
    for arch, least in (("90a", 11), ("100a", 4)):
        plain, marked = results[(arch, 0)], results[(arch, 1)]
        names = [name for name in plain if "clock_kernel" not in name]
        checks.that(len(names) == least, f"sm_{arch}: {names}")
        for name in names:
            off, on = plain[name], marked[name]
            print(f"sm_{arch} {name}: {off[5]} instructions become {on[5]}, R2UR {off[4]} {on[4]}")
            checks.that(on[0] <= off[0], f"sm_{arch} {name}: ptxas also says {sorted(on[0] - off[0])}")
            checks.that(on[1] == 0 and on[2] <= off[2], f"sm_{arch} {name}: {on[1]} bytes of spills, a stack of {on[2]}")
            checks.that(on[3] == off[3], f"sm_{arch} {name}: {on[3]} bytes of shared memory, {off[3]} plain")
            checks.that(on[4] <= off[4] + 2, f"sm_{arch} {name}: {on[4]} R2UR, {off[4]} plain")
            checks.that(on[6] >= off[6] + 5, f"sm_{arch} {name}: {on[6]} clock reads: there are no marks in it")


def main():
    checks = Checks()
    pipelines(checks)
    shared_memory(checks)
    producer(checks)
    with tempfile.TemporaryDirectory() as folder:
        wgmma(checks, folder)
    spills_behind_open(checks)
    registers(checks)
    checks.finish()


main()
