/* SPDX-License-Identifier: MIT */
/* Writes the capture that a plan describes, line by line: what a test wants a device to have done.
 * plan_capture PLAN CAPTURE
 *   fact KEY VALUE
 *   device INDEX UNIX_NS GLOBAL_NS SPAN_NS STEP_NS   host clock pairs at both ends of the span
 *   kernel NAME                                      numbered from 0, the same on every device
 *   begin                                            what describes ends, launches follow
 *   launch DEVICE KERNEL GRID_ID GX GY GZ BX BY BZ BEGIN END    in ns of globaltimer
 * STEP_NS is the step of globaltimer; cycles are exact. */
#include "inkmark/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH UINT64_C(0x5b0000000001)
enum { SM_COUNT = 4, RECORDS = 16, SECTIONS = 3, DEVICES = 8, KERNELS = 200, BLOCKS = 2 };

typedef struct device {
  bool some;
  long long unix_ns, global_ns, span_ns, step_ns;
} device;

typedef struct plan {
  FILE *file;
  const char *path;
  unsigned line;
  ink_writer *writer;
  device devices[DEVICES];
  char *kernels[KERNELS];
  size_t kernel_count;
  uint64_t ticket;
  ink_error error;
} plan;

static void check(const plan *p, ink_status status) {
  if (status == INK_OK)
    return;
  fprintf(stderr, "plan_capture: %s\n", p->error.message);
  exit(1);
}

static void bad(const plan *p) {
  fprintf(stderr, "plan_capture: '%s' line %u is none\n", p->path, p->line);
  exit(2);
}

static void put_device(plan *p, int32_t index, const device *d) {
  const ink_device_info info = {.index = index,
                                .simulated = 1,
                                .sm_count = SM_COUNT,
                                .capability = 90,
                                .track_count = 1024,
                                .records_per_track = RECORDS,
                                .aux_records_per_track = RECORDS,
                                .name = "made up"};
  check(p, ink_writer_device(p->writer, &info, &p->error));
  for (int64_t s = 0; s < 2; s++) {
    int64_t later = s * d->span_ns, at = d->unix_ns + later;
    const ink_host_clock pair = {.device = index,
                                 .global_ns = (uint64_t)(d->global_ns + later),
                                 .realtime_before_ns = at - 100,
                                 .realtime_after_ns = at + 100,
                                 .monotonic_before_ns = 1 + later};
    check(p, ink_writer_host_clock(p->writer, &pair, &p->error));
  }
  for (uint32_t i = 0; i < p->kernel_count; i++) {
    const ink_kernel_counts counts = {
        .device = index, .slot = i, .key = INK_KERNEL_KEY(HASH, i + SECTIONS + 1)};
    check(p, ink_writer_counts(p->writer, &counts, 1, 0, 0, index, &p->error));
  }
}

static void put_head(plan *p) {
  size_t size = 64;
  for (size_t i = 0; i < p->kernel_count; i++)
    size += strlen(p->kernels[i]) + 2;
  char *sections = calloc(size, 1);
  if (!sections)
    exit(1);
  strcpy(sections, "Load, Mma, Store");
  for (size_t i = 0; i < p->kernel_count; i++)
    strcat(strcat(sections, ", "), p->kernels[i]);
  check(p, ink_writer_table(p->writer, "Plan", sections, "plan.cu", 1, HASH, &p->error));
  free(sections);
  for (int32_t d = 0; d < DEVICES; d++)
    if (p->devices[d].some)
      put_device(p, d, &p->devices[d]);
}

static uint64_t clock_of(uint32_t sm, int64_t global_ns) {
  return sm * UINT64_C(1000007) + (uint64_t)global_ns * 3 / 2;
}

/* The first block begins with the launch, all end with it. */
static void put_launch(plan *p, const char *text) {
  uint64_t ring[RECORDS], aux[RECORDS], grid_id;
  uint32_t kernel, grid[3], block[3];
  int32_t index;
  long long begin, end;
  if (sscanf(text,
             "%" SCNd32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32
             " %" SCNu32 " %" SCNu32 " %lld %lld",
             &index, &kernel, &grid_id, &grid[0], &grid[1], &grid[2], &block[0], &block[1],
             &block[2], &begin, &end) != 11 ||
      index < 0 || index >= DEVICES || !p->devices[index].some || kernel >= p->kernel_count ||
      end < begin)
    bad(p);
  uint32_t blocks = grid[0] < BLOCKS ? grid[0] : BLOCKS;
  int64_t step = p->devices[index].step_ns;
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t sm = (b + (uint32_t)p->ticket) % SM_COUNT;
    int64_t open = begin + (end - begin) * b / 10;
    ink_track t = {.state = INK_TRACK_CLOSED,
                   .kernel = kernel,
                   .ticket = p->ticket++,
                   .grid_id = grid_id,
                   .block_index = {b, 0, 0},
                   .sm_open = sm,
                   .sm_close = sm,
                   .open_global_ns = (uint64_t)(open / step * step),
                   .close_global_ns = (uint64_t)(end / step * step)};
    memcpy(t.grid_dim, grid, sizeof grid);
    memcpy(t.block_dim, block, sizeof block);
    t.open_clock0 = t.open_clock1 = clock_of(sm, open);
    t.close_clock0 = t.close_clock1 = clock_of(sm, end);
    for (uint32_t s = 1; s <= SECTIONS; s++)
      ring[t.words++] = INK_HEAD(INK_KIND_MARK, s,
                                 t.open_clock0 + (t.close_clock0 - t.open_clock0) * s / SECTIONS);
    check(p, ink_writer_track(p->writer, index, &t, ring, aux, &p->error));
  }
}

static void read_device(plan *p, const char *text) {
  device d = {.some = true};
  int index;
  if (sscanf(text, "%d %lld %lld %lld %lld", &index, &d.unix_ns, &d.global_ns, &d.span_ns,
             &d.step_ns) != 5 ||
      index < 0 || index >= DEVICES || d.step_ns < 1)
    bad(p);
  p->devices[index] = d;
}

static void read_line(plan *p, char *text) {
  char *end = text + strcspn(text, "\n"), *value;
  *end = 0;
  if (!strncmp(text, "fact ", 5) && (value = strchr(text + 5, ' '))) {
    *value++ = 0;
    check(p, ink_writer_fact(p->writer, text + 5, value, &p->error));
  } else if (!strncmp(text, "device ", 7)) {
    read_device(p, text + 7);
  } else if (!strncmp(text, "kernel ", 7) && p->kernel_count < KERNELS) {
    p->kernels[p->kernel_count++] = strdup(text + 7);
  } else if (!strcmp(text, "begin")) {
    put_head(p);
  } else if (!strncmp(text, "launch ", 7)) {
    put_launch(p, text + 7);
  } else {
    bad(p);
  }
}

int main(int argc, char **argv) {
  static plan p;
  char line[1024];
  if (argc != 3)
    return 2;
  p.path = argv[1];
  p.file = fopen(argv[1], "r");
  if (!p.file)
    return 2;
  check(&p, ink_writer_open(argv[2], true, &p.writer, &p.error));
  while (p.line++, fgets(line, sizeof line, p.file))
    read_line(&p, line);
  check(&p, ink_writer_close(p.writer, &p.error));
  for (size_t i = 0; i < p.kernel_count; i++)
    free(p.kernels[i]);
  return fclose(p.file) != 0;
}
