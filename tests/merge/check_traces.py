# SPDX-License-Identifier: MIT
# Public traces of other profilers, of which traces.tsv tells where they are from: every kernel of each is read, with its
# device, stream, times and name, as a second reader has them (second_reader.py). The folder is what fetch_traces.sh filled;
# what is not there is skipped, and counted.
# check_traces.py FOREIGN_TOOL FOLDER [PRODUCERS]: PRODUCERS of those there must be, where all are
import collections, hashlib, json, os, subprocess, sys
import second_reader

tool, folder = sys.argv[1:3]
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "traces.tsv")) as file:
    rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
assert len(rows) >= 40 and len({r[0] for r in rows}) >= 6 and len({r[4] for r in rows}) == len(rows), "the list"
checked, missing, kernels = collections.Counter(), 0, 0
for producer, repository, commit, path, digest, size in rows:
    trace = os.path.join(folder, digest)
    if not os.path.exists(trace):
        missing += 1
        continue
    with open(trace, "rb") as data:
        assert hashlib.sha256(data.read()).hexdigest() == digest, f"{trace} is not what the list says"
    run = subprocess.run([tool, trace], capture_output=True, text=True, errors="surrogateescape", check=True)
    got = json.loads(run.stdout, strict=False)
    assert got["status"] == 0, (path, got)
    base, expected = second_reader.read(trace)
    base = 0 if base and expected and min(e[2] for e in expected) > 10 ** 18 else base
    shown = lambda name: name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    want = collections.Counter((d, s, base + b, n, shown(name)) for d, s, b, n, name in expected)
    have = collections.Counter((k["device"], k["stream"], k["begin"], k["end"] - k["begin"], shown(k["name"])) for k in got["kernels"])
    assert want == have, (repository, path, list((want - have).items())[:3], list((have - want).items())[:3])
    assert want, path
    checked[producer] += 1
    kernels += sum(want.values())
if missing:
    print(f"SKIPPED {missing} of {len(rows)} traces: not in '{folder}', tests/merge/fetch_traces.sh fetches them")
if not checked:
    sys.exit(77)
print(f"{sum(checked.values())} traces, {kernels} kernels: " + ", ".join(f"{n} {p}" for p, n in sorted(checked.items())))
