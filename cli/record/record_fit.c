/* SPDX-License-Identifier: MIT */
/* `inkmark record --fit`: runs the program once to see how long its tracks are and how many, and tells the
 * recording that follows. The first run is a child of this command, with captures in a folder that goes again. */
#include "record.h"

#include "grid.h"
#include "load.h"
#include "message.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORD_BYTES = 16 /* of both rings */, LEAST_RECORDS = 128, RUN_FAILED = -1 };
#define MOST_BYTES (UINT64_C(2) << 30)
#define MOST UINT64_C(16777216) /* of either option */

/* The first run counts: its rings are short, so that many tracks are there to count in. A lost one has told nobody of
 * its ring. */
enum { FIRST_TRACKS = 16384, RECORDS_USUAL = 1024 };

/* The largest that any process of the run needs. */
typedef struct needs {
  uint64_t records, tracks, lost;
} needs;

static uint64_t power_of_two(uint64_t n, uint64_t least) {
  uint64_t power = least;
  while (power < n && power < MOST)
    power *= 2;
  return power;
}

static void add_capture(const char *path, needs *all) {
  ink_capture *capture;
  const ink_kernel *kernels;
  if (ink_capture_open(path, &capture, NULL))
    return;
  uint64_t tracks = ink_capture_track_count(capture);
  for (uint64_t i = 0; i < tracks; i++) {
    ink_stored_track track;
    ink_capture_track(capture, i, &track);
    const uint64_t body = track.header.words, called = track.header.aux_words;
    if (body > all->records)
      all->records = body;
    if (called > all->records)
      all->records = called;
  }
  const size_t n = ink_capture_kernels(capture, &kernels);
  uint64_t lost = 0;
  for (size_t i = 0; i < n; i++)
    lost += kernels[i].tracks_lost + kernels[i].missed;
  tracks += lost;
  all->lost += lost;
  if (tracks > all->tracks)
    all->tracks = tracks;
  ink_capture_free(capture);
}

/* Reads the captures of a folder and takes the folder away. */
static needs take_folder(const char *folder) {
  needs all = {0};
  char path[4352];
  DIR *files = opendir(folder);
  for (struct dirent *file; files && (file = readdir(files));) {
    if (file->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    add_capture(path, &all);
    unlink(path);
  }
  if (files)
    closedir(files);
  rmdir(folder);
  return all;
}

/* The exit code of a recording in a process of its own; RUN_FAILED after a message, or where a signal ended it. */
static int run_first(record_settings settings, char **argv, const char *folder) {
  char output[4352];
  int status = 0;
  snprintf(output, sizeof output, "%s/first.%%p.ink", folder);
  settings.output = output;
  if (!settings.records && !settings.tracks) {
    settings.records = LEAST_RECORDS;
    settings.tracks = FIRST_TRACKS;
  }
  const pid_t pid = fork();
  if (!pid) {
    const int code = record_once(&settings, argv);
    fflush(NULL);
    _exit(code);
  }
  /* Ctrl-C reaches the program, which may go on, as the child does then */
  const struct sigaction ignored = {.sa_handler = SIG_IGN};
  struct sigaction before[2];
  sigaction(SIGINT, &ignored, &before[0]);
  sigaction(SIGQUIT, &ignored, &before[1]);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  sigaction(SIGINT, &before[0], NULL);
  sigaction(SIGQUIT, &before[1], NULL);
  if (pid < 0)
    message_say("cannot run '%s': %s", argv[0], message_errno(errno));
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : RUN_FAILED;
}

int record_fit(record_settings *settings, char **argv) {
  const char *parent = getenv("TMPDIR");
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/inkmark-fit-XXXXXX", parent && *parent == '/' ? parent : "/tmp");
  if (!mkdtemp(folder)) {
    message_say("cannot make '%s': %s", folder, message_errno(errno));
    return CLI_FAILED;
  }
  message_say("--fit: this is the first of two runs; it finds out what rings and how many tracks '%s' needs", argv[0]);
  const int code = run_first(*settings, argv, folder);
  const needs all = take_folder(folder);
  if (code) {
    message_say("--fit: the first run did not end with exit code 0, so there is no second one");
    return code < 0 ? CLI_FAILED : code;
  }
  if (!all.tracks) {
    message_say("--fit: the first run recorded no track, so there is no second one");
    return CLI_FAILED;
  }
  const bool given = settings->tracks != 0;
  if (!settings->records)
    settings->records = power_of_two(all.records, all.lost ? RECORDS_USUAL : LEAST_RECORDS);
  if (!given)
    settings->tracks = power_of_two(all.tracks, LEAST_RECORDS);
  while (!given && settings->tracks > 1 && settings->tracks * settings->records * RECORD_BYTES > MOST_BYTES)
    settings->tracks /= 2;
  message_say("--fit: the longest track has %s records, and there are %s tracks: the second run has "
              "--records-per-track %" PRIu64 " --tracks %" PRIu64 "%s",
              number_whole(all.records).text, number_whole(all.tracks).text, settings->records, settings->tracks,
              settings->tracks < all.tracks ? ", for more would take over 2 GiB" : "");
  if (all.lost)
    message_say("--fit: the first run lost %s tracks; it is not known what rings they need",
                number_whole(all.lost).text);
  return CLI_OK;
}
