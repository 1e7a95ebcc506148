# SPDX-License-Identifier: MIT
"""The numbers of a capture are the same wherever they are printed: report, tables as JSON, HTML, CSV, NPY and
the traces' arguments, with the marks' own cost in the times and with it taken out.
exports_agree.py INKMARK PROGRAM..."""
import collections
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from protobuf_fields import fields  # noqa: E402

inkmark, programs = sys.argv[1], sys.argv[2:]
failures = []
checks = 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)
        print("FAILED:", text)


def run(*arguments, **environment):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{arguments}: {done.returncode} {done.stderr}")
    return done.stdout


def sums():
    return collections.defaultdict(lambda: [0, 0, 0])  # (kernel, section): count, cycles, ns


def of_report(capture, raw):
    found, marking = sums(), 0
    page = json.loads(run("report", "--format", "json", *(["--raw"] if raw else []), capture))
    kernels = page["captures"][0]["kernels"]
    for k in kernels:
        for row in k["rows"]:
            marking += row["marking_cycles"]
            if row["section"] != "(unmarked)" and row["count"]:
                found[k["kernel"], row["section"]] = [row["count"], row["total_cycles"], row["total_ns"]]
    return found, marking, kernels


def of_summary(summary):
    found = sums()
    for k in summary["captures"][0]["kernels"]:
        for row in k["rows"]:
            if row["section"] != "(unmarked)" and row["count"]:
                found[k["kernel"], row["section"]] = [row["count"], row["total_cycles"], row["total_ns"]]
    return found


def of_csv(path):
    found, totals = sums(), collections.Counter()
    for row in csv.DictReader(open(path, newline="")):
        if row["kind"] == "kernel_end":
            totals[row["kernel"]] += int(row["duration_cycles"])
        elif row["kind"] == "sum":
            cell = found[row["kernel"], row["section"]]
            cell[0] += int(row["value"])
            cell[1] += int(row["total_cycles"])
            cell[2] = None  # a sum's row has no ns
        elif row["duration_cycles"]:
            cell = found[row["kernel"], row["section"]]
            for i, value in enumerate((1, int(row["duration_cycles"]), int(row["duration_ns"]))):
                cell[i] += value
    return found, totals


def npy(path):
    with open(path, "rb") as file:
        magic = file.read(10)
        head = file.read(struct.unpack("<H", magic[8:])[0]).decode()
        shape = tuple(int(n) for n in re.search(r"'shape': \(([^)]*)\)", head)[1].split(",") if n.strip())
        return shape, struct.unpack(f"<{shape[0] * shape[1] * shape[2]}q", file.read())


def of_npy(folder, marking):
    found = sums()
    for name in os.listdir(folder):
        if not name.endswith(".axes.json"):
            continue
        axes = json.load(open(os.path.join(folder, name)))
        check(axes["marking"] == marking, f"{name} says {axes['marking']}")
        for i, array in enumerate(("counts", "cycles", "ns")):
            shape, values = npy(os.path.join(folder, axes["arrays"][array]))
            for s, section in enumerate(axes["sections"]):
                found[axes["kernel"], section][i] += sum(values[s::shape[2]])
    return found


def of_chrome(path, net):
    found = sums()
    tracks = {}
    events = json.load(open(path))["traceEvents"]
    for e in events:
        if e.get("cat") == "kernel":
            tracks[e["args"]["launch"]] = e["name"]
    for e in events:
        if e.get("cat") != "section":
            continue
        a = e["args"]
        cell = found[e["name"]]
        check(("marking_cycles" in a) == net, "arguments of a slice")
        cell[0] += 1
        cell[1] += a["cycles"] - a.get("marking_cycles", 0)
        cell[2] += a["net_ns"] if net else round(e["dur"] * 1000 - .1)
    return found


def of_perfetto(path):
    """marking_cycles and net_ns of all slices; the names of fields are checked by what describes them."""
    cycles = marking = net = slices = 0
    data = open(path, "rb").read()
    for name in (b"marking_cycles", b"net_ns"):
        check(name in data, f"{name} is not described")
    for _, packet in fields(data):
        event = next((v for n, v in fields(packet) if n == 11), None)
        args = dict((n, v) for n, v in fields(event) if n >= 2036) if event is not None else {}
        if 2047 in args:
            slices += 1
            cycles, marking, net = cycles + args[2041], marking + args[2046], net + args[2047]
    return slices, cycles, marking, net


