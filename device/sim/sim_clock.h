/* SPDX-License-Identifier: MIT */
/* The clock of one SM: a cycle counter on the device's line of time, exact in integers.
 * Time is kept in femtoseconds (a 64-bit count lasts five hours of device time); cycle n of a
 * piece with rate R that began at cycle c and time t is at t + floor((n - c) * 10^15 / R). */
#ifndef INKMARK_SIM_CLOCK_H
#define INKMARK_SIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

#define SIM_FS_PER_NS UINT64_C(1000000)
#define SIM_LAST_FS (UINT64_MAX / 2) /* time stands still here: 2.5 hours of device time */

typedef struct sim_rate_change {
  uint64_t at_fs, rate_hz;
} sim_rate_change;

typedef struct sim_clock {
  uint64_t cycle, time_fs; /* of the next issue; cycle counts from the device's opening */
  uint64_t start_cycles;   /* what clock64 showed at device time 0 */
  uint64_t rate_hz;
  uint64_t whole_fs, rest, rest_sum; /* a cycle's length: whole_fs + rest / rate_hz */
  uint64_t next_change_fs;
  sim_rate_change *changes;
  size_t change_count, change_next;
} sim_clock;

/* Reads INKMARK_SIM_RATES for one SM; false when it does not parse. */
bool sim_clock_open(sim_clock *clock, const sim_config *config, int device, int sm);
void sim_clock_close(sim_clock *clock);
/* One cycle on, or to a later cycle, or to the first cycle at or after a time. */
void sim_clock_tick(sim_clock *clock);
void sim_clock_to_cycle(sim_clock *clock, uint64_t cycle);
void sim_clock_to_time(sim_clock *clock, uint64_t time_fs);
/* Cycle of the first edge at or after a time, without moving. */
uint64_t sim_clock_cycle_at(const sim_clock *clock, uint64_t time_fs);
uint64_t sim_clock_value(const sim_clock *clock);
uint64_t sim_globaltimer(const sim_config *config, uint64_t time_fs);
/* A draw from 0 to 2^64-1 that depends on nothing but its arguments. */
uint64_t sim_draw(uint64_t seed, uint64_t stream, uint64_t index);
bool sim_rates_valid(const char *rates);

#endif
