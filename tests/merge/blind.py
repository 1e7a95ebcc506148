# SPDX-License-Identifier: MIT
# What the blind tests share: from the kernels of a trace a plan of what a device did, a capture of it, and
# the other profiler's file with kernels of its own missing or too many. The command gets capture and file;
# the truth, which launch is which kernel, stays here.
from collections import Counter
import copy, decimal, json, os, random, re, sqlite3, subprocess
from dataclasses import dataclass, replace
from merged import *

LOST = 0.05
GLOBAL_START = 10 ** 12


@dataclass
class Kernel:
    ident: int       # the correlation, unique in the file
    device: int
    stream: int
    begin: int       # the file's own ns
    end: int
    name: str
    grid: tuple
    block: tuple
    grid_id: int = 0
    pid: int = 0     # of the process, where the file tells
    source: object = None


def bare(name):
    """Of "void a::step<int>(int*)" it is "step": what somebody writes into PROF_KERNEL."""
    text = re.sub(r"\(anonymous namespace\)::", "", name)
    text = re.split(r"[<(]", text, maxsplit=1)[0].split()
    return re.sub(r"\W", "_", text[-1].split("::")[-1]) if text else "odd"


class Json:
    """A Kineto trace: reading, and writing with other kernels."""
    merged = "m.json"

    def __init__(self, path):
        self.data = json.loads(plain(path))
        self.trace = self.data if isinstance(self.data, dict) else {"traceEvents": self.data}
        self.base = int(self.trace.get("baseTimeNanoseconds", 0))
        self.integer = any(isinstance(e.get("ts"), int) for e in self.trace["traceEvents"] if self.is_kernel(e))
        self.kernels = [self.read(e) for e in self.trace["traceEvents"] if self.is_kernel(e)]
        dates = all(k.begin > 12 * 10 ** 17 for k in self.kernels) # absolute microseconds are Unix time: later than 2008
        self.base_known = self.base != 0 or dates

    @staticmethod
    def is_kernel(e):
        return e.get("ph") == "X" and str(e.get("cat")).lower() == "kernel"

    def read(self, e):
        a, begin = e["args"], self.base + ns(repr(e["ts"]))
        return Kernel(a["correlation"], a["device"], a["stream"], begin, begin + ns(repr(e["dur"])), e["name"],
                      tuple(a["grid"]), tuple(a["block"]), source=e)

    def grain(self):
        return 1000 if self.integer else 1

    def write(self, name, kernels, whole):
        others = [e for e in self.trace["traceEvents"] if not self.is_kernel(e) and (whole or e.get("ph") == "M")]
        us = lambda t: t // 1000 if self.integer else float(decimal.Decimal(t) / 1000)
        for k in kernels:
            e = {**k.source, "ts": us(k.begin - self.base), "dur": us(k.end - k.begin), "pid": k.device, "tid": k.stream,
                 "args": {**k.source["args"], "device": k.device, "stream": k.stream, "correlation": k.ident}}
            others.append(e)
        with open(here(name + ".json"), "w") as file:
            json.dump({**self.trace, "traceEvents": others}, file)
        return here(name + ".json")


class Sqlite:
    """An Nsight Systems export: the same, with grid ids."""
    merged = "m.pftrace"
    integer = False

    def __init__(self, path):
        self.path, db = path, sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        db.row_factory = sqlite3.Row
        self.base, = db.execute("select utcEpochNs from TARGET_INFO_SESSION_START_TIME").fetchone()
        self.base_known = True
        names = {r[0]: r[1] for r in db.execute("select id, value from StringIds")}
        self.kernels = [Kernel(r["correlationId"], r["deviceId"], r["streamId"], self.base + r["start"], self.base + r["end"],
                               names[r["demangledName"]], (r["gridX"], r["gridY"], r["gridZ"]), (r["blockX"], r["blockY"], r["blockZ"]),
                               r["gridId"], r["globalPid"] >> 24 & 0xffffff, r)
                        for r in db.execute("select * from CUPTI_ACTIVITY_KIND_KERNEL")]

    def grain(self):
        return 1

    def write(self, name, kernels, whole):
        path = here(name + ".sqlite")
        if os.path.exists(path):
            os.unlink(path)
        old, db = sqlite3.connect(f"file:{self.path}?mode=ro&immutable=1", uri=True), sqlite3.connect(path)
        old.backup(db)
        db.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL")
        for k in kernels:
            row = {**dict(k.source), "start": k.begin - self.base, "end": k.end - self.base, "correlationId": k.ident,
                   "deviceId": k.device, "streamId": k.stream, "gridId": k.grid_id}
            db.execute(f"insert into CUPTI_ACTIVITY_KIND_KERNEL ({','.join(row)}) values ({','.join('?' * len(row))})", tuple(row.values()))
        db.commit()
        db.close()
        return path


