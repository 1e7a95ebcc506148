# SPDX-License-Identifier: MIT
# Joins where another place fits nearly as well: one launch, two, loops that are even to within a jitter, a part of
# the run, an unknown base, kernels that are missing or too many on either side. No wrong join is called certain,
# and of the joins that can be known by trying every offset that the clocks allow, 95 in 100 are made.
# check_rivals.py INKMARK PLAN_CAPTURE [FIRST_SEED [SEEDS]]
import bisect, json, os, random, subprocess, sys, tempfile

inkmark, plan_capture = sys.argv[1:3]
first = int(sys.argv[3]) if sys.argv[3:] else 1
seeds = int(sys.argv[4]) if sys.argv[4:] else 40
folder = tempfile.TemporaryDirectory(prefix="inkmark-rivals-")
here = lambda name: os.path.join(folder.name, name)
UNIX, GLOBAL = 1750000000000000000, 10 ** 12


def loop(r):
    """Kernels of a run as (begin_us, dur_us), and how far they move from an even loop."""
    period = 10 ** r.uniform(0.7, 3.7)  # 5 us to 5 ms
    jitter = r.choice([0, 0.05, 0.3, 1, 5]) * r.random()
    dur = min(20, period / 1.5)
    t, kernels = 1000.0, []
    for _ in range(r.choice([1, 2, 3, 5, 20, 100, 400])):
        kernels.append((round(t, 3), round(max(0.5, dur + r.gauss(0, jitter)), 3)))
        t = max(t + kernels[-1][1] + 0.1, t + period + r.gauss(0, jitter))
    return kernels


def irregular(r):
    t, kernels = 1000.0, []
    for _ in range(r.choice([1, 2, 20, 100])):
        kernels.append((round(t, 3), round(r.uniform(3, 40), 3)))
        t += kernels[-1][1] + r.uniform(1, 400)
    return kernels


def case(seed):
    r = random.Random(seed)
    kernels = (loop if r.random() < 0.7 else irregular)(r)
    n = len(kernels)
    known = r.random() < 0.7
    offset = r.choice([0, 0, 20, 160, 1500]) * r.random() if known else r.uniform(-10 ** 6, 10 ** 6)  # us
    low, high = 0, n
    if n > 5 and r.random() < 0.4:  # a part of the run was captured
        low = r.randrange(n // 2)
        high = r.randrange(low + max(1, n // 4), n + 1)
    lost = r.choice([0, 0, 0.02]) if n > 20 else 0
    theirs = [i for i in range(n) if r.random() >= lost]
    ours = [i for i in range(low, high) if r.random() >= lost]
    events = [{"ph": "X", "cat": "kernel", "name": "step", "pid": 0, "tid": 7, "ts": kernels[i][0], "dur": kernels[i][1], "args": {
        "device": 0, "stream": 7, "correlation": i + 1, "grid": [8, 1, 1], "block": [128, 1, 1]}} for i in theirs]
    document = {"traceEvents": events}
    if known:
        document["baseTimeNanoseconds"] = UNIX
    spans = []
    lines = [f"fact host made-up\nfact pid {seed}\nfact started_ns {UNIX}\ndevice 0 {UNIX - 10 ** 10} {GLOBAL - 10 ** 10} 20000000000 1\nkernel step\nbegin\n"]
    for i in ours:
        begin, dur = int(kernels[i][0] * 1000), int(kernels[i][1] * 1000)
        edge = min(dur // 4, 800)
        begin, end = begin + r.randint(0, edge), begin + dur - r.randint(0, edge)
        shift = GLOBAL - int(offset * 1000)
        spans.append((i + 1, begin - int(offset * 1000), end - int(offset * 1000)))
        lines.append(f"launch 0 0 {i + 1} 8 1 1 128 1 1 {shift + begin} {shift + end}\n")
    return document, "".join(lines), spans


SLACK, FARTHEST = 2, 20 * 10 ** 6  # ns: times are rounded; clocks of one host that both are Unix time


def oracle(document, spans):
    """{launch: kernel} that are the same at every offset at which the most launches lie inside kernels."""
    kernels = sorted((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["args"]["correlation"]) for e in document["traceEvents"])
    limit = FARTHEST if "baseTimeNanoseconds" in document else 10 ** 18
    steps = []
    for _, begin, end in spans:
        for b, e, _ in kernels:
            low, high = max(b - begin - SLACK, -limit), min(e - end + SLACK, limit)
            if low <= high:
                steps += [(low, 0), (high, 1)]
    steps.sort()
    depth = best = 0
    for _, closes in steps:
        depth += -1 if closes else 1
        best = max(best, depth)
    if 2 * best < len(spans):
        return {}
    known, begins = None, [k[0] for k in kernels]
    for n, (at, closes) in enumerate(steps):
        depth += -1 if closes else 1
        if depth != best or closes:
            continue
        middle, found = (at + steps[n + 1][0]) // 2, {}
        for launch, begin, end in spans:
            k = bisect.bisect_right(begins, begin + middle + SLACK) - 1
            if k >= 0 and end + middle <= kernels[k][1] + SLACK:
                found[launch] = kernels[k][2]
        known = found if known is None else {l: k for l, k in known.items() if found.get(l) == k}
        if not known:
            return {}
    return known or {}


right = certain = wrong = said = refused = possible = could = made = 0
missed = []
for seed in range(first, first + seeds):
    document, plan, spans = case(seed)
    launches = len(spans)
    if not launches or not document["traceEvents"]:
        continue
    with open(here("t.json"), "w") as file:
        json.dump(document, file)
    with open(here("t.plan"), "w") as file:
        file.write(plan)
    subprocess.run([plan_capture, here("t.plan"), here("t.ink")], check=True, stdout=subprocess.DEVNULL)
    run = subprocess.run([inkmark, "export", here("t.ink"), "--with", here("t.json"), "-o", here("o.json"), "--align"], capture_output=True, text=True)
    possible += launches
    known = {launch for launch, kernel in oracle(document, spans).items() if launch == kernel}
    could += len(known)
    if run.returncode and known:
        missed.append((len(known), seed, run.stderr.strip()[-160:]))
    if run.returncode:
        assert run.returncode == 1 and len(run.stderr.splitlines()) == 1, (seed, run)
        refused += launches
        continue
    with open(here("o.json")) as file:
        out = json.load(file)["traceEvents"]
    assert not any(e["ts"] < 0 for e in out if "ts" in e), f"seed {seed}: before time zero"
    for event in out:
        args = event.get("args", {})
        if event["ph"] != "B" or "kernel_correlation" not in args:
            continue
        if args["grid_id"] == args["kernel_correlation"]:
            right += 1
            made += args["grid_id"] in known
            certain += "uncertain" not in args
        else:
            wrong += 1
            said += "uncertain" in args
            assert "uncertain" in args, f"seed {seed}: launch {args['launch']} is called certain and is wrong: {run.stderr}"
print(f"{seeds} seeds, {possible} launches: {right} right ({certain} certain), {wrong} wrong, of which {said} called uncertain, {refused} not joined; "
      f"of {could} that every offset agrees on {made} made")
assert right > possible / 2
assert made >= 0.95 * could, sorted(missed)[-5:]
