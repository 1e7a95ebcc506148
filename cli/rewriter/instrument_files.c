/* SPDX-License-Identifier: MIT */
/* Reads and writes what `inkmark instrument` works on, without ever writing to a source. */
#include "instrument_files.h"

#include "message.h"
#include "outfile.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Compilers skip a zero byte in a text, and a comment may be in Latin-1; what is no text is full of
 * control bytes. */
static bool is_text(const char *start, size_t n) {
  size_t zeros = 0, controls = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)start[i];
    zeros += !c;
    controls += (c < 32 && !strchr("\t\n\r\f\v\x1a", c)) || !c || c == 127;
  }
  return zeros * 100 <= n && controls * 20 <= n;
}

bool instrument_readable(const char *source) {
  struct stat status;
  char start[8192];
  if (stat(source, &status)) {
    message_say("cannot read '%s': %s", source, message_errno(errno));
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    message_say("cannot read '%s': %s", source,
                S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file");
    return false;
  }
  FILE *file = fopen(source, "rb");
  if (!file) {
    message_say("cannot read '%s': %s", source, message_errno(errno));
    return false;
  }
  const size_t n = fread(start, 1, sizeof start, file);
  const bool failed = ferror(file);
  fclose(file);
  if (failed || !is_text(start, n)) {
    message_say("cannot mark '%s': %s", source, failed ? "it cannot be read" : "it is not text");
    return false;
  }
  if (!n)
    message_say("'%s' is empty", source);
  return true;
}

bool instrument_spares(const char *source, const char *output) {
  if (!output || !strcmp(output, "-") || !outfile_are_one(source, output))
    return true;
  message_say("cannot write '%s': it is the source itself", output);
  return false;
}

bool instrument_write_text(const char *path, const char *text, size_t bytes) {
  outfile out;
  if (!outfile_open(&out, path))
    return false;
  fwrite(text, 1, bytes, out.stream);
  return outfile_close(&out, true);
}

/* Below a folder. */

static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const bool fine = !mkdir(path, 0777) || errno == EEXIST;
    *slash = '/';
    if (!fine) {
      message_say("cannot write '%s': %s", path, message_errno(errno));
      return false;
    }
  }
  return true;
}

static bool holds(const char *path, const char *text, size_t bytes) {
  FILE *file = fopen(path, "rb");
  size_t at = 0;
  int c;
  if (!file)
    return false;
  while ((c = getc_unlocked(file)) != EOF && at < bytes && (unsigned char)text[at] == c)
    at++;
  fclose(file);
  return c == EOF && at == bytes;
}

static const written_file *find_written(const written_files *done, const char *path) {
  for (size_t i = 0; i < done->count; i++)
    if (!strcmp(done->items[i].path, path))
      return &done->items[i];
  return NULL;
}

static bool note_written(written_files *done, const char *path, bool marked) {
  if (done->count == done->room) {
    const size_t room = 2 * done->room + 16;
    written_file *grown = realloc(done->items, room * sizeof *grown);
    if (!grown)
      return false;
    done->items = grown;
    done->room = room;
  }
  char *copy = strdup(path);
  if (copy)
    done->items[done->count++] = (written_file){copy, marked};
  return copy != NULL;
}

void written_files_free(written_files *done) {
  for (size_t i = 0; i < done->count; i++)
    free(done->items[i].path);
  free(done->items);
  *done = (written_files){0};
}

/* Marks name the sections of one source's table: a source that includes them needs just these. */
static bool clashes(const written_files *done, const char *path, const ink_marked_file *file) {
  const written_file *there = find_written(done, path);
  return there && (there->marked || file->marks) && !holds(path, file->text, file->bytes);
}

static bool place_in(const char *folder, const char *root, const char *path, char *out,
                     size_t room) {
  const size_t length = strlen(root);
  if (length && !strncmp(path, root, length) && path[length] == '/')
    path += length;
  if (snprintf(out, room, "%s%s", folder, path) < (int)room)
    return true;
  message_say("cannot write below '%s': the path is too long", folder);
  return false;
}

bool instrument_write_folder(const char *folder, const char *root, const ink_instrumented *result,
                             written_files *done) {
  const ink_marked_file *files;
  const size_t n = ink_instrumented_files(result, &files);
  char base[PATH_MAX], path[2 * PATH_MAX];
  if (!realpath(root ? root : ".", base) || !strcmp(base, "/"))
    base[0] = 0;
  for (size_t i = 0; i < n; i++) { /* before anything is written */
    if (!place_in(folder, base, files[i].path, path, sizeof path) ||
        !instrument_spares(files[i].path, path))
      return false;
    if (clashes(done, path, &files[i])) {
      message_say(
          "cannot write '%s': another source has other marks in it; '%s' needs an --out-dir "
          "of its own",
          path, files[0].shown);
      return false;
    }
  }
  for (size_t i = 0; i < n; i++) {
    if (!place_in(folder, base, files[i].path, path, sizeof path) || !make_folders(path))
      return false;
    if (!find_written(done, path) &&
        (!instrument_write_text(path, files[i].text, files[i].bytes) ||
         !note_written(done, path, files[i].marks != 0)))
      return false;
  }
  if (place_in(folder, base, files[0].path, path, sizeof path))
    instrument_say_done(path, result);
  return true;
}

/* What was done. */

void instrument_say_done(const char *path, const ink_instrumented *result) {
  const ink_marked_file *files;
  const ink_place *places;
  const size_t n = ink_instrumented_files(result, &files);
  const size_t place_count = ink_instrumented_places(result, &places);
  size_t kernels = 0, marks = 0, headers = 0;
  for (size_t i = 0; i < place_count; i++) {
    const bool marked = places[i].state == INK_PLACE_MARKED;
    kernels += marked && places[i].kind == INK_PLACE_KERNEL;
    marks += marked && places[i].kind != INK_PLACE_KERNEL && places[i].kind != INK_PLACE_CONTEXT;
  }
  for (size_t i = 1; i < n; i++)
    headers += files[i].marks != 0;
  if (!kernels && !marks) {
    message_say("%s: as it was, %s", path,
                ink_instrumented_was_marked(result) ? "marked" : "there is nothing to mark");
    return;
  }
  char more[64] = "";
  if (headers)
    snprintf(more, sizeof more, ", %zu header%s", headers, headers == 1 ? "" : "s");
  message_say("%s: %zu kernel%s, %zu mark%s%s", path, kernels, kernels == 1 ? "" : "s", marks,
              marks == 1 ? "" : "s", more);
}
