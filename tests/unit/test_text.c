/* SPDX-License-Identifier: MIT */
/* The forms of text that goes out: examples, and random bytes against what each form promises. */
#include "check.h"
#include "inkmark/text.h"
#include "output/output_file.h"
#include "text_scan.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static const char *form(enum ink_text_form which, const char *text) {
  static char out[512];
  const size_t length = ink_text_put(out, sizeof out, which, text, strlen(text));
  CHECK(length == strlen(out), "'%s': %zu, not %zu", text, length, strlen(out));
  return out;
}

static void same(enum ink_text_form which, const char *text, const char *wanted) {
  CHECK(!strcmp(form(which, text), wanted), "'%s', not '%s'", form(which, text), wanted);
}

static void examples(void) {
  same(INK_TEXT_SHOWN, "Step (a.cu:3), \xc3\xa4 \xe2\x96\x88 \xf0\x9f\x98\x80", "Step (a.cu:3), \xc3\xa4 \xe2\x96\x88 \xf0\x9f\x98\x80");
  same(INK_TEXT_SHOWN, "a\x1b[31m\n\r\t\b\x7f", "a\\x1b[31m\\n\\r\\t\\x08\\x7f");
  same(INK_TEXT_SHOWN, "\xc2\x9b" "1m \xc2\x85 \xe2\x80\xae \xe2\x80\xa8 \xef\xbb\xbf", "\\u009b1m \\u0085 \\u202e \\u2028 \\ufeff");
  same(INK_TEXT_SHOWN, "\xf3\xa0\x81\x81", "\\U000e0041");
  same(INK_TEXT_SHOWN, "caf\xe9, \xc0\x80, \xed\xa0\x80, \xf4\x90\x80\x80, \xe2\x82", "caf\\xe9, \\xc0\\x80, \\xed\\xa0\\x80, \\xf4\\x90\\x80\\x80, \\xe2\\x82");
  same(INK_TEXT_SHOWN, "back\\slash 'quote' \"", "back\\slash 'quote' \"");
  same(INK_TEXT_CELL, "plain", "plain");
  same(INK_TEXT_CELL, "a,b", "\"a,b\"");
  same(INK_TEXT_CELL, "say \"hi\"", "\"say \"\"hi\"\"\"");
  same(INK_TEXT_CELL, "=1+1", "'=1+1");
  same(INK_TEXT_CELL, "@f,\"", "\"'@f,\"\"\"");
  same(INK_TEXT_CELL, "'a", "''a");
  same(INK_TEXT_CELL, "\xef\xbc\x9d" "1", "'\xef\xbc\x9d" "1");
  same(INK_TEXT_CELL, "\t=1", "\\t=1");
  same(INK_TEXT_CELL, "a\\n", "a\\\\n");
  static const char *const numbers[] = {"-17", "+3", "-1.5", "-1.5e-3", "+2E10", "0", "-0.0"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    same(INK_TEXT_CELL, numbers[i], numbers[i]);
  same(INK_TEXT_CELL, "-", "'-");
  same(INK_TEXT_CELL, "-1.", "'-1.");
  same(INK_TEXT_CELL, "-1e", "'-1e");
  same(INK_TEXT_CELL, "-2+3", "'-2+3");
  same(INK_TEXT_CELL, "-1 ", "'-1 ");
  same(INK_TEXT_JSON, "a\"\\\n\x1f\x7f\xc2\x9b", "a\\\"\\\\\\u000a\\u001f\\u007f\\u009b");
  same(INK_TEXT_JSON, "\xf3\xa0\x81\x81 \xc3\xa4", "\\udb40\\udc41 \xc3\xa4");
  same(INK_TEXT_JSON, "caf\xe9 \xe2\x82 \xed\xa0\x80", "caf\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* Escapes are whole or not there; the length is that of all. */
static void short_rooms(void) {
  static const char text[] = "ab\x1b\xc3\xa4\xff";
  static const char whole[] = "ab\\x1b\xc3\xa4\\xff";
  static const size_t kept[] = {0, 0, 1, 2, 2, 2, 2, 6, 6, 8, 8, 8, 8, 12};
  for (size_t room = 0; room < sizeof kept / sizeof *kept; room++) {
    char *out = malloc(room + 1); /* of that size: the sanitizer watches its end */
    CHECK(ink_text_put(room ? out : NULL, room, INK_TEXT_SHOWN, text, sizeof text - 1) == strlen(whole), "length");
    if (room)
      CHECK(strlen(out) == kept[room] && !memcmp(out, whole, kept[room]), "room %zu: '%s'", room, out);
    free(out);
  }
}

static uint64_t seed = 42;
static uint32_t draw(uint32_t below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % below;
}

/* Bytes that are often nearly a character. */
static size_t draw_text(char *text, size_t most) {
  static const char *const pieces[] = {"a", ",", "\"", "\\", "'", "=", "\n", "\x1b", "\xc2\x9b", "\xe2\x80\xae", "\xef\xbf\xbd",
                                       "\xf0\x9f\x98\x80", "\xe2\x82\xac", "\xed\xa0", "\xf4\x90", "\xf3\xa0\x81\x81"};
  size_t n = 0;
  while (n + 4 < most && draw(40)) {
    if (draw(3)) {
      const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
      const size_t length = strlen(piece);
      memcpy(text + n, piece, draw(4) ? length : length - (length > 1));
      n += length;
    } else {
      text[n++] = (char)(1 + draw(255));
    }
  }
  return n;
}

static bool is_fit(const char *text, size_t bytes, bool replacements) {
  uint32_t code;
  for (size_t n; bytes; text += n, bytes -= n) {
    n = ink_i_text_next(text, bytes, &code);
    if (code == INK_I_NO_CHARACTER || (!replacements && ink_i_text_hides(code)))
      return false;
  }
  return true;
}

/* What docs/outputs.md tells a reader of a cell to do. */
static size_t undo_cell(const char *cell, char *out) {
  char plain[4096];
  size_t n = 0, length = 0;
  const bool quoted = *cell == '"';
  for (const char *at = cell + quoted; *at && !(quoted && *at == '"' && at[1] != '"'); at++) {
    plain[n++] = *at;
    at += quoted && *at == '"';
  }
  plain[n] = 0;
  for (const char *at = plain + (*plain == '\''); *at; at++) {
    if (*at != '\\') {
      out[length++] = *at;
      continue;
    }
    at++;
    unsigned code = 0;
    const int digits = *at == 'x' ? 2 : *at == 'u' ? 4 : *at == 'U' ? 8 : 0;
    if (!digits) {
      out[length++] = *at == 'n' ? '\n' : *at == 't' ? '\t' : *at == 'r' ? '\r' : *at;
      continue;
    }
    char hex[9] = "";
    memcpy(hex, at + 1, (size_t)digits);
    code = (unsigned)strtoul(hex, NULL, 16);
    at += digits;
    if (digits == 2) {
      out[length++] = (char)code;
    } else if (code < 0x800) {
      out[length++] = (char)(0xc0 | code >> 6);
      out[length++] = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      out[length++] = (char)(0xe0 | code >> 12);
      out[length++] = (char)(0x80 | (code >> 6 & 0x3f));
      out[length++] = (char)(0x80 | (code & 0x3f));
    } else {
      out[length++] = (char)(0xf0 | code >> 18);
      out[length++] = (char)(0x80 | (code >> 12 & 0x3f));
      out[length++] = (char)(0x80 | (code >> 6 & 0x3f));
      out[length++] = (char)(0x80 | (code & 0x3f));
    }
  }
  return length;
}

static void random_text(void) {
  char text[256], out[2048], back[4096];
  for (int i = 0; i < 20000; i++) {
    const size_t n = draw_text(text, sizeof text);
    for (enum ink_text_form which = INK_TEXT_SHOWN; which <= INK_TEXT_JSON; which++) {
      const size_t length = ink_text_put(out, sizeof out, which, text, n);
      CHECK(length < sizeof out && is_fit(out, length, false), "form %d of text %d", which, i);
    }
    ink_text_put(out, sizeof out, INK_TEXT_CELL, text, n);
    const size_t length = undo_cell(out, back);
    CHECK(length == n && !memcmp(back, text, n), "text %d does not come back: %s", i, out);
  }
}

/* The filter of files against the plain function, whatever the pieces that it is given. */
static void files(void) {
  enum { BYTES = 600000 };
  static char text[BYTES], wanted[3 * BYTES], got[3 * BYTES];
  size_t n = 0;
  while (n + 300 < BYTES)
    n += draw_text(text + n, 256);
  const size_t length = ink_i_text_repair(wanted, sizeof wanted, text, n);
  ink_file file;
  ink_error error;
  NEED(ink_file_open_utf8(&file, "test_text.out", &error), error);
  for (size_t at = 0, piece; at < n; at += piece) {
    piece = draw(10) ? draw(5) : draw(100000);
    piece = piece > n - at ? n - at : piece;
    ink_file_write(&file, text + at, piece);
    if (!draw(50))
      ink_file_flush(&file);
  }
  ink_file_utf8(&file, true);
  CHECK(file.written == length, "%llu bytes counted, not %zu", (unsigned long long)file.written, length);
  NEED(ink_file_close(&file, &error), error);
  FILE *in = fopen("test_text.out", "rb");
  CHECK(in && fread(got, 1, sizeof got, in) == length && !memcmp(got, wanted, length), "the file has other bytes");
  if (in)
    fclose(in);
  CHECK(is_fit(wanted, length, true), "no UTF-8");
  unlink("test_text.out");
}

int main(void) {
  examples();
  short_rooms();
  random_text();
  files();
  return check_result("test_text");
}
