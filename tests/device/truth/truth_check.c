/* SPDX-License-Identifier: MIT */
/* Holds a capture's tracks against model and log: who recorded, every header, every word of every
 * ring, and the counts of what was kept, dropped, missed and lost. */
#include "truth_private.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool kernel_enabled(const truth_run *run, const char *kernel) {
  if (!run->kernels)
    return true;
  regex_t regex;
  if (regcomp(&regex, run->kernels, REG_EXTENDED | REG_NOSUB) != 0) {
    truth_fail("'%s' is no regular expression", run->kernels);
    return false;
  }
  const bool enabled = regexec(&regex, strstr(kernel, "::") + 2, 0, NULL, 0) == 0;
  regfree(&regex);
  return enabled;
}

/* Should this thread record? */
static bool selected(const truth_run *run, const truth_launch *launch, uint32_t block,
                     uint32_t thread) {
  if (!launch->kernel || !kernel_enabled(run, launch->kernel))
    return false;
  if (launch->chosen  ? !launch->chosen(block, thread)
      : run->per_warp ? thread % 32 != 0
                      : thread != 0)
    return false;
  if (run->warps && !(run->warp_bits >> (thread / 32) & 1))
    return false;
  return !run->block_in || run->block_in(block);
}

static size_t reads_of_steps(const truth_steps *steps) {
  size_t n = 0;
  for (size_t i = 0; i < steps->count; i++)
    n += steps->items[i].escape == INK_ESCAPE_CLOCKS ? 3 : 1;
  return n;
}

/* One thread of one launch: the log must have as many reads as the model, with or without an
 * opening and a closing around them. */
static void take_thread(truth_context *c, const truth_launch *launch, const truth_grid *grid,
                        const uint32_t block[3], uint32_t linear, uint32_t thread) {
  truth_track track = {.launch = launch, .grid = grid, .linear_block = linear, .thread = thread};
  memcpy(track.block, block, sizeof track.block);
  launch->thread(&track.steps, linear, thread);
  size_t count;
  const truth_read *reads =
      truth_log_thread(c->log, grid->device, grid->grid, block, thread, &count);
  const size_t own = reads_of_steps(&track.steps);
  const bool wanted = selected(c->run, launch, linear, thread);
  const bool opened = count == own + (launch->leaves ? 3 : 6);
  track.closed = opened && !launch->leaves;
  CHECK(opened || count == own, "%s block %u thread %u: %zu clock reads, the model has %zu",
        launch->function, linear, thread, count, own);
  CHECK(wanted || !opened, "%s block %u thread %u records, and should not", launch->function,
        linear, thread);
  if ((opened || count == own) && truth_assign(&track, reads, count, opened) && opened) {
    if (c->track_count == c->track_capacity) {
      c->track_capacity = c->track_capacity ? 2 * c->track_capacity : 64;
      c->tracks = realloc(c->tracks, c->track_capacity * sizeof track);
      if (!c->tracks)
        exit(1);
    }
    c->tracks[c->track_count++] = track;
    return;
  }
  c->missed += wanted && !opened;
  free(track.steps.items);
}

static void take_launch(truth_context *c, size_t index) {
  const truth_launch *launch = &c->kind->launches[index];
  size_t nth = 0;
  for (size_t i = 0; i < index; i++)
    nth += strcmp(c->kind->launches[i].function, launch->function) == 0;
  const truth_grid *grid = truth_log_grid(c->log, launch->function, nth);
  if (!grid) {
    truth_fail("launch %zu of '%s' is not in the log", nth, launch->function);
    return;
  }
  CHECK(memcmp(grid->grid_dim, launch->grid, sizeof launch->grid) == 0 &&
            memcmp(grid->block_dim, launch->block, sizeof launch->block) == 0,
        "'%s' was launched in another shape than the model's", launch->function);
  const uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  uint32_t block[3], linear = 0;
  for (block[2] = 0; block[2] < launch->grid[2]; block[2]++)
    for (block[1] = 0; block[1] < launch->grid[1]; block[1]++)
      for (block[0] = 0; block[0] < launch->grid[0]; block[0]++, linear++)
        for (uint32_t thread = 0; thread < threads; thread++)
          take_thread(c, launch, grid, block, linear, thread);
}

/* ---- one captured track -------------------------------------------------------------------- */

static void check_header(const truth_track *t, const ink_track *h) {
#define SAME(field, value)                                                                         \
  CHECK((uint64_t)(h->field) == (uint64_t)(value),                                                 \
        "%s block %u thread %u: " #field " is %" PRIu64 ", should be %" PRIu64,                    \
        t->launch->function, t->linear_block, t->thread, (uint64_t)(h->field), (uint64_t)(value))
  for (int i = 0; i < 3; i++) {
    SAME(grid_dim[i], t->launch->grid[i]);
    SAME(block_dim[i], t->launch->block[i]);
    SAME(block_index[i], t->block[i]);
  }
  SAME(state, t->closed ? INK_TRACK_CLOSED : INK_TRACK_OPEN);
  SAME(cluster_rank, 0);
  SAME(sm_open, t->opening[0].sm);
  SAME(open_clock0, t->opening[0].value);
  SAME(open_global_ns, t->opening[1].value);
  SAME(open_clock1, t->opening[2].value);
  if (!t->closed)
    return;
  SAME(sm_close, t->closing[0].sm);
  SAME(close_clock0, t->closing[0].value);
  SAME(close_global_ns, t->closing[1].value);
  SAME(close_clock1, t->closing[2].value);
}

