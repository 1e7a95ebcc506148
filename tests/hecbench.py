# SPDX-License-Identifier: MIT
"""Programs of HeCBench, plain and marked, on the simulated device: their output and what they copy from the device are equal.

    tests/hecbench.py [--list FILE] [--only REGEX] [--find SEED [--most N]] DIR BUILD

DIR is a checkout of zjin-lcf/HeCBench (never fetched here; tests/instrument/corpus/hecbench.txt names the commit), BUILD the CMake
build folder. Each program is built by its own Makefile three times: by nvcc, by `inkmark nvcc` with its default rules, and with every
rule. The guard is off, so that no mark is taken out again. Each program runs plain twice and marked twice, recorded.

A program passes if every run ends with 0, if the marked runs print what the plain ones do (lines that differ between the two plain
runs, and numbers in lines about time, are not compared), if they copy the same bytes from the device (tests/sim/copies.c; not
compared if the two plain runs differ, or if the list says "any order": sums of floats by atomics), and if the marked runs leave tracks. If it does not, all is built anew with -fmad=false: where
a mark holds a value, nvcc may fuse other products with sums, which changes the last bit. A program that is equal then is counted
apart. One line a program, then the sum. Exit code 1 if one fails, 77 if there is no checkout.

--find SEED draws programs that are not in the list, makes their arguments smaller until a plain run ends with 0 within 10 s, and
prints a line for the list. It shows nothing about marks.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERY = "--calls --loops --waits --depth 8"
ABOUT_TIME = re.compile(r"time|[^a-z](ms|us|ns|s|sec)\b|second|/s\b|clock|throughput|bandwidth|flop|elapsed|speed", re.I)
NUMBER = re.compile(r"-?[0-9][0-9.e+-]*|\binf\b|-?\bnan\b")
FAILED = re.compile(r"\bFAIL(ED)?\b|incorrect|mismatch|usage:", re.I)


def words_of(text):
    """The lines of an output without the numbers that are times."""
    lines = text.decode(errors="replace").splitlines()
    return [re.sub(r" +", " ", NUMBER.sub("#", line) if ABOUT_TIME.search(line) else line) for line in lines]


class Program:
    """One folder `NAME-cuda`, copied to where its neighbours are links, so that `../include` is found."""

    def __init__(self, checkout, build, work, name):
        self.build, self.work, self.name = build, work, name
        self.folder = work / "src" / f"{name}-cuda"
        self.flags = ""
        self.folder.parent.mkdir(exist_ok=True)
        for other in (checkout / "src").iterdir():
            link = self.folder.parent / other.name
            if other.name != self.folder.name and not link.exists():
                link.symlink_to(other)
        if self.folder.is_symlink():
            self.folder.unlink()
        shutil.copytree(checkout / "src" / self.folder.name, self.folder)

    def arguments(self):
        """The words of the first run that the Makefile asks for."""
        done = subprocess.run(["make", "-n", "run", "LAUNCHER=RUN"], cwd=self.folder, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            words = line.split()
            if words[:1] == ["RUN"] and len(words) > 1 and words[1].startswith("./"):
                return words[1][2:], words[2:]
        return None, []

    def make(self, rules):
        """Builds with nvcc (None) or `inkmark nvcc`; the reason if that fails."""
        compiler = self.work / "compiler"
        front = "nvcc" if rules is None else f"'{self.build}/cli/inkmark' nvcc"
        compiler.write_text(f'#!/bin/sh\nexec {front} -cudart shared -w "$@"\n')
        compiler.chmod(0o755)
        environment = dict(os.environ, INKMARK_STRICT="1", INKMARK_GUARD="off", INKMARK_QUIET="1", NVCC_APPEND_FLAGS=self.flags)
        environment.pop("INKMARK_RULES", None)
        if rules:
            environment["INKMARK_RULES"] = rules
        environment["PATH"] += ":/usr/local/cuda/bin"
        subprocess.run(["make", "clean"], cwd=self.folder, capture_output=True)
        done = subprocess.run(["make", f"CC={compiler}", "ARCH=compute_75"], cwd=self.folder, env=environment, capture_output=True,
                              text=True, errors="replace")
        if done.returncode == 0:
            return None
        said = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line or "undefined" in line]
        return f"does not build: {(said or ['?'])[0][:120]}"

    def run(self, command, limit, copies, record=()):
        """(reason, output, copies, what the standard error said)"""
        sim = self.build / "device" / "sim"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(sim), OMP_NUM_THREADS="1")
        copied = self.work / "copies"
        copied.unlink(missing_ok=True)
        environment["INKMARK_COPIES"] = str(copied)
        front = ["sh", "-c", f'LD_PRELOAD="{copies}:$LD_PRELOAD" exec "$@"', "sh"]  # before the runtime that record puts in front
        command = [*record, *front, *command]
        try:
            done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"did not end within {limit} s", b"", [], ""
        bytes_copied = sorted(copied.read_text().splitlines()) if copied.exists() else []
        said = done.stderr.decode(errors="replace")
        if done.returncode:
            why = [line for line in said.splitlines() if "inkmark-sim" in line] or said.splitlines()[-1:] or [""]
            return f"exit code {done.returncode}: {why[0][:120]}", done.stdout, bytes_copied, said
        return None, done.stdout, bytes_copied, said


def compare(name, plain, again, marked, what):
    """Why `marked` is not as `plain`; None if it is. `again` is a second plain run."""
    if len(plain) != len(again):
        return f"{name}: two plain runs have other numbers of {what}"
    if len(plain) != len(marked):
        return f"{name}: {len(marked)} {what} for {len(plain)}"
    other = [i for i in range(len(plain)) if plain[i] == again[i] and plain[i] != marked[i]]
    if not other:
        return None
    first = f"{plain[other[0]][:60]!r}, {marked[other[0]][:60]!r}"
    return f"{name}: {len(other)} of {len(plain)} {what} are not equal ({first})"


def check(program, binary, arguments, any_order, limit, copies):
    """(passed, what is to be said)"""
    why = program.make(None)
    if why:
        return False, why
    command = [f"./{binary}", *arguments]
    why, first, first_copies, _ = program.run(command, limit, copies)
    if why:
        return False, why
    if FAILED.search(first.decode(errors="replace")):
        return False, "its own check fails on the simulated device"
    why, second, second_copies, _ = program.run(command, limit, copies)
    if why:
        return False, why
    said = []
    for rules, name in ((None, "default"), (EVERY, "every")):
        why = program.make(rules or "")
        if why:
            return False, f"{name}: {why}"
        capture = program.work / "marked.ink"
        record = [str(program.build / "cli" / "inkmark"), "record", "--device", "sim", "-o", str(capture), "--"]
        why, out, out_copies, err = program.run(command, 10 * limit, copies, record)
        if why:
            return False, f"{name}: {why}"
        why = compare(name, words_of(first), words_of(second), words_of(out), "lines")
        compared = f"{len(first_copies)} copies"
        if not why and (any_order or first_copies != second_copies):
            compared = f"copies not compared ({'any order of threads' if any_order else 'two plain runs differ'})"
        elif not why:
            why = compare(name, first_copies, second_copies, out_copies, "copies")
        if why:
            return False, why
        tracks = re.findall(r"[0-9,]+ tracks?, [0-9,]+ marks?", err)
        if not tracks:
            return False, f"{name}: no tracks"
        said.append(f"{name} {tracks[-1]}")
    return True, f"{len(words_of(first))} lines, {compared}; " + "; ".join(said)


def smaller(arguments):
    """Arguments from small to larger: the last number is the count of repetitions in most of these programs."""
    numbers = [i for i, word in enumerate(arguments) if word.isdigit()]
    for least, divide in ((8, 65536), (32, 4096), (32, 256), (64, 16), (64, 1)):
        shrunk = list(arguments)
        for i in numbers:
            value = int(arguments[i])
            if i == numbers[-1] and len(numbers) > 1:
                shrunk[i] = "1"
            elif value > least:
                shrunk[i] = str(max(least, value // divide))
        if shrunk != arguments or divide == 1:
            yield shrunk
        if not numbers:
            return


def find(checkout, build, known, only, seed, most, work, copies):
    names = sorted(path.name[:-5] for path in (checkout / "src").glob("*-cuda") if (path / "Makefile").exists())
    names = [name for name in names if name not in known and re.search(only, name)]
    random.Random(seed).shuffle(names)
    for name in names[:most]:
        here = work / name
        here.mkdir()
        program = Program(checkout, build, here, name)
        binary, arguments = program.arguments()
        why = "no run in its Makefile" if not binary else program.make(None)
        for candidate in () if why else smaller(arguments):
            why, out, copied, _ = program.run([f"./{binary}", *candidate], 10, copies)
            if not why and (FAILED.search(out.decode(errors="replace")) or not copied):
                why = "says that it failed" if copied else "copies nothing from the device"
            if not why:
                print(f"{name}|{binary}|{' '.join(candidate)}", flush=True)
                break
            if why.startswith("did not end"):
                break
        if why:
            print(f"# {name}: {why}", flush=True)
        shutil.rmtree(here)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", type=pathlib.Path, default=ROOT / "tests/instrument/corpus/hecbench.txt")
    parser.add_argument("--only", default="")
    parser.add_argument("--find", type=int)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    options = parser.parse_args()
    checkout, build = options.checkout.resolve(), options.build.resolve()
    if not (checkout / "src").is_dir():
        print(f"skipped: no HeCBench in '{checkout}'")
        return 77
    if not options.list.exists():
        print(f"hecbench: no list '{options.list}'", file=sys.stderr)
        return 2
    programs = [line.split("|") for line in options.list.read_text().splitlines() if line and not line.startswith("#")]
    wrong = [line for line in programs if len(line) not in (3, 4)]
    if wrong:
        print(f"hecbench: '{'|'.join(wrong[0])}' is no folder|program|arguments of '{options.list}'", file=sys.stderr)
        return 2
    passed = fused = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        copies = work / "copies.so"
        subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", copies, ROOT / "tests/sim/copies.c", "-ldl"], check=True)
        if options.find is not None:
            find(checkout, build, {name for name, *_ in programs}, options.only, options.find, options.most, work, copies)
            return 0
        for name, binary, arguments, *order in programs:
            if not re.search(options.only, name):
                continue
            begun = time.monotonic()
            here = work / name
            here.mkdir()
            program = Program(checkout, build, here, name)
            good, said = check(program, binary, arguments.split(), bool(order), 60, copies)
            if not good and "are not equal" in said:
                program.flags = "-fmad=false"
                good, again = check(program, binary, arguments.split(), bool(order), 60, copies)
                said = f"{said}; with -fmad=false: {again}"
            differs = good and bool(program.flags)
            passed, fused, failed = passed + (good and not differs), fused + differs, failed + (not good)
            word = "FAILED" if not good else "fused" if differs else "passed"
            print(f"{name:24} {time.monotonic() - begun:6.1f} s  {word}: {said}", flush=True)
            shutil.rmtree(here)
    print(f"{passed} programs passed, {fused} with -fmad=false alone, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
