/* SPDX-License-Identifier: MIT */
/* How reports word where tracks stood that never closed: each while they are few, else by place, the largest
 * number first. */
#include "open_tracks.h"

#include "message.h"
#include "text_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 10 };

bool open_tracks_list(const loaded_capture *loaded, ink_open_track **out, size_t *count) {
  ink_error error = {0};
  if (!ink_open_tracks(loaded->capture, loaded->map, out, count, &error))
    return true;
  message_say("'%s': %s", loaded->path, error.message);
  return false;
}

/* "3.9 s". */
static const char *span(double ns, char text[32]) {
  static const struct {
    double least, unit;
    const char *name;
  } units[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
  size_t i = 0;
  while (ns < units[i].least)
    i++;
  snprintf(text, 32, "%.*f %s", ns < units[i].unit * 10 && units[i].unit > 1 ? 1 : 0, ns / units[i].unit,
           units[i].name);
  return text;
}

const char *open_tracks_words(const loaded_capture *loaded, const ink_open_track *track, bool details,
                              char *text) {
  const ink_place *p = &track->place;
  size_t n = 0;
  const size_t room = OPEN_WORDS_BYTES;
  char ns[32];
  if (!p->known) {
    snprintf(text, room, "where it stood is not known");
    return text;
  }
  if (p->inside != INK_SECTION_UNKNOWN) {
    n += (size_t)snprintf(text + n, room - n, "inside %.100s", load_section_name(loaded, p->inside));
    if (details && track->seen_known)
      n += (size_t)snprintf(text + n, room - n, " (began %s before it was last seen)",
                            span(track->inside_ns, ns));
  } else if (p->ranges) {
    n += (size_t)snprintf(text + n, room - n, "inside a range whose begin is lost");
  }
  if (p->after != INK_SECTION_UNKNOWN)
    n += (size_t)snprintf(text + n, room - n, "%safter %.100s", n ? ", " : "",
                          load_section_name(loaded, p->after));
  if (!n)
    n += (size_t)snprintf(text + n, room - n,
                          track->marks || !p->newest ? "at an unknown place" : "before its first mark");
  if (!p->newest)
    n += (size_t)snprintf(text + n, room - n, " or later");
  if (details && p->row != INK_ROW_NONE && p->row != INK_ROW_UNKNOWN)
    snprintf(text + n, room - n, ", iteration %" PRId64, p->row);
  return text;
}

/* ---- many of them -------------------------------------------------------------------------- */

typedef struct group {
  const ink_open_track *first;
  uint32_t kernel;
  uint64_t count;
} group;

static uint32_t kernel_of(const loaded_capture *loaded, const ink_open_track *track) {
  ink_stored_track stored;
  ink_capture_track(loaded->capture, track->track, &stored);
  return stored.kernel;
}

static bool same_place(const ink_open_track *a, const ink_open_track *b) {
  return a->place.known == b->place.known && a->place.newest == b->place.newest &&
         a->place.ranges == b->place.ranges && a->place.inside == b->place.inside &&
         a->place.after == b->place.after && a->cut == b->cut;
}

static int by_count(const void *left, const void *right) {
  const group *a = left, *b = right;
  if (a->count != b->count)
    return a->count > b->count ? -1 : 1;
  return (a->first->track > b->first->track) - (a->first->track < b->first->track);
}

static void print_groups(const loaded_capture *loaded, const ink_open_track *tracks, size_t count, FILE *to) {
  enum { GROUPS_MOST = 256 };
  group *groups = calloc(GROUPS_MOST, sizeof *groups);
  char words[OPEN_WORDS_BYTES], place[LOAD_PLACE_BYTES];
  size_t n = 0;
  uint64_t others = 0;
  if (!groups)
    return;
  for (size_t i = 0; i < count; i++) {
    const uint32_t kernel = kernel_of(loaded, &tracks[i]);
    size_t k = 0;
    while (k < n && (groups[k].kernel != kernel || !same_place(groups[k].first, &tracks[i])))
      k++;
    if (k == GROUPS_MOST) {
      others++;
      continue;
    }
    if (k == n)
      groups[n++] = (group){.first = &tracks[i], .kernel = kernel};
    groups[k].count++;
  }
  qsort(groups, n, sizeof *groups, by_count);
  for (size_t k = 0; k < n && k < SHOWN_MOST; k++)
    text_print(to, "  %s %s, the first: %s\n", number_whole(groups[k].count).text,
            open_tracks_words(loaded, groups[k].first, false, words),
            load_track_place(loaded, groups[k].first->track, place));
  for (size_t k = SHOWN_MOST; k < n; k++)
    others += groups[k].count;
  if (others)
    text_print(to, "  %s elsewhere\n", number_whole(others).text);
  free(groups);
}

void open_tracks_print(const loaded_capture *loaded, const ink_open_track *tracks, size_t count, bool all,
                       FILE *to) {
  char words[OPEN_WORDS_BYTES], place[LOAD_PLACE_BYTES];
  if (count > SHOWN_MOST && !all) {
    print_groups(loaded, tracks, count, to);
    return;
  }
  for (size_t i = 0; i < count; i++)
    text_print(to, "  %s: %s%s\n", load_track_place(loaded, tracks[i].track, place),
            open_tracks_words(loaded, &tracks[i], true, words), tracks[i].cut ? "; left there" : "");
}
