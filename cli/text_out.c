/* SPDX-License-Identifier: MIT */
/* A printf whose strings are made fit to be shown; numbers are left to printf. */
#include "text_out.h"

#include "style.h"

#include "inkmark/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t text_width(const char *text) {
  size_t width = 0;
  for (; *text; text++)
    width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

/* One conversion of a format. */
typedef struct conversion {
  char flags[8];
  int width, precision; /* -1: none */
  char length[3];       /* "", "h", "hh", "l", "ll", "z", "j", "t" */
  char letter;
} conversion;

typedef union number {
  intmax_t whole;
  uintmax_t count;
  double real;
  void *pointer;
} number;

static const char *read_count(const char *at, int *out, va_list *arguments) {
  if (*at == '*') {
    *out = va_arg(*arguments, int);
    return at + 1;
  }
  for (*out = 0; *at >= '0' && *at <= '9'; at++)
    *out = *out * 10 + (*at - '0');
  return at;
}

/* `at` is behind the percent sign; returns what follows the conversion. */
static const char *read_conversion(const char *at, conversion *c, va_list *arguments) {
  size_t n = 0;
  *c = (conversion){.width = -1, .precision = -1};
  for (; *at && strchr("-+ #0", *at); at++)
    if (n + 1 < sizeof c->flags)
      c->flags[n++] = *at;
  at = read_count(at, &c->width, arguments);
  if (c->width < 0 && n + 1 < sizeof c->flags) { /* from an asterisk: left, as printf has it */
    c->flags[n] = '-';
    c->width = -c->width;
  }
  if (*at == '.')
    at = read_count(at + 1, &c->precision, arguments);
  for (n = 0; *at && strchr("hlzjt", *at) && n < 2; at++)
    c->length[n++] = *at;
  c->letter = *at;
  return *at ? at + 1 : at;
}

static intmax_t take_signed(const char *length, va_list *arguments) {
  return !strcmp(length, "ll")  ? va_arg(*arguments, long long)
         : *length == 'l'       ? va_arg(*arguments, long)
         : *length == 'j'       ? va_arg(*arguments, intmax_t)
         : *length == 'z'       ? (intmax_t)va_arg(*arguments, size_t)
         : *length == 't'       ? va_arg(*arguments, ptrdiff_t)
                                : va_arg(*arguments, int);
}

static uintmax_t take_unsigned(const char *length, va_list *arguments) {
  return !strcmp(length, "ll")  ? va_arg(*arguments, unsigned long long)
         : *length == 'l'       ? va_arg(*arguments, unsigned long)
         : *length == 'j'       ? va_arg(*arguments, uintmax_t)
         : *length == 'z'       ? va_arg(*arguments, size_t)
         : *length == 't'       ? (uintmax_t)va_arg(*arguments, ptrdiff_t)
                                : va_arg(*arguments, unsigned);
}

/* printf's own work, by a format of this one conversion. */
static void print_number(FILE *to, const conversion *c, va_list *arguments) {
  char format[64], width[16] = "", precision[16] = "";
  const char *length = strchr("diuxXo", c->letter) ? "j" : "";
  if (c->width >= 0)
    snprintf(width, sizeof width, "%d", c->width);
  if (c->precision >= 0)
    snprintf(precision, sizeof precision, ".%d", c->precision);
  snprintf(format, sizeof format, "%%%s%s%s%s%c", c->flags, c->width ? width : "", precision, length,
           c->letter);
  switch (c->letter) {
  case 'd':
  case 'i':
    fprintf(to, format, take_signed(c->length, arguments));
    break;
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    fprintf(to, format, take_unsigned(c->length, arguments));
    break;
  case 'p':
    fprintf(to, format, va_arg(*arguments, void *));
    break;
  default:
    fprintf(to, format, va_arg(*arguments, double));
  }
}

/* Cut where the format says, but not inside of a character. */
static size_t bytes_of(const char *text, int precision) {
  if (precision < 0)
    return strlen(text);
  size_t bytes = strnlen(text, (size_t)precision), back = 0;
  if (bytes < (size_t)precision || !text[bytes])
    return bytes;
  while (back < 3 && back < bytes && ((unsigned char)text[bytes - back] & 0xc0) == 0x80)
    back++;
  return ((unsigned char)text[bytes - back] & 0xc0) == 0xc0 ? bytes - back : bytes;
}

static void print_text(FILE *to, const conversion *c, const char *text) {
  text = text ? text : "(null)";
  if (style_is_code(text)) {
    fputs(text, to);
    return;
  }
  char near[256], *shown = near;
  const size_t bytes = bytes_of(text, c->precision);
  const size_t length = ink_text_put(near, sizeof near, INK_TEXT_SHOWN, text, bytes);
  if (length >= sizeof near) {
    shown = malloc(length + 1);
    if (shown)
      ink_text_put(shown, length + 1, INK_TEXT_SHOWN, text, bytes);
    else
      shown = near; /* out of memory: as much as there is room for */
  }
  const size_t have = c->width > 0 ? text_width(shown) : 0;
  const int space = c->width > 0 && (size_t)c->width > have ? c->width - (int)have : 0;
  const bool left = strchr(c->flags, '-') != NULL;
  fprintf(to, "%*s%s%*s", left ? 0 : space, "", shown, left ? space : 0, "");
  if (shown != near)
    free(shown);
}

void text_vprint(FILE *to, const char *format, va_list arguments) {
  va_list rest;
  va_copy(rest, arguments);
  while (*format) {
    const char *percent = strchrnul(format, '%');
    conversion c;
    fwrite(format, 1, (size_t)(percent - format), to);
    if (!*percent)
      break;
    format = read_conversion(percent + 1, &c, &rest);
    if (c.letter == '%') {
      fputc('%', to);
    } else if (c.letter == 's') {
      print_text(to, &c, va_arg(rest, const char *));
    } else if (c.letter == 'c') {
      const char letter[2] = {(char)va_arg(rest, int), 0};
      print_text(to, &c, letter);
    } else {
      print_number(to, &c, &rest);
    }
  }
  va_end(rest);
}

void text_print(FILE *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprint(to, format, arguments);
  va_end(arguments);
}

char *text_vformat(const char *format, va_list arguments) {
  char *text = NULL;
  size_t bytes;
  FILE *to = open_memstream(&text, &bytes);
  if (!to)
    return NULL;
  text_vprint(to, format, arguments);
  if (fclose(to)) {
    free(text);
    return NULL;
  }
  return text;
}
