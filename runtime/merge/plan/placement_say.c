/* SPDX-License-Identifier: MIT */
/* Says what the join found: for a person, in a few lines. */
#include "placement.h"

#include "number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LISTED = 6 };

void placement_say(const placement *p, const char *format, ...) {
  char line[2048];
  va_list arguments;
  if (!p->options.remark)
    return;
  int n = p->label ? snprintf(line, sizeof line, "'%.200s': ", p->label) : 0;
  va_start(arguments, format);
  ink_i_vprint(line + n, sizeof line - (size_t)n, format, arguments);
  va_end(arguments);
  p->options.remark(p->options.remark_user, line);
}

static void utc(int64_t ns, char *text, size_t size) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm parts;
  if (!gmtime_r(&seconds, &parts) || !strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &parts))
    snprintf(text, size, "%" PRId64 " ns", ns);
}

enum { NAME_SHOWN = 40, LABEL_BYTES = 96 };

/* A name as it is listed: its beginning, and, where another of the list begins so too, where they differ. */
static const char *label(char text[LABEL_BYTES], const char *const *names, size_t n, size_t which) {
  const char *name = names[which];
  size_t differs = 0;
  for (size_t i = 0; i < n; i++) {
    size_t same = 0;
    while (name[same] && name[same] == names[i][same])
      same++;
    if (same > differs && (name[same] || names[i][same]))
      differs = same;
  }
  const size_t length = strlen(name);
  if (length <= NAME_SHOWN || differs < NAME_SHOWN)
    snprintf(text, LABEL_BYTES, "%.*s", NAME_SHOWN, name);
  else /* the other may be the longer one */
    snprintf(text, LABEL_BYTES, "%.20s...%.*s", name, NAME_SHOWN, name + (differs < length ? differs : length) - 12);
  return text;
}

/* The names of some kernels, each once. */
static void list_names(char *text, size_t size, const char *const *names, size_t n) {
  size_t used = 0, listed = 0;
  char shown[LABEL_BYTES];
  text[0] = 0;
  for (size_t i = 0; i < n && used < size; i++) {
    bool again = false;
    for (size_t k = 0; k < i && !again; k++)
      again = !strcmp(names[i], names[k]);
    if (again)
      continue;
    if (listed++ == 3) {
      snprintf(text + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(text + used, size - used, "%s'%s'", listed > 1 ? ", " : "", label(shown, names, n, i));
  }
}

ink_status placement_refuse(const placement *p, ink_error *error) {
  const ink_selection *s = &p->selection;
  char subject[120] = "the capture";
  if (p->label)
    snprintf(subject, sizeof subject, "'%.100s'", p->label);
  const ink_foreign_kernel *first, *last;
  size_t n = ink_foreign_kernels(p->foreign, &first);
  int64_t theirs_end = first->end_ns;
  last = first;
  for (size_t i = 0; i < n; i++) {
    if (first[i].begin_ns < last->begin_ns)
      last = &first[i];
    if (first[i].end_ns > theirs_end)
      theirs_end = first[i].end_ns;
  }
  int64_t theirs_begin = last->begin_ns;
  if (p->facts->base_known &&
      (s->begin_ns > theirs_end + 1000000000 || s->end_ns < theirs_begin - 1000000000)) {
    char ours[40], theirs[40];
    utc(s->begin_ns, ours, sizeof ours);
    utc(theirs_begin, theirs, sizeof theirs);
    return ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "no launch of %s could be joined with a kernel of '%.150s': they "
                         "are of different runs, the capture begins %s, the trace %s",
                         subject, p->with, ours, theirs);
  }
  const char *ours[64], *theirs[64];
  size_t ours_n = s->launch_count < 64 ? s->launch_count : 64, theirs_n = n < 64 ? n : 64;
  char ours_text[320], theirs_text[320];
  for (size_t i = 0; i < ours_n; i++)
    ours[i] = ink_selection_kernel(s, i);
  for (size_t i = 0; i < theirs_n; i++)
    theirs[i] = ink_foreign_name(p->foreign, first[i].type->name);
  list_names(ours_text, sizeof ours_text, ours, ours_n);
  list_names(theirs_text, sizeof theirs_text, theirs, theirs_n);
  const ink_join_clock *clocks;
  size_t clock_count = ink_join_clocks(p->join, &clocks);
  const char *note = clock_count ? clocks[0].note : "";
  return ink_error_set(error, INK_ERROR_NOT_FOUND,
                       "no launch of %s could be joined with a kernel of '%.150s': %s "
                       "(the capture has %s, the trace %s)",
                       subject, p->with, *note ? note : "no names, dimensions and times agree",
                       ours_text, theirs_text);
}

static void tell_joined(const placement *p) {
  size_t by[INK_JOIN_DIMENSIONS + 1] = {0};
  char how[256] = "";
  size_t used = 0;
  for (size_t i = 0; i < p->selection.launch_count; i++)
    if (p->launches[i].kernel != SIZE_MAX)
      by[p->launches[i].method]++;
  for (int m = INK_JOIN_NONE + 1; m <= INK_JOIN_DIMENSIONS && used < sizeof how; m++)
    if (by[m])
      used += (size_t)snprintf(how + used, sizeof how - used, "%s%zu by %s", used ? ", " : ": ",
                               by[m], placement_method((enum ink_join_method)m));
  placement_say(p, "joined %zu of %zu launches with kernels of '%s'%s", p->joined, p->chosen,
                p->with, how);
}

/* "3 step, 7 step, ...": launches, of which some are listed. */
static void list_launches(const placement *p, const size_t *launches, size_t n, char *text, size_t size) {
  const char *names[LISTED];
  char shown[LABEL_BYTES];
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < n && i < LISTED; i++)
    names[i] = ink_selection_kernel(&p->selection, launches[i]);
  for (size_t i = 0; i < n && i < LISTED; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%zu %s", i ? ", " : "", launches[i],
                             label(shown, names, n < LISTED ? n : LISTED, i));
  if (n > LISTED)
    snprintf(text + used, size - used, ", ...");
}

