/* SPDX-License-Identifier: MIT */
/* The pieces are a ring: the writer fills one after another, workers pack them, and the writer hands out what is
 * packed before it uses a piece again. */
#define ZLIB_CONST
#include "gzip_write.h"

#include "held_signals.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
  PIECE_BYTES = 256 * 1024,
  WINDOW_BYTES = 32 * 1024,                             /* what deflate looks back at */
  PACKED_BYTES = PIECE_BYTES + PIECE_BYTES / 8 + 8192,  /* above deflateBound */
  THREADS_MAX = 8,
  PIECES_MAX = THREADS_MAX + 2,
  LEVEL = 4,
  MEMORY_LEVEL = 9
};

typedef struct piece {
  unsigned char *bytes; /* the window, then the piece */
  unsigned char *packed;
  size_t window, size, packed_size;
  uint32_t crc;
  bool last, done, failed;
} piece;

typedef struct ink_gzip {
  piece pieces[PIECES_MAX];
  size_t count;                     /* of pieces in the ring */
  uint64_t filled, taken, handed;   /* pieces so far; filled and taken with the lock */
  pthread_t threads[THREADS_MAX];
  unsigned wanted, running;
  bool tried, stop;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  z_stream own;                     /* where there are no threads */
  bool has_own, failed, begun;
  uint32_t crc, bytes;              /* modulo 2^32, as gzip has it */
} ink_gzip;

/* ---- packing ---- */

static bool open_stream(z_stream *z) {
  *z = (z_stream){0};
  return deflateInit2(z, LEVEL, Z_DEFLATED, -15, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool pack(z_stream *z, piece *p) {
  const unsigned char *from = p->bytes + WINDOW_BYTES;
  if (deflateReset(z) != Z_OK || (p->window && deflateSetDictionary(z, from - p->window, (uInt)p->window) != Z_OK))
    return false;
  z->next_in = from;
  z->avail_in = (uInt)p->size;
  z->next_out = p->packed;
  z->avail_out = PACKED_BYTES;
  const int code = deflate(z, p->last ? Z_FINISH : Z_SYNC_FLUSH);
  p->packed_size = PACKED_BYTES - z->avail_out;
  p->crc = (uint32_t)crc32(crc32(0, NULL, 0), from, (uInt)p->size);
  return code == (p->last ? Z_STREAM_END : Z_OK) && !z->avail_in && z->avail_out;
}

static void *work(void *user) {
  ink_gzip *g = user;
  z_stream z;
  const bool opened = open_stream(&z);
  pthread_mutex_lock(&g->lock);
  for (;;) {
    while (!g->stop && g->taken == g->filled)
      pthread_cond_wait(&g->work, &g->lock);
    if (g->stop)
      break;
    piece *p = &g->pieces[g->taken++ % g->count];
    pthread_mutex_unlock(&g->lock);
    const bool fine = opened && pack(&z, p);
    pthread_mutex_lock(&g->lock);
    p->failed = !fine;
    p->done = true;
    pthread_cond_signal(&g->done);
  }
  pthread_mutex_unlock(&g->lock);
  if (opened)
    deflateEnd(&z);
  return NULL;
}

/* ---- threads ---- */

static unsigned usable_threads(void) {
  cpu_set_t set;
  const long all = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
  return all > THREADS_MAX ? THREADS_MAX : all > 1 ? (unsigned)all : 1;
}

/* The program's signals are not for these threads. */
static void start_threads(ink_gzip *g) {
  ink_i_held before;
  g->tried = true;
  if (g->wanted < 2)
    return;
  ink_i_hold_signals(&before);
  while (g->running < g->wanted && pthread_create(&g->threads[g->running], NULL, work, g) == 0)
    g->running++;
  ink_i_release_signals(&before);
}

/* ---- in order ---- */

static void put_u32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++)
    at[i] = (unsigned char)(value >> 8 * i);
}

