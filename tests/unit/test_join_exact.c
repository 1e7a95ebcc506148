/* SPDX-License-Identifier: MIT */
/* Everything that a join says of drawn traces: each launch's kernel, its doubt, and each clock. That it is right is what
 * test_join and tests/merge/join_blind.c show; this one sees it when anything moves. */
#include "expected.h"
#include "merge/join/join_private.h"
#include "merge/read/foreign_private.h"

#include <inttypes.h>
#include <math.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)
enum { MOST = 400, BASE = 1700000000 };

typedef struct way {
  const char *what;
  bool base_known, correlations, grid_ids, wrong_ids;
  int streams, names, devices; /* of theirs */
  double ahead_us, drift, jitter_us;
  double lost_theirs, lost_ours; /* shares that one of the two did not see */
  bool unnamed; /* theirs have other names than ours */
  bool even; /* launches follow each other as a clock ticks: places look alike */
  enum { BY_NAME, ONE_SIZE, NO_SIZES, SOME_SIZES } sizes; /* of grids: each name's own, one of all; they do not say them; of some they do */
  int grain_us; /* times are multiples of that, so that many are equal or lie at limits; 0: they are not */
  double pace;  /* of the time from one to the next */
  bool aliases; /* two names of ours are the same one of theirs */
} way;

