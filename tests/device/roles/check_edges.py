# SPDX-License-Identifier: MIT
"""Kernels that use all of the shared memory run marked, and their marks are there; marks that were passed again in a row
are counted and named.

check_edges.py INKMARK EDGES"""
import json
import os
import subprocess
import sys
import tempfile

inkmark, program = (os.path.abspath(path) for path in sys.argv[1:])


def run(*arguments):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True,
                          env={**os.environ, "INKMARK_SIM_CAPABILITY": "90"})
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def counts(kernel):
    return {(row["section"], row["count"]) for row in kernel["rows"]}


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run("record", "--device", "sim", "-o", "edges.ink", "--", program)
    capture = json.loads(run("report", "--raw", "--format", "json", "edges.ink"))["captures"][0]
    kernels = {kernel["kernel"]: kernel for kernel in capture["kernels"]}
    assert sorted(kernels) == ["Again", "Dynamic", "Static"], sorted(kernels)
    for name in ("Dynamic", "Static"):
        assert counts(kernels[name]) >= {("Load", 2), ("Work", 2)}, kernels[name]
    again = kernels["Again"]
    assert counts(again) >= {("Work", 5), ("Once", 5)}, again
    assert again["rows_executed"] == again["marks_executed"] == 6, again
    text = run("report", "edges.ink")
    assert "1 launch, 1 track, 6 rows, " in text, text
    assert "10 marks were passed again in their row, in 4 rows: the last pass is kept" in text, text
    print("edges: as they should be")
