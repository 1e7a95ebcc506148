/* SPDX-License-Identifier: MIT */
/* Judges what the self-test's program saw and what was recorded of it. */
#include "selftest.h"

#include "inkmark/activity.h"

#include "grid.h"
#include "message.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what the program printed ---- */

static void read_line(const char *line, selftest_seen *s) {
  double hz;
  selftest_kernel k = {0};
  if (sscanf(line, "rate_hz %lf", &hz) == 1 && s->rates < SELFTEST_RATES_MAX)
    s->rates_hz[s->rates++] = hz;
  else if (sscanf(line, "kernel %63s launches %" SCNu64 " tracks %" SCNu64 " marks %" SCNu64,
                  k.name, &k.launches, &k.tracks, &k.marks) == 4 &&
           s->kernel_count < SELFTEST_KERNELS)
    s->kernels[s->kernel_count++] = k;
  else if (!strcmp(line, "end\n"))
    s->ended = true;
  else {
    sscanf(line, "devices %" SCNu64, &s->devices);
    sscanf(line, "timer_step_ns %" SCNu64 " least %" SCNu64 " most %" SCNu64, &s->step_ns,
           &s->least_ns, &s->most_ns);
    sscanf(line, "sms %" SCNu64 " seen %" SCNu64 " largest %" SCNu64 " nsmid %" SCNu64, &s->sms,
           &s->sms_seen, &s->sm_largest, &s->nsmid);
    sscanf(line, "grid_ids %" SCNu64 " repeated %" SCNu64, &s->grids, &s->grids_repeated);
    sscanf(line, "results %" SCNu64 " wrong %" SCNu64, &s->results, &s->results_wrong);
  }
}

bool selftest_read(const char *path, selftest_seen *out) {
  char line[256];
  *out = (selftest_seen){0};
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    read_line(line, out);
  if (file)
    fclose(file);
  if (!out->ended)
    message_say("the self-test's program did not print what it saw");
  return out->ended;
}

/* ---- checks ---- */

__attribute__((format(printf, 4, 5))) static void conclude(selftest_page *page, const char *name,
                                                           enum selftest_verdict verdict,
                                                           const char *format, ...) {
  if (page->count == SELFTEST_CHECKS_MAX)
    return;
  selftest_check *check = &page->checks[page->count++];
  *check = (selftest_check){.name = name, .verdict = verdict};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(check->text, sizeof check->text, format, arguments);
  va_end(arguments);
}

static void judge_timer(const selftest_seen *s, const ink_clock_quality *q, selftest_page *page) {
  enum selftest_verdict verdict = SELFTEST_FINE;
  const char *why = "";
  if (!s->step_ns) {
    verdict = SELFTEST_UNKNOWN;
    why = ": it was not seen to move";
  } else if (q && q->timer_step_ns && q->timer_step_ns != s->step_ns) {
    verdict = SELFTEST_UNUSUAL;
    why = ", which is not what the tracks' own readings give";
  } else if (s->step_ns > 1024 || s->step_ns % 32) {
    verdict = SELFTEST_UNUSUAL; /* 32 ns to 1,024 ns, in powers of two, are those known */
    why = ", which is unusual";
  }
  conclude(page, "globaltimer step", verdict,
           "%" PRIu64 " ns (differences seen: %" PRIu64 " to %" PRIu64 " ns)%s", s->step_ns,
           s->least_ns, s->most_ns, why);
}

static void judge_rate(const selftest_seen *s, selftest_page *page) {
  double least = INFINITY, most = 0;
  for (size_t i = 0; i < s->rates; i++) {
    least = fmin(least, s->rates_hz[i]);
    most = fmax(most, s->rates_hz[i]);
  }
  if (!s->rates || !(least > 0)) {
    conclude(page, "clock rate", SELFTEST_UNKNOWN, "not measured");
    return;
  }
  const double spread = 100 * (most / least - 1);
  conclude(page, "clock rate", spread > 1 ? SELFTEST_UNUSUAL : SELFTEST_FINE,
           "%.3f to %.3f MHz in %zu stretches of a kernel, %.3f %% apart%s", least / 1e6,
           most / 1e6, s->rates, spread, spread > 1 ? ": it changes while a kernel runs" : "");
}

static void judge_sms(const selftest_seen *s, selftest_page *page) {
  const bool dense = s->sms_seen == s->sms && s->sm_largest + 1 == s->sms && s->nsmid == s->sms;
  conclude(page, "SM ids", dense ? SELFTEST_FINE : SELFTEST_UNUSUAL,
           "%" PRIu64 " SMs; blocks ran on %" PRIu64 ", the largest %%smid is %" PRIu64
           ", %%nsmid %" PRIu64 "%s",
           s->sms, s->sms_seen, s->sm_largest, s->nsmid,
           dense ? "" : ": ids are not 0 to SMs - 1, or not every SM was given a block");
}

