/* SPDX-License-Identifier: MIT */
/* Opens a capture: gets the bytes, walks the chunks, and counts what it leaves out of a damaged file. It checks every
 * size in the file against the size of what holds it before it uses it. */
#include "capture_private.h"
#include "errno_words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Smaller files are read, so a file that shrinks while it is open does no harm. Larger files are mapped: if somebody
 * truncates one while it is open, the reading process gets a SIGBUS. */
#define MAP_FROM_BYTES (UINT64_C(64) << 20)
#define RELEASE_EVERY_BYTES (UINT64_C(32) << 20)
/* How far after the last whole chunk the next one is looked for, without holes of the file. A chunk of the longest
 * rings fits twice. A chunk that claims to be larger is no chunk. */
#define DATA_ASKED_BYTES (UINT64_C(1) << 16)
#define SEARCH_BYTES (UINT64_C(1) << 30)

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture");
}

/* ---- getting the bytes --------------------------------------------------------------------- */

static ink_status read_whole(int fd, const char *path, ink_capture *capture, ink_error *error) {
  size_t size = (size_t)capture->size, done = 0;
  unsigned char *bytes = malloc(size);
  if (!bytes)
    return no_memory(error);
  capture->owned = bytes;
  while (done < size) {
    ssize_t n = read(fd, bytes + done, size - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return ink_error_set(error, INK_ERROR_IO, "cannot read '%s': %s", path,
                           ink_i_errno_words(errno).text);
    if (n == 0)
      break; /* it shrank: what is gone counts as cut off */
    done += (size_t)n;
  }
  capture->bytes = bytes;
  capture->size = done;
  return INK_OK;
}

static ink_status load_file(const char *path, ink_capture *capture, ink_error *error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return ink_error_set(error, INK_ERROR_IO, "cannot open '%s': %s", path,
                         ink_i_errno_words(errno).text);
  struct stat info;
  ink_status status = INK_OK;
  if (fstat(fd, &info) != 0) {
    status = ink_error_set(error, INK_ERROR_IO, "cannot open '%s': %s", path,
                           ink_i_errno_words(errno).text);
  } else if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    status = ink_error_set(error, INK_ERROR_IO, "cannot open '%s': is a directory", path);
  } else if (!S_ISREG(info.st_mode)) {
    errno = 0;
    status = ink_error_set(error, INK_ERROR_IO, "cannot open '%s': not a regular file", path);
  } else if (info.st_size == 0) {
    status = ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty: nothing was written to it", path);
  } else {
    capture->size = (uint64_t)info.st_size;
    if (capture->size < MAP_FROM_BYTES) {
      status = read_whole(fd, path, capture, error);
    } else {
      void *mapping = mmap(NULL, (size_t)capture->size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapping == MAP_FAILED) {
        status = ink_error_set(error, INK_ERROR_IO, "cannot map '%s': %s", path,
                               ink_i_errno_words(errno).text);
      } else {
        capture->mapping = mapping;
        capture->bytes = mapping;
      }
    }
  }
  capture->fd = fd;
  return status;
}

/* ---- chunks -------------------------------------------------------------------------------- */

static ink_status check_file_header(const ink_capture *capture, const char *name,
                                    ink_error *error) {
  ink_file_header header;
  size_t have = capture->size < sizeof header ? (size_t)capture->size : sizeof header;
  size_t magic = have < sizeof header.magic ? have : sizeof header.magic;
  if (!have)
    return ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty: nothing was written to it", name);
  if (memcmp(capture->bytes, INK_FILE_MAGIC, magic) != 0)
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is not an inkmark capture, as 'inkmark record' writes them", name);
  if (have < sizeof header)
    return ink_error_set(error, INK_ERROR_DAMAGED, "'%s' is cut off inside its header", name);
  memcpy(&header, capture->bytes, sizeof header);
  if (header.endian == 0x04030201u)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED, "'%s' has the other byte order", name);
  uint32_t crc =
      (uint32_t)crc32_z(0, (const unsigned char *)&header, offsetof(ink_file_header, crc));
  if (header.endian != INK_FILE_ENDIAN || crc != header.crc)
    return ink_error_set(error, INK_ERROR_DAMAGED, "the header of '%s' is damaged", name);
  if (header.major > INK_FILE_MAJOR)
    return ink_error_set(error, INK_ERROR_VERSION,
                         "'%s' is of a newer inkmark: it has format %u.%u, this one reads up to %u",
                         name, (unsigned)header.major, (unsigned)header.minor, INK_FILE_MAJOR);
  if (header.major == 0 || header.header_bytes < sizeof header || header.header_bytes % 8)
    return ink_error_set(error, INK_ERROR_FORMAT, "the header of '%s' makes no sense", name);
  return INK_OK;
}

