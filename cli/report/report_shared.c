/* SPDX-License-Identifier: MIT */
/* What speaks for it that a table's kernel is several functions, which name the same section in
 * PROF_KERNEL: the functions' names, where activity was recorded, else blocks of different sizes.
 */
#include "report.h"
#include "text_out.h"

#include "inkmark/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 4, KINDS_MAX = 64 };

typedef struct shared_kind { /* launches of one function, or with blocks of one size */
  uint32_t name;             /* of the activity */
  uint32_t block_dim[3];
  uint64_t launches;
} shared_kind;

typedef struct shared_kinds {
  shared_kind kinds[KINDS_MAX];
  size_t count;
} shared_kinds;

static void add(shared_kinds *all, const shared_kind *kind) {
  for (size_t i = 0; i < all->count; i++)
    if (all->kinds[i].name == kind->name &&
        !memcmp(all->kinds[i].block_dim, kind->block_dim, sizeof kind->block_dim)) {
      all->kinds[i].launches++;
      return;
    }
  if (all->count < KINDS_MAX)
    all->kinds[all->count++] = *kind;
}

static bool is_of(const report_view *report, const ink_launch *launch, size_t index,
                  uint32_t kernel) {
  return launch->kernel == kernel &&
         (report->settings->launch == UINT64_MAX || report->settings->launch == index);
}

static void functions(const report_view *report, uint32_t kernel, shared_kinds *out) {
  const ink_capture *capture = report->loaded.capture;
  const ink_activity *const *all;
  const ink_launch *launches;
  const size_t n = ink_capture_activities(capture, &all, NULL);
  const size_t count = ink_capture_launches(capture, &launches);
  for (size_t i = 0; i < n; i++) {
    const uint32_t launch =
        all[i]->kind == INK_ACTIVITY_KERNEL ? ink_activity_launch(capture, all[i]) : UINT32_MAX;
    if (launch < count && is_of(report, &launches[launch], launch, kernel))
      add(out, &(shared_kind){.name = all[i]->name, .launches = 1});
  }
}

static void sizes(const report_view *report, uint32_t kernel, shared_kinds *out) {
  const ink_launch *launches;
  const size_t n = ink_capture_launches(report->loaded.capture, &launches);
  for (size_t i = 0; i < n; i++) {
    shared_kind kind = {.launches = 1};
    memcpy(kind.block_dim, launches[i].block_dim, sizeof kind.block_dim);
    if (is_of(report, &launches[i], i, kernel))
      add(out, &kind);
  }
}

static void say_kind(const report_view *report, const shared_kind *kind, FILE *to) {
  char name[200] = "";
  if (!kind->block_dim[0])
    ink_activity_short_name(ink_capture_activity_name(report->loaded.capture, kind->name), name,
                            sizeof name);
  else if (kind->block_dim[1] > 1 || kind->block_dim[2] > 1)
    snprintf(name, sizeof name, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, kind->block_dim[0],
             kind->block_dim[1], kind->block_dim[2]);
  else
    snprintf(name, sizeof name, "%" PRIu32, kind->block_dim[0]);
  text_print(to, "%s (%s launch%s)", name, number_whole(kind->launches).text,
          kind->launches == 1 ? "" : "es");
}

void report_shared(const report_view *report, const ink_kernel_total *total, FILE *to) {
  if (total->instance)
    return; /* one function's */
  shared_kinds named = {.count = 0}, sized = {.count = 0}, *all = &named;
  functions(report, total->kernel, &named);
  if (!named.count) {
    sizes(report, total->kernel, &sized);
    all = &sized;
  }
  if (all->count < 2)
    return;
  fputs(all == &named ? "  functions: " : "  threads of a block: ", to);
  for (size_t i = 0; i < all->count && i < SHOWN; i++) {
    fputs(i ? ", " : "", to);
    say_kind(report, &all->kinds[i], to);
  }
  if (all->count > SHOWN)
    text_print(to, " and %zu%s more", all->count - SHOWN, all->count == KINDS_MAX ? " or" : "");
  fputs(all == &named
            ? "; all name this section in PROF_KERNEL, so that they are one kernel here\n"
            : "; if these are several functions, they name the same section in PROF_KERNEL\n",
        to);
}
