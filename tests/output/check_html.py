# SPDX-License-Identifier: MIT
"""The HTML page in headless Chromium: opens without a network and without a console message, and shows
the tables' numbers, the drops and the clock; too many tracks are cut with a word about it.

check_html.py OUTPUT_TOOL [SCREENSHOT]"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from decimal import ROUND_HALF_UP, Decimal

from scratch import Scratch, skip

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--virtual-time-budget=5000",
         "--enable-logging=stderr", "--v=0", "--window-size=1200,1500"]


def browse(browser, page, *flags):
    with tempfile.TemporaryDirectory() as profile:
        run = subprocess.run([browser, *FLAGS, f"--user-data-dir={profile}", *flags, "file://" + page],
                             capture_output=True, text=True, timeout=1800)
    console = [line for line in run.stderr.splitlines() if ":CONSOLE" in line]
    assert not console, console
    return run.stdout


def visible_text(dom):
    dom = re.sub(r"<script.*?</script>|<style.*?</style>", "", dom, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", dom))


def check_roles(browser, scratch):
    """What the page says of each role adds up to its tracks' slices."""
    page = scratch.write("html", scratch.make("roles"), "roles.html")
    with open(page) as f:
        data = json.loads(re.search(r'id="lane-data">(.*?)</script>', f.read(), re.S)[1])
    text = visible_text(browse(browser, page, "--dump-dom"))
    roles = {}
    for _, slices, *info in data["tracks"]:
        if not info or info[0][12] < 0:
            continue
        name = data["names"][info[0][12]]
        tracks, ns, sums = roles.setdefault(name, [0, 0, {}])
        for section, _, length, depth, _, cut in zip(*[iter(slices)] * 6):
            if not depth and not cut:
                sums[section] = sums.get(section, 0) + length
        roles[name] = [tracks + 1, ns + info[0][5], sums]
    assert len(roles) == 2 and all(tracks == 4 for tracks, _, _ in roles.values()), roles
    assert "what the tracks of each role spent their time in, as stamped" in text, text[:2000]
    for name, (tracks, ns, sums) in roles.items():
        said = [f"{data['names'][s]} {Decimal(100 * part / ns).quantize(Decimal('0.1'), ROUND_HALF_UP)} %" for s, part in sums.items()]
        row = text[text.index(f"{name} {tracks} "):][:600]
        assert len(said) >= 4 and all(words in row for words in said), (name, said, row)


