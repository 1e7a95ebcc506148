# SPDX-License-Identifier: MIT
"""`inkmark report --code` and `--stalls` of code.cu: instructions by section beside measured cycles, and made-up samples
in every form of Nsight Compute's source page, against sums that are made here by the same rules; a table of another build is
refused with the first difference.

check_code.py INKMARK NVCC ROOT"""
import collections
import csv
import glob
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

REASONS = ["barrier", "branch_resolving", "dispatch", "drain", "lg", "long_sb", "math", "membar", "mio", "no_inst", "not_selected",
           "selected", "short_sb", "sleep", "wait"]
BASE = 0x7FC48541D900


def skip(why):
    print("SKIPPED:", why)
    sys.exit(77)


def tool(root, name):
    found = glob.glob(f"{root}/.venv/lib/python3*/site-packages/nvidia/cu13/bin/{name}")
    return found[0] if found else shutil.which(name) or skip(f"no {name} in .venv nor on the PATH (tests/run.sh installs it)")


class Samples:
    """Invented counts of every instruction of a map, and what they add up to by section."""

    def __init__(self, code, seed):
        dice = random.Random(seed)
        self.code = code
        self.rows = []
        for i in code["instructions"]:
            executed = 0 if i["section"] == "(padding)" else 32 * dice.choice([1, 8, 8, 64])
            reasons = {r: dice.choice([0, 0, 0, 3, 40]) if executed else 0 for r in REASONS}
            if i["section"] == "(padding)" and i["opcode"] == "BRA":
                reasons["drain"] = 17  # sampled behind the EXIT, which was executed last
            self.rows.append((executed, reasons))

    def expected(self):
        sums = collections.defaultdict(lambda: {"samples": 0, "own": 0, "executed": 0, "passes": 0, "stalls": collections.Counter()})
        ran = None
        for n, (i, (executed, reasons)) in enumerate(zip(self.code["instructions"], self.rows)):
            ran = n if executed else ran
            for reason, count in reasons.items():
                at = n if executed or ran is None else ran
                if executed and n and reason in ("barrier", "membar", "drain"):
                    at = n - 1
                to = self.code["instructions"][at]
                sums[to["section"]]["samples"] += count
                sums[to["section"]]["own"] += count if to["own"] else 0
                sums[to["section"]]["stalls"][reason] += count
            if not i["own"]:
                sums[i["section"]]["executed"] += executed
            if "stamp" in i and self.code["stamps"][i["stamp"]]["closes"]:
                sums[i["section"]]["passes"] += executed
        return sums


def spelt(text):
    """As ncu spells it: no .reuse, addresses in the place of labels, another space, `[R1], [R2]`."""
    text = text.replace(".reuse", "").replace("][", "], [") if "desc" not in text else text.replace(".reuse", "")
    text = re.sub(r"`\(.*?\)", hex(BASE + 0x120), text)
    return "      " + text.replace(" ", "   ", 1) + " "


