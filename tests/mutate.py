# SPDX-License-Identifier: MIT
"""Puts small faults into the sources, one at a time, and runs the tests that are nearest: which faults does no test notice?

mutate.py FOLDER [--seed N] [--count 60] [--only REGEX] [--jobs 2] [--no-known]

FOLDER gets a copy of the tree (tracked files) and builds of it, whose programs end with an error if they leave memory
unfreed or step out of it (INKMARK_TIGHT: lists have no room behind their last item), and whose rewriter frees what it has before it ends (INKMARK_FREE_ALL).
Only the tests of ADDRESSED are of the build with the sanitizer of addresses: the simulated device is loaded by programs without it, and others take too long. A mutant is judged by the tests of TESTS, group by group, until one fails. A test that fails without the fault too says nothing and
is not asked any more. A mutant that the compiler refuses, or whose object file with -O2 is that of the source without it, is
drawn again. KNOWN are faults that no test noticed in an earlier review; they come first and count with the others.
mutate_equivalent.txt has mutants that no input tells from the source, each with its reason; they are judged like the others, and
count as survivors. FOLDER/verdicts keeps each verdict with the commit. A run that was stopped goes on where it was: what the same
commit judged already is printed again, with "kept". If tracked files differ from the commit, no verdict is kept. The last lines
say how many verdicts were kept, how many of how many mutants were killed, and how many of those that are not in that list. The
exit code is 0 if at least 85 % of all were killed."""
import argparse
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

from listed_tests import listed_tests

# Which tests are run for the sources of a folder, in this order: those that read what it makes, that are no matter of chance,
# and that need no nvcc while they run. Others take most of the time of a fault that nothing notices, and were not once the first to notice one
# in the runs until 2026-11-30: they are not asked. So what these let live the whole suite may kill, never the other way round.
REWRITER = (r"instrument\.(unit|files|texts|counts|pieces)", r"instrument\.(drawn|memory)", r"instrument\.exact", r"instrument\.decisions", r"instrument\.drawn_full", r"instrument\.marked",
            r"instrument\.golden\.(control\.lines|(contexts|templates|waits|extended)\.every)", r"instrument\.(messages|broken)")
CACHE = (r"instrument\.kept_result", *REWRITER, r"instrument\.kept", r"instrument\.stopped")
TESTS = {
    "runtime/decode/": (r"unit_(decode|table)_exact", r"unit_(decode_problems|table|rows|open_ring)|cost\.taken_out", r"unit_(decode_model|launches)|report\.exact", r"unit_memory"),
    "runtime/table/": (r"unit_(table(_exact)?|findings_exact)|cost\.taken_out", r"report\.(exact|recomputed)", r"unit_(rows|launches|decode_exact|text)|report\.(findings|variance|path)", r"unit_memory"),
    "runtime/clock/": (r"unit_(clock|table)_exact", r"unit_(clock_map|decode_exact|table|stalls)", r"report\.exact|unit_capture_parts|cli\.info_json|merge\.loop", r"unit_memory"),
    "runtime/merge/join/": (r"unit_join_exact", r"unit_join", r"merge\.(loop|variants|rows|made_several)", r"merge\.(real_kineto_(a100_small|rocm_small)|real_nsys_2022_1gpu|rivals)",
                            r"merge\.(blind_kineto_rocm_small|blind_nsys_2022_1gpu|foreign)", r"unit_memory"),
    "runtime/cuda/drain": (r"unit_drain_exact", r"unit_(drain_parts|drain_thread|ring|open_ring)", r"unit_drain"),
    "device/sim/exec_": (r"sim\.machine\.(?!clock|config)[\w.]+", r"sim\.(apart|modern|launch|streams|threads|graphs|memory)"),
    **{f"instrument/{name}": CACHE for name in ("kept_result", "dependencies", "cache_folder", "parse", "run.", "prelude", "shadows", "shim")},
    "instrument/compile_commands": (*REWRITER[:1], r"instrument\.listed\.make", *REWRITER[1:]), "instrument/nvcc_macros": (*REWRITER[:1], r"instrument\.nvcc_macros", *REWRITER[1:]),
    "instrument/": REWRITER,
}
FOLDERS = tuple(TESTS)
WATCHED = ("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", "-ftrivial-auto-var-init=pattern")
ADDRESSED = r"unit_\w+|cost\.taken_out|instrument\.(unit|files|texts|counts|pieces|drawn)"

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


