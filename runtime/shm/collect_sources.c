/* SPDX-License-Identifier: MIT */
/* The sources of marked files. The writer process reads them when their section tables come by, as they are then, and
 * stores them at the end of the capture: on a full disk the tracks go first. A file is taken only if it is the one that
 * the table is of: PROF_SECTIONS stands where the table says, or the rewriter named its sections by its lines. */
#include "capture/source_text.h"
#include "shm/collect_private.h"

#include "inkmark/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { TRIES_MAX = 256 };
static const uint64_t TEXTS_BYTES_MAX = 4 * INK_SOURCES_BYTES_MAX; /* of all processes */
static const uint64_t DISK_LEFT_BYTES = 1 << 20; /* so much of a disk is left to others */

typedef struct table_text { /* in the chunk */
  const char *name, *file, *sections;
  uint32_t line;
} table_text;

/* ---- whether a text is the table's file ----------------------------------------------------- */

static bool has_word(const char *from, const char *end, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = from; n && (size_t)(end - at) >= n; at++)
    if (!memcmp(at, word, n) && (at == from || !ink_source_is_name(at[-1])) && (at + n == end || !ink_source_is_name(at[n])))
      return true;
  return false;
}

/* The name of the table stands on its line; or, where PROF_SECTIONS takes several lines, behind the last one of these. */
static bool has_table(const char *text, size_t bytes, const table_text *table) {
  static const char macro[] = "PROF_SECTIONS";
  const size_t n = sizeof macro - 1;
  const char *end = text + bytes, *line = text;
  for (uint32_t i = 1; i < table->line && line; i++) {
    line = memchr(line, '\n', (size_t)(end - line));
    line = line ? line + 1 : NULL;
  }
  if (!line)
    return false;
  const char *stop = memchr(line, '\n', (size_t)(end - line)), *last = NULL;
  stop = stop ? stop : end;
  for (const char *at = text; (size_t)(stop - at) >= n; at++)
    last = memcmp(at, macro, n) ? last : at;
  return has_word(line, stop, table->name) || (last && has_word(last + n, stop, table->name));
}

