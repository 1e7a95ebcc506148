# SPDX-License-Identifier: MIT
# What every kind of bad input gives: one line that says what is wrong with which file, exit code 1, no output.
# check_bad_inputs.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import gzip, json, os, resource, shutil, signal, sqlite3, struct, subprocess, sys, zipfile, zlib
import packets as P
from inputs import *

tools = Inputs(*sys.argv[1:4])
text = lambda events=EVENTS, **more: json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": events, **more})
WHOLE = text().encode()
PACKED = gzip.compress(WHOLE)
ZIP = zip_of(("t.json", WHOLE), how=zipfile.ZIP_DEFLATED)
ZSTD = zstd(WHOLE)
SUM = struct.pack("<I", zipfile.crc32(WHOLE))


def database(*statements):
    if os.path.exists(here("made.db")):
        os.unlink(here("made.db"))
    db = sqlite3.connect(here("made.db"))
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return bytes_of("made.db")


def slices(n, category="kernel", name="k", ends=True, clock=6, at=1000):
    out = P.snapshot([(6, 5), (1, BASE)], 6)
    for i in range(n):
        out += b"".join(P.packet((10, 3), (58, clock), (8, at + 10 * i + 5 * (kind == P.END)), (11, P.event(kind, 44, name, category))) for kind in ((P.BEGIN, P.END) if ends else (P.BEGIN,)))
    return out


KERNELS = "create table CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ)"
NAMES = "create table StringIds (id integer primary key, value text)"
capture = tools.capture(put("fit.json", WHOLE), "c.ink")
good = EVENTS[0]
bad_time = lambda ts, dur=1: text([{**good, "ts": ts, "dur": dur}])

