# SPDX-License-Identifier: MIT
"""terminal.py SOURCE BUILD NVCC [write]: the recording of a terminal in the README, made of what the commands really print.

Compiles the README's example and runs the commands below, each on a terminal of its own. `write` makes docs/terminal.cast
(asciicast 2) of that, and docs/terminal.svg of it by svg-term (npm). Without it the commands are run again and held against
docs/terminal.cast, figures aside, and the picture is held against the cast.
"""
import fcntl
import html
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

import checkout
import page as pages

source, build, nvcc = sys.argv[1:4]
write = sys.argv[4:] == ["write"]
COLUMNS, ROWS = 112, 32
COMMANDS = ("nvcc -I device -O3 relax.cu -o relax", "inkmark record -o relax.ink -- ./relax", "inkmark report relax.ink",
            "inkmark report --quiet --by iteration relax.ink")
PROMPT = "\x1b[1;32m$\x1b[0m "
cast_path, svg_path = os.path.join(source, "docs", "terminal.cast"), os.path.join(source, "docs", "terminal.svg")


def printed(command, folder, environment):
    """What it prints on a terminal; progress, which a slow machine would show, is left out: stderr is a file."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        print(f"skipped: no terminal can be made here: {error}")
        sys.exit(77)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(["bash", "-euc", ". build/env.sh\n" + command], cwd=folder, env=environment, stdout=theirs,
                                   stderr=said, stdin=subprocess.DEVNULL)
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            parts.append(part)
        os.close(ours)
        if process.wait() != 0:
            said.seek(0)
            sys.exit(f"'{command}' failed: {said.read().decode()}{b''.join(parts).decode()}")
        said.seek(0)
        return (said.read().replace(b"\n", b"\r\n") + b"".join(parts)).decode()


def recording(outputs):
    """asciicast 2: the commands are typed, what they print comes at once, and stands for a while."""
    now, events = 0.5, []

    def add(text, pause):
        nonlocal now
        events.append([round(now, 2), "o", text])
        now += pause
    for command, output in outputs:
        add(PROMPT, 0.4)
        for i in range(0, len(command), 2):
            add(command[i:i + 2], 0.06)
        add("\r\n", 0.5)
        if output:
            add(output, 3.0 if output.count("\n") > 5 else 0.8)
    add(PROMPT, 2.5)
    add("", 0)
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "inkmark"}
    return "\n".join(json.dumps(line) for line in [header, *events]) + "\n"


def shown(cast):
    """The lines of a recording without colours."""
    text = "".join(json.loads(line)[2] for line in cast.splitlines()[1:])
    return re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n").split("\n")


def render(cast):
    modules = os.path.join(source, "node_modules")
    if not os.path.exists(os.path.join(modules, "svg-term")):
        return None
    program = ("const {render} = require(process.argv[1] + '/svg-term'); let cast = '';"
               "process.stdin.on('data', d => cast += d).on('end', () => process.stdout.write(render(cast, {window: false})))")
    run = subprocess.run(["node", "-e", program, modules], input=cast, capture_output=True, text=True, check=True)
    return run.stdout + "\n"


with tempfile.TemporaryDirectory(prefix="inkmark-docs-") as work:
    environment = {**checkout.make(work, source, build, nvcc), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        example = next(block for block in pages.blocks_of(file.read().split("\n")) if block.language == "cuda")
    with open(os.path.join(work, "relax.cu"), "w", encoding="utf-8") as file:
        file.write(example.text)
    cast = recording([(command, printed(command, work, environment)) for command in COMMANDS])

if write:
    svg = render(cast)
    if svg is None:
        sys.exit("no svg-term in node_modules: tests/run.sh --set-up installs it")
    for path, text in ((cast_path, cast), (svg_path, svg)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    print(f"docs/terminal.svg has {len(svg)} bytes")
    sys.exit()

with open(cast_path, encoding="utf-8") as file:
    kept = file.read()
with open(svg_path, encoding="utf-8") as file:
    svg = file.read()
if not os.path.exists("/dev/nvidiactl"):
    found, wanted = ([pages.masked(line) for line in shown(text)] for text in (cast, kept))
    assert found == wanted, "docs/terminal.cast is of other output: terminal.py ... write makes it anew\n" + "\n".join(found)
words = set(re.findall(r"\w+", " ".join(html.unescape(text) for text in re.findall(r">([^<>]+)<", svg))))
rows = [line[i:i + COLUMNS] for line in shown(kept) for i in range(0, len(line), COLUMNS)]
missing = [word for row in rows for word in re.findall(r"\w+", row) if word not in words]
assert not missing, f"docs/terminal.svg does not show {missing[:9]}"
assert len(svg) < 200_000, len(svg)
again = render(kept)
if again is None:
    print("skipped: docs/terminal.svg was not made again: no svg-term in node_modules (tests/run.sh installs it)")
assert again in (None, svg), "docs/terminal.svg is not what svg-term makes of docs/terminal.cast"
print(f"docs/terminal.cast shows what {len(COMMANDS)} commands print")
