/* SPDX-License-Identifier: MIT */
/* What a report says of marks that are not in its tables: dropped and lost ones, tracks without an
 * end, problems in the records; each with its place and with what can be done about it. */
#include "report.h"

#include "message.h"
#include "open_tracks.h"
#include "style.h"
#include "text_out.h"

#include <inttypes.h>
#include <stdarg.h>

__attribute__((format(printf, 2, 3))) void report_remark(FILE *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text_print(to, "  %s", style_code(to, STYLE_WARNING));
  text_vprint(to, format, arguments);
  text_print(to, "%s\n", style_code(to, STYLE_PLAIN));
  va_end(arguments);
}

/* "'inkmark record OPTION N' WORDS", or nothing where N is more than the option takes. */
static void advise(FILE *to, const char *option, uint64_t needed, const char *words) {
  uint64_t power = 4;
  while (power < needed && power < UINT64_C(1) << 32)
    power *= 2;
  if (power <= UINT64_C(1) << 24)
    text_print(to, "    'inkmark record %s %" PRIu64 "' %s\n", option, power, words);
}

static uint64_t kept_words(const ink_stored_track *track, int called) {
  uint64_t words = 0;
  for (uint64_t i = 0; i < track->piece_count[called]; i++)
    words += track->pieces[called][i].count;
  return track->piece_count[called] ? words : called ? track->aux_words : track->ring_words;
}

/* The track of a kernel whose ring would have to be the longest; false: no ring was too short. */
static bool longest_track(const loaded_capture *loaded, uint32_t kernel, uint64_t *index,
                          uint64_t *words) {
  uint64_t n = ink_capture_track_count(loaded->capture);
  bool short_of = false;
  *words = 0;
  for (uint64_t i = 0; i < n; i++) {
    ink_stored_track track;
    ink_capture_track(loaded->capture, i, &track);
    const ink_track *header = &track.header;
    if (track.kernel != kernel || header->state != INK_TRACK_CLOSED)
      continue;
    short_of |= header->words > kept_words(&track, 0) || header->aux_words > kept_words(&track, 1);
    const uint64_t most = header->words > header->aux_words ? header->words : header->aux_words;
    if (most > *words) {
      *words = most;
      *index = i;
    }
  }
  return short_of;
}

static void dropped(const report_view *report, const ink_kernel_total *total, FILE *to) {
  uint64_t index = 0, words = 0;
  char place[LOAD_PLACE_BYTES];
  if (!total->marks_dropped)
    return;
  const char *least = total->marks_dropped_open ? "at least " : ""; /* until the track closes */
  report_remark(
      to, "dropped: %s%s of %s%s %s were overwritten in the rings of %s track%s, or did not fit there", least,
      number_whole(total->marks_dropped).text, least, number_whole(total->marks_executed).text,
      total->rows_executed == total->marks_executed ? "rows" : total->rows_executed ? "rows and marks" : "marks",
      number_whole(total->tracks_partial).text, number_plural(total->tracks_partial));
  if (longest_track(&report->loaded, total->kernel, &index, &words)) {
    text_print(to, "    the longest needs room for %s records: %s\n", number_whole(words).text,
            load_track_place(&report->loaded, index, place));
    advise(to, "--records-per-track", words, "holds it");
  }
}

static uint32_t tracks_there(const ink_capture *capture) {
  const ink_device_info *devices;
  size_t n = ink_capture_devices(capture, &devices);
  uint32_t most = 0;
  for (size_t i = 0; i < n; i++)
    if (devices[i].track_count > most)
      most = devices[i].track_count;
  return most;
}

/* It was asked for that. Code of older headers does not know of it. */
static bool samples(const ink_capture *capture, int32_t device) {
  const ink_device_info *devices;
  const size_t n = ink_capture_devices(capture, &devices);
  for (size_t i = 0; i < n; i++)
    if (devices[i].index == device)
      return devices[i].flags & INK_BUFFER_SAMPLED;
  return false;
}

/* Where tracks of a launch are gone, those that are left are of some blocks and not of others. */
static void biased(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(report->loaded.capture, &launches);
  uint64_t cut = 0, first = 0;
  for (size_t i = 0; i < n; i++) {
    const ink_launch *l = &launches[i];
    const uint64_t blocks = ink_launch_blocks(l);
    if (l->kernel != total->kernel || l->track_count >= blocks / l->one_of)
      continue;
    if (!cut++)
      first = i;
  }
  if (!cut)
    return;
  const ink_launch *l = &launches[first];
  report_remark(to, "biased: %s of the %s blocks of launch %" PRIu64 " are left, those that %s: what the table says is of them alone",
                number_whole(l->track_count).text, number_whole(ink_launch_blocks(l)).text, first,
                l->one_of > 1 ? "were chosen and not lost" : report_keeps_first(report) ? "began first" : "ended last");
  if (cut > 1)
    text_print(to, "    and so of %s more launch%s\n", number_whole(cut - 1).text, cut == 2 ? "" : "es");
  if (l->one_of < 2 && ink_launch_blocks(l) > tracks_there(report->loaded.capture))
    text_print(to, "    %s\n", samples(report->loaded.capture, l->device)
               ? "compile its code with the headers of this version: it was built with older ones, which record no blocks from all over such a grid"
               : "'record --blocks auto' takes blocks from all over such a grid");
}

