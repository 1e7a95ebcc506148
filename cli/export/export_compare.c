/* SPDX-License-Identifier: MIT */
/* Compares two captures for a page, as `inkmark diff` does: its analysis, and its JSON. */
#include "export_compare.h"

#include "../diff/diff.h"
#include "message.h"

#include <stdlib.h>

enum { ROWS_MAX = 1000 };

/* A page has so many rows: those of sections that are the same go first. */
static void leave_out(diff_result *result) {
  const size_t all = result->row_count;
  size_t over = all > ROWS_MAX ? all - ROWS_MAX : 0, kept = 0;
  for (size_t i = 0; i < all; i++) {
    const diff_row *row = &result->rows[i];
    const diff_series *any = row->base ? row->base : row->now;
    if (over && any->section && row->verdict != DIFF_SLOWER && row->verdict != DIFF_FASTER)
      over--;
    else
      result->rows[kept++] = *row;
  }
  result->row_count = kept < ROWS_MAX ? kept : ROWS_MAX;
  result->left_out = all - result->row_count;
}

char *export_compare(const export_comparison *choice) {
  const diff_settings settings = {.level = 0.01, .kernel = choice->kernel, .force = choice->force, .raw = choice->raw};
  diff_result result = {.settings = &settings, .base_paths = &choice->base, .now_paths = &choice->now};
  char *text = NULL;
  size_t bytes = 0;
  result.base.runs = result.now.runs = 1;
  if (diff_make(&result)) {
    leave_out(&result);
    FILE *to = open_memstream(&text, &bytes);
    const bool fine = to && diff_json(&result, to);
    if ((to && fclose(to)) || !fine) {
      message_say("out of memory");
      free(text);
      text = NULL;
    }
  }
  diff_free(&result);
  return text;
}
