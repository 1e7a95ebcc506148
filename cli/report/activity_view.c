/* SPDX-License-Identifier: MIT */
/* Gathers what `inkmark report --activity` shows: filters, joins with launches, sums up. */
#include "report_activity.h"

#include "message.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- filters ---- */

static bool matches(const regex_t *regex, const activity_view *view, const ink_activity *a) {
  char name[512];
  if (a->kind != INK_ACTIVITY_KERNEL)
    return false;
  ink_activity_short_name(activity_name(view, a), name, sizeof name);
  return !regexec(regex, name, 0, NULL, 0) || !regexec(regex, activity_name(view, a), 0, NULL, 0);
}

static void take_items(activity_view *view, const ink_activity *const *all, size_t n,
                       const regex_t *regex) {
  const uint64_t wanted = view->settings->launch;
  for (size_t i = 0; i < n; i++) {
    const bool kernel = all[i]->kind == INK_ACTIVITY_KERNEL;
    const uint32_t launch = ink_activity_launch(view->loaded.capture, all[i]);
    if ((regex && !matches(regex, view, all[i])) || (wanted != UINT64_MAX && launch != wanted))
      continue;
    view->items[view->count++] = (activity_item){all[i], launch};
    view->kernels += kernel;
    view->joined += launch != ACTIVITY_NO_LAUNCH;
  }
  view->first_ns = view->count ? view->items[0].a->begin_ns : 0;
}

/* ---- groups ---- */

static int compare_bytes(const void *a, const void *b, size_t bytes) {
  return memcmp(a, b, bytes);
}

static int compare_kinds(const ink_activity *a, const ink_activity *b) {
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->name != b->name)
    return a->name < b->name ? -1 : 1;
  if (a->kind == INK_ACTIVITY_COPY)
    return a->copy != b->copy ? (a->copy < b->copy ? -1 : 1)
                              : (a->peer > b->peer) - (a->peer < b->peer);
  if (a->kind != INK_ACTIVITY_KERNEL)
    return 0;
  const uint32_t left[] = {a->block_dim[0], a->block_dim[1],        a->block_dim[2],
                           a->registers,    a->static_shared_bytes, a->dynamic_shared_bytes};
  const uint32_t right[] = {b->block_dim[0], b->block_dim[1],        b->block_dim[2],
                            b->registers,    b->static_shared_bytes, b->dynamic_shared_bytes};
  return compare_bytes(left, right, sizeof left);
}

static uint64_t lasted(const ink_activity *a) {
  return a->end_ns - a->begin_ns;
}

static int compare_for_groups(const void *left, const void *right) {
  const ink_activity *a = *(const ink_activity *const *)left;
  const ink_activity *b = *(const ink_activity *const *)right;
  const int kinds = compare_kinds(a, b);
  return kinds ? kinds : (lasted(a) > lasted(b)) - (lasted(a) < lasted(b));
}

static int compare_groups(const void *left, const void *right) {
  const activity_group *a = left, *b = right;
  if (a->sample->kind != b->sample->kind)
    return a->sample->kind < b->sample->kind ? -1 : 1;
  if (a->total_ns != b->total_ns)
    return a->total_ns > b->total_ns ? -1 : 1;
  return compare_kinds(a->sample, b->sample);
}

static bool make_groups(activity_view *view) {
  const ink_activity **sorted = malloc((view->count + 1) * sizeof *sorted);
  view->groups = malloc((view->count + 1) * sizeof *view->groups);
  if (!sorted || !view->groups) {
    free(sorted);
    return false;
  }
  for (size_t i = 0; i < view->count; i++)
    sorted[i] = view->items[i].a;
  if (view->count)
    qsort(sorted, view->count, sizeof *sorted, compare_for_groups);
  for (size_t first = 0, last; first < view->count; first = last) {
    activity_group group = {.sample = sorted[first]};
    for (last = first; last < view->count && !compare_kinds(sorted[first], sorted[last]); last++) {
      group.total_ns += lasted(sorted[last]);
      group.bytes += sorted[last]->bytes;
    }
    group.count = last - first;
    group.min_ns = lasted(sorted[first]);
    group.max_ns = lasted(sorted[last - 1]);
    group.median_ns = lasted(sorted[first + (last - first - 1) / 2]);
    view->groups[view->group_count++] = group;
  }
  free(sorted);
  if (view->group_count)
    qsort(view->groups, view->group_count, sizeof *view->groups, compare_groups);
  return true;
}

