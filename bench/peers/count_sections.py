# SPDX-License-Identifier: MIT
"""Counts what a section costs with inkmark's marks and with the macros of other projects, which are read from
the reader's own clones: --flashinfer DIR --ikp DIR --warpscope DIR --tvm DIR, each optional. Prints
instructions a section beyond its payload, opening and closing, and registers. Compiled code, no GPU."""
import argparse
import ast
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "device", "codegen"))
from toolchain import ARCHS, Code, in_parallel, version  # noqa: E402

SOURCE = os.path.join(HERE, "sections.cu")
FEW, MANY = 8, 40
OURS = (("inkmark, a mark", 1, 1), ("inkmark, strict, 1 value", 10, 1), ("inkmark, loaded, 1 value", 11, 1),
        ("inkmark, begin and end", 2, 2), ("inkmark, rows: a mark", 12, 1), ("inkmark, rows: begin, end", 13, 2), ("naive pair of records", 3, 2), ("a ring in shared memory", 4, 1),
        ("begin and end packed", 5, 2))


def tvm_header(clone, folder):
    """TVM keeps its timers as text in Python: the literals are taken from the calls of device_intrinsic."""
    path = os.path.join(clone, "python", "tvm", "backend", "cuda", "cpp", "instrument.py")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    scope = {}
    with open(os.path.join(clone, "python", "tvm", "backend", "cuda", "codegen", "header.py"), encoding="utf-8") as file:
        text = file.read()
    at = text.index("__forceinline__ __device__ uint32_t tvm_builtin_get_timestamp()")
    lines = ["#include <stdint.h>", text[at:text.index("\n}", at) + 2]]
    for node in tree.body:
        names = [t.id for t in getattr(node, "targets", []) if isinstance(t, ast.Name)]
        if names and names[0] in ("_COMMON_PARAMS", "_EVENT_PARAMS") or getattr(node, "name", "") == "_write_event":
            exec(compile(ast.Module([node], []), path, "exec"), scope)  # text constants and their joining
        call = getattr(node, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "device_intrinsic":
            name = call.args[0].value
            words = {k.arg: k.value for k in call.keywords if k.arg in ("c_signature", "body")}
            if name.startswith("timer_"):
                text = {k: eval(compile(ast.Expression(v), path, "eval"), scope) for k, v in words.items()}
                lines += [f"__device__ __forceinline__ void {name}{text['c_signature']} {{", text["body"], "}"]
    with open(os.path.join(folder, "tvm_timers.h"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def commit_of(clone):
    done = subprocess.run(["git", "-C", clone, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "not a clone, version as installed"


def measure(arch, form, flags):
    codes = {n: Code(SOURCE, arch, "-w", f"-DFORM={form}", f"-DSECTIONS={n}", *flags) for n in (FEW, MANY)}
    slope = {k: (codes[MANY].count(k) - codes[FEW].count(k)) / (MANY - FEW) - 1 for k in ("straight", "rolled")}
    few = codes[FEW]
    return slope["straight"], slope["rolled"], few.registers["straight"], few.registers["tiled"], few.count("tiled")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    peers = {"flashinfer": (6, "include"), "ikp": (7, "include"), "warpscope": (8, "include"), "tvm": (9, "")}
    for name in peers:
        parser.add_argument(f"--{name}")
    parser.add_argument("--arch", type=int, action="append", help="default: " + " ".join(map(str, ARCHS)))
    chosen = vars(parser.parse_args())
    print(f"compile-time counts, nvcc {version()}, no GPU; instructions a section beyond one multiply-add; "
          "NOPs left out")
    with tempfile.TemporaryDirectory() as folder:
        forms = [(*form, []) for form in OURS]
        for name, (form, include) in peers.items():
            clone = chosen[name]
            if not clone:
                print(f"{name}: left out, no --{name}")
                continue
            print(f"{name}: {commit_of(clone)}")
            if name == "tvm":
                tvm_header(clone, folder)
            flags = ["-I", folder if name == "tvm" else os.path.join(clone, include)]
            forms.append((name, form, 2, flags))
        print("target form                      events straight   rolled   regs: small  tiled   tiled, instructions")
        for arch in chosen["arch"] or ARCHS:
            bare, *rows = in_parallel(lambda f, a=arch: measure(a, f[1], f[3]), [("bare", 0, 0, []), *forms])
            for (name, _, events, _), row in zip(forms, rows):
                print(f"sm_{arch:<4} {name:<26} {events:4} {row[0]:8.2f} {row[1]:8.2f} {row[2] - bare[2]:+12} "
                      f"{row[3] - bare[3]:+6} {row[4] - bare[4]:+14}", flush=True)


main()
