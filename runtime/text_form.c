/* SPDX-License-Identifier: MIT */
/* The forms in which text from outside goes out: shown, as a CSV cell, as a JSON string. Every output and
 * message of inkmark takes its text through here. */
#include "inkmark/text.h"
#include "text_scan.h"

#include <stdio.h>
#include <string.h>

size_t ink_i_text_next(const char *text, size_t left, uint32_t *code) {
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char lead = at[0];
  unsigned char least = 0x80, most = 0xbf; /* of the second byte: neither overlong, surrogate nor too large */
  size_t length;
  *code = lead;
  if (lead < 0x80)
    return 1;
  length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  *code = INK_I_NO_CHARACTER;
  if (lead < 0xc2 || lead > 0xf4)
    return 1;
  if (lead == 0xe0 || lead == 0xf0)
    least = lead == 0xe0 ? 0xa0 : 0x90;
  if (lead == 0xed || lead == 0xf4)
    most = lead == 0xed ? 0x9f : 0x8f;
  uint32_t value = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if (i == left || at[i] < least || at[i] > most)
      return i;
    value = value << 6 | (at[i] & 0x3f);
    least = 0x80;
    most = 0xbf;
  }
  *code = value;
  return length;
}

size_t ink_i_text_open_end(const char *text, size_t bytes) {
  for (size_t n = 1; n <= 3 && n <= bytes; n++) {
    const unsigned char lead = (unsigned char)text[bytes - n];
    uint32_t code;
    if ((lead & 0xc0) == 0x80)
      continue;
    if (lead < 0xc2 || lead > 0xf4 || n >= (lead >= 0xf0 ? 4u : lead >= 0xe0 ? 3u : 2u))
      return 0;
    return ink_i_text_next(text + bytes - n, n, &code) == n ? n : 0;
  }
  return 0;
}

