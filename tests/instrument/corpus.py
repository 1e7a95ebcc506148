# SPDX-License-Identifier: MIT
"""The work of tests/corpus.sh: see there."""
import hashlib, json, os, random, re, shlex, shutil, signal, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

import corpus_bounds
import corpus_table

EVERY = "--calls --loops --waits --depth 8"
RULES = {"every": EVERY, "default": ""}

bounded = sys.argv[1] == "--bounds"
tree, inkmark = os.path.realpath(sys.argv[1 + bounded]), os.path.abspath(sys.argv[2 + bounded])
flags = shlex.split(os.environ.get("CORPUS_FLAGS", ""))
flags += [] if any("arch" in f or "gencode" in f for f in flags) else ["-arch=sm_80" if bounded else "-arch=compute_80"]
asked = {"all": ["every"], "default": ["default"], "none": []}.get(os.environ.get("CORPUS_RULES"), ["every", "default"])
output = os.environ.get("CORPUS_OUTPUT", "-c")
cache = os.environ.get("CORPUS_CACHE")
with open(inkmark, "rb") as command:
    program = hashlib.sha256(command.read()).hexdigest()


def run(command, **more):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1800, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "error: took longer than 1800 s")


def command_line(path, out):
    return [output, path, "-o", out, "-I" + os.path.dirname(path)] + flags


def compile_plain(path, work):
    """What nvcc says of the unmarked file: code, messages, seconds."""
    words = ["nvcc"] + command_line(path, work + "/before.o")
    with open(path, "rb") as file:
        key = hashlib.sha256(repr(words[:3] + words[4:]).encode() + file.read()).hexdigest()
    kept = cache and os.path.join(cache, key)
    if kept and os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    begun = time.monotonic()
    done = run(words, cwd=os.path.dirname(path))
    row = {"code": done.returncode, "text": done.stderr, "seconds": time.monotonic() - begun}
    if kept:
        os.makedirs(cache, exist_ok=True)
        with open(kept, "w") as file:
            json.dump(row, file)
    return row


def first_error(text):
    lines = text.strip().splitlines() or ["no message"]
    return next((l for l in lines if "error" in l), lines[0])[:220]


def warnings(text):
    """Which warnings, and on which lines; their column and the text around them may differ."""
    return set(re.findall(r"^[^\s:(]+[:(]\d+[:)].*?warning[^\n]*", text, flags=re.M))


def compare_copies(work, row):
    """Every marked copy below `work`, stripped, must be the file it mirrors."""
    for folder, _, names in os.walk(work):
        for name in names:
            copy = os.path.join(folder, name)
            at = copy.find(tree + "/", len(work))
            if at < 0 or not os.path.exists(copy[at:]):
                continue
            back = work + "/back"
            run([inkmark, "instrument", "--strip", copy, "-o", back])
            row["copies"] += 1
            with open(copy[at:], "rb") as original:
                if not os.path.exists(back) or open(back, "rb").read() != original.read():
                    lose(row, "strip does not give '%s' back" % os.path.relpath(copy[at:], tree))
            if os.path.exists(back):
                os.remove(back)


def lose(row, why):
    row["lost"] = True
    row["why"].append("LOST: " + why)


def compile_marked(path, rules, before, row):
    with tempfile.TemporaryDirectory() as work:
        env = dict(os.environ, INKMARK_STRICT="1", INKMARK_KEEP="1", TMPDIR=work,
                   INKMARK_RULES="%s --root %s" % (RULES[rules], tree))
        begun = time.monotonic()
        done = run([inkmark, "nvcc"] + command_line(path, work + "/after.o"), env=env, cwd=os.path.dirname(path))
        row["front"][rules] = time.monotonic() - begun
        unmarked = [l for l in done.stderr.splitlines() if l.startswith("inkmark") and "without marks" in l]
        if done.returncode:
            lose(row, "%s rules: %s" % (rules, first_error(done.stderr)))
        elif unmarked:
            lose(row, "%s rules: %s" % (rules, unmarked[0][:220]))
        marked, plain = warnings(done.stderr), warnings(before["text"])
        for kind, texts in (("new", marked - plain), ("absent", plain - marked)):
            row[kind] += sorted(texts)
            for text in sorted(texts)[:3]:
                row["why"].append("%s warning, %s rules: %s" % (kind, rules, text[:200]))
        compare_copies(work, row)


