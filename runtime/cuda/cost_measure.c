/* SPDX-License-Identifier: MIT */
/* Measures what marks cost: runs the kernel of mark_cost.cuh with a small buffer of its own, apart
 * from the session's, and makes medians and bounds of its samples. */
#include "cuda/cost_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TO_DEVICE = 1,
  TO_HOST = 2, /* cudaMemcpyKind */
  RING_WORDS = 512,
  RING_BYTES = RING_WORDS * 8,
  WARM_UP = 1,     /* launches whose samples do not count: code comes into the caches */
  LAUNCHES = 3,    /* that count, of each sort */
  ROUNDS_FROM = 1, /* rounds of a row that do not count, for the same reason */
  SAMPLES_MAX = LAUNCHES * INK_COST_ROUNDS * INK_COST_MARKS
};

/* The device's block, as the host sees it. The ring is aligned to its size. */
typedef struct cost_block {
  unsigned char lead[RING_BYTES - sizeof(ink_device_track)];
  ink_device_track track;
  uint64_t ring[RING_WORDS], aux[RING_WORDS];
  ink_device_state state;    /* of track 0 */
  ink_buffer buffer;
  ink_kernel_slot slots[2]; /* one of them stays empty */
  uint64_t block_bits;
  uint64_t samples[INK_COST_ROWS * INK_COST_ROUNDS];
} cost_block;
_Static_assert(offsetof(cost_block, ring) == RING_BYTES && offsetof(cost_block, buffer) % 16 == 0 &&
                   offsetof(cost_block, state) + sizeof(ink_device_state) == offsetof(cost_block, buffer) &&
                   offsetof(cost_block, slots) == offsetof(cost_block, buffer) + sizeof(ink_buffer),
               "where kernels look for it");

typedef struct samples {
  uint64_t values[SAMPLES_MAX];
  uint32_t count;
} samples;

typedef struct measurement {
  samples rows[INK_COST_ROWS];
  samples stamped[INK_COST_ROWS]; /* from one mark's own stamp to the next one's */
  samples opening, track, sum_record;
  uint64_t sum_count, sum_total, sum_min, sum_max;
} measurement;

/* ---- launching ------------------------------------------------------------------------------ */

static void fill(cost_block *block, uint64_t base) {
  memset(block, 0, sizeof *block);
  const uint64_t key = INK_KERNEL_KEY(INK_COST_TABLE, 1);
  block->slots[INK_KERNEL_FIRST(key)] = (ink_kernel_slot){.key = key, .enabled = 1};
  block->buffer = (ink_buffer){.magic = INK_BUFFER_MAGIC,
                               .version = INK_LAYOUT_VERSION,
                               .flags = INK_BUFFER_ON,
                               .warps = 1,
                               .thread_mask = UINT32_MAX,
                               .blocks_limit = UINT32_MAX,
                               .kernel_mask = 1,
                               .block_bits_at = base + offsetof(cost_block, block_bits),
                               .rings_end = base + offsetof(cost_block, ring) + 2 * RING_BYTES,
                               .ring_mask = RING_BYTES - 8 + INK_MASK_KEEP_LAST,
                               .stride = 2 * RING_BYTES,
                               .state_bytes = sizeof(ink_device_state)};
  block->block_bits = UINT64_MAX;
  block->state = (ink_device_state){.ring = base + offsetof(cost_block, ring), .mask = block->buffer.ring_mask};
}

static int launch(ink_i_device *d, uint64_t base, bool recording, cost_block *block) {
  void *buffer = recording ? (void *)(uintptr_t)(base + offsetof(cost_block, buffer)) : NULL;
  uint64_t *at = (uint64_t *)(uintptr_t)(base + offsetof(cost_block, samples));
  int code = d->cost_module->measure_cost(d->cost_module->self, buffer, at, d->stream);
  if (!code)
    code = d->cuda->copy_async(block, (const void *)(uintptr_t)base, sizeof *block, TO_HOST,
                               d->stream);
  return code ? code : d->cuda->stream_synchronize(d->stream);
}

/* ---- what a launch says --------------------------------------------------------------------- */

