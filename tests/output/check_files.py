# SPDX-License-Identifier: MIT
"""How outputs reach their files: whole or not at all. Every output against a full disk, a directory, a
missing folder; standard output; links and modes of what was there; a writer killed midway.

check_files.py OUTPUT_TOOL"""
import os
import shutil
import signal
import stat
import subprocess
import sys

from scratch import Scratch

OUTPUTS = {"perfetto": "x.pftrace", "chrome": "x.json.gz", "csv": "x.csv", "npy": "x.npy",
           "json": "x.tables.json", "html": "x.html"}
# Runs in a mount namespace of its own: a small full disk with files of the wanted names on it.
FULL_DISK = r"""
set -e
mount -t tmpfs -o size=64k tmpfs "$1"
cd "$1"
for f in x.pftrace x.json.gz x.csv x.cycles.npy x.tables.json x.html; do echo old > $f; done
head -c 65536 /dev/zero > filler 2>/dev/null || true
ls > ../before
"$2" write "$3" "$4" "$1/$5" && { echo "writing succeeded"; exit 9; }
ls > ../after
cmp ../before ../after
for f in x.pftrace x.json.gz x.csv x.cycles.npy x.tables.json x.html; do [ "$(cat $f)" = old ]; done
"""


def fails(scratch, output, capture, path):
    run = subprocess.run([scratch.tool, "write", output, capture, path], capture_output=True, text=True)
    assert run.returncode == 1 and run.stdout == "", (output, run)
    assert run.stderr.count("\n") == 1, run.stderr
    return run.stderr.strip()


def check_full_disk(scratch, capture):
    disk = scratch.path("disk")
    os.mkdir(disk)
    probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", disk], capture_output=True)
    if probe.returncode:
        print("part SKIPPED: a small tmpfs needs root (CAP_SYS_ADMIN)")
        return
    for output, name in OUTPUTS.items():
        run = subprocess.run(["unshare", "-m", "sh", "-c", FULL_DISK, "sh", disk, scratch.tool, output,
                              capture, name], capture_output=True, text=True)
        assert run.returncode == 0, (output, run)
        assert run.stderr.count("\n") == 1 and "no space left on device" in run.stderr, run.stderr


def check_refusals(scratch, capture):
    assert fails(scratch, "csv", capture, "/dev/full") == \
        "output_tool: cannot write '/dev/full': no space left on device"
    for output, name in OUTPUTS.items():
        path = scratch.path("none/" + name)
        assert "no such file or directory" in fails(scratch, output, capture, path)
    os.mkdir(scratch.path("folder.csv"))
    assert fails(scratch, "csv", capture, scratch.path("folder.csv")).endswith("is a directory")
    assert "give a name" in fails(scratch, "npy", capture, "-")
    bad = subprocess.run([scratch.tool, "write", "csv", capture, scratch.path("y.csv"), "["],
                         capture_output=True, text=True)
    assert bad.returncode == 1 and "bad regular expression" in bad.stderr
    bad = subprocess.run([scratch.tool, "write", "csv", capture, scratch.path("y.csv"), "NoSuchKernel"],
                         capture_output=True, text=True)
    assert bad.returncode == 1 and "no kernel matches" in bad.stderr
    assert not os.path.exists(scratch.path("y.csv"))
    closed = scratch.path("closed")
    os.mkdir(closed, 0o555)
    as_root = os.geteuid() == 0
    if as_root:  # root may write everywhere: be nobody
        os.chmod(scratch.folder, 0o755)
    tool = shutil.copy(scratch.tool, scratch.path("tool"))  # for a user who may not go into where it was built
    run = subprocess.run([tool, "write", "csv", capture, closed + "/x.csv"],
                         capture_output=True, text=True, user=65534 if as_root else None)
    assert run.returncode == 1 and "permission denied" in run.stderr, run


def check_replacing(scratch, capture):
    whole = scratch.path("whole.csv")
    scratch.run("write", "csv", capture, whole)
    with open(whole, "rb") as f:
        expected = f.read()
    assert scratch.run("write", "csv", capture, "-") == expected
    target, link = scratch.path("target.csv"), scratch.path("link.csv")
    with open(target, "w") as f:
        f.write("old")
    os.chmod(target, 0o640)
    os.symlink(target, link)
    scratch.run("write", "csv", capture, link)
    assert os.path.islink(link)
    with open(target, "rb") as f:
        assert f.read() == expected
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o640
    with open(target, "r+b") as reader:  # who has the old file open keeps the old file
        scratch.run("write", "json", capture, target)
        assert reader.read() == expected


def writes_in(process, folder):
    """Whether the process has a file of the folder open that is not empty."""
    files = f"/proc/{process.pid}/fd"
    try:
        return any(os.readlink(os.path.join(files, fd)).startswith(folder) and os.stat(os.path.join(files, fd)).st_size
                   for fd in os.listdir(files))
    except FileNotFoundError: # it closed one meanwhile
        return False


def check_killed(scratch):
    folder = scratch.path("killed")
    name = os.path.join(folder, "x.json.gz")
    os.mkdir(folder)
    for tracks in (2000, 20000, 200000): # one of them is more than the writer is done with when the signal comes
        capture = scratch.make(f"many:{tracks}:100")
        writer = subprocess.Popen([scratch.tool, "write", "chrome", capture, name])
        while writer.poll() is None and not writes_in(writer, folder):
            pass
        left = os.listdir(folder)
        writer.send_signal(signal.SIGKILL)
        if writer.wait() == -signal.SIGKILL and os.path.basename(name) not in left:
            break
        os.remove(name)
    else:
        raise AssertionError("the writer ended too soon to be killed")
    left = os.listdir(folder)
    if any(name.endswith(".tmp") for name in left):
        print("part SKIPPED: no unnamed files (O_TMPFILE) on this file system, SIGKILL leaves one")
    else:
        assert left == [], left


def main(tool):
    with Scratch(tool) as scratch:
        capture = scratch.make("mixed")
        check_refusals(scratch, capture)
        check_full_disk(scratch, capture)
        check_replacing(scratch, capture)
        check_killed(scratch)
        assert not [f for f in os.listdir(scratch.folder) if f.endswith(".tmp")]
    print("ok")


main(sys.argv[1])