static void judge_grids(const selftest_seen *s, const loaded_capture *loaded, selftest_page *page) {
  conclude(page, "grid ids", s->grids_repeated ? SELFTEST_WRONG : SELFTEST_FINE,
           "%" PRIu64 " launches in several streams, %" PRIu64 " had the %%gridid of another",
           s->grids, s->grids_repeated);
  const ink_activity *const *list;
  const size_t n = ink_capture_activities(loaded->capture, &list, NULL);
  uint64_t kernels = 0, joined = 0, expected = 0;
  for (size_t i = 0; i < n; i++)
    if (list[i]->kind == INK_ACTIVITY_KERNEL) {
      kernels++;
      joined += ink_activity_launch(loaded->capture, list[i]) != UINT32_MAX;
    }
  for (size_t i = 0; i < s->kernel_count; i++)
    expected += s->kernels[i].launches;
  if (!kernels)
    conclude(page, "grid ids of CUPTI", SELFTEST_UNKNOWN,
             "CUPTI is not there or told of no kernel");
  else
    conclude(
        page, "grid ids of CUPTI", joined == expected ? SELFTEST_FINE : SELFTEST_UNUSUAL,
        "of %" PRIu64 " marked launches %" PRIu64 " have a kernel of CUPTI with their grid id%s",
        expected, joined, joined == expected ? "" : ": traces cannot be joined by grid id alone");
}

static void judge_skew(const ink_clock_quality *q, selftest_page *page) {
  if (!q || q->bound_ns == INT64_MAX || q->sms_refused)
    conclude(page, "clocks of SMs", SELFTEST_UNUSUAL, "%s",
             q && q->sms_refused ? "a timer ran backwards"
                                 : "too few readings to tie them together");
  else
    conclude(page, "clocks of SMs", q->outliers ? SELFTEST_UNUSUAL : SELFTEST_FINE,
             "%u SMs, compared with each other to %.1f ns, with the host to %" PRId64
             " ns; %u of %u readings do not fit",
             q->sms_seen, q->sm_bound_ns, q->bound_ns, q->outliers, q->readings);
}

static void judge_cost(const loaded_capture *loaded, selftest_page *page) {
  const ink_mark_costs *list;
  const size_t n = ink_capture_mark_costs(loaded->capture, &list);
  double mark[2] = {NAN, NAN}, called = NAN, bound = NAN;
  for (uint32_t i = 0; n && i < list[0].count; i++) {
    const ink_mark_cost *c = &list[0].costs[i];
    if (c->what != INK_COST_OF_MARK)
      continue;
    if (!(c->flags & INK_COST_CALLED_FUNCTION))
      mark[c->flags & INK_COST_RECORDING ? 1 : 0] = (double)c->millicycles / 1000;
    if (c->flags == INK_COST_RECORDING)
      bound = (double)c->bound_millicycles / 1000;
    if (c->flags == (INK_COST_CALLED_FUNCTION | INK_COST_RECORDING))
      called = (double)c->millicycles / 1000;
  }
  if (isnan(mark[1]))
    conclude(page, "cost of a mark", SELFTEST_UNKNOWN, "not measured%s%s", n ? ": " : "",
             n ? list[0].note : "");
  else
    conclude(page, "cost of a mark",
             mark[1] > 200 || bound > mark[1] ? SELFTEST_UNUSUAL : SELFTEST_FINE,
             "%.1f cycles, known to %.1f, recording; %.1f not recording; %.1f in a called function",
             mark[1], bound, mark[0], called);
}

/* ---- the rings ---- */

typedef struct ring_check {
  const ink_capture *capture;
  uint64_t block;
  uint64_t problems, values, wrong_values, disorder;
  uint64_t gaps; /* of this track, each of which may put one section out of turn */
  uint32_t last; /* the slice before, of three that take turns */
  bool any;
} ring_check;

static ink_status on_track(void *user, const ink_decoded_track *track) {
  ring_check *r = user;
  r->block = track->stored->header.block_index[0];
  r->any = false;
  r->gaps = 0; /* a track that was open for long is stored in pieces, with words lost between them */
  for (size_t i = 0; i < track->stored->piece_count[0]; i++)
    r->gaps += track->stored->pieces[0][i].lost || track->stored->pieces[0][i].lost_more;
  return INK_OK;
}

static ink_status on_slice(void *user, const ink_slice *slice) {
  static const char *const order[] = {"First", "Second", "Third"};
  const ink_section *sections;
  ring_check *r = user;
  ink_capture_sections(r->capture, &sections);
  uint32_t turn = 3;
  for (uint32_t i = 0; i < 3 && slice->section != INK_SECTION_UNKNOWN; i++)
    if (!strcmp(sections[slice->section].name, order[i]))
      turn = i;
  const bool in_turn = turn < 3 && (!r->any || turn == (r->last + 1) % 3);
  if (!in_turn && r->gaps)
    r->gaps--;
  else
    r->disorder += !in_turn;
  r->last = turn;
  r->any = true;
  return INK_OK;
}

