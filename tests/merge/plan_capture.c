/* SPDX-License-Identifier: MIT */
/* Writes the capture that a plan describes, line by line: what a test wants a device to have done.
 * plan_capture PLAN CAPTURE
 *   fact KEY VALUE
 *   device INDEX UNIX_NS GLOBAL_NS SPAN_NS STEP_NS   host clock pairs at both ends of the span
 *   kernel NAME                                      numbered from 0, the same on every device
 *   begin                                            what describes ends, launches follow
 *   launch DEVICE KERNEL GRID_ID GX GY GZ BX BY BZ BEGIN END    in ns of globaltimer
 * STEP_NS is the step of globaltimer; cycles are exact. */
#include "made_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SM_COUNT = 4, KERNELS = 200, BLOCKS = 2 };

typedef struct device {
  bool some;
  made_clock clock;
  int64_t step_ns;
} device;

typedef struct plan {
  FILE *file;
  const char *path;
  unsigned line;
  ink_writer *writer;
  device devices[MADE_DEVICES];
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

static void put_head(plan *p) {
  check(p, made_table(p->writer, "Plan", "plan.cu", p->kernels, p->kernel_count, &p->error));
  for (int32_t d = 0; d < MADE_DEVICES; d++)
    if (p->devices[d].some)
      check(p,
            made_device(p->writer, d, SM_COUNT, p->kernel_count, &p->devices[d].clock, &p->error));
}

/* The first block begins with the launch, all end with it. */
static void put_launch(plan *p, const char *text) {
  uint64_t grid_id;
  uint32_t kernel, grid[3], block[3];
  int32_t index;
  long long begin, end;
  if (sscanf(text,
             "%" SCNd32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32
             " %" SCNu32 " %" SCNu32 " %lld %lld",
             &index, &kernel, &grid_id, &grid[0], &grid[1], &grid[2], &block[0], &block[1],
             &block[2], &begin, &end) != 11 ||
      index < 0 || index >= MADE_DEVICES || !p->devices[index].some || kernel >= p->kernel_count ||
      end < begin)
    bad(p);
  uint32_t blocks = grid[0] < BLOCKS ? grid[0] : BLOCKS;
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t sm = (b + (uint32_t)p->ticket) % SM_COUNT;
    ink_track t = {.kernel = kernel,
                   .ticket = p->ticket++,
                   .grid_id = grid_id,
                   .block_index = {b, 0, 0},
                   .sm_open = sm,
                   .sm_close = sm};
    memcpy(t.grid_dim, grid, sizeof grid);
    memcpy(t.block_dim, block, sizeof block);
    check(p, made_track(p->writer, index, &t, begin + (end - begin) * b / 10, end,
                        p->devices[index].step_ns, &p->error));
  }
}

static void read_device(plan *p, const char *text) {
  device d = {.some = true};
  int index;
  if (sscanf(text, "%d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &index, &d.clock.unix_ns,
             &d.clock.global_ns, &d.clock.span_ns, &d.step_ns) != 5 ||
      index < 0 || index >= MADE_DEVICES || d.step_ns < 1)
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