static const way ways[] = {
    {"correlations", true, true, false, false, 2, 3, 1, 3e6, 0, 0.5, 0, 0, false, false, BY_NAME, 0, 1, false},
    {"grid ids", true, false, true, false, 1, 2, 1, -2e6, 0, 0.5, 0, 0.1, false, false, BY_NAME, 0, 1, false},
    {"wrong ids", true, false, true, true, 2, 1, 1, 1e6, 0, 0.5, 0, 0, false, false, BY_NAME, 0, 1, false},
    {"both", true, true, true, false, 3, 2, 2, 5e5, 20e-6, 1, 0.1, 0.1, false, false, BY_NAME, 0, 1, false},
    {"both, wrong", true, true, true, true, 1, 2, 1, 0, 0, 1, 0.1, 0, false, false, BY_NAME, 0, 1, false},
    {"by time", true, false, false, false, 2, 3, 1, 700, 0, 2, 0, 0, false, false, BY_NAME, 0, 1, false},
    {"by time, drift", true, false, false, false, 1, 2, 1, 4e5, 80e-6, 1, 0.05, 0.05, false, false, BY_NAME, 0, 1, false},
    {"no base", false, false, false, false, 1, 3, 1, 0, 0, 1, 0, 0.3, false, false, BY_NAME, 0, 1, false},
    {"even", true, false, false, false, 1, 1, 1, 0, 0, 0.2, 0, 0.2, false, true, BY_NAME, 0, 1, false},
    {"even, no base", false, false, false, false, 1, 1, 1, 0, 0, 0.2, 0.1, 0, false, true, BY_NAME, 0, 1, false},
    {"devices", true, false, false, false, 2, 2, 2, 9e5, 0, 1, 0.2, 0, false, false, BY_NAME, 0, 1, false},
    {"devices, ids", true, true, false, false, 1, 1, 2, -9e5, -30e-6, 1, 0, 0.4, false, false, BY_NAME, 0, 1, false},
    {"wide", true, false, false, false, 4, 1, 1, 50, 0, 12, 0.1, 0.1, false, false, BY_NAME, 0, 1, false},
    {"by dimensions", true, false, false, false, 2, 3, 1, 300, 0, 1, 0.1, 0.1, true, false, BY_NAME, 0, 1, false},
    {"by dimensions, no base", false, false, false, false, 1, 3, 1, 0, 0, 1, 0, 0.1, true, false, BY_NAME, 0, 1, false},
    {"dense", true, false, false, false, 3, 1, 1, -40, 0, 30, 0.2, 0.2, false, false, BY_NAME, 0, 1, false},
    {"far ahead", true, false, false, false, 1, 2, 1, -9e8, 0, 3, 0.3, 0.3, false, false, BY_NAME, 0, 1, false},
    {"far strays", true, true, false, true, 1, 1, 1, 20, 0, 6, 0.3, 0.1, false, false, BY_NAME, 0, 1, false},
    {"few are seen", true, false, false, false, 1, 2, 1, 1e5, 0, 1, 0.8, 0, false, false, BY_NAME, 0, 1, false},
    {"one size", true, false, false, false, 2, 3, 1, 500, 0, 2, 0.1, 0.1, false, false, ONE_SIZE, 0, 1, false},
    {"one size, ids", true, true, false, false, 2, 3, 1, 2e5, 0, 2, 0.1, 0.1, false, false, ONE_SIZE, 0, 1, false},
    {"one size, unnamed", true, false, false, false, 1, 3, 1, 100, 0, 2, 0.1, 0, true, false, ONE_SIZE, 0, 1, false},
    {"no sizes", true, false, false, false, 2, 3, 1, -300, 0, 2, 0.1, 0.1, false, false, NO_SIZES, 0, 1, false},
    {"some sizes", true, false, true, false, 2, 3, 2, 3e3, 10e-6, 2, 0.1, 0.1, false, false, SOME_SIZES, 0, 1, false},
    {"some sizes, unnamed", true, false, false, false, 2, 3, 1, 40, 0, 2, 0.1, 0, true, false, SOME_SIZES, 0, 1, false},
    {"coarse", true, false, false, false, 2, 2, 1, 200, 0, 0, 0.1, 0.1, false, false, BY_NAME, 10, 1, false},
    {"coarse, no base", false, false, false, false, 1, 2, 1, 0, 0, 0, 0.1, 0.1, false, false, BY_NAME, 20, 1, false},
    {"coarse, ids", true, true, true, true, 2, 2, 2, 1e6, 0, 0, 0.1, 0.1, false, false, ONE_SIZE, 20, 1, false},
    {"coarse and wide", true, false, false, false, 3, 1, 1, 0, 0, 10, 0.1, 0.1, false, false, BY_NAME, 5, 1, false},
    {"coarse strays", true, false, false, false, 1, 1, 1, -50, 0, 20, 0.4, 0.4, false, false, BY_NAME, 50, 1, false},
    {"coarse and even", true, false, false, false, 1, 1, 1, 100, 0, 0, 0.3, 0.3, false, true, BY_NAME, 100, 1, false},
    {"crowded", true, false, false, false, 12, 1, 1, 100, 0, 30, 0.1, 0.1, false, false, ONE_SIZE, 0, 0.03, false},
    {"crowded, coarse", true, false, false, false, 8, 1, 1, -30, 0, 20, 0.1, 0.2, false, false, ONE_SIZE, 2, 0.05, false},
    {"crowded, no base", false, false, false, false, 6, 2, 1, 0, 0, 10, 0.1, 0.1, false, false, ONE_SIZE, 1, 0.1, false},
    {"aliases", true, false, false, false, 2, 1, 1, 40, 0, 10, 0.2, 0.1, false, false, ONE_SIZE, 0, 0.2, true},
    {"aliases, crowded", true, false, false, false, 4, 2, 1, 0, 0, 25, 0.2, 0, false, false, ONE_SIZE, 5, 0.1, true},
    {"aliases, ids", true, true, true, true, 2, 1, 1, 5e4, 0, 5, 0.1, 0.1, false, false, ONE_SIZE, 0, 0.3, true},
    {"long", true, false, false, false, 1, 2, 1, 2e3, 150e-6, 3, 0.1, 0.1, false, false, BY_NAME, 0, 2e4, false},
    {"long, drifting", true, false, false, false, 2, 1, 1, -4e3, -400e-6, 6, 0.2, 0.1, false, false, ONE_SIZE, 0, 300, false},
    {"long, no base", false, false, false, false, 1, 2, 1, 0, 90e-6, 3, 0.1, 0, false, false, BY_NAME, 0, 3e3, false},
    {"long, even", true, false, false, false, 1, 1, 1, 700, 40e-6, 1, 0.1, 0.1, false, true, ONE_SIZE, 0, 900, false},
    {"wrong ids, doubt", true, false, true, true, 2, 1, 1, 300, 0, 8, 0, 0, false, true, ONE_SIZE, 0, 0.25, false},
};

