/* SPDX-License-Identifier: MIT */
/* Looks for two things in a module's image: the name of the buffer symbol, and the text that each PROF_SECTIONS
 * leaves there. Machine code has the text's bytes, PTX its numbers. An image comes from the program, and may be
 * anything that a driver refuses: every offset is checked where a size is known. */
#include "cuda/module_scan.h"

#include "inkmark/record.h"
#include "merge/read/unpack.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = INK_TABLE_TEXT_MAGIC, any_magic[] = INK_TABLE_TEXT_ANY;
enum { ANY_BYTES = sizeof any_magic - 1, VERSION_DIGITS_MOST = 9 };
static const char symbol[] = INK_BUFFER_SYMBOL_TEXT, table_symbol[] = "ink_table_text";

#define FATBIN_WRAPPER 0x466243b1u
#define FATBIN_CONTAINER 0xba55ed50u

typedef struct fatbin_head { /* as nvcc and nvFatbin write it */
  uint32_t magic;
  uint16_t version, head_bytes;
  uint64_t bytes; /* behind the head */
} fatbin_head;

typedef struct fatbin_entry {
  uint16_t kind, version;
  uint32_t head_bytes;
  uint64_t bytes; /* behind the head, padded */
} fatbin_entry;

typedef struct scan {
  ink_i_scan result;
  ink_i_table_fn *found;
  void *user;
} scan;

/* ---- one table: the magic and four strings, each with its NUL ---- */

/* The bytes of a magic of any device layout; 0: there is none. */
static size_t magic_bytes(const char *text, size_t bytes) {
  size_t n = ANY_BYTES;
  if (bytes <= n || memcmp(text, any_magic, n) != 0)
    return 0;
  while (n < bytes && n < ANY_BYTES + VERSION_DIGITS_MOST && text[n] >= '0' && text[n] <= '9')
    n++;
  return n > ANY_BYTES && n < bytes && !text[n] ? n + 1 : 0;
}

static void take_table(scan *s, const char *text, size_t bytes) {
  const size_t head = magic_bytes(text, bytes);
  if (!head)
    return;
  const char *strings[4], *at = text + head, *end = text + bytes;
  for (int i = 0; i < 4; i++) {
    strings[i] = at;
    const char *nul = memchr(at, 0, (size_t)(end - at));
    if (!nul)
      return;
    at = nul + 1;
  }
  if (!*strings[0] || !*strings[1])
    return;
  if (head != sizeof magic || memcmp(text, magic, sizeof magic) != 0) {
    snprintf(s->result.other_layout, sizeof s->result.other_layout, "%s", *strings[2] ? strings[2] : "?");
    return;
  }
  s->result.tables++;
  if (s->found)
    s->found(s->user, strings[0], strings[1], strings[2], (uint32_t)strtoul(strings[3], NULL, 10));
}

static void scan_bytes(scan *s, const char *bytes, size_t n) {
  const char *end = bytes + n;
  s->result.has_marks = s->result.has_marks || memmem(bytes, n, symbol, sizeof symbol - 1);
  for (const char *at = bytes; at < end && (at = memmem(at, (size_t)(end - at), any_magic, ANY_BYTES)); at += ANY_BYTES)
    take_table(s, at, (size_t)(end - at));
}

/* ---- PTX ---- */

/* "= {105, 110, ...}" as bytes; 0: it is not of that form. */
static size_t numbers(const char *at, const char *end, char *out, size_t room) {
  size_t n = 0;
  while (at < end && n < room) {
    char *behind;
    const unsigned long value = strtoul(at, &behind, 10);
    if (behind == at || behind > end || value > 255)
      return 0;
    out[n++] = (char)value;
    at = behind + strspn(behind, ", \t\r\n");
    if (*at == '}')
      return n;
  }
  return 0;
}

