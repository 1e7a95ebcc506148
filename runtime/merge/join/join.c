/* SPDX-License-Identifier: MIT */
/* The join of our launches with the kernels of another profiler: device by device, by grid id or
 * correlation where those can be trusted, else by name, size, order and time. docs/merging.md tells
 * how it judges. */
#include "join_private.h"
#include "merge/read/foreign_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ink_join {
  ink_joined *joined;
  size_t launch_count;
  ink_join_clock *clocks;
  size_t clock_count;
  size_t *unmatched;
  size_t unmatched_count;
  bool *wanted; /* [kernels] some launch could have been it; scratch */
};

#define SECOND_NS 1000000000

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
}

/* ---- name, size and time --------------------------------------------------------------------- */

static bool stands_out(const join_guess *g) {
  return g->share >= 0.8 && g->second < 0.8 * g->share;
}

/* The largest offset that any candidate asks for. */
static int64_t farthest(const join_device *d) {
  int64_t first = d->launches[d->mine[0]].begin_ns;
  int64_t last = d->launches[d->mine[d->count - 1]].begin_ns, far = 0;
  for (size_t i = 0; i < d->candidate_count; i++) {
    int64_t begin = d->kernels[d->candidates[i]].begin_ns;
    int64_t least = begin - last, most = begin - first;
    far = -least > far ? -least : far;
    far = most > far ? most : far;
  }
  return far;
}

/* Near first: two Unix clocks differ by little, and a loop repeats its kernels farther off. */
static ink_status guess_offset(const join_device *d, join_guess *best, bool *good,
                               ink_error *error) {
  static const int64_t limits[] = {SECOND_NS / 50, SECOND_NS, JOIN_FARTHEST_NS};
  *best = (join_guess){0};
  *good = false;
  if (!d->foreign->facts.base_known) {
    ink_status status = ink_join_guess(d, INT64_MAX, best, error);
    /* One or two launches fit some kernel of their size in any trace: there must be no other place. */
    const bool alone = best->second < 0.9 * best->share;
    *good = best->launches && (best->launches < 3 ? alone : best->share >= (alone ? 0.5 : 0.8));
    return status;
  }
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    join_guess guess;
    ink_status status = ink_join_guess(d, limits[i], &guess, error);
    if (status != INK_OK)
      return status;
    /* Seconds away it takes more than a few launches that happen to fit. */
    bool enough = limits[i] <= SECOND_NS || (guess.launches >= 16 && guess.share >= 0.7);
    /* In a loop without jitter none stands out, and the nearest is taken. */
    if (guess.launches && enough && guess.share >= 0.5 &&
        (!best->launches || guess.share - guess.second > best->share - best->second + 0.02))
      *best = guess;
    if (stands_out(best) || limits[i] > farthest(d))
      break;
  }
  /* Launches at random times find some offset at which many lie in a busy GPU's kernels; but then
   * others are as good. */
  *good = best->launches > 0 && (best->share >= 0.8 || best->second < 0.9 * best->share);
  return INK_OK;
}

static void forget(join_device *d) {
  for (size_t i = 0; i < d->count; i++)
    d->chosen[i] = SIZE_MAX;
  d->clock.joined = 0;
}

/* Why no offset was found: times that are far apart, or that do not fit. */
static void say_nothing_fits(const join_device *d, char *note, size_t room, const char *between) {
  int64_t their_begin = INT64_MAX, their_end = INT64_MIN;
  for (size_t i = 0; i < d->candidate_count; i++) {
    const ink_foreign_kernel *k = &d->kernels[d->candidates[i]];
    their_begin = k->begin_ns < their_begin ? k->begin_ns : their_begin;
    their_end = k->end_ns > their_end ? k->end_ns : their_end;
  }
  double after = (double)d->launches[d->mine[0]].begin_ns - (double)their_end;
  double before = (double)their_begin - (double)d->launches[d->mine[d->count - 1]].begin_ns;
  double apart = fmax(after, before);
  if (d->foreign->facts.base_known && apart > (double)JOIN_FARTHEST_NS)
    snprintf(note, room, "%sthe launches are %.0f s %s its kernels: of another run", between,
             apart / 1e9, after > before ? "after" : "before");
  else
    snprintf(note, room, "%sat no offset%s do half of the launches lie inside kernels", between,
             d->foreign->facts.base_known ? " up to 5 s" : "");
}

