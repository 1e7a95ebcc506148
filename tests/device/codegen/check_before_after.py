# SPDX-License-Identifier: MIT
"""bench/device/before_after.py, the tool that judges real kernels: finds ptxas' warnings, spills and the cost of a mark in a
loop, and ends with 3 where marks add the first two. check_before_after.py [INKMARK]: and prints what verify says."""
import os
import re
import sys
import tempfile

from toolchain import HERE, ROOT, Checks, find_nvdisasm, in_parallel, run

TOOL = os.path.join(ROOT, "bench", "device", "before_after.py")
MARKS = "#define ROW\n#define ISSUED PROF_MARK{}\n#define WAITED PROF_MARK(Wait)\n"


def judged(source, *arguments, header=""):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "given.h")
        with open(path, "w", encoding="utf-8") as file:
            file.write(header)
        return run([sys.executable, TOOL, os.path.join(HERE, "modern", source), *arguments, "-std=c++17", "-include", path])


def main():
    find_nvdisasm()
    checks = Checks()
    verify = ("--verify", sys.argv[1]) if sys.argv[1:] else ()
    jobs = {"marks": ("wgmma.cu", *verify, "--", "-arch=sm_90a", "-lineinfo", MARKS.format("(Issue)")),
            "held strictly": ("wgmma.cu", "--", "-arch=sm_90a", MARKS.format("_STRICT(Issue, d)")),
            "spills": ("small.cu", "--kernel", "held_to_64", "--", "-arch=sm_80", "#define ON 1\n")}
    done = dict(zip(jobs, in_parallel(lambda job: judged(*job[:-1], header=job[-1]), jobs.values())))
    for name, one in done.items():
        print(f"-- {name}: {one.returncode}\n{one.stdout}{one.stderr}")
    checks.that(done["marks"].returncode == 0 and "none more with them" in done["marks"].stdout, "plain marks: worse than they are")
    checks.that(not verify or re.search(r"\d+ stamps, [1-9]\d* instructions? judged", done["marks"].stdout), "no verdict of verify")
    costs = [float(word) for word in re.findall(r"2 clock reads; \d+ without marks: ([\d.]+) each", done["marks"].stdout)]
    # in_body's plain loop is unrolled twice, so that its growth says too little: the tool compares loops as they are
    checks.that(len(costs) == 2 and min(costs) >= 1 and 5 < max(costs) < 20, f"marks in the loop: {costs}")
    checks.that(done["held strictly"].returncode == 3 and "C7517" in done["held strictly"].stdout.rsplit("without marks", 1)[-1],
                "serialized wgmma is not told")
    spilt = re.search(r"bytes of spills 0 -> (\d+)", done["spills"].stdout)
    checks.that(done["spills"].returncode == 3 and spilt and int(spilt.group(1)) > 0, "spills are not told")
    checks.finish()


main()