static uint64_t state;
static double drawn(void) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void one(const way *w, uint64_t seed, int n) {
  static const char *const names[] = {"step(float*)", "void solve<int, 3>(int const*)", "reduce"};
  static const char *const ours[] = {"step", "solve", "reduce"}, *const others[] = {"step (a.cu:3)", "solve (b.cu:7)", "reduce"};
  static ink_join_launch launches[MOST];
  ink_foreign *theirs = calloc(1, sizeof *theirs);
  size_t count = 0;
  double at = 0;
  ink_error error;
  ink_join *join;
  const ink_joined *joined;
  const ink_join_clock *clocks;
  const size_t *unmatched;
  theirs->facts.base_known = w->base_known;
  state = seed;
  for (int i = 0; i < n; i++) {
    const uint32_t name = (uint32_t)(drawn() * w->names), device = (uint32_t)(drawn() * w->devices);
    const int64_t stream = 7 + (int64_t)(drawn() * w->streams);
    double length = w->even ? 20 : 8 + 30 * drawn();
    if (w->grain_us)
      length = fmax(1, round(length / w->grain_us)) * w->grain_us;
    at += (w->even ? 100 : 15 + 400 * drawn() * drawn()) * w->pace;
    if (w->grain_us)
      at = round(at / w->grain_us) * w->grain_us;
    const uint32_t grid = 64 + (w->sizes == ONE_SIZE ? 0 : name);
    const bool said = w->sizes == BY_NAME || w->sizes == ONE_SIZE || (w->sizes == SOME_SIZES && name != 1);
    const int64_t begin = INT64_C(1000000000) * BASE + llround(at * 1000), length_ns = llround(length * 1000);
    ink_foreign_type type = {.short_name = UINT32_MAX, .mangled = UINT32_MAX, .stream = stream, .device = (int32_t)device,
                             .grid_dim = {said ? grid : 0, said, said}, .block_dim = {said ? 128 : 0, said, said}};
    if (ink_foreign_intern(theirs, w->unnamed ? "other" : names[name], strlen(w->unnamed ? "other" : names[name]), &type.name))
      exit(1);
    const int64_t shift = llround((w->ahead_us + w->drift * at) * 1000);
    const uint64_t id = w->wrong_ids && drawn() < 0.4 ? (uint64_t)(drawn() * n) + 1 : (uint64_t)i + 1;
    const ink_foreign_kernel k = {.begin_ns = begin + (w->base_known ? shift : shift - INT64_C(1000000000) * BASE),
                                  .end_ns = begin + length_ns + (w->base_known ? shift : shift - INT64_C(1000000000) * BASE),
                                  .correlation = w->correlations ? i + 1 : -1, .grid_id = w->grid_ids ? (uint64_t)i + 1 : 0};
    if (drawn() >= w->lost_theirs && ink_foreign_add(theirs, &type, &k))
      exit(1);
    if (drawn() < w->lost_ours)
      continue;
    const double within = 0.5 + w->jitter_us * drawn();
    const int64_t in = llround(w->grain_us ? round(within * 2) * 500 : within * 1000);
    const uint32_t other = w->aliases && drawn() < 0.5;
    launches[count++] = (ink_join_launch){.device = (int32_t)device, .kernel = name + 3 * other, .name = other ? others[name] : ours[name], .grid_id = id,
                                          .correlation = w->correlations ? (int64_t)id : 0, .grid_dim = {grid, 1, 1}, .block_dim = {128, 1, 1},
                                          .begin_ns = begin + in, .end_ns = begin + length_ns - (w->grain_us ? 500 * (i % 2) : llround(400 * drawn()))};
  }
  NEED(ink_join_make(launches, count, theirs, &join, &error), error);
  PRINT("%s, %d, seed %" PRIu64 "\n", w->what, n, seed);
  const size_t clock_count = ink_join_clocks(join, &clocks);
  for (size_t i = 0; i < clock_count; i++) {
    const ink_join_clock *c = &clocks[i];
    PRINT(" device %d is %d: %" PRIu64 " launches, %" PRIu64 " joined, %" PRIu64 " inside, offset %" PRId64 " within %" PRId64 " at %" PRId64 ", drift %.5g, ids %d %d, %s; %" PRId64 "\n",
          c->device, c->their_device, c->launches, c->joined, c->inside, c->offset_ns, c->bound_ns, c->at_ns, c->drift_ppm, c->grid_ids_trusted,
          c->correlations_trusted, c->note, ink_join_clock_theirs(c, INT64_C(1000000000) * BASE + 1234567));
  }
  const size_t launch_count = ink_join_launches(join, &joined);
  for (size_t i = 0; i < launch_count; i++)
    PRINT(" %zd:%d:%.4g:%" PRId64 "%s", (ssize_t)joined[i].kernel, (int)joined[i].method, joined[i].confidence, joined[i].residual_ns, joined[i].uncertain ? "?" : "");
  const size_t rest = ink_join_unmatched(join, &unmatched);
  PRINT("\n unmatched");
  for (size_t i = 0; i < rest; i++)
    PRINT(" %zu", unmatched[i]);
  PRINT("\n");
  ink_join_free(join);
  ink_foreign_free(theirs);
}

