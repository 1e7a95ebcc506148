/* SPDX-License-Identifier: MIT */
/* The section tables inside of modules: in PTX, in machine code, in fat binaries; and images that are cut, changed or
 * nothing of the kind. */
#include "check.h"
#include "cuda/module_scan.h"
#include "inkmark/record.h"
#include "number_text.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static char seen[4096];

static void note(void *user, const char *name, const char *sections, const char *file, uint32_t line) {
  (void)user;
  const size_t n = strlen(seen);
  snprintf(seen + n, sizeof seen - n, "%s(%s) %s:%u;", name, sections, file, line);
}

static ink_i_scan scan(const void *image, size_t bytes) {
  seen[0] = 0;
  return ink_i_scan_image(image, bytes, note, NULL);
}

/* The bytes of one table, with the NUL behind the line. */
static size_t table(char *out, const char *name, const char *sections) {
  size_t n = sizeof INK_TABLE_TEXT_MAGIC;
  memcpy(out, INK_TABLE_TEXT_MAGIC, n);
  const char *const parts[] = {name, sections, "a.cu", "7"};
  for (int i = 0; i < 4; i++) {
    memcpy(out + n, parts[i], strlen(parts[i]) + 1);
    n += strlen(parts[i]) + 1;
  }
  return n;
}

/* As NVRTC writes it: the last zeros of an array are left out. */
static void append_ptx(char *out, size_t room, const char *name, const char *sections) {
  char bytes[512];
  const size_t n = table(bytes, name, sections);
  size_t at = strlen(out);
  at += (size_t)snprintf(out + at, room - at, ".global .align 1 .b8 _ZN1a14ink_table_textE[%zu] = {", n);
  for (size_t i = 0; i + 1 < n; i++)
    at += (size_t)snprintf(out + at, room - at, "%s%d", i ? ", " : "", bytes[i]);
  snprintf(out + at, room - at, "};\n");
}

static void ptx(void) {
  char text[8192] = ".version 9.0\n.target sm_75\n.global .align 8 .u64 ink_current_5;\n";
  append_ptx(text, sizeof text, "Core", "Step, Load");
  append_ptx(text, sizeof text, "Other", "Square");
  const ink_i_scan found = scan(text, 0);
  CHECK(found.has_marks && found.tables == 2, "%u tables", found.tables);
  CHECK(!strcmp(seen, "Core(Step, Load) a.cu:7;Other(Square) a.cu:7;"), "%s", seen);
  /* without a NUL, as a file is mapped */
  const size_t n = strlen(text);
  char *exact = malloc(n);
  memcpy(exact, text, n);
  CHECK(scan(exact, n).tables == 2, "with a length");
  for (size_t cut = 1; cut < n; cut++) { /* cut anywhere: nothing is read beyond */
    char *part = malloc(cut + 1);
    memcpy(part, text, cut);
    CHECK(scan(part, cut).tables <= 2, "cut at %zu", cut);
    free(part);
  }
  free(exact);
  CHECK(!scan(".version 9.0\n.target sm_75\n.visible .entry k() { ret; }\n", 0).has_marks, "PTX without marks");
  const char *const odd[] = {"ink_table_text", "ink_table_text[3] = {1, 2", "ink_table_text[1] = {300};",
                             "ink_table_text[1] = {a};", "ink_table_text = {", "ink_table_text[2] = {};"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    CHECK(scan(odd[i], 0).tables == 0, "'%s'", odd[i]);
}

/* A table of another device layout: its file is named, and no table is taken. */
static void other_layouts(void) {
  static const char *const magics[] = {"inkmark table 1", "inkmark table 4", "inkmark table 50", "inkmark table 123456789"};
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
    char image[512];
    Elf64_Ehdr head = {.e_ident = ELFMAG};
    size_t n = sizeof head;
    memcpy(image + n, "ink_current", 12);
    n += 12;
    memcpy(image + n, magics[i], strlen(magics[i]) + 1);
    n += strlen(magics[i]) + 1;
    memcpy(image + n, "Core\0Step\0old.cu\0" "7", 19);
    n += 19;
    head.e_shoff = n;
    memcpy(image, &head, sizeof head);
    const ink_i_scan found = scan(image, 0);
    CHECK(!found.has_marks && !found.tables && !strcmp(found.other_layout, "old.cu"), "%s: %u tables, '%s'", magics[i],
          found.tables, found.other_layout);
  }
  char text[8192] = ".version 9.0\n.target sm_75\n.global .align 8 .u64 ink_current_5;\n";
  append_ptx(text, sizeof text, "Core", "Step");
  char *digit = strstr(text, ", 53, 0, "); /* "5" and its NUL */
  CHECK(digit && !scan(text, 0).other_layout[0], "the layout of today");
  if (digit)
    memcpy(digit, ", 49", 4);
  const ink_i_scan old = scan(text, 0);
  CHECK(!old.tables && !strcmp(old.other_layout, "a.cu"), "PTX: %u tables, '%s'", old.tables, old.other_layout);
  char number[16];
  ink_i_print(number, sizeof number, "_%u", INK_LAYOUT_VERSION);
  CHECK(strstr(INK_BUFFER_SYMBOL_TEXT, number) && !strcmp(&INK_TABLE_TEXT_MAGIC[strlen(INK_TABLE_TEXT_ANY)], number + 1),
        "'%s' and '%s' of layout%s", INK_BUFFER_SYMBOL_TEXT, INK_TABLE_TEXT_MAGIC, number);
  static const char none[] = "ink_current inkmark table 5x inkmark table inkmark table 1";
  char elf[512] = {0};
  Elf64_Ehdr head = {.e_ident = ELFMAG, .e_shoff = sizeof head + sizeof none};
  memcpy(elf, &head, sizeof head);
  memcpy(elf + sizeof head, none, sizeof none);
  const ink_i_scan odd = scan(elf, 0);
  CHECK(!odd.tables && !odd.other_layout[0], "no table: %u, '%s'", odd.tables, odd.other_layout);
}

