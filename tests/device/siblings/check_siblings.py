# SPDX-License-Identifier: MIT
"""check_siblings.py INKMARK BIN: kernels in the shapes of today, recorded on the simulated device. Their results are those without
marks, and each section has as many passes as the source says."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

INKMARK, BIN = sys.argv[1], sys.argv[2]
# Passes of all tracks: two blocks of a thread each.
SIBLINGS = {
    "crtp<Mul>": {"Load": 10, "Work": 10, "Store": 2},
    "crtp<Add>": {"Inner": 10, "Work": 10, "Store": 2},
    "lambdas": {"Load": 6, "Inner": 12, "Work": 12, "Task": 12, "Store": 6},
    "erased": {"Inner": 8, "Work": 8},
    "virtuals": {"Inner": 6, "Task": 4, "Work": 10},
    "coalesced": {"Load": 2, "Inner": 2, "Work": 6, "Store": 2},
    "folded<true, 1, 2, 3>": {"Load": 2, "Inner": 6, "Work": 2},
    "folded<false, 4>": {"Inner": 2, "Work": 2},
    "wide": {"Load": 2, "Work": 4, "Store": 2},
    "narrow": {"Work": 4},
    "named": {"Wait": 12, "Load": 12},
    "recursive": {"Work": 2},
    "ways": {"Store": 2, "Inner": 16, "Work": 2},
    "members": {"Inner": 4, "Work": 2},
    "values": {"Kernel": 2, "Load": 2, "Work": 2, "Task": 6, "Sum": 18},
    "handed": {"Inner": 6, "Work": 6},
    "bindings": {"Inner": 2, "Load": 2, "Work": 2, "Store": 2},
    "grid_wide": {"Work": 4, "Wait": 4},
}
# A track for each warp.
SIBLINGS_90 = {
    "concepts20": {"Work": 8, "Far": 8, "Inner": 2},
    "clustered": {"Wait": 12, "Load": 12, "Store": 12},
    "pdl": {"Wait": 1, "Work": 1},
    "piped<100>": {"Wait": 60, "Load": 20, "Work": 40},
    "piped<200>": {"Wait": 60, "Load": 20, "Work": 40},
    "Op::operator()": {"Work": 3, "Far": 3, "Store": 1},
}


def recorded(program, capability, options, folder):
    """What the program printed, and its capture."""
    capture = os.path.join(folder, "c.ink")
    run = subprocess.run([INKMARK, "record", "--device", "sim", *options, "-o", capture, "--", os.path.join(BIN, program)],
                         capture_output=True, text=True, env={**os.environ, "INKMARK_SIM_CAPABILITY": capability})
    assert run.returncode == 0, run
    return run.stdout, capture


def check(program, capability, expected, options=()):
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = recorded(program + "_off", capability, options, folder)
        printed, capture = recorded(program, capability, options, folder)
        assert printed == plain and "rror" not in printed, (plain, printed)
        run = subprocess.run([INKMARK, "report", "--format", "json", capture], capture_output=True, text=True, check=True)
    found = {}
    for kernel in json.loads(run.stdout)["captures"][0]["kernels"]:
        of = found.setdefault(re.sub(r"^Kernel \((.*)\)$", r"\1", kernel["kernel"]), collections.Counter())
        for row in kernel["rows"]:
            if row["section"] != "(unmarked)":
                of[row["section"]] += row["count"]
    assert {name: dict(of) for name, of in found.items()} == expected, {
        name: (dict(found.get(name, {})), expected.get(name)) for name in found.keys() | expected.keys()
        if dict(found.get(name, {})) != expected.get(name)}
    print(f"{program}: {len(expected)} kernels, {sum(sum(of.values()) for of in expected.values())} passes")


check("siblings", "80", SIBLINGS)
check("siblings_90", "90", SIBLINGS_90, ("-g", "warp"))
