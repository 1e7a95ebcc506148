/* SPDX-License-Identifier: MIT */
/* Control flow, warp operations and barriers of kernels that nvcc compiled, against plain C models
 * of them. argv[1] is the PTX, argv[2] its target, 75 or 90. */
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

static machine m;
static int target;

static uint32_t *device_words(size_t count) {
  uint32_t *words = sim_memory_alloc(m.device, count * 4, 4);
  memset(words, 0, count * 4);
  return words;
}

static void run(const char *kernel, unsigned blocks, unsigned threads, void *a, void *b) {
  sim_error error;
  void *args[] = {&a, &b};
  if (machine_run(&m, kernel, blocks, threads, args, 0, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", kernel, error.text);
    machine_failures++;
  }
}

static uint32_t branches_model(uint32_t i) {
  uint32_t x = i * 2654435761u;
  if (x & 1) {
    x = x * 3 + 1;
    return x & 8 ? x ^ 0x55 : x + 7;
  }
  return x & 4 ? x >> 3 : x;
}

static uint32_t loops_model(uint32_t i) {
  uint32_t n = i, steps = 0;
  if (i % 7 == 3) {
    return 12345;
  }
  while (n > 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    steps++;
    if (steps > 60) {
      break;
    }
    steps += n % 5 == 0 ? 0 : n % 3;
  }
  return steps;
}

static uint32_t cases_model(uint32_t i) {
  switch (i % 11) {
    case 0: return i + 5;
    case 1: return i * 3;
    case 2: return (i ^ 99) - 1;
    case 3: return i - 1;
    case 4: return i << 2;
    case 5: return 7;
    case 6: return ~i;
    case 7: return i * i;
    default: return 0;
  }
}

static void test_divergence(void) {
  uint32_t *out = device_words(512), *masks = device_words(512);
  run("branches", 4, 128, out, masks);
  for (uint32_t i = 0; i < 512; i++) {
    CHECK_EQUAL(out[i], branches_model(i));
    CHECK_EQUAL(masks[i], UINT32_MAX);
  }
  memset(masks, 0, 2048);
  run("loops", 4, 128, out, masks);
  for (uint32_t i = 0; i < 512; i++) {
    uint32_t left = 0;
    for (uint32_t k = i / 32 * 32, lane = 0; lane < 32; lane++) {
      left |= (uint32_t)((k + lane) % 7 != 3) << lane;
    }
    CHECK_EQUAL(out[i], loops_model(i));
    CHECK_EQUAL(masks[i], i % 7 == 3 ? 0 : left); /* all that did not return meet behind it */
  }
  run("cases", 3, 100, out, NULL);
  for (uint32_t i = 0; i < 300; i++) {
    CHECK_EQUAL(out[i], cases_model(i));
  }
}

static uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static uint32_t ackermann(uint32_t a, uint32_t n) {
  return a == 0 ? n + 1 : n == 0 ? ackermann(a - 1, 1) : ackermann(a - 1, ackermann(a, n - 1));
}

static void test_calls(void) {
  uint32_t *out = device_words(5 * 96);
  run("calls", 2, 48, out, NULL);
  for (uint32_t i = 0; i < 96; i++) {
    uint32_t through[3] = {i * 2, i + 17, fib(i & 7) + i * 2};
    CHECK_EQUAL(out[i * 5], fib(i % 12));
    CHECK_EQUAL(out[i * 5 + 1], ackermann(i % 3, i % 4));
    CHECK_EQUAL(out[i * 5 + 2], through[i % 3]);
    CHECK_EQUAL(out[i * 5 + 3], i % 2 ? 6 * i * i : i * i);
    CHECK_EQUAL(out[i * 5 + 4], 9 * i + 204 + i); /* the squares of 0 to 8 sum to 204 */
  }
}

static void test_independent_threads(void) {
  uint32_t *words = device_words(64), *out = device_words(64);
  run("lock", 2, 64, words, words + 1);
  CHECK_EQUAL(words[1], 128);
  words[0] = 0;
  run("hand_over", 1, 32, words, out);
  for (uint32_t i = 0; i < 32; i++) {
    CHECK_EQUAL(out[i], i < 16 ? 5 + i : 1);
  }
  run("two_arms", 1, 32, out, NULL);
  for (uint32_t i = 0; i < 32; i++) {
    CHECK_EQUAL(out[i], i & 1 ? (i - 1) * 5 : (i + 1) * 3 + 100);
  }
}

static void test_shuffles(void) {
  uint32_t *in = device_words(32), *out = device_words(32 * 16);
  for (uint32_t i = 0; i < 32; i++) {
    in[i] = i * i + 1000;
  }
  run("shuffles", 1, 32, in, out);
  for (uint32_t i = 0; i < 32; i++) {
    const uint32_t *o = out + i * 16;
    CHECK_EQUAL(o[0], in[(i * 5 + 1) % 32]);
    CHECK_EQUAL(o[1], in[i / 8 * 8 + (i + 3) % 8]);
    CHECK_EQUAL(o[2], in[i >= 3 ? i - 3 : i]);
    CHECK_EQUAL(o[3], in[i % 4 >= 2 ? i - 2 : i]);
    CHECK_EQUAL(o[4], in[i + 5 < 32 ? i + 5 : i]);
    CHECK_EQUAL(o[5], in[i % 16 + 3 < 16 ? i + 3 : i]);
    CHECK_EQUAL(o[6], in[i ^ 13]);
    /* xor leaves the segment of 8: upwards the lane keeps its own, downwards it reads */
    CHECK_EQUAL(o[7], in[(i ^ 9) / 8 > i / 8 ? i : (i ^ 9)]);
    CHECK_EQUAL(o[8], i % 3 == 0 ? in[(i + 3) % 33 % 32] : 0);
    CHECK_EQUAL(o[9], in[i ^ 4]);
  }
}

static uint32_t ballot(const uint32_t *in, uint32_t members, uint32_t bit) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 32; i++) {
    mask |= (uint32_t)((members >> i & 1) != 0 && (in[i] & bit) != 0) << i;
  }
  return mask;
}

