/* SPDX-License-Identifier: MIT */
/* Reads the activity in a capture: the kernels, copies, sets and launching calls that CUPTI reported about the
 * recorded process (`inkmark record --activity`). docs/activity.md says what is recorded and how. docs/format.md has
 * the bytes. Nothing here needs CUDA.
 *
 * Experimental: it may change with any version.
 *
 * Threads: as in capture.h.
 * Lifetime: returned arrays and texts belong to the capture and are valid until ink_capture_free, unless a function
 * says otherwise.
 *
 * @code{.c}
 * #include <inkmark/activity.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_clock_map *map;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error) || ink_clock_map_make(capture, &map, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_activity *const *activities; // they belong to the capture
 *   const size_t count = ink_capture_activities(capture, &activities, NULL);
 *   for (size_t i = 0; i < count; i++)
 *     if (activities[i]->kind == INK_ACTIVITY_KERNEL)
 *       printf("%s: %.0f ns\n", ink_capture_activity_name(capture, activities[i]->name),
 *              (double)(activities[i]->end_ns - activities[i]->begin_ns));
 *   ink_clock_map_free(map);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_ACTIVITY_H
#define INKMARK_ACTIVITY_H

#include "inkmark/decode.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ink_activity_kind {
  INK_ACTIVITY_KERNEL = 1,
  INK_ACTIVITY_COPY = 2,
  INK_ACTIVITY_SET = 3,
  INK_ACTIVITY_RUNTIME_CALL = 4, /* "cudaLaunchKernel" */
  INK_ACTIVITY_DRIVER_CALL = 5   /* "cuLaunchKernel" */
};

enum ink_activity_copy { /* CUPTI's numbers; a is an array (texture memory) */
                         INK_COPY_HTOD = 1,
                         INK_COPY_DTOH = 2,
                         INK_COPY_HTOA = 3,
                         INK_COPY_ATOH = 4,
                         INK_COPY_ATOA = 5,
                         INK_COPY_ATOD = 6,
                         INK_COPY_DTOA = 7,
                         INK_COPY_DTOD = 8,
                         INK_COPY_HTOH = 9,
                         INK_COPY_PTOP = 10
};

/* One activity, as it is stored: 128 bytes, every byte named. Fields that a kind does not use are
 * 0. */
typedef struct ink_activity {
  uint32_t kind;             /* enum ink_activity_kind */
  int32_t device;            /* as CUDA counts in the recorded process; -1 for calls */
  uint64_t begin_ns, end_ns; /* CUPTI's clock (ink_activity_unix_ns); both 0: it had no times */
  uint32_t correlation;      /* of a call and of what it launched; 0: none */
  uint32_t name;             /* for ink_capture_activity_name; 0: none */
  uint32_t context, stream;  /* calls: the process and the thread */
  uint64_t grid_id;          /* kernels: CUPTI's gridId, the kernel's own %gridid */
  uint64_t bytes;            /* copies and sets */
  uint32_t grid_dim[3], block_dim[3];
  uint32_t registers; /* of a thread */
  uint32_t static_shared_bytes, dynamic_shared_bytes;
  uint32_t sm_shared_bytes; /* the shared memory of an SM that the driver set up for the kernel */
  uint32_t local_bytes;     /* of a thread */
  uint32_t graph;           /* what it was launched by; 0: no graph */
  uint64_t graph_node;
  int32_t result;    /* calls: what they returned; sets: the value */
  int16_t peer;      /* copies between devices: the other device, else -1 */
  uint8_t copy;      /* enum ink_activity_copy */
  uint8_t launch;    /* kernels, CUPTI: 0 plain, 1 cooperative, 2 over devices, 3 CBL */
  uint64_t reserved; /* 0 */
} ink_activity;
INK_STATIC_ASSERT(sizeof(ink_activity) == 128, "ink_activity is part of the file format");

/* One reading of CUPTI's clock between two of the host's: before <= ns <= after. */
typedef struct ink_activity_reading {
  uint64_t ns;
  int64_t realtime_before_ns, realtime_after_ns; /* CLOCK_REALTIME */
} ink_activity_reading;
INK_STATIC_ASSERT(sizeof(ink_activity_reading) == 24, "part of the file format");

/* What an SM of a device holds, as CUPTI says: for occupancy. */
typedef struct ink_activity_device {
  int32_t index;
  uint32_t capability; /* major * 10 + minor */
  uint32_t sm_count, warps_per_sm, blocks_per_sm, registers_per_sm, shared_per_sm_bytes;
  uint32_t registers_per_block, shared_per_block_bytes, threads_per_block, threads_per_warp;
  uint32_t reserved;
} ink_activity_device;
INK_STATIC_ASSERT(sizeof(ink_activity_device) == 48, "part of the file format");

/* ---- writing: after ink_writer_open, one thread at a time ---- */

