# SPDX-License-Identifier: MIT
# names.py SOURCE REPORT REPORT_JSON REPORT_CSV INFO_JSON EXPORTS...: every statement of the kernel stands in each
# of them as the source has it.
import csv, json, os, re, sys

source, report, report_json, report_csv, info_json, *exports = sys.argv[1:]
lines = open(source, encoding="utf-8").read().split("\n")
first = next(i for i, line in enumerate(lines) if "void names" in line) + 1
names = []
for number in range(first, lines.index("}", first)):
    shown = " ".join(lines[number].split()).encode().removesuffix(b";")[:43]
    shown = re.sub(rb"\t", b" ", shown).decode(errors="ignore").strip()
    names.append(f"{shown} (names.cu:{number + 1})")
assert len(names) == 8, names
failed = 0


def holds(what, found):
    global failed
    for name in names:
        if name not in found:
            print(f"FAILED: {what} lacks '{name}'")
            failed = 1


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def undone(cell):
    """As docs/outputs.md says how a cell of CSV is read back; these names hold nothing but backslashes to undo."""
    return re.sub(r"\\\\", lambda _: "\\", cell.removeprefix("'"))


def cells(path):
    return {undone(cell) for row in csv.reader(open(path, newline="", encoding="utf-8")) for cell in row}


text = open(report, encoding="utf-8").read()
holds("the report", {name for name in names if f"  {name}  " in text})
holds("report --format json", set(strings(json.load(open(report_json)))))
holds("report --format csv", cells(report_csv))
holds("info --format json", set(strings(json.load(open(info_json)))))
for path in exports:
    if path.endswith(".json"):
        holds(path, set(strings(json.load(open(path)))))
    elif path.endswith(".csv"):
        parts = [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]
        holds(path, set().union(*(cells(part) for part in parts)))
    elif path.endswith(".pftrace"):
        trace = open(path, "rb").read()
        holds(path, {name for name in names if name.encode() in trace})
    else:
        page = open(path, encoding="utf-8").read()
        blocks = re.findall(r"<script[^>]*type=\"?application/json\"?[^>]*>(.*?)</script>", page, re.S)
        data = [json.loads(block) for block in blocks]
        if not data:  # the data stands in the script itself
            data = [json.JSONDecoder().raw_decode(page, page.index(mark) + len(mark))[0]
                    for mark in ("const data = ",) if mark in page]
        holds(path, set(strings(data)))
sys.exit(failed)
