/* SPDX-License-Identifier: MIT */
/* Aligned columns of text, and the numbers that stand in them. */
#ifndef INKMARK_CLI_GRID_H
#define INKMARK_CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct text_grid text_grid;

text_grid *grid_new(void); /* NULL: out of memory */
void grid_free(text_grid *grid);

/* Columns come first, then cells row by row. */
enum grid_align { GRID_LEFT, GRID_RIGHT };
void grid_column(text_grid *grid, enum grid_align align, const char *title);
__attribute__((format(printf, 2, 3))) void grid_cell(text_grid *grid, const char *format, ...);

/* Prints the titles and the rows, each line behind `indent` spaces. False: memory ran out while
 * the cells were added, and nothing was printed. */
bool grid_print(const text_grid *grid, FILE *to, int indent);

/* "1,234,567" */
typedef struct number_text {
  char text[48];
} number_text;
number_text number_whole(uint64_t value);
/* "s" but for 1. */
const char *number_plural(uint64_t n);
number_text number_fraction(double value, int decimals); /* grouped as well */
number_text number_bytes(uint64_t bytes);                /* "1.2 MiB" */

/* A bar of at most `width` characters for `part` of 1, in eighths of a character. */
number_text number_bar(double part, int width);

#endif
