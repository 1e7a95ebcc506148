/* SPDX-License-Identifier: MIT */
/* The capture writer: makes chunks, and passes each whole chunk to a file, or to the ring in shared memory, whose
 * reader appends it to a file. Not thread-safe: the session holds a lock. */
#include "capture/capture_write.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS_PER_WRITE_BYTES = 1 << 20, /* a fuller chunk of tracks or parts is written at once */
       SCRATCH_BYTES = 64 << 10 };

typedef struct writer_device {
  int32_t index;
  uint32_t records, aux_records, flags;
} writer_device;

/* A growing chunk: header first, payload behind it. */
typedef struct chunk_buffer {
  unsigned char *data;
  size_t bytes, capacity; /* with the chunk header */
} chunk_buffer;

/* A chunk of many items of one device; empty: bytes == 0. */
typedef struct waiting_chunk {
  chunk_buffer buffer;
  uint32_t type;
  ink_file_tracks fixed; /* PARTS begins alike */
} waiting_chunk;
INK_STATIC_ASSERT(sizeof(ink_file_tracks) == sizeof(ink_file_parts), "both begin alike");

struct ink_writer {
  ink_i_file *file; /* or: */
  ink_i_ring *ring; /* of this process; NULL in a child that inherited the writer */
  uint32_t patience_ms; /* with a ring whose reader does not go on */
  bool stalled;
  uint64_t stalled_at;
  size_t items_per_write;
  writer_device *devices;
  size_t device_count;
  chunk_buffer scratch; /* every other chunk */
  waiting_chunk tracks, parts; /* TRACKS and PARTS, being filled */
};

static ink_status reserve(chunk_buffer *buffer, size_t more, ink_error *error) {
  if (more > SIZE_MAX / 2 - buffer->bytes)
    return ink_error_set(error, INK_ERROR_LIMIT, "a chunk of the capture is too large");
  size_t need = buffer->bytes + more;
  if (need <= buffer->capacity)
    return INK_OK;
  size_t capacity = buffer->capacity ? buffer->capacity : 4096;
  while (capacity < need)
    capacity *= 2;
  unsigned char *data = realloc(buffer->data, capacity);
  if (!data)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for %zu bytes", capacity);
  buffer->data = data;
  buffer->capacity = capacity;
  return INK_OK;
}

static ink_status begin_chunk(chunk_buffer *buffer, size_t payload_bytes, ink_error *error) {
  buffer->bytes = 0;
  ink_status status = reserve(buffer, sizeof(ink_chunk_header) + payload_bytes + 8, error);
  if (status == INK_OK)
    buffer->bytes = sizeof(ink_chunk_header);
  return status;
}

/* Room was reserved by the caller. */
static void put(chunk_buffer *buffer, const void *from, size_t bytes) {
  if (bytes)
    memcpy(buffer->data + buffer->bytes, from, bytes);
  buffer->bytes += bytes;
}

static void put_text(chunk_buffer *buffer, const char *text) {
  put(buffer, text, strlen(text) + 1);
}

/* ---- where chunks go ---- */

/* Waits for room as long as the reader of the ring goes on. If the reader stands still for the given time, it is
 * stopped, or its disk is full. Then nobody waits for it again until it goes on. */
