/* SPDX-License-Identifier: MIT */
/* Packed by one thread and by several: the same bytes, one gzip member, and what went in comes out. */
#include "gzip_write.h"

#include <dirent.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PIECE = 256 * 1024, MOST = 16 * PIECE };

typedef struct packed {
  unsigned char *bytes;
  size_t size, threads; /* the most that were there while it was written */
} packed;

static int failed;

#define CHECK(holds, ...)                                                                          \
  do {                                                                                             \
    if (!(holds)) {                                                                                \
      failed++;                                                                                    \
      printf("FAILED: %s: ", #holds);                                                              \
      printf(__VA_ARGS__);                                                                         \
      putchar('\n');                                                                               \
    }                                                                                              \
  } while (0)

static size_t threads_here(void) {
  DIR *tasks = opendir("/proc/self/task");
  size_t n = 0;
  for (struct dirent *e; tasks && (e = readdir(tasks));)
    n += e->d_name[0] != '.';
  if (tasks)
    closedir(tasks);
  return n;
}

/* A thread that was joined may be there for a moment more. */
static size_t threads_left(void) {
  for (int i = 0; i < 10000 && threads_here() > 1; i++)
    usleep(1000);
  return threads_here() - 1;
}

static void take(void *user, const unsigned char *bytes, size_t size) {
  packed *p = user;
  p->bytes = realloc(p->bytes, p->size + size);
  memcpy(p->bytes + p->size, bytes, size);
  p->size += size;
  const size_t threads = threads_here();
  p->threads = threads > p->threads ? threads : p->threads;
}

static packed pack(const unsigned char *text, size_t size, size_t step, unsigned threads) {
  packed out = {0};
  ink_gzip *g = ink_i_gzip_new(threads);
  CHECK(g, "no memory");
  for (size_t at = 0; at < size; at += step)
    CHECK(ink_i_gzip_put(g, text + at, size - at < step ? size - at : step, take, &out), "put at %zu", at);
  CHECK(ink_i_gzip_end(g, take, &out), "end");
  ink_i_gzip_free(g);
  return out;
}

/* One member, and nothing behind it: who reads only the first has it all. */
static void unpack(const packed *p, const unsigned char *text, size_t size) {
  unsigned char *out = malloc(size + 1);
  z_stream z = {0};
  inflateInit2(&z, 15 + 16);
  z.next_in = p->bytes;
  z.avail_in = (uInt)p->size;
  z.next_out = out;
  z.avail_out = (uInt)size + 1;
  const int code = inflate(&z, Z_FINISH);
  CHECK(code == Z_STREAM_END && !z.avail_in && z.total_out == size && !memcmp(out, text, size),
        "of %zu bytes: code %d, %zu left, %zu out", size, code, (size_t)z.avail_in, (size_t)z.total_out);
  inflateEnd(&z);
  free(out);
}

int main(void) {
  static const size_t sizes[] = {0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE - 7, MOST};
  unsigned char *text = malloc(MOST);
  uint64_t random = 1;
  for (size_t i = 0; i < MOST; i++) { /* the first half as a table is, the second not to be packed */
    random = random * 6364136223846793005u + 1442695040888963407u;
    text[i] = i < MOST / 2 ? (unsigned char)"0123456789,\n"[(random >> 40) % 12] : (unsigned char)(random >> 40);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const packed one = pack(text, sizes[i], 100000, 1);
    CHECK(one.threads == 1, "%zu threads", one.threads);
    unpack(&one, text, sizes[i]);
    for (unsigned threads = 2; threads <= 8; threads += 3) {
      const packed some = pack(text, sizes[i], threads == 2 ? MOST : 4099, threads);
      CHECK(some.size == one.size && !memcmp(some.bytes, one.bytes, one.size), "%zu bytes, %u threads", sizes[i], threads);
      CHECK(sizes[i] < PIECE ? some.threads == 1 : some.threads == 1 + threads, "%zu bytes: %zu threads", sizes[i], some.threads);
      free(some.bytes);
    }
    free(one.bytes);
  }
  /* as many as this process may use; where that is one, none besides its own */
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  const size_t usable = CPU_COUNT(&all) > 8 ? 8 : (size_t)CPU_COUNT(&all);
  packed some = pack(text, MOST, MOST, 0);
  CHECK(some.threads == (usable > 1 ? 1 + usable : 1), "%zu threads of %zu", some.threads, usable);
  free(some.bytes);
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &all))
      CPU_SET(i, &one);
  sched_setaffinity(0, sizeof one, &one);
  some = pack(text, MOST, MOST, 0);
  CHECK(some.threads == 1, "%zu threads on one CPU", some.threads);
  free(some.bytes);
  sched_setaffinity(0, sizeof all, &all);
  CHECK(!threads_left(), "threads are left");
  packed cut = {0};
  ink_gzip *g = ink_i_gzip_new(4); /* given up in the middle */
  CHECK(ink_i_gzip_put(g, text, MOST, take, &cut), "put");
  ink_i_gzip_free(g);
  CHECK(!threads_left(), "threads are left");
  free(cut.bytes);
  free(text);
  printf("%s\n", failed ? "failed" : "ok");
  return failed != 0;
}
