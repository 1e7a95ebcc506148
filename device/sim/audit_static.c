/* SPDX-License-Identifier: MIT */
/* Programs and libraries that have the CUDA runtime linked in, which is nvcc's default: each of its functions that the
 * stand-in has too becomes a jump there. The symbols tell where they are; a runtime without symbols is left as it is,
 * unless a list of offsets is given. Nothing of the runtime's own code runs, so it asks no driver for anything. */
#include "audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { JUMP_BYTES = 14, PATH_BYTES = 512 };

typedef struct entry {
  const char *name;
  uintptr_t at;
} entry;

static struct {
  entry *entries; /* by name */
  size_t count;
  audit_file file; /* stays open: the names are in it */
} stand_in;

typedef struct waiting {
  char *path;
  uintptr_t base;
  bool preloaded; /* else the program itself */
  struct waiting *next;
} waiting;

static waiting *queue; /* mapped before the stand-in was */

/* ---- the stand-in ---- */

static bool is_runtime_name(const char *name) {
  return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6);
}

static int compare(const void *a, const void *b) {
  return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* What is preloaded in front of the stand-in stands in front of it for programs with a shared runtime too. */
enum { FRONT_MAX = 64 };
static entry front[FRONT_MAX];
static size_t front_count;

static void take_front(const char *path, uintptr_t base) {
  audit_file file; /* stays open: the names are in it */
  audit_symbols symbols;
  if (!audit_file_open(path, &file))
    return;
  if (audit_file_symbols(&file, SHT_DYNSYM, &symbols))
    for (size_t i = 0; i < symbols.count && front_count < FRONT_MAX; i++) {
      const char *name = audit_function(&symbols, i);
      if (name && is_runtime_name(name))
        front[front_count++] = (entry){name, base + symbols.symbols[i].st_value};
    }
}

static uintptr_t find(const char *name) {
  for (size_t i = 0; i < front_count; i++)
    if (!strcmp(front[i].name, name))
      return front[i].at;
  const entry key = {name, 0};
  const entry *found = bsearch(&key, stand_in.entries, stand_in.count, sizeof key, compare);
  return found ? found->at : 0;
}

void audit_static_target(const char *path, uintptr_t base) {
  audit_symbols symbols;
  if (stand_in.count || !audit_file_open(path, &stand_in.file))
    return;
  if (!audit_file_symbols(&stand_in.file, SHT_DYNSYM, &symbols) ||
      !(stand_in.entries = calloc(symbols.count, sizeof *stand_in.entries)))
    return;
  for (size_t i = 0; i < symbols.count; i++) {
    const char *name = audit_function(&symbols, i);
    if (name && is_runtime_name(name))
      stand_in.entries[stand_in.count++] = (entry){name, base + symbols.symbols[i].st_value};
  }
  qsort(stand_in.entries, stand_in.count, sizeof *stand_in.entries, compare);
  for (const waiting *at = queue; at; at = at->next)
    if (at->preloaded)
      take_front(at->path, at->base);
  while (queue) {
    waiting *first = queue;
    queue = first->next;
    audit_static_object(first->path, first->base);
    free(first->path);
    free(first);
  }
}

/* ---- an object ---- */

#if defined(__x86_64__)
static void jump(uintptr_t at, uintptr_t to) {
  unsigned char code[JUMP_BYTES] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip), and the address */
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = at & ~(page - 1);
  const size_t bytes = at + JUMP_BYTES - first;
  memcpy(code + 6, &to, sizeof to);
  if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
    return;
  memcpy((void *)at, code, sizeof code);
  mprotect((void *)first, bytes, PROT_READ | PROT_EXEC);
}
static const bool can_jump = true;
#else
static void jump(uintptr_t at, uintptr_t to) { (void)at, (void)to; }
static const bool can_jump = false;
#endif

bool audit_jump(uintptr_t at, uint64_t bytes, uintptr_t to) {
  if (!can_jump || bytes < JUMP_BYTES)
    return false;
  jump(at, to);
  return true;
}

