/* SPDX-License-Identifier: MIT */
/* Merging, its first part: the kernels that another profiler saw. docs/merging.md tells what is
 * read, and what is not there yet. */
#ifndef INKMARK_MERGE_H
#define INKMARK_MERGE_H

#include "inkmark/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ink_foreign_kind { INK_FOREIGN_KINETO, INK_FOREIGN_NSIGHT };

typedef struct ink_foreign_kernel {
  int32_t device;
  uint32_t name;                /* index for ink_foreign_name: demangled, or as the file has it */
  uint32_t short_name, mangled; /* the same; UINT32_MAX: the file has none */
  int64_t stream;
  int64_t begin_ns, end_ns;           /* Unix ns where the base is known, else the file's own */
  uint64_t grid_id;                   /* 0: the file has none */
  int64_t correlation;                /* -1: none */
  uint32_t grid_dim[3], block_dim[3]; /* all 0: unknown */
} ink_foreign_kernel;

typedef struct ink_foreign_facts {
  enum ink_foreign_kind kind;
  bool base_known;           /* times are Unix ns by the file's own word */
  int64_t base_ns;           /* Unix ns of the file's 0; 0 where unknown */
  uint64_t events;           /* of the file, of every sort */
  uint64_t kernels_left_out; /* their times are no numbers, or absurd */
  uint64_t bytes;            /* read, unpacked */
} ink_foreign_facts;

typedef struct ink_foreign ink_foreign;

/* Reads the kernels of a PyTorch (Kineto) trace, JSON or JSON in gzip, or of an Nsight Systems
 * SQLite export; what it is shows by its first bytes. Memory: about 120 bytes a kernel and its
 * names. INK_ERROR_FORMAT: neither. INK_ERROR_DAMAGED: broken or cut off. INK_ERROR_EMPTY: no
 * kernels. INK_ERROR_UNSUPPORTED: an SQLite file, and this machine has no libsqlite3.so.0. */
INK_API ink_status ink_foreign_open(const char *path, ink_foreign **out, ink_error *error);
INK_API void ink_foreign_free(ink_foreign *foreign); /* NULL is fine */
INK_API const ink_foreign_facts *ink_foreign_get_facts(const ink_foreign *foreign);
/* Sorted by device, then begin. */
INK_API size_t ink_foreign_kernels(const ink_foreign *foreign, const ink_foreign_kernel **out);
INK_API const char *ink_foreign_name(const ink_foreign *foreign, uint32_t name); /* or NULL */

#ifdef __cplusplus
}
#endif
#endif