/* An ELF file of a header and a table; its end is what the header says. */
static size_t elf(char *out) {
  Elf64_Ehdr head = {.e_ident = ELFMAG};
  size_t n = sizeof head;
  memcpy(out + n, INK_BUFFER_SYMBOL_TEXT, sizeof INK_BUFFER_SYMBOL_TEXT);
  n += sizeof INK_BUFFER_SYMBOL_TEXT;
  n += table(out + n, "Core", "Step");
  head.e_shoff = n;
  memcpy(out, &head, sizeof head);
  return n;
}

static void machine_code(void) {
  char image[1024];
  const size_t n = elf(image);
  CHECK(scan(image, 0).has_marks && !strcmp(seen, "Core(Step) a.cu:7;"), "%s", seen);
  for (size_t cut = sizeof(Elf64_Ehdr); cut < n; cut++) {
    char *part = malloc(cut);
    memcpy(part, image, cut);
    CHECK(scan(part, cut).tables == 0, "cut at %zu", cut);
    free(part);
  }
}

/* A container of two entries, PTX and machine code; `flags` of the second. */
static size_t container(char *out, uint64_t flags) {
  char text[2048] = INK_BUFFER_SYMBOL_TEXT " ";
  append_ptx(text, sizeof text, "Text", "A");
  char code[1024];
  const size_t code_bytes = elf(code), text_bytes = strlen(text);
  const size_t all = 2 * 64 + text_bytes + code_bytes;
  char *at = out;
  const uint32_t head[4] = {0xba55ed50u, 1u | 16u << 16, (uint32_t)all, 0};
  memcpy(at, head, sizeof head);
  at += sizeof head;
  for (int i = 0; i < 2; i++) {
    const uint64_t bytes = i ? code_bytes : text_bytes;
    const uint32_t start[2] = {i ? 2u : 1u, 64};
    memset(at, 0, 64);
    memcpy(at, start, sizeof start);
    memcpy(at + 8, &bytes, sizeof bytes);
    if (i)
      memcpy(at + 40, &flags, sizeof flags);
    memcpy(at + 64, i ? code : text, bytes);
    at += 64 + bytes;
  }
  return (size_t)(at - out);
}

static void fat_binary(void) {
  char image[8192];
  size_t n = container(image, 0);
  CHECK(scan(image, 0).tables == 2 && !strcmp(seen, "Text(A) a.cu:7;Core(Step) a.cu:7;"), "%s", seen);
  const struct {
    uint32_t magic, version;
    const void *data, *more;
  } wrapper = {0x466243b1u, 1, image, NULL};
  CHECK(scan(&wrapper, 0).tables == 2, "a wrapper");
  n = container(image, 0x2000); /* LZ4, which is not read */
  const ink_i_scan found = scan(image, n);
  CHECK(found.compressed && found.tables == 1, "a compressed entry is told, the others are read");
  for (size_t cut = 64; cut < n; cut++) {
    char *part = malloc(cut);
    memcpy(part, image, cut);
    scan(part, cut);
    free(part);
  }
}

/* Bytes changed at random; what is read lies inside, which the sanitizer watches. */
static void changed(void) {
  char image[8192];
  uint32_t random = 12345;
  for (int round = 0; round < 20000; round++) {
    size_t n = round % 2 ? container(image, 0) : elf(image);
    for (int i = 0; i < 3; i++) {
      random = random * 1664525u + 1013904223u;
      image[random % n] = (char)(random >> 24);
    }
    char *exact = malloc(n);
    memcpy(exact, image, n);
    scan(exact, n);
    free(exact);
  }
}

int main(void) {
  ptx();
  other_layouts();
  machine_code();
  fat_binary();
  changed();
  return check_result("module_scan");
}
