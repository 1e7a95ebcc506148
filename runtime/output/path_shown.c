/* SPDX-License-Identifier: MIT */
/* Chooses the launch whose critical path an output shows. */
#include "path_shown.h"

#include "table/critical.h"

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

ink_status ink_path_shown(const ink_selection *s, ink_critical_path **out) {
  const uint32_t launch = longest_launch(s);
  ink_critical_path *path = NULL;
  ink_status status = INK_OK;
  *out = NULL;
  if (launch != UINT32_MAX && s->spans[launch].track_count <= TRACKS_MAX)
    status = ink_path_find(s->capture, s->map, launch, NULL, true, &path, NULL);
  const bool whole = path && path->blocks_seen == path->blocks; /* there is no room for more words on what it does not know */
  if (whole && path->edges[INK_PATH_MARKED] + path->edges[INK_PATH_HAND_OVER] + path->edges[INK_PATH_TOGETHER] +
                  path->edges[INK_PATH_SLOT])
    *out = path;
  else
    ink_critical_path_free(path);
  return status == INK_ERROR_MEMORY ? status : INK_OK; /* a launch may have no closed track, or too many slices */
}
