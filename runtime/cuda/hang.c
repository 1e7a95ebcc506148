/* SPDX-License-Identifier: MIT */
/* Tells a launch that hangs: its tracks are open, and for the time that was given none of them got a record, none
 * ended and none began. What is said is what their rings hold at that moment. */
#include "cuda/hang.h"

#include "cuda/hang_place.h"
#include "monotonic.h"
#include "shm/link.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES_MAX = 32, STEPS_MAX = 48, STEPS_FROM = 256, GROUPS_MAX = 4, LOOKS_A_HANG = 8 };

typedef struct step_count {
  ink_i_section from, to;
  uint64_t count;
} step_count;

/* How many tracks went on from where to where. */
typedef struct steps {
  step_count items[STEPS_MAX];
  uint32_t count, tracks;
} steps;

typedef struct launch {
  uint64_t grid_id;
  uint32_t kernel;
  uint64_t ended, open, open_before;
  int64_t began_ns, moved_ns, told_ns; /* CLOCK_MONOTONIC; told_ns 0: nothing was said */
  steps of_ended;                      /* the first STEPS_FROM of them */
} launch;

/* Tracks at one place. */
typedef struct group {
  ink_i_place place;
  ink_track first;
  int64_t moved_ns;
  uint64_t count;
  uint32_t own[STEPS_MAX];  /* of of_told, how many of these tracks took the step */
} group;

struct ink_i_hang {
  launch launches[LAUNCHES_MAX];
  uint32_t count;
  int64_t look_ns;
  launch *told;             /* the one that is being told */
  steps of_told;            /* its open tracks' too */
  group groups[64];
  uint32_t group_count;
  uint64_t elsewhere;
};

/* ---- launches ---- */

/* The launch's entry; the one that moved longest ago makes room for a new one. */
static launch *launch_of(ink_i_device *d, const ink_track *track) {
  if (!d->hang)
    d->hang = calloc(1, sizeof *d->hang);
  if (!d->hang)
    return NULL;
  ink_i_hang *h = d->hang;
  launch *oldest = &h->launches[0];
  for (uint32_t i = 0; i < h->count; i++) {
    if (h->launches[i].grid_id == track->grid_id && h->launches[i].kernel == track->kernel)
      return &h->launches[i];
    if (h->launches[i].moved_ns < oldest->moved_ns && !h->launches[i].open_before)
      oldest = &h->launches[i];
  }
  launch *l = h->count < LAUNCHES_MAX ? &h->launches[h->count++] : oldest;
  *l = (launch){.grid_id = track->grid_id, .kernel = track->kernel};
  l->began_ns = l->moved_ns = ink_i_monotonic_ns();
  return l;
}

static bool same(ink_i_section a, ink_i_section b) { return a.id == b.id && a.hash48 == b.hash48; }

/* The step's place, or STEPS_MAX: there is no room. */
static uint32_t add_step(steps *s, ink_i_section from, ink_i_section to) {
  uint32_t i = 0;
  while (i < s->count && !(same(s->items[i].from, from) && same(s->items[i].to, to)))
    i++;
  if (i == s->count && i < STEPS_MAX)
    s->items[s->count++] = (step_count){from, to, 0};
  if (i < STEPS_MAX)
    s->items[i].count++;
  return i;
}

static void count_step(void *user, ink_i_section from, ink_i_section to) { add_step(user, from, to); }

/* Of one track each step counts once; in `own` too, by its place. */
static void note_steps(steps *s, uint32_t *own, const uint64_t *words, uint64_t count, uint64_t open_clock, uint64_t last_clock) {
  steps one = {.count = 0};
  if (ink_i_place_steps(words, count, open_clock, last_clock, count_step, &one, NULL))
    return;
  s->tracks++;
  for (uint32_t i = 0; i < one.count; i++) {
    const uint32_t at = add_step(s, one.items[i].from, one.items[i].to);
    if (own && at < STEPS_MAX)
      own[at]++;
  }
}

void ink_i_hang_note_closed(ink_i_device *d, const ink_track *track, const uint64_t *ring) {
  const uint64_t records = d->info.records_per_track, next = track->words & (records - 1);
  launch *l = launch_of(d, track);
  if (!l)
    return;
  l->ended++;
  l->moved_ns = ink_i_monotonic_ns();
  l->told_ns = 0;
  if (!track->words || l->of_ended.tracks >= STEPS_FROM)
    return;
  /* Of one that wrapped what stands in front of its newest word. */
  const uint64_t count = track->words <= records ? track->words : next ? next : records;
  note_steps(&l->of_ended, NULL, ring, count, track->open_clock1, track->close_clock0);
}

/* ---- words ---- */

