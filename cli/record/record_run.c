/* SPDX-License-Identifier: MIT */
/* Sets the environment that steers the recorded process, runs it, and hands signals on. */
#include "record.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/stat.h>
#include <time.h>

static bool set(const char *name, const char *value) {
  if (!(value ? setenv(name, value, 1) : unsetenv(name)))
    return true;
  message_say("cannot set %s: %s", name, message_errno(errno));
  return false;
}

static bool set_count(const char *name, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRIu64, value);
  return set(name, value ? text : NULL);
}

/* NAME=first:what NAME was */
static bool prepend(const char *name, const char *first) {
  const char *before = getenv(name);
  char *value;
  if (asprintf(&value, "%s%s%s", first, before && *before ? ":" : "", before ? before : "") < 0) {
    message_say("out of memory");
    return false;
  }
  bool fine = set(name, value);
  free(value);
  return fine;
}

/* The driver calls into the preloaded library when it starts, which is when CUPTI must be there. On
 * the simulated device only its own CUPTI will do. */
static bool set_activity(record_plan *plan) {
  const char *taken = getenv("CUDA_INJECTION64_PATH");
  const bool free_for_us = !(taken && *taken), stalls = plan->settings->stalls && free_for_us;
  char *cupti = NULL;
  plan->activity = plan->settings->activity && free_for_us;
  if (plan->settings->activity && !plan->activity)
    message_say("activity is not recorded: CUDA_INJECTION64_PATH is taken, by '%s'", taken);
  if (plan->settings->stalls && !stalls)
    message_say("why warps wait is not sampled: CUDA_INJECTION64_PATH is taken, by '%s'", taken);
  bool fine = set("INKMARK_ACTIVITY", plan->activity ? "1" : NULL) && set("INKMARK_STALLS", stalls ? "1" : NULL);
  if (fine && (plan->activity || stalls))
    fine = set("CUDA_INJECTION64_PATH", plan->library);
  if (fine && (plan->activity || stalls) && plan->sim_folder) {
    fine =
        asprintf(&cupti, "%s/libcupti.so.13", plan->sim_folder) >= 0 && set("INKMARK_CUPTI", cupti);
    free(cupti);
  }
  return fine;
}

/* The stand-in is there before the program is, for one that has a runtime of its own inside; the loader is told of it
 * through a second library, which also answers for the compilers. */
static bool set_simulated(const record_plan *plan) {
  char *runtime = NULL, *audit = NULL;
  const bool fine = asprintf(&runtime, "%s:%s/libcudart.so.13", plan->library, plan->sim_folder) >= 0 &&
                    asprintf(&audit, "%s/libinkmark-sim-audit.so", plan->sim_folder) >= 0 &&
                    prepend("LD_PRELOAD", runtime) && prepend("LD_LIBRARY_PATH", plan->sim_folder) &&
                    prepend("LD_AUDIT", audit);
  free(runtime);
  free(audit);
  return fine;
}

/* A file of that name that was written right before is of a recording before this one, not of one that runs meanwhile: what is
 * written from now on has a later time, though files are stamped with a coarse clock (see capture_path.c). */
static void begin_after_old_file(record_plan *plan) {
  const int64_t apart_ns = 25000000;
  for (int tries = 0; tries < 3; tries++) {
    struct stat info;
    clock_gettime(CLOCK_REALTIME, &plan->begin);
    if (stat(plan->output, &info) || !S_ISREG(info.st_mode))
      return;
    const int64_t age_ns = (plan->begin.tv_sec - info.st_mtim.tv_sec) * INT64_C(1000000000) + plan->begin.tv_nsec -
                           info.st_mtim.tv_nsec;
    if (age_ns < 0 || age_ns > apart_ns)
      return;
    nanosleep(&(struct timespec){.tv_nsec = apart_ns - age_ns + 1000000}, NULL);
  }
}

/* NVTX loads one library in a process, which is then told of ranges. */
static bool set_range(const record_plan *plan) {
  const char *taken = getenv("NVTX_INJECTION64_PATH"), *range = plan->settings->range;
  const bool wanted = range || plan->settings->nvtx;
  if (wanted && taken && *taken && !getenv("INKMARK_RANGE") && !getenv("INKMARK_NVTX")) {
    message_say("ranges cannot be seen: NVTX_INJECTION64_PATH is taken, by '%s'", taken);
    return false;
  }
  return set("INKMARK_RANGE", range) && set("INKMARK_NVTX", plan->settings->nvtx ? "1" : NULL) &&
         (!wanted || set("NVTX_INJECTION64_PATH", plan->library));
}

