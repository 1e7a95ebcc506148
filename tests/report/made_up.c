/* SPDX-License-Identifier: MIT */
/* Captures of which it is known what is in them: made_up OUT SEED [KEY=VALUE...]. Launches of a kernel of five
 * sections, whose times scatter from launch to launch. */
#include "synth.h"

#include <math.h>

typedef struct made_up {
  uint32_t launches, blocks, iterations, slots; /* slots: blocks that run at a time, 0 all */
  double scatter;     /* standard deviation of a section's time over the launches */
  double slower[6];   /* factor of each section */
  double late;        /* factor of the late block's LineSearch */
  uint32_t late_block, only; /* only: late in this launch alone, counted from 1; 0: in all */
  uint32_t held;      /* 1: the others are that much longer in StepLast */
  double outlier;     /* factor of one iteration */
  uint32_t outlier_iteration;
  double drift;       /* of the first launch */
  double sm_factor;   /* of LineSearch on one SM */
  uint32_t slow_sm;
  double per_value;   /* cycles of Hessian for each 1 of a number that PROF_VALUE gives */
  double trend;       /* of Gradient: the last launch takes so much more than the first */
  uint32_t device, simulated; /* the device's name, and what it is */
  uint32_t reversed;          /* 1: the last block begins first */
  uint32_t stagger;           /* cycles by which each slot begins after the one before */
  uint32_t warps;             /* 1: a track is a warp's */
  double rate;                /* of the device's clock: 1 is a GHz */
  uint32_t mark_millicycles;  /* what a mark costs, 0 not measured */
  uint32_t track_cycles;      /* what opening and closing take, between the blocks of a slot; 0 not measured */
  uint32_t instance;          /* the kernel's parameters are of this kind, 0 no name of its function */
  uint32_t kernels;           /* so many take turns, launch by launch */
  uint32_t moved;             /* this block ends on another SM than it began on; 0: none does */
  uint64_t random;
} made_up;

