/* SPDX-License-Identifier: MIT */
/* The writer process of a recording: started before the program, told how it ended, asked what became
 * of it. It is not waited for: it stays for processes that go on. */
#include "record.h"

#include "message.h"

#include "inkmark/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, NEARLY_FULL_BYTES = 1 << 20 };

/* What a capture needs at least, said while the user can still do something about it. */
static void tell_nearly_full(const char *output) {
  struct statvfs disk;
  char *copy = strdup(output);
  if (!copy)
    return;
  const char *folder = dirname(copy);
  if (!strchr(folder, '%') && !statvfs(folder, &disk)) {
    const uint64_t blocks = geteuid() ? disk.f_bavail : disk.f_bfree;
    const uint64_t free_bytes = blocks * disk.f_frsize;
    if (disk.f_blocks && free_bytes < NEARLY_FULL_BYTES)
      message_say("the disk of '%s' is nearly full: %llu KiB are free", folder,
                  (unsigned long long)free_bytes / 1024);
  }
  free(copy);
}

static int above_standard(int fd) {
  const int above = fd < 3 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
  if (above < 0)
    return fd;
  close(fd);
  return above;
}

bool record_writer_start(record_plan *plan) {
  int pair[2];
  char here[PATH_MAX];
  ink_collector *collector = NULL;
  ink_error error = {0};
  tell_nearly_full(plan->output);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
    message_say("cannot start the writer: %s", message_errno(errno));
    return false;
  }
  pair[0] = above_standard(pair[0]);
  const ink_collector_options options = {
      .size = sizeof options,
      .output = plan->output,
      .began_ns = (int64_t)plan->begin.tv_sec * 1000000000 + plan->begin.tv_nsec,
      .says_at_once = plan->settings->hang_ms != 0,
      .control = pair[1],
      .source_folder = plan->settings->sources == SOURCES_OFF || !getcwd(here, sizeof here) ? NULL : here};
  const ink_status status = ink_collector_open(&options, &collector, &error);
  if (status) {
    close(pair[0]);
    message_say(status == INK_ERROR_UNSUPPORTED ? "%s; each process writes its capture itself" : "%s",
                error.message);
    unsetenv("INKMARK_WRITER"); /* of a recording that this command runs in */
    return status == INK_ERROR_UNSUPPORTED;
  }
  const bool named = !setenv("INKMARK_WRITER", ink_collector_address(collector), 1);
  const pid_t pid = named ? fork() : -1;
  if (!pid) {
    close(pair[0]);
    ink_collector_run(collector);
    _exit(0);
  }
  if (pid < 0)
    message_say("cannot start the writer: %s", message_errno(errno));
  ink_collector_free(collector); /* and the writer's end of the pair */
  plan->control = pair[0];
  return pid > 0;
}

void record_writer_end(const record_plan *plan, int64_t child, int wait_status) {
  if (plan->control >= 0)
    ink_collector_tell_end(plan->control, child, wait_status, NULL);
}

/* What a kernel that hangs waits in is said at once. */
static bool tell_hang(const char *line) {
  long pid;
  int text = 0;
  if (sscanf(line, "%ld hang %n", &pid, &text) != 1 || !text)
    return false;
  message_say("%s", line + text);
  return true;
}

static void keep_line(void *user, const char *text) {
  record_plan *plan = user;
  if (tell_hang(text))
    return;
  char **more = realloc(plan->lines, (plan->line_count + 1) * sizeof *more);
  char *copy = strdup(text);
  if (more)
    plan->lines = more;
  if (more && copy)
    plan->lines[plan->line_count++] = copy;
  else
    free(copy);
}

void record_writer_listen(record_plan *plan) {
  if (plan->control >= 0)
    ink_collector_listen(plan->control, keep_line, plan);
}

void record_writer_ask(record_plan *plan) {
  ink_error error = {0};
  const ink_status status =
      plan->control < 0 ? INK_OK
                        : ink_collector_ask(plan->control, PATIENCE_MS, keep_line, plan, &error);
  if (status)
    message_say(status == INK_ERROR_STOPPED ? "%s: what it had not written is lost"
                                            : "%s: what it has not written yet may still come",
                error.message);
}

void record_writer_free(record_plan *plan) {
  if (plan->control >= 0)
    close(plan->control);
  for (size_t i = 0; i < plan->line_count; i++)
    free(plan->lines[i]);
  free(plan->lines);
}