static void add(samples *to, uint64_t value) {
  if (to->count < SAMPLES_MAX)
    to->values[to->count++] = value;
}

/* The words of a record, and where its head is among them. */
typedef struct shape {
  uint8_t words, head;
} shape;
static const shape body_shapes[] = {
    [INK_COST_MARK] = {1, 0}, [INK_COST_RANGE] = {1, 0}, [INK_COST_INSTANT] = {1, 0},
    [INK_COST_ITER] = {2, 1}, [INK_COST_VALUE] = {3, 1}, [INK_COST_ASYNC] = {2, 1}};
static const shape called_shapes[] = {
    [INK_COST_MARK] = {2, 0}, [INK_COST_RANGE] = {2, 0}, [INK_COST_INSTANT] = {2, 0},
    [INK_COST_ITER] = {2, 1}, [INK_COST_VALUE] = {3, 1}, [INK_COST_ASYNC] = {3, 1}};

/* A ring's records are the rows in their order, `marks` of them a round. */
static void gather_stamps(measurement *m, const uint64_t *ring, uint64_t words, uint64_t at,
                          const shape *shapes, uint32_t first_row, uint32_t marks) {
  for (uint32_t row = INK_COST_MARK; row <= INK_COST_ASYNC; row++)
    for (uint32_t round = 0; round < INK_COST_ROUNDS; round++)
      for (uint32_t i = 0; i < marks; i++, at += shapes[row].words) {
        const uint64_t head = at + shapes[row].head;
        if (i && round >= ROUNDS_FROM && head < words)
          add(&m->stamped[first_row + row],
              (ring[head] - ring[head - shapes[row].words]) & INK_CLOCK_MASK);
      }
}

static void gather(measurement *m, const cost_block *block, bool recording) {
  for (uint32_t row = 0; row < INK_COST_WHOLE; row++)
    for (uint32_t round = ROUNDS_FROM; round < INK_COST_ROUNDS; round++)
      add(&m->rows[row], block->samples[row * INK_COST_ROUNDS + round]);
  const ink_device_track *track = &block->track;
  const uint64_t words = track->bytes / 8, aux_words = track->aux_bytes / 8;
  if (!recording || !track->close_clock0 || block->state.word != INK_STATE_FREE || words > RING_WORDS ||
      words < INK_RECORD_WORDS_MAX)
    return; /* not closed */
  gather_stamps(m, block->ring, words, 1, body_shapes, 0, INK_COST_MARKS);
  if (aux_words <= RING_WORDS)
    gather_stamps(m, block->aux, aux_words, 0, called_shapes, INK_COST_CALLED,
                  INK_COST_MARKS_CALLED);
  const uint64_t opened =
      track->open_clock0 + (uint32_t)(track->open_clock1 - (uint32_t)track->open_clock0);
  add(&m->opening, (block->ring[0] - opened) & INK_CLOCK_MASK);
  const uint64_t *whole = block->samples + INK_COST_WHOLE * INK_COST_ROUNDS;
  add(&m->track, whole[1] - whole[0] - (track->close_clock0 - opened));
  /* The sums were put last: count, total, min, max, head, escape. The closing's clock read comes next. */
  const uint64_t *sum = block->ring + words - INK_RECORD_WORDS_MAX;
  add(&m->sum_record, (track->close_clock0 - sum[4]) & INK_CLOCK_MASK);
  if (!m->sum_count || sum[2] < m->sum_min)
    m->sum_min = sum[2];
  if (sum[3] > m->sum_max)
    m->sum_max = sum[3];
  m->sum_count += sum[0];
  m->sum_total += sum[1];
}

/* ---- medians and bounds --------------------------------------------------------------------- */

