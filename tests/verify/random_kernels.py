# SPDX-License-Identifier: MIT
"""Random kernels, drawn from a seed, whose work the compiler may move across their marks: for each form of
mark and each target, how many of them `inkmark verify` says hold.

    random_kernels.py INKMARK [--kernels N] [--seed S] [--archs 75,90] [--forms plain,held,strict,loaded]
                      [--check] [--keep FOLDER]

--check: exit code 1 unless plain marks leak somewhere and strict and loaded ones nowhere. What is known and let
pass (docs/verify.md): a warp-wide operation of an inlined header that is alone in its leak, whose copy for
diverged warps has a borrowed line; and a load through __restrict__ that is the same in every round of a
loop, which leaves the loop whatever one does, with what is computed from it alone."""
import argparse
import collections
import json
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "device", "codegen"))
from toolchain import ARCHS, find_nvdisasm, in_parallel, nvcc, run, version  # noqa: E402

FORMS = {"plain": "PROF_MARK(%s)", "held": "PROF_MARK(%s, %s)", "strict": "PROF_MARK_STRICT(%s, %s)",
         "loaded": "PROF_MARK_LOADED(%s, %s)"}
SECTIONS = ("First", "Second", "Third", "Fourth", "Fifth")
INVARIANT = re.compile(r"LDG[.\w]*\.CONSTANT[.\w]* x \d+")
WARP_WIDE = re.compile(r"(SHFL|VOTE|VOTEU|MATCH|REDUX)[.\w]* x \d+")

HEAD = """#include <inkmark/mark.cuh>
PROF_SECTIONS(Random, Kernel, First, Second, Third, Fourth, Fifth)
__constant__ float table[64];
__device__ __forceinline__ float helper(float v) {
  for (int k = 0; k < 4; k++)
    v = v * 1.01f + 0.5f;
  return v;
}
__device__ __noinline__ float called(float v, int m) {
  for (int k = 0; k < m; k++)
    v = v * 0.75f + 1.f;
  return v;
}
__device__ __forceinline__ unsigned hash(unsigned h) {
  h = (h ^ (h >> 15)) * 0x2c1b3c6du;
  return h ^ (h >> 12);
}
"""


