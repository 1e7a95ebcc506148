/* SPDX-License-Identifier: MIT */
/* zlib is linked; the other libraries are loaded when a file needs them, as SQLite is: libinkmark is what
 * recorded programs load. */
#define ZLIB_CONST
#include "unpack.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { XZ_MEMORY_MAX = 1 << 28 }; /* a file that asks for more than this is not a trace that anyone packed */

/* zstd.h, "Streaming decompression": both buffers are these three words. */
typedef struct zstd_buffer {
  const void *bytes;
  size_t size, at;
} zstd_buffer;

/* lzma/base.h: lzma_stream, with what is reserved at its end. */
typedef struct xz_stream {
  const unsigned char *next_in;
  size_t avail_in;
  uint64_t total_in;
  unsigned char *next_out;
  size_t avail_out;
  uint64_t total_out;
  const void *allocator;
  void *internal, *reserved_pointers[4];
  uint64_t reserved_numbers[2];
  size_t reserved_sizes[2];
  int reserved_words[2];
} xz_stream;
enum { XZ_OK = 0, XZ_STREAM_END = 1, XZ_MEM_ERROR = 5, XZ_MEMLIMIT_ERROR = 6, XZ_BUF_ERROR = 10 };

/* bzlib.h: bz_stream. */
typedef struct bzip2_stream {
  const char *next_in;
  unsigned avail_in, total_in[2];
  char *next_out;
  unsigned avail_out, total_out[2];
  void *state, *allocate, *release, *opaque;
} bzip2_stream;
enum { BZIP2_OK = 0, BZIP2_STREAM_END = 4, BZIP2_MEM_ERROR = -3 };

struct unpack {
  enum unpack_kind kind;
  void *library;
  bool started;
  z_stream z;
  xz_stream xz;
  bzip2_stream bzip2;
  void *zstd;
  union {
    void *found[4];
    struct {
      void *(*create)(void);
      size_t (*release)(void *);
      size_t (*run)(void *, zstd_buffer *out, zstd_buffer *in);
      unsigned (*is_error)(size_t);
    } zstd;
    struct {
      int (*start)(xz_stream *, uint64_t memory, uint32_t flags);
      int (*run)(xz_stream *, int action);
      void (*end)(xz_stream *);
    } xz;
    struct {
      int (*start)(bzip2_stream *, int verbosity, int small);
      int (*run)(bzip2_stream *);
      int (*end)(bzip2_stream *);
    } bzip2;
  } call;
  /* UTF-16 */
  bool big_end, half;
  unsigned char first;   /* of a unit, where half of it was taken */
  unsigned char made[8]; /* UTF-8 that found no room yet */
  size_t made_at, made_bytes;
  unsigned high; /* the first half of a pair; 0: none */
};

static const struct {
  const char *name, *magic;
  size_t magic_bytes;
  const char *library, *package, *entries[4];
} kinds[] = {
    [UNPACK_STORED] = {.name = "stored"},
    [UNPACK_DEFLATE] = {.name = "deflate"},
    [UNPACK_ZLIB] = {.name = "zlib"},
    [UNPACK_GZIP] = {.name = "gzip", .magic = "\x1f\x8b", .magic_bytes = 2},
    [UNPACK_ZSTD] = {"zstd", "\x28\xb5\x2f\xfd", 4, "libzstd.so.1", "libzstd1",
                     {"ZSTD_createDStream", "ZSTD_freeDStream", "ZSTD_decompressStream", "ZSTD_isError"}},
    [UNPACK_XZ] = {"xz", "\xfd" "7zXZ\0", 6, "liblzma.so.5", "liblzma5",
                   {"lzma_stream_decoder", "lzma_code", "lzma_end"}},
    [UNPACK_BZIP2] = {"bzip2", "BZh", 3, "libbz2.so.1.0", "libbz2-1.0",
                      {"BZ2_bzDecompressInit", "BZ2_bzDecompress", "BZ2_bzDecompressEnd"}},
    [UNPACK_UTF16] = {.name = "UTF-16", .magic = "\xff\xfe", .magic_bytes = 2},
};

enum unpack_kind unpack_kind_of(const unsigned char *head, size_t bytes) {
  if (bytes >= 2 && head[0] == 0xfe && head[1] == 0xff)
    return UNPACK_UTF16;
  for (size_t i = UNPACK_GZIP; i < sizeof kinds / sizeof *kinds; i++)
    if (bytes >= kinds[i].magic_bytes && !memcmp(head, kinds[i].magic, kinds[i].magic_bytes))
      return (enum unpack_kind)i;
  return UNPACK_STORED;
}

const char *unpack_name(enum unpack_kind kind) {
  return kinds[kind].name;
}

const char *unpack_library(enum unpack_kind kind) {
  return kinds[kind].library;
}