static int compare(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* Sorts; the median, and how far from it four of five samples are at most. */
static uint64_t median(samples *s, uint64_t *spread) {
  *spread = 0;
  if (!s->count)
    return 0;
  qsort(s->values, s->count, sizeof *s->values, compare);
  const uint64_t middle = s->values[s->count / 2];
  samples distances = {.count = s->count};
  for (uint32_t i = 0; i < s->count; i++)
    distances.values[i] = s->values[i] > middle ? s->values[i] - middle : middle - s->values[i];
  qsort(distances.values, distances.count, sizeof *distances.values, compare);
  *spread = distances.values[(distances.count * 4 + 4) / 5 - 1];
  return middle;
}

static void put(ink_i_device *d, uint32_t what, uint32_t flags, uint32_t count,
                uint64_t millicycles, uint64_t bound) {
  if (d->cost_count < INK_I_COSTS_MAX)
    d->costs[d->cost_count++] = (ink_mark_cost){.what = what,
                                                .flags = flags,
                                                .samples = count,
                                                .millicycles = millicycles,
                                                .bound_millicycles = bound};
}

/* `marks` marks lie between two clock reads that are `nothing` apart with nothing between. Two
 * readings of a clock of whole cycles are each good to half a cycle. Where the marks have stamps of
 * their own, these say exactly what a section without anything in it comes to; by how much the two
 * ways differ says how much it matters what stands before and after. */
static void put_row(ink_i_device *d, const measurement *m, uint32_t what, uint32_t flags,
                    uint32_t row, uint32_t marks) {
  samples all = m->rows[row], nothings = m->rows[INK_COST_NOTHING], stamped = m->stamped[row];
  uint64_t spread, nothing_spread, stamped_spread;
  const uint64_t cycles = median(&all, &spread), nothing = median(&nothings, &nothing_spread);
  uint64_t each = (cycles > nothing ? cycles - nothing : 0) * 1000 / marks;
  uint64_t bound = (spread + nothing_spread + 1) * 1000 / marks;
  if (stamped.count) {
    const uint64_t exact = median(&stamped, &stamped_spread) * 1000;
    bound = stamped_spread * 1000 + 500 + (exact > each ? exact - each : each - exact);
    each = exact;
  }
  put(d, what, flags, stamped.count ? stamped.count : all.count, each, bound);
}

/* A clock triple's record has 5 words. As with all records, storing them is what comes after its clock read. The cost is
 * interpolated linearly by word count between a VALUE (3 words) and a sum (6). The bound is one word's share of the
 * difference. */
static void put_clocks(ink_i_device *d, const measurement *m, uint32_t flags, uint64_t sum_cycles,
                       uint64_t sum_spread) {
  samples values = m->stamped[INK_COST_VALUE];
  uint64_t spread;
  const uint64_t value = median(&values, &spread);
  if (!values.count || sum_cycles < value)
    return;
  const uint64_t word = (sum_cycles - value) * 1000 / 3;
  put(d, INK_COST_OF_CLOCKS, flags, values.count, value * 1000 + 2 * word,
      word + (spread + sum_spread + 1) * 1000);
}

/* In a loop a pair costs more than four in a row, of which the compiler joins what it can. Programs have them
 * in loops, which some compilers unroll: the one is the cost, and the other is within the bound. */
static void put_sum(ink_i_device *d, const measurement *m, uint32_t flags) {
  samples loops = m->rows[INK_COST_SUM_LOOP], rows = m->rows[INK_COST_SUM];
  samples nothings = m->rows[INK_COST_NOTHING];
  uint64_t spread, row_spread, nothing_spread;
  const uint64_t in_loop = median(&loops, &spread), in_row = median(&rows, &row_spread);
  const uint64_t nothing = median(&nothings, &nothing_spread);
  const uint64_t row = in_row > nothing ? in_row - nothing : 0;
  if (!in_loop || in_loop >> 63) { /* a program that was built before loops were measured */
    put_row(d, m, INK_COST_SUM, flags, INK_COST_SUM, INK_COST_MARKS);
    return;
  }
  const uint64_t apart = in_loop > row ? in_loop - row : row - in_loop;
  put(d, INK_COST_OF_SUM, flags, loops.count, in_loop * 1000 / INK_COST_MARKS,
      (apart + spread + row_spread + nothing_spread + 1) * 1000 / INK_COST_MARKS);
}

static void conclude(ink_i_device *d, measurement *m, bool recording, bool shared) {
  const uint32_t on = recording ? INK_COST_RECORDING : 0u;
  uint64_t spread, cycles;
  for (uint32_t row = INK_COST_MARK; row <= INK_COST_ASYNC; row++)
    put_row(d, m, row, on, row, INK_COST_MARKS);
  put_sum(d, m, on);
  for (uint32_t row = INK_COST_MARK; row <= INK_COST_ASYNC && shared; row++)
    put_row(d, m, row, on | INK_COST_CALLED_FUNCTION, INK_COST_CALLED + row, INK_COST_MARKS_CALLED);
  if (!recording || !m->sum_count)
    return;
  cycles = median(&m->opening, &spread);
  put(d, INK_COST_OF_OPENING, on, m->opening.count, cycles * 1000, spread * 1000 + 1000);
  cycles = median(&m->track, &spread);
  put(d, INK_COST_OF_TRACK, on, m->track.count, cycles * 1000, spread * 1000 + 1000);
  cycles = median(&m->sum_record, &spread);
  put(d, INK_COST_OF_SUM_RECORD, on, m->sum_record.count, cycles * 1000, spread * 1000 + 1000);
  put_clocks(d, m, on, cycles, spread);
  cycles = m->sum_total * 1000 / m->sum_count;
  const uint64_t above = m->sum_max * 1000 - cycles, below = cycles - m->sum_min * 1000;
  put(d, INK_COST_OF_SUM_INSIDE, on, (uint32_t)m->sum_count, cycles,
      (above > below ? above : below) + 1000);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int run(ink_i_device *d, uint64_t base, cost_block *block, measurement *m, bool *shared) {
  fill(block, base);
  int code =
      d->cuda->copy_async((void *)(uintptr_t)base, block, sizeof *block, TO_DEVICE, d->stream);
  for (int off = 0; off < 2; off++)
    for (int i = 0; i < WARM_UP + LAUNCHES && !code; i++) {
      code = launch(d, base, !off, block);
      if (code || i < WARM_UP)
        continue;
      gather(&m[off], block, !off);
      if (!off)
        *shared = block->track.aux_bytes != 0;
    }
  return code;
}

/* The first file that has the kernel. */
static const ink_module_desc *find_module(const ink_module_desc *otherwise) {
  const ink_module_desc *found = otherwise;
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  for (size_t i = 0; i < n && !INK_MODULE_HAS(found, measure_cost); i++)
    found = modules[i].desc;
  ink_i_registry_unlock();
  return found;
}

void ink_i_measure_costs(ink_i_device *d) {
  void *memory = NULL;
  d->cost_count = 0;
  d->cost_note[0] = 0;
  d->cost_module = find_module(d->module);
  if (!INK_MODULE_HAS(d->cost_module, measure_cost)) {
    snprintf(d->cost_note, sizeof d->cost_note, "%s",
             d->module->file[0] ? "all marks were compiled with INKMARK_NO_COST"
                                : "this inkmark was built without nvcc, and brings no kernel that measures it");
    return;
  }
  cost_block *block = malloc(sizeof *block);
  measurement *m = calloc(2, sizeof *m);
  bool shared = false;
  int code = 2; /* cudaErrorMemoryAllocation */
  if (block && m)
    code = d->cuda->malloc_device(&memory, sizeof *block + RING_BYTES);
  if (!code)
    code = run(d, ((uint64_t)(uintptr_t)memory + RING_BYTES - 1) & ~(uint64_t)(RING_BYTES - 1),
               block, m, &shared);
  if (memory)
    d->cuda->free_device(memory);
  if (code) {
    d->cuda->get_last_error(); /* ours, not the program's */
    snprintf(d->cost_note, sizeof d->cost_note, "the kernel that measures it could not run: %s",
             d->cuda->error_string(code));
  } else {
    conclude(d, &m[0], true, shared);
    conclude(d, &m[1], false, shared);
    if (!m[0].sum_count || !shared)
      snprintf(d->cost_note, sizeof d->cost_note, "%s",
               m[0].sum_count ? "called functions: compiled with INKMARK_NO_CALLED"
                              : "the kernel that measures it recorded nothing");
    if (!m[0].sum_count)
      d->cost_count = 0;
  }
  free(block);
  free(m);
}
