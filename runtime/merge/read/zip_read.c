/* SPDX-License-Identifier: MIT */
/* Reads a zip's directory. Format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT,
 * 4.3 to 4.5. Every offset and length in it is checked against the file. */
#include "zip_read.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { END_BYTES = 22, LOCATOR_BYTES = 20, END_64_BYTES = 56, ENTRY_BYTES = 46, LOCAL_BYTES = 30 };
enum { COMMENT_MAX = 65535, DIRECTORY_MAX = 16 << 20, EXTRA_ZIP64 = 1, LISTED = 5 };

static unsigned get16(const unsigned char *p) {
  return p[0] | (unsigned)p[1] << 8;
}

static uint32_t get32(const unsigned char *p) {
  return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const unsigned char *p) {
  return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static ink_status broken(const char *path, ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED,
                       "cannot read '%s': its zip directory is missing or damaged, the file may be "
                       "cut off",
                       path);
}

static bool read_at(int fd, uint64_t at, void *to, size_t bytes) {
  return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

typedef struct directory {
  uint64_t at, bytes, entries;
} directory;

/* The end record stands in the last 64 KiB; where its fields are too small a 64-bit one is before
 * it. */
static bool find_directory(int fd, uint64_t size, directory *d) {
  unsigned char wide[END_64_BYTES];
  size_t tail = size < COMMENT_MAX + END_BYTES ? (size_t)size : COMMENT_MAX + END_BYTES;
  unsigned char *bytes = malloc(tail + 1);
  bool found = false;
  if (!bytes || tail < END_BYTES || !read_at(fd, size - tail, bytes, tail))
    goto cleanup;
  size_t at = tail - END_BYTES;
  while (at && memcmp(bytes + at, "PK\5\6", 4))
    at--;
  if (memcmp(bytes + at, "PK\5\6", 4))
    goto cleanup;
  *d = (directory){get32(bytes + at + 16), get32(bytes + at + 12), get16(bytes + at + 10)};
  found = true;
  if (at >= LOCATOR_BYTES && !memcmp(bytes + at - LOCATOR_BYTES, "PK\6\7", 4)) {
    uint64_t record = get64(bytes + at - LOCATOR_BYTES + 8);
    found = record < size && size - record >= END_64_BYTES &&
            read_at(fd, record, wide, sizeof wide) && !memcmp(wide, "PK\6\6", 4);
    if (found)
      *d = (directory){get64(wide + 48), get64(wide + 40), get64(wide + 32)};
  }
  found = found && d->at <= size && d->bytes <= size - d->at && d->bytes <= DIRECTORY_MAX;
cleanup:
  free(bytes);
  return found;
}

/* The 64-bit fields that stand in for those that are all ones. */
static bool read_extra(const unsigned char *p, size_t bytes, zip_member *m, uint64_t *header) {
  while (bytes >= 4) {
    size_t length = get16(p + 2);
    if (length > bytes - 4)
      return false;
    if (get16(p) == EXTRA_ZIP64) {
      uint64_t *const fields[] = {&m->bytes, &m->packed_bytes, header};
      size_t used = 0;
      for (size_t i = 0; i < 3; i++) {
        if (*fields[i] != UINT32_MAX)
          continue;
        if (length - used < 8)
          return false;
        *fields[i] = get64(p + 4 + used);
        used += 8;
      }
    }
    p += 4 + length;
    bytes -= 4 + length;
  }
  return true;
}

static bool counts(const char *name) {
  size_t n = strlen(name);
  return n && name[n - 1] != '/' && strncmp(name, "__MACOSX/", 9);
}

typedef struct found {
  zip_member member;
  uint64_t header, count;
  unsigned flags;
  char names[400];
} found;

/* One entry of the directory; its length, or 0 where it is damaged. */
static size_t read_entry(const unsigned char *p, size_t left, found *f) {
  if (left < ENTRY_BYTES || memcmp(p, "PK\1\2", 4))
    return 0;
  size_t name = get16(p + 28), extra = get16(p + 30), comment = get16(p + 32);
  if (left - ENTRY_BYTES < name + extra + comment)
    return 0;
  zip_member m = {.method = get16(p + 10),
                  .crc = get32(p + 16),
                  .packed_bytes = get32(p + 20),
                  .bytes = get32(p + 24)};
  uint64_t header = get32(p + 42);
  snprintf(m.name, sizeof m.name, "%.*s", (int)(name < 199 ? name : 199), p + ENTRY_BYTES);
  if (!read_extra(p + ENTRY_BYTES + name, extra, &m, &header))
    return 0;
  if (counts(m.name)) {
    size_t used = strlen(f->names);
    if (f->count++ < LISTED)
      snprintf(f->names + used, sizeof f->names - used, "%s'%.60s'", used ? ", " : "", m.name);
    f->member = m;
    f->header = header;
    f->flags = get16(p + 8);
  }
  return ENTRY_BYTES + name + extra + comment;
}

static ink_status check_member(int fd, uint64_t size, const char *path, found *f,
                               ink_error *error) {
  unsigned char local[LOCAL_BYTES];
  zip_member *m = &f->member;
  if (!f->count)
    return ink_error_set(error, INK_ERROR_EMPTY, "'%s' is a zip without files", path);
  if (f->count > 1)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "'%s' holds %llu files and not one trace: %s%s; take out the one that is "
                         "meant",
                         path, (unsigned long long)f->count, f->names,
                         f->count > LISTED ? ", ..." : "");
  if (f->flags & 1)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED, "'%s' in '%s' is encrypted", m->name, path);
  if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED && m->method != ZIP_ZSTD)
    return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                         "'%s' in '%s' is packed with method %u: only deflate, zstd and none are "
                         "read",
                         m->name, path, m->method);
  if (f->header >= size || size - f->header < LOCAL_BYTES ||
      !read_at(fd, f->header, local, sizeof local) || memcmp(local, "PK\3\4", 4))
    return broken(path, error);
  m->data_at = f->header + LOCAL_BYTES + get16(local + 26) + get16(local + 28);
  return m->data_at > size || m->packed_bytes > size - m->data_at ? broken(path, error) : INK_OK;
}

ink_status zip_find_member(int fd, uint64_t size, const char *path, zip_member *out,
                           ink_error *error) {
  directory d;
  found f = {0};
  if (!find_directory(fd, size, &d))
    return broken(path, error);
  unsigned char *bytes = malloc((size_t)d.bytes + 1);
  if (!bytes)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = read_at(fd, d.at, bytes, (size_t)d.bytes) ? INK_OK : broken(path, error);
  size_t at = 0;
  for (uint64_t i = 0; status == INK_OK && i < d.entries; i++) {
    size_t length = read_entry(bytes + at, (size_t)d.bytes - at, &f);
    if (!length)
      status = broken(path, error);
    at += length;
  }
  free(bytes);
  if (status == INK_OK)
    status = check_member(fd, size, path, &f, error);
  if (status == INK_OK)
    *out = f.member;
  return status;
}
