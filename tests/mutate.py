# SPDX-License-Identifier: MIT
"""Puts small faults into the sources, one at a time, and runs the tests that are nearest: which faults does no test notice?

mutate.py FOLDER [--seed N] [--count 60] [--only REGEX]

FOLDER gets a copy of the tree (tracked files) and a build of it. A mutant that the compiler refuses, or whose object file
is that of the source without it, is drawn again. KNOWN are faults that no test noticed in an earlier review; they come
first and count with the others. The last line says how many of how many were killed; the exit code is 0 from 85 % on.
Drawn mutants can be equivalent (no input tells them from the source): a survivor is to be read, not to be believed."""
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys

# Which tests are run for the sources of a folder: those that read what it makes.
TESTS = {
    "runtime/decode/": r"^(unit_|truth\.|cli\.report|report\.(truth|made_up|cases)|roles|flight\.(ends|names))",
    "runtime/table/": r"^(unit_|cli\.report|cli\.export|report\.)",
    "runtime/clock/": r"^(unit_clock|clock\.|truth\.|merge\.(blind|drift))",
    "runtime/merge/join/": r"^(unit_|merge\.|activity\.trace)",
    "runtime/cuda/drain": r"^(unit_drain|unit_open_ring|arming\.(plain|sums|threads|capturing|full|first-use)|flight\.|truth\.)",
    "device/sim/exec_": r"^sim",
    "instrument/": r"^instrument\.(unit|messages|golden|names|lines|sums|odd)",
}
FOLDERS = tuple(TESTS)

KNOWN = [  # file, what stands there, what is put there
    ("runtime/decode/decode_ring.c", "wraps = (word & INK_CLOCK_MASK) > after;", "wraps = (word & INK_CLOCK_MASK) >= after;"),
    ("runtime/decode/decode_levels.c", "at[CALLED].cycles <= at[BODY].cycles);", "at[CALLED].cycles < at[BODY].cycles);"),
    ("runtime/decode/decode_levels.c", "limit = at[CALLED].cycles - (at[CALLED].cycles != 0);", "limit = at[CALLED].cycles;"),
    ("runtime/table/table.c", "unknown - (its_marks < unknown ? its_marks : unknown);", "unknown;"),
    ("runtime/table/table_rows.c", "row.p99_cycles = ink_quantile_get(&cell->sketch, 0.99);",
     "row.p99_cycles = ink_quantile_get(&cell->sketch, 0.98);"),
    ("runtime/clock/clock_fit.c", "pair->cycles1 + 1, pair->global_ns, -limits->slack_ns, 1))",
     "pair->cycles1, pair->global_ns, -limits->slack_ns, 1))"),
    ("runtime/clock/clock_line.c", "line.moved_ns = fmax(at_begin, at_end)", "line.moved_ns = fmin(at_begin, at_end)"),
    ("runtime/merge/join/join_align.c", "for (size_t j = chosen; j-- > 0 && c->links[j].launch == own->launch;)",
     "for (size_t j = 0; j-- > 0 && c->links[j].launch == own->launch;)"),
]

