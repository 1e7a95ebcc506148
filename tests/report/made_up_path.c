/* SPDX-License-Identifier: MIT */
/* Captures whose critical path is known: made_up_path OUT SEED pipeline|barrier [KEY=VALUE...]. What each wait was
 * ended by is decided here; the true path's nanoseconds of each section are printed, and the launch's length.
 * LineSearch is the wait for something full or for a barrier, UpdateConstraint that for something empty, Hessian
 * work, Gradient what lets the producer go on, StepLast what lets consumers go on. marked=1: each hand-over is a range across
 * threads too; 2: and each warp is a block of its own, on its own SM; 3: the latter without the ranges. uneven=N, of a
 * barrier: the first warp takes N cycles longer than the others, in StepLast. lost=N: the first N blocks have no tracks. */
#include "synth.h"

enum { FULL = 1, EMPTY, WORK, RELEASE, PRODUCE, SECTIONS };
enum { WARPS = 6, STEPS = 4096, FLOOR = 40, LATENCY = 30 };

typedef struct node { /* a stretch of a warp */
  uint32_t section;
  uint64_t begin, end;
  int from;           /* the warp that ended it, at `when`; -1: none */
  uint64_t when;
  int handed_by;      /* as `from`, but also where the wait found it there already */
} node;

typedef struct warp {
  node nodes[STEPS];
  uint32_t count;
  uint64_t clock;
} warp;

typedef struct block {
  warp warps[WARPS];
  uint64_t begin;
  int before; /* the block whose slot it took; -1: none */
} block;

typedef struct made_up {
  uint32_t warps, tiles, stages, blocks, slots;
  uint64_t produce, consume, scatter; /* mean cycles; percent */
  uint64_t marked, uneven, lost;
  uint64_t random;
} made_up;

static uint64_t around(made_up *m, uint64_t mean) {
  m->random = m->random * 6364136223846793005u + 1442695040888963407u;
  const uint64_t spread = mean * m->scatter / 100;
  return mean - spread + (m->random >> 33) % (2 * spread + 1);
}

static void work(warp *w, uint32_t section, uint64_t cycles) {
  w->nodes[w->count++] = (node){section, w->clock, w->clock + cycles, -1, 0, -1};
  w->clock += cycles;
}

static void wait_for(warp *w, uint32_t section, int from, uint64_t when) {
  const uint64_t least = w->clock + FLOOR;
  const bool late = from >= 0 && when + LATENCY > least;
  const uint64_t end = late ? when + LATENCY : least;
  w->nodes[w->count++] = (node){section, w->clock, end, late ? from : -1, when, from};
  w->clock = end;
}

/* One warp fills stages, the others empty them. */
static void pipeline(made_up *m, block *b) {
  uint64_t *full = calloc(m->tiles, sizeof *full), *empty = calloc(m->tiles, sizeof *empty);
  int *last = calloc(m->tiles, sizeof *last);
  for (uint32_t t = 0; t < m->tiles; t++) {
    const bool waits = t >= m->stages;
    wait_for(&b->warps[0], EMPTY, waits ? last[t - m->stages] : -1, waits ? empty[t - m->stages] : 0);
    work(&b->warps[0], PRODUCE, around(m, m->produce));
    full[t] = b->warps[0].clock - 10;
    for (uint32_t w = 1; w < m->warps; w++) {
      warp *c = &b->warps[w];
      wait_for(c, FULL, 0, full[t]);
      work(c, WORK, around(m, m->consume));
      work(c, RELEASE, 60);
      if (c->clock - 50 > empty[t]) {
        empty[t] = c->clock - 50;
        last[t] = (int)w;
      }
    }
  }
  free(full);
  free(empty);
  free(last);
}

/* All warps work and wait for each other. */
static void barrier(made_up *m, block *b) {
  for (uint32_t t = 0; t < m->tiles; t++) {
    int last = 0;
    for (uint32_t w = 0; w < m->warps; w++) {
      const bool slow = m->uneven && !w;
      work(&b->warps[w], slow ? PRODUCE : WORK, around(m, m->consume) + (slow ? m->uneven : 0));
      last = b->warps[w].clock > b->warps[last].clock ? (int)w : last;
    }
    const uint64_t when = b->warps[last].clock;
    for (uint32_t w = 0; w < m->warps; w++)
      wait_for(&b->warps[w], FULL, (int)w == last ? -1 : last, when + FLOOR - LATENCY);
    for (uint32_t w = 0; w < m->warps; w++) /* where the path goes back to: when the last one came */
      b->warps[w].nodes[b->warps[w].count - 1].when = when;
  }
}

