# SPDX-License-Identifier: MIT
"""Work that is tempted across a mark, in 40 forms, and what `inkmark verify` says of it, against a reader of its own.

    seeded_faults.py INKMARK [--seeds N] [--first S] [--archs 75,90] [--forms plain,held,strict] [--keep FOLDER]

Each kernel is a straight line: loads, S0, a line of work A, S1, a line of work B, S2, stores. The reader takes the
sequence of clock reads (by the tag in the machine code) and of instructions with the lines A and B, moves and constants
left out, and says for each line: kept (all of it between its stamps), moved, or gone (none left). verify must say
the same of each kernel: exit code 1 where it does not. It has no part of verify's code and no source text but the lines'
numbers."""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "device", "codegen"))
from toolchain import find_nvdisasm, in_parallel, nvcc  # noqa: E402

MARKS = {"plain": "PROF_MARK(%s)", "held": "PROF_MARK(%s, x)", "all": "PROF_MARK(%s, x, y)",
         "strict": "PROF_MARK_STRICT(%s, x, y)"}

# NAME: the type of x and y, statements on y (# is a constant of the seed). Statements of one operation may be fused.
WORK = {
    "ffma": ("float", "y = y * #f + 0.5f; y = y * #f + 0.25f;"),
    "fadd": ("float", "y = y + #f;"),
    "fmul": ("float", "y = y * #f;"),
    "fmul3": ("float", "y = y * #f; y = y * y; y = y * #f;"),
    "minmax": ("float", "y = fmaxf(y, #f); y = fminf(y, p);"),
    "fsel": ("float", "y = y > #f ? y : p;"),
    "rsqrt": ("float", "y = rsqrtf(y * #f);"),
    "sin": ("float", "y = __sinf(y) * #f;"),
    "exp": ("float", "y = exp2f(y * #f);"),
    "div": ("float", "y = __fdividef(y, p);"),
    "rint": ("float", "y = rintf(y * #f);"),
    "uniform_f": ("float", "y = y + (p * #f + 1.5f) * p;"),
    "iadd": ("unsigned", "y = y + p;"),
    "iadd2": ("unsigned", "y = y + p; y = y ^ #u;"),
    "imul": ("unsigned", "y = y * p;"),
    "imad": ("unsigned", "y = y * p + #u; y = y * #u + p;"),
    "hash": ("unsigned", "y = y * 2654435761u; y ^= y >> 15; y = y * 2246822519u;"),
    "shift": ("unsigned", "y = y << 5;"),
    "shifts": ("unsigned", "y = (y << 3) + p; y = (y << 7) ^ y;"),
    "funnel": ("unsigned", "y = __funnelshift_l(y, p, 7); y = __funnelshift_r(y, p, 3);"),
    "logic": ("unsigned", "y = y ^ p;"),
    "logic3": ("unsigned", "y = (y & p) | (y ^ #u); y = ~y & (p | #u);"),
    "perm": ("unsigned", "y = __byte_perm(y, p, 0x2143); y = __byte_perm(y, y >> 3, 0x6172); y = __byte_perm(y, p, 0x0527);"),
    "popc": ("unsigned", "y = __popc(y) + p;"),
    "clz": ("unsigned", "y = __clz(y) * p;"),
    "brev": ("unsigned", "y = __brev(y);"),
    "imin": ("int", "y = min(y, p); y = max(y, #);"),
    "abs": ("int", "y = abs(y - #);"),
    "sel": ("int", "y = y > # ? p : y;"),
    "dp4a": ("int", "y = __dp4a(y, p, #);"),
    "mulhi": ("unsigned", "y = __umulhi(y, p);"),
    "wide": ("unsigned long long", "y = (unsigned long long)(unsigned)y * (unsigned)p + y;"),
    "add64": ("unsigned long long", "y = y + p;"),
    "shift64": ("unsigned long long", "y = (y << 9) ^ (y >> 7);"),
    "dfma": ("double", "y = y * #. + 0.5; y = y * #. + p;"),
    "dadd": ("double", "y = y + p;"),
    "half": ("__half2", "y = __hmul2(y, p);"),
    "half_fma": ("__half2", "y = __hfma2(y, p, p); y = __hfma2(y, y, p);"),
    "convert": ("float", "y = (float)(int)(y * #f);"),
    "table": ("int", "y = y * table[y & 63];"),
}

