# SPDX-License-Identifier: MIT
"""What the rewriter decides of small kernels, against what docs/rewriter.md says of them, worked out here anew.

check_decisions.py INKMARK. Each kernel is made with its answer: how often a loop runs is counted by running it here, how many
operations a body has is how many were put into it, which values are held follows from what was done to them. The kernels of
a group stand in one source, which is read without the toolkit's headers."""
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

inkmark = os.path.abspath(sys.argv[1])
wrong = checked = 0
PATIENCE = ["--parse-seconds", "20"] if os.environ.get("INKMARK_FIRST_FAULT") else []  # of tests/mutate.py, for what never ends
HELPERS = """
__device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * 1.5f + 2; return x; }
__device__ float other(float x, int n) { for (int i = 0; i < n; i++) x = x * 2.5f + 1; return x; }
struct box { float v; __device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * v + 2; return x; } };
"""


def check(fine, what, *shown):
    global wrong, checked
    checked += 1
    if not fine:
        wrong += 1
        if wrong <= int(os.environ.get('SHOW', 12)):
            print("FAILED:", what, *(str(one)[:1500] for one in shown), sep="\n  ")
        if PATIENCE:
            sys.exit(1)


def marks_of(text):
    return re.findall(r"/\*ink\[\*/(.*?)/\*ink\]\*/", text, re.S)


class Group:
    """Kernels in one source; `look(name)` gives what was decided of one."""

    def __init__(self, *options, before=HELPERS):
        self.options, self.texts, self.names = options, [before], {}

    def kernel(self, body, parameters="float *p, int n, float a", attributes="", head="__global__ void", before=""):
        name = f"k{len(self.names)}_"
        self.names[name] = body
        self.texts.append(f"{before}{head} {attributes}{name}({parameters}) {{ {body} }}\n")
        return name

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.cu")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(self.texts))
            how = ["--header-less", *PATIENCE, "--root", folder, *self.options]
            end = ["--", "-arch=sm_90a", "-std=c++17"]
            listed = subprocess.run([inkmark, "instrument", *how, "--list", "--format", "json", path, *end], capture_output=True, text=True)
            marked = subprocess.run([inkmark, "instrument", *how, "-o", "-", path, *end], capture_output=True, text=True)
            assert listed.returncode == 0 and marked.returncode == 0, (listed.stderr[-2000:], marked.stderr[-2000:])
        self.list = json.loads(listed.stdout)["files"][0]
        lines = "\n".join(self.texts).split("\n")
        now = marked.stdout.split("#line 1 ")[-1].split("\n")[1:]
        if "#pragma" not in marked.stdout:  # before one, whole lines are put in
            stripped = [re.sub(r"/\*ink\[\*/.*?/\*ink\]\*/", "", line) for line in now]
            check(stripped == lines, "what is between the marks is the text as it was, line by line")
        self.found = {}
        for name in self.names:
            at = next(i for i, line in enumerate(lines) if f" {name}(" in line)
            places = [one for one in self.list["places"] if one["line"] == at + 1]
            self.found[name] = (places, now[at], marks_of(now[at]))
        self.remarks = [(one["line"], one["text"]) for one in self.list["remarks"]]
        self.lines = {name: next(i for i, line in enumerate(lines) if f" {name}(" in line) + 1 for name in self.names}
        return self

    def list_only(self):
        """The list and the remarks alone: after an error nothing is written."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.cu")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(self.texts))
            listed = subprocess.run([inkmark, "instrument", "--header-less", *PATIENCE, "--root", folder, *self.options, "--list", "--format", "json", path, "--", "-arch=sm_90a",
                                     "-std=c++17"], capture_output=True, text=True)
        self.list = json.loads(listed.stdout)["files"][0]
        self.remarks = [(one["line"], one["text"]) for one in self.list["remarks"]]
        lines = "\n".join(self.texts).split("\n")
        self.lines = {name: next(i for i, line in enumerate(lines) if f" {name}(" in line) + 1 for name in self.names}

    def look(self, name):
        return self.found[name]

    def place(self, name, kind, of=""):
        return [one for one in self.found[name][0] if one["kind"] == kind and (not of or one["name"] == of)]

    def passes(self, name):
        """What is kept of the passes of the first loop: rows, sums, or nothing."""
        line = self.found[name][1]
        return "rows" if "PROF_ITER(" in line else "sums" if "INK_SUM_SCOPE(" in line else "alone"

    def remark(self, name):
        return [text for at, text in self.remarks if at == self.lines[name]]


def trips_of(first, op, bound, step, most=1000):
    """How often `for (int i = first; i op bound; step)` runs."""
    i, trips = first, 0
    while trips < most and eval(f"i {op} bound", {}, {"i": i, "bound": bound}):
        kind, by = step
        if kind == "+":
            i += by
        elif kind == "*":
            i *= by
        elif kind == "/":
            i = int(i / by)
        elif kind == ">>":
            i >>= by
        elif kind == "<<":
            i <<= by
        trips += 1
    return trips


STEPS = {"i++": ("+", 1), "++i": ("+", 1), "i--": ("+", -1), "--i": ("+", -1), "i += 3": ("+", 3), "i -= 2": ("+", -2), "i *= 2": ("*", 2),
         "i /= 2": ("/", 2), "i >>= 1": (">>", 1), "i <<= 1": ("<<", 1), "i += 1": ("+", 1)}


def trips():
    """A loop that is known to run fewer than 32 times is unrolled; one of at most 128 has rows if its body is long."""
    small, long = Group(), Group()
    cases = []
    for step, does in STEPS.items():
        for first, op, bound in [(0, "<", 31), (0, "<", 32), (0, "<=", 30), (0, "<=", 31), (0, "!=", 31), (0, "!=", 32), (31, ">", 0), (32, ">", 0),
                                 (30, ">=", 0), (31, ">=", 0), (0, "<", 93), (0, "<", 94), (0, "<", 96), (0, "<", 97), (62, ">", 0), (63, ">", 0), (64, ">", 0), (1, "<", 1 << 29), (1, "<", 1 << 31 - 1),
                                 (1 << 30, ">", 0), (1, "<=", 1 << 30), (5, "<", 5), (0, "<", 128), (0, "<", 129), (128, ">", 0), (129, ">", 0), (127, ">=", 0), (128, ">=", 0),
                                 (0, "<", 384), (0, "<", 385), (256, ">", 0), (257, ">", 0), (256, ">=", 2), (0, "<=", 127), (0, "<=", 128)]:
            if does[0] == "<<" or does[0] == "*":
                if first == 0 or op in (">", ">="):
                    continue
            elif does[1] < 0 or does[0] in ("/", ">>"):
                if op in ("<", "<=", "!="):
                    continue
            elif op in (">", ">="):
                continue
            n = trips_of(first, op, bound, does)
            if n >= 1000:
                continue
            loop = f"for (int i = {first}; i {op} {bound}; {step})"
            cases.append((loop, n, small.kernel(f"float x = a; {loop} x = x * a + 1; p[0] = x;"),
                          long.kernel(f"float x = a; {loop} {{ x = heavy(x, n); x += 1; }} p[0] = x;")))
    small.run()
    long.run()
    for loop, n, one, two in cases:
        found = small.place(one, "loop")[0]
        check((found["state"] == "marked") == (n >= 32) and ("is unrolled" in (found["reason"] or "")) == (n < 32), f"{loop} runs {n} times", found)
        check(small.passes(one) == "alone", f"{loop}, a small body: no passes", small.look(one)[1])
        found = long.place(two, "loop")[0]
        want = "alone" if n < 32 else "rows" if n <= 128 else "sums"
        check(found["state"] == "marked", f"{loop} runs {n} times, with a call of a loop", found)
        check(long.passes(two) == want, f"{loop} runs {n} times: {want}", long.look(two)[1])
        check(want != "rows" or re.search(r"PROF_ITER\(i[,)]", long.look(two)[1]), f"{loop}: its variable is the row", long.look(two)[1])


def unknown_heads():
    """Heads that say nothing of how often they run, and a bound that is a constant by a name."""
    group = Group()
    cases = [(loop, want, group.kernel(f"float x = a; int m = n, z = 0; const int c = {c}; (void)c; (void)z; (void)m; {loop} {{ x = heavy(x, n); x += 1; }} p[0] = x;"))
             for c in (31, 40, 200) for loop, want in [
                 ("for (int i = 0; i < n; i++)", "sums"), ("for (int i = n; i > 0; i--)", "sums"), ("for (int i = 0; i < m; i++)", "sums"),
                 ("while (z++ < n)", "sums"), ("for (int i = 0; i < 60; i += n)", "sums"), ("for (int i = 0; n > i * 2; i++)", "sums"),
                 ("for (int i = 0; i < 60; i ^= 1)", "sums"), ("for (;;)", "sums"), ("for (int i = 0, j = 0; i < 20; i++, j++)", "sums"),
                 ("for (int i = 0; i < c; i++)", {31: "alone", 40: "rows", 200: "sums"}[c]), ("for (int i = 0; i < c + 1; ++i)", {31: "rows", 40: "rows", 200: "sums"}[c]),
                 ("for (int i = c; i >= 1; i--)", {31: "alone", 40: "rows", 200: "sums"}[c])]]
    group.run()
    for loop, want, name in cases:
        check(group.passes(name) == want, f"{loop}: {want}", group.look(name)[1])


def operations():
    """Passes of a loop are summed from 400 operations on; a call in it from 100 on."""
    group = Group()
    cases = []
    for body, n in [("x *= a;", 1), ("x = x * a;", 2), ("x = x * a + a;", 3), ("x = -x;", 2), ("x = a > 0 ? x : a;", 3)]:
        for count in (1, 397 // n - 1, 397 // n, -(-398 // n), 398 // n + 3):  # a pass also compares and counts
            cases.append((body, n * count + 2, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ {body * count} }} p[0] = x;")))
    inner = []
    for trips, count in [(10, 37), (10, 38), (10, 39), (20, 17), (20, 18), (20, 19), (31, 11), (31, 10), (4, 97), (4, 98), (4, 99)]:
        inner.append((trips * (count + 2) + 2, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ for (int j = 0; j < {trips}; j++) {{ {'x *= a;' * count} }} }} p[0] = x;")))
    waits = [(wait, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x += p[i]; p[i + 1] = x; {wait} }} p[0] = x;"))
             for wait in ("__syncthreads();", "__syncwarp();", "for (int j = 0; j < n; j++) x *= a;", "for (int j = 0; j < 8; j++) x *= a;", "while (x > 1) x *= a;", "")]
    group.run()
    for body, count, name in cases:
        check(group.passes(name) == ("sums" if count >= 400 else "alone"), f"{count} operations by '{body}'", group.look(name)[0])
    for count, name in inner:
        check(group.passes(name) == ("sums" if count >= 400 else "alone"), f"{count} operations in an inner loop", group.look(name)[0])
    for wait, name in waits:
        is_long = wait.startswith(("__syncthreads", "for (int j = 0; j < n", "while"))
        check(group.passes(name) == ("sums" if is_long else "alone"), f"a body with '{wait}'", group.look(name)[1])

    helpers, cases = "", []
    for i, count in enumerate((40, 90, 99, 100, 101, 140)):
        helpers += f"__device__ float light{i}(float x, float a) {{ {'x *= a;' * count} return x; }}\n"
        helpers += f"__device__ float reads{i}(float x, float *p) {{ {'x *= 2;' * count} return x + p[0]; }}\n"
        helpers += f"__device__ float array{i}(float x, float a) {{ float t[4] = {{a, a, a, a}}; {'x *= a;' * count} return x + t[1] + t[0]; }}\n"
    group = Group(before=HELPERS + helpers)
    for i, count in enumerate((40, 90, 99, 100, 101, 140)):
        cases.append((count, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x = heavy(x, n); x = light{i}(x, a); }} p[0] = x;"), f"light{i}", count >= 100))
        cases.append((count, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x = heavy(x, n); x = reads{i}(x, p); }} p[0] = x;"), f"reads{i}", True))
        cases.append((count, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x = heavy(x, n); x = array{i}(x, a); }} p[0] = x;"), f"array{i}", count >= 98))
        cases.append((count, group.kernel(f"float x = a; x = light{i}(x, a); p[0] = x;"), f"light{i}", True))
    group.run()
    for count, name, called, want in cases:
        found = group.place(name, "call", called)[0]
        check((found["state"] == "marked") == want, f"{called} of {count} operations", found, group.look(name)[1])


def pragmas():
    """Which words before a loop ask to unroll it."""
    macros = """#define UNROLL(n) _Pragma("unroll")