static ink_status on_point(void *user, const ink_point *point) {
  ring_check *r = user;
  if (point->kind != INK_KIND_ESCAPE || point->escape != INK_ESCAPE_VALUE_U64)
    return INK_OK;
  r->values++;
  const bool row_fits =
      point->row == INK_ROW_UNKNOWN || point->row == (int64_t)(point->value.u64 >> 32);
  r->wrong_values += !row_fits || (point->value.u64 & 0xffffffffu) != r->block;
  return INK_OK;
}

static ink_status on_problem(void *user, const ink_problem *problem) {
  (void)problem;
  ((ring_check *)user)->problems++;
  return INK_OK;
}

static void judge_counts(const selftest_seen *s, const loaded_capture *loaded,
                         selftest_page *page) {
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(loaded->capture, &kernels);
  for (size_t i = 0; i < s->kernel_count; i++) {
    const selftest_kernel *want = &s->kernels[i];
    const uint64_t a_track = want->tracks ? want->marks / want->tracks : 0;
    uint64_t launches = 0, tracks = 0, marks = 0, away = 0;
    for (size_t k = 0; k < n; k++)
      if (!strcmp(kernels[k].name, want->name)) {
        launches = kernels[k].launches;
        away = kernels[k].tracks_lost + kernels[k].missed;
        tracks = kernels[k].tracks + away;
        marks = kernels[k].marks_executed + kernels[k].marks_lost + kernels[k].missed * a_track;
      }
    const bool right =
        tracks == want->tracks && marks == want->marks && (away || launches == want->launches);
    conclude(page, i ? "marks in a graph" : "marks in streams",
             right ? SELFTEST_FINE : SELFTEST_WRONG,
             "%s: %" PRIu64 " of %" PRIu64 " launches, %" PRIu64 " of %" PRIu64 " tracks (%" PRIu64
             " of them counted, not kept), %" PRIu64 " of %" PRIu64 " marks",
             want->name, launches, want->launches, tracks, want->tracks, away, marks, want->marks);
  }
}

static void judge_rings(const loaded_capture *loaded, selftest_page *page) {
  ring_check r = {.capture = loaded->capture};
  const ink_sink sink = {.user = &r,
                         .track_begin = on_track,
                         .slice = on_slice,
                         .point = on_point,
                         .problem = on_problem};
  ink_error error = {0};
  if (ink_decode(loaded->capture, loaded->map, UINT32_MAX, &sink, &error)) {
    conclude(page, "rings", SELFTEST_WRONG, "cannot be read: %s", error.message);
    return;
  }
  const bool right = !r.problems && !r.wrong_values && !r.disorder && r.values;
  conclude(page, "rings", right ? SELFTEST_FINE : SELFTEST_WRONG,
           "%s tracks, all SMs, several streams and a replayed graph at once, rings overwritten: "
           "%" PRIu64 " problems, %" PRIu64 " of %s values wrong, %" PRIu64 " sections out of turn",
           number_whole(ink_capture_track_count(loaded->capture)).text, r.problems, r.wrong_values,
           number_whole(r.values).text, r.disorder);
}

void selftest_judge(const selftest_seen *seen, const loaded_capture *loaded, selftest_page *page) {
  const ink_clock_quality *quality;
  const size_t n = ink_clock_map_quality(loaded->map, &quality);
  const ink_clock_quality *first = n ? &quality[0] : NULL;
  page->count = 0;
  judge_timer(seen, first, page);
  judge_rate(seen, page);
  judge_sms(seen, page);
  judge_grids(seen, loaded, page);
  judge_skew(first, page);
  judge_cost(loaded, page);
  judge_counts(seen, loaded, page);
  judge_rings(loaded, page);
  conclude(page, "results", seen->results_wrong || !seen->results ? SELFTEST_WRONG : SELFTEST_FINE,
           "%" PRIu64 " of %" PRIu64 " numbers that the kernels computed are wrong",
           seen->results_wrong, seen->results);
}

enum selftest_verdict selftest_worst(const selftest_page *page) {
  enum selftest_verdict worst = SELFTEST_FINE;
  for (size_t i = 0; i < page->count; i++)
    if (page->checks[i].verdict > worst)
      worst = page->checks[i].verdict;
  return worst;
}

const char *selftest_word(enum selftest_verdict verdict) {
  static const char *const words[] = {"ok", "not known", "unusual", "WRONG"};
  return words[verdict];
}
