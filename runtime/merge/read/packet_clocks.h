/* SPDX-License-Identifier: MIT */
/* The clocks of a Perfetto trace: which moment of the trace's own clock a time is of, as its trace processor has
 * it: by the last snapshot before it that has both, over other clocks where none has.
 * https://perfetto.dev/docs/concepts/clock-sync */
#ifndef INK_PACKET_CLOCKS_H
#define INK_PACKET_CLOCKS_H

#include "id_map.h"
#include "pb_scan.h"

#include "inkmark/status.h"

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };

typedef struct clock_point {
  int64_t ours, traces; /* what it showed, and the trace's clock then */
} clock_point;

typedef struct packet_clock {
  clock_point *points; /* [count], rising */
  size_t count, room;
  uint64_t unit_ns, last_ns;
  bool incremental;
} packet_clock;

typedef struct packet_clocks {
  id_map index; /* clock, or sequence and clock */
  packet_clock *list;
  size_t count, room;
  unsigned trace_clock; /* 0: no snapshot yet */
  bool unix_known;
  int64_t unix_ns; /* what the trace's clock lacks to Unix time, by the first snapshot that tells */
} packet_clocks;

void packet_clocks_free(packet_clocks *c); /* it may be used again, as at the beginning */
ink_status packet_clocks_snapshot(packet_clocks *c, uint32_t sequence, pb_message snapshot);
/* A time of a packet; incremental clocks move on. False: that clock is not known, or the time absurd. */
bool packet_clocks_ns(packet_clocks *c, uint32_t sequence, unsigned clock, uint64_t time, int64_t *out);

#endif