static void hand_out(ink_gzip *g, ink_i_gzip_sink *sink, void *user) {
  static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 /* Unix */};
  piece *p = &g->pieces[g->handed++ % g->count];
  if (g->running) {
    pthread_mutex_lock(&g->lock);
    while (!p->done)
      pthread_cond_wait(&g->done, &g->lock);
    pthread_mutex_unlock(&g->lock);
  }
  p->done = false;
  g->failed |= p->failed;
  if (g->failed)
    return;
  if (!g->begun)
    sink(user, head, sizeof head);
  g->begun = true;
  sink(user, p->packed, p->packed_size);
  g->crc = (uint32_t)crc32_combine(g->crc, p->crc, (z_off_t)p->size);
  g->bytes += (uint32_t)p->size;
}

static piece *filling(ink_gzip *g) { return &g->pieces[g->filled % g->count]; }

static bool give_memory(piece *p) {
  if (!p->bytes)
    p->bytes = malloc(WINDOW_BYTES + PIECE_BYTES);
  if (!p->packed)
    p->packed = malloc(PACKED_BYTES);
  return p->bytes && p->packed;
}

/* The piece that is being filled goes to be packed, and the next one gets its end as a window. */
static void submit(ink_gzip *g, bool last, ink_i_gzip_sink *sink, void *user) {
  piece *p = filling(g);
  p->last = last;
  if (!last && !g->tried)
    start_threads(g);
  if (!g->running) {
    g->has_own = g->has_own || open_stream(&g->own);
    p->failed = !g->has_own || !pack(&g->own, p);
  }
  pthread_mutex_lock(&g->lock);
  g->filled++;
  pthread_cond_signal(&g->work);
  pthread_mutex_unlock(&g->lock);
  while (g->filled - g->handed >= (g->running && !last ? g->count : 1))
    hand_out(g, sink, user);
  if (last || g->failed)
    return;
  piece *next = filling(g);
  if (!give_memory(next)) {
    g->failed = true;
    return;
  }
  const size_t all = p->window + p->size;
  next->window = all < WINDOW_BYTES ? all : WINDOW_BYTES;
  next->size = 0;
  memmove(next->bytes + WINDOW_BYTES - next->window, p->bytes + WINDOW_BYTES + p->size - next->window, next->window);
}

ink_gzip *ink_i_gzip_new(unsigned threads) {
  ink_gzip *g = calloc(1, sizeof *g);
  if (!g)
    return NULL;
  g->wanted = !threads ? usable_threads() : threads < THREADS_MAX ? threads : THREADS_MAX;
  g->count = g->wanted + 2;
  pthread_mutex_init(&g->lock, NULL);
  pthread_cond_init(&g->work, NULL);
  pthread_cond_init(&g->done, NULL);
  if (give_memory(&g->pieces[0]))
    return g;
  ink_i_gzip_free(g);
  return NULL;
}

bool ink_i_gzip_put(ink_gzip *g, const void *bytes, size_t size, ink_i_gzip_sink *sink, void *user) {
  const unsigned char *from = bytes;
  while (size && !g->failed) {
    piece *p = filling(g);
    const size_t room = PIECE_BYTES - p->size, n = room < size ? room : size;
    memcpy(p->bytes + WINDOW_BYTES + p->size, from, n);
    p->size += n;
    from += n;
    size -= n;
    if (p->size == PIECE_BYTES)
      submit(g, false, sink, user);
  }
  return !g->failed;
}

bool ink_i_gzip_end(ink_gzip *g, ink_i_gzip_sink *sink, void *user) {
  unsigned char tail[8];
  if (!g->failed)
    submit(g, true, sink, user);
  if (g->failed)
    return false;
  put_u32(tail, g->crc);
  put_u32(tail + 4, g->bytes);
  sink(user, tail, sizeof tail);
  return true;
}

void ink_i_gzip_free(ink_gzip *g) {
  if (!g)
    return;
  pthread_mutex_lock(&g->lock);
  g->stop = true;
  pthread_cond_broadcast(&g->work);
  pthread_mutex_unlock(&g->lock);
  for (unsigned i = 0; i < g->running; i++)
    pthread_join(g->threads[i], NULL);
  for (size_t i = 0; i < PIECES_MAX; i++) {
    free(g->pieces[i].bytes);
    free(g->pieces[i].packed);
  }
  if (g->has_own)
    deflateEnd(&g->own);
  pthread_cond_destroy(&g->work);
  pthread_cond_destroy(&g->done);
  pthread_mutex_destroy(&g->lock);
  free(g);
}
