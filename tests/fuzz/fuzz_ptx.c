/* SPDX-License-Identifier: MIT */
/* Any bytes as PTX text: parsed, linked, and where that works each of the first kernels is launched
 * and run for a few instructions on a small device. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_KERNELS 4
#define MOST_GLOBAL_BYTES (1u << 20)
#define MOST_REGISTERS 20000

static void drop(void *user, const char *text, size_t bytes) {
  (void)user;
  (void)text;
  (void)bytes;
}

/* A limit of this test, not of the machine: programs that ask for much memory take long. */
static bool modest(const sim_program *program) {
  uint64_t total = 0;
  for (size_t i = 0; i < program->symbol_count; i++) {
    total += program->symbols[i].bytes;
    if (total > MOST_GLOBAL_BYTES) {
      return false;
    }
  }
  return true;
}

static void launch(sim_kernel *kernel, sim_device *device) {
  static uint8_t zeros[1 << 20];
  sim_error error;
  size_t parameter_bytes, offset, bytes;
  uint32_t threads;
  int parameters;
  void **args;
  sim_grid *grid;
  sim_kernel_limits(kernel, NULL, NULL, &threads, &parameter_bytes, &parameters);
  args = calloc((size_t)parameters + 1, sizeof *args);
  if (args == NULL) {
    return;
  }
  for (int i = 0; i < parameters; i++) {
    args[i] = zeros;
    if (sim_kernel_parameter(kernel, i, &offset, &bytes) && bytes > sizeof zeros) {
      free(args);
      return;
    }
  }
  grid = sim_grid_begin(kernel, (sim_dim3){2, 1, 1}, (sim_dim3){threads < 40 ? threads : 40, 1, 1},
                        args, 64, &error);
  if (grid != NULL) {
    while (!sim_grid_done(grid) && sim_device_run(device, UINT64_MAX, &error) == SIM_OK) {
    }
    sim_grid_free(grid);
  }
  free(args);
}

static void run(const sim_program *program) {
  sim_config config = {.devices = 1, .sms = 1, .blocks_per_sm = 2, .clock_hz = 1000000000,
                       .timer_step_ns = 32, .max_steps = 500, .rates = "", .log_path = ""};
  sim_error error;
  sim_device *device = sim_device_open(0, &config, &error);
  sim_module *module = device != NULL ? sim_module_load(device, program, &error) : NULL;
  unsigned left = MOST_KERNELS;
  for (size_t i = 0; module != NULL && i < program->function_count && left != 0; i++) {
    const sim_function *function = &program->functions[i];
    sim_kernel *kernel = function->entry && function->registers < MOST_REGISTERS
                             ? sim_module_kernel(module, function->name)
                             : NULL;
    if (kernel != NULL) {
      launch(kernel, device);
      left--;
    }
  }
  sim_device_close(device);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  char *text = malloc(bytes + 1);
  const char *texts[2];
  sim_error error;
  sim_program *program;
  const uint8_t *cut = memchr(data, '\f', bytes); /* a form feed parts two texts to be linked */
  if (text == NULL) {
    return 0;
  }
  memcpy(text, data, bytes);
  text[bytes] = '\0';
  texts[0] = text;
  texts[1] = cut != NULL ? text + (cut - data) + 1 : text;
  if (cut != NULL) {
    text[cut - data] = '\0';
  }
  sim_set_print(drop, NULL);
  program = sim_program_parse(texts, cut != NULL ? 2 : 1, &error);
  if (program == NULL) {
    if (error.kind == SIM_OK || error.text[0] == '\0') {
      abort(); /* a failure must say something */
    }
  } else if (modest(program)) {
    run(program);
  }
  sim_program_free(program);
  free(text);
  return 0;
}
