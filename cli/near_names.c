/* SPDX-License-Identifier: MIT */
/* Names to choose from, the nearest to what was typed first. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8 };

typedef struct near_name {
  const char *name;
  size_t distance;
} near_name;

static int by_distance(const void *left, const void *right) {
  const near_name *a = left, *b = right;
  if (a->distance != b->distance)
    return a->distance < b->distance ? -1 : 1;
  return strcmp(a->name, b->name);
}

/* How far a name is from a regular expression that was most likely meant as a name. */
static size_t distance_of(const char *regex, const char *name) {
  char word[64];
  const size_t n = strlen(regex);
  const size_t first = regex[0] == '^', last = n > first && regex[n - 1] == '$';
  snprintf(word, sizeof word, "%.*s", (int)(n - first - last), regex + first);
  return cli_edit_distance(word, name);
}

size_t cli_list_near(const char *regex, const char *const *names, size_t n, char *text,
                     size_t bytes) {
  near_name *near = malloc((n + 1) * sizeof *near);
  size_t used = 0, count = 0;
  text[0] = 0;
  for (size_t i = 0; near && i < n; i++)
    near[i] = (near_name){names[i], distance_of(regex, names[i])};
  if (near && n)
    qsort(near, n, sizeof *near, by_distance);
  for (size_t i = 0; near && i < n; i++) {
    if (i && !strcmp(near[i].name, near[i - 1].name))
      continue;
    if (++count <= SHOWN && used < bytes)
      used += (size_t)snprintf(text + used, bytes - used, "%s'%.60s'", count > 1 ? ", " : "",
                               near[i].name);
  }
  if (count > SHOWN && used < bytes)
    snprintf(text + used, bytes - used, " and %zu more", count - SHOWN);
  free(near);
  return count;
}
