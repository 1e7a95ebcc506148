/* SPDX-License-Identifier: MIT */
/* Cycle counters: start values, rates, drift, rate changes, all drawn from the seed. */
#include "sim_clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FS_PER_SECOND UINT64_C(1000000000000000)

uint64_t sim_draw(uint64_t seed, uint64_t stream, uint64_t index) {
  /* splitmix64's finaliser over a mix of the three. */
  uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + stream * UINT64_C(0xd1b54a32d192ed03) +
               index * UINT64_C(0x8cb92ba72f3d8dd7) + UINT64_C(0x2545f4914f6cdd1d);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void set_rate(sim_clock *clock, uint64_t rate_hz) {
  clock->rate_hz = rate_hz;
  clock->whole_fs = FS_PER_SECOND / rate_hz;
  clock->rest = FS_PER_SECOND % rate_hz;
  clock->rest_sum = 0;
}

static void apply_changes(sim_clock *clock) {
  while (clock->time_fs >= clock->next_change_fs) {
    set_rate(clock, clock->changes[clock->change_next].rate_hz);
    clock->change_next++;
    clock->next_change_fs = clock->change_next < clock->change_count
                                ? clock->changes[clock->change_next].at_fs
                                : UINT64_MAX;
  }
}

void sim_clock_tick(sim_clock *clock) {
  clock->cycle++;
  clock->time_fs += clock->whole_fs;
  clock->rest_sum += clock->rest;
  if (clock->rest_sum >= clock->rate_hz) {
    clock->rest_sum -= clock->rate_hz;
    clock->time_fs++;
  }
  if (clock->time_fs >= clock->next_change_fs) {
    apply_changes(clock);
  }
}

/* n cycles on at the present rate. */
static void advance(sim_clock *clock, uint64_t cycles) {
  unsigned __int128 rests = (unsigned __int128)clock->rest * cycles + clock->rest_sum;
  unsigned __int128 time = (unsigned __int128)clock->whole_fs * cycles + clock->time_fs +
                           rests / clock->rate_hz;
  clock->cycle += cycles;
  clock->rest_sum = (uint64_t)(rests % clock->rate_hz);
  clock->time_fs = time > SIM_LAST_FS ? SIM_LAST_FS : (uint64_t)time;
}

/* Cycles from now to the first edge at or after a time at the present rate. */
static uint64_t cycles_until(const sim_clock *clock, uint64_t time_fs) {
  unsigned __int128 span, cycles;
  if (time_fs <= clock->time_fs) {
    return 0;
  }
  /* The edge after n cycles lies at time + floor((n * 10^15 + rest_sum) / rate). */
  span = (unsigned __int128)(time_fs - clock->time_fs) * clock->rate_hz;
  span = span > clock->rest_sum ? span - clock->rest_sum : 0;
  cycles = (span + FS_PER_SECOND - 1) / FS_PER_SECOND;
  return cycles > UINT64_MAX / 2 ? UINT64_MAX / 2 : (uint64_t)cycles;
}

void sim_clock_to_cycle(sim_clock *clock, uint64_t cycle) {
  while (clock->cycle < cycle) {
    uint64_t cycles = cycle - clock->cycle;
    if (clock->next_change_fs != UINT64_MAX) {
      uint64_t until = cycles_until(clock, clock->next_change_fs);
      cycles = until < cycles ? until : cycles;
    }
    advance(clock, cycles);
    apply_changes(clock);
  }
}

void sim_clock_to_time(sim_clock *clock, uint64_t time_fs) {
  time_fs = time_fs < SIM_LAST_FS ? time_fs : SIM_LAST_FS;
  while (clock->time_fs < time_fs) {
    uint64_t stop = time_fs < clock->next_change_fs ? time_fs : clock->next_change_fs;
    advance(clock, cycles_until(clock, stop));
    apply_changes(clock);
  }
}

uint64_t sim_clock_cycle_at(const sim_clock *clock, uint64_t time_fs) {
  sim_clock copy = *clock;
  sim_clock_to_time(&copy, time_fs);
  return copy.cycle;
}

uint64_t sim_clock_value(const sim_clock *clock) { return clock->cycle + clock->start_cycles; }

uint64_t sim_globaltimer(const sim_config *config, uint64_t time_fs) {
  uint64_t ns = config->epoch_ns + time_fs / SIM_FS_PER_NS;
  return ns - ns % (config->timer_step_ns != 0 ? config->timer_step_ns : 1);
}

/* "SM@NS=HZ": returns what follows, or NULL when it does not parse. */
static const char *one_change(const char *text, long *sm, sim_rate_change *change) {
  char *end;
  unsigned long long ns, hz;
  if (*text == '*') {
    *sm = -1;
    text++;
  } else {
    *sm = strtol(text, &end, 10);
    if (end == text || *text == '-' || *text == '+') {
      return NULL;
    }
    text = end;
  }
  if (*text++ != '@' || *text < '0' || *text > '9') {
    return NULL;
  }
  ns = strtoull(text, &end, 10);
  if (*end != '=' || end[1] < '0' || end[1] > '9' || ns > SIM_LAST_FS / SIM_FS_PER_NS) {
    return NULL;
  }
  hz = strtoull(end + 1, &end, 10);
  if (hz < 1000000 || hz > 100000000000ull || (*end != ',' && *end != '\0')) {
    return NULL;
  }
  *change = (sim_rate_change){.at_fs = ns * SIM_FS_PER_NS, .rate_hz = hz};
  return *end == ',' ? end + 1 : end;
}

bool sim_rates_valid(const char *rates) {
  long sm;
  sim_rate_change change;
  while (rates != NULL && *rates != '\0') {
    rates = one_change(rates, &sm, &change);
  }
  return rates != NULL;
}

static int by_time(const void *a, const void *b) {
  uint64_t first = ((const sim_rate_change *)a)->at_fs,
           second = ((const sim_rate_change *)b)->at_fs;
  return (first > second) - (first < second);
}

static bool read_changes(sim_clock *clock, const char *rates, int sm) {
  size_t most = 1;
  long named;
  sim_rate_change change;
  for (const char *c = rates; c != NULL && *c != '\0'; c++) {
    most += *c == ',';
  }
  clock->changes = calloc(most, sizeof *clock->changes);
  if (clock->changes == NULL) {
    return false;
  }
  while (rates != NULL && *rates != '\0') {
    rates = one_change(rates, &named, &change);
    if (rates == NULL) {
      return false;
    }
    if (named < 0 || named == sm) {
      clock->changes[clock->change_count++] = change;
    }
  }
  qsort(clock->changes, clock->change_count, sizeof *clock->changes, by_time);
  return true;
}

bool sim_clock_open(sim_clock *clock, const sim_config *config, int device, int sm) {
  uint64_t stream = (uint64_t)(unsigned)device << 32 | (uint64_t)(unsigned)sm;
  double unit = (double)(sim_draw(config->seed, 1, stream) >> 11) * 0x1p-53; /* [0, 1) */
  double rate = (double)config->clock_hz * (1 + config->drift_ppm * 1e-6 * (2 * unit - 1));
  *clock = (sim_clock){0};
  set_rate(clock, config->drift_ppm != 0 ? (uint64_t)llround(rate) : config->clock_hz);
  clock->start_cycles = (uint64_t)(unsigned)sm * config->skew_cycles;
  if (config->skew_random && config->skew_cycles != 0) {
    clock->start_cycles += sim_draw(config->seed, 2, stream) % config->skew_cycles;
  }
  clock->next_change_fs = UINT64_MAX;
  if (!read_changes(clock, config->rates, sm)) {
    sim_clock_close(clock);
    return false;
  }
  if (clock->change_count != 0) {
    clock->next_change_fs = clock->changes[0].at_fs;
    apply_changes(clock);
  }
  return true;
}

void sim_clock_close(sim_clock *clock) {
  free(clock->changes);
  clock->changes = NULL;
}
