/* SPDX-License-Identifier: MIT */
/* Reads sections, segments and versions of an ELF file; every offset is checked against the file's size. */
#include "elf_probe.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct elf_image {
  const unsigned char *bytes;
  uint64_t size;
} elf_image;

static bool inside(const elf_image *image, uint64_t at, uint64_t bytes) {
  return at <= image->size && bytes <= image->size - at;
}

/* The string at `at` of a string table section, or "" when it is not wholly inside. */
static const char *string_at(const elf_image *image, const Elf64_Shdr *table, uint64_t at) {
  if (!inside(image, table->sh_offset, table->sh_size) || at >= table->sh_size)
    return "";
  const char *text = (const char *)image->bytes + table->sh_offset + at;
  return memchr(text, 0, table->sh_size - at) ? text : "";
}

static bool section(const elf_image *image, const Elf64_Ehdr *head, uint64_t index,
                    Elf64_Shdr *out) {
  if (head->e_shoff > image->size || index >= head->e_shnum ||
      !inside(image, head->e_shoff + index * sizeof *out, sizeof *out))
    return false;
  memcpy(out, image->bytes + head->e_shoff + index * sizeof *out, sizeof *out);
  return true;
}

static void read_needed(const elf_image *image, const Elf64_Ehdr *head, const Elf64_Shdr *dynamic,
                        elf_probe *probe) {
  Elf64_Shdr strings;
  Elf64_Dyn entry;
  if (!inside(image, dynamic->sh_offset, dynamic->sh_size) ||
      !section(image, head, dynamic->sh_link, &strings))
    return;
  for (uint64_t at = 0; at + sizeof entry <= dynamic->sh_size; at += sizeof entry) {
    memcpy(&entry, image->bytes + dynamic->sh_offset + at, sizeof entry);
    const char *name = entry.d_tag == DT_NEEDED ? string_at(image, &strings, entry.d_un.d_val) : "";
    if (!strncmp(name, "libcudart.so", 12))
      snprintf(probe->cudart, sizeof probe->cudart, "%s", name);
    if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) && !*probe->loader)
      probe->static_link = true; /* static-pie; a loader that is run itself is none */
  }
}

/* The newest of glibc's versions that it asks for. */
static void read_versions(const elf_image *image, const Elf64_Ehdr *head, const Elf64_Shdr *versions, elf_probe *probe) {
  static const char prefix[] = "GLIBC_2.";
  Elf64_Shdr strings;
  Elf64_Verneed library;
  Elf64_Vernaux version;
  uint64_t at = versions->sh_offset;
  if (!section(image, head, versions->sh_link, &strings))
    return;
  for (uint32_t left = versions->sh_info; left && inside(image, at, sizeof library); left--) {
    memcpy(&library, image->bytes + at, sizeof library);
    uint64_t aux = at + library.vn_aux;
    for (uint16_t n = library.vn_cnt; n && inside(image, aux, sizeof version); n--) {
      memcpy(&version, image->bytes + aux, sizeof version);
      const char *name = string_at(image, &strings, version.vna_name);
      const int minor = strncmp(name, prefix, sizeof prefix - 1) ? 0 : atoi(name + sizeof prefix - 1);
      probe->glibc_minor = minor > probe->glibc_minor ? minor : probe->glibc_minor;
      aux += version.vna_next;
    }
    at += library.vn_next;
  }
}

static void read_loader(const elf_image *image, const Elf64_Ehdr *head, elf_probe *probe) {
  Elf64_Phdr each;
  for (uint64_t i = 0; i < head->e_phnum && head->e_phoff <= image->size && head->e_phentsize == sizeof each; i++) {
    if (!inside(image, head->e_phoff + i * sizeof each, sizeof each))
      return;
    memcpy(&each, image->bytes + head->e_phoff + i * sizeof each, sizeof each);
    if (each.p_type == PT_INTERP && each.p_filesz < sizeof probe->loader && inside(image, each.p_offset, each.p_filesz))
      memcpy(probe->loader, image->bytes + each.p_offset, each.p_filesz);
  }
}

static void read_sections(const elf_image *image, const Elf64_Ehdr *head, elf_probe *probe) {
  Elf64_Shdr names, each;
  if (!section(image, head, head->e_shstrndx, &names))
    return;
  for (uint64_t i = 0; section(image, head, i, &each); i++) {
    const char *name = string_at(image, &names, each.sh_name);
    if (!strcmp(name, ".nv_fatbin") || !strcmp(name, "__nv_relfatbin"))
      probe->device_code = true;
    probe->symbols = probe->symbols || each.sh_type == SHT_SYMTAB;
    if (each.sh_type == SHT_GNU_verneed)
      read_versions(image, head, &each, probe);
    if (each.sh_type == SHT_DYNAMIC) {
      probe->static_link = false;
      read_needed(image, head, &each, probe);
    }
  }
}

static elf_probe probe_image(const elf_image *image) {
  static const char registrar[] = "ink_register_module";
  elf_probe probe = {0};
  Elf64_Ehdr head;
  if (image->size < sizeof head)
    return (elf_probe){0};
  memcpy(&head, image->bytes, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG))
    return (elf_probe){0};
  const bool little = head.e_ident[EI_DATA] == ELFDATA2LSB;
  probe.machine = little ? head.e_machine : __builtin_bswap16(head.e_machine);
  probe.bits_32 = head.e_ident[EI_CLASS] == ELFCLASS32;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || !little || head.e_shentsize != sizeof(Elf64_Shdr))
    return (elf_probe){.machine = probe.machine, .bits_32 = probe.bits_32};
  probe.elf = true;
  read_loader(image, &head, &probe);
  probe.static_link = !*probe.loader;
  read_sections(image, &head, &probe);
  probe.marks = memmem(image->bytes, image->size, registrar, sizeof registrar - 1) != NULL;
  return probe;
}

static bool map(const char *path, elf_image *image) {
  struct stat status;
  void *bytes = MAP_FAILED;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size > 0)
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (bytes == MAP_FAILED)
    return false;
  *image = (elf_image){bytes, (uint64_t)status.st_size};
  return true;
}

elf_probe elf_probe_file(const char *path) {
  elf_probe probe = {0};
  elf_image image;
  if (map(path, &image)) {
    probe = probe_image(&image);
    munmap((void *)image.bytes, image.size);
  }
  return probe;
}

unsigned elf_machine_here(void) { return elf_probe_file("/proc/self/exe").machine; }

/* "ld.so (Debian GLIBC 2.36-9) stable release version 2.36." */
int elf_glibc_of_loader(const char *path) {
  static const char before[] = "release version 2.";
  elf_image image;
  int minor = 0;
  if (!map(path, &image))
    return 0;
  const unsigned char *at = memmem(image.bytes, image.size, before, sizeof before - 1);
  const unsigned char *end = image.bytes + image.size;
  for (at = at ? at + sizeof before - 1 : end; at < end && *at >= '0' && *at <= '9' && minor < 1000; at++)
    minor = minor * 10 + (*at - '0');
  munmap((void *)image.bytes, image.size);
  return minor;
}
