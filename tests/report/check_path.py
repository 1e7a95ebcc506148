# SPDX-License-Identifier: MIT
"""`report --path` on made-up captures whose critical path is known: each section's part of the path within 5 % of
its length (15 % where two paths are nearly as long), and the edges that were taken. check_path.py INKMARK MADE_UP_PATH [SEEDS]"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

inkmark, made_up = (os.path.abspath(path) for path in sys.argv[1:3])
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
WAITS = "LineSearch|UpdateConstraint"
# one moment is the end of one section and the begin of the next
PRODUCED = [("is in", "StepLast"), ("leaves", "StepLast"), ("comes to", "UpdateConstraint")]
CONSUMED = [("is in", "Gradient"), ("comes to", "Gradient"), ("leaves", "Hessian")]


def report(*more):
    return subprocess.run([inkmark, "report", "--path", "--waits", WAITS, *more, "x.ink"], capture_output=True,
                          text=True, check=True).stdout


def compare(seed, kind, keys, ends, good_to=0.05):
    made = subprocess.run([made_up, "x.ink", str(seed), kind, *keys], capture_output=True, text=True, check=True).stdout
    truth = json.loads(made)
    path = json.loads(report("-f", "json"))["captures"][0]
    where = (seed, kind, keys)
    length = path["end_ns"] - path["begin_ns"]
    assert abs(length - truth.pop("length")) <= 4, (where, length)  # openings and closings are read a cycle later
    steps = path["steps"]
    assert steps[-1]["end_ns"] == path["end_ns"] and steps[0]["edge"] is None, where
    for one, following in zip(steps, steps[1:]):
        assert one["end_ns"] == following["begin_ns"] and one["begin_ns"] <= one["end_ns"], (where, one, following)
    told = {s["section"]: s["path_ns"] for s in path["sections"]}
    for section, ns in truth.items():
        assert abs(told.get(section, 0) - ns) <= good_to * length, (where, section, ns, told, path["edges"])
    found = {e["wait"]: (e["sign"], e["section"]) for e in path["edges"]}
    for wait, signs in ends.items():
        assert found.get(wait) in signs, (where, wait, path["edges"])
    return path


def page():
    """The HTML page has the same path, by the usual names of waits."""
    subprocess.run([made_up, "x.ink", "3", "pipeline", "blocks=9", "slots=4", "tiles=20"], capture_output=True, check=True)
    told = json.loads(subprocess.run([inkmark, "report", "--path", "-f", "json", "x.ink"], capture_output=True, text=True,
                                     check=True).stdout)["captures"][0]
    subprocess.run([inkmark, "export", "x.ink", "-o", "x.html"], capture_output=True, check=True)
    with open("x.html") as file:
        path = json.loads(re.search(r'id="path">(.*?)</script>', file.read())[1])
    assert path["launch"] == told["launch"] and path["ns"] == told["end_ns"] - told["begin_ns"] and path["slots"] >= 1, path
    assert [s[:2] for s in path["shares"]] == [[s["section"], s["path_ns"]] for s in told["sections"]], (path, told["sections"])
    subprocess.run([made_up, "x.ink", "3", "pipeline"], capture_output=True, check=True)  # one block: nothing waits, by name
    subprocess.run([inkmark, "export", "x.ink", "-o", "x.html"], capture_output=True, check=True)
    with open("x.html") as file:
        none = json.loads(re.search(r'id="path">(.*?)</script>', file.read())[1])
    assert none["launch"] == 0 and none["why"].startswith("nothing tells that a track waited") and "shares" not in none, none


def slack():
    """What the fast side of a barrier could be late by is what the slow one takes longer; the slow one has none."""
    for uneven in 300, 900:
        subprocess.run([made_up, "x.ink", "5", "barrier", "warps=3", "scatter=0", f"uneven={uneven}"], capture_output=True,
                       check=True)
        path = json.loads(report("-f", "json"))["captures"][0]
        told = {s["section"]: s["slack_ns"] for s in path["sections"]}
        assert abs(told["Hessian"] - uneven) <= 4 and told["StepLast"] <= 4 and told["LineSearch"] is None, (uneven, told)
        # of blocks that follow each other on one slot all are on the path
        subprocess.run([made_up, "x.ink", "5", "barrier", "warps=3", "scatter=0", f"uneven={uneven}", "blocks=3", "slots=1",
                        "tiles=30"], capture_output=True, check=True)
        told = {s["section"]: s["slack_ns"] for s in json.loads(report("-f", "json"))["captures"][0]["sections"]}
        assert told["StepLast"] <= 4, (uneven, told)
    alone = compare(3, "pipeline", ["warps=5", "produce=1500", "consume=600"], {})  # one block: ends of its other tracks
    ends = [alone["steps"][-1]["track"]] + [other["track"] for other in alone["next_paths"]]
    assert len(set(ends)) == 3, ends
    path = compare(3, "pipeline", ["blocks=9", "slots=4", "tiles=20", "produce=1500", "consume=600"], {})
    others = path["next_paths"]
    assert len(others) == 2 and path["end_ns"] >= others[0]["end_ns"] >= others[1]["end_ns"], others
    for other in others:  # each fills its time, from its first step to its end
        assert 0 <= path["end_ns"] - other["end_ns"] < path["end_ns"] - path["begin_ns"]
        assert path["begin_ns"] <= other["parts_ns"] <= other["end_ns"]
        assert abs(sum(s["path_ns"] for s in other["sections"]) - (other["end_ns"] - path["begin_ns"])) <= 4, other


def in_flight():
    """How many ranges across threads are open at a time, against the slices of the exported trace."""
    for kind, more in (("pipeline", "stages=4"), ("pipeline", "produce=300"), ("barrier", "warps=5")):
        subprocess.run([made_up, "x.ink", "4", kind, "marked=1", "tiles=60", more], capture_output=True, check=True)
        subprocess.run([inkmark, "export", "x.ink", "-o", "x.json"], capture_output=True, check=True)
        with open("x.json") as file:
            slices = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "shared"]
        moments = sorted([(round(1e3 * (e["ts"] + e["dur"])), -1) for e in slices] + [(round(1e3 * e["ts"]), 1) for e in slices])
        now = most = total = 0
        for (at, step), (following, _) in zip(moments, moments[1:] + moments[-1:]):
            now += step
            most = max(most, now)
            total += now * (following - at)
        one = json.loads(subprocess.run([inkmark, "report", "-f", "json", "x.ink"], capture_output=True, text=True,
                                        check=True).stdout)["captures"][0]["kernels"][0]["crossings"][0]
        mean = total / (moments[-1][0] - moments[0][0])
        assert one["count"] == len(slices) > 50 and one["most_in_flight"] == most > 1, (one, most)
        assert abs(one["mean_in_flight"] - mean) < 0.01 * mean, (one, mean)


def main():
    for seed in range(SEEDS):
        choose = random.Random(seed)
        warps = f"warps={choose.randrange(2, 7)}"
        stages = f"stages={choose.randrange(1, 5)}"
        slow = ["produce=1500", "consume=600"]
        compare(seed, "pipeline", [warps, stages, *slow], {"LineSearch": PRODUCED})
        compare(seed, "pipeline", [warps, stages, "produce=500", "consume=1400"], {"UpdateConstraint": CONSUMED})
        compare(seed, "pipeline", [warps, stages, f"scatter={choose.randrange(5, 60)}"], {},
                0.15)  # both sides are nearly critical: waits of a few cycles decide
        compare(seed, "barrier", [f"warps={choose.randrange(3, 7)}", f"scatter={choose.randrange(20, 60)}"],
                {"LineSearch": [("came last", "LineSearch")]})
        marked = f"marked={1 + seed % 2}"  # in a block, or each warp a block, of which nothing else is known
        for kind, keys in (("pipeline", [warps, stages, *slow]), ("pipeline", [warps, stages, "produce=500", "consume=1400"]),
                           ("barrier", [f"warps={choose.randrange(3, 7)}", "scatter=40"])):
            path = compare(seed, kind, [*keys, marked], {})
            edges = [s["edge"] for s in path["steps"]]  # whom everybody waits for waits for nobody
            assert edges.count("marked") >= (10 if kind == "barrier" else 1), (seed, kind, edges)
            assert not {"hand-over", "last of several"} & set(edges), (seed, kind, edges)
        blocks = compare(seed, "pipeline", ["blocks=9", "slots=4", "tiles=20", *slow], {"LineSearch": PRODUCED})
        assert sum(s["edge"] == "slot" for s in blocks["steps"]) >= 1
    page()
    slack()
    in_flight()
    keys = ["warps=3", "produce=1500", "consume=600"]
    compare(1, "pipeline", [*keys, "marked=2"], {})
    try:  # the same without the ranges is not known: the check above can fail
        compare(1, "pipeline", [*keys, "marked=3"], {})
    except AssertionError:
        pass
    else:
        raise SystemExit("waits for other blocks were told without marks")
    for lost in (0, 3):
        subprocess.run([made_up, "x.ink", "1", "pipeline", "tiles=20", "blocks=9", "slots=2", f"lost={lost}"], capture_output=True,
                       check=True)
        path = json.loads(report("-f", "json"))["captures"][0]
        assert (path["blocks"], path["blocks_seen"]) == (9, 9 - lost), path["blocks_seen"]
        subprocess.run([inkmark, "export", "x.ink", "-o", "x.html"], capture_output=True, check=True)
        with open("x.html") as file:
            none = json.loads(re.search(r'id="path">(.*?)</script>', file.read())[1])
        assert none.get("why") == ("3 of 9 blocks have no track here" if lost else None), none
        assert ("3 of 9 blocks have no track here" in report()) == bool(lost), report()
    for kind in ("pipeline", "barrier"):  # tracks that last no time, on slots of others that do not either
        subprocess.run([made_up, "x.ink", "1", kind, "tiles=0", "blocks=9", "slots=2"], capture_output=True, check=True)
        assert "critical path" in report() and json.loads(report("-f", "json"))["captures"][0]["launch"] == 0
    subprocess.run([made_up, "x.ink", "1", "pipeline", "produce=1500", "consume=600"], capture_output=True, check=True)
    text = report("--all")
    assert "critical path of launch 0" in text and "LineSearch ends when another track leaves StepLast" in text, text
    for wrong in (["-f", "csv"], ["--activity"], ["--check", "Step/Hessian p99 < 1us"]):
        done = subprocess.run([inkmark, "report", "--path", *wrong, "x.ink"], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "--path" in done.stderr, done
    done = subprocess.run([inkmark, "report", "--path", "--launch", "9", "x.ink"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "9" in done.stderr, done
    print(f"{8 * SEEDS} paths")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
