# SPDX-License-Identifier: MIT
# Nsight Systems reports made here: kernels of several processes, and a log beside the database that was never
# written into it. check_nsight.py INKMARK FIT_CAPTURE NODE_MODULES
import os, shutil, sqlite3, subprocess, sys
import blind
from merged import *

tools = Tools(*sys.argv[1:4])
tools.skip_without()
BASE = 1700000000000000000
COLUMNS = "start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, gridId"


def report(name, processes, log=False):
    """`processes`: pid -> (device, name of the kernel, begins, length)."""
    path = here(name)
    db = sqlite3.connect(path, isolation_level=None)
    if log:
        db.execute("pragma journal_mode = wal")
        db.execute("pragma wal_autocheckpoint = 0")
    db.execute("create table StringIds (id integer primary key, value text)")
    db.execute("create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer)")
    db.execute("insert into TARGET_INFO_SESSION_START_TIME values (?)", (BASE,))
    db.execute(f"create table CUPTI_ACTIVITY_KIND_KERNEL ({COLUMNS})")
    if log:
        db.execute("pragma wal_checkpoint(truncate)")
    number = 0
    for pid, (device, kernel, begins, length) in processes.items():
        number += 1
        db.execute("insert into StringIds values (?, ?)", (number, kernel))
        for i, begin in enumerate(begins):
            db.execute(f"insert into CUPTI_ACTIVITY_KIND_KERNEL values ({','.join('?' * 15)})",
                       (begin, begin + length, device, 7, 1000 * number + i, 0x55 << 56 | pid << 24, number, number, 4, 1, 1, 64, 1, 1, i + 1))
    return path, db


def joined(path):
    return sorted(l.ident for l in blind.landed_in_perfetto(tools, path) if l.ident is not None)


def check_processes():
    # the same kernel on one device at interleaved and partly the same times: ranks that share a GPU
    begins = [10 ** 6 + 40000 * i + i * i * 13 for i in range(40)]
    path, db = report("two.sqlite", {501: (0, "step(int*)", begins, 9000), 502: (0, "step(int*)", [b + 3000 for b in begins], 9000)})
    db.close()
    for pid, number in ("501", 1), ("502", 2):
        capture = tools.capture(path, f"{pid}.ink", "--process", pid)
        said = tools.merge(capture, "--with", path, "-o", here("m.pftrace"))
        assert joined(here("m.pftrace")) == [1000 * number + i for i in range(40)], said
        assert f"holds kernels of processes 501, 502: those of {pid} are the capture's" in said, said
        assert "stick out" not in said and "have no" not in said, said
    # both at once
    said = tools.merge([here("501.ink"), here("502.ink")], "--with", path, "-o", here("m.pftrace"))
    assert joined(here("m.pftrace")) == [1000 * n + i for n in (1, 2) for i in range(40)], said
    # a capture of neither, by its pid, whose launches fit both
    path, db = report("twins.sqlite", {501: (0, "step(int*)", begins, 9000), 502: (0, "step(int*)", begins, 9000)})
    db.close()
    said = tools.merge(renamed(path), "--with", path, "-o", here("n.pftrace"), code=1)
    assert len(said.splitlines()) == 1 and "none of them the capture's (77), and more than one fits" in said, said
    assert not os.path.exists(here("n.pftrace"))
    # a pid of another container, and only one process whose kernels fit
    path, db = report("other.sqlite", {501: (0, "step(int*)", begins, 9000), 502: (0, "settle(int*)", [b + 10 ** 9 for b in begins[:5]], 70)})
    db.close()
    capture = renamed(path)
    said = tools.merge(capture, "--with", path, "-o", here("m.pftrace"))
    assert joined(here("m.pftrace")) == [1000 + i for i in range(40)], said
    assert "none of them the capture's (77): joined with those of 501, where the most launches fit" in said, said


def renamed(path):
    """A capture of process 501's kernels that says another pid: made from a report that has only those."""
    db = sqlite3.connect(path)
    copy = sqlite3.connect(here("only.sqlite"))
    db.backup(copy) # over what was there
    copy.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL where globalPid >> 24 & 16777215 != 501")
    copy.commit()
    copy.close()
    db.close()
    return tools.capture(here("only.sqlite"), "renamed.ink")


