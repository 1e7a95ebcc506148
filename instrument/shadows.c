/* SPDX-License-Identifier: MIT */
#include "shadows.h"

#include "unit.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const shadows_variables[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", NULL};

bool shadows_name(shadow_list *shadows, const char *path, const struct stat *file) {
  if (!INK_I_GROW(shadows->headers))
    return false;
  shadows_header *header = &shadows->headers.items[shadows->headers.count];
  *header = (shadows_header){.path = strdup(path), .is_file = file != NULL};
  if (!header->path)
    return false;
  if (file) {
    header->device = file->st_dev;
    header->number = file->st_ino;
  }
  shadows->headers.count++;
  for (const char *at = path; *at; at += strspn(at, "/")) {
    const size_t length = strcspn(at, "/");
    if (!INK_I_GROW(shadows->words))
      return false;
    shadows->words.items[shadows->words.count++] = ink_text_hash(at, length);
    at += length;
  }
  return true;
}

static int by_value(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return a < b ? -1 : a > b;
}

static bool is_one_of_them(const shadow_list *shadows, const struct stat *file) {
  for (size_t i = 0; i < shadows->headers.count; i++)
    if (shadows->headers.items[i].is_file && shadows->headers.items[i].device == file->st_dev &&
        shadows->headers.items[i].number == file->st_ino)
      return true;
  return false;
}

/* The end of a header's path that begins with `name` is a file below the folder too, and another one. */
static bool has_other(const shadow_list *shadows, const char *folder, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < shadows->headers.count; i++)
    for (const char *at = shadows->headers.items[i].path; *at;) {
      at += strspn(at, "/");
      const size_t part = strcspn(at, "/");
      char path[PATH_MAX];
      struct stat status;
      if (part == length && !memcmp(at, name, length) && snprintf(path, sizeof path, "%s/%s", folder, at) < (int)sizeof path &&
          !stat(path, &status) && S_ISREG(status.st_mode) && !is_one_of_them(shadows, &status))
        return true;
      at += part;
    }
  return false;
}

static bool has_any(const shadow_list *shadows, const char *folder) {
  DIR *dir = shadows->words.count ? opendir(folder) : NULL;
  bool found = false;
  for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
    const uint64_t word = ink_text_hash(entry->d_name, strlen(entry->d_name));
    found = bsearch(&word, shadows->words.items, shadows->words.count, sizeof word, by_value) &&
            has_other(shadows, folder, entry->d_name);
  }
  if (dir)
    closedir(dir);
  return found;
}

static bool any_in_variable(const shadow_list *shadows, const char *value) {
  char *folders = value ? strdup(value) : NULL;
  bool found = value && !folders;
  for (char *rest = folders, *folder; rest && !found && (folder = strsep(&rest, ":"));)
    found = has_any(shadows, *folder ? folder : ".");
  free(folders);
  return found;
}

bool shadows_any(shadow_list *shadows, const char *const *flags, size_t count) {
  static const struct {
    const char *name;
    bool is_folder;
  } own[] = {{"--include-path", true}, {"--system-include", true}, {"--pre-include", false}, {"-include", false},
             {"-isystem", true},       {"-I", true}};
  bool found = false;
  if (shadows->words.count)
    qsort(shadows->words.items, shadows->words.count, sizeof *shadows->words.items, by_value);
  for (size_t i = 0; i < count && !found; i++)
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
      const size_t length = strlen(own[k].name);
      if (strncmp(flags[i], own[k].name, length))
        continue;
      const char *folder = flags[i][length] == '=' ? flags[i] + length + 1 : flags[i] + length;
      if (!flags[i][length])
        folder = i + 1 < count ? flags[++i] : "";
      found = !own[k].is_folder || has_any(shadows, folder);
      break;
    }
  for (size_t i = 0; shadows_variables[i] && !found; i++)
    found = any_in_variable(shadows, getenv(shadows_variables[i]));
  return found;
}

void shadows_free(shadow_list *shadows) {
  for (size_t i = 0; i < shadows->headers.count; i++)
    free(shadows->headers.items[i].path);
  free(shadows->headers.items);
  free(shadows->words.items);
  memset(shadows, 0, sizeof *shadows);
}
