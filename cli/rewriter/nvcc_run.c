/* SPDX-License-Identifier: MIT */
/* Runs a compiler as a child. nvcc does not pass SIGTERM on to what it runs, and leaves temporary
 * files: when a signal came, its orphans become children of this process and are ended before it
 * goes on. */
#include "nvcc_run.h"

#include "commands.h"
#include "message.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile int caught;
static volatile pid_t running;

static void on_signal(int number) {
  const int saved = errno;
  caught = number;
  if (running > 0)
    kill(running, number);
  errno = saved;
}

void nvcc_catch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal}, old;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

const volatile int *nvcc_caught(void) {
  return &caught;
}

void nvcc_die_if_caught(void) {
  if (!caught)
    return;
  signal(caught, SIG_DFL);
  raise(caught);
}

static void hold_signals(sigset_t *old) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaddset(&set, signals[i]);
  sigprocmask(SIG_BLOCK, &set, old);
}

/* In the child, with signals held. */
static void become(const char *program, char **words, int capture, const char *temporary,
                   const sigset_t *old) {
  struct sigaction action;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (!sigaction(signals[i], NULL, &action) && action.sa_handler == on_signal)
      signal(signals[i], SIG_DFL);
  sigprocmask(SIG_SETMASK, old, NULL);
  if (capture >= 0) {
    dup2(capture, STDOUT_FILENO);
    dup2(capture, STDERR_FILENO);
  }
  if (temporary)
    setenv("TMPDIR", temporary, 1);
  execvp(program, words);
  message_say("cannot run '%s': %s", program, message_errno(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/* What the ended compiler had started: a child ends, its own children follow, until none is left.
 */
static void end_orphans(void) {
  for (;;) {
    char path[64];
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%ld", &pid) == 1)
      kill((pid_t)pid, SIGKILL);
    if (!file || fclose(file) || waitpid(-1, NULL, 0) < 0)
      return;
  }
}

int nvcc_run(const char *program, char **words, int capture, const char *temporary) {
  int status = 0;
  sigset_t old;
  hold_signals(&old);
  const pid_t pid = caught ? -1 : fork();
  if (!pid)
    become(program, words, capture, temporary, &old);
  running = pid;
  sigprocmask(SIG_SETMASK, &old, NULL);
  if (pid < 0) {
    if (!caught)
      message_say("cannot run '%s': %s", program, message_errno(errno));
    return caught ? 128 + caught : CLI_FAILED;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  running = 0;
  if (caught)
    end_orphans();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
