/* SPDX-License-Identifier: MIT */
/* Keeps the marked files and section tables of this process; registrar.c says what follows when one comes or goes. */
#include "cuda/registry.h"

#include "inkmark/record.h"
#include "inkmark/session.h"
#include "list_room.h"
#include "section_hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ink_i_module *modules;
static size_t module_count, module_room;
static char old_file[512]; /* of another ABI, the first; its symbol is never set */
static ink_i_table *tables;
static size_t table_count, table_room;
static uint64_t version;

void ink_i_registry_lock(void) { pthread_mutex_lock(&lock); }
void ink_i_registry_unlock(void) { pthread_mutex_unlock(&lock); }
void ink_i_registry_after_fork(void) { pthread_mutex_init(&lock, NULL); }

size_t ink_i_registry_modules(ink_i_module **out) {
  *out = modules;
  return module_count;
}

size_t ink_i_registry_tables(ink_i_table **out) {
  *out = tables;
  return table_count;
}

uint64_t ink_i_registry_version(void) { return version; }

size_t ink_i_registry_sections(void) {
  size_t total = 0;
  for (size_t i = 0; i < table_count; i++)
    total += tables[i].section_count;
  return total;
}

void ink_i_registry_note_other_abi(const ink_module_desc *module) {
  ink_i_registry_lock();
  if (!old_file[0] && module->bytes >= offsetof(ink_module_desc, set_buffer))
    snprintf(old_file, sizeof old_file, "%s", module->file ? module->file : "?");
  ink_i_registry_unlock();
}

const char *ink_i_registry_other_abi(void) { return old_file[0] ? old_file : NULL; }

void ink_i_registry_add(const ink_module_desc *module) {
  ink_i_registry_lock();
  if (ink_list_room((void **)&modules, &module_room, module_count, sizeof *modules))
    modules[module_count++] = (ink_i_module){.desc = module};
  ink_i_registry_unlock();
}

void ink_i_registry_remove(const ink_module_desc *module) {
  ink_i_registry_lock();
  for (size_t i = 0; i < module_count; i++)
    if (modules[i].desc == module)
      modules[i--] = modules[--module_count];
  ink_i_registry_unlock();
}

static uint32_t count_sections(const char *sections) {
  uint32_t n = *sections ? 1 : 0;
  for (; *sections; sections++)
    n += *sections == ',';
  return n;
}

/* `lasting`: no module that may go brings it. */
static ink_status add_table(const char *name, const char *sections, const char *file, uint32_t line,
                            uint64_t hash48, bool lasting, ink_error *error) {
  for (size_t i = 0; i < table_count; i++)
    if (tables[i].hash48 == hash48) {
      if (strcmp(tables[i].name, name) == 0 && strcmp(tables[i].sections, sections) == 0) {
        version += !tables[i].modules && !tables[i].lasting; /* it was gone */
        tables[i].modules += !lasting; /* the same header in another file */
        tables[i].lasting = tables[i].lasting || lasting;
        return INK_OK;
      }
      return ink_error_set(error, INK_ERROR_LIMIT,
                           "the section tables '%s' and '%s' have the same hash: rename one",
                           tables[i].name, name);
    }
  const uint32_t n = count_sections(sections);
  if (n > INK_SECTION_MAX)
    return ink_error_set(error, INK_ERROR_LIMIT, "section table '%s' has %u names: at most %u", name,
                         n, INK_SECTION_MAX);
  ink_i_table table = {strdup(name), strdup(sections), strdup(file ? file : ""), line, n, hash48,
                       false, !lasting, lasting};
  if (!table.name || !table.sections || !table.file ||
      !ink_list_room((void **)&tables, &table_room, table_count, sizeof *tables)) {
    free(table.name);
    free(table.sections);
    free(table.file);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for section table '%s'", name);
  }
  tables[table_count++] = table;
  version++;
  return INK_OK;
}

void ink_i_registry_table_of_file(const ink_table_desc *table) {
  ink_i_registry_lock();
  add_table(table->name, table->sections, table->file, table->line, table->hash48, true, NULL);
  ink_i_registry_unlock();
}

ink_status ink_register_sections(const char *table, const char *sections, const char *file,
                                 uint32_t line, ink_error *error) {
  if (!table || !sections || !*table || !*sections)
    return ink_error_set(error, INK_ERROR_ARGUMENT, "a section table needs a name and sections");
  ink_i_registry_lock();
  const ink_status status =
      add_table(table, sections, file, line, ink_section_hash48(table, sections), true, error);
  ink_i_registry_unlock();
  return status;
}

bool ink_i_registry_table_came(const char *name, const char *sections, const char *file, uint32_t line,
                               uint64_t *hash48) {
  *hash48 = ink_section_hash48(name, sections);
  ink_i_registry_lock();
  const bool kept = add_table(name, sections, file, line, *hash48, false, NULL) == INK_OK;
  ink_i_registry_unlock();
  return kept;
}

uint32_t ink_i_registry_table_gone(uint64_t hash48) {
  uint32_t sections = 0;
  ink_i_registry_lock();
  for (size_t i = 0; i < table_count; i++)
    if (tables[i].hash48 == hash48 && tables[i].modules && --tables[i].modules == 0 && !tables[i].lasting)
      sections = tables[i].section_count;
  version += sections != 0;
  ink_i_registry_unlock();
  return sections;
}
