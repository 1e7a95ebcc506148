# SPDX-License-Identifier: MIT
"""The work of tests/corpus.sh: see there."""
import json, os, re, shlex, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

tree, inkmark = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
flags = shlex.split(os.environ.get("CORPUS_FLAGS", ""))
flags += [] if any("arch" in f for f in flags) else ["-arch=compute_80"]
jobs = int(os.environ.get("CORPUS_JOBS", "2"))
most = int(os.environ.get("CORPUS_MAX", "0"))
only_all = os.environ.get("CORPUS_RULES") == "all"
EVERY = "--calls --loops --waits --depth 8"


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=900, **more)


def compile_with(front, rules, path, out):
    env = dict(os.environ, INKMARK_STRICT="1", INKMARK_RULES=rules)
    folder = os.path.dirname(path)
    words = (["%s" % inkmark, "nvcc"] if front else ["nvcc"]) + ["-c", path, "-o", out, "-I" + folder]
    return run(words + flags, env=env, cwd=folder)


def text_kernels(path):
    """Kernels by a plain text search: __global__ with a body behind it, comments and strings aside."""
    text = open(path, errors="replace").read()
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.M)
    count = 0
    for found in re.finditer(r"\b__global__\b", text):
        depth, at = 0, found.end()
        while at < len(text):
            c = text[at]
            depth += c == "("
            depth -= c == ")"
            if not depth and c in "{;":
                count += c == "{"
                break
            at += 1
    return count


def one(path):
    row = {"file": os.path.relpath(path, tree), "why": [], "lost": False, "compiled": False, "places": []}
    with tempfile.TemporaryDirectory() as work:
        before = compile_with(False, "", path, work + "/before.o")
        if before.returncode:
            row["why"].append("nvcc does not compile it: " + (before.stderr.strip().splitlines() or ["?"])[0][:150])
            return row
        row["compiled"] = True
        for rules in [EVERY] if only_all else [EVERY, ""]:
            after = compile_with(True, rules, path, work + "/after.o")
            if after.returncode:
                errors = [l for l in after.stderr.splitlines() if "error" in l] or after.stderr.splitlines() or ["?"]
                row["why"].append("LOST with '%s': %s" % (rules, errors[0][:200]))
                row["lost"] = True
            marked, back = work + "/marked.cu", work + "/back.cu"
            words = [inkmark, "instrument", path, "-o", marked] + rules.split()
            done = run(words + ["--", "-I" + os.path.dirname(path)] + flags)
            run([inkmark, "instrument", "--strip", marked, "-o", back])
            if done.returncode or not os.path.exists(back) or open(back, "rb").read() != open(path, "rb").read():
                row["why"].append("LOST: strip does not give the file back (%s)" % done.stderr.strip()[:150])
                row["lost"] = True
        begun = time.monotonic()
        listed = run([inkmark, "instrument", "--list", "--format", "json", path] + EVERY.split() +
                     ["--", "-I" + os.path.dirname(path)] + flags)
        row["seconds"] = time.monotonic() - begun
        if listed.returncode == 0:
            data = json.loads(listed.stdout)["files"][0]
            row["parse"], row["parse_seconds"] = data["parse"], data["parse_seconds"]
            row["places"] = [p for p in data["places"]]
        row["text"] = text_kernels(path)
    return row


def share(rows, kind):
    marked = sum(p["kind"] == kind and p["state"] == "marked" for r in rows for p in r["places"])
    left = sum(p["kind"] == kind and p["state"] in ("left", "error") for r in rows for p in r["places"])
    return "%.1f%%" % (100.0 * marked / (marked + left)) if marked + left else "no", marked, left


files = sorted(os.path.join(d, f) for d, _, names in os.walk(tree) for f in names if f.endswith(".cu"))
if most and len(files) > most:
    files = [files[i * len(files) // most] for i in range(most)]
rows = []
with ThreadPoolExecutor(jobs) as pool:
    for row in pool.map(one, files):
        rows.append(row)
        state = "lost" if row["lost"] else "ok" if row["compiled"] else "skipped"
        print("%-8s %s%s" % (state, row["file"], "".join("\n         " + w for w in row["why"])), flush=True)
good = [r for r in rows if r["compiled"]]
missed = 0
for r in good:
    marked = sum(p["kind"] == "kernel" and p["state"] == "marked" for p in r["places"])
    own = sum(p["kind"] == "kernel" and p["state"] == "marked" and p["file"].endswith(os.path.basename(r["file"]))
              for p in r["places"])
    if r["text"] > own:
        missed += r["text"] - own
        print("kernels  %s: %d by text, %d marked" % (r["file"], r["text"], own))
reasons = {}
for r in good:
    for p in r["places"]:
        if p["state"] in ("left", "error"):
            reasons[(p["kind"], p["reason"])] = reasons.get((p["kind"], p["reason"]), 0) + 1
for (kind, reason), count in sorted(reasons.items(), key=lambda item: -item[1]):
    print("left     %5d %s: %s" % (count, kind, reason))
times = [(r["seconds"], r["parse_seconds"]) for r in good if "parse_seconds" in r]
print("parse    %d full, %d header-less" % (sum(r.get("parse") == "full" for r in good),
                                            sum(r.get("parse") == "header-less" for r in good)))
if times:
    print("time     %.1f s in all, %.1f s of it the bare parse: factor %.2f" %
          (sum(t for t, _ in times), sum(p for _, p in times), sum(t for t, _ in times) / sum(p for _, p in times)))
lost = sum(r["lost"] for r in rows)
kernels = sum(r.get("text", 0) for r in good)
calls, loops, waits = (share(good, k) for k in ("call", "loop", "wait"))
print("counts   calls %d of %d, loops %d of %d, waits %d of %d" % tuple(
    n for s in (calls, loops, waits) for n in (s[1], s[1] + s[2])))
print("%d files, %d lost, %d kernels, %d missed, %s of calls, %s of loops, %s of waits marked" %
      (len(good), lost, kernels, missed, calls[0], loops[0], waits[0]))
sys.exit(1 if lost else 0)
