# SPDX-License-Identifier: MIT
# Merged traces of one real trace, as Perfetto's own trace processor sees them: everything of the original is
# there and unchanged, no error that the original alone does not give, ours lie inside theirs.
# check_merged.py INKMARK MAKE_CAPTURE NODE_MODULES TRACE EVERY [PROCESS]
import collections, gzip, os, sqlite3, sys
from merged import *

inkmark, make_capture, modules, trace, every = sys.argv[1:6]
process = ["--process", sys.argv[6]] if len(sys.argv) > 6 else []
tools = Tools(inkmark, make_capture, modules)
tools.skip_without(trace)


def check_inside(launches, kernels, what):
    """Each launch lies in a kernel of the name that it says it was joined with."""
    by_name = collections.defaultdict(list)
    for _, name, ts, dur, _ in kernels: # an argument of ours holds at most 400 bytes
        by_name[name[:400]].append((int(ts), int(ts) + int(dur)))
    joined = 0
    for begin, dur, kernel, outside in launches:
        if kernel is None:
            continue
        joined += 1
        slack = int(outside)
        begin, end = int(begin), int(begin) + int(dur)
        assert any(b - slack <= begin and end <= e + slack for b, e in by_name[kernel[:400]]), (what, begin, dur, kernel, outside)
    return joined


def arg(name):
    return f"(select coalesce(int_value, string_value) from args where arg_set_id = s.arg_set_id and key like '%{name}')"


LAUNCHES = f"""select s.ts, s.dur, {arg('.kernel')}, {arg('.outside_ns')} from slice s where s.category = 'inkmark'"""
# Slices of a track lie inside its own, by time and by nesting.
ASTRAY = """select count(*) from slice s where s.category = 'track' and s.depth != 0"""
SECTIONS = """select count(*), sum(s.ts < p.ts or s.ts + s.dur > p.ts + p.dur) from slice s join slice p on s.parent_id = p.id
  where s.track_id in (select track_id from slice where category = 'track')"""


def check_ours(got, kernels, counts, what):
    launches, astray, sections = got
    assert int(astray[0][0]) == 0
    assert int(sections[0][1] or 0) == 0, (what, sections)
    joined = check_inside(launches, kernels, what)
    assert joined == len(launches) == counts["launches"], (what, joined, len(launches), counts)
    assert int(sections[0][0]) == counts["sections"], (what, sections, counts)


def check_perfetto(capture, expected, counts):
    said = tools.merge(capture, "--with", trace, "-o", here("m.pftrace"), "--align", "--tracks", "slowest:1")
    theirs = f"not {OURS}"
    errors, slices, args, *ours = tools.query(here("m.pftrace"), ERRORS, SLICES.format(theirs), ARGS.format(theirs), LAUNCHES,
                                              ASTRAY, SECTIONS)
    assert not errors, errors
    same([e for e in expected if e[0] is not None], slices_of_rows(slices, args), "the converted slices")
    kernels = [e for e in expected if (e[0] or "").lower() == "kernel"]
    check_ours(ours, kernels, counts, "pftrace")
    assert f"{len(expected)} slices" in said or trace.endswith("sqlite"), said
    return said


def check_json(capture, counts):
    original = plain(trace)
    tools.merge(capture, "--with", trace, "-o", here("m.json"), "--align", "--tracks", "slowest:1")
    tools.merge(capture, "--with", trace, "-o", here("m.json.gz"), "--align", "--tracks", "slowest:1")
    merged = plain(here("m.json"))
    assert merged == plain(here("m.json.gz"))
    start, end = events_span(original)
    ours = len(merged) - len(original)
    assert ours > 0 and merged[:end - 1] == original[:end - 1] and merged[end - 1 + ours:] == original[end - 1:]
    theirs = f"not ({OURS} and track_id in (select track_id from slice where category in ('inkmark', 'track')))"
    queries = ERRORS, SLICES.format(theirs), ARGS.format(theirs).replace("debug.", "args."), LAUNCHES, ASTRAY, SECTIONS
    before = tools.query(loadable(original, "o.json"), *queries[:3])
    errors, slices, args, *got = tools.query(loadable(merged, "n.json"), *queries)
    assert errors == before[0], (errors, before[0])
    alone = slices_of_rows(*before[1:])
    same(alone, slices_of_rows(slices, args), "the slices of the merged JSON")
    # Readers keep ts in doubles: a launch may be off by a step of theirs on either side.
    events, _ = read_json(merged)
    step = max(2, 1000 * math.ulp(max(float(e["ts"]) for e in events if "ts" in e)))
    got[0] = [[ts, dur, kernel, str(int(outside) + 2 * math.ceil(step)) if outside is not None else None]
              for ts, dur, kernel, outside in got[0]]
    got[2] = [[got[2][0][0], 0 if step > 2 else got[2][0][1]]]
    check_ours(got, [s for s in alone if (s[0] or "").lower() == "kernel"], counts, "json")
    # In the text itself, where no double rounds, everything is exact.
    check_text(events)


