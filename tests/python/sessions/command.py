# SPDX-License-Identifier: MIT
# `python -m inkmark`: a script, a module, options in front of "--"; a session inside of a recorded process.
import os
import subprocess
import sys

import inkmark
from marked import module, run

environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH")}
environment["PYTHONPATH"] += ":" + os.path.dirname(os.path.abspath(__file__))
with open("app.py", "w") as file:
    file.write("""import sys
from marked import *
compiled = module()
assert not inkmark.arm(compiled)
run(compiled, int(sys.argv[1]))
inkmark.step()
refused(inkmark.session().start, "recorded already")
print("ran")
""")


def record(*arguments):
    return subprocess.run([sys.executable, "-m", "inkmark", *arguments], env=environment, capture_output=True, text=True)


for given, launched in ((["--device", "sim", "-o", "a.ink", "--", "app.py", "2"], 6),
                        (["-o", "a.ink", "--device", "sim", "--", "-m", "app", "1"], 3)):
    done = record(*given)
    assert done.returncode == 0 and "ran" in done.stdout and "wrote a.ink" in done.stderr.replace("'", ""), (done.stdout, done.stderr)
    with inkmark.open("a.ink") as capture:
        assert capture.table()[0]["count"] == launched, capture.table()
done = record("-o", "b.ink", "--device", "sim", "--schedule", "wait=1,active=1", "--", "-c", "from marked import *\n"
              "m = module()\nfor b in (1, 2, 4, 8): run(m, b); inkmark.step()")
with inkmark.open("b.ink") as capture:
    assert capture.table()[0]["count"] == 3 * (2 + 8) and capture.fact("window_launches"), (capture.table(), done.stderr)
done = record("-o", "b.ink", "--device", "sim", "--launches", "1-2", "--", "-c", "import cupy, inkmark\nfrom marked import *\n"
              "m, x = module(), cupy.zeros(32, cupy.float32)\ncupy.cuda.Device().synchronize()\n"
              "for b in range(4): m.get_function('step')((b + 1,), (32,), (x, cupy.int32(1)))\ncupy.cuda.Device().synchronize()")
with inkmark.open("b.ink") as capture:
    assert sorted(capture.columns(what="launches")["grid_x"]) == [2, 3], capture.columns(what="launches")
done = record("-o", "b.ink", "--device", "sim", "--range", "here", "--", "-c", "import nvtx\nfrom marked import *\nm = module()\n"
              "run(m, 1)\nwith nvtx.annotate('here', domain='solver'): run(m, 2)\nrun(m, 4)\n"
              "nvtx.push_range('here'); run(m, 8); nvtx.pop_range()")
with inkmark.open("b.ink") as capture:
    assert sorted(capture.columns(what="launches")["grid_x"]) == [2, 8], (capture.columns(what="launches"), done.stderr)
done = record("-o", "b.ink", "--device", "sim", "--nvtx", "--", "-c", "import nvtx\nfrom marked import *\nm = module()\nrun(m, 1)\n"
              "with nvtx.annotate('solve', domain='solver', category='io', color='red', payload=7): run(m, 2)\n"
              "nvtx.mark('here', payload=0.5)\nwith inkmark.scope('scope'): run(m, 4)")
with inkmark.open("b.ink") as capture:
    frame = capture.to_pandas(what="ranges").set_index("name")
    assert list(frame["kind"]) == ["thread", "mark", "scope"], (frame, done.stderr)
    assert list(frame["domain"]) == ["solver", "", ""] and list(frame["category"][:1]) == ["io"], frame
    assert list(frame["payload"][:2]) == [7, 0.5] and frame["payload"].isna()["scope"], frame
    assert list(frame["kernels"]) == list(frame["calls"]) == [1, 0, 1] and not frame["open"].any(), frame
with inkmark.session(host_ranges=True) as s:
    with inkmark.scope("outside of record"):
        compiled = module()
        s.arm(compiled)
        run(compiled, 1)
assert list(s.capture.columns(what="ranges")["name"]) == ["outside of record"]
for given, words in (([], "no script"), (["-o", "b.ink", "app.py"], "no '--'")):
    done = record(*given)
    assert done.returncode == 2 and words in done.stderr and "usage" in done.stderr, done
assert "usage: python -m inkmark" in record("--help").stdout
print("PASS")
