/* SPDX-License-Identifier: MIT */
/* Captures that make whoever compares all with all take minutes: made_up_hostile OUT kernels|crossings|waits|peers|large N.
 * kernels: N kernels of one launch each, whose second warp waits for the first. crossings: N ranges across threads, each of
 * another section or between other roles. waits: a block of two warps that pass N sections, of which half wait. peers: a
 * block of N tracks that wait for each other. large: N tracks of 65,536 marks. */
#include "synth.h"

enum { SECTIONS = 8000, TABLES = 3 };

static uint64_t hash_of(uint32_t table) { return SYNTH_HASH + 1 + table; }

/* "s0, s1, wait2, s3, ...": every other one waits where it is asked for. */
static void put_table(ink_writer *writer, uint32_t number, bool waits) {
  char *names = malloc((size_t)SECTIONS * 16), name[16];
  ink_error error;
  size_t used = 0;
  if (!names)
    exit(1);
  for (uint32_t i = 0; i < SECTIONS; i++)
    used += (size_t)sprintf(names + used, "%s%s%u", i ? ", " : "", waits && i % 2 ? "wait" : "s", i);
  snprintf(name, sizeof name, "Many%u", number);
  if (ink_writer_table(writer, name, names, "many.cu", 1, hash_of(number), &error) != INK_OK)
    exit(1);
  free(names);
}

static void slot(ink_writer *writer, uint32_t number, uint64_t key) {
  const ink_kernel_counts counts = {.slot = number, .key = key};
  ink_error error;
  if (ink_writer_counts(writer, &counts, 1, 0, 0, 0, &error) != INK_OK)
    exit(1);
}

static synth_track begin(uint32_t records, uint64_t grid, uint32_t warp) {
  synth_track t;
  synth_track_init(&t, records, 4, false);
  t.header.grid_id = grid;
  t.header.block_dim[0] = 64;
  t.header.thread = 32 * warp;
  t.header.ticket = grid << 24 | warp;
  synth_open(&t, 1000, 1000);
  return t;
}

static void end(ink_writer *writer, synth_track *t, uint64_t clock) {
  synth_close(t, clock, clock);
  synth_put(writer, t);
  synth_track_free(t);
}

static void kernels(ink_writer *writer, uint32_t n) {
  for (uint32_t table = 0; table < TABLES; table++)
    put_table(writer, table, true);
  for (uint32_t i = 0; i < n && i < SECTIONS * TABLES; i++) {
    const uint64_t hash = hash_of(i / SECTIONS);
    slot(writer, 1 + i, INK_KERNEL_KEY(hash, 1 + i % SECTIONS));
    for (uint32_t warp = 0; warp < 2; warp++) {
      synth_track t = begin(16, i + 1, warp);
      t.header.kernel = 1 + i;
      t.header.role = INK_KERNEL_KEY(hash, 1 + warp);
      synth_record(&t, 0, INK_KIND_MARK, 1, 0, 1000 + (warp ? 100 : 900));
      if (warp)
        synth_record(&t, 0, INK_KIND_MARK, 2, 0, 1900); /* wait1 */
      end(writer, &t, 1900);
    }
  }
}

static void crossings(ink_writer *writer, uint32_t n) {
  enum { PAIRS = 100 };
  put_table(writer, 0, false);
  slot(writer, 1, INK_KERNEL_KEY(hash_of(0), 1));
  for (uint32_t i = 0; i < 2 * PAIRS; i++) {
    synth_track t = begin(1 << 13, 1, i);
    t.header.kernel = 1;
    t.header.role = INK_KERNEL_KEY(hash_of(0), 1 + i);
    for (uint32_t k = 0; k < n / PAIRS; k++) {
      const uint64_t clock = 1000 + 10 * k + i % 2;
      const uint64_t words[] = {(uint64_t)(i / 2) << 32 | k,
                                INK_HEAD(i % 2 ? INK_KIND_ASYNC_END : INK_KIND_ASYNC_BEGIN, 1 + k % SECTIONS, clock),
                                INK_ESCAPE_WORD(INK_ESCAPE_BLOCK, hash_of(0), clock)};
      synth_words(&t, 0, words, 3);
    }
    end(writer, &t, 1000 + 10 * (uint64_t)n);
  }
}

static void waits(ink_writer *writer, uint32_t n) {
  put_table(writer, 0, true);
  slot(writer, 1, INK_KERNEL_KEY(hash_of(0), 1));
  for (uint32_t warp = 0; warp < 2; warp++) {
    synth_track t = begin(1 << 16, 1, warp);
    uint64_t clock = 1000;
    t.header.kernel = 1;
    for (uint32_t k = 0; k < 3 * n; k++)
      synth_record(&t, 0, INK_KIND_MARK, 1 + k % (n < SECTIONS ? n : SECTIONS), 0, clock += 40 + (k / n) * 100 + warp * (k % 7));
    end(writer, &t, clock + 10);
  }
}

static void peers(ink_writer *writer, uint32_t n) {
  put_table(writer, 0, true);
  slot(writer, 1, INK_KERNEL_KEY(hash_of(0), 1));
  for (uint32_t i = 0; i < n; i++) {
    synth_track t = begin(16, 1, i % 32);
    uint64_t clock = 1000;
    t.header.kernel = 1;
    t.header.role = INK_KERNEL_KEY(hash_of(0), 1);
    for (uint32_t k = 0; k < 8; k++)
      synth_record(&t, 0, INK_KIND_MARK, 1 + k, 0, clock += 100 + i % 50);
    t.header.ticket = i;
    end(writer, &t, clock);
  }
}

static void large(ink_writer *writer, uint32_t n) {
  put_table(writer, 0, false);
  slot(writer, 1, INK_KERNEL_KEY(hash_of(0), 1));
  synth_track t = begin(1 << 16, 1, 0);
  uint64_t clock = 1000;
  t.header.kernel = 1;
  t.header.grid_dim[0] = n;
  for (uint32_t k = 0; k < 1 << 16; k++)
    synth_record(&t, 0, INK_KIND_MARK, 1 + k % 100, 0, clock += 100);
  synth_close(&t, clock, clock);
  for (uint32_t i = 0; i < n; i++) {
    t.header.block_index[0] = i;
    t.header.ticket = i;
    synth_put(writer, &t);
  }
  synth_track_free(&t);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  ink_writer *writer = synth_writer(argv[1], 1 << 16, 4, false);
  const uint32_t n = (uint32_t)strtoul(argv[3], NULL, 10);
  if (!strcmp(argv[2], "kernels")) kernels(writer, n);
  else if (!strcmp(argv[2], "crossings")) crossings(writer, n);
  else if (!strcmp(argv[2], "waits")) waits(writer, n);
  else if (!strcmp(argv[2], "peers")) peers(writer, n);
  else if (!strcmp(argv[2], "large")) large(writer, n);
  else return 2;
  synth_finish(writer);
  return 0;
}
