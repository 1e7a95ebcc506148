# SPDX-License-Identifier: MIT
"""Functions with PROF_PARAMS. What a mark costs there, inlined and not, and in a body beside such calls, as growth
of the machine code; that every form of the parameter list compiles, with -pedantic and without arguments, also
with clang where there is one."""
import os
import re
import shutil
import tempfile

from toolchain import ARCHS, DEVICE, HERE, Checks, Code, in_parallel, nvcc, run, sampled

FEW, MANY = 4, 24
FORMS = {"inlined": "__forceinline__", "outlined": "__noinline__"}
BODY_MOST, LOOP = 5.2, {75: 7.6}
# An outlined mark has two paths, for two tables, of which one is run, and looks before and after it whether a call that the
# context is lent to is under way.
OUTLINED = {75: 80, 80: 83, 90: 92, 100: 102, 120: 88}
OUTLINED_RUN = 27
BESIDE_INLINED = {75: 7.6}  # on sm_75 a mark in straight line beside a call that is inlined takes two more
LOOP_MOST = 6.3
CALLED = 48  # marks of functions without a context
ROW_MOST = 16  # PROF_ITER itself, in a loop with few marks


def marks(n):
    return " ".join(f"x = x * 1.5f + y; PROF_MARK(S{i});" for i in range(n))


def source():
    """Kernels with n marks in a body, in functions with a context, and in bodies beside calls of those."""
    text = ['#include "inkmark/mark.cuh"', f"PROF_SECTIONS(T, Step, {', '.join(f'S{i}' for i in range(32))})"]
    kernel = 'extern "C" __global__ void %s(float *p, float y, int m) { PROF_KERNEL(Step); float x = p[threadIdx.x]; %s }'
    loop = '_Pragma("unroll 1") for (int i = 0; i < m; i++) { %s }'
    store = " p[threadIdx.x] = x;"
    for n in (FEW, MANY):
        text.append(kernel % (f"body_{n}", marks(n) + store))
        text.append(kernel % (f"lambda_{n}", "auto f = [&] {" + marks(n) + "}; f();" + store))
        text.append(kernel % (f"without_row_{n}", loop % marks(n) + store))
        text.append(kernel % (f"loop_{n}", loop % ("PROF_ITER(i); " + marks(n)) + store))
        for form, word in FORMS.items():
            text.append(f"struct {form}_of_{n} {{ float y; __device__ {word} float run(PROF_PARAMS(float x, int m)) {{ "
                        + loop % (marks(n)) + " return x; } };")
            use = f"{form}_of_%d o; o.y = y; "
            call = "x = o.run(PROF_ARGS(x, m)); "
            text.append(kernel % (f"{form}_{n}", use % n + call + store))
            text.append(kernel % (f"beside_{form}_{n}", use % FEW + call + marks(n) + store))
            text.append(kernel % (f"loop_beside_{form}_{n}", use % FEW + loop % (call + marks(n)) + store))
        text.append(f"__device__ __noinline__ float called_{n}_(float x, float y) {{ {marks(n)} return x; }}")
        text.append(kernel % (f"called_{n}", f"x = called_{n}_(x, y);" + store))
    return "\n".join(text) + "\n"


def growth(code, name):
    return (code.count(f"{name}_{MANY}") - code.count(f"{name}_{FEW}")) / (MANY - FEW) - 1


def run_by_a_mark(code):
    """Instructions that a mark of a function with a context runs where that is not inlined: the shortest way through it that
    reads the clock for each mark."""
    most, few = (code.run_through(f"outlined_{n}", (r"\bCS2R\b.*CLOCK",) * n, f"outlined_of_{n}") for n in (MANY, FEW))
    return (most - few) / (MANY - FEW) - 1


