# SPDX-License-Identifier: MIT
"""run_page.py SOURCE BUILD NVCC PAGE [MODULE...]: runs what a page of docs/ shows, on the simulated device.

In a folder that looks like a checkout with its build, in the page's order:
- a block whose first line names a file (`// blur.cu`) becomes that file;
- another block of code is a part of a file of examples/: each of its lines is in one of them, or in a file of the page;
- a block `sh` is run by bash; it fails where a command does;
- a block `text` is what the commands in front of it printed, figures aside; `...` stands for any lines;
- `*Not run by the tests: REASON.*` in front of a block leaves it out, and is counted.
MODULE is what the page's Python imports; without it the page is skipped. UPDATE_GOLDEN=1 writes the outputs anew.
"""
import difflib
import os
import shutil
import subprocess
import sys
import tempfile

import checkout
import page as pages

source, build, nvcc, page_name, *modules = sys.argv[1:]
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
CODE = ("cuda", "c", "cpp", "python", "toml", "cmake", "yaml")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def python_with(names):
    """A Python that imports all of these; that of .venv-wheels first."""
    tried = [os.path.join(source, ".venv-wheels", "bin", "python"), shutil.which("python3")]
    for python in tried:
        if python and os.path.exists(python):
            if subprocess.run([python, "-c", "import " + ", ".join(names)], capture_output=True).returncode == 0:
                return python
    return skip(f"no Python here imports {' and '.join(names)} (tests/run.sh installs them into .venv-wheels)")


def make_checkout(folder):
    """The folder and the environment for the page's commands; with MODULEs `python` is one that imports them."""
    environment = checkout.make(folder, source, build, nvcc)
    if modules:
        bin_folder = os.path.join(folder, "bin")
        os.mkdir(bin_folder)
        with open(os.path.join(bin_folder, "python"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{python_with(modules)}" "$@"\n')
        os.chmod(os.path.join(bin_folder, "python"), 0o755)
        environment["PATH"] = bin_folder + ":" + environment["PATH"]
    return environment


def code_lines(text):
    """Lines of code without their comments and blanks."""
    lines = (line.split("//")[0].split("  #")[0].strip() for line in text.splitlines())
    return {" ".join(line.split()) for line in lines if line}


class Page:
    def __init__(self, folder):
        self.path = os.path.join(source, page_name)
        with open(self.path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.blocks = pages.blocks_of(self.lines)
        self.folder, self.environment = folder, make_checkout(folder)
        self.known = set()  # the lines of code that a fragment may have
        for name in sorted(os.listdir(os.path.join(source, "examples"))):
            with open(os.path.join(source, "examples", name), encoding="utf-8") as file:
                self.known |= code_lines(file.read())
        self.commands, self.said, self.ran, self.compared, self.left_out = [], None, 0, 0, []

    def fail(self, block, why):
        sys.exit(f"{page_name}:{block.first}: {why}")

    def take_code(self, block):
        if block.file_name:
            path = os.path.join(self.folder, block.file_name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(block.text)
            self.known |= code_lines(block.text)
            self.check_jobs(block)
            return
        strange = [line for line in code_lines(block.text) if line not in self.known and line != "..."]
        if strange:
            self.fail(block, f"not in examples/ nor in a file of this page: {strange[0]}")

    def check_jobs(self, block):
        """A CI job may only run what the page itself has run; where its output goes is left aside."""
        known = {line.split(">>")[0].split(" > ")[0].strip() for line in self.commands}
        for line in block.lines if block.language == "yaml" else []:
            command = line.partition("run: ")[2].split(">>")[0].strip()
            if command.startswith("inkmark") and command not in known:
                self.fail(block, f"the page does not run '{command}'")

    def run(self, block):
        self.commands += [line.split("  #")[0].strip() for line in block.lines]
        said = os.path.join(self.folder, ".said")
        with open(said, "w", encoding="utf-8") as out:
            process = subprocess.Popen(["bash", "-euc", ". build/env.sh\n" + block.text], cwd=self.folder, stdout=out,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=self.environment)
            status = process.wait()
        with open(said, encoding="utf-8", errors="replace") as file:
            self.said = file.read().splitlines()
        if status != 0:
            self.fail(block, f"exit code {status}\n{block.text}" + "\n".join(self.said))
        self.ran += 1

    def compare(self, block):
        if self.said is None and self.left_out:
            return  # of a block that was left out
        if self.said is None:
            self.fail(block, "no commands stand in front of this output")
        if os.path.exists("/dev/nvidiactl"):
            return  # the pages show the simulated device
        lines = pages.matched(block.lines, self.said)
        if lines is None and UPDATE and "..." not in block.lines:
            lines, block.lines = range(len(self.said)), self.said
        elif lines is None:
            wanted = [pages.masked(line) for line in block.lines]
            found = [pages.masked(line) for line in self.said]
            self.fail(block, "the commands print something else:\n" + "\n".join(difflib.unified_diff(wanted, found, "page", "found", lineterm="")))
        block.lines = [line if at is None else self.said[at].rstrip() for line, at in zip(block.lines, lines)]
        self.compared += 1

    def check(self):
        for block in self.blocks:
            if block.left_out:
                self.left_out.append(block.left_out)
                self.said = None
            elif block.language == "sh":
                self.run(block)
            elif block.language == "text":
                self.compare(block)
            elif block.language in CODE:
                self.take_code(block)
            elif block.language:
                self.fail(block, f"what is to be done with '{block.language}'?")
        if self.ran == 0:
            sys.exit(f"{page_name} runs nothing")
        if UPDATE:
            for block in reversed(self.blocks):
                self.lines[block.first:block.last] = block.lines
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("\n".join(self.lines))


with tempfile.TemporaryDirectory(prefix="inkmark-docs-") as work:
    checked = Page(work)
    checked.check()
if checked.left_out:
    print(f"skipped: {len(checked.left_out)} of {len(checked.left_out) + checked.ran} blocks of {page_name}: "
          + "; ".join(dict.fromkeys(checked.left_out)))
print(f"{page_name}: {checked.ran} blocks ran, {checked.compared} outputs are as shown")
