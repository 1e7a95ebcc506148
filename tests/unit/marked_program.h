/* SPDX-License-Identifier: MIT */
/* Random marked programs and the plain model that runs along with them: it stores the records into
 * rings as a kernel would, and knows of every slice, point and asynchronous range what it really was
 * and which records that can be told from. Shares no code with the decoder. */
#ifndef INKMARK_TESTS_MARKED_PROGRAM_H
#define INKMARK_TESTS_MARKED_PROGRAM_H

#include "inkmark/decode.h"
#include "synth.h"

enum { MOST = 61000, DEEP = 12, OPEN_KEYS = 64 };
enum { SLICE, POINT, ASYNC };

/* A record that something depends on: its ring and number, or none (the opening). */
typedef struct dep {
  int ring;
  long number; /* -1: none */
} dep;

typedef struct expected {
  int what, called, kind, escape;
  uint32_t section, depth;
  int64_t row;
  uint64_t begin, end, value;
  dep self, stamp, body_stamp, row_set, last_body;
  bool row_from_body, uses_body, base;
  long epoch;
} expected;

typedef struct model_level {
  uint64_t stamp;
  dep stamp_dep, row_dep;
  int64_t row;
  uint32_t section;
  bool row_from_body;
} model_level;

typedef struct model {
  uint64_t random;
  synth_track track;
  model_level stack[2][DEEP];
  int depth[2];
  long numbers[2];
  uint8_t words[2][MOST];
  uint64_t clock, open_clock;
  expected *list;
  size_t count;
  long epoch, called_row_epoch;
  dep last_body;
  struct { uint64_t key; uint32_t section; uint64_t begin; dep begun; } open[OPEN_KEYS];
  int open_count;
  bool unique_keys, ending;
  uint64_t next_key;
} model;

static uint32_t draw(model *m, uint32_t below) {
  m->random = m->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(m->random >> 33) % below;
}

/* ---- the program, step by step ------------------------------------------------------------- */

static dep record(model *m, int ring, size_t words) {
  m->words[ring][m->numbers[ring]] = (uint8_t)words;
  dep self = {ring, m->numbers[ring]++};
  if (ring == 0)
    m->last_body = self;
  return self;
}

static expected *expect(model *m, int what, int called, dep self) {
  expected *e = &m->list[m->count++];
  *e = (expected){.what = what, .called = called, .self = self, .end = m->clock,
                  .last_body = m->last_body, .epoch = m->epoch,
                  .stamp = {called, -1}, .body_stamp = {0, -1}};
  model_level *level = &m->stack[called][m->depth[called]];
  const model_level *body = &m->stack[0][m->depth[0]];
  e->base = called && m->depth[1] == 0;
  bool inherits = e->base && m->called_row_epoch != m->epoch;
  const model_level *rows = inherits ? body : level;
  e->row = rows->row;
  e->row_set = rows->row_dep;
  e->row_from_body = inherits || rows->row_from_body;
  e->depth = (uint32_t)(m->depth[0] + (called ? 1 + m->depth[1] : 0));
  return e;
}

static void emit(model *m, int called, uint32_t kind, uint32_t section, uint64_t payload) {
  synth_record(&m->track, called, kind, section, payload, m->clock);
}

static size_t plain_words(const model *m, uint32_t kind) {
  size_t words = kind == INK_KIND_ITER || kind == INK_KIND_ASYNC_BEGIN || kind == INK_KIND_ASYNC_END
                     ? 2 : 1;
  return words + (m->track.table_hash48 && kind != INK_KIND_ITER);
}