#define TILE_UNROLL _Pragma("unroll")
#define NO_UNROLL _Pragma("nounroll")
#define PLAIN
#define DEEPER TILE_UNROLL
"""
    group = Group(before=macros + HELPERS)
    cases = []
    for before, unrolled in [("#pragma unroll", True), ("#pragma unroll 4", True), ("#pragma unroll(4)", True), ("#pragma unroll 1", False), ("#pragma unroll(1)", False),
                             ("#pragma unroll 10", True), ("#pragma unroll (16)", True), ("#pragma nounroll", False), ("#pragma nv_diag_default 1", False), ("", False),
                             ('_Pragma("unroll")', True), ('_Pragma("unroll 1")', False), ('_Pragma("nounroll")', False), ("UNROLL(4)", True), ("UNROLL(1)", False),
                             ("TILE_UNROLL", True), ("NO_UNROLL", False), ("PLAIN", False), ("DEEPER", True), ("/* unroll */", False), ("#pragma unroll\n/* why */", True)]:
        for inside in ("x *= a;", "x = heavy(x, n); x += 1;"):
            body = f"float x = a;\n{before}\nfor (int i = 0; i < n; i++) {{ {inside} }} p[0] = x;"
            cases.append((before, unrolled, inside, group.kernel(body)))
    group.run()
    lines = "\n".join(group.texts).split("\n")
    for before, unrolled, inside, name in cases:
        at = next(i for i, line in enumerate(lines) if f" {name}(" in line)
        end = at + group.names[name].count("\n") + 1
        found = next(one for one in group.list["places"] if one["kind"] == "loop" and at < one["line"] <= end and one["function"] == name)
        if "heavy" in inside:
            check(found["state"] == "marked", f"a loop behind '{before}' with a call", found)
        else:
            check((found["state"] == "marked") != unrolled, f"a loop behind '{before}'", found)


def registers():
    """A counter that indexes an array of the function's own, in a loop whose length the compiler knows: unrolled."""
    template = Group(before=HELPERS + "template <int N> struct shape { static constexpr int size = N; float x[8]; };\n__constant__ float table[64];\n__device__ float global[64];\n")
    cases = []
    for declared, use, unrolled in [("float t[64];", "t[i]", True), ("float t[2][64];", "t[1][i]", True), ("float t[64];", "p[i]", False), ("__shared__ float t[64];", "t[i]", False),
                                    ("float t[64];", "t[0]", False), ("", "table[i]", False), ("", "global[i]", False), ("shape<64> t;", "t.x[i]", True), ("static float t[64];", "t[i]", False),
                                    ("float *t = p;", "t[i]", False), ("float t[64];", "t[i + 1]", True), ("float t[64]; int j = n;", "t[j]", False),
                                    ("float (*t)[64] = (float (*)[64])p;", "t[1][i]", False), ("struct { float *v; } t = {p};", "t.v[i]", False), ("float *t[2] = {p, p};", "t[1][i]", False),
                                    ("shape<64> s, *t = &s;", "t->x[i]", False), ("shape<64> s, &t = s;", "t.x[i]", True),
                                    ("struct { float v[64]; } t[2];", "t[1].v[i]", True), ("float t[64]; float (&r)[64] = t;", "r[i]", True), ("float t[64];", "(t)[i]", True)]:
        for bound, known in [("64", True), ("N", True), ("n", False), ("shape<N>::size", True), ("N * 2", True), ("n * 2", False), ("heavy(a, 3)", False)]:
            head = "template <int N> __global__ void"
            cases.append((declared, use, bound, unrolled and known, template.kernel(f"{declared} float x = a; for (int i = 0; i < {bound}; i++) x += {use}; p[0] = x;", head=head)))
    template.run()
    for declared, use, bound, unrolled, name in cases:
        found = template.place(name, "loop")[0]
        check(("is unrolled" in (found["reason"] or "")) == unrolled, f"'{declared}' by {use}, up to {bound}", found)


def slots():
    """Of the eight sums of an outermost loop its passes, its waits and the loops in it come first, then calls."""
    group = Group()
    cases = []
    for waits in range(0, 10, 3):
        for loops in range(0, 5):
            for calls in range(0, 9, 2):
                body = "".join(f"for (int j{i} = 0; j{i} < n; j{i}++) {{ x += p[j{i}]; x = other(x, n); x *= 2; }}" for i in range(loops))
                body += "__syncthreads();" * waits + "x = heavy(x, n);" * calls
                if waits + loops + calls:
                    cases.append((waits, loops, calls, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x += p[i]; p[i] = x; {body} }} p[0] = x;")))
    group.run()
    for waits, loops, calls, name in cases:
        line = group.look(name)[1]
        sums = line.count("PROF_SUM_BEGIN(") + line.count("INK_SUM_SCOPE(")
        left = max(0, 8 - 1 - waits - loops)
        marked = [one for one in group.place(name, "call") if one["state"] == "marked"]  # a call in an inner loop is one too
        check(len(marked) == min(left, loops + calls), f"{waits} waits, {loops} loops, {calls} calls: {min(left, loops + calls)} of the calls are summed", line, group.look(name)[0])
        check(sums <= 8 and line.count("PROF_SUM_BEGIN(") == line.count("PROF_SUM_END("), f"{waits} waits, {loops} loops: {sums} sums")
        done = [one for one in group.look(name)[0] if one["kind"] in ("wait", "loop") and one["state"] == "marked"]
        check(len(done) == 1 + min(7, waits + loops), f"{waits} waits, {loops} loops: which are summed", group.look(name)[0])
        check(line.count("PROF_SUM_FLUSH();") == 1, "the sums are recorded once", line)


