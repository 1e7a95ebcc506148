/* SPDX-License-Identifier: MIT */
/* Clusters of blocks against plain C models of them. argv[1] is the PTX of machine_cluster.cu. */
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

static machine m;

static void *device_bytes(size_t bytes) {
  void *p = sim_memory_alloc(m.device, bytes, 256);
  memset(p, 0, bytes);
  return p;
}

static enum sim_error_kind launch(const char *kernel, const sim_shape *shape, void *const *args, sim_error *error) {
  enum sim_error_kind kind = SIM_OK;
  sim_grid *grid = sim_grid_begin_shape(sim_module_kernel(m.module, kernel), shape, args, 0, error);
  if (grid == NULL) {
    return error->kind;
  }
  while (kind == SIM_OK && !sim_grid_done(grid)) {
    kind = sim_device_run(m.device, UINT64_MAX, error);
  }
  sim_grid_free(grid);
  return kind;
}

static void run(const char *kernel, sim_shape shape, void *const *args) {
  sim_error error;
  if (launch(kernel, &shape, args, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", kernel, error.text);
    machine_failures++;
  }
}

static sim_shape line(uint32_t blocks, uint32_t cluster) {
  return (sim_shape){.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .cluster = {cluster, 1, 1}};
}

static void expect(const char *kernel, sim_shape shape, enum sim_error_kind kind, const char *part) {
  sim_error error;
  void *p = device_bytes(256);
  void *args[] = {&p};
  CHECK_EQUAL(launch(kernel, &shape, args, &error), kind);
  if (!CHECK(strstr(error.text, part) != NULL)) {
    fprintf(stderr, "%s says: %s\n", kernel, error.text);
  }
}

static uint32_t packed(uint32_t x, uint32_t y, uint32_t z) { return x | y << 8 | z << 16; }

static void test_places(sim_dim3 grid, sim_dim3 cluster) {
  uint32_t *out = device_bytes((size_t)grid.x * grid.y * grid.z * 64);
  sim_shape shape = {.grid = grid, .block = {64, 1, 1}, .cluster = cluster};
  sim_dim3 c = cluster.x != 0 ? cluster : (sim_dim3){1, 1, 1};
  void *args[] = {&out};
  run("places", shape, args);
  for (uint32_t n = 0; n < grid.x * grid.y * grid.z; n++) {
    uint32_t x = n % grid.x, y = n / grid.x % grid.y, z = n / grid.x / grid.y;
    const uint32_t *o = out + (size_t)16 * n;
    CHECK_EQUAL(o[0], packed(x / c.x, y / c.y, z / c.z));
    CHECK_EQUAL(o[1], packed(grid.x / c.x, grid.y / c.y, grid.z / c.z));
    CHECK_EQUAL(o[2], packed(x % c.x, y % c.y, z % c.z));
    CHECK_EQUAL(o[3], packed(c.x, c.y, c.z));
    CHECK_EQUAL(o[4], x % c.x + c.x * (y % c.y + c.y * (z % c.z)));
    CHECK_EQUAL(o[5], c.x * c.y * c.z);
    CHECK_EQUAL(o[6], c.x * c.y * c.z > 1);
  }
}

static void test_neighbours(uint32_t blocks, uint32_t size) {
  uint32_t *out = device_bytes((size_t)blocks * 32 * 8 * 4);
  void *args[] = {&out};
  run("neighbours", line(blocks, size), args);
  for (uint32_t b = 0; b < blocks; b++) {
    uint32_t first = b / size * size, rank = b % size, before = first + (rank + size - 1) % size;
    for (uint32_t i = 0; i < 32; i++) {
      const uint32_t *o = out + (size_t)8 * (32 * b + i);
      CHECK_EQUAL(o[0], 100 * before + i);
      CHECK_EQUAL(o[1], rank == 0 ? size * (i + 2) : 0);
      CHECK_EQUAL(o[2], b + 7);
      CHECK_EQUAL(o[3], b + 9);
      CHECK_EQUAL(o[4], (rank + 1) % size);
      CHECK_EQUAL(o[5], (rank + 1) % size);
      CHECK_EQUAL(o[6], size == 1); /* shared::cta holds the own memory only */
      CHECK_EQUAL(o[7], 15); /* isspacep, and cvta in both directions, also of the own block's address */
    }
  }
}

static void test_leaving(void) {
  uint32_t *out = device_bytes(4), left = 0;
  void *args[] = {&out};
  run("some_leave", line(3, 3), args);
  for (uint32_t i = 0; i < 32 * 3; i++) {
    left += i % 32 % 3 != i / 32;
  }
  CHECK_EQUAL(*out, left);
}

static void test_multicast(void) {
  enum { BLOCKS = 8, SIZE = 4 };
  uint32_t *in = device_bytes(128), *out = device_bytes((BLOCKS * 64 + BLOCKS) * 4);
  void *args[] = {&in, &out};
  for (uint32_t i = 0; i < 32; i++) {
    in[i] = i * i + 5;
  }
  run("multicast", line(BLOCKS, SIZE), args);
  for (uint32_t b = 0; b < BLOCKS; b++) {
    for (uint32_t i = 0; i < 32; i++) {
      CHECK_EQUAL(out[2 * b * 32 + i], in[i] + b % SIZE);
      CHECK_EQUAL(out[(2 * b + 1) * 32 + i], in[i] * 2);
    }
    CHECK_EQUAL(out[BLOCKS * 64 + b], b % SIZE == 0);
  }
}

static void test_sends(void) {
  uint32_t *out = device_bytes(4 * 64 * 4);
  void *args[] = {&out};
  run("sends", line(4, 2), args);
  for (uint32_t b = 0; b < 4; b++) {
    uint32_t from = (b + 1) % 2;
    for (uint32_t i = 0; i < 32; i++) {
      CHECK_EQUAL(out[64 * b + i], 100 * from + i);
    }
    CHECK_EQUAL(out[64 * b + 32], 1000 - 31 * 32 / 2);
    CHECK_EQUAL(out[64 * b + 33], 75);
    CHECK_EQUAL(out[64 * b + 34], 4321 + 1000 * from);
  }
}

static void test_faults(void) {
  uint32_t *out = device_bytes(64);
  void *args[] = {&out};
  expect("left_alone", line(2, 2), SIM_DEADLOCK, "no thread can run: this one waits");
  expect("no_such_block", line(2, 2), SIM_ILLEGAL_ADDRESS, "block 5 of a cluster of 2");
  expect("has_ended", line(2, 2), SIM_ILLEGAL_ADDRESS, "block 1 of the cluster has ended");
  expect("twice", line(2, 2), SIM_TRAP, "arrives at the cluster's barrier again");
  expect("places", line(5, 2), SIM_BAD_LAUNCH, "clusters of 2 x 1 x 1 blocks for a grid of 5 x 1 x 1");
  expect("places", line(17, 17), SIM_BAD_LAUNCH, "clusters of 17 x 1 x 1 blocks");
  run("fixed", line(6, 0), args);
  for (uint32_t b = 0; b < 6; b++) {
    CHECK_EQUAL(out[b], b % 2 + 20);
  }
}

int main(int argc, char **argv) {
  char *text = argc > 1 ? machine_read_file(argv[1]) : NULL;
  if (text == NULL) {
    fprintf(stderr, "machine_cluster_test PTX\n");
    return 2;
  }
  machine_open(&m, text);
  test_places((sim_dim3){6, 4, 2}, (sim_dim3){3, 2, 2});
  test_places((sim_dim3){32, 1, 1}, (sim_dim3){16, 1, 1}); /* as many as the device holds at once */
  test_places((sim_dim3){5, 3, 1}, (sim_dim3){0, 0, 0});
  test_neighbours(16, 4);
  test_neighbours(6, 3);
  test_neighbours(2, 1);
  test_leaving();
  test_multicast();
  test_sends();
  test_faults();
  test_neighbours(16, 8);
  machine_close(&m);
  free(text);
  return machine_result();
}
