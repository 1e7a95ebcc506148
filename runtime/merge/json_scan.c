/* SPDX-License-Identifier: MIT */
/* Reads JSON token by token from a file of any size. */
#include "json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BUFFER_BYTES = 256 * 1024 };

uint64_t ink_json_offset(const json_scan *s) {
  return s->before + s->at;
}

ink_status ink_json_open(json_scan *s, const char *path, ink_error *error) {
  memset(s, 0, sizeof *s);
  s->path = path;
  errno = 0;
  s->file = gzopen(path, "rb");
  if (!s->file)
    return ink_error_set(error, errno ? INK_ERROR_IO : INK_ERROR_MEMORY, "cannot open '%s'", path);
  s->buffer = malloc(BUFFER_BYTES);
  if (!s->buffer)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  gzbuffer(s->file, BUFFER_BYTES);
  return INK_OK;
}

void ink_json_close(json_scan *s) {
  if (s->file)
    gzclose(s->file);
  free(s->buffer);
  s->file = NULL;
  s->buffer = NULL;
}

/* INK_OK with filled == 0 at the end. A gzip stream that ends early gives its bytes first. */
static ink_status refill(json_scan *s, ink_error *error) {
  s->before += s->filled;
  s->at = s->filled = 0;
  int n = gzread(s->file, s->buffer, BUFFER_BYTES);
  int code = Z_OK;
  if (n <= 0)
    gzerror(s->file, &code);
  if (n < 0 || code == Z_BUF_ERROR) {
    if (code == Z_BUF_ERROR)
      return ink_error_set(error, INK_ERROR_DAMAGED,
                           "'%s' is cut off: its gzip data ends after %llu bytes", s->path,
                           (unsigned long long)s->before);
    return ink_error_set(error, code == Z_DATA_ERROR ? INK_ERROR_DAMAGED : INK_ERROR_IO,
                         "cannot read '%s' beyond byte %llu: %s", s->path,
                         (unsigned long long)s->before,
                         code == Z_DATA_ERROR ? "damaged gzip data" : "input error");
  }
  s->filled = (size_t)n;
  return INK_OK;
}

/* The next byte without taking it, -1 at the end, -2 after an error. */
static int peek(json_scan *s, ink_error *error) {
  if (s->at == s->filled) {
    if (refill(s, error) != INK_OK)
      return -2;
    if (!s->filled)
      return -1;
  }
  return s->buffer[s->at];
}

static ink_status broken(const json_scan *s, int byte, ink_error *error) {
  if (byte == -2)
    return error && error->status ? error->status : INK_ERROR_DAMAGED;
  if (byte == -1)
    return ink_error_set(error, INK_ERROR_DAMAGED, "'%s' ends in the middle, after %llu bytes",
                         s->path, (unsigned long long)ink_json_offset(s));
  return ink_error_set(error, INK_ERROR_DAMAGED, "'%s' is no valid JSON at byte %llu", s->path,
                       (unsigned long long)ink_json_offset(s));
}

static int skip_space(json_scan *s, ink_error *error) {
  for (;;) {
    int c = peek(s, error);
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      return c;
    s->at++;
  }
}

static void keep_byte(json_scan *s, unsigned c) {
  if (s->length < JSON_TEXT_MAX - 1)
    s->text[s->length++] = (char)c;
}

static void keep_utf8(json_scan *s, unsigned c) {
  if (c < 0x80) {
    keep_byte(s, c);
  } else if (c < 0x800) {
    keep_byte(s, 0xc0 | c >> 6);
    keep_byte(s, 0x80 | (c & 63));
  } else {
    keep_byte(s, 0xe0 | c >> 12);
    keep_byte(s, 0x80 | (c >> 6 & 63));
    keep_byte(s, 0x80 | (c & 63));
  }
}

static ink_status take_escape(json_scan *s, ink_error *error) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  int c = peek(s, error);
  if (c < 0)
    return broken(s, c, error);
  if (c != 'u') {
    const char *found = strchr(from, c);
    if (!found || !c)
      return broken(s, c, error);
    s->at++;
    keep_byte(s, (unsigned char)to[found - from]);
    return INK_OK;
  }
  s->at++;
  unsigned value = 0;
  for (int i = 0; i < 4; i++) {
    c = peek(s, error);
    unsigned digit = c >= '0' && c <= '9'   ? (unsigned)c - '0'
                     : c >= 'a' && c <= 'f' ? (unsigned)c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)c - 'A' + 10
                                            : 16;
    if (digit == 16)
      return broken(s, c, error);
    value = value * 16 + digit;
    s->at++;
  }
  keep_utf8(s, value); /* halves of a pair are kept as they are: names are only compared */
  return INK_OK;
}

