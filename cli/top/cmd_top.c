/* SPDX-License-Identifier: MIT */
/* `inkmark top`: a table of a recording that goes on, again and again. */
#include "top.h"

#include "commands.h"
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

typedef struct top_settings {
  cli_common common;
  uint64_t interval_ms, count;
} top_settings;

enum { INTERVAL_MS = 1000, LONGEST_MS = 3600000 };

static const cli_option options[] = {
    {'i', "interval-ms", CLI_COUNT, "N", offsetof(top_settings, interval_ms),
     "print a table every N milliseconds; default 1000. If a capture takes long to read, it is read less often"},
    {'n', "count", CLI_COUNT, "N", offsetof(top_settings, count), "end after N tables"},
    {0},
};

static int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void rest(int64_t ns) {
  struct timespec left = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR)
    continue;
}

/* A recording makes its file with what it drains first. False: it is not there yet. */
static bool is_there(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? !S_ISREG(info.st_mode) || info.st_size > 0 : errno != ENOENT;
}

static void wait_for(const char *path, int64_t interval_ns) {
  if (is_there(path))
    return;
  message_say("waiting for '%s': nothing was recorded so far", path);
  while (!is_there(path))
    rest(interval_ns);
}

/* What a capture that grows lacks at its end is no damage: it is opened without load_capture's remark. */
static bool load(const char *path, loaded_capture *out) {
  ink_error error = {0};
  struct stat info;
  *out = (loaded_capture){.path = path};
  if (!stat(path, &info) && !S_ISREG(info.st_mode)) {
    message_say("cannot read '%s': this is not a regular file", path);
    return false;
  }
  ink_status status = ink_capture_open(path, &out->capture, &error);
  if (!status)
    status = ink_clock_map_make(out->capture, &out->map, &error);
  if (status) {
    error.status = status;
    message_failure(&error);
    unload_capture(out);
  }
  return !status;
}

/* One table; false after a message. */
static bool show(top_view *view, const char *path, bool *ended) {
  loaded_capture loaded;
  char *text = NULL;
  size_t bytes = 0;
  if (!load(path, &loaded))
    return false;
  FILE *to = open_memstream(&text, &bytes);
  bool fine = to != NULL;
  if (!fine)
    message_say("out of memory");
  fine = fine && top_view_print(view, &loaded, monotonic_ns(), to);
  *ended = top_has_ended(&loaded);
  if (to && fclose(to) != 0)
    fine = false;
  if (fine && top_screen_is_there()) {
    top_screen_show(text);
  } else if (fine) {
    fputs(text, stdout);
    fputs("\n", stdout);
  }
  free(text);
  unload_capture(&loaded);
  return fine && message_flush_stdout();
}

static int run(int argc, char **argv) {
  top_settings settings = {.interval_ms = INTERVAL_MS};
  size_t operands;
  const enum cli_parsed parsed = cli_parse(&cmd_top, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (!settings.interval_ms || settings.interval_ms > LONGEST_MS)
    return cli_usage_error(&cmd_top, "--interval-ms is from 1 to %d", LONGEST_MS);
  const int64_t interval_ns = (int64_t)settings.interval_ms * 1000000;
  top_view *view = top_view_new();
  bool fine = view != NULL, ended = false;
  if (!fine)
    message_say("out of memory");
  else
    wait_for(argv[0], interval_ns);
  for (uint64_t n = 1; fine && !ended; n++) {
    const int64_t before_ns = monotonic_ns();
    fine = show(view, argv[0], &ended);
    if (n == settings.count)
      break;
    const int64_t took_ns = monotonic_ns() - before_ns;
    if (fine && !ended)
      rest(took_ns > interval_ns ? took_ns : interval_ns);
  }
  top_view_free(view);
  return fine ? CLI_OK : CLI_FAILED;
}

const cli_command cmd_top = {
    .name = "top",
    .summary = "show a recording while it goes on: a table that refreshes",
    .operands = "FILE",
    .about = "FILE is the capture that 'inkmark record' or a program's own session is writing. If FILE is not "
             "there yet, top waits. It ends when the recording has ended. On a terminal each table takes the "
             "place of the one before; elsewhere tables follow one another, with an empty line between them. "
             "'new' and 'new share' are of the time since the table before. With 'record --live', open tracks "
             "get their words at each drain; without it, now and then.",
    .examples = "inkmark record --live -o run.ink -- ./server\trecords; then, at another terminal:\n"
                "inkmark top run.ink\tits sections, the busiest first\n"
                "inkmark top -n 1 run.ink\tone table",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .operand_kind = "capture",
    .run = run,
};
