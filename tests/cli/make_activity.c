/* SPDX-License-Identifier: MIT */
/* The capture with activity that the golden tests read: two streams whose kernels overlap, a graph, a
 * copy to another device, driver calls, losses. One kernel is the launch of a track. */
#include "make_activity.h"

#include "inkmark/activity.h"

#include <stdio.h>
#include <stdlib.h>

static void check(ink_status status, const ink_error *error) {
  if (!status)
    return;
  fprintf(stderr, "make_captures: %s\n", error->message);
  exit(1);
}

static void facts(ink_writer *writer) {
  static const char *const list[][2] = {{"command", "./train --steps 2"},
                                        {"host", "testhost"},
                                        {"pid", "4711"},
                                        {"started_ns", "1700000000000000000"},
                                        {"version", "test"},
                                        {"activity", "recorded"},
                                        {"activity_cupti", "130001 /usr/lib/libcupti.so.13"},
                                        {"activity_missing", "sets"},
                                        {"activity_dropped", "12"},
                                        {"activity_own", "40"}};
  ink_error error = {0};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    check(ink_writer_fact(writer, list[i][0], list[i][1], &error), &error);
}

static void one_track(ink_writer *writer) {
  ink_error error = {0};
  const ink_track track = {.state = INK_TRACK_CLOSED,
                           .ticket = 1,
                           .grid_id = 77,
                           .grid_dim = {528, 1, 1},
                           .block_dim = {256, 1, 1},
                           .open_clock0 = 1000,
                           .open_global_ns = 5002000,
                           .open_clock1 = 1010,
                           .close_clock0 = 9000,
                           .close_global_ns = 5010000,
                           .close_clock1 = 9010};
  check(ink_writer_device(writer,
                          &(ink_device_info){.sm_count = 132,
                                             .capability = 90,
                                             .track_count = 64,
                                             .records_per_track = 64,
                                             .aux_records_per_track = 64,
                                             .flags = INK_BUFFER_ON,
                                             .name = "Test GPU"},
                          &error),
        &error);
  check(ink_writer_host_clock(writer,
                              &(ink_host_clock){.global_ns = 5000000,
                                                .realtime_before_ns = 1700000000005000000 - 50,
                                                .realtime_after_ns = 1700000000005000000 + 50},
                              &error),
        &error);
  check(ink_writer_track(writer, 0, &track, NULL, NULL, &error), &error);
}

void make_activity(const char *path) {
  enum { GEMM = 1, ADD, LAUNCH, COPY, WAIT, GRAPH, DRIVER };
  static const char *const names[] = {"_ZN4gemm3runIfLi128EEEvPKT_S3_PS1_i",
                                      "triton_poi_fused_add_0",
                                      "cudaLaunchKernel",
                                      "cudaMemcpyAsync",
                                      "cudaDeviceSynchronize",
                                      "cudaGraphLaunch",
                                      "cuLaunchKernelEx"};
  static const ink_activity items[] = {
      {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 5000000, .end_ns = 5001500,
       .correlation = 1, .name = COPY, .context = 4711, .stream = 4711, .peer = -1},
      {.kind = INK_ACTIVITY_COPY, .begin_ns = 5001800, .end_ns = 5009800, .correlation = 1,
       .context = 1, .stream = 7, .bytes = 200000, .copy = INK_COPY_HTOD, .peer = -1},
      {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 5001600, .end_ns = 5005600,
       .correlation = 2, .name = LAUNCH, .context = 4711, .stream = 4711, .peer = -1},
      {.kind = INK_ACTIVITY_DRIVER_CALL, .device = -1, .begin_ns = 5002600, .end_ns = 5005000,
       .correlation = 2, .name = DRIVER, .context = 4711, .stream = 4711, .peer = -1},
      {.kind = INK_ACTIVITY_KERNEL, .begin_ns = 5001900, .end_ns = 5010100, .correlation = 2,
       .name = GEMM, .context = 1, .stream = 13, .grid_id = 77, .grid_dim = {528, 1, 1},
       .block_dim = {256, 1, 1}, .registers = 168, .static_shared_bytes = 49152,
       .sm_shared_bytes = 233472, .peer = -1},
      {.kind = INK_ACTIVITY_KERNEL, .begin_ns = 5006000, .end_ns = 5008000, .correlation = 3,
       .name = ADD, .context = 1, .stream = 7, .grid_id = 78, .grid_dim = {64, 2, 1},
       .block_dim = {128, 1, 1}, .registers = 24, .peer = -1},
      {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 5011000, .end_ns = 5012000,
       .correlation = 4, .name = GRAPH, .context = 4711, .stream = 4712, .peer = -1},
      {.kind = INK_ACTIVITY_KERNEL, .begin_ns = 5013000, .end_ns = 5014000, .correlation = 4,
       .name = ADD, .context = 1, .stream = 7, .grid_id = 80, .grid_dim = {64, 2, 1},
       .block_dim = {128, 1, 1}, .registers = 24, .graph = 3, .graph_node = 9, .peer = -1},
      {.kind = INK_ACTIVITY_COPY, .begin_ns = 5014000, .end_ns = 5016000, .correlation = 4,
       .context = 1, .stream = 7, .bytes = 4096, .copy = INK_COPY_PTOP, .graph = 3,
       .graph_node = 10, .peer = 1},
      {.kind = INK_ACTIVITY_RUNTIME_CALL, .device = -1, .begin_ns = 5012500, .end_ns = 5016500,
       .correlation = 5, .name = WAIT, .context = 4711, .stream = 4711, .result = 719, .peer = -1}};
  ink_error error = {0};
  ink_writer *writer;
  check(ink_writer_open(path, true, &writer, &error), &error);
  facts(writer);
  one_track(writer);
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    check(ink_writer_activity_name(writer, i + 1, names[i], &error), &error);
  check(ink_writer_activity_device(writer,
                                   &(ink_activity_device){.capability = 90,
                                                          .sm_count = 132,
                                                          .warps_per_sm = 64,
                                                          .blocks_per_sm = 32,
                                                          .registers_per_sm = 65536,
                                                          .shared_per_sm_bytes = 233472,
                                                          .registers_per_block = 65536,
                                                          .shared_per_block_bytes = 49152,
                                                          .threads_per_block = 1024,
                                                          .threads_per_warp = 32},
                                   &error),
        &error);
  check(ink_writer_activity_reading(
            writer,
            &(ink_activity_reading){5000000, 1700000000005000000 - 30, 1700000000005000000 + 30},
            &error),
        &error);
  check(ink_writer_activities(writer, items, sizeof items / sizeof *items, &error), &error);
  check(ink_writer_close(writer, &error), &error);
}