HEAD = """#include <cuda_fp16.h>
#include <inkmark/mark.cuh>
PROF_SECTIONS(Seeded, Kernel, S0, S1, S2)
__constant__ int table[64];
"""
MOVES = re.compile(r"^(U?MOV|MOV64|U?LDCU?|LDC|S2U?R|CS2R|R2UR|UR2UP|IMAD\.(MOV|U32)|NOP|EXIT|BRA|BSYNC|BSSY|UP2UR|DEPBAR|"
                   r"WARPSYNC|BREAK|YIELD|ELECT|R2P|P2R)\b")
CONSTANT = re.compile(r"^HFMA2\S* R\d+, -RZ, RZ, ")


def statements(rng, name, of):
    """The form's text with another variable and constants of the seed."""
    kind, text = WORK[name]
    number = lambda _: str(rng.randrange(3, 97))
    text = text.replace("#f", "%.3ff" % rng.uniform(0.6, 1.4)).replace("#u", "%du" % rng.randrange(3, 9999))
    return kind, re.sub(r"#", number, re.sub(r"\by\b", of, text))


def kernel(rng, name, form, title):
    """Its lines; A and B are marked. Which of x and y is worked on where is drawn."""
    first, second = rng.choice(["yx", "yy", "xy", "yx"])
    kind, a = statements(rng, name, first)
    _, b = statements(rng, name, second)
    mark = lambda s: "  " + (MARKS[form] % s if "%s" in MARKS[form] else MARKS[form]) + ";"
    return [f'extern "C" __global__ void {title}({kind} *s, {kind} p) {{', "  PROF_KERNEL(Kernel);",
            f"  {kind} x = s[threadIdx.x], y = s[threadIdx.x + 64];", mark("S0"), f"  {a} //A", mark("S1"), f"  {b} //B", mark("S2"),
            "  s[threadIdx.x] = x;", "  s[threadIdx.x + 64] = y;", "}"]


# ---- the reader ----

def sequence(listing, source):
    """Of each function: ("clock", section) and ("line", number, text) in the order of the machine code; ("diverged", label) where warps
    that are not whole leave it, and ("label", label)."""
    out, title, chain, fresh, pending = {}, None, [], False, {}
    for text in listing.splitlines():
        section = re.search(r"\.section\s+\.text\.([\w$]+)", text)
        if section:
            title, pending = section.group(1), {}
            out[title] = []
        elif re.search(r"\.section\s", text):
            title = None
        if title is None:
            continue
        place = re.search(r'//## File "([^"]*)", line (\d+)', text)
        if place:
            chain = chain if fresh else []
            fresh = True
            chain.append((os.path.basename(place.group(1)), int(place.group(2))))
            continue
        code = re.search(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\S+\s+)?(.*?)\s*;", text)
        label = re.match(r"(\.L_x_\d+):", text)
        if label:
            out[title].append(["label", label.group(1)])
        if not code:
            continue
        fresh, code = False, code.group(1)
        diverged = re.match(r"BRA\.DIV.*`\((\.L_x_\d+)\)", code)
        if diverged:
            out[title].append(["diverged", diverged.group(1)])
        read = re.match(r"CS2R R(\d+), SR_CLOCKLO", code)
        if read:
            pending[int(read.group(1)) + 1] = len(out[title])
            out[title].append(["clock", None])
            continue
        tag = re.match(r"LOP3\.LUT R\d+, R(\d+)(?:\.reuse)?, 0x([0-9a-f]+), RZ, 0x3c", code)
        if tag and int(tag.group(1)) in pending and int(tag.group(2), 16) >> 16 < 0x2000:
            out[title][pending.pop(int(tag.group(1)))][1] = int(tag.group(2), 16) >> 16
            continue
        own = [c for c in chain if c[0] == source]
        if any(c[0].startswith("mark") for c in chain) or not own or MOVES.match(code) or CONSTANT.match(code):
            continue
        out[title].append(["line", own[-1][1], code])
    return out


