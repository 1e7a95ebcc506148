# SPDX-License-Identifier: MIT
# check.py SOURCE BUILD TOOLKIT NVCC WHEEL: a small program of an unmodified wheel, recorded on the simulated device: that its
# results are right, and what the capture has of its kernels. WHEEL none: a program that needs NVRTC only; c++: one that is
# linked with it; inline: one that has nvcc make a library while it runs.
import glob, json, os, shutil, subprocess, sys, tempfile

source, build, toolkit, nvcc, wheel = sys.argv[1:]
venv = os.path.join(source, ".venv-wheels")
packages = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages"))
here = os.path.join(source, "tests", "wheels")
inkmark = os.path.join(build, "cli", "inkmark")

# distribution -> program, its arguments, kernels and sections (called ones with a *); None: it has no marks
PROGRAMS = {
    "cuda-core": [("../../examples/cuda_core_step.py", [], ("Step", {"Load", "Compute*"})),
                  ("../../examples/cuda_core_step.py", ["ptx"], ("Step", {"Load", "Compute*"})),
                  ("core_linked.py", ["ptx"], ("First", "Second", {"Add"})),
                  ("core_linked.py", ["ltoir"], ("First", "Second", {"Add"}))],
    "cupy-cuda13x": [("../../examples/cupy_step.py", [], ("Step", {"Load", "Compute*"})), ("cupy_arrays.py", [], None)],
    "warp-lang": [("warp_step.py", [], ("Step", {"Square"}))],
    "numba-cuda": [("numba_step.py", [], ("Step", {"Square"}))],
    "gstaichi": [("gstaichi_step.py", [], None)],
    "none": [("compile_kernel.py", [], ("Step", {"Load", "Compute"}))],
    "inline": [("inline_step.py", ["shared"], ("Step", {"Load", "Compute*"})),
               ("inline_step.py", ["static"], ("Step", {"Load", "Compute*"}))],
    "c++": [("nvrtc_step.cpp", ["cubin"], ("Step", {"Load", "Compute*"})),
            ("nvrtc_step.cpp", ["ptx"], ("Step", {"Load", "Compute*"}))],
}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


python = os.path.join(venv, "bin", "python")
if wheel == "inline":
    python = sys.executable
    print("nvcc", subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1])
elif wheel in ("none", "c++"):
    nvrtc = [path for folder in (venv, os.path.join(source, ".venv"))
             for path in glob.glob(os.path.join(folder, "lib", "python3*", "site-packages", "nvidia", "*", "lib",
                                                "libnvrtc.so.13"))]
    if not nvrtc:
        skip("no NVRTC of CUDA 13 from PyPI")
    of_nvrtc = glob.glob(os.path.join(os.path.dirname(nvrtc[0]), "../../..", "nvidia_cuda_nvrtc-*.dist-info"))
    print(*(os.path.basename(path).removesuffix(".dist-info") for path in of_nvrtc))
    python = sys.executable
    if wheel == "none":
        PROGRAMS[wheel][0][1].append(nvrtc[0])
else:
    found = [path for folder in packages
             for path in glob.glob(os.path.join(folder, wheel.replace("-", "_") + "-*.dist-info"))]
    if not found:
        skip(f"{wheel} is not in .venv-wheels (tests/run.sh installs requirements-wheels.txt)")
    print(os.path.basename(found[0]).removesuffix(".dist-info"))

os.chdir(tempfile.mkdtemp())
environment = {**os.environ, "INKMARK_INCLUDE": os.path.join(source, "device"), "CUDA_PATH": toolkit,
               "CUPY_CACHE_IN_MEMORY": "1", "CACHE": os.path.join(os.getcwd(), "cache"),
               "NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS": os.path.join(source, "device"), "PYTHONDONTWRITEBYTECODE": "1",
               "PYTHONPATH": os.path.join(source, "python"), "NVCC": nvcc,
               "INKMARK_SHARED_LIBRARY": os.path.join(build, "runtime", "libinkmark.so.0")}
if wheel == "warp-lang":  # its library is stripped: the public static runtime of its version tells where things are
    runtimes = glob.glob(os.path.join(packages[0], "nvidia", "*", "lib", "libcudart_static.a"))
    if not runtimes:
        skip("no libcudart_static.a from PyPI's nvidia-cuda-runtime")
    with open("offsets", "w") as file:
        subprocess.run([sys.executable, os.path.join(here, "static_offsets.py"), runtimes[0],
                        os.path.join(packages[0], "warp", "bin", "warp.so")], stdout=file, check=True)
    environment["INKMARK_SIM_OFFSETS"] = os.path.join(os.getcwd(), "offsets")

command = [python]
if wheel == "c++":  # with the folders of NVRTC and of a library that is called libcuda.so.1
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        skip("no C++ compiler")
    library = os.path.dirname(nvrtc[0])
    subprocess.run([compiler, "-std=c++17", os.path.join(here, PROGRAMS[wheel][0][0]), "-o", "program", "-I",
                    os.path.join(os.path.dirname(library), "include"), "-I", os.path.join(toolkit, "include"), nvrtc[0],
                    os.path.join(build, "tests", "driver", "stub", "libcuda.so.1"), f"-Wl,-rpath,{library}"], check=True)
    command = []

failed = []
for program, arguments, expected in PROGRAMS[wheel]:
    run = [*command, os.path.join(here, program)] if command else ["./program"]
    done = subprocess.run([inkmark, "record", "--device", "sim", "-o", "x.ink", "--", *run, *arguments],
                          capture_output=True, text=True, env=environment)
    said = f"{program} {arguments}: {done.stdout}{done.stderr}"
    if done.returncode or "PASS" not in done.stdout.splitlines():
        failed.append(said)
        continue
    if not expected:
        if os.path.exists("x.ink"):
            failed.append(f"a capture of a program without marks: {said}")
        continue
    shown = json.loads(subprocess.run([inkmark, "report", "-f", "json", "x.ink"], capture_output=True, text=True,
                                      check=True).stdout)["captures"][0]
    rows = {row["section"] + "*" * row["called"] for kernel in shown["kernels"] for row in kernel["rows"] if row["table"]}
    if sorted(kernel["kernel"] for kernel in shown["kernels"]) != sorted(expected[:-1]) or rows != expected[-1] or \
            not shown["complete"] or shown["unknown_kernels"] or shown["kernels"][0]["marking"] != "out":
        failed.append(f"{rows} in {[kernel['kernel'] for kernel in shown['kernels']]}: {said}")
    os.remove("x.ink")
for what in failed:
    print("FAILED:", what)
sys.exit(bool(failed))
