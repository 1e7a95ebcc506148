# SPDX-License-Identifier: MIT
"""The tables at the end of tests/corpus.sh: kernels by text against kernels marked, places, times."""
import os, re
from collections import Counter


def text_kernels(path):
    """Lines of kernels by a plain text search: __global__ with a body behind it; comments, strings and
    macros' definitions aside."""
    with open(path, errors="replace", newline="") as file:
        text = file.read().replace("\r\n", "\n")
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    text = re.sub(r"^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
    lines = []
    for found in re.finditer(r"__global__\b", text):
        depth, at = 0, found.end()
        while at < len(text):
            c = text[at]
            depth += c == "("
            depth -= c == ")"
            if not depth and c in "{;":
                if c == "{":
                    lines.append((text.count("\n", 0, found.start()) + 1, text.count("\n", 0, at) + 1))
                break
            at += 1
    return lines


def find_missed(rows, tree, active_kernels):
    """(kernels by text, [(file, line, why)]), over every file of the tree that a compiled file reads."""
    kernels = {}  # file -> line -> state, reason; marked somewhere counts
    users = {}  # file -> a compiled file that reads it
    for row in rows:
        users[row["path"]] = row
        for place in row["places"]:
            if not place["file"].startswith(tree + os.sep):
                continue
            users.setdefault(place["file"], row)
            if place["kind"] == "kernel":
                lines = kernels.setdefault(place["file"], {})
                if lines.get(place["line"], ("", ""))[0] != "marked":
                    lines[place["line"]] = place["state"], place["reason"]
    total, missed, inactive, seen = 0, [], 0, {}
    for path, row in sorted(users.items()):
        above = 0
        for line, body in text_kernels(path):
            # a place is where the declaration begins: its template line may stand far above
            known = [kernels.get(path, {}).get(l) for l in range(max(above + 1, line - 40), body + 1)]
            above = body
            known = [k for k in known if k]
            if any(k[0] == "marked" for k in known):
                total += 1
                continue
            if row["path"] not in seen:
                seen[row["path"]] = active_kernels(row["path"])
            if not any(l in seen[row["path"]].get(path, ()) for l in range(line, body + 1)):
                inactive += 1
                continue
            total += 1
            missed.append((path, line, known[0][1] if known else "not found"))
    return total, missed, inactive


def unique_places(rows):
    """Each place once, though many files may read its header: left alone in one is left alone."""
    places = {}
    for row in rows:
        for place in row["places"]:
            key = place["kind"], place["file"], place["line"], place["column"], place["name"]
            if place["state"] == "error":
                place["state"] = "left"
            if place["state"] in ("marked", "left") and places.get(key, {}).get("state") != "left":
                places[key] = place
    return places.values()


def share(places, kind):
    count = Counter(p["state"] for p in places if p["kind"] == kind)
    marked, left = count["marked"], count["left"]
    return "%.1f%%" % (100.0 * marked / (marked + left)) if marked + left else "no", marked, marked + left


def print_tables(rows, tree, asked, active_kernels):
    good = [r for r in rows if r["compiled"]]
    lost = sum(r["lost"] for r in rows)
    total, missed, inactive = find_missed(good, tree, active_kernels)
    for path, line, why in missed:
        print("missed   %s:%d: %s" % (os.path.relpath(path, tree), line, why))
    places = list(unique_places(good))
    reasons = Counter((p["kind"], p["reason"]) for p in places if p["state"] == "left")
    for (kind, reason), count in reasons.most_common():
        print("left     %5d %s: %s" % (count, kind, reason))
    skipped = Counter(re.sub(r".*?error", "error", r["why"][0]) for r in rows if not r["compiled"])
    for reason, count in skipped.most_common():
        print("skipped  %5d %s" % (count, reason))
    print("files    %d of %d compile before, %d after; %d give new warnings, %d lack some; %d marked copies stripped" %
          (len(good), len(rows), len(good) - lost, sum(bool(r["new"]) for r in good),
           sum(bool(r["absent"]) for r in good), sum(r["copies"] for r in good)))
    print("kernels  %d by text, %d marked, %d missed; %d more are cut by the preprocessor" %
          (total, total - len(missed), len(missed), inactive))
    print("parse    %d full, %d header-less" % tuple(sum(r.get("parse") == p for r in good)
                                                     for p in ("full", "header-less")))
    timed = [r for r in good if "parse_seconds" in r]
    if timed:
        spent, bare = sum(r["seconds"] for r in timed), sum(r["parse_seconds"] for r in timed)
        print("time     %.1f s in all, %.1f s of it the bare parse: factor %.2f" % (spent, bare, spent / bare))
    for rules in asked:
        front, plain = sum(r["front"].get(rules, 0) for r in good), sum(r["plain"] for r in good)
        if plain:
            print("nvcc     %.1f s plain, %.1f s with the front and %s rules: factor %.2f" %
                  (plain, front, rules, front / plain))
    calls, loops, waits = (share(places, k) for k in ("call", "loop", "wait"))
    print("counts   calls %d of %d, loops %d of %d, waits %d of %d" % (calls[1:] + loops[1:] + waits[1:]))
    print("%d files, %d lost, %d kernels, %d missed, %s of calls, %s of loops, %s of waits marked" %
          (len(good), lost, total, len(missed), calls[0], loops[0], waits[0]))
    return 1 if lost else 0
