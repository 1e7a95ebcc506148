/* SPDX-License-Identifier: MIT */
/* The ring of chunks: threads of one process put, one at a time, and another process takes. The head is stored with release
 * semantics behind a whole chunk; the reader copies a chunk out before it looks at it. */
#include "shm/ring.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- the program's side ---- */

void ink_i_ring_attach(ink_i_ring *ring, void *map, uint64_t data_bytes) {
  *ring = (ink_i_ring){.header = map,
                       .data = (unsigned char *)map + INK_I_RING_DATA_AT,
                       .data_bytes = data_bytes};
}

uint64_t ink_i_ring_tail(const ink_i_ring *ring) {
  return atomic_load_explicit(&ring->header->tail, memory_order_acquire);
}

static uint64_t room_of(const ink_i_ring *ring, uint32_t type) {
  const uint64_t used = ring->head - ink_i_ring_tail(ring);
  const uint64_t kept = ink_i_chunk_has_items(type) ? INK_I_RING_RESERVE : 0;
  return used < ring->data_bytes && used + kept < ring->data_bytes /* not so behind a ruined tail */
             ? ring->data_bytes - used - kept
             : 0;
}

uint64_t ink_i_ring_room(ink_i_ring *ring, uint32_t type) {
  pthread_mutex_lock(&ring->lock);
  const uint64_t room = room_of(ring, type);
  pthread_mutex_unlock(&ring->lock);
  return room;
}

static void put(ink_i_ring *ring, const unsigned char *chunk, uint64_t total) {
  const uint64_t at = ring->head % ring->data_bytes;
  const uint64_t straight = total < ring->data_bytes - at ? total : ring->data_bytes - at;
  memcpy(ring->data + at, chunk, (size_t)straight);
  memcpy(ring->data, chunk + straight, (size_t)(total - straight));
  ring->head += total;
  atomic_store_explicit(&ring->header->head, ring->head, memory_order_release);
}

bool ink_i_ring_put(ink_i_ring *ring, unsigned char *chunk, uint32_t type, size_t payload_bytes) {
  const uint64_t total = sizeof(ink_chunk_header) + ink_pad8(payload_bytes);
  pthread_mutex_lock(&ring->lock);
  const bool fits = total <= room_of(ring, type);
  if (fits) {
    ink_i_chunk_seal(chunk, type, payload_bytes, ring->sequence++);
    put(ring, chunk, total);
  } else {
    atomic_store_explicit(&ring->header->lost, ++ring->lost, memory_order_relaxed);
  }
  pthread_mutex_unlock(&ring->lock);
  return fits;
}

/* ---- the writer's side ---- */

void ink_i_ring_prepare(void *map, uint64_t data_bytes, const uint64_t id[2]) {
  ink_i_ring_header *header = map;
  header->magic = INK_I_RING_MAGIC;
  header->version = INK_I_RING_VERSION;
  header->data_bytes = data_bytes;
  memcpy(header->id, id, sizeof header->id);
}

void ink_i_ring_read_from(ink_i_ring_reader *reader, void *map, uint64_t data_bytes) {
  *reader = (ink_i_ring_reader){.header = map,
                                .data = (const unsigned char *)map + INK_I_RING_DATA_AT,
                                .data_bytes = data_bytes};
}

void ink_i_ring_reader_free(ink_i_ring_reader *reader) {
  free(reader->chunk);
  reader->chunk = NULL;
  reader->capacity = 0;
}

static void copy_out(const ink_i_ring_reader *reader, uint64_t position, void *to, size_t bytes) {
  const uint64_t at = position % reader->data_bytes;
  const uint64_t straight = bytes < reader->data_bytes - at ? bytes : reader->data_bytes - at;
  memcpy(to, reader->data + at, (size_t)straight);
  memcpy((unsigned char *)to + straight, reader->data, bytes - (size_t)straight);
}

/* A header that could stand at `position`: `room` bytes from there on may belong to the chunk. */
static bool header_at(const ink_i_ring_reader *reader, uint64_t position, uint64_t room,
                      ink_chunk_header *out) {
  if (room < sizeof *out)
    return false;
  copy_out(reader, position, out, sizeof *out);
  return out->sync == INK_CHUNK_SYNC &&
         out->header_crc == (uint32_t)crc32_z(0, (const unsigned char *)out,
                                              offsetof(ink_chunk_header, header_crc)) &&
         out->sequence >= reader->expected && out->bytes <= room - sizeof *out &&
         ink_pad8(out->bytes) <= room - sizeof *out;
}

static bool reserve(ink_i_ring_reader *reader, size_t bytes) {
  if (bytes <= reader->capacity)
    return true;
  size_t capacity = reader->capacity ? reader->capacity : 4096;
  while (capacity < bytes)
    capacity *= 2;
  unsigned char *chunk = realloc(reader->chunk, capacity);
  if (!chunk)
    return false;
  reader->chunk = chunk;
  reader->capacity = capacity;
  return true;
}

static void move_tail(ink_i_ring_reader *reader, uint64_t tail) {
  reader->tail = tail;
  atomic_store_explicit(&reader->header->tail, tail, memory_order_release);
}

/* How many bytes from the tail on hold chunks. Behind a ruined head nothing is taken until the program
 * stores the next one, or is gone: then all of the ring is looked through. */
static uint64_t filled(const ink_i_ring_reader *reader, bool last, bool *ruined) {
  const uint64_t head = atomic_load_explicit(&reader->header->head, memory_order_acquire);
  *ruined = head % 8 || head - reader->tail > reader->data_bytes;
  return !*ruined ? head - reader->tail : last ? reader->data_bytes : 0;
}

/* The payload behind a header that was read before, if its checksum is right. */
static ink_status take_payload(ink_i_ring_reader *reader, const ink_chunk_header *header) {
  const size_t padded = (size_t)ink_pad8(header->bytes);
  if (!reserve(reader, sizeof *header + padded))
    return INK_ERROR_MEMORY;
  memcpy(reader->chunk, header, sizeof *header);
  copy_out(reader, reader->tail + sizeof *header, reader->chunk + sizeof *header, padded);
  return header->payload_crc == (uint32_t)crc32_z(0, reader->chunk + sizeof *header, padded)
             ? INK_OK
             : INK_ERROR_DAMAGED;
}

ink_status ink_i_ring_take(ink_i_ring_reader *reader, bool last, uint32_t *type, size_t *payload_bytes) {
  bool ruined, in_damage = false;
  uint64_t room = filled(reader, last, &ruined);
  while (room) {
    ink_chunk_header header;
    const bool found = header_at(reader, reader->tail, room, &header) &&
                       (!ruined || header.sequence == reader->expected);
    const ink_status status = found ? take_payload(reader, &header) : INK_ERROR_DAMAGED;
    if (status == INK_ERROR_MEMORY)
      return status;
    if (status == INK_OK) {
      reader->missing += header.sequence - reader->expected;
      reader->expected = header.sequence + 1;
      move_tail(reader, reader->tail + sizeof header + ink_pad8(header.bytes));
      *type = header.type;
      *payload_bytes = (size_t)header.bytes;
      return INK_OK;
    }
    if (!in_damage)
      reader->damaged++;
    in_damage = true;
    uint64_t step = room < 8 ? room : 8;
    if (found) { /* its size is right: what stands in its payload is not looked at */
      step = sizeof header + ink_pad8(header.bytes);
      reader->expected = header.sequence + 1;
    }
    reader->tail += step;
    room -= step;
  }
  if (in_damage)
    move_tail(reader, reader->tail);
  return INK_ERROR_EMPTY;
}