const char *unpack_package(enum unpack_kind kind) {
  return kinds[kind].package;
}

static bool load(unpack *u) {
  u->library = dlopen(kinds[u->kind].library, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; u->library && i < 4 && kinds[u->kind].entries[i]; i++)
    if (!(u->call.found[i] = dlsym(u->library, kinds[u->kind].entries[i])))
      return false;
  return u->library != NULL;
}

/* The next stream of the same kind, or the first. */
static bool start(unpack *u) {
  switch (u->kind) {
  case UNPACK_GZIP:
  case UNPACK_DEFLATE:
  case UNPACK_ZLIB:
    u->started = inflateInit2(&u->z, u->kind == UNPACK_GZIP ? 15 + 16 : u->kind == UNPACK_ZLIB ? 15 : -15) == Z_OK;
    return u->started;
  case UNPACK_ZSTD:
    return (u->zstd = u->call.zstd.create()) != NULL;
  case UNPACK_XZ:
    u->xz = (xz_stream){0};
    u->started = u->call.xz.start(&u->xz, XZ_MEMORY_MAX, 0) == XZ_OK;
    return u->started;
  case UNPACK_BZIP2:
    u->bzip2 = (bzip2_stream){0};
    u->started = u->call.bzip2.start(&u->bzip2, 0, 0) == BZIP2_OK;
    return u->started;
  case UNPACK_STORED:
  case UNPACK_UTF16:
    break;
  }
  return true;
}

static void stop(unpack *u) {
  if (u->started && (u->kind == UNPACK_GZIP || u->kind == UNPACK_DEFLATE || u->kind == UNPACK_ZLIB))
    inflateEnd(&u->z);
  if (u->started && u->kind == UNPACK_XZ)
    u->call.xz.end(&u->xz);
  if (u->started && u->kind == UNPACK_BZIP2)
    u->call.bzip2.end(&u->bzip2);
  if (u->zstd)
    u->call.zstd.release(u->zstd);
  u->started = false;
  u->zstd = NULL;
}

unpack *unpack_new(enum unpack_kind kind, ink_status *status) {
  unpack *u = calloc(1, sizeof *u);
  *status = INK_ERROR_MEMORY;
  if (!u)
    return NULL;
  u->kind = kind;
  if (kinds[kind].library && !load(u))
    *status = INK_ERROR_UNSUPPORTED;
  else if (start(u))
    return u;
  unpack_free(u);
  return NULL;
}

void unpack_free(unpack *u) {
  if (!u)
    return;
  stop(u);
  if (u->library)
    dlclose(u->library);
  free(u);
}

enum { MOST = 1 << 30 };

static size_t at_most(size_t n) {
  return n < MOST ? n : MOST;
}

static enum unpacked run_zlib(unpack *u, const unsigned char **in, size_t *in_bytes,
                              unsigned char **out, size_t *out_bytes) {
  u->z.next_in = *in;
  u->z.avail_in = (uInt)at_most(*in_bytes);
  u->z.next_out = *out;
  u->z.avail_out = (uInt)at_most(*out_bytes);
  int rc = inflate(&u->z, Z_NO_FLUSH);
  *in_bytes -= (size_t)(u->z.next_in - *in);
  *out_bytes -= (size_t)(u->z.next_out - *out);
  *in = u->z.next_in;
  *out = u->z.next_out;
  if (rc == Z_STREAM_END)
    return inflateReset(&u->z) == Z_OK ? UNPACK_ENDED : UNPACK_NO_MEMORY;
  if (rc == Z_MEM_ERROR)
    return UNPACK_NO_MEMORY;
  return rc == Z_OK || rc == Z_BUF_ERROR ? UNPACK_MORE : UNPACK_DAMAGED;
}

static enum unpacked run_zstd(unpack *u, const unsigned char **in, size_t *in_bytes,
                              unsigned char **out, size_t *out_bytes) {
  zstd_buffer from = {*in, *in_bytes, 0}, to = {*out, *out_bytes, 0};
  size_t rc = u->call.zstd.run(u->zstd, &to, &from);
  *in += from.at;
  *in_bytes -= from.at;
  *out += to.at;
  *out_bytes -= to.at;
  if (u->call.zstd.is_error(rc))
    return UNPACK_DAMAGED;
  return rc ? UNPACK_MORE : UNPACK_ENDED;
}

static enum unpacked ended(unpack *u) {
  stop(u);
  return start(u) ? UNPACK_ENDED : UNPACK_NO_MEMORY;
}

