# SPDX-License-Identifier: MIT
"""`inkmark cost` on the simulated device, where times of kernels are exact: what it prints must be what
the simulator says of each run. command.py INKMARK PROGRAM BASELINE SIMULATED_RUNTIME_FOLDER PROGRAM_WITH_CODE BASELINE_WITH_CODE
PROGRAM_THAT_SPILLS"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

inkmark, program, baseline, sim, code_marked, code_plain, spills = sys.argv[1:8]
found_tools = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".venv", "lib",
                                            "python3*", "site-packages", "nvidia", "*", "bin", "cuobjdump")))
cuobjdump = found_tools[0] if found_tools else shutil.which("cuobjdump")
failures = []
checks = 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)
        print("FAILED:", text)


def run(*arguments, **environment):
    return subprocess.run([inkmark, *arguments], capture_output=True, text=True,
                          env={**os.environ, **environment})


def grid_ns(log):
    """kernel name -> total ns, from the simulator's own log"""
    total = {}
    for line in open(log):
        if line.startswith("grid "):
            words = line.split()
            if "ink_i" not in words[3]: # the library's own kernels
                total[words[3]] = total.get(words[3], 0) + float(words[-1]) - float(words[-2])
    return total


with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "tmp"))
    done = run("cost", "--device", "sim", "--runs", "3", "--format", "json", "--baseline", baseline, "--",
               program, TMPDIR=os.path.join(folder, "tmp"))
    if done.returncode:
        sys.exit(done.stderr)
    found = json.loads(done.stdout)
    check(found["simulated_clock"] is True and found["runs"] == 3, "head")
    check(os.listdir(os.path.join(folder, "tmp")) == [], "it leaves files behind")
    log = os.path.join(folder, "log")
    truth = {}
    for mode, path, options in (("without_ns", baseline, None), ("off_ns", program, None),
                                ("on_ns", program, ["record", "--device", "sim", "-o", log + ".ink", "--"])):
        environment = {**os.environ, "INKMARK_SIM_LOG": log}
        command = [path] if options is None else [inkmark, *options, path]
        if options is None:
            environment["LD_LIBRARY_PATH"] = sim
        subprocess.run(command, env=environment, check=True, capture_output=True)
        truth[mode] = grid_ns(log)
    check(len(found["kernels"]) == len(truth["off_ns"]) > 0, "kernels")
    for kernel in found["kernels"]:
        for mode, names in truth.items():
            want = [ns for name, ns in names.items() if name == kernel["mangled"]]
            check(len(want) == 1 and len(kernel[mode]) == 3 and
                  all(abs(ns - want[0]) <= 1 for ns in kernel[mode]),
                  f"{kernel['kernel']} {mode}: {kernel[mode]}, the simulator says {want}")
        check(kernel["without_ns"][0] < kernel["off_ns"][0] < kernel["on_ns"][0], f"{kernel}: order")
        for key, a, b in (("on_over_off", "on_ns", "off_ns"), ("off_over_without", "off_ns", "without_ns"),
                          ("on_over_without", "on_ns", "without_ns")):
            want = 100 * (kernel[a][0] / kernel[b][0] - 1)
            near = 1e-9 * abs(want) # JSON has 12 digits
            check(abs(kernel[key]["median_percent"] - want) <= near and
                  kernel[key]["least_percent"] - near <= want <= kernel[key]["most_percent"] + near,
                  f"{kernel['kernel']}: {key}")
        check(kernel["with_marks"]["static_shared_bytes"] ==
              kernel["without_marks"]["static_shared_bytes"], f"{kernel}: marks take no shared memory")
    check(len(found["whole_process"]["off_ns"]) == 3 and min(found["whole_process"]["off_ns"]) > 0, "wall")

    done = run("cost", "--device", "sim", "--runs", "1", "--kernel", "nothing_like_it", "--", program)
    check(done.returncode == 1 and "matches 'nothing_like_it': it runs '" in done.stderr,
          f"a name that is not there: {done.returncode} {done.stderr}")
    done = run("cost", "--device", "sim", "--runs", "1", "--", program, CUDA_INJECTION64_PATH="/nowhere/taken.so")
    check(done.returncode == 0 and "no times of kernels: CUDA_INJECTION64_PATH is taken" in done.stdout and
          "from start to end" in done.stdout, f"no CUPTI: {done.stdout} {done.stderr}")
    text = run("cost", "--device", "sim", "--runs", "3", "--", program).stdout
    check(text.startswith("simulated clock") and re.search(r"on / off", text) and "without" not in
          text.split("\n")[1], "text without a baseline")

    # machine code: the same registers and shared memory as ptxas reports, for each target and build
    if cuobjdump:
        done = run("cost", "--device", "sim", "--runs", "1", "--format", "json", "--baseline", code_plain, "--",
                   code_marked, INKMARK_CUOBJDUMP=cuobjdump)
        found = json.loads(done.stdout)
        for kernel in found["kernels"]:
            code = {(c["marks"], c["capability"]): c for c in kernel["code"]}
            check(set(code) == {(marks, target) for marks in (True, False) for target in (80, 90)},
                  f"{kernel['kernel']}: targets {set(code)}")
            for (marks, target), c in code.items():
                check(c["static_shared_bytes"] == 0 and 8 <= c["registers"] <= 64 and
                      c["blocks_per_sm"] == 32 and c["warps_per_sm"] == 32 and c["occupancy"] == 0.5 and
                      c["limited_by"] == "blocks", f"{kernel['kernel']} {marks} {target}: {c}")
            check(code[True, 90]["registers"] > code[False, 90]["registers"], f"{kernel['kernel']}: registers")
        text = run("cost", "--device", "sim", "--runs", "1", "--baseline", code_plain, "--", code_marked,
                   INKMARK_CUOBJDUMP=cuobjdump).stdout
        check(text.count("sm_90") == 2 * len(found["kernels"]), "targets in the text")
        # registers that did not fit are told from arrays that are indexed
        done = run("cost", "--device", "sim", "--runs", "1", "--format", "json", "--", spills,
                   INKMARK_CUOBJDUMP=cuobjdump)
        local = {k["kernel"]: c for k in json.loads(done.stdout)["kernels"] for c in k["code"]}
        check(local["spills"]["stack_bytes"] > 100 and local["spills"]["spilling_instructions"] > 50,
              f"spills: {local['spills']}")
        check(local["arrays"]["stack_bytes"] >= 160 and local["arrays"]["spilling_instructions"] == 0,
              f"arrays: {local['arrays']}")
    else:
        print("the machine code is not read: no cuobjdump (tests/run.sh brings it)")
    done = run("cost", "--device", "sim", "--runs", "1", "--", program, INKMARK_CUOBJDUMP="/nowhere/cuobjdump")
    check(done.returncode == 0 and "machine code in the program: not known, cuobjdump cannot" in done.stdout,
          "without cuobjdump")

    failing = os.path.join(folder, "failing")
    with open(failing, "w") as script:
        script.write("#!/bin/sh\necho too bad >&2\nexit 7\n")
    os.chmod(failing, 0o755)
    done = run("cost", "--device", "sim", "--", failing)
    check(done.returncode == 1 and "ended with exit code 7" in done.stderr and "too bad" in done.stderr and
          not done.stdout, f"a failing program: {done.returncode} {done.stderr}")

    # marks that are off record nothing
    capture = os.path.join(folder, "off.ink")
    done = run("record", "--device", "sim", "-o", capture, "--", program, INKMARK_MARKS="off")
    check(done.returncode == 0 and not os.path.exists(capture) and "nothing was recorded" in done.stderr,
          "INKMARK_MARKS=off")

print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or not checks else 0)
