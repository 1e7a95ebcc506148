# SPDX-License-Identifier: MIT
# What writers of traces leave, JSON or nearly so, and in which packings, is read; what comes out as JSON is JSON
# by Python's strict reader, the other's events are all in it, and its ids kept what they are.
# check_variants.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import bz2, gzip, io, json, lzma, sys, tarfile
from inputs import *

tools = Inputs(*sys.argv[1:4])
doc = lambda events=EVENTS, **more: json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": events, **more})
bare = lambda events=EVENTS: "[" + ",\n".join(json.dumps(e) for e in events)
capture = tools.capture(put("fit.json", doc()), "c.ink")


def no_constant(word):
    raise ValueError(f"'{word}' is no JSON")


def strict(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=no_constant)


def events_of(document):
    return document["traceEvents"] if isinstance(document, dict) else document


def merged(name, data, theirs=EVENTS, kernels=30):
    """The events of the merged JSON; all of theirs are among them, and as many launches joined as there are."""
    said = tools.merge(capture, "--with", put(name, data), "-o", here("out.json"), "--align")
    assert f"joined {kernels} of {kernels} launches" in said, (name, said)
    out = events_of(strict(here("out.json")))
    rest = [json.dumps(e, sort_keys=True) for e in out]
    for event in theirs:
        rest.remove(json.dumps(event, sort_keys=True))
    assert len(rest) > 4 * kernels, (name, len(rest))
    said = tools.merge(capture, "--with", here(name), "-o", here("out.pftrace"), "--align")
    assert f"joined {kernels} of {kernels} launches" in said, (name, said)
    return out


split = [part for e in EVENTS for part in (
    ({**{k: v for k, v in e.items() if k != "dur"}, "ph": "B"},
     {"ph": "E", "pid": e["pid"], "tid": e["tid"], "ts": e["ts"] + e["dur"]}) if e["cat"] == "kernel" else (e,))]
# an outer and an inner range of another category on the stream: each end meets its own begin
nested = [{"ph": "B", "cat": "x", "name": "outer", "pid": 0, "tid": 7, "ts": 1.0}]
for part in split:
    nested.append(part)
    if part["ph"] == "B":
        nested += [{"ph": "B", "cat": "x", "name": "inner", "pid": 0, "tid": 7, "ts": part["ts"] + 1}, {"ph": "E", "pid": 0, "tid": 7, "ts": part["ts"] + 2}]
nested.append({"ph": "E", "pid": 0, "tid": 7, "ts": 9000.0})
listed = [{**e, "cat": e["cat"] + ",gpu"} if i % 2 else {**e, "cat": "gpu, " + e["cat"]} for i, e in enumerate(EVENTS)]
word = lambda w: doc().replace('"args": {', '"x": %s, "args": {' % w)
nulled = [{**e, "x": None} for e in EVENTS]

merged("plain.json", doc())
merged("no_end.json", bare() + "]")
merged("no_bracket.json", bare() + ",\n")
merged("no_bracket_nor_comma.json", bare() + "\n")
merged("comma.json", bare() + " , \n ]")
merged("comma_in_object.json", doc()[:-2] + ",],}")
merged("commas_inside.json", doc().replace("[4, 1, 1]", "[4, 1, 1,]").replace('"i": 1}', '"i": 1,}'))
merged("mark.json", b"\xef\xbb\xbf" + doc().encode())
merged("mark_no_end.json", b"\xef\xbb\xbf" + bare().encode() + b",")
for encoding in "utf-16", "utf-16-le", "utf-16-be":
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    wide = EVENTS + [{"ph": "i", "name": "\U0001f600 \u00e9", "pid": 1, "tid": 1, "ts": 5}]
    merged("wide.json", mark + json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": wide}, ensure_ascii=False).encode(encoding), wide)
for w in "nan", "-nan", "inf", "-inf", "+inf", "INF", "NAN":
    merged("word.json", word(w), nulled)
for w, so in ("007", 7), ("-000", 0), ("00.5", 0.5), ("12.", 12.0), ("-3.e2", -300.0), ("09.E-1", 0.9), ("000", 0):
    merged("number.json", word(w), [{**e, "x": so} for e in EVENTS])
for c in "\t", "\n", "\r\n", "\0", "\x01\x02", "\x1f", "a" * 7 + "\b" + "b" * 8 + "\f":
    merged("control.json", word('"%s"' % c), [{**e, "x": c} for e in EVENTS])
controls = [{**e, "name": "a\tb\n\x1b" + e["name"]} for e in EVENTS] + [{"ph": "i", "k\ty": 1, "name": "\n", "pid": 1, "tid": 1, "ts": 5}]
for how in lambda data: data, lambda data: gzip.compress(data.encode()):
    merged("control.json", how(doc(controls).replace("\\t", "\t").replace("\\n", "\n").replace("\\u001b", "\x1b")), controls)
merged("begin_end.json", doc(split), split)
merged("nested.json", doc(nested), nested)
merged("listed.json", doc(listed), listed)
print("forms: read, and JSON again")

# ids are what they are: strings stay strings, numbers numbers, in the other's events and in ours
for pid, tid in ("[TP00] 0", "stream 7"), ("0", "7"), ('q"\\ \u00e9\n', "t\t\U0001f600"), (0, "stream 7"), ("\ud83d half", 7), (-1, 2 ** 62), ("x" * 200, "y" * 200):
    ids = [{**e, "pid": pid, "tid": tid} if e["cat"] == "kernel" else e for e in EVENTS]
    out = merged("ids.json", doc(ids), ids)
    ours = {json.dumps(e["pid"]) for e in out if e.get("cat") in ("inkmark", "section")}
    assert ours == {json.dumps(pid)}, (pid, ours)
    arrows = {json.dumps(e["tid"]) for e in out if e["ph"] == "s"}
    assert json.dumps(tid) in arrows, (tid, arrows)
print("ids: of every type kept")

# packings, also one in another
whole = doc().encode()
packed = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd if zstd(b"x") is not None else None,
          "zip": lambda data: zip_of(("t.json", data), how=zipfile.ZIP_DEFLATED)}
