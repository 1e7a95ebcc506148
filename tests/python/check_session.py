# SPDX-License-Identifier: MIT
"""Recording from Python, on the simulated device, with the packages of .venv-wheels: each case is a program of
tests/python/sessions, which prints PASS.

CASE may also be the name of an example.

check_session.py SOURCE BUILD TOOLKIT CASE [MODULE]...: MODULEs are what it imports beside NumPy."""
import glob
import os
import subprocess
import sys
import tempfile

source, build, toolkit, case, *modules = sys.argv[1:]
venv = os.path.join(source, ".venv-wheels")
python = os.path.join(venv, "bin", "python")


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


if not os.path.exists(python):
    skip("no .venv-wheels (tests/run.sh makes it)")
for module in ["numpy", *modules]:
    found = subprocess.run([python, "-c", f"import importlib.util as u; raise SystemExit(u.find_spec({module!r}) is None)"])
    if found.returncode:
        skip(f"{module} is not in .venv-wheels (tests/run.sh installs requirements-wheels.txt)")

sim = os.path.join(build, "device", "sim")
environment = {
    **os.environ, "LD_LIBRARY_PATH": sim, "LD_AUDIT": os.path.join(sim, "libinkmark-sim-audit.so"),
    "LD_PRELOAD": os.path.join(sim, "libcudart.so.13"), "INKMARK_CUPTI": os.path.join(sim, "libcupti.so.13"),
    "INKMARK_SHARED_LIBRARY": os.path.join(build, "runtime", "libinkmark.so.0"),
    "INKMARK_INCLUDE": os.path.join(source, "device"), "CUDA_PATH": toolkit, "CUPY_CACHE_IN_MEMORY": "1",
    "PYTHONPATH": os.path.join(source, "python"), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.path.dirname(python) + ":" +
    os.path.join(build, "cli") + ":" + os.environ["PATH"]}

with tempfile.TemporaryDirectory() as work:
    environment.update(HOME=work, CACHE=os.path.join(work, "cache"), IPYTHONDIR=work, JUPYTER_RUNTIME_DIR=work)
    if "warp" in modules:  # its library is stripped: the public static runtime of its version tells where things are
        packages = glob.glob(os.path.join(venv, "lib", "python3*", "site-packages"))[0]
        runtimes = glob.glob(os.path.join(packages, "nvidia", "*", "lib", "libcudart_static.a"))
        if not runtimes:
            skip("no libcudart_static.a from PyPI's nvidia-cuda-runtime")
        environment["INKMARK_SIM_OFFSETS"] = os.path.join(work, "offsets")
        with open(environment["INKMARK_SIM_OFFSETS"], "w") as file:
            subprocess.run([sys.executable, os.path.join(source, "tests", "wheels", "static_offsets.py"), runtimes[0],
                            os.path.join(packages, "warp", "bin", "warp.so")], stdout=file, check=True)
    program = os.path.join(source, "tests", "python", "sessions", case + ".py")
    if not os.path.exists(program):
        program = os.path.join(source, "examples", case + ".py")
    done = subprocess.run([python, program], cwd=work,
                          env=environment, capture_output=True, text=True)
print(done.stdout, done.stderr)
sys.exit(done.returncode or "PASS" not in done.stdout.splitlines())
