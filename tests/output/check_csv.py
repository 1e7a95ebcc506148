# SPDX-License-Identifier: MIT
"""The CSV output, read by Python's csv: one row a kept record, kernel start and end, and durations,
values and iterations as the decoder has them.

check_csv.py OUTPUT_TOOL"""
import csv
import gzip
import sys
from collections import Counter

from scratch import Scratch

POINT_KINDS = {3: "instant", 4: "iteration", 5: "async_begin", 6: "async_end", 7: "value"}


def key(device, launch, sm, block, thread, *rest):
    return tuple(str(x) for x in (device, launch, sm, block, thread, *rest))


def row_text(row):
    return "" if row is None else str(row)


def check(rows, truth):
    events = truth["events"]
    place = lambda e: (e["device"], e["launch"], e["sm"], e["block"], e["thread"])
    csv_place = lambda r: (r["device"], r["launch"], r["sm"], r["block"], r["thread"])

    starts = Counter(key(*csv_place(r), r["ns"]) for r in rows if r["kind"] == "kernel_start")
    ends = Counter(key(*csv_place(r), r["ns"]) for r in rows if r["kind"] in ("kernel_end", "last_seen"))
    tracks = [e for e in events if e["kind"] == "track"]
    assert starts == Counter(key(*place(e), e["open_ns"]) for e in tracks)
    assert ends == Counter(key(*place(e), e["close_ns"]) for e in tracks)
    # Every kept mark is one row between them.
    assert len(rows) == 2 * len(tracks) + sum(e["kept"] for e in tracks), len(rows)

    def slice_key(e):
        name, cut = e["name"], e["cut"]
        duration = ("", "") if cut else (e["cycles"], int(e["end_ns"]) - int(e["begin_ns"]))
        return key(*place(e), name, row_text(e["row"]), e["called"], e["end_ns"], *duration)

    found = Counter(key(*csv_place(r), r["section"], r["iteration"], r["called"], r["ns"],
                        r["duration_cycles"], r["duration_ns"])
                    for r in rows if r["kind"] in ("mark", "end"))
    expected = Counter(slice_key(e) for e in events if e["kind"] == "slice" and e["cut"] != 2)
    assert found == expected, (found - expected, expected - found)

    def point_kind(e):
        return "sum" if e["escape"] == 10 else POINT_KINDS[e["record"]]

    found = Counter(key(*csv_place(r), r["kind"], r["ns"], r["iteration"])
                    for r in rows if r["kind"] in ("sum", *POINT_KINDS.values()))
    expected = Counter(key(*place(e), point_kind(e), e["ns"],
                           e["value"] if e["record"] == 4 else row_text(e["row"]))
                       for e in events if e["kind"] == "point")
    assert found == expected, (found - expected, expected - found)

    values = [(r["section"], r["ns"], float(r["value"])) for r in rows if r["kind"] == "value"]
    assert sorted(values) == sorted((e["name"], e["ns"], float(e["value"])) for e in events
                                    if e["kind"] == "point" and e["record"] == 7 and e["escape"] != 10)
    sums = [int(r["value"]) for r in rows if r["kind"] == "sum"]
    assert sum(sums) == sum(t["count"] for t in truth["table"] if t["summed"])
    assert all(int(r["total_cycles"]) == 11 * int(r["value"]) for r in rows if r["kind"] == "sum")


def main(tool):
    with Scratch(tool) as scratch:
        capture = scratch.make("mixed")
        truth = scratch.dump(capture)
        with open(scratch.write("csv", capture, "mixed.csv"), newline="") as f:
            rows = list(csv.DictReader(f, strict=True))
        assert all(None not in r and None not in r.values() for r in rows), "ragged rows"
        assert {r["clock"] for r in rows if r["device"] == "0"} == {"simulated clock"}
        assert {r["clock"] for r in rows if r["device"] == "1"} == {"GPU clock"}
        assert '"Odd" <b>&name' in {r["section"] for r in rows}
        check(rows, truth)
        for (earlier, later) in zip(rows, rows[1:]):
            if later["kind"] != "kernel_start":
                assert int(earlier["cycles"]) <= int(later["cycles"]), later
        with gzip.open(scratch.write("csv", capture, "mixed.csv.gz"), "rt", newline="") as f:
            assert list(csv.DictReader(f)) == rows
        with open(scratch.write("csv", capture, "second.csv", "", "1"), newline="") as f:
            assert list(csv.DictReader(f)) == [r for r in rows if r["launch"] == "1"]
        with open(scratch.write("csv", capture, "main.csv", "Main"), newline="") as f:
            assert list(csv.DictReader(f)) == [r for r in rows if r["kernel"] == "Main"]
    print("ok")


main(sys.argv[1])
