/* SPDX-License-Identifier: MIT */
/* Everything that the decoder says of drawn captures, as a digest for each kind of event: marked programs whose rings keep the
 * last or the first words, with damaged words, tracks that moved, and tracks that come in pieces of which some are lost. That it is right
 * is what test_decode_model and test_decode_problems show; this one sees it when anything moves. With a seed as second argument
 * the events of that capture are printed. */
#include "expected.h"
#include "inkmark/table.h"
#include "marked_program.h"

#include <inttypes.h>

#define PRINT(...) fprintf(expected_out, __VA_ARGS__)

enum { KINDS = 9, TRACKS = 5 };
static const char *const kinds[KINDS] = {"launch", "begin", "record", "slice", "point", "async", "crossing", "problem", "end"};
static FILE *texts[KINDS];
static uint64_t counts[KINDS];

#define SAY(kind, ...) (counts[kind]++, fprintf(texts[kind], __VA_ARGS__), fputc('\n', texts[kind]), INK_OK)

static ink_status on_launch(void *user, uint32_t launch, const ink_launch *l) {
  (void)user;
  return SAY(0, "%u %" PRIu64 " tracks %" PRIu64, launch, l->grid_id, l->track_count);
}
static void print_track(int kind, const ink_decoded_track *t) {
  (void)SAY(kind, "%" PRIu64 " %" PRIu64 " %" PRIu64 " ns %" PRId64 " %" PRId64 " marks %" PRIu64 " %" PRIu64 " %" PRIu64 " rows %" PRIu64 " partial %" PRIu64 " %" PRIu64
      " problems %u unmarked %" PRIu64 " cost %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, t->index, t->open_cycles, t->close_cycles, t->open_ns, t->close_ns,
      t->marks_executed, t->marks_kept, t->marks_dropped, t->rows_executed, t->partial_before_cycles, t->partial_after_cycles, t->problems, t->unmarked_cycles,
      t->marking_cycles, t->whole_marking_cycles, t->unmarked_marking_cycles, t->marking_bound_millicycles);
  if (kind == 8)
    (void)SAY(kind, "place %d %d %d in %u after %u row %" PRId64 " since %" PRIu64, t->place.known, t->place.newest, t->place.ranges, t->place.inside, t->place.after,
        t->place.row, t->place.begin_cycles);
}
static ink_status on_begin(void *user, const ink_decoded_track *t) {
  (void)user;
  print_track(1, t);
  return INK_OK;
}
static ink_status on_end(void *user, const ink_decoded_track *t) {
  (void)user;
  print_track(8, t);
  return INK_OK;
}
static ink_status on_record(void *user, uint64_t head, uint64_t cycles, ink_section_index section, int64_t row, uint8_t called) {
  (void)user;
  return SAY(2, "%" PRIx64 " %" PRIu64 " %u %" PRId64 " %u", head, cycles, section, row, called);
}
static ink_status on_slice(void *user, const ink_slice *s) {
  (void)user;
  return SAY(3, "%u depth %u kind %u called %u cut %u nested %u row %" PRId64 " %" PRIu64 " %" PRIu64 " ns %" PRId64 " %" PRId64 " cost %" PRIu64 " %" PRId64 " %u %" PRIx64, s->section,
             s->depth, s->kind, s->called, s->cut, s->nested, s->row, s->begin_cycles, s->end_cycles, s->begin_ns, s->end_ns, s->marking_cycles, s->marking_ns,
             s->escape, s->value.u64);
}
static ink_status on_point(void *user, const ink_point *p) {
  (void)user;
  if (p->escape == INK_ESCAPE_SUM && p->kind == INK_KIND_ESCAPE)
    return SAY(4, "%u sum called %u row %" PRId64 " %" PRIu64 " ns %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " cost %" PRIu64, p->section, p->called, p->row, p->cycles, p->ns,
               p->value.sum.count, p->value.sum.total_cycles, p->value.sum.min_cycles, p->value.sum.max_cycles, p->value.sum.pass_marking_cycles);
  return SAY(4, "%u kind %u %u called %u row %" PRId64 " %" PRIu64 " ns %" PRId64 " %" PRIx64, p->section, p->kind, p->escape, p->called, p->row, p->cycles, p->ns, p->value.u64);
}
static ink_status on_async(void *user, const ink_async *a) {
  (void)user;
  return SAY(5, "%u called %u cut %u key %" PRIu64 " row %" PRId64 " %" PRIu64 " %" PRIu64 " ns %" PRId64 " %" PRId64, a->section, a->called, a->cut, a->key, a->row,
             a->begin_cycles, a->end_cycles, a->begin_ns, a->end_ns);
}
static ink_status on_crossing(void *user, const ink_crossing *c) {
  (void)user;
  return SAY(6, "%u %u scope %u cut %u exact %u back %u key %" PRIu64 " tracks %" PRIu64 " %" PRIu64 " rows %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " ns %" PRId64 " %" PRId64 " %" PRIu64 " %.6g",
             c->launch, c->section, c->scope, c->cut, c->exact, c->backwards, c->key, c->from_track, c->to_track, c->from_row, c->to_row, c->begin_cycles, c->end_cycles,
             c->begin_ns, c->end_ns, c->cycles, c->bound_ns);
}
static ink_status on_problem(void *user, const ink_problem *p) {
  (void)user;
  return SAY(7, "%" PRIu64 " %" PRIu64 " called %u kind %u %u %" PRIu64 " %s", p->track, p->word, p->called, p->kind, p->section, p->times, p->text);
}

