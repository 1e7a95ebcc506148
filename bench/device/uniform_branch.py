# SPDX-License-Identifier: MIT
"""Whether a branch around each mark that a whole warp takes would serve warps that do not record: machine
instructions a mark, growth from 8 to 40 marks less the multiply-add, in all and outside of the branch.
uniform_branch.py prints a table; nothing runs."""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "device", "codegen"))
from toolchain import ARCHS, find_nvdisasm, in_parallel, nvcc, run, version  # noqa: E402


def listing(arch, branch, marks):
    """kernel -> its lines, labels and instructions"""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "o.cubin")
        nvcc("-std=c++17", f"-arch=sm_{arch}", "-cubin", f"-DBRANCH={branch}", f"-DMARKS={marks}",
             "-DINKMARK_NO_COST", "-o", cubin, os.path.join(HERE, "uniform_branch.cu"))
        text = run([find_nvdisasm(), "-c", cubin]).stdout
    kernels, lines = {}, None
    for line in text.splitlines():
        section = re.match(r"\.text\.(\S+):$", line)
        if section:
            lines = kernels.setdefault(section.group(1), [])
        elif line.startswith("\t.section") or line.startswith("//-----"):
            lines = None
        elif lines is not None:
            label = re.match(r"(\.L_x_\d+):", line)
            one = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line)
            if label:
                lines.append(("label", label.group(1)))
            elif one and not re.match(r"(@!?U?P\w+ )?NOP\b", one.group(1)):
                lines.append(("code", one.group(1)))
    return kernels


def count(lines):
    """All instructions, and those that a warp executes which takes every forward branch over a clock read:
    marks that were moved out of line, behind the kernel's end, are not executed either."""
    places = {word: i for i, (kind, word) in enumerate(lines) if kind == "label"}
    skipped = set()
    end = next((i for i, (kind, word) in enumerate(lines) if kind == "code" and "EXIT" in word
                and not word.startswith("@")), len(lines))
    for i, (kind, word) in enumerate(lines):
        target = re.search(r"\bBRA\b.*?(\.L_x_\d+)", word) if kind == "code" else None
        if target and word.startswith("@"):
            to = places.get(target.group(1), -1)
            if i < to <= end and any("CS2R" in lines[k][1] for k in range(i, to)) and to - i < 20:
                skipped.update(k for k in range(i + 1, to) if lines[k][0] == "code")
    code = [i for i, (kind, _) in enumerate(lines) if kind == "code"]
    return len(code), sum(1 for i in code if i not in skipped and i <= end)


def main():
    print(f"nvcc {version()}; instructions a mark, beyond the multiply-add")
    print(f"{'':8} {'':9} {'as it is':>10} {'branch, all':>12} {'branch, not taken':>18}")
    jobs = [(arch, branch, marks) for arch in ARCHS for branch in (0, 1) for marks in (8, 40)]
    found = dict(zip(jobs, in_parallel(lambda job: listing(*job), jobs)))
    for arch in ARCHS:
        for kernel in sorted(found[arch, 0, 8]):
            if "straight" not in kernel and "rolled" not in kernel:
                continue
            name = "straight" if "straight" in kernel else "rolled"
            each = []
            for branch in (0, 1):
                few, many = (count(found[arch, branch, marks][kernel]) for marks in (8, 40))
                each.append([(many[i] - few[i]) / 32 - 1 for i in (0, 1)])
            print(f"sm_{arch:<5} {name:9} {each[0][0]:10.2f} {each[1][0]:12.2f} {each[1][1]:18.2f}")


main()
