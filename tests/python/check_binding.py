# SPDX-License-Identifier: MIT
"""The Python binding: pip installs it from its folder without a network, its structures are those of the
headers, and its arrays hold what `inkmark report --format json` prints, of made-up captures and of one that
an example records on the simulated device.

check_binding.py PYTHON_FOLDER LIBRARY INKMARK MAKE_CAPTURES LAYOUT [EXAMPLE]"""
import ctypes
import gc
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
    import setuptools  # noqa: F401, pip builds the wheel with it
except ImportError as missing:
    print(f"SKIPPED: no {missing.name} (tests/run.sh installs it)")
    raise SystemExit(77)

folder, library, inkmark_command, make_captures, layout, *example = map(os.path.abspath, sys.argv[1:])
work = tempfile.mkdtemp()


def install():
    shutil.copytree(folder, "source", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
                    "--target", "installed", "--disable-pip-version-check", "./source"], check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    sys.path.insert(0, os.path.abspath("installed"))
    os.environ["INKMARK_SHARED_LIBRARY"] = library


def check_layout(inkmark):
    lines = [line.split() for line in subprocess.run([layout], check=True, capture_output=True, text=True).stdout.splitlines()]
    c = inkmark._library
    dtypes = {"ink_table_row": inkmark.row_dtype, "ink_kernel_total": inkmark.total_dtype, "ink_launch": inkmark.launch_dtype,
              "ink_crossing_total": inkmark.crossing_dtype, "ink_activity": inkmark.activity_dtype,
              "ink_host_range": inkmark.host_range_dtype}
    structures = {"ink_error": c.ErrorOut, "ink_section_table": c.SectionTable, "ink_section": c.Section,
                  "ink_kernel": c.Kernel, "ink_device_info": c.Device, "ink_capture_facts": c.Facts,
                  "ink_table_options": c.TableOptions, "ink_output_options": c.OutputOptions,
                  "ink_output": c.Output, "ink_place": c.Place, "ink_open_track": c.OpenTrack,
                  "ink_session_options": c.SessionOptions, "ink_activity_clock": c.ActivityClock}
    mine = {}
    for name, dtype in dtypes.items():
        mine[name, "."] = dtype.itemsize
        mine.update(((name, field), dtype.fields[field][1]) for field in dtype.names)
    for name, kind in structures.items():
        mine[name, "."] = ctypes.sizeof(kind)
        mine.update(((name, field), getattr(kind, field).offset) for field, _ in kind._fields_)
    mine.update((("ink_row_type", name), number) for name, number in vars(c).items() if name.startswith("ROW_"))
    theirs = {(name, member): int(at) for name, member, at in lines}
    assert mine == theirs, {k: (mine.get(k), theirs.get(k)) for k in mine.keys() | theirs.keys() if mine.get(k) != theirs.get(k)}
    return len(theirs)


def check_older_binding(inkmark, path):
    """A package whose rows have fewer members than the library's still reads each row where it is."""
    names = [n for n in sorted(inkmark.row_dtype.names, key=lambda n: inkmark.row_dtype.fields[n][1])][:12]
    fields = inkmark.row_dtype.fields
    older = numpy.dtype({"names": names, "formats": [fields[n][0] for n in names], "offsets": [fields[n][1] for n in names],
                         "itemsize": fields[names[-1]][1] + 8})
    newest = inkmark._capture.row_dtype
    with inkmark.Capture(path) as capture:
        now = {n: capture.table()[n].tolist() for n in names}
        inkmark._capture.row_dtype = older
        try:
            then = capture.table()
            assert len(then) > 1 and then.itemsize < newest.itemsize
            assert {n: then[n].tolist() for n in names} == now
            inkmark._capture.row_dtype = numpy.dtype({"names": names, "formats": [fields[n][0] for n in names],
                                                      "offsets": [fields[n][1] for n in names], "itemsize": 5000})
            try:
                capture.table()
                raise AssertionError("rows that are larger than the library's were read")
            except inkmark.Error as error:
                assert "is older than this package" in str(error), error
        finally:
            inkmark._capture.row_dtype = newest