def costs(checks, folder):
    path = os.path.join(folder, "context.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source())
    names = ["body", "lambda", "loop", "inlined", "outlined", "called"]
    names += [f"{where}beside_{form}" for where in ("", "loop_") for form in FORMS]
    for arch, code in in_parallel(lambda arch: (arch, Code(path, arch, "-O3", "-DINKMARK_NO_COST")), sampled(ARCHS, 2)):
        found = {name: growth(code, name) for name in names}
        print(f"sm_{arch:<4}" + "  ".join(f"{name} {found[name]:.2f}" for name in names))
        row = code.loop(f"loop_{FEW}", FEW + 1) - code.loop(f"without_row_{FEW}", FEW)
        runs = run_by_a_mark(code)
        print(f"sm_{arch:<4}PROF_ITER {row}; a mark of a function with a context that is not inlined runs {runs:.2f}")
        checks.that(5 <= runs <= OUTLINED_RUN <= found["called"], f"sm_{arch}: an outlined mark runs {runs:.2f}, at most {OUTLINED_RUN}")
        checks.that(3 <= row <= ROW_MOST, f"sm_{arch}: PROF_ITER takes {row}")
        loop, body = LOOP.get(arch, LOOP_MOST), BODY_MOST
        limits = {"body": body, "lambda": body, "loop": loop, "inlined": loop, "outlined": OUTLINED[arch], "called": CALLED,
                  "beside_inlined": BESIDE_INLINED.get(arch, body + 1), "beside_outlined": body + 1, "loop_beside_inlined": loop + 1,
                  "loop_beside_outlined": loop + 1}
        for where, alone in (("beside_outlined", "body"), ("loop_beside_outlined", "loop")):
            more = found[where] - found[alone]
            checks.that(more <= 1.2, f"sm_{arch} {where}: a call that is not inlined adds {more:.2f} to a mark of the body")
        for name, most in limits.items():
            checks.that(3 <= found[name] <= most, f"sm_{arch} {name}: {found[name]:.2f} instructions a mark, at most {most}")


# What clang needs to compile the header without the CUDA that it knows.
SHIM = """
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __launch_bounds__(...)
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
struct dimensions { unsigned x, y, z; };
extern __device__ const dimensions threadIdx, blockIdx, blockDim, gridDim;
extern "C" __device__ void *memcpy(void *, const void *, __SIZE_TYPE__);
__device__ double __hiloint2double(int, int);
__device__ int __double2hiint(double);
__device__ int __double2loint(double);
__device__ __SIZE_TYPE__ __cvta_generic_to_shared(const void *);
__device__ __SIZE_TYPE__ __cvta_generic_to_global(const void *);
#define INKMARK_MARK_HOST_H
#define INK_I_REGISTER_TABLE(name, sections)
"""


def without_half_types(text):
    text = re.sub(r"#include <cuda_(bf16|fp16)\.h>\n", "", text)
    return text[:text.index("// ---- values ----")]


def forms(checks, folder):
    every = os.path.join(HERE, "every_macro.cu")
    for standard in ("14", "17", "20"):
        for off in ([], ["-DINKMARK_DISABLE"]):
            done = nvcc(f"-std=c++{standard}", "-arch=sm_90", "-Xcompiler", "-Wall,-Wextra,-pedantic", *off, "-c", every,
                        "-o", os.path.join(folder, "o"), check=False)
            # the compiler's own output has line directives that -pedantic finds fault with
            said = [line for line in (done.stdout + done.stderr).splitlines()
                    if re.match(r"\S*mark\S*:\d+|\S*every_macro\S*[:(]\d+.*(warning|error)", line) and "line directive" not in line]
            checks.that(done.returncode == 0 and not said, f"-std=c++{standard} {off}: {said[:5]}")
    if not shutil.which("clang++"):
        print("SKIPPED: no clang++")
        return
    with open(every, encoding="utf-8") as file:
        text = without_half_types(file.read())
    paths = [os.path.join(folder, name) for name in ("shim.h", "every.cu")]
    for path, body in zip(paths, (SHIM, text)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(body)
    for standard in ("14", "17", "20"):
        done = run(["clang++", f"-std=c++{standard}", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-pedantic", "-x", "cuda",
                    "-nocudalib", "-nocudainc", "--cuda-device-only", "--cuda-gpu-arch=sm_75", "-Wno-unknown-cuda-version",
                    "--cuda-path=/usr/local/cuda", "-include", paths[0], "-I", DEVICE, "-O2", "-S", paths[1],
                    "-o", os.path.join(folder, "o.ptx")])
        checks.that(done.returncode == 0, f"clang++ -std=c++{standard}: {done.stderr[:2000]}")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        forms(checks, folder)
        costs(checks, folder)
    checks.finish()


if __name__ == "__main__":
    main()