def check_text(events):
    flows, kernels = {}, collections.defaultdict(list)
    for e in events:
        if e.get("ph") == "X" and str(e.get("cat")).lower() == "kernel":
            kernels[str(e["pid"]), str(e["tid"])].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    open_at, spans, arrows = {}, {}, collections.defaultdict(dict)
    for e in events:
        if e.get("cat") == "inkmark" and e["ph"] in "sf":
            arrows[e["id"]][e["ph"]] = e
        lane = str(e.get("pid")), str(e.get("tid"))
        if e.get("ph") == "B" and e.get("cat") == "inkmark":
            open_at[lane] = e
        elif e.get("ph") == "E" and lane in open_at:
            begin = open_at.pop(lane)
            spans[lane, ns(begin["ts"])] = ns(begin["ts"]), ns(e["ts"]), begin["args"]
    inside, ours = 0, {lane for lane, _ in spans}
    for arrow in arrows.values():
        assert set(arrow) == {"s", "f"}, arrow
        source = str(arrow["s"]["pid"]), str(arrow["s"]["tid"])
        target = str(arrow["f"]["pid"]), str(arrow["f"]["tid"])
        if source in ours:
            continue
        begin, end, args = spans[target, ns(arrow["f"]["ts"])]
        at = ns(arrow["s"]["ts"])
        inside += any(b <= at <= e and b - args["outside_ns"] <= begin and end <= e + args["outside_ns"]
                      for b, e in kernels[source])
    assert inside == len(spans), (inside, len(spans))


def sqlite_slices(path):
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    base, = db.execute("select utcEpochNs from TARGET_INFO_SESSION_START_TIME").fetchone()
    kinds = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}
    names = dict(db.execute("select id, value from StringIds"))
    rows = []
    tables = [r[0] for r in db.execute("select name from sqlite_master where type = 'table'")]
    for table, category, title in [
            ("CUPTI_ACTIVITY_KIND_KERNEL", "kernel", lambda r: names[r["demangledName"]]),
            ("CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", lambda r: "Memcpy " + kinds[r["copyKind"]]),
            ("CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", lambda r: "Memset"),
            ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronization", lambda r: "Synchronization"),
            ("CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_api", lambda r: names[r["nameId"]]),
            ("PROFILER_OVERHEAD", "overhead", lambda r: names[r["nameId"]]),
            ("CUPTI_ACTIVITY_KIND_OVERHEAD", "overhead", lambda r: names.get(r["nameId"], "(no name)")),
            ("NVTX_EVENTS", "nvtx", lambda r: r["text"] or names[r["textId"]])]:
        if table not in tables:
            continue
        cursor = db.execute(f"select * from {table}")
        columns = [c[0] for c in cursor.description]
        for values in cursor:
            row = dict(zip(columns, values))
            if table == "NVTX_EVENTS" and row["eventType"] not in (59, 60):
                continue
            args = tuple(sorted(("debug." + c, text_of(v)) for c, v in row.items() if v is not None and c not in ("start", "end")))
            rows.append((category, title(row), str(base + row["start"]), str(row["end"] - row["start"]), args))
    return rows


def counts_of(capture):
    """What the capture holds, from its own trace: launches, and the slices of the longest track of each."""
    other = tools.capture(trace, "other.ink", "--every", every, "--host", "another", *process)
    tools.merge([capture, other], "-o", here("alone.pftrace"), "--tracks", "slowest:1")
    (launches,), (sections,) = tools.query(here("alone.pftrace"), "select count(*) from slice where category = 'inkmark'", SECTIONS)
    counts = {"launches": int(launches[0]) // 2, "sections": int(sections[0]) // 2}
    assert counts["launches"] and counts["sections"] == 3 * counts["launches"], counts
    return counts


capture = tools.capture(trace, "c.ink", "--every", every, *process)
counts = counts_of(capture)
if trace.endswith("sqlite"):
    expected = sqlite_slices(trace)
else:
    expected = slices_of_json(plain(trace))
    check_json(capture, counts)
print(check_perfetto(capture, expected, counts))
