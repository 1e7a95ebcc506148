/* SPDX-License-Identifier: MIT */
/* Memory of the machine: spaces and their layout, initialisers, atomics, printf, malloc, and the
 * messages of what goes wrong. argv[1] is the PTX, argv[2] its target, 75 or 90. */
#include <stdlib.h>
#include <string.h>

#include "machine_check.h"

static machine m;
static char printed[65536];
static size_t printed_bytes;

static void take_print(void *user, const char *text, size_t bytes) {
  (void)user;
  if (printed_bytes + bytes < sizeof printed) {
    memcpy(printed + printed_bytes, text, bytes);
    printed_bytes += bytes;
    printed[printed_bytes] = '\0';
  }
}

static void *device_bytes(size_t bytes) {
  void *p = sim_memory_alloc(m.device, bytes, 16);
  memset(p, 0, bytes);
  return p;
}

static void run(const char *kernel, unsigned blocks, unsigned threads, void *const *args,
                size_t dynamic_shared) {
  sim_error error;
  if (machine_run(&m, kernel, blocks, threads, args, dynamic_shared, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", kernel, error.text);
    machine_failures++;
  }
}

static void test_initialisers(void) {
  static const int want[] = {'f', 'i', 'r', 's', 't', 1, 2, 3, 50, 'w', 'o', 'r', 'd',
                             -4, 5, 6, -225, 30, 30, 13};
  int *out = device_bytes(4 * 64);
  void *args[] = {&out};
  size_t bytes = 0;
  int *counters;
  run("initialisers", 1, 1, args, 0);
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    CHECK_EQUAL((unsigned)out[i], (unsigned)want[i]);
  }
  counters = sim_module_symbol(m.module, "counters", &bytes);
  CHECK_EQUAL(bytes, 16);
  CHECK(counters != NULL && counters[1] == 99 && counters[2] == 30);
  CHECK(sim_module_symbol(m.module, "no such thing", NULL) == NULL);
}

static void test_vectors(void) {
  float *in = device_bytes(64 * 16), *out = device_bytes(64 * 16);
  int16_t *s = device_bytes(64 * 8), *t = device_bytes(64 * 8);
  double *d = device_bytes(64 * 16), *e = device_bytes(64 * 16);
  uint8_t *u = device_bytes(64 * 4), *v = device_bytes(64 * 4);
  void *args[] = {&in, &out, &s, &t, &d, &e, &u, &v};
  for (int i = 0; i < 256; i++) {
    in[i] = (float)i * 0.5f;
    s[i] = (int16_t)(i * 257 - 30000);
    u[i] = (uint8_t)(i * 7);
    d[i % 128] = i * 0.125;
  }
  run("vectors", 2, 32, args, 0);
  for (int i = 0; i < 256; i++) {
    CHECK(out[i] == in[i ^ 3]);
    CHECK_EQUAL((uint16_t)t[i], (uint16_t)s[i ^ 1]);
    CHECK_EQUAL(v[i], u[i ^ 2]);
    CHECK(e[i % 128] == d[i % 128 ^ 1]);
  }
}

static void test_local(void) {
  int *in = device_bytes(40 * 4), *out = device_bytes(96 * 4);
  void *args[] = {&in, &out};
  for (int i = 0; i < 40; i++) {
    in[i] = i * 13 % 29;
  }
  run("local_arrays", 1, 96, args, 0);
  for (unsigned t = 0; t < 96; t++) {
    unsigned sum = 0;
    for (int i = 0; i < 40; i++) {
      sum = sum * 7 + (unsigned)in[((unsigned)in[i] + t) % 40] * 3 + t;
    }
    CHECK_EQUAL((unsigned)out[t], sum);
  }
}