/* ---- devices ---- */

typedef struct busy_until {
  uint64_t kernel, copy, any;
} busy_until;

/* Items come by begin: what of one lies behind the end of those before it is busy time. */
static void add_busy(uint64_t *busy, uint64_t *until, const ink_activity *a) {
  const uint64_t from = a->begin_ns > *until ? a->begin_ns : *until;
  if (a->end_ns > from) {
    *busy += a->end_ns - from;
    *until = a->end_ns;
  }
}

static activity_use *use_of(activity_view *view, busy_until *until, int32_t device) {
  for (size_t i = 0; i < view->use_count; i++)
    if (view->uses[i].device == device)
      return &view->uses[i];
  if (view->use_count == 64)
    return NULL;
  until[view->use_count] = (busy_until){0, 0, 0};
  view->uses[view->use_count] = (activity_use){.device = device, .begin_ns = UINT64_MAX};
  return &view->uses[view->use_count++];
}

static int compare_uses(const void *left, const void *right) {
  const activity_use *a = left, *b = right;
  return (a->device > b->device) - (a->device < b->device);
}

static bool make_uses(activity_view *view) {
  busy_until until[64];
  view->uses = calloc(64, sizeof *view->uses);
  if (!view->uses)
    return false;
  for (size_t i = 0; i < view->count; i++) {
    const ink_activity *a = view->items[i].a;
    activity_use *use = a->device >= 0 ? use_of(view, until, a->device) : NULL;
    if (!use)
      continue;
    busy_until *u = &until[use - view->uses];
    use->begin_ns = a->begin_ns < use->begin_ns ? a->begin_ns : use->begin_ns;
    use->end_ns = a->end_ns > use->end_ns ? a->end_ns : use->end_ns;
    add_busy(&use->busy_ns, &u->any, a);
    if (a->kind == INK_ACTIVITY_KERNEL) {
      use->kernels++;
      add_busy(&use->kernel_busy_ns, &u->kernel, a);
    } else if (a->kind == INK_ACTIVITY_COPY) {
      use->copies++;
      use->copied_bytes += a->bytes;
      add_busy(&use->copy_busy_ns, &u->copy, a);
    } else {
      use->sets++;
    }
  }
  if (view->use_count)
    qsort(view->uses, view->use_count, sizeof *view->uses, compare_uses);
  return true;
}

/* ---- how well the two clocks agree ---- */

typedef struct track_span {
  int64_t begin_ns, end_ns;
  bool any;
} track_span;

static void add_track(const activity_view *view, const ink_stored_track *track, track_span *spans) {
  const ink_track *h = &track->header;
  track_span *span = &spans[track->launch];
  if (h->state != INK_TRACK_CLOSED)
    return;
  const int64_t begin =
      ink_clock_map_ns(view->loaded.map, track->device, h->sm_open, h->open_clock1);
  const int64_t end =
      ink_clock_map_ns(view->loaded.map, track->device, h->sm_close, h->close_clock0);
  span->begin_ns = !span->any || begin < span->begin_ns ? begin : span->begin_ns;
  span->end_ns = !span->any || end > span->end_ns ? end : span->end_ns;
  span->any = true;
}

