/* SPDX-License-Identifier: MIT */
/* The SOURCE chunk: the text of a marked file, written and read. */
#include "capture_private.h"

#include "inkmark/sources.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCES_MAX = 256 }; /* that are read: no writer stores more */

ink_status ink_writer_source(ink_writer *writer, const char *file, const char *text, size_t bytes, ink_error *error) {
  if (!writer || !file || !text)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a source needs a file and a text");
  if (bytes > INK_SOURCE_BYTES_MAX || memchr(text, 0, bytes))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "'%s' is no text, or is longer than %d bytes", file, INK_SOURCE_BYTES_MAX);
  const size_t name_bytes = strlen(file) + 1, whole = sizeof(ink_file_source) + name_bytes + bytes + 1;
  unsigned char *payload = malloc(whole);
  if (!payload)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a source");
  ink_file_source fixed = {.bytes = bytes};
  char digits[INK_SHA256_TEXT];
  ink_sha256(text, bytes, digits);
  memcpy(fixed.sha256, digits, sizeof fixed.sha256);
  memcpy(payload, &fixed, sizeof fixed);
  memcpy(payload + sizeof fixed, file, name_bytes);
  memcpy(payload + sizeof fixed + name_bytes, text, bytes);
  payload[whole - 1] = 0;
  const ink_status status = ink_i_writer_chunk(writer, INK_CHUNK_SOURCE, payload, whole, NULL, 0, error);
  free(payload);
  return status;
}

static bool is_digest(const char text[64]) {
  for (int i = 0; i < 64; i++)
    if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
      return false;
  return true;
}

ink_status ink_read_source(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  ink_file_source fixed;
  ink_source source = {.file = (const char *)payload + sizeof fixed};
  const char *end = bytes > sizeof fixed ? memchr(source.file, 0, (size_t)(bytes - sizeof fixed)) : NULL;
  if (!end)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a source without a name");
  memcpy(&fixed, payload, sizeof fixed);
  source.text = end + 1;
  source.bytes = fixed.bytes;
  const uint64_t left = bytes - (uint64_t)((const unsigned char *)source.text - payload);
  if ((size_t)(end - source.file) > INK_NAME_BYTES_MAX || fixed.bytes > INK_SOURCE_BYTES_MAX || fixed.bytes >= left ||
      memchr(source.text, 0, (size_t)left) != source.text + fixed.bytes || !is_digest(fixed.sha256))
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds a source that is none");
  memcpy(source.sha256, fixed.sha256, sizeof fixed.sha256);
  if (capture->sources.count == SOURCES_MAX)
    return INK_OK;
  for (size_t i = 0; i < capture->sources.count; i++)
    if (!strcmp(capture->sources.items[i].file, source.file))
      return INK_OK; /* the first one holds */
  if (!INK_I_ROOM(capture->sources))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
  capture->sources.items[capture->sources.count++] = source;
  return INK_OK;
}

size_t ink_capture_sources(const ink_capture *capture, const ink_source **out) {
  *out = capture->sources.items;
  return capture->sources.count;
}