static uint64_t digest(const char *text, size_t bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash & 0xffffffff;
}

enum { PIECES = 380, OPEN = 620, SEEDS = 800, WORDS = 1024 }; /* from these seeds on tracks come in pieces, of which some are lost; are open, with damaged words */

static uint64_t piece_end(model *m, int ring, uint64_t from, uint64_t count) {
  uint64_t at = from + 1 + draw(m, 12);
  while (at < count && !m->track.ends[ring][at - 1])
    at++;
  return at < count ? at : count;
}

/* As a track that was stored piece by piece while it was open; most of them closed then. */
static void put_pieces(ink_writer *writer, model *m, const uint32_t records[2]) {
  const uint64_t count[2] = {m->track.header.words, m->track.header.aux_words};
  uint64_t at[2], short_by[2] = {0, 0}, last[2][WORDS];
  ink_error error;
  const uint32_t lost = draw(m, 2); /* 0: parts are lost; 1: and how much that is was not known, as the next one says */
  ink_track open = m->track.header;
  open.state = INK_TRACK_OPEN;
  open.extra = open.aux_extra = 0;
  for (int ring = 0; ring < 2; ring++)
    at[ring] = count[ring] ? piece_end(m, ring, 0, count[ring]) : 0;
  open.words = at[0];
  open.aux_words = at[1];
  NEED(ink_writer_open_track(writer, 0, &open, m->track.rings[0], at[0], m->track.rings[1], at[1], &error), error);
  for (int ring = 0; ring < 2; ring++)
    for (uint64_t end, flags = 0; at[ring] < count[ring]; at[ring] = end) {
      end = piece_end(m, ring, at[ring], count[ring]);
      const ink_part part = {.ring = (uint32_t)ring, .flags = (uint32_t)flags, .ticket = open.ticket, .open_clock0 = open.open_clock0,
                             .first = at[ring] - short_by[ring], .words = m->track.rings[ring] + at[ring], .count = end - at[ring]};
      const bool stored = flags || draw(m, 5) || (lost && end == count[ring]);
      flags = 0;
      if (!stored && lost) {
        flags = INK_PART_LOST;
        short_by[ring] += end - at[ring];
      } else if (stored) {
        NEED(ink_writer_part(writer, &part, &error), error);
      }
    }
  if (draw(m, 4) == 0)
    return;
  for (int ring = 0; ring < 2; ring++)
    for (uint64_t i = count[ring] > records[ring] ? count[ring] - records[ring] : 0; i < count[ring]; i++)
      last[ring][i % records[ring]] = m->track.rings[ring][i];
  NEED(ink_writer_track(writer, 0, &m->track.header, last[0], last[1], &error), error);
}

/* As a track that is open: what no mark wrote, or an earlier kernel did, has other clocks. */
static void put_open(ink_writer *writer, model *m) {
  ink_track open = m->track.header;
  ink_error error;
  for (int ring = 0; ring < 2; ring++) {
    const uint64_t count = ring ? open.aux_words : open.words;
    for (uint32_t n = draw(m, 4); n && count; n--) {
      uint64_t *word = &m->track.rings[ring][draw(m, (uint32_t)count)];
      *word = draw(m, 3) ? (*word & ~INK_CLOCK_MASK) | ((m->open_clock + draw(m, 5000) - 2500) & INK_CLOCK_MASK) : *word ^ UINT64_C(1) << draw(m, 48);
    }
  }
  open.state = INK_TRACK_OPEN;
  open.extra = open.aux_extra = 0;
  if (draw(m, 3))
    open.close_global_ns = draw(m, 2) ? open.open_global_ns + draw(m, 100000) : 0;
  NEED(ink_writer_open_track(writer, 0, &open, m->track.rings[0], open.words, m->track.rings[1], open.aux_words, &error), error);
}

