/* SPDX-License-Identifier: MIT */
/* mbarriers and bulk copies against plain C models of them. argv[1] is the PTX of machine_async.cu. */
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

static machine m;

static void *device_bytes(size_t bytes) {
  void *p = sim_memory_alloc(m.device, bytes, 256);
  memset(p, 0, bytes);
  return p;
}

static void run(const char *kernel, unsigned blocks, unsigned threads, void *const *args) {
  sim_error error;
  if (machine_run(&m, kernel, blocks, threads, args, 0, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", kernel, error.text);
    machine_failures++;
  }
}

/* The kernel fails so, and says all of the parts. */
static void expect(const char *kernel, unsigned threads, enum sim_error_kind kind, const char *part, const char *other) {
  sim_error error;
  void *p = device_bytes(256);
  void *args[] = {&p};
  CHECK_EQUAL(machine_run(&m, kernel, 1, threads, args, 0, &error), kind);
  if (!CHECK(strstr(error.text, part) != NULL && strstr(error.text, other) != NULL)) {
    fprintf(stderr, "%s says: %s\n", kernel, error.text);
  }
}

static void test_phases(void) {
  static const uint64_t wanted[] = {0, 1, 3, 2, 0, 1, 2, 0, 0, 1, 1, 2};
  uint64_t *out = device_bytes(sizeof wanted);
  void *args[] = {&out};
  run("phases", 1, 1, args);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    if (!CHECK_EQUAL(out[i], wanted[i])) {
      fprintf(stderr, "  of answer %zu\n", i);
    }
  }
}

static void test_ring(void) {
  uint32_t *out = device_bytes(4), rounds = 5, value = 0;
  void *args[] = {&out, &rounds};
  run("ring", 1, 96, args);
  for (uint32_t r = 0; r < rounds; r++) {
    for (uint32_t i = 0; i < 96; i++) {
      value = value * 3 + i;
    }
  }
  CHECK_EQUAL(*out, value);
}

static void test_copies(void) {
  enum { TILES = 11 };
  uint32_t *in = device_bytes(TILES * 256), *out = device_bytes(TILES * 256), count = TILES;
  uint64_t *times = device_bytes(TILES * 16);
  void *args[] = {&in, &out, &count, &times};
  for (uint32_t i = 0; i < TILES * 64; i++) {
    in[i] = i * 2654435761u;
  }
  run("old_copies", 1, 64, args);
  for (uint32_t i = 0; i < 256; i++) {
    CHECK_EQUAL(out[i], in[(i + 17) % 256]);
  }
  run("tiles", 1, 64, args);
  for (uint32_t i = 0; i < TILES * 64; i++) {
    CHECK_EQUAL(out[i], in[i / 64 * 64 + 63 - i % 64] * 5 + i / 64);
  }
  for (uint32_t t = 0; t < TILES; t++) {
    CHECK(times[2 * t + 1] >= times[2 * t] + 600); /* landed later than issued, */
    CHECK(t == 0 || times[2 * t + 1] > times[2 * t - 1]);
  }
  CHECK(times[2] < times[1]); /* the second was issued while the first was in flight */
}

static void test_in_flight(void) {
  uint32_t *in = device_bytes(16), *out = device_bytes(64);
  void *args[] = {&in, &out};
  in[0] = 99;
  run("in_flight", 1, 1, args);
  CHECK_EQUAL(out[0], 7);
  CHECK_EQUAL(out[1], 0);
  CHECK_EQUAL(out[2], 99);
  CHECK_EQUAL(out[3], 0);
  CHECK_EQUAL(out[4], 0);
  CHECK_EQUAL(out[5], 21);
  CHECK_EQUAL(out[12], 21);
}

static void test_reduces(void) {
  int32_t *sums = device_bytes(32);
  float *reals = device_bytes(16);
  void *args[] = {&sums, &reals};
  run("reduces", 3, 4, args);
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(sums[i], 3 * (-3 * i) + 3);
    CHECK_EQUAL(sums[4 + i], i == 0 ? 0 : -3 * i);
    CHECK(reals[i] == 1.5f * (float)i);
  }
}

static void test_through(void) {
  uint32_t *out = device_bytes(256);
  void *args[] = {&out};
  run("through", 1, 64, args);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(out[i], (i + 3) * 5);
  }
}

static void test_sleeper(void) {
  uint32_t *out = device_bytes(512);
  void *args[] = {&out};
  run("sleeper_waits", 1, 64, args);
  CHECK_EQUAL(out[64], 1);
  for (uint32_t i = 1; i < 32; i++) {
    CHECK(out[i] >= 2000 && out[i] < 4000); /* the lane sleeps for 100,000 cycles */
  }
}

static void test_faults(void) {
  uint32_t *out = device_bytes(8);
  void *args[] = {&out};
  expect("too_many", 32, SIM_TRAP, "17 arrivals at an mbarrier that waits for 16 more", "machine_async.cu:");
  expect("not_initialised", 1, SIM_TRAP, "there is no mbarrier", "mbarrier.arrive");
  expect("nobody_arrives", 64, SIM_DEADLOCK, "no thread can run: this one waits at the mbarrier at shared address 0x",
         "1 of 2 arrivals and 64 bytes are still to come");
  expect("polls", 32, SIM_TIMEOUT, "still running after", "2 of 2 arrivals and 0 bytes are still to come");
  expect("odd_bytes", 1, SIM_MISALIGNED, "a bulk copy of 24 bytes", "multiples of 16");
  expect("tensor", 1, SIM_UNSUPPORTED, "the simulated device has no 'cp.async.bulk.tensor", "machine_async.cu:");
  run("gives_up", 1, 1, args); /* a wait of 100 us ends where nothing goes on, ten of them last a millisecond */
  CHECK_EQUAL(out[0], 10);
  CHECK_EQUAL(out[1], 0);
}

int main(int argc, char **argv) {
  char *text = argc > 1 ? machine_read_file(argv[1]) : NULL;
  sim_config config;
  if (text == NULL) {
    fprintf(stderr, "machine_async_test PTX\n");
    return 2;
  }
  machine_config(&config);
  config.max_steps = 200000;
  machine_open_with(&m, text, &config);
  test_phases();
  test_ring();
  test_copies();
  test_in_flight();
  test_reduces();
  test_through();
  test_sleeper();
  test_faults();
  machine_close(&m);
  free(text);
  return machine_result();
}
