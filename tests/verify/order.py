# SPDX-License-Identifier: MIT
"""The order of work and stamps in PTX, in machine code and in the source, of random kernels, against what `inkmark verify` says.

    order.py INKMARK [--kernels N] [--seed S] [--archs 75,90] [--forms held,plain]

Two readers that share nothing with verify, one of PTX (.loc) and one of nvdisasm's listing (seeded_faults.py's), say for each
line of a kernel of random_kernels.py behind which stamps its floating point, memory, conversions, barriers and calls stand, in
the order of the text. Integers are left out: those of addresses may be anywhere.
- Where verify says that a kernel holds, every line stands behind the same stamps in PTX and in machine code.
- A line that verify says moved stands behind other stamps in machine code than the source has it, and than PTX has it,
  unless PTX had moved it already.
Exit code 1 where either is not so, but for what docs/verify.md says cannot be told (known): the copies of warp-wide
operations for diverged warps."""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import random_kernels
from seeded_faults import find_nvdisasm, in_parallel, sequence
from random_kernels import WARP_WIDE

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "device", "codegen"))
from toolchain import nvcc  # noqa: E402

WORK = re.compile(r"^(U?F(ADD|MUL|FMA|MNMX|SETP|SEL|CHK)|U?D(ADD|MUL|FMA|SETP)|MUFU|U?I2FP?|U?F2I|U?F2F|U?F2FP|U?FRND|LDG|LDS|STG|STS|"
                  r"ATOM|ATOMG|ATOMS|RED|REDG|BAR|SHFL|VOTE|CALL)\b")
PTX_WORK = re.compile(r"^((ld|st)\.(volatile\.)?(global|shared)|atom|red|bar\b|barrier|shfl|vote|call|\S+\.f(16|32|64)\b|cvt\S*\.f(32|64))")
PTX_NOT = re.compile(r"^(mov|ld\.(param|const)|st\.param|selp\.b)")


def ptx_order(text, source):
    """Of each entry: ("clock", number) and ("line", line, opcode), with the line of the source that the code was inlined into."""
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.M))
    own = {n for n, path in files.items() if os.path.basename(path) == source}
    ours = {n for n, path in files.items() if "/inkmark/" in path}
    out, title, place, parents, chain, clock = {}, None, None, {}, [], False
    for line in text.splitlines():
        line = line.strip()
        entry = re.match(r"(?:\.visible )?\.(entry|func)\b.*?([\w$]+)\(?$", line)
        if entry:
            title = entry.group(2) if entry.group(1) == "entry" else None
            out.setdefault(title, [])
            continue
        loc = re.match(r"\.loc\s+(\d+) (\d+) (\d+)(?:, function_name [^,]+, inlined_at (\d+) (\d+) (\d+))?", line)
        if loc:
            place = loc.group(1, 2, 3)
            if loc.group(4):
                parents[place] = loc.group(4, 5, 6)
            else:
                parents.pop(place, None)
            chain = [place]
            while chain[-1] in parents and len(chain) < 40:
                chain.append(parents[chain[-1]])
            continue
        if title is None or not place:
            continue
        if "%clock64" in line:
            clock = True
            continue
        if clock and re.match(r"mov\.b64 \{\S+, \S+\}, \S+;", line):  # compute_100 and newer tag the upper half alone
            continue
        tag = re.match(r"xor\.b(64|32)\s+\S+, \S+, (\d+);", line)
        if clock and tag:
            out[title].append(("clock", int(tag.group(2)) >> (48 if tag.group(1) == "64" else 16)))
        clock = False
        code = re.sub(r"^@!?\S+\s+", "", line)
        if any(n in ours for n, _, _ in chain) or chain[-1][0] not in own or not PTX_WORK.match(code) or PTX_NOT.match(code):
            continue
        out[title].append(("line", int(chain[-1][1]), code.split()[0]))
    return out


def gaps(events, first, last):
    """{line: {the stamp that stands last in front of it in the text}} of the lines first to last; 0: none. Code for diverged warps
    stands at the end of the text: behind the stamp that is the last in front of the branch to it."""
    at, found, behind = 0, collections.defaultdict(set), {}
    for event in events:
        if event[0] == "clock":
            at = event[1] if event[1] is not None else at
        elif event[0] == "diverged":
            behind[event[1]] = at
        elif event[0] == "label":
            at = behind.get(event[1], at)
        elif first <= event[1] <= last:
            found[event[1]].add(at)
    return found


