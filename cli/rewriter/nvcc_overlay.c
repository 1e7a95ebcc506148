/* SPDX-License-Identifier: MIT */
/* Makes, fills and removes the folder of marked copies. */
#include "nvcc_overlay.h"

#include "hash.h"
#include "message.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *overlay_make(const char *key) {
  const char *base = getenv("TMPDIR");
  const uint64_t hash = hash_on(HASH_BEGIN, key, strlen(key));
  char *path;
  if (!base || !*base)
    base = "/tmp";
  if (asprintf(&path, "%s/inkmark-%u-%016llx", base, (unsigned)getuid(),
               (unsigned long long)hash) < 0)
    return NULL;
  if (!mkdir(path, 0700))
    return path;
  free(path); /* another call of the same command runs, or was killed */
  if (asprintf(&path, "%s/inkmark-%u-XXXXXX", base, (unsigned)getuid()) < 0)
    return NULL;
  if (mkdtemp(path))
    return path;
  message_say("cannot write to '%s': %s", base, message_errno(errno));
  free(path);
  return NULL;
}

static bool holds(FILE *file, const char *text, size_t bytes) {
  size_t at = 0;
  int c;
  while ((c = getc_unlocked(file)) != EOF)
    if (at == bytes || (unsigned char)text[at++] != c)
      return false;
  return at == bytes;
}

static bool write_one(const char *path, const ink_marked_file *file) {
  FILE *to = fopen(path, "wb");
  if (!to) {
    message_say("cannot write '%s': %s", path, message_errno(errno));
    return false;
  }
  bool fine = fwrite(file->text, 1, file->bytes, to) == file->bytes;
  fine = !fclose(to) && fine;
  if (!fine)
    message_say("cannot write '%s': %s", path, message_errno(errno));
  return fine;
}

bool overlay_write(const char *folder, const ink_instrumented *result, bool *differs) {
  const ink_marked_file *files;
  const size_t n = ink_instrumented_files(result, &files);
  char path[2 * PATH_MAX];
  for (size_t i = 0; i < n; i++) {
    if (snprintf(path, sizeof path, "%s%s", folder, files[i].path) >= (int)sizeof path)
      return false;
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
      *slash = 0;
      if (mkdir(path, 0700) && errno != EEXIST) {
        message_say("cannot write '%s': %s", path, message_errno(errno));
        return false;
      }
      *slash = '/';
    }
    FILE *there = fopen(path, "rb");
    if (there) {
      *differs |= !holds(there, files[i].text, files[i].bytes);
      fclose(there);
    } else if (!write_one(path, &files[i])) {
      return false;
    }
  }
  return true;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
  (void)status;
  (void)type;
  (void)at;
  return remove(path);
}

void overlay_remove(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

void overlay_hide(const char *folder, char *text, size_t *bytes) {
  const size_t length = strlen(folder);
  size_t to = 0;
  for (size_t from = 0; from < *bytes;) {
    if (*bytes - from > length && !memcmp(text + from, folder, length) &&
        text[from + length] == '/')
      from += length;
    else
      text[to++] = text[from++];
  }
  *bytes = to;
}
