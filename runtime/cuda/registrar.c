/* SPDX-License-Identifier: MIT */
/* The functions that the registrar of a marked file finds with dlsym. Before main they only take
 * notes; a file that registers later, from a library that was loaded, is armed at once. */
#include "cuda/record_mode.h"
#include "cuda/registry.h"
#include "cuda/session_private.h"
#include "inkmark/session.h"

#include <link.h>
#include <sys/auxv.h>

INK_API void ink_register_module(const ink_module_desc *module) {
  if (module && (module->abi != INK_MODULE_ABI || (module->cuda && module->cuda->bytes < sizeof *module->cuda)))
    ink_i_registry_note_other_abi(module);
  if (!module || module->abi != INK_MODULE_ABI || module->bytes < INK_MODULE_BYTES_MIN || !module->cuda ||
      module->cuda->bytes < offsetof(ink_cuda_api, memory)) /* as files of older headers have it */
    return;
  ink_i_registry_add(module);
  ink_i_record_module_came(); /* nothing before main: the program's other files are yet to come */
}

INK_API void ink_register_table(const ink_table_desc *table) {
  if (!table || table->abi != INK_MODULE_ABI || table->bytes < sizeof *table)
    return;
  ink_i_registry_table_of_file(table);
  ink_i_record_module_came(); /* a table comes after its file's module: its kernels need slots */
}

INK_API void ink_unregister_module(const ink_module_desc *module) { ink_i_session_module_goes(module); }

/* Without the loader, whose lock another thread may hold while it waits for ours. */
static bool is_of_program(uintptr_t at) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  const size_t n = headers ? getauxval(AT_PHNUM) : 0;
  uintptr_t bias = 0;
  for (size_t i = 0; i < n; i++)
    if (headers[i].p_type == PT_PHDR)
      bias = (uintptr_t)headers - headers[i].p_vaddr;
  for (size_t i = 0; i < n; i++)
    if (headers[i].p_type == PT_LOAD && at - bias - headers[i].p_vaddr < headers[i].p_memsz)
      return true;
  return false;
}

bool ink_record_has_libraries(void) {
  ink_i_module *modules;
  bool has = false;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  for (size_t i = 0; i < n && !has; i++)
    has = !modules[i].desc->only_device && !is_of_program((uintptr_t)modules[i].desc);
  ink_i_registry_unlock();
  return has;
}
