# SPDX-License-Identifier: MIT
"""The wheel, of a tree that is built already: installed alone, with NumPy beside it and no compiler, it records, reads,
and has the headers. Once more with NumPy 1, where .venv-numpy1 has one (python.numpy1 is the skip that says where not).

check_wheel.py SOURCE BUILD CMAKE PROGRAM"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

source, build, cmake, program = sys.argv[1:]
try:
    import numpy
    import setuptools  # noqa: F401, pip builds the wheel with it
except ImportError as missing:
    print(f"SKIPPED: no {missing.name} (tests/run.sh installs it)")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    assert done.returncode == 0, done.stdout
    return done.stdout


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    run(cmake, "--install", build, "--prefix", os.path.join(work, "prefix"))
    os.mkdir("source")  # pip leaves what it builds beside setup.py
    for name in ("pyproject.toml", "setup.py", "LICENSE"):
        shutil.copy(os.path.join(source, name), "source")
    shutil.copytree(os.path.join(source, "python"), "source/python", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", "wheels", "./source",
        env={**os.environ, "INKMARK_INSTALLED": os.path.join(work, "prefix"), "PIP_CONFIG_FILE": os.devnull})
    wheel, = glob.glob("wheels/*.whl")
    assert "-py3-none-linux_" in wheel, wheel
    run(sys.executable, "-m", "venv", "--without-pip", "clean")
    packages, = glob.glob("clean/lib/python3*/site-packages")
    run(*pip, "--python", os.path.join(work, "clean", "bin", "python"), "install", "--no-index", "--no-deps", wheel,
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    shutil.rmtree("prefix")
    shutil.rmtree("source")
    beside = [os.path.dirname(os.path.dirname(numpy.__file__))]
    with open(os.path.join(packages, "numpy.pth"), "w") as file:  # pip would bring NumPy from where there is a network
        file.write(beside[0] + "\n")
    alone = {"PATH": os.path.join(work, "clean", "bin") + ":/usr/bin:/bin", "HOME": work}
    bin = os.path.join(work, "clean", "bin")
    print(run(os.path.join(bin, "inkmark"), "record", "--device", "sim", "-o", "x.ink", "--", program, env=alone))
    older = glob.glob(os.path.join(source, ".venv-numpy1", "lib", os.path.basename(os.path.dirname(packages)), "site-packages"))
    beside += [place for place in older if os.path.isdir(os.path.join(place, "numpy"))]
    versions = []
    for place in beside:
        with open(os.path.join(packages, "numpy.pth"), "w") as file:
            file.write(place + "\n")
        told = run(os.path.join(bin, "python"), "-c", "import inkmark, numpy\nwith inkmark.open('x.ink') as c: print(len(c.table()))\n"
                   "print(inkmark.include_dir())\nprint(inkmark._lib()._name)\nprint(numpy.__version__)", env=alone).split()
        versions.append(told.pop())
        assert int(told[0]) > 0 and all(at.startswith((os.path.realpath(work), work)) for at in told[1:]), told
    assert "1" in [version.split(".")[0] for version in versions] or len(beside) == 1, versions
    print("with NumPy", versions)
    assert "no script" in subprocess.run([os.path.join(bin, "python"), "-m", "inkmark"], env=alone, capture_output=True,
                                         text=True).stderr
print("fine")
