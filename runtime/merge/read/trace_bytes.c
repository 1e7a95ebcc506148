/* SPDX-License-Identifier: MIT */
/* Reads a trace, unpacking it where it is packed, and says in one line what is wrong with it. */
#include "trace_bytes.h"

#include "unpack.h"
#include "zip_read.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_BYTES = 128 * 1024 };

struct unpacker {
  unpack *unpack;
  unsigned char *packed;
  const unsigned char *next;
  size_t left;
  bool inside;  /* a stream has begun and not ended */
  bool streams; /* one or more have ended: what follows need not be another */
  bool full;    /* the room given last was used up: there may be more without further input */
  zip_member member;
  uint64_t packed_left; /* of a zip's member */
  uint32_t crc;
};

static ink_status cannot(const trace_bytes *in, const char *what, int code, ink_error *error) {
  char words[128];
  snprintf(words, sizeof words, "%s", strerror(code));
  words[0] = (char)tolower((unsigned char)words[0]);
  return ink_error_set(error, INK_ERROR_IO, "cannot %s '%s': %s", what, in->path, words);
}

static const char *const packings[] = {"", "gzip", "zstd", "zip"};

static ink_status cut(const trace_bytes *in, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED,
                       "'%s' is cut off: its %s data ends after %llu bytes", in->path,
                       packings[in->packing], (unsigned long long)in->given);
}

static ink_status damaged(const trace_bytes *in, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED,
                       "cannot read '%s' beyond byte %llu: damaged %s data", in->path,
                       (unsigned long long)in->given, packings[in->packing]);
}

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

static ink_status start_zip(trace_bytes *in, ink_error *error) {
  struct unpacker *u = in->unpacker;
  ink_status status = zip_find_member(in->fd, in->size, in->path, &u->member, error);
  if (status != INK_OK)
    return status;
  snprintf(in->member, sizeof in->member, "%s", u->member.name);
  u->packed_left = u->member.packed_bytes;
  u->inside = true;
  if (lseek(in->fd, (off_t)u->member.data_at, SEEK_SET) < 0)
    return cannot(in, "read", errno, error);
  in->taken = u->member.data_at;
  return INK_OK;
}

static ink_status start_unpacking(trace_bytes *in, const unsigned char *head, size_t n,
                                  ink_error *error) {
  struct unpacker *u = in->unpacker = calloc(1, sizeof *in->unpacker);
  if (u)
    u->packed = malloc(PACKED_BYTES);
  if (!u || !u->packed)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  enum unpack_kind kind = in->packing == TRACE_GZIP ? UNPACK_GZIP : UNPACK_ZSTD;
  if (in->packing == TRACE_ZIP) {
    ink_status status = start_zip(in, error);
    if (status != INK_OK)
      return status;
    kind = u->member.method == ZIP_DEFLATED ? UNPACK_DEFLATE
           : u->member.method == ZIP_ZSTD   ? UNPACK_ZSTD
                                            : UNPACK_STORED;
  } else {
    memcpy(u->packed, head, n);
    u->next = u->packed;
    u->left = n;
  }
  ink_status status;
  u->unpack = unpack_new(kind, &status);
  if (u->unpack)
    return INK_OK;
  if (status == INK_ERROR_UNSUPPORTED)
    return ink_error_set(error, status,
                         "cannot read '%s': libzstd.so.1 is not on this machine (Debian: libzstd1)",
                         in->path);
  return ink_error_set(error, status, "out of memory");
}

ink_status trace_bytes_open(trace_bytes *in, const char *path, ink_error *error) {
  unsigned char head[4];
  struct stat st;
  size_t n = 0;
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
  ink_status status = INK_OK;
  for (size_t got = 1; status == INK_OK && got && n < sizeof head; n += got) {
    got = 0;
    status = take(in, head + n, sizeof head - n, &got, error);
  }
  if (status != INK_OK)
    return status;
  if (n >= 2 && head[0] == 0x1f && head[1] == 0x8b)
    in->packing = TRACE_GZIP;
  else if (n == 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4))
    in->packing = TRACE_ZSTD;
  else if (n == 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4)))
    in->packing = TRACE_ZIP;
  if (in->packing != TRACE_PLAIN)
    return start_unpacking(in, head, n, error);
  in->taken = 0;
  return lseek(in->fd, 0, SEEK_SET) ? cannot(in, "read", errno, error) : INK_OK;
}

/* More packed bytes; none are left at the end of the file or of the member. */
static ink_status refill(trace_bytes *in, ink_error *error) {
  struct unpacker *u = in->unpacker;
  size_t room = PACKED_BYTES;
  if (in->packing == TRACE_ZIP && u->packed_left < room)
    room = (size_t)u->packed_left;
  size_t got = 0;
  ink_status status = room ? take(in, u->packed, room, &got, error) : INK_OK;
  u->next = u->packed;
  u->left = got;
  u->packed_left -= in->packing == TRACE_ZIP ? got : 0;
  return status;
}

/* The end of the packed bytes: everything must be there. */
static ink_status end(const trace_bytes *in, ink_error *error) {
  const struct unpacker *u = in->unpacker;
  if (in->packing != TRACE_ZIP)
    return u->inside ? cut(in, error) : INK_OK;
  if (u->packed_left || (u->inside && u->member.method != ZIP_STORED) ||
      in->given < u->member.bytes)
    return cut(in, error);
  return in->given != u->member.bytes || u->crc != u->member.crc ? damaged(in, error) : INK_OK;
}

static ink_status unpack_some(trace_bytes *in, unsigned char *to, size_t room, size_t *got,
                              ink_error *error) {
  struct unpacker *u = in->unpacker;
  unsigned char *out = to;
  while (out == to) {
    if (!u->left && !u->full) {
      ink_status status = refill(in, error);
      if (status != INK_OK)
        return status;
      if (!u->left)
        break;
    }
    /* zeros may follow a gzip stream; what else does is another stream, or damage */
    if (!u->inside && in->packing == TRACE_GZIP && u->streams && u->left && *u->next != 0x1f) {
      u->left = 0;
      continue;
    }
    if (!u->inside && in->packing == TRACE_ZIP)
      return damaged(in, error);
    u->inside |= u->left > 0;
    enum unpacked result = unpack_run(u->unpack, &u->next, &u->left, &out, &room);
    u->full = !room;
    in->given += (uint64_t)(out - to) - *got;
    *got = (size_t)(out - to);
    if (result == UNPACK_DAMAGED)
      return damaged(in, error);
    if (result == UNPACK_NO_MEMORY)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    if (result == UNPACK_ENDED) {
      u->inside = false;
      u->streams = true;
    }
  }
  if (in->packing == TRACE_ZIP) {
    u->crc = (uint32_t)crc32(u->crc, to, (uInt)*got);
    if (in->given > u->member.bytes)
      return damaged(in, error);
  }
  return *got ? INK_OK : end(in, error);
}

ink_status trace_bytes_read(trace_bytes *in, void *to, size_t room, size_t *got, ink_error *error) {
  *got = 0;
  room = room < 1 << 30 ? room : 1 << 30;
  if (in->unpacker)
    return unpack_some(in, to, room, got, error);
  ink_status status = take(in, to, room, got, error);
  in->given += *got;
  return status;
}

void trace_bytes_close(trace_bytes *in) {
  if (in->fd >= 0 && in->path)
    close(in->fd);
  if (in->unpacker) {
    unpack_free(in->unpacker->unpack);
    free(in->unpacker->packed);
    free(in->unpacker);
  }
  *in = (trace_bytes){.fd = -1};
}
