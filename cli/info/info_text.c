/* SPDX-License-Identifier: MIT */
/* `inkmark info` as text. */
#include "info.h"

#include "open_tracks.h"

#include "grid.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include "inkmark/sources.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES_SHOWN = 20 };

static void line(FILE *to, const char *name, const char *value) {
  if (value)
    text_print(to, "%-12s%s\n", name, value);
}

/* Of whose blocks some were left out because the buffer has too few tracks. */
static void sampled(const ink_capture *capture, FILE *to) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(capture, &launches);
  size_t some = 0;
  uint32_t most = 0, least = UINT32_MAX;
  for (size_t i = 0; i < n; i++) {
    some += launches[i].one_of > 1;
    most = launches[i].one_of > most ? launches[i].one_of : most;
    if (launches[i].one_of > 1 && launches[i].one_of < least)
      least = launches[i].one_of;
  }
  if (some)
    text_print(to, "%-12sauto: in %s of %s launches one of each %s%s in a row\n", "blocks", number_whole(some).text,
               number_whole(n).text, number_whole(most).text, least == most ? "" : " or fewer");
}

/* Unix ns as UTC; what is no number is printed as it stands. */
static void started(FILE *to, const char *text) {
  char words[64], *end;
  if (!text)
    return;
  long long ns = strtoll(text, &end, 10);
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm utc;
  if (*end || end == text || ns < 0 || !gmtime_r(&seconds, &utc) ||
      !strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S UTC", &utc))
    line(to, "started", text);
  else
    line(to, "started", words);
}

static void head(const loaded_capture *loaded, FILE *to) {
  const ink_capture *capture = loaded->capture;
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  char place[LOAD_PLACE_BYTES];
  uint64_t open;
  text_print(to, "%-12s%s (%s, format %u, %s)\n", "file", loaded->path,
          number_bytes(facts->file_bytes).text, facts->version,
          facts->complete ? "complete" : load_incomplete(capture));
  line(to, "command", ink_capture_fact(capture, "command"));
  line(to, "host", ink_capture_fact(capture, "host"));
  line(to, "pid", ink_capture_fact(capture, "pid"));
  line(to, "rank", ink_capture_fact(capture, "rank"));
  started(to, ink_capture_fact(capture, "started_ns"));
  line(to, "inkmark", ink_capture_fact(capture, "version"));
  if (ink_capture_simulated(capture))
    line(to, "clock", LOAD_SIMULATED_LINE);
  if (facts->used_bytes < facts->file_bytes)
    text_print(to, "%-12s%s of %s bytes are used\n", "cut", number_whole(facts->used_bytes).text,
            number_whole(facts->file_bytes).text);
  line(to, "ended by", ink_capture_fact(capture, "ended_by"));
  line(to, "failure", ink_capture_fact(capture, "write_failure"));
  line(to, "not armed", ink_capture_fact(capture, "not_armed"));
  line(to, "window", ink_capture_fact(capture, "window"));
  line(to, "launches", ink_capture_fact(capture, "window_launches"));
  line(to, "blocks", ink_capture_fact(capture, "blocks"));
  sampled(capture, to);
  line(to, "unfinished", ink_capture_fact(capture, "unfinished"));
  line(to, "reopened", ink_capture_fact(capture, "reopened"));
  if (facts->damaged_chunks)
    text_print(to, "%-12s%s damaged chunk%s left out\n", "damage",
            number_whole(facts->damaged_chunks).text, facts->damaged_chunks == 1 ? "" : "s");
  if (facts->open_tracks && load_open_track(loaded, &open))
    text_print(to, "%-12s%s track%s had not ended%s: %s\n", "open",
            number_whole(facts->open_tracks).text, facts->open_tracks == 1 ? "" : "s",
            facts->open_tracks == 1 ? "" : ", the first", load_track_place(loaded, open, place));
  ink_open_track *list = NULL;
  size_t n = 0;
  if (facts->open_tracks && open_tracks_list(loaded, &list, &n)) {
    char words[OPEN_WORDS_BYTES];
    if (n && list[0].place.known)
      text_print(to, "%-12s%s\n", "stood", open_tracks_words(loaded, &list[0], true, words));
    ink_open_tracks_free(list);
  }
  if (facts->unknown_kernels)
    text_print(to, "%-12s%s kernel entr%s that no section table names\n", "unknown",
            number_whole(facts->unknown_kernels).text, facts->unknown_kernels == 1 ? "y" : "ies");
  text_print(to, "%-12s%s\n", "tracks", number_whole(ink_capture_track_count(capture)).text);
}

/* The first line of the page that `inkmark selftest` left; `--format json` has all of it. */
static void selftest(const loaded_capture *loaded, int32_t device, FILE *to) {
  char key[32];
  snprintf(key, sizeof key, "selftest.%d", device);
  const char *page = ink_capture_fact(loaded->capture, key);
  if (page)
    text_print(to, "  %.*s\n", (int)strcspn(page, "\n"), page);
}

static bool devices(const info_settings *settings, const loaded_capture *loaded, FILE *to) {
  bool fine = true;
  const ink_device_info *list;
  const ink_clock_quality *quality;
  size_t n = ink_capture_devices(loaded->capture, &list);
  size_t clocks = ink_clock_map_quality(loaded->map, &quality);
  for (size_t i = 0; i < n; i++) {
    const ink_device_info *d = &list[i];
    text_print(to, "\n%sdevice %d%s: %s, %u SMs, compute capability %u.%u%s\n",
            style_code(to, STYLE_BOLD), d->index, style_code(to, STYLE_PLAIN), d->name,
            d->sm_count, d->capability / 10, d->capability % 10, d->simulated ? ", simulated" : "");
    text_print(to, "  buffer: %s tracks of %s records and %s for called functions, one for each %s, keep %s\n",
            number_whole(d->track_count).text, number_whole(d->records_per_track).text,
            number_whole(d->aux_records_per_track).text,
            d->flags & INK_BUFFER_PER_WARP ? "warp" : "block",
            d->flags & INK_BUFFER_KEEP_FIRST ? "first" : "last");
    for (size_t c = 0; c < clocks; c++)
      if (quality[c].device == d->index)
        fine = info_clock(settings, loaded, &quality[c], to) && fine;
    selftest(loaded, d->index, to);
  }
  return fine;
}

static bool print_grid(text_grid *grid, FILE *to) {
  bool fine = grid && grid_print(grid, to, 2);
  grid_free(grid);
  if (!fine)
    message_say("out of memory");
  return fine;
}

static bool kernels(const loaded_capture *loaded, FILE *to) {
  static const char *const titles[] = {"launches", "tracks",      "marks",
                                       "missed",   "lost tracks", "lost marks"};
  const ink_kernel *list;
  size_t n = ink_capture_kernels(loaded->capture, &list);
  text_print(to, "\n%skernels%s\n", style_code(to, STYLE_BOLD), style_code(to, STYLE_PLAIN));
  text_grid *grid = grid_new();
  if (!n) {
    grid_free(grid);
    fputs("  none was recorded\n", to);
    return true;
  }
  if (!grid)
    return print_grid(grid, to);
  grid_column(grid, GRID_LEFT, "kernel");
  grid_column(grid, GRID_LEFT, "table");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = 0; i < n; i++) {
    const uint64_t numbers[] = {list[i].launches, list[i].tracks,      list[i].marks_executed,
                                list[i].missed,   list[i].tracks_lost, list[i].marks_lost};
    grid_cell(grid, "%s", list[i].name);
    grid_cell(grid, "%s", list[i].table ? list[i].table->name : "?");
    for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++)
      grid_cell(grid, "%s", number_whole(numbers[c]).text);
  }
  return print_grid(grid, to);
}