# Name of the file, its bytes, words that the line must have (each of them).
TABLE = [
    ("empty.json", b"", ["is empty"]), ("blank.json", b" \n\t ", ["ends in the middle, after 4 bytes"]),
    ("text.json", b"hello", ["is neither a JSON or Perfetto trace nor an Nsight Systems SQLite export"]),
    ("zeros.json", bytes(4096), ["neither"]), ("object.json", b'{"a":[1,{}]}', ["no \"traceEvents\""]),
    ("number.json", b'{"traceEvents":3}', ["no \"traceEvents\""]), ("events.json", b'{"traceEvents":[1,"x",null,[{}]]}', ["no GPU kernels"]),
    ("none.json", b'{"traceEvents":[]}', ["no GPU kernels"]), ("bom.json", b"\xef\xbb\xbf" + b"hello", ["neither"]),
    ("cut.json", WHOLE[:2000], ["ends in the middle, after 2000 bytes"]), ("killed.json", WHOLE[:-1], [f"after {len(WHOLE) - 1} bytes"]),
    ("array.json", b"[" + json.dumps(EVENTS).encode()[1:-2], ["ends in the middle"]), ("comma.json", WHOLE.replace(b"}, {", b"} {", 1), ["no valid JSON at byte"]),
    ("after.json", WHOLE + b"x", [f"no valid JSON at byte {len(WHOLE)}"]), ("two.json", WHOLE + WHOLE, ["no valid JSON at byte"]),
    ("escape.json", b'{"traceEvents":[{"name":"\\q"}]}', ["no valid JSON at byte 26"]), ("binary.json", b'{"traceEvents":[\x01]}', ["no valid JSON at byte 16"]),
    ("deep.json", b"[" * 100000, ["nested deeper than 512 at byte 512"]), ("deeper.json", b'{"a":' * 600, ["nested deeper than 512"]),
    ("deep_args.json", b'{"traceEvents":[{"args":' + b'{"x":' * 5000, ["nested deeper than 512"]),
    ("nan.json", bad_time(float("nan")), ["no GPU kernels that can be used"]), ("infinity.json", bad_time(float("inf")), ["no GPU kernels that can be used"]),
    ("far.json", bad_time(1e30), ["no GPU kernels that can be used"]), ("near.json", bad_time(9.2e15, 9.2e15), ["no GPU kernels that can be used"]),
    ("huge.json", text([{**good, "ts": 10 ** 400}]), ["no GPU kernels that can be used"]), ("before.json", bad_time(10, -1), ["no GPU kernels that can be used"]),
    ("word.json", bad_time("yesterday"), ["no GPU kernels that can be used"]),
    ("cut.json.gz", PACKED[:-40], ["is cut off: its gzip data ends after"]), ("sum.json.gz", PACKED[:-4], ["is cut off"]),
    ("head.json.gz", PACKED[:12], ["is cut off: its gzip data ends after 0 bytes"]), ("two.gz", PACKED[:2], ["is cut off"]),
    ("flip.json.gz", PACKED[:60] + b"\xff\x00\xff\x00" + PACKED[64:], ["damaged gzip data"]), ("wrong.json.gz", PACKED[:-8] + b"abcd" + PACKED[-4:], ["damaged gzip data"]),
    ("cut_member.json.gz", PACKED + PACKED[:50], ["is cut off"]), ("text.json.gz", gzip.compress(b"hello"), ["neither"]), ("nothing.json.gz", gzip.compress(b""), ["is empty"]),
    ("cut_json.json.gz", gzip.compress(WHOLE[:3000]), ["ends in the middle, after 3000 bytes"]),
    ("cut.zip", ZIP[:-30], ["zip directory is missing or damaged"]), ("half.zip", ZIP[:len(ZIP) // 2], ["zip directory"]), ("bare.zip", b"PK\3\4", ["zip directory"]),
    ("none.zip", zip_of(), ["is a zip without files"]), ("folder.zip", zip_of(("a/", "")), ["is a zip without files"]),
    ("several.zip", zip_of(("a.json", WHOLE), ("b.json", WHOLE), ("n/c.txt", "")), ["holds 3 files and not one trace: 'a.json', 'b.json', 'n/c.txt'"]),
    ("many.zip", zip_of(*[(f"{i}.json", "") for i in range(20)]), ["holds 20 files", "'4.json', ..."]), ("text.zip", zip_of(("t.json", "hello")), ["neither"]),
    ("nothing.zip", zip_of(("t.json", "")), ["is empty"]), ("bzip2.zip", zip_of(("t.json", WHOLE), how=zipfile.ZIP_BZIP2), ["'t.json' in ", "packed with method 12"]),
    ("sum.zip", ZIP.replace(SUM, b"abcd"), ["damaged zip data"]), ("flip.zip", ZIP[:80] + b"\xff\x00\xff\x00" + ZIP[84:], ["damaged zip data"]),
    ("encrypted.zip", ZIP.replace(b"PK\1\2\x14\x03\x14\0\0\0", b"PK\1\2\x14\x03\x14\0\1\0"), ["is encrypted"]),
    ("short.zip", ZIP.replace(struct.pack("<I", len(WHOLE)), struct.pack("<I", len(WHOLE) + 9)), ["is cut off"]),
    ("long.zip", ZIP.replace(struct.pack("<I", len(WHOLE)), struct.pack("<I", len(WHOLE) - 9)), ["damaged zip data"]),
    ("other.sqlite", database("create table t (x)"), ["without a table of CUDA kernels", "CUPTI_ACTIVITY_KIND_KERNEL"]),
    ("columns.sqlite", database(NAMES, "create table CUPTI_ACTIVITY_KIND_KERNEL (start, end)"), ["have no column 'deviceId'"]),
    ("kernels.sqlite", database(NAMES, KERNELS), ["no GPU kernels"]), ("names.sqlite", database(KERNELS, "insert into CUPTI_ACTIVITY_KIND_KERNEL values (1,2,0,7,1,1,1,1,1,1,1)"), ["StringIds"]),
    ("absurd.sqlite", database(NAMES, KERNELS, f"insert into CUPTI_ACTIVITY_KIND_KERNEL values ({2**63 - 1},{-2**63},0,7,1,1,1,1,1,1,1)"), ["no GPU kernels that can be used"]),
    ("cut.sqlite", database(NAMES, KERNELS)[:5000], ["cannot read"]), ("head.sqlite", b"SQLite format 3\0" + b"x" * 200, ["cannot read"]),
    ("packed.sqlite.gz", gzip.compress(database(NAMES, KERNELS)), ["is a packed SQLite file: unpack it first"]),
    ("capture.json", bytes_of("c.ink"), ["is a capture of inkmark's own"]),
    ("trace.pftrace", b"\x0a\x20\x0a\x1e\x08\x01" + bytes(60), ["trace.pftrace' is damaged at byte 34"]), ("none.pftrace", P.snapshot([(6, 5), (1, BASE)], 6), ["no GPU kernels"]),
    ("cpu.pftrace", slices(7, "cpu"), ["no GPU kernels", "the categories of its events are 'cpu'"]), ("open.pftrace", slices(7, "kernel", ends=False), ["no GPU kernels that can be used: 7 have no name or no times"]),
    ("cut.pftrace", slices(7)[:-3], [f"ends in the middle, after {len(slices(7)) - 3} bytes"]), ("length.pftrace", slices(7) + b"\x0a\xff\xff\xff\xff\x7f", [f"damaged at byte {len(slices(7))}", "a length that no packet has"]),
    ("far.pftrace", slices(7) + b"\x0a\xff\xff\xff\x1f\x08\x01", ["ends in the middle"]), ("varint.pftrace", slices(7) + b"\xff" * 30, ["is damaged at byte"]), ("group.pftrace", slices(7) + b"\x0b", ["no protobuf"]),
    ("inside.pftrace", slices(7) + b"\x0a\x03\x08\xff\xff", [f"its packet that ends at byte {len(slices(7)) + 5} is no protobuf"]), ("packed.pftrace", slices(7) + P.packet((50, b"none")), ["a packed packet that cannot be unpacked"]),
    ("packed_cut.pftrace", slices(7) + P.packet((50, zlib.compress(slices(7))[:-9])), ["a packed packet that cannot be unpacked"]), ("packed_in_packed.pftrace", P.packet((50, zlib.compress(P.packet((50, b"x"))))), ["a packed packet in another"]),
    ("packed_junk.pftrace", P.packet((50, zlib.compress(b"\x0a\x05x"))), ["a packed packet holds no protobuf"]), ("bomb.pftrace", P.packet((50, zlib.compress(bytes(1 << 27), 9))), ["a packed packet that is too long"]),
    ("clock.pftrace", slices(7, clock=77), ["no GPU kernels that can be used: 7 have no name or no times"]), ("absurd.pftrace", slices(7, at=2 ** 63 + 5), ["no GPU kernels that can be used: 7"]),
    ("named.pftrace", slices(7, 99), ["refer to names that are not in it"]), ("nameless.pftrace", slices(7, name=99), ["7 have no name"]),
    ("report.nsys-rep", b"NSYS\1\2\3\4" * 9, ["Nsight Systems report", "nsys export --type sqlite", "read are PyTorch's and XLA's traces, Perfetto traces and Nsight Systems SQLite exports"]), ("host.xplane.pb", b"\x12\x09\x08\x01plane" * 4, ["neither"]),
    ("later.json", text([kernel(i, 50 * i, 30) for i in range(9)], baseTimeNanoseconds=BASE + 86400 * 10 ** 9), ["of different runs", "the capture begins 2023-11-14", "the trace 2023-11-15"]),
    ("names.json", text([{**kernel(i, 700 + 97 * i * i, 3, name="other"), "args": {"grid": [77, 1, 1], "block": [32, 1, 1]}} for i in range(40)]), ["no launch of the capture could be joined", "a::other"]),
]
if ZSTD is not None:
    TABLE += [("cut.json.zst", ZSTD[:-9], ["is cut off: its zstd data ends after"]), ("head.json.zst", ZSTD[:5], ["is cut off"]), ("after.json.zst", ZSTD + b"junk", ["damaged zstd data"]),
              ("flip.json.zst", ZSTD[:40] + b"\xff\x00\xff\x00" + ZSTD[44:], ["damaged zstd data"]), ("text.json.zst", zstd(b"hello"), ["neither"])]
else:
    print("SKIPPED zstd: no libzstd.so.1")


def refused(args, words, **more):
    """The line; nothing may be left behind."""
    before = set(os.listdir(folder.name))
    said = tools.merge(*args, code=1, **more)
    assert len(said.splitlines()) == 1 and said.startswith("inkmark: "), said
    assert all(word in said for word in words), (words, said)
    left = set(os.listdir(folder.name)) - before
    assert not left, f"left behind: {left}"
    return said


def check_table():
    for i, (name, data, words) in enumerate(TABLE):
        path = put(name, data)
        for out in ("x.json", "x.pftrace") + (("x.json.gz", "x.zip") if i % 5 == 0 else ()):
            said = refused((capture, "--with", path, "-o", here(out)), words)
            assert name in said, (name, said)
    print(f"{len(TABLE)} bad traces")


def check_places():
    """What is no file, and what may not be read."""
    refused((capture, "--with", here("absent.json"), "-o", here("x.json")), ["absent.json", "no such file"])
    os.mkdir(here("none"))
    refused((capture, "--with", here("none"), "-o", here("x.json")), [here("none"), "holds no trace"])
    os.mkfifo(here("pipe.json"))
    refused((capture, "--with", here("pipe.json"), "-o", here("x.json")), ["pipe.json", "not a regular file"])
    os.chmod(put("locked.json", WHOLE), 0)
    if os.geteuid():
        refused((capture, "--with", here("locked.json"), "-o", here("x.json")), ["locked.json", "permission denied"])
    else:
        print("SKIPPED a file that may not be read: root may read everything")
    refused((capture, "--quiet", "--with", here("fit.json"), "-o", here("no/x.json")), ["no such file"])
    said = tools.merge(capture, "--with", here("fit.json"), "-o", here("x.csv"), code=1)
    assert "x.csv" in said and not os.path.exists(here("x.csv")), said
    assert "are the same capture" in tools.merge(capture, capture, "--with", here("fit.json"), "-o", here("x.json"), code=1)
    assert "--tracks" in tools.merge(capture, "--with", here("fit.json"), "-o", here("x.json"), "--tracks", "some", code=2)


# The same program's next run: its launches repeat, and the clocks of one host tell the runs apart.
def check_another_run():
    same = put("same_run.json", WHOLE)
    for shift, align, code, doubt in (0, (), 0, False), (15, (), 0, False), (50, (), 0, True), (-588, (), 1, True), (588, (), 1, True), (588, ("--align",), 0, True), (3, ("--align",), 0, False):
        other = tools.capture(same, "other_run.ink", "--shift", str(shift * 10 ** 6))
        for quiet in (), ("-q",):
            said = tools.merge(other, "--with", same, "-o", here("r.json"), *align, *quiet, code=code)
            assert ("perhaps of another run" in said) == doubt and (f"{-shift}." in said or not doubt), (shift, align, said)
            assert os.path.exists(here("r.json")) == (code == 0), (shift, said)
            assert not (code or quiet) or len(said.splitlines()) == int(doubt), (shift, said)
            if not code:
                os.unlink(here("r.json"))
    # as far, but the kernels are about the launches in time: perhaps a clock that was set
    long = put("long_run.json", text(EVENTS + [{**kernel(99, 2 * 10 ** 6, 5, name="last")}, kernel(98, -2 * 10 ** 6, 5, name="first")]))
    said = tools.merge(tools.capture(same, "other_run.ink", "--shift", str(588 * 10 ** 6)), "--with", long, "-o", here("r.json"), "-q")
    assert "perhaps of another run" in said, said


# 100 MB in one string are cut, not kept; other texts and the trace are what they were.
def check_long_string():
    path = here("long.json")
    with open(path, "wb") as file:
        file.write(b'{"traceEvents":[{"ph":"i","name":"' + b"x" * 100_000_000 + b'","pid":1,"tid":1,"ts":5},' + json.dumps(EVENTS)[1:].encode() + f',"baseTimeNanoseconds":{BASE}}}'.encode())
    got = tools.read(path)
    assert len(got["kernels"]) == 30, got["kernels"][:2]
    said = tools.merge(capture, "--with", path, "-o", here("long.pftrace"))
    assert "1 texts were cut at 16 KiB" in said, said
    assert os.path.getsize(here("long.pftrace")) < 200_000
    if "sanitize" not in sys.argv:
        assert got["peak_kb"] < 32 << 10, got["peak_kb"]
    os.unlink(path)


def limit_file_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


# A disk that is full: a device that says so, a limit on the size of files, and a small file system of its own.
def check_full_disk():
    big = put("big.json", text(note=["%x" % (i * 2654435761) for i in range(200000)]))
    for ending in "json", "pftrace":
        os.symlink("/dev/full", here("full." + ending))
        said = tools.merge(capture, "--with", big, "-o", here("full." + ending), code=1)
        assert "no space left" in said and len([l for l in said.splitlines() if "cannot write" in l]) == 1, said
        assert os.path.islink(here("full." + ending))
    for ending in "json", "json.gz", "zip", "pftrace":
        before = set(os.listdir(folder.name))
        said = tools.merge(capture, "--with", big, "-o", here("x." + ending), code=1, preexec_fn=limit_file_size)
        assert "file too large" in said and set(os.listdir(folder.name)) == before, said
    os.mkdir(here("small"))
    script = 'mount -t tmpfs -o size=64k none "$1" && shift && { "$@"; echo "code $?" >&2; ls -A "$0"; }'
    run = subprocess.run(["unshare", "-rm", "sh", "-c", script, here("small"), here("small"), tools.inkmark, "export", capture, "--with", big,
                          "-o", here("small/x.json")], capture_output=True, text=True) if shutil.which("unshare") else None
    if run is None or "code" not in run.stderr:
        print("SKIPPED a small file system: none may be mounted here")
        return
    assert "no space left" in run.stderr and "code 1" in run.stderr and not run.stdout, run
    print("a small file system was filled")


check_another_run()
check_table()
check_places()
check_long_string()
check_full_disk()