/* Launches that fall into the time that the other profiler recorded. */
static size_t launches_within(const join_device *d) {
  int64_t from = INT64_MAX, to = INT64_MIN;
  size_t n = 0;
  for (size_t i = 0; i < d->candidate_count; i++) {
    const ink_foreign_kernel *k = &d->kernels[d->candidates[i]];
    from = k->begin_ns < from ? k->begin_ns : from;
    to = k->end_ns > to ? k->end_ns : to;
  }
  for (size_t i = 0; i < d->count; i++) {
    int64_t begin =
        ink_join_clock_theirs(&d->clock, d->launches[d->mine[i]].begin_ns) + d->shift_ns;
    n += begin >= from && begin <= to;
  }
  return n;
}

/* How far the middle of the line puts two Unix clocks apart. */
static double apart_ns(const join_device *d) {
  return fabs(ink_join_line(&d->clock, d->clock.at_ns) + (double)d->shift_ns);
}

/* Is the other place the better one? More launches lie inside there, or as many where the clocks, which both
 * tell Unix time, are nearer. */
static bool is_better(const join_device *d, const join_rival *r) {
  if (r->elsewhere != r->here)
    return r->elsewhere > r->here;
  const double there = fabs(ink_join_line(&d->clock, d->clock.at_ns) + (double)d->shift_ns + r->distance_ns);
  return r->elsewhere && d->foreign->facts.base_known && there + 1000 < apart_ns(d);
}

/* From what a stretch found to the place that explains the most launches of all; *rival is what speaks
 * against it. */
static ink_status align_over_all(join_device *d, join_guess guess, join_rival *rival, ink_error *error) {
  enum { MOVES_MAX = 4 };
  const double limit = d->foreign->facts.base_known ? (double)JOIN_FARTHEST_NS : INFINITY;
  ink_status status = ink_join_align(d, &guess, error);
  for (int moves = 0; status == INK_OK && d->clock.joined; moves++) {
    status = ink_join_rival(d, limit, rival, error);
    if (status != INK_OK || moves == MOVES_MAX || !is_better(d, rival))
      break;
    guess.at_ns = d->clock.at_ns;
    guess.offset_ns = d->shift_ns + llround(ink_join_line(&d->clock, d->clock.at_ns) + rival->distance_ns);
    forget(d);
    d->clock.offset_ns = 0;
    d->clock.drift_ppm = 0;
    memset(d->confidence, 0, d->count * sizeof *d->confidence);
    memset(d->uncertain, 0, d->count * sizeof *d->uncertain);
    status = ink_join_align(d, &guess, error);
  }
  return status;
}

/* Launches that may be missing from either file: a few, or one in ten. */
static size_t few_of(size_t launches) {
  return launches / 10 > 2 ? launches / 10 : 2;
}

/* Another place is ruled out where it leaves more launches without a kernel than that. */
static bool is_ruled_out(const join_rival *r) {
  return r->elsewhere + few_of(r->here) < r->here;
}

