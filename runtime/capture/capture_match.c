/* SPDX-License-Identifier: MIT */
/* Holds the names of a capture against patterns. */
#include "capture/capture_match.h"

#include "inkmark/table.h"

#include <regex.h>
#include <stdlib.h>

static ink_status compile(const char *pattern, int flags, const char *what, regex_t *out, ink_error *error) {
  char words[128];
  const int code = regcomp(out, pattern, REG_EXTENDED | REG_NOSUB | flags);
  if (!code)
    return INK_OK;
  regerror(code, out, words, sizeof words);
  return ink_error_set(error, INK_ERROR_ARGUMENT, "bad %s '%.200s': %s", what, pattern, words);
}

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for what a pattern names");
}

ink_status ink_match_kernels(const ink_capture *capture, const char *pattern, bool **out, ink_error *error) {
  regex_t compiled;
  const ink_status status = pattern ? compile(pattern, 0, "regular expression", &compiled, error) : INK_OK;
  if (status)
    return status;
  *out = calloc(capture->kernels.count + 1, sizeof **out);
  for (size_t i = 0; *out && i < capture->kernels.count; i++)
    (*out)[i] = !pattern || !regexec(&compiled, capture->kernels.items[i].name, 0, NULL, 0);
  if (pattern)
    regfree(&compiled);
  return *out ? INK_OK : no_memory(error);
}

ink_status ink_match_waits(const ink_capture *capture, const char *pattern, bool **out, ink_error *error) {
  regex_t compiled;
  const ink_status status = compile(pattern ? pattern : INK_WAITS_USUAL, REG_ICASE, "pattern of waits", &compiled, error);
  if (status)
    return status;
  *out = calloc(capture->sections.count + 1, sizeof **out);
  for (size_t i = 0; *out && i < capture->sections.count; i++)
    (*out)[i] = !regexec(&compiled, capture->sections.items[i].name, 0, NULL, 0);
  regfree(&compiled);
  return *out ? INK_OK : no_memory(error);
}
