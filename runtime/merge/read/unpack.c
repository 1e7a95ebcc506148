/* SPDX-License-Identifier: MIT */
/* zlib is linked; zstd is loaded when a file needs it, as SQLite is: libinkmark is what recorded
 * programs load. */
#define ZLIB_CONST
#include "unpack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zstd.h, "Streaming decompression": both buffers are these three words. */
typedef struct zstd_buffer {
  const void *bytes;
  size_t size, at;
} zstd_buffer;

typedef struct zstd {
  void *library, *stream;
  void *(*create)(void);
  size_t (*free_stream)(void *);
  size_t (*decompress)(void *, zstd_buffer *out, zstd_buffer *in);
  unsigned (*is_error)(size_t);
} zstd;

struct unpack {
  enum unpack_kind kind;
  z_stream z;
  bool started;
  zstd zstd;
};

static bool load_zstd(zstd *s) {
  s->library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!s->library)
    return false;
  const struct {
    const char *name;
    void *at;
  } entries[] = {{"ZSTD_createDStream", &s->create},
                 {"ZSTD_freeDStream", &s->free_stream},
                 {"ZSTD_decompressStream", &s->decompress},
                 {"ZSTD_isError", &s->is_error}};
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *entry = dlsym(s->library, entries[i].name);
    if (!entry)
      return false;
    memcpy(entries[i].at, &entry, sizeof entry);
  }
  return true;
}

unpack *unpack_new(enum unpack_kind kind, ink_status *status) {
  unpack *u = calloc(1, sizeof *u);
  *status = INK_ERROR_MEMORY;
  if (!u)
    return NULL;
  u->kind = kind;
  if (kind == UNPACK_GZIP || kind == UNPACK_DEFLATE) {
    u->started = inflateInit2(&u->z, kind == UNPACK_GZIP ? 15 + 16 : -15) == Z_OK;
    if (u->started)
      return u;
  } else if (kind == UNPACK_ZSTD) {
    if (!load_zstd(&u->zstd))
      *status = INK_ERROR_UNSUPPORTED;
    else
      u->zstd.stream = u->zstd.create();
    if (u->zstd.stream)
      return u;
  } else {
    return u;
  }
  unpack_free(u);
  return NULL;
}

void unpack_free(unpack *u) {
  if (!u)
    return;
  if (u->started)
    inflateEnd(&u->z);
  if (u->zstd.stream)
    u->zstd.free_stream(u->zstd.stream);
  if (u->zstd.library)
    dlclose(u->zstd.library);
  free(u);
}

static enum unpacked run_zlib(unpack *u, const unsigned char **in, size_t *in_bytes,
                              unsigned char **out, size_t *out_bytes) {
  enum { MOST = 1 << 30 };
  u->z.next_in = *in;
  u->z.avail_in = (uInt)(*in_bytes < MOST ? *in_bytes : MOST);
  u->z.next_out = *out;
  u->z.avail_out = (uInt)(*out_bytes < MOST ? *out_bytes : MOST);
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
  size_t rc = u->zstd.decompress(u->zstd.stream, &to, &from);
  *in += from.at;
  *in_bytes -= from.at;
  *out += to.at;
  *out_bytes -= to.at;
  if (u->zstd.is_error(rc))
    return UNPACK_DAMAGED;
  return rc ? UNPACK_MORE : UNPACK_ENDED;
}

enum unpacked unpack_run(unpack *u, const unsigned char **in, size_t *in_bytes, unsigned char **out,
                         size_t *out_bytes) {
  if (u->kind == UNPACK_GZIP || u->kind == UNPACK_DEFLATE)
    return run_zlib(u, in, in_bytes, out, out_bytes);
  if (u->kind == UNPACK_ZSTD)
    return run_zstd(u, in, in_bytes, out, out_bytes);
  size_t n = *in_bytes < *out_bytes ? *in_bytes : *out_bytes;
  memcpy(*out, *in, n);
  *in += n;
  *in_bytes -= n;
  *out += n;
  *out_bytes -= n;
  return UNPACK_MORE;
}