static void test_shared(void) {
  uint32_t *out = device_bytes(64 * 4), value = 1000;
  void *args[] = {&out, &value};
  size_t bytes;
  run("shared_layout", 1, 32, args, 32);
  CHECK_EQUAL(out[0], 0);
  CHECK_EQUAL(out[1], 24);
  CHECK_EQUAL(out[2], 32); /* 29 static bytes, then 16-aligned */
  CHECK_EQUAL(out[3], 32);
  CHECK_EQUAL(out[4], 64);
  CHECK_EQUAL(out[5], 6);
  CHECK_EQUAL(out[6], 1 + 2);
  sim_kernel_limits(sim_module_kernel(m.module, "shared_layout"), &bytes, NULL, NULL, NULL, NULL);
  CHECK_EQUAL(bytes, 29);
  sim_kernel_limits(sim_module_kernel(m.module, "no_shared"), &bytes, NULL, NULL, NULL, NULL);
  CHECK_EQUAL(bytes, 0); /* what other kernels use does not count */
}

/* One SM with one slot: each block finds what the one before left, the first what the device was
 * filled with. */
static void test_old_bytes(const char *text) {
  machine one;
  sim_config config;
  uint32_t *out, value = 1000;
  void *args[] = {&out, &value};
  sim_error error;
  machine_config(&config);
  config.sms = 1;
  config.blocks_per_sm = 1;
  machine_open_with(&one, text, &config);
  out = sim_memory_alloc(one.device, 16, 4);
  CHECK_EQUAL(out[0], 0xa5a5a5a5);
  CHECK_EQUAL(machine_run(&one, "leave_bytes", 4, 32, args, 0, &error), SIM_OK);
  CHECK_EQUAL(out[0], 0xa5a5a5a5);
  CHECK_EQUAL(out[1], 1000);
  CHECK_EQUAL(out[3], 1002);
  machine_close(&one);
}

static void test_atomics(void) {
  uint32_t *u = device_bytes(4 * 256), sum = 0, most = 0, mixed = 0, chain = 0;
  uint64_t *l = device_bytes(64), long_sum = 0;
  float *f = device_bytes(4);
  double *d = device_bytes(8);
  uint16_t *h = device_bytes(4), *b = device_bytes(4), *s = device_bytes(8);
  int32_t least = 0;
  bool seen[129] = {false};
  void *args[] = {&u, &l, &f, &d, &h, &b, &s};
  u[7] = UINT32_MAX;
  l[2] = 5;
  s[0] = 11;
  s[2] = 12;
  for (uint32_t i = 0; i < 128; i++) {
    sum += i;
    most = i * 37 % 101 > most ? i * 37 % 101 : most;
    least = (int32_t)(i * 37 % 101) - 50 < least ? (int32_t)(i * 37 % 101) - 50 : least;
    mixed ^= i * 0x9e3779b9u;
    chain = chain * 3 + 1;
    long_sum += (uint64_t)i << 33;
  }
  run("atomics", 2, 64, args, 0);
  CHECK_EQUAL(u[0], sum);
  CHECK_EQUAL(u[1], most);
  CHECK_EQUAL(u[2], (uint32_t)least);
  CHECK_EQUAL(u[3], 128 % 10);
  CHECK_EQUAL(u[4], 2); /* 0, 9, 8 ... 0, 9 ...: 128 = 12 * 10 + 8 steps */
  CHECK_EQUAL(u[5], mixed);
  CHECK_EQUAL(u[6], UINT32_MAX);
  CHECK_EQUAL(u[7], UINT32_C(1) << 31);
  CHECK_EQUAL(u[9], chain);
  CHECK_EQUAL(u[10], 192);
  CHECK_EQUAL(u[11], 192);
  seen[u[8]] = true;
  for (int i = 0; i < 128; i++) {
    CHECK(u[16 + i] <= 128 && !seen[u[16 + i]]); /* every value passes through once */
    seen[u[16 + i] <= 128 ? u[16 + i] : 0] = true;
  }
  CHECK_EQUAL(l[0], long_sum);
  CHECK_EQUAL(l[1], 27);
  CHECK_EQUAL(l[2], UINT64_C(1) << 50);
  CHECK(f[0] == 64 && d[0] == 32);
  CHECK_EQUAL(h[0], 0x5800); /* 128 */
  CHECK_EQUAL(h[1], 0x5c00); /* 256 */
  CHECK_EQUAL(b[0], 0x4300); /* 128 */
  CHECK_EQUAL(b[1], 0xc300);
  CHECK_EQUAL(s[0], 11);
  CHECK_EQUAL(s[1], 10);
  CHECK_EQUAL(s[2], 12);
}