def open_source(path):
    return Sqlite(path) if path.endswith("sqlite") else Json(path)


def alike(kernels):
    """Those of the name and size that there are most of, on each device: nothing but time tells them apart."""
    out = []
    for device in sorted({k.device for k in kernels}):
        of = lambda k: (bare(k.name), k.grid, k.block, k.pid)
        most, _ = Counter(of(k) for k in kernels if k.device == device).most_common(1)[0]
        out += [k for k in kernels if k.device == device and of(k) == most]
    return out


def tiled(kernels, copies, rng):
    """A short trace again and again, no turn quite like another."""
    first, last = min(k.begin for k in kernels), max(k.end for k in kernels)
    out, at, ident, grid = [], 0, max(k.ident for k in kernels) + 1, max(k.grid_id for k in kernels) + 1
    for turn in range(copies):
        shift = 0
        for k in sorted(kernels, key=lambda k: k.begin):
            shift += rng.randrange(200, 3000)
            begin = k.begin + at + shift
            length = max(1000, int((k.end - k.begin) * rng.uniform(0.9, 1.1)))
            out.append(replace(k, begin=begin, end=begin + length, ident=ident, grid_id=k.grid_id and grid))
            shift += max(0, length - (k.end - k.begin))
            ident, grid = ident + 1, grid + 1
        at += last - first + shift + 20000
    return out


def gaps(kernels):
    """By device: when nothing runs, [begin, length]."""
    found = {}
    for device in {k.device for k in kernels}:
        free, end = [], None
        for k in sorted((k for k in kernels if k.device == device), key=lambda k: k.begin):
            if end is not None and k.begin > end:
                free.append([end, k.begin - end])
            end = k.end if end is None else max(end, k.end)
        found[device] = free, end
    return found


def extras(kernels, sources, share, where, idents, rng, grain):
    """Launches that only one side has, at times when nothing else runs. Idents: two that nobody has yet."""
    made = []
    for k in rng.sample(sources, min(len(sources), max(1, round(len(kernels) * share)))):
        free, end = where[k.device]
        length = k.end - k.begin
        fitting = [g for g in rng.sample(free, min(len(free), 200)) if g[1] > length + 2000 + 2 * grain]
        if fitting:
            g = rng.choice(fitting)
            begin = g[0] + rng.randrange(1000 + grain, g[1] - length - 999 - grain)
            free.remove(g)
        else:
            begin = end + rng.randrange(10 ** 4, 10 ** 6)
            where[k.device] = free, begin + length
        begin -= begin % grain
        made.append(replace(k, begin=begin, end=begin + length, ident=idents[0], grid_id=k.grid_id and idents[1]))
        idents[0] += 1
        idents[1] += 1
    return made


@dataclass
class Truth:
    partner: dict    # (device, grid id) of ours -> Kernel, or None
    offset: int      # theirs - ours at `at`
    drift: float
    at: int
    launched: set    # idents of the kernels that have a launch of ours

    def offset_at(self, theirs):
        return self.offset + round(self.drift * (theirs - self.at)) # a double does not hold the ns of Unix time