static ink_status join_by_time(join_device *d, ink_error *error) {
  join_guess guess;
  bool good;
  char *note = d->clock.note;
  size_t room = sizeof d->clock.note, used = strlen(note);
  ink_status status = guess_offset(d, &guess, &good, error);
  if (status != INK_OK)
    return status;
  const char *between = used ? "; " : "";
  if (!d->candidate_count) {
    snprintf(note + used, room - used, "%sno kernel there has a name or a size of ours", between);
    return INK_OK;
  }
  if (!good) {
    if (guess.launches && guess.share >= 0.5 && guess.second >= 0.9 * guess.share)
      snprintf(note + used, room - used, "%sthe launches fit at many offsets equally well", between);
    else
      say_nothing_fits(d, note + used, room - used, between);
    return INK_OK;
  }
  join_rival rival = {0};
  status = align_over_all(d, guess, &rival, error);
  if (status != INK_OK)
    return status;
  bool doubtful = (guess.second > 0.95 * guess.share && !ink_join_stands_out(d)) ||
                  (rival.elsewhere && !is_ruled_out(&rival));
  size_t possible = launches_within(d);
  /* Where no offset stands out, half of the launches of a busy GPU fit at any. */
  if (d->count >= 8 && (double)d->clock.joined < (doubtful ? 0.7 : 0.2) * (double)possible) {
    snprintf(note + used, room - used, "%sonly %llu of %zu launches fit, which chance gives too",
             between, (unsigned long long)d->clock.joined, possible);
    forget(d);
  } else if (doubtful) {
    snprintf(note + used, room - used,
             "%sanother offset fits almost as well, so the join may be a period off", between);
    for (size_t i = 0; i < d->count; i++) {
      d->uncertain[i] = true;
      d->confidence[i] = 0;
    }
  }
  return d->clock.joined ? ink_join_doubt(d, error) : status;
}

/* ---- one device ------------------------------------------------------------------------------ */

static void results_free(join_device *d) {
  free(d->chosen);
  free(d->confidence);
  free(d->by_id);
  free(d->uncertain);
}

static bool results_make(join_device *d) {
  d->chosen = malloc((d->count + 1) * sizeof *d->chosen);
  d->confidence = calloc(d->count + 1, sizeof *d->confidence);
  d->by_id = calloc(d->count + 1, sizeof *d->by_id);
  d->uncertain = calloc(d->count + 1, sizeof *d->uncertain);
  if (!d->chosen || !d->confidence || !d->by_id || !d->uncertain)
    return false;
  forget(d);
  return true;
}

static void device_free(join_device *d) {
  ink_join_groups_free(d);
  results_free(d);
}

/* Does time know, of most of its launches? */
static bool is_sure(const join_device *d) {
  size_t uncertain = 0;
  for (size_t i = 0; i < d->count; i++)
    uncertain += d->chosen[i] != SIZE_MAX && d->uncertain[i];
  return uncertain * 2 < d->clock.joined;
}

/* Ids can be of equal launches and yet not of the same: in a loop, of the next one's. Where more than a few of
 * the launches do not lie inside the kernels of their ids, time has its say, and is believed if by it
 * clearly more do; `timed`: so it was. Where the numbers are off by one in an even loop, most still lie inside: there it is enough that
 * time is sure of a place that explains more than a few launches more. */
static ink_status hold_against_time(join_device *d, bool *timed, ink_error *error) {
  const size_t by_ids = ink_join_inside(d, JOIN_SLACK_NS);
  if (by_ids + few_of(by_ids) >= d->clock.joined)
    return INK_OK;
  join_device other = *d;
  other.clock = (ink_join_clock){.device = d->clock.device, .launches = d->clock.launches};
  ink_status status = results_make(&other) ? join_by_time(&other, error) : no_memory(error);
  const size_t by_time = status == INK_OK ? ink_join_inside(&other, JOIN_SLACK_NS) : 0;
  if (by_time * 4 > by_ids * 5 || (by_time > by_ids + few_of(by_ids) && is_sure(&other))) {
    char said[sizeof other.clock.note];
    memcpy(said, other.clock.note, sizeof said);
    snprintf(other.clock.note, sizeof other.clock.note,
             "grid ids do not agree (%zu launches lie inside, by time %zu), so they were not used",
             by_ids, by_time);
    const size_t used = strlen(other.clock.note), more = strlen(said);
    if (more && used + more + 3 < sizeof other.clock.note) {
      memcpy(other.clock.note + used, "; ", 2);
      memcpy(other.clock.note + used + 2, said, more + 1);
    }
    const join_device refused = *d;
    *d = other;
    other = refused;
    *timed = true;
  }
  results_free(&other);
  return status;
}

