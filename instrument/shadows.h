/* SPDX-License-Identifier: MIT */
/* Whether a folder that a source is compiled with has a header that would be taken in place of one of those that a kept
 * parse was made of. */
#ifndef INK_SHADOWS_H
#define INK_SHADOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct shadows_header {
  char *path;
  bool is_file; /* not only asked for in __has_include */
  dev_t device;
  ino_t number;
} shadows_header;

typedef struct shadow_list {
  struct {
    shadows_header *items;
    size_t count, room;
  } headers;
  struct {
    uint64_t *items;
    size_t count, room;
  } words; /* of the parts of all paths; sorted by shadows_any */
} shadow_list;

extern const char *const shadows_variables[]; /* of the environment, with folders; the last one is NULL */

/* A header of the kept parse. `file` NULL: one that it asks for. False: memory ran out. */
bool shadows_name(shadow_list *shadows, const char *path, const struct stat *file);
/* nvcc's flags. True too where it cannot be known: a file of -include, memory that ran out. */
bool shadows_any(shadow_list *shadows, const char *const *flags, size_t count);
void shadows_free(shadow_list *shadows);
#endif