/* Whether a chunk header stands at `at`, with its own checksum right. */
static bool header_at(const ink_capture *capture, uint64_t at, ink_chunk_header *out) {
  if (capture->size - at < sizeof *out)
    return false;
  memcpy(out, capture->bytes + at, sizeof *out);
  return out->sync == INK_CHUNK_SYNC && out->bytes <= SEARCH_BYTES &&
         out->header_crc == (uint32_t)crc32_z(0, (const unsigned char *)out,
                                              offsetof(ink_chunk_header, header_crc));
}

static bool has_text(const unsigned char **at, const unsigned char *end, const char **out) {
  const unsigned char *stop = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;
  if (!stop)
    return false;
  *out = (const char *)*at;
  *at = stop + 1;
  return true;
}

/* Makes one fact of several failures: `item` becomes both texts. If the first is very long, it stays alone. */
static ink_status join_failures(ink_capture *capture, fact *item, ink_error *error) {
  enum { MOST = 2048 };
  const char *before = strcmp(item->key, "write_failure") ? NULL : ink_capture_fact(capture, item->key);
  const size_t bytes = before ? strlen(before) + strlen(item->value) + sizeof "; " : 0;
  if (bytes > MOST)
    item->value = before;
  if (!before || bytes > MOST)
    return INK_OK;
  char *both = INK_I_ROOM(capture->blocks) ? malloc(bytes) : NULL;
  if (!both)
    return no_memory(error);
  snprintf(both, bytes, "%s; %s", before, item->value);
  capture->blocks.items[capture->blocks.count++] = both;
  item->value = both;
  return INK_OK;
}

static ink_status read_fact(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                            ink_error *error) {
  const unsigned char *at = payload, *end = payload + bytes;
  fact item;
  if (!has_text(&at, end, &item.key) || !has_text(&at, end, &item.value))
    return ink_error_set(error, INK_ERROR_DAMAGED, "a fact without its text");
  if (join_failures(capture, &item, error) != INK_OK)
    return INK_ERROR_MEMORY;
  if (!INK_I_ROOM(capture->fact_list))
    return no_memory(error);
  capture->fact_list.items[capture->fact_list.count++] = item;
  return INK_OK;
}

static ink_status read_device(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                              ink_error *error) {
  ink_file_device fixed;
  const unsigned char *at = payload + sizeof fixed;
  const char *name;
  if (bytes < sizeof fixed || !has_text(&at, payload + bytes, &name))
    return ink_error_set(error, INK_ERROR_DAMAGED, "a device that is too short");
  if (strlen(name) > INK_NAME_BYTES_MAX)
    return ink_error_set(error, INK_ERROR_DAMAGED, "a device with a name of %zu bytes", strlen(name));
  memcpy(&fixed, payload, sizeof fixed);
  ink_device_info info = {.index = fixed.index,
                          .simulated = fixed.simulated,
                          .sm_count = fixed.sm_count,
                          .capability = fixed.capability,
                          .clock_khz = fixed.clock_khz,
                          .track_count = fixed.track_count,
                          .records_per_track = fixed.records_per_track,
                          .aux_records_per_track = fixed.aux_records_per_track,
                          .flags = fixed.flags,
                          .runtime_version = fixed.runtime_version,
                          .driver_version = fixed.driver_version,
                          .name = name};
  for (size_t i = 0; i < capture->devices.count; i++)
    if (capture->devices.items[i].index == info.index) {
      capture->devices.items[i] = info; /* the newest wins */
      ink_end_counts(capture, info.index);
      capture->armings++;
      return INK_OK;
    }
  if (!INK_I_ROOM(capture->devices))
    return no_memory(error);
  capture->devices.items[capture->devices.count++] = info;
  return INK_OK;
}

