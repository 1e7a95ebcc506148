# SPDX-License-Identifier: MIT
"""Section names travel inside every module: whoever loads one by the driver's API finds each table in the image
that it loads, in PTX as numbers, in machine code as bytes (docs/format.md, "Section tables inside a module").
And the header's own names: a program may have macros that are called by a single capital letter, as N and T."""
import os
import re
import string
import tempfile

from toolchain import Checks, nvcc

MAGIC = b"inkmark table 5\0"
SOURCE = """#include "inkmark/mark.cuh"
#include "names.cuh"
PROF_SECTIONS(Table, Kernel, Step)
namespace inner {
PROF_SECTIONS(Other, Load)
}
__global__ void k(float *x) { PROF_KERNEL(Kernel); x[threadIdx.x] += 1; PROF_MARK(Step); }
"""
EXPECTED = {("Table", "Kernel, Step", "case.cu", 3), ("Other", "Load", "case.cu", 5), ("Shared", "A, B", "names.cuh", 1)}


def tables_of(text):
    """Of the bytes of one object, or of all of an image."""
    found = set()
    for at in re.finditer(re.escape(MAGIC), text):
        name, sections, file, line = text[at.end():].split(b"\0", 4)[:4]
        found.add((name.decode(), sections.decode(), os.path.basename(file.decode()), int(line)))
    return found


def tables_of_ptx(text):
    found = set()
    for numbers in re.findall(r"\.b8 \w*ink_table_text\w*\[\d+\] = \{([\d, ]+)\}", text):
        found |= tables_of(bytes(int(n) for n in numbers.split(",")))
    return found


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        source, to = os.path.join(folder, "case.cu"), os.path.join(folder, "out")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        with open(os.path.join(folder, "names.cuh"), "w", encoding="utf-8") as file:
            file.write("PROF_SECTIONS(Shared, A, B)\n")
        for flags in ([], ["-rdc=true"], ["-G"], ["-std=c++14"]):
            nvcc("-arch=compute_90", "-ptx", *flags, "-o", to, source)
            with open(to, encoding="utf-8") as file:
                checks.that(tables_of_ptx(file.read()) == EXPECTED, f"-ptx {flags}")
            nvcc("-arch=sm_90", "-cubin", *flags, "-o", to, source)
            with open(to, "rb") as file:
                checks.that(tables_of(file.read()) == EXPECTED, f"-cubin {flags}")
        nvcc("-arch=sm_90", "-cubin", "-DINKMARK_DISABLE", "-o", to, source)
        with open(to, "rb") as file:
            checks.that(MAGIC not in file.read(), "a table in a module without marks")
        every = os.path.join(os.path.dirname(os.path.abspath(__file__)), "every_macro.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n")
            file.writelines(f"#define {letter} 7\n" for letter in string.ascii_uppercase)
            file.write('#include "inkmark/mark.cuh"\n#include "inkmark/rewritten.cuh"\n')
            file.writelines(f"#undef {letter}\n" for letter in string.ascii_uppercase)
            file.write(f'#include "{every}"\n')
        nvcc("-arch=compute_90", "-ptx", "-std=c++17", "-o", to, source)
    checks.finish()


if __name__ == "__main__":
    main()