static double uniform(made_up *m) {
  m->random = m->random * 6364136223846793005u + 1442695040888963407u;
  return ((double)(m->random >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(made_up *m) {
  const double radius = sqrt(-2 * log(uniform(m)));
  return radius * cos(6.283185307179586 * uniform(m));
}

static void fill(made_up *m, synth_track *t, uint32_t launch, uint32_t block, const double *of_launch, uint64_t *clock) {
  static const double usual[6] = {0, 1000, 700, 500, 300, 100};
  for (uint32_t i = 0; i < m->iterations; i++) {
    const uint64_t number = m->per_value > 0 ? 1 + (uint64_t)(20 * uniform(m)) : 0;
    if (m->iterations > 1)
      synth_record(t, 0, INK_KIND_ITER, 0, i, *clock);
    if (number)
      synth_value(t, 0, INK_ESCAPE_VALUE_U64, 6, number, SYNTH_HASH, *clock);
    for (uint32_t s = 1; s < 6; s++) {
      double cycles = usual[s] * m->slower[s] * of_launch[s] * (1 + 0.003 * normal(m));
      if (s == 1 && block == m->late_block && (!m->only || m->only == launch + 1))
        cycles *= m->late;
      if (s == 1 && i == m->outlier_iteration)
        cycles *= m->outlier;
      if (!launch)
        cycles *= m->drift;
      if (s == 1 && t->header.sm_open == m->slow_sm)
        cycles *= m->sm_factor;
      if (s == 3)
        cycles += m->per_value * (double)number;
      if (s == 4)
        cycles *= 1 + m->trend * launch / m->launches;
      if (s == 5 && m->held && block != m->late_block && (!m->only || m->only == launch + 1))
        cycles += usual[1] * of_launch[1] * (m->late - 1);
      *clock += cycles < 1 ? 1 : (uint64_t)(cycles + 0.5);
      synth_record(t, 0, INK_KIND_MARK, s + 1, 0, *clock);
    }
  }
}

static void put_launch(made_up *m, ink_writer *writer, uint32_t launch, uint64_t *now) {
  double of_launch[6];
  const uint32_t slots = m->slots ? m->slots : m->blocks;
  uint64_t *free_at = malloc(slots * sizeof *free_at), last = *now;
  for (uint32_t s = 0; s < 6; s++)
    of_launch[s] = exp(m->scatter * normal(m));
  for (uint32_t i = 0; i < slots; i++)
    free_at[i] = *now + i * m->stagger;
  for (uint32_t at = 0; at < m->blocks; at++) {
    const uint32_t block = m->reversed ? m->blocks - 1 - at : at;
    synth_track t;
    uint32_t slot = 0;
    for (uint32_t i = 1; i < slots; i++)
      if (free_at[i] < free_at[slot])
        slot = i;
    uint64_t clock = free_at[slot];
    synth_track_init(&t, 4096, 4, false);
    t.header.grid_id = launch + 1;
    t.header.kernel = launch % m->kernels;
    t.header.grid_dim[0] = m->blocks;
    t.header.block_dim[0] = 32;
    t.header.block_index[0] = block;
    t.header.ticket = (uint64_t)launch * m->blocks + block;
    t.header.sm_open = t.header.sm_close = slot % 4;
    if (m->moved && block == m->moved)
      t.header.sm_close = (slot + 1) % 4;
    t.header.instance = m->instance ? 0x1000 : 0;
    synth_open(&t, clock, (uint64_t)((double)clock / m->rate));
    fill(m, &t, launch, block, of_launch, &clock);
    synth_close(&t, clock, (uint64_t)((double)clock / m->rate));
    synth_put(writer, &t);
    synth_track_free(&t);
    free_at[slot] = clock + 1 + m->track_cycles;
    last = clock > last ? clock : last;
  }
  free(free_at);
  *now = last + 1000;
}

static void read_key(made_up *m, const char *text) {
  unsigned at;
  double value;
  if (sscanf(text, "launches=%u", &m->launches) == 1 || sscanf(text, "blocks=%u", &m->blocks) == 1 ||
      sscanf(text, "iterations=%u", &m->iterations) == 1 || sscanf(text, "slots=%u", &m->slots) == 1 ||
      sscanf(text, "warps=%u", &m->warps) == 1 || sscanf(text, "reversed=%u", &m->reversed) == 1 ||
      sscanf(text, "held=%u", &m->held) == 1 || sscanf(text, "only=%u", &m->only) == 1 ||
      sscanf(text, "stagger=%u", &m->stagger) == 1 ||
      sscanf(text, "mark=%u", &m->mark_millicycles) == 1 || sscanf(text, "track=%u", &m->track_cycles) == 1 || sscanf(text, "rate=%lf", &m->rate) == 1 ||
      sscanf(text, "moved=%u", &m->moved) == 1 || sscanf(text, "kernels=%u", &m->kernels) == 1 || sscanf(text, "instance=%u", &m->instance) == 1 || sscanf(text, "device=%u", &m->device) == 1 || sscanf(text, "simulated=%u", &m->simulated) == 1 ||
      sscanf(text, "scatter=%lf", &m->scatter) == 1 || sscanf(text, "drift=%lf", &m->drift) == 1 ||
      sscanf(text, "value=%lf", &m->per_value) == 1 || sscanf(text, "trend=%lf", &m->trend) == 1)
    return;
  if (sscanf(text, "slower=%u:%lf", &at, &value) == 2 && at < 6)
    m->slower[at] = value;
  else if (sscanf(text, "late=%u:%lf", &m->late_block, &m->late) == 2 ||
           sscanf(text, "sm=%u:%lf", &m->slow_sm, &m->sm_factor) == 2 || sscanf(text, "outlier=%u:%lf", &m->outlier_iteration, &m->outlier) == 2)
    return;
  else {
    fprintf(stderr, "what is '%s'?\n", text);
    exit(2);
  }
}

int main(int argc, char **argv) {
  made_up m = {.launches = 20, .blocks = 8, .iterations = 1, .scatter = 0.03, .slower = {1, 1, 1, 1, 1, 1}, .late = 1,
               .outlier = 1, .drift = 1, .sm_factor = 1, .simulated = 1, .rate = 1, .kernels = 1};
  uint64_t now = 1000;
  if (argc < 3)
    return 2;
  m.random = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (int i = 3; i < argc; i++)
    read_key(&m, argv[i]);
  for (int i = 0; i < 8; i++)
    uniform(&m);
  ink_writer *writer = synth_writer(argv[1], 4096, 4, false);
  char name[32] = "synthetic device";
  ink_error error;
  if (m.device)
    snprintf(name, sizeof name, "device of type %u", m.device);
  const ink_device_info device = {.simulated = m.simulated, .sm_count = 4, .capability = 75, .track_count = 64,
                                  .records_per_track = 4096, .aux_records_per_track = 4,
                                  .flags = INK_BUFFER_ON | (m.warps ? INK_BUFFER_PER_WARP : 0u), .name = name};
  const ink_mark_cost cost[] = {{.what = INK_COST_OF_MARK, .flags = INK_COST_RECORDING, .samples = 8,
                                 .millicycles = m.mark_millicycles, .bound_millicycles = 100},
                                {.what = INK_COST_OF_TRACK, .flags = INK_COST_RECORDING, .samples = 8,
                                 .millicycles = 1000 * m.track_cycles, .bound_millicycles = 100}};
  const ink_mark_costs costs = {.count = 2, .costs = cost, .note = ""};
  static const char *const functions[] = {NULL, "void step(float *, int)", "void step(float *, int, int)", "void step(float *)"};
  if (ink_writer_device(writer, &device, &error) != INK_OK || /* in the place of synth's */
      ((m.mark_millicycles || m.track_cycles) && ink_writer_mark_costs(writer, &costs, &error) != INK_OK) ||
      (m.instance && ink_writer_instance(writer, 0, 0x1000, functions[m.instance % 4], &error) != INK_OK))
    return 1;
  for (uint32_t k = 1; k < m.kernels; k++) {
    const ink_kernel_counts counts = {.slot = k, .key = INK_KERNEL_KEY(SYNTH_HASH, 1 + k)};
    if (ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error) != INK_OK)
      return 1;
  }
  for (uint32_t launch = 0; launch < m.launches; launch++)
    put_launch(&m, writer, launch, &now);
  synth_finish(writer);
  return 0;
}
