/* SPDX-License-Identifier: MIT */
/* The writer where it cannot write: existing files, missing folders, a full disk. What was complete
 * stays, and nothing that was there before is lost. */
#include "check.h"
#include "synth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t size_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (uint64_t)info.st_size : UINT64_MAX;
}

static void existing(void) {
  const char *path = synth_path("existing");
  ink_writer *writer = NULL;
  ink_error error = {0};
  FILE *file = fopen(path, "w");
  fputs("precious", file);
  fclose(file);
  ink_status status = ink_writer_open(path, false, &writer, &error);
  CHECK(status == INK_ERROR_IO && !writer && error.code == EEXIST, "%s", error.message);
  CHECK(strstr(error.message, path) && strstr(error.message, "exists"), "%s", error.message);
  CHECK(size_of(path) == 8, "what was there before");
  NEED(ink_writer_open(path, true, &writer, &error), error);
  ink_writer_abandon(writer);
  CHECK(size_of(path) == 32, "only the header");
  ink_capture *capture;
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(!ink_capture_get_facts(capture)->complete && ink_capture_get_facts(capture)->note[0],
        "abandoned: no end");
  ink_capture_free(capture);
  remove(path);
}

static void nowhere(void) {
  ink_writer *writer = NULL;
  ink_error error = {0};
  CHECK(ink_writer_open("no/such/folder/x.ink", false, &writer, &error) == INK_ERROR_IO, "%s",
        error.message);
  CHECK(error.code == ENOENT && !writer, "code %d", error.code);
  CHECK(ink_writer_open("/dev/full", true, &writer, &error) == INK_ERROR_IO, "%s", error.message);
  CHECK(error.code == ENOSPC && !writer && strstr(error.message, "no space left"), "%s",
        error.message);
  CHECK(ink_writer_open("", false, &writer, &error) == INK_ERROR_ARGUMENT, "%s", error.message);
  CHECK(ink_writer_close(NULL, &error) == INK_ERROR_ARGUMENT, "close nothing");
  ink_writer_abandon(NULL);
}

/* A file size limit is a disk that fills in the middle of a chunk. */
static void full_disk(void) {
  const char *path = synth_path("full");
  struct rlimit limit, small;
  ink_error error = {0};
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = 4000;
  ink_writer *writer = synth_writer(path, 64, 4, false);
  setrlimit(RLIMIT_FSIZE, &small);
  synth_track track;
  synth_track_init(&track, 64, 4, false);
  synth_open(&track, 1000, 5000);
  for (uint64_t i = 0; i < 64; i++)
    synth_record(&track, 0, INK_KIND_MARK, 2, 0, 1000 + i);
  synth_close(&track, 2000, 6000);
  ink_status status = INK_OK;
  uint32_t written = 0;
  for (; written < 100 && status == INK_OK; written++) {
    track.header.ticket = written;
    track.header.block_index[0] = written;
    track.header.grid_dim[0] = 100;
    status = ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error);
    if (status == INK_OK)
      status = ink_writer_flush(writer, &error);
  }
  written--; /* the last one failed */
  CHECK(status == INK_ERROR_IO && error.code == EFBIG, "%d %s", (int)status, error.message);
  CHECK(written >= 2, "%u tracks fitted", written);
  CHECK(size_of(path) < 4000, "half a chunk was left behind: %" PRIu64, size_of(path));
  ink_capture *capture;
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(ink_capture_track_count(capture) == written, "what was complete is there");
  CHECK(ink_capture_get_facts(capture)->damaged_chunks == 0, "%s",
        ink_capture_get_facts(capture)->note);
  ink_capture_free(capture);
  /* Room again: the capture goes on, without a gap. */
  setrlimit(RLIMIT_FSIZE, &limit);
  synth_put(writer, &track);
  NEED(ink_writer_close(writer, &error), error);
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(ink_capture_track_count(capture) == written + 1, "the next one too");
  CHECK(ink_capture_get_facts(capture)->complete && !ink_capture_get_facts(capture)->note[0], "%s",
        ink_capture_get_facts(capture)->note);
  ink_capture_free(capture);
  synth_track_free(&track);
  remove(path);
}

/* Close reports a failure, and has freed the writer all the same (the sanitizer would tell). */
static void close_fails(void) {
  const char *path = synth_path("close");
  struct rlimit limit, small;
  ink_error error = {0};
  ink_writer *writer = synth_writer(path, 64, 4, false);
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = size_of(path);
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK(ink_writer_close(writer, &error) == INK_ERROR_IO, "%s", error.message);
  setrlimit(RLIMIT_FSIZE, &limit);
  remove(path);
}

