# SPDX-License-Identifier: MIT
"""A page of two captures: it says what `inkmark diff` says, verdict by verdict, at both widths, light and dark; axe finds
nothing; names of files are no markup; what cannot be compared is refused.

check_compare.py INKMARK MADE_UP NODE_MODULES"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from check_page import probe
from scratch import skip

inkmark, made_up, modules = (os.path.abspath(path) for path in sys.argv[1:4])
BASE, NEW = "<!--<script>.ink", "new & 'x'.ink"


def run(*arguments, code=0):
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def make(path, seed, *keys):
    subprocess.run([made_up, path, str(seed), *keys], check=True)


def in_page(page, name):
    with open(page) as file:
        return json.loads(re.search(rf'id="{name}">(.*?)</script>', file.read(), re.S)[1])


def refused():
    for arguments, words in (((BASE, NEW, BASE), "one capture, or two to compare"), ((BASE, NEW, "--launch", "1"), "'--launch' does not go"),
                             ((BASE, NEW, "--time", "1ms-2ms"), "'--time' does not go"), ((BASE, "--force"), "for a page of two captures"),
                             ((BASE, NEW, "-k", "("), "'--kernel'")):
        said = run("export", *arguments, "-o", "no.html", code=2).stderr
        assert words in said and not os.path.exists("no.html"), said
    make("other.ink", 3, "device=7")
    said = run("export", BASE, "other.ink", "-o", "no.html", code=1).stderr
    assert "other devices" in said and "--force" in said and not os.path.exists("no.html"), said
    run("export", BASE, "other.ink", "-o", "forced.html", "--force")
    assert in_page("forced.html", "comparison")["forced"]


def browsed(found):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    axe = os.path.join(modules, "axe-core", "axe.min.js")
    if not browser or not os.path.exists(axe):
        skip("the page itself is not looked at: no chromium (Debian: chromium), or no axe (npm ci)")
    for width, flags in ((1280, []), (500, ["--blink-settings=preferredColorScheme=0"])):
        said = probe(browser, "new.html", axe, width, *flags)
        assert said["violations"] == [] and said["wide"] <= 0 and said["injected"] == "undefined", said
        assert len(said["compared"]) == len(found["rows"])
        for shown, row in zip(said["compared"], found["rows"]):
            assert shown[0] == "Step, void step(float *, int), now void step(float *, int, int) (guessed)" and shown[1] == (row["section"] or "(whole track)") and shown[7] == row["verdict"], (shown, row)
            assert shown[2] == f"{round(row['base_cycles']):,}" and shown[3] == f"{round(row['new_cycles']):,}", (shown, row)
            sign = "+" if row["ratio"] >= 1 else "\u2212"
            change = f"{sign}{abs(row['ratio'] - 1) * 100:.1f} %"
            assert shown[4] == change and shown[8].startswith(f"change {change}, interval "), (shown, row)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make(BASE, 1, "instance=1")
    make(NEW, 2, "instance=2", "slower=2:1.2", "slower=3:0.8")
    run("export", BASE, NEW, "-o", "new.html")
    found = in_page("new.html", "comparison")
    assert found == json.loads(run("diff", "--format", "json", BASE, NEW, code=3).stdout)
    assert found["slower"] and found["faster"] and found["left_out"] == 0
    assert in_page("new.html", "summary")["captures"][0]["kernels"], "the tables are the new capture's"
    run("export", NEW, "-o", "alone.html")
    assert in_page("alone.html", "comparison") is None and in_page("alone.html", "summary") == in_page("new.html", "summary")
    refused()
    browsed(found)
print("ok")
