/* SPDX-License-Identifier: MIT */
/* Asks the environment and the terminal what it can show. */
#include "style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int color_choice = CLI_COLOR_AUTO;

void style_set_color(int color) {
  color_choice = color;
}

static bool colored(FILE *to) {
  if (color_choice != CLI_COLOR_AUTO)
    return color_choice == CLI_COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if ((no_color && *no_color) || (term && !strcmp(term, "dumb")))
    return false;
  int descriptor = fileno(to); /* -1: an output file that is no terminal */
  return descriptor >= 0 && isatty(descriptor);
}

static const char *const codes[] = {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[36m"};

const char *style_code(FILE *to, enum text_style style) {
  return colored(to) ? codes[style] : "";
}

bool style_is_code(const char *text) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (text == codes[i])
      return true;
  return false;
}

bool style_draws(void) {
  return colored(stdout) && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

size_t style_columns(void) {
  const char *columns = getenv("COLUMNS");
  if (columns && atoi(columns) > 20)
    return (size_t)atoi(columns);
  struct winsize size;
  if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 20)
    return size.ws_col;
  return 120;
}
