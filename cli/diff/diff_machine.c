/* SPDX-License-Identifier: MIT */
/* A comparison as JSON, and as a page of HTML without scripts. */
#include "diff.h"

#include "grid.h"
#include "json.h"
#include "text_out.h"

#include <math.h>

enum { DIFF_SCHEMA_VERSION = 1 };

static const diff_series *any(const diff_row *row) { return row->base ? row->base : row->now; }

static void json_side(json_writer *json, const char *key, const diff_side *side, bool by_run, const char *const *paths) {
  json_open(json, key, '{');
  json_open(json, "files", '[');
  for (size_t i = 0; i < side->runs; i++)
    json_string(json, NULL, paths[i]);
  json_close(json, ']');
  json_unsigned(json, "launches", side->launches);
  json_string(json, "samples", by_run ? "runs" : "launches");
  json_close(json, '}');
}

static void json_row(json_writer *json, const diff_row *row) {
  const diff_series *s = any(row);
  const bool both = row->base && row->now;
  json_open_flat(json, NULL);
  json_string(json, "kernel", s->kernel);
  json_string(json, "table", s->table);
  json_string(json, "instance", s->instance);
  json_signed(json, "device", s->device);
  json_string(json, "section", s->section); /* null: the whole track */
  json_string(json, "renamed_to", row->guessed ? row->now->section : NULL);
  json_string(json, "instance_now", row->now && row->now->moved ? row->now->own_instance : NULL);
  json_string(json, "verdict", diff_word(row->verdict));
  json_unsigned(json, "base_samples", row->base ? row->base->count : 0);
  json_unsigned(json, "new_samples", row->now ? row->now->count : 0);
  json_double(json, "base_cycles", row->base ? row->base_cycles : NAN);
  json_double(json, "new_cycles", row->now ? row->now_cycles : NAN);
  json_double(json, "ratio", both ? row->ratio : NAN);
  json_double(json, "ratio_low", both ? row->low : NAN);
  json_double(json, "ratio_high", both ? row->high : NAN);
  json_double(json, "p", both ? row->p : NAN);
  json_double(json, "p_corrected", both ? row->p_corrected : NAN);
  json_close(json, '}');
}

bool diff_json(const diff_result *result, FILE *to) {
  json_writer json = {.to = to};
  char words[400];
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", DIFF_SCHEMA_VERSION);
  json_string(&json, "inkmark", INKMARK_VERSION);
  json_side(&json, "base", &result->base, result->by_run, result->base_paths);
  json_side(&json, "new", &result->now, result->by_run, result->now_paths);
  json_double(&json, "level", result->settings->level);
  json_double(&json, "fail_over", result->settings->fail_over);
  json_unsigned(&json, "tested", result->tested);
  diff_assumption(result, words, sizeof words);
  json_string(&json, "assumption", words);
  json_bool(&json, "forced", result->forced);
  json_unsigned(&json, "slower", result->slower);
  json_unsigned(&json, "faster", result->faster);
  json_bool(&json, "failed", result->failed);
  json_unsigned(&json, "left_out", result->left_out);
  json_open(&json, "rows", '[');
  for (size_t i = 0; i < result->row_count; i++)
    json_row(&json, &result->rows[i]);
  json_close(&json, ']');
  json_close(&json, '}');
  return true;
}

static void html_change(double ratio, FILE *to) {
  if (isfinite(ratio))
    text_print(to, "%+.1f %%", (ratio - 1) * 100);
}

static void html_row(const diff_row *row, FILE *to) {
  const diff_series *s = any(row);
  const bool both = row->base && row->now;
  text_print(to, "<tr class=\"%s\"><td>", row->verdict == DIFF_SLOWER   ? "slower"
                                       : row->verdict == DIFF_FASTER ? "faster"
                                                                     : "");
  char more[300];
  diff_put(s->kernel, true, to);
  diff_part_more(row, more, sizeof more);
  diff_put(more, true, to);
  fputs("<td>", to);
  diff_put(s->section ? s->section : "(whole track)", true, to);
  if (row->guessed) {
    fputs(", now ", to);
    diff_put(row->now->section, true, to);
    fputs(" (guessed)", to);
  }
  text_print(to, "<td class=n>%s<td class=n>%s<td class=n>",
          row->base ? number_whole((uint64_t)(row->base_cycles + 0.5)).text : "",
          row->now ? number_whole((uint64_t)(row->now_cycles + 0.5)).text : "");
  html_change(both ? row->ratio : NAN, to);
  fputs("<td class=n>", to);
  if (both && isfinite(row->low)) {
    html_change(row->low, to);
    fputs(" to ", to);
    html_change(row->high, to);
  }
  text_print(to, "<td>%s\n", diff_word(row->verdict));
}

bool diff_html(const diff_result *result, FILE *to) {
  char words[400];
  fputs("<!doctype html>\n<html lang=en><meta charset=utf-8><title>inkmark diff</title>\n"
        "<style>body{font:14px system-ui,sans-serif;margin:2em;color-scheme:light dark}table{border-collapse:collapse}"
        "td,th{padding:.2em .8em;text-align:left}.n{text-align:right;font-variant-numeric:tabular-nums}"
        ".slower td:last-child{color:#c00;font-weight:bold}.faster td:last-child{color:#080}</style>\n<h1>",
        to);
  diff_put(result->base_paths[0], true, to);
  fputs(" and ", to);
  diff_put(result->now_paths[0], true, to);
  fputs("</h1>\n<p>", to);
  diff_assumption(result, words, sizeof words);
  diff_put(words, true, to);
  fputs("</p>\n<p style=\"white-space:pre-line\">", to);
  diff_conclusion(result, to);
  fputs(result->forced ? "forced: these captures were not made alike</p>\n" : "</p>\n", to);
  fputs("<table><thead><tr><th>kernel<th>cycles a track<th>base<th>new<th>change<th>interval<th></thead>\n", to);
  for (size_t i = 0; i < result->row_count; i++)
    html_row(&result->rows[i], to);
  fputs("</table></html>\n", to);
  return true;
}
