# SPDX-License-Identifier: MIT
"""Draws CUDA sources: valid C++17 of as many forms as functions, statements, macros, templates and layouts have.

`Source(number).text` and `.header`, which it includes unless it is empty, are the same on every machine: their numbers come from a generator that stands here. `Source(number, wrong=True)`
has marks by hand and directives that do not fit. `drawn_sources.py NUMBER [wrong]` prints one."""
import sys

WORDS = ["load", "store", "mix", "scan", "fold", "turn", "pack", "sort", "seek", "walk", "bind", "cast", "dot", "fill", "hash", "jump"]
LICENCE = "// SPDX-License-" + "Identifier: MIT\n"  # in two: this line is no licence of its own
PRELUDE = """#include "inkmark/mark.cuh"
#define ONCE(...) do { __VA_ARGS__; } while (0)
#define PLUS(a, b) ((a) + (b))
#define FIRST(a, ...) (a)
#define SET(to, ...) to = (__VA_ARGS__)
#define GROW(v) v += step(v, 3)
#define GROWN(v) step(v, 3)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define TIMES(i, n, ...) for (int i = 0; i < (n); i++) { __VA_ARGS__; }
#define WHEN(...) if (__VA_ARGS__)
#define OTHERWISE else
#define OPEN {
#define SHUT }
#define SEMI ;
#define BOTH(s, ...) s; __VA_ARGS__
#define BLOCKED(...) { __VA_ARGS__; }
#define LEAVE(v) if ((v) == 12345) return
#define UNROLLED _Pragma("unroll")
#define QUALIFIED __device__ __forceinline__
#define NAME(a, b) a##b
#define SYNC() __syncthreads()
#define TWICE(v) (step(v, 1) + step(v, 2))
#define VALUE 17
#define EMPTY
struct pair { int a, b; };
struct many { int a, b, c, d; float e, f; };
__constant__ int table[16];
__device__ int global[16];
__device__ inline int step(int v, int n) { for (int i = 0; i < n; i++) v = v * 5 + i; return v; }
__device__ inline int tiny(int v) { return v + 1; }
__device__ inline float real(float f, int n) { for (int i = 0; i < n; i++) f = f * 1.5f + i; return f; }
__device__ inline void into(int &v, int n) { for (int i = 0; i < n; i++) v = v * 3 + i; }
template <class F> __device__ int apply(F f, int v, int n) { for (int i = 0; i < n; i++) v = f(v, i); return v; }
template <class... T> __device__ int total(int v, T... more) { for (int i = 0; i < v; i++) v += i * i; return v + (0 + ... + int(more)); }
"""


def argument(text):
    """As an argument of a macro: a comma outside of parentheses would begin another one."""
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            return f"({text})"
    return text