class Kernel:
    """Lines of source; the values that are live so far, by type."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.live = collections.OrderedDict(x="float", y="float", i="unsigned")
        self.lines = []
        self.fresh = 0

    def one(self, kind):
        return self.rng.choice([v for v, t in self.live.items() if t == kind])

    def number(self):
        return f"{self.rng.uniform(0.5, 1.5):.3f}f"

    def new(self, kind):
        """A name to assign to: an old one, or now and then a new one."""
        old = [v for v, t in self.live.items() if t == kind]
        if old and (self.rng.random() < 0.7 or len(self.live) >= 7):
            return self.rng.choice(old), ""
        self.fresh += 1
        return f"{kind[0]}{self.fresh}", kind + " "

    def assign(self, kind, value):
        name, declared = self.new(kind)
        line = f"{declared}{name} = {value};"
        self.live.setdefault(name, kind)
        return line

    def statement(self, in_loop):
        pick, a, b, i = self.rng.choice, self.one("float"), self.one("float"), self.one("unsigned")
        has_double = "double" in self.live.values()
        return pick([
            lambda: self.assign("float", f"{a} * {self.number()} + {b}"),
            lambda: self.assign("float", f"{a} * {self.number()}"),
            lambda: self.assign("float", f"{a} + {b}"),
            lambda: self.assign("float", f"__expf({a} * 0.01f)"),
            lambda: self.assign("float", f"sqrtf({a} * {a} + 1.f)"),
            lambda: self.assign("float", f"{a} > {b} ? {a} : {self.number()}"),
            lambda: self.assign("float", f"helper({a})"),
            lambda: self.assign("float", f"called({a}, n)"),
            lambda: self.assign("float", f"in[({i} + {self.rng.randrange(64)}) & 1023]"),
            lambda: self.assign("float", f"fixed[threadIdx.x + {self.rng.randrange(512)}]"),
            lambda: self.assign("float", f"table[{i} & 63]"),
            lambda: self.assign("float", f"shared[{i} & 127]"),
            lambda: self.assign("float", f"__shfl_xor_sync(0xffffffffu, {a}, {pick((1, 2, 4, 8))})"),
            lambda: self.assign("float", f"(float){i}"),
            lambda: self.assign("unsigned", f"{i} * 1664525u + {self.rng.randrange(1 << 20)}u"),
            lambda: self.assign("unsigned", f"hash({i})"),
            lambda: self.assign("unsigned", f"(unsigned)({a} * 16.f) ^ {i}"),
            lambda: self.assign("unsigned", f"__ballot_sync(0xffffffffu, {a} > {self.number()})"),
            lambda: self.assign("double", f"1.5 * {a}"),
            lambda: self.assign("double", f"{self.one('double')} * 1.25 + {a}" if has_double else f"(double){a} + 0.25"),
            lambda: f"shared[threadIdx.x & 127] = {a};",
            lambda: f"out[threadIdx.x + {self.rng.randrange(64) * 32}] = {a};",
            lambda: f"atomicAdd(&counts[{i} & 31], {i});",
            lambda: "__syncthreads();",
            lambda: self.unrolled(a),
        ])()

    def unrolled(self, a):
        return f"for (int k = 0; k < {self.rng.randrange(2, 6)}; k++)\n      {a} = {a} * {self.number()} + {self.number()};"

    def body(self, form):
        looped = self.rng.random() < 0.6
        indent = "    " if looped else "  "
        out = []
        before = collections.OrderedDict(self.live)
        for section in SECTIONS[:self.rng.randrange(2, 6)]:
            for _ in range(self.rng.randrange(1, 5)):
                out.append(indent + self.statement(looped))
            held = ", ".join(self.live)
            out.append(indent + (FORMS[form] % ((section,) if form == "plain" else (section, held))) + ";")
        uses = {"float": "out[threadIdx.x + {n}] = {v};", "unsigned": "counts[32 + threadIdx.x + {n}] = {v};",
                "double": "wide[threadIdx.x + {n}] = {v};"}
        inner = [v for v in self.live if v not in before] if looped else []
        for n, v in enumerate(inner):
            out.append(indent + uses[self.live[v]].format(n=2048 + 32 * n, v=v))
        if looped:
            out = ["#pragma unroll 1", "  for (int it = 0; it < n; it++) {", *out, "  }"]
        for n, v in enumerate(before if looped else self.live):
            out.append("  " + uses[self.live[v]].format(n=4096 + 32 * n, v=v))
        return out

    def text(self, form):
        return "\n".join([
            f'extern "C" __global__ void {self.name}(float *out, double *wide, unsigned *counts, const float *in,',
            "                                const float *__restrict__ fixed, int n) {",
            "  __shared__ float shared[128];",
            "  PROF_KERNEL(Kernel);",
            "  float x = in[threadIdx.x], y = in[threadIdx.x + 32];",
            "  unsigned i = threadIdx.x;", *self.body(form), "}", ""])


def source(seed, count, form):
    """The same kernels for every form."""
    return HEAD + "\n".join(Kernel(random.Random(f"{seed}/{n}"), f"random_{n}").text(form) for n in range(count))


def is_known(kernel, leak, leaks):
    """In a kernel from whose loop such a load went, what is computed from it may have gone too."""
    def leaves_loop(one):
        kinds = one["instructions"].split(", ")
        return one["found_after"] is None and all(INVARIANT.fullmatch(kind) for kind in kinds)
    if all(WARP_WIDE.fullmatch(kind) for kind in leak["instructions"].split(", ")):
        return True
    return leak["found_after"] is None and any(k == kernel and leaves_loop(one) for k, one in leaks)


def verdicts(inkmark, cubin):
    """What verify says of each random kernel, by its name."""
    done = run([inkmark, "verify", "--format", "json", cubin], env={**os.environ, "INKMARK_NVDISASM": find_nvdisasm()})
    if done.returncode not in (0, 3):
        sys.exit(f"verify: {done.returncode} {done.stderr}")
    return {k["kernel"]: k for k in json.loads(done.stdout)["kernels"] if k["kernel"].startswith("random_")}


def judge(inkmark, folder, seed, count, form, arch):
    """(kernels, kernels that hold, leaks, leaks that are known) and the leaks themselves"""
    stem = os.path.join(folder, f"{form}_{arch}")
    with open(stem + ".cu", "w") as file:
        file.write(source(seed, count, form))
    nvcc("-std=c++17", "-O3", f"-arch=sm_{arch}", "-lineinfo", "-cubin", "-DINKMARK_NO_COST", "-o", stem + ".cubin",
         stem + ".cu")
    kernels = list(verdicts(inkmark, stem + ".cubin").values())
    if len(kernels) != count or not all(k["instructions"] and k["stamps"] for k in kernels):
        sys.exit(f"{form}, sm_{arch}: not {count} kernels with stamps: {[k['kernel'] for k in kernels]}")
    leaks = [(k["kernel"], leak) for k in kernels for leak in k["leaks"]]
    return sum(not k["leaks"] for k in kernels), leaks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("inkmark")
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--archs", default=",".join(map(str, ARCHS)))
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep")
    given = parser.parse_args()
    archs, forms = given.archs.split(","), given.forms.split(",")
    find_nvdisasm()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = given.keep or folder
        jobs = [(form, arch) for form in forms for arch in archs]
        results = dict(zip(jobs, in_parallel(
            lambda job: judge(given.inkmark, folder, given.seed, given.kernels, *job), jobs)))
    print(f"{given.kernels} random kernels of seed {given.seed}, nvcc {version()}: kernels that hold, lines that moved\n")
    print("".ljust(10) + "".join(f"sm_{arch}".rjust(20) for arch in archs))
    for form in forms:
        row = form.ljust(10)
        for arch in archs:
            holds, leaks = results[form, arch]
            known = sum(is_known(kernel, leak, leaks) for kernel, leak in leaks)
            row += (f"{holds}, {len(leaks)}" + (f" ({known} known)" if known else "")).rjust(20)
            for kernel, leak in leaks:
                if form in ("strict", "loaded") and not is_known(kernel, leak, leaks):
                    failures.append(f"{form}, sm_{arch}: {kernel}, line {leak['line']}: {leak['instructions']}")
            if form == "plain" and not leaks:
                failures.append(f"plain marks leak nowhere on sm_{arch}: the kernels tempt nobody")
        print(row)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures and given.check else 0)


if __name__ == "__main__":
    main()
