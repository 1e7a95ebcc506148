# SPDX-License-Identifier: MIT
# The forms in which a trace may come: packed ones give what the plain one gives, XLA's have kernels; and what a
# person sees while one is read.
# check_inputs.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import gzip, io, json, os, pty, subprocess, sys, zipfile
from inputs import *

tools = Inputs(*sys.argv[1:4])
TRACE = json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": EVENTS, "after": "]"}).encode()


def unseekable_zip(data):
    """As a pipe gets it: sizes and sums stand behind the data."""
    class Pipe(io.BytesIO):
        def seekable(self): return False
        def seek(self, *_): raise OSError
        def tell(self): raise OSError
    out = Pipe()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("t.json", data)
    return out.getvalue()


def large_zip(data):
    """64-bit sizes, a folder and what macOS adds."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.mkdir("run") if hasattr(z, "mkdir") else z.writestr("run/", "")
        z.writestr("__MACOSX/run/._t.json", "x")
        with z.open("run/t.json", "w", force_zip64=True) as member:
            member.write(data)
        z.comment = b"PK\5\6 a comment"
    return out.getvalue()


# Events of many lengths, so that every part of one comes to lie over the end of a buffer.
MANY = EVENTS + [{"ph": "X", "cat": "cpu_op", "name": "op" + "n" * (i % 37), "pid": 1234, "tid": 5 + i % 3, "ts": 3000 + i * 1.25, "dur": i % 9 / 8,
                  "args": {"i": i, "x" * (i % 23): i * 1e-3, "text": "a\\\"\u00e9" * (i % 5), "list": [i, [None, True, {}], "y" * (i % 300)]}}
                 for i in range(9000)]


def check_packed():
    """What is packed gives what the plain one gives, and so does one that begins some bytes later."""
    for name, events, moves in ("small", EVENTS, (1,)), ("large", MANY, (1, 2, 3, 5, 11, 77)):
        data = json.dumps({"baseTimeNanoseconds": BASE, "traceEvents": events, "after": "]"}).encode()
        half = len(data) // 2
        forms = {"p.json.gz": gzip.compress(data), "two.json.gz": gzip.compress(data[:half]) + gzip.compress(data[half:]) + b"\0" * 512,
                 "s.zip": zip_of(("t.json", data)), "d.zip": zip_of(("t.json", data), how=zipfile.ZIP_DEFLATED),
                 "pipe.zip": unseekable_zip(data), "64.zip": large_zip(data), "odd.name": gzip.compress(data, 0)}
        if zstd(b"") is not None:
            forms |= {"p.json.zst": zstd(data), "two.json.zst": zstd(data[:half]) + zstd(data[half:])}
        else:
            print("SKIPPED zstd: no libzstd.so.1")
        moved = {f"moved{n}.json": b" " * n + data for n in moves}
        plain = put("t.json", data)
        capture = tools.capture(plain, "c.ink")
        for ending in "json", "pftrace":
            said = tools.merge(capture, "--with", plain, "-o", here("plain." + ending))
            assert "joined 30 of 30" in said, said
            for form, packed in (forms | (moved if ending == "pftrace" else {})).items():
                tools.merge(capture, "--with", put(form, packed), "-o", here("m." + ending))
                assert bytes_of("m." + ending) == bytes_of("plain." + ending), (name, form, ending)
        for form, member in ("p.json.gz", "p.json"), ("d.zip", "d.json"):
            tools.merge(capture, "--with", here(form), "-o", here("m.zip"))
            with zipfile.ZipFile(here("m.zip")) as z:
                assert z.read(member) == data, form
        print(f"{name}: {len(data)} bytes, {len(forms)} packed forms, {len(moved)} moved")


# Names, threads and arguments as XLA's writer has them: no categories, arguments are strings, an empty event last.
def xla_trace(order=1):
    m = lambda name, pid, text, **more: {"ph": "M", "pid": pid, **more, "name": name, "args": {"name": text}}
    names = [m("process_name", 2, "/device:GPU:0"), m("thread_name", 2, "Stream #13(Compute,MemcpyD2D)", tid=13),
             m("thread_name", 2, "XLA Ops", tid=100), m("process_name", 3, "/device:GPU:1"), m("thread_name", 3, "Stream #24(Compute)", tid=1),
             m("process_name", 701, "/host:CPU"), m("thread_name", 701, "python3", tid=9),
             {"ph": "M", "pid": 2, "name": "process_sort_index", "args": {"sort_index": 2}}]
    x = lambda name, pid, tid, ts, dur, **args: {"ph": "X", "pid": pid, "tid": tid, "ts": ts, "dur": dur, "name": name, "args": args}
    events = []
    for i in range(12):
        details = "regs:32 static_shared:0 dynamic_shared:0 grid:%d,1,1 block:128,1,1 occ_pct:100" % (i % 3 + 1)
        events += [x("cuLaunchKernel", 701, 9, 100 + 50 * i, 3.5, correlation_id=str(i)),
                   x("loop_fusion", 2, 13, 110.000125 + 50 * i + i % 4, 20.5, correlation_id=str(i), hlo_op="fusion", hlo_module="jit_f", kernel_details=details),
                   x("fusion.%d" % i, 2, 100, 110 + 50 * i, 20.5, hlo_op="fusion"), x("MemcpyD2D", 2, 13, 135 + 50 * i, 2, memcpy_details="kind_src:device"),
                   x("gemm_kernel", 3, 1, 111 + 50 * i, 9, correlation_id=str(100 + i), hlo_op="dot")]
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": names + events + [{}]}


def check_xla():
    trace = put("host.trace.json.gz", gzip.compress(json.dumps(xla_trace()).encode()))
    got = tools.read(trace)
    assert got["kind"] == 2 and not got["base_known"] and len(got["kernels"]) == 24 and got["left_out"] == 0, got
    k = got["kernels"][0]
    assert (k["device"], k["stream"], k["begin"], k["end"], k["correlation"], k["name"], k["grid"], k["block"]) == \
        (0, 13, 110000, 130500, 0, "loop_fusion", [1, 1, 1], [128, 1, 1]), k
    assert {(k["device"], k["name"]) for k in got["kernels"]} == {(0, "loop_fusion"), (1, "gemm_kernel")}
    assert all((k["grid"], k["stream"]) == ([0, 0, 0], 24) for k in got["kernels"] if k["device"])
    capture = tools.capture(trace, "x.ink")
    said = tools.merge(capture, "--with", trace, "-o", here("x.json"))
    assert "joined 24 of 24 launches" in said, said
    with open(here("x.json")) as file:
        events = json.load(file)["traceEvents"]
    kernels = {(e["pid"], e["ts"]): e["dur"] for e in events if e.get("name") in ("loop_fusion", "gemm_kernel") and e["ph"] == "X"}
    ours = [e for e in events if e.get("cat") == "inkmark" and e["ph"] == "B"]
    assert len(ours) == 24 and {e["pid"] for e in ours} == {2, 3}, ours[:2] # the processes of the GPUs, not their numbers
    assert all(any(pid == e["pid"] and ts <= e["ts"] < ts + dur for (pid, ts), dur in kernels.items()) for e in ours)
    said = tools.merge(capture, "--with", trace, "-o", here("x.pftrace"))
    assert "kind '?'" not in said and "joined 24 of 24" in said, said
    # Without names of processes nothing tells a kernel.
    bare = xla_trace()
    bare["traceEvents"] = bare["traceEvents"][8:]
    assert "no GPU kernels" in tools.merge(capture, "--with", put("bare.json", json.dumps(bare)), "-o", here("y.json"), code=1)


def on_terminal(*args):
    """What a terminal on stderr gets."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen([tools.inkmark, "export", *args], stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 4096):
            said += chunk
    except OSError: # the other side is closed
        pass
    os.close(ours)
    assert run.wait() == 0, said
    return said.decode()