def report_object(path, by, *more):
    out = subprocess.run([inkmark_command, "report", "--format", "json", "--all", "--by", by, *more, path], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["captures"][0]


def report(path, by, *more):
    return report_object(path, by, *more)["kernels"]


def check_open(inkmark, path, count):
    """Where tracks stood that never closed, as the report's JSON has it."""
    told = report_object(path, "section")["open"]
    with inkmark.open(path) as capture:
        mine = capture.open_tracks()
    assert len(mine) == len(told) == count, (mine, told)
    for a, b in zip(mine, told):
        for field in ("track", "launch", "known", "inside", "after", "newest", "cut"):
            assert a[field] == b[field], (field, a, b)
        assert a["iteration"] == b.get("row") and a["seen_ns"] == int(b["seen_ns"]), (a, b)
        assert (a["inside_ns"] is None) == ("inside_ns" not in b), (a, b)
        assert a["inside_ns"] is None or abs(a["inside_ns"] - b["inside_ns"]) <= 1, (a, b)
    return mine


def near(a, b):
    return (b is None and not math.isfinite(a)) or (b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9))


def check_table(inkmark, capture, by, *more):
    raw = "--raw" in more
    rows, checked = capture.table(by=by, raw=raw), 0
    assert rows.dtype == inkmark.row_dtype and not rows.flags.writeable and rows.ndim == 1
    for part, (kernel, total) in enumerate(zip(report(capture.path, by, *more), capture.totals(raw=raw), strict=True)):
        index = int(total["kernel"])
        assert capture.kernels[index]["name"] == kernel["kernel"]
        for field in inkmark.total_dtype.names:
            if field in kernel and field not in ("kernel", "instance"):
                assert near(total[field], kernel[field]), (field, total[field], kernel[field])
        assert capture.instance(total) == kernel["instance"]
        mine = rows[rows["part"] == part]
        assert len(mine) == len(kernel["rows"]), (by, len(mine), len(kernel["rows"]))
        for row, told in zip(mine, kernel["rows"]):
            assert capture.section_name(row["section"]) == told["section"]
            for field in ("count", "cut", "nested", "total_cycles", "min_cycles", "median_cycles", "p99_cycles", "max_cycles",
                          "total_ns", "min_ns", "max_ns", "bound_ns", "marking_cycles", "share", "imbalance", "depth",
                          "self_cycles", "self_ns", "p1_cycles", "passes", "tracks"):
                if field in told:
                    assert near(row[field], told[field]), (by, told["section"], field, row[field], told[field])
                    checked += 1
            if by != "section":
                group = {inkmark.ROW_NONE: None, inkmark.ROW_UNKNOWN: "unknown"}.get(int(row["group"]), int(row["group"]))
                assert group == told["group"], (by, group, told["group"])
            inside = [None if s == inkmark.UNMARKED else capture.section_name(s) for s in row["inside"][:row["inside_count"]]]
            assert inside == told.get("inside", inside), told
    return checked


def check_matrix(inkmark, capture):
    checked = 0
    for kernel in capture.kernels:
        values, groups, names = capture.matrix(kernel["name"])
        assert values.shape == (len(groups), len(names)) and values.dtype == numpy.uint64
        rows = [r for k in report(capture.path, "iteration") if k["kernel"] == kernel["name"] for r in k["rows"]]
        assert values.sum() == sum(r["total_cycles"] for r in rows)
        for r in rows:
            group = {None: inkmark.ROW_NONE, "unknown": inkmark.ROW_UNKNOWN}.get(r["group"], r["group"])
            assert values[list(groups).index(group), names.index(r["section"])] == r["total_cycles"]
            checked += 1
        shares = capture.matrix(kernel["name"], by="block", value="share")[0]
        assert shares.dtype == numpy.float64
    return checked


def check_devices(inkmark):
    """A kernel on two devices: what adds up is added, the rest is refused."""
    tool = os.path.join(os.path.dirname(layout), "../output/output_tool")
    subprocess.run([tool, "make", "mixed", "mixed.ink"], check=True)
    with inkmark.open("mixed.ink") as capture:
        name = next(k["name"] for i, k in enumerate(capture.kernels) if (capture.totals()["kernel"] == i).sum() == 2)
        rows = capture.table(by="block", kernel=f"^{name}$")
        assert len(set(rows["part"])) == 2
        assert capture.matrix(name, by="block")[0].sum() == rows["total_cycles"].sum()
        refused(lambda: capture.matrix(name, value="median_cycles"), "does not add up", KeyError)


