/* SPDX-License-Identifier: MIT */
/* Prints how many thread instructions a CPU second the simulated machine executes, for a few mixes
 * of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine.h"

#define ROUNDS 5000

static const struct mix {
  const char *name, *body;
} mixes[] = {
    {"integer", "add.s32 a, a, i; xor.b32 b, b, a; shl.b32 c, b, 3; mad.lo.s32 a, c, b, a;"
                " and.b32 b, a, 255; shr.u32 c, a, 5; add.s32 a, a, c; sub.s32 b, b, c;"},
    {"float", "fma.rn.f32 f, f, g, h; add.f32 g, g, h; mul.f32 h, f, 0f3F7FFFFF;"
              " fma.rn.f32 f, g, h, f; sub.f32 g, f, g; fma.rn.f32 h, h, f, g; add.f32 f, f, h;"
              " max.f32 g, g, h;"},
    {"shared memory", "st.shared.u32 [s], a; ld.shared.u32 b, [s]; add.s32 a, a, b;"
                      " st.shared.u32 [s], b; ld.shared.u32 c, [s]; add.s32 a, a, c;"},
    {"global memory", "ld.global.u32 b, [o]; add.s32 a, a, b; st.global.u32 [o], a;"},
    {"divergent",
     "and.b32 c, t, 3; setp.eq.u32 p, c, 1; @p bra x; add.s32 a, a, 1; mul.lo.s32 a, a,"
     " 3; bra y; x: add.s32 a, a, 5; xor.b32 a, a, i; y: add.s32 b, b, a;"},
    {"shuffles", "shfl.sync.bfly.b32 b, a, 1, 31, -1; add.s32 a, a, b;"
                 " shfl.sync.down.b32 c, a, 2, 31, -1; add.s32 a, a, c;"},
};

static double run(const struct mix *mix, uint64_t *instructions) {
  char text[4096];
  const char *texts = text;
  sim_config config;
  sim_error error = {.kind = SIM_OK};
  sim_program *program;
  sim_device *device;
  sim_module *module;
  sim_grid *grid;
  sim_stats stats;
  void *out, *args[1] = {&out};
  clock_t begin;
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_75\n.address_size 64\n"
           ".visible .entry k(.param .u64 base) {\n .reg .b64 o; .reg .b32 a, b, c, i, t, s;\n"
           " .reg .f32 f, g, h; .reg .pred p, q; .shared .b32 buffer[256];\n"
           " ld.param.u64 o, [base]; mov.u32 t, %%tid.x; mul.wide.u32 o, t, 4;\n"
           " { .reg .b64 x; ld.param.u64 x, [base]; add.s64 o, o, x; }\n"
           " mov.u32 s, buffer; mad.lo.u32 s, t, 4, s; mov.u32 i, 0; mov.f32 h, 0f3F000000;\n"
           "again: %s\n add.s32 i, i, 1; setp.lt.s32 q, i, %d; @q bra again;\n"
           " st.global.u32 [o], a; ret;\n}\n",
           mix->body, ROUNDS);
  sim_config_from_environment(&config);
  program = sim_program_parse(&texts, 1, &error);
  device = program != NULL ? sim_device_open(0, &config, &error) : NULL;
  module = device != NULL ? sim_module_load(device, program, &error) : NULL;
  if (module == NULL) {
    fprintf(stderr, "%s: %s\n", mix->name, error.text);
    exit(1);
  }
  out = sim_memory_alloc(device, 1024, 4);
  grid = sim_grid_begin(sim_module_kernel(module, "k"), (sim_dim3){8, 1, 1}, (sim_dim3){256, 1, 1},
                        args, 0, &error);
  begin = clock();
  while (grid != NULL && !sim_grid_done(grid)) {
    if (sim_device_run(device, UINT64_MAX, &error) != SIM_OK) {
      fprintf(stderr, "%s: %s\n", mix->name, error.text);
      exit(1);
    }
  }
  begin = clock() - begin;
  sim_device_stats(device, &stats);
  *instructions = stats.thread_instructions;
  sim_grid_free(grid);
  sim_device_close(device);
  sim_program_free(program);
  return (double)begin / CLOCKS_PER_SEC;
}

int main(void) {
  for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
    uint64_t instructions;
    double seconds = run(&mixes[i], &instructions);
    printf("%-14s %6.0f M thread instructions a CPU second\n", mixes[i].name,
           (double)instructions / seconds / 1e6);
  }
  return 0;
}
