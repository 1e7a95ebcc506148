# SPDX-License-Identifier: MIT
"""The header under NVRTC: `nvrtc.py 13|12` compiles a kernel with marks by that release's libnvrtc, and
ptxas accepts the PTX. 12 also stands for nvcc 12's device side, whose compiler is the same: PyPI's
nvidia-cuda-nvcc-cu12 has a ptxas but no nvcc, so the host's side is not compiled with CUDA 12 here."""
import glob
import os
import sys
import tempfile

from names import tables_of_ptx
from toolchain import DEVICE, HERE, ROOT, Checks, run, skip


def find(pattern, what):
    found = glob.glob(os.path.join(ROOT, ".venv", "lib", "python3*", "site-packages", "nvidia", *pattern))
    return found[0] if found else skip(f"no {what} in .venv: tests/run.sh brings it")


def main():
    major = sys.argv[1]
    checks = Checks()
    if major == "12":
        library = find(("cuda_nvrtc", "lib", "libnvrtc.so.12"), "nvidia-cuda-nvrtc-cu12")
        ptxas = find(("cuda_nvcc", "bin", "ptxas"), "nvidia-cuda-nvcc-cu12")
    else:
        library = find(("cu13", "lib", "libnvrtc.so.13"), "nvidia-cuda-nvrtc")
        ptxas = "ptxas"
    with tempfile.TemporaryDirectory() as folder:
        program, ptx = os.path.join(folder, "nvrtc"), os.path.join(folder, "kernel.ptx")
        built = run(["cc", "-std=gnu11", "-o", program, os.path.join(HERE, "nvrtc.c"), "-ldl"])
        checks.that(built.returncode == 0, built.stderr)
        for arch in ("75", "80", "90", "100", "120"):
            done = run([program, library, arch, DEVICE, os.path.join(HERE, "nvrtc.cu"), "--std=c++14"],
                       env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)})
            checks.that(done.returncode == 0 and "warning" not in done.stderr, f"sm_{arch}: {done.stderr}")
            checks.that(done.stdout.count("%clock64") > 8, f"sm_{arch}: marks are missing from the PTX")
            checks.that(tables_of_ptx(done.stdout) == {("Rtc", "Kernel, Step, Search", "kernel.cu", 4)},
                        f"sm_{arch}: the section table is not in the PTX")
            with open(ptx, "w", encoding="utf-8") as file:
                file.write(done.stdout)
            accepted = run([ptxas, f"-arch=sm_{arch}", "-o", os.path.join(folder, "o"), ptx])
            checks.that(accepted.returncode == 0, f"sm_{arch}: {accepted.stdout}{accepted.stderr}")
        linked = run([program, library, "90", DEVICE, os.path.join(HERE, "nvrtc.cu"), "--std=c++17", "-rdc=true"],
                     env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(library)})
        checks.that(".weak .global .align 8 .u64 ink_current" in linked.stdout,
                    f"ink_current is not weak, so two programs cannot be linked: {linked.stderr}")
    version = run([ptxas, "--version"]).stdout.strip().splitlines()
    print(os.path.basename(library), version[-2] if len(version) > 1 else version)
    checks.finish()


main()
