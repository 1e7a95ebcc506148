/* SPDX-License-Identifier: MIT */
/* Chooses the launch whose critical path an output shows. */
#include "path_shown.h"

#include "table/critical.h"

#include <inttypes.h>
#include <stdio.h>

enum { TRACKS_MAX = 65536 }; /* a launch of more is not looked at: an output is to be quick */

static uint32_t longest_launch(const ink_selection *s) {
  uint32_t best = UINT32_MAX;
  for (size_t i = 0; i < s->launch_count; i++)
    if (ink_selection_has(s, i) && s->spans[i].track_count &&
        (best == UINT32_MAX || ink_ns_between(s->spans[i].begin_ns, s->spans[i].end_ns) >
                                   ink_ns_between(s->spans[best].begin_ns, s->spans[best].end_ns)))
      best = (uint32_t)i;
  return best;
}

/* What the path would say of less than all of the launch, or of one track alone. */
static void say_why(const ink_critical_path *path, char *why, size_t bytes) {
  if (path->blocks_seen != path->blocks)
    snprintf(why, bytes, "%" PRIu64 " of %" PRIu64 " blocks have no track here", path->blocks - path->blocks_seen, path->blocks);
  else
    snprintf(why, bytes, "nothing tells that a track waited for another: no section that waits (by its name), no range across "
                         "threads, no block where another one had ended");
}

ink_status ink_path_shown(const ink_selection *s, ink_critical_path **out, ink_path_none *none) {
  ink_path_none unused;
  ink_critical_path *path = NULL;
  ink_error error = {0};
  ink_status status = INK_OK;
  none = none ? none : &unused;
  *none = (ink_path_none){.launch = longest_launch(s)};
  *out = NULL;
  if (none->launch == UINT32_MAX)
    return INK_OK;
  if (s->spans[none->launch].track_count > TRACKS_MAX) {
    snprintf(none->why, sizeof none->why, "it has more than %d tracks; 'inkmark report --path' looks at more", TRACKS_MAX);
    return INK_OK;
  }
  status = ink_path_find(s->capture, s->map, none->launch, NULL, true, &path, &error);
  if (status != INK_OK) /* a launch may have no closed track, or too many slices */
    snprintf(none->why, sizeof none->why, "%.190s", error.message);
  const bool whole = path && path->blocks_seen == path->blocks; /* there is no room for more words on what it does not know */
  if (whole && path->edges[INK_PATH_MARKED] + path->edges[INK_PATH_HAND_OVER] + path->edges[INK_PATH_TOGETHER] +
                  path->edges[INK_PATH_SLOT]) {
    *out = path;
    return INK_OK;
  }
  if (path)
    say_why(path, none->why, sizeof none->why);
  ink_critical_path_free(path);
  return status == INK_ERROR_MEMORY ? status : INK_OK;
}