def ways_out():
    """A loop that leaves its function ends its range by scope; break and continue do not."""
    group = Group()
    cases = [(way, by_scope, group.kernel(f"float x = a; for (int i = 0; i < n; i++) {{ x = heavy(x, n); x += 1; {way} }} p[0] = x; {end}"))
             for way, by_scope, end in [("if (x > 9) return;", True, ""), ("if (x > 9) break;", False, ""), ("if (x > 9) continue;", False, ""),
                                        ("if (x > 9) goto out;", True, "out: p[1] = x;"), ("", False, ""), ("auto f = [&](float y) { return y + 1; }; x = f(x);", False, ""),
                                        ("for (int j = 0; j < n; j++) if (p[j] > 2) return;", True, ""), ("{ { if (x > 2) return; } }", True, "")]]
    after = group.kernel("float x = a; for (int i = 0; i < n; i++) { x = heavy(x, n); x += 1; } if (x > 2) return; p[0] = x;")
    group.run()
    for way, by_scope, name in cases + [("a return behind it", False, after)]:
        line = group.look(name)[1]
        check(("PROF_SCOPE(" in line) == by_scope and ("INK_FLUSH_AT_END();" in line) == by_scope and ("PROF_SUM_FLUSH();" in line) != by_scope, f"a loop with '{way}'", line)
        check(line.count("PROF_BEGIN(") == line.count("PROF_END("), f"begins and ends with '{way}'", line)


def row_names():
    """Of which type a counter can be the row: an integer that starts at a literal; else a count of its own."""
    group = Group("--rows")
    cases = [(init, row, group.kernel(f"float x = a; for ({init}; i < 999; i++) {{ x = heavy(x, n); x += 1; }} p[0] = x;"))
             for init, row in [("int i = 0", True), ("unsigned i = 5", True), ("long long i = 0", True), ("short i = 0", True), ("unsigned char i = 0", True), ("char i = 0", True),
                               ("size_t i = 0", True), ("int i = n", False), ("int i = -3", False), ("float i = 0", False), ("volatile int i = 0", False), ("__int128 i = 0", False),
                               ("unsigned __int128 i = 0", False), ("int i = 0, j = 0", False), ("double i = 0", False), ("long i = 0", True), ("int i = 2 * 3", False)]]
    bare = group.kernel("float x = a; int k = 0; while (k++ < n) x = heavy(x, n); p[0] = x;")
    none = group.kernel("float x = a; for (int i = 0; i < n; i++) { PROF_ITER(i); x = heavy(x, n); } p[0] = x;")
    group.run()
    for init, row, name in cases:
        line = group.look(name)[1]
        check(bool(re.search(r"PROF_ITER\(i[,)]", line)) == row and ("PROF_ITER(ink_row_" in line) != row, f"rows of '{init}'", line)
        check(("long long ink_row_" in line) != row, f"a count for '{init}'", line)
    check("{PROF_ITER(ink_row_" in group.look(bare)[1] and group.look(bare)[1].count("{") == group.look(bare)[1].count("}"), "a body without braces", group.look(bare)[1])
    check(group.look(none)[1].count("PROF_ITER") == 1, "rows by hand are kept", group.look(none)[1])


def names():
    """How loops and calls are named."""
    group = Group("--loops", "--calls", before=HELPERS + "namespace ns { __device__ float far(float x, int n) { for (int i = 0; i < n; i++) x *= 2; return x; } }\n"
                  "template <int N> __device__ float sized(float x, int n) { for (int i = 0; i < n * N; i++) x *= 2; return x; }\n")
    loops = [(loop, want, group.kernel(f"float x = a; int k = n; bool done = n > 3; (void)k; (void)done; {loop}; p[0] = x;"))
             for loop, want in [("for (int i = 0; i < n; i++) x *= a", "for i < n"), ("while (k < n) { x *= a; k++; }", "while k < n"), ("while (!done) done = x++ > 3", "while !done"),
                                ("for (int i = 0; i <= n - 1; ++i) { x *= a; }", "for i <= n - 1"), ("do { x *= a; } while (x < 9)", None), ("for (;;) { if (x++ > 7) break; }", None)]]
    calls = [(call, want, group.kernel(f"float x = a; box b{{a}}; box *q = &b; (void)q; {call}; p[0] = x;"))
             for call, want in [("x = heavy(x, n)", "heavy"), ("x = ns::far(x, n)", "ns::far"), ("x = b.heavy(x, n)", None), ("x = q->heavy(x, n)", None), ("x = sized<3>(x, n)", None)]]
    group.run()
    for loop, want, name in loops:
        found = group.place(name, "loop")[0]
        check(found["state"] == "marked" and (want is None or found["name"] == want), f"the name of '{loop}' is {want}", found)
    for call, want, name in calls:
        found = group.place(name, "call")
        check(len(found) == 1 and found[0]["state"] == "marked", f"'{call}'", found)
        check(want is None or found[0]["name"] in (want, want.split("::")[-1]), f"the name of '{call}'", found)
    sections = [one["section"] for one in group.list["places"] if one["section"]]
    check(len(sections) == len(set(sections)), "each place has a section of its own")


WAITS = ["mbarrier.try_wait.shared.b64 p, [a], b;", "mbarrier.test_wait.shared.b64 p, [a], b;", "cp.async.wait_group 0;", "cp.async.wait_all;", "cp.async.bulk.wait_group 0;",
         "griddepcontrol.wait;", "bar.sync 0;", "barrier.sync 1, 64;", "barrier.cta.sync 0;", "barrier.cluster.wait.acquire;", "wgmma.wait_group.sync.aligned 0;",
         "tcgen05.wait::ld.sync.aligned;", "bar.red.popc.u32 a, 0, p;", "barrier.cta.red.and.pred p, 0, q;", "barrier.red.or.pred p, 0, q;"]
