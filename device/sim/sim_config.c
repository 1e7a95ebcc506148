/* SPDX-License-Identifier: MIT */
/* INKMARK_SIM_* variables into a sim_config. A value that does not parse ends the program: a run
 * on other settings than the ones asked for would be worse. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine.h"
#include "sim_clock.h"

#define EXIT_REFUSED 86 /* as wherever the simulated device cannot do what it is asked for */

void sim_end(int code) {
  syscall(SYS_exit_group, code);
  _exit(code);
}

_Noreturn static void refuse(const char *name, const char *value, const char *wanted) {
  fprintf(stderr, "inkmark-sim: %s=%s is not %s\n", name, value, wanted);
  fflush(NULL);
  sim_end(EXIT_REFUSED);
}

static bool parse_number(const char *text, uint64_t *value) {
  char *end;
  unsigned long long parsed;
  if (*text < '0' || *text > '9') {
    return false;
  }
  errno = 0;
  parsed = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0') {
    return false;
  }
  *value = parsed;
  return true;
}

static uint64_t number(const char *name, uint64_t standard, uint64_t least, uint64_t most) {
  const char *text = secure_getenv(name);
  uint64_t value = standard;
  char wanted[80];
  if (text == NULL || *text == '\0') {
    return standard;
  }
  if (!parse_number(text, &value) || value < least || value > most) {
    snprintf(wanted, sizeof wanted, "a whole number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    refuse(name, text, wanted);
  }
  return value;
}

static void read_skew(sim_config *config) {
  const char *text = secure_getenv("INKMARK_SIM_SKEW_CYCLES");
  const char *digits = text;
  config->skew_cycles = 1000003;
  config->skew_random = false;
  if (text == NULL || *text == '\0') {
    return;
  }
  if (strncmp(text, "random:", 7) == 0) {
    config->skew_random = true;
    digits = text + 7;
  }
  if (!parse_number(digits, &config->skew_cycles) || config->skew_cycles > UINT64_C(1) << 56) {
    refuse("INKMARK_SIM_SKEW_CYCLES", text, "a number of cycles or random:CYCLES");
  }
}

static void read_drift(sim_config *config) {
  const char *text = secure_getenv("INKMARK_SIM_DRIFT_PPM");
  char *end;
  config->drift_ppm = 0;
  if (text == NULL || *text == '\0') {
    return;
  }
  config->drift_ppm = strtod(text, &end);
  if (end == text || *end != '\0' || !(fabs(config->drift_ppm) <= 100000)) {
    refuse("INKMARK_SIM_DRIFT_PPM", text, "a number of ppm up to 100000");
  }
}

void sim_config_from_environment(sim_config *config) {
  const char *text;
  *config = (sim_config){0};
  config->devices = (int)number("INKMARK_SIM_DEVICES", 1, 1, SIM_DEVICES_MAX);
  config->sms = (int)number("INKMARK_SIM_SMS", 4, 1, 1024);
  config->first_sm = (int)number("INKMARK_SIM_FIRST_SM", 0, 0, 1024);
  config->blocks_per_sm = (int)number("INKMARK_SIM_BLOCKS_PER_SM", 4, 1, 32);
  config->seed = number("INKMARK_SIM_SEED", 0, 0, UINT64_MAX);
  config->clock_hz = number("INKMARK_SIM_CLOCK_HZ", 1000000000, 1000000, 100000000000u);
  config->timer_step_ns = number("INKMARK_SIM_TIMER_STEP_NS", 32, 1, 1000000000);
  config->epoch_ns = number("INKMARK_SIM_EPOCH_NS", UINT64_C(1700000000000000000), 0,
                            UINT64_C(8000000000000000000));
  config->max_steps = number("INKMARK_SIM_MAX_STEPS", 2000000000, 1, UINT64_MAX);
  read_skew(config);
  read_drift(config);
  text = secure_getenv("INKMARK_SIM_RATES");
  config->rates = text != NULL ? text : "";
  if (!sim_rates_valid(config->rates)) {
    refuse("INKMARK_SIM_RATES", text, "a list of SM@NS=HZ (HZ from 1000000 to 100000000000)");
  }
  text = secure_getenv("INKMARK_SIM_LOG");
  config->log_lanes = (int)number("INKMARK_SIM_LOG_LANES", 32, 1, 32);
  config->log_path = text != NULL ? text : "";
}
