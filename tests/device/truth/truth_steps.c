/* SPDX-License-Identifier: MIT */
/* The words that a model speaks: one function per macro, each adding a step. */
#include "truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static truth_step *add(truth_steps *s, enum ink_kind kind, int escape, const char *section) {
  if (s->count == s->capacity) {
    s->capacity = s->capacity ? 2 * s->capacity : 256;
    s->items = realloc(s->items, s->capacity * sizeof *s->items);
    if (!s->items) {
      fprintf(stderr, "out of memory\n");
      exit(1);
    }
  }
  truth_step *step = &s->items[s->count++];
  *step = (truth_step){.kind = (uint8_t)kind,
                       .escape = (uint8_t)escape,
                       .called = s->called,
                       .stored = true,
                       .section = section};
  return step;
}

void step_mark(truth_steps *s, const char *section) {
  add(s, INK_KIND_MARK, 0, section);
}
void step_begin(truth_steps *s, const char *section) {
  add(s, INK_KIND_BEGIN, 0, section);
}
void step_end(truth_steps *s, const char *section) {
  add(s, INK_KIND_END, 0, section);
}
void step_event(truth_steps *s, const char *section) {
  add(s, INK_KIND_INSTANT, 0, section);
}

void step_iter(truth_steps *s, int64_t row) {
  add(s, INK_KIND_ITER, 0, NULL)->payload[0] = (uint64_t)row;
}

void step_first_row(truth_steps *s) {
  truth_step *step = add(s, INK_KIND_ITER, 0, NULL);
  step->payload[0] = (uint64_t)INT64_MIN;
  step->stored = false;
}

void step_value_i64(truth_steps *s, const char *section, int64_t value) {
  add(s, INK_KIND_INSTANT, INK_ESCAPE_VALUE_I64, section)->payload[0] = (uint64_t)value;
}

void step_value_u64(truth_steps *s, const char *section, uint64_t value) {
  add(s, INK_KIND_INSTANT, INK_ESCAPE_VALUE_U64, section)->payload[0] = value;
}

void step_value_f64(truth_steps *s, const char *section, double value) {
  memcpy(&add(s, INK_KIND_INSTANT, INK_ESCAPE_VALUE_F64, section)->payload[0], &value, 8);
}

void step_async_begin(truth_steps *s, const char *section, uint64_t key) {
  add(s, INK_KIND_ASYNC_BEGIN, 0, section)->payload[0] = key;
}

void step_async_end(truth_steps *s, const char *section, uint64_t key) {
  add(s, INK_KIND_ASYNC_END, 0, section)->payload[0] = key;
}

void step_sum_begin(truth_steps *s, const char *section) {
  add(s, INK_KIND_BEGIN, INK_ESCAPE_SUM, section)->stored = false;
}

void step_sum_end(truth_steps *s, const char *section) {
  add(s, INK_KIND_END, INK_ESCAPE_SUM, section)->stored = false;
}

void step_sum(truth_steps *s, const char *section, uint64_t count) {
  add(s, INK_KIND_INSTANT, INK_ESCAPE_SUM, section)->payload[0] = count;
}

void step_clocks(truth_steps *s) {
  add(s, INK_KIND_INSTANT, INK_ESCAPE_CLOCKS, NULL);
}
