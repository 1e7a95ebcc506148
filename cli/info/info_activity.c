/* SPDX-License-Identifier: MIT */
/* What activity a capture holds, as `inkmark info` prints it. */
#include "info.h"

#include "grid.h"
#include "message.h"
#include "style.h"
#include "text_out.h"

#include <string.h>

info_activity info_count_activity(const loaded_capture *loaded) {
  const ink_activity *const *all;
  info_activity counts = {0};
  const size_t n = ink_capture_activities(loaded->capture, &all, &counts.own);
  for (size_t i = 0; i < n; i++) {
    counts.kernels += all[i]->kind == INK_ACTIVITY_KERNEL;
    counts.copies += all[i]->kind == INK_ACTIVITY_COPY;
    counts.sets += all[i]->kind == INK_ACTIVITY_SET;
    counts.calls += all[i]->device < 0;
    counts.with_tracks += ink_activity_launch(loaded->capture, all[i]) != UINT32_MAX;
  }
  return counts;
}

static void counted(FILE *to, const char *lead, uint64_t n, const char *one, const char *many) {
  text_print(to, "%s%s %s", lead, number_whole(n).text, n == 1 ? one : many);
}

static void loss(const ink_capture *capture, const char *fact, const char *words, FILE *to) {
  const char *text = ink_capture_fact(capture, fact);
  if (text)
    text_print(to, "  %s%s %s%s\n", style_code(to, STYLE_WARNING), text, words,
            style_code(to, STYLE_PLAIN));
}

void info_activity_text(const loaded_capture *loaded, FILE *to) {
  const ink_capture *capture = loaded->capture;
  const char *state = ink_capture_fact(capture, "activity");
  const char *cupti = ink_capture_fact(capture, "activity_cupti");
  const char *missing = ink_capture_fact(capture, "activity_missing");
  if (!state)
    return;
  text_print(to, "\n%sactivity%s\n", style_code(to, STYLE_BOLD), style_code(to, STYLE_PLAIN));
  if (strcmp(state, "recorded") != 0) {
    text_print(to, "  was not recorded: %s\n", state);
    return;
  }
  const info_activity n = info_count_activity(loaded);
  counted(to, "  ", n.kernels, "kernel", "kernels");
  text_print(to, " (%s with tracks)", number_whole(n.with_tracks).text);
  counted(to, ", ", n.copies, "copy", "copies");
  counted(to, ", ", n.sets, "set", "sets");
  counted(to, ", ", n.calls, "call", "calls");
  text_print(to, "; %s of inkmark itself are left out\n", number_whole(n.own).text);
  if (cupti)
    text_print(to, "  CUPTI: %s\n", cupti);
  if (missing)
    text_print(to, "  CUPTI did not give: %s\n", missing);
  loss(capture, "activity_dropped", "records were dropped by CUPTI, for want of buffers", to);
  loss(capture, "activity_left_out", "activities came faster than they could be written", to);
  loss(capture, "activity_without_time", "activities had no times", to);
}