def page(samples, form, change=lambda rows: rows, name="tiles(const float *, const float *, float *, int)"):
    """The source page as CSV in one of the forms that versions of ncu have had."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n" if form == "old" else "\n")
    if form != "bare":
        out.write("==PROF== Connected to process 1234\n")
    sampling = {"new": "Warp Stall Sampling (All Samples)", "cuda": "Warp Stall Sampling (All Samples)", "old": "Warp Stall Sampling (All Cycles)",
                "older": "Sampling Data (All)", "bare": "# Samples", "reasons": None}[form]
    spell = (lambda n: f"{n:,}") if form == "old" else str
    writer.writerow(["File Path" if form == "cuda" else "Kernel Name", "code.cu" if form == "cuda" else name])
    if form == "cuda":
        writer.writerow(["Function Name", name])
    lead = ["Line No", "Source"] if form == "cuda" else ["#"] if form == "new" else []
    doubled = ["# Samples"] if sampling not in ("# Samples", None) else []
    total = [sampling] if sampling else []  # with none, the reasons add up to it
    writer.writerow([*lead, "Address", "Source", *total, "Warp Stall Sampling (Not-issued Samples)", "Instructions Executed", *doubled,
                     "Instructions Executed", *("stall_" + r for r in REASONS), *(f"stall_{r}ing (Not Issued)" for r in REASONS)])
    rows = [(i["offset"], i["text"], *s) for i, s in zip(samples.code["instructions"], samples.rows)]
    for n, (offset, text, executed, reasons) in enumerate(change(rows)):
        if form == "cuda" and n % 7 == 0:
            writer.writerow([str(n), "  int x = 1, \"y\";", "-", "", *["-"] * (4 + len(doubled) + 2 * len(REASONS))])
        all_of = sum(reasons.values())
        head = [str(n), ""] if form == "cuda" else [str(n)] if form == "new" else []
        twice = [spell(all_of)] * len(doubled)
        writer.writerow([*head, hex(BASE + offset) if form != "older" else f"{BASE + offset:016x}", spelt(text), *[spell(all_of)] * len(total), "0", spell(executed),
                         *twice, spell(executed), *(spell(reasons[r]) for r in REASONS), *("9" for _ in REASONS)])
    return out.getvalue()


class Case:
    def __init__(self, inkmark, nvcc, root, work):
        self.inkmark, self.work = inkmark, work
        self.app = f"{work}/app"
        subprocess.run([nvcc, "-I", f"{root}/device", "-std=c++17", "-O3", "-lineinfo", "-cudart", "shared", "-DINKMARK_NO_COST",
                        "-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_75,code=compute_75", "-Wno-deprecated-gpu-targets",
                        "-o", self.app, f"{root}/tests/report/code.cu"], check=True,
                       env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})  # nvcc takes no sanitizer in front

    def run(self, *args, code=0):
        run = subprocess.run([self.inkmark, *args], capture_output=True, text=True)
        assert run.returncode == code, (args, run.returncode, run.stdout, run.stderr)
        return run

    def stalls(self, text, *args, code=0):
        with open(f"{self.work}/samples.csv", "w", newline="") as file:
            file.write(text)
        return self.run("report", "--code", self.app, "--stalls", f"{self.work}/samples.csv", *args, code=code)


def check_static(case, code, capture):
    found = json.loads(case.run("report", "--code", case.app, "--format", "json", capture).stdout)
    assert found["simulated"] is True
    (kernel,) = found["kernels"]
    assert kernel["kernel"] == "Run" and kernel["code_sha256"] == code["code_sha256"]
    counted = collections.defaultdict(collections.Counter)
    for i in code["instructions"]:
        counted[i["section"]]["own" if i["own"] else i["kind"]] += 1
    table = json.loads(case.run("report", "--format", "json", capture).stdout)
    means = {}
    for row in table["captures"][0]["kernels"][0]["rows"]:
        means[row["section"]] = row["total_cycles"] / row["count"] if row["count"] else None
    seen = 0
    for section in kernel["sections"]:
        own = counted[section["section"]].pop("own", 0)
        assert section["own"] == own
        assert {k: n for k, n in section["kinds"].items() if n} == dict(counted[section["section"]]), section
        if "cycles_a_pass" in section:
            assert abs(section["cycles_a_pass"] - means[section["section"]]) < 1e-6 * section["cycles_a_pass"], section
            seen += 1
    assert seen == 4, seen  # Fetch, Wait, Product, Release
    work = next(s for s in kernel["sections"] if s["section"] == "Release")
    atomics = [i for i in code["instructions"] if i["section"] == "Release" and not i["own"] and i["kind"] == "memory"]
    assert work["bytes"] == 4 * len(atomics), work  # a 32-bit atomic
    text = case.run("report", "--code", case.app, capture).stdout
    assert "simulated clock" in text and "bound by (static)" in text and "static: each instruction counts once" in text, text


def check_samples(case, code, capture):
    for seed, form in enumerate(("new", "cuda", "old", "older", "bare", "reasons")):
        samples = Samples(code, seed)
        run = case.stalls(page(samples, form), "--format", "json", capture)
        (kernel,) = json.loads(run.stdout)["kernels"]
        expected = samples.expected()
        for section in kernel["sections"]:
            want = expected[section["section"]]
            assert section["samples"] == want["samples"] and section["own_samples"] == want["own"], (form, section, want)
            assert {r: n for r, n in section["stalls"].items() if n} == {r: n for r, n in want["stalls"].items() if n}, (form, section)
            if want["passes"]:
                assert abs(section["instructions_a_pass"] - want["executed"] / want["passes"]) < 1e-9, (form, section)
        assert kernel["samples"] == sum(sum(r.values()) for _, r in samples.rows)
        assert not next(s for s in kernel["sections"] if s["section"] == "(padding)")["samples"]
    text = case.stalls(page(samples, "new")).stdout
    assert "bound by (sampled)" in text and "\u00b1" in text and "sampled: over all warps" in text, text
    few = Samples(code, 9)
    few.rows = [(executed, dict.fromkeys(REASONS, 0)) for executed, _ in few.rows]
    few.rows[200] = (32, {**few.rows[200][1], "wait": 29})
    text = case.stalls(page(few, "new")).stdout
    assert "too few samples" in text and "%" not in text, text
    two = page(samples, "new") + page(samples, "new", lambda rows: rows[:9], "plain_kernel(int)")
    run = case.stalls(two)
    assert "'plain_kernel(int)' in" in run.stderr and "has no marks" in run.stderr, run.stderr


# What a report would say, by the functions of NVIDIA's package that are used.
STAND_IN = """import json
class Metric:
    def __init__(self, pairs): self.pairs = pairs
    def has_correlation_ids(self): return True
    def num_instances(self): return len(self.pairs)
    def as_uint64(self, i): return self.pairs[i][1]
    def correlation_ids(self): return Metric([(None, pc) for pc, _ in self.pairs])