def check_lifetime(inkmark):
    """Rows stay as they are when everything else is gone, and memory does not grow."""
    capture = inkmark.open("solver.ink")
    rows = capture.table(by="block")
    launches, before = capture.launches, rows.copy()
    capture.close()
    del capture
    for _ in range(300):
        with inkmark.open("wide.ink") as other:
            other.table(by="iteration")
    gc.collect()
    assert (rows == before).all() and launches["track_count"].sum() == 4


def refused(call, words, kind):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")


def check_refusals(inkmark):
    capture = inkmark.open("nested.ink")
    with open("text.ink", "w") as file:
        file.write("no capture, only some text")
    refused(lambda: inkmark.open("none.such"), "no such file", inkmark.Error)
    refused(lambda: inkmark.open("none.such\0"), "embedded null byte", ValueError)
    refused(lambda: capture.export("a.csv\0.npy"), "embedded null byte", ValueError)
    refused(lambda: inkmark.open("text.ink"), "is not an inkmark capture", inkmark.Error)
    refused(lambda: capture.table(kernel="a("), "'a('", inkmark.Error)
    refused(lambda: capture.table(launch=9), "no launch 9", inkmark.Error)
    refused(lambda: capture.table(by="lane"), "by is one of", ValueError)
    refused(lambda: capture.table(kernel="Nobody"), "'Work'", KeyError)
    refused(lambda: capture.totals(kernel="Nobody"), "'Work'", KeyError)
    refused(lambda: capture.export("x.csv", marking="off"), "marking is one of", ValueError)
    refused(lambda: capture.matrix("Nobody"), "'Work'", KeyError)
    refused(lambda: capture.export("x.unknown"), "does not tell the format", inkmark.Error)
    refused(lambda: capture.export("no/such/folder.csv"), "no such file", inkmark.Error)
    capture.close()
    refused(capture.table, "is closed", inkmark.Error)
    os.environ["INKMARK_SHARED_LIBRARY"] = "/no/such/libinkmark.so"
    subprocess.run([sys.executable, "-c", "import inkmark\ntry: inkmark.open('x')\nexcept inkmark.Error as e: "
                    "assert 'INKMARK_SHARED_LIBRARY' in str(e), e\nelse: raise SystemExit('loaded')"], check=True,
                   env={**os.environ, "PYTHONPATH": os.path.abspath("installed")})


def main():
    install()
    import inkmark
    assert inkmark.__file__.startswith(os.path.abspath("installed")), inkmark.__file__
    print("members:", check_layout(inkmark))
    subprocess.run([make_captures], check=True)
    check_older_binding(inkmark, "solver.ink")
    captures = ["solver.ink", "hostile.ink", "costed.ink", "nested.ink", "recursive.ink", "dropped.ink", "wide.ink", "killed.ink", "none.ink", "activity.ink"]
    if example:
        subprocess.run([inkmark_command, "record", "--device", "sim", "-o", "example.ink", "--", example[0]], check=True,
                       capture_output=True)
        captures.append("example.ink")
    checked = 0
    for path in captures:
        with inkmark.open(path) as capture:
            for by in ("section", "iteration", "block", "sm", "launch", "warp"):
                checked += check_table(inkmark, capture, by) + check_table(inkmark, capture, by, "--raw")
            checked += check_matrix(inkmark, capture)
            for marking, asked in ((None, []), ("out", ["--marking", "out"])):
                capture.export("out.csv", marking=marking)
                subprocess.run([inkmark_command, "export", *asked, path, "-o", "theirs.csv"], check=True, capture_output=True)
                with open("out.csv") as mine, open("theirs.csv") as theirs:
                    assert mine.read() == theirs.read(), (path, marking)
    with inkmark.open("killed.ink") as capture:
        assert not capture.facts["complete"] and "the end is missing" in capture.facts["note"]
    hung = check_open(inkmark, "hung.ink", 5)
    assert hung[0]["inside"] == "Wait" and hung[0]["iteration"] == 7 and hung[4]["cut"], hung
    check_open(inkmark, "many_hung.ink", 40)
    check_open(inkmark, "solver.ink", 0)
    print("values:", checked)
    assert checked > 1000
    check_devices(inkmark)
    check_lifetime(inkmark)
    check_refusals(inkmark)


os.chdir(work)
try:
    main()
finally:
    os.chdir("/")
    shutil.rmtree(work)
