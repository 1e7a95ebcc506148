/* SPDX-License-Identifier: MIT */
/* A growing byte string, and growing arrays. */
#include "bytes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ink_i_grow(void **items, size_t *room, size_t count, size_t item_bytes) {
  if (count < *room)
    return true;
#if defined(INKMARK_TIGHT) /* a step behind the last item is out of the memory: address sanitizers want this */
  size_t more = count + 1;
#else
  size_t more = *room ? *room * 2 : 16;
#endif
  void *grown = more <= SIZE_MAX / item_bytes ? realloc(*items, more * item_bytes) : NULL;
  if (!grown)
    return false;
  *items = grown;
  *room = more;
  return true;
}

void ink_bytes_add(ink_bytes *bytes, const void *data, size_t count) {
  if (bytes->failed || !count)
    return;
  if (bytes->room - bytes->count < count) {
    size_t room = bytes->room ? bytes->room : 256;
    while (room - bytes->count < count && room < SIZE_MAX / 2)
      room *= 2;
#if defined(INKMARK_TIGHT)
    room = bytes->count + count;
#endif
    char *grown = room - bytes->count < count ? NULL : realloc(bytes->at, room);
    if (!grown) {
      bytes->failed = true;
      return;
    }
    bytes->at = grown;
    bytes->room = room;
  }
  memcpy(bytes->at + bytes->count, data, count);
  bytes->count += count;
}

void ink_bytes_text(ink_bytes *bytes, const char *text) {
  ink_bytes_add(bytes, text, strlen(text));
}

void ink_bytes_format(ink_bytes *bytes, const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0) {
    bytes->failed = true;
    return;
  }
  ink_bytes_add(bytes, text, (size_t)n);
  free(text);
}

void ink_bytes_free(ink_bytes *bytes) {
  free(bytes->at);
  *bytes = (ink_bytes){0};
}

char *ink_bytes_take(ink_bytes *bytes) {
  ink_bytes_add(bytes, "", 1);
  if (bytes->failed) {
    ink_bytes_free(bytes);
    return NULL;
  }
  char *text = bytes->at;
  *bytes = (ink_bytes){0};
  return text;
}

bool ink_bytes_read(ink_bytes *bytes, const char *path) {
  char piece[65536];
  struct stat status;
  if (stat(path, &status))
    return false;
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  size_t n;
  while ((n = fread(piece, 1, sizeof piece, file)) > 0)
    ink_bytes_add(bytes, piece, n);
  bool fine = !ferror(file) && !bytes->failed;
  int code = errno;
  fclose(file);
  errno = bytes->failed ? ENOMEM : code;
  return fine;
}

bool ink_bytes_read_back(ink_bytes *bytes, int file) {
  char piece[65536];
  ssize_t n;
  if (lseek(file, 0, SEEK_SET) < 0)
    return false;
  while ((n = read(file, piece, sizeof piece)) > 0)
    ink_bytes_add(bytes, piece, (size_t)n);
  return n == 0 && !bytes->failed;
}

bool ink_write_all(int file, const void *data, size_t bytes) {
  for (const char *at = data; bytes;) {
    ssize_t n = write(file, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}