bool record_environment(record_plan *plan) {
  static const char *const granularities[] = {GRANULARITY_CHOICES(CHOICE_WORD)}, *const keeps[] = {KEEP_CHOICES(CHOICE_WORD)};
  const record_settings *s = plan->settings;
  begin_after_old_file(plan);
  bool fine = set("INKMARK_RECORD", "1") && set("INKMARK_OUTPUT", plan->output) &&
              set("INKMARK_LIBRARY", plan->library) &&
              set("INKMARK_GRANULARITY", granularities[s->granularity]) &&
              set("INKMARK_KEEP", keeps[s->keep]) && set("INKMARK_BLOCKS", s->blocks) &&
              set("INKMARK_WARPS", s->warps) && set("INKMARK_KERNELS", s->kernels) &&
              set("INKMARK_DEVICES", s->devices ? s->devices : "used") &&
              set_count("INKMARK_RECORDS", s->records) && set_count("INKMARK_TRACKS", s->tracks) &&
              set_count("INKMARK_DRAIN_MS", s->drain_ms) && set("INKMARK_FLIGHT", s->flight ? "1" : NULL) &&
              set("INKMARK_LAUNCHES", s->launches) && set("INKMARK_SCHEDULE", s->schedule) &&
              set("INKMARK_ON_START", s->on_start == ON_START_OFF ? "off" : NULL) && set_count("INKMARK_DELAY_MS", s->delay_ms) &&
              set_count("INKMARK_DURATION_MS", s->duration_ms) &&
              set("INKMARK_LIVE", s->live ? "1" : NULL) && set_count("INKMARK_HANG_MS", s->hang_ms);
  fine = fine && set_range(plan) && set_activity(plan);
  fine = fine && (plan->sim_folder ? set_simulated(plan) : prepend("LD_PRELOAD", plan->library));
  fine = fine && set_count("INKMARK_BEGAN_NS", (uint64_t)plan->begin.tv_sec * 1000000000u +
                                                   (uint64_t)plan->begin.tv_nsec);
  return fine && record_writer_start(plan);
}

/* How this command found the signals; the program gets them so. */
typedef struct signals {
  sigset_t blocked;
  struct sigaction child;
} signals;

static const int of_messages[] = {SIGPIPE, SIGXFSZ};
enum { OF_MESSAGES = sizeof of_messages / sizeof *of_messages };
static struct sigaction found[OF_MESSAGES];

void record_outlive_messages(void) {
  const struct sigaction ignored = {.sa_handler = SIG_IGN};
  for (size_t i = 0; i < OF_MESSAGES; i++)
    sigaction(of_messages[i], &ignored, &found[i]);
}

/* Takes what is sent to this command, for the program; nothing else ends the command before it. */
static void take_signals(sigset_t *taken, signals *before) {
  static const int kinds[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                              SIGALRM, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGCHLD};
  const struct sigaction by_default = {.sa_handler = SIG_DFL};
  sigemptyset(taken);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    sigaddset(taken, kinds[i]);
  for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
    sigaddset(taken, number);
  sigprocmask(SIG_BLOCK, taken, &before->blocked);
  sigaction(SIGCHLD, &by_default, &before->child); /* where it was ignored, no end of a child is told */
}

/* A script without an interpreter in its first line: what shells and execvp do. */
static void run_by_shell(const char *script, char **argv) {
  size_t n = 0;
  while (argv[n])
    n++;
  char **words = calloc(n + 2, sizeof *words);
  if (!words)
    return;
  words[0] = argv[0];
  words[1] = (char *)(uintptr_t)script; /* execv leaves it be */
  memcpy(words + 2, argv + 1, (n - 1) * sizeof *words);
  execv("/bin/sh", words);
  free(words);
}