static ink_status read_host_clocks(ink_capture *capture, const unsigned char *payload,
                                   uint64_t bytes, ink_error *error) {
  if (bytes % sizeof(ink_host_clock))
    return ink_error_set(error, INK_ERROR_DAMAGED, "host clocks of an odd size");
  for (uint64_t at = 0; at < bytes; at += sizeof(ink_host_clock)) {
    if (!INK_I_ROOM(capture->host_clocks))
      return no_memory(error);
    memcpy(&capture->host_clocks.items[capture->host_clocks.count++], payload + at,
           sizeof(ink_host_clock));
  }
  return INK_OK;
}

static ink_status read_chunk(ink_capture *capture, const ink_chunk_header *header,
                             const unsigned char *payload, ink_error *error) {
  switch (header->type) {
  case INK_CHUNK_FACT:
    return read_fact(capture, payload, header->bytes, error);
  case INK_CHUNK_TABLE:
    return ink_read_table(capture, payload, header->bytes, error);
  case INK_CHUNK_SOURCE:
    return ink_read_source(capture, payload, header->bytes, error);
  case INK_CHUNK_CODE:
    return ink_read_code(capture, payload, header->bytes, error);
  case INK_CHUNK_STALLS:
    return ink_read_stalls(capture, payload, header->bytes, error);
  case INK_CHUNK_DEVICE:
    return read_device(capture, payload, header->bytes, error);
  case INK_CHUNK_HOST_CLOCK:
    return read_host_clocks(capture, payload, header->bytes, error);
  case INK_CHUNK_COUNTS:
    return ink_read_counts(capture, payload, header->bytes, error);
  case INK_CHUNK_CLOCK_EDGES:
    return ink_read_clock_edges(capture, payload, header->bytes, error);
  case INK_CHUNK_MARK_COSTS:
    return ink_read_mark_costs(capture, payload, header->bytes, error);
  case INK_CHUNK_TRACKS:
  case INK_CHUNK_TRACKS_1:
    return ink_read_tracks(capture, payload, header->bytes, header->type == INK_CHUNK_TRACKS_1, error);
  case INK_CHUNK_INSTANCE:
    return ink_read_instance(capture, payload, header->bytes, error);
  case INK_CHUNK_PARTS:
    return ink_read_parts(capture, payload, header->bytes, error);
  case INK_CHUNK_ACTIVITY:
    return ink_read_activity(capture, payload, header->bytes, error);
  case INK_CHUNK_ACTIVITY_NAME:
    return ink_read_activity_name(capture, payload, header->bytes, error);
  case INK_CHUNK_HOST:
    return ink_read_host(capture, payload, header->bytes, error);
  case INK_CHUNK_HOST_NAME:
    return ink_read_host_name(capture, payload, header->bytes, error);
  case INK_CHUNK_ENDED:
    return ink_read_ended(capture, payload, header->bytes, error);
  case INK_CHUNK_END:
    capture->facts.complete = true;
    return INK_OK;
  default: /* of a newer minor version */
    return INK_OK;
  }
}

/* What scan_chunks has met so far, for the note. */
typedef struct scan {
  uint64_t at, next_sequence, missing, skipped_bytes, first_bad;
  char first_text[128];
} scan;

static void count_damage(ink_capture *capture, scan *state, const char *text) {
  if (!capture->facts.damaged_chunks++) {
    state->first_bad = state->at;
    snprintf(state->first_text, sizeof state->first_text, "%.*s", (int)sizeof state->first_text - 1,
             text);
  }
}

/* Returns where the file has data at or after `at`, on a multiple of 8, or the file's size if there is none. */
static uint64_t data_from(const ink_capture *capture, uint64_t at) {
  const off_t data = capture->fd >= 0 ? lseek(capture->fd, (off_t)at, SEEK_DATA) : (off_t)at;
  if (data < 0)
    return errno == ENXIO ? capture->size : at; /* others: the file system does not tell */
  return (uint64_t)data <= at ? at : (uint64_t)data & ~UINT64_C(7);
}

/* No chunk header at state->at: goes to the next place that has one, or to the end. */
static void resynchronise(ink_capture *capture, scan *state) {
  uint64_t from = state->at, searched = 0, released = from;
  bool cut = capture->size - from < sizeof(ink_chunk_header);
  ink_chunk_header header;
  count_damage(capture, state, cut ? "is cut off" : "has a damaged header");
  while (state->at < capture->size) {
    uint64_t next = capture->size - state->at > 8 ? state->at + 8 : capture->size;
    if (next % DATA_ASKED_BYTES == 0 && next < capture->size)
      next = data_from(capture, next);
    state->at = next;
    searched += 8;
    if (header_at(capture, state->at, &header) && header.sequence >= state->next_sequence)
      break;
    if (searched >= SEARCH_BYTES)
      state->at = capture->size;
    if (state->at - released > RELEASE_EVERY_BYTES) {
      ink_capture_release_pages(capture);
      released = state->at;
    }
  }
  state->skipped_bytes += state->at - from;
}

