# SPDX-License-Identifier: MIT
# check.py BUILD BIN CASE: `inkmark time` of a program that takes another number of rounds in each run.
import json, os, statistics, subprocess, sys, tempfile

build, bin, case = sys.argv[1:]
inkmark, program = os.path.join(build, "cli", "inkmark"), os.path.join(bin, "repeats")
os.chdir(tempfile.mkdtemp())
os.mkdir("tmp")


def time(options, *arguments, code=0):
    if os.path.exists("at"):
        os.remove("at")
    done = subprocess.run([inkmark, "time", "--device", "sim", *options, "--", *arguments], capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": os.path.join(os.getcwd(), "tmp")})
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert not os.listdir("tmp") and not [name for name in os.listdir(".") if name.endswith(".ink")], os.listdir("tmp")
    return done.stdout if not code else done.stderr


def rows(options, *arguments):
    told = json.loads(time([*options, "-f", "json"], *arguments))
    return told, {row["section"]: row for row in told["rows"]}


def runs():
    with open("at") as file:
        return int(file.read())


if case == "even":
    told, found = rows(["-n", "5", "-w", "2"], program, "at", "50")
    assert runs() == 7 and told["repeats"] == 5 and told["warmup"] == 2 and told["simulated_clock"] and not told["clock_moved"]
    assert set(found) == {None, "Work", "Rest"} and all(row["count"] == 4 and not row["uneven"] for row in found.values())
    for row in found.values():
        assert len(row["repeat_cycles"]) == 5 and len(set(row["repeat_cycles"])) == 1 and row["cycles"]["spread"] == 0, row
    shown = time(["-n", "3"], program, "at", "50")
    assert "3 repeats behind 1 of warm-up" in shown and "simulated clock" in shown and "!" not in shown, shown
elif case == "spread":  # the first is warm-up, and left out
    told, found = rows(["-n", "5"], program, "at", "9999", "100", "200", "300", "400", "1000")
    work, rest = found["Work"], found["Rest"]
    times = work["repeat_cycles"]
    assert times == sorted(times) and len(set(times)) == 5 and max(times) < 9999 * 4, times
    for name, value in (("min", min(times)), ("max", max(times)), ("median", times[2]), ("mean", statistics.mean(times)),
                        ("spread", (times[3] - times[1]) / times[2])):
        assert abs(work["cycles"][name] - value) <= 1e-6 * value, (name, value, work)
    assert rest["cycles"]["spread"] == 0, rest
    shown = time(["-n", "5"], program, "at", "9999", "100", "200", "300", "400", "1000")
    line = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert "!" in line["Work"] and "!" not in line["Rest"] and "too far apart to give one number" in shown, shown
    shown = time(["-n", "2", "-w", "0", "--unit", "us"], program, "at", "100", "0")
    assert "section (us a slice)" in shown, shown
    told, found = rows(["-n", "2", "-w", "0"], program, "at", "100", "0")
    assert found["Work"]["repeat_cycles"][1] is None and found["Work"]["cycles"]["min"] > 0, found
elif case == "clock":
    with open("run.sh", "w") as file:
        file.write('INKMARK_SIM_CLOCK_HZ=$((1000000000 + $(cat at 2>/dev/null || echo 0) * 100000000)) exec "$@"\n')
    told, found = rows(["-n", "3", "-w", "0"], "/bin/sh", "run.sh", program, "at", "50000")
    assert told["clock_moved"] and told["clock_max_hz"] / told["clock_min_hz"] > 1.15, told
    assert found["Work"]["cycles"]["spread"] == 0 and found["Work"]["ns"]["spread"] > 0.1, found["Work"]
    assert "the clock moved: SMs ran at" in time(["-n", "3", "-w", "0"], "/bin/sh", "run.sh", program, "at", "50000")
elif case == "ends":
    assert "ended with exit code 7" in time(["-n", "3"], program, "at", "100", "-1", code=1) and runs() == 2
    assert "recorded no marks" in time(["-n", "2"], "/bin/true", code=1)
    assert "in a kernel that matches" in time(["-n", "2", "-k", "Nobody"], program, "at", "5", code=1)
    assert "--repeat must be 1 to" in time(["-n", "0"], program, "at", "5", code=2)
    assert "regular expression" in time(["-k", "a("], program, "at", "5", code=2)
    time(["-n", "1", "-o", "table.txt"], program, "at", "5")
    with open("table.txt") as file:
        assert "Work" in file.read()
else:
    sys.exit("no such case")
print("fine")