static void sections(const loaded_capture *loaded, FILE *to) {
  const ink_section_table *tables;
  size_t n = ink_capture_tables(loaded->capture, &tables);
  for (size_t i = 0; i < n; i++) {
    const ink_section_table *t = &tables[i];
    text_print(to, "\n%ssections of %s%s", style_code(to, STYLE_BOLD), t->name,
            style_code(to, STYLE_PLAIN));
    if (t->file && t->file[0])
      text_print(to, " (%s:%u)", t->file, t->line);
    fputs("\n  ", to);
    for (uint32_t s = 0; s < t->section_count; s++)
      text_print(to, "%s%s", s ? ", " : "", t->sections[s]);
    fputc('\n', to);
  }
  const ink_source *sources;
  n = ink_capture_sources(loaded->capture, &sources);
  fputs(n ? "\n" : "", to);
  for (size_t i = 0; i < n; i++)
    text_print(to, "the text of %s is in the capture, %s\n", sources[i].file, number_bytes(sources[i].bytes).text);
}

uint64_t info_code_bytes(const ink_code *codes, size_t n) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < n; i++)
    bytes += codes[i].bytes;
  return bytes;
}

static void stalls(const loaded_capture *loaded, FILE *to) {
  const ink_stall *list;
  const ink_code *codes;
  ink_stall_facts all;
  const size_t n = ink_capture_stalls(loaded->capture, &list, &all), code_count = ink_capture_codes(loaded->capture, &codes);
  if (n || all.samples)
    text_print(to, "\n%s samples of why warps waited, and the code of %zu module%s, %s\n", number_whole(all.samples).text,
               code_count, number_plural(code_count), number_bytes(info_code_bytes(codes, code_count)).text);
}