static void tell_uncertain(const placement *p) {
  char text[LISTED * (LABEL_BYTES + 24) + 8];
  size_t some[LISTED] = {0}, listed = 0;
  for (size_t i = 0; i < p->selection.launch_count && p->uncertain; i++)
    if (p->launches[i].uncertain && listed++ < LISTED)
      some[listed - 1] = i;
  list_launches(p, some, listed, text, sizeof text);
  if (p->uncertain)
    placement_say(p,
                  "%zu of them are uncertain, as another kernel or launch fits as well: %s (see "
                  "'uncertain' in their arguments)",
                  p->uncertain, text);
}

static void tell_unmatched(const placement *p) {
  const size_t *extra;
  const char *names[LISTED];
  char text[LISTED * (LABEL_BYTES + 40) + 8] = "", shown[LABEL_BYTES];
  const size_t n = ink_join_unmatched(p->join, &extra), listed = n < LISTED ? n : LISTED;
  size_t used = 0;
  for (size_t i = 0; i < listed; i++)
    names[i] = ink_foreign_name(p->foreign, p->kernels[extra[i]].type->name);
  for (size_t i = 0; i < listed; i++)
    used += (size_t)ink_i_print(text + used, sizeof text - used, "%s%s at %.3f ms", used ? ", " : "",
                                label(shown, names, listed, i),
                                (double)(p->kernels[extra[i]].begin_ns - p->kernels[0].begin_ns) / 1e6);
  if (n)
    placement_say(p, "%zu kernels of these names have no launch here: %s%s (since the trace's first)", n, text,
                  n > LISTED ? ", ..." : "");
}

static void tell_unjoined(const placement *p) {
  char text[LISTED * (LABEL_BYTES + 24) + 8];
  size_t some[LISTED] = {0}, missing = 0;
  for (size_t i = 0; i < p->selection.launch_count; i++)
    if (p->launches[i].kernel == SIZE_MAX && p->launches[i].placed && missing++ < LISTED)
      some[missing - 1] = i;
  list_launches(p, some, missing, text, sizeof text);
  if (p->too_early)
    placement_say(p,
                  "%zu launches are before the trace's time zero and left out: viewers drop what is there; the "
                  "capture alone has them",
                  p->too_early);
  if (missing)
    placement_say(p, "%zu launches have no kernel there: %s", missing, text);
  tell_unmatched(p);
}

/* What the join cannot tell, and what our own times may be off by. */
static int64_t offset_bound(const placement *p, const ink_join_clock *clock) {
  const ink_clock_quality *q = ink_selection_quality(&p->selection, clock->device);
  return q && q->sm_bound_ns < 1e15 ? clock->bound_ns + (int64_t)ceil(q->sm_bound_ns) : INT64_MAX;
}

static void tell_clocks(const placement *p) {
  const ink_join_clock *clocks;
  size_t n = ink_join_clocks(p->join, &clocks);
  for (size_t i = 0; i < n; i++) {
    const ink_join_clock *c = &clocks[i];
    if (!c->joined)
      continue;
    bool used = p->options.align || !p->facts->base_known;
    char within[64] = "not known how well: too few clock readings";
    int64_t bound = offset_bound(p, c);
    if (bound != INT64_MAX)
      snprintf(within, sizeof within, "within %" PRId64 " ns", bound);
    placement_say(p, "GPU %d: their clock is ours %+" PRId64 " ns (%s, drift %+.3f ppm); %s",
                  c->device, c->offset_ns, within, c->drift_ppm,
                  !p->facts->base_known
                      ? "taken out, since the trace's own times have no known base"
                  : used ? "taken out"
                         : "left in, --align takes it out");
    if (c->note[0])
      placement_say(p, "GPU %d: %s", c->device, c->note);
  }
  int64_t most = 0;
  for (size_t i = 0; i < p->selection.launch_count; i++) {
    const placed_launch *l = &p->launches[i];
    if (l->kernel != SIZE_MAX && l->early_ns > most)
      most = l->early_ns;
    if (l->kernel != SIZE_MAX && l->late_ns > most)
      most = l->late_ns;
  }
  if (p->outside)
    placement_say(
        p, "%zu launches stick out of their kernels, by up to %" PRId64 " ns: see outside_ns%s",
        p->outside, most, p->options.align || !p->facts->base_known ? "" : ", and --align");
}

void placement_tell(const placement *p) {
  static const char *const ways[] = {"all", "all",
                                     "the shortest, the median and the longest of each",
                                     "the slowest of each", "none, but counters of each SM"};
  if (p->foreign) {
    tell_joined(p);
    tell_uncertain(p);
    tell_unjoined(p);
    tell_clocks(p);
    if (p->facts->kernels_left_out)
      placement_say(p, "%" PRIu64 " kernels of '%s' have no name or no times that can be used, and took no part",
                    p->facts->kernels_left_out, p->with);
  }
  if (p->unplaced)
    placement_say(p,
                  "%zu launches were left out: nothing on their GPU could be joined, and the "
                  "trace's times have no known base",
                  p->unplaced);
  if (p->shown < p->tracks) {
    enum ink_merged_tracks way = p->options.tracks;
    placement_say(p, "%" PRIu64 " of %" PRIu64 " tracks are shown (%s), '--tracks all' shows all",
                  p->shown, p->tracks,
                  ways[way == INK_TRACKS_AUTO ? INK_TRACKS_REPRESENTATIVE : way]);
  }
}
