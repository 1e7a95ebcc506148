/* SPDX-License-Identifier: MIT */
/* Opens a trace of another profiler: tells what it is, has it read, sorts what came. */
#include "foreign_private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text, size_t length) {
  uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < length; i++)
    h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
  return h ^ h >> 32;
}

static ink_status widen_slots(ink_foreign *f) {
  size_t count = f->slot_count ? f->slot_count * 2 : 256;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots)
    return INK_ERROR_MEMORY;
  for (size_t i = 0; i < f->name_count; i++) {
    size_t at = hash_text(f->names[i], strlen(f->names[i])) & (count - 1);
    while (slots[at])
      at = (at + 1) & (count - 1);
    slots[at] = (uint32_t)i + 1;
  }
  free(f->slots);
  f->slots = slots;
  f->slot_count = count;
  return INK_OK;
}

ink_status ink_foreign_intern(ink_foreign *f, const char *text, size_t length, uint32_t *out) {
  if (f->name_count * 2 >= f->slot_count && widen_slots(f) != INK_OK)
    return INK_ERROR_MEMORY;
  size_t at = hash_text(text, length) & (f->slot_count - 1);
  for (; f->slots[at]; at = (at + 1) & (f->slot_count - 1)) {
    const char *name = f->names[f->slots[at] - 1];
    if (!strncmp(name, text, length) && !name[length]) {
      *out = f->slots[at] - 1;
      return INK_OK;
    }
  }
  if (f->name_count == f->name_room) {
    size_t room = f->name_room ? f->name_room * 2 : 64;
    char **names = realloc(f->names, room * sizeof *names);
    if (!names)
      return INK_ERROR_MEMORY;
    f->names = names;
    f->name_room = room;
  }
  char *copy = strndup(text, length);
  if (!copy)
    return INK_ERROR_MEMORY;
  f->names[f->name_count] = copy;
  *out = (uint32_t)f->name_count++;
  f->slots[at] = *out + 1;
  return INK_OK;
}

ink_status ink_foreign_add(ink_foreign *f, const ink_foreign_kernel *kernel) {
  if (f->kernel_count == f->kernel_room) {
    size_t room = f->kernel_room ? f->kernel_room * 2 : 256;
    ink_foreign_kernel *kernels = realloc(f->kernels, room * sizeof *kernels);
    if (!kernels)
      return INK_ERROR_MEMORY;
    f->kernels = kernels;
    f->kernel_room = room;
  }
  f->kernels[f->kernel_count++] = *kernel;
  return INK_OK;
}

static int by_begin(const void *left, const void *right) {
  const ink_foreign_kernel *a = left, *b = right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  if (a->begin_ns != b->begin_ns)
    return a->begin_ns < b->begin_ns ? -1 : 1;
  if (a->end_ns != b->end_ns)
    return a->end_ns < b->end_ns ? -1 : 1;
  return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static ink_status read_by_kind(ink_foreign *f, const char *path, ink_error *error) {
  char head[16] = {0};
  FILE *file = fopen(path, "rb");
  if (!file) {
    char words[128];
    int code = errno;
    snprintf(words, sizeof words, "%s", strerror(code));
    words[0] = (char)tolower((unsigned char)words[0]);
    return ink_error_set(error, INK_ERROR_IO, "cannot open '%s': %s", path, words);
  }
  size_t n = fread(head, 1, sizeof head, file);
  bool failed = ferror(file) != 0;
  fclose(file);
  if (failed)
    return ink_error_set(error, INK_ERROR_IO, "cannot read '%s'", path);
  if (!n)
    return ink_error_set(error, INK_ERROR_EMPTY, "'%s' is empty", path);
  if (n == sizeof head && !memcmp(head, "SQLite format 3", 16)) {
    f->facts.kind = INK_FOREIGN_NSIGHT;
    return ink_nsight_read(f, path, error);
  }
  size_t at = strspn(head, " \t\r\n");
  bool gzip = (unsigned char)head[0] == 0x1f && (unsigned char)head[1] == 0x8b;
  if (!gzip && at < n && head[at] != '{' && head[at] != '[')
    return ink_error_set(error, INK_ERROR_FORMAT,
                         "'%s' is neither a JSON trace nor an Nsight Systems SQLite export", path);
  f->facts.kind = INK_FOREIGN_KINETO;
  return ink_kineto_read(f, path, error);
}

ink_status ink_foreign_open(const char *path, ink_foreign **out, ink_error *error) {
  ink_foreign *f = calloc(1, sizeof *f);
  if (!f)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  ink_status status = read_by_kind(f, path, error);
  if (status == INK_ERROR_MEMORY)
    ink_error_set(error, status, "out of memory");
  if (status == INK_OK && !f->kernel_count)
    status =
        ink_error_set(error, INK_ERROR_EMPTY, "'%s' holds no GPU kernels that can be used", path);
  if (status != INK_OK) {
    ink_foreign_free(f);
    return status;
  }
  qsort(f->kernels, f->kernel_count, sizeof *f->kernels, by_begin);
  *out = f;
  return INK_OK;
}

void ink_foreign_free(ink_foreign *f) {
  if (!f)
    return;
  for (size_t i = 0; i < f->name_count; i++)
    free(f->names[i]);
  free(f->names);
  free(f->slots);
  free(f->kernels);
  free(f);
}

const ink_foreign_facts *ink_foreign_get_facts(const ink_foreign *f) {
  return &f->facts;
}

size_t ink_foreign_kernels(const ink_foreign *f, const ink_foreign_kernel **out) {
  *out = f->kernels;
  return f->kernel_count;
}

const char *ink_foreign_name(const ink_foreign *f, uint32_t name) {
  return name < f->name_count ? f->names[name] : NULL;
}
