# SPDX-License-Identifier: MIT
"""Captures of which everything that compares all with all would take minutes of CPU: every report is done within a limit
that it needs a small part of, with sanitizers too, and says what is there.

check_hostile.py INKMARK MADE_UP_HOSTILE CHECK..."""
import json
import os
import resource
import subprocess
import sys
import tempfile

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:3])
SECONDS = 40  # of CPU: it does not matter who else is on the machine


def run(*arguments, code=0, seconds=SECONDS):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    done = subprocess.run([inkmark, *arguments], capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == code, (arguments, done.returncode, done.stderr[-400:])
    return done.stdout if not code else done.stderr


def make(kind, n):
    subprocess.run([made_up, "x.ink", kind, str(n)], check=True)


def tables(*more):
    return json.loads(run("report", "-f", "json", *more, "x.ink"))["captures"][0]


def kernels():
    n = 8000
    make("kernels", n)
    told = tables()
    found = [f for f in told["findings"] if f["id"] == "wait"]
    assert len(told["kernels"]) >= n and len(found) == n, (len(told["kernels"]), len(found))
    assert {f["kernel_index"] for f in found} == {i for i, k in enumerate(told["kernels"]) if k["tracks"]}
    assert all(f["text"].startswith("s0 (warp 0) holds the others: wait1 (warp 1) waits 88.9 % of its time") for f in found), found[0]
    run("report", "--by", "instance", "--head", "x.ink")
    text = run("report", "x.ink")
    assert text.count("\nkernel ") == n and text.count("[wait]") == 5  # without --all
    assert run("report", "--variance", "x.ink").count("wait1 ") == n
    assert "too few samples" in run("diff", "x.ink", "x.ink")


def crossings():
    n = 80000
    make("crossings", n)
    (kernel,) = [k for k in tables()["kernels"] if k["tracks"]]
    assert len(kernel["crossings"]) == n and {c["count"] for c in kernel["crossings"]} == {1}


def waits():
    make("waits", 8000)
    path = json.loads(run("report", "--path", "-f", "json", "x.ink"))["captures"][0]
    assert len(path["edges"]) == 4000, len(path["edges"])
    run("report", "x.ink")
    make("waits", 10)  # the other 7,990 were not passed: some of them are named, all with --all
    unseen = next(line for line in run("report", "x.ink").splitlines() if "no recording thread passed" in line)
    assert "s10, wait11" in unseen and "7,970 more (--all)" in unseen and len(unseen) < 400, unseen
    assert "wait7999" in run("report", "--all", "x.ink")


def peers():
    make("peers", 16000)
    assert "too many tracks that wait" in run("report", "--path", "x.ink", code=1)
    run("export", "-q", "x.ink", "-o", "x.pftrace")
    run("report", "x.ink")


def large():
    """A file of gigabytes is announced before it is written, and not where less is asked for."""
    make("large", 256)  # 16.8 million marks
    for name, about in (("x.json", "2.0 GiB"), ("x.csv", "2.0 GiB"), ("x.pftrace", None), ("x.csv.gz", None)):
        form = {"json": "chrome", "csv": "csv", "pftrace": "perfetto", "gz": "csv"}[name.rpartition(".")[2]]
        writing = subprocess.Popen([inkmark, "export", "-f", form, "x.ink", "-o", name], stderr=subprocess.PIPE, text=True)
        if about:
            said = writing.stderr.readline()
            assert f"'{name}' will be about {about}" in said and "--time" in said, said
        writing.kill()
        assert about or "will be about" not in writing.communicate()[1]
        writing.wait()
    assert "will be about" not in subprocess.run([inkmark, "export", "x.ink", "-o", "x.json", "--blocks", "0"], check=True,
                                                 capture_output=True, text=True).stderr


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    checks = {"kernels": kernels, "crossings": crossings, "waits": waits, "peers": peers, "large": large}
    for check in (checks[name] for name in sys.argv[3:]):
        check()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"ok: {check.__name__}, {used.ru_utime:.1f} s of CPU so far")