static uint64_t end_of(const made_up *m, const block *b, uint32_t *last) {
  uint64_t end = 0;
  for (uint32_t w = 0; w < m->warps; w++)
    if (b->warps[w].clock > end) {
      end = b->warps[w].clock;
      *last = w;
    }
  return end;
}

typedef struct event { /* of one warp: the end of a stretch, or an end of a range */
  uint64_t clock, key;
  uint32_t section, kind;
} event;

static int by_clock(const void *left, const void *right) {
  const event *a = left, *b = right;
  return a->clock < b->clock ? -1 : a->clock > b->clock;
}

static void put_event(const made_up *m, synth_track *t, const event *e) {
  if (e->kind == INK_KIND_MARK) {
    synth_record(t, 0, INK_KIND_MARK, e->section + 1, 0, e->clock);
    return;
  }
  const uint64_t words[] = {e->key, INK_HEAD(e->kind, SYNTH_STEP, e->clock),
                            INK_ESCAPE_WORD(m->marked == 2 ? INK_ESCAPE_GRID : INK_ESCAPE_BLOCK, SYNTH_HASH, e->clock)};
  synth_words(t, 0, words, 3);
}

/* A range begins on the warp that hands over, and ends in the wait for that, which may be none. */
static void put_events(const made_up *m, synth_track *t, const block *b, uint32_t w) {
  event *events = calloc((size_t)STEPS * (WARPS + 2), sizeof *events);
  size_t n = 0;
  for (uint32_t other = 0; events && other < m->warps; other++)
    for (uint32_t i = 0; i < b->warps[other].count; i++) {
      const node *x = &b->warps[other].nodes[i];
      const uint64_t key = other * (uint64_t)STEPS + i;
      const bool range = x->handed_by >= 0 && (m->marked == 1 || m->marked == 2);
      if (range && x->handed_by == (int)w)
        events[n++] = (event){x->when, key, 0, INK_KIND_ASYNC_BEGIN};
      if (range && other == w)
        events[n++] = (event){x->end - 1, key, 0, INK_KIND_ASYNC_END};
      if (other == w)
        events[n++] = (event){x->end, 0, x->section, INK_KIND_MARK};
    }
  if (n)
    qsort(events, n, sizeof *events, by_clock);
  for (size_t i = 0; i < n; i++)
    put_event(m, t, &events[i]);
  free(events);
}

static void put(const made_up *m, ink_writer *writer, const block *b, uint32_t number, uint32_t sm) {
  const bool apart = m->marked >= 2;
  for (uint32_t w = 0; w < m->warps; w++) {
    synth_track t;
    synth_track_init(&t, 16384, 4, false);
    t.header.grid_id = 1;
    t.header.grid_dim[0] = apart ? m->warps : m->blocks;
    t.header.block_dim[0] = apart ? 32 : 32 * m->warps;
    t.header.block_index[0] = apart ? w : number;
    t.header.thread = apart ? 0 : 32 * w;
    t.header.ticket = (uint64_t)number * m->warps + w;
    t.header.sm_open = t.header.sm_close = apart ? w : sm;
    synth_open(&t, b->begin, b->begin);
    put_events(m, &t, b, w);
    synth_close(&t, b->warps[w].clock, b->warps[w].clock);
    synth_put(writer, &t);
    synth_track_free(&t);
  }
}

