# SPDX-License-Identifier: MIT
"""`inkmark diff` of recordings of one program whose launches scatter by 3 %: of equal ones it says nothing, of which one
section is 5 % slower it names that.

check_recorded_diff.py INKMARK CASES [PAIRS]: so many equal pairs (5), and a fifth of them slower ones"""
import json
import os
import subprocess
import sys
import tempfile

inkmark, cases = (os.path.abspath(path) for path in sys.argv[1:3])
PAIRS = int(sys.argv[3]) if len(sys.argv) > 3 else 5


def record(path, seed, factor=1):
    subprocess.run([inkmark, "record", "--device", "sim", "-o", path, "--", cases, "shaky", str(seed), str(factor)],
                   check=True, capture_output=True)


def diff():
    done = subprocess.run([inkmark, "diff", "-f", "json", "a.ink", "b.ink"], capture_output=True, text=True)
    assert done.returncode in (0, 3), done
    found = json.loads(done.stdout)
    assert found["tested"] == 5 and {r["section"] for r in found["rows"]} == {None, "Prep", "Work", "Epilogue", "(unmarked)"}, found["rows"]
    assert all(r["base_samples"] == r["new_samples"] == 20 for r in found["rows"]), found["rows"]
    return found, done.returncode


def main():
    alarms = named = 0
    for pair in range(PAIRS):
        record("a.ink", 2 * pair)
        record("b.ink", 2 * pair + 1)
        found, code = diff()
        alarms += found["slower"] + found["faster"] > 0
        assert (code == 3) == (found["slower"] > 0), found
    allowed = max(1, PAIRS // 100)
    assert alarms <= allowed, f"{alarms} alarms in {PAIRS} equal pairs of recordings"
    slower = max(1, PAIRS // 5)
    for pair in range(slower):
        record("a.ink", 1000 + 2 * pair)
        record("b.ink", 1001 + 2 * pair, 1.05)
        found, code = diff()
        named += code == 3 and {r["section"]: r["verdict"] for r in found["rows"]}["Work"] == "slower"
    assert named * 100 >= 95 * slower or named >= slower - 1, f"{named} of {slower} are named"
    print(f"{alarms} alarms in {PAIRS} equal pairs of recordings, {named} of {slower} slower sections are named")


def other_device():
    """Recorded on the first device, then on the second: the only one of each side is the same one."""
    for path, device in (("a.ink", "0"), ("b.ink", "1")):
        subprocess.run([inkmark, "record", "--device", "sim", "--devices", device, "-o", path, "--", cases, "devices"],
                       check=True, capture_output=True, env={**os.environ, "INKMARK_SIM_DEVICES": "2"})
    done = subprocess.run([inkmark, "diff", "-f", "json", "a.ink", "b.ink"], capture_output=True, text=True)
    assert done.returncode in (0, 3), done
    work = {r["section"]: r for r in json.loads(done.stdout)["rows"]}["Work"]
    assert work["device"] == 0 and work["base_samples"] == work["new_samples"] == 2 and 1.8 < work["ratio"] < 2.2, work


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    other_device()
