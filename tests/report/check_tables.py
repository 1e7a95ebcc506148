# SPDX-License-Identifier: MIT
"""The JSON of every golden capture in every grouping against the schema; a schema that says otherwise is noticed. All
other JSON of reports, info and diff is JSON: no NaN, no Infinity, whatever is missing.

check_tables.py INKMARK MAKE_CAPTURES"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import schema

inkmark, make_captures = (os.path.abspath(path) for path in sys.argv[1:])
OTHERS = (("report", "--path"), ("report", "--path", "--all"), ("report", "--variance"), ("report", "--activity"), ("report", "--host"),
          ("report", "--raw"), ("report", "--kept"), ("info",))
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
    captures, others = sorted(glob.glob("*.ink")), 0
    runs = [[*what, "--format", "json", capture] for what in OTHERS for capture in captures]
    runs += [["diff", "--force", "--format", "json", left, right] for left in captures for right in captures[::3]]
    for run in runs:
        done = subprocess.run([inkmark, *run], capture_output=True, text=True)
        assert done.returncode in (0, 1, 3), (run, done)
        if done.stdout:
            json.loads(done.stdout, parse_constant=schema.no_number)
            others += 1
    assert others > 200, others
    text = subprocess.run([inkmark, "report", "--format", "json", "solver.ink"], capture_output=True, text=True).stdout
    for was, becomes in (('"depth": 0', '"depth": -1'), ('"share": 0.', '"part": 0.'), ('"by": "section"', '"by": "lane"'),
                         ('"total_ns": ', '"total_ns": NaN, "x": '), ('"called": false', '"called": 0')):
        assert was in text, was
        try:
            schema.load(text.replace(was, becomes, 1))
        except AssertionError:
            continue
        raise SystemExit(f"{becomes} went unnoticed")
    print(f"ok: {count} and {others}")
