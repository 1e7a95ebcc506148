# SPDX-License-Identifier: MIT
"""Puts small faults into the sources, one at a time, and runs the tests that are nearest: which faults does no test notice?

mutate.py FOLDER [--seed N] [--count 60] [--only REGEX] [--jobs 2] [--no-known]

FOLDER gets a copy of the tree (tracked files) and a build of it. If FOLDER is ".", this checkout and its build/ are taken as
they are: each fault is taken back after its tests. Then that build is one with CMAKE_EXPORT_COMPILE_COMMANDS. A mutant that the compiler refuses, or whose object file
with -O2 is that of the source without it, is drawn again. KNOWN are faults that no test noticed in an earlier review; they come
first and count with the others. EQUIVALENT are mutants that no input tells from the source, each with its reason: they are
drawn again, and counted apart. The tests that are fastest without a fault run first, and the first that fails ends a mutant.
The last line says how many of how many were killed; the exit code is 0 from 85 % on.
A survivor that is in no list may still be equivalent: it is to be read, not to be believed."""
import argparse
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

from listed_tests import listed_tests

# Which tests are run for the sources of a folder: those that read what it makes and need no program that nvcc makes. So what
# they let live the whole suite may kill, never the other way round.
TESTS = {
    "runtime/decode/": r"^(unit_(decode|table|open_ring|rows|launches|clock_(map|exact)|drain_parts|text)|cli\.(report|export|diff)|report\.(exact|path|variance|findings|parts|diff)|cost\.taken)",
    "runtime/table/": r"^(unit_(table|rows|launches|text|decode_(model|exact))|cli\.(report|export|diff)|report\.(exact|path|variance|findings|parts|diff)|output\.(schema|compare|json)|cost\.taken)",
    "runtime/clock/": r"^(unit_(clock|table|rows|capture|drain_parts)|cli\.(info|report|export)|report\.exact|merge\.loop)",
    "runtime/merge/join/": r"^(unit_join|merge\.(blind|real|loop|foreign|made|rivals|nsight|variants|rows|database|export))",
    "runtime/cuda/drain": r"^(unit_drain|unit_open_ring|unit_ring)",
    "device/sim/exec_": r"^sim",
    "instrument/": r"^instrument\.(unit|counts|exact|messages|golden\..*\.(headerless|every|lines)|shapes\.every)",
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
    ("runtime/merge/join/join.c", "out->uncertain = d->uncertain[i] && !d->by_id[i];", "out->uncertain = d->uncertain[i];"),
    ("runtime/merge/join/join.c", "best->launches < 3 ? alone", "best->launches < 2 ? alone"),
    ("runtime/merge/join/join.c", "if (by_time * 4 > by_ids * 5 ||", "if (by_time > by_ids ||"),
    ("runtime/merge/join/join_offset.c", "out->share = first / within;", "out->share = first / full;"),
    ("runtime/cuda/drain_copy.c", "if (memcmp(&now, then, sizeof now) != 0)", "if (0)"),
    ("device/sim/exec_convert.c", "} else if (rounding == SIM_RM && back > value) {", "} else if (rounding == SIM_RM && back >= value) {"),
    ("device/sim/exec_convert.c", "(magnitude & 0xfff) != 0) << 12;", "(magnitude & 0xff) != 0) << 12;"),
]

