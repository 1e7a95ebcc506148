/* SPDX-License-Identifier: MIT */
/* A text in place of the one before on a terminal. */
#include "top.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool top_screen_is_there(void) {
  const char *kind = getenv("TERM");
  return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* Bytes of the line that take so many columns, a code point each. */
static size_t bytes_of(const char *line, size_t bytes, size_t columns) {
  size_t i = 0;
  for (; i < bytes; i++)
    if (((unsigned char)line[i] & 0xC0) != 0x80 && columns-- == 0)
      break;
  return i;
}

/* Nothing is cleared before it is written over: no flicker. */
void top_screen_show(const char *text) {
  struct winsize size = {0};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  const size_t columns = size.ws_col ? size.ws_col : 80;
  size_t rows = size.ws_row ? size.ws_row : 24;
  fputs("\x1b[H", stdout);
  while (*text && --rows) {
    const size_t length = strcspn(text, "\n");
    fwrite(text, 1, bytes_of(text, length, columns), stdout);
    fputs("\x1b[K\r\n", stdout);
    text += length + (text[length] == '\n');
  }
  fputs("\x1b[J", stdout);
}