/* More of them, of which a digest is kept: the ways above with other seeds, and ways whose parts are drawn. */
static void more(uint64_t seed) {
  static const double shares[] = {0, 0, 0.05, 0.1, 0.3, 0.6}, aheads[] = {0, 40, -300, 700, 2e3, -4e4, 3e6, -9e8}, drifts[] = {0, 0, 20e-6, -80e-6, 400e-6},
                      jitters[] = {0, 0.5, 2, 6, 15, 30}, paces[] = {1, 1, 1, 0.05, 0.2, 30, 900};
  static const int grains[] = {0, 0, 0, 1, 5, 20, 100};
  FILE *out = expected_out;
  char *text;
  size_t bytes;
  way drawn_way = ways[seed % (sizeof ways / sizeof *ways)];
#define ONE_OF(values) values[(size_t)(drawn() * (double)(sizeof values / sizeof *values))]
  state = 77 * seed + 1;
  const int n = 1 + (int)(drawn() * 60);
  if (seed % 3) {
    drawn_way.what = "drawn";
    drawn_way.base_known = drawn() < 0.8;
    drawn_way.correlations = drawn() < 0.2;
    drawn_way.grid_ids = drawn() < 0.2;
    drawn_way.wrong_ids = drawn() < 0.3;
    drawn_way.streams = 1 + (int)(drawn() * 4);
    drawn_way.names = 1 + (int)(drawn() * 3);
    drawn_way.devices = 1 + (drawn() < 0.2);
    drawn_way.ahead_us = ONE_OF(aheads);
    drawn_way.drift = ONE_OF(drifts);
    drawn_way.jitter_us = ONE_OF(jitters);
    drawn_way.lost_theirs = ONE_OF(shares);
    drawn_way.lost_ours = ONE_OF(shares);
    drawn_way.unnamed = drawn() < 0.2;
    drawn_way.even = drawn() < 0.2;
    drawn_way.sizes = drawn() < 0.5 ? ONE_SIZE : drawn() < 0.5 ? BY_NAME : drawn() < 0.5 ? NO_SIZES : SOME_SIZES;
    drawn_way.grain_us = ONE_OF(grains);
    drawn_way.pace = ONE_OF(paces);
    drawn_way.aliases = drawn() < 0.2;
  }
  expected_out = open_memstream(&text, &bytes);
  one(&drawn_way, 1000000 + seed, n);
  fclose(expected_out);
  expected_out = out;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  PRINT("more %" PRIu64 ": %016" PRIx64 "\n", seed, hash);
  free(text);
}

/* Which names of ours are which names of theirs. */
static void names(void) {
  static const char *const ours[] = {"step", "step (solver.cu:12)", "step (a)", "Kernel_Step", "stepKernel", "kernel", "ns::step", "step<3>", "", " (a:1)", "solve (x:y"};
  static const char *const theirs[] = {
      "step", "step(float*)", "void step<int>(float*)", "void ns::step<a<b>, (int)3>(float*)", "(anonymous namespace)::step(int)", "void (anonymous namespace)::ns::step<x>()",
      "_Z4stepPf", "_ZN2ns4stepIiEvPf", "_ZNK2ns4stepEv", "_ZNL2ns4stepEv", "_ZL4stepv", "_Z9stepPf", "_Z0step", "_Zstep", "_ZN2ns1aE", "step_kernel", "kernel_step", "kernel", "kernelkernel", "STEP",
      "st_ep", "solve", "ns::step", "step<3>", "step2", "ste", "", "(int)", "a::b::step(int) [clone .1]", "ns:step", "void operator()(int)", "step (solver.cu:12)"};
  for (size_t a = 0; a < sizeof ours / sizeof *ours; a++) {
    PRINT("'%s' is", ours[a]);
    for (size_t b = 0; b < sizeof theirs / sizeof *theirs; b++)
      if (ink_join_name_equal(ours[a], theirs[b]))
        PRINT(" '%s'", theirs[b]);
    PRINT("\n");
  }
}

int main(int argc, char **argv) {
  static const int sizes[] = {1, 2, 3, 9, 40, 70};
  expected_begin();
  names();
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      one(&ways[w], 100 * w + s, sizes[s]);
  for (uint64_t seed = 0; seed < 900; seed++)
    more(seed);
  expected_end(argc > 1 ? argv[1] : "join.txt");
  return check_result("join_exact");
}