class Action:
    def __init__(self, told): self.told = told
    def name(self): return self.told['name']
    def metric_names(self): return list(self.told['metrics'])
    def metric_by_name(self, name): return Metric(self.told['metrics'][name]) if name in self.told['metrics'] else None
    def sass_by_pc(self, pc): return self.told['sass'].get(str(pc), '')
class Range:
    def __init__(self, told): self.told = told
    def num_actions(self): return len(self.told)
    def action_by_idx(self, i): return Action(self.told[i])
class Context:
    def __init__(self, told): self.told = told
    def num_ranges(self): return len(self.told)
    def range_by_idx(self, i): return Range(self.told[i])
def load_report(path):
    with open(path) as file:
        return Context(json.load(file))
"""


def check_report(case, code):
    samples, prefix = Samples(code, 4), "smsp__pcsamp_warps_issue_stalled_"
    pcs = [BASE + i["offset"] for i in code["instructions"]]
    metrics = {"inst_executed": [(pc, n) for pc, (n, _) in zip(pcs, samples.rows) if n], "launch__function_pcs": [(None, BASE)]}
    for reason in REASONS:
        metrics[prefix + reason] = [(pc, r[reason]) for pc, (_, r) in zip(pcs, samples.rows) if r[reason]]
        metrics[prefix + reason + "_not_issued"] = [(BASE, 9)]
    action = {"name": "tiles", "metrics": metrics, "sass": {pc: spelt(i["text"]) for pc, i in zip(pcs, code["instructions"])}}
    path, modules = f"{case.work}/x.ncu-rep", f"{case.work}/modules"
    os.mkdir(modules)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = modules

    def read(told, exit_code=0):
        with open(path, "w") as file:
            json.dump(told, file)
        return case.run("report", "--code", case.app, "--stalls", path, "-f", "json", code=exit_code)

    if not subprocess.run(["python3", "-c", "import ncu_report"], stderr=subprocess.DEVNULL).returncode == 0:
        assert "pip install ncu-report" in read([], 1).stderr
    with open(f"{modules}/ncu_report.py", "w") as file:
        file.write(STAND_IN)
    (kernel,) = json.loads(read([[action]]).stdout)["kernels"]
    expected = samples.expected()
    for section in kernel["sections"]:
        assert section["samples"] == expected[section["section"]]["samples"], section
    far = BASE + 0x100000  # of a function that the kernel calls
    metrics["launch__function_pcs"].append((None, far))
    metrics["inst_executed"].append((far, 32))
    metrics[prefix + REASONS[0]] = metrics[prefix + REASONS[0]] + [(far, 41)]
    run = read([[{**action, "sass": {**action["sass"], far: "RET.REL.NODEC R2 0x0"}}]])
    assert "41 samples of 'tiles' lie in functions that it calls" in run.stderr, run.stderr
    (kernel,) = json.loads(run.stdout)["kernels"]
    for section in kernel["sections"]:
        assert section["samples"] == expected[section["section"]]["samples"], section
    assert "cannot disassemble" in read([[{**action, "sass": dict.fromkeys(action["sass"], "???")}]], 1).stderr
    assert "holds no kernel" in read([], 1).stderr
    assert "--section SourceCounters" in read([[{**action, "metrics": {}}]], 1).stderr
    assert "cannot read" in read(7, 1).stderr
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


def check_refused(case, code):
    samples = Samples(code, 1)
    at = next(n for n, i in enumerate(code["instructions"]) if i["opcode"].startswith("IMAD") and ", R" in i["text"] and n > 120)

    def other_sign(rows):
        rows[at] = (rows[at][0], rows[at][1].replace(", R", ", -R", 1), *rows[at][2:])
        return rows

    said = case.stalls(page(samples, "new", other_sign), code=1).stderr
    assert "of another build" in said and f"+0x{16 * at:x}," in said and code["instructions"][at]["text"].replace(".reuse", "")[:12] in said, said
    assert "of another build" in case.stalls(page(samples, "new", lambda rows: rows[:100]), code=1).stderr
    assert "of another build" in case.stalls(page(samples, "new", lambda rows: rows[:20] + rows[21:]), code=1).stderr
    longer = [(16 * len(samples.rows), "FADD R1, R1, R2", 32, dict.fromkeys(REASONS, 1))]
    assert "of another build" in case.stalls(page(samples, "new", lambda rows: rows + longer), code=1).stderr
    for text, why in [("", "no table of machine instructions"), ("a,b\n1,2\n", "no table of machine instructions"),
                      ('"Address","Source","Registers"\n"0x10","NOP","1"\n', "has no samples"), ("\0\0\1", "is no CSV"),
                      ('"Kernel Name","x"\n"Address","Source","# Samples"\n', "no table of machine instructions"),
                      ('"Address","Source","# Samples"\n"0x10","NOP', "has no marks"), (page(samples, "new")[:3000], "of another build")]:
        run = case.stalls(text, code=1)
        assert why in run.stderr, (text[:60], run.stderr)
    with open(f"{case.work}/x.csv", "w") as file:
        file.write("no capture")
    case.run("report", "--stalls", f"{case.work}/x.csv", code=2)
    assert "cannot open" in case.run("report", "--code", case.app, "--stalls", f"{case.work}/none.csv", code=1).stderr


def report_of(case, capture, *args, code=0):
    return case.run("report", "--stalls", capture, *args, code=code)


def record_stalls(case, program, cubin, lines, capture, cupti=""):
    """A recording whose stand-in for CUPTI says that `lines` were sampled in the code of `cubin`."""
    with open(f"{case.work}/lines", "w") as file:
        file.writelines(f"{function} {offset:x} {reason} {count}\n" for function, offset, reason, count in lines)
    os.environ.update(INKMARK_SIM_CODE=cubin, INKMARK_SIM_SAMPLES=f"{case.work}/lines", INKMARK_SIM_CUPTI=cupti)
    run = case.run("record", "--device", "sim", "--stalls", "-g", "warp", "-o", capture, "--", program)
    for name in ("INKMARK_SIM_CODE", "INKMARK_SIM_SAMPLES", "INKMARK_SIM_CUPTI"):
        del os.environ[name]
    return run


def check_capture(case, code, program):
    """`record --stalls`, and the table by section of what it stored, with its own code and with a program's."""
    long_names = {"long_sb": "long_scoreboard", "short_sb": "short_scoreboard"}
    samples = Samples(code, 6)
    known = {r: long_names.get(r, r) for r in REASONS if long_names.get(r, r) in ("barrier", "long_scoreboard", "membar", "drain", "selected", "wait",
                                                                                  "short_scoreboard")}
    samples.rows = [(1, {r: n if r in known else 0 for r, n in reasons.items()}) for _, reasons in samples.rows]  # CUPTI counts no executions
    lines = [(code["kernel"], i["offset"], known[r], n) for i, (_, reasons) in zip(code["instructions"], samples.rows) for r, n in reasons.items() if n]
    plain = [("_Z12plain_kernelPf", 0, "wait", 5), (lines[0][0], lines[0][1], "wait_not_issued", 1000)]
    capture = f"{case.work}/stalls.ink"
    record_stalls(case, program, case.app, plain[1:] + lines + plain[:1], capture, "entries=7,lost=4")
    expected = samples.expected()
    outputs = [report_of(case, capture, "-f", "json", *more).stdout for more in ((), ("--code", case.app), (capture,))]
    for text in outputs:
        found = json.loads(text)
        (kernel,) = found["kernels"]
        assert kernel["code_sha256"] == code["code_sha256"] and kernel["kernel"] == "Run", kernel
        assert found["simulated"] is True and found["sampling"]["made_up"] is True and found["sampling"]["dropped"] == 4, found["sampling"]
        for section in kernel["sections"]:
            want = expected[section["section"]]
            assert section["samples"] == want["samples"] and section["own_samples"] == want["own"], (section, want)
            assert {r: n for r, n in section["stalls"].items() if n} == {known[r]: n for r, n in want["stalls"].items() if n}, section
            assert "instructions_a_pass" not in section, section
        assert any("cycles_a_pass" in s for s in kernel["sections"])
        assert found["sampling"]["samples"] == sum(n for _, _, _, n in lines) + 5 and found["sampling"]["period_cycles"] == 2048, found["sampling"]
    text = report_of(case, capture)
    assert "made-up samples" in text.stdout and "samples, of each SM every 2,048 cycles" in text.stdout, text.stdout
    assert "_Z12plain_kernelPf' in" in text.stderr and "has no marks" in text.stderr, text.stderr
    info = json.loads(case.run("info", "-f", "json", capture).stdout)["captures"][0]["stalls"]
    assert info[0]["codes"] == 1 and info[0]["code_bytes"] == os.path.getsize(case.app) and info[0]["dropped"] == 4, info
    check_other_build(case, code, program, lines)
    # Nothing to be had: a sentence, and a recording all the same.
    for asked, words in (("sampling=35", "NVreg_RestrictProfilingToAdminUsers=0"), ("subscribe=39", "another profiler is attached"),
                         ("sampling=27", "CUPTI refuses (")):
        run = record_stalls(case, program, case.app, lines, capture, asked)
        assert "why warps waited was not sampled in process" in run.stderr and words in run.stderr and "24 tracks" in run.stderr, run.stderr
        assert words in report_of(case, capture, code=1).stderr
    record_stalls(case, program, "/nowhere", lines, capture)
    assert "holds no code with marks" in report_of(case, capture, code=1).stderr
    assert "it cannot be told whether" in report_of(case, capture, "--code", case.app, code=1).stderr
    case.run("record", "--device", "sim", "-o", capture, "--", program)
    assert "record with 'inkmark record --stalls'" in report_of(case, capture, code=1).stderr
    assert "cannot open" in report_of(case, f"{case.work}/none.ink", code=1).stderr


