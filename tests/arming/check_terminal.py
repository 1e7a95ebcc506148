# SPDX-License-Identifier: MIT
"""`inkmark record` at a terminal of its own, as a shell runs it: Ctrl-C, Ctrl-Z and fg, a program that stops
itself, a terminal that hangs up. check_terminal.py BUILD PROGRAMS"""
import os
import pty
import select
import signal
import sys
import tempfile
import termios

BUILD, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
INKMARK = os.path.join(BUILD, "cli/inkmark")
WAYS = os.path.join(PROGRAMS, "ways_out")
HANGS_S = 300


class Terminal:
    """A session with a terminal whose leader is a small shell of ours: it runs one job in the foreground, tells
    on a pipe how that stops and ends, and continues it on request."""

    def __init__(self, *command, leads=False):
        self.told, tell = os.pipe()
        ask, self.ask = os.pipe()
        self.shell, self.screen = pty.fork()
        if not self.shell:
            os.close(self.told)
            if leads:  # the job is the leader of the session itself
                os.execv(command[0], command)
            self.run_shell(command, ask, tell)
        os.close(tell)
        self.seen = b""

    @staticmethod
    def run_shell(command, ask, tell):
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        job = os.fork()
        if not job:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for number in signal.SIGTTOU, signal.SIGHUP:
                signal.signal(number, signal.SIG_DFL)
            os.execv(command[0], command)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            os.write(tell, f"{status}\n".encode())
            if not os.WIFSTOPPED(status):
                os._exit(0)
            os.read(ask, 1)  # fg
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
            os.write(tell, b"0\n")

    def wait_for_text(self, text):
        while text not in self.seen:
            ready, _, _ = select.select([self.screen], [], [], HANGS_S)
            assert ready, ("nothing comes", self.seen)
            try:
                self.seen += os.read(self.screen, 4096)
            except OSError:  # the other side is closed
                raise AssertionError((text, self.seen)) from None

    def type(self, key):
        attributes = termios.tcgetattr(self.screen)
        os.write(self.screen, attributes[6][key])

    def status(self):
        ready, _, _ = select.select([self.told], [], [], HANGS_S)
        assert ready, ("neither stopped nor ended", self.seen)
        text = b""
        while not text.endswith(b"\n"):
            text += os.read(self.told, 1)
        return int(text)

    def foreground(self):
        os.write(self.ask, b"f")
        assert self.status() == 0, self.seen  # what is typed before that would be lost to it

    def end(self):
        os.waitpid(self.shell, 0)
        for number in self.told, self.ask, self.screen:
            os.close(number)


def record(*arguments, **more):
    return Terminal(INKMARK, "record", "--device", "sim", "-o", "run.ink", "--", WAYS, *arguments, **more)


def ctrl_c():
    terminal = record("loop")
    terminal.wait_for_text(b"looping")
    terminal.type(termios.VINTR)
    status = terminal.status()
    terminal.wait_for_text(b"ended by signal 2 (SIGINT)")
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, (status, terminal.seen)
    terminal.end()
    print("Ctrl-C ends both, with what was written said")


def ctrl_z():
    terminal = record("loop")
    terminal.wait_for_text(b"looping")
    for _ in range(2):
        terminal.type(termios.VSUSP)
        status = terminal.status()
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP, (status, terminal.seen)
        terminal.foreground()
    terminal.type(termios.VINTR)
    status = terminal.status()
    terminal.wait_for_text(b"ended by signal 2 (SIGINT)")
    assert os.WIFSIGNALED(status), (status, terminal.seen)
    terminal.end()
    print("Ctrl-Z stops both, fg continues both")


def stops_itself():
    terminal = record("stops")
    terminal.wait_for_text(b"stopping")
    status = terminal.status()
    assert os.WIFSTOPPED(status), (status, terminal.seen)
    terminal.foreground()
    terminal.wait_for_text(b"going on")
    status = terminal.status()
    terminal.wait_for_text(b"wrote 'run.ink'")
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 9, (status, terminal.seen)
    terminal.end()
    print("a program that stops itself gives the terminal back")


def hangs_up():
    terminal = record("loop", leads=True)
    terminal.wait_for_text(b"looping")
    os.close(terminal.screen)
    _, status = os.waitpid(terminal.shell, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGHUP, status
    print("a terminal that hangs up ends both")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check in ctrl_c, ctrl_z, stops_itself, hangs_up:
        check()
