/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of the ring: the input is what a program with a ruined heap left in the shared
 * pages. The first 8 bytes are the head; bit 0 of the ninth asks for the program to be gone; the rest
 * are the data, in which each 0x01 begins a chunk with right checksums: its type, its size, its payload. */
#include "shm/ring.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA = 8192 };

/* Writes the data; where the last chunk ends. */
static size_t fill(unsigned char *to, const uint8_t *data, size_t size) {
  size_t at = 0;
  uint64_t sequence = 0;
  for (size_t i = 0; i < size && at < DATA;) {
    const size_t bytes = i + 2 < size ? data[i + 2] : 0;
    if (data[i] == 1 && i + 3 + bytes <= size && at + 32 + ink_pad8(bytes) <= DATA) {
      memcpy(to + at + 32, data + i + 3, bytes);
      at += ink_i_chunk_seal(to + at, data[i + 1] & 15, bytes, sequence++);
      i += 3 + bytes;
    } else {
      to[at++] = data[i++];
    }
  }
  return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint64_t id[2] = {0};
  uint64_t head;
  uint32_t type;
  size_t bytes;
  if (size < 9)
    return 0;
  unsigned char *map = calloc(1, INK_I_RING_DATA_AT + DATA); /* of the exact size: a read beyond is seen */
  if (!map)
    return 0;
  ink_i_ring_reader reader;
  ink_i_ring_prepare(map, DATA, id);
  ink_i_ring_read_from(&reader, map, DATA);
  const size_t filled = fill(map + INK_I_RING_DATA_AT, data + 9, size - 9);
  memcpy(&head, data, sizeof head);
  atomic_store(&reader.header->head, head ? head : ink_pad8(filled));
  const bool gone = data[8] & 1;
  for (int n = 0; n < 1000 && ink_i_ring_take(&reader, gone, &type, &bytes) == INK_OK; n++)
    if (bytes > DATA || reader.tail > 2 * DATA || !reader.chunk)
      abort();
  ink_i_ring_reader_free(&reader);
  free(map);
  return 0;
}
