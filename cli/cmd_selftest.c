/* SPDX-License-Identifier: MIT */
/* `inkmark selftest`: records a program of its own on the device at hand and says on one page
 * whether what inkmark takes for granted holds there. */
#include "selftest.h"

#include "commands.h"
#include "grid.h"
#include "json.h"
#include "message.h"
#include "outfile.h"
#include "record.h"
#include "record_child.h"

#include "inkmark/selftest.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct selftest_settings {
  cli_common common;
  const char *output, *program, *keep;
  bool forget;
  int device, format;
} selftest_settings;

static const cli_option options[] = {
    {'d', "device", CLI_CHOICE, "auto|gpu|sim", offsetof(selftest_settings, device),
     "a real GPU, or the simulated device, as for 'inkmark record'"},
    {'f', "format", CLI_CHOICE, "text|json", offsetof(selftest_settings, format),
     "text (the default), or the same for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(selftest_settings, output),
     "where to write; - (the default) is standard output"},
    {0, "program", CLI_TEXT, "FILE", offsetof(selftest_settings, program),
     "selftest.cu built by other means than this inkmark's"},
    {0, "keep-capture", CLI_TEXT, "FILE", offsetof(selftest_settings, keep),
     "leaves the capture there"},
    {0, "forget", CLI_FLAG, NULL, offsetof(selftest_settings, forget),
     "does not store the page for the captures of this machine"},
    {0},
};

/* ---- the page ---- */

static void first_line(const selftest_page *page, FILE *to) {
  char date[64];
  const time_t now = time(NULL);
  struct tm utc;
  size_t of[4] = {0};
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
  for (size_t i = 0; i < page->count; i++)
    of[page->checks[i].verdict]++;
  fprintf(to, "self-test of %s: %zu checks, %zu ok, %zu unusual, %zu wrong, %zu not known\n", date,
          page->count, of[SELFTEST_FINE], of[SELFTEST_UNUSUAL], of[SELFTEST_WRONG],
          of[SELFTEST_UNKNOWN]);
}

static void print_page(const selftest_page *page, const loaded_capture *loaded, FILE *to) {
  const ink_device_info *devices;
  first_line(page, to);
  if (ink_capture_devices(loaded->capture, &devices))
    fprintf(to, "%s, %u SMs, compute capability %u.%u, driver %u\n", devices[0].name,
            devices[0].sm_count, devices[0].capability / 10, devices[0].capability % 10,
            devices[0].driver_version);
  if (ink_capture_simulated(loaded->capture))
    fprintf(to, "%s\n", LOAD_SIMULATED_LINE);
  for (size_t i = 0; i < page->count; i++) {
    const selftest_check *c = &page->checks[i];
    fprintf(to, "  %-9s  %-17s  %s\n", selftest_word(c->verdict), c->name, c->text);
  }
}

static void print_json(const selftest_page *page, const loaded_capture *loaded, FILE *to) {
  const ink_device_info *devices;
  json_writer json = {.to = to};
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(&json, "inkmark", INKMARK_VERSION);
  json_bool(&json, "simulated_clock", ink_capture_simulated(loaded->capture));
  if (ink_capture_devices(loaded->capture, &devices)) {
    json_string(&json, "device", devices[0].name);
    json_unsigned(&json, "driver_version", devices[0].driver_version);
  }
  json_string(&json, "verdict", selftest_word(selftest_worst(page)));
  json_open(&json, "checks", '[');
  for (size_t i = 0; i < page->count; i++) {
    json_open_flat(&json, NULL);
    json_string(&json, "check", page->checks[i].name);
    json_string(&json, "verdict", selftest_word(page->checks[i].verdict));
    json_string(&json, "text", page->checks[i].text);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
}

/* ---- keeping it ---- */

static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const bool fine = !mkdir(path, 0777) || errno == EEXIST;
    *slash = '/';
    if (!fine)
      return false;
  }
  return true;
}

/* For the captures to come; that it cannot be kept is said, and does not make the test fail. */
static void keep_page(const selftest_page *page, const loaded_capture *loaded) {
  char path[4096];
  const ink_device_info *devices;
  ink_error error = {0};
  if (!ink_capture_devices(loaded->capture, &devices) ||
      ink_selftest_path(&devices[0], path, sizeof path, &error)) {
    message_say("the page is not kept for captures: %s", error.message);
    return;
  }
  outfile file;
  if (!make_folders(path)) {
    message_say("the page is not kept for captures: cannot make '%s': %s", path,
                message_errno(errno));
    return;
  }
  if (!outfile_open(&file, path))
    return;
  print_page(page, loaded, file.stream);
  outfile_close(&file, true);
}

