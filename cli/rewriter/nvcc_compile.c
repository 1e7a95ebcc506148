/* SPDX-License-Identifier: MIT */
/* Compiles the marked copies, with the words and dependencies of the user's files. */
#include "nvcc_front.h"

#include "message.h"
#include "nvcc_overlay.h"
#include "nvcc_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* nvcc's temporary files lie in the folder of this call, which is removed at the end. */
int front_run_words(const front_call *front, const word_list *words, int capture) {
  char temporary[PATH_MAX];
  const bool own =
      front->folder &&
      snprintf(temporary, sizeof temporary, "%s/.nvcc", front->folder) < (int)sizeof temporary &&
      !mkdir(temporary, 0700);
  const int code = nvcc_run(words->items[0], words->items, capture, own ? temporary : NULL);
  if (own)
    rmdir(temporary);
  return code;
}

int front_run_marked(const front_call *front, const word_list *words, char **text, counts *measured) {
  size_t bytes = 0;
  const int file = memfd_create("inkmark-nvcc", MFD_CLOEXEC);
  int code = front_run_words(front, words, file);
  *text = NULL;
  if (front_load(file, text, &bytes)) {
    overlay_hide(front->folder, *text, &bytes);
    (*text)[bytes] = 0;
    if (measured && !counts_read_words(measured, *text))
      code = -1;
    if (front_is_measured(front) && !nvcc_says_counts(&front->args))
      counts_drop_words(*text);
  }
  if (file >= 0)
    close(file);
  return code;
}

static void name_the_users_files(const front_call *front, const char *path) {
  char *text = NULL;
  size_t bytes, before;
  FILE *file = fopen(path, "r+");
  if (!file)
    return;
  if (front_load(fileno(file), &text, &bytes)) {
    before = bytes;
    overlay_hide(front->folder, text, &bytes);
    if (bytes != before && (fseek(file, 0, SEEK_SET) || fwrite(text, 1, bytes, file) != bytes ||
                            fflush(file) || ftruncate(fileno(file), (off_t)bytes)))
      message_say("cannot write '%s': %s", path, message_errno(errno));
  }
  free(text);
  fclose(file);
}

/* -MD puts what -MF does not name beside the output or, without one, in this folder. */
void front_fix_dependencies(const front_call *front) {
  char path[PATH_MAX];
  if (!front->args.makes_dependencies)
    return;
  if (front->args.dependencies) {
    name_the_users_files(front, front->args.dependencies);
    return;
  }
  if (front->args.output) {
    snprintf(path, sizeof path, "%s.d", front->args.output);
    name_the_users_files(front, path);
    const char *dot = strrchr(front->args.output, '.');
    snprintf(path, sizeof path, "%.*s.d",
             (int)(dot ? dot - front->args.output : (long)strlen(front->args.output)),
             front->args.output);
    name_the_users_files(front, path);
  }
  for (size_t i = 0; i < front->args.source_count; i++) {
    const char *source = front->args.words.items[front->args.sources[i]];
    const char *base = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    snprintf(path, sizeof path, "%.*s.d", (int)strcspn(base, "."), base);
    name_the_users_files(front, path);
  }
}

/* The first line that names an error, as the user's files have it. */
static char *find_error(const char *text, size_t bytes) {
  for (const char *line = text, *end = text + bytes; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    const size_t length = (size_t)((next ? next : end) - line);
    const bool command = length > 1 && line[0] == '#' && line[1] == '$'; /* that -v shows */
    if (!command && (memmem(line, length, "error", 5) || memmem(line, length, "fatal", 5)))
      return strndup(line, length);
    line += length + 1;
  }
  return NULL;
}

int front_compile_marked(front_call *front) {
  char *text = front->compiled;
  const int code = text ? 0 : front_run_marked(front, &front->marked, &text, NULL);
  front->compiled = NULL;
  if (text && (!code || front->strict))
    fwrite(text, 1, strlen(text), stderr);
  else if (text)
    front->first_error = find_error(text, strlen(text));
  front_fix_dependencies(front); /* nvcc writes them first, also if it fails or is ended then */
  free(text);
  return code;
}
