/* SPDX-License-Identifier: MIT */
/* Which devices are armed, and when: those of a list or all at the start; the one of this rank; or each with
 * its first launch, where launches are seen, else the one of this rank, or all. */
#include "cuda/device_choice.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* The launchers' numbers of a process among those of its node. */
static bool local_rank(uint32_t *rank) {
  static const char *const names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                      "SLURM_LOCALID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = secure_getenv(names[i]);
    char *end;
    const unsigned long number = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    if (!text || *text < '0' || *text > '9' || *end || number > UINT32_MAX)
      continue;
    *rank = (uint32_t)number;
    return true;
  }
  return false;
}

/* ---- whether a module's launches go by the preloaded library ---- */

static bool is_launch(const char *name) {
  return !strcmp(name, "cudaLaunchKernel") || !strcmp(name, "cudaLaunchKernel_ptsz") ||
         !strcmp(name, "__cudaLaunchKernel") || !strcmp(name, "__cudaLaunchKernel_ptsz");
}

/* Where the loader has put its address into an object's dynamic section; some leave the offset in the file. */
static const void *at(const struct link_map *map, ElfW(Addr) value) {
  return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static bool names_launch(const ElfW(Rela) * relocations, size_t bytes, const ElfW(Sym) * symbols,
                         const char *strings) {
  for (size_t i = 0; i < bytes / sizeof *relocations; i++) {
    const ElfW(Sym) *symbol = &symbols[relocations[i].r_info >> (sizeof(void *) == 8 ? 32 : 8)];
    if (symbol->st_shndx == SHN_UNDEF && is_launch(strings + symbol->st_name))
      return true;
  }
  return false;
}

/* An object that takes its launches from another one; what is linked statically has them itself. */
static bool imports_launch(const void *of_object) {
  struct link_map *map = NULL;
  Dl_info info;
  const ElfW(Rela) *rela = NULL, *plt = NULL;
  const ElfW(Sym) *symbols = NULL;
  const char *strings = NULL;
  size_t rela_bytes = 0, plt_bytes = 0;
  if (!dladdr1(of_object, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_ld)
    return false;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
    switch (entry->d_tag) {
    case DT_RELA: rela = at(map, entry->d_un.d_ptr); break;
    case DT_RELASZ: rela_bytes = entry->d_un.d_val; break;
    case DT_JMPREL: plt = at(map, entry->d_un.d_ptr); break;
    case DT_PLTRELSZ: plt_bytes = entry->d_un.d_val; break;
    case DT_SYMTAB: symbols = at(map, entry->d_un.d_ptr); break;
    case DT_STRTAB: strings = at(map, entry->d_un.d_ptr); break;
    default: break;
    }
  return symbols && strings &&
         ((plt && names_launch(plt, plt_bytes, symbols, strings)) ||
          (rela && names_launch(rela, rela_bytes, symbols, strings)));
}

/* ---- the choice ---- */

bool ink_i_choice_waits(const ink_session *s) {
  if (s->options.choice != INK_I_DEVICES_USED || s->chosen)
    return false;
  ink_i_module *modules;
  const size_t n = ink_i_session_modules(&modules);
  bool all = n > 0;
  for (size_t i = 0; i < n && all; i++)
    all = imports_launch(modules[i].desc);
  free(modules);
  return all;
}

uint64_t ink_i_choice_now(ink_session *s, const ink_cuda_api *cuda, int count) {
  uint32_t rank;
  int current = 0;
  if (s->options.choice == INK_I_DEVICES_LISTED)
    return s->options.devices;
  if (s->chosen || count <= 0)
    return s->chosen;
  const bool ranked = local_rank(&rank);
  if (ranked)
    current = (int)(rank % (uint32_t)count);
  else if (s->options.choice == INK_I_DEVICES_USED) /* launches that nobody sees: none is to be lost */
    return s->options.devices;
  else if (cuda->get_device(&current) != 0)
    cuda->get_last_error();
  if (current >= 0 && current < INK_I_DEVICES_MAX)
    s->chosen |= 1ull << current;
  return s->chosen;
}

void ink_i_choice_use(ink_session *s, int device) {
  if (s->options.choice == INK_I_DEVICES_USED)
    atomic_fetch_or(&s->chosen, 1ull << device);
}

void ink_i_choice_forget(ink_session *s, int device) { atomic_fetch_and(&s->chosen, ~(1ull << device)); }