def write_long(path, megabytes):
    filler = json.dumps([EVENTS[-1]] * 4000)[1:-1].encode()
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents":[' + json.dumps(EVENTS)[1:-1].encode())
        for _ in range(megabytes * 1_000_000 // len(filler)):
            file.write(b",\n" + filler)
        file.write(b"]}")


def check_progress():
    path = here("long.json.gz")
    capture = tools.capture(put("t.json", TRACE), "c.ink")
    os.symlink("/dev/null", here("null.json"))
    args = (capture, "--with", path, "-o", here("null.json"))
    megabytes, bars = 150, []
    while len(bars) < 2 and megabytes < 20_000: # as much as takes this machine the time of two bars
        megabytes *= 2
        write_long(path, megabytes)
        said = on_terminal(*args)
        bars = [line for line in said.split("\r") if line.startswith("merging [")]
    size = f"of {os.path.getsize(path) / 1e6:.0f} MB"
    assert bars and all(size in b and "MB/s" in b and "%" in b for b in bars), said
    shares = [int(b.split("]")[1].split("%")[0]) for b in bars]
    assert shares == sorted(shares) and 0 < shares[-1] <= 100, shares
    assert said.replace("\r\n", "\n").rstrip("\n").count("joined") == 1
    assert on_terminal(*args, "--quiet") == ""
    quick = on_terminal(capture, "--with", here("t.json"), "-o", here("q.json"))
    assert "joined" in quick, quick
    assert "merging" not in tools.merge(*args) and tools.merge(*args, "-q") == ""
    print(f"{len(bars)} bars for {megabytes} MB")


# Without a name for the output it is made of the other trace's, and written to where one is.
def check_default_names():
    capture = tools.capture(put("t.json", TRACE), "c.ink")
    os.mkdir(here("from"))
    for name, data, made in [("n.json", TRACE, "n.merged.json"), ("n.json.gz", gzip.compress(TRACE), "n.merged.json.gz"),
                             ("z.json.zst", zstd(TRACE), "z.merged.json.gz"), ("p.zip", zip_of(("t.json", TRACE)), "p.merged.json.gz"),
                             ("bare", TRACE, "bare.merged.pftrace")]:
        if data is None:
            continue
        said = tools.merge(capture, "--with", put("from/" + name, data), cwd=folder.name)
        assert f"wrote '{made}'" in said and os.path.getsize(here(made)), (name, said)


check_packed()
check_default_names()
check_xla()
check_progress()
