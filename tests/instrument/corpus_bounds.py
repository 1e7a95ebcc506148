# SPDX-License-Identifier: MIT
"""tests/corpus.sh --bounds: what the default rules and the guard do to the objects of real sources, held against bounds.
Kernels are the entries of the objects, stamps are clock reads in machine code, registers and spills are what ptxas says,
and the calls and loops are those that corpus_count finds in clang's instantiated tree, not those of the rewriter's list."""
import atexit
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

CODE = 16  # machine instructions that make a call worth a section of its own
BOUNDS = {"lost": 0, "unstamped": 0, "covered": 90.0, "spills": 0, "warnings": 0, "registers_p90": 16, "emptied": 5.0,
          "off_median": 1.6, "off_worst": 3.0, "cold_median": 2.8, "cold_worst": 5.0, "warm_median": 1.6}
for word in os.environ.get("CORPUS_BOUNDS", "").split():
    BOUNDS[word.split("=")[0]] = float(word.split("=")[1])
here = os.path.dirname(os.path.abspath(__file__))
kept = tempfile.mkdtemp()  # what the front keeps: of all sources of a run, as in a build
atexit.register(shutil.rmtree, kept, True)


def find_tool(name):
    found = sorted(glob.glob(os.path.join(here, "../../.venv/lib/python3*/site-packages/nvidia/*/bin", name)))
    return found[0] if found else shutil.which(name)


def run_timed(command, cwd, env, limit=1800):
    """(exit code, what it said, processor seconds of it and all that it waited for)"""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True)
        begun = time.monotonic()
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begun > limit:
                os.killpg(child.pid, 9)
                _, status, used = os.wait4(child.pid, 0)
                status = 124 << 8
                break
            time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return child.returncode, said.read().decode(errors="replace"), used.ru_utime + used.ru_stime


def run_least(command, cwd, env, begin=lambda: None):
    """run_timed of the run that took least of two, of one where that takes 10 seconds or more; `begin` comes before each.
    Others may keep the machine busy, which only adds."""
    found = None
    for _ in range(2):
        begin()
        again = run_timed(command, cwd, env)
        found = min(found, again, key=lambda one: one[2]) if found else again
        if again[0] or again[2] >= 10:
            return again if again[0] else found
    return found


def entries_of(said):
    """entry -> registers, stack and spilled bytes, as -Xptxas -v prints; and the C75xx warnings"""
    entries, entry = {}, None
    for line in said.splitlines():
        found = re.search(r"Compiling entry function '([^']+)'", line)
        if found:
            entry = entries.setdefault(found[1], {"registers": 0, "stack": 0, "spill": 0})
        found = re.search(r"Function properties for (\S+)", line)
        if found:
            entry = entries.get(found[1])
        found = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if found and entry is not None:
            entry["stack"] = max(entry["stack"], int(found[1]))
            entry["spill"] = max(entry["spill"], int(found[2]) + int(found[3]))
        found = re.search(r"Used (\d+) registers", line)
        if found and entries:
            (entry or list(entries.values())[-1])["registers"] = int(found[1])
    return entries, len(re.findall(r"\bC75\d\d\b", said))


def stamps_of(cuobjdump, path):
    """entry -> clock reads in its machine code"""
    done = subprocess.run([cuobjdump, "-sass", path], capture_output=True, text=True, errors="replace")
    found, entry = defaultdict(int), None
    for line in done.stdout.splitlines():
        head = re.search(r"Function : (\S+)", line)
        if head:
            entry = head[1]
            found[entry] += 0
        elif entry and "SR_CLOCK" in line:
            found[entry] += 1
    return dict(found)


def code_of_calls(path, words, base, work):
    """(file, line) -> instructions of the plain machine code that came there from a function which was called and inlined, by
    the line table of another compile; lines with a call instruction have 1,000. None: it cannot be told."""
    tool, kinds = find_tool("nvdisasm"), {"-rdc=true", "-dc", "-lcuda"}
    code, _, _ = run_timed(["nvcc", "-cubin", "-lineinfo", path, "-o", work + "/lines.cubin"] +
                           [w for w in words if w not in kinds], base, dict(os.environ, TMPDIR=work))
    if code or not tool:
        return None
    done = subprocess.run([tool, "-gi", work + "/lines.cubin"], capture_output=True, text=True, errors="replace")
    found, spots, behind = defaultdict(int), [], False
    for line in done.stdout.splitlines():
        head = re.match(r'\s*//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?', line)
        if head:
            spots, behind = [] if behind else spots, False
            at = (head[3], head[4]) if head[3] else None
            if at:
                spots.append((os.path.realpath(os.path.join(base, at[0])), int(at[1])))
            elif not spots:
                own = os.path.realpath(os.path.join(base, head[1])), int(head[2])
        elif re.match(r"\s*/\*[0-9a-f]+\*/\s+\S", line):
            behind = True
            for spot in spots:
                found[spot] += 1
            if re.search(r"\bCALL\b", line):
                found[spots[0] if spots else own] += 1000
    return found