static void wait_for_room(ink_writer *writer, ink_i_ring *ring, uint64_t bytes, uint32_t type) {
  uint64_t tail = ink_i_ring_tail(ring);
  if (writer->stalled && tail == writer->stalled_at)
    return;
  writer->stalled = false;
  for (uint32_t waited_ms = 0; bytes > ink_i_ring_room(ring, type); waited_ms++) {
    if (waited_ms >= writer->patience_ms) {
      writer->stalled = true;
      writer->stalled_at = tail;
      return;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (ink_i_ring_tail(ring) != tail) {
      tail = ink_i_ring_tail(ring);
      waited_ms = 0;
    }
  }
}

/* A chunk that does not fit is lost. The reader of the ring and the counters of the device count it. */
static ink_status put_in_ring(ink_writer *writer, chunk_buffer *buffer, uint32_t type,
                              ink_error *error) {
  const size_t payload = buffer->bytes - sizeof(ink_chunk_header);
  const uint64_t bytes = sizeof(ink_chunk_header) + ink_pad8(payload);
  ink_i_ring *ring = ink_i_link_current();
  if (!ring || ring != writer->ring)
    return ink_error_set(error, INK_ERROR_STOPPED, "the ring is another process's");
  if (bytes <= ring->data_bytes)
    wait_for_room(writer, ring, bytes, type);
  ink_i_ring_put(ring, buffer->data, type, payload);
  return INK_OK;
}

static ink_status end_chunk(ink_writer *writer, chunk_buffer *buffer, uint32_t type,
                            ink_error *error) {
  size_t left;
  ink_status status;
  if (!writer->file)
    status = put_in_ring(writer, buffer, type, error);
  else if (ink_i_chunk_has_items(type))
    status = ink_i_file_put_items(writer->file, buffer->data, type,
                                  buffer->bytes - sizeof(ink_chunk_header), &left, error);
  else
    status = ink_i_file_put(writer->file, buffer->data, type,
                            buffer->bytes - sizeof(ink_chunk_header), error);
  buffer->bytes = 0;
  return status;
}

static ink_status make_writer(ink_i_file *file, ink_i_ring *ring, ink_writer **out, ink_error *error) {
  ink_writer *writer = calloc(1, sizeof *writer);
  if (!writer)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a capture writer");
  writer->file = file;
  writer->ring = ring;
  writer->items_per_write = ITEMS_PER_WRITE_BYTES;
  writer->patience_ms = INK_I_PATIENCE_MS;
  *out = writer;
  return INK_OK;
}

ink_status ink_writer_open(const char *path, bool replace, ink_writer **out, ink_error *error) {
  ink_i_file *file;
  if (!path || !*path || !out)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no path for the capture");
  ink_status status = ink_i_file_open(path, replace, &file, error);
  if (status == INK_OK)
    status = make_writer(file, NULL, out, error);
  else
    return status;
  if (status != INK_OK)
    ink_i_file_abandon(file);
  return status;
}

ink_status ink_i_writer_open_ring(size_t track_bytes, ink_writer **out, ink_error *error) {
  ink_i_ring *ring = ink_i_link_current();
  ink_writer *writer = NULL;
  if (!ring)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "this process has no ring");
  ink_status status = make_writer(NULL, ring, &writer, error);
  if (status != INK_OK)
    return status;
  if (writer->items_per_write > ring->data_bytes / 8)
    writer->items_per_write = (size_t)ring->data_bytes / 8;
  /* all that draining needs later, when the program may have shut itself in */
  status = reserve(&writer->scratch, SCRATCH_BYTES, error);
  if (status == INK_OK)
    status = reserve(&writer->tracks.buffer, writer->items_per_write + track_bytes + SCRATCH_BYTES, error);
  if (status != INK_OK)
    ink_writer_abandon(writer);
  else
    *out = writer;
  return status;
}

bool ink_i_writer_has_room(const ink_writer *writer, size_t bytes) {
  if (writer->file)
    return true;
  ink_i_ring *ring = ink_i_link_current();
  const uint64_t wanted = (uint64_t)bytes + writer->tracks.buffer.bytes + writer->parts.buffer.bytes + SCRATCH_BYTES;
  return ring && ring == writer->ring && wanted <= ink_i_ring_room(ring, INK_CHUNK_TRACKS);
}

bool ink_i_writer_wait(ink_writer *writer, size_t bytes) {
  ink_i_ring *ring = ink_i_link_current();
  const uint64_t wanted = (uint64_t)bytes + writer->tracks.buffer.bytes + writer->parts.buffer.bytes + SCRATCH_BYTES;
  if (!writer->file && ring && ring == writer->ring)
    wait_for_room(writer, ring, wanted, INK_CHUNK_TRACKS);
  return ink_i_writer_has_room(writer, bytes);
}

void ink_i_writer_patience(ink_writer *writer, uint32_t ms) { writer->patience_ms = ms; }

ink_status ink_i_writer_chunk(ink_writer *writer, uint32_t type, const void *head,
                              size_t head_bytes, const void *body, size_t body_bytes,
                              ink_error *error) {
  chunk_buffer *buffer = &writer->scratch;
  ink_status status = begin_chunk(buffer, head_bytes + body_bytes, error);
  if (status != INK_OK)
    return status;
  put(buffer, head, head_bytes);
  put(buffer, body, body_bytes);
  return end_chunk(writer, buffer, type, error);
}

