/* SPDX-License-Identifier: MIT */
/* What a report says of sections that no recording thread passed. */
#include "report.h"

#include "text_out.h"

#include <string.h>

enum { NAMES_SHOWN = 20 };

static void section_list(const report_view *report, const ink_section_index *sections, size_t n,
                         FILE *to) {
  const size_t shown = report->settings->all || n <= NAMES_SHOWN ? n : NAMES_SHOWN;
  for (size_t i = 0; i < shown; i++)
    text_print(to, "%s%s", i ? ", " : "", load_section_name(&report->loaded, sections[i]));
  if (shown < n)
    text_print(to, " and %s more (--all)", number_whole(n - shown).text);
  fputc('\n', to);
}

/* Where one thread of a block records, other warps may well have passed them. */
static void other_warps(const report_view *report, FILE *to) {
  const ink_device_info *devices;
  const ink_launch *launches;
  const size_t n = ink_capture_devices(report->loaded.capture, &devices);
  const size_t count = ink_capture_launches(report->loaded.capture, &launches);
  bool several = false;
  for (size_t i = 0; i < n; i++)
    if (devices[i].flags & INK_BUFFER_PER_WARP)
      return;
  for (size_t i = 0; i < count; i++)
    several |= (uint64_t)launches[i].block_dim[0] * launches[i].block_dim[1] * launches[i].block_dim[2] > 32;
  if (several)
    fputs("    one thread of each block records; 'inkmark record -g warp' shows what its other warps do\n", to);
}

/* Kernels of one file share its sections, and so what no recording thread passed of these: the next
 * kernel from `at` on whose list is that of `kernel`; n: none. */
static size_t next_unseen(const report_view *report, uint32_t kernel, size_t at) {
  const ink_kernel_total *totals;
  const ink_section_index *sections, *others;
  const size_t n = ink_table_kernels(report->table, &totals);
  const size_t count = ink_table_unseen(report->table, kernel, &sections);
  for (; at < n; at++)
    if ((!at || totals[at - 1].kernel != totals[at].kernel) &&
        ink_table_unseen(report->table, totals[at].kernel, &others) == count && count &&
        !memcmp(sections, others, count * sizeof *sections))
      return at;
  return n;
}

/* Under a kernel only what is its alone. */
void report_unseen(const report_view *report, const ink_kernel_total *total, FILE *to) {
  const ink_kernel_total *totals;
  const ink_section_index *sections;
  const size_t kernels = ink_table_kernels(report->table, &totals);
  const uint32_t kernel = total->kernel;
  const size_t n = ink_table_unseen(report->table, kernel, &sections);
  if (total > totals && total[-1].kernel == kernel)
    return; /* said of its first part */
  if (!n || next_unseen(report, kernel, next_unseen(report, kernel, 0) + 1) < kernels)
    return;
  text_print(to, total->marks_dropped ? "  not in what was kept: " : "  no recording thread passed: ");
  section_list(report, sections, n, to);
  if (!total->marks_dropped)
    other_warps(report, to);
}

void report_unseen_of_several(const report_view *report, FILE *to) {
  const ink_kernel_total *totals;
  const ink_section_index *sections;
  const ink_kernel *kernels;
  const size_t n = ink_table_kernels(report->table, &totals);
  ink_capture_kernels(report->loaded.capture, &kernels);
  for (size_t i = 0; i < n; i++) {
    const uint32_t kernel = totals[i].kernel;
    if (next_unseen(report, kernel, 0) != i || next_unseen(report, kernel, i + 1) == n)
      continue;
    const size_t count = ink_table_unseen(report->table, kernel, &sections);
    bool dropped = false;
    for (size_t other = i; other < n; other = next_unseen(report, kernel, other + 1))
      dropped |= totals[other].marks_dropped != 0;
    fputs(dropped ? "\nnot in what was kept, of any kernel" : "\nno recording thread passed, in any kernel",
          to);
    if (kernels[kernel].table)
      text_print(to, " of %s", kernels[kernel].table->name);
    fputs(": ", to);
    section_list(report, sections, count, to);
    if (!dropped)
      other_warps(report, to);
  }
}

