/* SPDX-License-Identifier: MIT */
/* A pull reader of JSON, packed or not, that never holds more than one buffer of the file and knows
 * at which byte it stands. NaN and Infinity, which Python writes, are literals here. What writers of traces
 * leave that is no JSON is read too, and noted with what would make JSON of it: a byte order mark, a comma
 * before a closing bracket, a file that is an array without its last bracket (the format allows it, and
 * writers that were killed leave it), nan and inf as C prints them. */
#ifndef INK_JSON_SCAN_H
#define INK_JSON_SCAN_H

#include "trace_bytes.h"

enum { JSON_TEXT_MAX = 16 * 1024, JSON_DEPTH_MAX = 512 };

enum json_token {
  JSON_OBJECT, /* { */
  JSON_OBJECT_END,
  JSON_ARRAY,
  JSON_ARRAY_END,
  JSON_KEY,
  JSON_STRING,
  JSON_NUMBER,
  JSON_LITERAL, /* true, false, null, NaN, Infinity, -Infinity */
  JSON_END      /* of the file, after one whole value */
};

/* At byte `at` of the unpacked file, in rising order: `drop` bytes go, `put` comes. */
typedef struct json_edit {
  uint64_t at;
  uint32_t drop;
  const char *put; /* static */
} json_edit;

typedef struct json_edits {
  json_edit *list; /* the owner's to free */
  size_t count, room;
} json_edits;

typedef struct json_scan {
  const char *path;
  trace_bytes bytes;
  unsigned char *buffer; /* [filled] is 0, and a few bytes behind it may be read */
  size_t at, filled;
  uint64_t before;             /* bytes of the unpacked file before the buffer */
  bool closed[JSON_DEPTH_MAX]; /* the open brackets: true for an array */
  unsigned depth;
  bool wants_comma, wants_value; /* a value was there; a key's value is due */
  bool unclosed;                 /* the bracket of the outermost array is missing */
  json_edits edits;
  /* Of the last key, string, number or literal, with a NUL behind it; valid until the next token.
   * What is longer than JSON_TEXT_MAX - 1 is cut. */
  const char *text;
  size_t length;
  char own[JSON_TEXT_MAX];
} json_scan;

ink_status ink_json_open(json_scan *scan, const char *path, ink_error *error);
void ink_json_close(json_scan *scan);
ink_status ink_json_next(json_scan *scan, enum json_token *token, ink_error *error);
/* What the scan noted, the caller's from here on. */
json_edits ink_json_take_edits(json_scan *scan);
/* Passes over the rest of the value whose first token was `first`. */
ink_status ink_json_skip(json_scan *scan, enum json_token first, ink_error *error);
uint64_t ink_json_offset(const json_scan *scan);

#endif
