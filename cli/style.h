/* SPDX-License-Identifier: MIT */
/* What the terminal can show: colours, drawings, columns. */
#ifndef INKMARK_CLI_STYLE_H
#define INKMARK_CLI_STYLE_H

#include "choices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COLOR_CHOICES(X) X("auto", CLI_COLOR_AUTO) X("always", CLI_COLOR_ALWAYS) X("never", CLI_COLOR_NEVER)
enum cli_color { COLOR_CHOICES(CHOICE_CONSTANT) };
void style_set_color(int color); /* enum cli_color */

/* Styles for text that goes to `to`; "" when that stream gets no colour. */
enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_WARNING, STYLE_BAR };
const char *style_code(FILE *to, enum text_style style);

/* Whether it is a text that style_code gave, by its address. */
bool style_is_code(const char *text);

/* Bars and other non-ASCII drawing: the locale is UTF-8 and colour is on for stdout. */
bool style_draws(void);
/* Columns of the terminal on stdout (COLUMNS where set), 120 where stdout is none. */
size_t style_columns(void);

#endif
