# SPDX-License-Identifier: MIT
"""The file with every macro compiles without a warning, and ptxas accepts it, for every target that
nvcc lists: `compile_matrix.py standards|modes|debug SEED|all`. With a seed the newest target and two
drawn ones are taken for every set of flags."""
import os
import random
import sys
import tempfile

from toolchain import HERE, Checks, architectures, in_parallel, nvcc, version

WARNINGS = ["-Xcompiler", "-Wall,-Wextra", "-Werror", "all-warnings"]
VARIANTS = {
    "standards": [["-std=c++14"], ["-std=c++17"], ["-std=c++20"]],
    "modes": [["-rdc=true"], ["-lineinfo"], ["-DINKMARK_NO_CALLED"],
              ["-DINKMARK_SHARED", "-DINKMARK_WARPS=4"],
              ["-DINKMARK_DISABLE"]],
    "debug": [["-G"], ["-G", "-rdc=true", "-DINKMARK_NO_SHARED"]],
}


def drawn(archs, seed):
    if seed is None:
        return archs
    return [*sorted(seed.sample(archs[:-1], 2)), archs[-1]]


def main():
    what, seed = sys.argv[1:]
    seed = None if seed == "all" else random.Random(int(seed))
    checks = Checks()
    archs = architectures()
    source = os.path.join(HERE, "every_macro.cu")
    with tempfile.TemporaryDirectory() as folder:

        def compile_one(job):
            flags, arch = job
            to = os.path.join(folder, f"{abs(hash(tuple(flags)))}-{arch}.o")
            whole = "-c" if arch == archs[0] else "-cubin"  # the host's half is the same for all
            done = nvcc(*flags, *WARNINGS, f"-arch=sm_{arch}", whole, source, "-o", to, check=False)
            return flags, arch, done

        jobs = [(flags, arch) for flags in VARIANTS[what] for arch in drawn(archs, seed)]
        for flags, arch, done in in_parallel(compile_one, jobs):
            text = (done.stdout + done.stderr).strip()
            checks.that(done.returncode == 0 and not text, f"sm_{arch} {' '.join(flags)}\n{text}")
    of_them = ", three of them for each set of flags" if seed else ""
    print(f"nvcc {version()}, targets: {' '.join(f'sm_{a}' for a in archs)}{of_them}")
    checks.finish()


main()
