# SPDX-License-Identifier: MIT
"""How a program ends, alone and under `inkmark record` on the simulated device: exit code, signal and output
are the same, and what had been launched is in the capture. check_ends.py BUILD PROGRAMS CASE [COUNT]"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile

if "ASAN_OPTIONS" in os.environ:  # the sanitizer's own handlers would stand where a program has none
    os.environ["ASAN_OPTIONS"] += "".join(f":handle_{fault}=0" for fault in ("segv", "sigbus", "sigfpe", "sigill", "abort"))

BUILD, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
CASE = sys.argv[3]
INKMARK = os.path.join(BUILD, "cli/inkmark")
APART = os.path.join(PROGRAMS, "apart")
COUNTS = os.path.join(BUILD, "tests/arming/capture_counts")
WAYS = os.path.join(PROGRAMS, "ways_out")
HANGS_S = 300  # nothing here takes that long, on whatever machine: a test that waits for ever fails


def alone(*command, **more):
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "device/sim")}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANGS_S, **more)


def recorded(*command, options=(), output="run.%p.ink", **more):
    return subprocess.run([INKMARK, "record", "--device", "sim", "-o", output, *options, "--", *command],
                          capture_output=True, text=True, timeout=HANGS_S, **more)


def start(*command, options=(), **more):
    """Recorded, and at its first line of output."""
    process = subprocess.Popen([INKMARK, "record", "--device", "sim", "-o", "run.%p.ink", *options, "--", *command],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    process.first_line = process.stdout.readline().strip()
    return process


def captures():
    """What the captures here hold; they are taken away."""
    found = []
    for name in sorted(n for n in os.listdir() if n.startswith("run.")):
        run = subprocess.run([INKMARK, "info", "--format", "json", name], capture_output=True, text=True)
        assert run.returncode == 0, run
        one = json.loads(run.stdout)["captures"][0]
        found.append({**one["capture"][0], "devices": len(one["devices"])})
        os.remove(name)
    return found


def expect(way, *arguments, tracks=2, ended_by=None, complete=True):
    plain = alone(WAYS, way, *arguments)
    run = recorded(WAYS, way, *arguments)
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), (way, arguments, plain, run)
    seen = captures()
    assert len(seen) == 1 and seen[0]["tracks"] == tracks, (way, arguments, run, seen)
    assert not complete or seen[0]["complete"], (way, arguments, run, seen)
    assert (seen[0]["ended_by"] or "").startswith(ended_by or ""), (way, arguments, run, seen)
    assert bool(seen[0]["ended_by"]) == bool(ended_by), (way, arguments, run, seen)
    if ended_by:
        assert f"ended by {ended_by}" in run.stderr, (way, arguments, run)
    print(f"{way} {' '.join(arguments)}: {run.returncode}, {tracks} tracks")
    return run


def signals():
    """Each signal whose default action ends a process."""
    names = "HUP INT QUIT ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF IO PWR SYS".split()
    for number in [*(getattr(signal, "SIG" + name) for name in names), signal.SIGRTMIN, signal.SIGRTMAX]:
        run = expect("raise", str(int(number)), ended_by=f"signal {int(number)}")
        assert run.returncode == -number, run
    expect("kill", "15", ended_by="signal 15")
    plain, run = alone(WAYS, "raise", "9"), recorded(WAYS, "raise", "9")
    assert run.returncode == plain.returncode == -9, (plain, run)
    captures()


def dispositions():
    """The program sees SIG_DFL, sets what it likes, and its children get what they would."""
    for number in ("2", "3", "10", "15"):
        run = expect("dispositions", number)
        assert run.stdout.startswith("sigaction 1 flags 0\n"), run
    expect("child", "15")
    expect("child", "2")
    run = expect("becomes", complete=False)
    assert run.stdout.count("Sig") >= 4, run  # pending, blocked, ignored, caught
    # what is ignored from the start on stays so
    def ignore():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    plain, run = alone(WAYS, "raise", "15", preexec_fn=ignore), recorded(WAYS, "raise", "15", preexec_fn=ignore)
    assert run.returncode == plain.returncode == 0 and run.stdout == plain.stdout, (plain, run)
    assert captures()[0]["ended_by"] is None


def odd():
    """A fault, a mask that is put back, two signals at once, a handler that is taken away again."""
    expect("fault", ended_by="signal 11")
    expect("suspended", "15", ended_by="signal 15")
    expect("suspended", "10", ended_by="signal 10")
    expect("two-pending", ended_by="signal 1")
    expect("again", "15", ended_by="signal 15")
    expect("handler", "15")
    expect("handler", "2")
    expect("alarms", tracks=102)


def alternate():
    """A stack for signal handlers that the program has for its own: a signal ends it all the same. The last needs it."""
    expect("alternate-small", "15", ended_by="signal 15")
    expect("alternate-gone", "15", ended_by="signal 15")
    expect("overflow-alternate", ended_by="signal 11")


def aborts():
    """abort and a failed assert whose signal the program catches: it goes on, and so does the recording."""
    expect("abort-caught", tracks=4)
    expect("assert-caught", tracks=4)
    expect("abort-returns", ended_by="signal 6")
    expect("abort-ignored", ended_by="signal 6")
    expect("assert-returns", ended_by="signal 6", complete=False)


def hung():
    """A kernel that never ends does not keep a signal from ending the program."""
    for number in (signal.SIGTERM, signal.SIGINT):
        run = recorded(WAYS, "hang", str(int(number)))
        seen = captures()
        assert run.returncode == -number, run
        assert seen[0]["tracks"] == 4 and seen[0]["open_tracks"] == 2, (run, seen)
        assert seen[0]["ended_by"].startswith(f"signal {int(number)}"), (run, seen)
        process = start(WAYS, "hang-exit")  # which waits for the kernel
        process.send_signal(number)
        out, messages = process.communicate(timeout=HANGS_S)
        seen = captures()
        assert process.returncode == -number, (process.returncode, out, messages)
        assert seen and seen[0]["tracks"] - seen[0]["open_tracks"] == 2, (messages, seen)


def exits():
    """Nor does it keep exit from ending it: it is waited for a while, here as long as --hang says."""
    plain = alone(WAYS, "hang-exit")
    run = recorded(WAYS, "hang-exit", options=("--hang", "200ms"))
    seen = captures()
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), (plain, run)
    assert len(seen) == 1 and seen[0]["tracks"] == 4 and seen[0]["open_tracks"] == 2, (run, seen)
    assert "2 tracks had not ended" in run.stderr, run


def loops():
    """A signal from outside, while threads are in calls of the CUDA runtime: every launch that had ended is there."""
    for way, number in (("loop", signal.SIGTERM), ("loop", signal.SIGINT), ("loops", signal.SIGHUP)):
        with open("count", "wb") as file:
            file.write(bytes(4096))
        process = start(WAYS, way, "0", os.path.abspath("count"), options=("--tracks", "65536", "-r", "4"))
        ended = 0
        while ended < 200:  # whatever the machine
            with open("count", "rb") as file:
                ended = struct.unpack("I", file.read(4))[0] + 1
        process.send_signal(number)
        out, messages = process.communicate(timeout=HANGS_S)
        seen = captures()
        assert process.returncode == -number, (process.returncode, out, messages)
        whole = (seen[0]["tracks"] - seen[0]["open_tracks"]) / 2
        assert whole >= ended, (way, whole, ended, messages)
        assert seen[0]["ended_by"].startswith(f"signal {int(number)}"), seen
        print(f"{way}, signal {int(number)}: {ended} launches had ended, {whole:.0f} are recorded")


def reasons():
    """Where nothing was drained before a way that ends no recording, that is what is said."""
    late = ("--drain-ms", "600000")
    for way, more, code, why in (("raise", ["9"], -9, "the program was killed by signal 9 (Killed), process "),
                                 ("raw-exit-group", [], 3, "the program was killed, or left by a way that ends no recording, process ")):
        run = recorded(WAYS, way, *more, options=late)
        assert run.returncode == code, run
        assert f"nothing was recorded: {why}" in run.stderr and "before anything was drained" in run.stderr, run
        assert not captures(), run
    # a kernel that nobody has waited for: the simulated device had not begun it
    run = recorded(WAYS, "only-queued", "15")
    assert run.returncode == -15 and not captures(), run
    assert "was ended by signal 15 (Terminated) before a kernel with PROF_KERNEL had ended" in run.stderr, run
    assert "exit code" not in run.stderr, run
    # memory of the device that a fault has taken: the way to keep it is told
    run = recorded(WAYS, "device-fault", options=late)
    assert run.returncode == 3 and "cannot read its counters" in run.stderr, run
    assert "; 'inkmark record --flight' keeps what was recorded before a fault\n" in run.stderr, run
    captures()
    # what ends by itself has another reason
    run = recorded("sh", "-c", "exit 3")
    assert "nothing was recorded: '/" in run.stderr and "exit code 3" in run.stderr, run
    run = recorded(WAYS, "leaves-early")
    assert run.returncode == 3 and "ended with exit code 3" in run.stderr and "drained" not in run.stderr, run


def unmapped():
    """A fault in the end of the recording is not one of the program: it ends as it would, though nothing is recorded."""
    plain, run = alone(APART, "unmaps"), recorded(APART, "unmaps", options=("--drain-ms", "60000"))
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), (plain, run)


def unheard():
    """Nobody reads what record says, or there is no room for it: the program runs and is recorded all the same."""
    for how in "ignored", "plain":
        for messages in "pipe", "limit":
            plain = alone(APART, how)
            command = [INKMARK, "record", "--device", "sim", "-o", "run.%p.ink", "--", APART, how]
            if messages == "pipe":
                reader, writer = os.pipe()
                os.close(reader)
            else:
                writer = os.open("messages", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                command = ["prlimit", "--fsize=1", *command]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, text=True, timeout=HANGS_S)
            os.close(writer)
            assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), (how, messages, plain, run)
            if messages == "pipe":
                assert [(one["tracks"], one["complete"]) for one in captures()] == ([(4, True)] if how == "plain" else [])
    for name in os.listdir():
        os.remove(name)


def amid():
    """Other threads launch meanwhile, some for the first time, and two threads end the process at once."""
    for how in "return", "signal", "exits", "leaves", "becomes":
        for _ in range(2):
            plain, run = alone(WAYS, "amid", how), recorded(WAYS, "amid", how)
            assert run.returncode == plain.returncode, (how, plain, run)
            seen = captures()
            assert len(seen) == 1 and seen[0]["tracks"] >= 40, (how, run, seen)


def closings():
    """Threads open and close a library while main returns: of the exits of this kind, one in thirty crashed."""
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 15
    library = os.path.join(PROGRAMS, "library.so")
    for n in range(count):
        run = recorded(os.path.join(BUILD, "tests/arming/closer"), library, str(n % 3 + 1), str(20000 + n * 7919 % 60000),
                       options=["--drain-ms", "20"], output="run.ink")
        assert run.returncode == 4, run
        if os.path.exists("run.ink"):
            words = subprocess.run([COUNTS, "run.ink"], capture_output=True, text=True).stdout.split()
            counts = dict(zip(words[::2], map(int, words[1::2])))
            assert counts["lost"] < 1000000 and counts["problems"] == 0, (run, counts)  # no number of memory that was gone
        captures()
    print(f"{count} exits as they should be")


def main_leaves():
    """main ends by pthread_exit or is cancelled: the process ends with the last thread of the program."""
    expect("pthread-exit")
    expect("thread-goes-on", tracks=4)
    expect("cancel")
    expect("host-call")
    expect("raw-exit", complete=False)
    expect("raw-exit-forked")


def pools():
    """multiprocessing.Pool: its workers end by SIGTERM where it is left by `with`."""
    for method in ("spawn", "fork"):
        for end in ("terminate", "join"):
            script = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pool.py"),
                      os.path.join(PROGRAMS, "library.so"), method, end]
            plain, run = alone(*script), recorded(*script)
            assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), (plain, run)
            assert plain.returncode == 0, plain
            seen = captures()
            assert sum(one["tracks"] for one in seen) == 6, (method, end, run, seen)
            assert all(one["complete"] for one in seen), (method, end, run, seen)
            print(f"{method}, {end}: {len(seen)} captures, 6 tracks")


def rank(*devices, **environment):
    """A rank that launches on these devices: how many buffers it had, and what its capture says."""
    choice = environment.pop("choice", None)
    run = recorded(os.path.join(PROGRAMS, "ranks"), *devices, options=("--tracks", "64", *(("--devices", choice) if choice else ())),
                   env={**os.environ, "INKMARK_SIM_DEVICES": "8", **environment})
    assert run.returncode == 0 and run.stdout.startswith("8 devices, "), run
    seen = captures()
    return int(run.stdout.split()[2]), sum(one["tracks"] for one in seen)


def ranks():
    """Eight ranks on eight devices make eight buffers, and no launch is lost."""
    for choice, wanted in ((None, 8), ("used", 8), ("mine", 8), ("all", 64)):
        made = [rank(str(i), choice=choice, LOCAL_RANK=str(i)) for i in range(8)]
        assert sum(buffers for buffers, _ in made) == wanted, (choice, made)
        assert all(tracks == 4 for _, tracks in made), (choice, made)
        print(f"--devices {choice}: {wanted} buffers")
    for name in "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID":
        assert rank("5", choice="mine", **{name: "5"}) == (1, 4), name
    assert rank("3", choice="mine", LOCAL_RANK="11") == (1, 4)
    # of the static runtime launches are not seen: the rank says which device it is
    for choice, environment, wanted in ((None, {"LOCAL_RANK": "3"}, 1), ("mine", {"SLURM_LOCALID": "3"}, 1), ("3", {}, 1), (None, {}, 8)):
        run = recorded(os.path.join(PROGRAMS, "ranks_static"), "3", options=("--tracks", "64", *(("--devices", choice) if choice else ())),
                       env={**os.environ, "INKMARK_SIM_DEVICES": "8", **environment})
        seen = captures()
        assert run.returncode == 0 and [(one["devices"], one["tracks"]) for one in seen] == [(wanted, 4)], (choice, environment, run, seen)
    print("static runtime: one device of a rank, all of a process without one")


def first_use():
    """A device is armed in front of its first launch, whichever rank the process has: by two threads at once."""
    assert rank("6", "0", "3") == (3, 12)
    assert rank("6", "0", "3", LOCAL_RANK="7") == (3, 12)
    assert rank("6", "2", choice="2") == (1, 4)
    assert rank(choice="used") == (0, 0)
    # a thread that is cancelled while its launch arms the device: no lock of inkmark's goes with it
    for after_us in 0, 1000, 5000, 20000:
        expect("cancelled", str(after_us), tracks=4)
    # a parent that has used no device, and children that do: by fork, too
    script = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pool.py"),
              os.path.join(PROGRAMS, "library.so"), "fork", "join"]
    run = recorded(*script)
    assert run.returncode == 0 and sum(one["tracks"] for one in captures()) == 6, run


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["INKMARK_SIM_SEED"] = "1"
    {"signals": signals, "dispositions": dispositions, "odd-signals": odd, "hung-kernel": hung, "hung-exit": exits, "loops": loops,
     "alternate": alternate, "aborts": aborts, "amid": amid, "closings": closings, "reasons": reasons, "unmapped": unmapped, "unheard": unheard,
     "main-leaves": main_leaves, "ranks": ranks, "first-use": first_use, "pools": pools}[CASE]()
