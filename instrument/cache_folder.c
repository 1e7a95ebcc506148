/* SPDX-License-Identifier: MIT */
#include "cache_folder.h"

#include "bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OLD_SECONDS = 3600 };

static int newest_first(const void *left, const void *right) {
  const ink_cache_file *a = left, *b = right;
  if (a->used.tv_sec != b->used.tv_sec)
    return a->used.tv_sec > b->used.tv_sec ? -1 : 1;
  if (a->used.tv_nsec != b->used.tv_nsec)
    return a->used.tv_nsec > b->used.tv_nsec ? -1 : 1;
  return strcmp(a->name, b->name);
}

ink_cache_files ink_cache_files_of(const char *folder, const char *prefix) {
  ink_cache_files files = {.dir = opendir(folder)};
  for (struct dirent *entry; files.dir && (entry = readdir(files.dir));) {
    const char *name = entry->d_name;
    struct stat status;
    if (strncmp(name, prefix, strlen(prefix)) || strlen(name) >= sizeof files.items->name ||
        fstatat(dirfd(files.dir), name, &status, AT_SYMLINK_NOFOLLOW) || !INK_I_GROW(files))
      continue;
    ink_cache_file *one = &files.items[files.count++];
    *one = (ink_cache_file){.used = status.st_mtim, .bytes = (uint64_t)status.st_size};
    snprintf(one->name, sizeof one->name, "%s", name);
  }
  if (files.count)
    qsort(files.items, files.count, sizeof *files.items, newest_first);
  return files;
}

void ink_cache_files_free(ink_cache_files *files) {
  if (files->dir)
    closedir(files->dir);
  free(files->items);
  *files = (ink_cache_files){0};
}

void ink_cache_remove(const ink_cache_files *files, const char *name) { unlinkat(dirfd(files->dir), name, 0); }

bool ink_cache_is_left(const ink_cache_file *file) { return file->used.tv_sec + OLD_SECONDS < time(NULL); }
