/* SPDX-License-Identifier: MIT */
/* Reads a trace, unpacking it where it is packed, and says in one line what is wrong with it. */
#include "trace_bytes.h"

#include "errno_words.h"
#include "zip_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_BYTES = 128 * 1024 };

/* One packing. Its input is the file, or what the packing around it gives. */
struct unpacker {
  enum unpack_kind kind;
  bool zip; /* a zip's member, packed as `kind` */
  unpack *unpack;
  unsigned char *packed;
  const unsigned char *next;
  size_t left;
  uint64_t given; /* unpacked bytes handed out */
  bool inside;    /* a stream has begun and not ended */
  bool streams;   /* one or more have ended: what follows need not be another */
  bool full;      /* the room given last was used up: there may be more without further input */
  zip_member member;
  uint64_t packed_left; /* of a zip's member */
  uint32_t crc;
};

static ink_status cannot(const trace_bytes *in, const char *what, int code, ink_error *error) {
  return ink_error_set(error, INK_ERROR_IO, "cannot %s '%s': %s", what, in->path,
                       ink_i_errno_words(code).text);
}

static const char *name_of(const struct unpacker *u) {
  return u->zip ? "zip" : unpack_name(u->kind);
}

static ink_status cut(const trace_bytes *in, const struct unpacker *u, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED,
                       "'%s' is cut off: its %s data ends after %llu bytes", in->path, name_of(u),
                       (unsigned long long)u->given);
}

static ink_status damaged(const trace_bytes *in, const struct unpacker *u, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED,
                       "cannot read '%s' beyond byte %llu: damaged %s data", in->path,
                       (unsigned long long)u->given, name_of(u));
}

/* ---- one layer ---------------------------------------------------------------------------------
 */

static ink_status take(trace_bytes *in, void *to, size_t room, size_t *got, ink_error *error) {
  ssize_t n;
  do {
    n = read(in->fd, to, room);
  } while (n < 0 && errno == EINTR);
  if (n < 0)
    return cannot(in, "read", errno, error);
  in->taken += (uint64_t)n;
  *got = (size_t)n;
  return INK_OK;
}

static ink_status unpack_some(trace_bytes *in, size_t layer, unsigned char *to, size_t room, size_t *got,
                              ink_error *error);

/* What comes out below the first `layers` packings. */
static ink_status read_below(trace_bytes *in, size_t layers, void *to, size_t room, size_t *got,
                             ink_error *error) {
  *got = 0;
  return layers ? unpack_some(in, layers - 1, to, room, got, error) : take(in, to, room, got, error);
}

/* More packed bytes; none are left at the end of the input or of the member. */
static ink_status refill(trace_bytes *in, size_t layer, ink_error *error) {
  struct unpacker *u = in->layers[layer];
  size_t room = PACKED_BYTES;
  if (u->zip && u->packed_left < room)
    room = (size_t)u->packed_left;
  size_t got = 0;
  ink_status status = room ? read_below(in, layer, u->packed, room, &got, error) : INK_OK;
  u->next = u->packed;
  u->left = got;
  u->packed_left -= u->zip ? got : 0;
  return status;
}

/* The end of the packed bytes: everything must be there. */
static ink_status end(const trace_bytes *in, const struct unpacker *u, ink_error *error) {
  if (!u->zip)
    return u->inside ? cut(in, u, error) : INK_OK;
  if (u->packed_left || (u->inside && u->member.method != ZIP_STORED) || u->given < u->member.bytes)
    return cut(in, u, error);
  return u->given != u->member.bytes || u->crc != u->member.crc ? damaged(in, u, error) : INK_OK;
}

