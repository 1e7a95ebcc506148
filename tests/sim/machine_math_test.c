/* SPDX-License-Identifier: MIT */
/* CUDA's math functions on the machine against the host's, within a few units in the last place.
 * argv[1] is the PTX. */
#include "machine_math.h"

#include <math.h>
#include <stdlib.h>

#include "machine_check.h"

#define COUNT 512

static machine m;

static double argument(double least, double most) {
  return least + (most - least) * (double)(machine_random() >> 11) * 0x1p-53;
}

static void run(const char *name, void *in, void *out) {
  void *args[] = {&in, &out};
  sim_error error;
  if (machine_run(&m, name, COUNT / 64, 64, args, 0, &error) != SIM_OK) {
    fprintf(stderr, "%s: %s\n", name, error.text);
    machine_failures++;
  }
}

static void compare(const char *name, double x, double got, double want, double tolerance) {
  machine_checks++;
  if (!(fabs(got - want) <= tolerance * (fabs(want) + 1e-3)) && !(isnan(got) && isnan(want))) {
    machine_failures++;
    fprintf(stderr, "%s(%.17g) is %.17g, not %.17g\n", name, x, got, want);
  }
}

static void check(const char *single, const char *wide, double (*host)(double), double least,
                  double most) {
  float *in = sim_memory_alloc(m.device, COUNT * 4, 8),
        *out = sim_memory_alloc(m.device, COUNT * 4, 8);
  double *in64 = sim_memory_alloc(m.device, COUNT * 8, 8);
  double *out64 = sim_memory_alloc(m.device, COUNT * 8, 8);
  for (int i = 0; i < COUNT; i++) {
    in64[i] = argument(least, most);
    in[i] = (float)in64[i];
  }
  run(single, in, out);
  run(wide, in64, out64);
  for (int i = 0; i < COUNT; i++) {
    compare(single, (double)in[i], (double)out[i], host((double)in[i]), 2e-6);
    compare(wide, in64[i], out64[i], host(in64[i]), 1e-14);
  }
}

static void check_pairs(void) {
  double *in = sim_memory_alloc(m.device, COUNT * 8, 8);
  double *out = sim_memory_alloc(m.device, COUNT * 5 * 8, 8);
  for (int i = 0; i < COUNT; i++) {
    in[i] = argument(-50, 50);
  }
  run("pairs_f64", in, out);
  for (int i = 0; i < COUNT; i++) {
    double x = in[i], y = in[(i + 37) % COUNT];
    compare("pow", x, out[i * 5], pow(fabs(x), y * 0.1), 1e-13);
    compare("atan2", x, out[i * 5 + 1], atan2(x, y), 1e-14);
    compare("fmod", x, out[i * 5 + 2], fmod(x, y), 0);
    compare("hypot", x, out[i * 5 + 3], hypot(x, y), 1e-14);
    compare("remainder", x, out[i * 5 + 4], remainder(x, y), 0);
  }
}

int main(int argc, char **argv) {
  char *text;
  if (argc < 2) {
    return 2;
  }
  text = machine_read_file(argv[1]);
  machine_open(&m, text);
  free(text);
#define X(name, least, most) check(#name "_f32", #name "_f64", name, least, most);
  MATH_FUNCTIONS(X)
#undef X
  check_pairs();
  machine_close(&m);
  return machine_result();
}