def signatures(entries):
    """The demangled names: nvcc puts a number made of the text into the name of an unnamed namespace, and marks change the text."""
    return subprocess.run(["c++filt"], input="\n".join(entries), capture_output=True, text=True).stdout.splitlines()


def kernel_name(entry, demangled={}):
    """`k` of `_Z1kIiEvPT_`"""
    if entry not in demangled:
        text = subprocess.run(["c++filt", entry], capture_output=True, text=True).stdout.strip()
        while re.search(r"<[^<>]*>", text):
            text = re.sub(r"<[^<>]*>", "", text)
        text = re.sub(r"\(anonymous namespace\)", "", text)
        if text.startswith("_Z"):  # c++filt gives up on the longest: the parts of the nested name, each with its length
            parts, rest = [], re.sub(r"^_Z[LN]*", "", text)
            while (found := re.match(r"\d+", rest)) and len(rest) > found.end():
                end = found.end() + int(found[0])
                parts.append(rest[found.end():end])
                rest = rest[end:]
            text = parts[-1] if parts else text
        demangled[entry] = re.split(r"::|\s", text.split("(")[0].strip())[-1]
    return demangled[entry]


# ---- calls and loops ---------------------------------------------------------------------------------


class Places:
    """What corpus_count printed of a source."""

    def __init__(self, text):
        self.kernels, self.functions, self.loops, self.calls = {}, {}, {}, {}
        for line in text.splitlines():
            words = line.split("\t")
            if words[0] in ("kernel", "function"):
                spot = words[2], int(words[3]), int(words[4])
                into = self.kernels if words[0] == "kernel" else self.functions
                into[spot] = words[1], tuple(map(int, words[5:7])), tuple(map(int, words[7:9]))
            elif words[0] == "loop":
                spot = words[1], int(words[2]), int(words[3]), "loop"
                old = self.loops.get(spot, (0, 0, False))
                self.loops[spot] = int(words[4]), int(words[5]), old[2] or words[6] == "real"
            elif words[0] == "call":
                spot = words[1], int(words[2]), int(words[3]), "call"
                callees = self.calls.setdefault(spot, {"end": (0, 0), "real": False, "names": set(), "to": set()})
                callees["end"] = max(callees["end"], (int(words[4]), int(words[5])))
                callees["real"] |= words[6] == "real"
                callees["names"].add(words[7])
                callees["to"].add((words[8], int(words[9]), int(words[10])))
        self.sites = defaultdict(list)  # a function's place -> calls of it
        for spot, call in self.calls.items():
            for to in call["to"]:
                self.sites[to].append(spot)

    def around(self, spot):
        """The innermost function of the count that holds the place."""
        best = None
        for where, (_, start, end) in list(self.functions.items()) + list(self.kernels.items()):
            if where[0] == spot[0] and start <= spot[1:3] <= end and (not best or start > best[1]):
                best = where, start
        return best and best[0]


def judge_places(places, listed, base):
    """(real calls and loops, those in a section, of these those that only the range of a setup has, [what is not])"""
    marked, passed, setups = defaultdict(list), set(), []  # file -> [(start, end)]
    for place in listed:
        path = os.path.realpath(os.path.join(base, place["file"]))
        spot = path, place["line"], place["column"]
        if place["state"] == "marked" and place["kind"] in ("call", "loop", "wait"):
            loop, call = places.loops.get(spot + ("loop",)), places.calls.get(spot + ("call",))
            ends = ([loop[:2]] if loop and place["kind"] != "call" else []) + \
                ([call["end"]] if call and place["kind"] != "loop" else [])
            marked[path].append((spot[1:], max(ends) if ends else spot[1:]))
        elif place["state"] == "marked" and place["kind"] == "setup":
            marked[path].append((spot[1:], (place["end_line"], place["end_column"])))
            setups.append((path, marked[path][-1]))
        elif "is in the range of another call" in (place["reason"] or ""):
            marked[path].append((spot[1:], spot[1:]))
        elif "what it calls is marked instead" in (place["reason"] or ""):
            passed.add(spot + ("call",))
    held = {}

    def is_in_section(spot, ways=()):
        if any(start <= spot[1:3] <= end for start, end in marked[spot[0]]):
            return True
        function = places.around(spot)
        return function is not None and function not in places.kernels and is_held(function, ways)

    def is_held(function, ways):
        if function in held:
            return held[function]
        if function in ways:
            return True
        sites = places.sites.get(function, [])
        answer = bool(sites) and all(is_in_section(s, ways + (function,)) for s in sites)
        if not ways:
            held[function] = answer
        return answer

    every = [s for s, p in places.calls.items() if p["real"] and s not in passed] + \
        [s for s, p in places.loops.items() if p[2]]
    places.real = every
    bare = [s for s in every if not is_in_section(s)]
    for path, span in setups:
        marked[path].remove(span)
    held.clear()
    by_setup = sum(not is_in_section(s) for s in every) - len(bare) if setups else 0
    return len(every), len(every) - len(bare), by_setup, bare