/* Joins the launches of d->mine with the kernels of one device of theirs. */
static ink_status join_with(join_device *d, int32_t theirs, ink_error *error) {
  if (!results_make(d))
    return no_memory(error);
  ink_status status = ink_join_groups(d, theirs, error);
  if (status == INK_OK)
    status = ink_join_by_grid(d, theirs, error);
  bool timed = false;
  if (status == INK_OK && d->clock.grid_ids_trusted)
    status = hold_against_time(d, &timed, error);
  if (status == INK_OK && !d->clock.grid_ids_trusted) {
    const size_t note_bytes = strlen(d->clock.note);
    if (!timed)
      status = join_by_time(d, error);
    if (status == INK_OK)
      status = ink_join_by_correlation(d, theirs, note_bytes, error);
  }
  if (status != INK_OK || !d->clock.joined)
    return status;
  d->clock.inside = ink_join_inside(d, 0.5);
  return INK_OK;
}

static void publish(ink_join *join, const join_device *d) {
  ink_join_clock clock = d->clock;
  clock.offset_ns += d->shift_ns;
  join->clocks[join->clock_count++] = clock;
  for (size_t i = 0; i < d->count; i++) {
    ink_joined *out = &join->joined[d->mine[i]];
    *out = (ink_joined){.kernel = d->chosen[i]};
    if (d->chosen[i] == SIZE_MAX)
      continue;
    const join_group *group = &d->groups[d->group_of[i]];
    out->method = d->clock.grid_ids_trusted ? INK_JOIN_GRID_ID
                  : d->by_id[i]             ? INK_JOIN_CORRELATION
                  : group->by_name          ? INK_JOIN_NAME
                                            : INK_JOIN_DIMENSIONS;
    out->confidence = d->confidence[i];
    out->uncertain = d->uncertain[i] && !d->by_id[i];
    const ink_join_launch *l = &d->launches[d->mine[i]];
    out->residual_ns = ink_join_offset(d, i, d->chosen[i]) - d->shift_ns -
                       llround(ink_join_line(&d->clock, ink_join_middle(l->begin_ns, l->end_ns)));
  }
  if (d->clock.joined)
    for (size_t i = 0; i < d->candidate_count; i++)
      join->wanted[d->candidates[i]] = true;
}

/* Which device of theirs is it? The one of the same number, if anything of it can be joined, else
 * the one where most can: CUDA_VISIBLE_DEVICES renumbers. */
static ink_status join_device_of(ink_join *join, join_device *d, const int32_t *theirs, size_t n,
                                 ink_error *error) {
  join_device best = *d;
  bool have = false;
  ink_status status = INK_OK;
  for (int pass = 0; pass < 2 && status == INK_OK && !(have && best.clock.joined); pass++)
    for (size_t i = 0; i < n && status == INK_OK; i++) {
      if ((theirs[i] == d->clock.device) != (pass == 0))
        continue;
      join_device attempt = *d;
      status = join_with(&attempt, theirs[i], error);
      if (status == INK_OK && (!have || attempt.clock.joined > best.clock.joined)) {
        device_free(&best);
        best = attempt;
        best.clock.their_device = theirs[i];
        have = true;
      } else {
        device_free(&attempt);
      }
    }
  if (status == INK_OK && have)
    publish(join, &best);
  device_free(&best);
  return status;
}

static size_t distinct(int32_t *devices, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    size_t j = 0;
    while (j < kept && devices[j] != devices[i])
      j++;
    if (j == kept)
      devices[kept++] = devices[i];
  }
  return kept;
}