/* "wait (gemm.cu:31)" of gemm.cu, and it has that many lines. */
static bool has_lines(const char *text, size_t bytes, const table_text *table) {
  uint32_t last = 0, lines = 1;
  for (const char *at = strchr(table->sections, '('); at; at = strchr(at + 1, '(')) {
    const uint32_t line = ink_source_line_at(at, table->file);
    last = line > last ? line : last;
  }
  for (size_t i = 0; i < bytes; i++)
    lines += text[i] == '\n';
  return last > 0 && last <= lines;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A whole text file, or NULL. Nothing is waited for: what is no regular file is not opened to be read. */
static char *read_text(const char *path, size_t *bytes) {
  struct stat info;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  char *text = NULL;
  if (fd < 0)
    return NULL;
  if (!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size <= INK_SOURCE_BYTES_MAX)
    text = malloc((size_t)info.st_size);
  *bytes = 0;
  for (ssize_t n = 1; text && n > 0 && *bytes < (size_t)info.st_size; *bytes += n > 0 ? (size_t)n : 0)
    do
      n = read(fd, text + *bytes, (size_t)info.st_size - *bytes);
    while (n < 0 && errno == EINTR);
  close(fd);
  if (text && (!*bytes || memchr(text, 0, *bytes))) {
    free(text);
    text = NULL;
  }
  return text;
}

static char *fitting_text(const char *path, const table_text *table, size_t *bytes) {
  char *text = read_text(path, bytes);
  if (text && !has_table(text, *bytes, table) && !has_lines(text, *bytes, table)) {
    free(text);
    text = NULL;
  }
  return text;
}

/* Where both folders have a file that fits, and these are not alike, nobody knows which of them was compiled. */
static char *find_text(const ink_collector *c, const ink_i_member *m, const table_text *table, size_t *bytes) {
  char path[2 * PATH_MAX], program[PATH_MAX], link[64];
  if (table->file[0] == '/')
    return fitting_text(table->file, table, bytes);
  if ((size_t)snprintf(path, sizeof path, "%s/%s", c->source_folder, table->file) >= sizeof path)
    return NULL;
  char *text = fitting_text(path, table, bytes);
  snprintf(link, sizeof link, "/proc/%ld/exe", (long)m->watch.pid);
  const ssize_t n = readlink(link, program, sizeof program - 1);
  if (n <= 0)
    return text;
  program[n] = 0;
  char *slash = strrchr(program, '/');
  if (!slash || (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, table->file) >= sizeof path)
    return text;
  size_t other_bytes = 0;
  char *other = fitting_text(path, table, &other_bytes);
  if (!text) {
    *bytes = other_bytes;
    return other;
  }
  if (other && (other_bytes != *bytes || memcmp(text, other, *bytes) != 0)) {
    free(text);
    text = NULL;
  }
  free(other);
  return text;
}

/* ---- keeping and storing -------------------------------------------------------------------- */

static bool is_kept(const ink_collector *c, const ink_i_member *m, const char *file) {
  for (size_t i = 0; i < m->source_count; i++)
    if (!strcmp(c->texts[m->sources[i]].file, file))
      return true;
  return false;
}

/* Takes over the text. A thousand processes of one program keep it once. The index, or SIZE_MAX: it is not kept. */
static size_t keep_text(ink_collector *c, const char *file, char *text, size_t bytes) {
  for (size_t i = 0; i < c->text_count; i++) {
    const ink_i_text *one = &c->texts[i];
    if (one->bytes == bytes && !strcmp(one->file, file) && !memcmp(one->text, text, bytes)) {
      free(text);
      return i;
    }
  }
  char *copy = strdup(file);
  if (!copy || c->text_bytes + bytes > TEXTS_BYTES_MAX ||
      !ink_list_room((void **)&c->texts, &c->text_room, c->text_count, sizeof *c->texts)) {
    free(copy);
    free(text);
    return SIZE_MAX;
  }
  c->texts[c->text_count] = (ink_i_text){.file = copy, .text = text, .bytes = bytes};
  c->text_bytes += bytes;
  return c->text_count++;
}

void ink_i_member_source(ink_collector *c, ink_i_member *m, const char *payload, size_t bytes) {
  ink_file_table fixed;
  const char *texts[3]; /* name, file, sections */
  size_t text_bytes = 0;
  if (!c->source_folder || !ink_table_texts(payload, bytes, &fixed, texts) || !*texts[1] || is_kept(c, m, texts[1]) ||
      m->source_tries++ >= TRIES_MAX)
    return;
  const table_text table = {.name = texts[0], .file = texts[1], .sections = texts[2], .line = fixed.line};
  char *text = find_text(c, m, &table, &text_bytes);
  const size_t index = text ? keep_text(c, table.file, text, text_bytes) : SIZE_MAX;
  if (index == SIZE_MAX || m->source_bytes + text_bytes > INK_SOURCES_BYTES_MAX ||
      !ink_list_room((void **)&m->sources, &m->source_room, m->source_count, sizeof *m->sources))
    return;
  m->sources[m->source_count++] = index;
  m->source_bytes += text_bytes;
}

/* Where nobody knows how much room there is (a pipe), there is enough. */
static bool disk_has(const char *path, uint64_t bytes) {
  struct statvfs disk;
  return statvfs(path, &disk) || !disk.f_blocks || (uint64_t)disk.f_bavail * disk.f_frsize >= bytes;
}

/* A failure is none of the capture: it is whole without. */
void ink_i_member_store_sources(const ink_collector *c, ink_i_member *m) {
  for (size_t i = 0; i < m->source_count; i++) {
    const ink_i_text *one = &c->texts[m->sources[i]];
    if (!disk_has(m->path, one->bytes + DISK_LEFT_BYTES) ||
        ink_writer_source(m->writer, one->file, one->text, one->bytes, NULL) != INK_OK)
      return;
  }
}

void ink_i_collector_free_texts(ink_collector *c) {
  for (size_t i = 0; i < c->text_count; i++) {
    free(c->texts[i].file);
    free(c->texts[i].text);
  }
  free(c->texts);
}