KINDS = [  # what is looked for in a line of code, what it becomes
    (r"(?<![<\-=!>])<(?![<=])(?= )", "<="), (r"<=(?= )", "<"), (r"(?<![\->=])>(?![>=])(?= )", ">="), (r"(?<!>)>=(?= )", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ ", " - "),
    (r" - (?=\w)", " + "), (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"), (r"<<(?= )", ">>"),
    (r">>(?= )", "<<"), (r"(?<=[( ])!(?=[\w(])", ""), (r"\bfmin\(", "fmax("), (r"\bfmax\(", "fmin("), (r"\+=", "-="),
    (r"(?<== )0;", "1;"), (r"\bcontinue;", ";"),
    (r"^(\s+)[\w.\->\[\]]+ (?:[+|&^]?=) [^;{}]+;$", r"\1;"), (r"^(\s+)\w+\([^;{}]*\);$", r"\1;"),  # a statement is left out
]


def places(tree, path):
    """(line number, new line) of each mutant of a file; texts and comments are left alone."""
    found, in_comment = [], False
    for number, line in enumerate(open(os.path.join(tree, path), encoding="utf-8").read().split("\n")):
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?\*/', lambda m: " " * len(m.group()), line)
        if in_comment or "/*" in code:
            in_comment = "*/" not in code
            continue
        if re.search(r"\b(free|malloc|calloc|realloc)\(", code):
            continue  # a leak, or a byte too few, is the sanitizers'
        if code.lstrip().startswith("#") or re.match(r"^\s*(static |const |enum |struct |extern )*[\w ]+\(.*[,{]$", code):
            continue
        for pattern, becomes in KINDS:
            for match in re.finditer(pattern, code):
                found.append((number, line[:match.start()] + match.expand(becomes) + line[match.end():]))
    return found


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


class Bench:
    def __init__(self, folder):
        self.root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.tree, self.build = os.path.join(folder, "tree"), os.path.join(folder, "tree", "build")
        os.makedirs(self.tree, exist_ok=True)
        for name in subprocess.check_output(["git", "-C", self.root, "ls-files"], text=True).splitlines():
            there, here = os.path.join(self.root, name), os.path.join(self.tree, name)
            if os.path.isfile(there) and not (os.path.exists(here) and open(here, "rb").read() == open(there, "rb").read()):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy(there, here)
        for name in (".venv", "node_modules"):
            if os.path.exists(os.path.join(self.root, name)) and not os.path.lexists(os.path.join(self.tree, name)):
                os.symlink(os.path.join(self.root, name), os.path.join(self.tree, name))
        made = run("cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DINKMARK_BUILD_TESTS=ON",
                   *(["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []))
        if made.returncode or run("cmake", "--build", self.build).returncode:
            sys.exit("the tree does not build:\n" + made.stdout[-2000:])
        self.sums = {}

    def objects(self, path):
        """What the compiler makes of a file, in all libraries that have it."""
        name, found = os.path.basename(path) + ".o", []
        for folder, _, files in os.walk(self.build):
            if name in files and folder.endswith(os.path.dirname(path).split("/", 1)[-1]):
                made = os.path.join(folder, name)
                run("objcopy", "--strip-debug", made, made + ".plain")
                found.append(hashlib.sha256(open(made + ".plain", "rb").read()).hexdigest())
        return sorted(found)

    def judge(self, path, text, regex):
        """killed, survived, refused (by the compiler) or same (object)."""
        whole = os.path.join(self.tree, path)
        before, objects = open(whole, encoding="utf-8").read(), self.objects(path)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            if run("cmake", "--build", self.build).returncode:
                return "refused"
            if objects and self.objects(path) == objects:
                return "same"
            tests = run("ctest", "--test-dir", self.build, "-R", regex, "-LE", "gpu", "--stop-on-failure", "--timeout", "300",
                        "--parallel", "2")
            if "No tests were found" in tests.stdout:
                sys.exit(f"no test matches {regex}")
            return "killed" if tests.returncode else "survived"
        finally:
            with open(whole, "w", encoding="utf-8") as file:
                file.write(before)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--count", type=int, default=60)
    asked.add_argument("--only", default="", help="of files that match")
    options = asked.parse_args()
    bench, chance = Bench(options.folder), random.Random(options.seed)
    files = [name for name in subprocess.check_output(["git", "-C", bench.root, "ls-files"], text=True).splitlines()
             if name.endswith(".c") and name.startswith(FOLDERS) and re.search(options.only, name)]
    drawn = [(path, *place) for path in files for place in places(bench.tree, path)]
    chance.shuffle(drawn)
    for regex in {regex for folder, regex in TESTS.items() if any(path.startswith(folder) for path in files)}:  # before any fault
        bad = run("ctest", "--test-dir", bench.build, "-R", regex, "-LE", "gpu", "--timeout", "600", "--parallel", "2")
        if bad.returncode:
            sys.exit("tests fail without a fault:\n" + bad.stdout[-3000:])

    def mutants():
        for path, old, new in KNOWN:
            if re.search(options.only, path):
                text = open(os.path.join(bench.tree, path), encoding="utf-8").read()
                if text.count(old) != 1:
                    sys.exit(f"{path} has no more: {old}")
                yield path, old.strip(), new.strip(), text.replace(old, new)
        for path, number, line in drawn:
            lines = open(os.path.join(bench.tree, path), encoding="utf-8").read().split("\n")
            old, lines[number] = lines[number], line
            yield f"{path}:{number + 1}", old.strip(), line.strip(), "\n".join(lines)

    count = {"killed": 0, "survived": 0, "refused": 0, "same": 0}
    for at, old, new, text in mutants():
        path = at.split(":")[0]
        verdict = bench.judge(path, text, next(TESTS[folder] for folder in FOLDERS if path.startswith(folder)))
        count[verdict] += 1
        if verdict in ("killed", "survived"):
            print(f"{verdict} {at}: {old}  ->  {new or '(nothing)'}", flush=True)
        if count["killed"] + count["survived"] >= options.count:
            break
    judged = count["killed"] + count["survived"]
    print(f"seed {options.seed}: {count['killed']} of {judged} killed; {count['refused']} did not compile, {count['same']} changed no code")
    sys.exit(not judged or count["killed"] < 0.85 * judged)


main()
