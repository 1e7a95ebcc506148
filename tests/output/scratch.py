# SPDX-License-Identifier: MIT
"""What the Python tests of the outputs share: captures and outputs in a folder of their own."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # CTest's SKIP_RETURN_CODE


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


class Scratch:
    def __init__(self, tool):
        self.tool = tool

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="inkmark-outputs-")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *args):
        return subprocess.run([self.tool, *args], check=True, stdout=subprocess.PIPE).stdout

    def make(self, kind):
        path = self.path(kind.replace(":", "-") + ".ink")
        self.run("make", kind, path)
        return path

    def dump(self, capture):
        return json.loads(self.run("dump", capture))

    def write(self, output, capture, name, *choice):
        self.run("write", output, capture, self.path(name), *choice)
        return self.path(name)
