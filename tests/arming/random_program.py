# SPDX-License-Identifier: MIT
"""Programs that do at random what a recorder must not disturb: fork, raw clone, exec, threads, descriptors that
are closed and duplicated, signals, limits, folders, all forms of an end; each also launches marked kernels.
random_program.py BUILD LIBRARY FIRST COUNT compares COUNT of them, from seed FIRST on, alone and under `inkmark
record`: exit code or signal, what they print, and every file that they leave. With KEEP=FOLDER in the
environment, what differs is kept there."""
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../processes"))
from family import become_parent_of_orphans

HANGS_S = 300

HEAD = r"""
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int run_library(void);
static volatile sig_atomic_t seen;
static void count(int number) { seen = seen + number; }
static void leave(int number) { _exit(number + 40); }
static void say(const char *text, long value) {
  char line[200];
  const int n = snprintf(line, sizeof line, "%s %ld\n", text, value);
  if (write(1, line, (size_t)n) < 0) seen = seen + 1;
}
static void put(const char *name, const char *text) {
  const int file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0) { say("cannot open", errno); return; }
  const ssize_t n = write(file, text, strlen(text));
  say("written", n < 0 ? -errno : n);
  close(file);
}
static void tell(int status) {
  if (WIFSIGNALED(status)) say("child: signal", WTERMSIG(status));
  else say("child: code", WEXITSTATUS(status));
}
static void wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  tell(status);
}
static void *launches(void *user) { say("thread", run_library()); return user; }
static void *works(void *user) { long n = 0; for (long i = 0; i < 100000; i++) n += i % 7; return user ? user : (void *)n; }
static void *leaves(void *user) { pthread_exit(user); }
static void last(void) { say("last", seen); }
static void limit(int what, rlim_t most) {
  struct rlimit now;
  getrlimit(what, &now);
  now.rlim_cur = most;
  say("limit", setrlimit(what, &now));
}
"""


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        body = self.body(0)
        self.text = (HEAD + "int main(int argc, char **argv) {\n"
                     "  const struct rlimit no_core = {0, 0};\n  setrlimit(RLIMIT_CORE, &no_core);\n"
                     "  if (argc > 1) { say(\"second\", run_library()); " + self.end(1) + " }\n"
                     + body + self.end(0) + "\n  return 0;\n}\n")

    def name(self):
        self.names += 1
        return f"f{self.names}"

    def number(self, least, most):
        return self.random.randint(least, most)

    def pick(self, *what):
        return self.random.choice(what)

    def signal(self):
        return self.pick("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGQUIT", "SIGRTMIN")

    def end(self, depth):
        """The last words of a process; `exit` in a vfork or clone child would run what is its parent's."""
        code = self.number(0, 200)
        forms = [f"exit({code});", f"_exit({code});", f"return {code};", f"quick_exit({code});", "abort();",
                 f"signal({{s}}, SIG_DFL); raise({{s}}); exit({code});", f"raise({{s}}); exit({code});",
                 f"kill(getpid(), SIGKILL); pause();", "*(volatile int *)0 = 1;", f"assert(seen < 0);",
                 f"signal({{s}}, leave); raise({{s}}); exit({code});",
                 f"execl(\"/bin/sh\", \"sh\", \"-c\", \"exit {code}\", (char *)0);"]
        if depth == 0:
            forms += ["pthread_exit(0);", "execl(argv[0], argv[0], \"again\", (char *)0);",
                      "{ pthread_t t; pthread_create(&t, 0, launches, 0); pthread_exit(0); }"]
        return "  " + self.pick(*forms).replace("{s}", self.signal())

    def body(self, depth):
        steps = [self.launch, self.launch, self.launch, self.write, self.write, self.descriptor, self.closes,
                 self.duplicates, self.thread, self.handler, self.mask, self.ignores, self.alarm, self.limits,
                 self.folder, self.at_exit, self.shell]
        if depth < 2:
            steps += [self.fork, self.fork, self.clone, self.vfork, self.spawn, self.daemon]
        return "".join(self.pick(*steps)(depth) for _ in range(self.number(2, 7)))

    def launch(self, depth):
        return f"  say(\"launch\", run_library());\n" + self.pick("", "  usleep(20000);\n")

    def write(self, depth):
        return f"  put(\"{self.name()}\", \"{'x' * self.number(1, 60)}\\n\");\n"

    def descriptor(self, depth):
        """Which number the next descriptor gets is the program's business."""
        return f"  {{ const int file = open(\"{self.name()}\", O_RDWR | O_CREAT, 0600); say(\"descriptor\", file); " + \
            self.pick("close(file);", "", f"if (write(file, \"kept\", 4) < 0) say(\"error\", errno);") + " }\n"

    def closes(self, depth):
        return self.pick("  for (int i = 3; i < 256; i++) close(i);\n", f"  say(\"close\", close({self.number(3, 12)}));\n",
                         "  say(\"closefrom\", syscall(SYS_close_range, 3, ~0U, 0));\n")

    def duplicates(self, depth):
        return f"  say(\"dup2\", dup2(1, {self.number(3, 20)}));\n"

    def thread(self, depth):
        body = self.pick("launches", "works", "leaves")
        return f"  {{ pthread_t t; const int code = pthread_create(&t, 0, {body}, 0); if (!code) pthread_join(t, 0); say(\"create\", code); }}\n"

    def handler(self, depth):
        return f"  {{ struct sigaction a = {{.sa_handler = count, .sa_flags = {self.pick('0', 'SA_RESTART', 'SA_RESETHAND')}}}, " \
               f"old; sigaction({(s := self.signal())}, &a, &old); say(\"default\", old.sa_handler == SIG_DFL); " \
               f"raise({s}); say(\"seen\", seen); {self.pick('', f'signal({s}, SIG_DFL);', f'sigaction({s}, &old, 0);')} }}\n"

    def mask(self, depth):
        return f"  {{ sigset_t set; int got = 0; sigemptyset(&set); sigaddset(&set, {(s := self.signal())}); " \
               f"sigprocmask(SIG_BLOCK, &set, 0); raise({s}); say(\"wait\", sigwait(&set, &got)); say(\"got\", got == {s}); }}\n"

    def ignores(self, depth):
        return f"  signal({(s := self.signal())}, SIG_IGN); raise({s});\n"

    def alarm(self, depth):
        return "  { const struct itimerval t = {{0, 0}, {0, 5000}}; sigset_t set, none; sigemptyset(&none); sigemptyset(&set); " \
               "sigaddset(&set, SIGALRM); sigprocmask(SIG_BLOCK, &set, 0); signal(SIGALRM, count); setitimer(ITIMER_REAL, &t, 0); " \
               "sigsuspend(&none); sigprocmask(SIG_UNBLOCK, &set, 0); say(\"alarm\", seen); }\n"

    def limits(self, depth):
        return self.pick(f"  limit(RLIMIT_NOFILE, {self.number(8, 40)});\n", "  limit(RLIMIT_CORE, 0);\n",
                         f"  signal(SIGXFSZ, SIG_IGN); limit(RLIMIT_FSIZE, {self.number(10, 3000)});\n")

    def folder(self, depth):
        return f"  mkdir(\"{(n := self.name())}\", 0755); say(\"chdir\", chdir(\"{n}\"));\n" + self.pick("", "  umask(077);\n")

    def at_exit(self, depth):
        return "  atexit(last);\n"

    def shell(self, depth):
        return f"  tell(system(\"{self.pick('exit 3', 'echo shell', 'kill -TERM $$', 'echo here >>' + self.name())}\"));\n"

    def child(self, make, depth, ends):
        return f"  {{ fflush(0); const pid_t child = {make};\n  if (!child) {{\n{self.body(depth + 1)}{ends}\n  _exit(9); }}\n" \
               "  wait_for(child); }\n"

    def fork(self, depth):
        return self.child("fork()", depth, self.end(depth + 1))

    def clone(self, depth):
        """By the bare system call, of which no library hears: its child may call what a signal handler may."""
        inside = "".join(self.pick(self.write, self.descriptor, self.closes, self.handler, self.folder)(depth) for _ in range(3))
        return f"  {{ const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);\n  if (!child) {{\n{inside}" \
               f"  {self.pick(f'_exit({self.number(0, 99)});', 'raise(SIGTERM);', 'raise(SIGKILL);')} _exit(8); }}\n  wait_for(child); }}\n"

    def vfork(self, depth):
        return f"  {{ const pid_t child = vfork();\n  if (!child) {{ signal(SIGTERM, SIG_DFL); " \
               f"{self.pick('_exit(4);', 'raise(SIGTERM); _exit(1);', 'execl(argv[0], argv[0], chr, (char *)0); _exit(2);').replace('chr', chr(34) + 'v' + chr(34))} }}\n" \
               "  wait_for(child); }\n"

    def spawn(self, depth):
        return "  { pid_t child; char *words[] = {argv[0], (char *)\"s\", 0}; fflush(0);\n" \
               "  if (!posix_spawn(&child, \"/proc/self/exe\", 0, 0, words, environ)) wait_for(child); }\n"

    def daemon(self, depth):
        done = self.name()
        return f"  {{ char at[4096]; fflush(0); if (getcwd(at, sizeof at) && !fork()) {{ if (daemon(0, 0) || chdir(at)) _exit(1);\n" \
               f"  {self.pick('', 'run_library();')} for (int i = 0; i < 64; i++) close(i);\n  {self.pick('', 'run_library();')}" \
               f"  const int file = open(\"{done}.part\", O_WRONLY | O_CREAT, 0644); if (write(file, \"done\\n\", 5) < 0) _exit(2);\n" \
               f"  if (rename(\"{done}.part\", \"{done}\")) _exit(3); _exit(0); }}\n  while (wait(0) > 0) continue; }}\n"


