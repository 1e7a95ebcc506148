/* SPDX-License-Identifier: MIT */
/* Runs a program over and over with marks off, on and without, one after another in turn, and
 * gathers each kernel's times and resources from CUPTI's activity in the captures. */
#include "cost.h"

#include "inkmark/capture.h"
#include "message.h"
#include "record/record_child.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- one run ---- */

static double monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Records one run into files of `folder`; CLI_OK or an exit code after a message. */
static int run_once(const cost_settings *settings, enum cost_mode mode, char **program,
                    const char *folder, double *wall_ns) {
  static const char *const devices[] = {DEVICE_CHOICES(CHOICE_WORD)};
  char output[512], messages[512], *marked = program[0];
  snprintf(output, sizeof output, "%s/run.%%p.ink", folder);
  snprintf(messages, sizeof messages, "%s/messages", folder);
  const char *const options[] = {"--activity", "--device", devices[settings->device],
                                 "--output",   output,     NULL};
  const record_child child = {
      .options = options, .program = program, .messages = messages, .marks_off = mode == COST_OFF};
  if (mode == COST_WITHOUT)
    program[0] = (char *)(uintptr_t)settings->baseline;
  const double begin = monotonic_ns();
  const int code = record_child_run(&child);
  *wall_ns = monotonic_ns() - begin;
  program[0] = marked;
  return code;
}

/* ---- what a run's captures say ---- */

static cost_kernel *find_kernel(cost_result *result, const char *name, const char *label) {
  for (size_t i = 0; i < result->count; i++)
    if (!strcmp(result->kernels[i].name, name))
      return &result->kernels[i];
  /* Names in unnamed namespaces differ from build to build; what can be read of them does not. */
  for (size_t i = 0; i < result->count; i++)
    if (strstr(name, "_GLOBAL__N_") && !strcmp(result->kernels[i].label, label))
      return &result->kernels[i];
  cost_kernel *grown = realloc(result->kernels, (result->count + 1) * sizeof *grown);
  if (!grown)
    return NULL;
  result->kernels = grown;
  cost_kernel *kernel = &grown[result->count];
  *kernel = (cost_kernel){.name = strdup(name)};
  snprintf(kernel->label, sizeof kernel->label, "%s", label);
  for (int mode = 0; mode < COST_MODES; mode++) {
    kernel->modes[mode].run_ns = malloc(result->runs * sizeof(double));
    for (size_t i = 0; kernel->modes[mode].run_ns && i < result->runs; i++)
      kernel->modes[mode].run_ns[i] = NAN;
  }
  result->count++; /* from here on cost_release frees it */
  return kernel->name && kernel->modes[0].run_ns && kernel->modes[1].run_ns &&
                 kernel->modes[2].run_ns
             ? kernel
             : NULL;
}

static const ink_activity_device *device_of(const ink_capture *capture, int32_t index) {
  const ink_activity_device *list;
  const size_t n = ink_capture_activity_devices(capture, &list);
  for (size_t i = 0; i < n; i++)
    if (list[i].index == index)
      return &list[i];
  return NULL;
}

static void note_left_out(cost_result *result, const char *label) {
  char *to = result->left_out[result->left_out_count];
  if (result->left_out_count == sizeof result->left_out / sizeof *result->left_out)
    return;
  snprintf(to, sizeof *result->left_out, "%.127s", label);
  for (size_t i = 0; i < result->left_out_count; i++)
    if (!strcmp(result->left_out[i], to))
      return;
  result->left_out_count++;
}

/* Where --kernel matches none of the kernels that ran. */
static int say_left_out(const cost_result *result, const char *program) {
  const char *names[sizeof result->left_out / sizeof *result->left_out];
  char list[1024];
  for (size_t i = 0; i < result->left_out_count; i++)
    names[i] = result->left_out[i];
  cli_list_near(result->settings->kernels, names, result->left_out_count, list, sizeof list);
  message_say("no kernel of '%s' matches '%s': it runs %s", program, result->settings->kernels, list);
  return CLI_FAILED;
}

static bool take_kernel(cost_result *result, const ink_capture *capture, const ink_activity *a,
                        const regex_t *wanted, enum cost_mode mode, size_t run) {
  static const ink_activity_device unknown;
  char label[256];
  const char *name = ink_capture_activity_name(capture, a->name);
  ink_activity_short_name(name, label, sizeof label);
  if (wanted && regexec(wanted, label, 0, NULL, 0)) {
    note_left_out(result, label);
    return true;
  }
  if (!a->begin_ns && !a->end_ns) {
    result->untimed++;
    return true;
  }
  cost_kernel *kernel = find_kernel(result, name, label);
  if (!kernel)
    return false;
  cost_seen *seen = &kernel->modes[mode];
  if (isnan(seen->run_ns[run])) {
    seen->run_ns[run] = 0;
    seen->launches = 0;
  }
  seen->run_ns[run] += (double)(a->end_ns - a->begin_ns);
  seen->launches++;
  const ink_activity_device *device = device_of(capture, a->device);
  seen->sample = *a;
  seen->occupancy = ink_activity_occupancy(a, device ? device : &unknown);
  return true;
}