def list_places(path, row):
    begun = time.monotonic()
    listed = run([inkmark, "instrument", "--list", "--out-dir", "/nonexistent", "--format", "json", "--root", tree,
                  path] + EVERY.split() + ["--", "-I" + os.path.dirname(path)] + flags, cwd=os.path.dirname(path))
    row["seconds"] = time.monotonic() - begun
    if listed.returncode not in (0, 1) or not listed.stdout:
        lose(row, "no list (code %d): %s" % (listed.returncode, first_error(listed.stderr)))
        return
    data = json.loads(listed.stdout)["files"][0]
    row["parse"], row["parse_seconds"] = data["parse"], data["parse_seconds"]
    row["parse_reason"] = data["parse_reason"]
    row["places"] = data["places"]
    for place in row["places"]:
        place["file"] = os.path.realpath(os.path.join(os.path.dirname(path), place["file"]))


def active_kernels(path):
    """Lines with a __global__ that is left after preprocessing: {file: lines}."""
    done = run(["nvcc", "-E", path, "-I" + os.path.dirname(path)] + flags, cwd=os.path.dirname(path))
    found, file, line = {}, path, 0
    for text in done.stdout.splitlines():
        marker = re.match(r'#\s*(?:line\s+)?(\d+)\s+"([^"]*)"', text)
        if marker:
            line, file = int(marker[1]), os.path.realpath(os.path.join(os.path.dirname(path), marker[2]))
            continue
        if re.search(r"__attribute__\(\((__)?global(__)?\)\)", text):
            found.setdefault(file, set()).add(line)
        line += 1
    return found


def kept_one(path):
    """one(), from the cache where this command did the same file with the same flags before."""
    if not cache:
        return one(path)
    with open(path, "rb") as file:
        text = repr([path, flags, output, asked, program] + ["bounds"] * bounded).encode() + file.read()
    kept = os.path.join(cache, hashlib.sha256(text).hexdigest() + ".row")
    if os.path.exists(kept):
        with open(kept) as file:
            return json.load(file)
    row = one(path)
    if bounded and not row["compiled"]:
        return row  # perhaps it was ended
    os.makedirs(cache, exist_ok=True)
    with open(kept, "w") as file:
        json.dump(row, file)
    return row


def bound_one(path):
    """What --bounds measures of one source."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(os.path.dirname(inkmark), "../tests/instrument/corpus_count")
    top = re.search(r"TOP=(\S+)", run(["nvcc", "--dryrun", "-c", path]).stderr)
    cuda = os.path.realpath(top[1] if top else os.path.join(os.path.dirname(os.path.realpath(shutil.which("nvcc"))), ".."))
    return corpus_bounds.measure(path, tree, inkmark, flags, os.environ.get("CORPUS_COUNT", beside), cuda,
                                 os.path.join(here, "../../device"))


def one(path):
    if bounded:
        return bound_one(path)
    row = {"file": os.path.relpath(path, tree), "path": path, "why": [], "lost": False, "compiled": False,
           "new": [], "absent": [], "places": [], "front": {}, "copies": 0}
    with tempfile.TemporaryDirectory() as work:
        before = compile_plain(path, work)
    row["plain"] = before["seconds"]
    if before["code"]:
        row["why"].append("nvcc does not compile it: " + first_error(before["text"]))
        return row
    row["compiled"] = True
    for rules in asked:
        compile_marked(path, rules, before, row)
    list_places(path, row)
    return row


def main():
    temporary = os.environ.get("TMPDIR", "/tmp")
    if not os.access(temporary, os.W_OK):  # nvcc would fail on every file, and the cache remember it
        sys.exit(f"corpus: cannot write to TMPDIR '{temporary}'")
    files = sorted(os.path.join(d, f) for d, _, names in os.walk(tree) for f in names if f.endswith(".cu"))
    only, most = os.environ.get("CORPUS_FILES"), int(os.environ.get("CORPUS_MAX", "0"))
    files = [f for f in files if not only or re.search(only, os.path.relpath(f, tree))]
    if most and len(files) > most:
        seed = os.environ.get("CORPUS_SEED")
        files = (sorted(random.Random(int(seed)).sample(files, most)) if seed else
                 [files[i * len(files) // most] for i in range(most)])
    rows = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ThreadPoolExecutor(int(os.environ.get("CORPUS_JOBS", "1"))) as pool:
        try:
            for row in pool.map(kept_one, files):
                rows.append(row)
                state = "lost" if row.get("lost") or any("LOST" in w for w in row["why"]) else "ok" if row["compiled"] else "skipped"
                print("%-8s %s%s" % (state, row["file"], "".join("\n         " + w for w in row["why"])), flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("stopped  after %d of %d files; what follows is of these" % (len(rows), len(files)))
    if bounded:
        if os.environ.get("CORPUS_ROWS"):
            with open(os.environ["CORPUS_ROWS"], "a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
        return 0 if corpus_bounds.print_bounds(rows) else 1
    return corpus_table.print_tables(rows, tree, asked, active_kernels)


sys.exit(main())
