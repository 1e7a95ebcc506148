/* SPDX-License-Identifier: MIT */
#include "options_take.h"

#include <string.h>

enum { SIZE_MOST = 1 << 16 }; /* no struct of options will ever be that large */

ink_status ink_i_options_take(void *own, size_t bytes, size_t least, const void *given, const char *name,
                              ink_error *error) {
  size_t size;
  if (!given)
    return INK_OK;
  memcpy(&size, given, sizeof size);
  if (!size)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "'%s.size' is not set: it is sizeof(%s)", name, name);
  if (size < least || size > SIZE_MOST)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "'%s.size' is %zu, which is not sizeof(%s) of any version", name,
                         size, name);
  for (size_t i = bytes; i < size; i++)
    if (((const unsigned char *)given)[i])
      return ink_error_set(error, INK_ERROR_UNSUPPORTED,
                           "%s has an option set that this library does not know: the library is older than the program",
                           name);
  memcpy(own, given, size < bytes ? size : bytes);
  memcpy(own, &bytes, sizeof bytes);
  return INK_OK;
}
