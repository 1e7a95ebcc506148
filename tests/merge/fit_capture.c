/* SPDX-License-Identifier: MIT */
/* Makes a capture that fits another profiler's trace: of every Nth of its kernels a launch whose
 * blocks run inside that kernel, in three sections. fit_capture TRACE CAPTURE [--every N] [--shift
 * NS] [--blocks N] [--host NAME] [--no-clock] [--process PID]
 * --process takes the kernels of that one only, and is the capture's; --shift moves the capture's
 * host clock; --no-clock leaves it out. */
#include "made_capture.h"

#include "inkmark/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SM_COUNT = 8, NAMES_MAX = 150 };
#define GLOBAL_START INT64_C(1000000000)
#define UNKNOWN_BASE INT64_C(1700000000000000000)

typedef struct fit {
  unsigned long every, blocks;
  long long shift;
  const char *host, *process;
  bool no_clock;
  const ink_foreign_kernel *kernels;
  size_t count;
  char *names[NAMES_MAX];
  size_t name_count;
  int64_t first_ns;
  ink_writer *writer;
  ink_error error;
} fit;

static void check(const fit *f, ink_status status) {
  if (status == INK_OK)
    return;
  fprintf(stderr, "fit_capture: %s\n", f->error.message);
  exit(1);
}

/* The plain name of a kernel: of "void a::step<int>(int*)" it is "step". */
static void base_name(const char *text, char *out, size_t size) {
  const char *end = text + strcspn(text, "<("), *start = end;
  while (start > text && (start[-1] == '_' || (start[-1] >= '0' && start[-1] <= '9') ||
                          ((start[-1] | 32) >= 'a' && (start[-1] | 32) <= 'z')))
    start--;
  snprintf(out, size, "%.*s", (int)(end - start < 90 ? end - start : 90), start);
  if (!*out)
    snprintf(out, size, "odd");
}

static uint32_t section_of(fit *f, const char *text) {
  char name[100];
  size_t i = 0;
  base_name(text, name, sizeof name);
  while (i < f->name_count && strcmp(f->names[i], name))
    i++;
  if (i == NAMES_MAX)
    return MADE_SECTIONS + 1; /* too many names: these get the first one's */
  if (i == f->name_count)
    f->names[f->name_count++] = strdup(name);
  return (uint32_t)i + MADE_SECTIONS + 1;
}

/* Blocks begin one after the other and end together, a tenth of the kernel's time inside it. */
static void put_launch(fit *f, size_t index, uint32_t slot, uint64_t *ticket) {
  const ink_foreign_kernel *k = &f->kernels[index];
  int64_t length = k->end_ns - k->begin_ns, begin = GLOBAL_START + (k->begin_ns - f->first_ns);
  uint64_t grid = k->type->grid_dim[0] ? k->type->grid_dim[0] : 1;
  uint64_t blocks = grid < f->blocks ? grid : f->blocks;
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t sm = (b * 3 + (uint32_t)index) % SM_COUNT;
    ink_track t = {.kernel = slot,
                   .ticket = (*ticket)++,
                   .grid_id = k->grid_id ? k->grid_id : 1000 + index,
                   .block_index = {b, 0, 0},
                   .sm_open = sm,
                   .sm_close = sm};
    for (int c = 0; c < 3; c++) {
      t.grid_dim[c] = k->type->grid_dim[c] ? k->type->grid_dim[c] : 1;
      t.block_dim[c] = k->type->block_dim[c] ? k->type->block_dim[c] : 1;
    }
    int64_t open = begin + length / 10 + (int64_t)b * length / 100 / (int64_t)blocks;
    int64_t close = begin + length - length / 10;
    check(f, made_track(f->writer, k->type->device, &t, open, close, 1, &f->error));
  }
}

static void read_options(fit *f, int argc, char **argv) {
  for (int i = 3; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--no-clock")) {
      f->no_clock = true;
      continue;
    }
    if (!strcmp(argv[i], "--every"))
      f->every = strtoul(value, NULL, 10);
    else if (!strcmp(argv[i], "--shift"))
      f->shift = strtoll(value, NULL, 10);
    else if (!strcmp(argv[i], "--blocks"))
      f->blocks = strtoul(value, NULL, 10);
    else if (!strcmp(argv[i], "--process"))
      f->process = value;
    else if (!strcmp(argv[i], "--host"))
      f->host = value;
    i++;
  }
  if (!f->every || !f->blocks)
    exit(2);
}

int main(int argc, char **argv) {
  fit f = {.every = 1, .blocks = 4, .host = "made-up"};
  ink_foreign *foreign;
  uint64_t ticket = 0;
  bool devices[MADE_DEVICES] = {false};
  if (argc < 3)
    return 2;
  read_options(&f, argc, argv);
  check(&f, ink_foreign_open(argv[1], &foreign, &f.error));
  f.count = ink_foreign_kernels(foreign, &f.kernels);
  const ink_foreign_facts *facts = ink_foreign_get_facts(foreign);
  f.first_ns = f.kernels[0].begin_ns;
  uint32_t *slots = calloc(f.count, sizeof *slots);
  for (size_t i = 0; i < f.count; i++) {
    f.first_ns = f.kernels[i].begin_ns < f.first_ns ? f.kernels[i].begin_ns : f.first_ns;
    slots[i] =
        section_of(&f, ink_foreign_name(foreign, f.kernels[i].type->name)) - MADE_SECTIONS - 1;
    if (f.kernels[i].type->device >= 0 && f.kernels[i].type->device < MADE_DEVICES)
      devices[f.kernels[i].type->device] = true;
  }
  check(&f, ink_writer_open(argv[2], true, &f.writer, &f.error));
  check(&f, ink_writer_fact(f.writer, "host", f.host, &f.error));
  check(&f, ink_writer_fact(f.writer, "pid", f.process ? f.process : "77", &f.error));
  check(&f, ink_writer_fact(f.writer, "started_ns", "123", &f.error));
  check(&f, made_table(f.writer, "Fit", "fit.cu", f.names, f.name_count, &f.error));
  const made_clock clock = {.unix_ns = (facts->base_known ? f.first_ns : UNKNOWN_BASE) + f.shift,
                            .global_ns = GLOBAL_START,
                            .span_ns = f.no_clock ? 0 : INT64_C(10000000000)};
  for (int32_t d = 0; d < MADE_DEVICES; d++)
    if (devices[d])
      check(&f, made_device(f.writer, d, SM_COUNT, f.name_count, &clock, &f.error));
  for (size_t i = 0; i < f.count; i += f.every)
    if (f.kernels[i].type->device >= 0 && f.kernels[i].type->device < MADE_DEVICES &&
        (!f.process || f.kernels[i].type->process == strtoll(f.process, NULL, 10)))
      put_launch(&f, i, slots[i], &ticket);
  check(&f, ink_writer_close(f.writer, &f.error));
  for (size_t i = 0; i < f.name_count; i++)
    free(f.names[i]);
  free(slots);
  ink_foreign_free(foreign);
  return 0;
}
