# SPDX-License-Identifier: MIT
"""What the code generation tests share: running nvcc, and reading PTX, machine code and ptxas' report."""
import collections
import concurrent.futures
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
DEVICE = os.path.join(ROOT, "device")
NVCC = os.environ.get("INKMARK_NVCC", "nvcc")
SKIPPED = 77  # CTest: SKIP_RETURN_CODE
ARCHS = (75, 80, 90, 100, 120)


def sampled(items, count):
    """All of them; in tests/run.sh, which sets INKMARK_SEED, `count` that the seed draws. tests/long.sh sets INKMARK_LONG."""
    seed = os.environ.get("INKMARK_SEED")
    if seed is None or os.environ.get("INKMARK_LONG") or count >= len(items):
        return items
    chosen = sorted(random.Random(seed).sample(range(len(items)), count))
    print(f"seed {seed}: {count} of {len(items)}")
    return [items[i] for i in chosen]


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def run(arguments, **more):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", **more)


def nvcc(*arguments, check=True):
    done = run([NVCC, "-I", DEVICE, "-Wno-deprecated-gpu-targets", *arguments])
    if check and done.returncode:
        sys.exit(f"nvcc {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done


def architectures():
    """Every compute capability that the installed nvcc compiles for."""
    listed = run([NVCC, "--list-gpu-arch"]).stdout.split()
    numbers = sorted(int(word.split("_")[1]) for word in listed)
    if not numbers:
        sys.exit(f"{NVCC} --list-gpu-arch lists nothing")
    return numbers


def version():
    return re.search(r"V[\d.]+", run([NVCC, "--version"]).stdout).group(0)


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, items))


def find_nvdisasm():
    pattern = os.path.join(ROOT, ".venv", "lib", "python3*", "site-packages", "nvidia", "*", "bin")
    for folder in glob.glob(pattern):
        tool = os.path.join(folder, "nvdisasm")
        if os.path.exists(tool):
            return tool
    found = run(["sh", "-c", "command -v nvdisasm"]).stdout.strip()
    return found or skip("no nvdisasm: tests/run.sh brings it (PyPI: nvidia-cuda-nvdisasm)")


class Code:
    """Machine code of one compilation: per kernel the instructions, the registers and the spills."""

    def __init__(self, source, arch, *flags):
        nvdisasm = find_nvdisasm()
        with tempfile.TemporaryDirectory() as folder:
            cubin = os.path.join(folder, "o.cubin")
            done = nvcc("-std=c++17", f"-arch=sm_{arch}", "-cubin", "-Xptxas", "-v", *flags,
                        "-o", cubin, source)
            listing = run([nvdisasm, "-c", cubin])
            if listing.returncode:
                sys.exit(f"nvdisasm: {listing.stderr}")
        self.instructions, self.labels = {}, {}
        kernel = None
        for line in listing.stdout.splitlines():
            section = re.match(r"\.text\.(\S+):$", line)
            label = re.match(r"(\.L_x_\w+|\$\S+):", line)
            if section:
                kernel = section.group(1)
                self.instructions[kernel], self.labels[kernel] = [], {}
            elif label and kernel:
                self.labels[kernel][label.group(1)] = len(self.instructions[kernel])
            elif line.startswith("\t.section") or line.startswith("//-----"):
                kernel = None
            elif kernel:
                one = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?);", line)
                if one and not re.match(r"(@!?U?P\w+ )?NOP\b", one.group(1)):
                    self.instructions[kernel].append(one.group(1).strip())
        self.registers, self.spills = {}, {}
        name = None
        for line in (done.stdout + done.stderr).splitlines():
            entry = re.search(r"Compiling entry function '(\S+)'", line)
            if entry:
                name = entry.group(1)
            used = re.search(r"Used (\d+) registers", line)
            if used and name:
                self.registers[name] = int(used.group(1))
            spilt = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
            if spilt and name:
                self.spills[name] = int(spilt.group(1)) + int(spilt.group(2))

    def count(self, kernel):
        return len(self.instructions[kernel])

    def run_through(self, kernel, landmarks, function=None):
        """The fewest instructions from the kernel's entry to its end that come by these, expressions, in this order: what
        the usual path runs, if these are on no other. Loops are left as soon as they can be. Or from the entry of the
        function that it calls and whose name this has in it, to where that returns."""
        code, labels = self.instructions[kernel], self.labels[kernel]
        first = next(at for label, at in labels.items() if label[0] == "$" and function in label) if function else 0
        steps, todo = {(first, 0): 1}, collections.deque([(first, 0)])
        while todo:
            at, passed = todo.popleft()
            if at >= len(code):
                continue
            count, text = steps[at, passed], code[at]
            passed += passed < len(landmarks) and bool(re.search(landmarks[passed], text))
            guarded = text.startswith("@")
            operation = text.split(" ", 1)[1].lstrip() if guarded else text
            branch = re.match(r"(?:BRA|CALL)\b.*?(\.L_x_\w+)", operation)  # such a call is a jump
            ends = operation.startswith(("EXIT", "RET"))
            if ends and passed == len(landmarks):
                return count
            follow = [labels[branch.group(1)]] if branch else []
            if not (branch or ends) or guarded or re.search(r"\bU?P\d", operation):
                follow.append(at + 1)
            for one in follow:
                if (one, passed) not in steps:
                    steps[one, passed] = count + 1
                    todo.append((one, passed))
        sys.exit(f"{kernel}: no path by {landmarks}")

    def loop(self, kernel, clocks):
        """The instructions of the first loop that reads the clock so often; the loop has no branch inside."""
        code, labels = self.instructions[kernel], self.labels[kernel]
        for at, text in enumerate(code):
            branch = re.search(r"\bBRA\b.*?(\.L_x_\w+)", text)
            first = labels.get(branch.group(1), len(code)) if branch else len(code)
            if sum("CLOCK" in line for line in code[first:at + 1]) >= clocks:
                return at + 1 - first
        sys.exit(f"{kernel}: no loop that reads the clock {clocks} times")


class Checks:
    """Counts what held and what did not; ends the program accordingly."""

    def __init__(self):
        self.passed = self.failed = 0

    def that(self, holds, text):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {text}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)
