# SPDX-License-Identifier: MIT
"""What the rewriter makes of sources that are drawn (drawn_sources.py), with options that are drawn, against digests.

check_drawn.py DRIVER DEVICE [--cuda TOOLKIT] [NUMBER]. With a toolkit other sources are read with its headers, for which drawn_full.txt stands:
only then do called functions get the context of their kernels. drawn.txt has a line for each run: its number, its options and a digest of each place, each
remark and each marked text. So it is seen when any decision or position changes; whether they are right is what the other tests
say. UPDATE_GOLDEN=1 writes drawn.txt: whoever does so looks at what changed, with NUMBER, which prints one run. Without a digest:
what is marked gives the source back without its marks (drawn.c), and marks open as many braces as they close."""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

from drawn_sources import Chance, Source

COUNT, WRONG = 64, 24  # the last of them have marks that do not fit
FULL, FULL_WRONG = 32, 6
HERE = os.path.dirname(os.path.abspath(__file__))
END = b"-- end of a run --\n"


def options_of(number, source):
    """Words for drawn.c."""
    chance = Chance(number + 1000)
    words = [word for word in ("calls", "loops", "waits", "rows") if chance.often(35)]
    words += ["headers"] if source.header or chance.often(20) else []
    words += ["kernels_only"] if chance.often(5) else []
    words += [f"depth={chance.below(9)}"] if chance.often(75) else []
    words += [f"limit={chance.one([1, 2, 3, 5, 9, 20])}"] if chance.often(20) else []
    words += [f"hold={chance.below(3)}"] if chance.often(80) else ["hold=1"]
    words += [f"exclude={chance.one(['^[a-h]', '_$', 'lo', '[02468]$', 'operator'])}"] if chance.often(20) else []
    words += [f"calls_like={chance.one(['^[h-z]', '_', 'step', '[13579]$', 'run'])}"] if chance.often(20) else []
    words += [f"kernels={chance.one(['^[a-m]', '_', '[0-5]$'])}"] if chance.often(15) else []
    if source.kernels and chance.often(12):
        words = ["lines", f"kernels=^{chance.one(source.kernels)}$"]
    words += [f"guard={chance.one(source.kernels)}"] if source.kernels and chance.often(40) and "lines" not in words else []
    words += [chance.one(["-arch=sm_90a"] * 4 + ["-arch=sm_75", "-arch=sm_80", "-arch=sm_100a"]), chance.one(["-std=c++17"] * 3 + ["-std=c++20"])]
    words += chance.one([[]] * 6 + [["-DNEVER"], ["-maxrregcount=64"], ["-rdc=true"], ["-use_fast_math"]])
    return words


EDGES = {"heads_short": ["calls", "loops", "waits", "rows", "depth=8", "hold=1"], "held": ["hold=2", "calls", "loops", "waits"], "roles": ["hold=0", "waits"], "by_hand": ["hold=1", "rows", "depth=2"],
         "waits_in": ["waits", "loops", "hold=1"], "comments": ["hold=1"], "pragmas": ["lines", "kernels=^pragmas$"]}  # kernels of full/edges.cu, each with all levels of the guard


def plain(text, folder):
    """Without what depends on where the source lies: the name of its table is a hash of its path."""
    text = "\n".join(line for line in text.split("\n") if "INK_TABLE" not in line and "#line" not in line)
    return text.replace(folder, "")


def uneven(text):
    """What is not even in a marked text, if anything."""
    marks = "".join(re.findall(r"/\*ink\[\*/(.*?)(?:/\*ink\]\*/|$)", text, re.M))  # before a line of the preprocessor it is the rest of a line
    return "braces of the marks" if marks.count("{") != marks.count("}") else ""


def main():
    driver, device, *only = sys.argv[1:]
    cuda = only[1] if only and only[0] == "--cuda" else ""
    only = only[2:] if cuda else only
    first, count, fit = (1000, FULL, FULL - FULL_WRONG) if cuda else (0, COUNT, COUNT - WRONG)
    expected = os.path.join(HERE, "drawn_full.txt" if cuda else "drawn.txt")
    update, wrong, made = "UPDATE_GOLDEN" in os.environ, 0, []
    kept = [line.rstrip("\n") for line in open(expected, encoding="utf-8")] if not update and not only else []
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number in range(first, first + count) if not only else [int(only[0])]:
            source = Source(number, number - first >= fit)
            path = os.path.join(folder, f"drawn_{number}.cu")
            for name, text in ((path, source.text), (path + "h", source.header)):
                if text:
                    open(name, "w", encoding="utf-8", newline="").write(text)
            lines.append((number, [f"root={folder}", *options_of(number, source), path]))
        for kernel, options in (EDGES.items() if not cuda and not only else ()):
            lines.append((kernel, [f"root={HERE}", *options, *([f"guard={kernel}"] if "lines" not in options else []), "-arch=sm_90a", "-std=c++17", os.path.join(HERE, "full", "edges.cu")]))
        count = len(lines)
        with open(os.path.join(folder, "runs"), "w", encoding="utf-8") as file:
            file.writelines(" ".join(words) + "\n" for _, words in lines)
        runs = subprocess.Popen([driver, device, *([cuda, os.environ.get("INKMARK_CACHE", folder)] if cuda else [])], stdin=open(os.path.join(folder, "runs"), encoding="utf-8"), stdout=subprocess.PIPE)
        for at, (number, words) in enumerate(lines):
            found = []
            while (line := runs.stdout.readline()) and line != END:
                found.append(line)
            text = plain(b"".join(found).decode(errors="replace"), folder).replace(HERE, "")
            if only:
                print(" ".join(words), text, sep="\n")
            made.append(f"{number} {' '.join(words[1:-1])} {hashlib.sha256(text.encode()).hexdigest()[:16]}")
            if why := uneven(text):
                wrong += 1
                print(f"{made[-1]}: uneven: {why}")
            was = kept[at] if at < len(kept) else "not there"
            if kept and made[-1] != was:
                wrong += 1
                print(f"{made[-1]}: it was\n{was}")
                if os.environ.get("INKMARK_FIRST_FAULT"):  # as tests/mutate.py asks, to which one is as good as many
                    runs.kill()
                    break
        if runs.wait() and not wrong:
            wrong += 1
            print("the driver fails")
    if update:
        with open(expected, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in made)
    print(f"{len(made)} runs, {wrong} wrong")
    sys.exit(wrong != 0 or not made or bool(kept) and len(kept) != count)


main()
