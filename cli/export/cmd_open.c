/* SPDX-License-Identifier: MIT */
/* `inkmark open`: shows a trace in the Perfetto UI, which loads it from this machine. */
#include "commands.h"
#include "load.h"
#include "longest_launch.h"
#include "message.h"
#include "serve_once.h"
#include "text_out.h"

#include "inkmark/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The only port that the UI's content security policy lets a page load from (that of its own
 * trace_processor), ui/src/frontend/index.ts in Perfetto's sources. */
enum { UI_PORT = 9001 };

typedef struct open_settings {
  cli_common common;
  uint64_t port, wait;
  const char *ui;
  bool print;
} open_settings;

static const cli_option options[] = {
    {'n', "no-browser", CLI_FLAG, NULL, offsetof(open_settings, print),
     "only print the link. Without a desktop (DISPLAY, WAYLAND_DISPLAY) open does so anyway"},
    {'p', "port", CLI_COUNT, "N", offsetof(open_settings, port),
     "listen on this port of 127.0.0.1; 0 takes any free port. Default: 9001, the only port that "
     "ui.perfetto.dev may load from"},
    {'t', "timeout", CLI_COUNT, "SECONDS", offsetof(open_settings, wait),
     "wait this long for the browser; 0 waits for ever. Default: 600"},
    {0, "ui", CLI_TEXT, "URL", offsetof(open_settings, ui),
     "use a Perfetto UI that is served elsewhere. Default: https://ui.perfetto.dev"},
    {0},
};

/* "https://host:port" of a URL, or NULL: the Origin that its pages send. */
static char *origin_of(const char *url) {
  size_t scheme = !strncmp(url, "https://", 8) ? 8 : !strncmp(url, "http://", 7) ? 7 : 0;
  size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;
  return host && strlen(url) < 512 && !strpbrk(url, " \r\n\"'<>") ? strndup(url, scheme + host)
                                                                  : NULL;
}

/* The part of the link that has the interface begin with the longest launch of the kernel that costs most, and a
 * twentieth of it on both sides; visStart and visEnd are the trace's own ns. */
static void choose_view(const loaded_capture *loaded, char *view, size_t bytes) {
  longest_launch found;
  view[0] = 0;
  if (!find_longest_launch(loaded, NULL, true, &found) || found.launch == UINT32_MAX || found.end_ns <= found.begin_ns)
    return;
  const int64_t around = (found.end_ns - found.begin_ns) / 20 + 1;
  if (found.begin_ns >= around && found.end_ns <= INT64_MAX - around)
    snprintf(view, bytes, "&visStart=%lld&visEnd=%lld", (long long)(found.begin_ns - around), (long long)(found.end_ns + around));
}

/* A Perfetto trace of a capture, in a file that has lost its name; -1 after a message. */
static int convert(const char *path, char *view, size_t view_bytes) {
  loaded_capture loaded;
  const char *base = getenv("TMPDIR");
  char *folder = NULL, *trace = NULL;
  int file = -1;
  if (!load_capture(path, &loaded))
    return -1;
  if (asprintf(&folder, "%s/inkmark-XXXXXX", base && *base ? base : "/tmp") < 0)
    folder = NULL;
  if (!folder || !mkdtemp(folder)) {
    message_say("cannot make a temporary folder: %s", message_errno(errno));
  } else if (asprintf(&trace, "%s/trace.pftrace", folder) >= 0) {
    ink_error error = {0};
    ink_output_options choice = {.size = sizeof choice,
                                 .launch = UINT32_MAX,
                                 .progress = message_progress,
                                 .user = (void *)"writing"};
    error.status =
        ink_output_by_name("perfetto")->write(loaded.capture, loaded.map, &choice, trace, &error);
    message_progress_end();
    if (error.status)
      message_failure(&error);
    else if ((file = open(trace, O_RDONLY | O_CLOEXEC)) < 0)
      message_say("cannot read '%s': %s", trace, message_errno(errno));
    else
      choose_view(&loaded, view, view_bytes);
    unlink(trace);
    rmdir(folder);
  }
  free(trace);
  free(folder);
  unload_capture(&loaded);
  return file;
}

/* The file to serve; `converted` where it was a capture, and then `view` is what follows in the link. -1 after a message. */
static int open_file(const char *path, bool *converted, char *view, size_t view_bytes) {
  struct stat status;
  char head[8] = "";
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
  if (file < 0 || fstat(file, &status)) {
    message_say("cannot open '%s': %s", path, message_errno(errno));
  } else if (!S_ISREG(status.st_mode)) {
    message_say("cannot open '%s': %s", path,
                S_ISDIR(status.st_mode) ? "is a directory" : "not a regular file");
  } else if (!status.st_size) {
    message_say("'%s' is empty", path);
  } else {
    *converted = pread(file, head, sizeof head, 0) == (ssize_t)sizeof head &&
                 !memcmp(head, "\x89INK\r\n\x1a\n", sizeof head);
    if (!*converted)
      return file;
    close(file);
    return convert(path, view, view_bytes);
  }
  if (file >= 0)
    close(file);
  return -1;
}

