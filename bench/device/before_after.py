# SPDX-License-Identifier: MIT
"""What its marks cost a kernel: compiles a marked source with and without -DINKMARK_DISABLE, and prints for each kernel
registers, bytes of spills, ptxas' warnings of serialized tensor cores (C75xx), instructions, and for each loop that holds
marks the instructions a mark. Ends with 3 where the marks add spills or such warnings. Compiled code, nothing runs."""
import argparse
import collections
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "device", "codegen"))
from toolchain import find_nvdisasm, nvcc, run, version  # noqa: E402

CLOCK = re.compile(r"\b(CS2R|S2UR|S2R)\b.*\bSR_CLOCK")
# What marks neither add nor remove: by these a loop of the one build is found in the other, by the first of them alone if need be.
TENSOR = r"HGMMA|HMMA|IMMA|QMMA|DMMA|UTC\w*MMA|LDTM|UTMALDG|UTMASTG|UBLKCP"
ALL = TENSOR + r"|SYNCS|BAR|DEPBAR|WARPGROUP|LDSM|LDGSTS|MUFU|LDG|LDS|STS|SHFL|FFMA2?|HFMA2|DFMA|FADD|FMUL"


class Kernel:
    """One kernel of one build: what ptxas says of it, and its listing."""

    def __init__(self):
        self.lines = []  # ("label", name) or ("code", text)
        self.registers = self.spills = 0

    def code(self):
        return [text for kind, text in self.lines if kind == "code"]

    def reads(self, lines=None):
        return sum(1 for kind, text in (self.lines if lines is None else lines) if kind == "code" and CLOCK.search(text))

    def loops(self):
        """The lines of each loop, from the target of a backward branch to the branch."""
        at = {text: i for i, (kind, text) in enumerate(self.lines) if kind == "label"}
        ends = {}
        for i, (kind, text) in enumerate(self.lines):
            target = re.search(r"\bBRA\b.*?(\.L_x_\w+)", text) if kind == "code" else None
            if target and at.get(target.group(1), i) < i:
                ends[at[target.group(1)]] = i + 1  # the last of them, where several branch to one place
        return set(ends.items())

    def marked_loops(self):
        """Of the loops that hold marks those in which no other such loop lies."""
        found = {(first, last) for first, last in self.loops() if self.reads(self.lines[first:last])}
        return sorted(one for one in found
                      if not any(other != one and one[0] <= other[0] and other[1] <= one[1] for other in found))


def passes(plain, marked, kinds):
    """How many passes of the marked loop one of the plain loop is, where they have the same instructions of these kinds."""
    counts = [collections.Counter(found.group(1) for kind, text in lines if kind == "code"
                                  for found in [re.search(rf"\b({kinds})\b", text)] if found) for lines in (plain, marked)]
    ratios = {counts[0][one] / counts[1][one] if counts[1][one] else 0 for one in counts[0] | counts[1]}
    return ratios.pop() if len(ratios) == 1 else 0


def verdict(inkmark, cubin, kernel):
    """What `inkmark verify` says of the kernels: a line for each, those of what moved or is gone, and the sum."""
    done = run([inkmark, "verify", "-k", kernel, cubin], env={**os.environ, "INKMARK_NVDISASM": find_nvdisasm()})
    if done.returncode not in (0, 3):
        sys.exit(f"inkmark verify: {done.returncode}\n{done.stderr}")
    return done.stdout


