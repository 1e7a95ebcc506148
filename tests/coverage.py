# SPDX-License-Identifier: MIT
"""coverage.py BUILD REASONS [--some]: the share of lines that ran, by file and by folder, of what gcov counted in BUILD.

A line that is compiled more than once (a library and a test of its own) ran if it ran in one of them. REASONS has a line for each
file below 70 %: its path, and why. With --some nothing fails."""
import collections
import json
import os
import subprocess
import sys

build, reasons_path, *some = sys.argv[1:]
build = os.path.abspath(build)
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("runtime/", "cli/", "instrument/", "verify/", "selftest/", "device/sim/")
LEAST = 70
lines = collections.defaultdict(dict)  # file -> line -> whether it ran
for folder, _, names in os.walk(build):
    notes = [os.path.join(folder, name) for name in names if name.endswith(".gcno")]
    for at in range(0, len(notes), 50):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *notes[at:at + 50]], cwd=folder, capture_output=True, text=True)
        for text in done.stdout.splitlines():
            if not text.startswith("{"):
                continue
            of = json.loads(text)
            for file in of["files"]:
                path = os.path.relpath(os.path.join(of["current_working_directory"], file["file"]), root)
                if path.startswith(FOLDERS) and path.endswith(".c") and os.path.exists(os.path.join(root, path)):
                    for line in file["lines"]:
                        number = line["line_number"]
                        lines[path][number] = lines[path].get(number, False) or line["count"] > 0
with open(reasons_path, encoding="utf-8") as file:
    reasons = dict(line.rstrip("\n").split(None, 1) for line in file if line.strip() and not line.startswith("#"))
wrong, sums = [], collections.defaultdict(lambda: [0, 0])
for path in sorted(lines):
    ran, count = sum(lines[path].values()), len(lines[path])
    for folder in (os.path.dirname(path), "all"):
        sums[folder][0] += ran
        sums[folder][1] += count
    share = 100 * ran / count
    reason = reasons.pop(path, None)
    print(f"{share:5.1f} % of {count:4} {path}{f'  ({reason})' if reason else ''}")
    if share < LEAST and not reason:
        wrong.append(f"{path}: {share:.1f} %, and no reason in {reasons_path}")
    elif share >= LEAST and reason:
        wrong.append(f"{path}: {share:.1f} %, its reason is not needed any more")
wrong += [f"{path} has a reason, but is not there" for path in reasons]
for folder, (ran, count) in sorted(sums.items()):
    print(f"{100 * ran / count:5.1f} % of {count:5} in {folder}")
print("\n".join(wrong))
sys.exit(bool(wrong or not lines) and not some)
