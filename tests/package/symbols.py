# SPDX-License-Identifier: MIT
"""symbols.py NM LIBRARY.so INSTALLED.a MAP HEADERS [PREFIX_NAMES OBJCOPY]: the shared library gives out what its headers declare, each name in
the version that inkmark.map has for it, and the static library, as it is installed, no name without our prefix. With
PREFIX_NAMES, which installing runs, the static library is one that is not installed. No lock is waited for by a clock that can
be set."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

nm, shared, archive, symbol_map, headers, *prefix_names = sys.argv[1:]
if prefix_names:
    work = tempfile.TemporaryDirectory(prefix="inkmark-symbols-")
    archive = shutil.copy(archive, work.name)
    subprocess.run([prefix_names[0], nm, prefix_names[1], archive], check=True)
failed = 0


def check(holds, text):
    global failed
    if not holds:
        failed += 1
        print(f"FAILED: {text}")


def names_of(*arguments):
    return subprocess.run([nm, *arguments], capture_output=True, text=True, check=True).stdout.splitlines()


version_of = dict(line.split()[2].split("@@") for line in names_of("-D", "--defined-only", "--with-symbol-versions", shared)
                  if "@@" in line)
text = open(symbol_map).read()
stable = set(re.findall(r"\b(ink_\w+);", text.split("local:")[0]))
check(len(stable) > 50, f"{len(stable)} stable names")
for name in sorted(stable):
    check(version_of.get(name) == "INKMARK_0.1", f"{name} is in {version_of.get(name)}")
for name, version in sorted(version_of.items()):
    check(version != "INKMARK_0.1" or name in stable, f"{name} is stable, but not in the map")

declared = {}
for file in sorted(os.listdir(headers)):
    content = open(os.path.join(headers, file)).read()
    for name in re.findall(r"INK_API\b[^;()]*?\b(ink_\w+)\(", content):
        declared[name] = "Experimental: it may change" not in content and not name.startswith("ink_writer_")
check(len(declared) > 100, f"{len(declared)} names are declared")
for name, is_stable in sorted(declared.items()):
    check(name in version_of, f"{name} is declared, but the library does not have it")
    check((name in stable) == is_stable, f"{name} is declared {'stable' if is_stable else 'experimental'}, unlike the map")

waits = [line.split()[-1].split("@")[0] for line in names_of("-D", "--undefined-only", shared)]
check("pthread_mutex_clocklock" in waits, "no lock is waited for by a clock that nobody sets")
for name in ("pthread_mutex_timedlock", "sem_timedwait"):
    check(name not in waits, f"{name} waits by a clock that can be set")
ours = [line.split()[2] for line in names_of("-g", "--defined-only", archive) if len(line.split()) == 3]
check(len(ours) > 500, f"{len(ours)} names in the static library")
bare = sorted(name for name in ours if not name.startswith(("ink_", "__")))
check(not bare, f"{len(bare)} names of the static library have no prefix: {' '.join(bare[:8])}")
print(f"{len(version_of)} names, {len(stable)} of them stable; {len(ours)} in the static library")
sys.exit(failed != 0)
