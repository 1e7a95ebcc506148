/* SPDX-License-Identifier: MIT */
/* What a cubin itself says: the SHA-256 of each kernel's machine code, from its sections `.text.NAME` (the same with and without
 * -lineinfo, in whichever folder it was built), and the names of its sections of PROF_SECTIONS. */
#include "verify_private.h"

#include "inkmark/record.h"
#include "inkmark/sources.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  unsigned char *data = NULL;
  *bytes = 0;
  if (file && !fseek(file, 0, SEEK_END)) {
    const long size = ftell(file);
    data = size > 0 && !fseek(file, 0, SEEK_SET) ? malloc((size_t)size) : NULL;
    *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
  }
  if (file)
    fclose(file);
  return data;
}

static bool within(uint64_t at, uint64_t bytes, size_t size) { return at <= size && bytes <= size - at; }

static ink_status keep(ink_v_hashes *to, const char *name, const unsigned char *code, size_t bytes, ink_error *error) {
  if (!ink_v_room((void **)&to->items, to->count, &to->room, sizeof *to->items))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
  v_hash *hash = &to->items[to->count];
  *hash = (v_hash){.cubin = to->cubins, .name = strdup(name)};
  if (!hash->name)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
  ink_sha256(code, bytes, hash->text);
  to->count++;
  return INK_OK;
}

/* What is done with each section that has bytes; false: that is enough. */
typedef bool each_section(void *user, const char *name, const unsigned char *bytes, size_t size);

/* NAME of `.text.NAME`, or NULL. */
static const char *function_of(const char *section) { return strncmp(section, ".text.", 6) == 0 ? section + 6 : NULL; }

static void walk_sections(const unsigned char *data, size_t size, each_section *each, void *user) {
  Elf64_Ehdr head;
  Elf64_Shdr names = {0}, section;
  if (!data || size < sizeof head)
    return;
  memcpy(&head, data, sizeof head);
  const bool sound = head.e_shentsize == sizeof section && head.e_shstrndx < head.e_shnum &&
                     within(head.e_shoff, (uint64_t)head.e_shnum * sizeof section, size);
  if (sound)
    memcpy(&names, data + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
  const char *text = sound && within(names.sh_offset, names.sh_size, size) ? (const char *)data + names.sh_offset : NULL;
  bool more = true;
  for (unsigned i = 0; text && i < head.e_shnum && more; i++) {
    memcpy(&section, data + head.e_shoff + i * sizeof section, sizeof section);
    const bool named = section.sh_name < names.sh_size && memchr(text + section.sh_name, 0, names.sh_size - section.sh_name);
    if (named && section.sh_type == SHT_PROGBITS && within(section.sh_offset, section.sh_size, size))
      more = each(user, text + section.sh_name, data + section.sh_offset, section.sh_size);
  }
}

typedef struct keeping {
  ink_v_hashes *to;
  ink_status status;
  ink_error *error;
} keeping;

/* The sections' names stand in the device's data behind a magic text, of any device layout, and the table's name. */
static ink_status keep_tables(ink_v_hashes *to, const unsigned char *bytes, size_t size, ink_error *error) {
  static const char any_magic[] = INK_TABLE_TEXT_ANY;
  const char *at = (const char *)bytes, *end = at + size;
  const char *found;
  while ((found = memmem(at, (size_t)(end - at), any_magic, sizeof any_magic - 1))) {
    const char *table = at = found + sizeof any_magic - 1;
    while (table < end && *table >= '0' && *table <= '9')
      table++;
    if (table == at || table == end || *table++)
      continue;
    const char *names = memchr(table, 0, (size_t)(end - table));
    if (!names || !memchr(names + 1, 0, (size_t)(end - names - 1)))
      return INK_OK;
    if (!ink_v_room((void **)&to->tables, to->table_count, &to->table_room, sizeof *to->tables) ||
        asprintf(&to->tables[to->table_count], "%s,%s", table, names + 1) < 0)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the listing");
    to->table_count++;
  }
  return INK_OK;
}

static bool keep_each(void *user, const char *name, const unsigned char *bytes, size_t size) {
  keeping *k = user;
  if (function_of(name))
    k->status = keep(k->to, function_of(name), bytes, size, k->error);
  else if (strcmp(name, ".nv.global.init") == 0)
    k->status = keep_tables(k->to, bytes, size, k->error);
  return !k->status;
}

ink_status ink_v_hash_cubin(ink_v_hashes *to, const char *path, ink_error *error) {
  size_t size;
  unsigned char *data = read_file(path, &size);
  keeping k = {.to = to, .error = error};
  walk_sections(data, size, keep_each, &k);
  free(data);
  to->cubins++;
  return k.status;
}

typedef struct wanted_code {
  const char *name;
  char *text;
  bool found;
} wanted_code;

static bool hash_if_wanted(void *user, const char *name, const unsigned char *code, size_t bytes) {
  wanted_code *w = user;
  const char *function = function_of(name);
  w->found = function && strcmp(function, w->name) == 0;
  if (w->found)
    ink_sha256(code, bytes, w->text);
  return !w->found;
}

bool ink_verify_code_hash(const void *cubin, size_t bytes, const char *function, char text[INK_VERIFY_HASH_TEXT]) {
  wanted_code w = {.name = function, .text = text};
  walk_sections(cubin, bytes, hash_if_wanted, &w);
  return w.found;
}

const char *ink_v_find_hash(const ink_v_hashes *hashes, uint32_t cubin, const char *name) {
  for (size_t i = 0; i < hashes->count; i++)
    if (hashes->items[i].cubin == cubin && strcmp(hashes->items[i].name, name) == 0)
      return hashes->items[i].text;
  return NULL;
}

void ink_v_free_hashes(ink_v_hashes *hashes) {
  for (size_t i = 0; i < hashes->count; i++)
    free(hashes->items[i].name);
  free(hashes->items);
  for (size_t i = 0; i < hashes->table_count; i++)
    free(hashes->tables[i]);
  free(hashes->tables);
}