def source_gaps(text):
    """{kernel: (first line, last line, {line: stamp})}, by the numbers of the sections."""
    number = {s: n for n, s in enumerate(("Kernel",) + random_kernels.SECTIONS, 1)}
    kernels, name = {}, None
    for n, line in enumerate(text.splitlines(), 1):
        start = re.match(r'extern "C" __global__ void (\w+)\(', line)
        if start:
            name, at = start.group(1), 0
            kernels[name] = [n, n, {}]
        if not name:
            continue
        kernels[name][1] = n
        mark = re.match(r"\s*PROF_MARK\w*\((\w+)", line)
        if mark:
            at = number[mark.group(1)]
        elif line.startswith("}"):
            name = None
        else:
            kernels[name][2][n] = at
    return kernels


def compile_kernels(inkmark, folder, seed, count, form, arch):
    stem = os.path.join(folder, f"{form}_{arch}")
    text = random_kernels.source(seed, count, form)
    with open(stem + ".cu", "w") as file:
        file.write(text)
    flags = ("-std=c++17", "-w", "-O3", f"-arch=sm_{arch}", "-lineinfo", "-DINKMARK_NO_COST")
    os.makedirs(stem, exist_ok=True)
    nvcc(*flags, "-keep", "-keep-dir", stem, "-cubin", "-o", stem + ".cubin", stem + ".cu")
    with open(os.path.join(stem, f"{form}_{arch}.ptx")) as file:
        ptx = ptx_order(file.read(), os.path.basename(stem) + ".cu")
    listing = subprocess.run([find_nvdisasm(), "-gi", "-c", stem + ".cubin"], capture_output=True, text=True, check=True).stdout
    code = {k: [e for e in events if e[0] != "line" or WORK.match(e[2].replace(".", " ", 1))]
            for k, events in sequence(listing, os.path.basename(stem) + ".cu").items()}
    verdict = random_kernels.verdicts(inkmark, stem + ".cubin")
    return text, ptx, code, verdict


def judge(text, ptx, code, verdict):
    """Counts, and what is not as it should be."""
    counts, wrong = collections.Counter(), []
    for name, (first, last, source) in source_gaps(text).items():
        said = verdict[name]
        moved = {l["line"]: l["instructions"] for l in said["leaks"]}
        held = not moved and not said["gone"]
        counts["with code for diverged warps"] += any(e[0] == "diverged" for e in code[name])
        in_ptx, in_code = gaps(ptx[name], first, last), gaps(code[name], first, last)
        counts["kernels"] += 1
        counts["held"] += held
        for line, stamps in in_code.items():
            if line not in source or not in_ptx.get(line):
                continue
            where = f"{name} line {line}: source {source[line]}, PTX {sorted(in_ptx[line])}, machine code {sorted(stamps)}"
            known = any(e[0] == "line" and e[1] == line and re.match(r"SHFL|VOTE", e[2]) for e in code[name])
            if held:
                counts["lines of kernels that hold"] += 1
                if stamps != in_ptx[line] or stamps != {source[line]}:
                    (counts.update(known=1) if known else wrong.append("held, but " + where))
            elif line in moved and any(WORK.match(kind.split(" x ")[0].replace(".", " ", 1)) for kind in moved[line].split(", ")):
                counts["lines that moved"] += 1
                if stamps == {source[line]} or (in_ptx[line] == {source[line]} and stamps == in_ptx[line]):
                    (counts.update(known=1) if all(WARP_WIDE.fullmatch(k) for k in moved[line].split(", ")) else
                     wrong.append("moved, but " + where + f", said: {moved[line]}"))
    return counts, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("inkmark")
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--archs", default="75,80,90,100,120")
    parser.add_argument("--forms", default="plain,held")
    options = parser.parse_args()
    find_nvdisasm()
    total, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(form, arch) for form in options.forms.split(",") for arch in options.archs.split(",")]
        done = in_parallel(lambda job: judge(*compile_kernels(options.inkmark, folder, options.seed, options.kernels, *job)), jobs)
    for job, (counts, bad) in zip(jobs, done):
        total += counts
        wrong += [f"sm_{job[1]} {job[0]}: {one}" for one in bad]
    for line in wrong[:40]:
        print("WRONG", line)
    print(", ".join(f"{n} {k}" for k, n in sorted(total.items())) + f"; {len(wrong)} not as verify says")
    sys.exit(1 if wrong or not total["lines that moved"] or not total["lines of kernels that hold"] else 0)


if __name__ == "__main__":
    main()