/* Name number `id` of a table, as PROF_SECTIONS has it. */
static void section_name(uint64_t hash48, uint32_t id, char *out, size_t bytes) {
  snprintf(out, bytes, "?");
  ink_i_table *tables;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_tables(&tables);
  for (size_t t = 0; t < n && id; t++) {
    if (tables[t].hash48 != hash48)
      continue;
    const char *at = tables[t].sections;
    for (uint32_t i = 1; i < id && *at; i++)
      at += strcspn(at, ","), at += *at == ',';
    at += strspn(at, " ");
    snprintf(out, bytes, "%.*s", (int)strcspn(at, ","), at);
  }
  ink_i_registry_unlock();
  for (char *at = out; *at; at++)
    *at = *at == INK_NAME_COMMA ? ',' : *at;
}

static uint64_t kernel_key(const ink_i_device *d, uint32_t kernel) {
  return kernel < d->slot_count ? d->slots[kernel].key : 0;
}

static void name_of(const ink_i_device *d, uint32_t kernel, ink_i_section section, char *out, size_t bytes) {
  section_name(section.hash48 ? section.hash48 : kernel_key(d, kernel) >> 16, section.id, out, bytes);
}

typedef struct line {
  char text[900];
  size_t used;
} line;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void put(line *l, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, arguments);
  va_end(arguments);
  l->used += n < 0 ? 0 : (size_t)n;
  if (l->used >= sizeof l->text)
    l->used = sizeof l->text - 1;
}

/* "12 s", "3.9 s" */
static void put_seconds(line *l, int64_t ns) {
  if (ns >= 9950000000)
    put(l, "%" PRId64 " s", (ns + 500000000) / 1000000000);
  else
    put(l, "%" PRId64 ".%" PRId64 " s", (ns + 50000000) / 1000000000, (ns + 50000000) / 100000000 % 10);
}

static void put_track(const ink_i_device *d, line *l, const ink_track *t) {
  const uint64_t block =
      t->block_index[0] + (uint64_t)t->grid_dim[0] * (t->block_index[1] + (uint64_t)t->grid_dim[1] * t->block_index[2]);
  put(l, "block %" PRIu64, block);
  if (d->info.flags & INK_BUFFER_PER_WARP || t->thread)
    put(l, " warp %" PRIu32, t->thread / 32);
}

/* How many other tracks went on from there, to where most of them went. */
static void put_next(const ink_i_device *d, line *l, const launch *of, const group *g) {
  const steps *s = &d->hang->of_told;
  uint64_t most = 0;
  ink_i_section to = {0, 0};
  char name[200];
  for (uint32_t i = 0; i < s->count; i++)
    if (same(s->items[i].from, g->place.after) && s->items[i].count - g->own[i] > most) {
      most = s->items[i].count - g->own[i];
      to = s->items[i].to;
    }
  if (!most)
    return;
  name_of(d, of->kernel, to, name, sizeof name);
  put(l, " (%s%" PRIu64 " other track%s mark%s %s next)", of->ended > of->of_ended.tracks ? "at least " : "", most,
      most == 1 ? "" : "s", most == 1 ? "s" : "", name);
}

static void put_group(const ink_i_device *d, line *l, const launch *of, const group *g, int64_t now_ns) {
  const ink_i_place *p = &g->place;
  char name[200];
  put_track(d, l, &g->first);
  if (p->inside.id && p->known) {
    name_of(d, of->kernel, p->inside, name, sizeof name);
    put(l, " inside %s (began ", name);
    const uint64_t cycles = p->newest_clock - p->inside_clock, khz = d->info.clock_khz;
    put_seconds(l, now_ns - g->moved_ns + (khz ? (int64_t)((double)cycles * 1e6 / (double)khz) : 0));
    put(l, " ago)");
  } else if (p->after.id) {
    name_of(d, of->kernel, p->after, name, sizeof name);
    put(l, p->known ? " after %s" : " somewhere after %s", name);
    if (p->known)
      put_next(d, l, of, g);
  } else {
    put(l, p->known && !p->has_records ? " before its first mark" : " at a place that cannot be told");
  }
  if (p->has_iteration)
    put(l, ", iteration %" PRId64, p->iteration);
  if (g->count > 1)
    put(l, ", and %" PRIu64 " more there", g->count - 1);
}

/* ---- looking ---- */

static bool at_one_place(const ink_i_place *a, const ink_i_place *b) {
  return a->known == b->known && same(a->inside, b->inside) && (a->inside.id || same(a->after, b->after)) &&
         a->has_records == b->has_records && a->has_iteration == b->has_iteration && a->iteration == b->iteration;
}

