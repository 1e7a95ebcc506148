/* SPDX-License-Identifier: MIT */
/* Reads sections and DT_NEEDED of an ELF file; every offset is checked against the file's size. */
#include "elf_probe.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
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
    if (each.sh_type == SHT_DYNAMIC) {
      probe->static_link = false;
      read_needed(image, head, &each, probe);
    }
  }
}

static elf_probe probe_image(const elf_image *image) {
  static const char registrar[] = "ink_register_module";
  elf_probe probe = {.static_link = true};
  Elf64_Ehdr head;
  if (image->size < sizeof head)
    return (elf_probe){0};
  memcpy(&head, image->bytes, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_shentsize != sizeof(Elf64_Shdr))
    return (elf_probe){0};
  probe.elf = true;
  read_sections(image, &head, &probe);
  probe.marks = memmem(image->bytes, image->size, registrar, sizeof registrar - 1) != NULL;
  return probe;
}

elf_probe elf_probe_file(const char *path) {
  elf_probe probe = {0};
  struct stat status;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return probe;
  if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED) {
      probe = probe_image(&(elf_image){bytes, size});
      munmap(bytes, size);
    }
  }
  close(descriptor);
  return probe;
}