class Chance:
    """A generator of its own: Python's may draw otherwise in another version."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**64 + 12345
        for _ in range(4):
            self.below(2)

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def one(self, of):
        return of[self.below(len(of))]

    def often(self, percent):
        return self.below(100) < percent


class Function:
    """What the statements that are drawn may use."""

    def __init__(self, kernel, returns, dependent=""):
        self.kernel, self.returns, self.dependent = kernel, returns, dependent  # returns: "int", "void", "" (a lambda that may not)
        self.ints, self.floats, self.arrays, self.fixed, self.depth, self.waits, self.is_lambda = ["v"], [], [], ["n"], 0, kernel, False


class Source:
    def __init__(self, number, wrong=False):
        self.chance = Chance(number * 2 + wrong)
        self.wrong, self.serial, self.calls, self.kernels, self.launches = wrong, 0, [], [], []
        self.header = ""
        parts = [self.function() for _ in range(3 + self.below(4))]
        parts += [self.kernel() if self.often(60) else self.function() for _ in range(5 + self.below(5))]
        parts += [self.kernel()]
        launch = "void launch(int *x) {\n" + "".join(f"  {one}\n" for one in self.launches) + "}\n"
        parts = [self.wrap(part) for part in parts]
        in_header = self.one([0, 0, 2, 3])  # so many parts are the header's
        self.header = LICENCE + "#pragma once\n" + PRELUDE + self.laid_out("\n".join(parts[:in_header])) if in_header else ""
        start = f'#include "drawn_{number}.cuh"\n' if in_header else PRELUDE
        self.text = LICENCE + start + self.laid_out("\n".join(parts[in_header:])) + "\n" + launch
        if self.often(15):
            self.text = self.text.replace("\n", "\r\n").replace("\\\r\n", "\\\n")

    def below(self, n):
        return self.chance.below(n)

    def one(self, of):
        return self.chance.one(of)

    def often(self, percent):
        return self.chance.often(percent)

    def name(self):
        self.serial += 1
        return f"{self.one(WORDS)}{self.one(['', '_', '_' + self.one(WORDS) + '_'])}{self.serial}"

    def wrap(self, part):
        """A function in a namespace, or behind a condition of the preprocessor."""
        which = self.below(20)
        if which == 0:
            return f"#if __CUDA_ARCH__ >= 700 || !defined(__CUDA_ARCH__)\n{part}\n#else\n{part}\n#endif"
        if which == 1 and not part.startswith(("#", "\n#")):
            return f"/* before */ {part} // behind"
        if which == 2:
            return f"// prof: off\n{part}" if self.often(40) else part
        return part

    def laid_out(self, text):
        """Blanks become line ends, comments, tabs; lines of the preprocessor and strings stay."""
        how = self.below(5)  # 0, 1: nearly as it is
        rates = [(2, 1, 1, 1), (6, 1, 1, 1), (25, 2, 2, 2), (3, 8, 1, 4), (8, 4, 6, 3)][how]
        made, in_string = [], False
        for line in text.split("\n"):
            if line.lstrip().startswith("#") or "//" in line:
                made.append(line)
                continue
            out, in_comment = [], False
            for at, c in enumerate(line):
                if c == '"':
                    in_string = not in_string
                in_comment = (in_comment or line[at:at + 2] == "/*") and line[at - 2:at] != "*/"
                if c != " " or in_string or in_comment or line[at - 1] == "/":
                    out.append(c)
                    continue
                draw = self.below(100)
                if how < 2 and line[at - 1] in ";{}" and self.often(70):
                    draw = 0
                if draw < rates[0]:
                    c = "\n" + " " * self.below(6)
                elif draw < rates[0] + rates[1]:
                    c = self.one([" /* why */ ", "/**/", " /* a { b */ ", " /* ' */ "])
                elif draw < rates[0] + rates[1] + rates[2]:
                    c = self.one([" // then\n ", " // } ;\n"])
                elif draw < sum(rates):
                    c = self.one(["\t", "  ", " \\\n  ", "\n\n "])
                out.append(c)
            made.append("".join(out))
        return "\n".join(made)

    # --- expressions
    def value(self, f, depth=0):
        """An int."""
        kinds = ["name", "name", "number", "sum", "call", "load", "call"] if depth < 3 else ["name", "number", "name"]
        kind = self.one(kinds)
        if kind == "name":
            return self.one(f.ints + f.fixed + ([f"{self.one(f.arrays)}[{self.one(f.ints + ['1'])} & 3]"] if f.arrays else []) + ([f.dependent] if f.dependent else []))
        if kind == "number":
            return self.one(["0", "1", "3", "7", "0x1f", "VALUE", "'a'", "12u", "1'000"])
        if kind == "sum":
            a, b = self.value(f, depth + 1), self.value(f, depth + 1)
            return self.one([f"{a} + {b}", f"({a} ^ {b})", f"{a} * 3 - {b}", f"PLUS({argument(a)}, {argument(b)})", f"({a} > {b} ? {a} : {b})", f"FIRST({argument(a)}, {b})", f"(int)(({a}) & 7)", f"int({a} % 5)", f"-({a})", f"~{self.one(f.ints)}",
                             f"({a}, {b})", f"({a} >> 1) + ({b} << 2)", f"static_cast<int>({b} / 3)", f"(({a}))"])
        if kind == "load":
            return self.one([f"table[{self.one(f.ints)} & 15]", "global[3]", f"global[({self.value(f, depth + 2)}) & 15]"] + (["x[threadIdx.x]", f"x[{self.one(f.ints)} & 31]", "*x", "x[blockIdx.x + 1]"] if f.kernel else []))
        return self.call(f, depth)

    def call(self, f, depth=0):
        """An int that a function of this source gives."""
        v, n = self.value(f, depth + 1), self.one(f.fixed + ["3", "n", "VALUE", "4"])
        own = self.one(self.calls) if self.calls and self.often(70) else None
        if own:
            return own.replace("@v", self.value(f, 3) if "," in v and "(" not in v else v).replace("@n", n)
        return self.one([f"step({v}, {n})", f"tiny({v})", f"GROWN({self.one(f.ints)})", f"TWICE({self.one(f.ints)})", f"apply(step, {v}, {n})", f"apply([](int a, int b) {{ return a * b + 1; }}, {v}, {n})",
                         f"apply([=](int a, int b) {{ return step(a, b) + {self.one(f.ints)}; }}, {v}, 3)", f"total({v}, 1, 2.5f)", f"total({v})", f"(int)real({v}, {n})", f"int(sizeof(step({self.one(f.ints)}, 1)))", f"PLUS(step({v}, 2), {n})",
                         f"min({v}, {n})", f"__ldg(&global[{n} & 3])", f"atomicAdd(&global[1], {v})", f"step(step({v}, 1), tiny({n}))", f"[&] {{ return step({v}, 2); }}()"])

    def condition(self, f):
        a, b = self.value(f, 1), self.one(f.ints + f.fixed + ["3"])
        return self.one([f"{a} > {b}", f"{self.one(f.ints)} & 1", f"{a} == {b} && {self.one(f.ints)} < 9", f"{self.one(f.ints)} > 2 || step({b}, 2) > 3", f"!({a})", f"({a}) != {b}", f"{self.call(f, 2)} > 4", f"n > 3", f"n"]
                        + (["threadIdx.x < 16", "threadIdx.x == 0", "blockIdx.x == 0", "threadIdx.x / 32 == 1", "threadIdx.x % 2 && n > 1"] if f.kernel else []))

    # --- statements
    def block(self, f, depth, in_loop=False, in_switch=False, least=1):
        """Statements; the names that they declare are theirs."""
        kept = list(f.ints), list(f.floats), list(f.arrays), list(f.fixed)
        found = [self.statement(f, depth, in_loop, in_switch) for _ in range(least + self.below(4 if depth < 3 else 2))]
        f.ints, f.floats, f.arrays, f.fixed = (list(one) for one in kept)
        return " ".join(found)

    def body(self, f, depth, in_loop=False, in_switch=False):
        """A statement behind a head: in braces or not."""
        if self.often(30):
            return self.simple(f)
        if self.often(8):
            return f"OPEN {self.block(f, depth + 1, in_loop, in_switch)} SHUT"
        return f"{{ {self.block(f, depth + 1, in_loop, in_switch)} }}"

    def simple(self, f):
        """A statement that declares nothing."""
        v = self.one(f.ints)
        return self.one([f"{v} = {self.value(f)};", f"{v} += {self.call(f)};", f"{v}++;", f"{v} = {self.call(f)};", f"{v} ^= {self.value(f)} + {self.call(f)};", f"into({v}, {self.one(f.fixed)});", f"GROW({v});", f"SET({v}, {self.value(f)});",
                         f"(void){self.call(f)};", f"{self.call(f)};", f"{v} = {self.call(f)}, {v}++;", f"ONCE({v} = {self.call(f)});", f"BLOCKED({v} += {self.call(f)})", f"global[{v} & 15] = {self.value(f)};", "EMPTY ;",
                         f"{v} = {self.condition(f)} ? {self.call(f)} : {self.call(f)};", f"{v} = {self.condition(f)} && {self.condition(f)};", f"{{ BOTH({v} = {argument(self.call(f))}, {v}--); }}", f"({v}) = ({self.call(f)});", f"{v} = {self.call(f)} SEMI"]
                        + ([f"x[threadIdx.x] = {self.value(f)};", f"x[{v} & 31] += {self.call(f)};"] if f.kernel else []) + ([f"{self.one(f.arrays)}[{v} & 3] = {self.value(f)};"] if f.arrays else [])
                        + ([f"{self.one(f.floats)} = real({self.one(f.floats)}, n);", f"{self.one(f.floats)} *= 2.5f;"] if f.floats else []))

    def statement(self, f, depth, in_loop, in_switch):
        if depth > 4:
            return self.simple(f)
        kind = self.one(["simple"] * 7 + ["declare"] * 3 + ["if"] * 3 + ["loop"] * 4 + ["switch", "block", "lambda", "leave", "goto", "wait", "macro", "hand", "comment", "asm", "conditional"])
        f.depth = depth
        return getattr(self, "make_" + kind)(f, depth, in_loop, in_switch)

    def make_simple(self, f, *_):
        return self.simple(f)

    def make_declare(self, f, *_):
        name = f"{self.one('abcdyz')}{self.serial}"
        self.serial += 1
        text = self.one([f"int {name} = {self.value(f)};", f"int {name} = {self.call(f)};", f"auto {name} = int({self.call(f)});", f"int {name}, {name}_ = {self.call(f)}; {name} = {name}_ + 1;", f"int {name} = {self.call(f)}, {name}_ = {self.call(f)}; {name} += {name}_;",
                         f"int {name}{{{self.one(f.ints)}}};", f"int {name}({self.one(f.ints)});", f"pair {name}_ = {{{self.one(f.ints)}, 2}}; int {name} = {name}_.b;", f"pair {name}_{{1, 2}}; {name}_.a = {self.call(f)}; int &{name} = {name}_.a;",
                         f"volatile int {name}_ = {self.one(f.ints)}; int {name} = {name}_;", f"unsigned {name}_ = {self.one(f.ints)}; int {name} = {name}_ / 2;", f"auto [{name}, {name}_] = pair{{int({self.one(f.ints)}), 4}};", f"using {name}_ = int; {name}_ {name} = {self.one(f.ints)};"])
        what = self.below(9)
        if what == 8:
            inner = "for (int i = 0; i < n; i++) { v += w * i; } return step(v, n);"
            return self.one(["(void)sizeof(__func__);", f"static int {name}_ = 3; {self.one(f.ints)} += {name}_;", f"struct {name}_local {{ int w; __device__ int go(int v, int n) {{ {inner} }} }}; {self.one(f.ints)} += {name}_local{{2}}.go({self.one(f.ints)}, n);"])
        if what == 0:
            f.floats.append(name)
            return self.one([f"float {name} = {self.one(f.ints)} * 0.5f;", f"float {name} = real({self.one(f.ints)}, n);"])
        if what == 1:
            f.arrays.append(name)
            return self.one([f"int {name}[4] = {{1, 2, 3, 4}};", f"int {name}[8] = {{}};", f"int {name}[4]; for (int i = 0; i < 4; i++) {name}[i] = i * {self.one(f.ints)};"] + ([f"__shared__ int {name}[64];"] if f.kernel else []))
        if what == 2:
            f.fixed.append(name)
            return self.one([f"const int {name} = {self.value(f)};", f"constexpr int {name} = {self.one(['3', '40', '200'])};", f"const int {name} = {self.call(f)};", f"enum {{ {name} = 5 }};", f"static constexpr int {name} = 12;"])
        if what == 3:
            return f"many {name} = {{{self.one(f.ints)}, n, 3, 4, 5, 6}}; {name}.c += {self.call(f)}; {self.one(f.ints)} += {name}.a + {name}.c;"
        f.ints.append(name)
        return text

    def make_if(self, f, depth, in_loop, in_switch):
        c, body = self.condition(f), self.body(f, depth, in_loop, in_switch)
        which = self.below(9)
        if which == 0:
            return f"if ({c}) {body} else {self.body(f, depth, in_loop, in_switch)}"
        if which == 1:
            return f"if ({c}) {body} else if ({self.condition(f)}) {self.body(f, depth, in_loop, in_switch)} else {self.body(f, depth, in_loop, in_switch)}"
        if which == 2:
            name = f"q{self.serial}"
            self.serial += 1
            return self.one([f"if (int {name} = {self.call(f)}; {name} > 3) {body}", f"if (int {name} = {self.call(f)}) {body}", f"if (const auto {name} = {self.value(f)}; {c}) {{ {body} }} else {{ v += {name}; }}"])
        if which == 3:
            return f"if constexpr ({f.dependent or 'sizeof(int) == 4'} > 3) {{ {self.block(f, depth + 1, in_loop, in_switch)} }} else {{ {self.block(f, depth + 1, in_loop, in_switch)} }}"
        if which == 4:
            return f"WHEN ({c}) {body} OTHERWISE {self.body(f, depth, in_loop, in_switch)}"
        if which == 5 and f.kernel:
            work = [f"{{ for (int i = 0; i < n; i++) {{ {self.simple(f)} }} {self.simple(f)} }}" for _ in range(3)]
            warp = self.one(["threadIdx.x / 32", "(threadIdx.x >> 5)", "threadIdx.y"])
            return self.one([f"if ({warp} == 0) {work[0]} else {work[1]}", f"if ({warp} == 0) {work[0]} else if ({warp} == 1) {work[1]} else {work[2]}", f"if (threadIdx.x < 64) {work[0]} else if (threadIdx.x >= 96) {work[1]}",
                             f"const int warp{depth} = {warp}; if (warp{depth} == 3) {work[0]} else if (warp{depth} > 0) {work[1]}"]).replace(f"warp{depth}", f"warp_{self.serial}_")
        return f"if ({c}) {body}"

    def make_loop(self, f, depth, in_loop, in_switch):
        i = f"{self.one('ijk')}{depth}"
        if i in f.fixed:
            i += "_"
        kept = list(f.fixed)
        bound = self.one(f.fixed + ["n", "8", "40", "100", "200", "n - 1", "VALUE"] + ([f.dependent] if f.dependent else []))
        f.fixed.append(i)
        body = self.body(f, depth, True, False)
        f.fixed = kept
        before = self.one(["#pragma unroll\n", "#pragma unroll 4\n", "#pragma unroll 1\n", "UNROLLED ", '_Pragma("unroll 1") ']) if self.often(20) else ""
        if before.startswith("#"):
            before = "\n" + before
        return self.one([f"{before}for (int {i} = 0; {i} < {bound}; {i}++) {body}"] * 5 + [f"{before}for (int {i} = {bound}; {i} > 0; --{i}) {body}", f"for (unsigned {i} = 1; {i} <= 64; {i} *= 2) {body}", f"{{ int {i} = 0; while ({i} < {bound}) {{ {body} {i}++; }} }}",
                         f"{{ int {i} = 0; do {{ {body} }} while ({i}++ < {bound}); }}", f"for (int {i} = 0;; {i}++) {{ if ({i} > {bound}) break; {body} }}", f"EACH({i}, {bound}) {body}", f"for (int {i} = 0, {i}e = {bound}; {i} < {i}e; {i} += 2) {body}",
                         f"TIMES({i}, {bound}, {self.simple(f)})", f"{{ int {i} = n; for (; {i} > 0;) {{ {i} -= 1; {body} }} }}", f"while ({self.one(f.ints)} > 100) {{ {self.one(f.ints)} /= 2; {self.simple(f)} break; }}",
                         f"for (int {i} = {self.call(f)}; {i} < {bound}; {i} = {i} + 3) {body}", f"{{ int {i}; for ({i} = 0; {i} < {bound}; {i}++) {body} }}"]
                        + ([f"for (int {i} = threadIdx.x; {i} < {bound}; {i} += blockDim.x) {body}"] * 2 if f.kernel else []) + ([f"for (int {i} : {self.one(f.arrays)}) {body}"] if f.arrays and self.often(50) else []))

    def make_switch(self, f, depth, in_loop, _):
        cases = []
        for at in range(1 + self.below(3)):
            end = self.one(["break;", "break;", "", "break;"])
            cases.append(self.one([f"case {at}: {self.simple(f)} {end}", f"case {at}: {{ {self.block(f, depth + 1, in_loop, True)} {end} }}", f"case {at}: case {at + 10}: {self.simple(f)} {self.simple(f)} {end}"]))
        if self.often(70):
            cases.append(self.one([f"default: {self.simple(f)}", "default: break;", f"default: {{ {self.block(f, depth + 1, in_loop, True)} }}"]))
        head = self.one([f"{self.one(f.ints)} & 3", self.call(f), "n", f"int w = {self.one(f.ints)}; w & 3"] + (["threadIdx.x / 32"] if f.kernel else []))
        return f"switch ({head}) {{ {' '.join(cases)} }}"

    def make_block(self, f, depth, in_loop, in_switch):
        again = self.one(["int v = n; ", "float v_ = 2; int v = v_; ", "for (int v = 0; v < n; v++) tiny(v); "]) if self.often(40) else ""  # a name that is hidden
        return f"{{ {again}{self.block(f, depth + 1, in_loop, in_switch)} }}"

    def make_lambda(self, f, depth, *_):
        name = f"g{self.serial}"
        self.serial += 1
        inner = Function(False, "int")
        inner.ints, inner.waits, inner.is_lambda = ["v"], False, True
        body = self.block(inner, max(depth + 1, 2))
        return self.one([f"auto {name} = [](int v, int n) {{ {body} return v; }}; {self.one(f.ints)} += {name}({self.one(f.ints)}, n);", f"{self.one(f.ints)} = apply([](int v, int n) {{ {body} return v; }}, {self.one(f.ints)}, 3);",
                         f"auto {name} = [&](int a) -> int {{ if (a > 3) return {self.call(f)}; {self.simple(f)} return a; }}; {self.one(f.ints)} = {name}({self.value(f, 2)}) + {name}(2);",
                         f"auto {name} = [=](auto a) mutable {{ return step(a, n) + {self.one(f.ints)}; }}; {self.one(f.ints)} += {name}({self.one(f.ints)});"])

    def make_leave(self, f, depth, in_loop, in_switch):
        ways = []
        if f.returns == "int":
            ways += [f"if ({self.condition(f)}) return {self.value(f)};", f"if ({self.condition(f)}) return {self.call(f)};", f"if ({self.condition(f)}) {{ {self.simple(f)} return {self.call(f)}; }}"]
        elif f.returns == "void":
            ways += [f"if ({self.condition(f)}) return;", f"LEAVE({self.one(f.ints)});", f"if ({self.condition(f)}) {{ {self.simple(f)} return; }}"]
        if in_loop:
            ways += [f"if ({self.condition(f)}) continue;", f"if ({self.condition(f)}) {{ {self.simple(f)} continue; }}"]
            if not in_switch:
                ways += [f"if ({self.condition(f)}) break;", f"if ({self.condition(f)}) {{ {self.simple(f)} break; }}"]
        return self.one(ways) if ways else self.simple(f)

    def make_goto(self, f, *_):
        label = f"at{self.serial}"
        self.serial += 1
        return self.one([f"{{ if ({self.condition(f)}) goto {label}; {self.simple(f)} {label}: {self.simple(f)} }}", f"{{ {label}: {self.simple(f)} if ({self.one(f.ints)} == 4321) goto {label}; }}",
                         f"{{ for (int i = 0; i < n; i++) {{ if ({self.condition(f)}) goto {label}; {self.simple(f)} }} {label}: ; }}", f"{{ {label}: {self.simple(f)} }}"])

    def make_wait(self, f, *_):
        if not f.waits:
            return self.simple(f)
        return self.one(["__syncthreads();", "__syncwarp();", "SYNC();", 'asm volatile("bar.sync 0;" ::: "memory");', 'asm volatile("cp.async.wait_group 0;");', f"{self.one(f.ints)} += __syncthreads_count({self.one(f.ints)} > 1);",
                         'asm volatile("cp.async.wait_all;" ::: "memory");', "while (atomicAdd(&global[2], 0) < 0) { }", "{ volatile int *flag = &global[5]; while (*flag < 0) ; }", '{ asm volatile("bar.sync %0, %1;" :: "r"(1), "r"(64)); }',
                         "if (n) __syncthreads();", "for (int i = 0; i < 3; i++) __syncthreads();", "__threadfence();", "__nanosleep(20);"])

    def make_macro(self, f, *_):
        v = self.one(f.ints)
        return self.one([f"ONCE({{ {self.simple(f)} }});", f"ONCE({self.simple(f)[:-1]});" if self.often(30) else f"ONCE({v} = {self.call(f)}; {v}--);", f"BOTH({v} = {argument(self.call(f))}, {v} += {self.call(f)});", f"TIMES(m, n, {v} += {self.call(f)}; {v}++)",
                         f"{v} = PLUS({argument(self.call(f))}, PLUS({argument(self.call(f))}, 1));", f"{v} = FIRST({argument(self.call(f))}, {self.call(f)});", f"WHEN ({self.condition(f)}) {v} = {self.call(f)};", f"BLOCKED(BLOCKED({v} = {self.call(f)}))", f"SET({v}, PLUS({argument(self.call(f))}, tiny({v})));",
                         f"ONCE(if ({self.condition(f)}) {v} = {self.call(f)}; else {v}++);", f"EACH(m, 3) OPEN {v} = {self.call(f)}; SHUT", f"int NAME(w, {self.serial}_{f.depth}_{self.below(10**6)}) = {self.call(f)};"])

    def make_asm(self, f, *_):
        v = self.one(f.ints)
        return self.one([f'asm("add.s32 %0, %0, 1;" : "+r"({v}));', f'asm volatile("mov.u32 %0, %%clock;" : "=r"({v}));', f'asm volatile("{{\\n.reg .pred p;\\nsetp.gt.s32 p, %0, 3;\\n}}" :: "r"({v}));', f'asm volatile("membar.gl;" ::: "memory");'])

    def make_conditional(self, f, *_):
        return self.one([f"\n#if VALUE > 3\n{self.simple(f)}\n#else\n{self.simple(f)}\n#endif\n", f"\n#ifdef NEVER\n{self.simple(f)}\n#endif\n", f"\n#ifndef NEVER\nif ({self.condition(f)})\n#endif\n{self.simple(f)}", f"\n#line 700\n{self.simple(f)}" if self.often(10) else self.simple(f)])

    def make_comment(self, f, *_):
        name = f"{self.one(['Part', 'Sweep', 'Tile'])}{self.serial}"
        self.serial += 1
        fine = [f"/* prof: mark {name} */ {self.simple(f)}", f"{self.simple(f)} // prof: mark {name}\n", f"/* prof: begin {name} */ {self.simple(f)} {self.simple(f)} /* prof: end {name} */", f"for (int i = 0; i < n; i++) {{ /* prof: loop {name} */ {self.simple(f)} }}",
                f"for (int i = 0; i < n; i++) {{ /* prof: iteration i */ {self.simple(f)} }}", f"/* prof: begin {name} */ for (int i = 0; i < n; i++) {{ {self.simple(f)} }} /* prof: end {name} */"]
        if self.wrong and self.often(40):
            return self.one([f"/* prof: begin {name} */ {self.simple(f)}", f"/* prof: end {name} */ {self.simple(f)}", f"/* prof: begin {name} */ if (n) {{ {self.simple(f)} /* prof: end {name} */ }}", f"/* prof: nothing {name} */ {self.simple(f)}",
                             f"v = /* prof: mark {name} */ n;", f"/* prof: loop {name} */ {self.simple(f)}", "/* prof: mark */ v++;", f"/* prof: begin {name} */ /* prof: begin {name}_ */ {self.simple(f)} /* prof: end {name} */ /* prof: end {name}_ */", f"/* prof: mark {name}, v ( */ v++;"])
        return self.one(fine)

    def make_hand(self, f, depth, in_loop, in_switch):
        name = self.one(["Alpha", "Beta", "Gamma", "Delta"]) + (str(self.serial) if self.often(30) else "")
        self.serial += 1
        inner = self.simple(f)
        if f.is_lambda and not self.wrong:
            return inner
        fine = [f"PROF_BEGIN({name}); {inner} PROF_END({name});", f"{{ PROF_SCOPE({name}); {inner} }}", f"PROF_MARK({name});", f"PROF_BEGIN({name}); {self.block(f, depth + 1)} PROF_END({name});" if not f.returns else f"PROF_BEGIN_WITH({name}, n); {inner} {self.simple(f)} PROF_END({name});",
                f"for (int i = 0; i < n; i++) {{ PROF_ITER(i); {inner} }}", f"PROF_EVENT({name});", f"PROF_BEGIN({name}); for (int i = 0; i < n; i++) {{ {inner} {self.simple(f)} }} PROF_END({name});", f"PROF_VALUE({name}, v);",
                f"PROF_BEGIN({name}); if ({self.condition(f)}) {{ {inner} PROF_END({name}); }} else {{ PROF_END({name}); {self.simple(f)} }}"]
        if self.wrong and self.often(60):
            leave = "return v;" if f.returns == "int" else "return;" if f.returns == "void" else "v++;"
            return self.one([f"PROF_BEGIN({name}); {inner}", f"{inner} PROF_END({name});", f"PROF_BEGIN({name}); if ({self.condition(f)}) {leave} PROF_END({name});", f"if ({self.condition(f)}) {{ PROF_BEGIN({name}); }} {inner} PROF_END({name});",
                             f"for (int i = 0; i < n; i++) {{ PROF_BEGIN({name}); if (i == 3) break; PROF_END({name}); }}", f"PROF_BEGIN({name}); PROF_BEGIN(Other); {inner} PROF_END({name}); PROF_END(Other);",
                             f"for (int i = 0; i < n; i++) {{ PROF_BEGIN({name}); if (i == 3) continue; PROF_END({name}); }}", f"switch (n) {{ case 1: PROF_BEGIN({name}); break; default: v++; }} PROF_END({name});", f"do {{ PROF_BEGIN({name}); }} while (v++ < n);",
                             f"PROF_BEGIN({name}); switch (n) {{ case 1: PROF_END({name}); break; case 2: v++; }}", f"PROF_BEGIN(Other); while (v < n) {{ PROF_END(Other); v++; }}"])
        return self.one(fine)

    # --- functions
    def function(self):
        name = self.name()
        f = Function(False, "int")
        how = self.below(20)
        attributes = self.one(["__device__", "__device__ __forceinline__", "static __device__", "__device__ __noinline__", "inline __device__", "QUALIFIED", "__device__"])
        if how == 0:
            f.returns = "void"
            text = f"{attributes} void {name}(int &v, int n) {{ {self.block(f, 0)} }}"
            self.calls.append(f"[&] {{ int w = @v; {name}(w, @n); return w; }}()")
            return text
        if how in (1, 2):
            f.dependent = "N"
            text = f"template <int N> {attributes} int {name}(int v, int n) {{ {self.block(f, 0)} return v; }}"
            self.calls += [f"{name}<2>(@v, @n)", f"{name}<40>(@v, @n)"]
            if self.often(50):
                text += f"\ntemplate <> {attributes.replace('static ', '')} int {name}<2>(int v, int n) {{ {self.block(Function(False, 'int'), 1)} return v; }}"
            return text
        if how == 3:
            text = f"template <class T> {attributes} T {name}(T t, int n) {{ int v = t; {self.block(f, 0)} return v; }}"
            self.calls += [f"{name}(@v, @n)", f"{name}<int>(@v, @n)", f"(int){name}<long long>(@v, @n)"]
            return text
        if how == 4:
            text = f"struct {name} {{ int w; __device__ int operator()(int v, int n) const {{ {self.block(f, 0)} return v + w; }} }};"
            self.calls += [f"{name}{{3}}(@v, @n)", f"apply({name}{{1}}, @v, @n)"]
            return text
        if how == 5:
            text = (f"struct {name} {{ int v; __device__ {name}(int a) : v(a) {{ v += 1; }} __device__ int run(int n) {{ {self.block(f, 0)} return v; }}"
                    f" static __device__ int of(int v, int n) {{ {self.block(Function(False, 'int'), 1)} return v; }} __device__ int late(int n) const; }};\n__device__ int {name}::late(int n) const {{ int v = this->v; {self.block(Function(False, 'int'), 1)} return v; }}")
            self.calls += [f"{name}(@v).run(@n)", f"{name}::of(@v, @n)", f"{name}(@v).late(@n)"]
            return text
        if how == 6:
            f.dependent = "N"
            text = f"template <class T, int N> struct {name} {{ T v; __device__ T run(int n) {{ {self.block(f, 0)} return v; }} template <int M> __device__ static int deep(int v, int n) {{ {self.block(Function(False, 'int', 'M'), 1)} return v; }} }};"
            self.calls += [f"{name}<int, 4>{{@v}}.run(@n)", f"{name}<int, 3>::template deep<7>(@v, @n)", f"{name}<int, 40>::deep<2>(@v, @n)"]
            if self.often(50):
                text += f"\ntemplate <class T> struct {name}<T, 4> {{ T v; __device__ T run(int n) {{ {self.block(Function(False, 'int'), 1)} return v; }} }};"
            return text
        if how == 7:
            text = f"struct {name} {{ int v; friend __device__ {name} operator+({name} a, int n) {{ int v = a.v; {self.block(Function(False, ''), 1)} return {{v}}; }} __device__ operator int() const {{ return v; }} }};"
            self.calls += [f"int({name}{{@v}} + @n)"]
            return text
        if how == 8:
            text = f"namespace {name}_ns {{ inline namespace v1 {{ {attributes} int {name}(int v, int n) {{ {self.block(f, 0)} return v; }} }} }}"
            self.calls += [f"{name}_ns::{name}(@v, @n)", f"{name}_ns::v1::{name}(@v, @n)"]
            return text
        if how == 9:
            text = f"__device__ int {name}(int v, int n);\n__device__ int {name}_user(int v, int n) {{ return {name}(v, n) + 1; }}\n__device__ int {name}(int v, int n) {{ {self.block(f, 0)} return v; }}"
            self.calls += [f"{name}_user(@v, @n)", f"{name}(@v, @n)"]
            return text
        if how == 10:
            text = f"{attributes} auto {name}(int v, int n = 3) -> int {{ {self.block(f, 0)} return v; }}"
            self.calls += [f"{name}(@v)", f"{name}(@v, @n)"]
            return text
        if how == 11:
            text = f"{attributes} int {name}(int v, int n) {{ {self.block(f, 0)} return v; }}\n{attributes} int {name}(float w, int n) {{ int v = w; {self.block(Function(False, 'int'), 1)} return v; }}"
            self.calls += [f"{name}(int(@v), @n)", f"{name}(2.5f, @n)"]
            return text
        if how == 12:
            text = f"#define MAKE_{name}(name) __device__ int name(int v, int n) {{ for (int i = 0; i < n; i++) v = step(v, i); return v; }}\nMAKE_{name}({name})\nMAKE_{name}({name}_)"
            self.calls += [f"{name}(@v, @n)"]
            return text
        if how == 13:
            text = f"__device__ int {name}(int v, int n) {{ if (n <= 0) return v; {self.block(f, 1)} return {name}(v, n - 1); }}"
            self.calls += [f"{name}(@v, @n)"]
            return text
        if how == 14:
            text = f"template <class T> struct {name}_base {{ __device__ int go(int v, int n) {{ return static_cast<T *>(this)->part(v, n); }} }};\nstruct {name} : {name}_base<{name}> {{ __device__ int part(int v, int n) {{ {self.block(f, 0)} return v; }} }};"
            self.calls += [f"{name}().go(@v, @n)"]
            return text
        if how == 15:
            text = f"struct {name} {{ int &w; __device__ explicit {name}(int &v) : w(v) {{ int n = 3; {self.block(Function(False, ''), 1)} }} __device__ ~{name}() {{ w += step(w, 2); }} }};"
            self.calls += [f"[&](int w) {{ {name} held(w); return w + @n; }}(@v)"]
            return text
        if how == 16:
            text = f"{attributes} int {name}(PROF_PARAMS(int v, int n)) {{ {self.block(f, 0)} return v; }}" if self.often(50) else f"{attributes} int {name}(int v, int n) {{ {self.block(f, 0)} return v; }}"
            self.calls += [f"{name}({'PROF_ARGS' if self.wrong else 'PROF_ARGS_OFF'}(@v, @n))"] if "PROF_PARAMS" in text else [f"{name}(@v, @n)"]
            return text
        if how == 17:
            text = f"template <class F> {attributes} int {name}(F f, int v, int n) {{ v = f(v, n); {self.block(f, 1)} return f(v, 2) + step(v, n); }}"
            self.calls += [f"{name}(step, @v, @n)", f"{name}([](int a, int b) {{ for (int i = 0; i < b; i++) a += a / 3; return a; }}, @v, @n)"]
            return text
        head = f"{attributes} int {name}(int v, int n) {{"
        if self.often(20):
            head = f"\n#ifdef NEVER\n{attributes} int {name}(int v, long n) {{\n#else\n{head}\n#endif\n"
        text = f"{head} {self.block(f, 0)} return v; }}"
        self.calls.append(f"{name}(@v, @n)")
        return text

    def kernel(self):
        name = self.name()
        self.kernels.append(name)
        f = Function(True, "void")
        before = self.one(["", "", "", "__launch_bounds__(128) ", "__launch_bounds__(256, 2) "])
        opens = self.one(["", "", "", "", "", "PROF_KERNEL(Mine); ", f"PROF_KERNEL(K{self.serial}); "])
        if self.wrong and self.often(20):
            opens = "x[0]++; PROF_MARK(Early); PROF_KERNEL(K); "
        how = self.below(10)
        start = self.one(["int v = x[threadIdx.x];", "int v = threadIdx.x;", "int v = n * 3;", "int v = x[blockIdx.x * blockDim.x + threadIdx.x]; if (v < 0) return;"])
        if how == 0:
            f.dependent = "N"
            head = f"template <int N> __global__ void {before}{name}(int *x, int n)"
            self.launches += [f"{name}<4><<<1, 64>>>(x, 3);", f"{name}<64><<<1, 64>>>(x, 3);"][:1 + self.below(2)]
        elif how == 1:
            head = f"template <class T> __global__ void {before}{name}(T *x, int n)"
            self.launches += [f"{name}<int><<<1, 64>>>(x, 3);"] if self.often(80) else []
        elif how == 2:
            head = f'extern "C" __global__ void {before}{name}(int *x, int n)'
            self.launches.append(f"{name}<<<1, 64>>>(x, 3);")
        elif how == 3:
            self.launches.append(f"{name}<<<1, 64>>>(x, 3);")
            return f"static __global__ void {name}(int *x, int n) {{ x[0] = step(n, 2); }}"
        elif how == 4:
            head = f"__global__ {before}void {name}(int *__restrict__ x, const int n)"
            self.launches.append(f"{name}<<<1, 64>>>(x, 3);")
        elif how == 5:
            head = f"namespace {name}_in {{ __global__ void {before}{name}(int *x, int n)"
            self.launches.append(f"{name}_in::{name}<<<1, 64>>>(x, 3);")
            return f"{head} {{ {opens}{start} {self.block(f, 0, least=2)} x[threadIdx.x] = v; }} }}"
        elif how == 6:
            head = f"template <class Op, int N = 2> __global__ void {name}(int *x, int n, Op op)"
            self.launches.append(f"{name}<<<1, 64>>>(x, 3, step_op_{name}());")
            f.dependent = "N"
            return f"struct step_op_{name} {{ __device__ int operator()(int v, int n) const {{ return step(v, n); }} }};\n{head} {{ {opens}{start} v = op(v, n); {self.block(f, 0)} x[threadIdx.x] = op(v, 1); }}"
        else:
            head = f"__global__ void {before}{name}(int *x, int n)"
            self.launches.append(f"{name}<<<1, 64>>>(x, 3);")
        return f"{head} {{ {opens}{start} {self.block(f, 0, least=2)} x[threadIdx.x] = v; }}"


if __name__ == "__main__":
    source = Source(int(sys.argv[1]), len(sys.argv) > 2)
    print(source.header + source.text, end="")
