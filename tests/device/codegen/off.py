# SPDX-License-Identifier: MIT
"""Off is free: with INKMARK_DISABLE, PTX and machine code are byte for byte those of a twin that never
includes the header and whose macros are empty, for every example and for the file with every macro."""
import glob
import os
import re
import tempfile

from toolchain import ARCHS, HERE, ROOT, Checks, in_parallel, nvcc, sampled

MACROS = ("KERNEL KERNEL_IF OPEN OPEN_IF KERNEL_ROWS KERNEL_ROWS_IF OPEN_ROWS OPEN_ROWS_IF ITER_END CLOSE LAMBDA MARK MARK_STRICT MARK_LOADED BEGIN END SCOPE ITER EVENT VALUE ASYNC_BEGIN ASYNC_END SUM_BEGIN "
          "SUM_END SUM_FLUSH CLOCKS BIND ROLE MARK_ID BEGIN_WITH ASYNC_BEGIN_BLOCK ASYNC_END_BLOCK ASYNC_BEGIN_CLUSTER "
          "ASYNC_END_CLUSTER ASYNC_BEGIN_GRID ASYNC_END_GRID").split()
LISTS = "PARAMS ARGS ARGS_OFF".split()


def twin(text):
    """The source without the header. prof_buffer is a parameter's type: the twin needs one of that size."""
    lines = "#define PROF_SECTIONS(...)\n" + "".join(f"#define PROF_{m}(...) ((void)0)\n" for m in MACROS)
    lines += "".join(f"#define PROF_{m}(...) __VA_ARGS__\n" for m in LISTS) + "#define PROF_MEMBER()\n"
    lines += "#define PROF_PARAMS_ROWS(S, ...) __VA_ARGS__\n"
    if "prof_buffer" in text:
        lines += "struct ink_buffer;\ntypedef struct prof_buffer { ink_buffer *device; } prof_buffer;\n"
    assert '#include "inkmark/mark.cuh"' in text
    return lines, text.replace('#include "inkmark/mark.cuh"', "")


def least_of(source):
    """The least target that the source is for, by its own words."""
    with open(source, encoding="utf-8") as file:
        return 90 if "__CUDA_ARCH__ < 900" in file.read() else ARCHS[0]


def main():
    checks = Checks()
    sources = sorted(glob.glob(os.path.join(ROOT, "examples", "*.cu"))) + [os.path.join(HERE, "every_macro.cu")]
    checks.that(len(sources) > 1, "no examples")
    with tempfile.TemporaryDirectory() as folder:

        def compare(job):
            source, arch, kind = job
            with open(source, encoding="utf-8") as file:
                text = file.read()
            name = os.path.basename(source)
            outputs = []
            header, stripped = twin(text)
            for side, flags, body in (("off", ["-DINKMARK_DISABLE"], text), ("twin", [], stripped), ("on", [], text)):
                place = os.path.join(folder, f"{name}-{arch}-{kind}-{side}")
                os.makedirs(place)
                if side == "twin":
                    with open(os.path.join(place, "empty.h"), "w", encoding="utf-8") as file:
                        file.write(header)
                    flags = ["-include", os.path.join(place, "empty.h")]
                with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                    file.write(body)
                to = os.path.join(place, "out")
                target = f"-arch={'compute' if kind == '-ptx' else 'sm'}_{arch}"
                nvcc("-std=c++17", target, kind, *flags, "-I", os.path.dirname(source), "-o", to,
                     os.path.join(place, name))
                with open(to, "rb") as file:
                    data = file.read()
                # names of internal things carry a hash of the file's path
                data = re.sub(rb"_GLOBAL__N__[0-9a-f]{8}", b"_GLOBAL__N__", data)
                outputs.append(re.sub(rb"__[0-9a-f]{8}_", b"__", data))
            return source, arch, kind, outputs

        kinds = [("-ptx", 75), ("-ptx", ARCHS[-1]), ("-cubin", 75), ("-cubin", 90), ("-cubin", ARCHS[-1])]
        jobs = sorted({(source, max(arch, least_of(source)), kind) for source in sources for kind, arch in kinds})
        for source, arch, kind, (off, bare, on) in in_parallel(compare, sampled(jobs, 12)):
            where = f"{os.path.basename(source)} {arch} {kind}"
            checks.that(off == bare, f"{where}: the code differs from that without marks")
            checks.that(on != bare and off != on, f"{where}: marks change nothing, so the test shows nothing")
    checks.finish()


main()
