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
AT_ONCE = 8  # of the sources; all.cu includes others, whose marked text it would replace
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


def look(options, words, files):
    """What is said of the files, and by file its marked text and its list."""
    with tempfile.TemporaryDirectory() as folder:
        marked = run(["--out-dir", folder], words, files)
        listed = run(["--list", "--format", "json"], words, files)
        try:
            lists = {of["file"]: of for of in json.loads(listed.stdout)["files"]}
        except (ValueError, KeyError):
            sys.exit(f"{options}: no list: {listed.stdout[-500:]} {listed.stderr[-500:]}")
        for of in lists.values():
            of.pop("parse_seconds", None)
        # What is said of a file counts too, in any order: where the marked files went is not said twice alike.
        said = marked.stderr.replace(folder.encode(), b"").splitlines()
        made = {}
        for name in files:
            path = os.path.join(folder, name)
            text = open(path, "rb").read() if os.path.exists(path) else b""
            made[name, options] = [text, json.dumps(lists.get(name), indent=1).encode()]
    return (marked.returncode, listed.returncode), said, made


def main():
    update = "UPDATE_GOLDEN" in os.environ
    kept = {}
    for line in open(EXPECTED, encoding="utf-8") if not update else ():
        name, options, *digests = line.split()
        kept[name, options] = digests
    files = sorted(f"{folder}/{name}" for folder in FOLDERS for name in os.listdir(os.path.join(root, folder)) if name.endswith(".cu"))
    now, made = {}, {}
    # tests/mutate.py: most of what differs, in less time. It is told what differs first, and more differs most likely too.
    quick = bool(os.environ.get("INKMARK_FIRST_FAULT"))
    for options, words in OPTIONS.items() if not quick else list(OPTIONS.items())[:3]:
        codes, said = set(), []
        for first in range(0, len(files), AT_ONCE):
            code, more, texts = look(options, [*words, *(["--parse-seconds", "10"] if quick else [])], files[first:first + AT_ONCE])
            codes.add(code)
            said += more
            made.update(texts)
            for key, (text, listed) in texts.items():
                now[key] = [digest(text), digest(listed)]
            if quick and any(kept.get(key) != now[key] for key in texts):
                break
        else:
            now["said", options] = [",".join(str(max(code[i] for code in codes)) for i in range(2)), digest(b"\n".join(sorted(said)))]
            made["said", options] = [b"", b"\n".join(sorted(said))]
        if not update and any(kept.get(key) != found for key, found in now.items()):
            break
    wrong = 0
    for key in sorted(now if quick else now.keys() | {key for key in kept if key[1] in {option for _, option in now}}) if not update else ():
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
