/* SPDX-License-Identifier: MIT */
/* What the launcher and the writer process say to each other, a packet each: how a child ended, and
 * what there is to be told. */
#include "shm/collect_private.h"

#include "errno_words.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 + 256 }; /* a path, and who wrote it */

/* From the launcher. */
typedef struct control_message {
  uint32_t what; /* 1: a child ended; 2: tell */
  int32_t wait_status;
  int64_t pid;
} control_message;

enum { CHILD_ENDED = 1, TELL = 2 };

/* ---- the launcher's side ---- */

static ink_status send_to_writer(int control, const control_message *message, ink_error *error) {
  if (send(control, message, sizeof *message, MSG_NOSIGNAL) == (ssize_t)sizeof *message)
    return INK_OK;
  return ink_error_set(error, INK_ERROR_STOPPED, "the writer process is gone: %s",
                       ink_i_errno_words(errno).text);
}

ink_status ink_collector_tell_end(int control, int64_t pid, int wait_status, ink_error *error) {
  return send_to_writer(control, &(control_message){CHILD_ENDED, wait_status, pid}, error);
}

ink_status ink_collector_ask(int control, uint32_t patience_ms,
                             void (*line)(void *user, const char *text), void *user,
                             ink_error *error) {
  char text[LINE_BYTES];
  ink_status status = send_to_writer(control, &(control_message){.what = TELL}, error);
  while (status == INK_OK) {
    struct pollfd one = {.fd = control, .events = POLLIN};
    const int ready = poll(&one, 1, (int)patience_ms);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return ink_error_set(error, INK_ERROR_IO, "the writer process does not answer");
    const ssize_t n = ready > 0 ? recv(control, text, sizeof text - 1, 0) : -1;
    if (n <= 0)
      return ink_error_set(error, INK_ERROR_STOPPED, "the writer process is gone");
    text[n] = 0;
    if (!strcmp(text, "."))
      break;
    line(user, text);
  }
  return status;
}

void ink_collector_listen(int control, void (*line)(void *user, const char *text), void *user) {
  char text[LINE_BYTES];
  for (ssize_t n; (n = recv(control, text, sizeof text - 1, MSG_DONTWAIT)) > 0;) {
    text[n] = 0;
    line(user, text);
  }
}

/* ---- the writer's side ---- */

void ink_i_collector_line(ink_collector *c, pid_t pid, const char *word, const char *text) {
  char line[LINE_BYTES - 1], *copy;
  const int n = snprintf(line, sizeof line, "%ld %s %s", (long)pid, word, text);
  if (n < 0 || c->control < 0 || c->line_count >= 10000 ||
      !ink_list_room((void **)&c->lines, &c->line_room, c->line_count, sizeof *c->lines) ||
      !(copy = strdup(line)))
    return;
  const bool is_path = !strcmp(word, "wrote") || !strcmp(word, "runs");
  for (char *at = copy; *at && !is_path; at++)
    if (*at == '\n')
      *at = ' ';
  c->lines[c->line_count++] = copy;
}

void ink_i_collector_report(ink_collector *c, pid_t pid, const char *report, size_t bytes) {
  static const char *const words[] = {"failed", "remark", "activity", "stalls", "kernels", "modules", "wrote", "hang"};
  const char *text = bytes ? memchr(report, 0, bytes) : NULL;
  if (!text || report[bytes - 1] || ++text == report + bytes)
    return;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(report, words[i]))
      ink_i_collector_line(c, pid, report, text);
}

/* A launcher that does not read is not waited for. */
static bool say(const ink_collector *c, const char *text) {
  return send(c->control, text, strlen(text), MSG_NOSIGNAL) >= 0;
}

void ink_i_collector_say_lines(ink_collector *c) {
  size_t said = 0;
  while (said < c->line_count && c->control >= 0 &&
         send(c->control, c->lines[said], strlen(c->lines[said]), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
    free(c->lines[said++]);
  c->line_count -= said;
  if (said)
    memmove(c->lines, c->lines + said, c->line_count * sizeof *c->lines);
}

static bool has_ring(const ink_collector *c, pid_t pid) {
  for (size_t i = 0; i < c->member_count; i++)
    if (c->members[i]->watch.pid == pid && !c->members[i]->closed)
      return true;
  return false;
}

static void answer(ink_collector *c) {
  bool heard = true;
  ink_i_collector_settle(c);
  for (size_t i = 0; i < c->member_count; i++)
    if (!c->members[i]->closed && !c->members[i]->ended)
      ink_i_collector_line(c, c->members[i]->request.pid, "runs",
                           c->members[i]->writer ? c->members[i]->path : "");
  for (size_t i = 0; i < c->child_count; i++)
    if (!ink_i_watch_is_gone(&c->children[i]) && !has_ring(c, c->children[i].pid))
      ink_i_collector_line(c, c->children[i].pid, "runs", "");
  for (size_t i = 0; i < c->line_count; i++) {
    heard = heard && say(c, c->lines[i]);
    free(c->lines[i]);
  }
  c->line_count = 0;
  if (heard)
    say(c, ".");
}

static void note_end(ink_collector *c, const control_message *message) {
  for (size_t i = 0; i < c->member_count; i++) {
    ink_i_member *m = c->members[i];
    if (m->watch.pid == message->pid && !m->closed && !m->replaced) {
      m->has_status = true;
      m->wait_status = message->wait_status;
    }
  }
}

void ink_i_collector_control(ink_collector *c) {
  control_message message;
  const ssize_t n = recv(c->control, &message, sizeof message, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n != (ssize_t)sizeof message) {
    close(c->control);
    c->control = -1;
  } else if (message.what == CHILD_ENDED) {
    note_end(c, &message);
  } else if (message.what == TELL) {
    answer(c);
  }
}
