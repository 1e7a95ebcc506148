# SPDX-License-Identifier: MIT
# What the tests of inputs share: files of every kind, and the command that reads them.
import ctypes, io, json, os, subprocess, tempfile, zipfile

BASE = 1700000000000000000
folder = tempfile.TemporaryDirectory(prefix="inkmark-inputs-")
here = lambda name: os.path.join(folder.name, name)


def kernel(i, begin, dur, name="step", stream=7):
    return {"ph": "X", "cat": "kernel", "name": f"void a::{name}<int>(int*)", "pid": 0, "tid": stream, "ts": begin, "dur": dur,
            "args": {"device": 0, "stream": stream, "correlation": i, "grid": [4, 1, 1], "block": [64, 1, 1]}}


EVENTS = [kernel(i, 1000.125 + 50 * i + i % 7, 30.5) for i in range(30)] + [
    {"ph": "X", "cat": "cpu_op", "name": "aten::add \u00e9 \"q\"", "pid": 1234, "tid": 5, "ts": 990 + i, "dur": 0.5, "args": {"i": i}}
    for i in range(20)]


def put(name, data):
    with open(here(name), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)
    return here(name)


def bytes_of(name):
    with open(here(name), "rb") as file:
        return file.read()


def zip_of(*members, how=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as z:
        for name, data in members:
            z.writestr(name, data)
    return out.getvalue()


def zstd(data):
    """By the library; None where there is none."""
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    out = ctypes.create_string_buffer(room)
    n = library.ZSTD_compress(out, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), 3)
    assert not library.ZSTD_isError(ctypes.c_size_t(n))
    return out.raw[:n]


class Inputs:
    def __init__(self, inkmark, make_capture, foreign_tool):
        self.inkmark, self.make_capture, self.foreign_tool = inkmark, make_capture, foreign_tool

    def capture(self, trace, name, *options):
        subprocess.run([self.make_capture, trace, here(name), *options], check=True, stdout=subprocess.DEVNULL)
        return here(name)

    def read(self, trace):
        run = subprocess.run([self.foreign_tool, trace], capture_output=True, text=True, check=True)
        return json.loads(run.stdout)

    def merge(self, *args, code=0, **more):
        """Returns what was said on stderr."""
        run = subprocess.run([self.inkmark, "export", *args], capture_output=True, text=True, **more)
        assert run.returncode == code and not run.stdout, (args, run)
        assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
        return run.stderr
