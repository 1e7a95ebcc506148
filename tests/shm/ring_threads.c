/* SPDX-License-Identifier: MIT */
/* One thread puts chunks into a ring and another takes them out, built with ThreadSanitizer: it tells
 * where one of the two reads what the other has not handed over. ring_threads [CHUNKS] */
#include "shm/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 1 << 17 };

static unsigned long chunks = 20000;
static ink_i_ring ring;
static ink_i_ring_reader reader;

static size_t size_of(unsigned long i) { return i * 7919 % 3000; }

static void *putter(void *user) {
  unsigned char chunk[32 + 3008];
  for (unsigned long i = 0; i < chunks; i++) {
    memset(chunk + 32, (int)(i & 255), size_of(i));
    while (ink_i_ring_room(&ring, INK_CHUNK_TRACKS) < 32 + 3008)
      sched_yield();
    if (!ink_i_ring_put(&ring, chunk, INK_CHUNK_TRACKS, size_of(i)))
      abort();
  }
  return user;
}

int main(int argc, char **argv) {
  const uint64_t id[2] = {0};
  pthread_t thread;
  unsigned long taken = 0;
  if (argc > 1)
    chunks = strtoul(argv[1], NULL, 10);
  void *map = calloc(1, INK_I_RING_DATA_AT + DATA);
  if (!map)
    return 1;
  ink_i_ring_prepare(map, DATA, id);
  ink_i_ring_attach(&ring, map, DATA);
  ink_i_ring_read_from(&reader, map, DATA);
  if (pthread_create(&thread, NULL, putter, NULL))
    return 1;
  while (taken < chunks) {
    uint32_t type;
    size_t bytes;
    if (ink_i_ring_take(&reader, false, &type, &bytes) != INK_OK) {
      sched_yield();
      continue;
    }
    for (size_t i = 0; i < bytes; i++)
      if (reader.chunk[32 + i] != (taken & 255)) {
        fprintf(stderr, "chunk %lu is wrong at byte %zu\n", taken, i);
        return 1;
      }
    if (bytes != size_of(taken++)) {
      fprintf(stderr, "chunk %lu has %zu bytes\n", taken - 1, bytes);
      return 1;
    }
  }
  pthread_join(thread, NULL);
  printf("%lu chunks, %llu damaged\n", taken, (unsigned long long)reader.damaged);
  const bool fine = !reader.damaged && !reader.missing;
  ink_i_ring_reader_free(&reader);
  free(map);
  return !fine;
}
