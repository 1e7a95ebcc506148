/* SPDX-License-Identifier: MIT */
/* What the parts of the join share: launches and kernels of one device, the kernels that a launch
 * could be, and the line between the two clocks. */
#ifndef INK_JOIN_PRIVATE_H
#define INK_JOIN_PRIVATE_H

#include "inkmark/merge.h"

/* Beyond what crystals and their corrections drift (under 100 ppm). */
#define JOIN_DRIFT_MAX 2e-4
/* Beyond this two files that both have Unix time are of two runs. */
#define JOIN_FARTHEST_NS INT64_C(5000000000)
/* Ours may be longer than theirs by what a coarse timer and a drift can be off. */
enum { JOIN_COARSE_NS = 2500 };
static inline bool ink_join_fits_length(const ink_join_launch *l, const ink_foreign_kernel *k) {
  double ours = (double)(l->end_ns - l->begin_ns), theirs = (double)(k->end_ns - k->begin_ns);
  return ours <= theirs * (1 + JOIN_DRIFT_MAX) + JOIN_COARSE_NS;
}

/* The kernels that the launches of one kernel of ours, of one size, could be. */
typedef struct join_group {
  size_t first, count; /* of join_device.candidates, by begin */
  bool by_name;        /* false: launches of several kernels may share it */
  bool overlaps;       /* some of them run at the same time */
} join_group;

typedef struct join_pair {
  int64_t at_ns; /* the middle of ours */
  int64_t low_ns,
      high_ns; /* offsets for which ours lies inside theirs; low > high: ours is longer */
} join_pair;

/* One device of ours against one of theirs. */
typedef struct join_device {
  const ink_join_launch *launches; /* all of them */
  const ink_foreign_kernel *kernels;
  const ink_foreign *foreign;
  int64_t process; /* whose kernels those of theirs are; 0: of all */
  size_t *mine;    /* [count] indices of the launches of this device, by begin */
  size_t count;
  uint32_t *group_of; /* [count] */
  join_group *groups;
  size_t group_count;
  size_t *candidates; /* kernel indices, group after group */
  size_t candidate_count;
  size_t *chosen;       /* [count] kernel index, or SIZE_MAX */
  double *confidence;   /* [count] */
  bool *by_id;          /* [count] chosen by an id that both files have */
  bool *uncertain;      /* [count] as ink_joined has it */
  int64_t shift_ns;     /* taken off offsets while they are doubles, so that those keep the ns */
  ink_join_clock clock; /* while aligning, its offset is relative to the shift */
} join_device;

/* join_names.c: "void ns::step<int>(float*)", "_ZN2ns4stepIiEvPf", "step_kernel" against "Step". */
bool ink_join_name_equal(const char *ours, const char *theirs);

/* join_groups.c: fills groups, group_of and candidates for one device of theirs. */
ink_status ink_join_groups(join_device *device, int32_t theirs, ink_error *error);
void ink_join_groups_free(join_device *device);
/* The first candidate of the group that begins at `from_ns` or later. */
size_t ink_join_first_from(const join_device *device, const join_group *group, int64_t from_ns);
/* Do sizes agree, as far as both are known? */
bool ink_join_sizes_agree(const ink_join_launch *launch, const ink_foreign_kernel *kernel);

static inline bool ink_join_type_is_of(const join_device *d, const ink_foreign_type *type,
                                       int32_t device) {
  return type->device == device && (!d->process || type->process == d->process);
}

static inline bool ink_join_is_of(const join_device *d, size_t kernel, int32_t device) {
  return ink_join_type_is_of(d, d->kernels[kernel].type, device);
}

/* join_ids.c: takes the pairs of equal grid id, or correlation, where nine in ten of them agree in
 * size, length and time. By correlation after what time has found, which stays for launches that
 * have no correlation of their own, as those of one graph; of the note about it `note_bytes` stay.
 */
ink_status ink_join_by_grid(join_device *device, int32_t theirs, ink_error *error);
ink_status ink_join_by_correlation(join_device *device, int32_t theirs, size_t note_bytes,
                                   ink_error *error);

/* join_offset.c: the offset that puts most of some launches into kernels, at a moment of ours.
 * `share` is how much of what could agree did, from 0 to 1, `second` the same of the best other
 * offset; `launches` how many had a say. */
typedef struct join_guess {
  int64_t offset_ns, at_ns;
  double share, second;
  size_t launches;
} join_guess;
ink_status ink_join_guess(const join_device *device, int64_t limit_ns, join_guess *out,
                          ink_error *error);

