# SPDX-License-Identifier: MIT
"""Counts what a section costs with inkmark's marks and with the macros of other projects, which are read from
the reader's own copies: --flashinfer DIR --ikp DIR --warpscope DIR --tvm DIR, each optional, and --form for any other.
Prints instructions a section beyond its payload by shape of the code, of an event and of a pair, and what the form
costs a kernel besides. Compiled code, no GPU."""
import argparse
import ast
import functools
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "device", "codegen"))
from toolchain import ARCHS, Code, in_parallel, nvcc, version  # noqa: E402

SOURCE = os.path.join(HERE, "sections.cu")
FEW, MANY = 8, 40
CLOCK, CLAIM = "SR_CLOCK|SR_GLOBALTIMER", r"\bATOM\w*\.\S*CAS\b"
SHAPES = ("straight", "rolled", "rows", "inlined", "called")
OURS = ("inkmark", "inkmark, strict, 1 value", "inkmark, loaded, 1 value", "inkmark, no context", "inkmark, rows", "naive",
        "a ring in shared memory", "begin and end packed")
PEERS = {"flashinfer": "include", "ikp": "include", "warpscope": "include", "tvm": ""}  # behind ours, in forms.h


def tvm_header(clone, folder):
    """TVM keeps its timers as text in Python: the literals are taken from the calls of device_intrinsic."""
    top = os.path.join(clone, "python") if os.path.isdir(os.path.join(clone, "python")) else clone  # a clone, or the package
    path = os.path.join(top, "tvm", "backend", "cuda", "cpp", "instrument.py")
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    scope = {}
    with open(os.path.join(top, "tvm", "backend", "cuda", "codegen", "header.py"), encoding="utf-8") as file:
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


@functools.lru_cache(None)
def has(events, flags):
    """Whether the form has a section of so many events: sections.cu refuses others."""
    done = nvcc("-std=c++17", "-E", f"-DEVENTS={events}", f"-DSECTIONS={FEW}", *flags, SOURCE, "-o", os.devnull, check=False)
    return "no section of so many events" not in done.stderr


def counted(arch, events, flags):
    """The two compilations of a form, or nothing where it has no section of so many events."""
    if not has(events, tuple(flags)):
        return None
    return [Code(SOURCE, arch, f"-DEVENTS={events}", f"-DSECTIONS={sections}", "-DINKMARK_NO_COST", "-w", *flags)
            for sections in (FEW, MANY)]


def run_by_recorder(code):
    """What a thread runs that records: the shortest way by the claim of a track and by all clocks. Nothing where no track is
    claimed: the sections of others have branches of their own."""
    lines = code.instructions["straight"]
    if any(re.search(CLAIM, line) for line in lines):
        return code.run_through("straight", [CLAIM] + [CLOCK] * sum(bool(re.search(CLOCK, line)) for line in lines))
    return None


def measure(arch, flags):
    """Instructions a section by shape for one event and for two, and what the form costs a kernel besides."""
    both = [counted(arch, events, flags) for events in (1, 2)]
    slopes = [{k: (codes[1].count(k) - codes[0].count(k)) / (MANY - FEW) - 1 for k in SHAPES if k in codes[0].instructions}
              if codes else {} for codes in both]
    few, a_section = next((codes[0], slope) for codes, slope in zip(both, slopes) if codes)
    run = run_by_recorder(few)
    return {"slopes": slopes,
            "straight": few.count("straight") - FEW * a_section["straight"],  # opening, closing and the kernel's own
            "run": run - FEW * a_section["straight"] if run else None,
            "row": few.loop("rows", FEW + 1) - few.loop("rolled", FEW) if "rows" in few.instructions else None,
            "registers": few.registers["straight"], "spills": few.spills["attention"]}


def columns(found, bare):
    text = ""
    for slope in found["slopes"]:
        text += "".join(f"{slope[k]:6.{2 if slope[k] < 100 else 1}f}" if k in slope else "     -" for k in SHAPES) + " |"
    row = f"{found['row']:5}" if found["row"] is not None else "    -"
    run = f"{found['run'] - bare['straight']:4.0f}" if found["run"] else "   -"
    return text + (f"{row} {found['straight'] - bare['straight']:4.0f} {run} {found['registers'] - bare['registers']:+4} "
                   f"{found['spills'] - bare['spills']:6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in PEERS:
        parser.add_argument(f"--{name}", metavar="DIR")
    parser.add_argument("--form", action="append", default=[], metavar="NAME[@ARCH]=FILE[,DIR...]",
                        help="a form of your own (peers.md), the least target that it compiles for, its include folders")
    parser.add_argument("--arch", type=int, action="append", help="default: " + " ".join(map(str, ARCHS)))
    chosen = vars(parser.parse_args())
    print(f"compile-time counts, nvcc {version()}, no GPU; instructions a section beyond one multiply-add; NOPs left out")
    with tempfile.TemporaryDirectory() as folder:
        left_out = 0
        forms = [(name, 0, [f"-DFORM={number}"]) for number, name in enumerate(OURS, 1)]
        for number, (name, include) in enumerate(PEERS.items(), len(OURS) + 1):
            clone = chosen[name]
            if not clone:
                left_out += 1
                print(f"{name}: left out, no --{name}")
                continue
            print(f"{name}: {commit_of(clone)}")
            if name == "tvm":
                tvm_header(clone, folder)
            where = folder if name == "tvm" else os.path.join(clone, include)
            forms.append((name, 0, [f"-DFORM={number}", f"-I{where}"]))
        for given in chosen["form"]:
            name, files = given.split("=", 1)
            header, *includes = files.split(",")
            name, _, least = name.partition("@")
            forms.append((name, int(least or 0), [f'-DFORM_HEADER="{os.path.abspath(header)}"', *(f"-I{one}" for one in includes)]))
        shapes = "  line  loop  iter inlin  call |"
        print(f"{'':32}one event {'':20}|  begin and end {'':16}|\n{'target form':<32}{shapes}{shapes}  ROW  o+c  run regs spills")
        for arch in chosen["arch"] or ARCHS:
            here = [form for form in forms if arch >= form[1]]
            bare, *found = in_parallel(lambda f, a=arch: measure(a, f[2]), [("bare", 0, ["-DFORM=0"]), *here])
            for (name, _, _), one in zip(here, found):
                print(f"sm_{arch:<4} {name:<24}{columns(one, bare)}", flush=True)
        print(f"{len(forms)} forms counted, {left_out} left out")


main()