def same(got, want, what, ns_a_slice):
    check(set(got) == set(want), f"{what}: other sections, {set(got) ^ set(want)}")
    for key, (count, cycles, ns) in want.items():
        if key not in got:
            continue
        check(got[key][:2] == [count, cycles], f"{what}: {key} has {got[key]}, the report {want[key]}")
        if got[key][2] is not None:
            # In a slice in which the clock's rate changes, what marks cost is taken out at another rate: 2 of 138 ns were seen.
            check(abs(got[key][2] - ns) <= ns_a_slice * count + 0.01 + (0.02 * ns if ns_a_slice and "changing" in what else 0),
                  f"{what}: {key} has {got[key][2]} ns, the report {ns}")


def one(program, name, folder, **environment):
    capture = os.path.join(folder, name + ".ink")
    run("record", "--device", "sim", "-o", capture, "--", program, **environment)
    for marking in ("in", "out"):
        what = f"{name}, {marking}"
        report, taken, kernels = of_report(capture, marking == "in")
        check(len(report) > 3 and (taken > 0) == (marking == "out"), f"{what}: {taken} cycles taken out")

        def export(file, *more):
            path = os.path.join(folder, file)
            run("export", capture, "-o", path, *(more or ("--marking", marking)))
            return path

        tables = json.load(open(export("t.tables.json")))
        same(of_summary(tables), report, f"{what}: json", 0)
        check([(k["total_cycles"], k["marking_cycles"], k["marking"]) for k in tables["captures"][0]["kernels"]] ==
              [(k["total_cycles"], k["marking_cycles"], k["marking"]) for k in kernels], f"{what}: kernels")
        for more in ((), ("--kernel", ".")) if marking == "out" else ((),):  # out is what html usually is
            page = open(export("p.html", *more)).read()
            summary = json.loads(re.search(r'id="summary">(.*?)</script>', page, re.S)[1])
            same(of_summary(summary), report, f"{what}: html {more}", 0)
            rows = json.loads(re.search(r'id="iterations">(.*?)</script>', page, re.S)[1])
            by_row = collections.Counter()
            for k, section, _, _, cycles, _ in rows["rows"]:
                by_row[k, rows["names"][section]] += cycles
            report_rows = collections.Counter()
            listed = json.loads(run("report", "--by", "iteration", "--format", "json",
                                    *(["--raw"] if marking == "in" else []), capture))
            for i, k in enumerate(listed["captures"][0]["kernels"]):
                for row in k["rows"]:
                    if isinstance(row["group"], int):
                        report_rows[i, row["section"]] += row["total_cycles"]
            check(by_row == report_rows, f"{what}: html's iterations")
        got, totals = of_csv(export("t.csv"))
        same(got, report, f"{what}: csv", 1)
        check(totals == {k["kernel"]: k["total_cycles"] for k in kernels}, f"{what}: csv's kernels {totals}")
        where = os.path.join(folder, f"npy-{name}-{marking}")
        os.mkdir(where)
        export(os.path.join(where, "a.npy"))
        same(of_npy(where, marking), report, f"{what}: npy", 1)
        by_name = sums()
        passes = {key for key in got if got[key][2] is None}
        for key, cell in report.items():
            if key not in passes:  # a trace has no slices of sums
                for i in range(3):
                    by_name[key[1]][i] += cell[i]
        same(of_chrome(export("t.json"), marking == "out"), by_name, f"{what}: chrome", 1)
        trace = export("t.pftrace")
        if marking == "out":
            slices, cycles, paid, net = of_perfetto(trace)
            check(slices == sum(c[0] for c in by_name.values()) and
                  cycles - paid == sum(c[1] for c in by_name.values()) and
                  abs(net - sum(c[2] for c in by_name.values())) <= slices, f"{what}: perfetto {slices} {cycles} {paid}")
    text = run("report", capture)
    check(text.count("lies inside of other rows, so shares make") == 2 * (name == "sums"), f"{name}: where its sums lie\n{text}")
    # what is usual: as stamped in all but tables
    for file in ("u.csv", "u.tables.json", "u.json", "u.pftrace"):
        usual, asked = (os.path.join(folder, x) for x in (file, "asked-" + file))
        run("export", capture, "-o", usual)
        run("export", capture, "-o", asked, "--marking", "out" if "tables" in file else "in")
        check(open(usual, "rb").read() == open(asked, "rb").read(), f"{name}: what {file} usually is")


with tempfile.TemporaryDirectory() as folder:
    for program in programs:
        one(program, os.path.basename(program), folder)
    one(programs[0], "changing", folder, INKMARK_SIM_RATES="*@1500=1500000000,*@60000=1100000000")
print(f"{checks} checks, {len(failures)} failed")
sys.exit(1 if failures or not checks else 0)