def main(tool, screenshot=None):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        skip("no chromium (Debian: chromium)")
    with Scratch(tool) as scratch:
        capture = scratch.make("mixed")
        truth = scratch.dump(capture)
        page = scratch.write("html", capture, "mixed.html")
        with open(page) as f:
            source = f.read()
        assert "://" not in source.replace("file://", ""), "the page must not need a network"
        text = visible_text(browse(browser, page, "--dump-dom"))
        for r in truth["table"]:
            name = r["name"].replace("<", "&lt;").replace(">", "&gt;").replace("&name", "&amp;name")
            assert name in text, r["name"]
            assert f"{r['count']:,} {r['total_cycles']:,} " in text, r
        for k in truth["kernels"]:
            assert f"{k['executed']:,} marks executed, {k['kept']:,} kept" in text, k
            assert not k["dropped"] or f"{k['dropped']:,} overwritten or not stored" in text
        summary = json.loads(re.search(r'id="summary">(.*?)</script>', source, re.S)[1])["captures"][0]
        for r in (r for k in summary["kernels"] for r in k["rows"]):
            if (None in r["inside"] if r.get("inside") else r["depth"] == 0) and r["share"] > 0:
                name = r["section"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
                assert f"{name} {100 * r['share']:.1f} % " in text, ("the bar of shares", r["section"])
            if r.get("histogram"):
                assert len(r["histogram"]) == 24 and sum(r["histogram"]) == r["count"] and r["histogram"][0] and (
                    r["histogram"][-1] or r["min_cycles"] == r["max_cycles"]), r
        # The longest track that the page names is the longest of those in it.
        tracks = json.loads(re.search(r'id="lane-data">(.*?)</script>', source, re.S)[1])["tracks"]
        tracks = [(t[2][5], t[2][0], t[0]) for t in tracks if len(t) > 2]
        for kernel in {k for _, k, _ in tracks}:
            length, _, label = max(t for t in tracks if t[1] == kernel)
            if length:
                assert f"longest: launch {label}, {length:,} ns, " in text, label
        for words in ("simulated clock", "3 threads found no free track", "any single ns is good to",
                      "no recording thread passed: NeverPassed", "critical path of launch 0", "'&lt;/script&gt;'", "30 lanes"):
            assert words in text, words
        # The source, with the lines of its marks and what their sections took; nothing in it is markup.
        stored = json.loads(re.search(r'id="sources">(.*?)</script>', source, re.S)[1])
        names = json.loads(re.search(r'id="lane-data">(.*?)</script>', source, re.S)[1])["names"]
        (first, lines), = stored[0]["text"]
        assert len(stored) == 1 and stored[0]["file"] == "solver.cu" and first == 1 and len(lines) == stored[0]["lines"] == 8, stored
        assert [[m[0], names[m[1]], m[2]] for m in stored[0]["marks"]] == [
            [4, "Step", 0], [5, "LineSearch", 0], [6, "Inner", 1], [7, "Inner", 0]], stored[0]["marks"]
        assert lines[0].startswith("// </script><script>") and lines[1].startswith("// \ufffd\ufffd ]]>") and lines[7] == "//" + 298 * "<" + " ...", lines
        assert re.fullmatch("[0-9a-f]{64}", stored[0]["sha256"]) and lines[2] == "PROF_SECTIONS(Solver, Step, LineSearch)", stored[0]
        for k in summary["kernels"]:
            row = next((r for r in k["rows"] if r["section"] == "LineSearch"), None)
            if row and k["kernel"] == "Step":
                mean = Decimal(row["total_cycles"]) / (row["count"] - row["nested"])
                mean = f"{mean.quantize(Decimal('0.1'), ROUND_HALF_UP):,}".removesuffix(".0")
                assert f" 5 LineSearch {100 * row['share']:.1f} % {mean} PROF_MARK(LineSearch, alpha); // &lt;b&gt;bold&lt;/b&gt; &amp;amp; " in text, row
        assert text.count("source: solver.cu, 8 lines") == 2, "of each device"
        check_roles(browser, scratch)
        hung = scratch.write("html", scratch.make("open"), "open.html")
        text = visible_text(browse(browser, hung, "--dump-dom"))
        for words in ("3 tracks had not ended:", "kernel Main, launch 1, block 0: after Wait",
                      "kernel Step, launch 0, block 2: after Gradient or later, iteration 2"):
            assert words in text, (words, text[:3000])
        assert re.search(r"kernel Step, launch 0, block 1: inside Inner, after UpdateConstraint, iteration 2 "
                         r"\(in it for 7,\d\d\d ns when it was last seen\)", text), text[:3000]
        many = scratch.write("html", scratch.make("hung:1500"), "hung.html")
        text = visible_text(browse(browser, many, "--dump-dom"))
        for words in ("1,500 tracks had not ended:", "750 inside Gradient, after UpdateConstraint, the first: kernel Step",
                      "250 after UpdateConstraint, the first:", "500 more are not in this page"):
            assert words in text, (words, text[:3000])
        # A console message is seen: the check can fail.
        broken = scratch.path("broken.html")
        with open(broken, "w") as f:
            f.write(source.replace("showHead();", "showHeed();"))
        try:
            browse(browser, broken, "--dump-dom")
            raise SystemExit("a broken page went unnoticed")
        except AssertionError:
            pass

        big = scratch.write("html", scratch.make("many:5000:12"), "big.html")
        text = visible_text(browse(browser, big, "--dump-dom"))
        shown = re.search(r"([\d,]+) lanes, ([\d,]+) slices;.* ([\d,]+) more tracks are left out", text)
        lanes, slices, left_out = (int(n.replace(",", "")) for n in shown.groups())
        assert lanes + left_out == 5000 and 0 < slices <= 60000, (lanes, slices, left_out)
        million = scratch.write("html", scratch.make("many:5000:200"), "million.html")
        assert os.path.getsize(million) < 3e6, os.path.getsize(million)
        text = visible_text(browse(browser, million, "--dump-dom"))
        assert re.search(r"[\d,]+ lines far from marks are not in this page", text), text[:3000]
        assert "60,000 slices; 940,000 more slices" in text or re.search(r"of [\d,]+ tracks only how long they lasted", text), text[-2000:]
        if screenshot:
            browse(browser, page, f"--screenshot={screenshot}")
    print("ok")


main(*sys.argv[1:])
