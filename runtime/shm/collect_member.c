/* SPDX-License-Identifier: MIT */
/* One recorded process as the writer sees it: its chunks go to its file, its words to the launcher,
 * and when it is gone the file gets an end that says how it ended. */
#include "shm/collect_private.h"

#include "shm/salvage.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { CHUNKS_AT_ONCE = 64, RETRY_MS = 250 };

static void note_failure(ink_collector *c, ink_i_member *m, const ink_error *error) {
  if (m->failure[0])
    return;
  memcpy(m->failure, error->message, sizeof m->failure);
  ink_i_collector_line(c, m->request.pid, "failed", error->message);
}

/* ---- the file ---- */

static ink_status open_path(ink_collector *c, ink_i_member *m, const ink_i_names *names,
                            ink_error *error) {
  m->path = ink_i_capture_path(c->output, names, m->request.forked, c->began_ns, error);
  if (!m->path)
    return INK_ERROR_IO;
  ink_error why = {0};
  ink_status status = ink_writer_open(m->path, true, &m->writer, &why);
  if (status != INK_OK && why.code == EWOULDBLOCK) { /* a recording that still goes on */
    char *own = ink_i_capture_own_path(m->path, names, c->began_ns, error);
    free(m->path);
    m->path = own;
    status = own ? ink_writer_open(own, true, &m->writer, &why) : INK_ERROR_IO;
  }
  if (status != INK_OK && error)
    *error = why;
  return status;
}

/* A template's words come from another process: they name a file in the folder that was asked for. */
static void tame(char *word) {
  for (char *at = word; *at; at++)
    if (*at == '/' || (at == word && *at == '.'))
      *at = '_';
}

static bool have_file(ink_collector *c, ink_i_member *m) {
  if (m->writer || m->cannot_open)
    return m->writer != NULL;
  ink_error error = {0};
  tame(m->request.host);
  tame(m->request.rank);
  const ink_i_names names = {
      .pid = m->request.pid, .host = m->request.host, .rank = m->request.rank};
  const bool fine = open_path(c, m, &names, &error) == INK_OK;
  m->unread = !fine && error.code == ENXIO && !m->gone_at_ms;
  m->cannot_open = !fine && !m->unread;
  if (m->cannot_open)
    note_failure(c, m, &error);
  if (!fine) {
    free(m->path);
    m->path = NULL;
  }
  return fine;
}

/* Writes the chunk in reader.chunk; what does not fit stays there and is tried again, so that the ring
 * fills up and the program keeps what it has. */
static void append(ink_collector *c, ink_i_member *m, uint32_t type, size_t bytes) {
  ink_error error = {0};
  size_t left = 0;
  const bool has_file = have_file(c, m);
  m->left = !has_file && m->unread ? bytes : 0;
  m->left_type = type;
  m->retry_at_ms = ink_i_monotonic_ms() + RETRY_MS;
  if (!has_file) {
    m->lost_chunks += !m->unread;
    return;
  }
  if (ink_i_writer_append(m->writer, m->reader.chunk, type, bytes, &left, &error) == INK_OK) {
    if (type == INK_CHUNK_TABLE)
      ink_i_member_source(c, m, (const char *)m->reader.chunk + sizeof(ink_chunk_header), bytes);
    return;
  }
  note_failure(c, m, &error);
  if (!ink_i_file_is_full(&error)) {
    m->lost_chunks++;
    return;
  }
  m->left = left ? left : bytes;
}

/* ---- the ring ---- */

/* Children that the process has forked, and whose own rings may come later or never. */
static void take_family(ink_collector *c, ink_i_member *m) {
  ink_i_ring_family *family =
      (ink_i_ring_family *)(void *)((char *)m->shared.map + INK_I_RING_PAGE);
  uint32_t count = atomic_load(&family->count), now = 0;
  if (count - m->family_seen > INK_I_FAMILY_MAX)
    m->family_seen = count - INK_I_FAMILY_MAX;
  for (; m->family_seen != count && now < INK_I_FAMILY_MAX; m->family_seen++, now++) {
    const pid_t pid = atomic_load(&family->pids[m->family_seen % INK_I_FAMILY_MAX]);
    /* as it sees itself: in a pid namespace of its own that is nobody we could find */
    if (pid <= 0 || m->request.pid != m->watch.pid ||
        !ink_list_room((void **)&c->children, &c->child_room, c->child_count,
                              sizeof *c->children))
      continue;
    ink_i_watch watch = ink_i_watch_begin(pid);
    if (!ink_i_watch_is_gone(&watch))
      c->children[c->child_count++] = watch;
    else
      ink_i_watch_end(&watch);
  }
}