static void step_mark(model *m, int called) {
  uint32_t section = 1 + draw(m, 6);
  model_level *level = &m->stack[called][m->depth[called]];
  const model_level *body = &m->stack[0][m->depth[0]];
  emit(m, called, INK_KIND_MARK, section, 0);
  dep self = record(m, called, plain_words(m, INK_KIND_MARK));
  expected *e = expect(m, SLICE, called, self);
  e->kind = INK_KIND_MARK;
  e->section = section;
  e->begin = level->stamp;
  e->stamp = level->stamp_dep;
  if (e->base) {
    e->uses_body = true;
    e->body_stamp = body->stamp_dep;
    if (body->stamp > e->begin)
      e->begin = body->stamp;
  }
  level->stamp = m->clock;
  level->stamp_dep = self;
}

typedef struct begin_of {
  uint64_t clock;
  dep begun;
} begin_of;
static begin_of begins[2][DEEP];

static void step_begin(model *m, int called) {
  if (m->depth[called] + 1 >= DEEP - 1)
    return;
  uint32_t section = 1 + draw(m, 6);
  emit(m, called, INK_KIND_BEGIN, section, 0);
  dep self = record(m, called, plain_words(m, INK_KIND_BEGIN));
  expected *rows = expect(m, SLICE, called, self); /* only for the row that it starts in */
  m->count--;
  model_level *outer = &m->stack[called][m->depth[called]];
  outer->stamp = m->clock;
  outer->stamp_dep = self;
  if (!called)
    m->epoch++;
  m->stack[called][++m->depth[called]] =
      (model_level){.stamp = m->clock, .stamp_dep = self, .row = rows->row,
                    .row_dep = rows->row_set, .section = section,
                    .row_from_body = rows->row_from_body};
  begins[called][m->depth[called]] = (begin_of){m->clock, self};
}

static void step_end(model *m, int called) {
  if (m->depth[called] == 0)
    return;
  model_level level = m->stack[called][m->depth[called]];
  emit(m, called, INK_KIND_END, level.section, 0);
  dep self = record(m, called, plain_words(m, INK_KIND_END));
  expected *e = expect(m, SLICE, called, self);
  begin_of begun = begins[called][m->depth[called]];
  e->kind = INK_KIND_BEGIN;
  e->section = level.section;
  e->begin = begun.clock;
  e->stamp = begun.begun;
  e->depth--;
  e->base = false;
  m->depth[called]--;
  m->stack[called][m->depth[called]].stamp = m->clock;
  m->stack[called][m->depth[called]].stamp_dep = self;
  if (!called)
    m->epoch++;
}

static void step_iter(model *m, int called) {
  int64_t row = (int64_t)draw(m, 50) - 5;
  emit(m, called, INK_KIND_ITER, 0, (uint64_t)row);
  dep self = record(m, called, 2);
  if (!called)
    m->epoch++;
  else if (m->depth[1] == 0)
    m->called_row_epoch = m->epoch;
  model_level *level = &m->stack[called][m->depth[called]];
  level->row = row;
  level->row_dep = level->stamp_dep = self;
  level->row_from_body = false;
  level->stamp = m->clock;
  expected *e = expect(m, POINT, called, self);
  e->kind = INK_KIND_ITER;
  e->section = INK_SECTION_UNKNOWN;
  e->row = row;
  e->row_set = self;
  e->value = (uint64_t)row;
}

