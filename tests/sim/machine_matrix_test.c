/* SPDX-License-Identifier: MIT */
/* Products of matrices against three loops. argv[1] is the PTX of machine_matrix.cu. Values are small integers, so that
 * every type holds them and every order of the sum gives the same; then fractions, within what a type rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

static machine m;

typedef struct product {
  const char *kernel;
  int m, n, k;
  int least, most;      /* of the factors' values */
  double digits;        /* relative error of the factors' type, 0: integers only */
  double result_digits; /* of the result's type */
  double c;             /* D = A B + c C */
} product;

static const product products[] = {
    {"mma_f16_k16", 16, 8, 16, -8, 8, 0x1p-11, 0x1p-24, 1},
    {"mma_f16_k8", 16, 8, 8, -8, 8, 0x1p-11, 0x1p-24, 1},
    {"mma_f16_k16_f16", 16, 8, 16, -4, 4, 0x1p-11, 0x1p-11, 1},
    {"mma_bf16_k16", 16, 8, 16, -8, 8, 0x1p-8, 0x1p-24, 1},
    {"mma_bf16_k8", 16, 8, 8, -8, 8, 0x1p-8, 0x1p-24, 1},
    {"mma_tf32_k8", 16, 8, 8, -100, 100, 0x1p-10, 0x1p-24, 1}, /* its lower bits are cut off */
    {"mma_tf32_k4", 16, 8, 4, -100, 100, 0x1p-10, 0x1p-24, 1},
    {"mma_s8_k32", 16, 8, 32, -128, 127, 0, 0, 1},
    {"mma_s8_k16", 16, 8, 16, -128, 127, 0, 0, 1},
    {"mma_u8_k32", 16, 8, 32, 0, 127, 0, 0, 1},
    {"mma_u8_k16", 16, 8, 16, 0, 127, 0, 0, 1},
    {"mma_s8_m8", 8, 8, 16, -128, 127, 0, 0, 1},
    {"mma_f64_m8", 8, 8, 4, -1000, 1000, 0x1p-53, 0x1p-53, 1},
    {"by_ldmatrix", 16, 8, 16, -4, 4, 0x1p-11, 0x1p-11, 1},
    {"wmma_f16", 16, 16, 16, -8, 8, 0x1p-11, 0x1p-24, 2},
    {"wmma_f16_tall", 32, 8, 16, -4, 4, 0x1p-11, 0x1p-10, 2},
    {"wmma_f16_wide", 8, 32, 16, -8, 8, 0x1p-11, 0x1p-24, 2},
    {"wmma_bf16", 16, 16, 16, -8, 8, 0x1p-8, 0x1p-24, 2},
    {"wmma_tf32", 16, 16, 8, -100, 100, 0x1p-10, 0x1p-24, 2},
    {"wmma_s8", 16, 16, 16, -128, 127, 0, 0, 2},
    {"wmma_u8_tall", 32, 8, 16, 0, 255, 0, 0, 2},
    {"wmma_f64", 8, 8, 4, -1000, 1000, 0x1p-53, 0x1p-53, 2},
};

static double *a, *b, *c, *d;

static bool run(const char *kernel) {
  sim_error error;
  void *args[] = {&a, &b, &c, &d};
  if (machine_run(&m, kernel, 1, 32, args, 0, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", kernel, error.text);
    machine_failures++;
    return false;
  }
  return true;
}

static double draw(const product *p, bool fraction) {
  int whole = p->least + (int)(machine_random() >> 33) % (p->most - p->least + 1);
  return whole + (fraction ? (double)(machine_random() >> 40) * 0x1p-25 : 0);
}

static void fill(const product *p, bool fraction) {
  for (int i = 0; i < 1024; i++) {
    a[i] = draw(p, fraction);
    b[i] = draw(p, fraction);
    c[i] = draw(p, fraction);
    d[i] = 1e300;
  }
}

static void check(const product *p, bool fraction) {
  fill(p, fraction);
  if (!run(p->kernel)) {
    return;
  }
  for (int row = 0; row < p->m; row++) {
    for (int column = 0; column < p->n; column++) {
      double sum = p->c * c[row * p->n + column], size = fabs(sum), got = d[row * p->n + column];
      for (int i = 0; i < p->k; i++) {
        sum += a[row * p->k + i] * b[i * p->n + column];
        size += fabs(a[row * p->k + i] * b[i * p->n + column]);
      }
      double bound = fraction ? size * (2.1 * p->digits + 4 * p->result_digits) : 0;
      if (!CHECK(fabs(got - sum) <= bound)) {
        fprintf(stderr, "  %s, row %d, column %d: %.17g, not %.17g\n", p->kernel, row, column, got, sum);
        return;
      }
    }
  }
}

/* 32 products of 127 * 127 with the largest C: held at the largest integer, and without .satfinite round it. */
static void test_saturation(void) {
  static const product s8 = {"mma_s8_k32", 16, 8, 32, 127, 127, 0, 0, 1};
  fill(&s8, false);
  for (int i = 0; i < 128; i++) {
    c[i] = i % 2 ? -2147483648.0 : 2147483647.0;
    b[i] = 127;
  }
  if (run("mma_saturated_k32")) {
    for (int i = 0; i < 128; i++) {
      CHECK(d[i] == (i % 2 ? -2147483648.0 + 32 * 127 * 127 : 2147483647.0));
    }
  }
  if (run("mma_s8_k32")) {
    CHECK(d[0] == 2147483647.0 + 32 * 127 * 127 - 4294967296.0);
  }
}

static uint32_t element(int row, int column) { return (uint32_t)(100 + row * 8 + column); }

static void test_tiles(void) {
  uint32_t *out = sim_memory_alloc(m.device, 224 * 4, 4);
  void *args[] = {&out};
  sim_error error;
  CHECK_EQUAL(machine_run(&m, "tile_ways", 1, 32, args, 0, &error), SIM_OK);
  for (int l = 0; l < 32; l++) {
    int g = l / 4, i = l % 4 * 2;
    CHECK_EQUAL(out[l], element(g, i) | element(g, i + 1) << 16);
    CHECK_EQUAL(out[32 + l], element(i, g) | element(i + 1, g) << 16);
    CHECK_EQUAL(out[64 + l], out[32 + l]);
  }
  for (int i = 0; i < 64; i++) {
    CHECK_EQUAL(out[96 + i], element(i / 8, i % 8));
    CHECK_EQUAL(out[160 + i], element(i % 8, i / 8));
  }
}

static void test_not_there(void) {
  sim_error error;
  void *args[] = {&d};
  CHECK_EQUAL(machine_run(&m, "not_there", 1, 32, args, 0, &error), SIM_UNSUPPORTED);
  CHECK(strstr(error.text, "the simulated device has no 'mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32'") != NULL);
}

int main(int argc, char **argv) {
  char *text = argc > 1 ? machine_read_file(argv[1]) : NULL;
  if (text == NULL) {
    fprintf(stderr, "machine_matrix_test PTX\n");
    return 2;
  }
  machine_open(&m, text);
  a = sim_memory_alloc(m.device, 8192, 256);
  b = sim_memory_alloc(m.device, 8192, 256);
  c = sim_memory_alloc(m.device, 8192, 256);
  d = sim_memory_alloc(m.device, 8192, 256);
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    check(&products[i], false);
    if (products[i].digits != 0) {
      check(&products[i], true);
    }
  }
  test_saturation();
  test_tiles();
  test_not_there();
  machine_close(&m);
  free(text);
  return machine_result();
}
