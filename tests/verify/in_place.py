# SPDX-License-Identifier: MIT
"""False alarms: kernels of seven shapes, their work where the source has it, and what `inkmark verify` says of them.

    in_place.py INKMARK [--seeds N] [--first S] [--archs 75,90] [--forms plain,all,strict]

Each kernel has two lines of work between three marks: in a straight line, in a loop, in a branch, in a loop between marks,
in an inlined helper, in a call, behind barriers. A reader of its own (seeded_faults.py's) takes the order of clock reads and
of the lines' instructions in the machine code. Where all of both lines stands between its stamps there, nothing has moved, and
verify must not say so: at most one in 500 such kernels may be called moved or gone. What the reader sees elsewhere, as
where a block was put behind the loop, is not counted."""
import argparse
import collections
import os
import random
import sys
import tempfile

from seeded_faults import HEAD, MARKS, WORK, compile_and_verify, find_nvdisasm, in_parallel, said, sequence, statements, truth

# {a} and {b} are the two lines of work, {s0} to {s2} the marks.
SHAPES = {
    "straight": "  {s0}\n  {a} //A\n  {s1}\n  {b} //B\n  {s2}",
    "loop": "#pragma unroll 1\n  for (int i = 0; i < n; i++) {{\n    {s0}\n    {a} //A\n    {s1}\n    {b} //B\n    {s2}\n  }}",
    "inner": "  {s0}\n#pragma unroll 1\n  for (int i = 0; i < n; i++) {{\n    {a} //A\n  }}\n  {s1}\n  {b} //B\n  {s2}",
    "branch": "  {s0}\n  if (n > 3) {{\n    {a} //A\n  }}\n  {s1}\n  {b} //B\n  {s2}",
    "barrier": "  {s0}\n  {a} //A\n  __syncthreads();\n  {s1}\n  {b} //B\n  __syncthreads();\n  {s2}",
    "helper": "  {s0}\n  y = inlined_{title}(y, p); //A\n  {s1}\n  {b} //B\n  {s2}",
    "call": "  {s0}\n  y = called_{title}(y, p); //A\n  {s1}\n  {b} //B\n  {s2}",
}


def kernel(rng, work, shape, form, title):
    kind, a = statements(rng, work, "y")
    _, b = statements(rng, work, rng.choice("xy"))
    mark = lambda s: (MARKS[form] % s if "%s" in MARKS[form] else MARKS[form]) + ";"
    body = SHAPES[shape].format(a=a, b=b, s0=mark("S0"), s1=mark("S1"), s2=mark("S2"), title=title)
    function = []
    if shape in ("helper", "call"):
        name, how = ("inlined", "__forceinline__") if shape == "helper" else ("called", "__noinline__")
        function = [f"static __device__ {how} {kind} {name}_{title}({kind} y, {kind} p) {{", f"  {statements(rng, work, 'y')[1]}", "  return y;", "}"]
    return function + [f'extern "C" __global__ void {title}({kind} *s, {kind} p, int n) {{', "  PROF_KERNEL(Kernel);",
                       f"  {kind} x = s[threadIdx.x], y = s[threadIdx.x + 64];"] + body.splitlines() + \
        ["  s[threadIdx.x] = x;", "  s[threadIdx.x + 64] = y;", "}"]


def source(form, shape, names, options):
    lines, places = HEAD.splitlines(), {}
    for name in names:
        for seed in range(options.first, options.first + options.seeds):
            title = f"{shape}_{name}_{seed}"
            text = kernel(random.Random(f"{seed}{name}{shape}"), name, shape, form, title)
            places[title] = {t[-1]: len(lines) + n + 1 for n, t in enumerate(text) if t.endswith(("//A", "//B"))}
            lines += text
    return "\n".join(lines) + "\n", places


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("inkmark")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--archs", default="75,80,90,100,120")
    parser.add_argument("--forms", default="plain,all,strict")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--work", default=",".join(WORK))
    options = parser.parse_args()
    disassembler, folder = find_nvdisasm(), tempfile.mkdtemp(prefix="inkmark-in-place-")
    jobs = [(form, shape, arch) for form in options.forms.split(",") for shape in options.shapes.split(",") for arch in options.archs.split(",")]

    def one(job):
        form, shape, arch = job
        text, places = source(form, shape, options.work.split(","), options)
        path = os.path.join(folder, "_".join(job) + ".cu")
        with open(path, "w") as out:
            out.write(text)
        cubin = path.replace(".cu", ".cubin")
        listing, kernels = compile_and_verify(options.inkmark, disassembler, path, arch, cubin)
        counts, alarms = collections.Counter(), []
        for title, events in sequence(listing, os.path.basename(path)).items():
            if title not in places:
                continue
            lines = [(places[title][which], after, before) for which, after, before in (("A", 2, 3), ("B", 3, 4))]
            in_place = all(truth(events, line, after, before) == "kept" for line, after, before in lines)
            counts[shape if in_place else "elsewhere"] += 1
            if in_place and (kernels[title]["leaks"] or kernels[title]["gone"]):
                k = kernels[title]
                alarms.append(f"sm_{arch} {form} {title}: " + ", ".join(f"line {l['line']} {l['instructions']}" for l in k["leaks"]) + f" {k['gone']}" +
                              "".join(f" [{said(k, line)}]" for line, _, _ in lines))
        return counts, alarms

    total, alarms = collections.Counter(), []
    for counts, more in in_parallel(one, jobs):
        total += counts
        alarms += more
    elsewhere = total.pop("elsewhere", 0)
    count = sum(total.values())
    for line in alarms[:30]:
        print("ALARM", line)
    print(f"{count} kernels with all work in place ({', '.join(f'{n} {k}' for k, n in sorted(total.items()))}), {elsewhere} without: {len(alarms)} false alarms")
    return 1 if len(alarms) * 500 > count or not count else 0


if __name__ == "__main__":
    sys.exit(main())