static ink_status take_string(json_scan *s, bool keep, ink_error *error) {
  s->length = 0;
  s->at++;
  for (;;) {
    int c = peek(s, error);
    if (c < 0)
      return broken(s, c, error);
    const unsigned char *p = s->buffer + s->at, *end = s->buffer + s->filled;
    const unsigned char *run = p;
    while (p < end && *p != '"' && *p != '\\')
      p++;
    size_t n = (size_t)(p - run);
    if (keep) {
      size_t room = JSON_TEXT_MAX - 1 - s->length;
      memcpy(s->text + s->length, run, n < room ? n : room);
      s->length += n < room ? n : room;
    }
    s->at += n;
    if (p == end)
      continue;
    s->at++;
    if (*p == '"')
      break;
    size_t before = s->length;
    ink_status status = take_escape(s, error);
    if (status != INK_OK)
      return status;
    if (!keep)
      s->length = before;
  }
  s->text[s->length] = 0;
  return INK_OK;
}

static ink_status take_word(json_scan *s, enum json_token *token, ink_error *error) {
  static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  s->length = 0;
  int c;
  while ((c = peek(s, error)) >= 0 &&
         ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
          c == '-' || c == '.')) {
    keep_byte(s, (unsigned)c);
    s->at++;
  }
  s->text[s->length] = 0;
  if (c == -2)
    return broken(s, c, error);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!strcmp(s->text, words[i])) {
      *token = JSON_LITERAL;
      return INK_OK;
    }
  }
  const char *digits = s->text + (s->text[0] == '-');
  if (*digits < '0' || *digits > '9' || digits[strspn(digits, "0123456789.eE+-")])
    return broken(s, c < 0 ? c : '?', error);
  *token = JSON_NUMBER;
  return INK_OK;
}

static ink_status open_bracket(json_scan *s, bool array, ink_error *error) {
  if (s->depth == JSON_DEPTH_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "'%s' is nested deeper than %d at byte %llu",
                         s->path, JSON_DEPTH_MAX, (unsigned long long)ink_json_offset(s));
  s->closed[s->depth++] = array;
  s->wants_comma = s->wants_value = false;
  s->at++;
  return INK_OK;
}

/* A key with its colon. */
static ink_status take_key(json_scan *s, ink_error *error) {
  ink_status status = take_string(s, true, error);
  if (status != INK_OK)
    return status;
  int c = skip_space(s, error);
  if (c != ':')
    return broken(s, c, error);
  s->at++;
  s->wants_value = true;
  return INK_OK;
}

static ink_status take_value(json_scan *s, int c, enum json_token *token, ink_error *error) {
  ink_status status;
  bool keep = s->keep;
  s->keep = false;
  if (c == '{' || c == '[') {
    *token = c == '{' ? JSON_OBJECT : JSON_ARRAY;
    return open_bracket(s, c == '[', error);
  }
  if (c == '"') {
    *token = JSON_STRING;
    status = take_string(s, keep, error);
  } else {
    status = take_word(s, token, error);
  }
  s->wants_comma = true;
  s->wants_value = false;
  return status;
}

ink_status ink_json_next(json_scan *s, enum json_token *token, ink_error *error) {
  int c = skip_space(s, error);
  bool in_array = s->depth && s->closed[s->depth - 1];
  if (!s->depth && s->wants_comma) {
    *token = JSON_END;
    return c == -1 ? INK_OK : broken(s, c, error);
  }
  bool may_end = !s->wants_value;
  if (s->wants_comma && c == ',') {
    s->at++;
    s->wants_comma = false;
    may_end = false;
    c = skip_space(s, error);
  } else if (s->wants_comma && c != ']' && c != '}') {
    return broken(s, c, error);
  }
  if (s->depth && may_end && c == (in_array ? ']' : '}')) {
    *token = in_array ? JSON_ARRAY_END : JSON_OBJECT_END;
    s->at++;
    s->depth--;
    s->wants_comma = true;
    return INK_OK;
  }
  if (c < 0)
    return broken(s, c, error);
  if (s->depth && !in_array && !s->wants_value) {
    *token = JSON_KEY;
    return c == '"' ? take_key(s, error) : broken(s, c, error);
  }
  return take_value(s, c, token, error);
}

ink_status ink_json_skip(json_scan *s, enum json_token first, ink_error *error) {
  if (first != JSON_OBJECT && first != JSON_ARRAY)
    return INK_OK;
  unsigned outside = s->depth - 1;
  enum json_token token;
  while (s->depth > outside) {
    ink_status status = ink_json_next(s, &token, error);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}
