/* SPDX-License-Identifier: MIT */
/* The variables of the simulated device: what they set, and that a value that does not parse ends
 * the program with code 86 and names the variable. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine_check.h"

static const char *const names[] = {
    "INKMARK_SIM_DEVICES", "INKMARK_SIM_SMS", "INKMARK_SIM_BLOCKS_PER_SM", "INKMARK_SIM_SEED",
    "INKMARK_SIM_CLOCK_HZ", "INKMARK_SIM_SKEW_CYCLES", "INKMARK_SIM_DRIFT_PPM",
    "INKMARK_SIM_RATES", "INKMARK_SIM_TIMER_STEP_NS", "INKMARK_SIM_EPOCH_NS",
    "INKMARK_SIM_MAX_STEPS", "INKMARK_SIM_LOG"};

static void clear(void) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    unsetenv(names[i]);
  }
}

static void test_defaults(void) {
  sim_config config;
  clear();
  sim_config_from_environment(&config);
  CHECK(config.devices == 1 && config.sms == 4 && config.blocks_per_sm == 4);
  CHECK(config.seed == 0 && config.clock_hz == 1000000000 && config.skew_cycles == 1000003);
  CHECK(!config.skew_random && config.drift_ppm == 0 && config.rates[0] == '\0');
  CHECK(config.timer_step_ns == 32 && config.epoch_ns == UINT64_C(1700000000000000000));
  CHECK(config.max_steps == 2000000000 && config.log_path[0] == '\0');
}

static void test_values(void) {
  sim_config config;
  setenv("INKMARK_SIM_DEVICES", "2", 1);
  setenv("INKMARK_SIM_SMS", "132", 1);
  setenv("INKMARK_SIM_BLOCKS_PER_SM", "1", 1);
  setenv("INKMARK_SIM_SEED", "18446744073709551615", 1);
  setenv("INKMARK_SIM_CLOCK_HZ", "1980000000", 1);
  setenv("INKMARK_SIM_SKEW_CYCLES", "random:500", 1);
  setenv("INKMARK_SIM_DRIFT_PPM", "12.5", 1);
  setenv("INKMARK_SIM_RATES", "*@1000=1000000,3@5=2000000000", 1);
  setenv("INKMARK_SIM_TIMER_STEP_NS", "1024", 1);
  setenv("INKMARK_SIM_EPOCH_NS", "0", 1);
  setenv("INKMARK_SIM_MAX_STEPS", "77", 1);
  setenv("INKMARK_SIM_LOG", "/tmp/x", 1);
  sim_config_from_environment(&config);
  CHECK(config.devices == 2 && config.sms == 132 && config.blocks_per_sm == 1);
  CHECK(config.seed == UINT64_MAX && config.clock_hz == 1980000000);
  CHECK(config.skew_random && config.skew_cycles == 500 && config.drift_ppm == 12.5);
  CHECK(strcmp(config.rates, "*@1000=1000000,3@5=2000000000") == 0);
  CHECK(config.timer_step_ns == 1024 && config.epoch_ns == 0 && config.max_steps == 77);
  CHECK(strcmp(config.log_path, "/tmp/x") == 0);
  clear();
}

/* In a child: its exit code, and what it said. */
static void refuse(const char *name, const char *value) {
  char text[512] = "";
  int ends[2], status;
  pid_t child;
  ssize_t n;
  if (pipe(ends) != 0 || (child = fork()) < 0) {
    perror("fork");
    exit(1);
  }
  if (child == 0) {
    sim_config config;
    setenv(name, value, 1);
    dup2(ends[1], 2);
    sim_config_from_environment(&config);
    _exit(0);
  }
  close(ends[1]);
  n = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 86) ||
      !CHECK(n > 0 && strstr(text, name) != NULL && strstr(text, value) != NULL &&
             strchr(text, '\n') == text + strlen(text) - 1)) {
    fprintf(stderr, "  %s=%s: %s\n", name, value, text);
  }
}

int main(void) {
  static const char *const bad[][2] = {
      {"INKMARK_SIM_DEVICES", "0"}, {"INKMARK_SIM_SMS", "four"}, {"INKMARK_SIM_SMS", "4x"},
      {"INKMARK_SIM_SMS", "-1"}, {"INKMARK_SIM_BLOCKS_PER_SM", "99999"},
      {"INKMARK_SIM_SEED", "18446744073709551616"}, {"INKMARK_SIM_CLOCK_HZ", "0"},
      {"INKMARK_SIM_SKEW_CYCLES", "random:"}, {"INKMARK_SIM_SKEW_CYCLES", "random"},
      {"INKMARK_SIM_DRIFT_PPM", "nan"}, {"INKMARK_SIM_DRIFT_PPM", "1e9"},
      {"INKMARK_SIM_RATES", "1@2"}, {"INKMARK_SIM_RATES", "1@2=3"},
      {"INKMARK_SIM_RATES", "x@2=1000000000"}, {"INKMARK_SIM_RATES", "1@2=1000000000;"},
      {"INKMARK_SIM_TIMER_STEP_NS", "0"}, {"INKMARK_SIM_EPOCH_NS", "1.5"},
      {"INKMARK_SIM_MAX_STEPS", "many"}};
  test_defaults();
  test_values();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    refuse(bad[i][0], bad[i][1]);
  }
  return machine_result();
}
