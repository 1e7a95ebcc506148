# SPDX-License-Identifier: MIT
"""Every number that the command prints of fixed captures, against exact.txt: a change of any of them is seen.

check_exact.py INKMARK MADE_UP MADE_UP_PATH MADE_UP_HOSTILE MAKE_CAPTURES. exact.txt has a line for each capture and command, and
in it a digest for each group of fields, over all their values in their order (nine digits of a fraction); groups that are those
of the capture's first line are left out. A group that differs is printed with its values. UPDATE_GOLDEN=1 writes exact.txt
instead: whoever does so says why the values are others.
The other tests of this folder check that the values are right; this one, that none of them moves unseen."""
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile

inkmark, made_up, made_up_path, made_up_hostile, make_captures = (os.path.abspath(path) for path in sys.argv[1:6])
EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exact.txt")

MADE = {  # what is made by a program, and its arguments after the name of the file
    "even": (made_up, "1"),
    "late": (made_up, "2", "late=3:4", "iterations=5", "held=1", "mark=9000", "track=40"),
    "only": (made_up, "3", "late=1:10", "only=7", "sm=2:1.5"),
    "tail": (made_up, "4", "slots=4", "blocks=13", "launches=3", "stagger=100", "reversed=1"),
    "warps": (made_up, "5", "warps=1", "value=3.5", "iterations=9", "outlier=4:8"),
    "trend": (made_up, "6", "trend=0.5", "drift=1.01", "rate=1.41", "instance=2", "device=3", "simulated=0"),
    "slower": (made_up, "7", "slower=2:3", "scatter=0.3", "launches=40", "blocks=33"),
    "pipeline": (made_up_path, "8", "pipeline", "warps=4", "tiles=12"),
    "pipelines": (made_up_path, "9", "pipeline", "warps=3", "tiles=9", "blocks=5", "slots=2", "scatter=300"),
    "barrier": (made_up_path, "10", "barrier", "warps=5", "tiles=7", "scatter=400", "marked=1"),
    "uneven": (made_up_path, "11", "barrier", "warps=3", "tiles=8", "uneven=700", "marked=2"),
    "apart": (made_up_path, "12", "pipeline", "blocks=3", "slots=1", "lost=1", "tiles=6", "marked=1"),
    "values": (made_up, "13", "value=40", "iterations=6", "scatter=0.01", "sm=1:2", "warps=1", "blocks=6"),
    "between": (made_up, "14", "iterations=3", "slots=2", "blocks=9", "launches=5", "stagger=900", "late=8:6", "held=1"),
    "moved": (made_up, "20", "moved=3", "rate=1.5", "launches=6", "blocks=9", "slots=4", "simulated=0", "mark=7000"),
    "moved_late": (made_up, "21", "moved=1", "late=1:5", "iterations=3", "launches=12", "scatter=0.2", "warps=1"),
    "still": (made_up, "15", "scatter=0", "iterations=4", "launches=2", "blocks=5"),
    "kernels": (made_up, "22", "kernels=3", "launches=24", "blocks=9", "slots=4", "iterations=5", "late=3:4", "outlier=2:6", "drift=2"),
    "handed": (made_up_path, "16", "pipeline", "warps=6", "tiles=15", "stages=2", "produce=300", "consume=2000", "scatter=900"),
    "marked": (made_up_path, "17", "pipeline", "warps=2", "tiles=20", "marked=2", "scatter=500"),
    "marks": (made_up_path, "18", "barrier", "warps=4", "tiles=10", "marked=3", "scatter=200"),
    "slots": (made_up_path, "19", "barrier", "warps=2", "tiles=5", "blocks=7", "slots=3", "scatter=600", "lost=2"),
    "crossings": (made_up_hostile, "crossings", "12"),
    "waits": (made_up_hostile, "waits", "9"),
}
REPORTS = [["report"], *(["report", "--by", by] for by in ("iteration", "block", "sm", "launch", "warp", "device", "instance", "role")),
           ["report", "--path", "--all", "--waits", "LineSearch|UpdateConstraint"], ["report", "--path", "--waits", "^(Line|Step)"],
           ["report", "--path", "--launch", "0", "--all"], ["report", "--waits", "LineSearch|StepLast"], ["report", "--variance"],
           ["report", "--variance", "--launch", "1"], ["report", "--kept", "--by", "block"],
           ["report", "--by", "launch", "--cell", "median"], ["report", "--by", "iteration", "--cell", "max"], ["info", "--all"]]

NOT_NUMBERS = {"inkmark", "file", "version", "schema_version", "format_version", "command"}  # of the program that wrote


def leaves(value, at, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            leaves(inner, f"{at}.{key}" if at else key, found)
    elif isinstance(value, list):
        for inner in value:
            leaves(inner, at, found)
        found.setdefault(f"{at}#", []).append(len(value))
    else:
        found.setdefault(at, []).append(f"{value:.9g}" if isinstance(value, float) else value)


def fields_of(capture, command):
    done = subprocess.run([inkmark, *command, "--format", "csv" if command[0] == "export" else "json",
                           *(["-q", "-o", "-"] if command[0] == "export" else []), capture], capture_output=True, text=True)
    found = {"exit": [done.returncode]}
    if command[0] == "export":
        for row in csv.DictReader(io.StringIO(done.stdout)):
            for key, value in row.items():
                found.setdefault(key, []).append(value)
    elif done.stdout:
        leaves(json.loads(done.stdout), "", found)
    groups = {}
    for key, values in found.items():
        if key.rpartition(".")[2] not in NOT_NUMBERS:
            groups.setdefault(key.removeprefix("captures").strip(".").rpartition(".")[0] or "all", {})[key] = values
    return groups


def digest(values):
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:6]


def main():
    update = "UPDATE_GOLDEN" in os.environ
    expected = {}
    for line in open(EXPECTED, encoding="utf-8") if not update else ():
        name, _, groups = line.rstrip("\n").partition(": ")
        expected[name] = dict(group.rsplit("=", 1) for group in groups.split())
    lines, count, wrong = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (program, *arguments) in MADE.items():
            subprocess.run([program, f"{name}.ink", *arguments], check=True, capture_output=True)
        subprocess.run([make_captures], check=True, capture_output=True)
        for capture in sorted(name for name in os.listdir() if name.endswith(".ink")):
            first = {}
            for command in [*REPORTS, ["export"]]:
                name = f"{capture} {' '.join(command)}"
                groups = fields_of(capture, command)
                count += sum(map(len, groups.values()))
                digests = {key: digest(fields) for key, fields in groups.items()}
                kept = {key: value for key, value in digests.items() if first.get(key) != value}
                first = first or digests
                lines.append(f"{name}: {' '.join(f'{key}={value}' for key, value in kept.items())}\n")
                for key in sorted(kept.keys() | expected.get(name, {}).keys()):
                    if not update and kept.get(key) != expected.get(name, {}).get(key):
                        wrong += 1
                        if wrong <= 20:
                            print(f"{name}: {key} is not what it was: {str(groups.get(key))[:1000]}")
                expected.pop(name, None)
    if update:
        with open(EXPECTED, "w", encoding="utf-8") as file:
            file.writelines(lines)
    wrong += len(expected)
    if expected:
        print("not there any more:", *expected)
    print(f"{count} fields of {len(lines)} outputs, {wrong} groups differ")
    sys.exit(wrong != 0 or not lines)


main()