/* `stored` are the words of a ring as kept, oldest first. */
static void check_ring(const truth_context *c, const truth_track *t, const truth_ring *ring,
                       bool called, const uint64_t *stored, uint64_t count) {
  const uint64_t room = truth_records(c->run);
  const uint64_t start = called ? c->kind->aux_words_start : c->kind->words_start;
  uint64_t kept = 0, first = 0;
  if (c->run->keep_first) {
    for (size_t i = 0; i < t->steps.count; i++)
      if (t->steps.items[i].kept && t->steps.items[i].called == called)
        kept = t->steps.items[i].at + t->steps.items[i].words;
    uint64_t word = INK_UNWRITTEN;
    for (; count > kept && word == INK_UNWRITTEN; count -= word == INK_UNWRITTEN)
      memcpy(&word, (const unsigned char *)stored + (count - 1) * 8, 8);
  } else {
    kept = ring->count < room ? ring->count : room;
    first = ring->count - kept;
    CHECK(start == 0 || ring->count >= room, "the model presets the count and leaves a gap");
  }
  CHECK(count == kept, "%s block %u thread %u%s: %" PRIu64 " words kept, should be %" PRIu64,
        t->launch->function, t->linear_block, t->thread, called ? ", called" : "", count, kept);
  const uint32_t rows = called ? 0 : t->launch->rows;
  for (uint64_t i = 0; i < kept && i < count; i++) {
    uint64_t word;
    if (rows && (first + i) % INK_ROWS_WORDS(rows) >= 2 + 2 * ((INK_ROWS_SLOTS(rows) + 3) / 4))
      continue; /* behind its slots a row holds what the ring held */
    memcpy(&word, (const unsigned char *)stored + i * 8, 8);
    CHECK(word == ring->words[first + i],
          "%s block %u thread %u%s: word %" PRIu64 " is %016" PRIx64 ", should be %016" PRIx64,
          t->launch->function, t->linear_block, t->thread, called ? ", called" : "", first + i,
          word, ring->words[first + i]);
  }
}

static void check_track(const truth_context *c, truth_track *t, const ink_stored_track *stored) {
  truth_ring rings[2] = {{0}, {0}};
  const ink_track *h = &stored->header;
  check_header(t, h);
  if (!t->closed) {
    /* which words those are is held against the log by tests/flight */
    CHECK(stored->ring_words <= h->words && stored->aux_words <= h->aux_words, "more words than were executed");
    CHECK(h->flags & INK_TRACK_CUT, "a track that stayed open is not said to be cut");
    return;
  }
  truth_words(c, t, rings);
  SAME(flags, t->launch->rows << INK_TRACK_ROWS_SHIFT);
  SAME(words, c->kind->words_start + rings[0].count);
  SAME(extra, rings[0].extra);
  SAME(aux_words, c->kind->aux_words_start + rings[1].count);
  SAME(aux_extra, rings[1].extra);
  if (!t->launch->rows || INK_ROWS_WORDS(t->launch->rows) <= truth_records(c->run)) /* else it stores nothing */
    check_ring(c, t, &rings[0], false, stored->ring, stored->ring_words);
  check_ring(c, t, &rings[1], true, stored->aux, stored->aux_words);
  free(rings[0].words);
  free(rings[1].words);
}

static truth_track *find_track(truth_context *c, const ink_track *h) {
  for (size_t i = 0; i < c->track_count; i++) {
    truth_track *t = &c->tracks[i];
    if (t->grid->grid == h->grid_id && t->thread == h->thread &&
        memcmp(t->block, h->block_index, sizeof t->block) == 0 &&
        t->opening[0].value == h->open_clock0)
      return t;
  }
  return NULL;
}

/* ---- counts -------------------------------------------------------------------------------- */

bool truth_counts(const truth_track *t, const truth_step *step) {
  return t->launch->rows && !step->called ? step->kind == INK_KIND_ITER : step->stored;
}

static uint64_t executed_marks(const truth_context *c, const truth_track *t) {
  uint64_t n = c->kind->words_start + c->kind->aux_words_start;
  for (size_t i = 0; i < t->steps.count; i++)
    n += truth_counts(t, &t->steps.items[i]);
  return n;
}

/* Most tracks that can have been in use at one time. A track is taken before the clock reads that
 * open it and given back after those that close it: by as much as the atomics in between take, two
 * a try when taking (four tries at most) and five when giving back, at 300 cycles of the simulator
 * each. */