static uint32_t matching(const uint32_t *in, uint32_t members, uint32_t lane, uint32_t modulus) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 32; i++) {
    mask |= (uint32_t)((members >> i & 1) != 0 && in[i] % modulus == in[lane] % modulus) << i;
  }
  return mask;
}

static void test_votes(void) {
  uint32_t *in = device_words(32), *out = device_words(32 * 16);
  uint32_t sum = 0, most = 0, low = 0, high = 0;
  int32_t least = INT32_MAX;
  for (uint32_t i = 0; i < 32; i++) {
    in[i] = (uint32_t)machine_random() | 1u << (i % 3);
    sum += in[i];
    most = in[i] > most ? in[i] : most;
    least = (int32_t)in[i] < least ? (int32_t)in[i] : least;
    low ^= i < 8 ? in[i] : 0;
    high ^= i < 8 ? 0 : in[i];
  }
  run("votes", 1, 32, in, out);
  for (uint32_t i = 0; i < 32; i++) {
    const uint32_t *o = out + i * 16;
    bool inside = i >= 8 && i < 20;
    CHECK_EQUAL(o[0], ballot(in, UINT32_MAX, 1));
    CHECK_EQUAL(o[1], 1);
    CHECK_EQUAL(o[2], 1);
    CHECK_EQUAL(o[3], 0);
    CHECK_EQUAL(o[4], matching(in, UINT32_MAX, i, 5));
    CHECK_EQUAL(o[5], 0);
    CHECK_EQUAL(o[6], 0);
    CHECK_EQUAL(o[7], UINT32_MAX);
    CHECK_EQUAL(o[8], 1);
    CHECK_EQUAL(o[9], inside ? ballot(in, 0xfff00, 2) : 0);
    CHECK_EQUAL(o[10], inside ? matching(in, 0xfff00, i, 3) : 0);
    CHECK_EQUAL(o[11], inside ? 0xfff00 : 0);
    if (target >= 80) {
      CHECK_EQUAL(o[12], sum);
      CHECK_EQUAL(o[13], (uint32_t)least);
      CHECK_EQUAL(o[14], most);
      CHECK_EQUAL(o[15], i < 8 ? low : high);
    }
  }
  if (target >= 90) {
    run("elects", 1, 32, out, NULL);
    for (uint32_t i = 0; i < 32; i++) {
      CHECK_EQUAL(out[i], (i == 0) + (i < 5 ? 0 : 100 * (5 * 2 + (i == 5))));
    }
  }
}