def state(folder):
    """Of every file its bytes and when it was changed; and of the folder itself."""
    return os.stat(folder).st_mtime_ns, {f: (os.stat(os.path.join(folder, f)).st_mtime_ns, open(os.path.join(folder, f), "rb").read())
                                         for f in os.listdir(folder)}


def check_log():
    begins = [10 ** 6 + 40000 * i for i in range(20)]
    path, db = report("live.sqlite", {501: (0, "step(int*)", begins, 9000)}, log=True)
    os.mkdir(here("left"))
    logged = here("left/logged.sqlite")
    for end in "", "-wal":
        shutil.copy(path + end, logged + end)
    assert os.path.getsize(logged + "-wal") > 0 and os.path.exists(path + "-shm")
    before = state(here("left"))
    capture = tools.capture(logged, "logged.ink")
    expect = lambda trace, what: all_there(capture, trace, what, before, here("left"))
    expect(logged, "a log that nobody has open")
    # one that its writer still has open, with a row more than was copied
    later = COLUMNS.replace("start, end", "start + 1000000000, end + 1000000000").replace("gridId", "gridId + 1000")
    db.execute(f"insert into CUPTI_ACTIVITY_KIND_KERNEL select {later} from CUPTI_ACTIVITY_KIND_KERNEL limit 1")
    names = os.listdir(here(""))
    said = tools.merge(capture, "--with", path, "-o", here("live.pftrace"))
    assert joined(here("live.pftrace")) == [1000 + i for i in range(20)] and "1 kernels of these names have no launch" in said, said
    assert sorted(os.listdir(here(""))) == sorted(names + ["live.pftrace"]), (names, os.listdir(here("")))
    db.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL where start > 1000000000") # still the writer's to change
    db.close()
    # where nothing can be written: not by its owner, and, as root can, not by root either
    for file in logged, logged + "-wal":
        os.chmod(file, 0o444)
    os.chmod(here("left"), 0o555)
    before = state(here("left"))
    expect(logged, "a folder that cannot be written")
    if os.geteuid() == 0:
        os.chmod(here(""), 0o755)
        os.mkdir(here("open"))
        os.chmod(here("open"), 0o777)
        command = shutil.copy(tools.inkmark, here("open")) # a user who may not go into where it was built
        run = subprocess.run([command, "export", capture, "--with", logged, "-o", here("open/m.pftrace")], capture_output=True, text=True, user=65534, group=65534)
        assert run.returncode == 0 and "joined 20 of 20" in run.stderr, run
        assert state(here("left")) == before
    os.chmod(here("left"), 0o755)
    os.unlink(logged + "-wal")
    said = tools.merge(capture, "--with", logged, "-o", here("m.pftrace"), code=1)
    assert "holds no GPU kernels" in said and sorted(os.listdir(here("left"))) == ["logged.sqlite"], said


def all_there(capture, trace, what, before, folder):
    said = tools.merge(capture, "--with", trace, "-o", here("m.pftrace"))
    assert joined(here("m.pftrace")) == [1000 + i for i in range(20)], (what, said)
    kernels, = tools.query(here("m.pftrace"), "select count(*) from slice where category = 'kernel'")
    assert kernels == [["20"]], (what, kernels)
    assert state(folder) == before, (what, os.listdir(folder))