/* Tracks run inside of their kernels: where their times do not, the clocks are off by that. */
static bool compare_clocks(activity_view *view) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(view->loaded.capture, &launches);
  track_span *spans = calloc(n + 1, sizeof *spans);
  if (!spans)
    return false;
  for (uint64_t i = 0; view->joined && i < ink_capture_track_count(view->loaded.capture); i++) {
    ink_stored_track track;
    ink_capture_track(view->loaded.capture, i, &track);
    if (track.launch < n)
      add_track(view, &track, spans);
  }
  for (size_t i = 0; i < view->count; i++) {
    const activity_item *item = &view->items[i];
    const track_span *span = item->launch < n ? &spans[item->launch] : NULL;
    if (!span || !span->any)
      continue;
    const int64_t early =
        ink_activity_unix_ns(&view->clock, item->a->device, item->a->begin_ns) - span->begin_ns;
    const int64_t late =
        span->end_ns - ink_activity_unix_ns(&view->clock, item->a->device, item->a->end_ns);
    view->outside += early > 0 || late > 0;
    view->early_ns = early > view->early_ns ? early : view->early_ns;
    view->late_ns = late > view->late_ns ? late : view->late_ns;
  }
  free(spans);
  return true;
}

/* ---- making ---- */

static void say_no_kernel(const activity_view *view, const ink_activity *const *all, size_t n) {
  enum { NAME = 128 };
  const char **names = malloc((n + 1) * sizeof *names);
  char (*text)[NAME] = malloc((n + 1) * sizeof *text);
  size_t count = 0;
  for (size_t i = 0; names && text && i < n; i++)
    if (all[i]->kind == INK_ACTIVITY_KERNEL) {
      ink_activity_short_name(activity_name(view, all[i]), text[count], NAME);
      names[count] = text[count];
      count++;
    }
  if (names && text)
    load_say_no_match(view->loaded.path, view->settings->kernel, names, count);
  free(names);
  free(text);
}

bool activity_view_make(const report_settings *settings, const char *path, activity_view *view) {
  const ink_activity *const *all;
  regex_t regex;
  bool has_regex = false;
  *view = (activity_view){.settings = settings};
  if (!load_capture(path, &view->loaded))
    return false;
  if (!load_check_launch(&view->loaded, settings->launch)) {
    activity_view_free(view);
    return false;
  }
  view->clock = ink_activity_clock_make(view->loaded.capture, view->loaded.map);
  const size_t n = ink_capture_activities(view->loaded.capture, &all, &view->own);
  view->items = malloc((n + 1) * sizeof *view->items);
  bool fine = view->items != NULL;
  if (fine && settings->kernel)
    fine = has_regex = !regcomp(&regex, settings->kernel, REG_EXTENDED | REG_NOSUB);
  if (fine)
    take_items(view, all, n, has_regex ? &regex : NULL);
  if (has_regex)
    regfree(&regex);
  if (has_regex && n && !view->count) {
    say_no_kernel(view, all, n);
    activity_view_free(view);
    return false;
  }
  fine = fine && make_groups(view) && make_uses(view) && compare_clocks(view);
  if (!fine) {
    message_say("out of memory");
    activity_view_free(view);
  }
  return fine;
}

void activity_view_free(activity_view *view) {
  free(view->items);
  free(view->groups);
  free(view->uses);
  unload_capture(&view->loaded);
}

/* ---- words ---- */

const ink_activity_device *activity_device(const activity_view *view, int32_t device) {
  const ink_activity_device *devices;
  const size_t n = ink_capture_activity_devices(view->loaded.capture, &devices);
  for (size_t i = 0; i < n; i++)
    if (devices[i].index == device)
      return &devices[i];
  return NULL;
}

uint64_t activity_tracks(const activity_view *view, uint32_t launch) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(view->loaded.capture, &launches);
  return launch < n ? launches[launch].track_count : 0;
}

const char *activity_name(const activity_view *view, const ink_activity *a) {
  if (a->kind == INK_ACTIVITY_COPY)
    return ink_activity_copy_words(a->copy);
  if (a->kind == INK_ACTIVITY_SET)
    return "memset";
  return ink_capture_activity_name(view->loaded.capture, a->name);
}

const char *activity_kind_word(uint32_t kind) {
  static const char *const words[] = {"?", "kernel", "copy", "set", "runtime call", "driver call"};
  return words[kind < sizeof words / sizeof *words ? kind : 0];
}

const char *activity_limit_word(enum ink_occupancy_limit limit) {
  static const char *const words[] = {"", "warps", "blocks", "registers", "shared memory"};
  return words[limit];
}