EQUIVALENT = [  # file, the line, what it becomes, why nothing can tell the two apart
    ("runtime/table/table_cells.c", "if (at >= INK_ID_NONE - 1 || !INK_I_ROOM(table->passes) || !id_map_put(&table->pass_map, hash, (uint32_t)at))",
     "if (at >= INK_ID_NONE || !INK_I_ROOM(table->passes) || !id_map_put(&table->pass_map, hash, (uint32_t)at))", "four thousand million rows"),
    ("runtime/cuda/drain.c", "const uint32_t gap = INK_I_CALL_BYTES / (sizeof *d->headers + INK_I_ROW_BYTES);",
     "const uint32_t gap = INK_I_CALL_BYTES / (sizeof *d->headers - INK_I_ROW_BYTES);", "only how much one call reads"),
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
    def __init__(self, folder, jobs):
        self.root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.tree = self.root if folder == "." else os.path.join(folder, "tree")
        self.build, self.jobs = os.path.join(self.tree, "build"), str(jobs)
        self.ordered = {}  # regex -> groups of tests, each as a pattern and what is built for it
        if folder != ".":
            self.copy_and_configure()
        self.known = set(re.findall(r"^(\S+): ", run("ninja", "-C", self.build, "-t", "targets", "all").stdout, re.M))

    def copy_and_configure(self):
        os.makedirs(self.tree, exist_ok=True)
        for name in subprocess.check_output(["git", "-C", self.root, "ls-files"], text=True).splitlines():
            there, here = os.path.join(self.root, name), os.path.join(self.tree, name)
            if os.path.isfile(there) and not (os.path.exists(here) and open(here, "rb").read() == open(there, "rb").read()):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy(there, here)
        for name in (".venv", "node_modules", "../shared"):  # the last holds traces that the join is tested with
            if os.path.exists(os.path.join(self.root, name)) and not os.path.lexists(os.path.join(self.tree, name)):
                os.symlink(os.path.realpath(os.path.join(self.root, name)), os.path.join(self.tree, name))
        made = run("cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DINKMARK_BUILD_TESTS=ON", "-DINKMARK_BUILD_BENCH=OFF",
                   "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",  # a mutant is compiled in less time than it is tested
                   *(["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []))
        if made.returncode:
            sys.exit("the tree cannot be configured:\n" + made.stdout[-2000:])

    def needs(self, regex):
        """The targets that the tests have in their command lines."""
        words = {word for name, (command, _, labels) in listed_tests(self.build).items() if re.search(regex, name) and "gpu" not in labels
                 for word in command}
        found = {os.path.relpath(word, self.build) for word in words if word.startswith(self.build + os.sep)} & self.known
        more = ("cli/inkmark", "cli/inkmark-rewriter", "make_captures") if "cli/inkmark" in found else ()
        return sorted(found | {target for target in more if target in self.known})

    def make(self, targets):
        return run("ninja", "-C", self.build, "-j", self.jobs, *targets)

    def baseline(self, regex):
        """Runs the tests without any fault: one that fails then says nothing. Notes how long each takes."""
        built = self.make(self.needs(regex))
        if built.returncode:
            sys.exit("the tree does not build:\n" + built.stdout[-2000:])
        report = os.path.join(self.build, "baseline.xml")
        done = run("ctest", "--test-dir", self.build, "-R", regex, "-LE", "gpu", "--parallel", self.jobs, "--output-junit", report)
        cases = list(xml.etree.ElementTree.parse(report).getroot().iter("testcase"))
        if done.returncode or not cases:
            sys.exit("tests fail without a fault, or there are none:\n" + done.stdout[-3000:])
        groups, limit, spent = [[]], 3.0, 0.0
        # unit tests first: least is linked for them; then those that compare most
        order = sorted((0 if re.match("unit_|sim|instrument.unit", case.get("name")) else 1 if case.get("name").endswith(".exact") else 2,
                        float(case.get("time")), case.get("name")) for case in cases)
        for at, (whole, seconds, name) in enumerate(order):
            if (spent + seconds > limit or (at and whole != order[at - 1][0])) and groups[-1]:
                groups, limit, spent = [*groups, []], limit * 3, 0.0
            groups[-1].append(name)
            spent += seconds
        patterns = [f"^({'|'.join(map(re.escape, group))})$" for group in groups]
        self.ordered[regex] = [(pattern, self.needs(pattern)) for pattern in patterns]

    def optimised(self, path):
        """What an optimising compiler makes of a file."""
        listed = json.load(open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8"))
        of = next(one for one in listed if one["file"] == os.path.join(self.tree, path))
        made = os.path.join(self.build, "mutant.o")
        words = [word for word in shlex.split(of["command"]) if word != "-O0" and "ccache" not in os.path.basename(word)]
        words[words.index("-o") + 1] = made
        if run(*words, "-O2", cwd=of["directory"]).returncode:
            return None
        run("objcopy", "--strip-all", made)
        return hashlib.sha256(open(made, "rb").read()).hexdigest()

    def judge(self, path, text, regex):
        """killed, survived, refused (by the compiler) or same (object); and by which test."""
        whole = os.path.join(self.tree, path)
        before, objects = open(whole, encoding="utf-8").read(), self.optimised(path)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            mutated = self.optimised(path)
            if mutated is None or mutated == objects:
                return ("same" if mutated else "refused"), ""
            for pattern, targets in self.ordered[regex]:
                if self.make(targets).returncode:
                    return "refused", ""
                # the limit is for mutants that never end: they are noticed
                done = run("ctest", "--test-dir", self.build, "-R", pattern, "--stop-on-failure", "--timeout", "600",
                           "--parallel", self.jobs)
                if "No tests were found" in done.stdout:
                    sys.exit(f"no test matches {pattern}")
                if done.returncode:
                    by = re.findall(r"Test +#\d+: (\S+) \.*\*\*\*(?!Skipped|Not Run)", done.stdout)
                    return "killed", " ".join(by[:2])
            return "survived", ""
        finally:
            with open(whole, "w", encoding="utf-8") as file:
                file.write(before)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--count", type=int, default=60)
    asked.add_argument("--only", default="", help="of files that match")
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--no-known", action="store_true", help="only drawn ones")
    options = asked.parse_args()
    bench, chance = Bench(options.folder, options.jobs), random.Random(options.seed)
    files = [name for name in subprocess.check_output(["git", "-C", bench.root, "ls-files"], text=True).splitlines()
             if name.endswith(".c") and name.startswith(FOLDERS) and re.search(options.only, name)]
    drawn = [(path, *place) for path in files for place in places(bench.tree, path)]
    chance.shuffle(drawn)
    equivalent = {(path, old, new) for path, old, new, _ in EQUIVALENT}

    def mutants():
        for path, old, new in KNOWN if not options.no_known else []:
            if re.search(options.only, path):
                text = open(os.path.join(bench.tree, path), encoding="utf-8").read()
                if text.count(old) != 1:
                    sys.exit(f"{path} has no more: {old}")
                yield path, old.strip(), new.strip(), text.replace(old, new)
        for path, number, line in drawn:
            lines = open(os.path.join(bench.tree, path), encoding="utf-8").read().split("\n")
            old, lines[number] = lines[number], line
            yield f"{path}:{number + 1}", old.strip(), line.strip(), "\n".join(lines)

    count = {"killed": 0, "survived": 0, "refused": 0, "same": 0, "equivalent": 0}
    for at, old, new, text in mutants():
        path, began = at.split(":")[0], time.monotonic()
        if (path, old, new) in equivalent:
            verdict, by = "equivalent", ""
        else:
            regex = next(TESTS[folder] for folder in FOLDERS if path.startswith(folder))
            if regex not in bench.ordered:
                bench.baseline(regex)
            verdict, by = bench.judge(path, text, regex)
        count[verdict] += 1
        if verdict in ("killed", "survived"):
            print(f"{verdict} {at}: {old}  ->  {new or '(nothing)'}{'  by ' + by if by else ''} ({time.monotonic() - began:.0f} s)", flush=True)
        if count["killed"] + count["survived"] >= options.count:
            break
    judged = count["killed"] + count["survived"]
    print(f"seed {options.seed}: {count['killed']} of {judged} killed; {count['refused']} did not compile, {count['same']} changed no code, "
          f"{count['equivalent']} are known to be equivalent")
    sys.exit(not judged or count["killed"] < 0.85 * judged)


main()
