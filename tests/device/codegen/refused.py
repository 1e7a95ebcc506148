# SPDX-License-Identifier: MIT
"""Mistakes that the compiler must catch, and what its message must say to the one who made them."""
import os
import tempfile

from toolchain import Checks, nvcc, sampled

HEAD = '#include "inkmark/mark.cuh"\nPROF_SECTIONS(Table, Kernel, Step)\n'



def table_of(sections):
    """A table with that many sections, of which a kernel marks the last."""
    names = ", ".join(f"S{i}" for i in range(1, sections + 1))
    return f"PROF_SECTIONS(Many, {names})\n__global__ void k() {{ PROF_KERNEL(S1); PROF_MARK(S{sections}); }}"


# name, source, flags, words that the message must hold (None: it must compile)
CASES = [
    ("a pointer is held", "__global__ void k(float *x) { PROF_KERNEL(Kernel); PROF_MARK(Step, x); }",
     [], ["hold values, not pointers"]),
    ("a value of odd size is held",
     "struct odd { char c[3]; };"
     "__global__ void k(odd *x) { PROF_KERNEL(Kernel); odd o = *x; PROF_MARK(Step, o); *x = o; }",
     [], ["this value cannot be held", "multiple of 4"]),
    ("no such section", "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Stop); }",
     [], ['"names_of_PROF_SECTIONS" has no member "Stop"']),
    ("no such section in that table",
     "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Table::Stop); }",
     [], ['"ink_n_Table" has no member "Stop"']),
    ("a name in two tables", "PROF_SECTIONS(Twin, Step)\n"
     "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Step); }", [], ['"names_of_PROF_SECTIONS::Step" is ambiguous']),
    ("a name in two tables, qualified", "PROF_SECTIONS(Twin, Step)\n"
     "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Twin::Step); }", [], None),
    ("a sum in a called function", "__device__ void f() { PROF_SUM_BEGIN(Step); PROF_SUM_END(Step); }"
     "__global__ void k() { PROF_KERNEL(Kernel); f(); }", [], ["PROF_SUM_BEGIN", "belong in the body of a kernel"]),
    ("a clock triple in a called function", "__device__ void f() { PROF_CLOCKS(); }"
     "__global__ void k() { PROF_KERNEL(Kernel); f(); }", [], ["PROF_CLOCKS", "belong in the body of a kernel"]),
    ("a context that the caller lacks", "__device__ void f(PROF_PARAMS(int)) { PROF_MARK(Step); }"
     "__device__ void g() { f(PROF_ARGS(1)); }", [], ["PROF_ARGS needs a context", "PROF_PARAMS of this function"]),
    ("a context that a lambda lacks", "__device__ void f(PROF_PARAMS()) { PROF_MARK(Step); }"
     "__global__ void k() { PROF_KERNEL(Kernel); auto g = [] { PROF_LAMBDA(); f(PROF_ARGS()); }; g(); }", [],
     ["PROF_ARGS needs a context"]),
    *((f"a lambda that captures by value, {what}", f"__global__ void k(int *x) {{ {what}; int n = *x; auto g = [=](int i)"
       " { PROF_MARK(Step); return i + n; }; *x = g(1); }", [], ["capture by [&]", "begin the lambda with PROF_LAMBDA()"])
      for what in ("PROF_KERNEL(Kernel)", "PROF_KERNEL_ROWS(Kernel)")),
    ("a lambda that captures by value what its function was given", "__device__ int f(PROF_PARAMS(int n)) { auto g = [=] { PROF_MARK(Step);"
     " return n; }; return g(); } __global__ void k(int *x) { PROF_KERNEL(Kernel); *x = f(PROF_ARGS(*x)); }", [], ["capture by [&]"]),
    ("lambdas that do not", "__global__ void k(int *x) { PROF_KERNEL(Kernel); int n = *x; auto g = [&](int i) { PROF_MARK(Step, i); return i + n; };"
     " auto h = [=](int i) { PROF_LAMBDA(); PROF_MARK(Step); return i + n; }; auto m = [=, &ink_ctx_](int i) { PROF_MARK(Step); return i + n; };"
     " *x = g(1) + h(2) + m(3); }", [], None),
    ("a call without PROF_ARGS", "__device__ void f(PROF_PARAMS(int)) { PROF_MARK(Step); }"
     "__global__ void k() { PROF_KERNEL(Kernel); f(1); }", [], ["ink_i::context"]),
    ("all static shared memory used",
     "__global__ void k(float *x) { PROF_KERNEL(Kernel); __shared__ float a[12288]; a[threadIdx.x] = *x;"
     " __syncthreads(); *x = a[5]; PROF_MARK(Step); }", [], None),
    ("the same where shared entries are asked for",
     "__global__ void k(float *x) { PROF_KERNEL(Kernel); __shared__ float a[12288]; a[threadIdx.x] = *x;"
     " __syncthreads(); *x = a[5]; PROF_MARK(Step); }", ["-DINKMARK_SHARED"],
     ["too much shared data", "0xc400 bytes, 0xc000 max"]),
    ("PROF_CLOSE in another function", "__device__ void f(PROF_PARAMS()) { PROF_CLOSE(); }"
     "__global__ void k() { PROF_OPEN(Kernel); f(PROF_ARGS()); }", [], ["PROF_CLOSE belongs in the function"]),
    ("PROF_CLOSE without a track", "__device__ void f() { PROF_CLOSE(); } __global__ void k() { f(); }", [],
     ["PROF_CLOSE belongs in the function"]),
    # ptxas 13.0 crashes where a register of a block has a kernel's name
    ("kernels with the names of the header's registers", "".join(
        f'extern "C" __global__ void {name}() {{ PROF_KERNEL(Kernel); int x = threadIdx.x; PROF_MARK_LOADED(Step, x); }}\n'
        for name in ("one", "ring", "slot", "at", "on", "now", "thread", "state", "entry", "a", "l", "find", "top")), [], None),
    ("a role in a called function", "__device__ void f() { PROF_ROLE(Step); }"
     "__global__ void k() { PROF_KERNEL(Kernel); f(); }", [], ["PROF_ROLE", "belongs where the track is open"]),
    ("a section that is known at run time", "__global__ void k(int i) { PROF_KERNEL(Kernel); PROF_MARK(Table(i)); }", [],
     ["a section is a name of PROF_SECTIONS", "PROF_MARK_ID"]),
    ("the same in a range", "__global__ void k(int i) { PROF_KERNEL(Kernel); PROF_BEGIN((i ? Step : Kernel)); PROF_END(Step); }",
     [], ["a section is a name of PROF_SECTIONS", "PROF_MARK_ID"]),
    ("a number in a section's place", "__global__ void k() { PROF_KERNEL(Kernel); PROF_VALUE(3, 4); }", [],
     ["a section is a name of PROF_SECTIONS"]),
    ("run-time sections of a table that is full", table_of(8191).replace("PROF_MARK(S8191)", "PROF_MARK_ID(Many, 3)"), [],
     ["PROF_MARK_ID needs a table of at most 8,190 sections"]),
    ("run-time sections of one that is not", table_of(8190).replace("PROF_MARK(S8190)", "PROF_MARK_ID(Many, 3)"), [], None),
    ("an event of a track of rows", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_EVENT(Step); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_EVENT"]),
    ("a value of a track of rows", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_VALUE(Step, 3); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_VALUE"]),
    ("an async range of a track of rows", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_ASYNC_BEGIN(Step, 3); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_ASYNC"]),
    ("one across threads", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_ASYNC_BEGIN_BLOCK(Step, 3); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no", "PROF_ASYNC"]),
    ("a range with a number", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_BEGIN_WITH(Step, 3); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_BEGIN_WITH"]),
    ("a sum of a track of rows", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_SUM_BEGIN(Step); PROF_SUM_END(Step); }",
     [], ["a track of rows (PROF_KERNEL_ROWS) has no PROF_SUM"]),
    ("a clock triple of a track of rows", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_CLOCKS(); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_CLOCKS"]),
    ("a run-time section of a track of rows", "__global__ void k(int i) { PROF_KERNEL_ROWS(Kernel); PROF_MARK_ID(Table, i); }",
     [], ["a track of rows (PROF_KERNEL_ROWS) has no PROF_MARK_ID"]),
    ("an event in a function of a track of rows", "__device__ void f(PROF_PARAMS_ROWS(Kernel)) { PROF_EVENT(Step); }"
     "__global__ void k() { PROF_KERNEL_ROWS(Kernel); f(PROF_ARGS()); }", [],
     ["a track of rows (PROF_KERNEL_ROWS) has no PROF_EVENT"]),
    ("a range of a section without the slots", "__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_BEGIN(Step); PROF_END(Step); }",
     [], ["the ranges are the sections in front of the kernel's own in PROF_SECTIONS"]),
    ("a range of one that has them", "__global__ void k() { PROF_KERNEL_ROWS(Step); PROF_SCOPE(Kernel); PROF_MARK(Step); }",
     [], None),
    ("a row's mark of another table", "PROF_SECTIONS(Twin, Far)\n__global__ void k() { PROF_KERNEL_ROWS(Kernel); PROF_MARK(Far); }",
     [], ["a mark of a track of rows names a section of the kernel's own table"]),
    ("as many sections as a row holds", table_of(60).replace("PROF_KERNEL(", "PROF_KERNEL_ROWS("), [], None),
    ("one section more than that", table_of(61).replace("PROF_KERNEL(", "PROF_KERNEL_ROWS("), [], ["a row holds at most 60 slots"]),
    ("rows in a function of records", "__device__ void f(PROF_PARAMS()) { PROF_MARK(Step); }"
     "__global__ void k() { PROF_KERNEL_ROWS(Kernel); f(PROF_ARGS()); }", [], ["ink_i::context"]),
    ("records in a function of rows", "__device__ void f(PROF_PARAMS_ROWS(Kernel)) { PROF_MARK(Step); }"
     "__global__ void k() { PROF_KERNEL(Kernel); f(PROF_ARGS()); }", [], ["ink_i::rows_of"]),
    ("an object of a track of rows", "struct s { PROF_MEMBER() };"
     "__global__ void k() { PROF_KERNEL_ROWS(Kernel); s o; PROF_BIND(o); }", [], ["PROF_BIND needs a track of records"]),
    ("PROF_CLOSE of rows in another function", "__device__ void f(PROF_PARAMS_ROWS(Kernel)) { PROF_CLOSE(); }"
     "__global__ void k() { PROF_OPEN_ROWS(Kernel); f(PROF_ARGS()); }", [], ["PROF_CLOSE belongs in the function"]),
    ("C++11", "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Step); }", ["-std=c++11"],
     ["inkmark/mark.cuh needs C++14 or newer"]),
    ("C++14", "__global__ void k() { PROF_KERNEL(Kernel); PROF_MARK(Step); }", ["-std=c++14"], None),
    ("as many sections as an id holds", table_of(8191), [], None),
    ("one section more", table_of(8192), [], ["a table of PROF_SECTIONS has more than 8,191 sections"]),
    ("many more, in a table of the rewriter's", '#include "inkmark/rewritten.cuh"\n' + table_of(10000).replace(
        "PROF_SECTIONS(Many, ", 'INK_TABLE(Many, 1, "S1", '), [],
     ["a table of PROF_SECTIONS has more than 8,191 sections"]),
]


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "case.cu")
        for name, text, flags, words in sampled(CASES, 20):
            with open(source, "w", encoding="utf-8") as file:
                file.write(HEAD + text + "\n")
            done = nvcc(*([] if any(f.startswith("-std") for f in flags) else ["-std=c++17"]), "-arch=sm_90", "-cubin", *flags, "-o", os.path.join(folder, "o"),
                        source, check=False)
            said = done.stdout + done.stderr
            if words is None:
                checks.that(done.returncode == 0, f"{name}: must compile\n{said}")
                continue
            checks.that(done.returncode != 0, f"{name}: compiled")
            for word in words:
                checks.that(word in said, f"{name}: no '{word}' in\n{said}")
    checks.finish()


main()
