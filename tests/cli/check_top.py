# SPDX-License-Identifier: MIT
"""`inkmark top` on captures that grow, are there later, are whole or were never ended; through a pipe and on a terminal.
check_top.py INKMARK MAKE_CAPTURES"""
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios

INKMARK, MAKE_CAPTURES = (os.path.abspath(p) for p in sys.argv[1:3])
GUARD_S = 600  # for a test that would never end
folder = tempfile.TemporaryDirectory(prefix="inkmark-top-")
os.chdir(folder.name)
subprocess.run([MAKE_CAPTURES], check=True)


def run(*arguments):
    done = subprocess.run([INKMARK, "top", *arguments], capture_output=True, text=True, timeout=GUARD_S)
    return done.returncode, done.stdout, done.stderr


def tables(text):
    assert text.endswith("\n\n"), text
    return text[:-2].split("\n\n")


def row(table, *names):
    """Cells of the row of that kernel and section; titles and cells are two spaces apart, or more."""
    for line in table.splitlines():
        cells = re.split(r"  +", line.strip())
        if tuple(cells[:len(names)]) == names:
            return cells[len(names):]
    raise AssertionError(f"no row {names} in:\n{table}")


def chunks(path):
    """Where each chunk ends, by docs/format.md."""
    data = open(path, "rb").read()
    at = struct.unpack_from("<I", data, 16)[0]
    ends = []
    while at + 32 <= len(data):
        at += 32 + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
        ends.append(at)
    return data, ends


def whole():
    """One that has ended is shown once."""
    code, out, err = run("solver.ink")
    assert (code, err) == (0, "") and len(tables(out)) == 1, (code, out, err)
    assert "\x1b" not in out and "(ended)" in out, out
    assert row(out, "Step", "LineSearch") == ["10", "2,600", "64.5 %"], out
    assert "1 launch, 4 tracks, 54 marks" in out, out


def hangs():
    """One that was never ended is shown as often as asked for; what is open with its place."""
    code, out, err = run("-n", "3", "-i", "1", "hung.ink")
    assert (code, err) == (0, "") and len(tables(out)) == 3, (code, out, err)
    for n, table in enumerate(tables(out)):
        assert "(recording" in table and "5 tracks are open:" in table, table
        assert "block 4: inside Wait (began 4.0 s before it was last seen), after Load, iteration 7" in table, table
        assert row(table, "Step", "Wait") == (["60"] + ["0"] * (n > 0) + ["12,000", "53.5 %", "2"]), table
        assert ("0 a second" in table) == (n > 0), table


