/* SPDX-License-Identifier: MIT */
/* Reads what an executable says about itself: whether it has marks, and which CUDA runtime. */
#ifndef INKMARK_CLI_ELF_PROBE_H
#define INKMARK_CLI_ELF_PROBE_H

#include <stdbool.h>

typedef struct elf_probe {
  bool elf;         /* a 64-bit little-endian ELF file; nothing below is known otherwise */
  bool device_code; /* nvcc put a fat binary into it */
  bool marks;       /* mark.cuh's registrar is in it */
  bool static_link; /* no dynamic section: nothing can be preloaded */
  bool symbols;     /* it is not stripped */
  char cudart[64];  /* the shared CUDA runtime it needs, "libcudart.so.13", or "" */
} elf_probe;

/* Zeroes and "elf = false" when the file cannot be read or is something else, a script say. */
elf_probe elf_probe_file(const char *path);

#endif
