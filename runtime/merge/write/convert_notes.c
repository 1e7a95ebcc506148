/* SPDX-License-Identifier: MIT */
/* Notes what a conversion must know of an event before anything can be written. */
#include "convert_notes.h"
#include "fnv.h"
#include "merge/try.h"

#include <stdlib.h>
#include <string.h>

uint64_t convert_flow_id(const trace_event *e) {
  const uint64_t category = ink_fnv_text(INK_FNV_BEGIN, e->category.size ? e->category.bytes : "");
  return ink_fnv_text(ink_fnv_text(category, "\t"), e->id) | 1;
}

bool convert_is_nothing(const trace_event *e) {
  return !e->members;
}

static ink_status find_process(convert *c, const trace_event *e, uint32_t *out) {
  return convert_process(c, e->pid.text, e->pid.length, e->pid.is_number ? e->pid.number : -1, out);
}

/* By length too: a text may begin with a NUL, as "\u0000" does. */
static bool same(const trace_id *id, const char *text, size_t length) {
  return id->length == length && !memcmp(id->text, text, length);
}

ink_status convert_event_track(convert *c, const trace_event *e, char part, uint32_t *out) {
  uint64_t h = 0;
  memcpy(&h, e->tid.text, 8); /* texts are longer than that, and what is behind them does no harm */
  h = e->tid.length < 8 ? h << (64 - 8 * e->tid.length) % 64 : h;
  h = (h ^ (uint64_t)part ^ (uint64_t)e->pid.text[0] << 3) * UINT64_C(0x9e3779b97f4a7c15);
  conv_recent *r = &c->recent[h >> 58];
  if (r->used && r->part == part && same(&e->pid, r->pid, r->pid_length) &&
      same(&e->tid, r->tid, r->tid_length)) {
    *out = r->track;
    return INK_OK;
  }
  uint32_t process;
  TRY(find_process(c, e, &process));
  TRY(convert_track(c, process, e->tid.text, e->tid.length, part,
                    e->tid.is_number ? e->tid.number : 0, out));
  if (e->pid.length < CONV_RECENT_BYTES && e->tid.length < CONV_RECENT_BYTES) {
    *r = (conv_recent){.used = true, .part = part, .track = *out,
                       .pid_length = e->pid.length, .tid_length = e->tid.length};
    memcpy(r->pid, e->pid.text, e->pid.length);
    memcpy(r->tid, e->tid.text, e->tid.length);
  }
  return INK_OK;
}

static ink_status name_things(convert_notes *n, const trace_event *e, const char *meta_name,
                              const char *meta_labels) {
  convert *c = &n->c;
  uint32_t process, track;
  TRY(find_process(c, e, &process));
  conv_process *p = &c->processes[process];
  const char *what = e->name.size ? e->name.bytes : "";
  if (!strcmp(what, "process_name"))
    return convert_name(&p->name, meta_name);
  if (!strcmp(what, "process_labels"))
    return convert_name(&p->labels, meta_labels);
  if (!strcmp(what, "thread_name")) {
    TRY(convert_event_track(c, e, 0, &track));
    return convert_name(&c->tracks[track].name, meta_name);
  }
  return convert_report_left(&n->report, what, 1);
}

bool convert_time_fits(const trace_event *e, int64_t base_ns) {
  int64_t begin, end;
  return e->has_ts && !e->bad_time && !__builtin_add_overflow(e->ts_ns, base_ns, &begin) &&
         !__builtin_add_overflow(begin, e->dur_ns, &end) && end <= INT64_MAX / 2 && begin >= 0;
}

/* Without the base: what could fit with some base. The extremes decide later. */
static bool may_fit(convert_notes *n, const trace_event *e) {
  int64_t end;
  if (n->base_known)
    return convert_time_fits(e, n->c.base_ns);
  if (!e->has_ts || e->bad_time || __builtin_add_overflow(e->ts_ns, e->dur_ns, &end))
    return false;
  n->lowest_ns = e->ts_ns < n->lowest_ns ? e->ts_ns : n->lowest_ns;
  n->highest_ns = end > n->highest_ns ? end : n->highest_ns;
  return true;
}

bool convert_notes_fit(convert_notes *n, int64_t base_ns) {
  int64_t begin, end;
  n->c.base_ns = base_ns;
  if (n->base_known || n->lowest_ns > n->highest_ns)
    return true;
  return !__builtin_add_overflow(n->lowest_ns, base_ns, &begin) && begin >= 0 &&
         !__builtin_add_overflow(n->highest_ns, base_ns, &end) && end <= INT64_MAX / 2;
}

static ink_status note_event(void *notes, const trace_event *e, const char *meta_name, const char *meta_labels) {
  convert_notes *n = notes;
  convert *c = &n->c;
  uint32_t track;
  if (convert_is_nothing(e))
    return INK_OK;
  if (e->phase == 'M')
    return name_things(n, e, meta_name, meta_labels);
  if (!may_fit(n, e))
    return INK_OK;
  if (e->phase != 'X' && e->phase != 's' && e->phase != 'f' && e->phase != 't' && e->phase != 'i' &&
      e->phase != 'I')
    return INK_OK;
  TRY(convert_event_track(c, e, 0, &track));
  if (e->phase == 'X') {
    n->report.slices++;
    return convert_note_slice(c, track, e->ts_ns, e->ts_ns + e->dur_ns);
  }
  if (e->phase == 's' || e->phase == 't')
    TRY(convert_note_flow(c, track, e->ts_ns, convert_flow_id(e), true));
  if (e->phase == 'f' || e->phase == 't')
    TRY(convert_note_flow(c, track, e->ts_ns, convert_flow_id(e), false));
  return INK_OK;
}

static ink_status note_key(void *notes, const char *key) {
  return convert_report_key(&((convert_notes *)notes)->report, key);
}

foreign_listener convert_notes_listener(convert_notes *n) { return (foreign_listener){n, note_event, note_key}; }

convert_notes *convert_notes_new(void) {
  convert_notes *n = calloc(1, sizeof *n);
  if (!n)
    return NULL;
  n->lowest_ns = INT64_MAX;
  n->highest_ns = INT64_MIN;
  return n;
}

void convert_notes_free(convert_notes *n) {
  if (n)
    convert_free(&n->c);
  free(n);
}
