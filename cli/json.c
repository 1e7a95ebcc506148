/* SPDX-License-Identifier: MIT */
/* Writes JSON and CSV fields to a stream. */
#include "json.h"

#include "inkmark/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text in one of the forms of the library. */
static void put(FILE *to, enum ink_text_form form, const char *text) {
  char near[512], *out = near;
  const size_t bytes = strlen(text), length = ink_text_put(near, sizeof near, form, text, bytes);
  if (length >= sizeof near) {
    out = malloc(length + 1);
    if (out)
      ink_text_put(out, length + 1, form, text, bytes);
  }
  fputs(out ? out : "(out of memory)", to);
  if (out != near)
    free(out);
}

static void quote(FILE *to, const char *text) {
  fputc('"', to);
  put(to, INK_TEXT_JSON, text);
  fputc('"', to);
}

/* The comma, the new line and the key that come before a value. */
static void lead(json_writer *json, const char *key) {
  if (json->follows)
    fputc(',', json->to);
  if (json->flat && json->depth >= json->flat)
    fputs(json->follows ? " " : "", json->to);
  else if (json->depth)
    fprintf(json->to, "\n%*s", json->depth * 2, "");
  if (key) {
    quote(json->to, key);
    fputs(": ", json->to);
  }
  json->follows = true;
}

void json_open(json_writer *json, const char *key, char bracket) {
  lead(json, key);
  fputc(bracket, json->to);
  json->depth++;
  json->follows = false;
}

void json_open_flat(json_writer *json, const char *key) {
  json_open(json, key, '{');
  if (!json->flat)
    json->flat = json->depth;
}

void json_close(json_writer *json, char bracket) {
  bool flat = json->flat && json->depth >= json->flat;
  if (json->flat == json->depth)
    json->flat = 0;
  json->depth--;
  if (json->follows && !flat)
    fprintf(json->to, "\n%*s", json->depth * 2, "");
  fputc(bracket, json->to);
  if (!json->depth)
    fputc('\n', json->to);
  json->follows = true;
}

void json_string(json_writer *json, const char *key, const char *value) {
  lead(json, key);
  if (value)
    quote(json->to, value);
  else
    fputs("null", json->to);
}

void json_unsigned(json_writer *json, const char *key, uint64_t value) {
  lead(json, key);
  fprintf(json->to, "%" PRIu64, value);
}

void json_signed(json_writer *json, const char *key, int64_t value) {
  lead(json, key);
  fprintf(json->to, "%" PRId64, value);
}

void json_double(json_writer *json, const char *key, double value) {
  lead(json, key);
  if (isfinite(value))
    fprintf(json->to, "%.12g", value);
  else
    fputs("null", json->to);
}

void json_bool(json_writer *json, const char *key, bool value) {
  lead(json, key);
  fputs(value ? "true" : "false", json->to);
}

void csv_field(FILE *to, const char *text) {
  put(to, INK_TEXT_CELL, text);
}