static int take_capture(cost_result *result, const char *path, const regex_t *wanted,
                        enum cost_mode mode, size_t run) {
  ink_capture *capture;
  ink_error error = {0};
  const ink_activity *const *list;
  if (ink_capture_open(path, &capture, &error))
    return message_failure(&error);
  const size_t n = ink_capture_activities(capture, &list, NULL);
  bool fine = true;
  result->simulated = result->simulated || ink_capture_simulated(capture);
  for (size_t i = 0; i < n && fine; i++)
    if (list[i]->kind == INK_ACTIVITY_KERNEL)
      fine = take_kernel(result, capture, list[i], wanted, mode, run);
  ink_capture_free(capture);
  if (!fine)
    message_say("out of memory");
  return fine ? CLI_OK : CLI_FAILED;
}

static int take_run(cost_result *result, const char *folder, const regex_t *wanted,
                    enum cost_mode mode, size_t run) {
  char pattern[512];
  glob_t found = {0};
  int code = CLI_OK;
  uint64_t before[64];
  for (size_t i = 0; i < result->count && i < 64; i++)
    before[i] = result->kernels[i].modes[mode].launches;
  const size_t known = result->count < 64 ? result->count : 64;
  snprintf(pattern, sizeof pattern, "%s/*.ink", folder);
  if (!glob(pattern, 0, NULL, &found))
    for (size_t i = 0; i < found.gl_pathc && !code; i++) {
      code = take_capture(result, found.gl_pathv[i], wanted, mode, run);
      unlink(found.gl_pathv[i]);
    }
  globfree(&found);
  for (size_t i = 0; i < known && run; i++)
    if (result->kernels[i].modes[mode].launches != before[i])
      result->kernels[i].modes[mode].uneven = true;
  return code;
}

/* ---- all runs ---- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

/* What `record` said of activity that it could not record, for where CUPTI is not there. */
static void find_reason(cost_result *result, const char *folder) {
  char path[512], line[512];
  snprintf(path, sizeof path, "%s/messages", folder);
  FILE *file = fopen(path, "r");
  snprintf(result->why_no_kernels, sizeof result->why_no_kernels, "no kernel ran%s",
           result->settings->kernels ? " whose name matches" : "");
  while (file && fgets(line, sizeof line, file)) {
    const char *why = strstr(line, "activity") ? strstr(line, "not recorded: ") : NULL;
    line[strcspn(line, "\n")] = 0;
    if (why) {
      snprintf(result->why_no_kernels, sizeof result->why_no_kernels, "%s",
               why + strlen("not recorded: "));
      break;
    }
  }
  if (file)
    fclose(file);
}

static int run_all(cost_result *result, char **program, const regex_t *wanted, const char *folder) {
  const int modes = result->has_baseline ? COST_MODES : COST_WITHOUT;
  int code = CLI_OK;
  for (size_t run = 0; run < result->runs && !code; run++)
    for (int i = 0; i < modes && !code; i++) {
      const int mode =
          (i + (int)(run % (size_t)modes)) % modes; /* whoever is first is not always so */
      message_progress((void *)(uintptr_t) "running", run * (size_t)modes + (size_t)i,
                       result->runs * (size_t)modes);
      code = run_once(result->settings, (enum cost_mode)mode, program, folder,
                      &result->wall_ns[mode][run]);
      if (!code)
        code = take_run(result, folder, wanted, (enum cost_mode)mode, run);
    }
  message_progress_end();
  if (!code && !result->count)
    find_reason(result, folder);
  return code;
}

int cost_measure(const cost_settings *settings, char **program, cost_result *out) {
  *out = (cost_result){.settings = settings,
                       .runs = (size_t)settings->runs,
                       .has_baseline = settings->baseline != NULL};
  const char *base = getenv("TMPDIR");
  char folder[256];
  regex_t wanted;
  snprintf(folder, sizeof folder, "%s/inkmark-cost-XXXXXX", base && *base ? base : "/tmp");
  for (int mode = 0; mode < COST_MODES; mode++)
    if (!(out->wall_ns[mode] = calloc(out->runs, sizeof(double)))) {
      message_say("out of memory");
      return CLI_FAILED;
    }
  if (!mkdtemp(folder)) {
    message_say("cannot make a folder '%s': %s", folder, message_errno(errno));
    return CLI_FAILED;
  }
  if (settings->kernels && regcomp(&wanted, settings->kernels, REG_EXTENDED | REG_NOSUB)) {
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return CLI_USAGE; /* was checked by the command */
  }
  cost_codes_read(program[0], &out->code[0]);
  if (out->has_baseline)
    cost_codes_read(settings->baseline, &out->code[1]);
  int code = run_all(out, program, settings->kernels ? &wanted : NULL, folder);
  if (!code && !out->count && out->left_out_count)
    code = say_left_out(out, program[0]);
  if (settings->kernels)
    regfree(&wanted);
  nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return code;
}

void cost_release(cost_result *result) {
  for (size_t i = 0; i < result->count; i++) {
    free(result->kernels[i].name);
    for (int mode = 0; mode < COST_MODES; mode++)
      free(result->kernels[i].modes[mode].run_ns);
  }
  free(result->kernels);
  cost_codes_free(&result->code[0]);
  cost_codes_free(&result->code[1]);
  for (int mode = 0; mode < COST_MODES; mode++)
    free(result->wall_ns[mode]);
}