def make(source, seed, form, rng, grid_ids="none", whole=False, window=False, pid=None, name="blind", kernels=None, cut=0.0):
    """Returns capture, other file and the truth. `form`: how ours are named; `grid_ids`: right, wrong, shifted (of the next launch) or none; `cut`: of
    how many launches the last blocks were not recorded."""
    kernels = kernels if kernels is not None else source.kernels
    names = sorted({bare(k.name) for k in kernels})
    marked = [n for n in names if rng.random() < 0.5]
    if not marked or len(kernels) < 200:
        marked = names
    where = gaps(kernels)
    pids = sorted({k.pid for k in kernels})
    pid = pid or (rng.choice(pids) if len(pids) > 1 else 77) # a capture is of one process
    ours_could = [k for k in kernels if bare(k.name) in set(marked) and (len(pids) == 1 or k.pid == pid)]
    idents = [max(k.ident for k in kernels) + 1000, max(k.grid_id for k in kernels) + 1000]
    few = len(kernels) < 20 # there one in twenty is none
    theirs_more = [] if few else extras(kernels, ours_could, LOST, where, idents, rng, source.grain())
    ours_more = [] if few else extras(ours_could, ours_could, LOST, where, idents, rng, source.grain())
    theirs = [k for k in kernels if few or rng.random() >= LOST] + theirs_more
    if window: # the other profiler was on for a part of the run only
        first, last = min(k.begin for k in kernels), max(k.end for k in kernels)
        span = last - first
        begin = first + int(span * rng.uniform(0.1, 0.5))
        theirs = [k for k in theirs if begin <= k.begin and k.end <= begin + span * 0.3] or theirs
    ours = [k for k in ours_could if few or rng.random() >= LOST]
    has = {k.ident for k in theirs}
    first = min(k.begin for k in kernels)
    truth = Truth({}, rng.randint(-3000000, 3000000), rng.uniform(-50e-6, 50e-6), first, {k.ident for k in ours + ours_more})
    if not source.base_known:
        truth.offset -= 3600 * 10 ** 9 * rng.randrange(1, 1000) # another epoch, by hours
    launches = []
    for k in ours + ours_more:
        length = k.end - k.begin
        begin = k.begin + int(min(rng.uniform(300, 1500), length * 0.3))
        end = k.end - int(min(rng.uniform(100, 800), length * 0.2))
        if cut and rng.random() < cut:
            end = begin + int((end - begin) * rng.uniform(0.3, 1))
        launches.append((begin - truth.offset_at(begin) + rng.randint(-40, 40), end - truth.offset_at(end) + rng.randint(-40, 40), k))
    launches.sort(key=lambda l: l[0])
    shuffled = {}
    for device in {k.device for _, _, k in launches}:
        shuffled[device] = [k.grid_id for _, _, k in launches if k.device == device]
        if grid_ids == "shifted":
            ids = shuffled[device]
            shuffled[device] = (ids[1:] + [max(ids) + 1])[::-1]
        else:
            rng.shuffle(shuffled[device])
    kernel_of = {n: i for i, n in enumerate(marked)}
    words = {n: (n, f"{n} (plan.cu:12)", f"Part{i}")[form] for n, i in kernel_of.items()}
    begin = launches[0][0]
    lines = ["fact host made-up", f"fact pid {pid}", "fact started_ns %d" % begin]
    step = rng.choice([1, 32])
    for device in sorted({k.device for _, _, k in launches}):
        span = launches[-1][1] - begin + 10 ** 6
        lines.append(f"device {device} {begin} {GLOBAL_START + device * 10 ** 9} {span} {step}")
    lines += [f"kernel {words[n]}" for n in marked] + ["begin"]
    for i, (b, e, k) in enumerate(launches):
        grid_id = {"right": k.grid_id, "wrong": shuffled[k.device][-1], "shifted": shuffled[k.device][-1], "none": i + 1}[grid_ids]
        shuffled[k.device].pop()
        zero = GLOBAL_START + k.device * 10 ** 9 - begin
        assert (k.device, grid_id) not in truth.partner
        truth.partner[k.device, grid_id] = k if k.ident in has else None
        lines.append(f"launch {k.device} {kernel_of[bare(k.name)]} {grid_id} {' '.join(map(str, k.grid + k.block))} "
                     f"{b + zero} {max(b, e) + zero}")
    with open(here(name + ".plan"), "w") as file:
        file.write("\n".join(lines) + "\n")
    return lines, source.write(name, theirs, whole), truth


# ---- what came out ----

@dataclass
class Landed:
    device: int
    grid_id: int
    begin: int
    end: int
    joined_by: str
    ident: object      # the correlation of the kernel it was joined with, or None
    outside: int
    arrow: object = None   # JSON: (stream, begin) of the kernel that its arrow comes from
    uncertain: bool = False