static void step_point(model *m, int called) {
  static const uint32_t codes[] = {INK_ESCAPE_VALUE_I64, INK_ESCAPE_VALUE_U64, INK_ESCAPE_VALUE_F64,
                                   INK_ESCAPE_SUM, INK_ESCAPE_CLOCKS, 0};
  uint32_t section = 1 + draw(m, 2), code = codes[draw(m, 6)];
  /* Payloads that look like heads, and like words never written. */
  static const uint64_t nasty[] = {INK_UNWRITTEN, 0, UINT64_C(0x2002000000000000),
                                   UINT64_C(0xe005000000001234), UINT64_C(0x8000000000000001)};
  uint64_t value = draw(m, 2) ? nasty[draw(m, 5)] : draw(m, 1u << 31);
  dep self;
  if (code == INK_ESCAPE_CLOCKS) {
    synth_clocks(&m->track, called, value, m->clock);
    record(m, called, 5);
    return;
  }
  if (code == INK_ESCAPE_SUM) {
    uint64_t words[6] = {3, value, nasty[draw(m, 5)], nasty[draw(m, 5)],
                         INK_HEAD(INK_KIND_INSTANT, section, m->clock),
                         INK_ESCAPE_WORD(INK_ESCAPE_SUM, SYNTH_OTHER_HASH, m->clock)};
    synth_words(&m->track, called, words, 6);
    self = record(m, called, 6);
  } else if (code) {
    synth_value(&m->track, called, code, section, value, SYNTH_OTHER_HASH, m->clock);
    self = record(m, called, 3);
  } else {
    emit(m, called, INK_KIND_INSTANT, section, 0);
    self = record(m, called, plain_words(m, INK_KIND_INSTANT));
  }
  expected *e = expect(m, POINT, called, self);
  e->kind = code ? INK_KIND_ESCAPE : INK_KIND_INSTANT;
  e->escape = (int)code;
  /* Values name the second table, whose sections follow the six of the first. */
  e->section = code ? 100 + section : section;
  e->value = code ? value : 0;
}

static void step_async(model *m, int called) {
  bool end = m->open_count && (m->ending || draw(m, 2));
  int pick = end ? (int)draw(m, (uint32_t)m->open_count) : 0;
  uint32_t section = end ? m->open[pick].section : 1 + draw(m, 3);
  uint64_t key = end ? m->open[pick].key : m->unique_keys ? m->next_key++ : draw(m, 3);
  if (!end && m->open_count == OPEN_KEYS)
    return;
  for (int i = 0; end && i < m->open_count; i++) /* first begun, first ended */
    if (m->open[i].key == key && m->open[i].section == section) {
      pick = i;
      break;
    }
  uint32_t kind = end ? INK_KIND_ASYNC_END : INK_KIND_ASYNC_BEGIN;
  emit(m, called, kind, section, key);
  dep self = record(m, called, plain_words(m, kind));
  expected *point = expect(m, POINT, called, self);
  point->kind = (int)kind;
  point->section = section;
  point->value = key;
  if (!end) {
    m->open[m->open_count].key = key;
    m->open[m->open_count].section = section;
    m->open[m->open_count].begin = m->clock;
    m->open[m->open_count++].begun = self;
    return;
  }
  expected *e = expect(m, ASYNC, called, self);
  e->section = section;
  e->value = key;
  e->begin = m->open[pick].begin;
  e->stamp = m->open[pick].begun;
  m->open_count--;
  for (int i = pick; i < m->open_count; i++)
    m->open[i] = m->open[i + 1];
}

static void run_program(model *m, int steps, bool calls) {
  int called = 0;
  for (int i = 0; i < steps; i++) {
    /* The body moves on only when no called function has a range open, as scopes do. */
    const int before = called;
    called = calls && (m->depth[1] || draw(m, 3) == 0);
    /* Some clocks are equal. Of the two rings the decoder takes called functions first then. */
    if (i == 0 || (called && !before) || draw(m, 10) != 0)
      m->clock += draw(m, 8) ? 1 + draw(m, 300) : 1 + (uint64_t)draw(m, 1u << 30) * 64;
    switch (draw(m, 10)) {
    case 0: case 1: case 2: case 3:
      step_mark(m, called);
      break;
    case 4:
      step_begin(m, called);
      break;
    case 5:
      step_end(m, called);
      break;
    case 6: case 7:
      step_iter(m, called);
      break;
    case 8:
      step_point(m, called);
      break;
    default:
      step_async(m, called);
    }
  }
  for (called = 1; called >= 0; called--)
    while (m->depth[called]) {
      m->clock += 3;
      step_end(m, called);
    }
  m->ending = true;
  while (m->open_count) {
    m->clock += 2;
    step_async(m, 0);
  }
}

#endif
