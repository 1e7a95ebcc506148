/* SPDX-License-Identifier: MIT */
/* `extern "C"__global__` without a blank: nvcc takes it, clang reads one literal with a suffix and loses
 * the kernel. The parse gets the same text with the blank moved, byte for byte as long. */
#include "unit.h"

#include <string.h>

/* `"C"` or `"C++"` at `at` with an underscore right behind it: how long it is without that; else 0. */
static size_t linkage_before_underscore(const char *at, const char *end) {
  for (size_t length = 3; length <= 5; length += 2)
    if ((size_t)(end - at) > length && !memcmp(at, length == 3 ? "\"C\"" : "\"C++\"", length) &&
        at[length] == '_')
      return length;
  return 0;
}

bool ink_suffix_patch(char *text, size_t bytes) {
  bool changed = false;
  char *at = text, *end = text + bytes;
  while (at && (at = memchr(at, '"', (size_t)(end - at)))) {
    const size_t length = linkage_before_underscore(at, end);
    if (length && at - text > 7 && (at[-1] == ' ' || at[-1] == '\t') &&
        memmem(at - 7 > text ? at - 7 : text, 7, "extern", 6)) {
      memmove(at - 1, at, length);
      at[length - 1] = ' ';
      changed = true;
    }
    at += length ? length : 1;
  }
  return changed;
}

void ink_suffix_remarks(ink_unit *unit) {
  for (size_t s = 0; s < unit->sources.count; s++) {
    ink_source *source = unit->sources.items[s];
    for (size_t i = 1; i < source->tokens.count; i++) {
      const ink_token *token = &source->tokens.items[i];
      const char *text = source->text.at + token->start;
      if (token->kind == CXToken_Literal && token->end - token->start > 5 &&
          linkage_before_underscore(text, source->text.at + token->end) &&
          ink_source_token_is(source, i - 1, "extern"))
        ink_unit_say(unit, source, token->start,
                     "what is declared here is not seen: there is no blank behind %.*s",
                     text[2] == '"' ? 3 : 5, text);
    }
  }
}
