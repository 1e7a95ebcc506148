# SPDX-License-Identifier: MIT
"""Names, command lines and arguments that would steer a terminal, fake a row, be a formula or are no UTF-8,
through every command and form. Text and CSV: only what can be shown, one line a row; CSV: what the names were
can be told by the rule of docs/outputs.md; JSON: UTF-8 that a strict reader takes, with U+FFFD for the rest.

check_hostile.py INKMARK MAKE_CAPTURES"""
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata

inkmark, make_captures = (os.path.abspath(p) for p in sys.argv[1:3])
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
BEL, ROW = b"\x1b]0;title\x07", b"\r\nfake   100.0 %"
SECTIONS = [b"K" + BEL + ROW, b"=2+3*cmd|' /C calc'!A0", b"+1+1", b"-2+3", b"@SUM(A1)", b"caf\xe9", b"\xc2\x9b31m",
            b"\xe2\x80\xaeabc\xe2\x80\xac", b"\x7f\b", b"'quoted'", b"-17", b"back\\slash\\x1b", b'say "hi"',
            b"\x9b1m\xe2\x82", b"Never\x1b[2J"]
tried = 0


def hidden(c):
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"


def run(*arguments, **more):
    global tried
    tried += 1
    return subprocess.run([inkmark, *arguments], capture_output=True, **more)


def shown(bytes_, what):
    """The text, which must be fit for a terminal."""
    text = bytes_.decode("utf-8") # strict
    bad = sorted({f"U+{ord(c):04X}" for c in text if hidden(c)})
    assert not bad, f"{what}: {bad} in {bytes_[:2000]!r}"
    for line in text.split("\n"):
        assert not line.startswith("fake"), f"{what}: a name made a line of its own: {line}"
    return text


def undo(cell):
    """The bytes that a cell of CSV stands for: docs/outputs.md."""
    if cell.startswith("'"):
        cell = cell[1:]
    out = bytearray()
    for plain, escape in re.findall(r"([^\\]+)|\\(x..|u.{4}|U.{8}|.)", cell):
        if plain:
            out += plain.encode()
        elif escape[0] == "x":
            out.append(int(escape[1:], 16))
        elif escape[0] in "uU":
            out += chr(int(escape[1:], 16)).encode()
        else:
            out += ESCAPES[escape].encode()
    return bytes(out)


def fine_csv(bytes_, what):
    text = shown(bytes_, what)
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == text.count("\n"), f"{what}: a row of several lines"
    number = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$")
    for row in rows:
        assert len(row) == len(rows[0]), f"{what}: {row}"
        for cell in row:
            assert not cell or cell[0] not in "=+-@\t\r" or number.match(cell), f"{what}: a formula: {cell!r}"
    return rows


def strict_json(bytes_, what):
    return json.loads(bytes_.decode("utf-8"), parse_constant=lambda c: sys.exit(f"{what}: {c}"))