static void add_to_group(ink_i_hang *h, const ink_i_open_view *view, const ink_i_place *place) {
  group *g = NULL;
  for (uint32_t i = 0; i < h->group_count && !g; i++)
    if (at_one_place(&h->groups[i].place, place))
      g = &h->groups[i];
  if (!g && h->group_count < sizeof h->groups / sizeof *h->groups) {
    g = &h->groups[h->group_count++];
    *g = (group){.place = *place, .first = view->track, .moved_ns = view->follow->changed_ns};
  }
  if (g)
    g->count++;
  else
    h->elsewhere++;
  if (view->found[0].count)
    note_steps(&h->of_told, g ? g->own : NULL, view->words[0], view->found[0].count, view->track.open_clock1,
               view->found[0].reached_clock);
}

/* First whether anything moved, then, of the launch that is told, where its tracks are. */
static ink_status see(ink_session *s, ink_i_device *d, const ink_i_open_view *view, void *user, ink_error *error) {
  (void)s, (void)user;
  ink_i_place place;
  launch *l = launch_of(d, &view->track);
  if (!l)
    return INK_OK;
  if (d->hang->told) {
    if (d->hang->told != l)
      return INK_OK;
    const ink_status status = ink_i_place_of(view, &place, error);
    if (!status)
      add_to_group(d->hang, view, &place);
    return status;
  }
  l->open++;
  if (view->follow->changed_ns > l->moved_ns) {
    l->moved_ns = view->follow->changed_ns;
    l->told_ns = 0;
  }
  return INK_OK;
}

static int rank_of(const group *g) { return g->place.inside.id && g->place.known ? 0 : g->place.known ? 1 : 2; }

static int by_rank(const void *left, const void *right) {
  const group *a = left, *b = right;
  if (rank_of(a) != rank_of(b))
    return rank_of(a) - rank_of(b);
  return a->first.ticket < b->first.ticket ? -1 : 1;
}

static ink_status tell(ink_session *s, ink_i_device *d, launch *l, int64_t now_ns, ink_error *error) {
  ink_i_hang *h = d->hang;
  line out = {.used = 0};
  char name[200];
  h->told = l;
  h->of_told = l->of_ended;
  h->group_count = 0;
  h->elsewhere = 0;
  ink_status status = ink_i_open_view_each(s, d, ink_i_drain_list_open(d), false, false, see, NULL, error);
  h->told = NULL;
  if (status || !h->group_count)
    return status;
  qsort(h->groups, h->group_count, sizeof *h->groups, by_rank);
  section_name(kernel_key(d, l->kernel) >> 16, (uint32_t)(kernel_key(d, l->kernel) & INK_SECTION_MASK), name,
               sizeof name);
  put(&out, "kernel %s, ", name);
  put_seconds(&out, now_ns - l->began_ns);
  uint64_t rest = h->elsewhere;
  for (uint32_t i = 0; i < h->group_count; i++) {
    if (i >= GROUPS_MAX) {
      rest += h->groups[i].count;
      continue;
    }
    put(&out, i ? "; " : ": ");
    put_group(d, &out, l, &h->groups[i], now_ns);
  }
  if (rest)
    put(&out, "; %" PRIu64 " track%s elsewhere", rest, rest == 1 ? "" : "s");
  if (l->ended)
    put(&out, "; %" PRIu64 " %s%s ended", l->ended, d->info.flags & INK_BUFFER_PER_WARP ? "warp" : "block",
        l->ended == 1 ? "" : "s");
  if (l->ended && rank_of(&h->groups[0])) /* the launch may be over: nothing that costs little tells */
    put(&out, "; what left by `exit` looks the same");
  ink_i_link_report("hang", out.text);
  status = ink_i_session_writer(s, error);
  return status ? status : ink_writer_fact(s->writer, "hang", out.text, error);
}

ink_status ink_i_hang_look(ink_session *s, ink_i_device *d, ink_error *error) {
  const int64_t now_ns = ink_i_monotonic_ns(), hang_ns = (int64_t)s->options.hang_ms * 1000000;
  if (!d->open_count || (d->hang && now_ns < d->hang->look_ns))
    return INK_OK;
  for (uint32_t i = 0; d->hang && i < d->hang->count; i++)
    d->hang->launches[i].open = 0;
  ink_status status = ink_i_open_view_each(s, d, ink_i_drain_list_open(d), false, false, see, NULL, error);
  for (uint32_t i = 0; d->hang && i < d->hang->count && !status; i++) {
    launch *l = &d->hang->launches[i];
    if (l->open > l->open_before)
      l->moved_ns = now_ns;
    l->open_before = l->open;
    /* Said again when it has lasted twice as long. */
    const int64_t since_ns = now_ns - l->moved_ns;
    if (l->open && since_ns >= hang_ns && (!l->told_ns || since_ns >= 2 * l->told_ns)) {
      status = tell(s, d, l, now_ns, error);
      l->told_ns = since_ns;
    }
  }
  if (d->hang)
    d->hang->look_ns = now_ns + hang_ns / LOOKS_A_HANG;
  return status;
}
