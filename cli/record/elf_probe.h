/* SPDX-License-Identifier: MIT */
/* Reads what an executable says about itself: whether it has marks, which CUDA runtime, and what can load it. */
#ifndef INKMARK_CLI_ELF_PROBE_H
#define INKMARK_CLI_ELF_PROBE_H

#include <stdbool.h>

typedef struct elf_probe {
  bool elf;         /* a 64-bit little-endian ELF file; nothing below is known otherwise */
  bool device_code; /* nvcc put a fat binary into it */
  bool marks;       /* mark.cuh's registrar is in it */
  bool static_link; /* no loader is asked for: nothing can be preloaded */
  bool symbols;     /* it is not stripped */
  char cudart[64];  /* the shared CUDA runtime it needs, "libcudart.so.13", or "" */
  unsigned machine; /* EM_X86_64; also of ELF files of another class or byte order. 0: it is none */
  bool bits_32;
  char loader[256]; /* "/lib64/ld-linux-x86-64.so.2", or "" */
  int glibc_minor;  /* of the newest GLIBC_2.N that it asks for, or 0 */
} elf_probe;

/* Zeroes and "elf = false" when the file cannot be read or is something else, a script say. */
elf_probe elf_probe_file(const char *path);
/* Of this command itself. */
unsigned elf_machine_here(void);
/* N where the file is the loader of glibc 2.N, 0: it does not say so, as those before 2.33. */
int elf_glibc_of_loader(const char *path);

#endif