/* The true path, from the end back. */
static void print_truth(const made_up *m, const block *blocks) {
  static const char *const names[SECTIONS] = {"(between blocks)", "LineSearch", "UpdateConstraint", "Hessian", "Gradient", "StepLast"};
  uint64_t sums[SECTIONS] = {0}, at = 0, begin = UINT64_MAX;
  uint32_t b = 0, w = 0, last = 0;
  for (uint32_t i = 0; i < m->blocks; i++) {
    const uint64_t end = end_of(m, &blocks[i], &last);
    begin = blocks[i].begin < begin ? blocks[i].begin : begin;
    if (end > at) {
      at = end;
      b = i;
      w = last;
    }
  }
  const uint64_t end = at;
  for (;;) {
    const warp *v = &blocks[b].warps[w];
    uint32_t i = v->count;
    while (i && v->nodes[i - 1].begin >= at)
      i--;
    if (!i) {
      if (blocks[b].before < 0)
        break;
      const uint64_t before = end_of(m, &blocks[blocks[b].before], &last);
      sums[0] += at - before;
      b = (uint32_t)blocks[b].before;
      w = last;
      at = before;
      continue;
    }
    const node *n = &v->nodes[i - 1];
    const uint64_t to = n->from >= 0 && at == n->end ? n->when : n->begin;
    sums[n->section] += at - to;
    at = to;
    if (n->from >= 0 && to == n->when)
      w = (uint32_t)n->from;
  }
  printf("{\"length\": %llu", (unsigned long long)(end - begin));
  for (uint32_t s = 0; s < SECTIONS; s++)
    printf(", \"%s\": %llu", names[s], (unsigned long long)sums[s]);
  printf("}\n");
}

int main(int argc, char **argv) {
  made_up m = {.warps = 4, .tiles = 100, .stages = 3, .blocks = 1, .produce = 1000, .consume = 1000, .scatter = 20};
  if (argc < 4)
    return 2;
  m.random = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (int i = 4; i < argc; i++) {
    unsigned long long value;
    char key[16];
    if (sscanf(argv[i], "%15[a-z]=%llu", key, &value) != 2)
      return 2;
    if (!strcmp(key, "warps")) m.warps = (uint32_t)value;
    else if (!strcmp(key, "tiles")) m.tiles = (uint32_t)value;
    else if (!strcmp(key, "stages")) m.stages = (uint32_t)value;
    else if (!strcmp(key, "blocks")) m.blocks = (uint32_t)value;
    else if (!strcmp(key, "slots")) m.slots = (uint32_t)value;
    else if (!strcmp(key, "produce")) m.produce = value;
    else if (!strcmp(key, "consume")) m.consume = value;
    else if (!strcmp(key, "scatter")) m.scatter = value;
    else if (!strcmp(key, "marked")) m.marked = value;
    else if (!strcmp(key, "uneven")) m.uneven = value;
    else if (!strcmp(key, "lost")) m.lost = value;
    else return 2;
  }
  if (m.warps < 2 || m.warps > WARPS || m.tiles > 500 || !m.blocks || m.marked > 3 || (m.marked > 1 && m.blocks > 1))
    return 2;
  m.slots = m.slots ? m.slots : m.blocks; /* one block an SM at a time */
  block *blocks = calloc(m.blocks, sizeof *blocks);
  int *holds = malloc(m.slots * sizeof *holds);
  uint64_t *over = malloc(m.slots * sizeof *over);
  if (!blocks || !holds || !over)
    return 1;
  for (uint32_t i = 0; i < m.slots; i++) {
    holds[i] = -1;
    over[i] = 1000;
  }
  ink_writer *writer = synth_writer(argv[1], 16384, 4, false);
  for (uint32_t i = 0; i < m.blocks; i++) {
    uint32_t slot = 0, last;
    for (uint32_t s = 1; s < m.slots; s++)
      slot = over[s] < over[slot] ? s : slot;
    block *b = &blocks[i];
    b->before = holds[slot];
    b->begin = over[slot] + (b->before < 0 ? 0 : 200);
    for (uint32_t w = 0; w < m.warps; w++)
      b->warps[w].clock = b->begin;
    (strcmp(argv[3], "barrier") ? pipeline : barrier)(&m, b);
    if (i >= m.lost)
      put(&m, writer, b, i, slot);
    holds[slot] = (int)i;
    over[slot] = end_of(&m, b, &last);
  }
  synth_finish(writer);
  print_truth(&m, blocks);
  free(blocks);
  free(holds);
  free(over);
  return 0;
}
