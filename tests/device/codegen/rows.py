# SPDX-License-Identifier: MIT
"""Tracks of rows: what a mark, PROF_ITER and the opening cost there, as machine code: in straight line, in loops, in
functions with the context, beside a call that is not inlined; registers, spills, with and without -rdc."""
import os
import tempfile

from toolchain import ARCHS, HERE, Checks, Code, in_parallel, sampled

FEW, MANY = 12, 24
MOST = 2.1
# PROF_ITER with rows of 128 bytes; opening, the first row and closing beyond an empty kernel: the code, and what of it a
# thread runs that gets a track at its first try (cost.py has the same of ordinary tracks).
ITER_MOST = {75: 32}
ITER, OPEN, OPEN_RUN = 31, 235, 121
USUAL = (r"\bATOM\w*\.\S*CAS\b", "SR_GLOBALTIMER", "SR_GLOBALTIMER")
# Bytes of spills of three marks in a kernel that fills 64 registers, with PROF_ITER.
SPILLS = {75: 48, 80: 48, 90: 32, 100: 16, 120: 0}
MOST_REGISTERS = {75: 30, 80: 28, 90: 28, 100: 28, 120: 30}  # what is above 32 costs an SM no warps on sm_75
MOST_WITH_RDC = {75: 32, 80: 30, 90: 30, 100: 30, 120: 30}
MOST_BOUNDED_WITH_RDC = 40  # of blocks of 1,024, which may have 64


def marks(n, first=0):
    return " ".join(f"x = x * 1.5f + y; PROF_MARK(S{i});" for i in range(first, first + n))


def source():
    text = ['#include "inkmark/mark.cuh"', f"PROF_SECTIONS(T, Step, {', '.join(f'S{i}' for i in range(MANY))})"]
    kernel = ('extern "C" __global__ void %s(float *p, float y, int m) { PROF_KERNEL_ROWS(Step); float x = p[threadIdx.x]; '
              "%s p[threadIdx.x] = x; }")
    loop = '_Pragma("unroll 1") for (int i = 0; i < m; i++) { %s }'
    text.append('extern "C" __global__ void empty(float *p, float y, int m) { float x = p[threadIdx.x]; p[threadIdx.x] = x; }')
    text.append(kernel % ("opened", ""))
    text.append(f"__device__ __noinline__ float outlined(PROF_PARAMS_ROWS(Step, float x, float y)) {{ {marks(2)} return x; }}")
    for n in (FEW, MANY):
        text.append(kernel % (f"straight_{n}", marks(n)))
        text.append(kernel % (f"loop_{n}", loop % marks(n)))
        text.append(kernel % (f"rows_{n}", loop % ("PROF_ITER(i); " + marks(n))))
        text.append(kernel % (f"lambda_{n}", "auto f = [&] {" + marks(n) + "}; f();"))
        text.append(f"struct inlined_of_{n} {{ __device__ __forceinline__ float run(PROF_PARAMS_ROWS(Step, float x, float y, int m)) {{ "
                    + loop % ("PROF_ITER(i); " + marks(n)) + " return x; } };")
        text.append(kernel % (f"inlined_{n}", f"inlined_of_{n} o; x = o.run(PROF_ARGS(x, y, m)); "))
        text.append(kernel % (f"beside_{n}", "x = outlined(PROF_ARGS(x, y)); " + marks(n)))
    return "\n".join(text) + "\n"


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source())
        small = os.path.join(HERE, "modern", "small.cu")

        def measure(arch):
            return arch, Code(path, arch, "-O3", "-DINKMARK_NO_COST"), [
                Code(small, arch, "-DON=1", "-DROWS=1", "-DOPEN=PROF_KERNEL_ROWS(Kernel)", "-DINKMARK_NO_COST", *more)
                for more in ([], ["-rdc=true"])]

        for arch, code, smalls in in_parallel(measure, sampled(ARCHS, 2)):
            names = ("straight", "loop", "rows", "lambda", "inlined", "beside")
            found = {name: (code.count(f"{name}_{MANY}") - code.count(f"{name}_{FEW}")) / (MANY - FEW) - 1 for name in names}
            row = code.count(f"rows_{FEW}") - code.count(f"loop_{FEW}")
            opening = code.count("opened") - code.count("empty")
            run = code.run_through("opened", USUAL) - code.run_through("empty", ())
            registers, with_rdc = ({name: used for name, used in s.registers.items() if name.endswith(("straight", "loop"))}
                                   for s in smalls)
            spills = smalls[0].spills["held_to_64"]
            print(f"sm_{arch:<4}" + "  ".join(f"{name} {value:.2f}" for name, value in found.items()))
            print(f"sm_{arch:<4}PROF_ITER {row}, opening and closing {opening}, {run} of them run, small kernels {max(registers.values())} registers, "
                  f"{max(with_rdc.values())} with -rdc=true, "
                  f"in 64 registers {spills} bytes of spills")
            for name, value in found.items():
                checks.that(1.5 <= value <= MOST, f"sm_{arch} {name}: {value:.2f} instructions a mark, at most {MOST}")
            checks.that(5 <= row <= ITER_MOST.get(arch, ITER), f"sm_{arch}: PROF_ITER takes {row}")
            checks.that(50 <= run <= OPEN_RUN, f"sm_{arch}: of opening and closing {run} run")
            checks.that(opening <= OPEN, f"sm_{arch}: opening and closing take {opening}")
            checks.that(len(registers) == 4, f"sm_{arch}: {registers}")
            for name, used in registers.items():
                checks.that(used <= MOST_REGISTERS[arch], f"sm_{arch} {name}: {used} registers")
                most = MOST_BOUNDED_WITH_RDC if name.startswith("bounded") else MOST_WITH_RDC[arch]
                checks.that(with_rdc[name] <= most, f"sm_{arch} {name} -rdc=true: {with_rdc[name]} registers")
            checks.that(spills <= SPILLS[arch], f"sm_{arch}: {spills} bytes of spills")
    checks.finish()


main()
