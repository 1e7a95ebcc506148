# SPDX-License-Identifier: MIT
# `python -m inkmark`: a script, a module, options in front of "--"; a session inside of a recorded process.
import os
import subprocess
import sys

import inkmark

environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH")}
environment["PYTHONPATH"] += ":" + os.path.dirname(os.path.abspath(__file__))
with open("app.py", "w") as file:
    file.write("""import sys
from marked import *
compiled = module()
assert not inkmark.arm(compiled)
run(compiled, int(sys.argv[1]))
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
for given, words in (([], "no script"), (["-o", "b.ink", "app.py"], "no '--'")):
    done = record(*given)
    assert done.returncode == 2 and words in done.stderr and "usage" in done.stderr, done
assert "usage: python -m inkmark" in record("--help").stdout
print("PASS")
