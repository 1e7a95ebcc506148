# SPDX-License-Identifier: MIT
"""Every byte that the rewriter makes of the CUDA sources of this repository, against exact.txt: a change of any is seen.

check_exact.py INKMARK. exact.txt has a line for each source and each set of options, with digests of the marked file and of
the list. UPDATE_GOLDEN=1 writes it instead: whoever does so says why the marks are others. The golden tests beside it show
what is right; this one sees it when anything else moves. The sources are read without the toolkit's headers, so it takes
seconds."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

inkmark = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
EXPECTED = os.path.join(here, "exact.txt")
FOLDERS = ("examples", "tests/instrument", "tests/instrument/cases", "tests/instrument/full", "tests/instrument/odd", "tests/instrument/shapes", "tests/report")
OPTIONS = {
    "all": ["--calls", "--loops", "--waits", "--rows", "--depth", "8", "--hold", "strict"],
    "usual": [],
    "lines": ["--lines", "--kernel", "."],
    "few": ["--calls=^[a-m]", "--exclude", "[x-z]$", "--limit", "3", "--depth", "2", "--hold", "none"],
}


def run(how, options, files):
    return subprocess.run([inkmark, "instrument", "--header-less", *how, *options, "--root", ".", *files, "--", "-arch=sm_90a",
                           "-std=c++17"], cwd=root, capture_output=True)


def digest(content):
    return hashlib.sha256(content).hexdigest()[:8]


def main():
    update = "UPDATE_GOLDEN" in os.environ
    kept = {}
    for line in open(EXPECTED, encoding="utf-8") if not update else ():
        name, options, *digests = line.split()
        kept[name, options] = digests
    files = sorted(f"{folder}/{name}" for folder in FOLDERS for name in os.listdir(os.path.join(root, folder)) if name.endswith(".cu"))
    now, made = {}, {}
    quick = bool(os.environ.get("INKMARK_FIRST_FAULT"))  # tests/mutate.py: most of what differs, in less time
    for options, words in OPTIONS.items() if not quick else list(OPTIONS.items())[:3]:
        with tempfile.TemporaryDirectory() as folder:
            marked = run(["--out-dir", folder], words, files)
            listed = run(["--list", "--format", "json"], words, files)
            lists = {}
            for of in json.loads(listed.stdout)["files"]:
                of.pop("parse_seconds", None)
                lists[of["file"]] = json.dumps(of, indent=1).encode()
            # What is said of a file counts too, in any order: where the marked files went is not said twice alike.
            said = sorted(line for line in marked.stderr.replace(folder.encode(), b"").splitlines())
            now["said", options] = [f"{marked.returncode},{listed.returncode}", digest(b"\n".join(said))]
            made["said", options] = [b"", b"\n".join(said)]
            for name in files:
                path = os.path.join(folder, name)
                text = open(path, "rb").read() if os.path.exists(path) else b""
                now[name, options] = [digest(text), digest(lists.get(name, b""))]
                made[name, options] = [text, lists.get(name, b"")]
        if not update and any(kept.get(key) != found for key, found in now.items()):
            break  # it is told what differs, and the other options differ most likely too
    wrong = 0
    for key in sorted(now.keys() | {key for key in kept if key[1] in {option for _, option in now}}) if not update else ():
        if now.get(key) != kept.get(key):
            wrong += 1
            for what, new, old, text in zip(("marked file", "list"), now.get(key, ("", "")), kept.get(key, (None, None)), made.get(key, (b"", b""))):
                if new != old and wrong <= 5:
                    print(f"{' with '.join(key)}: the {what} is not what it was:\n{text.decode(errors='replace')[:3000]}")
    if update:
        with open(EXPECTED, "w", encoding="utf-8") as file:
            file.writelines(f"{name} {options} {' '.join(digests)}\n" for (name, options), digests in now.items())
    print(f"{len(now)} sources and options, {wrong} differ")
    sys.exit(wrong != 0 or not now)


main()