bool ink_i_member_take(ink_collector *c, ink_i_member *m, bool last) {
  uint32_t type;
  size_t bytes;
  if (m->closed)
    return false;
  take_family(c, m);
  if (m->left && !last && ink_i_monotonic_ms() < m->retry_at_ms)
    return false;
  if (m->left)
    append(c, m, m->left_type, m->left);
  if (m->left && last) { /* given up: the disk is full and nobody else can keep it */
    m->lost_chunks++;
    m->left = 0;
  }
  for (int n = 0; n < CHUNKS_AT_ONCE && !m->left; n++) {
    if (ink_i_ring_take(&m->reader, last, &type, &bytes) != INK_OK)
      return false;
    const char *payload = (const char *)m->reader.chunk + sizeof(ink_chunk_header);
    m->at_exec = type == INK_CHUNK_REPORT && bytes >= 5 && !memcmp(payload, "exec", 5);
    m->had_none = type == INK_CHUNK_REPORT && bytes >= 5 && !memcmp(payload, "none", 5);
    if (type == INK_CHUNK_REPORT)
      ink_i_collector_report(c, m->request.pid,
                             payload, bytes);
    else if (type == INK_CHUNK_END)
      m->ended = true;
    else
      append(c, m, type, bytes);
  }
  return !m->left || last;
}

/* ---- the end ---- */

/* How it ended, where it did not end its recording itself. */
static void how_it_ended(const ink_i_member *m, char *text, size_t bytes) {
  if (m->replaced || m->at_exec)
    snprintf(text, bytes, "the process went on as another program (exec)");
  else if (m->has_status && WIFSIGNALED(m->wait_status))
    snprintf(text, bytes, "the program was killed by signal %d (%s)", WTERMSIG(m->wait_status),
             strsignal(WTERMSIG(m->wait_status)));
  else
    snprintf(text, bytes, "the program was killed, or left by a way that ends no recording");
}

/* All that is missing, in words; empty: nothing is. */
static void what_failed(const ink_i_member *m, char *text, size_t bytes) {
  const unsigned long long damaged = m->reader.damaged + m->reader.missing, given_up = m->lost_chunks,
                           lost = atomic_load(&m->reader.header->lost);
  int n = snprintf(text, bytes, "%s", m->failure);
  if (given_up)
    n += snprintf(text + n, bytes - (size_t)n, "%s%llu chunk%s could not be written", n ? "; " : "", given_up,
                  given_up == 1 ? "" : "s");
  if (damaged)
    n += snprintf(text + n, bytes - (size_t)n, "%s%llu parts were ruined in the program's memory", n ? "; " : "",
                  damaged);
  if (lost)
    snprintf(text + n, bytes - (size_t)n, "%sthe writer was too slow or stopped: %llu chunks found no room",
             n ? "; " : "", lost);
}

/* A failed salvage leaves tracks out: that is said too. */
static void salvage(ink_collector *c, ink_i_member *m) {
  for (size_t i = 0; i < m->area_count; i++) {
    ink_error error = {0};
    if (ink_i_salvage(m->areas[i].shared.map, m->areas[i].shared.bytes, m->areas[i].kind, m->writer,
                      &error) != INK_OK) {
      note_failure(c, m, &error);
      m->lost_chunks++;
    }
  }
}

static ink_status write_ends(ink_collector *c, ink_i_member *m, ink_error *error) {
  char text[sizeof m->failure + 300];
  ink_status status = INK_OK;
  salvage(c, m);
  what_failed(m, text, sizeof text);
  if (text[0])
    status = ink_writer_fact(m->writer, "write_failure", text, error);
  if (status == INK_OK && !m->ended) {
    how_it_ended(m, text, sizeof text);
    status = ink_writer_fact(m->writer, "unfinished", text, error);
  }
  if (status == INK_OK && !m->ended && m->has_status && WIFSIGNALED(m->wait_status)) {
    const char *name = sigabbrev_np(WTERMSIG(m->wait_status));
    snprintf(text, sizeof text, name ? "signal %d (SIG%s)" : "signal %d", WTERMSIG(m->wait_status), name);
    status = ink_writer_fact(m->writer, "ended_by", text, error);
  }
  return status;
}

void ink_i_member_close(ink_collector *c, ink_i_member *m) {
  if (m->closed)
    return;
  while (ink_i_member_take(c, m, true))
    continue;
  ink_error error = {0};
  if (m->writer) {
    ink_status status = write_ends(c, m, &error);
    if (status == INK_OK && !m->failure[0])
      ink_i_member_store_sources(c, m);
    if (status == INK_OK)
      status = ink_writer_close(m->writer, &error);
    else
      ink_writer_abandon(m->writer);
    if (status != INK_OK)
      note_failure(c, m, &error);
    ink_i_collector_line(c, m->request.pid, "wrote", m->path);
  }
  if (!m->writer && !m->cannot_open && !m->unread && !m->had_none && !m->replaced && !m->at_exec) {
    char text[300];
    how_it_ended(m, text, sizeof text);
    ink_i_collector_line(c, m->request.pid, "cut", text);
  }
  m->writer = NULL;
  m->closed = true;
  free(m->sources);
  m->sources = NULL;
  m->source_count = 0;
  ink_i_watch_end(&m->watch);
  ink_i_ring_reader_free(&m->reader);
  ink_i_shared_free(&c->memory, &m->shared);
  for (size_t i = 0; i < m->area_count; i++)
    ink_i_shared_free(&c->area_memory, &m->areas[i].shared);
  m->area_count = 0;
}