static void launch_row(text_grid *grid, size_t index, const ink_launch *launch,
                       const char *kernel) {
  grid_cell(grid, "%zu", index);
  grid_cell(grid, "%s", kernel);
  grid_cell(grid, "%d", launch->device);
  grid_cell(grid, "%" PRIu64, launch->grid_id);
  grid_cell(grid, "%u,%u,%u", launch->grid_dim[0], launch->grid_dim[1], launch->grid_dim[2]);
  grid_cell(grid, "%u,%u,%u", launch->block_dim[0], launch->block_dim[1], launch->block_dim[2]);
  grid_cell(grid, "%s", number_whole(launch->track_count).text);
  if (launch->last_close_global_ns > launch->first_open_global_ns)
    grid_cell(grid, "%s",
              number_whole(launch->last_close_global_ns - launch->first_open_global_ns).text);
  else
    grid_cell(grid, "%s", "");
}

static bool launches(const info_settings *settings, const loaded_capture *loaded, FILE *to) {
  const ink_launch *list;
  const ink_kernel *kernels;
  size_t n = ink_capture_launches(loaded->capture, &list);
  ink_capture_kernels(loaded->capture, &kernels);
  if (!n)
    return true;
  size_t shown = settings->all || n < LAUNCHES_SHOWN ? n : LAUNCHES_SHOWN;
  text_print(to, "\n%slaunches%s\n", style_code(to, STYLE_BOLD), style_code(to, STYLE_PLAIN));
  text_grid *grid = grid_new();
  if (!grid)
    return print_grid(grid, to);
  static const char *const titles[] = {"device",  "grid id", "blocks",
                                       "threads", "tracks",  "first open to last close, ns"};
  grid_column(grid, GRID_RIGHT, "launch");
  grid_column(grid, GRID_LEFT, "kernel");
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    grid_column(grid, GRID_RIGHT, titles[i]);
  for (size_t i = 0; i < shown; i++)
    launch_row(grid, i, &list[i], kernels[list[i].kernel].name);
  bool fine = print_grid(grid, to);
  if (shown < n)
    text_print(to, "  %s more launches are not shown (--all)\n", number_whole(n - shown).text);
  return fine;
}

bool info_text(const info_settings *settings, const loaded_capture *loaded, size_t index,
               FILE *to) {
  if (index)
    fputc('\n', to);
  head(loaded, to);
  bool fine = devices(settings, loaded, to);
  fine = info_cost_text(loaded, to) && fine;
  fine = kernels(loaded, to) && fine;
  const uint64_t full = ink_capture_get_facts(loaded->capture)->full_tracks;
  if (full)
    text_print(to, "  %s of the tracks had more marks than their ring holds: 'inkmark report' counts what was "
                "dropped\n",
            number_whole(full).text);
  sections(loaded, to);
  stalls(loaded, to);
  info_activity_text(loaded, to);
  return launches(settings, loaded, to) && fine;
}
