# SPDX-License-Identifier: MIT
"""The Perfetto output, decoded by protoc: valid protobuf, and no field that the format's subset in
perfetto_subset.proto does not have. Prints and bounds the bytes that a slice takes.

check_proto.py OUTPUT_TOOL"""
import os
import re
import shutil
import subprocess
import sys

from scratch import Scratch, skip

HERE = os.path.dirname(os.path.abspath(__file__))
BYTES_PER_SLICE_MAX = 33.0  # 26 of its own, and a fourth of a slice of the critical path


def decode(path):
    with open(path, "rb") as trace:
        run = subprocess.run(
            ["protoc", f"--proto_path={HERE}", "--decode=perfetto_subset.Trace", "perfetto_subset.proto"],
            stdin=trace, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def main(tool):
    if not shutil.which("protoc"):
        skip("no protoc (Debian: protobuf-compiler)")
    with Scratch(tool) as scratch:
        text = decode(scratch.write("perfetto", scratch.make("mixed"), "mixed.pftrace"))
        unknown = re.findall(r"^\s*\d+[:{ ].*", text, re.M)
        assert not unknown, unknown[:5]
        # A field that is not known does show: the check can fail.
        with open(scratch.path("unknown.pftrace"), "wb") as f:
            f.write(b"\x0a\x04\xa2\x3f\x01x")
        assert re.search(r"^\s*1012: \"x\"", decode(scratch.path("unknown.pftrace")), re.M)
        for word in ("primary_trace_clock: 1", "is_incremental: true", "sibling_merge_behavior: 2",
                     "child_ordering: 3", "[perfetto_subset.Slice.cycles]: ", 'process_name: "GPU 0 (simulated clock)"'):
            assert word in text, word
        assert text.count("type: 1\n") == text.count("type: 2\n"), "begins and ends differ"

        capture = scratch.make("many:64:100")
        slices = sum(e["kind"] == "slice" for e in scratch.dump(capture)["events"])
        assert slices == 64 * 100 * 5, slices
        for name in ("many.pftrace", "many.pftrace.gz"):
            size = os.path.getsize(scratch.write("perfetto", capture, name))
            print(f"{name}: {size / slices:.2f} bytes a slice")
            assert size / slices <= BYTES_PER_SLICE_MAX
    print("ok")


main(sys.argv[1])
