# SPDX-License-Identifier: MIT
"""Where -o leads, of every command that has it: through links, also one to nothing, which stay links; into
devices, pipes and standard output; a signal in the middle leaves what was there and nothing beside it; all of
this on a file system without unnamed files too. check_outfiles.py INKMARK MAKE_CAPTURES ODD_DISK_LIBRARY"""
import gzip
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading

inkmark, make_captures, odd_disk = (os.path.abspath(p) for p in sys.argv[1:4])
COMMANDS = {"report": ["report"], "report json": ["report", "-f", "json"], "report csv": ["report", "-f", "csv"],
            "report activity": ["report", "--activity"], "info": ["info"], "info csv": ["info", "-f", "csv"],
            "export csv": ["export", "--format", "csv"], "export chrome": ["export", "--format", "chrome"],
            "export perfetto": ["export", "--format", "perfetto"], "export html": ["export", "--format", "html"],
            "export json": ["export", "--format", "json"]}
checks = 0


def run(words, out, odd=None, number=0, **more):
    global checks
    checks += 1
    environment = dict(os.environ)
    if odd or number:
        environment["LD_PRELOAD"] = " ".join(filter(None, (environment.get("LD_PRELOAD"), odd_disk)))
    if odd:
        environment["ODD_DISK"] = odd
    if number:
        environment["ODD_SIGNAL"] = str(int(number))
    capture = os.path.abspath("activity.ink" if "--activity" in words else "solver.ink")
    return subprocess.run([inkmark, *words, "-o", out, capture], capture_output=True, env=environment, **more)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def links(name, words, wanted, odd):
    os.makedirs("far/away")
    os.symlink("far/to", "link")
    os.symlink("away/target", "far/to") # a relative link below another folder
    done = run(words, "link", odd) # to nothing, as yet
    assert done.returncode == 0, (name, done)
    for _ in range(2):
        assert os.path.islink("link") and os.path.islink("far/to"), f"{name}: a link was replaced"
        assert read("far/away/target") == wanted, name
        os.chmod("far/away/target", 0o640)
        assert run(words, "link", odd).returncode == 0
        assert stat.S_IMODE(os.stat("far/away/target").st_mode) == 0o640, "the file's mode is not what it was"
    assert os.listdir("far/away") == ["target"] and os.listdir("far") != [], os.listdir("far")
    os.symlink("loop", "loop")
    assert run(words, "loop", odd).returncode == 1
    assert os.path.islink("loop")
    for path in ("far/away/target", "far/to", "link", "loop"):
        os.unlink(path)
    os.removedirs("far/away")


def streams(name, words, wanted):
    assert run(words, "-").stdout == wanted, name
    done = run(words, "/dev/null")
    assert done.returncode == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), (name, done)
    done = run(words, "/dev/full")
    assert done.returncode == 1 and b"no space left" in done.stderr, (name, done)
    os.mkfifo("fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append(read("fifo")))
    reader.start()
    assert run(words, "fifo").returncode == 0
    reader.join()
    assert got == [wanted] and stat.S_ISFIFO(os.stat("fifo").st_mode), name
    os.unlink("fifo")
    done = run(words, ".")
    assert done.returncode == 1 and b"is a directory" in done.stderr, done
    done = run(words, "no/such/x")
    assert done.returncode == 1 and b"no such file or directory" in done.stderr, done


def signals(name, words, odd):
    with open("old", "w") as f:
        f.write("before")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        done = run(words, "old", odd, number)
        assert done.returncode == -number, (name, number, done)
        assert read("old") == b"before", name
    assert sorted(os.listdir(".")) == sorted(base + ["old"]), (name, odd, os.listdir("."))
    os.unlink("old")
    if odd: # without a handler's help there is nothing to do: a kill leaves a file that says what it is
        done = run(words, "new", odd, signal.SIGKILL)
        left = sorted(set(os.listdir(".")) - set(base))
        assert len(left) == 1 and left[0].startswith("new.") and left[0].endswith(".tmp"), left
        os.unlink(left[0])
    else: # it has a name of ours only between link and rename
        for path in set(os.listdir(".")) - set(base):
            os.unlink(path)


def recovers(odd):
    """recover: nothing has the name but what is whole, and what has it already stays."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        assert run(["recover"], "new", odd, number).returncode == -number
        assert sorted(os.listdir(".")) == sorted(base), (odd, number, os.listdir("."))
    assert run(["recover"], "new", odd, signal.SIGKILL).returncode == -signal.SIGKILL
    left = sorted(set(os.listdir(".")) - set(base))
    assert len(left) == 1 and left[0].startswith("new.") and left[0].endswith(".tmp"), left
    assert run(["recover"], "new", odd).returncode == 0
    whole = read("new")
    assert sorted(set(os.listdir(".")) - set(base)) == sorted(left + ["new"]), os.listdir(".")
    done = run(["recover"], "new", odd)
    assert done.returncode == 1 and b"cannot create 'new': file exists" in done.stderr and read("new") == whole, done
    for path in left + ["new"]:
        os.unlink(path)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([make_captures], check=True)
    base = os.listdir(".")
    for name, words in COMMANDS.items():
        wanted = run(words, "-").stdout
        assert wanted, name
        for odd in (None, "named"):
            links(name, words, wanted, odd)
            signals(name, words, odd)
            assert sorted(os.listdir(".")) == sorted(base), (name, os.listdir("."))
        streams(name, words, wanted)
    for odd in (None, "named"):
        recovers(odd)
    assert run(["report", "-f", "json"], "r.json.gz").returncode == 0
    assert gzip.decompress(read("r.json.gz")) == run(["report", "-f", "json"], "-").stdout
    print(f"{checks} runs")
