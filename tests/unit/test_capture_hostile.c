/* SPDX-License-Identifier: MIT */
/* Captures made to take long: terabytes of nothing behind or between chunks, a chunk that claims them, names of
 * megabytes. No clock is looked at: read to its end, each would take hours. */
#include "capture/capture_format.h"
#include "check.h"
#include "pipeline.h"
#include "synth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

static const uint64_t terabyte = UINT64_C(1) << 40, gigabyte = UINT64_C(1) << 30;

static unsigned char *three_tracks(size_t *size) {
  const char *path = synth_path("hostile");
  ink_error error;
  ink_writer *writer = synth_writer(path, 16, 8, false);
  for (uint32_t i = 0; i < 3; i++) {
    synth_track track;
    synth_track_init(&track, 16, 8, false);
    track.header.grid_dim[0] = 3;
    track.header.block_index[0] = i;
    track.header.ticket = i;
    synth_open(&track, 1000, 5000 + i);
    synth_record(&track, 0, INK_KIND_MARK, 2, 0, 1020);
    synth_close(&track, 1200, 6000);
    synth_put(writer, &track);
    NEED(ink_writer_flush(writer, &error), error);
    synth_track_free(&track);
  }
  synth_finish(writer);
  unsigned char *bytes = synth_read_file(path, size);
  remove(path);
  return bytes;
}

/* Where the last chunk of tracks begins. */
static size_t last_tracks(const unsigned char *bytes, size_t size) {
  size_t found = 0;
  ink_chunk_header header;
  for (size_t at = sizeof(ink_file_header); at + sizeof header <= size;
       at += sizeof header + (size_t)ink_pad8(header.bytes)) {
    memcpy(&header, bytes + at, sizeof header);
    found = header.type == INK_CHUNK_TRACKS ? at : found;
  }
  return found;
}

static void expect(const ink_capture *capture, const char *what, uint64_t tracks, bool complete) {
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  CHECK(ink_capture_track_count(capture) == tracks, "%s: %" PRIu64 " tracks", what, ink_capture_track_count(capture));
  CHECK(facts->complete == complete, "%s: the note is '%s'", what, facts->note);
  CHECK(facts->damaged_chunks >= 1 && facts->used_bytes < facts->file_bytes, "%s: nothing is called unused", what);
}

/* Zeros in memory, which are no holes of a file: the search ends. */
static void zeros(const unsigned char *bytes, size_t size, uint64_t gap, uint64_t tracks, bool complete) {
  const size_t cut = last_tracks(bytes, size), room = (size_t)(64 * gigabyte);
  unsigned char *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    printf("part SKIPPED: no 64 GiB of addresses\n");
    return;
  }
  madvise(at, room, MADV_NOHUGEPAGE); /* only what is touched costs, and that is the one page of zeros */
  ink_capture *capture;
  ink_error error;
  memcpy(at, bytes, cut);
  memcpy(at + cut + gap, bytes + cut, size - cut);
  NEED(ink_capture_open_memory(at, room, &capture, &error), error);
  expect(capture, "zeros", tracks, complete);
  ink_capture_free(capture);
  munmap(at, room);
}

/* A file with a hole of terabytes, in front of the last tracks or behind all: the hole is skipped. */
static void holes(const unsigned char *bytes, size_t size, size_t cut, bool tail) {
  const char *path = synth_path("hole");
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const off_t far = (off_t)(4 * terabyte);
  if (fd < 0 || write(fd, bytes, cut) != (ssize_t)cut || ftruncate(fd, far) ||
      lseek(fd, (off_t)(terabyte), SEEK_DATA) != -1 ||
      (tail && pwrite(fd, bytes + cut, size - cut, far) != (ssize_t)(size - cut))) {
    printf("part SKIPPED: no file with holes of terabytes can be made here\n");
  } else {
    ink_capture *capture;
    ink_error error;
    NEED(ink_capture_open(path, &capture, &error), error);
    expect(capture, tail ? "a hole between" : "a hole behind", 3, true);
    ink_capture_free(capture);
  }
  close(fd);
  unlink(path);
}

/* A chunk that says that it holds terabytes, which the file has. */
static void huge_chunk(const unsigned char *bytes, size_t size) {
  const size_t cut = last_tracks(bytes, size);
  unsigned char *copy = malloc(size);
  ink_chunk_header header;
  memcpy(copy, bytes, size);
  memcpy(&header, copy + cut, sizeof header);
  header.bytes = 2 * terabyte;
  header.header_crc = (uint32_t)crc32_z(0, (void *)&header, offsetof(ink_chunk_header, header_crc));
  memcpy(copy + cut, &header, sizeof header);
  const char *path = synth_path("huge");
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, copy, size) != (ssize_t)size || ftruncate(fd, (off_t)(4 * terabyte))) {
    printf("part SKIPPED: no file of terabytes can be made here\n");
  } else {
    ink_capture *capture;
    ink_error error;
    NEED(ink_capture_open(path, &capture, &error), error);
    expect(capture, "a huge chunk", 2, true);
    ink_capture_free(capture);
  }
  close(fd);
  unlink(path);
  free(copy);
}

/* A name of 20 MB would stand in every row of every output: its table is left out, the rest is used. */
static void long_names(void) {
  enum { BYTES = 20000000 };
  const char *path = synth_path("names");
  char *sections = malloc(BYTES + 16);
  ink_error error;
  ink_capture *capture;
  const ink_section_table *tables;
  ink_writer *writer = synth_writer(path, 16, 8, false);
  memset(sections, 'a', BYTES);
  strcpy(sections + BYTES, ", Work");
  NEED(ink_writer_table(writer, "Long", sections, "a.cu", 1, 0x777, &error), error);
  sections[1 << 16] = 0; /* as long as a name may be */
  NEED(ink_writer_table(writer, "Just", sections, "a.cu", 1, 0x778, &error), error);
  synth_finish(writer);
  NEED(ink_capture_open(path, &capture, &error), error);
  const ink_capture_facts *facts = ink_capture_get_facts(capture);
  CHECK(facts->damaged_chunks == 1 && strstr(facts->note, "a name of 20000000 bytes"), "note '%s'", facts->note);
  const size_t n = ink_capture_tables(capture, &tables);
  bool just = false;
  for (size_t i = 0; i < n; i++) {
    CHECK(strcmp(tables[i].name, "Long"), "the long one is there");
    just |= !strcmp(tables[i].name, "Just");
  }
  CHECK(just && !ink_capture_table(capture, 0x777), "the tables");
  ink_capture_free(capture);
  unlink(path);
  free(sections);
}

int main(void) {
  size_t size;
  unsigned char *bytes = three_tracks(&size);
  zeros(bytes, size, gigabyte / 2, 3, true);
  zeros(bytes, size, 2 * gigabyte, 2, false);
  holes(bytes, size, size, false);
  holes(bytes, size, last_tracks(bytes, size), true);
  huge_chunk(bytes, size);
  long_names();
  free(bytes);
  return check_result("capture_hostile");
}