def truth(events, line, after, before):
    """kept, moved or gone: of a line that belongs between the clock reads of two sections."""
    at = {e[1]: i for i, e in enumerate(events) if e[0] == "clock" and e[1] is not None}
    if after not in at or before not in at:
        return "unknown"
    of = [i for i, e in enumerate(events) if e[0] == "line" and e[1] == line]
    if not of:
        return "gone"
    return "kept" if all(at[after] < i < at[before] for i in of) else "moved"


def said(kernel_json, line):
    if any(g["first_line"] <= line <= g["last_line"] for g in kernel_json["gone"]):
        return "gone"
    return "moved" if any(l["line"] == line for l in kernel_json["leaks"]) else "kept"


def compile_and_verify(inkmark, disassembler, path, arch, cubin):
    """The disassembler's listing of what nvcc makes of `path`, and what verify says of its kernels, by name."""
    nvcc("-O3", f"-arch=sm_{arch}", "-lineinfo", "-DINKMARK_NO_COST", "-cubin", "-o", cubin, path)
    listing = subprocess.run([disassembler, "-gi", "-c", cubin], capture_output=True, text=True, check=True).stdout
    run = subprocess.run([inkmark, "verify", "--format", "json", cubin], capture_output=True, text=True,
                         env={**os.environ, "INKMARK_NVDISASM": disassembler})
    assert run.returncode in (0, 3), run.stderr
    return listing, {k["kernel"]: k for k in json.loads(run.stdout)["kernels"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("inkmark")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--archs", default="75,80,90,100,120")
    parser.add_argument("--forms", default="plain,held,all,strict")
    parser.add_argument("--work", default="")
    parser.add_argument("--keep")
    options = parser.parse_args()
    names = options.work.split(",") if options.work else list(WORK)
    disassembler = find_nvdisasm()
    folder = options.keep or tempfile.mkdtemp(prefix="inkmark-faults-")
    os.makedirs(folder, exist_ok=True)
    jobs = []
    for form in options.forms.split(","):
        lines, places = HEAD.splitlines(), {}
        for name in names:
            for seed in range(options.first, options.first + options.seeds):
                title = f"{name}_{seed}"
                text = kernel(random.Random(f"{seed}{name}"), name, form, title)
                places[title] = {t[-1]: len(lines) + n + 1 for n, t in enumerate(text) if t.endswith(("//A", "//B"))}
                lines += text
        path = os.path.join(folder, f"{form}.cu")
        with open(path, "w") as out:
            out.write("\n".join(lines) + "\n")
        jobs += [(form, arch, path, places) for arch in options.archs.split(",")]

    def one(job):
        form, arch, path, places = job
        cubin = path.replace(".cu", f".{arch}.cubin")
        listing, kernels = compile_and_verify(options.inkmark, disassembler, path, arch, cubin)
        counts, wrong = collections.Counter(), []
        for title, events in sequence(listing, os.path.basename(path)).items():
            if title not in places:
                continue
            for which, after, before in (("A", 2, 3), ("B", 3, 4)):
                line = places[title][which]
                is_so = truth(events, line, after, before)
                says = said(kernels[title], line) if title in kernels else "nothing"
                if is_so == "gone" and says == "kept" and kernels[title]["not_judged"]:
                    is_so = says = "not judged"  # where its number is that of a line of inkmark's header
                counts[is_so] += 1
                if is_so != says:
                    wrong.append(f"sm_{arch} {form} {title} line {which} ({line}): {is_so}, verify says {says}")
        return counts, wrong

    total, wrong = collections.Counter(), []
    for counts, mistakes in in_parallel(one, jobs):
        total += counts
        wrong += mistakes
    for line in wrong[:40]:
        print("WRONG", line)
    print(f"{len(names)} forms, {options.seeds} seeds, {sum(total.values())} lines: "
          f"{', '.join(f'{n} {k}' for k, n in sorted(total.items()))}; {len(wrong)} judged otherwise by verify")
    return 1 if wrong or not total["moved"] or not total["kept"] or total["not judged"] * 20 > sum(total.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
