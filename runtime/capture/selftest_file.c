/* SPDX-License-Identifier: MIT */
/* The file in which a device's self-test is kept between programs. */
#include "inkmark/selftest.h"
#include "number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Letters, digits, '.' and '-' stay; the rest is not for file names. */
static void clean(char *text) {
  for (; *text; text++)
    if (!ink_i_is_alnum(*text) && *text != '.' && *text != '-')
      *text = '_';
}

ink_status ink_selftest_path(const ink_device_info *device, char *path, size_t path_bytes,
                             ink_error *error) {
  if (!device || !path)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no device to find the self-test of");
  const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  const bool has_cache = cache && cache[0] == '/'; /* others are to be ignored, says the XDG rule */
  char host[256] = "", key[512];
  if (!has_cache && !(home && *home))
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME is set");
  gethostname(host, sizeof host - 1);
  snprintf(key, sizeof key, "%s-%s-%u-%u", host, device->name ? device->name : "", device->sm_count,
           device->driver_version);
  clean(key);
  const int n = snprintf(path, path_bytes, "%s%s/inkmark/selftest/%s.txt", has_cache ? cache : home,
                         has_cache ? "" : "/.cache", key);
  if (n < 0 || (size_t)n >= path_bytes)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "the path of the self-test is too long");
  return INK_OK;
}

ink_status ink_selftest_read(const ink_device_info *device, char *text, size_t text_bytes,
                             ink_error *error) {
  char path[4096];
  const ink_status status = ink_selftest_path(device, path, sizeof path, error);
  if (status != INK_OK)
    return status;
  FILE *file = text && text_bytes ? fopen(path, "r") : NULL;
  if (!file)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no self-test was made: '%s' is not there",
                         path);
  const size_t n = fread(text, 1, text_bytes - 1, file);
  fclose(file);
  text[n] = 0;
  return n && !memchr(text, 0, n)
             ? INK_OK
             : ink_error_set(error, INK_ERROR_NOT_FOUND, "'%s' holds no self-test", path);
}