/* ---- running ---- */

static char *find_program(const selftest_settings *settings, bool simulates) {
  if (settings->program)
    return strdup(settings->program);
  char *found =
      simulates ? record_find_beside(INKMARK_BIN_TO_LIB "/inkmark/selftest/inkmark-selftest-sim",
                                     "../selftest/inkmark-selftest-sim")
                : record_find_beside(INKMARK_BIN_TO_LIB "/inkmark/selftest/inkmark-selftest",
                                     "../selftest/inkmark-selftest");
  if (!found)
    message_say(
        "the self-test's program is not installed with this inkmark, which was built without "
        "nvcc: build selftest.cu and give it with --program");
  return found;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

static int show(const selftest_settings *settings, const selftest_page *page,
                const loaded_capture *loaded) {
  outfile file;
  if (!outfile_open(&file, settings->output))
    return CLI_FAILED;
  if (settings->format)
    print_json(page, loaded, file.stream);
  else
    print_page(page, loaded, file.stream);
  if (!outfile_close(&file, true))
    return CLI_FAILED;
  if (!settings->forget)
    keep_page(page, loaded);
  return selftest_worst(page) == SELFTEST_WRONG ? CLI_CHECK_FAILED : CLI_OK;
}

static int judge(const selftest_settings *settings, const char *capture, const char *printed) {
  selftest_seen seen;
  selftest_page page;
  loaded_capture loaded;
  if (!selftest_read(printed, &seen) || !load_capture(capture, &loaded))
    return CLI_FAILED;
  selftest_judge(&seen, &loaded, &page);
  const int code = show(settings, &page, &loaded);
  unload_capture(&loaded);
  return code;
}

static int test(const selftest_settings *settings, char *program, bool simulates,
                const char *folder) {
  char capture[512], printed[512], messages[512];
  snprintf(capture, sizeof capture, "%s/selftest.ink", folder);
  snprintf(printed, sizeof printed, "%s/printed", folder);
  snprintf(messages, sizeof messages, "%s/messages", folder);
  const char *where = settings->keep ? settings->keep : capture;
  const char *const record[] = {"--activity", "--device", simulates ? "sim" : "gpu",
                                "--devices",  "0",        "--records-per-track",
                                "64",         "--tracks", simulates ? "4096" : "65536",
                                "--output",   where,      NULL};
  char *const command[] = {program, NULL};
  const int code = record_child_run(&(record_child){
      .options = record, .program = command, .output = printed, .messages = messages});
  return code ? code : judge(settings, where, printed);
}

static int run(int argc, char **argv) {
  selftest_settings settings = {0};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_selftest, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.keep && strchr(settings.keep, '%'))
    return cli_usage_error(&cmd_selftest, "--keep-capture takes no '%%'");
  const bool simulates =
      settings.device == DEVICE_SIM || (settings.device == DEVICE_AUTO && !record_gpu_is_here());
  char *program = find_program(&settings, simulates);
  if (!program)
    return CLI_FAILED;
  const char *base = getenv("TMPDIR");
  char folder[256];
  snprintf(folder, sizeof folder, "%s/inkmark-selftest-XXXXXX", base && *base ? base : "/tmp");
  int code = CLI_FAILED;
  if (mkdtemp(folder)) {
    code = test(&settings, program, simulates, folder);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  } else {
    message_say("cannot make a folder '%s': %s", folder, message_errno(errno));
  }
  free(program);
  return code;
}

const cli_command cmd_selftest = {
    .name = "selftest",
    .summary = "check what inkmark takes for granted on this device",
    .operands = "",
    .about =
        "Records a program of its own and checks on device 0: the step of globaltimer, that the "
        "clock rate is steady, SM ids, that each launch has a grid id of its own and CUPTI's is "
        "the "
        "same, how well the SMs' clocks are tied together, what a mark costs, and that no record "
        "is lost or in a wrong place under full load in several streams and a replayed graph. "
        "Prints one "
        "page and stores it: captures made on this machine from then on hold it ('inkmark info'). "
        "The "
        "exit code is 3 if something is wrong, 0 if it is merely unusual.",
    .examples = "inkmark selftest\ton the GPU at hand, or the simulated device\n"
                "inkmark selftest --format json -o selftest.json\tfor programs",
    .options = options,
    .operands_min = 0,
    .operands_max = 0,
    .operand_kind = "none",
    .run = run,
};