/* The child: runs the program, or sends errno through the pipe. */
static void become(const record_plan *plan, char **argv, const signals *before, int report) {
  sigaction(SIGCHLD, &before->child, NULL);
  for (size_t i = 0; i < OF_MESSAGES; i++)
    sigaction(of_messages[i], &found[i], NULL);
  sigprocmask(SIG_SETMASK, &before->blocked, NULL);
  execv(plan->program, argv);
  int code = errno;
  if (code == ENOEXEC)
    run_by_shell(plan->program, argv);
  /* a pipe takes 4 bytes whole; if it does not, the parent sees an end without a number */
  if (write(report, &code, sizeof code) != sizeof code)
    _exit(126);
  _exit(code == ENOENT ? 127 : 126);
}

/* Hands a signal on. What a terminal sent went to the whole group; but where it hangs up, to the leader of
 * its session alone. */
static void hand_on(pid_t child, const siginfo_t *info) {
  const bool hangs_up = info->si_signo == SIGHUP && getsid(0) == getpid();
  if (info->si_code == SI_QUEUE)
    sigqueue(child, info->si_signo, info->si_value);
  else if (info->si_code != SI_KERNEL || hangs_up)
    kill(child, info->si_signo);
}

/* In the foreground of a terminal, whose user waits for this command. */
static bool is_waited_for(void) {
  const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  const bool waited = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();
  if (terminal >= 0)
    close(terminal);
  return waited;
}

/* The program has stopped itself: so does this command, or nobody would come to continue it. */
static void stop_too(pid_t child) {
  if (!is_waited_for())
    return;
  raise(SIGSTOP);
  kill(child, SIGCONT);
}

/* Waits for the child; the exit code, and the signal that ended it or 0. */
static int wait_for(record_plan *plan, pid_t child, const sigset_t *caught, int *ended_by, int *wait_status) {
  static const struct timespec a_while = {.tv_nsec = 250000000};
  for (;;) {
    siginfo_t info;
    int status, signal = sigtimedwait(caught, &info, plan->settings->hang_ms ? &a_while : NULL);
    if (signal < 0 && errno == EAGAIN)
      record_writer_listen(plan);
    if (signal != SIGCHLD) {
      if (signal > 0)
        hand_on(child, &info);
      continue;
    }
    if (waitpid(child, &status, WNOHANG | WUNTRACED) != child)
      continue;
    *wait_status = status;
    if (WIFSTOPPED(status))
      stop_too(child);
    if (WIFSIGNALED(status)) {
      *ended_by = WTERMSIG(status);
      return 128 + *ended_by;
    }
    if (WIFEXITED(status))
      return WEXITSTATUS(status);
  }
}

/* Whoever waits for this command sees what the program's own parent would: a shell ends a loop by it. */
void record_end_as(int signal) {
  const struct sigaction by_default = {.sa_handler = SIG_DFL};
  const struct rlimit no_core = {0};
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  setrlimit(RLIMIT_CORE, &no_core); /* the program has left one */
  sigaction(signal, &by_default, NULL);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  raise(signal);
}

int record_run(record_plan *plan, char **argv) {
  sigset_t caught;
  signals before;
  int report[2], code = 0, ended_by = 0, wait_status = 0;
  if (plan->sim_folder)
    message_say("recording on the simulated device%s: cycles are the simulator's",
                plan->gpu_here ? "" : " (no GPU here)");
  take_signals(&caught, &before);
  if (pipe2(report, O_CLOEXEC)) {
    message_say("cannot run '%s': %s", plan->program, message_errno(errno));
    return -CLI_FAILED;
  }
  pid_t child = fork();
  if (child < 0) {
    message_say("cannot run '%s': %s", plan->program, message_errno(errno));
    return -CLI_FAILED;
  }
  if (!child)
    become(plan, argv, &before, report[1]);
  close(report[1]);
  ssize_t got = read(report[0], &code, sizeof code);
  close(report[0]);
  if (got == sizeof code) {
    message_say("cannot run '%s': %s", plan->program,
                code == ENOENT && !access(plan->program, F_OK) ? "the interpreter or loader that it names is not there"
                                                               : message_errno(code));
    waitpid(child, NULL, 0);
    return code == ENOENT ? -127 : -126;
  }
  code = wait_for(plan, child, &caught, &ended_by, &wait_status);
  plan->ended_by = ended_by;
  record_writer_end(plan, child, wait_status);
  sigprocmask(SIG_SETMASK, &before.blocked, NULL);
  if (ended_by) /* a program may also return more than 128 */
    message_say("'%s' was ended by signal %d (%s)", argv[0], ended_by, strsignal(ended_by));
  record_writer_ask(plan);
  return code;
}
