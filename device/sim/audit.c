/* SPDX-License-Identifier: MIT */
/* What the loader calls, and ELF files as it maps them. */
#include "audit.h"

#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

void audit_say(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  dprintf(STDERR_FILENO, "inkmark-sim: %s\n", line);
}

/* ---- files ---- */

bool audit_file_open(const char *path, audit_file *file) {
  struct stat status;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  void *bytes = MAP_FAILED;
  if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size > (off_t)sizeof(Elf64_Ehdr))
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED)
    return false;
  *file = (audit_file){bytes, (size_t)status.st_size};
  const Elf64_Ehdr *head = bytes;
  if (!memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
      head->e_shentsize == sizeof(Elf64_Shdr))
    return true;
  audit_file_close(file);
  return false;
}

void audit_file_close(audit_file *file) {
  munmap((void *)(uintptr_t)file->bytes, file->size);
  *file = (audit_file){0};
}

static bool inside(const audit_file *file, uint64_t at, uint64_t bytes) {
  return at <= file->size && bytes <= file->size - at;
}

static const Elf64_Shdr *section(const audit_file *file, size_t index) {
  const Elf64_Ehdr *head = (const void *)file->bytes;
  const uint64_t at = head->e_shoff + index * sizeof(Elf64_Shdr);
  if (!head->e_shoff || index >= head->e_shnum || at % sizeof(uint64_t) || !inside(file, at, sizeof(Elf64_Shdr)))
    return NULL;
  const Elf64_Shdr *found = (const void *)(file->bytes + at);
  return found->sh_type == SHT_NOBITS || inside(file, found->sh_offset, found->sh_size) ? found : NULL;
}

bool audit_file_symbols(const audit_file *file, uint32_t type, audit_symbols *out) {
  const Elf64_Shdr *each;
  for (size_t i = 0; (each = section(file, i)); i++) {
    const Elf64_Shdr *names = each->sh_type == type ? section(file, each->sh_link) : NULL;
    if (!names || each->sh_offset % sizeof(uint64_t) || !names->sh_size)
      continue;
    *out = (audit_symbols){(const void *)(file->bytes + each->sh_offset), each->sh_size / sizeof(Elf64_Sym),
                           (const char *)file->bytes + names->sh_offset, names->sh_size};
    return out->names[out->names_bytes - 1] == 0;
  }
  return false;
}

const unsigned char *audit_file_section(const audit_file *file, const char *name, size_t *bytes) {
  const Elf64_Shdr *names = section(file, ((const Elf64_Ehdr *)(const void *)file->bytes)->e_shstrndx), *each;
  for (size_t i = 0; names && (each = section(file, i)); i++)
    if (each->sh_type != SHT_NOBITS && inside(file, names->sh_offset + each->sh_name, strlen(name) + 1) &&
        !strcmp((const char *)file->bytes + names->sh_offset + each->sh_name, name)) {
      *bytes = each->sh_size;
      return file->bytes + each->sh_offset;
    }
  return NULL;
}

const char *audit_function(const audit_symbols *s, size_t index) {
  const Elf64_Sym *symbol = &s->symbols[index];
  if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || symbol->st_name >= s->names_bytes)
    return NULL;
  return s->names + symbol->st_name;
}

/* ---- the loader's questions ---- */

EXPORT unsigned la_version(unsigned version);
unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The stand-in is known by a name that NVIDIA's runtime does not export. */
static bool is_stand_in(const char *path) {
  audit_file file;
  audit_symbols symbols;
  bool found = false;
  if (!audit_file_open(path, &file))
    return false;
  if (audit_file_symbols(&file, SHT_DYNSYM, &symbols))
    for (size_t i = 0; i < symbols.count && !found; i++) {
      const char *name = audit_function(&symbols, i);
      found = name && !strcmp(name, "inkmark_sim_observe");
    }
  audit_file_close(&file);
  return found;
}

EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
  (void)cookie;
  if (space != LM_ID_BASE)
    return 0;
  const char *path = map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
  const char *name = base_name(path);
  if (!strncmp(name, "linux-vdso", 10))
    return LA_FLG_BINDFROM;
  if (!strncmp(name, "libcudart.so", 12) || !strncmp(name, "libcuda.so", 10)) {
    if (is_stand_in(path))
      audit_static_target(path, map->l_addr);
    return 0;
  }
  if (audit_compiler_object(path, map->l_addr))
    return LA_FLG_BINDTO;
  audit_static_object(path, map->l_addr);
  return LA_FLG_BINDFROM;
}

EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                              const char *name);
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name) {
  (void)index, (void)from, (void)to, (void)flags;
  return audit_compiler_bind(name, symbol->st_value);
}