def check_tables():
    """Rows in no order below an index that has one, more columns than a machine word has bits, titles of every sort."""
    path, db = report("tables.sqlite", {501: (0, "step(int*)", [10 ** 6 + 40000 * (i * 7 % 20) for i in range(20)], 9000)})
    wide = [f"c{i}" for i in range(150)]
    for name in wide:
        db.execute(f"alter table CUPTI_ACTIVITY_KIND_KERNEL add column {name}")
    db.execute(f"update CUPTI_ACTIVITY_KIND_KERNEL set {', '.join(f'{n} = correlationId * 1000 + {i}' for i, n in enumerate(wide))}")
    db.execute("create index by_time on CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid)")
    db.executemany("insert into StringIds values (?, ?)", [(0, "cudaLaunchKernel"), (70, "named by number")])
    tid = 0x55 << 56 | 501 << 24 | 502
    db.execute("create table CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)")
    # calls of the last 15 kernels, and five of nothing
    db.executemany("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, ?, ?, 0)", [(10 ** 6 + 40000 * i - 9000, 10 ** 6 + 40000 * i - 8000, tid, 1005 + i) for i in reversed(range(20))])
    db.execute("create table CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, copyKind)")
    db.executemany("insert into CUPTI_ACTIVITY_KIND_MEMCPY values (?, ?, 0, 9, NULL, ?, ?)", [(10 ** 6 + 1000 * i, 10 ** 6 + 1000 * i + 500, tid, kind) for i, kind in enumerate((1, 10, 3, None, -1))])
    db.execute("create table NVTX_EVENTS (start, end, eventType, text, textId, globalTid)")
    db.executemany("insert into NVTX_EVENTS values (?, ?, ?, ?, ?, ?)",
                   [(10, 20, 59, "own text", 70, tid), (30, 40, 59, None, 70, tid), (50, 60, 59, None, 71, tid), (70, 80, 59, None, None, tid), (90, None, 34, "mark", None, tid)])
    db.close()
    said = tools.merge(tools.capture(path, "tables.ink"), "--with", path, "-o", here("m.pftrace"))
    assert joined(here("m.pftrace")) == [1000 + i for i in range(20)], said
    assert " 15 arrows," in said and "10 ends of arrows were left out" in said, said
    names, = tools.query(here("m.pftrace"), "select category || ':' || name from slice where category in ('gpu_memcpy', 'nvtx', 'cuda_api') group by 1 order by 1")
    assert [n for n, in names] == ["cuda_api:cudaLaunchKernel", "gpu_memcpy:(no name)", "gpu_memcpy:Memcpy HtoD", "gpu_memcpy:Memcpy PtoP", "gpu_memcpy:Memcpy kind -1",
                                   "gpu_memcpy:Memcpy kind 3", "nvtx:(no name)", "nvtx:mark", "nvtx:named by number", "nvtx:own text"], names
    kernels, = tools.query(here("m.pftrace"), "select s.ts, group_concat(a.key || '=' || a.int_value) from slice s join args a using (arg_set_id) where s.category = 'kernel' and (a.key = 'debug.correlationId' or a.key like 'debug.c___') group by s.id")
    for ts, text in kernels:
        args = dict(pair.split("=") for pair in text.split(","))
        ident = int(args["debug.correlationId"])
        assert int(ts) == BASE + 10 ** 6 + 40000 * ((ident - 1000) * 7 % 20), (ts, ident)
        assert all(int(args[f"debug.c{i}"]) == ident * 1000 + i for i in range(100, 150)), args
    assert len(kernels) == 20, kernels


def check_ids_of_others():
    """Grid ids that are those of a later kernel of a loop: most launches lie inside of it at some offset, and all in their own."""
    begins = [10 ** 6 + 50000 * i + 1000 * (i % 7) for i in range(30)]
    path, db = report("ids.sqlite", {501: (0, "step(int*)", begins, 30500)})
    capture = tools.capture(path, "ids.ink")
    for off in 0, 1, 3:
        db.execute("update CUPTI_ACTIVITY_KIND_KERNEL set gridId = correlationId - 999 + ?", (off,))
        said = tools.merge(capture, "--with", path, "-o", here("m.pftrace"))
        landed = blind.landed_in_perfetto(tools, here("m.pftrace"))
        assert all(l.ident == 999 + l.grid_id for l in landed) and len(landed) == 30, (off, said)
        assert ("grid ids do not agree" in said) == (off > 0) and not any(l.uncertain for l in landed), (off, said)
    # a table's name as another writer has it is the same table
    db.execute("alter table CUPTI_ACTIVITY_KIND_KERNEL rename to k")
    db.execute("alter table k rename to cupti_activity_kind_kernel")
    db.close()
    said = tools.merge(capture, "--with", path, "-o", here("m.pftrace"))
    assert "joined 30 of 30" in said and "not converted" not in said, said


check_processes()
check_ids_of_others()
check_log()
check_tables()
