/* SPDX-License-Identifier: MIT */
/* trace_descriptors REPORT PROGRAM ARGS...: runs a program with all that it starts, and writes into REPORT
 *   open PID PATH     each file that is opened or made, or that was to be,
 *   list PID          when the process writes to its standard output or error, runs another program, or ends,
 *   held FD TARGET    and behind it each descriptor that is there then.
 * Ends as the program did. Exit code 77: this machine does not let processes be traced. */
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *report;

static pid_t process_of(pid_t thread) {
  char path[64], line[128];
  int found = thread;
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Tgid: %d", &found) == 1)
      break;
  if (file)
    fclose(file);
  return found;
}

static void list_descriptors(pid_t thread) {
  char path[PATH_MAX], target[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/fd", (int)thread);
  DIR *folder = opendir(path);
  if (!folder)
    return;
  fprintf(report, "list %d\n", (int)process_of(thread));
  for (struct dirent *one; (one = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)thread, one->d_name);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
      continue;
    target[n] = '\0';
    fprintf(report, "held %s %s\n", one->d_name, target);
  }
  closedir(folder);
}

static void tell_path(pid_t thread, unsigned long long address) {
  char text[PATH_MAX] = "";
  size_t n = 0;
  while (n + 1 < sizeof text) { /* to the end of each page, as the next may not be there */
    size_t part = 4096 - (size_t)((address + n) % 4096);
    part = part < sizeof text - 1 - n ? part : sizeof text - 1 - n;
    struct iovec to = {text + n, part}, from = {(void *)(size_t)(address + n), part};
    const ssize_t got = process_vm_readv(thread, &to, 1, &from, 1, 0);
    if (got <= 0)
      break;
    n += (size_t)got;
    if (memchr(text + n - (size_t)got, '\0', (size_t)got))
      break;
  }
  text[sizeof text - 1] = '\0';
  fprintf(report, "open %d %s\n", (int)process_of(thread), text);
}

static void look_at_call(pid_t thread) {
  struct __ptrace_syscall_info info = {0};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_ENTRY)
    return;
  switch (info.entry.nr) {
#ifdef SYS_open
  case SYS_open:
  case SYS_creat: tell_path(thread, info.entry.args[0]); break;
#endif
  case SYS_openat:
#ifdef SYS_openat2
  case SYS_openat2:
#endif
    tell_path(thread, info.entry.args[1]);
    break;
  case SYS_write:
    if (info.entry.args[0] == 1 || info.entry.args[0] == 2)
      list_descriptors(thread);
    break;
  case SYS_execve:
  case SYS_exit_group: list_descriptors(thread); break;
  default: break;
  }
}

static const int options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                           PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
                           PTRACE_O_EXITKILL;

/* What to hand to the thread when it goes on. */
static int look_at_stop(pid_t thread, int status) {
  const int signal = WSTOPSIG(status), event = status >> 16;
  if (signal == (SIGTRAP | 0x80)) {
    look_at_call(thread);
    return 0;
  }
  if (event == PTRACE_EVENT_EXIT && process_of(thread) == thread)
    list_descriptors(thread); /* also of one that a signal ends */
  if (event)
    return 0;
  if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
    siginfo_t why; /* a stop of the group has none: the thread goes on, as nothing here waits for it */
    if (signal == SIGSTOP || ptrace(PTRACE_GETSIGINFO, thread, 0, &why))
      return 0;
  }
  return signal;
}

static void run(char **command) {
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) {
    fprintf(stderr, "this machine does not let processes be traced: %s\n", strerror(errno));
    _exit(77);
  }
  raise(SIGSTOP);
  execvp(command[0], command);
  _exit(127);
}

int main(int argc, char **argv) {
  if (argc < 3 || !(report = fopen(argv[1], "we")))
    return 2;
  const pid_t first = fork();
  if (first == 0)
    run(argv + 2);
  int status, last = 0;
  if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status))
    return 77;
  if (ptrace(PTRACE_SETOPTIONS, first, 0, options) || ptrace(PTRACE_SYSCALL, first, 0, 0)) {
    fprintf(stderr, "this machine does not let processes be traced: %s\n", strerror(errno));
    return 77;
  }
  for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (WIFSTOPPED(status)) {
      ptrace(PTRACE_SYSCALL, thread, 0, look_at_stop(thread, status));
      continue;
    }
    if (thread == first)
      last = status;
  }
  fclose(report);
  if (WIFSIGNALED(last)) {
    signal(WTERMSIG(last), SIG_DFL);
    raise(WTERMSIG(last));
  }
  return WIFEXITED(last) ? WEXITSTATUS(last) : 1;
}
