/* SPDX-License-Identifier: MIT */
/* bench_clock [RUNS]: makes captures of GPUs whose true clocks are known (tests/unit/true_clock.h),
 * reads them back through the clock map, and prints how far its ns are from the truth, what bound it
 * stated, and how often that bound held. */
#include "true_clock.h"

static void print(const true_kind *kind, true_score *all, size_t runs) {
  size_t stated = 0, held = 0;
  double *error = calloc(runs + 1, sizeof *error), *bound = calloc(runs + 1, sizeof *bound);
  double *slope = calloc(runs + 1, sizeof *slope), *offset = calloc(runs + 1, sizeof *offset);
  for (size_t i = 0; error && bound && slope && offset && i < runs; i++) {
    if (!isfinite(all[i].bound_ns))
      continue;
    error[stated] = all[i].error_ns;
    bound[stated] = all[i].bound_ns;
    slope[stated] = all[i].slope_ppm;
    offset[stated] = all[i].offset_ns / kind->step_ns;
    held += all[i].within;
    stated++;
  }
  double worst = true_percentile(error, stated, 99);
  printf("%-34s %6.1f %8.1f %8.1f %8.1f %8.1f %6.2f %7.2f%% %9.3f %7.3f %5zu\n", kind->name,
         kind->step_ns, true_percentile(error, stated, 50), worst,
         true_percentile(bound, stated, 50), true_percentile(bound, stated, 99),
         true_percentile(bound, stated, 50) / worst,
         stated ? 100.0 * (double)held / (double)stated : 0, true_percentile(slope, stated, 99),
         true_percentile(offset, stated, 99), stated);
  free(error);
  free(bound);
  free(slope);
  free(offset);
}

int main(int argc, char **argv) {
  size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
  true_score *all = calloc(runs + 1, sizeof *all);
  if (!all)
    return 1;
  printf("%zu seeded runs each; error: the worst of a run's stamps, ns; bound: as stated for the run;\n"
         "bound/error: median bound over the error's 99th percentile; held: runs whose every stamp lay\n"
         "within the bound; slope: p99 over runs of the worst SM's, ppm; offset: p99 over runs of the\n"
         "worst SM's in the middle of its readings, in steps of the timer\n\n",
         runs);
  printf("%-34s %6s %8s %8s %8s %8s %6s %8s %9s %7s %5s\n", "", "step", "err p50", "err p99",
         "bnd p50", "bnd p99", "b/e", "held", "slope", "offset", "runs");
  for (size_t k = 0; k < TRUE_KINDS; k++) {
    for (size_t i = 0; i < runs; i++)
      all[i] = true_run(&true_kinds[k], i + 1);
    print(&true_kinds[k], all, runs);
  }
  free(all);
  return 0;
}
