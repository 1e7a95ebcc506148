# SPDX-License-Identifier: MIT
"""Builds the wheel: cmake installs into the package, which so has bin/, lib/, include/ and share/ inside. INKMARK_INSTALLED
names a folder that cmake has installed into already, with -DCMAKE_INSTALL_LIBDIR=lib; INKMARK_CMAKE has more options."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = os.path.dirname(os.path.abspath(__file__))
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib", "-DINKMARK_BUILD_TESTS=OFF", "-DINKMARK_BUILD_EXAMPLES=OFF",
           "-DINKMARK_BUILD_BENCH=OFF"]


def cmake(prefix):
    with tempfile.TemporaryDirectory() as build:
        for command in (["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *OPTIONS,
                         *shlex.split(os.environ.get("INKMARK_CMAKE", ""))], ["cmake", "--build", build],
                        ["cmake", "--install", build, "--prefix", prefix]):
            if subprocess.run(command).returncode:
                sys.exit("cannot build inkmark: '" + " ".join(command[:3]) + "' failed; it needs a C compiler, see README.md")


class Build(build_py):
    def run(self):
        super().run()
        package = os.path.join(self.build_lib, "inkmark")
        installed = os.environ.get("INKMARK_INSTALLED")
        with tempfile.TemporaryDirectory() as prefix:
            if not installed:
                cmake(prefix)
            for name in ("bin", "lib", "include"):
                shutil.copytree(os.path.join(installed or prefix, name), os.path.join(package, name), dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("*.a", "cmake", "pkgconfig", "inkmark-rewriter", "libinkmark.so", "libinkmark.so.0.*"))


class Wheel(bdist_wheel):
    """For any Python 3 of this machine's kind: nothing in it is a module of CPython."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=Binary, cmdclass={"build_py": Build, "bdist_wheel": Wheel}, packages=["inkmark"],
      package_dir={"": "python"}, package_data={"inkmark": ["py.typed"]})