/* Reads a chunk whose header is right. If its payload is not, the chunk is left out. */
static ink_status take_chunk(ink_capture *capture, scan *state, const ink_chunk_header *header,
                             ink_error *error) {
  uint64_t room = capture->size - state->at - sizeof *header;
  if (header->bytes > room || ink_pad8(header->bytes) > room) {
    count_damage(capture, state, "is cut off");
    state->skipped_bytes += capture->size - state->at;
    state->at = capture->size;
    return INK_OK;
  }
  const unsigned char *payload = capture->bytes + state->at + sizeof *header;
  uint64_t padded = ink_pad8(header->bytes);
  ink_error inner;
  ink_status status = INK_OK;
  if ((uint32_t)crc32_z(0, payload, (size_t)padded) != header->payload_crc)
    status = ink_error_set(&inner, INK_ERROR_DAMAGED, "has a wrong checksum");
  else
    status = read_chunk(capture, header, payload, &inner);
  if (status == INK_OK && capture->keep_good) {
    if (!INK_I_ROOM(capture->good))
      return no_memory(error);
    capture->good.items[capture->good.count++] = state->at;
  }
  if (status == INK_ERROR_DAMAGED) {
    count_damage(capture, state, inner.message);
    state->skipped_bytes += sizeof *header + padded;
    status = INK_OK;
  } else if (status != INK_OK) {
    return ink_error_set(error, status, "%s", inner.message);
  }
  if (header->sequence > state->next_sequence)
    state->missing += header->sequence - state->next_sequence;
  state->next_sequence = header->sequence + 1;
  state->at += sizeof *header + padded;
  return INK_OK;
}

static void write_note(ink_capture *capture, const scan *state) {
  char *note = capture->facts.note;
  size_t room = sizeof capture->facts.note;
  int n = 0;
  if (capture->facts.damaged_chunks)
    n = snprintf(note, room,
                 "%" PRIu64 " damaged chunk%s left out, the first at byte %" PRIu64
                 " (%s); %" PRIu64 " bytes unused",
                 capture->facts.damaged_chunks, capture->facts.damaged_chunks == 1 ? "" : "s",
                 state->first_bad, state->first_text, state->skipped_bytes);
  else if (state->missing)
    n = snprintf(note, room, "%" PRIu64 " chunks are missing", state->missing);
  const char *failure = ink_capture_fact(capture, "write_failure");
  const char *recovered = ink_capture_fact(capture, "recovered");
  const char *unfinished = ink_capture_fact(capture, "unfinished");
  if (recovered && n >= 0 && (size_t)n < room) {
    capture->facts.complete = false; /* though its end is there */
    n += snprintf(note + n, room - (size_t)n, "%srecovered; of the file it is from: %.160s", n ? "; " : "",
                  recovered);
  } else if (failure && n >= 0 && (size_t)n < room) {
    capture->facts.complete = false; /* though its end is there */
    snprintf(note + n, room - (size_t)n, "%sa write failed while it was recorded: %s",
             n ? "; " : "", failure);
  } else if (unfinished && n >= 0 && (size_t)n < room) {
    capture->facts.complete = false; /* what ran since the last drain is not here */
    snprintf(note + n, room - (size_t)n, "%sthe recording did not end: %s", n ? "; " : "", unfinished);
  } else if (!capture->facts.complete && n >= 0 && (size_t)n < room)
    snprintf(note + n, room - (size_t)n, "%sthe end is missing: the program was killed, or the file is cut off",
             n ? "; " : "");
}

static ink_status scan_chunks(ink_capture *capture, ink_error *error) {
  ink_file_header file;
  memcpy(&file, capture->bytes, sizeof file);
  capture->facts.version = file.major;
  capture->facts.file_bytes = capture->size;
  scan state = {.at = file.header_bytes};
  if (state.at > capture->size)
    state.at = capture->size;
  uint64_t released = 0;
  while (state.at < capture->size) {
    ink_chunk_header header;
    if (!header_at(capture, state.at, &header)) {
      resynchronise(capture, &state);
      continue;
    }
    ink_status status = take_chunk(capture, &state, &header, error);
    if (status != INK_OK)
      return status;
    if (state.at - released > RELEASE_EVERY_BYTES) {
      ink_capture_release_pages(capture);
      released = state.at;
    }
  }
  capture->facts.used_bytes = capture->size - state.skipped_bytes;
  write_note(capture, &state);
  return INK_OK;
}

