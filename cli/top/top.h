/* SPDX-License-Identifier: MIT */
/* What the parts of `inkmark top` share. */
#ifndef INKMARK_CLI_TOP_H
#define INKMARK_CLI_TOP_H

#include "load.h"

#include <stdio.h>

/* What was counted at the time before, so that what is new can be told. */
typedef struct top_view top_view;

top_view *top_view_new(void); /* NULL: out of memory */
void top_view_free(top_view *view);

/* Prints the table of a capture as it is now; `now_ns` is CLOCK_MONOTONIC. False after a message. */
bool top_view_print(top_view *view, const loaded_capture *loaded, int64_t now_ns, FILE *to);

/* Nothing more comes: the capture has an end. */
bool top_has_ended(const loaded_capture *loaded);

/* Whether a table takes the place of the one before: stdout is a terminal that can. */
bool top_screen_is_there(void);
/* Puts the text on the screen from its first line on, cut to what it has room for. */
void top_screen_show(const char *text);

#endif
