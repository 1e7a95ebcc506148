/* SPDX-License-Identifier: MIT */
/* Reads the fat binaries that nvcc puts into a program and takes PTX out of them. */
#ifndef INKMARK_SIM_FATBIN_H
#define INKMARK_SIM_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What __cudaRegisterFatBinary is handed. */
typedef struct fatbin_wrapper {
  uint32_t magic;          /* FATBIN_WRAPPER_MAGIC */
  uint32_t version;        /* 1, or 2 for a program linked with nvcc -rdc=true */
  const void *data;        /* a container */
  const void *const *more; /* version 2: the containers of the linked objects, ends with NULL */
} fatbin_wrapper;

#define FATBIN_WRAPPER_MAGIC 0x466243b1u

enum fatbin_status {
  FATBIN_OK = 0,
  FATBIN_NO_PTX,  /* well formed, but machine code only */
  FATBIN_BAD,     /* not a fat binary, or damaged */
  FATBIN_PACKING, /* a packing that this reader does not know */
  FATBIN_NO_MEMORY
};

/* One line for each status, without a full stop. */
const char *fatbin_status_text(enum fatbin_status status);

/* Takes out one PTX text: of the newest target that is at most `capability` (75 for 7.5), or where
 * there is none of the newest. `bytes` bounds what is read; SIZE_MAX trusts the sizes inside, as
 * one must for a container in memory. On FATBIN_OK *text is NUL-terminated and the caller frees it;
 * otherwise it is untouched. */
enum fatbin_status fatbin_find_ptx(const void *container, size_t bytes, int capability, char **text,
                                   int *target);

#endif
