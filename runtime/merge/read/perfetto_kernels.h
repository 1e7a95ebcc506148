/* SPDX-License-Identifier: MIT */
/* The kernels of a Perfetto trace, from begins and ends on its tracks. */
#ifndef INK_PERFETTO_KERNELS_H
#define INK_PERFETTO_KERNELS_H

#include "foreign_private.h"
#include "packet_state.h"

typedef struct packet_kernel {
  ink_foreign_type type;
  int64_t begin_ns, end_ns; /* the end: of one whose event tells it */
  int64_t correlation;
  uint32_t track; /* UINT32_MAX: it is on none */
  bool has_device, has_stream;
} packet_kernel;

typedef struct packet_point { /* a begin or an end on a track that has kernels */
  int64_t ns;
  uint32_t track, kernel, order; /* kernel UINT32_MAX: of another slice */
  bool end;
} packet_point;

typedef struct packet_kernels {
  packet_kernel *list;
  packet_point *points;
  size_t count, room, point_count, point_room;
} packet_kernels;

void packet_kernels_free(packet_kernels *k);
/* Where `timed`, with a begin and an end, else one whose points are added. */
ink_status packet_kernels_add(packet_kernels *k, const packet_kernel *kernel);
ink_status packet_kernels_point(packet_kernels *k, uint32_t track, int64_t ns, bool end, uint32_t kernel);

/* What an argument says of a kernel; text NULL: it is a number. */
void packet_kernel_argument(packet_kernel *kernel, const char *name, int64_t number, const char *text);
/* Pairs begins with ends, names devices and streams by their tracks where no argument has, and adds all to
 * `foreign`; base_ns goes onto their times. */
ink_status packet_kernels_put(packet_kernels *k, const packet_state *state, int64_t base_ns, ink_foreign *foreign);

#endif
