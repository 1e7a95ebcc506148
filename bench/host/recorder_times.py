# SPDX-License-Identifier: MIT
# What a recording costs at its edges, on the simulated device: recorder_times.py BUILD NVCC [RUNS]
#   - a signal while a kernel hangs: seconds until the recorded program has ended (the last drain may take 1 s)
#   - 1,000 launches of 1,000 blocks: how many of the million tracks are kept with the default options, with more tracks, and
#     with a sample
# Prints each run's figure.
import json, os, signal, subprocess, sys, tempfile, time

build, nvcc = os.path.realpath(sys.argv[1]), sys.argv[2]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
here = os.path.dirname(os.path.abspath(__file__))
ink, ways, sim = build + "/cli/inkmark", build + "/tests/arming/ways_out", build + "/device/sim"
os.chdir(tempfile.mkdtemp())
print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, the simulated device")


def ending():
    """Seconds from a signal to the recorded program's end, whose kernel never ends and for which its exit waits."""
    with open("out", "w") as out:
        process = subprocess.Popen([ink, "record", "--device", "sim", "-o", "run.ink", "--", ways, "hang-exit"], stdout=out,
                                   stderr=subprocess.DEVNULL)
    while "waiting" not in open("out").read():
        time.sleep(0.01)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.wait()
    assert process.returncode == -signal.SIGTERM, process.returncode
    return time.monotonic() - began


print(f"SIGTERM while a kernel hangs, to the program's end, s: {', '.join(f'{ending():.2f}' for _ in range(runs))}")

subprocess.run([nvcc, "-arch=compute_75", "-O3", "-cudart", "shared", "-I" + os.path.join(here, "../../device"), "-o", "short",
                os.path.join(here, "short_launches.cu")], check=True)
for options in [], ["--tracks", "65536"], ["--blocks", "::16"]:
    kept = []
    for _ in range(runs):
        subprocess.run([ink, "record", "--device", "sim", *options, "-o", "run.ink", "--", "./short", "1000", "1000"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        facts = json.loads(subprocess.run([ink, "info", "--format", "json", "run.ink"], check=True, capture_output=True).stdout)
        kept.append(facts["captures"][0]["capture"][0]["tracks"])
    print(f"1,000 launches of 1,000 blocks, {' '.join(options) or 'default options'}: {', '.join(f'{n:,}' for n in kept)} tracks kept")