def grows():
    """Through a pipe: the table follows the file, in whatever place it is cut, until the end is there."""
    data, ends = chunks("solver.ink")
    with open("grows.ink", "wb") as file:
        top = subprocess.Popen([INKMARK, "top", "-i", "1", "grows.ink"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
        assert "waiting for 'grows.ink'" in top.stderr.readline()
        seen = ""

        def until(words):
            nonlocal seen
            while not re.search(words, seen):
                line = top.stdout.readline()
                assert line, (words, seen)
                seen += line
        file.write(data[:ends[0] + 11])  # in the middle of a chunk
        file.flush()
        until("nothing was recorded so far")
        file.write(data[ends[0] + 11:ends[-2]])  # all but the end
        file.flush()
        until("4 tracks, 54 marks, [1-9]")
        until("Step    LineSearch +10 +10 ")
        until("4 tracks, 54 marks, 0 a second")
        assert "(ended" not in seen, seen
        file.write(data[ends[-2]:])
    rest, err = top.communicate(timeout=GUARD_S)
    assert top.returncode == 0 and err == "", (top.returncode, err)
    last = tables(seen + rest)[-1]
    assert "(ended)" in last and row(last, "Step", "LineSearch")[:3] == ["10", "0", "2,600"], last


class Screen:
    """What a terminal shows of the few controls that are used: home, to the end of the line, to the end of the screen."""

    def __init__(self, rows, columns):
        self.lines, self.rows, self.columns = [""] * rows, rows, columns
        self.row = self.column = 0

    def feed(self, text):
        for control, plain in re.findall(r"(\x1b\[[HKJ]|\r|\n)|([^\x1b\r\n]+)", text):
            line = self.lines[self.row]
            if control == "\x1b[H":
                self.row = self.column = 0
            elif control == "\x1b[K":
                self.lines[self.row] = line[:self.column]
            elif control == "\x1b[J":
                self.lines[self.row:] = [line[:self.column]] + [""] * (self.rows - self.row - 1)
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                assert self.row + 1 < self.rows, f"it scrolls: {self.lines}"
                self.row += 1
            else:
                assert self.column + len(plain) <= self.columns, f"a line of more than {self.columns} columns: {plain!r}"
                self.lines[self.row] = line[:self.column].ljust(self.column) + plain + line[self.column + len(plain):]
                self.column += len(plain)
        assert not re.search(r"\x1b(?!\[[HKJ])", text), repr(text)


def at_terminal(path, rows, columns, act=None, kind="xterm"):
    """(exit code, what the terminal shows at last, all that came)."""
    pid, fd = pty.fork()
    if not pid:
        os.environ["TERM"] = kind
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(INKMARK, [INKMARK, "top", "-i", "20", path])
    seen = b""
    while True:
        ready, _, _ = select.select([fd], [], [], GUARD_S)
        assert ready, seen
        try:
            got = os.read(fd, 65536)
        except OSError:
            got = b""
        if not got:
            break
        seen += got
        if act and seen.count(b"\x1b[H") >= 3:
            act(fd)
            act = None
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, seen.decode()


def terminal():
    """Each table takes the place of the one before, cut to the terminal; Ctrl-C ends it."""
    for rows, columns in ((40, 120), (8, 40), (24, 25)):
        code, seen = at_terminal("hung.ink", rows, columns, act=lambda fd: os.write(fd, b"\x03"))
        assert code == -2, (code, seen)
        screen = Screen(rows, columns)
        screen.feed(seen.replace("^C", ""))
        assert screen.lines[0].startswith("hung.ink: ./hung (recordi"), screen.lines
        assert screen.lines[3] == "5 tracks are open:"[:columns], screen.lines
        if rows == 40:
            assert any(line.split()[:3] == ["Step", "Wait", "60"] for line in screen.lines), screen.lines
    data, ends = chunks("solver.ink")
    with open("ends.ink", "wb") as file:
        file.write(data[:ends[-2]])
    def end(_):
        with open("ends.ink", "ab") as more:
            more.write(data[ends[-2]:])
    code, seen = at_terminal("ends.ink", 24, 80, act=end)
    screen = Screen(24, 80)
    screen.feed(seen)
    assert code == 0 and "(ended)" in screen.lines[0], (code, screen.lines)
    code, seen = at_terminal("solver.ink", 24, 80, kind="dumb")
    assert code == 0 and "\x1b" not in seen, (code, seen)


def refusals():
    for arguments, want, words in ((["nothing"], 1, "not"), (["."], 1, "not a regular file"), ([], 2, "FILE"),
                                   (["-i", "0", "solver.ink"], 2, "--interval-ms")):
        if arguments == ["nothing"]:
            open("nothing", "w").write("no capture")
        code, out, err = run(*arguments)
        assert code == want and not out and words in err, (arguments, code, out, err)
    top = subprocess.Popen([INKMARK, "top", "-i", "1", "hung.ink"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    top.stdout.read(100)
    top.stdout.close()  # `inkmark top x | head`
    assert top.wait(timeout=GUARD_S) in (-13, 1), top.returncode


for check in (whole, hangs, grows, terminal, refusals):
    check()
    print(f"{check.__name__}: as it should be")
