/* SPDX-License-Identifier: MIT */
/* `inkmark selftest`: records a program of its own on the device at hand and says on one page
 * whether what inkmark takes for granted holds there. */
#include "selftest.h"

#include "commands.h"
#include "grid.h"
#include "json.h"
#include "message.h"
#include "outfile.h"
#include "record/record.h"
#include "record/record_child.h"
#include "text_out.h"

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
  const char *output, *program, *keep, *devices;
  bool forget;
  int device, format;
} selftest_settings;

/* What was found of one device. */
typedef struct selftest_result {
  selftest_page page;
  loaded_capture loaded;
  const ink_device_info *device;
} selftest_result;

typedef struct selftest_run {
  const selftest_settings *settings;
  char *program;
  bool simulates;
  char folder[256];
  selftest_result *results; /* [SELFTEST_DEVICES_MAX] */
  size_t count;
} selftest_run;

static const cli_option options[] = {
    {'d', "device", CLI_CHOICE, CHOICE_WORDS(DEVICE_CHOICES), offsetof(selftest_settings, device),
     "use a real GPU, or the simulated device, as for 'inkmark record'"},
    {0, "devices", CLI_TEXT, "all|N", offsetof(selftest_settings, devices),
     "test every CUDA device that is visible (the default), one after the other, or only number N"},
    {'f', "format", CLI_CHOICE, CHOICE_WORDS(FORMAT_CHOICES), offsetof(selftest_settings, format),
     "text (the default), or the same for programs"},
    {'o', "output", CLI_TEXT, "FILE", offsetof(selftest_settings, output),
     "where to write; - (the default) is standard output"},
    {0, "program", CLI_TEXT, "FILE", offsetof(selftest_settings, program),
     "run this build of selftest.cu instead of inkmark's own"},
    {0, "keep-capture", CLI_TEXT, "FILE", offsetof(selftest_settings, keep),
     "leave the capture in FILE, and those of further devices in FILE.1, FILE.2 and so on"},
    {0, "forget", CLI_FLAG, NULL, offsetof(selftest_settings, forget),
     "do not store the pages for the captures of this machine"},
    {0},
};

/* ---- the pages ---- */

static void first_line(const selftest_page *page, FILE *to) {
  char date[64];
  const time_t now = time(NULL);
  struct tm utc;
  size_t of[4] = {0};
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
  for (size_t i = 0; i < page->count; i++)
    of[page->checks[i].verdict]++;
  text_print(to, "self-test of %s: %zu checks, %zu ok, %zu unusual, %zu wrong, %zu not known\n", date,
          page->count, of[SELFTEST_FINE], of[SELFTEST_UNUSUAL], of[SELFTEST_WRONG],
          of[SELFTEST_UNKNOWN]);
}

static void print_page(const selftest_result *result, FILE *to) {
  const ink_device_info *d = result->device;
  first_line(&result->page, to);
  text_print(to, "device %d: %s, %u SMs, compute capability %u.%u, driver %u\n", d->index, d->name,
          d->sm_count, d->capability / 10, d->capability % 10, d->driver_version);
  if (d->simulated)
    text_print(to, "%s\n", LOAD_SIMULATED_LINE);
  for (size_t i = 0; i < result->page.count; i++) {
    const selftest_check *c = &result->page.checks[i];
    text_print(to, "  %-9s  %-17s  %s\n", selftest_word(c->verdict), c->name, c->text);
  }
}

static enum selftest_verdict worst_of(const selftest_run *run) {
  enum selftest_verdict worst = SELFTEST_FINE;
  for (size_t i = 0; i < run->count; i++) {
    const enum selftest_verdict one = selftest_worst(&run->results[i].page);
    worst = one > worst ? one : worst;
  }
  return worst;
}

