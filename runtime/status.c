/* SPDX-License-Identifier: MIT */
/* Status words and the one way to fill an ink_error. */
#include "inkmark/text.h"
#include "inkmark/version.h"
#include "number_text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

unsigned ink_version(void) { return INKMARK_VERSION_NUMBER; }

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
  char text[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  ink_i_vprint(text, sizeof text, format, arguments);
  va_end(arguments);
  /* names from files: a message is one line, and steers no terminal */
  ink_text_put(error->message, sizeof error->message, INK_TEXT_SHOWN, text, strlen(text));
  return status;
}
