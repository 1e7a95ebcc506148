/* SPDX-License-Identifier: MIT */
/* What the files of libinkmark-sim-audit.so share: a library for LD_AUDIT, which the loader asks about each object
 * that it maps, before the object's constructors run. It lets programs run on the simulated device that would not
 * reach it: those that have the CUDA runtime inside, and those that compile to machine code at run time. It lives in
 * a namespace of its own, with a C library of its own. */
#ifndef INKMARK_SIM_AUDIT_H
#define INKMARK_SIM_AUDIT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An ELF file in memory; every offset in it is checked. */
typedef struct audit_file {
  const unsigned char *bytes;
  size_t size;
} audit_file;

typedef struct audit_symbols {
  const Elf64_Sym *symbols;
  size_t count;
  const char *names;
  size_t names_bytes;
} audit_symbols;

bool audit_file_open(const char *path, audit_file *file);
void audit_file_close(audit_file *file);
/* SHT_SYMTAB or SHT_DYNSYM; false: it has none. */
bool audit_file_symbols(const audit_file *file, uint32_t type, audit_symbols *out);
/* A section's bytes; NULL: none of that name. */
const unsigned char *audit_file_section(const audit_file *file, const char *name, size_t *bytes);
/* A defined function's name, or NULL: not one. */
const char *audit_function(const audit_symbols *symbols, size_t index);

/* A line on stderr, `inkmark-sim: ...`. */
void audit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- static runtimes (audit_static.c) ---- */

/* The stand-in is mapped: what it exports. */
void audit_static_target(const char *path, uintptr_t base);
/* Any other object: its CUDA runtime, if it has one inside, is redirected now, or when the stand-in comes. */
void audit_static_object(const char *path, uintptr_t base);

/* Whoever calls the function at `at`, of so many bytes, comes to `to` from here on. False: it has no room for a jump, or
 * this processor's is not known. */
bool audit_jump(uintptr_t at, uint64_t bytes, uintptr_t to);

/* ---- compilers (audit_compilers.c) ---- */

/* True: it is one, whose functions are to be shown to audit_compiler_bind. */
bool audit_compiler_object(const char *path, uintptr_t base);
/* The function that a caller gets for one of a compiler's. */
uintptr_t audit_compiler_bind(const char *name, uintptr_t found);

#endif