/* Kernels that a launch could have been, and none is. */
static ink_status find_unmatched(ink_join *join, size_t kernels, ink_error *error) {
  for (size_t i = 0; i < join->launch_count; i++)
    if (join->joined[i].method != INK_JOIN_NONE)
      join->wanted[join->joined[i].kernel] = false;
  for (size_t k = 0; k < kernels; k++)
    join->unmatched_count += join->wanted[k];
  join->unmatched = malloc((join->unmatched_count + 1) * sizeof *join->unmatched);
  if (!join->unmatched)
    return no_memory(error);
  for (size_t k = 0, n = 0; k < kernels; k++)
    if (join->wanted[k])
      join->unmatched[n++] = k;
  return INK_OK;
}

ink_status ink_join_make(const ink_join_launch *launches, size_t n, const ink_foreign *foreign,
                         ink_join **out, ink_error *error) {
  return ink_join_make_with(launches, n, foreign, 0, out, error);
}

ink_status ink_join_make_with(const ink_join_launch *launches, size_t n, const ink_foreign *foreign,
                              int64_t process, ink_join **out, ink_error *error) {
  const ink_foreign_kernel *kernels;
  size_t kernel_count = ink_foreign_kernels(foreign, &kernels), ours_count, theirs_count = 0;
  ink_join *join = calloc(1, sizeof *join);
  int32_t *ours = malloc((n + 1) * sizeof *ours);
  int32_t *theirs = malloc((foreign->types.count + 1) * sizeof *theirs);
  size_t *mine = malloc((n + 1) * sizeof *mine);
  ink_status status = INK_OK;
  if (!join || !ours || !theirs || !mine)
    goto memory;
  for (size_t i = 0; i < n; i++)
    ours[i] = launches[i].device;
  for (size_t i = 0; i < foreign->types.count; i++) { /* in the order of their first kernels */
    const ink_foreign_type *type = (const void *)foreign->types.texts[i];
    if (!process || type->process == process)
      theirs[theirs_count++] = type->device;
  }
  ours_count = distinct(ours, n);
  theirs_count = distinct(theirs, theirs_count);
  join->launch_count = n;
  join->joined = calloc(n + 1, sizeof *join->joined);
  join->clocks = calloc(ours_count + 1, sizeof *join->clocks);
  join->wanted = calloc(kernel_count + 1, sizeof *join->wanted);
  if (!join->joined || !join->clocks || !join->wanted)
    goto memory;
  for (size_t i = 0; i < n; i++)
    join->joined[i].kernel = SIZE_MAX;
  for (size_t i = 0; i < ours_count && status == INK_OK; i++) {
    join_device d = {.launches = launches,
                     .kernels = kernels,
                     .foreign = foreign,
                     .process = process,
                     .mine = mine};
    for (size_t l = 0; l < n; l++)
      if (launches[l].device == ours[i])
        mine[d.count++] = l;
    d.clock = (ink_join_clock){.device = ours[i], .launches = d.count};
    status = join_device_of(join, &d, theirs, theirs_count, error);
  }
  if (status == INK_OK)
    status = find_unmatched(join, kernel_count, error);
  goto cleanup;
memory:
  status = no_memory(error);
cleanup:
  free(ours);
  free(theirs);
  free(mine);
  if (status == INK_OK)
    *out = join;
  else
    ink_join_free(join);
  return status;
}

void ink_join_free(ink_join *join) {
  if (!join)
    return;
  free(join->joined);
  free(join->clocks);
  free(join->unmatched);
  free(join->wanted);
  free(join);
}

size_t ink_join_launches(const ink_join *join, const ink_joined **out) {
  *out = join->joined;
  return join->launch_count;
}
size_t ink_join_clocks(const ink_join *join, const ink_join_clock **out) {
  *out = join->clocks;
  return join->clock_count;
}
size_t ink_join_unmatched(const ink_join *join, const size_t **out) {
  *out = join->unmatched;
  return join->unmatched_count;
}
