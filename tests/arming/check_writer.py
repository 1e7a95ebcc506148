# SPDX-License-Identifier: MIT
# What the recorded program does to itself does not reach its capture, and the recording does not reach the
# program: check_writer.py BUILD BIN CASE [COUNT [SEED]]. Each program runs alone and recorded; exit code, output and files
# are to be the same. COUNT is for children
# and wanders: tests/long.sh. 77: the case needs root, or a tool, that is not here.
import os, random, re, shutil, signal, subprocess, sys, tempfile, time

build, bin_ = map(os.path.abspath, sys.argv[1:3])
case = sys.argv[3]
ink = build + "/cli/inkmark"
counts = bin_ + "/capture_counts"
apart = bin_ + "/apart"
work = tempfile.mkdtemp()
os.chdir(work)
os.environ["INKMARK_SIM_SEED"] = "1"
HANGS_S = 300  # nothing here takes that long


def finish(code, text):
    os.chdir("/")
    shutil.rmtree(work, ignore_errors=True)
    print(f"{case}: {text}")
    sys.exit(code)


def fail(text):
    finish(1, "FAILED: " + text)


def need_root():
    if os.geteuid() != 0:
        finish(77, "needs root")


def files():
    """What lies here, but captures and ours."""
    return {name: open(name, "rb").read() for name in sorted(os.listdir("."))
            if not re.search(r"\.ink|^_", name) and os.path.isfile(name)}


def clean():
    for name in os.listdir("."):
        if os.path.isfile(name) and not name.startswith("_"):
            os.remove(name)


def alone(*args, **more):
    clean()
    env = dict(os.environ, LD_LIBRARY_PATH=build + "/device/sim")
    done = subprocess.run([apart, *args], capture_output=True, text=True, env=env, **more)
    return done.returncode, done.stdout, done.stderr, files()


def record(*args, output="run.ink", front=(), options=(), **more):
    """(exit code, stdout, what record says, the program's stderr, files)"""
    clean()
    done = subprocess.run([*front, ink, "record", "--device", "sim", *options, "-o", output, "--", *args],
                          capture_output=True, text=True, **more)
    said = "".join(line for line in done.stderr.splitlines(True) if line.startswith("inkmark: "))
    rest = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("inkmark: "))
    return done.returncode, done.stdout, said, rest, files()


def captures():
    return sorted(name for name in os.listdir(".") if ".ink" in name)


def counted(path):
    done = subprocess.run([counts, path], capture_output=True, text=True)
    words = done.stdout.split()
    if done.returncode or not words:
        fail(f"'{path}' cannot be read: {done.stderr}")
    return dict(zip(words[::2], map(int, words[1::2])))


def whole(path, launches, marks=3):
    c = counted(path)
    want = dict(launches=launches, tracks=4 * launches, marks=4 * launches * marks, lost=0, missed=0,
                problems=0, complete=1)
    if any(c[key] != value for key, value in want.items()):
        fail(f"'{path}' has {c}, expected {want}")


def info(path):
    return subprocess.run([ink, "info", path], capture_output=True, text=True).stdout


def same(args, launches, marks=3, **more):
    """Recorded as alone, with a capture that is whole."""
    plain = alone(*args, **more)
    code, out, said, err, left = record(apart, *args, **more)
    if (code, out, err, left) != plain:
        fail(f"alone {plain}, recorded {(code, out, err, left)}; {said}")
    if captures() != ["run.ink"]:
        fail(f"captures: {captures()}; {said}")
    whole("run.ink", launches, marks)
    return said


def wait_for(what, condition, seconds=300):
    until = time.monotonic() + seconds  # no test of speed: a bound on a test that would never end
    while not condition():
        if time.monotonic() > until:
            fail("waited in vain for " + what)
        time.sleep(0.02)


def start(*args, output="run.ink", options=()):
    return subprocess.Popen([ink, "record", "--device", "sim", *options, "-o", output, "--", *args],
                            stdout=open("_out", "w"), stderr=open("_err", "w"))