def build(source, flags, judge=None):
    """name -> Kernel, the C75xx warnings of all of them, counted, and what `judge` says of the object."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "o.cubin")
        done = nvcc(*flags, "-DINKMARK_NO_COST", "-cubin", "-Xptxas", "-v", "-o", cubin, source)
        listing = run([find_nvdisasm(), "-c", cubin]).stdout
        judged = judge(cubin) if judge else ""
    kernels, lines, name = {}, None, None
    for line in listing.splitlines():
        section = re.match(r"\.text\.(\S+):$", line)
        label = re.match(r"(\.L_x_\w+):", line)
        one = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line)
        if section:
            lines = kernels.setdefault(section.group(1), Kernel()).lines
        elif line.startswith(("\t.section", "//-----")):
            lines = None
        elif lines is not None and label:
            lines.append(("label", label.group(1)))
        elif lines is not None and one and not re.match(r"(@!?U?P\w+ )?NOP\b", one.group(1)):
            lines.append(("code", one.group(1)))
    said = done.stdout + done.stderr
    for line in said.splitlines():
        entry = re.search(r"Compiling entry function '(\S+)'", line)
        used = re.search(r"Used (\d+) registers", line)
        spilt = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
        name = entry.group(1) if entry else name
        if name in kernels and used:
            kernels[name].registers = int(used.group(1))
        if name in kernels and spilt:
            kernels[name].spills = int(spilt.group(1)) + int(spilt.group(2))
    return kernels, collections.Counter(re.findall(r"\bC75\d\d\b", said)), judged


def of_loops(plain, marked):
    """A text for each loop with marks: instructions of a pass without and with them, and the cost of a mark."""
    texts = []
    others = [plain.lines[first:last] for first, last in sorted(plain.loops())]
    for first, last in marked.marked_loops():
        lines = marked.lines[first:last]
        reads, size = marked.reads(lines), sum(kind == "code" for kind, _ in lines)
        for kinds in (ALL, TENSOR):
            same = [(abs(ratio - 1), sum(kind == "code" for kind, _ in other) / ratio, ratio)
                    for other in others for ratio in [passes(other, lines, kinds)] if ratio]
            if same:
                break
        text = f"{size} instructions, {reads} clock read{'s' if reads > 1 else ''}"
        if same:
            _, before, ratio = min(same)
            text += f"; {before:g} without marks: {(size - before) / reads:.1f} each"
            text += f" (a pass was unrolled {ratio:g} times as often)" if ratio != 1 else ""
        texts.append(text + ("" if same else "; no loop without marks does the same"))
    return texts


def short(name):
    done = run(["c++filt", name])
    text = done.stdout.strip() if done.returncode == 0 else name
    text = re.sub(r"^void ", "", text).replace("(anonymous namespace)::", "")
    text = re.sub(r"\((int|bool)\)", "", text.rsplit(">(", 1)[0] + ">" if ">(" in text else text.split("(")[0])
    return text if len(text) <= 70 else text.split("<")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage="before_after.py FILE.cu [--kernel RE] [--verify INKMARK] [-- nvcc's flags]")
    parser.add_argument("source")
    parser.add_argument("--kernel", default=".", help="only kernels whose name in the object matches")
    parser.add_argument("--verify", metavar="INKMARK", help="the command whose verdict on the marked kernels is printed (-lineinfo)")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    chosen, flags = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1:]
    plain, warned, _ = build(chosen.source, [*flags, "-DINKMARK_DISABLE"])
    marked, warned_marked, judged = build(chosen.source, flags, chosen.verify and (lambda cubin: verdict(chosen.verify, cubin, chosen.kernel)))
    print(f"nvcc {version()}, no GPU: {os.path.basename(chosen.source)}, {' '.join(flag for flag in flags if 'arch' in flag)}")
    worse = False
    for name, after in marked.items():
        before = plain.get(name)
        if not re.search(chosen.kernel, name) or not before:
            continue
        print(f"{short(name)}: registers {before.registers} -> {after.registers}, bytes of spills {before.spills} -> {after.spills}, "
              f"instructions {len(before.code())} -> {len(after.code())}, clock reads {before.reads()} -> {after.reads()}")
        for text in of_loops(before, after):
            print(f"  loop: {text}")
        worse = worse or after.spills > before.spills
    print(judged, end="")
    new = warned_marked - warned
    print(f"ptxas' C75xx: {' '.join(sorted(warned.elements())) or 'none'} without marks, "
          f"{' '.join(sorted(new.elements())) or 'none'} more with them")
    if not any(re.search(chosen.kernel, name) for name in marked):
        sys.exit("no kernel of that name")
    sys.exit(3 if worse or new else 0)


main()
