/* SPDX-License-Identifier: MIT */
/* Characters of PTX text into names, words, numbers and strings, and the first failure. */
#include "ptx_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ptx_fail(ptx_parser *p, enum sim_error_kind kind, const char *format, ...) {
  char text[512];
  va_list arguments;
  if (p->failed) {
    return false;
  }
  p->failed = true;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  sim_error_set(p->error, kind, "PTX line %u: %s", p->line, text);
  return false;
}

bool ptx_no_memory(ptx_parser *p) {
  return ptx_fail(p, SIM_NO_MEMORY, "no memory left for the program, or one of its limits passed");
}

void ptx_skip_space(ptx_parser *p) {
  const char *c = p->at;
  for (;;) {
    if (*c == '\n') {
      p->line++;
      c++;
    } else if (*c == ' ' || *c == '\t' || *c == '\r' || *c == '\v' || *c == '\f') {
      c++;
    } else if (c[0] == '/' && c[1] == '/') {
      while (*c != '\0' && *c != '\n') {
        c++;
      }
    } else if (c[0] == '/' && c[1] == '*') {
      for (c += 2; *c != '\0' && !(c[0] == '*' && c[1] == '/'); c++) {
        p->line += *c == '\n';
      }
      c += *c == '\0' ? 0 : 2;
    } else {
      break;
    }
  }
  p->at = c;
}

bool ptx_at(ptx_parser *p, char c) {
  ptx_skip_space(p);
  return *p->at == c;
}

bool ptx_take(ptx_parser *p, char c) {
  if (!ptx_at(p, c)) {
    return false;
  }
  p->at++;
  return true;
}

bool ptx_need(ptx_parser *p, char c) {
  return ptx_take(p, c) || ptx_fail(p, SIM_BAD_PTX, "expected '%c' at '%.20s'", c, p->at);
}

bool ptx_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

bool ptx_take_name(ptx_parser *p, const char **text, uint32_t *length) {
  const char *begin;
  ptx_skip_space(p);
  begin = p->at;
  while (ptx_name_char(*p->at) && p->at - begin < 65535) {
    p->at++;
  }
  *text = begin;
  *length = (uint32_t)(p->at - begin);
  return *length != 0 || ptx_fail(p, SIM_BAD_PTX, "expected a name at '%.20s'", p->at);
}

bool ptx_take_word(ptx_parser *p, const char **text, uint32_t *length) {
  const char *begin;
  ptx_skip_space(p);
  begin = p->at;
  for (; p->at - begin < 65535; p->at++) {
    if (p->at[0] == ':' && p->at[1] == ':') {
      p->at++;
    } else if (*begin == '.' && *p->at == '.' && p->at != begin) {
      break; /* ".reg.b32" is two words, an opcode's dots are its own */
    } else if (!ptx_name_char(*p->at) && *p->at != '.') {
      break;
    }
  }
  *text = begin;
  *length = (uint32_t)(p->at - begin);
  return *length != 0 || ptx_fail(p, SIM_BAD_PTX, "expected a word at '%.20s'", p->at);
}

bool ptx_take_string(ptx_parser *p, const char **text, uint32_t *length) {
  const char *begin;
  if (!ptx_need(p, '"')) {
    return false;
  }
  begin = p->at;
  while (*p->at != '"' && *p->at != '\0' && *p->at != '\n') {
    p->at += p->at[0] == '\\' && p->at[1] != '\0' && p->at[1] != '\n' ? 2 : 1;
  }
  *text = begin;
  *length = (uint32_t)(p->at - begin);
  return ptx_need(p, '"');
}

bool ptx_at_number(ptx_parser *p) {
  ptx_skip_space(p);
  return (*p->at >= '0' && *p->at <= '9') || *p->at == '-' || *p->at == '+';
}

static unsigned hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return (unsigned)(c - '0');
  }
  if (c >= 'a' && c <= 'f') {
    return (unsigned)(c - 'a' + 10);
  }
  if (c >= 'A' && c <= 'F') {
    return (unsigned)(c - 'A' + 10);
  }
  return 16;
}