static void take_ptx_table(scan *s, const char *at) {
  const char *open = at + strcspn(at, "{;\n"), *end = strchr(open, ';');
  if (*open != '{' || !end)
    return;
  const size_t room = (size_t)(end - open); /* a number is one character or more */
  char *bytes = calloc(room + 1, 1);      /* zeros at the end may be left out */
  const size_t n = bytes ? numbers(open + 1, end, bytes, room) : 0;
  if (n)
    take_table(s, bytes, n + 1);
  free(bytes);
}

/* One search for both names, by what is rare in PTX: "in" is not, and a library's search stops at each. */
static void scan_ptx(scan *s, const char *text) {
  for (const char *at = text; (at = strstr(at, "nk_")); at++) {
    const char *name = at == text ? at : at - 1;
    if (!strncmp(name, symbol, sizeof symbol - 1))
      s->result.has_marks = true;
    else if (!strncmp(name, table_symbol, sizeof table_symbol - 1))
      take_ptx_table(s, name);
  }
}

/* ---- containers ---- */

/* The section headers are an image's last part, but for the program headers. */
static size_t elf_bytes(const void *image) {
  Elf64_Ehdr head;
  memcpy(&head, image, sizeof head);
  const uint64_t sections = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;
  const uint64_t programs = head.e_phoff + (uint64_t)head.e_phnum * head.e_phentsize;
  const uint64_t end = sections > programs ? sections : programs;
  return end > UINT32_MAX ? 0 : (size_t)end;
}

enum { /* of a container's entry */
  KIND_PTX = 1,
  PACKED_BYTES_AT = 16, /* u32, without the padding */
  FLAGS_AT = 40,
  RAW_BYTES_AT = 56,
  ENTRY_BYTES = 64,
  NESTING_MAX = 8 /* the linker puts containers into containers */
};
#define PACKED_ZSTD UINT64_C(0x8000)
#define PACKED UINT64_C(0xb000)
#define RAW_BYTES_MAX (UINT64_C(1) << 28)

static void scan_part(scan *s, uint16_t kind, const char *bytes, size_t n) {
  char *text = kind == KIND_PTX ? malloc(n + 1) : NULL; /* there may be no NUL */
  if (text) {
    memcpy(text, bytes, n);
    text[n] = 0;
    scan_ptx(s, text);
    free(text);
  } else if (kind != KIND_PTX) {
    scan_bytes(s, bytes, n);
  }
}

/* False: it is packed in a way that is not read here, or damaged. */
static bool scan_packed(scan *s, uint16_t kind, const char *packed, uint64_t packed_bytes, uint64_t raw_bytes) {
  ink_status status;
  unpack *stream = raw_bytes > RAW_BYTES_MAX ? NULL : unpack_new(UNPACK_ZSTD, &status);
  unsigned char *raw = stream ? malloc(raw_bytes + 1) : NULL, *out = raw;
  const unsigned char *in = (const unsigned char *)packed;
  size_t left = packed_bytes, room = raw_bytes;
  enum unpacked state = raw ? UNPACK_MORE : UNPACK_NO_MEMORY;
  while (state == UNPACK_MORE && left && room) {
    const size_t before = left + room;
    state = unpack_run(stream, &in, &left, &out, &room);
    if (left + room == before)
      break;
  }
  const bool whole = raw && !room && (state == UNPACK_ENDED || state == UNPACK_MORE);
  if (whole)
    scan_part(s, kind, (const char *)raw, raw_bytes);
  free(raw);
  unpack_free(stream);
  return whole;
}

static void scan_entry(scan *s, const fatbin_entry *entry, const char *at) {
  uint32_t packed_bytes;
  uint64_t flags, raw_bytes;
  memcpy(&packed_bytes, at + PACKED_BYTES_AT, sizeof packed_bytes);
  memcpy(&flags, at + FLAGS_AT, sizeof flags);
  memcpy(&raw_bytes, at + RAW_BYTES_AT, sizeof raw_bytes);
  const char *bytes = at + entry->head_bytes;
  if (!(flags & PACKED))
    scan_part(s, entry->kind, bytes, entry->bytes);
  else if ((flags & PACKED) != PACKED_ZSTD || packed_bytes > entry->bytes ||
           !scan_packed(s, entry->kind, bytes, packed_bytes, raw_bytes))
    s->result.compressed = true;
}

