/* SPDX-License-Identifier: MIT */
/* Draws clocks for the simulated device and computes what follows from them. */
#include "set_clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FS_PER_SECOND UINT64_C(1000000000000000)
#define FS_PER_NS UINT64_C(1000000)

static double draw(set_clock *set) { /* [0, 1) */
  set->random = set->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  const uint64_t z = (set->random ^ set->random >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
  return (double)((z ^ z >> 32) >> 11) * 0x1p-53;
}

static void variable(set_clock *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void variable(set_clock *set, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(set->variables[set->variable_count++], SET_TEXT, format, arguments);
  va_end(arguments);
}

/* A change takes hold at the first cycle that begins at or after its time. */
static void add_rate(set_sm *sm, uint64_t at_ns, uint64_t hz) {
  set_rate next = {.hz = hz};
  if (sm->count) {
    const set_rate *last = &sm->rates[sm->count - 1];
    const unsigned __int128 span = (unsigned __int128)(at_ns * FS_PER_NS - last->fs) * last->hz;
    const uint64_t cycles = (uint64_t)((span + FS_PER_SECOND - 1) / FS_PER_SECOND);
    next.cycle = last->cycle + cycles;
    next.fs = last->fs + (uint64_t)((unsigned __int128)cycles * FS_PER_SECOND / last->hz);
  }
  sm->rates[sm->count++] = next;
}

/* Every SM has a rate of its own about the device's, and each change its own moment on each SM. */
static void draw_rates(set_clock *set, uint64_t *hz, uint64_t *at_ns) {
  char rates[SET_TEXT];
  size_t used = 0;
  double factor[SET_SMS];
  for (int sm = 0; sm < SET_SMS; sm++)
    factor[sm] = 1 + (draw(set) - 0.5) * 2e-4;
  for (int i = 0; i <= set->kind->changes; i++)
    for (int sm = 0; sm < SET_SMS; sm++) {
      const uint64_t own_hz = (uint64_t)llround((double)hz[i] * factor[sm]);
      const uint64_t own_ns = i ? at_ns[i] + (uint64_t)(draw(set) * 20000) : 0;
      add_rate(&set->sms[sm], own_ns, own_hz);
      used += (size_t)snprintf(rates + used, sizeof rates - used, "%s%d@%" PRIu64 "=%" PRIu64,
                               used ? "," : "", sm, own_ns, own_hz);
    }
  variable(set, "INKMARK_SIM_RATES=%s", rates);
}

static void set_rates(set_clock *set) {
  const set_kind *kind = set->kind;
  uint64_t hz[SET_CHANGES + 1], at_ns[SET_CHANGES + 1] = {0};
  for (int i = 0; i <= kind->changes; i++) {
    hz[i] = 1000000000 + (uint64_t)(draw(set) * 1e9);
    const double span = kind->change_to_ns - kind->change_from_ns;
    if (i)
      at_ns[i] = (uint64_t)(kind->change_from_ns +
                            span / kind->changes * (i - 1 + draw(set) * 0.5));
  }
  draw_rates(set, hz, at_ns);
}

static void set_skews(set_clock *set) {
  uint64_t skew = (uint64_t)(draw(set) * 0x1p47);
  if (set->kind->wraps) /* SM 1 wraps after 2 to 20 million cycles, SM 2 after twice that, ... */
    skew = (UINT64_C(1) << 48) - 2000000 - (uint64_t)(draw(set) * 18e6);
  for (uint32_t sm = 0; sm < SET_SMS; sm++)
    set->sms[sm].start_cycles = sm * skew;
  variable(set, "INKMARK_SIM_SKEW_CYCLES=%" PRIu64, skew);
}

void set_clock_make(set_clock *set, const set_kind *kind, uint64_t seed, const char *log) {
  *set = (set_clock){.kind = kind, .seed = seed,
                     .random = seed * UINT64_C(0x9e3779b97f4a7c15) + kind->step_ns};
  set->epoch_ns = UINT64_C(1700000000000000000) + (uint64_t)(draw(set) * 1e9);
  variable(set, "INKMARK_SIM_SMS=%d", SET_SMS);
  variable(set, "INKMARK_SIM_SEED=%" PRIu64, seed);
  variable(set, "INKMARK_SIM_EPOCH_NS=%" PRIu64, set->epoch_ns);
  variable(set, "INKMARK_SIM_TIMER_STEP_NS=%" PRIu32, kind->step_ns);
  if (!kind->drawn) {
    set_skews(set);
    set_rates(set);
    return;
  }
  variable(set, "INKMARK_SIM_CLOCK_HZ=%.0f", 1e9 + floor(draw(set) * 1e9));
  variable(set, "INKMARK_SIM_SKEW_CYCLES=random:%.0f", floor(draw(set) * 0x1p45));
  variable(set, "INKMARK_SIM_DRIFT_PPM=%.1f", 1 + draw(set) * 200);
  variable(set, "INKMARK_SIM_LOG=%s", log);
}

uint64_t set_clock_fs(const set_clock *set, uint32_t sm, uint64_t cycles) {
  const set_sm *at = &set->sms[sm];
  const uint64_t cycle = cycles - at->start_cycles;
  int i = 0;
  while (i + 1 < at->count && at->rates[i + 1].cycle <= cycle)
    i++;
  const set_rate *rate = &at->rates[i];
  return rate->fs +
         (uint64_t)((unsigned __int128)(cycle - rate->cycle) * FS_PER_SECOND / rate->hz);
}

bool set_clock_read_log(set_clock *set, const char *log) {
  FILE *file = fopen(log, "re");
  char line[256];
  unsigned sm;
  uint64_t start, value;
  unsigned long reads = 0, wrong = 0;
  double ns;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "sm 0 %u %" SCNu64 " %" SCNu64, &sm, &start, &value) == 3 && sm < SET_SMS) {
      set->sms[sm] = (set_sm){.start_cycles = start};
      add_rate(&set->sms[sm], 0, value);
    } else if (sscanf(line, "clock64 0 %*u %*u %*u %*u %*u %u %*u %*u %" SCNu64 " %lf", &sm, &value,
                      &ns) == 3 && sm < SET_SMS && set->sms[sm].count) {
      reads++;
      wrong += fabs((double)set_clock_fs(set, sm, value) * 1e-6 - ns) > 0.0011; /* 3 decimals */
    }
  }
  if (file)
    fclose(file);
  if (!reads || wrong)
    fprintf(stderr, "clock_path: %lu of %lu clock reads of the log are not where they should be\n",
            wrong, reads);
  return reads && !wrong;
}