def limit_cpu():
    """Of each process of a test: so long that none needs it that ends, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (120, 130))


class Bench:
    def __init__(self, folder, jobs):
        self.root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.folder, self.tree, self.jobs = os.path.abspath(folder), os.path.join(os.path.abspath(folder), "tree"), str(jobs)
        self.fine = {}  # test -> whether it passes without a fault
        self.objects = {}  # path -> what an optimising compiler makes of it without a fault
        # what is read before it is written, or after it was freed, is noticed; without addresses MALLOC_PERTURB_ does so
        os.environ["ASAN_OPTIONS"] = "max_malloc_fill_size=1000000000:malloc_fill_byte=90:alloc_dealloc_mismatch=0:quarantine_size_mb=32:allocator_may_return_null=1"
        os.environ["LSAN_OPTIONS"] = f"suppressions={self.folder}/leaks.txt:print_suppressions=0"
        os.environ["INKMARK_FIRST_FAULT"] = "1"
        os.environ["INKMARK_CACHE"] = os.path.join(self.folder, "cache")
        os.environ["MALLOC_PERTURB_"] = "165"
        self.copy()
        with open(os.path.join(self.folder, "leaks.txt"), "w", encoding="utf-8") as file:
            file.write("leak:unloaded_inside\nleak:libclang\n")  # what a module's unloading leaves there is what that test is about
        self.builds = {}  # folder -> its targets, and the words of each of its tests
        self.take_build()

    def copy(self):
        os.makedirs(self.tree, exist_ok=True)
        for name in subprocess.check_output(["git", "-C", self.root, "ls-files"], text=True).splitlines():
            there, here = os.path.join(self.root, name), os.path.join(self.tree, name)
            if os.path.isfile(there) and not (os.path.exists(here) and open(here, "rb").read() == open(there, "rb").read()):
                os.makedirs(os.path.dirname(here), exist_ok=True)
                shutil.copy(there, here)
        for name in (".venv", "node_modules", "../shared"):  # the last holds traces that the join is tested with
            if os.path.exists(os.path.join(self.root, name)) and not os.path.lexists(os.path.join(self.tree, name)):
                os.symlink(os.path.realpath(os.path.join(self.root, name)), os.path.join(self.tree, name))

    def take_build(self, name=""):
        """The build that a test is of."""
        addressed = bool(re.fullmatch(ADDRESSED, name))
        self.build = os.path.join(self.tree, "build-addresses" if addressed else "build")
        if self.build not in self.builds:
            self.configure(*(("-fsanitize=address", "-fsanitize=address -DINKMARK_TIGHT") if addressed else ("-fsanitize=leak", "")))
            self.builds[self.build] = (set(re.findall(r"^(\S+): ", run("ninja", "-C", self.build, "-t", "targets", "all").stdout, re.M)),
                                       {name: words for name, (words, _, labels) in listed_tests(self.build).items() if "gpu" not in labels})
        self.known, self.listed = self.builds[self.build]

    def configure(self, linked, more):
        watched = [flag for flag in WATCHED if not run("gcc", flag, "-x", "c", "-c", "/dev/null", "-o", "/dev/null").returncode]
        # Without optimisation: a mutant is compiled in less time than it is tested. What is undefined ends the program, as in the
        # sanitized pass of tests/run.sh; what is read before it is written is no number that happens to be right.
        made = run("cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DINKMARK_BUILD_TESTS=ON", "-DINKMARK_BUILD_BENCH=OFF",
                   "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_COMPILER=gcc", f"-DCMAKE_C_FLAGS=-O0 -DINKMARK_FREE_ALL {more} {' '.join(watched)}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                   f"-DCMAKE_EXE_LINKER_FLAGS={linked}",
                   *(["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []))
        if made.returncode:
            sys.exit("the tree cannot be configured:\n" + made.stdout[-2000:])

    def needs(self, names):
        """The targets that the tests have in their command lines."""
        words = {word for name in names for word in self.listed[name]}
        words |= {part.partition("=")[2] for part in words if part.startswith("-D")}
        found = {os.path.relpath(word, self.build) for word in words if word.startswith(self.build + os.sep)}
        # a folder of a target: the simulated device's libraries, whose folder is what a program is told
        found |= {target for target in ("device/sim/libcudart.so.13", "device/sim/libcuda.so.1") if os.path.dirname(target) in found}
        found &= self.known
        if "cli/inkmark" in found:
            found |= {target for target in ("cli/inkmark-rewriter", "make_captures") if target in self.known}
        if any(re.match(r"truth|sim\.", name) for name in names):
            found |= {target for target in ("inkmark_preload", "cudart") if target in self.known}
        return sorted(found)

    def make(self, targets):
        return run("ninja", "-C", self.build, "-j", self.jobs, *targets)

    def passes(self, name):
        """Whether a test passes without a fault. It is asked when a mutant fails it for the first time."""
        if name not in self.fine:
            self.take_build(name)
            self.make(self.needs([name]))
            self.fine[name] = not run("ctest", "--test-dir", self.build, "-R", f"^{re.escape(name)}$").returncode
            if not self.fine[name]:
                print(f"{name} fails without a fault, and is not asked any more", flush=True)
        return self.fine[name]

    def groups(self, path, passed):
        """The tests of a file, group by group; those that passed, and those that failed without a fault, are not among them."""
        asked = next(TESTS[folder] for folder in FOLDERS if path.startswith(folder))
        seen = {name for name, fine in self.fine.items() if not fine} | passed
        for pattern in asked:
            whole = [name for name in self.listed if re.fullmatch(pattern, name) and name not in seen]
            seen |= set(whole)
            for addressed in (True, False):
                if group := [name for name in whole if bool(re.fullmatch(ADDRESSED, name)) == addressed]:
                    self.take_build(group[0])
                    yield group

    def optimised(self, path):
        """What an optimising compiler makes of a file."""
        self.take_build()
        listed = json.load(open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8"))
        of = next(one for one in listed if one["file"] == os.path.join(self.tree, path))
        made = os.path.join(self.build, "mutant.o")
        words = [word for word in shlex.split(of["command"]) if word not in ("-O0", *WATCHED) and "ccache" not in os.path.basename(word)]
        words[words.index("-o") + 1] = made
        if run(*words, "-O2", cwd=of["directory"]).returncode:
            return None
        run("objcopy", "--strip-all", made)
        return hashlib.sha256(open(made, "rb").read()).hexdigest()

    def judge(self, path, text):
        """killed, survived, refused (by the compiler) or same (object); and by which test, or what was not run."""
        passed = set()
        while True:
            verdict, what, by = self.judge_once(path, text, passed)
            if verdict != "killed" or all(self.passes(name) for name in by):
                return verdict, what

    def judge_once(self, path, text, passed):
        whole = os.path.join(self.tree, path)
        before = open(whole, encoding="utf-8").read()
        if path not in self.objects:
            self.objects[path] = self.optimised(path)
        with open(whole, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            mutated = self.optimised(path)
            if mutated is None or mutated == self.objects[path]:
                return ("same" if mutated else "refused"), "", ()
            for group in self.groups(path, passed):
                if self.make(self.needs(group)).returncode:
                    return "refused", "", ()
                # the limits are for mutants that never end: they are noticed
                done = run("ctest", "--test-dir", self.build, "-R", f"^({'|'.join(map(re.escape, group))})$", "--stop-on-failure",
                           "--timeout", "900", "--parallel", self.jobs, preexec_fn=limit_cpu)
                if "No tests were found" in done.stdout:
                    sys.exit(f"no test is one of {group}")
                if done.returncode:
                    by = re.findall(r"Test +#\d+: (\S+) \.*[\w ]*\*\*\*(?!Skipped|Not Run)", done.stdout)
                    if not by:
                        sys.exit(f"no test failed, but not all passed:\n{done.stdout[-2000:]}")
                    return "killed", "by " + " ".join(by[:2]), by
                passed |= set(group)
            return "survived", f"{len(passed)} tests", ()
        finally:
            with open(whole, "w", encoding="utf-8") as file:
                file.write(before)


class Verdicts:
    """What this commit's mutants got, as far as a run before this one came. One line of JSON each."""
    def __init__(self, root, folder):
        def git(*words):
            return subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        self.commit, self.changed = git("rev-parse", "--short=12", "HEAD"), bool(git("status", "--porcelain", "--untracked-files=no"))
        self.path, self.found = os.path.join(folder, "verdicts"), {}
        if not self.changed and os.path.exists(self.path):
            for line in open(self.path, encoding="utf-8"):
                try:
                    commit, mutant, verdict, what = json.loads(line)
                except ValueError:  # it was cut off
                    continue
                if commit == self.commit:
                    self.found[tuple(mutant)] = verdict, what

    def get(self, *mutant):
        return self.found.get(mutant)

    def keep(self, mutant, verdict, what):
        if not self.changed:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("\n" + json.dumps([self.commit, mutant, verdict, what]))

    def __str__(self):
        return self.commit + (" and changes" if self.changed else "")