def landed_in_json(path, base):
    events, _ = read_json(plain(path))
    now, launches, arrows = {}, [], collections.defaultdict(dict) # now: the launch that a lane is in, one after the other
    for e in events:
        lane = e.get("pid"), e.get("tid")
        if e.get("ph") == "E" and now.get(lane) and now[lane].end is None:
            now[lane].end = base + ns(e["ts"])
        if e.get("cat") != "inkmark":
            continue
        if e["ph"] in "sf":
            arrows[e["id"]][e["ph"]] = e, now.get(lane)
        elif e["ph"] == "B":
            a = e["args"]
            now[lane] = Landed(e["pid"], a["grid_id"], base + ns(e["ts"]), None, a["joined_by"], a.get("kernel_correlation"), a.get("outside_ns"),
                               uncertain="uncertain" in a)
            launches.append(now[lane])
    for arrow in arrows.values():
        (start, source), (_, target) = arrow["s"], arrow["f"]
        if target and not source:
            target.arrow = start["tid"], base + ns(start["ts"]) - 1
    return launches


def landed_in_perfetto(tools, path):
    arg = lambda name: f"(select coalesce(int_value, string_value) from args where arg_set_id = s.arg_set_id and key = 'debug.{name}')"
    errors, rows = tools.query(path, ERRORS, f"""select {arg('device')}, {arg('grid_id')}, s.ts, s.ts + s.dur, {arg('joined_by')},
        {arg('kernel_correlation')}, {arg('outside_ns')}, {arg('uncertain')} from slice s where s.category = 'inkmark'""")
    assert not errors, errors
    whole = lambda v: None if v is None else int(v)
    return [Landed(whole(r[0]), int(r[1]), int(r[2]), int(r[3]), r[4], whole(r[5]), whole(r[6]), uncertain=r[7] is not None) for r in rows]


@dataclass
class Outcome:
    launches: int = 0
    partners: int = 0
    wrong: int = 0
    lost: int = 0
    astray: int = 0   # the slice does not lie in the kernel that it is said to belong to
    uncertain: int = 0
    silent: int = 0   # wrong, and not said to be uncertain
    chance: int = 0   # the same, but nobody could know

    def __str__(self):
        return f"{self.launches} launches, {self.partners} with a partner: {self.wrong} wrong, {self.lost} lost, {self.astray} astray, {self.uncertain} uncertain, {self.silent} wrong without a word, {self.chance} by chance"


def judge(landed, truth, seen=None):
    """`seen`: keys of those that the output was asked for; all by default."""
    o, got = Outcome(), {(l.device, l.grid_id): l for l in landed}
    assert len(got) == len(landed)
    for key, k in truth.partner.items():
        if seen is not None and key not in seen:
            continue
        l = got.pop(key) # every launch of ours is in the output
        o.launches += 1
        o.partners += k is not None
        joined = l.ident is not None
        wrong = joined and (k is None or k.ident != l.ident)
        o.wrong += wrong
        o.uncertain += l.uncertain
        # where neither the launch's kernel nor the kernel's launch was recorded, what is left fits, and nothing tells
        seen_by_chance = wrong and k is None and l.ident not in truth.launched
        o.silent += wrong and not l.uncertain and not seen_by_chance
        o.chance += wrong and not l.uncertain and seen_by_chance
        o.lost += k is not None and not joined
        if joined and k and k.ident == l.ident:
            o.astray += not (k.begin - l.outside <= l.begin and l.end <= k.end + l.outside)
            if l.arrow:
                o.astray += l.arrow != (k.stream, k.begin)
    assert not got, "launches that nobody made"
    return o


CLOCK = re.compile(r"GPU (\d+): their clock is ours ([+-]\d+) ns \((?:within (\d+) ns|not known how well)")


def offsets_off(said, landed, truth):
    """By device: how far the offset that was said is from the truth in the middle of the joined launches, and its bound."""
    found = {}
    for device, offset, bound in CLOCK.findall(said):
        # their times stand in the output with the offset taken out
        at = [(l.begin + l.end) // 2 for l in landed if l.device == int(device) and l.ident is not None]
        middle = (min(at) + max(at)) // 2
        found[int(device)] = abs(truth.offset_at(middle) - int(offset)), int(bound) if bound else None
    return found
