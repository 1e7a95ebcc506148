# SPDX-License-Identifier: MIT
"""Real reports of Nsight Compute, which reports.tsv names, by NVIDIA's package ncu_report: what the command's script makes of
them adds up to the reports' own totals, by reason and executions; a kernel of that name that is built here is refused with the
first difference; a GPU that the package cannot disassemble any more is told. What is not there is skipped, and counted.

check_reports.py INKMARK NVCC ROOT FOLDER    FOLDER: what tests/merge/fetch_traces.sh filled"""
import csv
import glob
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

INKMARK, NVCC, ROOT, FOLDER = sys.argv[1:]

KERNEL = """#include <inkmark/mark.cuh>
PROF_SECTIONS(Image, Convolute, Read, Sum)
__global__ void convoluteGPU(const float *in, float *out, int n) {
  PROF_KERNEL(Convolute);
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  PROF_MARK(Read, v);
  for (int i = 0; i < n; i++)
    v = v * 1.5f + in[i];
  out[threadIdx.x] = v;
  PROF_MARK(Sum);
}
"""


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


def script():
    """What the command has python3 run."""
    with open(f"{ROOT}/cli/report/stall_report.c") as file:
        source = file.read()
    lines = source[source.index("script[] ="):source.index("bool stall_is_report")]
    return "".join(line.encode().decode("unicode_escape") for line in re.findall(r'^    "(.*)";?$', lines, re.M))


def tables(path):
    run = subprocess.run(["python3", "-c", script(), path], capture_output=True, text=True)
    found = []
    for row in csv.reader(io.StringIO(run.stdout)):
        if row[0] == "Kernel Name":
            found.append((row[1], []))
        else:
            found[-1][1].append(row)
    return run.returncode, found


# Totals as the report itself has them, by the package.
TOTALS = """import json, sys, ncu_report
context, prefix = ncu_report.load_report(sys.argv[1]), 'smsp__pcsamp_warps_issue_stalled_'
actions = [context.range_by_idx(r).action_by_idx(a) for r in range(context.num_ranges()) for a in range(context.range_by_idx(r).num_actions())]
print(json.dumps([[a.name(), a.metric_by_name('smsp__inst_executed.sum').as_uint64(), {n[len(prefix):]: a.metric_by_name(n).as_uint64()
                   for n in a.metric_names() if n.startswith(prefix) and 'not_issued' not in n}] for a in actions]))
"""


def check_sums(path):
    import json
    code, found = tables(path)
    totals = json.loads(subprocess.run(["python3", "-c", TOTALS, path], capture_output=True, text=True, check=True).stdout)
    assert code == 0 and [t[0] for t in totals] == [name for name, _ in found], (code, path)
    instructions = samples = 0
    for (name, executed, reasons), (_, (head, *rows)) in zip(totals, found):
        columns = {h[len("stall_"):]: i for i, h in enumerate(head) if h.startswith("stall_")}
        assert {r: sum(int(row[i]) for row in rows) for r, i in columns.items()} == {r: reasons[r] for r in columns}, name
        assert not any(n for r, n in reasons.items() if r not in columns), name
        assert sum(int(row[3]) for row in rows) == executed, name
        assert [int(row[0], 16) - int(rows[0][0], 16) for row in rows] == [16 * i for i in range(len(rows))], name
        instructions += len(rows)
        samples += sum(int(row[2]) for row in rows)
    return len(found), instructions, samples


def check_refused(path, work):
    with open(f"{work}/image.cu", "w") as file:
        file.write(KERNEL)
    subprocess.run([NVCC, "-I", f"{ROOT}/device", "-std=c++17", "-O3", "-lineinfo", "-DINKMARK_NO_COST", "-arch=sm_75", "-Wno-deprecated-gpu-targets",
                    "-cubin", "-o", f"{work}/image.cubin", f"{work}/image.cu"], check=True)
    shutil.copy(path, f"{work}/real.ncu-rep")
    run = subprocess.run([INKMARK, "report", "--code", f"{work}/image.cubin", "--stalls", f"{work}/real.ncu-rep"], capture_output=True, text=True)
    assert run.returncode == 1 and re.search(r"is of another build than .*: kernel 'convoluteGPU' differs first at \+0x[0-9a-f]+, '", run.stderr), run
    return run.stderr.strip()


def main():
    if subprocess.run(["python3", "-c", "import ncu_report"], stderr=subprocess.DEVNULL).returncode:
        skip("python3 has no package ncu_report (pip install ncu-report)")
    tool = glob.glob(f"{ROOT}/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvdisasm")
    if tool:
        os.environ["INKMARK_NVDISASM"] = tool[0]
    with open(f"{ROOT}/tests/report/reports.tsv") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    read = 0
    for gpu, repository, commit, name, digest, size in rows:
        path = os.path.join(FOLDER, digest)
        if not os.path.exists(path):
            continue
        read += 1
        with tempfile.TemporaryDirectory() as work:
            if gpu == "V100":
                assert tables(path) == (7, []), name
                continue
            print(f"{name}: {'%d kernels, %d instructions, %d samples' % check_sums(path)}")
            print(check_refused(path, work))
    if read < len(rows):
        print(f"SKIPPED {len(rows) - read} of {len(rows)} reports: not in '{FOLDER}', tests/merge/fetch_traces.sh fetches them")
    if not read:
        sys.exit(77)
    print(f"{read} reports")


main()
