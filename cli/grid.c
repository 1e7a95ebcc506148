/* SPDX-License-Identifier: MIT */
/* Lays text out in columns as wide as their widest cell, and groups the digits of numbers. */
#include "grid.h"

#include "message.h"
#include "style.h"
#include "text_out.h"

#include "inkmark/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct grid_head {
  enum grid_align align;
  size_t width;
  char *title;
} grid_head;

struct text_grid {
  grid_head *heads;
  size_t columns;
  char **cells;
  size_t count, room;
  bool failed;
};

text_grid *grid_new(void) {
  return calloc(1, sizeof(text_grid));
}

void grid_free(text_grid *grid) {
  if (!grid)
    return;
  for (size_t i = 0; i < grid->columns; i++)
    free(grid->heads[i].title);
  for (size_t i = 0; i < grid->count; i++)
    free(grid->cells[i]);
  free(grid->heads);
  free(grid->cells);
  free(grid);
}

static char *shown(const char *text) {
  const size_t bytes = strlen(text), length = ink_text_put(NULL, 0, INK_TEXT_SHOWN, text, bytes);
  char *copy = malloc(length + 1);
  if (copy)
    ink_text_put(copy, length + 1, INK_TEXT_SHOWN, text, bytes);
  return copy;
}

void grid_column(text_grid *grid, enum grid_align align, const char *title) {
  grid_head *heads = realloc(grid->heads, (grid->columns + 1) * sizeof *heads);
  char *copy = shown(title);
  if (heads)
    grid->heads = heads;
  if (!heads || !copy) {
    free(copy);
    grid->failed = true;
    return;
  }
  heads[grid->columns++] = (grid_head){align, text_width(copy), copy};
}

void grid_cell(text_grid *grid, const char *format, ...) {
  if (grid->failed)
    return;
  if (grid->count == grid->room) {
    size_t room = grid->room ? grid->room * 2 : 64;
    char **cells = realloc(grid->cells, room * sizeof *cells);
    if (!cells) {
      grid->failed = true;
      return;
    }
    grid->cells = cells;
    grid->room = room;
  }
  char *text;
  va_list arguments;
  va_start(arguments, format);
  text = text_vformat(format, arguments);
  if (!text) {
    grid->failed = true;
  } else {
    grid_head *head = &grid->heads[grid->count % grid->columns];
    size_t width = text_width(text);
    if (width > head->width)
      head->width = width;
    grid->cells[grid->count++] = text;
  }
  va_end(arguments);
}

static void print_padded(FILE *to, const char *text, const grid_head *head, bool last) {
  int space = (int)(head->width - text_width(text));
  if (head->align == GRID_RIGHT)
    text_print(to, "%*s%s", space, "", text);
  else
    text_print(to, "%s%*s", text, last ? 0 : space, "");
}

/* A row's trailing empty cells leave no spaces at the end of the line. */
static size_t cells_used(const text_grid *grid, char *const *cells) {
  size_t n = grid->columns;
  while (n > 0 && !*(cells ? cells[n - 1] : grid->heads[n - 1].title))
    n--;
  return n;
}

static void print_row(const text_grid *grid, FILE *to, int indent, char *const *cells) {
  size_t used = cells_used(grid, cells);
  text_print(to, "%*s", used ? indent : 0, "");
  for (size_t i = 0; i < used; i++) {
    if (i)
      fputs("  ", to);
    print_padded(to, cells ? cells[i] : grid->heads[i].title, &grid->heads[i], i + 1 == used);
  }
}

bool grid_print(const text_grid *grid, FILE *to, int indent) {
  if (grid->failed)
    return false;
  fputs(style_code(to, STYLE_BOLD), to);
  print_row(grid, to, indent, NULL);
  fputs(style_code(to, STYLE_PLAIN), to);
  fputc('\n', to);
  for (size_t at = 0; at + grid->columns <= grid->count; at += grid->columns) {
    print_row(grid, to, indent, grid->cells + at);
    fputc('\n', to);
  }
  return true;
}

/* Puts a comma before every third digit of the whole part of `digits`. */
static number_text group(const char *digits) {
  number_text out;
  size_t sign = digits[0] == '-', whole = strcspn(digits, "."), n = 0;
  for (size_t i = 0; digits[i] && n + 2 < sizeof out.text; i++) {
    if (i > sign && i < whole && (whole - i) % 3 == 0)
      out.text[n++] = ',';
    out.text[n++] = digits[i];
  }
  out.text[n] = 0;
  return out;
}

number_text number_whole(uint64_t value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
  return group(digits);
}

const char *number_plural(uint64_t n) {
  return n == 1 ? "" : "s";
}

number_text number_fraction(double value, int decimals) {
  number_text plain;
  bool short_enough = isfinite(value) && fabs(value) < 1e21; /* 21 digits, 6 commas, decimals */
  snprintf(plain.text, sizeof plain.text, short_enough ? "%.*f" : "%.*g", decimals, value);
  return short_enough ? group(plain.text) : plain;
}

number_text number_bytes(uint64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  number_text out;
  double value = (double)bytes;
  size_t unit = 0;
  for (; value >= 1024 && unit < 6; unit++)
    value /= 1024;
  snprintf(out.text, sizeof out.text, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return out;
}

number_text number_bar(double part, int width) {
  static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  number_text out = {""};
  if (!(part > 0))
    return out;
  if (width > 12)
    width = 12;
  int filled = (int)lround((part < 1 ? part : 1) * width * 8);
  for (int i = 0; i < filled / 8; i++)
    strcat(out.text, "█");
  strcat(out.text, eighths[filled % 8]);
  return out;
}