def check_other_build(case, code, program, lines):
    """One instruction of the sampled code is another than the program's: refused, with the first difference."""
    at = next(n for n, i in enumerate(code["instructions"]) if i["opcode"].startswith("IMAD") and ", R" in i["text"] and n > 120)
    old = code["instructions"][at]["text"]
    bytes_ = bytearray(open(case.app, "rb").read())
    text = subprocess.run(["readelf", "-SW", case.app], capture_output=True, text=True, check=True).stdout
    section = next(line.split("]")[1].split() for line in text.splitlines() if f" .text.{code['kernel']} " in line)
    bytes_[int(section[3], 16) + 16 * at] ^= 4
    other, listing = f"{case.work}/other.cubin", open(f"{case.work}/listing").read()
    with open(other, "wb") as file:
        file.write(bytes_)
    with open(f"{case.work}/other_listing", "w") as file:
        begin = listing.index(f"/*{16 * at:04x}*/", listing.index(f".text.{code['kernel']}:"))
        changed = listing[:begin] + listing[begin:].replace(", R", ", -R", 1)
        file.write(changed)
    with open(f"{case.work}/nvdisasm", "w") as file:  # of the capture's code, which has no other name, the other listing
        file.write(f"#!/bin/sh\ncase \"$*\" in *inkmark-*) cat '{case.work}/other_listing';; *) cat '{case.work}/listing';; esac\n")
    capture = f"{case.work}/other.ink"
    record_stalls(case, program, other, lines, capture)
    said = report_of(case, capture, "--code", case.app, code=1).stderr
    assert "of another build" in said and f"first at +0x{16 * at:x}," in said and old.replace(".reuse", "")[:12] in said, said
    assert json.loads(report_of(case, capture, "-f", "json").stdout)["kernels"][0]["code_sha256"] != code["code_sha256"]
    with open(f"{case.work}/other_listing", "w") as file:  # it has no line information
        file.write("\n".join(line for line in changed.splitlines() if "//## File" not in line))
    assert "-lineinfo" in report_of(case, capture, code=1).stderr
    said = report_of(case, capture, "--code", case.app, code=1).stderr
    assert "of another build" in said and f"first at +0x{16 * at:x}," in said, said


