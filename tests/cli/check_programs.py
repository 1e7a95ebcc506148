# SPDX-License-Identifier: MIT
# check_programs.py INKMARK EXAMPLES: programs of another processor, and of another C library. What the library cannot
# be preloaded into is refused in one sentence before it runs; what runs with a glibc elsewhere is recorded.
import os, shutil, struct, subprocess, sys, tempfile

inkmark, examples = sys.argv[1:]
failed = []
MACHINES = {62: "x86-64", 183: "arm64"}


def record(program, options=("--device", "sim")):
    return subprocess.run([inkmark, "record", *options, "-o", "x.ink", "--", program], capture_output=True, text=True)


def refused(what, image, sentence):
    with open("program", "wb") as file:
        file.write(image)
    os.chmod("program", 0o755)
    for options in (("--device", "sim"), ("--device", "gpu")):
        done = record("./program", options)
        if done.returncode != 1 or done.stderr != f"inkmark: {sentence}\n" or os.path.exists("x.ink"):
            failed.append(f"{what}: exit code {done.returncode}: {done.stderr!r}, not {sentence!r}")


def with_loader(image, before, after):
    at = image.index(before + b"\0")
    assert len(after) <= len(before)
    return image[:at] + after.ljust(len(before), b"\0") + image[at + len(before):]


os.chdir(tempfile.mkdtemp(prefix="i", dir="/tmp"))  # short, so that it fits where the loader's name was
with open(os.path.join(examples, "solver"), "rb") as file:
    solver = file.read()
machine = struct.unpack_from("<H", solver, 18)[0]
other = 62 if machine == 183 else 183
heads = {e: struct.unpack_from("<IIQQQQQQ", solver, struct.unpack_from("<Q", solver, 32)[0] + 56 * e)
         for e in range(struct.unpack_from("<H", solver, 56)[0])}
offset, size = next((head[2], head[5]) for head in heads.values() if head[0] == 3)  # PT_INTERP
loader = solver[offset:offset + size - 1]

refused("another processor", solver[:18] + struct.pack("<H", other) + solver[20:],
        f"'./program' is a program for {MACHINES[other]}, and this inkmark is for {MACHINES[machine]}: nothing can be "
        "preloaded into it")
refused("32 bits", solver[:4] + b"\1" + solver[5:18] + struct.pack("<H", machine) + solver[20:],
        "'./program' is a 32-bit program, and this inkmark has 64 bits: nothing can be preloaded into it")
refused("another byte order", solver[:5] + b"\2" + solver[6:18] + struct.pack(">H", 21) + solver[20:],
        f"'./program' is a program for POWER, and this inkmark is for {MACHINES[machine]}: nothing can be preloaded into it")
refused("musl", with_loader(solver, loader, b"/lib/ld-musl.so.1"),
        "'./program' is no program of glibc (its loader is '/lib/ld-musl.so.1'), and this inkmark is: nothing can be "
        "preloaded into it")

# The loader of the same glibc, and what one of an older glibc says of itself.
elsewhere = os.path.join(os.getcwd(), "ld-linux.so").encode()
shutil.copy(loader, elsewhere)
with open(loader, "rb") as file:
    text = file.read()
at = text.find(b"release version 2.")
if len(elsewhere) > len(loader) or at < 0:
    print("left out: a glibc elsewhere: there is no room for its path, or it does not say its version")
else:
    at += len(b"release version 2.")
    with open("moved", "wb") as file:
        file.write(with_loader(solver, loader, elsewhere))
    os.chmod("moved", 0o755)
    done = record("./moved")
    if done.returncode or "wrote 'x.ink'" not in done.stderr:
        failed.append(f"the same glibc elsewhere: {done.stderr}")
    elif os.path.exists("x.ink"):
        os.remove("x.ink")
    for version, image in (("2.17", text[:at] + b"17" + text[at + 2:]), ("before 2.33", text.replace(b"release version", b"no"))):
        with open(elsewhere, "wb") as file:
            file.write(image)
        done = record("./moved")
        words = f"'./moved' runs with glibc {version} (its loader is '{elsewhere.decode()}'), and this inkmark was built for glibc 2."
        if done.returncode != 1 or words not in done.stderr or "can record it" not in done.stderr:
            failed.append(f"glibc {version}: exit code {done.returncode}: {done.stderr}")
for what in failed:
    print("FAILED:", what)
shutil.rmtree(os.getcwd())
sys.exit(bool(failed))
