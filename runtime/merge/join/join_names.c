/* SPDX-License-Identifier: MIT */
/* Compares a kernel's name of ours with the forms that other profilers give. */
#include "join_private.h"
#include "number_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The last name of a mangled one: "_ZN2ns4stepIiEvPf" -> "step". */
static bool mangled_base(const char *text, const char **begin, size_t *length) {
  const char *p = text + 2;
  if (*p == 'N')
    p++;
  while (*p == 'K' || *p == 'L')
    p++;
  *length = 0;
  while (isdigit((unsigned char)*p)) {
    char *end;
    unsigned long n = strtoul(p, &end, 10);
    if (!n || n > strlen(end))
      return false;
    *begin = end;
    *length = n;
    p = end + n;
  }
  return *length != 0;
}

/* The last name before the arguments, templates and namespaces of a demangled one taken off. */
static void demangled_base(const char *text, const char **begin, size_t *length) {
  const char *name = text, *end = NULL;
  int angle = 0, round = 0;
  for (const char *p = text; *p; p++) {
    if (!strncmp(p, "(anonymous namespace)", 21)) {
      p += 20;
      continue;
    }
    if (*p == '<') {
      if (!angle++ && !round)
        end = p;
    } else if (*p == '>' && angle) {
      angle--;
    } else if (*p == '(' && !angle) {
      if (!round && !end)
        end = p;
      break;
    } else if (!angle && (*p == ' ' || (*p == ':' && p[1] == ':'))) {
      p += *p == ':';
      name = p + 1;
      end = NULL;
    }
  }
  *begin = name;
  *length = end && end > name ? (size_t)(end - name) : strlen(name);
}

/* Letters and digits in lower case, without "kernel" at either end. */
static size_t plain(const char *text, size_t length, char *out, size_t room) {
  size_t n = 0;
  for (size_t i = 0; i < length && n < room; i++)
    if (ink_i_is_alnum(text[i]))
      out[n++] = ink_i_lower(text[i]);
  if (n > 6 && !memcmp(out + n - 6, "kernel", 6))
    n -= 6;
  if (n > 6 && !memcmp(out, "kernel", 6)) {
    n -= 6;
    memmove(out, out + 6, n);
  }
  return n;
}

/* The rewriter's names carry their place: "step (solver.cu:12)". */
static void without_place(const char *text, char *out, size_t room) {
  const char *open = strstr(text, " (");
  size_t n = strlen(text);
  if (open && n && text[n - 1] == ')' && strchr(open, ':') && open > text)
    n = (size_t)(open - text);
  n = n < room ? n : room - 1;
  memcpy(out, text, n);
  out[n] = 0;
}

bool ink_join_name_equal(const char *text, const char *theirs) {
  char ours[512], left[256], right[256];
  const char *a = ours, *b = theirs;
  size_t n, m = 0;
  without_place(text, ours, sizeof ours);
  if (!strcmp(ours, theirs))
    return true;
  demangled_base(ours, &a, &n);
  if (strncmp(theirs, "_Z", 2) || !mangled_base(theirs, &b, &m))
    demangled_base(theirs, &b, &m);
  n = plain(a, n, left, sizeof left);
  m = plain(b, m, right, sizeof right);
  return n && n == m && !memcmp(left, right, n);
}
