/* SPDX-License-Identifier: MIT */
/* Status words and the one way to fill an ink_error. */
#include "inkmark/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

const char *ink_status_words(ink_status status) {
  switch (status) {
#define INK_I_STATUS_WORDS(name, value, words)                                                     \
  case name:                                                                                       \
    return words;
    INK_STATUS_LIST(INK_I_STATUS_WORDS)
#undef INK_I_STATUS_WORDS
  }
  return "unknown status";
}

ink_status ink_error_set(ink_error *error, ink_status status, const char *format, ...) {
  if (!error)
    return status;
  error->status = status;
  error->code = status == INK_ERROR_IO ? errno : 0;
  error->offset = UINT64_MAX;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  for (char *c = error->message; *c; c++) /* names from files: a message is one line */
    if ((unsigned char)*c < 0x20 || *c == 0x7f)
      *c = '?';
  return status;
}