bool ink_i_text_hides(uint32_t code) {
  static const struct {
    uint32_t first, last;
  } hidden[] = {{0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},     {0x61c, 0x61c},
                {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e}, {0x2060, 0x206f},
                {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x1bca0, 0x1bca3},
                {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  if (code >= 0x20 && code < 0x7f)
    return false;
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (code >= hidden[i].first && code <= hidden[i].last)
      return true;
  return false;
}

size_t ink_i_text_ascii(const char *text, size_t bytes) {
  size_t n = 0;
  for (uint64_t eight; bytes - n >= 8; n += 8) {
    memcpy(&eight, text + n, 8);
    if (eight & 0x8080808080808080u)
      break;
  }
  while (n < bytes && (unsigned char)text[n] < 0x80)
    n++;
  return n;
}

size_t ink_i_text_repair(char *to, size_t room, const char *text, size_t bytes) {
  size_t length = 0, put = 0;
  for (size_t n; bytes; text += n, bytes -= n, length += put) {
    uint32_t code = 0;
    put = n = ink_i_text_ascii(text, bytes);
    if (!n)
      put = n = ink_i_text_next(text, bytes, &code);
    const bool whole = code != INK_I_NO_CHARACTER;
    if (!whole)
      put = 3;
    if (put > room - length) {
      if (code || length == room) /* of plain ASCII a part is whole, too */
        return length;
      put = n = room - length;
    }
    if (to)
      memcpy(to + length, whole ? text : "\xef\xbf\xbd", put);
  }
  return length;
}

/* ---- writing ------------------------------------------------------------------------------- */

typedef struct writing {
  char *to;
  size_t room, length; /* length: of all, whether it fits or not */
  bool full;
} writing;

/* Whole pieces only: behind the first that does not fit nothing is written. */
static void put(writing *w, const char *piece, size_t bytes) {
  w->full |= w->length + bytes >= w->room;
  if (!w->full)
    memcpy(w->to + w->length, piece, bytes);
  if (!w->full)
    w->to[w->length + bytes] = 0;
  w->length += bytes;
}

static void put_hidden(writing *w, uint32_t code) {
  char escape[16];
  const char *words = code == '\n' ? "\\n" : code == '\t' ? "\\t" : code == '\r' ? "\\r" : NULL;
  if (words)
    put(w, words, 2);
  else
    put(w, escape,
        (size_t)snprintf(escape, sizeof escape,
                         code < 0x80 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code));
}

static void put_bytes(writing *w, const char *bytes, size_t n) {
  char escape[8];
  for (size_t i = 0; i < n; i++)
    put(w, escape, (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)bytes[i]));
}

static void put_json_escape(writing *w, uint32_t code) {
  char escape[16];
  if (code == INK_I_NO_CHARACTER)
    put(w, "\xef\xbf\xbd", 3);
  else if (code == '"' || code == '\\')
    put(w, code == '"' ? "\\\"" : "\\\\", 2);
  else if (code < 0x10000)
    put(w, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", code));
  else
    put(w, escape,
        (size_t)snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                         0xdc00 + (code & 0x3ff)));
}

static void put_text(writing *w, enum ink_text_form form, const char *text, size_t bytes) {
  for (size_t n; bytes; text += n, bytes -= n) {
    uint32_t code;
    n = ink_i_text_next(text, bytes, &code);
    const bool hides = code == INK_I_NO_CHARACTER || ink_i_text_hides(code);
    if (form == INK_TEXT_JSON && (hides || code == '"' || code == '\\'))
      put_json_escape(w, code);
    else if (code == INK_I_NO_CHARACTER)
      put_bytes(w, text, n);
    else if (hides)
      put_hidden(w, code);
    else if (form == INK_TEXT_CELL && (code == '"' || code == '\\'))
      put(w, code == '"' ? "\"\"" : "\\\\", 2);
    else
      put(w, text, n);
  }
}

/* ---- cells --------------------------------------------------------------------------------- */

static size_t digits(const char *text, size_t bytes) {
  size_t n = 0;
  while (n < bytes && text[n] >= '0' && text[n] <= '9')
    n++;
  return n;
}

/* "-1.5e-3": what stands for a number stays one. */
static bool is_number(const char *text, size_t bytes) {
  size_t at = bytes && (*text == '-' || *text == '+') ? 1 : 0, n = digits(text + at, bytes - at);
  if (!n)
    return false;
  at += n;
  if (at < bytes && text[at] == '.') {
    n = digits(text + at + 1, bytes - at - 1);
    at += n + 1;
    if (!n)
      return false;
  }
  if (at < bytes && (text[at] == 'e' || text[at] == 'E')) {
    at += at + 1 < bytes && (text[at + 1] == '-' || text[at + 1] == '+') ? 2 : 1;
    n = digits(text + at, bytes - at);
    at += n;
    if (!n)
      return false;
  }
  return at == bytes;
}

/* What spreadsheets take for a formula, in the full width of East Asian text too; and the sign that is
 * put before it, so that a reader can take one away from whatever begins with it. */
static bool needs_sign(const char *text, size_t bytes) {
  static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
  for (size_t i = 0; i < 4; i++)
    if (bytes >= 3 && !memcmp(text, wide[i], 3))
      return true;
  return bytes && memchr("=+-@'", *text, 5) && !is_number(text, bytes);
}

size_t ink_text_put(char *to, size_t room, enum ink_text_form form, const char *text, size_t bytes) {
  writing w = {.to = to, .room = room, .full = !room};
  const bool cell = form == INK_TEXT_CELL;
  const bool quoted = cell && (memchr(text, ',', bytes) || memchr(text, '"', bytes));
  if (room)
    *to = 0;
  if (quoted)
    put(&w, "\"", 1);
  if (cell && needs_sign(text, bytes))
    put(&w, "'", 1);
  put_text(&w, form, text, bytes);
  if (quoted)
    put(&w, "\"", 1);
  return w.length;
}