static void test_barriers(void) {
  uint32_t *out = device_words(1024), thirds = 0;
  for (uint32_t i = 0; i < 256; i++) {
    thirds += i * i % 3 == 0;
  }
  run("barriers", 1, 256, out, NULL);
  for (uint32_t i = 0; i < 256; i++) {
    CHECK_EQUAL(out[i], thirds);
    CHECK_EQUAL(out[256 + i], 2);
    CHECK_EQUAL(out[512 + i], 2);
    CHECK_EQUAL(out[768 + i], i < 192 ? (255 - (191 - i)) * (255 - (191 - i)) + 1 : 0);
  }
  run("named_barriers", 1, 128, out, NULL);
  for (uint32_t i = 0; i < 128; i++) {
    CHECK_EQUAL(out[i], 1000 + i / 64 * 64 + (63 - i % 64));
    if (i >= 32 && i < 64) {
      CHECK_EQUAL(out[128 + i], 77);
    }
  }
}

static void expect_failure(const char *kernel, unsigned threads, void *argument,
                           enum sim_error_kind kind, const char *const *parts) {
  sim_error error;
  void *args[] = {&argument, &argument};
  CHECK_EQUAL(machine_run(&m, kernel, 1, threads, args, 0, &error), kind);
  CHECK_EQUAL(error.kind, kind);
  for (; *parts != NULL; parts++) {
    if (!machine_check(strstr(error.text, *parts) != NULL, *parts, __FILE__, __LINE__)) {
      fprintf(stderr, "  the message: %s\n", error.text);
    }
  }
}

static void test_hangs(void) {
  static const char *const barrier[] = {"kernel wait_forever, block (0,0,0), thread (0,0,0)",
                                        "PTX line ", "machine_warp.cu:", "bar", "never come", NULL};
  static const char *const spinning[] = {"kernel spin, block (0,0,0), thread (", "machine_warp.cu:",
                                         "still running after 20000 warp instructions", NULL};
  static const char *const lane[] = {"kernel missing_lane", "still running", NULL};
  uint32_t *words = device_words(96);
  expect_failure("wait_forever", 96, words, SIM_DEADLOCK, barrier);
  machine_close(&m);
  m.config.max_steps = 20000;
  {
    sim_config config = m.config;
    char *text = machine_read_file(getenv("MACHINE_PTX"));
    machine_open_with(&m, text, &config);
    free(text);
  }
  words = device_words(64);
  expect_failure("spin", 64, words, SIM_TIMEOUT, spinning);
  words[0] = 1; /* a device that failed goes on with the next launch */
  run("spin", 1, 64, words, NULL);
  words[0] = 0;
  expect_failure("missing_lane", 32, words, SIM_TIMEOUT, lane);
}

int main(int argc, char **argv) {
  char *text;
  if (argc != 3) {
    return 2;
  }
  setenv("MACHINE_PTX", argv[1], 1);
  target = atoi(argv[2]);
  text = machine_read_file(argv[1]);
  machine_open(&m, text);
  free(text);
  test_divergence();
  test_calls();
  test_independent_threads();
  test_shuffles();
  test_votes();
  test_barriers();
  test_hangs();
  machine_close(&m);
  return machine_result();
}
