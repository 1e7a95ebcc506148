/* SPDX-License-Identifier: MIT */
/* Reads JSON token by token from a file of any size. A token that lies in the buffer whole, as
 * nearly all do, is handed out where it stands; one that crosses the buffer's end or holds escapes
 * is put together elsewhere. */
#include "json_scan.h"

#include "merge/try.h"
#include "number_text.h"
#include "output/track_events.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 256 * 1024, BEHIND = 16, EDITS_MAX = 1 << 20 };

uint64_t ink_json_offset(const json_scan *s) {
  return s->before + s->at;
}

/* The next byte without taking it, -1 at the end, -2 after an error. */
static int peek_slow(json_scan *s, ink_error *error) {
  s->before += s->filled;
  s->at = s->filled = 0;
  size_t n;
  if (trace_bytes_read(&s->bytes, s->buffer, BUFFER_BYTES, &n, error) != INK_OK)
    return -2;
  s->filled = n;
  memset(s->buffer + n, 0, BEHIND);
  return n ? s->buffer[0] : -1;
}

static inline int peek(json_scan *s, ink_error *error) {
  return s->at < s->filled ? s->buffer[s->at] : peek_slow(s, error);
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

static inline bool is_space(int c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline int skip_space(json_scan *s, ink_error *error) {
  for (;;) {
    const unsigned char *p = s->buffer + s->at;
    while (is_space(*p)) {
      static const char spaces[8] = "        ";
      p++;
      while (!memcmp(p, spaces, 8)) /* indentation */
        p += 8;
    }
    s->at = (size_t)(p - s->buffer);
    if (*p)
      return *p;
    int c = peek(s, error); /* a NUL, or the end of the buffer */
    if (!is_space(c))
      return c;
  }
}

/* ---- opening, and what is put right ------------------------------------------------------------
 */

static ink_status note_edit(json_scan *s, uint64_t at, uint32_t drop, const char *put,
                            ink_error *error) {
  json_edits *e = &s->edits;
  if (e->count == EDITS_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "'%s' has more than %d places that are no JSON",
                         s->path, EDITS_MAX);
  void *list = e->list;
  const ink_status status = ink_grow(&list, e->count, &e->room, sizeof *e->list);
  e->list = list;
  if (status != INK_OK)
    return ink_error_set(error, status, "out of memory");
  e->list[e->count++] = (json_edit){at, drop, put};
  return INK_OK;
}

json_edits ink_json_take_edits(json_scan *s) {
  const json_edits taken = s->edits;
  s->edits = (json_edits){0};
  return taken;
}

/* The byte order mark, which editors and shells of Windows write. */
static ink_status skip_mark(json_scan *s, ink_error *error) {
  const int c = peek(s, error);
  if (c == -2)
    return error && error->status ? error->status : INK_ERROR_DAMAGED;
  if (s->filled < 3 || memcmp(s->buffer, "\xef\xbb\xbf", 3))
    return INK_OK;
  s->at = 3;
  return note_edit(s, 0, 3, "", error);
}

ink_status ink_json_open(json_scan *s, const char *path, ink_error *error) {
  memset(s, 0, sizeof *s);
  s->path = path;
  s->text = s->own;
  ink_status status = trace_bytes_open(&s->bytes, path, error);
  if (status != INK_OK)
    return status;
  s->buffer = calloc(1, BUFFER_BYTES + BEHIND);
  return s->buffer ? skip_mark(s, error) : ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

void ink_json_close(json_scan *s) {
  if (s->path)
    trace_bytes_close(&s->bytes);
  free(s->buffer);
  free(s->edits.list);
  s->buffer = NULL;
  s->edits = (json_edits){0};
  s->path = NULL;
}

/* ---- strings -----------------------------------------------------------------------------------
 */

static void keep_byte(json_scan *s, unsigned c) {
  if (s->length < JSON_TEXT_MAX - 1)
    s->own[s->length++] = (char)c;
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

/* Eight bytes at a time: the first quote, backslash or control character at or after p, or `end`. Up to seven bytes
 * behind the end are read; they are 0. */
static inline const unsigned char *find_quote(const unsigned char *p, const unsigned char *end) {
  const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
  for (; p < end; p += 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    uint64_t quote = word ^ ones * 2, slash = word ^ ones * '\\'; /* the quote and what is below the space become 0x20 and less */
    /* the lowest bit set is right; higher ones need not be */
    uint64_t hit = (((quote - ones * 0x21) & ~quote) | ((slash - ones) & ~slash)) & high;
    if (hit)
      return p + (__builtin_ctzll(hit) >> 3);
  }
  return end;
}

/* A control character as it is, which JSON does not allow in a string: writers that escape nothing leave tabs and line feeds. */
static ink_status take_control(json_scan *s, unsigned char c, ink_error *error) {
  static const char escapes[' '][7] = {
      "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b",     "\\t",     "\\n",
      "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015",
      "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f"};
  TRY(note_edit(s, ink_json_offset(s), 1, escapes[c], error));
  s->at++;
  keep_byte(s, c);
  return INK_OK;
}

static ink_status take_string_slow(json_scan *s, ink_error *error) {
  s->length = 0;
  s->text = s->own;
  for (;;) {
    int c = peek(s, error);
    if (c < 0)
      return broken(s, c, error);
    const unsigned char *run = s->buffer + s->at, *end = s->buffer + s->filled;
    const unsigned char *p = find_quote(run, end);
    size_t n = (size_t)(p - run), room = JSON_TEXT_MAX - 1 - s->length;
    memcpy(s->own + s->length, run, n < room ? n : room);
    s->length += n < room ? n : room;
    s->at += n;
    if (p == end)
      continue;
    if (*p < ' ') {
      TRY(take_control(s, *p, error));
      continue;
    }
    s->at++;
    if (*p == '"')
      break;
    TRY(take_escape(s, error));
  }
  s->own[s->length] = 0;
  return INK_OK;
}

static inline ink_status take_string(json_scan *s, ink_error *error) {
  unsigned char *run = s->buffer + ++s->at, *end = s->buffer + s->filled;
  size_t n = (size_t)(find_quote(run, end) - run);
  if (run + n == end || run[n] != '"')
    return take_string_slow(s, error);
  s->at += n + 1;
  s->text = (const char *)run;
  s->length = n < JSON_TEXT_MAX ? n : JSON_TEXT_MAX - 1;
  run[s->length] = 0; /* where the quote was, or in the part that is cut off */
  return INK_OK;
}

/* ---- numbers and literals ----------------------------------------------------------------------
 */

enum { IN_WORD = 1, IN_NUMBER = 2, PART = 4, SIGN = 64 }; /* what divides a number, and signs, are counted */

static const unsigned char word_bytes[256] = {
    ['0' ... '9'] = IN_WORD | IN_NUMBER,
    ['a' ... 'd'] = IN_WORD,
    ['e'] = IN_WORD | IN_NUMBER | PART,
    ['f' ... 'z'] = IN_WORD,
    ['A' ... 'D'] = IN_WORD,
    ['E'] = IN_WORD | IN_NUMBER | PART,
    ['F' ... 'Z'] = IN_WORD,
    ['+'] = IN_WORD | IN_NUMBER | SIGN,
    ['-'] = IN_WORD | IN_NUMBER | SIGN,
    ['.'] = IN_WORD | IN_NUMBER | PART,
};

static const char *past_digits(const char *p) {
  while (*p >= '0' && *p <= '9')
    p++;
  return p;
}

/* What begins with a digit, behind its sign, and has a number's characters only. Writers leave zeros in front, as "%08d" does, and
 * points with nothing behind them: JSON has neither. */
static ink_status take_number(json_scan *s, uint64_t from, const char *digits, ink_error *error) {
  const char *p = past_digits(digits);
  if (*digits == '0' && p > digits + 1) {
    const size_t zeros = strspn(digits, "0"), all = (size_t)(p - digits);
    TRY(note_edit(s, from + (uint64_t)(digits - s->own), (uint32_t)(zeros < all ? zeros : all - 1), "", error));
  }
  if (*p == '.') {
    const char *fraction = p + 1;
    p = past_digits(fraction);
    if (p == fraction)
      TRY(note_edit(s, from + (uint64_t)(p - s->own), 0, "0", error));
  }
  if (*p == 'e' || *p == 'E') {
    const char *exponent = p + 1 + (p[1] == '+' || p[1] == '-');
    p = past_digits(exponent);
    if (p == exponent)
      return broken(s, '?', error);
  }
  return *p || s->length == JSON_TEXT_MAX - 1 ? broken(s, '?', error) : INK_OK;
}

static ink_status take_word(json_scan *s, enum json_token *token, ink_error *error) {
  static const char *const words[] = {"true", "false", "null", "NaN", "Infinity", "-Infinity"};
  unsigned all = IN_WORD | IN_NUMBER, counted = 0;
  const uint64_t from = ink_json_offset(s);
  s->length = 0;
  s->text = s->own;
  int c;
  for (;;) {
    const unsigned char *p = s->buffer + s->at, *run = p;
    while (word_bytes[*p]) {
      all &= word_bytes[*p];
      counted += word_bytes[*p] & (PART | SIGN);
      if (s->length < JSON_TEXT_MAX - 1)
        s->own[s->length++] = (char)*p;
      p++;
    }
    s->at += (size_t)(p - run);
    c = peek(s, error);
    if (c < 0 || !word_bytes[c])
      break;
  }
  s->own[s->length] = 0;
  if (c == -2)
    return broken(s, c, error);
  const char *digits = s->own + (s->own[0] == '-');
  if (*digits >= '0' && *digits <= '9' && all & IN_NUMBER) {
    *token = JSON_NUMBER;
    /* "12" and "12.5", as most are */
    const bool plain = counted <= (digits == s->own ? 0 : SIGN) + PART && s->own[s->length - 1] >= '0' && s->own[s->length - 1] <= '9';
    if (plain && (*digits != '0' || digits[1] < '0' || digits[1] > '9') && s->length < JSON_TEXT_MAX - 1)
      return INK_OK;
    return take_number(s, from, digits, error);
  }
  *token = JSON_LITERAL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(s->own, words[i]))
      return INK_OK;
  const char *word = s->own + (s->own[0] == '-' || s->own[0] == '+');
  if (ink_i_same_letters(word, "nan") || ink_i_same_letters(word, "inf") || ink_i_same_letters(word, "infinity"))
    return note_edit(s, from, (uint32_t)s->length, "null", error);
  return broken(s, c < 0 ? c : '?', error);
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

static ink_status open_bracket(json_scan *s, bool array, ink_error *error) {
  if (s->depth == JSON_DEPTH_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "'%s' is nested deeper than %d at byte %llu",
                         s->path, JSON_DEPTH_MAX, (unsigned long long)ink_json_offset(s));
  s->closed[s->depth++] = array;
  s->wants_comma = s->wants_value = false;
  s->at++;
  return INK_OK;
}

/* A key with its colon, which is found before the key is handed out: the buffer may change only
 * where the key was copied. */
static ink_status take_key(json_scan *s, ink_error *error) {
  ink_status status = take_string(s, error);
  if (status != INK_OK)
    return status;
  if (s->at < s->filled && s->buffer[s->at] == ':') {
    s->at++;
  } else {
    if (s->text != s->own) {
      memcpy(s->own, s->text, s->length + 1);
      s->text = s->own;
    }
    int c = skip_space(s, error);
    if (c != ':')
      return broken(s, c, error);
    s->at++;
  }
  s->wants_value = true;
  return INK_OK;
}

static inline ink_status take_value(json_scan *s, int c, enum json_token *token, ink_error *error) {
  ink_status status;
  if (c == '{' || c == '[') {
    *token = c == '{' ? JSON_OBJECT : JSON_ARRAY;
    return open_bracket(s, c == '[', error);
  }
  if (c == '"') {
    *token = JSON_STRING;
    status = take_string(s, error);
  } else {
    status = take_word(s, token, error);
  }
  s->wants_comma = true;
  s->wants_value = false;
  return status;
}

static inline ink_status next(json_scan *s, enum json_token *token, ink_error *error) {
  int c = skip_space(s, error);
  bool in_array = s->depth && s->closed[s->depth - 1];
  bool may_end = !s->wants_value;
  if (s->wants_comma) {
    if (!s->depth) {
      *token = JSON_END;
      return c == -1 ? INK_OK : broken(s, c, error);
    }
    if (c == ',') {
      const uint64_t comma = ink_json_offset(s);
      s->at++;
      s->wants_comma = false;
      c = skip_space(s, error);
      may_end = c == (in_array ? ']' : '}') || (c == -1 && s->depth == 1 && in_array);
      if (may_end)
        TRY(note_edit(s, comma, 1, "", error));
    } else if (c != ']' && c != '}' && !(c == -1 && s->depth == 1 && in_array)) {
      return broken(s, c, error);
    }
  }
  if (c == -1 && s->depth == 1 && in_array) {
    *token = JSON_ARRAY_END;
    s->depth--;
    s->wants_comma = s->unclosed = true;
    return note_edit(s, ink_json_offset(s), 0, "]", error);
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

ink_status ink_json_next(json_scan *s, enum json_token *token, ink_error *error) {
  return next(s, token, error);
}

ink_status ink_json_skip(json_scan *s, enum json_token first, ink_error *error) {
  if (first != JSON_OBJECT && first != JSON_ARRAY)
    return INK_OK;
  unsigned outside = s->depth - 1;
  enum json_token token;
  while (s->depth > outside) {
    ink_status status = next(s, &token, error);
    if (status != INK_OK)
      return status;
  }
  return INK_OK;
}
