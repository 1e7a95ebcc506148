# SPDX-License-Identifier: MIT
"""Values named in a mark keep a section's arithmetic between its clock reads in the PTX; without names
it leaks. Counts arithmetic between the clock reads and compares it with the source's."""
import os
import re
import tempfile

from toolchain import ARCHS, Checks, in_parallel, nvcc, sampled, version

HEAD = """#include "inkmark/mark.cuh"
PROF_SECTIONS(Held, Kernel, A, B, C)
#ifdef PLAIN
#define MARK(section, ...) PROF_MARK(section)
#else
#define MARK(section, ...) PROF_MARK(section, __VA_ARGS__)
#endif
__device__ __noinline__ float work(float x, int n) {
  for (int i = 0; i < n; i++) x = x * 1.0001f + 0.5f;
  return x;
}
template <int N> __device__ __forceinline__ float fma_chain(float x, float y) {
#pragma unroll
  for (int i = 0; i < N; i++) x = x * 1.0001f + 0.5f;
  return x;
}
template <int N> __device__ __forceinline__ unsigned hash(unsigned x) {
#pragma unroll
  for (int i = 0; i < N; i++) x = (x ^ 0x9e3779b9u) * 0x85ebca6bu;
  return x;
}
template <int N> __device__ __forceinline__ float exp_chain(float x) {
#pragma unroll
  for (int i = 0; i < N; i++) x = __expf(x);
  return x;
}
template <int N> __device__ __forceinline__ void eight(float (&a)[8], float y) {
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int j = 0; j < 8; j++) a[j] = a[j] * 1.0001f + 0.5f;
}
"""

# name, declarations, section(n) of work, values held, result, what to count, work of the sections
PATTERNS = {
    "calls": ("float v = x[threadIdx.x];", "v = work(v, {n});", "v", "v", r"\bcall\.uni\b|\bcall \(", (1, 1, 1)),
    "fma": ("float v = x[threadIdx.x];", "v = fma_chain<{n}>(v, y);", "v", "v", r"\bfma\.rn\.f32", (100, 60, 30)),
    "hash": ("unsigned v = (unsigned)x[threadIdx.x];", "v = hash<{n}>(v);", "v", "(float)v",
             r"\bmul\.lo\.(s32|u32|b32)", (40, 24, 12)),
    "eight": ("float v[8]; for (int j = 0; j < 8; j++) v[j] = x[threadIdx.x + j];", "eight<{n}>(v, y);", "v",
              "v[0]+v[1]+v[2]+v[3]+v[4]+v[5]+v[6]+v[7]", r"\bfma\.rn\.f32", (10, 6, 3)),
    "expf": ("float v = x[threadIdx.x];", "v = exp_chain<{n}>(v);", "v", "v", r"\bex2\.approx", (12, 10, 6)),
    "two": ("float v = x[threadIdx.x], w = x[threadIdx.x + 32];",
            "v = fma_chain<{n}>(v, y); w = fma_chain<{n}>(w, y);", "v, w", "v + w", r"\bfma\.rn\.f32", (50, 30, 20)),
}
SCALE = {"eight": 8, "two": 2}


def kernel(name, looped):
    declared, section, values, result, _, work = PATTERNS[name]
    lines = [f'extern "C" __global__ void {name}_{"loop" if looped else "once"}(float *x, float y, int n) {{',
             "PROF_KERNEL(Kernel);", declared, f"MARK(C, {values});"]
    if looped:
        lines.append("#pragma unroll 1\nfor (int i = 0; i < n; i++) {")
    for n, mark in zip(work, "ABC"):
        lines += [section.format(n=n), f"MARK({mark}, {values});"]
    if looped:
        lines.append("}")
    return "\n".join(lines + [f"x[threadIdx.x] = {result};", "}"])


def sections(ptx, entry, counted):
    """Counts between the four clock reads of the marks (those whose tag is stored with them)."""
    body = ptx[re.search(rf"\.entry {entry}\b", ptx).start():]
    body = body[:body.index("\n}\n")]
    counts = [0]
    in_stamp = False
    for line in body.splitlines():
        if "setp.ne.u32 _on," in line:
            in_stamp = True
        if in_stamp and "%clock64" in line:
            counts.append(0)
            in_stamp = False
        counts[-1] += len(re.findall(counted, line))
    return counts


def main():
    checks = Checks()
    kernels = [(name, looped) for name in PATTERNS for looped in (False, True)]
    source = HEAD + "\n".join(kernel(*k) for k in kernels)
    leaks = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "held.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)

        def compile_one(job):
            arch, plain = job
            to = os.path.join(folder, f"{arch}{plain}.ptx")
            nvcc("-std=c++17", f"-arch=compute_{arch}", "-ptx", *(["-DPLAIN"] if plain else []), "-o", to, path)
            with open(to, encoding="utf-8") as file:
                return arch, plain, file.read()

        for arch, plain, ptx in in_parallel(compile_one, [(a, p) for a in sampled(ARCHS, 2) for p in (0, 1)]):
            for name, looped in kernels:
                entry = f"{name}_{'loop' if looped else 'once'}"
                counts = sections(ptx, entry, PATTERNS[name][4])
                wanted = [n * SCALE.get(name, 1) for n in PATTERNS[name][5]]
                found = counts[1:4]
                if plain:
                    leaks[arch, name, looped] = found != wanted
                    print(f"compute_{arch} {entry:<11} plain: {found} of {wanted}, then {sum(counts[4:])}")
                else:
                    checks.that(found == wanted and len(counts) == 5 and counts[4] == 0,
                                f"compute_{arch} {entry}: {counts[1:]} between the marks, not {wanted}")
    # What leaks from a plain mark (nvcc 13.0): a pure call in a loop, below sm_100. So the counts above could fail.
    for (arch, name, looped), leak in leaks.items():
        expected = arch < 100 and (name, looped) == ("calls", True)
        checks.that(leak == expected, f"compute_{arch} {name} {looped}: {'leaks from' if leak else 'stays with'} a plain mark")
    print(f"nvcc {version()}, PTX only, no GPU")
    checks.finish()


main()
