# SPDX-License-Identifier: MIT
"""The JSON output, parsed by Python: statistics and totals equal to the tables, clock quality, and no
integer that a reader with doubles would round.

check_json.py OUTPUT_TOOL"""
import json
import sys

from scratch import Scratch


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
        with open(scratch.write("json", capture, "mixed.tables.json"), "rb") as f:
            summary = json.load(f)
        assert summary["schema_version"] == 1 and summary["clock"] == "simulated clock"
        assert [d["clock"] for d in summary["devices"]] == ["simulated clock", "GPU clock"]
        assert all(d["clock_quality"]["has_host"] and d["clock_quality"]["bound_ns"] > 0
                   for d in summary["devices"])
        assert summary["capture"]["command"] == "./solver --case '</script>'"
        kernels = {k["index"]: k for k in summary["kernels"]}
        assert [(k["name"], k["launches"], k["tracks"], k["marks_executed"], k["marks_kept"],
                 k["marks_dropped"], k["entries_missed"]) for k in summary["kernels"]] == [
            (k["name"], k["launches"], k["tracks"], k["executed"], k["kept"], k["dropped"],
             k["missed"]) for k in truth["kernels"]]
        assert kernels[0]["sections_not_passed"] == ["NeverPassed"]
        assert [(kernels[r["kernel"]]["name"], r["section"], r["count"], r["cut"], r["total_cycles"],
                 r["min_cycles"], r["max_cycles"], r["total_ns"]) for r in summary["statistics"]] == [
            (r["kernel"], r["name"], r["count"], r["cut"], r["total_cycles"], r["min_cycles"],
             r["max_cycles"], r["total_ns"]) for r in truth["table"]]
        assert all(abs(i) < 2**53 for i in integers(summary))
        assert int(summary["begin_ns"]) == min(int(e["open_ns"]) for e in truth["events"]
                                               if e["kind"] == "track")
        with open(scratch.write("json", capture, "main.tables.json", "Main")) as f:
            assert [k["name"] for k in json.load(f)["kernels"]] == ["Main"]
    print("ok")


main(sys.argv[1])
