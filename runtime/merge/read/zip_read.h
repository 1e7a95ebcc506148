/* SPDX-License-Identifier: MIT */
/* Finds the one member of a zip. */
#ifndef INK_ZIP_READ_H
#define INK_ZIP_READ_H

#include "inkmark/status.h"

enum zip_method { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ZSTD = 93 };

typedef struct zip_member {
  char name[200];
  unsigned method;
  uint64_t data_at, packed_bytes, bytes;
  uint32_t crc;
} zip_member;

/* Folders, and what macOS puts beside files, do not count. Several members, none, an encrypted one
 * or one packed otherwise are errors. */
ink_status zip_find_member(int fd, uint64_t size, const char *path, zip_member *out,
                           ink_error *error);

#endif