static void print_json_device(json_writer *json, const selftest_result *result) {
  json_open(json, NULL, '{');
  json_signed(json, "device", result->device->index);
  json_string(json, "name", result->device->name);
  json_bool(json, "simulated_clock", result->device->simulated);
  json_unsigned(json, "driver_version", result->device->driver_version);
  json_string(json, "verdict", selftest_word(selftest_worst(&result->page)));
  json_open(json, "checks", '[');
  for (size_t i = 0; i < result->page.count; i++) {
    json_open_flat(json, NULL);
    json_string(json, "check", result->page.checks[i].name);
    json_string(json, "verdict", selftest_word(result->page.checks[i].verdict));
    json_string(json, "text", result->page.checks[i].text);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

static void print_json(const selftest_run *run, FILE *to) {
  json_writer json = {.to = to};
  json_open(&json, NULL, '{');
  json_unsigned(&json, "schema_version", INK_CLI_SCHEMA_VERSION);
  json_string(&json, "inkmark", INKMARK_VERSION);
  json_string(&json, "verdict", selftest_word(worst_of(run)));
  json_open(&json, "devices", '[');
  for (size_t i = 0; i < run->count; i++)
    print_json_device(&json, &run->results[i]);
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
static void keep_page(const selftest_result *result, const char *path) {
  char folders[4096];
  snprintf(folders, sizeof folders, "%s", path);
  if (!make_folders(folders)) {
    message_say("the page is not kept for captures: cannot make '%s': %s", path,
                message_errno(errno));
    return;
  }
  outfile file;
  if (!outfile_open(&file, path))
    return;
  print_page(result, file.stream);
  outfile_close(&file, true);
}

/* GPUs of one model share a page: the worst of them stands for all. */
static void keep_pages(const selftest_run *run) {
  char path[4096], other[4096];
  for (size_t i = 0; i < run->count; i++) {
    ink_error error = {0};
    bool worst = true;
    if (ink_selftest_path(run->results[i].device, path, sizeof path, &error)) {
      message_say("the page is not kept for captures: %s", error.message);
      return;
    }
    for (size_t k = 0; k < run->count && worst; k++) {
      const enum selftest_verdict mine = selftest_worst(&run->results[i].page);
      const enum selftest_verdict its = selftest_worst(&run->results[k].page);
      if (k != i && !ink_selftest_path(run->results[k].device, other, sizeof other, NULL) &&
          !strcmp(path, other))
        worst = mine > its || (mine == its && i < k);
    }
    if (worst)
      keep_page(&run->results[i], path);
  }
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

static int show(const selftest_run *run) {
  outfile file;
  if (!outfile_open(&file, run->settings->output))
    return CLI_FAILED;
  if (run->settings->format == FORMAT_JSON)
    print_json(run, file.stream);
  for (size_t i = 0; i < run->count && run->settings->format == FORMAT_TEXT; i++) {
    if (i)
      fputc('\n', file.stream);
    print_page(&run->results[i], file.stream);
  }
  if (!outfile_close(&file, true))
    return CLI_FAILED;
  if (!run->settings->forget)
    keep_pages(run);
  return worst_of(run) == SELFTEST_WRONG ? CLI_CHECK_FAILED : CLI_OK;
}

static int judge(selftest_run *run, const char *capture, const char *printed, uint64_t *devices) {
  selftest_seen seen;
  selftest_result *result = &run->results[run->count];
  const ink_device_info *list;
  if (!selftest_read(printed, &seen) || !load_capture(capture, &result->loaded))
    return CLI_FAILED;
  run->count++;
  if (!ink_capture_devices(result->loaded.capture, &list)) {
    message_say("'%s' tells of no device", capture);
    return CLI_FAILED;
  }
  result->device = &list[0];
  selftest_judge(&seen, &result->loaded, &result->page);
  *devices = seen.devices;
  return CLI_OK;
}

/* *devices: how many the program is shown, as it says. */
static int test_device(selftest_run *run, unsigned index, uint64_t *devices) {
  char capture[4096], printed[512], messages[512], number[16];
  const char *keep = run->settings->keep, *most = run->simulates ? "4096" : "65536";
  snprintf(number, sizeof number, "%u", index);
  if (!keep)
    snprintf(capture, sizeof capture, "%s/selftest.%u.ink", run->folder, index);
  else if (run->count)
    snprintf(capture, sizeof capture, "%s.%u", keep, index);
  else
    snprintf(capture, sizeof capture, "%s", keep);
  snprintf(printed, sizeof printed, "%s/printed", run->folder);
  snprintf(messages, sizeof messages, "%s/messages", run->folder);
  const char *const record[] = {"--activity", "--device", run->simulates ? "sim" : "gpu",
                                "--devices",  number,     "--records-per-track",
                                "64",         "--tracks", most,
                                "--output",   capture,    NULL};
  char *const command[] = {run->program, number, NULL};
  const int code = record_child_run(&(record_child){
      .options = record, .program = command, .output = printed, .messages = messages});
  return code ? code : judge(run, capture, printed, devices);
}

static int test(selftest_run *run, uint64_t only) {
  const bool all = only == UINT64_MAX;
  const unsigned first = all ? 0 : (unsigned)only;
  uint64_t devices = 0;
  int code = test_device(run, first, &devices);
  for (unsigned i = 1; all && !code && i < devices && i < SELFTEST_DEVICES_MAX; i++) {
    uint64_t again;
    code = test_device(run, i, &again);
  }
  return code ? code : show(run);
}

/* UINT64_MAX: all. False: the text is neither that nor a number. */
static bool parse_devices(const char *text, uint64_t *only) {
  char *end;
  *only = UINT64_MAX;
  if (!text || !strcmp(text, "all"))
    return true;
  *only = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && *only < SELFTEST_DEVICES_MAX;
}

static int run_in_folder(selftest_run *run, uint64_t only) {
  const char *base = getenv("TMPDIR");
  snprintf(run->folder, sizeof run->folder, "%s/inkmark-selftest-XXXXXX",
           base && *base ? base : "/tmp");
  if (!mkdtemp(run->folder)) {
    message_say("cannot make a folder '%s': %s", run->folder, message_errno(errno));
    return CLI_FAILED;
  }
  const int code = test(run, only);
  nftw(run->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  return code;
}

static int run(int argc, char **argv) {
  selftest_settings settings = {0};
  size_t operands;
  uint64_t only;
  enum cli_parsed parsed = cli_parse(&cmd_selftest, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.keep && strchr(settings.keep, '%'))
    return cli_usage_error(&cmd_selftest, "--keep-capture takes no '%%'");
  if (!parse_devices(settings.devices, &only))
    return cli_usage_error(&cmd_selftest, "'%s' is neither all nor a device (option '--devices')",
                           settings.devices);
  selftest_run all = {.settings = &settings};
  all.simulates =
      settings.device == DEVICE_SIM || (settings.device == DEVICE_AUTO && !record_gpu_is_here());
  all.program = find_program(&settings, all.simulates);
  all.results = calloc(SELFTEST_DEVICES_MAX, sizeof *all.results);
  if (!all.results)
    message_say("out of memory");
  const int code = all.program && all.results ? run_in_folder(&all, only) : CLI_FAILED;
  for (size_t i = 0; i < all.count; i++)
    unload_capture(&all.results[i].loaded);
  free(all.results);
  free(all.program);
  return code;
}

const cli_command cmd_selftest = {
    .name = "selftest",
    .summary = "check what inkmark takes for granted on the devices at hand",
    .operands = "",
    .about =
        "selftest records a program of its own and checks on each device: the step of globaltimer; that the "
        "clock rate is steady; SM ids; that each launch has a grid id of its own, and CUPTI has the same; how "
        "well the SMs' clocks are tied together; what a mark costs; and that no record is lost or in a wrong "
        "place under full load in several streams and a replayed graph. It prints one page a device and stores "
        "the page. Captures made on this machine from then on hold it ('inkmark info'). The exit code is 3 if "
        "something is wrong, and 0 if it is merely unusual.",
    .examples = "inkmark selftest\ton every GPU at hand, or the simulated device\n"
                "inkmark selftest --devices 1\ton the second alone\n"
                "inkmark selftest --format json -o selftest.json\tfor programs",
    .options = options,
    .operands_min = 0,
    .operands_max = 0,
    .operand_kind = "none",
    .run = run,
};
