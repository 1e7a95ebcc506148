# SPDX-License-Identifier: MIT
# Databases of every form that an Nsight Systems export could have: the merged trace is the same whether their pages are
# read here or, as a log stands beside the file, by SQLite; and the kernels are those that Python's sqlite3 reads.
# check_database.py INKMARK FIT_CAPTURE FOREIGN_TOOL
import json, os, random, shutil, sqlite3, subprocess, sys, tempfile

inkmark, fit_capture, foreign_tool = sys.argv[1:4]
folder = tempfile.TemporaryDirectory(prefix="inkmark-database-")
here = lambda name: os.path.join(folder.name, name)
KERNEL = ("start, end, deviceId, streamId, correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, "
          "blockY, blockZ, gridId").split(", ")
FORMS = {
    "small_pages": ["pragma page_size = 512"],
    "plain": [],
    "large_pages": ["pragma page_size = 65536"],
    "vacuumed": ["pragma auto_vacuum = full"],
    "utf16": ["pragma encoding = 'UTF-16le'"],
    "rowid": [], "no_rowid": [], "computed": [], "later": [], "defaults": [],
    "heads": [], "wide": [],  # more kinds of head than are kept, and more columns than are kept of a head
}
TABLE = {
    "rowid": "create table CUPTI_ACTIVITY_KIND_KERNEL (%s, own INTEGER PRIMARY KEY)",
    "no_rowid": "create table CUPTI_ACTIVITY_KIND_KERNEL (%s, primary key (start, streamId)) without rowid",
    "computed": "create table CUPTI_ACTIVITY_KIND_KERNEL (%s, twice INT AS (start * 2), kept INT AS (end * 2) stored)",
}


def make(form):
    r = random.Random(form)
    path = here(f"{form}.sqlite")
    db = sqlite3.connect(path, isolation_level=None)
    for pragma in FORMS[form]:
        db.execute(pragma)
    db.execute("begin")
    db.execute("create table StringIds (id integer primary key, value text)")
    db.execute("insert into StringIds values (1, 'step(int*)'), (2, ?), (3, 'cudaLaunchKernel')", ("Größe<" + "x" * 9000 + ">(int*)",))
    db.execute("create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer)")
    db.execute("insert into TARGET_INFO_SESSION_START_TIME values (1700000000000000000)")
    columns = ", ".join(f"{c} INTEGER" for c in KERNEL)
    db.execute(TABLE.get(form, "create table CUPTI_ACTIVITY_KIND_KERNEL (%s)") % columns)
    db.execute("create table NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, "
               "floatValue REAL, doubleValue DOUBLE PRECISION, any, payload BLOB)")
    tid, at = 0x55 << 56 | 501 << 24 | 502, 10 ** 6
    insert = f"insert into CUPTI_ACTIVITY_KIND_KERNEL ({', '.join(KERNEL)}) values ({','.join('?' * 15)})"
    for i in range(700):
        at += r.choice([1, 300, 70000, 2 ** 33]) + 9000
        end = at + r.randrange(3000, 9000)
        db.execute(insert, (at, end, 0, r.choice([7, 7, 13, -1, 2 ** 40]), i, tid, r.choice([1, 2]), 1, 4, 1, 1, 64, 1, 1, i + 1))
        # values of every type and width where a column lets them be, and rows that go on in other pages
        number = r.choice([0, 1, -1, 127, -128, 32767, -32768, 8388607, -8388608, 2 ** 31 - 1, -2 ** 31, 2 ** 47 - 1, -2 ** 47, 2 ** 63 - 1, -2 ** 63])
        text = r.choice([None, "", "a", "Ärger " * r.randrange(20), "y" * r.choice([470, 478, 4000, 4061, 4062, 20000])])
        db.execute("insert into NVTX_EVENTS values (?, ?, 59, ?, ?, ?, ?, ?, ?)",
                   (at, end, text, tid, r.choice([None, 3, number, 0.5]), number, r.choice([None, 1.25, float("inf"), "text", number]), r.choice([None, b"", b"\0\1bytes" * 99])))
    if form in ("later", "defaults"):
        db.execute("alter table CUPTI_ACTIVITY_KIND_KERNEL add column later INTEGER" + (" default 17" if form == "defaults" else ""))
        db.execute(f"update CUPTI_ACTIVITY_KIND_KERNEL set later = correlationId where correlationId % 3 = 0")
    for column in range({"heads": 12, "wide": 40}.get(form, 0)):
        db.execute(f"alter table CUPTI_ACTIVITY_KIND_KERNEL add column extra{column} INTEGER")
        for row in range(1, 701):
            db.execute(f"update CUPTI_ACTIVITY_KIND_KERNEL set extra{column} = ? where rowid = ?",
                       (r.choice([None, 0, 1, 77, -1, -300, 70000, 2 ** 31 - 1, -2 ** 40, 2 ** 62]) if column % 5 else 1, row))
    db.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL where correlationId % 7 = 3")
    db.execute("delete from NVTX_EVENTS where start % 5 = 3")
    db.execute("commit")
    rows = db.execute("select deviceId, streamId, start, end, value from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName").fetchall()
    db.close()
    return path, sorted((d, s, b + 1700000000000000000, e + 1700000000000000000, n) for d, s, b, e, n in rows)


def with_log(path):
    """The same rows, with a log beside the file that was not written into it."""
    db = sqlite3.connect(shutil.copy(path, here("writer.sqlite")), isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma wal_autocheckpoint = 0")
    db.execute("create table beside (x)")
    logged = shutil.copy(here("writer.sqlite"), here("logged.sqlite"))
    shutil.copy(here("writer.sqlite-wal"), logged + "-wal")
    assert os.path.getsize(logged + "-wal")
    db.close()
    os.unlink(here("writer.sqlite"))
    return logged


def merged(capture, path):
    run = subprocess.run([inkmark, "export", capture, "--with", path, "-o", here("m.pftrace")], capture_output=True, text=True)
    assert run.returncode == 0, (path, run.stderr)
    with open(here("m.pftrace"), "rb") as file:
        return file.read()


for form in FORMS:
    path, expected = make(form)
    run = subprocess.run([foreign_tool, path], capture_output=True, text=True, check=True)
    got = sorted((k["device"], k["stream"], k["begin"], k["end"], k["name"]) for k in json.loads(run.stdout)["kernels"])
    assert got == expected and len(got) == 600, (form, len(got), [p for p in zip(got, expected) if p[0] != p[1]][:2])
    subprocess.run([fit_capture, path, here("it.ink"), "--every", "9"], check=True, capture_output=True)
    alone, logged = merged(here("it.ink"), path), merged(here("it.ink"), with_log(path))
    assert alone == logged and len(alone) > 100000, (form, len(alone), len(logged))
print(f"{len(FORMS)} forms of databases are read alike from their pages and by SQLite")
