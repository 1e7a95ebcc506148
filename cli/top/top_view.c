/* SPDX-License-Identifier: MIT */
/* The table of `inkmark top`: what a recording has so far, what came since the last time, and where tracks that are
 * open stand. */
#include "top.h"

#include "grid.h"
#include "hash.h"
#include "message.h"
#include "open_tracks.h"
#include "text_out.h"

#include "inkmark/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define QUIET_NS UINT64_C(5000000000)

/* A row of the table, known again by its names: indices change as more comes. */
typedef struct counted {
  uint64_t kernel_key, instance, hash48; /* instance: of the function's name, 0: not known */
  int32_t device;
  uint32_t section_id, called;
  uint64_t count, kernel_cycles, cycles; /* kernel_cycles: of all of its tracks */
} counted;

struct top_view {
  counted *rows; /* of the time before, sorted */
  size_t row_count;
  uint64_t marks;
  int64_t shown_ns; /* 0: nothing was shown yet */
};

/* A row to be shown. */
typedef struct shown {
  const ink_table_row *row;
  counted now;
  uint64_t new_count, new_cycles, new_kernel_cycles, open;
} shown;

top_view *top_view_new(void) { return calloc(1, sizeof(top_view)); }

void top_view_free(top_view *view) {
  if (view)
    free(view->rows);
  free(view);
}

/* ---- what is new ---- */

