/* SPDX-License-Identifier: MIT */
/* Names of functions as the source has them, by the C++ library's demangler, which is loaded where there is one: what
 * judges machine code links no C++. */
#include "verify_private.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MOST = 120, SHOWN_HEAD = 70, SHOWN_TAIL = 45 };

/* __cxa_demangle of the Itanium C++ ABI. */
typedef char *demangle_function(const char *name, char *buffer, size_t *bytes, int *status);

static demangle_function *find_demangler(ink_verify *v) {
  union {
    void *found;
    demangle_function *call;
  } symbol = {NULL};
  if (!v->cxx_library)
    v->cxx_library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
  if (v->cxx_library)
    symbol.found = dlsym(v->cxx_library, "__cxa_demangle");
  return symbol.call;
}

/* "a::b<...>" of "_ZN1a1bI...", for names that the library does not take (GNU's refuses some of CUTLASS's, which nvcc makes);
 * false: not of that form. */
static bool template_path(const char *name, char *path, size_t room) {
  const char *at = name + 2;
  size_t used = 0;
  at += *at == 'N';
  while (isdigit((unsigned char)*at)) {
    char *word;
    const unsigned long length = strtoul(at, &word, 10);
    if (!length || length > strlen(word) || used + length + sizeof "::<...>" > room)
      return false;
    used += (size_t)snprintf(path + used, room - used, "%s%.*s", used ? "::" : "", (int)length, word);
    at = word + length;
  }
  if (!used || *at != 'I')
    return false;
  snprintf(path + used, room - used, "<...>");
  return true;
}

const char *ink_v_demangle(ink_verify *v, const char *name) {
  int status = 0;
  char path[512];
  demangle_function *demangle = strncmp(name, "_Z", 2) == 0 ? find_demangler(v) : NULL;
  char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
  if (demangle && !text && template_path(name, path, sizeof path) && asprintf(&text, "%s as %s", path, name) < 0)
    text = NULL;
  const char *kept = text ? ink_v_keep(v, text) : NULL;
  return kept ? kept : name;
}

/* A long name is cut in the middle: instances of one template often differ in what they begin and end with. */
const char *ink_v_shown(ink_verify *v, const char *name) {
  const size_t length = strlen(name);
  size_t head = SHOWN_HEAD, tail = length - SHOWN_TAIL;
  char *text;
  if (length <= SHOWN_MOST)
    return name;
  while ((name[head] & 0xc0) == 0x80) /* not within a character */
    head--;
  while ((name[tail] & 0xc0) == 0x80)
    tail++;
  if (asprintf(&text, "%.*s ... %s", (int)head, name, name + tail) < 0)
    return name;
  const char *kept = ink_v_keep(v, text);
  return kept ? kept : name;
}
