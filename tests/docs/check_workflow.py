# SPDX-License-Identifier: MIT
"""check_workflow.py ROOT: the workflow files call scripts that are there, with passes that run.sh knows, and try both Debians."""
import glob
import os
import re
import subprocess
import sys

root = sys.argv[1]
files = glob.glob(os.path.join(root, ".github", "workflows", "*.yml"))
text = "".join(open(file, encoding="utf-8").read() for file in files)
scripts = re.findall(r"(?<=- run: )\./(\S+)", text)
for script in scripts:
    assert os.access(os.path.join(root, script), os.X_OK), f"'{script}' cannot be run"
assert {"tests/run.sh", "examples/demo.sh", "tests/abi.sh"} <= set(scripts), scripts
assert {"bookworm", "trixie"} <= set(re.findall(r"\w+", re.search(r"debian: \[(.*?)\]", text).group(1)))
usage = subprocess.run([os.path.join(root, "tests", "run.sh"), "--help"], capture_output=True, text=True).stderr
passes = set(re.search(r"--only ([\w|]+)", usage).group(1).split("|"))
asked = set(re.findall(r"\w+", re.search(r"pass: \[(.*?)\]", text).group(1)))
assert asked == passes == {"gcc", "clang", "sanitizers", "fuzz"}, (asked, passes)
print(f"{len(files)} files, {len(scripts)} calls, {len(passes)} passes")
