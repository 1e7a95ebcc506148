/* SPDX-License-Identifier: MIT */
/* The files of one kind in the folder of a cache, so that their number can be bounded. Other processes may add and remove files at
 * the same time: what is gone already is no error. */
#ifndef INKMARK_CACHE_FOLDER_H
#define INKMARK_CACHE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct ink_cache_file {
  char name[48];
  struct timespec used; /* when it was written or touched last */
  uint64_t bytes;
} ink_cache_file;

typedef struct ink_cache_files {
  DIR *dir; /* NULL: the folder cannot be read, and there are none */
  ink_cache_file *items;
  size_t count, room;
} ink_cache_files;

/* Those whose names begin with the prefix, the one that was used last first. For ink_cache_files_free. */
ink_cache_files ink_cache_files_of(const char *folder, const char *prefix);
void ink_cache_files_free(ink_cache_files *files);
void ink_cache_remove(const ink_cache_files *files, const char *name);
/* It is more than an hour old. If it is not whole, the run that wrote it has ended. */
bool ink_cache_is_left(const ink_cache_file *file);

#endif