static int by_name(const void *left, const void *right) {
  const counted *a = left, *b = right;
  const uint64_t keys[][2] = {{a->kernel_key, b->kernel_key}, {(uint32_t)a->device, (uint32_t)b->device},
                              {a->instance, b->instance}, {a->hash48, b->hash48},
                              {a->section_id, b->section_id}, {a->called, b->called}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static int by_time(const void *left, const void *right) {
  const shown *a = left, *b = right;
  if (a->new_cycles != b->new_cycles)
    return a->new_cycles > b->new_cycles ? -1 : 1;
  if (a->now.cycles != b->now.cycles)
    return a->now.cycles > b->now.cycles ? -1 : 1;
  return by_name(&a->now, &b->now);
}

/* What was counted may also become less: a track that was open is told of anew when it closes. */
static uint64_t more(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

static counted count_row(const loaded_capture *loaded, const ink_table *table, const ink_table_row *row) {
  const ink_kernel *kernels;
  const ink_section *sections;
  const ink_kernel_total *totals;
  ink_table_kernels(table, &totals);
  const ink_kernel_total *total = &totals[row->part];
  ink_capture_kernels(loaded->capture, &kernels);
  const size_t n = ink_capture_sections(loaded->capture, &sections);
  counted out = {.kernel_key = kernels[row->kernel].key, .section_id = UINT32_MAX, .called = row->called,
                 .count = row->count, .cycles = row->total_cycles, .device = total->device,
                 .instance = total->instance ? hash_on(HASH_BEGIN, total->instance, strlen(total->instance)) : 0,
                 .kernel_cycles = total->total_cycles};
  if (row->section < n) {
    out.hash48 = sections[row->section].table->hash48;
    out.section_id = sections[row->section].id;
  }
  return out;
}

static shown compare(const top_view *view, const counted *now, const ink_table_row *row) {
  shown out = {.row = row, .now = *now};
  const counted *before =
      view->row_count ? bsearch(now, view->rows, view->row_count, sizeof *view->rows, by_name) : NULL;
  out.new_count = more(now->count, before ? before->count : 0);
  out.new_cycles = more(now->cycles, before ? before->cycles : 0);
  out.new_kernel_cycles = more(now->kernel_cycles, before ? before->kernel_cycles : 0);
  return out;
}

/* ---- text ---- */

static void put_rows(const top_view *view, const loaded_capture *loaded, const shown *rows, size_t count,
                     text_grid *grid) {
  static const char *const titles[] = {"count", "new", "cycles", "share", "new share", "open here"};
  const ink_kernel *kernels;
  ink_capture_kernels(loaded->capture, &kernels);
  grid_column(grid, GRID_LEFT, "kernel");
  grid_column(grid, GRID_LEFT, "section");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = 0; i < count; i++) {
    const shown *s = &rows[i];
    const bool unmarked = s->row->section == INK_SECTION_UNKNOWN;
    grid_cell(grid, "%s", kernels[s->row->kernel].name);
    grid_cell(grid, "%s%s", load_section_name(loaded, s->row->section), s->row->called ? " (called)" : "");
    grid_cell(grid, "%s", unmarked ? "" : number_whole(s->now.count).text);
    grid_cell(grid, "%s", unmarked || !view->shown_ns ? "" : number_whole(s->new_count).text);
    grid_cell(grid, "%s", number_whole(s->now.cycles).text);
    grid_cell(grid, "%.1f %%", s->row->share * 100);
    if (view->shown_ns && s->new_kernel_cycles)
      grid_cell(grid, "%.1f %%", 100.0 * (double)s->new_cycles / (double)s->new_kernel_cycles);
    else
      grid_cell(grid, "%s", "");
    grid_cell(grid, "%s", s->open ? number_whole(s->open).text : "");
  }
}

static uint64_t unix_ns(const struct timespec *time) {
  return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static void put_title(const loaded_capture *loaded, FILE *to) {
  const ink_capture *capture = loaded->capture;
  struct timespec now = {0};
  struct stat file;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_ns = unix_ns(&now);
  const uint64_t last_ns = stat(loaded->path, &file) ? now_ns : unix_ns(&file.st_mtim);
  const uint64_t written_ns = last_ns < now_ns ? last_ns : now_ns;
  const char *program = ink_capture_fact(capture, "command"), *started = ink_capture_fact(capture, "started_ns");
  text_print(to, "%s%s%s (", loaded->path, program ? ": " : "", program ? program : "");
  const char *how = load_incomplete(capture);
  if (top_has_ended(loaded))
    text_print(to, "ended%s%s", how ? ": " : "", how ? how : "");
  else
    fputs("recording", to);
  if (!top_has_ended(loaded) && started)
    text_print(to, ", for %s s", number_whole(more(now_ns, strtoull(started, NULL, 10)) / 1000000000).text);
  if (!top_has_ended(loaded) && now_ns - written_ns >= QUIET_NS) /* nobody tells that a writer was killed */
    text_print(to, ", nothing new for %s s", number_whole((now_ns - written_ns) / 1000000000).text);
  fputs(")\n", to);
  if (ink_capture_simulated(capture))
    text_print(to, "%s\n", LOAD_SIMULATED_LINE);
}

static void put_lost(const ink_kernel_total *sum, FILE *to) {
  const char *before = ";";
  if (sum->marks_dropped) {
    text_print(to, "%s %s%s mark%s dropped", before, sum->marks_dropped_open ? "at least " : "",
               number_whole(sum->marks_dropped).text, number_plural(sum->marks_dropped));
    before = ",";
  }
  if (sum->tracks_lost) {
    text_print(to, "%s %s track%s lost", before, number_whole(sum->tracks_lost).text,
               number_plural(sum->tracks_lost));
    before = ",";
  }
  if (sum->missed)
    text_print(to, "%s %s thread%s found no free track", before, number_whole(sum->missed).text,
               number_plural(sum->missed));
}

static void put_sums(top_view *view, const ink_table *table, size_t open, int64_t now_ns, FILE *to) {
  const ink_kernel_total *totals;
  ink_kernel_total sum = {0};
  const size_t n = ink_table_kernels(table, &totals);
  for (size_t i = 0; i < n; i++) {
    sum.tracks += totals[i].tracks;
    sum.launches += totals[i].launches;
    sum.marks_executed += totals[i].marks_executed;
    sum.marks_dropped += totals[i].marks_dropped;
    sum.marks_dropped_open += totals[i].marks_dropped_open;
    sum.tracks_lost += totals[i].tracks_lost;
    sum.missed += totals[i].missed;
  }
  text_print(to, "%s launch%s, %s track%s", number_whole(sum.launches).text, sum.launches == 1 ? "" : "es",
             number_whole(sum.tracks).text, number_plural(sum.tracks));
  if (open)
    text_print(to, " (%s open)", number_whole(open).text);
  text_print(to, ", %s mark%s", number_whole(sum.marks_executed).text, number_plural(sum.marks_executed));
  if (view->shown_ns && now_ns > view->shown_ns)
    text_print(to, ", %s a second",
               number_whole((uint64_t)((double)more(sum.marks_executed, view->marks) * 1e9 /
                                       (double)(now_ns - view->shown_ns))).text);
  put_lost(&sum, to);
  fputc('\n', to);
  if (!n)
    fputs("nothing was recorded so far\n", to);
  view->marks = sum.marks_executed;
}

/* ---- all of it ---- */

bool top_has_ended(const loaded_capture *loaded) {
  const char *how = load_incomplete(loaded->capture);
  return !how || ink_capture_fact(loaded->capture, "unfinished") || ink_capture_fact(loaded->capture, "write_failure") ||
         ink_capture_fact(loaded->capture, "recovered");
}

/* A track that is open counts for the range that it is in, or for what it came behind. */
static void note_open(const loaded_capture *loaded, const ink_open_track *open, size_t n, shown *rows, size_t count) {
  for (size_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(loaded->capture, open[i].track, &track);
    const ink_place *p = &open[i].place;
    const ink_section_index at = p->inside != INK_SECTION_UNKNOWN ? p->inside : p->after;
    for (size_t k = 0; k < count && p->known && at != INK_SECTION_UNKNOWN; k++)
      if (rows[k].row->kernel == track.kernel && rows[k].row->section == at) {
        rows[k].open++;
        break;
      }
  }
}

static bool print(top_view *view, const loaded_capture *loaded, const ink_table *table, shown *rows, size_t count,
                  int64_t now_ns, FILE *to) {
  ink_open_track *open = NULL;
  size_t n = 0;
  text_grid *grid = grid_new();
  bool fine = grid && open_tracks_list(loaded, &open, &n);
  if (fine) {
    note_open(loaded, open, n, rows, count);
    qsort(rows, count, sizeof *rows, by_time);
    put_title(loaded, to);
    put_sums(view, table, n, now_ns, to);
    if (n)
      text_print(to, "%s track%s open:\n", number_whole(n).text, n == 1 ? " is" : "s are");
    open_tracks_print(loaded, open, n, false, to);
    put_rows(view, loaded, rows, count, grid);
    fine = !count || grid_print(grid, to, 0);
  }
  if (!fine)
    message_say("out of memory");
  ink_open_tracks_free(open);
  grid_free(grid);
  return fine;
}

bool top_view_print(top_view *view, const loaded_capture *loaded, int64_t now_ns, FILE *to) {
  const ink_table_options options = {.size = sizeof options, .by = INK_BY_SECTION, .launch = UINT32_MAX,
                                     .without_marking = true};
  ink_table *table = NULL;
  ink_error error = {0};
  const ink_table_row *rows;
  if (ink_table_make(loaded->capture, loaded->map, &options, &table, &error)) {
    message_failure(&error);
    return false;
  }
  const size_t n = ink_table_rows(table, &rows);
  shown *all = calloc(n + 1, sizeof *all);
  counted *now = calloc(n + 1, sizeof *now);
  bool fine = all && now;
  for (size_t i = 0; i < n && fine; i++) {
    now[i] = count_row(loaded, table, &rows[i]);
    all[i] = compare(view, &now[i], &rows[i]);
  }
  if (!fine)
    message_say("out of memory");
  fine = fine && print(view, loaded, table, all, n, now_ns, to);
  if (fine) {
    qsort(now, n, sizeof *now, by_name);
    free(view->rows);
    view->rows = now;
    view->row_count = n;
    view->shown_ns = now_ns;
    now = NULL;
  }
  free(now);
  free(all);
  ink_table_free(table);
  return fine;
}