ink_status ink_writer_fact(ink_writer *writer, const char *key, const char *value,
                           ink_error *error) {
  if (!writer || !key || !value)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a fact needs a key and a value");
  chunk_buffer *buffer = &writer->scratch;
  ink_status status = begin_chunk(buffer, strlen(key) + strlen(value) + 2, error);
  if (status != INK_OK)
    return status;
  put_text(buffer, key);
  put_text(buffer, value);
  return end_chunk(writer, buffer, INK_CHUNK_FACT, error);
}

ink_status ink_writer_table(ink_writer *writer, const char *name, const char *sections,
                            const char *file, uint32_t line, uint64_t hash48, ink_error *error) {
  if (!writer || !name || !sections)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a section table needs a name and sections");
  if (!file)
    file = "";
  chunk_buffer *buffer = &writer->scratch;
  ink_file_table fixed = {.hash48 = hash48, .line = line};
  ink_status status =
      begin_chunk(buffer, sizeof fixed + strlen(name) + strlen(sections) + strlen(file) + 3, error);
  if (status != INK_OK)
    return status;
  put(buffer, &fixed, sizeof fixed);
  put_text(buffer, name);
  put_text(buffer, file);
  put_text(buffer, sections);
  return end_chunk(writer, buffer, INK_CHUNK_TABLE, error);
}

static writer_device *find_device(const ink_writer *writer, int32_t index) {
  for (size_t i = 0; i < writer->device_count; i++)
    if (writer->devices[i].index == index)
      return &writer->devices[i];
  return NULL;
}

bool ink_i_writer_rings(const ink_writer *writer, int32_t device, uint32_t *records, uint32_t *aux_records) {
  const writer_device *known = find_device(writer, device);
  if (!known)
    return false;
  *records = known->records;
  *aux_records = known->aux_records;
  return true;
}

static ink_status add_device(ink_writer *writer, int32_t index, uint32_t records, uint32_t aux_records,
                             uint32_t flags, ink_error *error) {
  writer_device *known = find_device(writer, index);
  if (!known) {
    writer_device *more =
        realloc(writer->devices, (writer->device_count + 1) * sizeof *writer->devices);
    if (!more)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a device");
    writer->devices = more;
    known = &more[writer->device_count++];
  }
  *known = (writer_device){
      .index = index, .records = records, .aux_records = aux_records, .flags = flags};
  return INK_OK;
}

static ink_status write_waiting(ink_writer *writer, ink_error *error);

ink_status ink_writer_device(ink_writer *writer, const ink_device_info *device, ink_error *error) {
  if (!writer || !device)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no device to write");
  /* Tracks that wait were recorded under the device's old sizes and flags. */
  ink_status status = write_waiting(writer, error);
  if (status != INK_OK)
    return status;
  status = add_device(writer, device->index, device->records_per_track, device->aux_records_per_track,
                      device->flags, error);
  if (status != INK_OK)
    return status;
  const char *name = device->name ? device->name : "";
  ink_file_device fixed = {.index = device->index,
                           .simulated = device->simulated,
                           .sm_count = device->sm_count,
                           .capability = device->capability,
                           .clock_khz = device->clock_khz,
                           .track_count = device->track_count,
                           .records_per_track = device->records_per_track,
                           .aux_records_per_track = device->aux_records_per_track,
                           .flags = device->flags,
                           .runtime_version = device->runtime_version,
                           .driver_version = device->driver_version};
  chunk_buffer *buffer = &writer->scratch;
  status = begin_chunk(buffer, sizeof fixed + strlen(name) + 1, error);
  if (status != INK_OK)
    return status;
  put(buffer, &fixed, sizeof fixed);
  put_text(buffer, name);
  return end_chunk(writer, buffer, INK_CHUNK_DEVICE, error);
}

ink_status ink_writer_host_clock(ink_writer *writer, const ink_host_clock *pair, ink_error *error) {
  if (!writer || !pair)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no host clock to write");
  ink_status status = begin_chunk(&writer->scratch, sizeof *pair, error);
  if (status != INK_OK)
    return status;
  put(&writer->scratch, pair, sizeof *pair);
  return end_chunk(writer, &writer->scratch, INK_CHUNK_HOST_CLOCK, error);
}

