/* SPDX-License-Identifier: MIT */
/* What a report says of what was not to be recorded: outside of a window, or of other blocks; and how much of the
 * whole the blocks stand for that were chosen. */
#include "report.h"

#include "message.h"
#include "text_out.h"

#include "inkmark/host_ranges.h"

#include <math.h>
#include <string.h>

/* Launches of whose blocks some were left out, by the options. */
typedef struct sampled {
  uint64_t launches, blocks, recorded;
  uint32_t least, most; /* one block of each so many */
  size_t worst;         /* of the launches of which blocks were left out, that with the fewest recorded ones */
  uint64_t fewest;
} sampled;

enum sort { ALL, SOME /* as `sampled` says of older captures */, BY_SHAPE };

static sampled count_blocks(const ink_capture *capture, enum sort sort) {
  const ink_launch *launches;
  sampled sum = {0};
  const size_t n = ink_capture_launches(capture, &launches);
  for (size_t i = 0; i < n; i++) {
    const uint64_t blocks = ink_launch_blocks(&launches[i]);
    if ((sort == SOME && launches[i].track_count >= blocks) || (sort == BY_SHAPE && launches[i].one_of < 2))
      continue; /* all of it */
    sum.launches++;
    sum.most = launches[i].one_of > sum.most ? launches[i].one_of : sum.most;
    sum.least = !sum.least || launches[i].one_of < sum.least ? launches[i].one_of : sum.least;
    if (launches[i].track_count < blocks && (!sum.fewest || launches[i].track_count < sum.fewest))
      sum.worst = i, sum.fewest = launches[i].track_count;
    sum.blocks += blocks;
    sum.recorded += launches[i].track_count;
  }
  return sum;
}

static bool records_warps(const ink_capture *capture) {
  const ink_device_info *devices;
  const size_t n = ink_capture_devices(capture, &devices);
  return n && (devices[0].flags & INK_BUFFER_PER_WARP);
}

/* No track was lost: what is there of a launch is what was chosen. */
static bool all_are_there(const ink_capture *capture) {
  const ink_kernel *kernels;
  const size_t n = ink_capture_kernels(capture, &kernels);
  for (size_t i = 0; i < n; i++)
    if (kernels[i].missed || kernels[i].tracks_lost)
      return false;
  return true;
}

/* Ranks of the order statistics between which the median lies, 95 % of the time; and by the rule of three how many
 * blocks may exceed the largest that was seen. Blocks in a fixed distance stand for the others where nothing in the
 * grid repeats at that distance. Launches of one grid have the same blocks: many of them are no larger a sample than one,
 * and of several grids the smallest sample is told. */
static void sample(const ink_capture *capture, FILE *to, enum sort sort) {
  const sampled sum = count_blocks(capture, sort);
  if (records_warps(capture) || !sum.recorded || sum.recorded >= sum.blocks)
    return;
  const ink_launch *launches;
  char which[240] = ";";
  ink_capture_launches(capture, &launches);
  const ink_launch *worst = &launches[sum.worst];
  const uint64_t blocks = ink_launch_blocks(worst);
  const double n = (double)worst->track_count, apart = 98.0 / sqrt(n), left = fmax(1 - n / (double)blocks, 0);
  if (sum.launches > 1)
    snprintf(which, sizeof which, ", the same ones in launches of one grid; in the launch with the fewest, launch %zu with %s of %s,",
             sum.worst, number_whole(worst->track_count).text, number_whole(blocks).text);
  text_print(to, "    %s of %s blocks were recorded, whatever they took%s the median of all blocks lies between "
                 "those %s %% and %s %% of the way up here, and at most %s %% of all are longer than the "
                 "longest (95 %% certain)\n",
             number_whole(sum.recorded).text, number_whole(sum.blocks).text, which,
             number_fraction(fmax(50 - apart * sqrt(left), 0), 1).text, number_fraction(fmin(50 + apart * sqrt(left), 100), 1).text,
             number_fraction(fmin(300 / n, 100), 2).text);
}

static void host(const ink_capture *capture, FILE *to) {
  const ink_host_facts *facts = ink_capture_host_facts(capture);
  const ink_host_range *ranges;
  const size_t n = ink_capture_host_ranges(capture, &ranges);
  if (n)
    text_print(to, "host: the capture has %s range%s and marks; 'inkmark report --host' sums them up with the "
                   "kernels in them\n",
               number_whole(n).text, number_plural(n));
  if (facts->lost)
    text_print(to, "    %s event%s of the host did not fit in memory\n", number_whole(facts->lost).text, number_plural(facts->lost));
}

void report_window(const report_view *report, FILE *to) {
  const ink_capture *capture = report->loaded.capture;
  host(capture, to);
  const char *window = ink_capture_fact(capture, "window"), *blocks = ink_capture_fact(capture, "blocks");
  const char *counted = ink_capture_fact(capture, "window_launches");
  if (window && counted)
    text_print(to, "window (%s): %s launches were made in it, the others are left out\n", window, counted);
  else if (window)
    text_print(to, "window (%s): launches outside of it are left out; they were not counted\n", window);
  const char *chosen = ink_capture_fact(capture, "sampled");
  const sampled some = count_blocks(capture, BY_SHAPE);
  if (chosen && strchr(chosen, ' '))
    text_print(to, "blocks (auto): in %.*s launches with more blocks than the buffer has tracks, one block of "
                   "each %s or fewer in a row was recorded, chosen at random; the others are left out; "
                   "launches of kernels without marks are counted too\n", (int)strcspn(chosen, " "), chosen, strchr(chosen, ' ') + 1);
  else if (some.launches)
    text_print(to, "blocks (auto): in %s launch%s with more %s than the buffer has tracks, one block of each %s%s in a row "
                   "was recorded, chosen all over the grid; the others are left out ('record --blocks all' or more "
                   "'--tracks' keep them)\n", number_whole(some.launches).text, some.launches == 1 ? "" : "es",
               records_warps(capture) ? "warps" : "blocks", number_whole(some.most).text,
               some.least == some.most ? "" : " or fewer");
  if (blocks)
    text_print(to, "blocks (%s): the others are left out\n", blocks);
  if (((chosen || some.launches) && all_are_there(capture)) || (blocks && strchr(blocks, ':')))
    sample(capture, to, chosen ? SOME : some.launches ? BY_SHAPE : ALL);
}
