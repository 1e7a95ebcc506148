# SPDX-License-Identifier: MIT
"""The package's types by mypy --strict, over it and over the examples; its doctests.

check_types.py SOURCE LIBRARY"""
import doctest
import importlib.util
import os
import subprocess
import sys
import tempfile

source, library = sys.argv[1:]
python = os.path.join(source, ".venv-wheels", "bin", "python")
if "INKMARK_INSIDE" not in os.environ:
    if not os.path.exists(python):
        print("SKIPPED: no .venv-wheels (tests/run.sh makes it)")
        sys.exit(77)
    os.execve(python, [python, *sys.argv], {**os.environ, "INKMARK_INSIDE": "1", "INKMARK_SHARED_LIBRARY": library,
              "PYTHONPATH": os.path.join(source, "python"), "PYTHONDONTWRITEBYTECODE": "1",
              "INKMARK_INCLUDE": os.path.join(source, "device")})

import inkmark  # noqa: E402
from inkmark import _arrays, _compile  # noqa: E402

tried = 0
for module in (_arrays, _compile):
    result = doctest.testmod(module)
    tried += result.attempted
    assert not result.failed
page = doctest.testfile(os.path.join(source, "docs", "python.md"), module_relative=False)
assert not page.failed and page.attempted and tried >= 6, (page, tried)
print("doctests:", tried + page.attempted)

environment = {key: value for key, value in os.environ.items() if key not in ("INKMARK_INCLUDE", "INKMARK_SHARED_LIBRARY")}
environment["PATH"] = "/nowhere"
for call, words in (("inkmark.open('x')", "INKMARK_SHARED_LIBRARY names it"), ("inkmark.session().start()", "cannot load libinkmark")):
    done = subprocess.run([python, "-c", f"import inkmark\ntry: {call}\nexcept inkmark.Error as e: print(e)"],
                          env={**environment, "INKMARK_SHARED_LIBRARY": "/no/such.so"}, capture_output=True, text=True)
    assert done.returncode == 0 and words in done.stdout and "\n" not in done.stdout.strip(), done

if importlib.util.find_spec("mypy") is None:
    print("SKIPPED: mypy is not in .venv-wheels (tests/run.sh installs requirements-wheels.txt)")
    sys.exit(77)
with tempfile.TemporaryDirectory() as cache:
    examples = [os.path.join(source, "examples", name) for name in sorted(os.listdir(os.path.join(source, "examples")))
                if name.endswith(".py")]
    for what in (["-p", "inkmark"], *[[path] for path in examples]):
        done = subprocess.run([python, "-m", "mypy", "--strict", "--cache-dir", cache, "--config-file",
                               os.path.join(source, "python", "pyproject.toml"), *what], capture_output=True, text=True)
        print(what[-1], done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr
