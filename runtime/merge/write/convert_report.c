/* SPDX-License-Identifier: MIT */
/* What a conversion says about itself: how much there was, and what has no counterpart. */
#include "convert_other.h"

#include <stdio.h>
#include <string.h>

/* The last place takes whatever there is beyond the others. */
ink_status convert_report_left(convert_report *r, const char *what, uint64_t count) {
  size_t i = 0;
  while (i < r->left_count && strncmp(r->left[i].what, what, sizeof r->left[i].what - 1))
    i++;
  if (i == r->left_count && i < CONVERT_LEFT_MAX) {
    bool last = i == CONVERT_LEFT_MAX - 1;
    snprintf(r->left[i].what, sizeof r->left[i].what, "%s", last ? "others" : what);
    r->left_count++;
  }
  r->left[i < CONVERT_LEFT_MAX ? i : CONVERT_LEFT_MAX - 1].count += count;
  return INK_OK;
}

ink_status convert_report_key(convert_report *r, const char *key) {
  size_t used = strlen(r->keys);
  if (used + 6 < sizeof r->keys)
    snprintf(r->keys + used, sizeof r->keys - used, "%s%s", used ? ", " : "", key);
  return INK_OK;
}

ink_status convert_tell(const convert_progress *p, bool second, uint64_t at) {
  if (!p->progress)
    return INK_OK;
  uint64_t done = at < p->size ? at : p->size;
  return p->progress(p->user, done + (second ? p->size : 0), 2 * p->size);
}
