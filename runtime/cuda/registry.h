/* SPDX-License-Identifier: MIT */
/* Private: the marked files and section tables of this process, as their registrars reported them. */
#ifndef INK_CUDA_REGISTRY_H
#define INK_CUDA_REGISTRY_H

#include "inkmark/module.h"
#include "inkmark/status.h"

#include <stdbool.h>

typedef struct ink_i_module {
  const ink_module_desc *desc;
  uint64_t armed; /* bit d: its symbol points at device d's buffer */
} ink_i_module;

typedef struct ink_i_table {
  char *name, *sections, *file;
  uint32_t line;
  uint32_t section_count;
  uint64_t hash48;
  bool written; /* to the open capture */
  uint32_t modules; /* loaded through the driver's API, that have it */
  bool lasting; /* of a file of nvcc's, or registered by hand: never given back */
} ink_i_table;

/* Everything below needs the registry locked. The lock is taken by registrars too, so it is never
 * held while a CUDA function runs that could load a module. */
void ink_i_registry_lock(void);
void ink_i_registry_unlock(void);
size_t ink_i_registry_modules(ink_i_module **out);
size_t ink_i_registry_tables(ink_i_table **out);
/* The first file of another INK_MODULE_ABI that wanted to register, or NULL. */
const char *ink_i_registry_other_abi(void);
/* Another number whenever the tables that somebody has are others. */
uint64_t ink_i_registry_version(void);
/* Total sections of all tables. */
size_t ink_i_registry_sections(void);

/* Take the lock themselves, and arm nothing. A table of a module: false where it cannot be kept, else what it is
 * called by. */
void ink_i_registry_add(const ink_module_desc *module);
/* What a file of another ABI records to is of another layout: it stays dormant, and is named. */
void ink_i_registry_note_other_abi(const ink_module_desc *module);
/* A table that lasts: its file was compiled by nvcc. */
void ink_i_registry_table_of_file(const ink_table_desc *table);
bool ink_i_registry_table_came(const char *name, const char *sections, const char *file, uint32_t line,
                               uint64_t *hash48);
/* One module less has it. The number of its sections, if nobody has it any more; else 0. */
uint32_t ink_i_registry_table_gone(uint64_t hash48);
void ink_i_registry_remove(const ink_module_desc *module);

/* In a forked child: the lock as new. */
void ink_i_registry_after_fork(void);

#endif
