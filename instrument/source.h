/* SPDX-License-Identifier: MIT */
/* One source file as text: its tokens, its preprocessor conditionals, and where macros are used. */
#ifndef INKMARK_SOURCE_H
#define INKMARK_SOURCE_H

#include "edits.h"

#include <clang-c/Index.h>

typedef struct ink_token {
  uint32_t start, end;
  unsigned char kind; /* enum CXTokenKind */
  bool directive;     /* part of a preprocessor directive */
} ink_token;

typedef struct ink_span {
  uint32_t start, end;
} ink_span;

typedef struct ink_macro_use {
  uint32_t start, end;
  CXCursor cursor; /* the expansion */
} ink_macro_use;

typedef struct ink_region { /* from here on, the text is in branch `id` of the conditionals */
  uint32_t start, id, depth;
} ink_region;

typedef struct ink_source {
  CXFile file;
  char *path;  /* absolute */
  char *shown; /* as the compiler shows it */
  ink_bytes text;
  bool is_main, is_project;
  bool is_joined; /* outside of the root, but all kernels are there */
  bool is_forced; /* brought in with -include */
  bool is_marked_already;
  unsigned kernels_outside; /* kernels in a file that is not the project's */
  ink_edits edits;
  struct {
    ink_token *items;
    size_t count, room;
  } tokens;
  struct {
    ink_region *items;
    size_t count, room;
  } regions;
  struct {
    ink_macro_use *items;
    size_t count, room;
  } macros;
  struct {
    ink_span *items;
    size_t count, room;
  } skipped;
} ink_source;

/* What libclang says of a file of the parse, found once: it looks through all that was included and expanded for it. */
typedef struct ink_file_facts {
  CXFile file;
  CXSourceLocation start;
  const char *text; /* [bytes]; NULL: there is none */
  size_t bytes;
  bool has_start, has_text;
} ink_file_facts;
const char *ink_file_text(CXTranslationUnit tu, CXFile file, size_t *bytes);
CXSourceLocation ink_file_start(CXTranslationUnit tu, CXFile file);
void ink_file_forget(void); /* before a unit is disposed of */
/* Fills tokens and regions. False when memory ran out. */
bool ink_source_lex(ink_source *source, CXTranslationUnit unit);
void ink_source_free(ink_source *source);

void ink_source_position(const ink_source *source, uint32_t offset, uint32_t *line,
                         uint32_t *column);
/* The index of the first token that starts at or after `offset`; tokens.count when none does. */
size_t ink_source_token_at(const ink_source *source, uint32_t offset);
bool ink_source_token_is(const ink_source *source, size_t index, const char *text);
/* The next token from `index` on that is neither comment nor part of a directive. */
size_t ink_source_skip(const ink_source *source, size_t index);
/* The index of the `)` that matches the `(` at index `open`; tokens.count when there is none. */
size_t ink_source_match(const ink_source *source, size_t open);
/* Text may be put here: not inside of the use of a macro nor of a directive. */
bool ink_source_free_at(const ink_source *source, uint32_t offset);
/* Both places are in the same branch of the conditionals, and those between them are whole. */
bool ink_source_same_branch(const ink_source *source, uint32_t a, uint32_t b);
/* macros.c */
typedef bool ink_macro_fn(CXCursor definition, void *data); /* false: enough */
/* Every definition of the macro in the file and what it includes. */
void ink_macro_definitions(CXTranslationUnit tu, const char *name, ink_macro_fn *fn, void *data);

#endif