/* A program of `steps` marks in a track of its own. */
static void put_program(ink_writer *writer, uint64_t seed, int number, int steps, const uint32_t rings[2]) {
  static model m;
  static expected list[MOST * 2];
  memset(&m, 0, sizeof m);
  m.list = list;
  m.random = (seed * TRACKS + (uint64_t)number) * 0x9e3779b97f4a7c15u + 777;
  m.unique_keys = true;
  m.called_row_epoch = -1;
  m.last_body = (dep){0, -1};
  const bool pieces = seed >= PIECES;
  static unsigned char ends[2][WORDS];
  synth_track_init(&m.track, pieces ? WORDS : rings[0], pieces ? WORDS : rings[1], !pieces && seed & 1);
  for (int i = 0; i < 2 && pieces; i++)
    m.track.ends[i] = ends[i];
  m.track.table_hash48 = seed & 4 ? SYNTH_HASH : 0;
  m.track.header.grid_id = 7 + (uint64_t)number / 3;
  m.track.header.ticket = (uint64_t)number;
  m.track.header.block_index[0] = (uint32_t)number % 3;
  m.track.header.grid_dim[0] = 3;
  m.track.header.sm_open = (uint32_t)number % 2;
  m.clock = m.open_clock = (seed % 5 == 4 ? (UINT64_C(3) << 48) - 3000 : 5000) + 40000 * (uint64_t)number;
  for (int i = 0; i < 2; i++) {
    m.stack[i][0] = (model_level){.stamp = i ? 0 : m.open_clock, .stamp_dep = {i, -1}, .row_dep = {i, -1}, .row = INK_ROW_NONE};
    begins[i][0] = (begin_of){m.open_clock, {i, -1}};
  }
  synth_open(&m.track, m.open_clock, 1000000 + 20000 * (uint64_t)number);
  run_program(&m, steps, seed & 2);
  m.clock += 5;
  synth_close(&m.track, m.clock, 1000000 + 20000 * (uint64_t)number + (m.clock - m.open_clock) / 2);
  m.track.header.sm_close = number == 3 && seed % 3 == 1 ? 3 : m.track.header.sm_open;
  uint64_t *ring = m.track.rings[0];
  if (pieces) {
    if (m.track.header.words > WORDS || m.track.header.aux_words > WORDS)
      exit(1);
    if (seed >= OPEN)
      put_open(writer, &m);
    else
      put_pieces(writer, &m, rings);
    synth_track_free(&m.track);
    return;
  }
  if (seed % 4 == 3) /* words that no mark wrote */
    for (int i = 0; i < 1 + number; i++) {
      const uint32_t at = draw(&m, rings[0]);
      ring[at] = i % 3 == 0 ? INK_UNWRITTEN : i % 3 == 1 ? ring[at] ^ UINT64_C(1) << draw(&m, 64) : ring[draw(&m, rings[0])];
    }
  if (seed % 6 == 5 && number == 2)
    m.track.header.words += draw(&m, 3) - 1;
  synth_put(writer, &m.track);
  synth_track_free(&m.track);
}

static void one(uint64_t seed, bool print) {
  static const uint32_t sizes[] = {4, 16, 64, 1024};
  const uint32_t rings[2] = {sizes[seed % 4], sizes[seed / 4 % 4]};
  const char *path = synth_path("decode_exact");
  ink_writer *writer = synth_writer(path, rings[0], rings[1], seed < PIECES && seed & 1);
  ink_error error;
  ink_capture *capture;
  ink_clock_map *map;
  char *now[KINDS];
  size_t bytes[KINDS];
  if (seed % 3 == 0)
    NEED(synth_costs(writer, &error), error);
  for (int i = 0; i < TRACKS; i++)
    put_program(writer, seed, i, (int)(seed % 7) * 9 + 4 * i, rings);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  NEED(ink_clock_map_make(capture, &map, &error), error);
  remove(path);
  for (int i = 0; i < KINDS; i++) {
    texts[i] = open_memstream(&now[i], &bytes[i]);
    counts[i] = 0;
  }
  ink_sink sink = {.launch = on_launch, .track_begin = on_begin, .slice = on_slice, .point = on_point, .async = on_async, .crossing = on_crossing,
                   .problem = on_problem, .track_end = on_end, .want_marking = seed % 2 == 0};
  if (seed % 5)
    sink.record = on_record;
  const ink_status status = ink_decode(capture, map, seed % 11 == 10 ? 1 : UINT32_MAX, &sink, &error);
  PRINT("seed %" PRIu64 " status %d:", seed, (int)status);
  for (int i = 0; i < KINDS; i++) {
    fclose(texts[i]);
    PRINT(" %s %" PRIu64 " %08" PRIx64, kinds[i], counts[i], digest(now[i], bytes[i]));
    if (print)
      printf("---- %s\n%s", kinds[i], now[i]);
    free(now[i]);
  }
  PRINT("\n");
  ink_clock_map_free(map);
  ink_capture_free(capture);
}

int main(int argc, char **argv) {
  expected_begin();
  for (uint64_t seed = 0; seed < SEEDS; seed++)
    one(seed, argc > 2 && seed == strtoull(argv[2], NULL, 10));
  expected_end(argc > 1 ? argv[1] : "decode.txt");
  return check_result("decode_exact");
}