static bool hex_bits(ptx_parser *p, unsigned digits, uint64_t *value) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < digits; i++, p->at++) {
    unsigned digit = hex_digit(*p->at);
    if (digit > 15) {
      return ptx_fail(p, SIM_BAD_PTX, "a float needs %u hexadecimal digits", digits);
    }
    bits = bits << 4 | digit;
  }
  *value = bits;
  return true;
}

/* 1.5, 1e3: strtod reads no further than the digits, sign and exponent it knows. */
static bool decimal_float(ptx_parser *p, bool negative, uint64_t *value) {
  char *end;
  double number = strtod(p->at, &end);
  number = negative ? -number : number;
  memcpy(value, &number, sizeof number);
  p->at = end;
  return true;
}

bool ptx_take_number(ptx_parser *p, uint64_t *value, uint8_t *literal) {
  bool negative = false;
  const char *digits;
  char *end;
  *literal = 0;
  for (ptx_skip_space(p); *p->at == '-' || *p->at == '+'; ptx_skip_space(p)) {
    negative ^= *p->at == '-';
    p->at++;
  }
  if (p->at[0] == '0' && (p->at[1] == 'f' || p->at[1] == 'F')) {
    p->at += 2;
    *literal = 1;
    if (!hex_bits(p, 8, value)) {
      return false;
    }
    *value ^= negative ? UINT64_C(1) << 31 : 0;
    return true;
  }
  if (p->at[0] == '0' && (p->at[1] == 'd' || p->at[1] == 'D')) {
    p->at += 2;
    *literal = 2;
    if (!hex_bits(p, 16, value)) {
      return false;
    }
    *value ^= negative ? UINT64_C(1) << 63 : 0;
    return true;
  }
  if (*p->at < '0' || *p->at > '9') {
    return ptx_fail(p, SIM_BAD_PTX, "expected a number at '%.20s'", p->at);
  }
  for (digits = p->at; *digits >= '0' && *digits <= '9'; digits++) {
  }
  if (*digits == '.' && digits[1] >= '0' && digits[1] <= '9') {
    *literal = 2;
    return decimal_float(p, negative, value);
  }
  if (p->at[0] == '0' && (p->at[1] == 'b' || p->at[1] == 'B')) {
    *value = strtoull(p->at + 2, &end, 2);
  } else {
    *value = strtoull(p->at, &end, 0);
  }
  p->at = *end == 'U' ? end + 1 : end;
  *value = negative ? 0 - *value : *value;
  return true;
}

void ptx_skip_line(ptx_parser *p) {
  while (*p->at != '\0' && *p->at != '\n') {
    p->at++;
  }
}

/* Past the next c that is not in a string or comment. */
bool ptx_skip_past(ptx_parser *p, char c) {
  for (ptx_skip_space(p); *p->at != '\0'; ptx_skip_space(p)) {
    if (*p->at == '"') {
      const char *text;
      uint32_t length;
      if (!ptx_take_string(p, &text, &length)) {
        return false;
      }
    } else if (*p->at++ == c) {
      return true;
    }
  }
  return ptx_fail(p, SIM_BAD_PTX, "the text ends where a '%c' is missing", c);
}

bool ptx_skip_braces(ptx_parser *p) {
  size_t depth = 1;
  if (!ptx_need(p, '{')) {
    return false;
  }
  for (ptx_skip_space(p); *p->at != '\0' && depth != 0; ptx_skip_space(p)) {
    if (*p->at == '"') {
      const char *text;
      uint32_t length;
      if (!ptx_take_string(p, &text, &length)) {
        return false;
      }
      continue;
    }
    depth += *p->at == '{';
    depth -= *p->at == '}';
    p->at++;
  }
  return depth == 0 || ptx_fail(p, SIM_BAD_PTX, "the text ends inside braces");
}

bool ptx_is(const char *text, uint32_t length, const char *word) {
  return strncmp(text, word, length) == 0 && word[length] == '\0';
}