void report_left_out(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_capture *capture = report->loaded.capture;
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  bool whole = facts->complete && !facts->damaged_chunks;
  dropped(report, total, to);
  if (total->unknown_cycles)
    report_remark(
        to, "unknown: %.1f %% of the time lies where marks were dropped; shares are of the whole time",
        100.0 * (double)total->unknown_cycles / (double)total->total_cycles);
  if (total->missed) {
    report_remark(to, "missed: %s recording thread%s found no free track among %s",
                  number_whole(total->missed).text, number_plural(total->missed),
                  number_whole(tracks_there(capture)).text);
    advise(to, "--tracks", tracks_there(capture) + total->missed, "has room for all of them");
  }
  if (total->tracks_lost) {
    const char *failure = ink_capture_fact(capture, "write_failure");
    report_remark(
        to, "lost: %s track%s with %s mark%s %s", number_whole(total->tracks_lost).text,
        number_plural(total->tracks_lost), number_whole(total->marks_lost).text,
        number_plural(total->marks_lost),
        failure ? "could not be written"
        : whole ? "were used again before they were drained"
                : "were in what is cut off or damaged, or used again before they were drained");
    if (failure)
      text_print(to, "    %s\n", failure);
    else if (whole) /* no remedy for damage */
      fputs("    more --tracks or a shorter --drain-ms loses fewer\n", to);
  }
  if (total->tracks_lost || total->missed)
    biased(report, total, to);
}

void report_unfinished(const report_view *report, FILE *to) {
  const loaded_capture *loaded = &report->loaded;
  const ink_capture_facts *facts = ink_capture_get_facts(loaded->capture);
  char place[LOAD_PLACE_BYTES];
  uint64_t index;
  ink_open_track *open = NULL;
  size_t n = 0;
  const char *not_armed = ink_capture_fact(loaded->capture, "not_armed");
  report_window(report, to);
  if (not_armed)
    text_print(to, "kernels are missing: %s\n", not_armed);
  if (facts->unknown_kernels)
    text_print(to,
            "%s kernel entr%s recorded nothing: no PROF_SECTIONS that was handed over names the "
            "kernel\n",
            number_whole(facts->unknown_kernels).text, facts->unknown_kernels == 1 ? "y" : "ies");
  if (!facts->open_tracks || !load_open_track(loaded, &index) || !open_tracks_list(loaded, &open, &n))
    return;
  /* Where the program ended normally nothing can run on: each left, whoever wrote the capture says so or not. */
  const bool killed = ink_capture_fact(loaded->capture, "ended_by") || ink_capture_fact(loaded->capture, "unfinished");
  const bool ended = !killed && (facts->complete || ink_capture_fact(loaded->capture, "write_failure"));
  bool known = false, left = false, ran = false;
  for (size_t i = 0; i < n; i++) {
    known |= open[i].place.known;
    left |= open[i].cut || ended;
    ran |= !open[i].cut && !ended;
  }
  if (known)
    text_print(to, "%s track%s had not ended:\n", number_whole(n).text, number_plural(n));
  else
    text_print(to, "%s track%s had not ended and hold%s no times%s: %s\n", number_whole(n).text, number_plural(n),
            n == 1 ? "s" : "", n == 1 ? "" : ", the first", load_track_place(loaded, index, place));
  if (known)
    open_tracks_print(loaded, open, n, report->settings->all, to);
  if (ran)
    fputs("  its kernel was running when the program was ended\n", to);
  if (left)
    text_print(to, "  %sits thread left the kernel past its end: without PROF_CLOSE, by exit in assembly, or by a trap\n",
            ran ? "left there: " : "");
  ink_open_tracks_free(open);
}

void report_problems(const report_view *report, FILE *to) {
  const ink_problem *problems;
  uint64_t total, shown = 0;
  char place[LOAD_PLACE_BYTES];
  size_t n = ink_table_problems(report->table, &problems, &total);
  if (!total)
    return;
  text_print(to, "\n%s%s problem%s in the records, the rest was used:%s\n",
          style_code(to, STYLE_WARNING), number_whole(total).text, number_plural(total),
          style_code(to, STYLE_PLAIN));
  for (size_t i = 0; i < n && (report->settings->all || i < 10); i++) {
    const ink_problem *p = &problems[i];
    text_print(to, "  %s: ", p->text);
    if (p->times > 1)
      text_print(to, "%s times, first in ", number_whole(p->times).text);
    text_print(to, "%s (track %" PRIu64 ", %s %" PRIu64 ")\n",
            load_track_place(&report->loaded, p->track, place), p->track,
            p->called ? "called functions' word" : "word", p->word);
    text_print(to, "    %s\n", ink_problem_advice((enum ink_problem_kind)p->kind));
    shown += p->times;
  }
  if (shown < total)
    text_print(to, "  and %s more\n", number_whole(total - shown).text);
}
