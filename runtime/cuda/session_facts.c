/* SPDX-License-Identifier: MIT */
/* What a session's capture says besides tracks: the process, tables, devices, marks' cost, clocks. */
#include "capture/capture_path.h"
#include "capture/capture_write.h"
#include "cuda/buffer_size.h"
#include "cuda/clock_catch.h"
#include "cuda/session_private.h"

#include "inkmark/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef INK_VERSION
#define INK_VERSION "0"
#endif

static void read_command(char *text, size_t bytes) {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t n = file < 0 ? -1 : read(file, text, bytes - 1);
  if (file >= 0)
    close(file);
  text[n > 0 ? n : 0] = 0;
  for (ssize_t i = 0; i + 1 < n; i++)
    if (text[i] == 0)
      text[i] = ' ';
}

static ink_status write_facts(ink_session *s, ink_error *error) {
  char number[32];
  ink_status status = ink_writer_fact(s->writer, "command", s->command, error);
  if (!status)
    status = ink_writer_fact(s->writer, "host", s->host, error);
  snprintf(number, sizeof number, "%ld", (long)s->pid);
  if (!status)
    status = ink_writer_fact(s->writer, "pid", number, error);
  snprintf(number, sizeof number, "%lld", (long long)s->started_ns);
  if (!status)
    status = ink_writer_fact(s->writer, "started_ns", number, error);
  if (!status)
    status = ink_writer_fact(s->writer, "version", INK_VERSION, error);
  snprintf(number, sizeof number, "%lld", (long long)s->options.began_ns);
  if (!status && s->options.began_ns)
    status = ink_writer_fact(s->writer, "recording", number, error);
  if (!status && s->window.text[0])
    status = ink_writer_fact(s->writer, "window", s->window.text, error);
  if (!status && s->options.blocks)
    status = ink_writer_fact(s->writer, "blocks", s->options.blocks, error);
  if (!status && ink_i_rank())
    status = ink_writer_fact(s->writer, "rank", ink_i_rank(), error);
  return status;
}

static ink_status write_tables(ink_session *s, ink_error *error) {
  ink_status status = INK_OK;
  ink_i_table *tables;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_tables(&tables);
  for (size_t i = 0; i < n && !status; i++) {
    ink_i_table *t = &tables[i];
    if (!t->written)
      status = ink_writer_table(s->writer, t->name, t->sections, t->file, t->line, t->hash48, error);
    t->written = t->written || !status;
  }
  ink_i_registry_unlock();
  return status;
}

/* What `inkmark selftest` found of this device, if it was ever run here. */
void ink_i_session_read_selftest(ink_session *s, const ink_i_device *d) {
  char text[INK_SELFTEST_BYTES_MAX];
  free(s->selftests[d->index]);
  s->selftests[d->index] =
      ink_selftest_read(&d->info, text, sizeof text, NULL) == INK_OK ? strdup(text) : NULL;
}

static ink_status write_selftest(ink_session *s, const ink_i_device *d, ink_error *error) {
  char key[32];
  snprintf(key, sizeof key, "selftest.%d", d->index);
  return s->selftests[d->index] ? ink_writer_fact(s->writer, key, s->selftests[d->index], error)
                                : INK_OK;
}

static ink_status write_devices(ink_session *s, ink_error *error) {
  ink_status status = INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX && !status; i++) {
    ink_i_device *d = &s->devices[i];
    if (!d->made || d->described)
      continue;
    status = ink_writer_device(s->writer, &d->info, error);
    if (!status && d->has_start)
      status = ink_writer_host_clock(s->writer, &d->start, error);
    if (!status)
      status = ink_writer_mark_costs(
          s->writer,
          &(ink_mark_costs){.device = d->index, .count = d->cost_count, .costs = d->costs,
                            .note = d->cost_note},
          error);
    if (!status)
      status = write_selftest(s, d, error);
    d->described = !status;
  }
  return status;
}

static ink_status write_caught(ink_session *s, ink_error *error) {
  ink_status status = INK_OK;
  for (int i = 0; i < INK_I_DEVICES_MAX && !status; i++) {
    ink_i_device *d = &s->devices[i];
    for (; d->described && d->caught_written < d->caught_count && !status; d->caught_written++)
      status = ink_writer_clock_edges(s->writer, &d->caught[d->caught_written]->edges, error);
  }
  return status;
}

/* A file of this process. */
static ink_status open_file(ink_session *s, ink_error *error) {
  const ink_i_names names = {.pid = s->pid, .host = s->host, .rank = ink_i_rank()};
  s->path = ink_i_capture_path(s->options.output, &names, s->forked, s->options.began_ns, error);
  if (!s->path)
    return INK_ERROR_ARGUMENT;
  ink_error why = {0};
  ink_status status = ink_writer_open(s->path, s->options.replace, &s->writer, &why);
  if (status && why.code == EWOULDBLOCK && s->options.began_ns) {
    char *own = ink_i_capture_own_path(s->path, &names, s->options.began_ns, error);
    free(s->path);
    s->path = own;
    status = own ? ink_writer_open(own, s->options.replace, &s->writer, &why) : INK_ERROR_IO;
  }
  if (status && error)
    *error = why;
  return status;
}

/* The largest track that these options allow. */
static size_t track_bytes(const ink_session *s) {
  const size_t records = s->options.records ? s->options.records : INK_I_RECORDS_USUAL;
  return sizeof(ink_file_track) + 2 * records * sizeof(uint64_t);
}

/* Room for many tracks of the largest kind, and for at least two of them beside what is small. */
static void ask_for_ring(ink_session *s) {
  enum { USUAL = 4 << 20 };
  const uint64_t track = track_bytes(s), wanted = 4 * track, least = 2 * track + INK_I_RING_RESERVE;
  ink_i_link_ring(wanted > USUAL ? wanted : USUAL, least > INK_I_RING_LEAST ? least : INK_I_RING_LEAST, s->forked,
                  ink_i_rank(), NULL);
}

void ink_i_session_prepare(ink_session *s) {
  if (!s->command[0]) {
    read_command(s->command, sizeof s->command);
    gethostname(s->host, sizeof s->host - 1);
  }
  if (s->by_writer)
    ask_for_ring(s);
}

static ink_status open_writer(ink_session *s, ink_error *error) {
  ink_i_session_prepare(s);
  const ink_status status = s->by_writer && ink_i_link_current()
                                ? ink_i_writer_open_ring(track_bytes(s), &s->writer, error)
                                : open_file(s, error);
  if (!status && (s->stop || s->takes_all))
    ink_i_writer_patience(s->writer, INK_I_LAST_PATIENCE_MS);
  return status ? status : write_facts(s, error);
}

ink_status ink_i_session_writer(ink_session *s, ink_error *error) {
  if (s->first_failure) {
    if (error)
      *error = s->failure;
    return s->first_failure;
  }
  ink_status status = s->writer ? INK_OK : open_writer(s, &s->failure);
  if (!status)
    status = write_tables(s, &s->failure);
  if (!status)
    status = write_devices(s, &s->failure);
  if (!status)
    status = write_caught(s, &s->failure);
  if (status) {
    s->first_failure = status;
    if (error)
      *error = s->failure;
  }
  return status;
}