def every_string(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from every_string(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from every_string(item)


def has_names(value, what, names=SECTIONS[:13]):
    strings = set(every_string(value))
    for name in names:
        assert name.decode("utf-8", "replace") in strings, f"{what}: no {name!r} in {sorted(strings)[:60]}"


def the_reports():
    for by in ("section", "block", "sm", "iteration"):
        for more in ([], ["--all"], ["--raw"]):
            done = run("report", "--by", by, *more, "hostile.ink")
            assert done.returncode == 0, done
            shown(done.stdout, f"report --by {by}")
            shown(done.stderr, f"report --by {by}")
        rows = fine_csv(run("report", "--by", by, "-f", "csv", "hostile.ink").stdout, f"report csv --by {by}")
        at = rows[0].index("section")
        got = {undo(row[at]) for row in rows[1:]}
        for name in SECTIONS[1:13]:
            assert name in got, (by, name, got)
        assert {undo(row[rows[0].index("kernel")]) for row in rows[1:]} == {SECTIONS[0]}
        has_names(strict_json(run("report", "--by", by, "-f", "json", "hostile.ink").stdout, "report json"), by)
    for form in ("text", "csv"):
        shown(run("report", "--activity", "-f", form, "activity.ink").stdout, "activity")
    colored = run("report", "--color", "always", "hostile.ink").stdout
    shown(re.sub(rb"\x1b\[[0-9]*m", b"", colored), "coloured report")
    assert set(re.findall(rb"\x1b\[[0-9]*m", colored)) <= {b"\x1b[%sm" % n for n in (b"0", b"1", b"2", b"33", b"36")}


def the_info():
    for more in ([], ["--all"]):
        shown(run("top", "-n", "1", "hostile.ink").stdout, "top")
        done = run("info", *more, "hostile.ink")
        text = shown(done.stdout, "info")
        shown(done.stderr, "info")
        assert "caf\\xe9" in text and "pl\\x1b[31m\\nX" in text, text
    rows = fine_csv(run("info", "-f", "csv", "hostile.ink").stdout, "info csv")
    values = {undo(row[4]) for row in rows[1:]}
    for value in (b"./x 'pl\x1b[31m\nX' caf\xe9", b"=host\x1b[2J\r", b"@value\t\xc2\x85", b"-4711", b"GPU\x1b[41m\n\xff"):
        assert value in values, (value, values)
    assert any(row[4] == "-4711" for row in rows), "a negative number is a number"
    has_names(strict_json(run("info", "-f", "json", "hostile.ink").stdout, "info json"), "info")


def the_exports():
    done = run("export", "-o", "-", "--format", "csv", "hostile.ink")
    rows = fine_csv(done.stdout, "export csv")
    assert {undo(r[rows[0].index("section")]) for r in rows[1:]} >= set(SECTIONS[:13])
    for name in ("x.json", "x.tables.json", "x.json.gz"):
        assert run("export", "-o", name, "hostile.ink").returncode == 0
        data = open(name, "rb").read()
        has_names(strict_json(gzip.decompress(data) if name.endswith("gz") else data, name), name)
    assert run("export", "-o", "x.html", "hostile.ink").returncode == 0
    open("x.html", encoding="utf-8").read()
    assert run("export", "-o", "x.npy", "hostile.ink").returncode == 0
    has_names(strict_json(open("x.axes.json", "rb").read(), "axes"), "axes", SECTIONS[1:13])
    assert run("export", "-o", "x.pftrace", "hostile.ink").returncode == 0
    trace = open("x.pftrace", "rb").read()
    assert "caf\ufffd".encode() in trace and b"caf\xe9" not in trace


def the_merges():
    name = SECTIONS[0].decode("utf-8", "replace")
    kernel = {"ph": "X", "cat": "kernel", "ts": 1700000000005001.0, "dur": 2000, "pid": 0, "tid": 7,
              "args": {"device": 0, "stream": 7, "correlation": 1, "grid": [2, 1, 1], "block": [64, 1, 1]}}
    events = [dict(kernel, name="\x1b[1mother\n"), dict(kernel, name=name, ts=1700000000009001.0)]
    text = json.dumps({"traceEvents": events, "baseTimeNanoseconds": 0}).encode()
    text = text.replace(b"other", b"caf\xe9 \xed\xa0\x80 \xf5")
    open("t.json", "wb").write(text)
    for out in ("m.json", "m.pftrace", "m.zip", "m.json.gz"):
        done = run("export", "--with", "t.json", "--align", "order", "-o", out, "hostile.ink")
        shown(done.stderr, out)
        if done.returncode:
            done = run("export", "--with", "t.json", "-o", out, "hostile.ink")
            shown(done.stderr, out)
        assert done.returncode == 0, (out, done)
        if ".json" in out:
            data = open(out, "rb").read()
            merged = strict_json(gzip.decompress(data) if out.endswith("gz") else data, out)
            assert any("caf\ufffd" in s for s in every_string(merged)), "the other file's names"
        if out == "m.pftrace":
            data = open(out, "rb").read()
            assert b"caf\xe9" not in data and "caf\ufffd".encode() in data
        if out == "m.zip":
            import zipfile
            with zipfile.ZipFile(out) as z:
                assert z.testzip() is None
                for member in z.namelist():
                    if member.endswith(".json"):
                        strict_json(z.read(member), member)
    shown(run("export", "--with", "t.json", "-o", "k.json", "--kernel", "no\x1b[1m", "hostile.ink").stderr, "no kernel")


def the_recovery():
    data = open("hostile.ink", "rb").read()
    evil = b"\x1b[31mr\n\xff.ink"
    for end in (len(data), len(data) - 100, len(data) // 2, 300, 40):
        open("cut.ink", "wb").write(data[:end])
        for path in (b"\x1b[1mcut\n.ink", b"cut.ink"):
            if path != b"cut.ink":
                os.link("cut.ink", path)
            done = run("recover", "-o", evil, path)
            shown(done.stdout, "recover")
            shown(done.stderr, "recover")
            if not done.returncode:
                shown(run("info", evil).stdout, "info of what was recovered")
                reports = [strict_json(run("report", "-f", "json", one).stdout, "report") for one in (path, evil)]
                strings = [set(every_string(report)) for report in reports]
                assert all(name.decode("utf-8", "replace") in strings[1] for name in SECTIONS
                           if name.decode("utf-8", "replace") in strings[0]), (end, strings)
                os.remove(evil)
            if path != b"cut.ink":
                os.remove(path)
        if end == len(data): # of less the table of names may be gone
            assert not done.returncode and SECTIONS[1].decode() in strings[1], (done, strings)


def the_comparisons():
    shown(run("diff", "--all", "--force", "hostile.ink", "hostile.ink").stdout, "diff")
    json_ = run("diff", "--all", "--force", "-f", "json", "hostile.ink", "hostile.ink").stdout
    has_names(strict_json(json_, "diff json"), "diff json")
    table = shown(run("diff", "--all", "--force", "-f", "markdown", "hostile.ink", "hostile.ink").stdout, "markdown")
    rows = table[:table.index("\n\n")].split("\n")
    assert len(rows) > 13, table
    for row in rows:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 8, f"a name ends a cell: {row}"
    page = shown(run("diff", "--all", "--force", "-f", "html", "hostile.ink", "hostile.ink").stdout, "diff html")
    assert "&#34;hi&#34;" in page and '"hi"' not in page


def the_messages():
    evil = b"\x1b[31mx\n\xc2\x9b\xff\xe2\x80\xae"
    for arguments in ([evil], ["report", evil], ["info", evil], ["export", "-o", evil, "none.ink"],
                      ["export", "-o", b"no/" + evil + b".json", "hostile.ink"], ["report", b"--" + evil, "x"],
                      ["report", b"--by", evil, "x"], ["report", b"--by=" + evil, "x"], ["report", "--kernel", evil, "hostile.ink"],
                      ["report", "--kernel", b"(" + evil, "hostile.ink"], ["report", "--launch", evil, "hostile.ink"],
                      ["report", b"-\x1b", "x"], ["open", evil], ["open", "--ui", evil, "x.json"], ["verify", evil],
                      ["record", "--", evil], ["record", "-o", b"%\x1b", "--", "true"], ["record", "-b", evil, "--", "true"],
                      ["record", "-o", evil + b"/x.ink", "--", "true"], ["help", evil], ["help", "--man", evil],
                      ["cost", "--", evil], ["selftest", evil], ["instrument", evil], ["nvcc", b"-c", evil],
                      ["report", "-o", b"no/" + evil, "hostile.ink"], ["export", "--with", evil, "-o", "y.json", "hostile.ink"]):
        done = run(*arguments)
        assert done.returncode != 0, arguments
        assert done.stderr, arguments
        if arguments[0] != "nvcc": # what nvcc itself says is nvcc's
            shown(done.stderr, arguments)
    os.link("hostile.ink", evil)
    for arguments in (["report", evil], ["info", evil], ["report", "-f", "csv", evil], ["info", "-f", "csv", evil],
                      ["report", "--launch", "99", evil], ["export", "-o", evil, evil]):
        done = run(*arguments)
        shown(done.stdout, arguments)
        shown(done.stderr, arguments)
    for form in ("report", "info"):
        strict_json(run(form, "-f", "json", evil).stdout, form)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([make_captures], check=True)
    os.environ["LC_ALL"] = "C.UTF-8"
    the_reports()
    the_info()
    the_exports()
    the_merges()
    the_comparisons()
    the_recovery()
    the_messages()
    print(f"{tried} commands")