static enum unpacked run_xz(unpack *u, const unsigned char **in, size_t *in_bytes,
                            unsigned char **out, size_t *out_bytes) {
  u->xz.next_in = *in;
  u->xz.avail_in = *in_bytes;
  u->xz.next_out = *out;
  u->xz.avail_out = *out_bytes;
  const int rc = u->call.xz.run(&u->xz, 0);
  *in_bytes = u->xz.avail_in;
  *out_bytes = u->xz.avail_out;
  *in = u->xz.next_in;
  *out = u->xz.next_out;
  if (rc == XZ_STREAM_END)
    return ended(u);
  if (rc == XZ_MEM_ERROR || rc == XZ_MEMLIMIT_ERROR)
    return UNPACK_NO_MEMORY;
  return rc == XZ_OK || rc == XZ_BUF_ERROR ? UNPACK_MORE : UNPACK_DAMAGED;
}

static enum unpacked run_bzip2(unpack *u, const unsigned char **in, size_t *in_bytes,
                               unsigned char **out, size_t *out_bytes) {
  const unsigned given = (unsigned)at_most(*in_bytes), room = (unsigned)at_most(*out_bytes);
  u->bzip2.next_in = (const char *)*in;
  u->bzip2.avail_in = given;
  u->bzip2.next_out = (char *)*out;
  u->bzip2.avail_out = room;
  const int rc = u->call.bzip2.run(&u->bzip2);
  *in += given - u->bzip2.avail_in;
  *in_bytes -= given - u->bzip2.avail_in;
  *out += room - u->bzip2.avail_out;
  *out_bytes -= room - u->bzip2.avail_out;
  if (rc == BZIP2_STREAM_END)
    return ended(u);
  return rc == BZIP2_MEM_ERROR ? UNPACK_NO_MEMORY : rc == BZIP2_OK ? UNPACK_MORE : UNPACK_DAMAGED;
}

/* ---- UTF-16 ---- */

static size_t utf8_of(unsigned code, unsigned char to[4]) {
  if (code < 0x80) {
    to[0] = (unsigned char)code;
    return 1;
  }
  const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; code >>= 6)
    to[i] = (unsigned char)(0x80 | (code & 63));
  to[0] = (unsigned char)((0xf00u >> n & 0xff) | code);
  return n;
}

/* One unit more; what it makes in UTF-8, which is nothing for the first half of a pair. A half alone becomes
 * U+FFFD. */
static size_t take_unit(unpack *u, unsigned unit, unsigned char to[8]) {
  size_t n = 0;
  const bool low = unit >= 0xdc00 && unit < 0xe000;
  if (u->high && low) {
    n = utf8_of(0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00), to);
    u->high = 0;
    return n;
  }
  if (u->high)
    n = utf8_of(0xfffd, to);
  u->high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
  return u->high ? n : n + utf8_of(low ? 0xfffd : unit, to + n);
}

static enum unpacked run_utf16(unpack *u, const unsigned char **in, size_t *in_bytes,
                               unsigned char **out, size_t *out_bytes) {
  for (;;) {
    for (; u->made_at < u->made_bytes && *out_bytes; --*out_bytes)
      *(*out)++ = u->made[u->made_at++];
    if (u->made_at < u->made_bytes || !*in_bytes)
      break;
    const unsigned byte = *(*in)++;
    --*in_bytes;
    u->half = !u->half;
    if (u->half) {
      u->first = (unsigned char)byte;
    } else if (!u->started) { /* the mark */
      u->started = true;
      u->big_end = u->first == 0xfe;
    } else {
      u->made_at = 0;
      u->made_bytes =
          take_unit(u, u->big_end ? (unsigned)u->first << 8 | byte : byte << 8 | u->first, u->made);
    }
  }
  return *in_bytes || u->half || u->high || u->made_at < u->made_bytes ? UNPACK_MORE : UNPACK_ENDED;
}

enum unpacked unpack_run(unpack *u, const unsigned char **in, size_t *in_bytes, unsigned char **out,
                         size_t *out_bytes) {
  switch (u->kind) {
  case UNPACK_GZIP:
  case UNPACK_DEFLATE:
  case UNPACK_ZLIB:
    return run_zlib(u, in, in_bytes, out, out_bytes);
  case UNPACK_ZSTD:
    return run_zstd(u, in, in_bytes, out, out_bytes);
  case UNPACK_XZ:
    return run_xz(u, in, in_bytes, out, out_bytes);
  case UNPACK_BZIP2:
    return run_bzip2(u, in, in_bytes, out, out_bytes);
  case UNPACK_UTF16:
    return run_utf16(u, in, in_bytes, out, out_bytes);
  case UNPACK_STORED:
    break;
  }
  size_t n = *in_bytes < *out_bytes ? *in_bytes : *out_bytes;
  memcpy(*out, *in, n);
  *in += n;
  *in_bytes -= n;
  *out += n;
  *out_bytes -= n;
  return UNPACK_MORE;
}