def keep_listing(work, cubin):
    """The disassembler takes longer than all the rest: what it says once will do."""
    with open(f"{work}/listing", "w") as file:
        subprocess.run([os.environ["INKMARK_NVDISASM"], "-gi", "-c", cubin], stdout=file, check=True)
    with open(f"{work}/nvdisasm", "w") as file:
        file.write(f"#!/bin/sh\ncat '{work}/listing'\n")
    os.chmod(f"{work}/nvdisasm", 0o755)
    os.environ["INKMARK_NVDISASM"] = f"{work}/nvdisasm"


def main(inkmark, nvcc, root):
    os.environ["INKMARK_NVDISASM"], os.environ["INKMARK_CUOBJDUMP"] = tool(root, "nvdisasm"), tool(root, "cuobjdump")
    with tempfile.TemporaryDirectory() as work:
        case = Case(inkmark, nvcc, root, work)
        case.run("verify", "--map", "-o", f"{work}/map.json", case.app)
        subprocess.run([os.environ["INKMARK_CUOBJDUMP"], "-xelf", "all", case.app], cwd=work, check=True, stdout=subprocess.DEVNULL)
        program, case.app = case.app, glob.glob(f"{work}/*.cubin")[0]
        keep_listing(work, case.app)
        (code,) = json.load(open(f"{work}/map.json"))["maps"]
        case.run("record", "-g", "warp", "-o", f"{work}/run.ink", "--", program)
        check_static(case, code, f"{work}/run.ink")
        check_samples(case, code, f"{work}/run.ink")
        check_report(case, code)
        check_refused(case, code)
        check_capture(case, code, program)


main(*sys.argv[1:4])