static void test_vector_atomics(void) {
  float *f = device_bytes(64), *old = device_bytes(64 * 16);
  void *args[] = {&f, &old};
  run("vector_atomics", 2, 32, args, 0);
  CHECK(f[0] == 64 && f[1] == 32 && f[2] == 0);
  for (int i = 0; i < 4; i++) {
    float sum = 0;
    CHECK(f[4 + i] == 64.0f * (float)(i + 1));
    for (int t = 0; t < 64; t++) {
      sum += old[t * 4 + i]; /* 0 + 1 + ... + 63, whatever the order */
    }
    CHECK(sum == 2016.0f * (float)(i + 1));
  }
}

static void test_prints(void) {
  char want[1024];
  int used = 0, n = 2;
  void *args[] = {&n};
  for (int i = 0; i < 2; i++) {
    used += snprintf(want + used, sizeof want - (size_t)used,
                     "%d|%5u|%-4d|%x|%lld|%c|%s|%.3f|%e|%%|%08.2f|%*d\n", i - 1, 7u, 3, 255,
                     (long long)1 << 40, 'z', "word", 1.5, 12345.678, -3.14159, 6, 42);
  }
  used += snprintf(want + used, sizeof want - (size_t)used, "plain\nplain\n");
  run("prints", 1, 32, args, 0);
  if (!machine_check(strcmp(printed, want) == 0, "what was printed", __FILE__, __LINE__)) {
    fprintf(stderr, "%s", printed);
  }
}

static void test_heap_copies_phases(void) {
  uint32_t *in = device_bytes(4 * 256), *out = device_bytes(4 * 256), model[64], next[64];
  void *out_only[] = {&out}, *both[] = {&in, &out};
  run("heap", 2, 32, out_only, 0);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(out[i], i * 100 + 15);
    model[i] = i;
  }
  for (uint32_t i = 0; i < 256; i++) {
    in[i] = i * 11;
  }
  run("copies", 1, 64, both, 0);
  for (uint32_t i = 0; i < 256; i++) {
    CHECK_EQUAL(out[i], (255 - i) * 11 + (i % 4 < 2 ? i * 11 * 1000 : 0));
  }
  run("phases", 1, 64, out_only, 0);
  for (uint32_t k = 0; k < 5; k++) {
    for (uint32_t i = 0; i < 64; i++) {
      next[i] = model[(i + 1) % 64] + k;
    }
    memcpy(model, next, sizeof model);
  }
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(out[i], model[i]);
  }
  in[0] = 0;
  run("whole_grid", 8, 32, both, 0);
  for (uint32_t i = 0; i < 256; i++) {
    CHECK_EQUAL(out[i], 255 * 256 / 2);
  }
}