ink_status ink_writer_mark_costs(ink_writer *writer, const ink_mark_costs *costs,
                                 ink_error *error) {
  if (!writer || !costs || (costs->count && !costs->costs))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no costs of marks to write");
  chunk_buffer *buffer = &writer->scratch;
  const char *note = costs->note ? costs->note : "";
  const size_t bytes = costs->count * sizeof(ink_mark_cost);
  ink_file_mark_costs fixed = {.device = costs->device, .count = costs->count};
  ink_status status = begin_chunk(buffer, sizeof fixed + bytes + strlen(note) + 1, error);
  if (status != INK_OK)
    return status;
  put(buffer, &fixed, sizeof fixed);
  put(buffer, costs->costs, bytes);
  put_text(buffer, note);
  return end_chunk(writer, buffer, INK_CHUNK_MARK_COSTS, error);
}

ink_status ink_writer_counts(ink_writer *writer, const ink_kernel_counts *counts, size_t n,
                             uint64_t claims, uint64_t unknown, int32_t device, ink_error *error) {
  if (!writer || (!counts && n))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no counts to write");
  if (n > UINT32_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "too many kernel counts: %zu", n);
  /* Tracks that wait were claimed before this snapshot; their slots may be named anew by it. */
  ink_status status = write_waiting(writer, error);
  if (status != INK_OK)
    return status;
  chunk_buffer *buffer = &writer->scratch;
  ink_file_counts fixed = {
      .device = device, .count = (uint32_t)n, .claims = claims, .unknown = unknown};
  status = begin_chunk(buffer, sizeof fixed + n * sizeof(ink_file_count), error);
  if (status != INK_OK)
    return status;
  put(buffer, &fixed, sizeof fixed);
  for (size_t i = 0; i < n; i++) {
    ink_file_count count = {.slot = counts[i].slot,
                            .key = counts[i].key,
                            .missed = counts[i].missed,
                            .tracks = counts[i].tracks,
                            .marks = counts[i].marks,
                            .words = counts[i].words};
    put(buffer, &count, sizeof count);
  }
  return end_chunk(writer, buffer, INK_CHUNK_COUNTS, error);
}

/* How many words of a ring of `records` are valid after `executed` words went through it. */
static uint64_t kept_words(const uint64_t *ring, uint64_t executed, uint32_t records,
                           bool keep_first) {
  if (executed <= records)
    return executed;
  uint64_t kept = records;
  if (keep_first) /* the record that did not fit left up to this many words unwritten */
    for (unsigned i = 1; i < INK_RECORD_WORDS_MAX && kept && ring[kept - 1] == INK_UNWRITTEN; i++)
      kept--;
  return kept;
}

/* Appends the kept words, oldest first: word k of the track stands at position k mod `records`. */
static void put_ring(chunk_buffer *buffer, const uint64_t *ring, uint64_t executed, uint64_t kept,
                     uint32_t records, bool keep_first) {
  if (!kept)
    return;
  uint64_t first = keep_first ? 0 : (executed - kept) % records;
  uint64_t straight = kept < records - first ? kept : records - first;
  put(buffer, ring + first, (size_t)straight * 8);
  put(buffer, ring, (size_t)(kept - straight) * 8);
}

static ink_status write_chunk(ink_writer *writer, waiting_chunk *chunk, ink_error *error) {
  if (!chunk->buffer.bytes)
    return INK_OK;
  memcpy(chunk->buffer.data + sizeof(ink_chunk_header), &chunk->fixed, sizeof chunk->fixed);
  return end_chunk(writer, &chunk->buffer, chunk->type, error);
}

static ink_status write_waiting(ink_writer *writer, ink_error *error) {
  ink_status status = write_chunk(writer, &writer->tracks, error);
  const ink_status parts = write_chunk(writer, &writer->parts, status ? NULL : error);
  return status ? status : parts;
}

/* Makes room for one more item of `bytes` in a chunk of that device. The caller writes the item and ends it. */
static ink_status begin_item(ink_writer *writer, waiting_chunk *chunk, uint32_t type,
                             const writer_device *device, uint64_t bytes, ink_error *error) {
  ink_status status = INK_OK;
  if (chunk->buffer.bytes && chunk->fixed.device != device->index)
    status = write_chunk(writer, chunk, error);
  if (status == INK_OK && !chunk->buffer.bytes) {
    status = begin_chunk(&chunk->buffer, sizeof chunk->fixed, error);
    if (status == INK_OK)
      chunk->buffer.bytes += sizeof chunk->fixed;
    chunk->type = type;
    chunk->fixed = (ink_file_tracks){.device = device->index, .flags = device->flags};
  }
  return status == INK_OK ? reserve(&chunk->buffer, (size_t)bytes + 8, error) : status;
}