/* Names come before what bears them; an id that comes again replaces the name. Ids count from 1.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_activity_name(ink_writer *writer, uint32_t id, const char *name,
                                            ink_error *error);
/* Activities, n of them, in any order.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_activities(ink_writer *writer, const ink_activity *items, size_t n,
                                         ink_error *error);
/* A reading of CUPTI's clock between two of the host's.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_activity_reading(ink_writer *writer,
                                               const ink_activity_reading *reading,
                                               ink_error *error);
/* What an SM of a device holds.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_activity_device(ink_writer *writer, const ink_activity_device *device,
                                              ink_error *error);
/* Correlations of what inkmark itself did in the process: left out by ink_capture_activities.
 * Returns: INK_OK, or an error.
 * Errors: those of ink_writer_fact. */
INK_API ink_status ink_writer_activity_own(ink_writer *writer, const uint32_t *correlations,
                                           size_t n, ink_error *error);

/* ---- reading ---- */

/* Activities by begin, in CUPTI's clock. What inkmark itself did is not among them and counted in *own, which may be
 * NULL.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_activities(const ink_capture *capture, const ink_activity *const **out,
                                      uint64_t *own);
/* The launch of ours that a kernel is, by device and grid id. If a grid id came twice on a device (ink_launch), the
 * first.
 * Returns: an index into ink_capture_launches; UINT32_MAX: none. */
INK_API uint32_t ink_activity_launch(const ink_capture *capture, const ink_activity *kernel);
/* Of each launch {graph, node, replay}: the graph's id in the process (0: it was launched by no graph, or activity
 * did not see it), and both counted from 0, nodes as they began for the first time. *out is [launches]; the caller
 * frees it with free().
 * Returns: INK_OK, or an error; then *out is as it was.
 * Errors: INK_ERROR_MEMORY. */
INK_API ink_status ink_capture_graph_places(const ink_capture *capture, uint32_t (**out)[3], ink_error *error);
/* A name by its id.
 * Returns: the name; "" for an id that the capture does not have. */
INK_API const char *ink_capture_activity_name(const ink_capture *capture,
                                              uint32_t name);
/* The devices, as CUPTI describes them.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_activity_devices(const ink_capture *capture,
                                            const ink_activity_device **out);
/* The readings of CUPTI's clock.
 * Returns: how many there are; *out is their array. */
INK_API size_t ink_capture_activity_readings(const ink_capture *capture,
                                             const ink_activity_reading **out);

/* From CUPTI's clock to Unix time: the tightest reading of each end, and a line between them. On
 * the simulated device, whose time does not follow the host's, CUPTI's clock is globaltimer, and
 * each device's own offset to the host is used, so that tracks stay inside of their kernels. */
typedef struct ink_activity_clock {
  bool known; /* false: ns are CUPTI's own */
  bool simulated;
  uint64_t reference_ns;
  int64_t offset_ns; /* at the reference: Unix ns = ns + offset + drift * (ns - reference) */
  double drift;
  int64_t bound_ns;         /* half the wider of the round trips */
  const ink_clock_map *map; /* simulated: whose offsets are used; borrowed */
} ink_activity_clock;

/* How times of activities become Unix time. `map` may be NULL, and else outlives what is returned.
 * Returns: the clock; `known` is false if the capture has no readings. */
INK_API ink_activity_clock ink_activity_clock_make(const ink_capture *capture,
                                                   const ink_clock_map *map);
/* A time of CUPTI's clock on a device as Unix time.
 * Returns: Unix ns; if the clock is not `known`, `ns`. */
INK_API int64_t ink_activity_unix_ns(const ink_activity_clock *clock, int32_t device, uint64_t ns);

/* "host to device", "peer to peer", ...: the words of enum ink_activity_copy.
 * Returns: a text in static storage; never NULL. */
INK_API const char *ink_activity_copy_words(unsigned copy);

/* The readable part of a kernel's mangled C++ name: "gemm::run<float>" for "_ZN4gemm3runIfEEvPf", with "<...>" for
 * template arguments that are more than plain types, pointers to them and numbers. What it does not understand it
 * copies. Cut off at `bytes`, zero included. */
INK_API void ink_activity_short_name(const char *name, char *out, size_t bytes);

/* How many warps of the kernel an SM can hold at once, and what sets the limit. */
enum ink_occupancy_limit {
  INK_LIMIT_UNKNOWN, /* the device's sizes are not known */
  INK_LIMIT_WARPS,
  INK_LIMIT_BLOCKS,
  INK_LIMIT_REGISTERS,
  INK_LIMIT_SHARED
};
typedef struct ink_occupancy {
  enum ink_occupancy_limit limit;
  uint32_t blocks_per_sm, warps_per_sm; /* of this kernel, together */
  double share;                         /* of the warps an SM can hold: theoretical occupancy */
  double waves; /* how often the launch fills the device; below 1: not once */
} ink_occupancy;
/* By the rules of the CUDA occupancy calculator (cuda_occupancy.h of the toolkit): registers are given to warps in
 * units of 256, warps to the four parts of an SM, shared memory in units of 128 bytes (256 before 8.0) with 1 KiB a
 * block for the system from 8.0 on. Clusters are not considered.
 * Returns: what the device holds; `limit` is INK_LIMIT_UNKNOWN if its sizes are not known. */
INK_API ink_occupancy ink_activity_occupancy(const ink_activity *kernel,
                                             const ink_activity_device *device);

#ifdef __cplusplus
}
#endif
#endif
