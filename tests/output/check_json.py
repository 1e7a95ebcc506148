# SPDX-License-Identifier: MIT
"""The JSON output, parsed by Python: statistics and totals equal to the tables, clock quality, and no
integer that a reader with doubles would round.

check_json.py OUTPUT_TOOL"""
import json
import os
import sys

from scratch import Scratch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../report"))
import schema  # noqa: E402


def integers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from integers(v)
    elif isinstance(value, int):
        yield value


def main(tool):
    with Scratch(tool) as scratch:
        capture = scratch.make("mixed")
        truth = scratch.dump(capture)
        with open(scratch.write("json", capture, "mixed.tables.json"), encoding="utf-8") as f:
            (summary,) = schema.load(f.read())["captures"]
        assert summary["simulated_clock"] and [d["clock"] for d in summary["devices"]] == ["simulated clock", "GPU clock"]
        assert all(d["clock_quality"]["has_host"] and d["clock_quality"]["bound_ns"] > 0
                   for d in summary["devices"])
        assert summary["command"] == "./solver --case '</script>'"
        kernels = summary["kernels"]
        assert [(k["kernel"], k["launches"], k["tracks"], k["marks_executed"], k["marks_kept"],
                 k["marks_dropped"], k["missed"]) for k in kernels] == [
            (k["name"], k["launches"], k["tracks"], k["executed"], k["kept"], k["dropped"],
             k["missed"]) for k in truth["kernels"]]
        assert kernels[0]["unseen"] == ["NeverPassed"]
        assert [(k["kernel"], r["section"], r["count"], r["cut"], r["total_cycles"], r["total_ns"],
                 r.get("min_cycles", 0), r.get("max_cycles", 0)) for k in kernels for r in k["rows"]] == [
            (r["kernel"], r["name"], r["count"], r["cut"], r["total_cycles"], r["total_ns"],
             *((0, 0) if r["name"] == "(unmarked)" else (r["min_cycles"], r["max_cycles"]))) for r in truth["table"]]
        assert all(abs(i) < 2**53 for i in integers(summary))
        assert int(summary["begin_ns"]) == min(int(e["open_ns"]) for e in truth["events"]
                                               if e["kind"] == "track")
        with open(scratch.write("json", capture, "main.tables.json", "Main")) as f:
            assert [k["kernel"] for k in json.load(f)["captures"][0]["kernels"]] == ["Main"]
        hung = scratch.make("open")
        for kernel, places in (("", [("Step", 0, "block 1", "Inner", "UpdateConstraint"),
                                     ("Step", 0, "block 2", None, "Gradient"), ("Main", 1, "block 0", None, "Wait")]),
                               ("Main", [("Main", 1, "block 0", None, "Wait")])):
            with open(scratch.write("json", hung, "open.tables.json", kernel)) as f:
                told = schema.load(f.read())["captures"][0]["open"]
            assert [(o["kernel"], o["launch"], o["place"], o["inside"], o["after"]) for o in told] == places, told
    print("ok")


main(sys.argv[1])
