# SPDX-License-Identifier: MIT
# check.py BUILD FOLDER CASE: a program that loads its kernels through the driver's API, recorded on the simulated
# device, and what the capture has of it. FOLDER holds the programs and the images.
import csv, glob, json, os, subprocess, sys, tempfile

build, folder, case = sys.argv[1:]
inkmark = os.path.join(build, "cli", "inkmark")
failed = []


def that(holds, what):
    if not holds:
        failed.append(what)


def record(program, way, what, *images, options=()):
    done = subprocess.run([inkmark, "record", "--device", "sim", "-o", "x.ink", *options, "--",
                           os.path.join(folder, program), way, what, *images], capture_output=True, text=True)
    that(done.returncode == 0, f"{what} by {way}: exit code {done.returncode}: {done.stderr}")
    return done.stderr


def report():
    return json.loads(subprocess.run([inkmark, "report", "-f", "json", "x.ink"], capture_output=True, text=True,
                                     check=True).stdout)["captures"][0]


def kernels(said=""):
    """Name -> (launches, tracks, {sections with their tables, called ones}), of all rows of a kernel."""
    if not os.path.exists("x.ink"):
        that(False, f"no capture: {said}")
        return {}
    shown = report()
    that(shown["complete"] and shown["unknown_kernels"] == 0, f"not whole: {said}")
    found = {}
    for kernel in shown["kernels"]:
        rows = {(row["table"], row["section"], row["called"]) for row in kernel["rows"] if row["table"]}
        that(kernel["marking"] == "out", "what marks cost was not measured")
        before = found.get(kernel["kernel"], (0, 0, set()))
        found[kernel["kernel"]] = (before[0] + kernel["launches"], before[1] + kernel["tracks"], before[2] | rows)
    return found


ROWS = {("Core", "Load", False), ("Core", "Compute", False), ("Other", "Square", True)}


def one(program, way, what, image, launches):
    said = record(program, way, what, os.path.join(folder, image))
    found = kernels(said)
    that(found == {"Step": (launches, 4 * launches, ROWS)}, f"{what} by {way}: {found}: {said}")
    that("was not recorded as asked" not in said, f"{what} by {way}: {said}")


os.chdir(tempfile.mkdtemp())
if case == "ways":
    for program, way in (("linked", "plt"), ("program", "dlsym"), ("program", "address")):
        one(program, way, "module", "kernels.ptx", 1)
        one(program, way, "library", "kernels.ptx", 1)
elif case == "file":
    one("program", "dlsym", "file", "kernels.ptx", 1)
    # compiled with headers of another device layout: it gets no buffer, and is named
    with open(os.path.join(folder, "kernels.ptx")) as file:
        text = file.read()
    today, before = "32, 53, 0", "32, 49, 0"  # " 5" of what a table begins with
    that(text.count(today) == text.count("ink_table_textE[") == 2, "the tables' first bytes")
    named = "kernels.cu' was compiled with the headers of another inkmark"
    older = text.replace("ink_current_5", "ink_current")
    os.remove("x.ink")
    # as it is; its tables cannot be seen, as in an image that is packed; with a file of today's linked in
    images = {"older": older.replace(today, before), "hidden": older.replace(today, "32, 32, 0"),
              "mixed": text.replace(today + ", 79, 116,", before + ", 79, 116,")}
    that(len({text, *images.values()}) == 4, "the images are not changed")
    for image, changed in images.items():
        with open(image + ".ptx", "w") as file:
            file.write(changed)
        said = record("program", "dlsym", "file", image + ".ptx")
        that((named in said) == (image != "hidden"), f"{image}: {said}")
        if image == "mixed":
            found = kernels(said)
            that(found == {"Step": (1, 4, ROWS - {("Other", "Square", True)})}, f"{image}: {found}: {said}")
        else:
            that(not os.path.exists("x.ink") or not report()["kernels"], f"{image}: {said}")
elif case == "fatbin":
    one("program", "dlsym", "fatbin", "packed_kernels.fatbin", 1)
    one("program", "dlsym", "fatbin", "plain_kernels.fatbin", 1)
    os.remove("x.ink")
    said = record("program", "dlsym", "fatbin", os.path.join(folder, "older_kernels.fatbin"))
    that("'a packed image' was compiled with the headers of another inkmark" in said, f"older: {said}")
    that(not os.path.exists("x.ink") or not report()["kernels"], f"older: {said}")
elif case == "contexts":
    # a context of cuCtxCreate's is a device of its own: 2 launches of the first, 3 of the primary, 1 of the third
    one("program", "address", "contexts", "kernels.ptx", 6)