static ink_status end_item(ink_writer *writer, waiting_chunk *chunk, ink_error *error) {
  chunk->fixed.count++;
  return chunk->buffer.bytes >= writer->items_per_write ? write_chunk(writer, chunk, error) : INK_OK;
}

ink_status ink_writer_track(ink_writer *writer, int32_t device, const ink_track *header,
                            const uint64_t *ring, const uint64_t *aux_ring, ink_error *error) {
  if (!writer || !header)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no track to write");
  const writer_device *known = find_device(writer, device);
  if (!known)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a track of device %d, which was not written",
                         (int)device);
  if (header->state != INK_TRACK_OPEN && header->state != INK_TRACK_CLOSED)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a track whose state is %u",
                         (unsigned)header->state);
  if (header->state == INK_TRACK_OPEN) {
    ink_track nothing = *header;
    nothing.words = nothing.aux_words = nothing.extra = nothing.aux_extra = 0;
    return ink_writer_open_track(writer, device, &nothing, NULL, 0, NULL, 0, error);
  }
  bool first = known->flags & INK_BUFFER_KEEP_FIRST;
  if ((header->words && known->records && !ring) ||
      (header->aux_words && known->aux_records && !aux_ring))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a track with words but without its ring");
  ink_file_track fixed = {
      .ring_words = kept_words(ring, header->words, known->records, first && !INK_TRACK_ROWS(header)),
      .aux_words = kept_words(aux_ring, header->aux_words, known->aux_records, first),
      .header = *header};
  waiting_chunk *chunk = &writer->tracks;
  ink_status status =
      begin_item(writer, chunk, INK_CHUNK_TRACKS, known,
                 sizeof fixed + (fixed.ring_words + fixed.aux_words) * 8, error);
  if (status != INK_OK)
    return status;
  put(&chunk->buffer, &fixed, sizeof fixed);
  put_ring(&chunk->buffer, ring, header->words, fixed.ring_words, known->records, first);
  put_ring(&chunk->buffer, aux_ring, header->aux_words, fixed.aux_words, known->aux_records, first);
  return end_item(writer, chunk, error);
}

ink_status ink_writer_open_track(ink_writer *writer, int32_t device, const ink_track *header,
                                 const uint64_t *words, uint64_t count, const uint64_t *aux,
                                 uint64_t aux_count, ink_error *error) {
  if (!writer || !header || (!words && count) || (!aux && aux_count))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no track to write");
  const writer_device *known = find_device(writer, device);
  if (!known)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a track of device %d, which was not written",
                         (int)device);
  if (header->state != INK_TRACK_OPEN)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "an open track whose state is %u",
                         (unsigned)header->state);
  if (header->words < count || header->aux_words < aux_count)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "an open track with more words than it executed");
  if (count > SIZE_MAX / 32 || aux_count > SIZE_MAX / 32)
    return ink_error_set(error, INK_ERROR_LIMIT, "a chunk of the capture is too large");
  ink_file_track fixed = {.ring_words = count, .aux_words = aux_count, .header = *header};
  waiting_chunk *chunk = &writer->tracks;
  ink_status status = begin_item(writer, chunk, INK_CHUNK_TRACKS, known,
                                 sizeof fixed + (count + aux_count) * 8, error);
  if (status != INK_OK)
    return status;
  put(&chunk->buffer, &fixed, sizeof fixed);
  put(&chunk->buffer, words, (size_t)count * 8);
  put(&chunk->buffer, aux, (size_t)aux_count * 8);
  return end_item(writer, chunk, error);
}

ink_status ink_i_writer_closing(ink_writer *writer, int32_t device, const ink_track *header, ink_error *error) {
  const writer_device *known = find_device(writer, device);
  if (!known || header->state != INK_TRACK_CLOSED)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no closing of a track to write");
  const ink_file_track fixed = {.header = *header};
  const ink_status status = begin_item(writer, &writer->tracks, INK_CHUNK_TRACKS, known, sizeof fixed, error);
  if (status != INK_OK)
    return status;
  put(&writer->tracks.buffer, &fixed, sizeof fixed);
  return end_item(writer, &writer->tracks, error);
}