for outer, pack in packed.items():
    if pack is None:
        print("SKIPPED zstd: no libzstd.so.1")
        continue
    merged(f"t.json.{outer}", pack(whole))
    for inner, first in packed.items():
        if first and inner != "zip":
            merged(f"t.json.{inner}.{outer}", pack(first(whole)))
    if outer not in ("zip", "zst"):
        merged(f"two.json.{outer}", pack(whole[:900]) + pack(whole[900:]))
merged("wide.json.gz", gzip.compress(doc().encode("utf-16")))
four = gzip.compress(bz2.compress(lzma.compress(gzip.compress(whole))))
merged("four.gz", four)


def refused(name, data, *words):
    said = tools.merge(capture, "--with", put(name, data), "-o", here("no.json"), code=1)
    assert len(said.splitlines()) == 1 and all(w in said for w in words) and not os.path.exists(here("no.json")), (words, said)
    return said


refused("five.gz", gzip.compress(four), "is packed more than 4 times")
for name, pack in ("bz2", bz2.compress), ("xz", lzma.compress):
    refused(f"cut.{name}", pack(whole)[:-9], "is cut off", "bzip2" if name == "bz2" else name)
    torn = bytearray(pack(whole))
    torn[len(torn) // 2] ^= 0x55
    # the checksum comes behind what it is of: where the text is no JSON any more, that is seen first
    said = refused(f"flip.{name}", bytes(torn), f"flip.{name}")
    assert "damaged" in said or "no valid JSON" in said, said
refused("odd.json", doc().encode("utf-16")[:-1], "is cut off: its UTF-16 data ends after")
print("packings: read, also in another")

# what is not read is called by its name
tar = io.BytesIO()
with tarfile.open(fileobj=tar, mode="w") as file:
    member = tarfile.TarInfo("t.json")
    member.size = len(whole)
    file.addfile(member, io.BytesIO(whole))
plane = b"\x12\x0d/device:GPU:0"
refused("t.tar.gz", gzip.compress(tar.getvalue()), "a tar archive")
refused("t.7z", b"7z\xbc\xaf\x27\x1c" + bytes(64), "a 7z archive")
refused("host.xplane.pb", b"\x0a" + bytes([len(plane)]) + plane, "no GPU kernels", "its planes are '/device:GPU:0'")
refused("unnamed.pb", b"\x0a" + bytes([len(plane)]) + plane, "its planes are")
refused("report.ncu-rep", b"NVR\0" + bytes(64), "an Nsight Compute report")
for w in "1e", "2e+", "1.5.5", "3-1", "1e5e5", "4+", "1" * 20000:
    refused("number.json", word(w), "is no valid JSON at byte")
refused("mtia.json", doc([{**e, "cat": "mtia_ccp_events"} for e in EVENTS]), "no GPU kernels", "'mtia_ccp_events'")
refused("timeless.json", doc([{k: v for k, v in EVENTS[0].items() if k != "dur"}]), "no GPU kernels", "1 have no name or no times")
print("others: named")

# absolute microseconds are Unix time: another run is refused, the same one joined
dated = lambda days: json.dumps({"traceEvents": [{**e, "ts": BASE // 1000 + e["ts"] + days * 86400 * 10 ** 6} for e in EVENTS]})
refused("other_run.json", dated(30), "of different runs", "the capture begins 2023-11-14", "the trace 2023-12-14")
said = tools.merge(capture, "--with", put("same_run.json", dated(0)), "-o", here("out.json"))
assert "joined 30 of 30" in said and "left in, --align takes it out" in said, said
print("dates: Unix time")