static ink_status unpack_some(trace_bytes *in, size_t layer, unsigned char *to, size_t room, size_t *got,
                              ink_error *error) {
  struct unpacker *u = in->layers[layer];
  unsigned char *out = to;
  while (out == to) {
    if (!u->left && !u->full) {
      ink_status status = refill(in, layer, error);
      if (status != INK_OK)
        return status;
      if (!u->left)
        break;
    }
    /* zeros may follow a gzip stream; what else does is another stream, or damage */
    if (!u->inside && !u->zip && u->kind == UNPACK_GZIP && u->streams && u->left && *u->next != 0x1f) {
      u->left = 0;
      continue;
    }
    if (!u->inside && u->zip)
      return damaged(in, u, error);
    u->inside |= u->left > 0;
    enum unpacked result = unpack_run(u->unpack, &u->next, &u->left, &out, &room);
    u->full = !room;
    u->given += (uint64_t)(out - to) - *got;
    *got = (size_t)(out - to);
    if (result == UNPACK_DAMAGED)
      return damaged(in, u, error);
    if (result == UNPACK_NO_MEMORY)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    if (result == UNPACK_ENDED) {
      u->inside = false;
      u->streams = true;
    }
  }
  if (u->zip) {
    u->crc = (uint32_t)crc32(u->crc, to, (uInt)*got);
    if (u->given > u->member.bytes)
      return damaged(in, u, error);
  }
  return *got ? INK_OK : end(in, u, error);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static ink_status start_zip(trace_bytes *in, struct unpacker *u, ink_error *error) {
  ink_status status = zip_find_member(in->fd, in->size, in->path, &u->member, error);
  if (status != INK_OK)
    return status;
  snprintf(in->member, sizeof in->member, "%s", u->member.name);
  u->zip = u->inside = true;
  u->packed_left = u->member.packed_bytes;
  u->kind = u->member.method == ZIP_DEFLATED ? UNPACK_DEFLATE
            : u->member.method == ZIP_ZSTD   ? UNPACK_ZSTD
                                             : UNPACK_STORED;
  if (lseek(in->fd, (off_t)u->member.data_at, SEEK_SET) < 0)
    return cannot(in, "read", errno, error);
  in->taken = u->member.data_at;
  in->head_bytes = 0; /* those of the directory's file */
  return INK_OK;
}

/* A packing whose first bytes are the head. */
static ink_status add_layer(trace_bytes *in, enum unpack_kind kind, bool zip, ink_error *error) {
  if (in->layer_count == TRACE_LAYERS_MAX)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED, "'%s' is packed more than %d times", in->path,
                         TRACE_LAYERS_MAX);
  struct unpacker *u = calloc(1, sizeof *u);
  if (u)
    u->packed = malloc(PACKED_BYTES);
  if (!u || !u->packed) {
    free(u);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  }
  in->layers[in->layer_count++] = u;
  u->kind = kind;
  ink_status status = zip ? start_zip(in, u, error) : INK_OK;
  if (status != INK_OK)
    return status;
  memcpy(u->packed, in->head, in->head_bytes);
  u->next = u->packed;
  u->left = in->head_bytes;
  in->head_bytes = 0;
  u->unpack = unpack_new(u->kind, &status);
  if (u->unpack)
    return INK_OK;
  if (status == INK_ERROR_UNSUPPORTED)
    return ink_error_set(error, status, "cannot read '%s': %s is not on this machine (Debian: %s)",
                         in->path, unpack_library(u->kind), unpack_package(u->kind));
  return ink_error_set(error, status, "out of memory");
}

/* The first bytes of what is there so far. A failure is left for who reads on: what there is tells what it is. */
static ink_status read_head(trace_bytes *in, ink_error *error) {
  ink_status status = INK_OK;
  in->head_bytes = 0;
  for (size_t got = 1; status == INK_OK && got && in->head_bytes < sizeof in->head; in->head_bytes += got)
    status = read_below(in, in->layer_count, in->head + in->head_bytes,
                        sizeof in->head - in->head_bytes, &got, error);
  return status;
}

static bool is_zip(const trace_bytes *in) {
  return in->head_bytes >= 4 && (!memcmp(in->head, "PK\3\4", 4) || !memcmp(in->head, "PK\5\6", 4));
}

ink_status trace_bytes_open(trace_bytes *in, const char *path, ink_error *error) {
  struct stat st;
  *in = (trace_bytes){.path = path, .fd = -1};
  if (stat(path, &st))
    return cannot(in, "open", errno, error);
  if (S_ISDIR(st.st_mode))
    return cannot(in, "read", EISDIR, error);
  if (!S_ISREG(st.st_mode)) /* opening a pipe would wait for a writer */
    return ink_error_set(error, INK_ERROR_IO,
                         "cannot read '%s': a trace is read twice, and this is not a regular file",
                         path);
  in->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (in->fd < 0)
    return cannot(in, "open", errno, error);
  in->size = (uint64_t)st.st_size;
  for (;;) {
    ink_status status = read_head(in, error);
    const bool zip = status == INK_OK && !in->layer_count && is_zip(in);
    const enum unpack_kind kind = unpack_kind_of(in->head, in->head_bytes);
    if (status == INK_OK && (zip || kind != UNPACK_STORED))
      status = add_layer(in, kind, zip, error);
    else
      return status;
    if (status != INK_OK)
      return status;
  }
}

ink_status trace_bytes_read(trace_bytes *in, void *to, size_t room, size_t *got, ink_error *error) {
  const size_t held = in->head_bytes - in->head_at;
  if (held && room) {
    *got = held < room ? held : room;
    memcpy(to, in->head + in->head_at, *got);
    in->head_at += *got;
    return INK_OK;
  }
  return read_below(in, in->layer_count, to, room < 1 << 30 ? room : 1 << 30, got, error);
}

void trace_bytes_close(trace_bytes *in) {
  if (in->fd >= 0 && in->path)
    close(in->fd);
  for (size_t i = 0; i < in->layer_count; i++) {
    unpack_free(in->layers[i]->unpack);
    free(in->layers[i]->packed);
    free(in->layers[i]);
  }
  *in = (trace_bytes){.fd = -1};
}
