# SPDX-License-Identifier: MIT
# What a writer process that stands still costs the recorded program: stopped_writer.py BUILD [RUNS]. One program of 400
# launches, whose rings and the memory of the recording are full long before it ends: alone, recorded, and recorded with its
# writer stopped (SIGSTOP) until the program has ended, from the first chunk in the file, or from the program's start. Prints
# the seconds that passed, of each run.
import os, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/processes"))
from family import descendants, executable, is_running, wait_until

build = os.path.realpath(sys.argv[1])
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
ink, program = build + "/cli/inkmark", build + "/tests/arming/apart"
os.chdir(tempfile.mkdtemp())


def alone():
    env = dict(os.environ, LD_LIBRARY_PATH=build + "/device/sim")
    began = time.monotonic()
    subprocess.run([program, "fills"], env=env, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def recorded(stopped):
    command = [ink, "record", "--device", "sim", "--tracks", "64", "--drain-ms", "20", "-o", "run.ink", "--",
               program, "fills"]
    if os.path.exists("run.ink"):
        os.remove("run.ink")
    record = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    below = lambda of: next((pid for pid in descendants(record.pid) if pid != record.pid and executable(pid) == of), None)
    ours = wait_until(lambda: below(program), "the program")
    began = time.monotonic()
    writer = wait_until(lambda: below(ink), "its writer")
    while stopped == "full" and not (os.path.exists("run.ink") and os.path.getsize("run.ink") >= 1 << 16):
        time.sleep(0.001)
    if stopped:
        os.kill(writer, signal.SIGSTOP)
    while is_running(ours):
        time.sleep(0.001)
    took = time.monotonic() - began
    os.kill(writer, signal.SIGCONT)
    record.wait()
    return took


print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, the simulated device; seconds from start to end of the program")
rows = [(alone(), recorded(None), recorded("full"), recorded("start")) for _ in range(runs)]
for name, column in zip(("alone", "recorded", "the writer stopped once it wrote", "the writer stopped at the start"), zip(*rows)):
    print(f"{name}: {', '.join(f'{took:.2f}' for took in column)}; at most {max(column) - min(r[0] for r in rows):+.2f} s")
