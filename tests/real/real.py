# SPDX-License-Identifier: MIT
"""Real kernels, marked as their authors would: real.py FOLDER [NAME...], with FOLDER from fetch.sh. Each is compiled as it is and
marked (bench/device/before_after.py); fails where marks add bytes of spills or a C75xx warning. Skipped where there is no FOLDER.
With INKMARK in the environment, what `inkmark verify` says of the marked kernels is printed, and its map of their instructions is
held against nvdisasm's listing (tests/verify/check_map.py)."""
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, HERE)
from kernels import KERNELS  # noqa: E402

SKIPPED = 77


def other_than_listed(folder, kernel):
    """The first of its files that is not the one of sources.txt, if any."""
    with open(os.path.join(HERE, "sources.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    sums = {f"{os.path.basename(repository)}/{path}": digest for repository, _, path, digest in rows}
    for path in kernel["edits"]:
        with open(os.path.join(folder, path), "rb") as file:
            if path in sums and hashlib.sha256(file.read()).hexdigest() != sums[path]:
                return path
    return None


def edited(text, edits, path):
    """The text with its marks; an edit that does not find its line is an error, so that no mark is left out in silence."""
    lines = text.split("\n")
    for place, anchor, insert, *which in edits:
        found = [i for i, line in enumerate(lines) if anchor in line]
        if not found or (not which and len(found) != 1):
            sys.exit(f"{path}: '{anchor}' is in {len(found)} lines")
        at = found[0 if not which else which[0] if which[0] < 0 else which[0] - 1] + sum(which[1:])
        if place == "from":
            del lines[at:]
            continue
        if place == "in":
            lines[at] = lines[at].replace(anchor, insert, 1)
            continue
        while place == "behind" and not lines[at].rstrip().endswith((";", "{", ")")):  # a statement of several lines
            at += 1
        lines.insert(at + (place == "behind"), insert)
    return "\n".join(lines)


def laid_out(folder, kernel, top):
    """A tree of links to the package's files with the marked ones in it, and the source to compile."""
    for root in kernel["roots"]:
        shutil.copytree(os.path.join(folder, root), os.path.join(top, root), copy_function=os.symlink, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns(".git"))
    for name, text in kernel.get("stubs", {}).items():
        os.makedirs(os.path.dirname(os.path.join(top, "stubs", name)), exist_ok=True)
        with open(os.path.join(top, "stubs", name), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    sections = os.path.join(top, "sections_of_real.h")
    with open(sections, "w", encoding="utf-8") as file:
        file.write(f'#pragma once\n#include "inkmark/mark.cuh"\n{kernel["sections"]}\n')
    for path, edits in kernel["edits"].items():
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            text = edited(file.read(), edits, path)
        os.remove(os.path.join(top, path))
        with open(os.path.join(top, path), "w", encoding="utf-8") as file:
            file.write(text)
    if "\n" not in kernel["source"]:
        return os.path.join(top, kernel["source"]), sections
    source = os.path.join(top, "real.cu")
    with open(source, "w", encoding="utf-8") as file:
        file.write(kernel["source"])
    return source, sections


def check_map(source, flags, work):
    """False where the map has not every instruction once, with its opcode, section by section."""
    tools = glob.glob(os.path.join(ROOT, ".venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm")) or [shutil.which("nvdisasm")]
    inkmark = os.environ.get("INKMARK")
    if not inkmark or not tools[0]:
        print("SKIPPED: the map of its instructions: no inkmark or no nvdisasm")
        return True
    os.environ["INKMARK_NVDISASM"] = tools[0]
    cubin, table = os.path.join(work, "real.cubin"), os.path.join(work, "map.json")
    steps = [[os.environ.get("INKMARK_NVCC", "nvcc"), "-I", os.path.join(ROOT, "device"), *flags, "-cubin", "-o", cubin, source],
             [inkmark, "verify", "--map", "-o", table, cubin],
             [sys.executable, os.path.join(ROOT, "tests", "verify", "check_map.py"), table, cubin, tools[0]]]
    return all(subprocess.run(step, check=False).returncode == 0 for step in steps)


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        print(f"SKIPPED: no sources of real kernels in '{sys.argv[1] if len(sys.argv) > 1 else ''}' (tests/real/fetch.sh)")
        sys.exit(SKIPPED)
    folder, failed, lost = os.path.abspath(sys.argv[1]), 0, 0
    chosen = [kernel for kernel in KERNELS if not sys.argv[2:] or any(word in kernel["name"] for word in sys.argv[2:])]
    for kernel in chosen:
        if not all(os.path.isfile(os.path.join(folder, path)) for path in kernel["edits"]):
            print(f"SKIPPED: {kernel['name']}: its sources are not there")
            lost += 1
            continue
        if other := other_than_listed(folder, kernel):
            print(f"SKIPPED: {kernel['name']}: {other} is not the file of sources.txt")
            lost += 1
            continue
        print(f"== {kernel['name']}", flush=True)
        with tempfile.TemporaryDirectory() as top:
            source, sections = laid_out(folder, kernel, top)
            flags = [*kernel["flags"], "-O3", "-w", "-lineinfo", "-include", sections,
                     *(f"-I{os.path.join(top, one)}" for one in [*kernel["include"], *(["stubs"] if "stubs" in kernel else [])]),
                     *(word for one in kernel.get("system", ()) for word in ("-isystem", os.path.join(top, one)))]
            done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "device", "before_after.py"), source,
                                   "--kernel", kernel["kernel"], *(["--verify", os.environ["INKMARK"]] if os.environ.get("INKMARK") else []),
                                   "--", *flags], check=False)
            mapped = check_map(source, flags, top)
        failed += done.returncode != 0 or not mapped
    print(f"{len(chosen) - lost} kernels, {failed} failed, {lost} skipped")
    sys.exit(1 if failed or not chosen else SKIPPED if lost == len(chosen) else 0)


main()
