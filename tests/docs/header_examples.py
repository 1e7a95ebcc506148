# SPDX-License-Identifier: MIT
"""header_examples.py SOURCE BUILD CC LIBRARY MAKE_CAPTURES [NVCC]: the example in each public header (between @code and
@endcode) compiles without a warning, is linked with the shared library, and prints what it should.

Without NVCC the examples with kernels are left out, and that is said."""
import os
import re
import subprocess
import sys
import tempfile

source, build, compiler, library, make_captures, *nvcc = sys.argv[1:]
PUBLIC, DEVICE = os.path.join(source, "runtime", "include", "inkmark"), os.path.join(source, "device", "inkmark")
# header -> the argument that its program gets, and what its output has
WANTED = {
    "activity.h": ("activity.ink", " ns"), "capture.h": ("solver.ink", "Step: "), "collect.h": (None, "the writer has ended"),
    "critical.h": ("solver.ink", "ns of the path"), "decode.h": ("solver.ink", "whole slices"),
    "host_ranges.h": ("solver.ink", "0 ranges of the host"), "merge.h": ("trace.json", "gemm: 20000 ns"),
    "merged.h": ("solver.ink", "all.pftrace is written"), "output.h": ("solver.ink", "kernel_start"),
    "sources.h": ("solver.ink", "0 sources"), "stalls.h": ("solver.ink", "0 instructions and reasons"), "selftest.h": ("solver.ink", ""), "session.h": (None, "session.ink is written"), "status.h": ("solver.ink", "it is a capture"),
    "table.h": ("solver.ink", "(unmarked): "), "tables_json.h": ("solver.ink", '"schema_version"'),
    "variance.h": ("solver.ink", "p99 "), "text.h": (None, "red \\x1b[31m"), "version.h": (None, "libinkmark "), "mark.cuh": (None, ""),
    "rows.h": ("solver.ink", "kernel Step"), "record.h": (None, "kind 0, section 5"), "scope.h": (None, "in the range"),
}
# Nobody includes these by himself: parts of mark.cuh, what the rewriter inserts, what a marked file hands over.
NOT_ALONE = re.compile(r"mark_\w+\.(cuh|h)|rewritten\.cuh|module\.h")
TRACE = ('{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 100, "dur": 20, "args": '
         '{"device": 0, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}}]}')


def example(path):
    with open(path, encoding="utf-8") as file:
        found = re.findall(r"@code\{\.\w+\}\n(.*?)^[ /*]*@endcode", file.read(), flags=re.M | re.S)
    assert len(found) == 1, f"{path} has {len(found)} examples"
    return "".join(re.sub(r"^( \*|//) ?", "", line) + "\n" for line in found[0].splitlines())


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


headers = {name: os.path.join(folder, name) for folder in (PUBLIC, DEVICE) for name in sorted(os.listdir(folder))
           if not NOT_ALONE.fullmatch(name)}
assert set(headers) == set(WANTED), set(headers) ^ set(WANTED)
left_out, includes = [], ["-I" + os.path.dirname(PUBLIC), "-I" + os.path.dirname(DEVICE)]
with tempfile.TemporaryDirectory(prefix="inkmark-headers-") as work:
    run([make_captures], cwd=work)
    with open(os.path.join(work, "trace.json"), "w", encoding="utf-8") as file:
        file.write(TRACE)
    libraries = os.path.dirname(library)
    for name, path in headers.items():
        text, program = example(path), os.path.join(work, name.replace(".", "_"))
        kernels = "__global__" in text
        if kernels and not nvcc:
            left_out.append(name)
            continue
        with open(program + (".cu" if kernels else ".c"), "w", encoding="utf-8") as file:
            file.write(text)
        if kernels:
            run([nvcc[0], "-arch=compute_75", "-Wno-deprecated-gpu-targets", "-cudart", "shared", *includes, file.name, "-o", program,
                 "-L" + libraries, "-linkmark"])
        else:
            run([compiler, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *includes, file.name, "-o", program,
                 "-L" + libraries, "-linkmark"])
        argument, wanted = WANTED[name]
        sim = os.path.join(build, "device", "sim")
        said = run([program] + ([argument] if argument else []), cwd=work, stdin=subprocess.DEVNULL,
                   env={**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{sim}"})
        assert wanted in said, f"{name}: no '{wanted}' in:\n{said}"
if left_out:
    print(f"skipped: needs nvcc and the simulated device: the examples in {' and '.join(left_out)}")
print(f"{len(headers) - len(left_out)} headers have an example that runs")