static size_t most_in_use(const truth_context *c, uint64_t room) {
  const double before = 600.0 * (room < 4 ? (double)room : 4) + 500, after = 2500;
  size_t most = 0;
  for (size_t i = 0; i < c->track_count; i++) {
    const double at = c->tracks[i].opening[0].ns;
    size_t in_use = 0;
    for (size_t j = 0; j < c->track_count; j++)
      in_use += c->tracks[j].opening[0].ns - before <= at &&
                (!c->tracks[j].closed || c->tracks[j].closing[2].ns + after >= at);
    most = in_use > most ? in_use : most;
  }
  return most;
}

static void check_missed(const truth_context *c) {
  const uint64_t wanted = c->track_count + c->missed, room = truth_tracks(c->run);
  if (c->run->keep_first)
    CHECK(c->track_count == (wanted < room ? wanted : room),
          "%zu tracks were opened of %" PRIu64 ", with %" PRIu64 " entries", c->track_count, room,
          wanted);
  else if (c->missed) /* only where all tracks were in use */
    CHECK(most_in_use(c, room) >= room,
          "%" PRIu64 " entries found no track, though at most %zu of %" PRIu64 " were in use",
          c->missed, most_in_use(c, room), room);
  CHECK(!c->run->must_miss || c->missed, "no entry was missed: the run shows nothing");
}

static void check_counts(const truth_context *c, uint64_t captured) {
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(c->capture, &kernels);
  uint64_t missed = 0, marks = 0, counted_marks = 0, tracks = 0, open = 0;
  for (size_t i = 0; i < n; i++) {
    missed += kernels[i].missed;
    tracks += kernels[i].tracks + kernels[i].tracks_lost;
    counted_marks += kernels[i].marks_executed + kernels[i].marks_lost;
  }
  for (size_t i = 0; i < c->track_count; i++) {
    marks += c->tracks[i].closed ? executed_marks(c, &c->tracks[i]) : 0;
    open += !c->tracks[i].closed;
  }
  CHECK(missed == c->missed, "%" PRIu64 " missed, should be %" PRIu64, missed, c->missed);
  CHECK(tracks == c->track_count, "%" PRIu64 " tracks closed, should be %zu", tracks,
        c->track_count);
  CHECK(counted_marks == marks, "%" PRIu64 " marks counted, should be %" PRIu64, counted_marks,
        marks);
  const uint64_t room = truth_tracks(c->run);
  const uint64_t expected = c->track_count < room ? c->track_count : room;
  CHECK(captured == expected, "%" PRIu64 " tracks captured, should be %" PRIu64, captured,
        expected);
  const ink_capture_facts *facts = ink_capture_get_facts(c->capture);
  CHECK(facts->complete && !facts->damaged_chunks && !facts->unknown_kernels,
        "the capture is not whole: %s", facts->note);
  CHECK(facts->open_tracks == open, "%" PRIu64 " open tracks, should be %" PRIu64,
        facts->open_tracks, open);
}

static void check_wrap(const truth_context *c) {
  size_t wrapped = 0;
  for (size_t i = 0; i < c->track_count; i++)
    wrapped += c->tracks[i].opening[2].value >> 48 != c->tracks[i].closing[0].value >> 48;
  CHECK(!c->run->wraps || wrapped, "no track's clock passed 2^48: the run shows nothing");
}

static void check_captured(truth_context *c) {
  const uint64_t n = ink_capture_track_count(c->capture);
  c->by_index = calloc(n + 1, sizeof *c->by_index);
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track stored;
    ink_capture_track(c->capture, i, &stored);
    truth_track *t = find_track(c, &stored.header);
    CHECK(t && !t->captured, "track %" PRIu64 " (grid %" PRIu64 ", block %u, thread %u) is %s", i,
          stored.header.grid_id, stored.header.block_index[0], stored.header.thread,
          t ? "there twice" : "nobody's");
    if (!t || t->captured)
      continue;
    t->captured = true;
    c->by_index[i] = t->closed ? t : NULL;
    check_track(c, t, &stored);
  }
  check_counts(c, n);
  truth_check_decoded(c);
}

void truth_check(const truth_kind *kind, const truth_run *run, const truth_log *log,
                 const char *capture_path) {
  truth_context c = {.kind = kind, .run = run, .log = log};
  for (size_t i = 0; i < kind->launch_count; i++)
    take_launch(&c, i);
  check_missed(&c);
  check_wrap(&c);
  ink_error error = {0};
  FILE *file = fopen(capture_path, "re");
  if (file)
    fclose(file);
  CHECK(!!file == (c.track_count || c.missed), "a capture was%s made, with %zu tracks opened",
        file ? "" : " not", c.track_count);
  if (file && ink_capture_open(capture_path, &c.capture, &error))
    truth_fail("%s", error.message);
  if (c.capture)
    check_captured(&c);
  for (size_t i = 0; i < c.track_count; i++)
    free(c.tracks[i].steps.items);
  free(c.tracks);
  free(c.by_index);
  ink_capture_free(c.capture);
}