/* join_align.c: from a first guess to a kernel for every launch that has one, and the line. */
ink_status ink_join_align(join_device *device, const join_guess *guess, ink_error *error);
/* The up to JOIN_NEAREST candidates of a launch that are nearest to an offset, in no order; returns
 * how many. `cost`: what speaks against each, in ns. */
enum { JOIN_NEAREST = 12 };
typedef struct join_nearest {
  size_t kernel;
  double cost;
} join_nearest;
size_t ink_join_nearest(const join_device *device, size_t launch, double offset, join_nearest *out);
/* join_search.c: how many of the chosen pairs lie inside, but for `slack_ns`. */
enum { JOIN_SLACK_NS = 250 };
size_t ink_join_inside(const join_device *device, double slack_ns);
/* The line near the guess that puts the most launches into kernels, and for how long, around the
 * guess's moment, it was looked at. */
typedef struct join_line {
  int64_t offset_ns, at_ns;
  double slope, span_ns;
} join_line;
ink_status ink_join_search(const join_device *device, const join_guess *guess, join_line *out,
                           ink_error *error);
/* Do clearly more launches lie inside on the line than on any beside it? */
bool ink_join_stands_out(const join_device *device);
/* join_rival.c: of launches from all over the capture, how many lie inside their kernels, and how many would
 * lie inside others at one other distance from the line: the best, of equal ones the one that leaves the
 * clocks nearest to each other. `limit_ns`: offsets are at most this. */
typedef struct join_rival {
  size_t asked, here, elsewhere;
  double distance_ns;
} join_rival;
ink_status ink_join_rival(const join_device *device, double limit_ns, join_rival *out, ink_error *error);
/* join_overlap.c: chooses anew for launches of kernels that run at the same time, and tells which
 * of those are uncertain. */
ink_status ink_join_overlaps(join_device *device, ink_error *error);
/* join_doubt.c: which are uncertain, of those that order and time found. */
ink_status ink_join_doubt(join_device *device, ink_error *error);
/* What speaks against a pair, in ns: sticking out fully, not being centred a little. */
double ink_join_cost(const join_pair *pair, double offset);
/* By how much ours sticks out of theirs at an offset. */
double ink_join_sticks_out(const join_pair *pair, double offset);
/* Fits the clock to the chosen kernels. */
ink_status ink_join_fit_chosen(join_device *device, ink_error *error);

static inline int64_t ink_join_middle(int64_t begin, int64_t end) {
  return begin + (end - begin) / 2;
}
/* The drift that is known so far makes a long launch longer or shorter than its kernel. */
static inline join_pair ink_join_pair(const join_device *d, size_t launch, size_t kernel) {
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  const ink_foreign_kernel *k = &d->kernels[kernel];
  int64_t longer = (int64_t)(d->clock.drift_ppm * 5e-7 * (double)(l->end_ns - l->begin_ns));
  return (join_pair){ink_join_middle(l->begin_ns, l->end_ns),
                     k->begin_ns - l->begin_ns - d->shift_ns + longer,
                     k->end_ns - l->end_ns - d->shift_ns - longer};
}

/* From the middle of ours to the middle of theirs. */
static inline int64_t ink_join_offset(const join_device *d, size_t launch, size_t kernel) {
  const ink_join_launch *l = &d->launches[d->mine[launch]];
  const ink_foreign_kernel *k = &d->kernels[kernel];
  return ink_join_middle(k->begin_ns, k->end_ns) - ink_join_middle(l->begin_ns, l->end_ns);
}

/* For qsort of doubles. */
int ink_join_by_double(const void *left, const void *right);
/* join_clock.c: the offset of the line at a moment of ours. */
double ink_join_line(const ink_join_clock *clock, int64_t ours_ns);
/* The offsets at `at_ns`, from `base_ns`, at which with a slope ours lies inside theirs for the most
 * of the pairs. */
typedef struct join_edge {
  double at;
  int step;
} join_edge;
typedef struct join_fit {
  const join_pair *pairs;
  size_t n;
  join_edge *edges; /* [2n] scratch */
  int64_t at_ns, base_ns;
} join_fit;
typedef struct join_depth {
  double slope, from, to;
  long pairs;
} join_depth;
join_depth ink_join_deepest(const join_fit *fit, double slope);
/* Fits offset, drift and bound to pairs in the order of time; at least one. False: no memory. */
bool ink_join_fit(const join_pair *pairs, size_t n, ink_join_clock *clock);

#endif