/* Two writers of one file, and a file that goes while it is written. */
static void shared_and_gone(void) {
  const char *path = synth_path("shared");
  ink_error error = {0};
  ink_writer *first = synth_writer(path, 64, 4, false), *second = NULL;
  const uint64_t size = size_of(path);
  CHECK(ink_writer_open(path, true, &second, &error) == INK_ERROR_IO && !second &&
            error.code == EWOULDBLOCK && strstr(error.message, "another process is writing it"),
        "%s", error.message);
  CHECK(size_of(path) == size, "the first one's file is left alone");
  NEED(ink_writer_close(first, &error), error);
  NEED(ink_writer_open(path, true, &second, &error), error);
  remove(path);
  CHECK(ink_writer_close(second, &error) == INK_ERROR_IO && strstr(error.message, "was deleted"), "%s",
        error.message);
}

static int open_scratch(const char *path, unsigned bytes) {
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  for (unsigned i = 0; i < bytes; i++)
    CHECK(write(fd, "A", 1) == 1, "scratch");
  return fd;
}

/* The program closes every descriptor and gets the numbers for files of its own: these stay as they are,
 * at a write that succeeds and at one that fails and is taken back. */
static void descriptor_closed(void) {
  const char *path = synth_path("closed");
  char other[64];
  struct rlimit limit, small;
  ink_error error = {0};
  synth_track track;
  synth_track_init(&track, 64, 4, false);
  synth_open(&track, 1000, 5000);
  synth_record(&track, 0, INK_KIND_MARK, 2, 0, 1001);
  synth_close(&track, 2000, 6000);
  ink_writer *writer = synth_writer(path, 64, 4, false);
  snprintf(other, sizeof other, "closed.other.%ld", (long)getpid());
  for (int fd = 3; fd < 1024; fd++)
    close(fd);
  const int own = open_scratch(other, 9000);
  for (int fd = 3; fd < 1000; fd++)
    if (fd != own)
      dup2(own, fd);
  NEED(ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error), error);
  NEED(ink_writer_flush(writer, &error), error);
  CHECK(size_of(other) == 9000, "a chunk went to the program's file: %" PRIu64, size_of(other));
  for (int fd = 3; fd < 1024; fd++)
    dup2(own, fd);
  for (int fd = 1000; fd < 1024; fd++)
    if (fd != own)
      close(fd);
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = size_of(path) + 100;
  setrlimit(RLIMIT_FSIZE, &small);
  NEED(ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error), error);
  CHECK(ink_writer_flush(writer, &error) == INK_ERROR_IO, "a write beyond the limit");
  setrlimit(RLIMIT_FSIZE, &limit);
  CHECK(size_of(other) == 9000, "cut down to %" PRIu64, size_of(other));
  NEED(ink_writer_close(writer, &error), error);
  for (int fd = 3; fd < 1024; fd++)
    close(fd);
  ink_capture *capture;
  NEED(ink_capture_open(path, &capture, &error), error);
  CHECK(ink_capture_track_count(capture) == 1 && ink_capture_get_facts(capture)->complete, "%s",
        ink_capture_get_facts(capture)->note);
  CHECK(ink_capture_fact(capture, "reopened") != NULL, "that it was opened again is not told");
  ink_capture_free(capture);
  synth_track_free(&track);
  remove(path);
  remove(other);
}

/* Far above what a program gets, or gives out itself. */
static void descriptor_is_high(void) {
  const char *path = synth_path("high");
  struct stat own, at;
  ink_writer *writer = synth_writer(path, 64, 4, false);
  int found = -1;
  CHECK(stat(path, &own) == 0, "the file");
  for (int fd = 0; fd < 1024; fd++)
    if (fstat(fd, &at) == 0 && at.st_dev == own.st_dev && at.st_ino == own.st_ino)
      found = fd;
  CHECK(found >= 512, "the capture's descriptor is %d", found);
  ink_writer_abandon(writer);
  remove(path);
}

/* The name is another file's by then: nothing is written anywhere, and why is said. */
static void descriptor_lost(void) {
  const char *path = synth_path("lost");
  ink_error error = {0};
  ink_writer *writer = synth_writer(path, 64, 4, false);
  for (int fd = 3; fd < 1024; fd++)
    close(fd);
  remove(path);
  close(open_scratch(path, 5));
  CHECK(ink_writer_fact(writer, "key", "value", &error) == INK_ERROR_IO &&
            strstr(error.message, "the program closed descriptor"),
        "%s", error.message);
  ink_writer_abandon(writer);
  CHECK(size_of(path) == 5, "%" PRIu64 " bytes in a file that is not ours", size_of(path));
  remove(path);
}