static void expect(const char *kernel, unsigned threads, void *argument, enum sim_error_kind kind,
                   const char *const *parts) {
  sim_error error;
  void *args[] = {&argument};
  if (!CHECK_EQUAL(machine_run(&m, kernel, 1, threads, args, 0, &error), kind)) {
    fprintf(stderr, "  %s: %s\n", kernel, error.text);
  }
  for (; *parts != NULL; parts++) {
    if (!machine_check(strstr(error.text, *parts) != NULL, *parts, __FILE__, __LINE__)) {
      fprintf(stderr, "  the message: %s\n", error.text);
    }
  }
  CHECK(strchr(error.text, '\n') == NULL);
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_failures(void) {
  uint32_t *p = device_bytes(64 * 4), zero = 0;
  uint32_t **pointers = device_bytes(16);
  void *freed = device_bytes(1 << 20); /* larger than what a launch itself asks for */
  sim_memory_free(m.device, freed);
  expect("out_of_bounds", 65, p, SIM_ILLEGAL_ADDRESS,
         PARTS("kernel out_of_bounds, block (0,0,0), thread (64,0,0), PTX line ",
               "machine_memory.cu:", "st.global.u32: illegal global address 0x", "4 bytes"));
  expect("out_of_bounds", 1, freed, SIM_ILLEGAL_ADDRESS, PARTS("thread (0,0,0)", "illegal global"));
  expect("out_of_bounds", 1, &zero, SIM_ILLEGAL_ADDRESS, PARTS("illegal global"));
  expect("read_null", 1, p, SIM_ILLEGAL_ADDRESS, PARTS("address 0x10,", "ld.volatile"));
  expect("misaligned", 8, p, SIM_MISALIGNED, PARTS("thread (0,0,0)", "misaligned", "for 4 bytes"));
  expect("shared_out", 5, p, SIM_ILLEGAL_ADDRESS,
         PARTS("thread (4,0,0)", "shared address 0x10, 4 bytes, is outside the block's 16 bytes"));
  p[0] = 0;
  expect("asserts", 16, p, SIM_ASSERT,
         PARTS("thread (5,0,0)", "machine_memory.cu:", "asserts", "five", "failed"));
  expect("traps", 16, p, SIM_TRAP, PARTS("thread (3,0,0)", "trap"));
  p[1] = 0;
  expect("overflow", 1, p, SIM_ILLEGAL_ADDRESS, PARTS("kernel overflow", "call"));
  pointers[0] = p;
  expect("bad_call", 1, pointers, SIM_ILLEGAL_ADDRESS, PARTS("bad function pointer 0x"));
  expect("unsupported", 1, p, SIM_UNSUPPORTED,
         PARTS("the simulated device has no 'vabsdiff2.u32.u32.u32'", "machine_memory.cu:"));
  p[0] = 0;
  {
    void *args[] = {&p};
    run("no_shared", 1, 32, args, 0); /* and the device goes on */
  }
  CHECK_EQUAL(p[0], 1);
}

static void test_launches(void) {
  static const struct {
    sim_dim3 grid, block;
    size_t shared;
  } bad[] = {{{0, 1, 1}, {32, 1, 1}, 0},     {{1, 1, 1}, {0, 1, 1}, 0},
             {{1, 1, 1}, {1025, 1, 1}, 0},   {{1, 1, 1}, {32, 32, 2}, 0},
             {{1, 70000, 1}, {32, 1, 1}, 0}, {{1, 1, 1}, {1, 1, 65}, 0},
             {{1, 1, 1}, {32, 1, 1}, 300000}};
  sim_kernel *kernel = sim_module_kernel(m.module, "no_shared");
  uint32_t *p = device_bytes(64);
  void *args[] = {&p};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    sim_error error;
    sim_grid *grid = sim_grid_begin(kernel, bad[i].grid, bad[i].block, args, bad[i].shared, &error);
    CHECK(grid == NULL && error.kind == SIM_BAD_LAUNCH);
  }
}

int main(int argc, char **argv) {
  char *text;
  if (argc != 3) {
    return 2;
  }
  text = machine_read_file(argv[1]);
  machine_open(&m, text);
  sim_set_print(take_print, NULL);
  test_initialisers();
  test_vectors();
  test_local();
  test_shared();
  test_old_bytes(text);
  test_atomics();
  if (atoi(argv[2]) >= 90) {
    test_vector_atomics();
  }
  test_prints();
  test_heap_copies_phases();
  test_failures();
  test_launches();
  machine_close(&m);
  free(text);
  return machine_result();
}
