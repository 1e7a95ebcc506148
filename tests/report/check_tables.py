# SPDX-License-Identifier: MIT
"""The JSON of every golden capture in every grouping against the schema; a schema that says otherwise is noticed.

check_tables.py INKMARK MAKE_CAPTURES"""
import glob
import os
import subprocess
import sys
import tempfile

import schema

inkmark, make_captures = (os.path.abspath(path) for path in sys.argv[1:])
GROUPS = ("section", "iteration", "block", "sm", "launch", "warp", "device", "instance")

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([make_captures], check=True)
    count = 0
    for capture in sorted(glob.glob("*.ink")):
        for by in GROUPS:
            done = subprocess.run([inkmark, "report", "--format", "json", "--by", by, capture], capture_output=True, text=True)
            if done.returncode == 0:
                (told,) = schema.load(done.stdout)["captures"]
                assert told["by"] == by and told["file"] == capture
                count += 1
    assert count > 100, count
    text = subprocess.run([inkmark, "report", "--format", "json", "solver.ink"], capture_output=True, text=True).stdout
    for was, becomes in (('"depth": 0', '"depth": -1'), ('"share": 0.', '"part": 0.'), ('"by": "section"', '"by": "lane"'),
                         ('"total_ns": ', '"total_ns": NaN, "x": '), ('"called": false', '"called": 0')):
        assert was in text, was
        try:
            schema.load(text.replace(was, becomes, 1))
        except AssertionError:
            continue
        raise SystemExit(f"{becomes} went unnoticed")
    print(f"ok: {count}")