elif case == "unload":
    one("program", "dlsym", "unload", "kernels.ptx", 2)
    one("program", "dlsym", "queued", "kernels.ptx", 8)
elif case == "persistent":
    said = record("program", "dlsym", "persistent", os.path.join(folder, "kernels.ptx"))
    found = {name: row[:2] for name, row in kernels(said).items()}
    that(found == {"Step": (2, 8), "Persist": (1, 1)}, f"{found}: {said}")
    that("modules were unloaded while kernels ran that did not end within 2 s" in said or
         "module was unloaded while kernels ran" in said, said)
elif case == "reset":
    one("program", "dlsym", "reset", "kernels.ptx", 2)
elif case == "green":
    for program, way in (("linked", "plt"), ("program", "dlsym"), ("program", "address")):
        said = record(program, way, "green", os.path.join(folder, "kernels.ptx"))
        that("the program asked for a green context, which the driver refused (error 801)" in said, f"{way}: {said}")
        that("cuGreenCtxCreate is not simulated" in said, f"{way}: {said}")
        found = kernels(said)
        that(found == {"Step": (1, 4, ROWS)}, f"{way}: {found}")
elif case == "mig":
    # a part of a GPU, whose SMs have numbers from the middle of it
    os.environ.update(INKMARK_SIM_FIRST_SM="120", INKMARK_SIM_SMS="3")
    said = record("program", "address", "module", os.path.join(folder, "kernels.ptx"))
    that(kernels(said) == {"Step": (1, 4, ROWS)}, said)
    subprocess.run([inkmark, "export", "-f", "csv", "-o", "x.csv", "x.ink"], check=True, capture_output=True)
    with open("x.csv") as file:
        rows = list(csv.DictReader(file))
    that({row["sm"] for row in rows} == {"120", "121", "122"}, f"SMs {sorted({row['sm'] for row in rows})}: {said}")
    shown = json.loads(subprocess.run([inkmark, "info", "-f", "json", "x.ink"], capture_output=True, text=True,
                                      check=True).stdout)["captures"][0]
    that(shown["clocks"][0]["sms_calibrated"] == 3, f"edges of globaltimer were caught on {shown['clocks'][0]['sms_calibrated']} SMs")
elif case == "edits":
    # 20 names each: more than there are slots, if none were given back
    said = record("program", "dlsym", "edits", os.path.join(folder, "edited.ptx"), "1000")
    found = kernels(said)
    that(list(found) == ["Cell"] and found["Cell"][:2] == (1, 4), f"edits: {found}: {said}")
    that("no room" not in said, said)
elif case == "fork":
    said = record("program", "dlsym", "fork", os.path.join(folder, "kernels.ptx"), options=("-o", "x.%p.ink"))
    found = []
    for path in sorted(glob.glob("x.*.ink"), key=os.path.getmtime):
        os.rename(path, "x.ink")
        found.append(kernels(said))
    that(sorted(one["Step"][:2] for one in found) == [(2, 8), (2, 8)], f"fork: {found}: {said}")
elif case == "filter":
    # of two kernels in two contexts: one is left out, which is no kernel that nothing names; none is let through
    images = [os.path.join(folder, "kernels.ptx"), os.path.join(folder, "edited.ptx")]
    said = record("program", "dlsym", "two", *images, options=("-k", "^Step$"))
    that({name: row[:2] for name, row in kernels(said).items()} == {"Step": (2, 8)}, f"filter: {said}")
    os.remove("x.ink")
    for name in ("Stop", "Square"):
        said = record("program", "dlsym", "two", *images, options=("-k", name))
        that(said.endswith(f"'--kernels {name}' matches none of the kernels that ran: 'Cell', 'Step'\n") or
             said.endswith(f"'--kernels {name}' matches none of the kernels that ran: 'Step', 'Cell'\n"), said)
elif case == "mixed":
    for runtime in ("static", "shared"):
        done = subprocess.run([inkmark, "record", "--device", "sim", "-o", "x.ink", "--",
                               os.path.join(folder, f"mixed_{runtime}"), os.path.join(folder, "kernels.ptx")],
                              capture_output=True, text=True)
        that(done.returncode == 0, f"{runtime}: {done.stderr}")
        found = kernels(done.stderr)
        that(found == {"Step": (2, 8, ROWS), "Compiled": (4, 16, {("Mixed", "Add", False)})},
             f"{runtime}: {found}: {done.stderr}")
elif case == "closes":
    said = record("program", "dlsym", "closes", os.path.join(folder, "kernels.ptx"),
                  os.path.join(build, "tests", "arming", "library.so"))
    found = kernels(said)
    that(found.get("Step", (0, 0, set()))[:2] == (2, 8) and len(found) == 2, f"closes: {found}: {said}")
