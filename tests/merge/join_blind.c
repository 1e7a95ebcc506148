/* SPDX-License-Identifier: MIT */
/* A blind test of the join: from the kernels of a real trace it makes launches as inkmark would
 * have seen them, with some missing and some extra on either side, under an offset and a drift,
 * and the join, which is told none of it, must give the partners back.
 * Launches of another run (their times shuffled, or an hour away) must not be joined, with a
 * reason. join_blind TRACE|synthetic[:KERNELS] SEEDS [VERBOSE]; exits with 1 when a run is wrong,
 * 77 without TRACE. */
#include "merge/read/foreign_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;
static uint64_t next_random(void) { /* SplitMix64, public domain */
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static double uniform(double low, double high) {
  return low + (high - low) * (double)(next_random() >> 11) / 9007199254740992.0;
}

static void out_of_memory(void) {
  fprintf(stderr, "join_blind: out of memory\n");
  exit(1);
}

/* Launches of two kernels in a loop of 20 with jitter, so that every turn looks like every other.
 */
static ink_foreign *synthetic(unsigned long count) {
  ink_foreign *f = calloc(1, sizeof *f);
  uint32_t names[2];
  if (!f || ink_foreign_intern(f, "void step<float>(float*, int)", 29, &names[0]) != INK_OK ||
      ink_foreign_intern(f, "settle(float*)", 14, &names[1]) != INK_OK)
    out_of_memory();
  f->facts.base_known = true;
  int64_t at = 1764300000000000000;
  for (unsigned long i = 0; i < count; i++) {
    bool other = i % 20 == 19;
    int64_t length = (int64_t)(other ? uniform(30e3, 34e3) : uniform(8e3, 9e3));
    const ink_foreign_type type = {.name = names[other],
                                   .short_name = UINT32_MAX,
                                   .mangled = UINT32_MAX,
                                   .stream = 7,
                                   .grid_dim = {other ? 1u : 64u, 1, 1},
                                   .block_dim = {128, 1, 1}};
    const ink_foreign_kernel k = {.begin_ns = at, .end_ns = at + length, .correlation = -1};
    if (ink_foreign_add(f, &type, &k) != INK_OK)
      out_of_memory();
    at += length + (int64_t)uniform(1000, 2500) + (other ? 60000 : 0);
  }
  return f;
}

/* What the other profiler would have without one kernel in twenty. */
static ink_foreign *thinned(const ink_foreign *all, size_t *origin) {
  ink_foreign *f = calloc(1, sizeof *f);
  if (!f)
    out_of_memory();
  f->facts = all->facts;
  for (size_t i = 0; i < all->name_count; i++) {
    uint32_t id;
    if (ink_foreign_intern(f, all->names[i], strlen(all->names[i]), &id) != INK_OK || id != i)
      out_of_memory();
  }
  for (size_t i = 0; i < all->kernel_count; i++) {
    if (uniform(0, 1) < 0.05)
      continue;
    origin[f->kernel_count] = i;
    if (ink_foreign_add(f, all->kernels[i].type, &all->kernels[i]) != INK_OK)
      out_of_memory();
  }
  return f;
}

/* "void ns::step<float>(float*)" -> "step": what somebody would have named it. */
static void bare_name(const char *text, char *out, size_t room) {
  size_t end = 0, begin;
  while (text[end] && text[end] != '<' && text[end] != '(')
    end++;
  if (!strncmp(text, "void ", 5) && end <= 5)
    end = strlen(text);
  begin = end;
  while (begin && text[begin - 1] != ' ' && text[begin - 1] != ':')
    begin--;
  snprintf(out, room, "%.*s (file.cu:12)", (int)(end - begin), text + begin);
}

typedef struct made {
  ink_join_launch *launches;
  size_t *partner; /* [count] kernel of the full list; SIZE_MAX never: all come from one */
  char (*names)[300];
  size_t count;
  double offset_ns, drift;
  int64_t at_ns; /* theirs, where the offset holds */
} made;

static int64_t to_ours(const made *m, int64_t theirs) {
  return theirs - llround(m->offset_ns + m->drift * (double)(theirs - m->at_ns));
}

static void make_launches(made *m, const ink_foreign *all, int form, const bool *marked) {
  for (size_t i = 0; i < all->kernel_count; i++) {
    const ink_foreign_kernel *k = &all->kernels[i];
    if (!marked[k->type->name] || uniform(0, 1) < 0.05)
      continue;
    double length = (double)(k->end_ns - k->begin_ns);
    double late = fmin(uniform(300, 1500), length * 0.3);
    double early = fmin(uniform(100, 800), length * 0.2);
    ink_join_launch *l = &m->launches[m->count];
    *l = (ink_join_launch){
        .device = k->type->device, .kernel = k->type->name, .grid_id = k->grid_id};
    memcpy(l->grid_dim, k->type->grid_dim, sizeof l->grid_dim);
    memcpy(l->block_dim, k->type->block_dim, sizeof l->block_dim);
    l->begin_ns = to_ours(m, k->begin_ns + (int64_t)late) + (int64_t)uniform(-40, 40);
    l->end_ns = to_ours(m, k->end_ns - (int64_t)early) + (int64_t)uniform(-40, 40);
    if (l->end_ns < l->begin_ns)
      l->end_ns = l->begin_ns;
    if (form == 1)
      bare_name(all->names[k->type->name], m->names[k->type->name], sizeof *m->names);
    else if (form == 2)
      snprintf(m->names[k->type->name], sizeof *m->names, "Section%u", k->type->name);
    else
      snprintf(m->names[k->type->name], sizeof *m->names, "%.299s", all->names[k->type->name]);
    l->name = m->names[k->type->name];
    m->partner[m->count++] = i;
  }
}

typedef struct outcome {
  size_t launches, partners, joined, wrong, lost, uncertain;
  double off, bound; /* of the worst device */
} outcome;

static outcome judge(const made *m, const ink_join *join, const ink_foreign *thin,
                     const size_t *origin, size_t total) {
  outcome o = {.launches = m->count};
  const ink_joined *joined;
  const ink_join_clock *clocks;
  size_t n = ink_join_launches(join, &joined);
  bool *there = calloc(total + 1, sizeof *there);
  if (!there || n != m->count)
    out_of_memory();
  for (size_t k = 0; k < thin->kernel_count; k++)
    there[origin[k]] = true;
  for (size_t i = 0; i < n; i++) {
    bool has = there[m->partner[i]], is = joined[i].method != INK_JOIN_NONE;
    o.partners += has;
    o.joined += is;
    o.wrong += is && origin[joined[i].kernel] != m->partner[i];
    o.lost += has && !is;
    o.uncertain += joined[i].uncertain;
  }
  free(there);
  n = ink_join_clocks(join, &clocks);
  for (size_t i = 0; i < n; i++) {
    if (!clocks[i].joined)
      continue;
    double theirs = (double)(clocks[i].at_ns - m->at_ns) + m->offset_ns; /* close enough: ppm */
    double off = fabs(m->offset_ns + m->drift * theirs - (double)clocks[i].offset_ns);
    if (off - (double)clocks[i].bound_ns > o.off - o.bound || o.bound == 0) {
      o.off = off;
      o.bound = (double)clocks[i].bound_ns;
    }
  }
  return o;
}

/* Some kernels are marked: each name with even odds, at least one; unnamed sizes stay out. */
static void choose(const ink_foreign *all, bool *marked) {
  bool any = false;
  for (size_t i = 0; i < all->name_count; i++)
    any |= marked[i] = next_random() & 1;
  if (!any || all->kernel_count < 200)
    for (size_t i = 0; i < all->name_count; i++)
      marked[i] = true;
}

static bool run(const ink_foreign *all, uint64_t seed, int form, bool verbose) {
  state = seed * 1000003 + (uint64_t)form;
  size_t count = all->kernel_count;
  made m = {.launches = calloc(count + 1, sizeof *m.launches),
            .partner = calloc(count + 1, sizeof *m.partner),
            .names = calloc(all->name_count + 1, sizeof *m.names)};
  size_t *origin = calloc(count + 1, sizeof *origin);
  bool *marked = calloc(all->name_count + 1, sizeof *marked);
  if (!m.launches || !m.partner || !m.names || !origin || !marked)
    out_of_memory();
  m.at_ns = all->kernels[0].begin_ns;
  m.offset_ns = uniform(-3e6, 3e6);
  m.drift = uniform(-50e-6, 50e-6);
  if (!all->facts.base_known)
    m.offset_ns -= 3.6e12 * floor(uniform(1, 1000)); /* hours: another epoch */
  m.offset_ns = round(m.offset_ns);
  choose(all, marked);
  make_launches(&m, all, form, marked);
  ink_foreign *thin = thinned(all, origin);
  ink_join *join = NULL;
  ink_error error;
  if (ink_join_make(m.launches, m.count, thin, &join, &error) != INK_OK) {
    fprintf(stderr, "join_blind: %s\n", error.message);
    exit(1);
  }
  outcome o = judge(&m, join, thin, origin, count);
  /* By size alone launches of two kernels of ours that follow each other can be told apart by time
   * only, so a lost one in a hundred is no fault there; a wrong one always is. */
  bool good = !o.wrong && o.uncertain * 100 <= o.launches && o.off <= o.bound &&
              (form == 2 ? o.lost * 100 <= o.partners : !o.lost);
  if (verbose || !good) {
    static const char *const forms[] = {"full names", "bare names", "sizes only"};
    printf("%s seed %llu, %s: %zu launches, %zu with partner, %zu joined, %zu wrong, %zu lost, %zu "
           "uncertain; offset wrong by %.0f ns, bound %.0f\n",
           good ? "ok   " : "WRONG", (unsigned long long)seed, forms[form], o.launches, o.partners,
           o.joined, o.wrong, o.lost, o.uncertain, o.off, o.bound);
    const ink_join_clock *clocks;
    size_t n = ink_join_clocks(join, &clocks);
    for (size_t i = 0; i < n; i++)
      if (clocks[i].note[0] && !good)
        printf("      device %d: %s\n", clocks[i].device, clocks[i].note);
  }
  ink_join_free(join);
  ink_foreign_free(thin);
  free(m.launches);
  free(m.partner);
  free(m.names);
  free(origin);
  free(marked);
  return good;
}

/* Launches that do not belong to the trace: an hour off (odd seeds, where both know Unix time),
 * else at random places of the same stretch of time. */
static bool run_stranger(const ink_foreign *all, uint64_t seed, bool verbose) {
  state = seed * 1000003 + 77;
  size_t count = all->kernel_count;
  ink_join_launch *launches = calloc(count + 1, sizeof *launches);
  if (!launches)
    out_of_memory();
  int64_t first = all->kernels[0].begin_ns, last = first;
  for (size_t i = 0; i < count; i++)
    last = all->kernels[i].end_ns > last ? all->kernels[i].end_ns : last;
  for (size_t i = 0; i < count; i++) {
    const ink_foreign_kernel *k = &all->kernels[i];
    int64_t length = k->end_ns - k->begin_ns, at = k->begin_ns + INT64_C(3600000000000);
    if (!all->facts.base_known || !(seed & 1))
      at = first + (int64_t)uniform(0, (double)(last - first));
    launches[i] = (ink_join_launch){.device = k->type->device,
                                    .kernel = k->type->name,
                                    .name = all->names[k->type->name],
                                    .begin_ns = at + length / 10,
                                    .end_ns = at + length - length / 10};
    memcpy(launches[i].grid_dim, k->type->grid_dim, sizeof k->type->grid_dim);
    memcpy(launches[i].block_dim, k->type->block_dim, sizeof k->type->block_dim);
  }
  ink_join *join = NULL;
  ink_error error;
  const ink_join_clock *clocks;
  if (ink_join_make(launches, count, all, &join, &error) != INK_OK) {
    fprintf(stderr, "join_blind: %s\n", error.message);
    exit(1);
  }
  size_t joined = 0, n = ink_join_clocks(join, &clocks);
  bool told = true;
  for (size_t i = 0; i < n; i++) {
    joined += clocks[i].joined;
    told = told && clocks[i].note[0];
  }
  bool good = !joined && told;
  if (verbose || !good)
    printf("%s seed %llu, another run: %zu launches, %zu joined: %s\n", good ? "ok   " : "WRONG",
           (unsigned long long)seed, count, joined, n ? clocks[0].note : "");
  ink_join_free(join);
  free(launches);
  return good;
}

/* A launch as far in one kernel as in the next, and no launch beside it: it is joined with one of
 * them, and that is uncertain; nothing else is. */
static bool run_between(uint64_t seed, bool verbose) {
  state = seed * 1000003 + 99;
  ink_foreign *all = synthetic(400);
  size_t at = 100 + next_random() % 7, n = 0; /* two of the same name */
  ink_join_launch launches[400];
  all->kernels[at].begin_ns = all->kernels[at].end_ns - 1500;
  all->kernels[at + 1].begin_ns = all->kernels[at].end_ns + 200;
  all->kernels[at + 1].end_ns = all->kernels[at + 1].begin_ns + 1500;
  for (size_t i = 0; i < all->kernel_count; i++) {
    const ink_foreign_kernel *k = &all->kernels[i];
    ink_join_launch *l = &launches[n];
    *l = (ink_join_launch){.name = all->names[k->type->name], .kernel = k->type->name};
    memcpy(l->grid_dim, k->type->grid_dim, sizeof l->grid_dim);
    memcpy(l->block_dim, k->type->block_dim, sizeof l->block_dim);
    l->begin_ns = i == at ? k->end_ns - 50 : k->begin_ns + (int64_t)uniform(300, 1500);
    l->end_ns = i == at ? k->end_ns + 250 : k->end_ns - (int64_t)uniform(100, 800);
    n += i != at + 1;
  }
  ink_join *join = NULL;
  ink_error error;
  const ink_joined *joined;
  if (ink_join_make(launches, n, all, &join, &error) != INK_OK) {
    fprintf(stderr, "join_blind: %s\n", error.message);
    exit(1);
  }
  ink_join_launches(join, &joined);
  bool good = joined[at].method != INK_JOIN_NONE && joined[at].uncertain;
  for (size_t i = 0; i < n; i++)
    good &= i == at || (joined[i].method != INK_JOIN_NONE && !joined[i].uncertain);
  if (verbose || !good)
    printf("%s seed %llu, between two: joined with %zu of %zu, %s\n", good ? "ok   " : "WRONG",
           (unsigned long long)seed, joined[at].kernel, at,
           joined[at].uncertain ? "uncertain" : "certain");
  ink_join_free(join);
  ink_foreign_free(all);
  return good;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  ink_foreign *all = NULL;
  ink_error error;
  if (!strncmp(argv[1], "synthetic", 9)) {
    all = synthetic(argv[1][9] == ':' ? strtoul(argv[1] + 10, NULL, 10) : 6000);
  } else if (access(argv[1], R_OK)) {
    printf("skipped: no '%s'\n", argv[1]);
    return 77;
  } else if (ink_foreign_open(argv[1], &all, &error) != INK_OK) {
    fprintf(stderr, "join_blind: %s\n", error.message);
    return 1;
  }
  uint64_t seeds = strtoull(argv[2], NULL, 10);
  size_t wrong = 0, runs = 0;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    for (int form = 0; form < 3; form++, runs++)
      wrong += !run(all, seed, form, argc > 3);
    if (!strncmp(argv[1], "synthetic", 9)) {
      wrong += !run_between(seed, argc > 3);
      runs++;
    }
    if (seed > 4 || (all->kernel_count < 100 && (!all->facts.base_known || !(seed & 1))))
      continue;
    wrong += !run_stranger(all, seed, argc > 3);
    runs++;
  }
  printf("%s: %zu kernels, %zu runs, %zu wrong\n", argv[1], all->kernel_count, runs, wrong);
  ink_foreign_free(all);
  return wrong != 0;
}