/* SIGXFSZ by default ends the program; one of its own that is pending stays pending. */
static void no_signal(void) {
  const char *path = synth_path("signal");
  struct rlimit limit, small;
  ink_error error = {0};
  sigset_t both, pending;
  signal(SIGXFSZ, SIG_DFL);
  ink_writer *writer = synth_writer(path, 64, 4, false);
  getrlimit(RLIMIT_FSIZE, &limit);
  small = limit;
  small.rlim_cur = size_of(path);
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK(ink_writer_fact(writer, "key", "value", &error) == INK_ERROR_IO && error.code == EFBIG, "%s",
        error.message);
  sigpending(&pending);
  CHECK(!sigismember(&pending, SIGXFSZ), "ours is left behind");
  sigemptyset(&both);
  sigaddset(&both, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &both, NULL);
  raise(SIGXFSZ);
  CHECK(ink_writer_fact(writer, "key", "value", &error) == INK_ERROR_IO, "%s", error.message);
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ), "the program's own was taken");
  sigtimedwait(&both, NULL, &(struct timespec){0});
  sigprocmask(SIG_UNBLOCK, &both, NULL);
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_IGN);
  ink_writer_abandon(writer);
  remove(path);
}

/* Nor does a pipe whose reader has left, by SIGPIPE. */
static void no_pipe_signal(void) {
  const char *path = synth_path("pipe");
  ink_error error = {0};
  sigset_t pending;
  ink_writer *writer;
  remove(path);
  CHECK(mkfifo(path, 0600) == 0, "a pipe");
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  signal(SIGPIPE, SIG_DFL);
  NEED(ink_writer_open(path, true, &writer, &error), error);
  close(reader);
  CHECK(ink_writer_fact(writer, "key", "value", &error) == INK_ERROR_IO && error.code == EPIPE, "%s", error.message);
  sigpending(&pending);
  CHECK(!sigismember(&pending, SIGPIPE), "ours is left behind");
  ink_writer_abandon(writer);
  remove(path);
}

/* As many tracks of a chunk as there is room for are kept, at every limit. */
static void full_in_pieces(void) {
  const char *path = synth_path("pieces");
  struct rlimit limit, small;
  ink_error error = {0};
  synth_track track;
  getrlimit(RLIMIT_FSIZE, &limit);
  for (uint64_t room = 0; room < 9000; room += 331) {
    synth_track_init(&track, 64, 4, false);
    synth_open(&track, 1000, 5000);
    for (uint64_t i = 0; i < 5; i++)
      synth_record(&track, 0, INK_KIND_MARK, 2, 0, 1001 + i);
    synth_close(&track, 2000, 6000);
    const uint64_t each = 192 + 5 * 8; /* and 48 for a chunk of them */
    ink_writer *writer = synth_writer(path, 64, 4, false);
    const uint64_t before = size_of(path);
    for (uint32_t i = 0; i < 100; i++) {
      track.header.ticket = i;
      track.header.block_index[0] = i;
      track.header.grid_dim[0] = 100;
      NEED(ink_writer_track(writer, 0, &track.header, track.rings[0], track.rings[1], &error), error);
    }
    small = limit;
    small.rlim_cur = before + room;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(ink_writer_flush(writer, &error) == INK_ERROR_IO, "room %" PRIu64, room);
    setrlimit(RLIMIT_FSIZE, &limit);
    ink_writer_abandon(writer);
    ink_capture *capture;
    NEED(ink_capture_open(path, &capture, &error), error);
    const uint64_t kept = ink_capture_track_count(capture);
    CHECK(size_of(path) <= before + room && !ink_capture_get_facts(capture)->damaged_chunks, "%s",
          ink_capture_get_facts(capture)->note);
    CHECK(kept * each + 48 + each > room || (room >= 48 + each && kept * each >= (room - each) * 9 / 10),
          "%" PRIu64 " tracks of %" PRIu64 " bytes in %" PRIu64, kept, each, room);
    for (uint64_t i = 0; i < kept; i++) {
      ink_stored_track at;
      ink_capture_track(capture, i, &at);
      CHECK(at.header.ticket == i, "track %" PRIu64 " is %" PRIu64, i, at.header.ticket);
    }
    ink_capture_free(capture);
    synth_track_free(&track);
  }
  remove(path);
}

int main(void) {
  shared_and_gone();
  existing();
  nowhere();
  full_disk();
  close_fails();
  full_in_pieces();
  no_signal();
  no_pipe_signal();
  descriptor_is_high();
  descriptor_closed();
  descriptor_lost();
  return check_result("writer");
}
