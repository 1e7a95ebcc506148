# SPDX-License-Identifier: MIT
# The kernels of traces of other profilers, read with nothing of inkmark: by json, sqlite3 and
# tests/protobuf_fields.py. What tests/merge/check_traces.py holds the readers against.
import decimal, gzip, json, os, re, sqlite3, sys
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from protobuf_fields import fields

ns_of = lambda value: int((decimal.Decimal(str(value)) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def json_kernels(data):
    """(device, stream, begin, length, name) of PyTorch's kernels; begin without the base."""
    trace = json.loads(data, parse_float=decimal.Decimal, strict=False)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    kernels = []
    for e in events:
        if not isinstance(e, dict) or e.get("ph") != "X" or str(e.get("cat", "")).lower() != "kernel":
            continue
        if not isinstance(e.get("ts"), (int, decimal.Decimal)) or not isinstance(e.get("dur"), (int, decimal.Decimal)) or e["dur"] < 0:
            continue
        args = e.get("args", {})
        kernels.append((int(args.get("device", e["pid"])), int(args.get("stream", e["tid"])), ns_of(e["ts"]), ns_of(e["dur"]), e["name"]))
    base = int(trace.get("baseTimeNanoseconds", 0)) if isinstance(trace, dict) else 0
    return base, kernels


def sqlite_kernels(path):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    names = dict(db.execute("select id, value from StringIds"))
    try:
        base, = db.execute("select utcEpochNs from TARGET_INFO_SESSION_START_TIME").fetchone()
    except (sqlite3.Error, TypeError):
        base = 0
    rows = db.execute("select deviceId, streamId, start, end, demangledName, shortName from CUPTI_ACTIVITY_KIND_KERNEL")
    return base, [(d, s, b, e - b, names.get(n, names.get(short))) for d, s, b, e, n, short in rows if e >= b]


def xplane_kernels(data):
    base, kernels = 0, []
    for number, plane in fields(data):
        if number != 1:
            continue
        plane = list(fields(plane))
        name = next((v for n, v in plane if n == 2), b"").decode()
        named = lambda field: {entry[1]: dict(fields(entry[2])).get(2, b"").decode() for entry in (dict(fields(v)) for n, v in plane if n == field) if 2 in entry}
        events, stats = named(4), named(5)
        for stat in (dict(fields(v)) for n, v in plane if n == 6):
            if stats.get(stat.get(1)) == "profile_start_time":
                base = stat.get(3) or stat.get(4)
        device = re.fullmatch(r"/device:GPU:(\d+)", name)
        for line in (list(fields(v)) for n, v in plane if n == 3 and device):
            stream = re.match(r"Stream #(\d+)", next((v for n, v in line if n == 2), b"").decode())
            at = next((v for n, v in line if n == 3), 0)
            for event in (list(fields(v)) for n, v in line if n == 4 and stream):
                own = dict((n, v) for n, v in event if n != 4)
                keys = {stats.get(dict(fields(v)).get(1), "").lower() for n, v in event if n == 4}
                called = events.get(own.get(1), "")
                if called.startswith(("Memcpy", "Memset")) or keys & {"memcpy_details", "memset_details"}:
                    continue
                begin, end = at + own.get(2, 0) // 1000, at + (own.get(2, 0) + own.get(3, 0)) // 1000
                kernels.append((int(device[1]), int(stream[1]), begin, end - begin, called))
    return base, kernels


def read(path):
    """(base, kernels): a base of 0 is none, or one that the times hold already."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:15] == b"SQLite format 3":
        return sqlite_kernels(path)
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return xplane_kernels(data) if data[:1] == b"\x0a" and b"/" in data[:64] and data[1:2] not in b"{[ \n" else json_kernels(data)
