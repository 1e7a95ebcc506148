/* SPDX-License-Identifier: MIT */
/* Time on the machine: cycles counted by hand, clocks of SMs, rates and the global timer against
 * the configuration, interleaving of grids, several devices, and that a seed decides everything. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine_check.h"

/* One warp alone on its SM issues an instruction, waits its latency, issues the next. From the
 * issue of the first clock read to the issue of the second:
 *
 *   mov %clock64        4
 *   add.u32             4
 *   mul.lo.u32          4
 *   div.u32            30
 *   ld.shared          24
 *   shfl.sync          23
 *   st.global           4
 *   ld.global         200
 *   sqrt.approx        16
 *   bra                 8
 *   atom.global       300
 *   bar.sync           10
 *                     ---
 *                     627
 * and from the second read to the third 4 (the read) + 4 (mov) + 3 * (4 + 4 + 8) for three rounds
 * of add, setp and bra = 56. */
static const char straight[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry straight(.param .u64 p) {\n"
    "  .reg .b64 %t<4>, o; .reg .b32 %r<8>; .reg .f32 f; .reg .pred q; .shared .b32 s;\n"
    "  ld.param.u64 o, [p];\n"
    "  mov.u64 %t0, %clock64;\n"
    "  add.u32 %r0, %r0, 3;\n"
    "  mul.lo.u32 %r1, %r0, 5;\n"
    "  div.u32 %r2, %r1, 7;\n"
    "  ld.shared.u32 %r3, [s];\n"
    "  shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;\n"
    "  st.global.u32 [o+64], %r4;\n"
    "  ld.global.u32 %r5, [o+64];\n"
    "  sqrt.approx.f32 f, f;\n"
    "  bra next;\n"
    "next:\n"
    "  atom.global.add.u32 %r6, [o+64], 1;\n"
    "  bar.sync 0;\n"
    "  mov.u64 %t1, %clock64;\n"
    "  mov.u32 %r7, 0;\n"
    "again:\n"
    "  add.u32 %r7, %r7, 1;\n"
    "  setp.lt.u32 q, %r7, 3;\n"
    "  @q bra again;\n"
    "  mov.u64 %t2, %clock64;\n"
    "  st.global.u64 [o], %t0; st.global.u64 [o+8], %t1; st.global.u64 [o+16], %t2;\n"
    "  mov.u32 %r0, %smid; st.global.u32 [o+24], %r0; mov.u64 %t3, %globaltimer;\n"
    "  st.global.u64 [o+32], %t3;\n"
    "  ret;\n}\n";

/* Every block: SM, clock64 and globaltimer read one behind the other, a number of times. */
static const char sampler[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry sample(.param .u64 p, .param .u32 n) {\n"
    "  .reg .b64 o, t, g; .reg .b32 i, k, s, m; .reg .pred q;\n"
    "  ld.param.u64 o, [p]; ld.param.u32 k, [n]; mov.u32 s, %smid; mov.u32 i, %ctaid.x;\n"
    "  mul.lo.u32 i, i, k; mul.wide.u32 t, i, 24; add.u64 o, o, t;\n"
    "again:\n"
    "  mov.u64 t, %clock64;\n"
    "  mov.u64 g, %globaltimer;\n"
    "  st.global.u64 [o], t; st.global.u64 [o+8], g; st.global.u32 [o+16], s;\n"
    "  add.u64 o, o, 24; sub.u32 k, k, 1; setp.ne.u32 q, k, 0;\n"
    "  @q bra again;\n"
    "  ret;\n}\n";

typedef struct sample {
  uint64_t clock, timer;
  uint32_t sm, unused;
} sample;

static void test_counted_cycles(void) {
  machine m;
  sim_error error;
  uint64_t *out;
  void *args[] = {&out};
  machine_open(&m, straight);
  out = sim_memory_alloc(m.device, 256, 8);
  for (int round = 0; round < 3; round++) {
    CHECK_EQUAL(machine_run(&m, "straight", 1, 32, args, 0, &error), SIM_OK);
    CHECK_EQUAL(out[1] - out[0], 627);
    CHECK_EQUAL(out[2] - out[1], 56);
    /* 2000 ns before a launch, at 1 GHz from 0, then the load of the parameter; SM 0 starts at 0.
     */
    if (round == 0) {
      CHECK_EQUAL(out[0], 2000 + 8);
      CHECK_EQUAL(out[4] % 32, 0);
    }
  }
  machine_close(&m);
}

/* Two warps on one SM: each issues when the other waits; one issue a cycle. */
static void test_two_warps(void) {
  machine m;
  sim_error error;
  uint64_t *out;
  void *args[] = {&out};
  sim_config config;
  machine_config(&config);
  config.sms = 1;
  machine_open_with(&m, straight, &config);
  out = sim_memory_alloc(m.device, 256, 8);
  CHECK_EQUAL(machine_run(&m, "straight", 1, 64, args, 0, &error), SIM_OK);
  /* The second warp stores last: it began a cycle later, and the barrier let both go on when it,
   * the later one, had come: one cycle more between its reads at most. */
  CHECK(out[1] - out[0] >= 627 && out[1] - out[0] <= 630);
  machine_close(&m);
}

static sample *take(machine *m, unsigned blocks, uint32_t count) {
  sample *samples = sim_memory_alloc(m->device, blocks * count * sizeof *samples, 8);
  void *args[] = {&samples, &count};
  sim_error error;
  if (machine_run(m, "sample", blocks, 1, args, 0, &error) != SIM_OK) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  return samples;
}

static void test_skew_and_timer(void) {
  machine m;
  sim_config config;
  sample *s;
  machine_config(&config);
  config.skew_cycles = 1000000;
  config.timer_step_ns = 1000;
  machine_open_with(&m, sampler, &config);
  s = take(&m, 8, 200);
  for (unsigned i = 0; i < 8 * 200; i++) {
    uint64_t since = s[i].timer - config.epoch_ns, cycle = s[i].clock - s[i].sm * 1000000u;
    CHECK_EQUAL(s[i].sm, i / 200 % 4);
    CHECK_EQUAL(since % 1000, 0);
    /* The timer is read when the clock's read is over, 4 cycles on or (two blocks share the SM)
     * a little later; at 1 GHz a cycle is a ns. */
    CHECK(since <= cycle + 6 && cycle + 4 < since + 1000);
  }
  machine_close(&m);
}

/* From 10 us on SM 1 runs at half the rate; the others do not. */
static void test_rates(void) {
  machine m;
  sim_config config;
  sample *s;
  uint64_t half, whole;
  machine_config(&config);
  config.sms = 2;
  config.skew_cycles = 0;
  config.timer_step_ns = 1;
  config.rates = "1@10000=500000000";
  machine_open_with(&m, sampler, &config);
  s = take(&m, 2, 1000);
  CHECK_EQUAL(s[0].sm, 0);
  CHECK_EQUAL(s[1000].sm, 1);
  for (unsigned i = 0; i < 2000; i++) {
    uint64_t ns = s[i].timer - config.epoch_ns;
    uint64_t cycles = s[i].sm == 0 || ns <= 10000 ? ns : 10000 + (ns - 10000) / 2;
    CHECK(s[i].clock + 4 == cycles || s[i].clock + 5 == cycles || s[i].clock + 3 == cycles);
  }
  half = s[1999].clock - s[1900].clock;
  whole = s[1999].timer - s[1900].timer;
  CHECK_EQUAL(half * 2, whole);
  machine_close(&m);
}

static void test_drift(void) {
  machine m;
  sim_config config;
  sample *s;
  double rates[4];
  machine_config(&config);
  config.drift_ppm = 50000;
  config.timer_step_ns = 1;
  config.seed = 7;
  machine_open_with(&m, sampler, &config);
  s = take(&m, 4, 2000);
  for (unsigned b = 0; b < 4; b++) {
    const sample *first = s + b * 2000, *last = first + 1999;
    rates[first->sm] = (double)(last->clock - first->clock) / (double)(last->timer - first->timer);
    CHECK(rates[first->sm] > 0.949 && rates[first->sm] < 1.051);
  }
  CHECK(rates[0] != rates[1] && rates[1] != rates[2] && rates[2] != rates[3]);
  machine_close(&m);
}

static void test_idle(void) {
  machine m;
  sample *first, *second;
  machine_open(&m, sampler);
  first = take(&m, 1, 1);
  sim_device_idle(m.device, 5000000);
  second = take(&m, 1, 1);
  CHECK(second->clock - first->clock >= 5002000 && second->clock - first->clock < 5002100);
  CHECK(second->timer - first->timer >= 5001968);
  CHECK(sim_device_time_ns(m.device) >= 5004000);
  sim_device_reset(m.device); /* clocks go on */
  CHECK(sim_device_time_ns(m.device) >= 5004000);
  m.module = sim_module_load(m.device, m.program, NULL);
  second = take(&m, 1, 1);
  CHECK(second->clock >= 5004000);
  machine_close(&m);
}

/* ---- several grids, several devices, PTX of machine_warp.cu ---- */

static void test_interleaving(const char *text) {
  machine m;
  sim_error error;
  uint32_t *flags, *next, *list, first_tag = 1, second_tag = 2;
  void *args[2][3];
  sim_grid *grids[2];
  sim_dim3 one = {1, 1, 1}, twelve = {12, 1, 1};
  unsigned changes = 0, done = 0;
  machine_open(&m, text);
  flags = sim_memory_alloc(m.device, 8, 4);
  memset(flags, 0, 8);
  {
    uint32_t *a = flags, *b = flags + 1;
    void *forward[] = {&a, &b}, *backward[] = {&b, &a};
    sim_kernel *meet = sim_module_kernel(m.module, "grids_meet");
    grids[0] = sim_grid_begin(meet, one, one, forward, 0, &error);
    grids[1] = sim_grid_begin(meet, one, one, backward, 0, &error);
  }
  CHECK_EQUAL(sim_grid_id(grids[0]), 1);
  CHECK_EQUAL(sim_grid_id(grids[1]), 2);
  CHECK_EQUAL(sim_device_run(m.device, 10, &error), SIM_OK); /* a few steps only */
  CHECK(sim_device_busy(m.device) && !sim_grid_done(grids[0]));
  while (done < 2 && CHECK_EQUAL(sim_device_run(m.device, UINT64_MAX, &error), SIM_OK)) {
    done = (unsigned)sim_grid_done(grids[0]) + sim_grid_done(grids[1]);
    CHECK(done > 0);
  }
  CHECK(!sim_device_busy(m.device));
  sim_grid_free(grids[0]);
  sim_grid_free(grids[1]);

  next = sim_memory_alloc(m.device, 4, 4);
  list = sim_memory_alloc(m.device, 24 * 4, 4);
  *next = 0;
  for (int i = 0; i < 2; i++) {
    args[i][0] = &next;
    args[i][1] = &list;
    args[i][2] = i == 0 ? &first_tag : &second_tag;
    grids[i] = sim_grid_begin(sim_module_kernel(m.module, "record_blocks"), twelve,
                              (sim_dim3){32, 1, 1}, args[i], 0, &error);
  }
  while (sim_device_busy(m.device) &&
         CHECK_EQUAL(sim_device_run(m.device, UINT64_MAX, &error), SIM_OK)) {
  }
  CHECK_EQUAL(*next, 24);
  for (int i = 1; i < 16; i++) {
    changes += list[i] >> 16 != list[i - 1] >> 16;
  }
  CHECK(changes >= 8); /* block by block, not one grid before the other */
  sim_grid_free(grids[0]);
  sim_grid_free(grids[1]);
  machine_close(&m);
}

static void test_two_devices(void) {
  machine m;
  sim_device *other;
  sim_module *module;
  sim_error error;
  uint64_t *mine, *theirs;
  void *args[] = {&theirs};
  sim_grid *grid;
  machine_open(&m, straight);
  other = sim_device_open(1, &m.config, &error);
  module = sim_module_load(other, m.program, &error);
  mine = sim_memory_alloc(m.device, 256, 8);
  theirs = sim_memory_alloc(other, 256, 8);
  CHECK(sim_memory_has(other, theirs, 256) && !sim_memory_has(m.device, theirs, 1));
  CHECK(!sim_memory_has(other, (char *)theirs + 1, 256));
  grid = sim_grid_begin(sim_module_kernel(module, "straight"), (sim_dim3){1, 1, 1},
                        (sim_dim3){32, 1, 1}, args, 0, &error);
  CHECK_EQUAL(sim_device_run(m.device, UINT64_MAX, &error), SIM_OK); /* nothing of this one */
  CHECK(!sim_grid_done(grid));
  CHECK_EQUAL(sim_device_run(other, UINT64_MAX, &error), SIM_OK);
  CHECK(sim_grid_done(grid));
  CHECK_EQUAL(theirs[1] - theirs[0], 627);
  sim_grid_free(grid);
  args[0] = &mine; /* the other device's memory is not this one's */
  grid = sim_grid_begin(sim_module_kernel(module, "straight"), (sim_dim3){1, 1, 1},
                        (sim_dim3){32, 1, 1}, args, 0, &error);
  CHECK_EQUAL(sim_device_run(other, UINT64_MAX, &error), SIM_ILLEGAL_ADDRESS);
  CHECK(sim_grid_done(grid));
  sim_grid_free(grid);
  CHECK(sim_memory_map(other, mine, 256)); /* until it is mapped */
  grid = sim_grid_begin(sim_module_kernel(module, "straight"), (sim_dim3){1, 1, 1},
                        (sim_dim3){32, 1, 1}, args, 0, &error);
  CHECK_EQUAL(sim_device_run(other, UINT64_MAX, &error), SIM_OK);
  sim_grid_free(grid);
  CHECK(sim_memory_unmap(other, mine) && !sim_memory_unmap(other, mine));
  sim_device_close(other);
  machine_close(&m);
}

/* The log of a run with drift, random skew and several blocks an SM. */
static char *logged(uint64_t seed) {
  char path[] = "/tmp/inkmark-sim-log-XXXXXX", *text;
  machine m;
  sim_config config;
  int file = mkstemp(path);
  if (file < 0) {
    perror(path);
    exit(1);
  }
  close(file);
  machine_config(&config);
  config.seed = seed;
  config.skew_random = true;
  config.drift_ppm = 100;
  config.log_path = path;
  machine_open_with(&m, sampler, &config);
  take(&m, 20, 10);
  machine_close(&m);
  text = machine_read_file(path);
  unlink(path);
  return text;
}

static void test_log(void) {
  char *first = logged(1), *again = logged(1), *other = logged(2);
  unsigned clocks = 0, timers = 0, grids = 0, sms = 0;
  CHECK(strcmp(first, again) == 0);
  CHECK(strcmp(first, other) != 0);
  for (const char *line = first; *line != '\0'; line = strchr(line, '\n') + 1) {
    clocks += strncmp(line, "clock64 0 1 ", 12) == 0;
    timers += strncmp(line, "globaltimer 0 1 ", 16) == 0;
    grids += strncmp(line, "grid 0 1 sample 20 1 1 1 1 1 ", 29) == 0;
    sms += strncmp(line, "sm 0 ", 5) == 0;
  }
  CHECK_EQUAL(clocks, 200);
  CHECK_EQUAL(timers, 200);
  CHECK_EQUAL(grids, 1);
  CHECK_EQUAL(sms, 4);
  free(first);
  free(again);
  free(other);
}

/* What the log says of a read is what the kernel got. */
static void test_log_values(void) {
  char path[] = "/tmp/inkmark-sim-log-XXXXXX", *text, *line;
  machine m;
  sim_config config;
  sample *s;
  unsigned found = 0, places[6] = {0};
  int file = mkstemp(path);
  if (file >= 0) {
    close(file);
  }
  machine_config(&config);
  config.log_path = path;
  machine_open_with(&m, sampler, &config);
  s = take(&m, 6, 5);
  text = machine_read_file(path);
  for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    unsigned block, sm, ptx_line;
    unsigned long long value, ns, ps;
    if (sscanf(line, "clock64 0 1 %u 0 0 0 %u %u 0 %llu %llu.%llu", &block, &sm, &ptx_line, &value,
               &ns, &ps) == 6 && CHECK(block < 6 && places[block] < 5)) {
      const sample *got = &s[block * 5 + places[block]++];
      CHECK_EQUAL(value, got->clock);
      CHECK_EQUAL(sm, got->sm);
      CHECK_EQUAL(ptx_line, 9);
      CHECK_EQUAL(value, ns + sm * 1000003u); /* 1 GHz, no drift */
      CHECK_EQUAL(ps, 0);
      found++;
    }
  }
  CHECK_EQUAL(found, 30);
  free(text);
  machine_close(&m);
  unlink(path);
}

int main(int argc, char **argv) {
  test_counted_cycles();
  test_two_warps();
  test_skew_and_timer();
  test_rates();
  test_drift();
  test_idle();
  test_two_devices();
  test_log();
  test_log_values();
  if (argc > 1) {
    char *text = machine_read_file(argv[1]);
    test_interleaving(text);
    free(text);
  }
  return machine_result();
}
