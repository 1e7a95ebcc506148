/* SPDX-License-Identifier: MIT */
/* What a session's capture says besides tracks: the process, tables, devices, marks' cost, clocks. */
#include "cuda/clock_catch.h"
#include "cuda/session_private.h"

#include "inkmark/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  char command[4096], host[256] = "", number[32];
  read_command(command, sizeof command);
  gethostname(host, sizeof host - 1);
  ink_status status = ink_writer_fact(s->writer, "command", command, error);
  if (!status)
    status = ink_writer_fact(s->writer, "host", host, error);
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
static ink_status write_selftest(ink_session *s, const ink_i_device *d, ink_error *error) {
  char text[INK_SELFTEST_BYTES_MAX], key[32];
  snprintf(key, sizeof key, "selftest.%d", d->index);
  return ink_selftest_read(&d->info, text, sizeof text, NULL) == INK_OK
             ? ink_writer_fact(s->writer, key, text, error)
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

/* PATH.PID, where PATH is another process's. */
static ink_status take_own_path(ink_session *s, ink_error *error) {
  char *own = NULL;
  if (asprintf(&own, "%s.%ld", s->path, (long)s->pid) < 0)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  free(s->path);
  s->path = own;
  return INK_OK;
}

/* Whether a process that the same `inkmark record` started has written the file. */
static bool is_of_another(const ink_session *s) {
  const int64_t tick_ns = 20000000; /* files are stamped with the kernel's coarse clock */
  struct stat info;
  return s->options.began_ns && !stat(s->path, &info) && S_ISREG(info.st_mode) &&
         (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec + tick_ns >
             s->options.began_ns;
}

static ink_status open_writer(ink_session *s, ink_error *error) {
  s->path = ink_i_expand_path(s->options.output, error);
  if (!s->path)
    return INK_ERROR_ARGUMENT;
  const bool own = (s->forked && !strstr(s->options.output, "%p")) || is_of_another(s);
  ink_error why = {0};
  ink_status status = own ? take_own_path(s, error) : INK_OK;
  if (status)
    return status;
  status = ink_writer_open(s->path, s->options.replace, &s->writer, &why);
  if (status && why.code == EWOULDBLOCK && s->options.began_ns && !own &&
      !take_own_path(s, error))
    status = ink_writer_open(s->path, s->options.replace, &s->writer, &why);
  if (status && error)
    *error = why;
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
