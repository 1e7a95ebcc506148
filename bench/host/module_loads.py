# SPDX-License-Identifier: MIT
# module_loads.py BUILD PROGRAM IMAGE...: what `record` adds to 300 loads of a module through the driver's API, on the
# simulated device: the process's CPU time, its threads included, in turns, by the mean of the five least of RUNS runs each; and,
# where valgrind is, the instructions of a load, by the difference of 25 and 5 loads. Then what it adds to the start of Python
# with NumPy: CPU time without the writer process, and seconds, the least of RUNS runs each.
import os, re, resource, shutil, subprocess, sys, tempfile, time

build, program, *images = sys.argv[1:]
inkmark, sim = os.path.join(build, "cli", "inkmark"), os.path.join(build, "device", "sim")
RUNS, LOADS = 15, 100


def run(command, recorded, options=()):
    environment = dict(os.environ)
    if recorded:
        command = [inkmark, "record", "--device", "sim", *options, "-o", "/dev/null", "--", *command]
    else:
        environment["LD_LIBRARY_PATH"] = sim
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode or "not recorded as asked" in done.stderr:
        sys.exit(done.stderr)
    return done


def loads(image, recorded):
    return float(run([program, image, str(LOADS)], recorded).stdout)


def instructions(image, recorded):
    """Of one load; what starts and ends with the process is in both counts."""
    counts = []
    for n in (5, 25):
        with tempfile.TemporaryDirectory() as folder:
            done = run([shutil.which("valgrind"), "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, image, str(n)],
                       recorded, ("--tracks", "16", "--records-per-track", "16"))
        counts.append(int(re.search(r"refs: *([0-9,]+)", done.stderr).group(1).replace(",", "")))
    return (counts[1] - counts[0]) / 20


def start(prefix):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([*prefix, sys.executable, "-c", "import numpy"], capture_output=True, check=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


for image in images:
    sides = [[], []]
    for i in range(RUNS):
        for recorded in (i % 2, 1 - i % 2):
            sides[recorded].append(loads(image, recorded))
    bare, recorded = (sum(sorted(side)[:5]) / 5 / LOADS for side in sides)
    print(f"{os.path.basename(image)}: {bare:.1f} us a load, recorded {recorded:.1f} us: {(recorded / bare - 1) * 100:+.1f} %")
    if shutil.which("valgrind"):
        bare, recorded = (instructions(image, side) for side in (False, True))
        print(f"{os.path.basename(image)}: {bare:,.0f} instructions a load, recorded {recorded:,.0f}: {(recorded / bare - 1) * 100:+.2f} %")
try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit("python -c 'import numpy' is left out: no NumPy here")
# `record --device gpu` looks for the driver's node, and `import numpy` calls no driver: root can do without a GPU, in a mount
# namespace whose /dev has such a node.
node = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && : >/dev/nvidiactl && exec "$@"', "sh"]
made_up = not os.path.exists("/dev/nvidiactl") and subprocess.run([*node, "true"], capture_output=True).returncode == 0
before = node if made_up else []
print("import numpy: a GPU's node is " + ("made up" if made_up else "not made up"))
ways = {"alone": before, "record --device gpu": [*before, inkmark, "record", "--device", "gpu", "-o", "/dev/null", "--"],
        "record --device sim": [*before, inkmark, "record", "--device", "sim", "-o", "/dev/null", "--"]}
least = {}
for way, prefix in ways.items():
    try:
        least[way] = [min(part) for part in zip(*(start(prefix) for _ in range(RUNS)))]
    except subprocess.CalledProcessError as error:
        print(f"{way}: {error.stderr.decode().strip()}")
for way, (cpu, took) in least.items():
    print(f"import numpy, {way}: {cpu:.3f} s of CPU ({cpu - least['alone'][0]:+.3f}), {took:.3f} s ({took - least['alone'][1]:+.3f})")