/* ---- opening and closing ------------------------------------------------------------------- */

static ink_status open_loaded(ink_capture *capture, const char *name, ink_error *error) {
  ink_status status = check_file_header(capture, name, error);
  if (status == INK_OK)
    status = scan_chunks(capture, error);
  if (status == INK_OK) {
    ink_drop_ended(capture);
    status = ink_index_sections(capture, error);
  }
  if (status == INK_OK)
    status = ink_index_kernels(capture, error);
  if (status == INK_OK)
    status = ink_name_instances(capture, error);
  if (status == INK_OK)
    status = ink_index_launches(capture, error);
  if (status == INK_OK)
    status = ink_join_parts(capture, error);
  if (status == INK_OK)
    status = ink_count_kernels(capture, error);
  if (status == INK_OK)
    status = ink_index_activity(capture, error);
  if (status == INK_OK)
    status = ink_index_host(capture, error);
  if (status == INK_OK)
    status = ink_index_stalls(capture, error);
  ink_capture_release_pages(capture);
  return status;
}

static ink_status open_path(const char *path, bool keep_good, ink_capture **out, ink_error *error) {
  if (!path || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no capture to open");
  ink_capture *capture = calloc(1, sizeof *capture);
  if (!capture)
    return no_memory(error);
  capture->fd = -1;
  capture->keep_good = keep_good;
  ink_status status = load_file(path, capture, error);
  if (status == INK_OK)
    status = open_loaded(capture, path, error);
  if (capture->fd >= 0)
    close(capture->fd);
  capture->fd = -1;
  if (status == INK_OK)
    *out = capture;
  else
    ink_capture_free(capture);
  return status;
}

ink_status ink_capture_open(const char *path, ink_capture **out, ink_error *error) {
  return open_path(path, false, out, error);
}

ink_status ink_i_capture_open_chunks(const char *path, ink_capture **out, ink_error *error) {
  return open_path(path, true, out, error);
}

ink_status ink_capture_open_memory(const void *bytes, size_t size, ink_capture **out,
                                   ink_error *error) {
  if ((!bytes && size) || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no capture to open");
  ink_capture *capture = calloc(1, sizeof *capture);
  if (!capture)
    return no_memory(error);
  capture->fd = -1;
  ink_status status = INK_OK;
  capture->bytes = bytes;
  capture->size = size;
  if ((uintptr_t)bytes % 8 && size) { /* words are read in place */
    void *copy = malloc(size);
    if (copy)
      capture->bytes = memcpy(copy, bytes, size);
    else
      status = no_memory(error);
    capture->owned = copy;
  }
  if (status == INK_OK)
    status = open_loaded(capture, "memory", error);
  if (status == INK_OK)
    *out = capture;
  else
    ink_capture_free(capture);
  return status;
}

void ink_capture_free(ink_capture *capture) {
  if (!capture)
    return;
  for (size_t i = 0; i < capture->blocks.count; i++)
    free(capture->blocks.items[i]);
  free(capture->fact_list.items);
  free(capture->devices.items);
  free(capture->tables.items);
  free(capture->sources.items);
  free(capture->table_bases.items);
  free(capture->sections.items);
  free(capture->kernels.items);
  free(capture->launches.items);
  free(capture->host_clocks.items);
  free(capture->mark_costs.items);
  free(capture->clock_edges.items);
  free(capture->slots.items);
  id_map_free(&capture->slot_map);
  id_map_free(&capture->table_map);
  id_map_free(&capture->ended);
  free(capture->totals.items);
  free(capture->tracks.items);
  free(capture->instances.items);
  id_map_free(&capture->instance_map);
  free(capture->parts.items);
  free(capture->good.items);
  free(capture->joined.items);
  ink_activity_free(capture);
  ink_host_free(capture);
  ink_stalls_free(capture);
  free(capture->blocks.items);
  if (capture->mapping)
    munmap(capture->mapping, (size_t)capture->size);
  free(capture->owned);
  free(capture);
}
