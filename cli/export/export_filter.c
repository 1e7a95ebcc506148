/* SPDX-License-Identifier: MIT */
/* Reads "10ms-12ms", "0-15", "40-44" and "1us=drop". */
#include "export_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool export_filter_given(const export_filter_texts *t) {
  return t->time || t->blocks || t->iterations || t->shorter_than;
}

/* A duration with its unit at the beginning of `text`; NULL: there is none. */
static const char *read_duration(const char *text, double *ns) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  char *end;
  if (*text < '0' || *text > '9')
    return NULL;
  const double value = strtod(text, &end);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t length = strlen(units[i].name);
    if (strncmp(end, units[i].name, length))
      continue;
    *ns = value * units[i].ns;
    return isfinite(*ns) && *ns < 9e18 ? end + length : NULL;
  }
  return NULL;
}

static bool read_time(const char *text, ink_output_filter *out) {
  double from, to;
  const char *at = read_duration(text, &from);
  if (!at || *at != '-' || !(at = read_duration(at + 1, &to)) || *at || to < from)
    return false;
  out->time = true;
  out->from_ns = (int64_t)from;
  out->to_ns = (int64_t)to;
  return true;
}

/* "4" or "4-7". */
static bool read_range(const char *text, uint64_t *first, uint64_t *last) {
  char *end;
  if (*text < '0' || *text > '9')
    return false;
  errno = 0;
  *first = *last = strtoull(text, &end, 10);
  if (*end == '-' && end[1] >= '0' && end[1] <= '9')
    *last = strtoull(end + 1, &end, 10);
  return !*end && !errno && *last >= *first && *last <= INT64_MAX;
}

static bool read_shorter(const char *text, ink_output_filter *out) {
  double ns;
  const char *at = read_duration(text, &ns);
  if (!at || (*at && strcmp(at, "=drop")) || ns < 1)
    return false;
  out->shorter_ns = (uint64_t)ns;
  return true;
}

int export_filter_parse(const cli_command *command, const export_filter_texts *t, ink_output_filter *out) {
  uint64_t rows[2] = {0, 0};
  if (t->time && !read_time(t->time, out))
    return cli_usage_error(command, "'--time' takes two times from the begin, as '10ms-12ms', not '%s'", t->time);
  if (t->blocks && !(out->blocks = read_range(t->blocks, &out->first_block, &out->last_block)))
    return cli_usage_error(command, "'--blocks' takes 'A' or 'A-B', not '%s'", t->blocks);
  if (t->iterations && !(out->iterations = read_range(t->iterations, &rows[0], &rows[1])))
    return cli_usage_error(command, "'--iterations' takes 'A' or 'A-B', not '%s'", t->iterations);
  out->first_iteration = (int64_t)rows[0];
  out->last_iteration = (int64_t)rows[1];
  if (t->shorter_than && !read_shorter(t->shorter_than, out))
    return cli_usage_error(command, "'--shorter-than' takes a time, as '1us=drop', not '%s'", t->shorter_than);
  return CLI_OK;
}
