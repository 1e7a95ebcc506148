/* SPDX-License-Identifier: MIT */
/* Private: the section tables that travel inside a module (docs/format.md), found in the image that the program
 * hands to the driver: PTX, machine code, fat binaries, packed with zstd too. */
#ifndef INK_CUDA_MODULE_SCAN_H
#define INK_CUDA_MODULE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ink_i_scan {
  bool has_marks;  /* the image has the buffer symbol */
  bool compressed; /* a part of it could not be looked at */
  uint32_t tables;
  char other_layout[200]; /* the source file of a table of another device layout: its kernels cannot use our buffer; else "" */
} ink_i_scan;

/* A fat binary that lies in a file of the program is a CUDA runtime's, whose registrars tell of it; there may be
 * hundreds of MB of them, which nobody has read yet. */
bool ink_i_is_linked_in(const void *image);

/* The strings are valid during the call. */
typedef void ink_i_table_fn(void *user, const char *name, const char *sections, const char *file, uint32_t line);

/* `bytes` 0: as long as the image itself says, as the driver takes it. `found` may be NULL. */
ink_i_scan ink_i_scan_image(const void *image, size_t bytes, ink_i_table_fn *found, void *user);

/* A file that the driver has read. `bytes` NULL: it is not there any more, or empty. */
typedef struct ink_i_file {
  void *bytes;
  size_t size;
} ink_i_file;
void ink_i_file_map(const char *path, ink_i_file *file);
void ink_i_file_unmap(ink_i_file *file);

#endif