ink_status ink_writer_part(ink_writer *writer, const ink_part *part, ink_error *error) {
  if (!writer || !part || !part->words || !part->count || part->ring > 1)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no part of a track to write");
  const writer_device *known = find_device(writer, part->device);
  if (!known)
    return ink_error_set(error, INK_ERROR_ARGUMENT,
                         "a part of a track of device %d, which was not written", (int)part->device);
  if (part->count > SIZE_MAX / 32)
    return ink_error_set(error, INK_ERROR_LIMIT, "a chunk of the capture is too large");
  const ink_file_part fixed = {.words = part->count, .ticket = part->ticket,
                               .open_clock0 = part->open_clock0, .first = part->first,
                               .ring = part->ring, .flags = part->flags};
  waiting_chunk *chunk = &writer->parts;
  ink_status status = begin_item(writer, chunk, INK_CHUNK_PARTS, known,
                                 sizeof fixed + part->count * 8, error);
  if (status != INK_OK)
    return status;
  put(&chunk->buffer, &fixed, sizeof fixed);
  put(&chunk->buffer, part->words, (size_t)part->count * 8);
  return end_item(writer, chunk, error);
}

ink_status ink_writer_instance(ink_writer *writer, int32_t device, uint64_t address, const char *name,
                               ink_error *error) {
  if (!writer || !name)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no instance to write");
  const ink_status status = write_waiting(writer, error); /* the address may have been another's for these */
  const ink_file_instance fixed = {.device = device, .address = address};
  return status ? status
                : ink_i_writer_chunk(writer, INK_CHUNK_INSTANCE, &fixed, sizeof fixed, name, strlen(name) + 1, error);
}

ink_status ink_writer_ended(ink_writer *writer, int32_t device, const uint64_t *tickets, size_t n,
                            ink_error *error) {
  if (!writer || !tickets || n > UINT32_MAX)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no tracks that ended");
  const ink_status status = write_waiting(writer, error); /* they may be among those that wait */
  const ink_file_ended fixed = {.device = device, .count = (uint32_t)n};
  return status ? status
                : ink_i_writer_chunk(writer, INK_CHUNK_ENDED, &fixed, sizeof fixed, tickets,
                                     n * sizeof *tickets, error);
}

ink_status ink_writer_flush(ink_writer *writer, ink_error *error) {
  if (!writer)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no writer to flush");
  return write_waiting(writer, error);
}

ink_status ink_writer_close(ink_writer *writer, ink_error *error) {
  if (!writer)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no writer to close");
  ink_status status = write_waiting(writer, error);
  if (status == INK_OK && writer->file && ink_i_file_reopened(writer->file))
    status = ink_writer_fact(writer, "reopened", "the program closed the capture's descriptor", error);
  ink_file_end end = {.chunks = writer->file ? ink_i_file_chunks(writer->file) : 0};
  if (status == INK_OK)
    status = begin_chunk(&writer->scratch, sizeof end, error);
  if (status == INK_OK) {
    put(&writer->scratch, &end, sizeof end);
    status = end_chunk(writer, &writer->scratch, INK_CHUNK_END, error);
  }
  if (writer->file) {
    const ink_status closed = ink_i_file_close(writer->file, status ? NULL : error);
    status = status ? status : closed;
  }
  writer->file = NULL;
  ink_writer_abandon(writer);
  return status;
}

void ink_writer_abandon(ink_writer *writer) {
  if (!writer)
    return;
  if (writer->file)
    ink_i_file_abandon(writer->file);
  free(writer->devices);
  free(writer->scratch.data);
  free(writer->tracks.buffer.data);
  free(writer->parts.buffer.data);
  free(writer);
}

/* ---- chunks that another process made ---- */

static ink_status note_device(ink_writer *writer, const unsigned char *payload, size_t bytes,
                              ink_error *error) {
  ink_file_device fixed;
  if (bytes < sizeof fixed)
    return INK_OK;
  memcpy(&fixed, payload, sizeof fixed);
  return add_device(writer, fixed.index, fixed.records_per_track, fixed.aux_records_per_track,
                    fixed.flags, error);
}

ink_status ink_i_writer_append(ink_writer *writer, unsigned char *chunk, uint32_t type,
                               size_t payload_bytes, size_t *left, ink_error *error) {
  ink_status status = write_waiting(writer, error);
  *left = 0;
  if (status == INK_OK && type == INK_CHUNK_DEVICE)
    status = note_device(writer, chunk + sizeof(ink_chunk_header), payload_bytes, error);
  if (status != INK_OK)
    return status;
  return ink_i_chunk_has_items(type)
             ? ink_i_file_put_items(writer->file, chunk, type, payload_bytes, left, error)
             : ink_i_file_put(writer->file, chunk, type, payload_bytes, error);
}