def equivalent_mutants(root):
    """{(path, line, what it becomes): why nothing tells the two apart}"""
    found = {}
    with open(os.path.join(root, "tests", "mutate_equivalent.txt"), encoding="utf-8") as file:
        for block in re.split(r"\n\s*\n", re.sub(r"^#.*\n", "", file.read(), flags=re.M).strip()):
            if block:
                path, old, new, reason = (line.strip() for line in block.split("\n", 3))
                found[path, old, new.removeprefix("-> ").removesuffix("(nothing)")] = " ".join(reason.split())
    return found


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
    equivalent, verdicts = equivalent_mutants(bench.root), Verdicts(bench.root, bench.folder)

    def mutants():
        for path, old, new in KNOWN if not options.no_known else []:
            if re.search(options.only, path):
                text = open(os.path.join(bench.tree, path), encoding="utf-8").read()
                if text.count(old) != 1:
                    sys.exit(f"{path} has no more: {old}")
                yield path, text[:text.index(old)].count("\n") + 1, old.strip(), new.strip(), text.replace(old, new)
        for path, number, line in drawn:
            lines = open(os.path.join(bench.tree, path), encoding="utf-8").read().split("\n")
            old, lines[number] = lines[number], line
            yield path, number + 1, old.strip(), line.strip(), "\n".join(lines)

    count = {"killed": 0, "survived": 0, "refused": 0, "same": 0}
    reasons, kept = [], 0
    for path, number, old, new, text in mutants():
        began, mutant = time.monotonic(), (path, number, old, new)
        was = verdicts.get(*mutant)
        verdict, what = was or bench.judge(path, text)
        if not was:
            verdicts.keep(mutant, verdict, what)
        count[verdict] += 1
        if verdict in ("killed", "survived"):
            kept += bool(was)
            took = "kept" if was else f"{time.monotonic() - began:.0f} s"
            print(f"{verdict} {path}:{number}: {old}  ->  {new or '(nothing)'}  {what} ({took})", flush=True)
        if verdict == "survived" and (path, old, new) in equivalent:
            reasons.append(equivalent[path, old, new])
            print(f"  equivalent: {reasons[-1]}", flush=True)
        if verdict == "killed" and (path, old, new) in equivalent:
            sys.exit("this mutant is in the list of those that nothing tells from the source")
        if count["killed"] + count["survived"] >= options.count:
            break
    judged = count["killed"] + count["survived"]
    print(f"seed {options.seed}, commit {verdicts}: {count['refused']} did not compile, {count['same']} changed no code")
    print(f"{kept} of {judged} verdicts were kept from a run of this commit that was stopped")
    print(f"{count['killed']} of {judged} killed ({100 * count['killed'] / max(judged, 1):.1f} %); {len(reasons)} of the survivors have a reason why "
          f"nothing can tell them from the source: without them {100 * count['killed'] / max(judged - len(reasons), 1):.1f} %")
    sys.exit(not judged or count["killed"] < 0.85 * judged)


main()