def left_in(folder):
    """Every file but captures: its kind and mode, and what it holds."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            if name.startswith("capture."):
                continue
            mode = os.lstat(path).st_mode
            text = open(path, "rb").read() if stat.S_ISREG(mode) else b""
            found[os.path.relpath(path, folder)] = (mode, text)
    return found


def run(folder, command, environment):
    os.mkdir(folder)
    with open(folder + ".out", "wb+") as out, open(folder + ".err", "wb+") as err:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              timeout=HANGS_S)
        wait_for_orphans()
        for stream in out, err:
            stream.seek(0)
        said = out.read()
        complaints = [line for line in err.read().splitlines() if not line.startswith(b"inkmark: ")]
    return done.returncode, said, complaints


def wait_for_orphans():
    """Daemons, other processes that outlive their parents, and the writer process are ours then: until all have ended."""
    signal.alarm(HANGS_S)
    try:
        while os.waitpid(-1, 0):
            pass
    except ChildProcessError:
        signal.alarm(0)


def compare(seed, folder, build, library):
    program = Program(seed)
    source, binary = os.path.join(folder, "program.c"), os.path.join(folder, "program")
    with open(source, "w", encoding="ascii") as file:
        file.write(program.text)
    runtime = os.path.join(build, "device/sim")
    subprocess.run([os.environ.get("CC", "cc"), "-w", "-O1", "-o", binary, source, library, "-pthread",
                    f"-Wl,-rpath-link,{runtime}"], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": runtime, "INKMARK_SIM_SEED": "1"}
    plain, recorded = os.path.join(folder, "plain"), os.path.join(folder, "recorded")
    alone = run(plain, [binary], environment)
    ours = run(recorded, [os.path.join(build, "cli/inkmark"), "record", "--device", "sim", "-o",
                          os.path.join(folder, "capture.%p.ink"), "--", binary], environment)
    left = left_in(plain), left_in(recorded)
    captures = len([name for name in os.listdir(folder) if name.startswith("capture.")])
    if alone == ours and left[0] == left[1]:
        return captures
    print(f"seed {seed} differs:\n  alone    {alone}\n  recorded {ours}")
    for name in sorted(set(left[0]) | set(left[1])):
        if left[0].get(name) != left[1].get(name):
            print(f"  file {name}: {left[0].get(name)} and {left[1].get(name)}")
    return None


def main():
    build, library = map(os.path.abspath, sys.argv[1:3])
    first, count = map(int, sys.argv[3:5])
    different, captures = [], 0
    become_parent_of_orphans()
    for seed in range(first, first + count):
        folder = tempfile.mkdtemp()
        made = compare(seed, folder, build, library)
        captures += made or 0
        if made is None:
            different.append(seed)
            if os.environ.get("KEEP"):
                shutil.copytree(folder, os.path.join(os.environ["KEEP"], str(seed)))
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{count - len(different)} of {count} random programs are the same with and without record; {captures} captures")
    if different or not captures:
        sys.exit(f"different: {different}")


main()