elif case == "words":
    said = record("program", "dlsym", "module", os.path.join(folder, "unmarked.ptx"))
    that("loaded 1 module through the CUDA driver, none of them with marks" in said, said)
    that(not os.path.exists("x.ink"), "a capture without marks")
    said = record("program", "dlsym", "idle", os.path.join(folder, "kernels.ptx"))
    that("1 of the 1 module that the program loaded through the CUDA driver has marks, but no kernel" in said, said)
    # two modules, each of them one more attempt, and one word of it
    said = record("program", "dlsym", "unload", os.path.join(folder, "kernels.ptx"),
                  options=("--tracks", "1048576", "--records-per-track", "1048576"))
    that(said.count("device 0: cannot allocate 1048576 tracks of 1048576 records") == 1, said)
    os.environ["INKMARK_SIM_DEVICES"] = "2"
    said = record("program", "dlsym", "module", os.path.join(folder, "kernels.ptx"), options=("--devices", "1"))
    that("a module with marks is on device 0, which --devices leaves out" in said, said)
elif case == "full":
    # more names than there are slots: the capture itself says so
    said = record("program", "dlsym", "full", os.path.join(folder, "edited.ptx"), "720", os.path.join(folder, "kernels.ptx"))
    found = kernels(said)
    that(found.get("Step", (0, 0))[:2] == (1, 4), f"full: {found}: {said}")
    for command in ("info", "report"):
        shown = subprocess.run([inkmark, command, "x.ink"], capture_output=True, text=True).stdout
        that("no room for the kernels of section table 'Edit" in shown, f"{command} does not say what is missing")
elif case == "watch":
    # in a running process: by CUPTI's callbacks, alone or beside another profiler that lets others be
    cupti = os.path.join(build, "device", "sim", "libcupti.so.13")
    if not os.path.exists(cupti):
        print("skipped: the simulated device has no CUPTI (its headers)")
        sys.exit(77)
    for profiler, version, refusal in (("none", "130001", None), ("none", "130200", None), ("beside", "130200", None),
                                       ("alone", "130200", "modules cannot be watched: CUPTI refuses (CUPTI_ERROR_MULTIPLE"),
                                       ("beside", "130001", "another profiler is attached to this process")):
        what = f"{profiler}, CUPTI {version}"
        done = subprocess.run([os.path.join(folder, "session"), "dlsym", "x.ink", os.path.join(folder, "kernels.ptx"), profiler],
                              capture_output=True, text=True, env={
                                  **os.environ, "LD_LIBRARY_PATH": os.path.join(build, "device", "sim"),
                                  "INKMARK_CUPTI": cupti, "INKMARK_SIM_CUPTI": f"version={version}"})
        if refusal:
            that(done.returncode == 1 and refusal in done.stderr, f"{what}: {done.stderr}")
            continue
        that(done.returncode == 0, f"{what}: {done.stderr}")
        shown = report()
        that(shown["unknown_kernels"] == 4, f"{what}: {shown['unknown_kernels']} blocks of a kernel without names")
        that(sum(kernel["launches"] for kernel in shown["kernels"]) == 6 and shown["complete"] and
             {kernel["kernel"] for kernel in shown["kernels"]} == {"Step"}, f"{what}: {shown['kernels']}")
        if profiler != "none":
            that(int(done.stdout) >= 7, f"the other profiler was told of {done.stdout} launches")
elif case == "threads":
    cupti = os.path.join(build, "device", "sim", "libcupti.so.13")
    if not os.path.exists(cupti):
        print("skipped: the simulated device has no CUPTI (its headers)")
        sys.exit(77)
    done = subprocess.run([os.path.join(folder, "session"), "dlsym", "x.ink", os.path.join(folder, "kernels.ptx"), "threads"],
                          capture_output=True, text=True, env={
                              **os.environ, "LD_LIBRARY_PATH": os.path.join(build, "device", "sim"),
                              "INKMARK_CUPTI": cupti, "INKMARK_SIM_CUPTI": "version=130200"})
    that(done.returncode == 0, done.stderr)
elif case == "session":
    done = subprocess.run([os.path.join(folder, "session"), "dlsym", "x.ink", os.path.join(folder, "kernels.ptx")],
                          capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": os.path.join(build, "device", "sim")})
    that(done.returncode == 0, done.stderr)
    found = kernels(done.stderr)
    that(found == {"Step": (3, 12, ROWS)}, f"session: {found}")
else:
    sys.exit(f"no case {case}")
for what in failed:
    print("FAILED:", what)
sys.exit(bool(failed))
