# SPDX-License-Identifier: MIT
"""The same bytes whatever locale the program has set: every output, every merged form and every message of
the library under German and Turkish, made here, against those of the C locale; and through the Python binding.

check_locale.py LOCALE_TOOL MAKE_CAPTURES PYTHON_FOLDER LIBRARY"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

tool, make_captures, binding, library = (os.path.abspath(p) for p in sys.argv[1:5])
LOCALES = ("de_DE.UTF-8", "tr_TR.UTF-8")
PYTHON = """
import locale, sys
locale.setlocale(locale.LC_ALL, sys.argv[1])
assert locale.str(1.5) == ("1.5" if sys.argv[1] == "C" else "1,5")
import inkmark
c = inkmark.open(sys.argv[2])
for name in ("p.tables.json", "p.html", "p.json", "p.csv"):
    c.export(sys.argv[3] + "/" + name)
"""


def trace(path):
    """Numbers in every form that JSON has, of which those with an exponent go through strtod."""
    def kernel(i):
        return {"ph": "X", "cat": "Kernel", "name": "Step", "ts": 5001.5 + 3000 * i, "dur": 2000.25, "pid": 0, "tid": 7,
                "args": {"device": 0, "stream": 7, "correlation": i, "a": 1.5e3, "b": 0.1, "c": 12345678901234567890,
                         "d": 3.141592653589793238, "e": -2.5e-7, "grid": [4, 1, 1], "block": [64, 1, 1]}}
    text = json.dumps({"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [kernel(0), kernel(1)]})
    text = text.replace("5001.5,", "5.0015e3,").replace("1500.0", "1.5e3").replace("8001.5", "8001.5e0")
    text = text.replace("}}]", '}},{"ph":"C","name":"watts","ts":6000.125,"pid":0,"args":{"w":1.25e2,"v":2.5}}]')
    with open(path, "w") as f:
        f.write(text)


def bytes_of(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}


def in_locale(locale, capture):
    os.mkdir(locale)
    done = subprocess.run([tool, locale, capture, "trace.json", locale], capture_output=True, text=True)
    assert done.returncode == 0, (locale, done)
    assert done.stderr == ("1.5\n1.5\n" if locale == "C" else "1,5\n1,5\n"), done.stderr
    return bytes_of(locale), done.stdout.replace(locale, "")


def through_python(locale):
    folder = "python-" + locale
    os.mkdir(folder)
    done = subprocess.run([sys.executable, "-c", PYTHON, locale, "solver.ink", folder], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": binding, "INKMARK_SHARED_LIBRARY": library})
    assert done.returncode == 0, done.stderr
    return bytes_of(folder)


def main():
    if not shutil.which("localedef"):
        print("SKIPPED: no localedef")
        sys.exit(77)
    os.mkdir("locales")
    for locale in LOCALES:
        name, charset = locale.split(".")
        made = subprocess.run(["localedef", "-i", name, "-f", charset, f"locales/{locale}"], capture_output=True, text=True)
        if not os.path.isdir(f"locales/{locale}"):
            print(f"SKIPPED: localedef makes no {locale}: {made.stderr.strip()[:200]}")
            sys.exit(77)
    os.environ["LOCPATH"] = os.path.abspath("locales")
    subprocess.run([make_captures], check=True)
    trace("trace.json")
    compared = 0
    for capture in ("solver.ink", "costed.ink", "unmeasured.ink"):
        wanted, said = in_locale("C", capture)
        assert len(wanted) >= 11, sorted(wanted)
        assert "message: a message with 1234.50 and 0.001" in said, said
        json.loads(wanted["merged.json"])
        for locale in LOCALES:
            got, say = in_locale(locale, capture)
            assert say == said, (locale, say, said)
            for name in wanted:
                assert got[name] == wanted[name], f"{capture}, {locale}: {name} has other bytes than in the C locale"
                compared += 1
            shutil.rmtree(locale)
        shutil.rmtree("C")
    try:
        import numpy # noqa: F401, the binding needs it
    except ImportError:
        print("part SKIPPED: the Python binding needs numpy")
    else:
        wanted = through_python("C")
        for locale in LOCALES:
            assert through_python(locale) == wanted, locale
            compared += len(wanted)
    print(f"{compared} files compared")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