/* A program may define a function of the runtime's itself, to stand in front of a shared one. Nobody but a runtime
 * has what nvcc's start-up code calls. */
static bool has_runtime(const audit_symbols *symbols, bool *older) {
  bool has = false;
  for (size_t i = 0; i < symbols->count; i++) {
    const char *name = audit_function(symbols, i);
    if (!name || !is_runtime_name(name))
      continue;
    has = has || !strcmp(name, "__cudaRegisterFatBinary");
    *older = *older || !strcmp(name, "cudaGetDeviceProperties_v2"); /* of CUDA 12 */
  }
  return has;
}

/* Entries that are too small for a jump do nothing but call another one. */
static void redirect(const audit_symbols *symbols, uintptr_t base) {
  for (size_t i = 0; i < symbols->count; i++) {
    const char *name = audit_function(symbols, i);
    const uintptr_t to = name && is_runtime_name(name) ? find(name) : 0;
    if (to)
      audit_jump(base + symbols->symbols[i].st_value, symbols->symbols[i].st_size, to);
  }
}

/* INKMARK_SIM_OFFSETS names a file of lines "OBJECT NAME OFFSET": the object by its file's name, the offset in hex. */
static bool redirect_listed(const char *path, uintptr_t base) {
  const char *list = secure_getenv("INKMARK_SIM_OFFSETS"), *slash = strrchr(path, '/');
  FILE *file = list && *list && slash ? fopen(list, "re") : NULL;
  char object[256], name[128];
  unsigned long offset;
  bool any = false;
  if (!file)
    return false;
  while (fscanf(file, "%255s %127s %lx", object, name, &offset) == 3) {
    const uintptr_t to = !strcmp(object, slash + 1) ? find(name) : 0;
    if (to)
      jump(base + offset, to);
    any = any || to;
  }
  fclose(file);
  return any;
}

/* Without symbols: device code, no shared runtime, and the words of the runtime's errors. */
static bool has_nameless_runtime(const audit_file *file) {
  static const char word[] = "cudaErrorSoftwareValidityNotEstablished";
  size_t bytes;
  if (!audit_file_section(file, ".nv_fatbin", &bytes) && !audit_file_section(file, ".nvFatBinSegment", &bytes))
    return false;
  const unsigned char *constants = audit_file_section(file, ".rodata", &bytes);
  return constants && memmem(constants, bytes, word, sizeof word - 1);
}

static void look(const char *path, uintptr_t base, const audit_file *file) {
  audit_symbols symbols;
  bool older = false;
  char own[PATH_BYTES];
  const ssize_t n = strcmp(path, "/proc/self/exe") ? -1 : readlink(path, own, sizeof own - 1);
  if (n > 0) {
    own[n] = 0;
    path = own;
  }
  if (!audit_file_symbols(file, SHT_SYMTAB, &symbols) || !symbols.count) {
    if (has_nameless_runtime(file) && !redirect_listed(path, base))
      audit_say("'%s' has the CUDA runtime inside and no symbols, so it cannot be given the simulated device: build "
                "it with nvcc -cudart shared, or do not strip it", path);
  } else if (has_runtime(&symbols, &older)) {
    if (older)
      audit_say("'%s' has the CUDA runtime of an older version inside, and the simulated device stands in for CUDA "
                "13's: build it with CUDA 13", path);
    else if (!can_jump)
      audit_say("'%s' has the CUDA runtime inside, which is given the simulated device on x86-64 only: build it with "
                "nvcc -cudart shared", path);
    else
      redirect(&symbols, base);
  }
}

void audit_static_object(const char *path, uintptr_t base) {
  audit_file file;
  if (stand_in.count) {
    if (audit_file_open(path, &file)) {
      look(path, base, &file);
      audit_file_close(&file);
    }
    return;
  }
  waiting *made = calloc(1, sizeof *made);
  if (made && (made->path = strdup(path))) {
    made->base = base;
    made->preloaded = strcmp(path, "/proc/self/exe") != 0;
    made->next = queue;
    queue = made;
  } else {
    free(made);
  }
}
