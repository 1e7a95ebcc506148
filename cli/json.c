/* SPDX-License-Identifier: MIT */
/* Writes JSON and CSV fields to a stream. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void quote(FILE *to, const char *text) {
  fputc('"', to);
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at == '"' || *at == '\\')
      fprintf(to, "\\%c", *at);
    else if (*at < 0x20 || *at == 0x7f)
      fprintf(to, "\\u%04x", *at);
    else
      fputc(*at, to);
  }
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
  if (!text[strcspn(text, ",\"\r\n")]) {
    fputs(text, to);
    return;
  }
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"')
      fputc('"', to);
    fputc(*text, to);
  }
  fputc('"', to);
}
