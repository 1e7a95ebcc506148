/* SPDX-License-Identifier: MIT */
/* Names in their scopes: the unit, a function, blocks within it; labels used before they come. */
#include "ptx_parser.h"

#include <string.h>

static uint32_t hash(const char *text, uint32_t length) {
  uint32_t h = 2166136261u;
  for (uint32_t i = 0; i < length; i++) {
    h = (h ^ (uint8_t)text[i]) * 16777619u;
  }
  return (h ^ h >> 15) % PTX_HEADS;
}

static ptx_name *find_exact(ptx_parser *p, const char *text, uint32_t length, bool range) {
  for (int32_t i = p->heads[hash(text, length)]; i >= 0; i = p->names[i].next) {
    ptx_name *name = &p->names[i];
    if (name->length == length && (name->count != 0) == range &&
        memcmp(name->text, text, length) == 0) {
      return name;
    }
  }
  return NULL;
}

/* The name, or the range that holds it; *index is the place in the range. */
ptx_name *ptx_find(ptx_parser *p, const char *text, uint32_t length, uint32_t *index) {
  ptx_name *name = find_exact(p, text, length, false);
  uint64_t number = 0, scale = 1;
  *index = 0;
  if (name != NULL) {
    return name;
  }
  for (uint32_t end = length; end > 1 && length - end < 7; end--) {
    char digit = text[end - 1];
    if (digit < '0' || digit > '9') {
      return NULL;
    }
    number += (uint64_t)(digit - '0') * scale;
    scale *= 10;
    if (digit == '0' && end != length) {
      continue; /* %r07 is not %r7 */
    }
    name = find_exact(p, text, end - 1, true);
    if (name != NULL && number < name->count) {
      *index = (uint32_t)number;
      return name;
    }
  }
  return NULL;
}

ptx_name *ptx_add(ptx_parser *p, const char *text, uint32_t length, enum ptx_name_kind kind,
                  int32_t value) {
  uint32_t head = hash(text, length);
  ptx_name *name;
  if (p->name_count > INT32_MAX / 2 || !SIM_GROW(p->names, p->name_capacity, p->name_count)) {
    ptx_no_memory(p);
    return NULL;
  }
  name = &p->names[p->name_count];
  *name = (ptx_name){.text = text, .length = length, .depth = p->depth, .value = value,
                     .next = p->heads[head], .kind = (uint8_t)kind, .rows = 1};
  p->heads[head] = (int32_t)p->name_count++;
  return name;
}

bool ptx_open_scope(ptx_parser *p) {
  if (p->depth >= SIM_MAX_NESTING) {
    return ptx_fail(p, SIM_BAD_PTX, "blocks nest deeper than %d", SIM_MAX_NESTING);
  }
  p->frame_before[p->depth] = p->frame;
  p->depth++;
  return true;
}

/* Labels of the closing scope satisfy what was written in it and deeper. */
static bool resolve_fixups(ptx_parser *p) {
  size_t kept = 0;
  for (size_t i = 0; i < p->fixup_count; i++) {
    ptx_fixup *fixup = &p->fixups[i];
    uint32_t index;
    ptx_name *name = NULL;
    if (fixup->depth >= p->depth) {
      name = ptx_find(p, fixup->text, fixup->length, &index);
    }
    if (name != NULL && name->kind == PTX_LABEL) {
      if (fixup->in_rows) {
        p->program->rows[fixup->index] = name->value;
      } else {
        p->program->code[fixup->index].target = name->value;
      }
      continue;
    }
    if (p->depth == 1) {
      p->line = fixup->line;
      return ptx_fail(p, SIM_BAD_PTX, "there is no label '%.*s'", (int)fixup->length, fixup->text);
    }
    fixup->depth = fixup->depth < p->depth ? fixup->depth : p->depth - 1;
    p->fixups[kept++] = *fixup;
  }
  p->fixup_count = kept;
  return true;
}

bool ptx_close_scope(ptx_parser *p) {
  bool good = resolve_fixups(p);
  while (p->name_count != 0 && p->names[p->name_count - 1].depth == p->depth) {
    ptx_name *name = &p->names[--p->name_count];
    p->heads[hash(name->text, name->length)] = name->next;
  }
  p->depth--;
  p->frame_most = p->frame > p->frame_most ? p->frame : p->frame_most;
  p->frame = p->frame_before[p->depth]; /* the next call's arguments may lie where this one's did */
  return good;
}

bool ptx_want_label(ptx_parser *p, const char *text, uint32_t length, uint32_t line, bool in_rows,
                    int32_t index) {
  if (!SIM_GROW(p->fixups, p->fixup_capacity, p->fixup_count)) {
    return ptx_no_memory(p);
  }
  p->fixups[p->fixup_count++] =
      (ptx_fixup){.text = text, .length = length, .line = line, .depth = p->depth,
                  .index = index, .in_rows = in_rows};
  return true;
}

bool ptx_use(ptx_parser *p, int32_t symbol) {
  sim_function *function;
  p->program->symbols[symbol].used = 1;
  if (p->function < 0) {
    return true;
  }
  function = &p->program->functions[p->function];
  for (size_t i = 0; i < function->use_count; i++) {
    if (function->uses[i] == symbol) {
      return true;
    }
  }
  if (!SIM_GROW(function->uses, function->use_capacity, function->use_count)) {
    return ptx_no_memory(p);
  }
  function->uses[function->use_count++] = symbol;
  return true;
}