# ---- a source ----------------------------------------------------------------------------------------


def measure(path, tree, inkmark, words, count_tool, cuda, device):
    """words: nvcc's, without source and output"""
    base = os.path.dirname(path)
    row = {"file": os.path.relpath(path, tree), "compiled": False, "why": []}
    verbose = ["-Xptxas", "-v"]
    with tempfile.TemporaryDirectory() as work:
        env = dict(os.environ, TMPDIR=work)
        code, said, row["plain"] = run_least(["nvcc", "-c", path, "-o", work + "/plain.o"] + words + verbose, base, env)
        if code:
            errors = [l for l in said.splitlines() if "error" in l] or said.splitlines() or ["no message"]
            row["why"].append(errors[0][:200])
            return row
        row["compiled"] = True
        plain, row["plain_warnings"] = entries_of(said)
        rules = "--root " + tree
        env.update(INKMARK_RULES=rules, INKMARK_CACHE=kept, INKMARK_GUARD="off")
        command = [inkmark, "nvcc", "-c", path] + words + verbose

        def forget():  # nothing of this source is kept
            for path_of_text in glob.glob(kept + "/result-*") + glob.glob(kept + "/guard-*"):
                os.remove(path_of_text)

        code, said, row["off"] = run_least(command + ["-o", work + "/off.o"], base, env, forget)
        env["INKMARK_GUARD"] = "fix"
        code, said, row["cold"] = run_least(command + ["-o", work + "/cold.o"], base, env, forget)
        row["said"] = [l for l in said.splitlines() if l.startswith("inkmark:")]
        env["INKMARK_KEEP"] = "1"
        again, _, row["warm"] = run_least(command + ["-o", work + "/warm.o"], base, env)
        final, row["warnings"] = entries_of(said)
        row["code"] = code or again
        unmarked = [l for l in row["said"] if "without marks" in l]
        if code or again or unmarked:
            row["why"].append("LOST: " + (unmarked or said.splitlines()[-1:] or ["no message"])[0][:200])
        lists = glob.glob(work + "/inkmark-*/list.json")
        listed = json.load(open(lists[0]))["files"][0]["places"] if lists else []
        counted = subprocess.run([count_tool, path, tree, cuda, device] + words + ["-I" + base], capture_output=True,
                                 text=True, errors="replace", cwd=base, timeout=900)
        places = Places(counted.stdout)
        if counted.returncode:
            row["why"].append("not counted: " + counted.stderr[:200])
        stamps = stamps_of(find_tool("cuobjdump"), work + "/cold.o") if not code else {}
        row["real"], row["held"], row["by_setup"], bare = judge_places(places, listed, base)
        code = code_of_calls(path, words, base, work) if 10 * row["held"] < 9 * row["real"] else None
        row["real_code"], row["held_code"] = row["real"], row["held"]
        if code is not None:
            has = lambda spot: spot[3] == "loop" or code.get(spot[:2], 0) >= CODE
            kept_real = {s for s in places.real if has(s)}
            row["real_code"] = len(kept_real)
            bare = [s for s in bare if has(s)]
            row["held_code"] = row["real_code"] - len(bare)
    row["bare"] = ["%s:%d:%d %s" % (os.path.relpath(s[0], tree), s[1], s[2], s[3]) for s in bare]
    names = {k[0] for k in places.kernels.values()}
    row["entries"] = []
    guard = {m[0]: m[1] for l in row["said"] for m in
             re.findall(r"'([^']+)' (has all marks|has no marks in loops but waits|has no marks in loops, and those outside take no registers|"
                        "keeps its track alone|has no marks)(?:, and \\d+ registers at most)?:", l)}
    final, stamps = dict(zip(signatures(final), final.values())), dict(zip(signatures(stamps), stamps.values()))
    for (entry, before), signature in zip(sorted(plain.items()), signatures(sorted(plain))):
        name, after = kernel_name(entry), final.get(signature)
        row["entries"].append({"entry": entry, "name": name, "project": name in names, "before": before, "after": after,
                               "stamps": stamps.get(signature, 0), "guard": guard.get(name, "")})
    return row


