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
} ink_i_table;

/* Everything below needs the registry locked. The lock is taken by registrars too, so it is never
 * held while a CUDA function runs that could load a module. */
void ink_i_registry_lock(void);
void ink_i_registry_unlock(void);
size_t ink_i_registry_modules(ink_i_module **out);
size_t ink_i_registry_tables(ink_i_table **out);
/* The first file of another INK_MODULE_ABI that wanted to register, or NULL. */
const char *ink_i_registry_other_abi(void);
/* Total sections of all tables. */
size_t ink_i_registry_sections(void);

/* Takes the lock itself. */
void ink_i_registry_remove(const ink_module_desc *module);

/* In a forked child: the lock as new. */
void ink_i_registry_after_fork(void);

#endif