/* `limit` 0: as long as it says itself. How many bytes it has; 0: it is none. */
static size_t scan_container(scan *s, const char *image, size_t limit, int depth) {
  fatbin_head head;
  if (limit && limit < sizeof head)
    return 0;
  memcpy(&head, image, sizeof head);
  if (depth > NESTING_MAX || head.magic != FATBIN_CONTAINER || head.head_bytes < sizeof head ||
      (limit && (head.head_bytes > limit || head.bytes > limit - head.head_bytes)))
    return 0;
  const char *at = image + head.head_bytes, *end = at + head.bytes;
  while ((size_t)(end - at) >= sizeof(fatbin_head)) {
    const size_t left = (size_t)(end - at), inner = scan_container(s, at, left, depth + 1);
    fatbin_entry entry;
    memcpy(&entry, at, sizeof entry);
    if (!inner && (left < ENTRY_BYTES || entry.head_bytes < ENTRY_BYTES || entry.head_bytes > left ||
                   entry.bytes > left - entry.head_bytes))
      break;
    if (!inner)
      scan_entry(s, &entry, at);
    at += inner ? inner : entry.head_bytes + entry.bytes;
  }
  return head.head_bytes + head.bytes;
}

/* One text or several, with or without a NUL at the end. */
static void scan_texts(scan *s, const char *image, size_t bytes) {
  char *copy = calloc(bytes + 1, 1);
  if (!copy)
    return;
  memcpy(copy, image, bytes);
  for (const char *at = copy; at < copy + bytes; at += strlen(at) + 1)
    scan_ptx(s, at);
  free(copy);
}

static void scan_any(scan *s, const void *image, size_t bytes) {
  uint32_t first;
  memcpy(&first, image, sizeof first);
  if (first == FATBIN_WRAPPER) {
    const void *data;
    memcpy(&data, (const char *)image + 8, sizeof data);
    if (data)
      scan_container(s, data, 0, 0);
  } else if (first == FATBIN_CONTAINER) {
    scan_container(s, image, bytes, 0);
  } else if (!memcmp(image, ELFMAG, SELFMAG)) {
    const size_t whole = elf_bytes(image);
    scan_bytes(s, image, bytes && bytes < whole ? bytes : whole);
  } else if (bytes) {
    scan_texts(s, image, bytes);
  } else {
    scan_ptx(s, image);
  }
}

bool ink_i_is_linked_in(const void *image) {
  uint32_t first;
  Dl_info info;
  if (!image)
    return false;
  memcpy(&first, image, sizeof first);
  return (first == FATBIN_WRAPPER || first == FATBIN_CONTAINER) && dladdr(image, &info);
}

ink_i_scan ink_i_scan_image(const void *image, size_t bytes, ink_i_table_fn *found, void *user) {
  scan s = {.found = found, .user = user};
  if (image && (!bytes || bytes >= 64))
    scan_any(&s, image, bytes);
  return s.result;
}

void ink_i_file_map(const char *path, ink_i_file *file) {
  struct stat status;
  void *bytes = MAP_FAILED;
  const int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (descriptor >= 0 && !fstat(descriptor, &status) && status.st_size > 0)
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (descriptor >= 0)
    close(descriptor);
  *file = bytes == MAP_FAILED ? (ink_i_file){NULL, 0} : (ink_i_file){bytes, (size_t)status.st_size};
}

void ink_i_file_unmap(ink_i_file *file) {
  if (file->bytes)
    munmap(file->bytes, file->size);
}
