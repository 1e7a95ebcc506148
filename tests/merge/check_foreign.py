# SPDX-License-Identifier: MIT
# The readers of other profilers' traces, against files made here and, where they are, against real
# ones read a second time by Python's own json and sqlite3.
# check_foreign.py FOREIGN_TOOL SAMPLES
import decimal, gzip, json, os, sqlite3, subprocess, sys, tempfile

tool, samples = sys.argv[1:3]
folder = tempfile.TemporaryDirectory()
here = lambda name: os.path.join(folder.name, name)
FORMAT, DAMAGED, EMPTY, IO, LIMIT = 4, 6, 7, 3, 10
BASE = 1700000000000000000


def read(path):
    run = subprocess.run([tool, path], capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, (path, run)
    return json.loads(run.stdout)


def put(name, data):
    data = data.encode() if isinstance(data, str) else data
    with open(here(name), "wb") as file:
        file.write(gzip.compress(data) if name.endswith(".gz") else data)
    return here(name)


def event(ts="10.5", dur="2", args='"device":1,"stream":7,"correlation":99,"grid":[4,2,1],"block":[64,1,1]',
          cat="kernel", pid="1", tid="7", name="step"):
    return (f'{{"args":{{{args}}},"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},'
            f'"ts":{ts},"dur":{dur}}}')


def trace(*events, rest=f'"baseTimeNanoseconds":{BASE},'):
    return "{" + rest + '"traceEvents":[' + ",\n".join(events) + "]}"


def check_made_json():
    got = read(put("a.json", trace(event())))
    assert got.pop("peak_kb") > 0
    assert got == {"status": 0, "kind": 0, "base_known": True, "base_ns": BASE, "events": 1, "left_out": 0,
                   "kernels": [{"device": 1, "stream": 7, "begin": BASE + 10500, "end": BASE + 12500, "grid_id": 0,
                                "correlation": 99, "grid": [4, 2, 1], "block": [64, 1, 1], "name": "step",
                                "short": None, "mangled": None}]}, got
    # The base after the events, in gzip; string ids, other categories, what is no number.
    other = [event(cat="cpu_op", pid='"Spans"', tid='"x"'), '{"ph":"M","name":"process_name","pid":-1,"args":{"name":"a\\u00e9"}}',
             event(ts="NaN"), event(dur="-1"), event(dur="Infinity"), event(ts="1e30"), event(ts='"12.25"'),
             event(args='"x":[{"y":[NaN,-Infinity,null,true]}]', pid="3", tid="5", ts="1.0005", dur="0.9994")]
    got = read(put("b.json.gz", '{"traceEvents":[' + ",".join(other) + f'],"baseTimeNanoseconds":"{BASE}"}}'))
    assert (got["events"], got["left_out"], got["base_ns"]) == (8, 4, BASE)
    assert [(k["device"], k["stream"], k["begin"] - BASE, k["end"] - k["begin"]) for k in got["kernels"]] == \
        [(1, 7, 12250, 2000), (3, 5, 1001, 999)]
    assert got["kernels"][1]["grid"] == [0, 0, 0]
    # Older files: absolute microseconds, "Kernel"; the array alone.
    got = read(put("c.json", "[" + event(ts="1700000000123456", cat="Kernel") + "]"))
    assert got["base_known"] and got["base_ns"] == 0 and got["kernels"][0]["begin"] == 1700000000123456000
    # times that are no dates, one of them or all, are not
    for ts in "1199999999999999", "2500000000000001", "5000":
        got = read(put("c.json", "[" + event(ts="1700000000123456") + "," + event(ts=ts) + "]"))
        assert not got["base_known"] and len(got["kernels"]) == 2
    got = read(put("d.json", trace(*[event(ts=str(t)) for t in (30, 10, 20)])))
    assert [k["begin"] - BASE for k in got["kernels"]] == [10000, 20000, 30000]
    assert read(put("e.json", trace(event(name="x" * 300000))))["kernels"][0]["name"].startswith("xxx")


def check_bad():
    whole = trace(*[event(ts=str(t)) for t in range(40)])
    packed = gzip.compress(whole.encode())
    for name, data, status, words in [
            ("cut.json", whole[:1000], DAMAGED, "ends in the middle, after 1000 bytes"),
            ("cut2.json.raw", packed[:-20], DAMAGED, "is cut off"),
            ("flip.raw", packed[:40] + b"\0\0\0\0" + packed[44:], DAMAGED, ""),
            ("empty.json", "", EMPTY, "is empty"), ("space.json", "  \n", DAMAGED, ""),
            ("text.txt", "hello", FORMAT, "neither"), ("object.json", '{"a":[1,{}]}', FORMAT, "traceEvents"),
            ("number.json", '{"traceEvents":3}', FORMAT, "traceEvents"),
            ("none.json", trace(event(cat="cpu_op")), EMPTY, "no GPU kernels"),
            ("comma.json", whole.replace("},\n{", "}\n{", 1), DAMAGED, "no valid JSON at byte"),
            ("comma2.json", '{"traceEvents":[1,,]}', DAMAGED, "at byte"), ("colon.json", '{"traceEvents" []}', DAMAGED, ""),
            ("after.json", whole + "x", DAMAGED, "at byte"), ("escape.json", '{"a\\q":1}', DAMAGED, ""),
            ("wrong.json", '{"traceEvents":[}', DAMAGED, ""), ("deep.json", "[" * 600, LIMIT, "deeper"),
            ("sqlite.txt", b"SQLite format 3\0" + b"x" * 200, DAMAGED, "")]:
        got = read(put(name, data))
        assert got["status"] == status and words in got["message"] and name in got["message"], (name, got)
    assert read(here("absent"))["status"] == IO
    assert read(folder.name)["status"] == IO
    db = sqlite3.connect(here("other.sqlite"))
    db.execute("create table t (x)")
    db.commit()
    got = read(here("other.sqlite"))
    assert got["status"] == FORMAT and "CUPTI_ACTIVITY_KIND_KERNEL" in got["message"], got


def check_made_sqlite():
    path = here("odd ?#%41.sqlite")
    db = sqlite3.connect(path)
    db.executescript(f"""create table StringIds (id integer primary key, value text);
      insert into StringIds values (1, 'ns::step<int>(int *)'), (2, 'step'), (3, '_ZN2ns4stepIiEvPi');
      create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer);
      insert into TARGET_INFO_SESSION_START_TIME values ({BASE});
      create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, streamId integer,
        demangledName integer, shortName integer, mangledName integer, gridX, gridY, gridZ, blockX, blockY, blockZ,
        gridId integer);
      insert into CUPTI_ACTIVITY_KIND_KERNEL values (500, 900, 1, 13, 1, 2, 3, 4, 1, 1, 64, 1, 1, 77),
        (100, 300, 1, 13, 1, 2, null, 4, 1, 1, 64, 1, 1, 76), (9, 3, 0, 1, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1),
        (null, 3, 0, 1, 1, 2, 3, 1, 1, 1, 1, 1, 1, 1), (1, 3, 0, 1, 99, 99, 99, 1, 1, 1, 1, 1, 1, 1);""")
    db.commit()
    db.close()
    got = read(path)
    assert (got["kind"], got["base_ns"], got["events"], got["left_out"]) == (1, BASE, 5, 3), got
    assert [(k["begin"] - BASE, k["grid_id"], k["correlation"], k["mangled"]) for k in got["kernels"]] == \
        [(100, 76, -1, None), (500, 77, -1, "_ZN2ns4stepIiEvPi")]
    assert got["kernels"][0]["name"] == "ns::step<int>(int *)" and got["kernels"][0]["short"] == "step"
    db = sqlite3.connect(path)
    db.execute("drop table TARGET_INFO_SESSION_START_TIME")
    db.commit()
    db.close()
    got = read(path)
    assert not got["base_known"] and got["kernels"][0]["begin"] == 100


def expected_json(path):
    data = json.load(gzip.open(path), parse_float=decimal.Decimal)
    base = data.get("baseTimeNanoseconds", 0)
    kernels = [e for e in data["traceEvents"] if e["ph"] == "X" and e.get("cat") == "kernel"]
    ns = lambda us: int(round(decimal.Decimal(us) * 1000))
    return [(e["args"]["device"], e["args"]["stream"], base + ns(e["ts"]), base + ns(e["ts"]) + ns(e["dur"]), 0,
             e["args"]["correlation"], e["name"], *e["args"]["grid"], *e["args"]["block"]) for e in kernels]


def expected_sqlite(path):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    base, = db.execute("select utcEpochNs from TARGET_INFO_SESSION_START_TIME").fetchone()
    return [(r[0], r[1], base + r[2], base + r[3], *r[4:]) for r in db.execute(
        "select deviceId, streamId, start, end, gridId, correlationId, value, gridX, gridY, gridZ, blockX, blockY,"
        " blockZ from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName")]


def check_samples():
    names = [n for n in sorted(os.listdir(samples)) if n.endswith((".json.gz", ".sqlite"))] if os.path.isdir(samples) else []
    if not names:
        print("SKIPPED the real traces: no samples beside the repository")
    for name in names:
        path = os.path.join(samples, name)
        expected = expected_sqlite(path) if name.endswith("sqlite") else expected_json(path)
        got = read(path)
        found = [(k["device"], k["stream"], k["begin"], k["end"], k["grid_id"], k["correlation"], k["name"], *k["grid"],
                  *k["block"]) for k in got["kernels"]]
        assert expected and sorted(found) == sorted(expected), name
        assert got["left_out"] == 0
        print(f"{name}: {len(found)} kernels")


def check_damage():
    for name, data in ("d.json", trace(*[event(ts=str(t)) for t in range(5)])), ("d.json.gz", trace(event(), event())):
        subprocess.run([tool, "--damage", put("whole-" + name, data), here("damaged"), "2000"], check=True)
    subprocess.run([tool, "--damage", here("odd ?#%41.sqlite"), here("damaged"), "500"], check=True)


# Memory must not follow the file: 60 MB of events that are no kernels.
def check_memory():
    filler = event(cat="cpu_op", args='"note":"' + "x" * 1000 + '"')
    path = put("large.json", trace(event(), *[filler] * 52000))
    got = read(path)
    assert got["events"] == 52001 and len(got["kernels"]) == 1
    print(f"{os.path.getsize(path) >> 20} MB read in {got['peak_kb'] / 1024:.1f} MB of memory")
    assert "sanitize" in sys.argv or got["peak_kb"] < 16 << 10, got["peak_kb"]


check_made_json()
check_bad()
check_made_sqlite()
check_samples()
check_damage()
check_memory()