WAITS += [r"mov.u32 a, b;\n\tbar.sync 0;", r"\tmbarrier.try_wait.shared::cta.b64 p, [a], b;"]
OTHERS = ["bar.arrive 0, 64;", "mbarrier.arrive.shared.b64 s, [a];", "membar.gl;", "fence.proxy.async;", "cp.async.commit_group;", "griddepcontrol.launch_dependents;", "mov.u32 a, b;",
          "add.u32 a, b, c;", "ld.global.u32 a, [b];", "st.global.u32 [a], b;", "nanosleep.u32 20;", "barrier.cluster.arrive.release;", "wgmma.commit_group.sync.aligned;", "red.shared.add.u32 [a], b;", "atom.shared.add.u32 a, [b], c;",
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 a, b, c;", "cp.async.bulk.global.shared::cta.bulk_group [a], [b], c;", "cp.async.ca.shared.global [a], [b], 4;", "cp.async.bulk.commit_group;"]


def waits():
    """Instructions that wait, by themselves and in functions that do nothing else; what only arrives, orders or works is none."""
    helpers = "".join(f'__device__ void w{i}() {{ asm volatile("{text}" ::: "memory"); }}\n__device__ void ww{i}() {{ w{i}(); }}\n__device__ void b{i}(float *p) {{ asm volatile("{text}" ::: "memory"); p[0] = 1; }}\n'
                      for i, text in enumerate(WAITS + OTHERS))
    helpers += "".join(f'__device__ void q{i}() {{ asm volatile("{text}" ::: "memory"); asm volatile("bar.sync 0;"); }}\n' for i, text in enumerate(OTHERS))
    helpers += "__device__ void spin1(volatile int *f) { while (*f == 0) { } }\n__device__ void spin2(int *f) { while (atomicAdd(f, 0) == 0) { } }\n"
    helpers += "__device__ void spin3(volatile int *f, float *p) { while (*f == 0) p[0] += 1; }\n__device__ void spin4(volatile int *f) { for (int i = 0; i < 100; i++) (void)*f; }\n"
    helpers += "__device__ void spin5(int *f) { atomicAdd(f, 1); __syncthreads(); }\n__device__ void spin6(int *f) { atomicAdd(f, 1); while (atomicAdd(f, 0) < 9) { } }\n"
    helpers += "__device__ void spin7(volatile int *f) { do { __nanosleep(20); } while (*f == 0); }\n__device__ void spin8(int *f) { while (f[0] == 0) { f++; } }\n"
    helpers += "__device__ void two() { __syncthreads(); __syncthreads(); }\n__device__ void fenced() { __threadfence(); __syncthreads(); }\n__device__ void nothing() { __threadfence(); }\n"
    helpers += "__device__ void again(int n) { __syncthreads(); if (n) again(n - 1); }\n__device__ void stores(float *p) { __syncthreads(); p[0] = 2; }\n__device__ void local(float x) { x = 2; __syncthreads(); }\n"
    helpers += "__device__ void bumps(float *p) { ++*p; __syncthreads(); }\n__device__ void adds(float *p) { p[2] += 3; __syncthreads(); }\n__device__ void minus(float *p) { (*p)--; __syncthreads(); }\n"
    group = Group("--waits", before=HELPERS + helpers)
    cases = []
    for i, text in enumerate(WAITS + OTHERS):
        is_wait = i < len(WAITS)
        cases.append((text, is_wait, group.kernel(f'asm volatile("{text}" ::: "memory"); p[0] = a;')))
        cases.append((f"a function with {text}", is_wait, group.kernel(f"w{i}(); p[0] = a;")))
        cases.append((f"a function of a function with {text}", is_wait, group.kernel(f"ww{i}(); p[0] = a;")))
        cases.append((f"{text} and a store", False, group.kernel(f"b{i}(p); p[0] = a;")))
    for i, text in enumerate(OTHERS):
        works = text.startswith(("add", "st.", "red.", "atom.", "wgmma.mma", "cp.async.bulk.g", "cp.async.ca"))
        cases.append((f"a function with a barrier and {text}", not works, group.kernel(f"q{i}(); p[0] = a;")))
    for call, is_wait in [("spin1((volatile int *)p)", True), ("spin2((int *)p)", True), ("spin3((volatile int *)p, p)", False), ("spin4((volatile int *)p)", False),
                          ("spin5((int *)p)", False), ("spin6((int *)p)", True), ("spin7((volatile int *)p)", True), ("two()", True), ("fenced()", True), ("nothing()", False), ("again(n)", False),
                          ("stores(p)", False), ("local(a)", True), ("bumps(p)", False), ("adds(p)", False), ("minus(p)", False), ("heavy(a, n)", False),
                          ("__syncthreads()", True), ("__syncthreads_count(n)", True), ("__syncthreads_and(n)", True), ("__syncthreads_or(n)", True), ("__syncwarp()", True),
                          ("__threadfence()", False)]:
        cases.append((call, is_wait, group.kernel(f"{call}; p[0] = a;")))
    group.run()
    for what, is_wait, name in cases:
        found = group.place(name, "wait")
        check(bool(found) == is_wait and all(one["state"] == "marked" for one in found), f"{what} is {'a' if is_wait else 'no'} wait", group.look(name)[0])


def objects():
    """A wait is named by what it is called on: the last name of that, whatever stands in its brackets."""
    spins = ('{ unsigned d = 0; while (!d) asm volatile("{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\\nselp.u32 %0, 1, 0, p;\\n}" '
             ': "=r"(d) : "r"((int)w), "r"(p) : "memory"); }')
    before = HELPERS + f"""
struct bar {{ unsigned long long w; __device__ void wait(int p) {spins} template <int N> __device__ void waits(int p) {spins} }};
struct holder {{ bar b, list[4], *q; __device__ bar &get(int i) {{ return list[i]; }} }};
namespace n {{ struct B {{ static __device__ void wait(int p) {{ __syncthreads(); }} }}; __device__ void all() {{ __syncthreads(); }} }}
"""
    one = Group("--waits", before=before)
    calls = {"b.wait(n)": "b.wait", "full->wait(n)": "full.wait", "full[n].wait(n)": "full.wait", "full[n + (1)].wait(n)": "full.wait", "s.b.wait(n)": "b.wait",
             "h->b.wait(n)": "b.wait", "s.list[n & 3].wait(n)": "list.wait", "h->q->wait(n)": "q.wait", "h->get(n).wait(n)": "get.wait", "h->get(n & (3)).wait(n)": "get.wait",
             "s.q[n].template waits<3>(n)": "q.waits", "b.waits<2>(n)": "b.waits", "b.template waits<4>(n)": "b.waits", "h->b.template waits<4>(n)": "b.waits",
             "full->template waits<1>(n)": "full.waits", "n::B::wait(n)": "B::wait", "n::all()": "n::all", "::n::B::wait(n)": "B::wait", "(b).wait(n)": "wait", "(&b)->wait(n)": "wait",
             "a_name_that_has_more_than_thirty_letters.wait(n)": "a_name_that_has_more_than_thir.wait"}
    made = {one.kernel(f"bar b, a_name_that_has_more_than_thirty_letters; holder s; {call};", parameters="holder *h, bar *full, int n"): (call, name)
            for call, name in calls.items() if not call.startswith(("n::", "::n"))}
    made |= {one.kernel(f"{call.replace('(n)', '(m)')};", parameters="int m"): (call, name)
             for call, name in calls.items() if call.startswith(("n::", "::n"))}
    one.run()
    for kernel, (call, name) in made.items():
        found = one.place(kernel, "wait")
        check([(place["name"], place["state"]) for place in found] == [(name, "marked")], f"'{call}' is named {name}", found)


def held():
    """Which values a mark holds: what was computed before it and is used after it."""
    group = Group()
    cases = []

    def case(before, after, names, why):
        cases.append((why, names, group.kernel(f"{before} {after[0]} x = heavy(x, n); p[0] = x; {after[1]}".replace("x = heavy", "float x = a; x = heavy", 1) if "x = heavy" not in before else before)))

    for kind, value, is_held in [("float", "a * 2", True), ("double", "a * 2", True), ("int", "n * 2", False), ("bool", "a > 2", True), ("unsigned long long", "n * 3", False), ("const float", "a * 2", False),
                                 ("float *", "p + n", False), ("short", "n * 2", False), ("float &", "p[1]", False), ("static float", "a", False)]:
        case(f"{kind} v = {value};", ("", "p[1] = (float)(long long)v;" if "*" in kind else "p[1] = v;"), ["v"] if is_held else [], f"{kind} v = {value}")
    for kind in ("int", "unsigned", "long long", "short", "char"):
        case(f"{kind} v = n; v = v ^ 5; v += n;", ("", "p[1] = v;"), ["v"], f"{kind}, written again")
        case(f"{kind} v = n; v++;", ("", "p[1] = v;"), ["v"], f"{kind}, counted on")
    case("float v = a * 2;", ("", ""), [], "not used after it")
    case("float v = a * 2;", ("", "v = 3; p[1] = v;"), [], "overwritten first")
    case("float v = a * 2;", ("", "if (n) v = 3; p[1] = v;"), ["v"], "overwritten on one way")
    case("float v;", ("", "v = 3; p[1] = v;"), [], "not set before")
    case("float v; v = a * 3;", ("", "p[1] = v;"), ["v"], "set before")
    case("float v; if (n) v = a * 3; else v = a + 1;", ("", "p[1] = v;"), ["v"], "set on both ways")
    case("float t[4] = {a, a * 2, a, a}; t[1] *= 2;", ("", "p[1] = t[0] + t[1];"), ["t"], "an array of constants")
    for most, name in ((32, True), (33, False)):
        case(f"float t[{most}]; for (int i = 0; i < {most}; i++) t[i] = a * i;", ("", f"for (int i = 0; i < {most}; i++) p[i] = t[i];"), ["t"] if name else None, f"an array of {most}")
    case("float t[4] = {a, a * 2, a, a}; t[n] *= 2;", ("", "p[1] = t[n];"), None, "an index that is known only at run time")
    case("float v = a * 2; float *q = &v; q[0] += 1;", ("", "p[1] = v;"), None, "its address is taken")
    case("float v = a * 2; auto f = [&](float y) { return y + v; };", ("", "p[1] = f(a) + v;"), None, "a lambda uses it")
    case("float v = a * 2; { float w = v * 3; p[2] = w; }", ("", "p[1] = v;"), ["v"], "one of an inner block is gone")
    group.run()
    for why, names, name in cases:
        place = group.place(name, "call", "heavy")[0]
        items = [one for one in (place["held"] or "").split(", ") if one and one not in ("x",)]
        if names is None:
            check(not any(one in ("v", "t") or one.startswith("t[") for one in items), f"not held: {why}", place)
            check(any("not held" in text for line, text in group.remarks if group.place(name, "kernel")[0]["line"] == line), f"a remark: {why}", group.remarks[-6:])
        elif names:
            check(all(one in items for one in names), f"held: {why}", place, group.look(name)[1])
        else:
            check(not items, f"not held: {why}", place, group.look(name)[1])


def roles():
    """Which conditions are by warp, and that two arms which do something make roles."""
    group = Group(before=HELPERS + "__device__ bool elect_one() { return threadIdx.x % 32 == 0; }\n__device__ int my_warp() { return 3; }\n")
    arms = "{ for (int i = 0; i < n; i++) { x = heavy(x, n); x += 1; } }"
    cases = [(condition, is_role, group.kernel(f"float x = a; {before} if ({condition}) {arms} else {arms} p[0] = x;"))
             for before, condition, is_role in [
                 ("", "threadIdx.x / 32 == 0", True), ("", "threadIdx.x / 128 == 1", True), ("", "threadIdx.x >> 5 == 0", True), ("", "threadIdx.x >> 4 == 0", False), ("", "threadIdx.x / 16 == 0", False),
                 ("", "threadIdx.x / 33 == 0", False), ("", "threadIdx.x / 48 == 0", False), ("", "threadIdx.x < 128", True), ("", "threadIdx.x < 32", True), ("", "threadIdx.x >= 64", True), ("", "threadIdx.x < 31", False),
                 ("", "threadIdx.x < 33", False), ("", "threadIdx.x < 16", False), ("", "128 > threadIdx.x", True), ("", "threadIdx.y == 0", True), ("", "threadIdx.z == 1", True), ("", "threadIdx.x == 3", False),
                 ("", "n > 3", False), ("", "blockIdx.x / 32 == 0", False), ("", "blockIdx.y == 0", False), ("", "a > 2", False), ("", "elect_one()", True), ("", "my_warp() == 2", True),
                 ("int w = threadIdx.x / 32;", "w == 0", True), ("int w = threadIdx.x / 32; int v = w;", "v == 0", True), ("int w = threadIdx.x / 7;", "w == 0", False), ("int warp = threadIdx.x;", "warp == 0", True),
                 ("int role = threadIdx.x;", "role == 0", True), ("int warp = n;", "warp == 0", False), ("", "threadIdx.x / 32 == 0 && n > 2", True), ("", "n > 2 && threadIdx.x < 64", True), ("", "!(threadIdx.x < 64)", True)]]
    shapes = [(what, n, group.kernel(f"float x = a; {text} p[0] = x;")) for what, n, text in [
        ("one arm alone", 0, f"if (threadIdx.x < 32) {arms}"), ("an arm and the rest after a return", 2, f"if (threadIdx.x < 32) {{ {arms} return; }} {arms}"),
        ("three arms", 3, f"if (threadIdx.x < 32) {arms} else if (threadIdx.x < 64) {arms} else {arms}"), ("an arm that does nothing", 0, f"if (threadIdx.x < 32) {arms} else x += 1;"),
        ("a switch", 3, f"switch (threadIdx.x / 32) {{ case 0: {arms} break; case 1: {arms} break; default: {arms} }}"), ("a switch by something else", 0, f"switch (n) {{ case 0: {arms} break; case 1: {arms} break; }}"),
        ("in another branch", 2, f"if (n > 3) {{ if (threadIdx.x < 32) {arms} else {arms} }}"), ("in another branch's else", 2, f"if (n > 3) x += 1; else {{ if (threadIdx.x < 32) {arms} else {arms} }}"),
        ("in a block", 2, f"{{ if (threadIdx.x < 32) {arms} else {arms} }}"), ("two ifs", 2, f"if (threadIdx.x < 32) {arms} if (threadIdx.x >= 32) {arms}")]]
    group.run()
    for condition, is_role, name in cases:
        count = group.look(name)[1].count("PROF_ROLE(")
        check(count == (2 if is_role else 0), f"'{condition}' is {'' if is_role else 'not '}by warp: {count} roles", group.look(name)[1])
    for what, n, name in shapes:
        check(group.look(name)[1].count("PROF_ROLE(") == n, f"{what}: {n} roles", group.look(name)[1])


def rules():
    """What is chosen by regular expressions, limits and depths."""
    helpers = "".join(f"__device__ float f{i}(float x, int n) {{ for (int i = 0; i < n; i++) x = x * {i}.5f + 2; return x; }}\n" for i in range(12))
    body = "float x = a; " + "".join(f"x = f{i}(x, n);" for i in range(12)) + " p[0] = x;"
    for options, chosen, kernels in [(["--calls"], range(12), (0, 1)), (["--calls=^f[0-4]$"], range(5), (0, 1)), (["--calls=f1"], (1, 10, 11), (0, 1)), (["--loops"], (), (0, 1)), (["--kernel", "k1"], range(12), (1,)),
                                     (["--exclude", "^f[2-9]$"], (0, 1, 10, 11), (0, 1)), (["--exclude", "k0"], range(12), (1,)), (["--limit", "3"], (0, 1, 2), (0, 1)), (["--limit", "1"], (0,), (0, 1)),
                                     (["--kernels-only"], (), (0, 1)), ([], range(12), (0, 1))]:
        group = Group(*options, before=helpers)
        both = [group.kernel(body), group.kernel(body)]
        group.run()
        for i, name in enumerate(both):
            marked = {int(one["name"][1:]) for one in group.place(name, "call") if one["state"] == "marked"}
            opened = "PROF_KERNEL(" in group.look(name)[1]
            check(opened == (i in kernels), f"{options}: whether kernel {i} is opened", group.look(name)[1])
            check(marked == (set(chosen) if i in kernels else set()), f"{options}: calls of kernel {i}", marked)


class Drawn(random.Random):
    """Programs and expressions by chance, always the same ones."""

    def number(self, depth):
        """An expression of threadIdx.x (t), the block's first index (b) and sizes (n, k), as C and as Python have it."""
        what = self.randrange(10) if depth else self.randrange(5)
        if what < 5:
            return (("t", "t", "n", "k", "(b + t)")[what],) * 2
        (a, pa), (b, pb) = self.number(depth - 1), self.number(depth - 1)
        c = self.randrange(1, 9)
        return [(f"({a} + {b})", f"({pa} + {pb})"), (f"({a} * {c})", f"({pa} * {c})"), (f"({a} / {c})", f"div({pa}, {c})"), (f"({a} % {c})", f"rem({pa}, {c})"),
                (f"({a} - {b})", f"({pa} - {pb})")][what - 5]

    def condition(self, depth):
        what = self.randrange(9) if depth else self.randrange(6)
        if what < 6:
            (a, pa), (b, pb) = self.number(self.randrange(3)), self.choice([self.number(1), ("0", "0"), ("n", "n"), ("3", "3")])
            op = ("<", "<=", ">", ">=", "==", "!=")[what]
            return f"{a} {op} {b}", f"({pa} {op} {pb})"
        (a, pa), (b, pb) = self.condition(depth - 1), self.condition(depth - 1)
        return [(f"({a}) && ({b})", f"({pa} and {pb})"), (f"({a}) || ({b})", f"({pa} or {pb})"), (f"!({a})", f"(not {pa})")][what - 6]

    def program(self, depth, left):
        """Statements with ranges that end where they should; `left` is how many faults are still to be put in."""
        made = []
        for _ in range(self.randrange(1, 4)):
            what = self.randrange(9)
            if what < 3 or not depth:
                name = self.choice("ABC")
                inside = self.program(depth - 1, left) if depth else [("work",)]
                range_of = [("begin", name), *inside, ("end", name)]
                if left and left[0] > 0 and self.random() < 0.25:
                    left[0] -= 1
                    range_of.pop(self.choice([0, -1]))
                made += range_of
            elif what < 5:
                made.append(("if", self.program(depth - 1, left), self.program(depth - 1, left) if self.random() < 0.5 else None))
            elif what < 7:
                made.append((self.choice(["for", "while", "do"]), self.program(depth - 1, left)))
            elif what == 7:
                made.append(("switch", [self.program(depth - 1, left) + ([("break",)] if self.random() < 0.8 else []) for _ in range(2)]))
            elif left and left[0] > 0 and self.random() < 0.5:
                left[0] -= 1
                made.append(("if", [(self.choice(["return", "break", "continue"]),)], None))
            else:
                made.append(("work",))
        return made


def text_of(program):
    out = []
    for one in program:
        kind = one[0]
        if kind in ("begin", "end"):
            out.append(f"PROF_{kind.upper()}({one[1]});")
        elif kind == "work":
            out.append("p[n] += 1;")
        elif kind == "if":
            out.append(f"if (n > 3) {{ {text_of(one[1])} }}" + (f" else {{ {text_of(one[2])} }}" if one[2] is not None else ""))
        elif kind == "for":
            out.append(f"for (int i = 0; i < n; i++) {{ {text_of(one[1])} }}")
        elif kind == "while":
            out.append(f"while (p[n] > 2) {{ {text_of(one[1])} }}")
        elif kind == "do":
            out.append(f"do {{ {text_of(one[1])} }} while (p[n] > 2);")
        elif kind == "switch":
            out.append("switch (n) { " + " ".join(f"case {i}: {{ {text_of(case)} }}" for i, case in enumerate(one[1])) + " }")
        else:
            out.append(kind + ";")
    return " ".join(out)


class Fault(Exception):
    pass


def ways(program, states, leaves, goes_on):
    """What may be open behind a program, for all that may be open before it; Fault: a range does not end as it should."""
    for one in program:
        kind = one[0]
        if kind == "begin":
            states = {state + (one[1],) for state in states}
            if any(len(state) > 12 for state in states):
                raise Fault
        elif kind == "end":
            if any(not state or state[-1] != one[1] for state in states):
                raise Fault
            states = {state[:-1] for state in states}
        elif kind == "if":
            states = ways(one[1], states, leaves, goes_on) | (ways(one[2], states, leaves, goes_on) if one[2] is not None else states)
        elif kind in ("for", "while", "do"):
            seen, new = set(), set(states)
            out = set(states)  # none of its passes is made; a do is taken for the others here
            while new:
                seen |= new
                broken, continued = set(), set()
                behind = ways(one[1], new, broken, continued) | continued
                out |= broken | behind
                new = behind - seen
            states = out
        elif kind == "switch":
            out, falls = set(states), set()
            for case in one[1]:
                broken = set()
                falls = ways(case, states | falls, broken, goes_on)
                out |= broken
            states = out | falls
        elif kind == "return":
            if any(states):
                raise Fault
            return set()
        elif kind == "break":
            leaves |= states
            return set()
        elif kind == "continue":
            goes_on |= states
            return set()
    return states


def is_right(program):
    try:
        return not any(ways(program, {()}, set(), set()))
    except Fault:
        return False


def has_loose(program, within=()):
    """A break or continue that no loop or switch is around."""
    for one in program:
        if one[0] == "break" and not within or one[0] == "continue" and "loop" not in within:
            return True
        inner = [one[1]] if one[0] in ("for", "while", "do") else [part for part in one[1:] if part is not None] if one[0] == "if" else one[1] if one[0] == "switch" else []
        how = within + (("loop",) if one[0] in ("for", "while", "do") else ("switch",) if one[0] == "switch" else ())
        if any(has_loose(part, how) for part in inner):
            return True
    return False


def dead(program):
    """Statements behind one that leaves."""
    for i, one in enumerate(program):
        if one[0] in ("return", "break", "continue") and i + 1 < len(program):
            return True
        inner = [one[1]] if one[0] in ("for", "while", "do") else [part for part in one[1:] if part is not None] if one[0] == "if" else one[1] if one[0] == "switch" else []
        if any(dead(part) for part in inner):
            return True
    return False


def pairs():
    """Ranges by hand end on every way, or are an error: every way through small programs is gone here."""
    drawn, group, cases = Drawn(11), Group(), []
    while len(cases) < 260:
        program = drawn.program(2, [drawn.randrange(3)])
        if has_loose(program) or len(text_of(program)) > 700:
            continue
        cases.append((program, group.kernel("PROF_KERNEL(K); " + text_of(program))))
    group.list_only()
    for program, name in cases:
        errors = [text for text in group.remark(name) if text.startswith("error:")]
        check(bool(errors) != is_right(program), f"ranges {'end' if is_right(program) else 'do not end'} on every way: {text_of(program)}", errors)
        check(len(errors) < 2, "one error is said of a function", errors)
    right = sum(is_right(program) for program, _ in cases)
    check(60 <= right <= 200, f"{right} of {len(cases)} are right")


def gotos():
    """The same through goto: what is open at the goto is open at its label."""
    group = Group()
    cases = [(text, fine, group.kernel("PROF_KERNEL(K); " + text)) for text, fine in [
        ("PROF_BEGIN(A); if (n) goto out; p[0] = 1; out: PROF_END(A);", True), ("PROF_BEGIN(A); if (n) goto out; PROF_END(A); out: p[0] = 1;", False),
        ("if (n) goto in; PROF_BEGIN(A); in: PROF_END(A);", False), ("again: PROF_BEGIN(A); p[0] += 1; PROF_END(A); if (n) goto again;", True),
        ("again: PROF_BEGIN(A); p[0] += 1; if (n) goto again; PROF_END(A);", False), ("if (n) goto end; PROF_BEGIN(A); PROF_END(A); end: p[1] = 1;", True),
        ("goto there; back: PROF_END(A); return; there: PROF_BEGIN(A); goto back;", True), ("goto there; back: return; there: PROF_BEGIN(A); goto back;", False),
        ("PROF_BEGIN(A); PROF_BEGIN(B); if (n) goto out; PROF_END(B); PROF_END(A); return; out: PROF_END(B); PROF_END(A);", True),
        ("PROF_BEGIN(A); PROF_BEGIN(B); if (n) goto out; PROF_END(B); PROF_END(A); return; out: PROF_END(A); PROF_END(B);", False),
        ("PROF_BEGIN(A); return;", False), ("PROF_BEGIN(A);", False), ("PROF_END(A);", False), ("PROF_BEGIN(A); PROF_END(B);", False), ("PROF_BEGIN(A); PROF_END(A); return;", True),
        ("return; PROF_BEGIN(A);", True), ("auto f = [&]() { return 1; }; PROF_BEGIN(A); p[0] = f(); PROF_END(A);", True)]]
    group.list_only()
    for text, fine, name in cases:
        errors = [one for one in group.remark(name) if one.startswith("error:")]
        check(bool(errors) != fine, f"'{text}' is {'right' if fine else 'an error'}", errors)


@functools.cache
def truth(condition):
    code = compile(condition, "condition", "eval")
    names = {"div": lambda a, b: int(a / b), "rem": lambda a, b: a - b * int(a / b)}

    def at(t, b, n, k):
        return bool(eval(code, names, {"t": t, "b": b, "n": n, "k": k}))

    all_of = [(b, n, k) for b in (0, 8, 64) for n in (0, 1, 3, 5, 9, 70) for k in (0, 1, 2, 7)]
    takes = [(at(0, *rest), [at(t, *rest) for t in range(1, 8)]) for rest in all_of]
    return takes


def threads():
    """Marks that thread 0, which records, may not pass although others do: conditions are tried for small numbers here. Without a
    remark thread 0 passes; the forms that nearly every kernel has get no remark."""
    drawn, group, cases = Drawn(5), Group(), []
    start = "int t = threadIdx.x, b = blockIdx.x * blockDim.x, k = (int)a; (void)t; (void)b; (void)k; PROF_KERNEL(K); "
    for _ in range(220):
        c, python = drawn.condition(2)
        for form, text in (("then", f"if ({c}) {{ PROF_MARK(X); p[0] = 1; }}"), ("else", f"if ({c}) p[0] = 2; else {{ PROF_MARK(X); p[0] = 1; }}"),
                           ("return", f"if ({c}) return; PROF_MARK(X); p[1] = 2;"), ("while", f"while ({c}) {{ PROF_MARK(X); k++; }}")):
            cases.append((c, python, form, group.kernel(start + text)))
    usual = [(text, said, group.kernel("int i = blockIdx.x * blockDim.x + threadIdx.x; int lane = threadIdx.x % 32; PROF_KERNEL(K); " + text)) for text, said in [
        ("if (i < n) { PROF_MARK(X); }", False), ("if (i >= n) return; PROF_MARK(X);", False), ("if (threadIdx.x == 0) { PROF_MARK(X); }", False), ("if (lane == 0) { PROF_MARK(X); }", False),
        ("if (lane != 0) { PROF_MARK(X); }", True), ("if (i > n) { PROF_MARK(X); }", True), ("if (i < n) return; PROF_MARK(X);", True), ("if (threadIdx.x == 5) { PROF_MARK(X); }", True),
        ("if (!(i >= n)) { PROF_MARK(X); }", False), ("if (i < n && threadIdx.x < 7) { PROF_MARK(X); }", False), ("if (i + 4 <= n * 2) { PROF_MARK(X); }", False), ("if (i / 4 < n) { PROF_MARK(X); }", False),
        ("if (n > i) { PROF_MARK(X); }", False), ("if (n < i) { PROF_MARK(X); }", True), ("if (p[i] > 2) { PROF_MARK(X); }", True), ("if (n > 2) { PROF_MARK(X); }", False), ("if (a > 2) return; PROF_MARK(X);", False),
        ("for (int j = 0; j < lane; j++) { PROF_MARK(X); }", True), ("for (int j = i; j < n; j += 32) { PROF_MARK(X); }", False), ("for (int j = 0; j < n; j++) { PROF_MARK(X); }", False),
        ("switch (lane) { case 1: PROF_MARK(X); break; }", True), ("switch (n) { case 1: PROF_MARK(X); break; }", False), ("if (i < n) p[0] = 1; else { PROF_MARK(X); }", True),
        ("if (i >= n) p[0] = 1; else { PROF_MARK(X); }", False), ("if (i < n) p[0] = 1; PROF_MARK(X);", False), ("int m = i; if (m < n) { PROF_MARK(X); }", False), ("int m = i; m = n - m; if (m < 3) { PROF_MARK(X); }", True),
        ("int m = 0; if (i > 3) m = 1; if (m) { PROF_MARK(X); }", None), ("if (threadIdx.x < 8 || n > 2) { PROF_MARK(X); }", False)]]
    group.list_only()
    said_of = missed = 0
    for c, python, form, name in cases:
        takes = truth(python)
        if form in ("then", "while"):
            safe = all(zero or not any(others) for zero, others in takes)
        elif form == "else":
            safe = all(not zero or all(others) for zero, others in takes)
        else:  # thread 0 leaves only if all do
            safe = all(not zero or all(others) for zero, others in takes)
        said = any("thread that records may" in text for text in group.remark(name))
        depends = "t" in re.findall(r"\b[tnkb]\b", c)
        said_of += said
        missed += said and safe
        check(said or safe or not depends, f"{form} of '{c}': thread 0 may not pass, and nothing is said", group.remark(name))
        check(not said or depends, f"{form} of '{c}' does not depend on the thread", group.remark(name))
    check(said_of > 200 and missed < said_of / 2, f"{said_of} remarks, {missed} of them where thread 0 passes")
    for text, said, name in usual:
        now = any("thread that records may" in one for one in group.remark(name))
        check(said is None or now == said, f"'{text}': {'a' if said else 'no'} remark", group.remark(name))


def comments():
    """`// prof:` comments."""
    group = Group()
    start, end = "float x = a; x += p[0]; ", " p[0] = x;"
    work = "x = heavy(x, n);"
    cases = [(text, wanted, left, group.kernel(start + text + end)) for text, wanted, left in [
        (f"/* prof: mark Here */ {work}", ["PROF_MARK(Here"], []), (f"/* prof: begin A */ {work} {work} /* prof: end A */", ["PROF_BEGIN(A", "PROF_END(A"], []),
        (f"/*prof:mark Here*/ {work}", ["PROF_MARK(Here"], []), (f"/* profile: mark Here */ {work}", [], ["PROF_MARK("]), (f"/* not prof: mark Here */ {work}", [], ["PROF_MARK("]),
        (f"for (int i = 0; i < n; i++) {{ /* prof: iteration i + 1 */ {work} }}", ["PROF_ITER(i + 1"], []),
        (f"/* prof: loop Outer */ for (int i = 0; i < n; i++) {{ {work} x += 1; }}", ["PROF_BEGIN(Outer_L", "PROF_END(Outer_L"], ["PROF_BEGIN(for_i_n"]),
        (f"for (int i = 0; i < n; i++) {{ {work} x += 1; }} /* prof: loop Same */", ["PROF_BEGIN(Same_L", "PROF_END(Same_L"], ["PROF_BEGIN(for_i_n"]),
        (f"/* prof: off */ {work}", [], ["PROF_"]), (f"{work} /* prof: off */", [], ["PROF_"])]]
    before = group.kernel(start + work + end, before="/* prof: off */ ")
    after = group.kernel(start + work + end)
    group.run()
    for text, wanted, left, name in cases:
        line = group.look(name)[1]
        check(all(one in line for one in wanted) and not any(one in line for one in left), f"'{text}'", line)
    check("PROF_" not in group.look(before)[1] and "PROF_KERNEL(" in group.look(after)[1], "off before a function is of that function", group.look(before)[1])
    for text, error in [("/* prof: begin A */ p[0] = 1;", True), ("/* prof: end A */ p[0] = 1;", True), ("/* prof: begin A */ p[0] = 1; /* prof: end A */", False),
                        ("/* prof: begin A */ if (n) { p[0] = 1; /* prof: end A */ }", True), ("/* prof: begin A */ if (n) return; /* prof: end A */", True),
                        ("/* prof: begin A */ p[0] = 1; /* prof: begin B */ p[1] = 1; /* prof: end A */ p[2] = 1; /* prof: end B */", True), ("/* prof: mark */ p[0] = 1;", None), ("/* prof: what A */ p[0] = 1;", None)]:
        one = Group()
        one.kernel(text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.cu")
            open(path, "w", encoding="utf-8").write("\n".join(one.texts))
            done = subprocess.run([inkmark, "instrument", "--header-less", *PATIENCE, "--root", folder, "-o", "-", path, "--", "-arch=sm_90a"], capture_output=True, text=True)
        if error is None:
            check("made.cu:" in done.stderr and ": " in done.stderr, f"something is said of '{text}'", done.stderr)
        else:
            check((done.returncode == 1) == error and bool(done.stdout) != error, f"'{text}' is {'an error' if error else 'right'}", done.returncode, done.stderr)


def hand():
    """What a person has marked is not marked again."""
    group = Group(before=HELPERS + "__device__ float whole(float x, int n) { PROF_BEGIN(W); for (int i = 0; i < n; i++) x *= 2; PROF_END(W); return x; }\n"
                  "__device__ float part(float x, int n) { PROF_BEGIN(W); for (int i = 0; i < n; i++) x *= 2; PROF_END(W); return x + heavy(x, n); }\n"
                  "__device__ float scoped(float x, int n) { PROF_SCOPE(W); for (int i = 0; i < n; i++) x *= 2; return x; }\n")
    start, end, work = "PROF_KERNEL(K); float x = a; ", " p[0] = x;", "x = heavy(x, n);"
    cases = [(text, again, group.kernel(start + text + end)) for text, again in [
        (f"PROF_BEGIN(A); {work} PROF_END(A);", 0), (f"PROF_BEGIN(A); {work} x += 1; PROF_END(A);", 1), (f"PROF_BEGIN(A); {work} {work} PROF_END(A);", 2), (f"PROF_SUM_BEGIN(A); {work} PROF_SUM_END(A);", 0),
        (f"{{ PROF_SCOPE(A); {work} }}", 0), (f"{{ PROF_SCOPE(A); {work} x += 1; }}", 1), (f"PROF_MARK(A); {work} PROF_MARK(B);", 0), (f"PROF_MARK(A); {work} x += 1; PROF_MARK(B);", 1),
        (f"PROF_BEGIN(A); /* why */ {work} PROF_END(A);", 0), (f"PROF_BEGIN_WITH(A, n); {work} PROF_END(A);", 0), (work, 1), (f"{work} PROF_MARK(B);", None), (f"PROF_BEGIN(A); {work} PROF_MARK(B); PROF_END(A);", None),
        ("x = whole(x, n);", 0), ("x = part(x, n);", 1), ("x = scoped(x, n);", 0)]]
    loop = group.kernel(start + f"PROF_BEGIN(L); for (int i = 0; i < n; i++) {{ {work} x += 1; }} PROF_END(L);" + end)
    opened = [(text, count, group.kernel(text + f" float x = a; {work} p[0] = x;")) for text, count in [("PROF_KERNEL(K);", 0), ("PROF_OPEN(K);", 0), ("", 1)]]
    role = group.kernel(start + "if (threadIdx.x < 32) { PROF_ROLE(Mine); for (int i = 0; i < n; i++) { x = heavy(x, n); x++; } } else { for (int i = 0; i < n; i++) { x = heavy(x, n); x++; } }" + end)
    group.run()
    for text, again, name in cases:
        marks = sum("PROF_BEGIN(" in mark for mark in group.look(name)[2])
        check(again is None or marks == again, f"'{text}' gets {again} ranges of ours", group.look(name)[1])
        check(not any("PROF_KERNEL" in mark for mark in group.look(name)[2]), "its track is its own", group.look(name)[1])
    line, marks = group.look(loop)[1:]
    check(not any("PROF_BEGIN(for" in mark for mark in marks) and "INK_SUM_SCOPE(" in line and line.count("PROF_SUM_FLUSH") == 1, "a loop by hand has its passes summed", line)
    for text, count, name in opened:
        check(sum("PROF_KERNEL(" in mark for mark in group.look(name)[2]) == count, f"'{text}' opens", group.look(name)[1])
    check(group.look(role)[1].count("PROF_ROLE(") == 2 and sum("PROF_ROLE(" in mark for mark in group.look(role)[2]) == 1, "a role by hand is kept", group.look(role)[1])
    for declared, used, asks in [("Load, Store", "Loae", True), ("Load, Store", "Lod", True), ("Load, Store", "Laod", False), ("Loading, Store", "Laoding", True), ("Load, Store", "Load", False), ("Load, Store", "Different", False), ("Reduce, Scan", "Reduc", True)]:
        one = Group(before=f"PROF_SECTIONS(Table, {declared})\n")
        name = one.kernel(f"PROF_KERNEL(K); PROF_MARK({used}); p[0] = a;")
        one.run()
        check(any(declared.split(", ")[0] in text and used in text for line, text in one.remarks) == asks, f"{used} beside {declared}", one.remarks)
    for text, said in [("PROF_MARK(A); PROF_KERNEL(K); p[0] = a;", True), ("PROF_KERNEL(K); PROF_MARK(A); p[0] = a;", False)]:
        one = Group()
        name = one.kernel(text)
        one.run()
        check(any("PROF_KERNEL" in remark for remark in one.remark(name)) == said or any("PROF_KERNEL" in remark for _, remark in one.remarks) == said, f"'{text}'", one.remarks)


def helpers():
    """Helpers of fewer than 40 nodes without loops are left out, unless they call more than such helpers."""
    texts, cases = "", []
    sizes = list(range(2, 16))
    for i in sizes:
        texts += f"__device__ float tiny{i}(float x, float a) {{ return {' + '.join(['x * a'] * i)}; }}\n"
        texts += f"__device__ float over{i}(float x, float a) {{ return tiny{i}(x, a) + 1; }}\n"
    texts += "__device__ float loops(float x, int n) { for (int i = 0; i < n; i++) x += 1; return x; }\n__device__ float through(float x, int n) { return heavy(x, n); }\n"
    texts += "constexpr __host__ __device__ float known(float x) { return x * 2 + x * x * x * x * x * x * x * x * x * x + x * x * x * x * x * x * x * x; }\n"
    group = Group(before=HELPERS + texts)
    for i in sizes:
        cases.append((i, group.kernel(f"float x = a; x = tiny{i}(x, a); p[0] = x;")))
    more = [(call, want, group.kernel(f"float x = a; x = {call}; p[0] = x;")) for call, want in [("loops(x, n)", True), ("through(x, n)", True), ("known(x)", False), ("heavy(x, n)", True)]]
    all_calls = Group("--calls", before=HELPERS + texts)
    every = [all_calls.kernel(f"float x = a; x = tiny{i}(x, a); p[0] = x;") for i in sizes]
    group.run()
    all_calls.run()
    marked = [group.place(name, "call")[0]["state"] == "marked" for _, name in cases]
    check(marked == sorted(marked) and not marked[0] and marked[-1], "the small ones are left, the others are marked", marked)
    for call, want, name in more:
        found = group.place(name, "call")
        check((bool(found) and found[0]["state"] == "marked") == want, f"{call}", found)
    for name in every:
        check(all_calls.place(name, "call")[0]["state"] == "marked", "--calls marks every one", all_calls.look(name)[0])


def forms():
    """A call is marked with its statement if it is the only one of it, else for itself; every form strips to its text."""
    group = Group("--calls", "--hold", "none", before=HELPERS + "__device__ bool test(float x) { for (int i = 0; i < 3; i++) x += 1; return x > 2; }\n__device__ void act(float *p) { for (int i = 0; i < 3; i++) p[i] += 1; }\n")
    cases = [(text, ranges, inside, scopes, group.kernel(f"float x = a; {text} p[0] = x;")) for text, ranges, inside, scopes in [
        ("x = heavy(x, n);", 1, 0, 0), ("x = heavy(x, n) + other(x, n);", 0, 2, 0), ("x += heavy(other(x, n), n);", 0, 2, 0), ("if (test(x)) x += 1;", 0, 1, 0), ("if (n) x = heavy(x, n);", 1, 0, 0),
        ("if (n) x = heavy(x, n); else x = other(x, n);", 2, 0, 0), ("while (test(x)) x += 1;", 0, 1, 0), ("act(p);", 1, 0, 0), ("float y = heavy(x, n); x += y;", None, None, 0),
        ("x = n ? heavy(x, n) : other(x, n);", 0, 2, 0), ("x = test(x) && test(x + 1);", 0, 2, 0), ("for (int i = 0; i < n; i++) x = heavy(x, n);", 1, 0, 0), ("switch (n) { case 1: x = heavy(x, n); break; }", 1, 0, 0),
        ("do x = heavy(x, n); while (test(x));", 1, 1, 0), ("{ x = heavy(x, n); }", 1, 0, 0), ("x = sizeof(heavy(x, n));", 0, 0, 0), ("decltype(heavy(x, n)) y = 1; x += y;", 0, 0, 0), ("act(p), act(p);", 0, 2, 0),
        ("(void)heavy(x, n);", 1, 0, 0), ("x = (heavy(x, n));", 1, 0, 0), ("p[(int)heavy(x, n)] = 1;", 1, 0, 0), ("auto f = [&]() { return heavy(x, n); }; (void)f;", None, None, 0), ("label: x = heavy(x, n); if (x > 2) goto label;", None, None, 0)]]
    functions = ""
    group.run()
    for text, ranges, inside, scopes, name in cases:
        line, marks = group.look(name)[1:]
        now = sum(mark.count("PROF_BEGIN(") for mark in marks)
        ends = sum(mark.count("PROF_END(") for mark in marks)
        within = sum(mark.count("INK_AFTER(") + mark.count("INK_UNTIL(") + mark.count("INK_BEHIND(") + mark.count("INK_UNTIL_END(") + mark.count("INK_AFTER_HELD(") for mark in marks)
        check(now == ends, f"ranges of '{text}' end", line)
        opened = sum(line.count(f"{macro}(") for macro in ("INK_AFTER", "INK_AFTER_HELD"))  # these open one bracket more
        check(line.count("(") + opened == line.count(")") and line.count("{") == line.count("}"), f"brackets of '{text}'", line)
        check(ranges is None or (now == ranges and within == inside), f"'{text}': {ranges} ranges, {inside} inside of expressions", now, within, line)


def structures():
    """Structures of up to 16 numbers and arrays of up to 32 are held, by their fields; others are told."""
    texts = "".join(f"struct s{n} {{ {' '.join(f'float f{i};' for i in range(n))} }};\n" for n in (1, 2, 15, 16, 17)) + "struct mixed { float f; int n; bool b; };\nstruct pointed { float *q; float f; };\n"
    group = Group(before=HELPERS + texts)
    cases = []
    for n in (1, 2, 15, 16, 17):
        cases.append((f"s{n}", [f"v.f{i}" for i in range(n)] if n <= 16 else None, group.kernel(f"s{n} v; " + " ".join(f"v.f{i} = a * {i + 2};" for i in range(n)) + " float x = heavy(a, n); p[0] = x; "
                                                                                                + " ".join(f"p[{i}] = v.f{i};" for i in range(n)))))
    cases.append(("mixed", ["v.f", "v.n", "v.b"], group.kernel("mixed v; v.f = a * 2; v.n = n ^ 3; v.b = a > 2; float x = heavy(a, n); p[0] = x; p[1] = v.f + v.n + v.b;")))
    most = group.kernel("".join(f"float v{i} = a * {i}; " for i in range(105)) + "float x = heavy(a, n); p[0] = x; " + "".join(f"p[{i}] = v{i}; " for i in range(105)))
    group.run()
    for what, want, name in cases:
        place = group.place(name, "call", "heavy")[0]
        items = [one.strip() for one in (place["held"] or "").split(",") if one.strip() not in ("", "x")]
        if want is None:
            check(not items, f"{what} is not held", place)
        else:
            check(items == want, f"{what} is held by its fields", place)
    check(len(group.place(most, "call", "heavy")[0]["held"].split(",")) == 100 and any("too many" in text for text in group.remark(most)), "most values in one mark", group.remark(most))
    for how, begin, end in (("none", "PROF_BEGIN(heavy_L", ")"), ("auto", "PROF_BEGIN(heavy_L", ", v)"), ("strict", "INK_BEGIN_STRICT(heavy_L", ", v)")):
        one = Group("--hold", how)
        name = one.kernel("float v = a * 2; float x = a; x = heavy(x, n); p[0] = x + v;")
        one.run()
        marks = [mark for mark in one.look(name)[2] if "heavy" in mark]
        check(len(marks) == 2 and begin in marks[0] and ("v" in marks[0].split("(", 1)[1].replace("heavy", "")) == (how != "none"), f"--hold {how}", marks)


def renderings():
    """The same source with other blanks, comments and line ends, and inside of a namespace, has the same places."""
    here = os.path.dirname(os.path.abspath(__file__))

    def places(text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "made.cu")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            listed = subprocess.run([inkmark, "instrument", "--header-less", *PATIENCE, "--root", folder, *options, "--list", "--format", "json", path, "--", "-arch=sm_90a", "-std=c++17", "-I", os.path.join(here, "..", "..", "device")],
                                    capture_output=True, text=True)
            marked = subprocess.run([inkmark, "instrument", "--header-less", *PATIENCE, "--root", folder, *options, "-o", os.path.join(folder, "marked.cu"), path, "--", "-arch=sm_90a", "-std=c++17", "-I", os.path.join(here, "..", "..", "device")],
                                    capture_output=True, text=True)
            if marked.returncode == 0 and os.path.exists(os.path.join(folder, "marked.cu")):
                stripped = subprocess.run([inkmark, "instrument", "--strip", os.path.join(folder, "marked.cu"), "-o", "-"], capture_output=True)
                check(stripped.returncode == 0 and stripped.stdout == text.encode(), "strips to its bytes", stripped.stderr)
        return [(one["kind"], one["state"], one["function"], one["name"], re.sub(r"_L\d+(_\d+)?$", "", one["section"] or ""), one["held"], re.sub(r"line \d+", "line", one["reason"] or "")) for one in
                json.loads(listed.stdout)["files"][0]["places"]]

    for name in ("roles", "holds", "waits", "control", "by_hand"):
        text = open(os.path.join(here, "cases", name + ".cu"), encoding="utf-8").read()
        usual = places(text)
        other = places("/* a ' comment \" { */\r\n// {\n" + re.sub(r"(?<!\\)\n", "  \r\n\n", text))
        check(usual and other == usual, f"{name} with comments above it, blank lines, blanks and carriage returns", [pair for pair in zip(other, usual) if pair[0] != pair[1]][:3])


def reasons():
    """What is said where something cannot be marked, by a source that has it and little else."""
    heavy = "__device__ float heavy(float x, int n) { for (int i = 0; i < n; i++) x = x * 1.5f + 2; return x; }\n"
    cases = [  # options, text, of which place, what is said
        ([], heavy + "__global__ void k(float *p, int n) { for (int i = 0; i < n; i++) { p[i] = i; /* prof: iteration */ } }", "directive", "needs the number of the row"),
        ([], "__global__ void k(float *p, int n) { " + "".join(f"/* prof: begin A{i} */ p[{i}] = {i}; " for i in range(66)) + "".join(f"p[{i}]++; /* prof: end A{i} */ " for i in reversed(range(66))) + "}", "directive", "more than 64 ranges inside of each other"),
        ([], heavy + "#ifndef __clang__\n__global__ void gone(float *p, int n) { p[0] = heavy(p[1], n); }\n#endif\n__global__ void k(float *p, int n) { p[0] = heavy(p[1], n); }", "", "a condition around it names clang"),
        (["--lines", "--kernel", "^k$"], heavy + "__global__ void k(float *p, int n) {\nif (n) int unused = 3;\np[0] = n; }", "line", "declares something"),
        (["--lines", "--kernel", "^k"], heavy + "__global__ void k(float *p, int n) { p[0] = n; }\n__global__ void k2(float *p, int n) { p[0] = n; }", "", "error: --kernel chooses 'k' and 'k2' for --lines, which is for one kernel"),
        (["--loops"], "__global__ void k(float *p, int n) { for (int i = 0; i < n; i++) { " + "".join(f"for (int j{i} = 0; j{i} < n; j{i}++) p[j{i}] += j{i}; " for i in range(10)) + "} }", "loop", "slot"),
        ([], "__global__ void k(float *p, int n) { for (int i = 0; i < n; i++) { p[i] += 1; " + "".join(f"for (int j{i} = 0; j{i} < n; j{i}++) {{ p[j{i}] += j{i}; __syncthreads(); }} " for i in range(10)) + "} }", "loop", "the outermost loop around has 8 sums already (--loops marks it)"),
        ([], "struct part { float a, b; };\n" + heavy + "__global__ void k(float *p, int n) { part t[4]; t[0].a = n * 2.0f; t[1].b = n * 3.0f; float x = heavy(p[0], n); p[0] = x + t[0].a + t[1].b; p[1] = t[n & 3].a; }", "", "an array of structures"),
    ]
    for options, text, kind, said in cases:
        group = Group(*options, before=text + "\n")
        group.list_only()
        told = [one["reason"] or "" for one in group.list["places"] if not kind or one["kind"] == kind] + ([remark for _, remark in group.remarks] if not kind else [])
        check(any(said in one for one in told), f"'{said}' is said of\n{text}", told, group.remarks)


for group in (trips, unknown_heads, operations, pragmas, registers, slots, ways_out, row_names, names, waits, objects, held, roles, rules, pairs, gotos, threads,
              comments, hand, helpers, forms, structures, renderings, reasons):
    before = wrong
    group()
    if wrong != before:
        print(f"{wrong - before} in '{group.__name__}'")
        if os.environ.get("INKMARK_FIRST_FAULT"):  # as tests/mutate.py asks, to which one is as good as many
            break
print(f"{checked} decisions, {wrong} wrong")
sys.exit(wrong != 0 or not checked)
