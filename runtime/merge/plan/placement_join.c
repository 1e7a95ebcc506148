/* SPDX-License-Identifier: MIT */
/* Joins a capture's launches with the kernels of another profiler's trace, those of the right
 * process where the trace holds several. */
#include "placement.h"

#include "inkmark/activity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 64 };

/* Launches of every kernel take part in the join, also where few are to be written: what is left
 * out must not shift the order of the rest. */
static ink_status collect_launches(const ink_selection *all, ink_join_launch **out,
                                   ink_error *error) {
  ink_join_launch *launches = calloc(all->launch_count + 1, sizeof *launches);
  if (!launches)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < all->launch_count; i++) {
    const ink_launch *l = &all->launches[i];
    launches[i] = (ink_join_launch){.device = l->device,
                                    .kernel = l->kernel,
                                    .name = ink_selection_kernel(all, i),
                                    .grid_id = l->grid_id,
                                    .begin_ns = all->spans[i].begin_ns,
                                    .end_ns = all->spans[i].end_ns};
    memcpy(launches[i].grid_dim, l->grid_dim, sizeof l->grid_dim);
    memcpy(launches[i].block_dim, l->block_dim, sizeof l->block_dim);
  }
  const ink_activity *const *activities;
  size_t n = ink_capture_activities(all->capture, &activities, NULL);
  for (size_t i = 0; i < n; i++) {
    uint32_t launch = ink_activity_launch(all->capture, activities[i]);
    if (launch != UINT32_MAX)
      launches[launch].correlation = activities[i]->correlation;
  }
  *out = launches;
  return INK_OK;
}

static size_t find_processes(const placement *p, int64_t *processes) {
  size_t n = 0;
  for (size_t i = 0; i < p->kernel_count; i++) {
    size_t k = 0;
    while (k < n && processes[k] != p->kernels[i].type->process)
      k++;
    if (k == n && n < PROCESSES_MAX)
      processes[n++] = p->kernels[i].type->process;
  }
  return n;
}

static void list_processes(const int64_t *processes, size_t n, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < n && i < 8 && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? ", " : "", processes[i]);
  if (n > 8 && used < size)
    snprintf(text + used, size - used, ", ...");
}

static uint64_t joined_by(const ink_join *join) {
  const ink_join_clock *clocks;
  size_t n = ink_join_clocks(join, &clocks);
  uint64_t joined = 0;
  for (size_t i = 0; i < n; i++)
    joined += clocks[i].joined;
  return joined;
}

/* None is the capture's by its pid, which is another in another container: the one that most
 * launches fit, if no other is nearly as good. */
static ink_status try_processes(placement *p, const ink_join_launch *launches, size_t n,
                                const int64_t *processes, size_t count, const char *words,
                                const char *pid, ink_error *error) {
  uint64_t most = 0, second = 0;
  ink_status status = INK_OK;
  for (size_t i = 0; i < count && status == INK_OK; i++) {
    ink_join *join = NULL;
    status = ink_join_make_with(launches, n, p->foreign, processes[i], &join, error);
    if (status != INK_OK)
      break;
    uint64_t joined = joined_by(join);
    if (!p->join || joined > most) {
      ink_join_free(p->join);
      p->join = join;
      p->process = processes[i];
      second = most;
      most = joined;
    } else {
      second = joined > second ? joined : second;
      ink_join_free(join);
    }
  }
  if (status != INK_OK || !most)
    return status;
  if (second * 2 >= most)
    return ink_error_set(error, INK_ERROR_NOT_FOUND,
                         "'%.150s' holds kernels of processes %s, none of them the capture's (%s), "
                         "and more than one fits its launches",
                         p->with, words, pid);
  placement_say(p,
                "'%s' holds kernels of processes %s, none of them the capture's (%s): joined with "
                "those of %" PRId64 ", where the most launches fit",
                p->with, words, pid, p->process);
  return INK_OK;
}

/* Of all launches, not the chosen ones only: the whole run's time is what can be of another one. */
static void measure_gap(placement *p, const ink_selection *all) {
  int64_t from = INT64_MAX, to = INT64_MIN;
  for (size_t i = 0; i < p->kernel_count; i++) {
    const ink_foreign_kernel *k = &p->kernels[i];
    if (p->process && k->type->process != p->process)
      continue;
    from = k->begin_ns < from ? k->begin_ns : from;
    to = k->end_ns > to ? k->end_ns : to;
  }
  if (all->end_ns < from)
    p->gap_ns = ink_ns_between(all->end_ns, from);
  else if (all->begin_ns > to)
    p->gap_ns = ink_ns_between(to, all->begin_ns);
}

ink_status placement_join(placement *p, ink_error *error) {
  int64_t processes[PROCESSES_MAX];
  char words[256] = "";
  ink_selection all = {0};
  ink_join_launch *launches = NULL;
  ink_status status = ink_selection_make(&all, p->selection.capture, p->selection.map, NULL, error);
  if (status == INK_OK)
    status = collect_launches(&all, &launches, error);
  if (status != INK_OK)
    goto cleanup;
  size_t count = find_processes(p, processes);
  const char *pid = ink_capture_fact(p->selection.capture, "pid");
  pid = pid ? pid : "?";
  list_processes(processes, count, words, sizeof words);
  for (size_t i = 0; i < count && count > 1; i++)
    if (processes[i] == strtoll(pid, NULL, 10))
      p->process = processes[i];
  if (count > 1 && !p->process) {
    status = try_processes(p, launches, all.launch_count, processes, count, words, pid, error);
    goto cleanup;
  }
  status = ink_join_make_with(launches, all.launch_count, p->foreign, p->process, &p->join, error);
  if (status == INK_OK && p->process)
    placement_say(p, "'%s' holds kernels of processes %s: those of %s are the capture's", p->with,
                  words, pid);
cleanup:
  if (status == INK_OK)
    measure_gap(p, &all);
  free(launches);
  ink_selection_free(&all);
  return status;
}
