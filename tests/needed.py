# SPDX-License-Identifier: MIT
"""needed.py BUILD NAMES: what ninja has to build in BUILD for the tests of the file NAMES, one target a line.

All is built but the programs that other tests have in their REQUIRED_FILES and these do not: who sets that property says
that no other test needs the program. If a test with the label whole_build is among NAMES, all is built."""
import os
import subprocess
import sys

from listed_tests import listed_tests

build = os.path.abspath(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    wanted = set(file.read().split())


def inputs(targets):
    """What each of the targets is made of, by ninja: {target: [file]}."""
    listed, of, is_input = {}, None, False
    for line in subprocess.check_output(["ninja", "-C", build, "-t", "query", *targets], text=True).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            of = listed.setdefault(line[:-1], [])
        elif line.startswith("  ") and line[2] != " ":
            is_input = line.startswith("  input:")
        elif is_input and not line.lstrip().startswith("|"):
            of.append(line.strip())
    return listed


def in_build(path):
    return os.path.relpath(path, build) if path.startswith(build + os.sep) else path


required = {True: set(), False: set()}  # by the wanted tests, by the others
for name, (_, files, labels) in listed_tests(build).items():
    if name in wanted and "whole_build" in labels:
        print("all")
        sys.exit()
    required[name in wanted].update(map(in_build, files))

folders, targets = ["all"], []
while folders:
    parts = [part for of in inputs(folders).values() for part in of]
    folders = [part for part in parts if part == "all" or part.endswith("/all")]
    targets += [part for part in parts if part not in folders]
stamps = {target: of[0] for target, of in inputs(targets).items() if of and of[0].endswith(f"CMakeFiles/{os.path.basename(target)}")}
made = inputs(stamps.values()) if stamps else {}
for target in sorted(set(targets)):
    files = set(map(in_build, made.get(stamps.get(target), []))) if target in stamps else {target}
    if not files & required[False] or files & required[True]:
        print(target)