def children_of(pid):
    try:
        return [int(child) for child in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def comm(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return ""


def child_named(pid, name):
    return next((child for child in children_of(pid) if comm(child) == name), None)


def writer_of(record_):
    wait_for("the writer", lambda: child_named(record_.pid, "inkmark-writer"))
    return child_named(record_.pid, "inkmark-writer")


def program_of(record_):
    wait_for("the program", lambda: child_named(record_.pid, "apart"))
    return child_named(record_.pid, "apart")


def is_gone(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def launched():
    """How many launches the endless program has said are through."""
    return len(open("_out").read().splitlines())


def launches_in(path):
    return counted(path)["launches"] if os.path.exists(path) else 0


def closes(): same(["closes"], 2)
def dups(): same(["dups"], 2)
def descriptors(): same(["descriptors"], 1)
def cloned(): same(["cloned"], 2)


def clone_launches():
    """A child that no handler of fork saw has a recording of its own. Of a program that launched before, a child cannot use
    CUDA, nor the simulated device, whose locks other threads may hold at that moment."""
    for when in ("before",):
        for end in ("exit", "_exit"):
            args = ["clone-launches", when, end]
            plain = alone(*args)
            code, out, said, err, left = record(apart, *args)
            if (code, out, err, left) != plain:
                fail(f"{args}: alone {plain}, recorded {(code, out, err, left)}; {said}")
            seen = {path: counted(path)["launches"] for path in captures()}
            if len(seen) != 2 or sorted(seen.values()) != [1, 2]:
                fail(f"{args}: {seen}; {said}")
            for path in seen:
                whole(path, seen[path])


def setuid():
    need_root()
    same(["setuid"], 2)
    same(["setuid-first"], 1)


def chroot():
    need_root()
    os.mkdir("empty")
    same(["chroot", "empty"], 2)
    same(["chroot-first", "empty"], 1)


def seccomp():
    code, out, said, err, _ = record(apart, "seccomp")
    if (code, err) != (0, ""):
        fail(f"exit code {code} {err}; {said}")
    whole("run.ink", 3)


def size_limit():
    plain = alone("limit")
    code, out, said, err, left = record(apart, "limit")
    if (code, out, err, left) != plain or len(left["results.bin"]) != 30000:
        fail(f"alone and recorded differ: {code} {out} {err}; {said}")
    c = counted("run.ink")
    if c["launches"] != 2 or c["tracks"] != 8 or c["lost"] or not c["complete"]:
        fail(str(c))


def own_limit():
    """A limit that holds for record and all below it: the program is not harmed, and why is said."""
    for kib in (1, 2, 4):
        plain = alone("plain")
        code, out, said, err, left = record(apart, "plain", front=["prlimit", f"--fsize={kib * 1024}"])
        if (code, out, err, left) != plain:
            fail(f"{kib} KiB: {code} {out} {err}")
        if kib < 4 and "file too large" not in said:
            fail(f"{kib} KiB: {said}")


def closed_streams():
    """Started without some of the standard descriptors, as by cron: none of ours takes their numbers."""
    for closed in ("2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"):
        clean()
        line = f'"$0" record --device sim -o run.ink -- "$1" noisy {closed}'
        code = subprocess.run(["bash", "-c", line, ink, apart], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode
        if code:
            fail(f"{closed}: exit code {code}")
        whole("run.ink", 6)


def daemon():
    plain_done = {"daemon.done": b"one\ntwo\n"}
    code, out, said, err, _ = record(apart, "daemon")
    if code or err:
        fail(f"exit code {code}: {err}")
    if "goes on" not in said or "no kernel" in said:
        fail(f"a daemon is not told: {said}")
    open("_go", "w").close()
    wait_for("the daemon", lambda: os.path.exists("daemon.done"))
    wait_for("its capture", lambda: any("complete)" in info(path) for path in captures()))
    if files() != plain_done:
        fail(f"files: {files()}")
    if len(captures()) != 1:
        fail(f"captures: {captures()}")
    whole(captures()[0], 2)


def shell():
    """Whoever reads what record prints reads its end when record ends, though a daemon and the writer go on."""
    record_ = subprocess.Popen([ink, "record", "--device", "sim", "-o", "run.%p.ink", "--", apart, "stays"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    writer = writer_of(record_)
    out, said = record_.communicate(timeout=HANGS_S)
    if record_.returncode or out or "goes on" not in said:
        fail(f"{record_.returncode} {out} {said}")
    if is_gone(writer):
        fail("the writer is gone before the daemon")
    fields = open(f"/proc/{writer}/stat").read().rsplit(")", 1)[1].split()
    if int(fields[3]) != writer or int(fields[4]) != 0:
        fail(f"the writer is in session {fields[3]} and has terminal {fields[4]}")
    if os.readlink(f"/proc/{writer}/cwd") != "/":
        fail("the writer is in " + os.readlink(f"/proc/{writer}/cwd"))
    open("_end", "w").close()
    wait_for("the daemon", lambda: os.path.exists("_ended"))
    wait_for("the writer's end", lambda: is_gone(writer))
    if [counted(path)["launches"] for path in captures()] != [1, 1]:
        fail(f"{captures()}")
    for path in captures():
        whole(path, 1)


def exec_():
    """Straight after a launch, by each function there is; the second program has a capture of its own."""
    ways = ["execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve", "execveat"]
    for args, launches, printed in ([((way,), [1, 1], "end of plain\n") for way in ways] +
                                    [(("execv", "thread"), [1, 1], "end of plain\n"), (("", "shell"), [1], "a shell\n"),
                                     (("", "forked"), [1, 1], "end of exec\n"), (("", "idle"), [1], "end of exec\n"),
                                     (("", "fails"), [2], "end of exec\n")]):
        code, out, said, err, _ = record(apart, "exec", *args)
        if code or out != printed:
            fail(f"{args}: {code} {out} {err}")
        seen = [counted(path) for path in captures()]
        if [c["launches"] for c in seen] != launches or any(c["tracks"] != 4 * c["launches"] or c["lost"] or
                                                            c["kept"] != 12 * c["launches"] for c in seen):
            fail(f"{args}: {dict(zip(captures(), seen))}; {said}")
        became = [path for path in captures() if "another program (exec)" in info(path)]
        if len(became) != (0 if args[-1] in ("idle", "fails") else 1):
            fail(f"{args}: {became} of {captures()} tell of the exec; {[info(path) for path in captures()]}")


def children():
    """Many at once: each is recorded, by the writer or by itself, and the writer's memory is bounded."""
    n = int(sys.argv[4]) if len(sys.argv) > 4 else 60
    record_ = start(apart, "children", str(n), output="run.%p.ink")
    writer, most = writer_of(record_), 0
    while record_.poll() is None:
        try:
            most = max(most, int(re.search(r"RssShmem:\s*(\d+)", open(f"/proc/{writer}/status").read())[1]))
        except (OSError, TypeError):
            pass
        time.sleep(0.05)
    if record_.returncode:
        fail(f"exit code {record_.returncode}: {open('_err').read()}")
    paths = captures()
    if len(paths) != n:
        fail(f"{len(paths)} captures of {n}: {open('_err').read()}")
    for path in paths:
        whole(path, 1)
    if most > (1 << 20) + 1024:
        fail(f"the writer shared {most} KiB")


def network():
    """Another network namespace does not see the writer: the process writes by itself."""
    need_root()
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
        finish(77, "network namespaces cannot be made here")
    code, out, said, err, _ = record("unshare", "-n", apart, "plain")
    if code or captures() != ["run.ink"]:
        fail(f"{code} {captures()} {said}")
    whole("run.ink", 1)
    if "wrote 'run.ink': 4 tracks" not in said:
        fail(said)
    code, out, said, err, _ = record("unshare", "-n", apart, "closes")
    if code or captures() != ["run.ink"]:
        fail(f"{code} {captures()} {said}")
    whole("run.ink", 2)
    if any(len(data) != 20 for name, data in files().items() if name.startswith("mine")):
        fail(f"{files()}")
    if "reopened" not in info("run.ink"):
        fail("that the descriptor was closed is not told")


def pid_namespace():
    """The program in a namespace of process ids below the writer's, then the writer in one and the program outside: it
    cannot be seen from there, so it writes by itself."""
    need_root()
    if subprocess.run(["unshare", "-p", "-f", "true"], stderr=subprocess.DEVNULL).returncode:
        finish(77, "namespaces of process ids cannot be made here")
    for args, launches in ((["plain"], 1), (["closes"], 2)):
        code, out, said, err, _ = record("unshare", "-p", "-f", apart, *args)
        if code or err or captures() != ["run.ink"]:
            fail(f"{code} {err} {captures()} {said}")
        whole("run.ink", launches)
    # only a child is in one: its number there is not taken for that of a process here
    clean()
    record_ = start(apart, "unshares")
    writer = writer_of(record_)
    open("_go", "w").close()
    if record_.wait() or "goes on" in open("_err").read():
        fail(open("_err").read())
    whole("run.ink.1", 1)
    wait_for("the writer's end", lambda: is_gone(writer))
    os.remove("_go")
    # killed there, its end is seen too
    clean()
    record_ = start("unshare", "-p", "-f", "--kill-child", apart, "endless")
    wait_for("launches", lambda: launched() >= 20 and launches_in("run.ink") >= 10)
    os.kill(child_named(record_.pid, "unshare"), signal.SIGKILL)
    record_.wait()
    wait_for("its end", lambda: "the recording did not end" in info("run.ink"))
    c = counted("run.ink")
    if c["launches"] < 10 or c["lost"] or c["problems"]:
        fail(str(c))
    # the other way round
    clean()
    inside = subprocess.Popen(["unshare", "-p", "-f", ink, "record", "--device", "sim", "-o", os.path.abspath("run.ink"),
                               "--", "sh", "-c", "env >_env; mv _env _ready; while [ ! -e _go ]; do sleep 0.02; done"],
                              stdout=subprocess.DEVNULL, stderr=open("_err", "w"))
    wait_for("record", lambda: os.path.exists("_ready"))
    env = dict(line.split("=", 1) for line in open("_ready").read().splitlines() if line.startswith(("INKMARK_", "LD_")))
    done = subprocess.run([apart, "closes"], capture_output=True, text=True, env=dict(os.environ, **env))
    open("_go", "w").close()
    inside.wait()
    if (done.returncode, done.stdout, done.stderr) != (0, "end of closes\n", "") or inside.returncode:
        fail(f"{done} {inside.returncode} {open('_err').read()}")
    whole("run.ink", 2)
    if "wrote 'run.ink': 8 tracks" not in open("_err").read():
        fail(open("_err").read())


def writer_gone_before():
    """A process that starts when the writer is gone writes its file itself."""
    clean()
    record_ = start("sh", "-c", 'echo >_ready; while [ ! -e _go ]; do sleep 0.02; done; exec "$0" closes', apart)
    wait_for("the program", lambda: os.path.exists("_ready"))
    writer = writer_of(record_)
    os.kill(writer, signal.SIGKILL)
    wait_for("the writer's end", lambda: is_gone(writer))
    open("_go", "w").close()
    record_.wait()
    if record_.returncode or open("_out").read() != "end of closes\n":
        fail(f"{record_.returncode} {open('_out').read()} {open('_err').read()}")
    whole("run.ink", 2)
    if any(len(data) != 20 for name, data in files().items() if name.startswith("mine")):
        fail(f"{files()}")
    said = open("_err").read()
    if "the writer process is gone" not in said or "wrote 'run.ink': 8 tracks" not in said:
        fail(said)


def cleared_environment():
    sanitizer = [f"{name}={os.environ[name]}" for name in ("LD_PRELOAD", "ASAN_OPTIONS") if name in os.environ]
    code, out, said, err, _ = record("env", "-i", "LD_LIBRARY_PATH=" + build + "/device/sim", *sanitizer, apart, "plain")
    if code or captures():
        fail(f"{code} {captures()} {err}")
    if "without the environment" not in said:
        fail(said)


def disks(kib):
    """Commands that make a disk at `disk`: of memory, whose pages have 4 KiB, or of a file, whose blocks have 1 KiB."""
    if kib % 4 == 0:
        yield [["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "disk"]]
    yield [["truncate", "--size", "0", "_image"], ["truncate", "--size", "1M", "_image"],
           ["mkfs.ext2", "-q", "-b", "1024", "-N", "16", "-m", "0", "_image"], ["mount", "-o", "loop", "_image", "disk"]]


def fill_but(kib):
    """Of the disk there are so many KiB left: what a filler's own index takes is found by trying."""
    with open("disk/full", "wb", buffering=0) as filler:
        while (left := os.statvfs("disk").f_bavail * os.statvfs("disk").f_bsize // 1024) > kib:
            filler.write(bytes(1024 * max(1, left - kib - 16)))


def on_full_disk(kib):
    code, out, said, err, _ = record(apart, "fills", output="disk/run.ink")
    if code or out != "end of fills\n":
        fail(f"{kib} KiB: {code} {out}")
    if "no space left" not in said:
        fail(f"{kib} KiB: {said}")
    if not 0 <= said.find("is nearly full") < said.find("recording on the simulated device"):
        fail(f"{kib} KiB: not said before the program ran: {said}")
    size = os.path.getsize("disk/run.ink") if os.path.exists("disk/run.ink") else 0
    told = subprocess.run([ink, "info", "disk/run.ink"], capture_output=True, text=True)
    if size >= 32 and "apart fills" not in told.stdout:
        fail(f"{kib} KiB: {size} bytes that cannot be read: {told}")
    if "the text of " in told.stdout:
        fail(f"{kib} KiB: a source was stored: {told.stdout}")
    if kib >= 5:
        c = counted("disk/run.ink")
        track = 192 + 1000 * 8
        if c["kept"] != c["tracks"] * 1000 or (size < 0.9 * kib * 1024 and kib * 1024 - size > track):
            fail(f"{kib} KiB: {size} bytes, {c}")
        if kib == 100 and c["tracks"] < 11:  # 12 of them would be all of it
            fail(f"{kib} KiB: {size} bytes, {c}")


def full_disk():
    """Of what the disk takes at least nine tenths hold whole tracks, or what they need to be read."""
    need_root()
    os.mkdir("disk")
    tried = []
    for kib in (0, 1, 4, 5, 8, 100):
        for commands in disks(kib):
            try:
                for command in commands:
                    subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            try:
                fill_but(kib)
                on_full_disk(kib)
                tried.append(f"{kib} KiB of {commands[-1][2]}")
            finally:
                subprocess.run(["umount", "disk"])
    if not tried:
        finish(77, "a disk cannot be mounted here")
    print(f"disks with {', '.join(tried)} left")


def unwritable():
    """Said before the program runs."""
    os.mkdir("folder.ink")
    code, out, said, err, _ = record(apart, "plain", output="folder.ink")
    if code != 1 or out or "cannot write 'folder.ink'" not in said:
        fail(f"{code} {out} {said}")
    os.symlink("no/such.ink", "dangling.ink")
    os.symlink("round.ink", "round.ink")
    for output in ("/proc/x.ink", "none/", "none.%p/", "dangling.ink", "round.ink", "x" * 300 + ".ink", "y" * 300 + ".%p.ink"):
        code, out, said, err, _ = record(apart, "plain", output=output)
        if code != 1 or out or "cannot " not in said or len(said.splitlines()) != 1:
            fail(f"{output}: {code} {out} {said}")
    left = sorted(os.listdir("."))
    os.symlink("target.ink", "leads.ink")
    left = sorted(["leads.ink", *left])
    code, out, said, err, _ = record("true", output="leads.ink")
    if code or sorted(os.listdir(".")) != left:
        fail(f"{left}, then {os.listdir('.')}: {said}")
    if os.geteuid() != 0:
        open("old.ink", "w").close()
        os.chmod("old.ink", 0o400)
        code, out, said, err, _ = record(apart, "plain", output="old.ink")
        if code != 1 or out:
            fail(f"{code} {out} {said}")


def old_file():
    """An older capture stays until something is recorded."""
    code, *_ = record(apart, "plain")
    shutil.copy("run.ink", "_old")
    subprocess.run([ink, "record", "--device", "sim", "-o", "run.ink", "--", "true"], capture_output=True)
    if open("run.ink", "rb").read() != open("_old", "rb").read():
        fail("it was overwritten by nothing")


def pipe():
    """A pipe for an output, whose reader comes late, or never: nobody waits for it for ever."""
    os.mkfifo("_pipe")
    record_ = start(apart, "endless", output="_pipe")
    wait_for("launches", lambda: launched() >= 3)
    reader = subprocess.Popen(["cat", "_pipe"], stdout=open("_got.ink", "w"))
    wait_for("the capture", lambda: os.path.getsize("_got.ink") > 0)
    os.kill(program_of(record_), signal.SIGTERM)
    record_.wait()
    reader.wait()
    if "which is no file" not in open("_err").read():
        fail(open("_err").read())
    if counted("_got.ink")["launches"] < launched() or not counted("_got.ink")["complete"]:
        fail(f"{counted('_got.ink')}, {launched()} launches")
    record_ = start(apart, "plain", output="_pipe")
    writer = writer_of(record_)
    record_.wait()
    wait_for("the writer's end", lambda: is_gone(writer))
    if record_.returncode or "cannot create" not in open("_err").read():
        fail(f"{record_.returncode} {open('_err').read()}")
    # a reader that leaves: no SIGPIPE ends anybody
    record_ = start(apart, "endless", output="_pipe")
    program = program_of(record_)
    subprocess.run(["head", "-c", "1", "_pipe"], stdout=subprocess.DEVNULL)
    before = launched()
    wait_for("launches after that", lambda: launched() >= before + 20)
    os.kill(program, signal.SIGTERM)
    record_.wait()
    if record_.returncode != -signal.SIGTERM or "broken pipe" not in open("_err").read():
        fail(f"{record_.returncode} {open('_err').read()}")


def record_killed():
    for after in (1, 20, 60):
        clean()
        record_ = start(apart, "endless")
        wait_for("launches", lambda: launched() >= after)
        program, writer = program_of(record_), writer_of(record_)
        record_.kill()
        record_.wait()
        wait_for("more launches", lambda: launched() >= after + 20)
        os.kill(program, signal.SIGTERM)  # it ends its recording
        wait_for("the writer's end", lambda: is_gone(writer))
        c = counted("run.ink")
        if c["launches"] < launched() or c["lost"] or c["problems"]:
            fail(f"{c}, {launched()} launches; {info('run.ink')[:900]}")


def writer_killed():
    for after in (1, 20):
        clean()
        record_ = start(apart, "endless")
        program, writer = program_of(record_), writer_of(record_)
        wait_for("launches", lambda: launched() >= after)
        os.kill(writer, signal.SIGKILL)
        wait_for("more launches", lambda: launched() >= after + 20)
        os.kill(program, signal.SIGTERM)
        record_.wait()
        if record_.returncode != -signal.SIGTERM and record_.returncode != 128 + signal.SIGTERM:
            fail(f"exit code {record_.returncode}")
        if "the writer process is gone" not in open("_err").read():
            fail(open("_err").read())
        if os.path.exists("run.ink") and counted("run.ink")["problems"]:
            fail("what was written cannot be read")


def program_killed():
    """All that was closed two drains before is there, and how it ended is said."""
    for after in (30, 60):
        clean()
        record_ = start(apart, "endless", options=["--drain-ms", "50"])
        program = program_of(record_)
        wait_for("launches", lambda: launched() >= after)
        before = launched()
        drained = lambda: launches_in("run.ink") >= before
        wait_for("drains", drained)
        os.kill(program, signal.SIGKILL)
        record_.wait()
        c, ran = counted("run.ink"), launched()
        # The counters are written in front of the tracks: a kill between the two loses tracks of launches after `before`, no others.
        if c["launches"] < before or c["tracks"] < 4 * before or c["lost"] > 4 * (ran - before) or c["tracks"] + c["lost"] > 4 * ran:
            fail(f"{c}, {before} launches were there, {ran} at the end")
        if "killed by signal 9" not in info("run.ink") or "signal 9 (SIGKILL)" not in info("run.ink"):
            fail(info("run.ink"))


def ruined():
    record_ = start(apart, "ruins")
    wait_for("the launch", lambda: launches_in("run.ink") == 1 and counted("run.ink")["tracks"] == 4)
    open("_go", "w").close()
    record_.wait()
    if record_.returncode not in (137, -9):
        fail(f"exit code {record_.returncode}")
    c = counted("run.ink")
    if c["launches"] != 1 or c["tracks"] != 4 or c["kept"] != 12 or c["problems"]:
        fail(f"{c} {open('_err').read()}")


def ruined_heap():
    """What was drained is there, and the signal ends the program, whatever the recording finds in its memory."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        finish(77, "the sanitizer has a heap of its own, which this program does not ruin, and ends the program itself")
    for options in ([], ["--flight"], ["--live"]):
        clean()
        if os.path.exists("_go"):
            os.remove("_go")
        record_ = start(apart, "ruins-heap", options=options)
        wait_for("the launch", lambda: launches_in("run.ink") == 1 and counted("run.ink")["tracks"] == 4)
        open("_go", "w").close()
        record_.wait()
        if record_.returncode not in (128 + signal.SIGTERM, -signal.SIGTERM):
            fail(f"{options}: exit code {record_.returncode} {open('_err').read()}")
        c = counted("run.ink")
        if c["launches"] != 1 or c["tracks"] != 4 or c["kept"] != 12 or c["problems"]:
            fail(f"{options}: {c} {open('_err').read()}")


def writer_stopped():
    """A ring that nobody empties does not hold the program up, and what it lost is counted, in every mode."""
    for mode in ([], ["--live"], ["--hang", "1s"], ["--flight"]):
        clean()
        if os.path.exists("_go"):
            os.remove("_go")
        record_ = start(apart, "fills", "waits", options=["--tracks", "64", "--drain-ms", "20", *mode])
        program, writer = program_of(record_), writer_of(record_)
        # Before it gave out a ring the program would write its file itself, and lose nothing.
        wait_for("something in the capture", lambda: os.path.exists("run.ink") and os.path.getsize("run.ink") > 1 << 15)
        os.kill(writer, signal.SIGSTOP)
        open("_go", "w").close()
        wait_for("the program's end", lambda: is_gone(program))
        os.kill(writer, signal.SIGCONT)
        record_.wait()
        if record_.returncode or open("_out").read() != "end of fills\n":
            fail(f"{mode}: {record_.returncode} {open('_err').read()}")
        c = counted("run.ink")
        lost = c["lost"] + c["missed"]
        if c["tracks"] + lost != 1600 or not lost or c["problems"]:
            fail(f"{mode}: {c}; {open('_err').read()}")


def steps_of(chance):
    """The arguments of a program that wanders, from small words (wanders.cu)."""
    words = ["l3", "l3", "l40", "a7", "t5", "c3", "o0", "o1", "o2", "d40", "d700", "s10", "s12", "s13", "i1", "i13", "w30",
             "w400", "h", "b", "y", "f", "v", "x", "r64"]
    ends = [[], [], ["e0"], ["e7"], ["E9"], ["q4"], ["A"], ["k15"], ["k2"], ["k1"], ["k9"], ["k11"]]
    return ["l2"] + [chance.choice(words) for _ in range(chance.randrange(1, 9))] + chance.choice(ends)


def wanders():
    """Programs of a generator: exit code, output and files are the same, and what is captured can be read."""
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    chance = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 11)
    program = bin_ + "/wanders"
    env = dict(os.environ, LD_LIBRARY_PATH=build + "/device/sim")
    none = 0
    for n in range(count):
        steps = steps_of(chance)

        def run(command, **more):
            for name in os.listdir("."):
                shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
            done = subprocess.run(command, capture_output=True, text=True, **more)
            left = {os.path.join(folder, name): open(os.path.join(folder, name), "rb").read()
                    for folder, _, names in os.walk(".") for name in names if ".ink" not in name and name != "core"}
            err = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("inkmark: "))
            return (done.returncode, done.stdout, err, left), done.stderr

        plain, _ = run([program, *steps], env=env)
        recorded, said = run([ink, "record", "--device", "sim", "-o", os.path.abspath("run.ink"), "--", program, *steps])
        if plain != recorded:
            fail(f"round {n}, {' '.join(steps)}: alone {plain}, recorded {recorded}; {said}")
        for path in captures():
            c = counted(path)
            if c["problems"] or c["marks"] != c["kept"]:
                fail(f"round {n}, {' '.join(steps)}: '{path}' has {c}")
        none += not captures()
    print(f"{count} programs, {none} without a capture")


cases = {"wanders": wanders, "closes": closes, "dups": dups, "descriptors": descriptors, "cloned": cloned, "clone-launches": clone_launches, "setuid": setuid,
         "chroot": chroot, "seccomp": seccomp, "size-limit": size_limit, "own-limit": own_limit,
         "closed-streams": closed_streams, "daemon": daemon, "shell": shell, "exec": exec_, "children": children,
         "network": network, "pid-namespace": pid_namespace, "writer-gone-before": writer_gone_before, "cleared-environment": cleared_environment, "full-disk": full_disk,
         "unwritable": unwritable, "old-file": old_file, "pipe": pipe, "record-killed": record_killed,
         "writer-killed": writer_killed, "program-killed": program_killed, "ruined": ruined, "ruined-heap": ruined_heap,
         "writer-stopped": writer_stopped}
cases[case]()
finish(0, "as it should be")