# ---- all of them -------------------------------------------------------------------------------------


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def print_bounds(rows):
    """Prints the tables; True if all bounds hold."""
    good = [r for r in rows if r["compiled"] and any(e["project"] for e in r["entries"])]
    without = [r for r in rows if r["compiled"] and r not in good]
    entries = [(r, e) for r in good for e in r["entries"] if e["project"]]
    shown = lambda r, e: "%s: %s" % (r["file"], e["name"])
    lost = [shown(r, e) for r, e in entries if not e["after"]] + [r["file"] for r in good if any("LOST" in w for w in r["why"])]
    unstamped = [shown(r, e) for r, e in entries if e["after"] and not e["stamps"] and not e["guard"]]
    emptied = [shown(r, e) for r, e in entries if e["guard"] in ("keeps its track alone", "has no marks")]
    thinned = [shown(r, e) for r, e in entries if e["guard"].startswith("has no marks in loops")]
    both = [(r, e) for r, e in entries if e["after"]]
    spills = [shown(r, e) + " %d -> %d bytes" % (e["before"]["spill"], e["after"]["spill"]) for r, e in both
              if e["after"]["spill"] > e["before"]["spill"]]
    stacks = [shown(r, e) + " %d -> %d bytes" % (e["before"]["stack"], e["after"]["stack"]) for r, e in both
              if e["after"]["stack"] > e["before"]["stack"]]
    warned = ["%s %d -> %d" % (r["file"], r["plain_warnings"], r["warnings"]) for r in good if r["warnings"] > r["plain_warnings"]]
    gained = [e["after"]["registers"] - e["before"]["registers"] for r, e in both]
    real, held = sum(r["real"] for r in good), sum(r["held"] for r in good)
    for word, texts in (("lost", lost), ("unstamped", unstamped), ("emptied", emptied), ("no marks in loops", thinned),
                        ("spills", spills), ("stack", stacks), ("C75xx", warned)):
        for text in texts:
            print("%-18s %s" % (word, text))
    for r in good:
        for text in r["bare"]:
            print("%-18s %s" % ("in no section", text))
    ratio = lambda key: [r[key] / r["plain"] for r in good if r["plain"]]
    off, cold, warm = ratio("off"), ratio("cold"), ratio("warm")
    measured = {"lost": len(lost), "unstamped": len(unstamped), "covered": 100.0 * held / real if real else 100.0,
                "spills": len(spills), "warnings": len(warned), "registers_p90": percentile(gained, 0.9),
                "emptied": 100.0 * len(emptied) / len(entries) if entries else 0.0}
    if good:
        measured.update(off_median=statistics.median(off), off_worst=max(off), cold_median=statistics.median(cold),
                        cold_worst=max(cold), warm_median=statistics.median(warm))
    print("%d sources compiled with project kernels, %d without, %d not compiled; %d entries, of libraries %d" %
          (len(good), len(without), len(rows) - len(good) - len(without), len(entries),
           sum(not e["project"] for r in good for e in r["entries"])))
    print("calls and loops that are not trivial: %d, in a section %d (%d of them in the range of a setup); registers gained: median %+d, most %+d" %
          (real, held, sum(r.get("by_setup", 0) for r in good), percentile(gained, 0.5), max(gained, default=0)))
    if any(r.get("real_code") != r["real"] for r in good):
        print("without calls of less than %d machine instructions: %d, in a section %d" %
              (CODE, sum(r["real_code"] for r in good), sum(r["held_code"] for r in good)))
    fine = bool(good) and not any("not counted" in w for r in good for w in r["why"])
    for name, value in measured.items():
        holds = value >= BOUNDS[name] if name == "covered" else value <= BOUNDS[name]
        fine &= holds
        print("bound %-14s %8.2f  %s %-6g %s" % (name, value, ">=" if name == "covered" else "<=", BOUNDS[name],
                                                 "holds" if holds else "DOES NOT HOLD"))
    return fine


if __name__ == "__main__":  # corpus_bounds.py ROWS: what CORPUS_ROWS kept of several runs, as one
    with open(sys.argv[1]) as file:
        sys.exit(not print_bounds([json.loads(line) for line in file]))
