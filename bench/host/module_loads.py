# SPDX-License-Identifier: MIT
# module_loads.py BUILD PROGRAM IMAGE...: what `record` adds to 300 loads of a module through the driver's API, on the
# simulated device: the process's CPU time, its threads included, the least of seven runs each, in turns. Then what it adds to
# the start of Python with NumPy, the writer process apart.
import os, resource, subprocess, sys

build, program, *images = sys.argv[1:]
inkmark, sim = os.path.join(build, "cli", "inkmark"), os.path.join(build, "device", "sim")
RUNS, LOADS = 7, 300


def loads(image, recorded):
    command = [program, image, str(LOADS)]
    environment = dict(os.environ)
    if recorded:
        command = [inkmark, "record", "--device", "sim", "-o", "/dev/null", "--", *command]
    else:
        environment["LD_LIBRARY_PATH"] = sim
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return float(done.stdout)


def start(prefix):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*prefix, sys.executable, "-c", "import numpy"], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


for image in images:
    pairs = [(loads(image, False), loads(image, True)) for _ in range(RUNS)]
    bare, recorded = (min(pair[i] for pair in pairs) for i in range(2))
    print(f"{os.path.basename(image)}: {bare / LOADS:.1f} us a load, recorded {recorded / LOADS:.1f} us: "
          f"{(recorded / bare - 1) * 100:+.1f} %")
try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit("python -c 'import numpy' is left out: no NumPy here")
ways = {"alone": [], "record --device gpu": [inkmark, "record", "--device", "gpu", "-o", "/dev/null", "--"],
        "record --device sim": [inkmark, "record", "--device", "sim", "-o", "/dev/null", "--"]}
least = {}
for way, prefix in ways.items():
    try:
        least[way] = min(start(prefix) for _ in range(RUNS))
    except subprocess.CalledProcessError as error:
        print(f"{way}: {error.stderr.decode().strip()}")
for way, seconds in least.items():
    print(f"import numpy, {way}: {seconds:.3f} s of CPU, {seconds - least['alone']:+.3f} s")