/* Hands the link to the desktop; false where there is none. */
static bool show(const char *link) {
  const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
  char *arguments[] = {(char *)"xdg-open", (char *)link, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status = -1;
  if (!(display && *display) && !(wayland && *wayland))
    return false;
  if (posix_spawn_file_actions_init(&actions))
    return false;
  for (int stream = 0; stream < 3; stream++) /* browsers talk */
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream ? O_WRONLY : O_RDONLY,
                                     0);
  bool fine = !posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  /* xdg-open hands over and ends; where it is the browser itself, it must not be waited for */
  for (int i = 0; fine && i < 20 && !waitpid(child, &status, WNOHANG); i++)
    usleep(50000);
  return fine && (status == -1 || (WIFEXITED(status) && !WEXITSTATUS(status)));
}

static void tell(const open_settings *settings, const char *origin, const char *link) {
  bool own = strcmp(origin, "https://ui.perfetto.dev") != 0;
  text_print(stdout, "%s\n", link);
  message_flush_stdout();
  if (settings->port != UI_PORT && !own)
    message_say("ui.perfetto.dev can load only from port %d: this link is for a UI of your own ('--ui')",
                UI_PORT);
  if (getenv("SSH_CONNECTION"))
    message_say("for a browser at the other end of this ssh: ssh -L %d:127.0.0.1:%d THIS_HOST",
                (int)settings->port, (int)settings->port);
  bool shown = !settings->print && show(link);
  message_say("%s; it may ask whether the page may reach this machine",
              shown ? "the link was handed to the browser" : "open this link in a browser");
  message_say("the file is served once, then this command ends; Ctrl-C ends it sooner");
}

static int serve_link(const open_settings *settings, const char *origin, const char *path, int file,
                      bool converted, const char *view) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  char *name = NULL, *link = NULL;
  serve_once *server = NULL;
  int code = CLI_FAILED;
  if (asprintf(&name, "%s%s", base, converted ? ".pftrace" : "") < 0) {
    message_say("out of memory");
    return CLI_FAILED;
  }
  serve_options choice = {
      .file = file, .name = name, .origin = origin, .port = (uint16_t)settings->port};
  size_t length = strcspn(settings->ui, "?#");
  while (length && settings->ui[length - 1] == '/')
    length--;
  if (serve_open(&choice, &server) &&
      asprintf(&link, "%.*s/#!/?url=%s%s", (int)length, settings->ui, serve_url(server), view) >= 0) {
    tell(settings, origin, link);
    signal(SIGPIPE, SIG_IGN); /* sendfile to a browser that left */
    code = serve_run(server, (unsigned)settings->wait) ? CLI_OK : CLI_FAILED;
    if (!code)
      message_say("'%s' was loaded", name);
  }
  serve_close(server);
  free(link);
  free(name);
  return code;
}

static int run(int argc, char **argv) {
  open_settings settings = {.port = UI_PORT, .wait = 600, .ui = "https://ui.perfetto.dev"};
  size_t operands;
  enum cli_parsed parsed = cli_parse(&cmd_open, argc, argv, &settings, &operands);
  if (parsed != CLI_GO)
    return cli_leave(parsed);
  if (settings.port > 65535)
    return cli_usage_error(&cmd_open, "'--port' is not between 0 and 65535");
  if (settings.wait > 86400)
    return cli_usage_error(&cmd_open, "'--timeout' is not between 0 and 86400");
  char *origin = origin_of(settings.ui);
  if (!origin)
    return cli_usage_error(&cmd_open,
                           "'%s' is not a URL that starts with https:// or http:// "
                           "(option '--ui')",
                           settings.ui);
  bool converted = false;
  char view[96] = "";
  int file = open_file(argv[0], &converted, view, sizeof view), code = CLI_FAILED;
  if (file >= 0) {
    code = serve_link(&settings, origin, argv[0], file, converted, view);
    close(file);
  }
  free(origin);
  return code;
}

const cli_command cmd_open = {
    .name = "open",
    .summary = "show a trace or a capture in the Perfetto UI",
    .operands = "FILE",
    .about =
        "open serves the file on 127.0.0.1 under a name that cannot be guessed, and prints the link that makes "
        "ui.perfetto.dev load it. If there is a desktop, it hands the link to the browser. The trace goes from "
        "this machine to the browser and nowhere else. After one whole load the command ends.\n\nA capture is "
        "converted first, and the view begins with the longest launch of the kernel that costs most. Any other "
        "file is served as it is.",
    .examples = "inkmark open merged.pftrace\tshow a trace\n"
                "inkmark open solver.ink\tconvert a capture and show it\n"
                "inkmark open --ui http://127.0.0.1:10000 --port 0 solver.ink\twith a UI of your "
                "own",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .operand_kind = "trace",
    .run = run,
};
