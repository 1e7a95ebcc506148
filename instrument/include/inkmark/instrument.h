/* SPDX-License-Identifier: MIT */
/* The rewriter: puts marks into CUDA source text without moving anything else.
 *
 * A run parses one source file with libclang in a process of its own, under a time limit, decides
 * where marks go, and returns the marked text of the file and, where asked, of the project's headers
 * that it includes. Nothing is written to disk but in the folder `cache`, and nothing is printed.
 * All functions may be called from several threads; a result may be read by several threads. */
#ifndef INKMARK_INSTRUMENT_H
#define INKMARK_INSTRUMENT_H

#include "inkmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ink_place_kind {
  INK_PLACE_KERNEL,
  INK_PLACE_CALL,
  INK_PLACE_LOOP,
  INK_PLACE_WAIT,
  INK_PLACE_DIRECTIVE, /* a `// prof:` comment */
  INK_PLACE_HAND,      /* a mark that the user wrote */
  INK_PLACE_LINE,      /* a statement, where a kernel is marked line by line */
  INK_PLACE_ROLE,      /* a branch by warp that holds work of the kernel: the name of its warps' tracks */
  INK_PLACE_CONTEXT,   /* a function with marks that kernels call, which gets their context */
  INK_PLACE_SETUP,     /* statements of small calls outside of loops, in one range */
} ink_place_kind;

typedef enum ink_place_state {
  INK_PLACE_MARKED,
  INK_PLACE_LEFT,      /* a rule chose it and it could not be marked: `reason` says why */
  INK_PLACE_NOT_ASKED, /* no rule in force chose it: `reason` says which one would */
  INK_PLACE_ERROR,     /* a directive that cannot be followed */
} ink_place_state;

typedef struct ink_place {
  ink_place_kind kind;
  ink_place_state state;
  uint32_t line, column; /* from 1; columns count bytes */
  uint32_t end_line, end_column; /* behind the last statement of INK_PLACE_SETUP; else 0 */
  const char *file;      /* as the compiler shows it */
  const char *function;  /* the function that it lies in */
  const char *name;      /* what stands there: the callee, `for`, `__syncthreads` */
  const char *section;   /* the identifier of its section; "" where it has none */
  const char *held;      /* "x, y": the values that the mark holds; "" for none */
  const char *reason;    /* "" where marked */
} ink_place;

typedef struct ink_remark {
  uint32_t line, column;
  const char *file;
  const char *text; /* lower case, no full stop */
} ink_remark;

typedef struct ink_marked_file {
  const char *path;  /* absolute */
  const char *shown; /* as the compiler shows it: what #line names */
  const char *text;  /* [bytes], not terminated */
  size_t bytes;
  uint32_t marks; /* insertions; 0: the text is unchanged but for the #line at its top */
} ink_marked_file;

typedef enum ink_hold { INK_HOLD_NONE, INK_HOLD_AUTO, INK_HOLD_STRICT } ink_hold;

/* A kernel that gets fewer marks than the rules give it, with the functions that it calls, or fewer registers. */
typedef enum ink_guard_level {
  INK_GUARD_ALL,     /* all marks */
  INK_GUARD_OUTSIDE, /* none in called functions, nothing held, and in loops the waits alone, as rows */
  INK_GUARD_APART,   /* none in loops, and no register is kept for those outside of them */
  INK_GUARD_TRACK,   /* its track alone, for which no register is kept */
  INK_GUARD_NONE     /* none */
} ink_guard_level;
typedef struct ink_guarded {
  const char *kernel; /* its name, without namespaces */
  ink_guard_level level;
  unsigned registers; /* the compiler may give it so many at most; 0: as many as it takes */
  bool skipped;       /* its body returns at once: the text is to measure other kernels */
} ink_guarded;

typedef struct ink_parse ink_parse; /* a source as it was parsed, in a process of its own */

typedef struct ink_instrument_options {
  size_t size;                /* sizeof(ink_instrument_options) */
  const char *source;         /* path of the source file */
  const char *const *flags;   /* [flag_count] nvcc's flags; what the parse does not need is ignored */
  size_t flag_count;
  const char *root;           /* files below it are the project's; NULL: guessed from `source` */
  const char *device_include; /* the folder that holds inkmark/mark.cuh */
  const char *cuda;           /* the toolkit's folder; NULL: none, the header-less parse is used */
  const char *kernels;        /* POSIX extended regular expression, or NULL for every kernel */
  const char *exclude;        /* kernels and functions to leave alone, or NULL */
  const char *calls_like;     /* calls whose function's name matches, or NULL */
  bool calls, loops, waits;   /* all of that kind, instead of the default's choice */
  bool lines;                 /* every statement of the one chosen kernel, nothing else */
  bool kernels_only;          /* the default chooses kernels alone */
  unsigned depth;             /* how many calls deep from a kernel functions are marked; 0: 1 */
  unsigned limit;             /* most marks in one kernel; 0: 256 */
  ink_hold hold;
  bool headers;        /* mark the project's headers too, and return them all */
  double parse_seconds; /* processor time of the full parse at most; 0: 60 */
  const ink_guarded *guarded; /* [guarded_count], or NULL */
  size_t guarded_count;
  const volatile int *stop; /* NULL, or what a signal handler may set: a run that sees it not 0 ends */
  bool rows;                /* a row for each pass of an outermost loop, however many */
  const char *cache; /* a folder in which the parse of the toolkit's headers is kept for further runs; NULL: it is not kept */
  ink_parse **parse; /* NULL; or where a run may leave its parse, at first NULL: a further run with the same options but for
                      * `guarded` then does not parse again */
} ink_instrument_options;

typedef struct ink_instrumented ink_instrumented;

/* INK_ERROR_NOT_FOUND: the source cannot be read. INK_ERROR_FORMAT: neither parse came to an end.
 * INK_ERROR_STOPPED: *stop was set.
 * On success *out is the caller's, to be freed by ink_instrumented_free. */
INK_API ink_status ink_instrument_run(const ink_instrument_options *options, ink_instrumented **out,
                                      ink_error *error);
INK_API void ink_parse_end(ink_parse *parse); /* NULL is fine */
INK_API void ink_instrumented_free(ink_instrumented *result); /* NULL is fine */

/* The first file is the source itself. */
INK_API size_t ink_instrumented_files(const ink_instrumented *result, const ink_marked_file **out);
/* In the order of file and offset. */
INK_API size_t ink_instrumented_places(const ink_instrumented *result, const ink_place **out);
INK_API size_t ink_instrumented_remarks(const ink_instrumented *result, const ink_remark **out);
/* How many errors the parse found in the source and the headers of the project, and the first few of them,
 * as clang words them. In the header-less parse, where names are unknown, those of the text's form alone. */
INK_API size_t ink_instrumented_parse_errors(const ink_instrumented *result, const ink_remark **first,
                                             size_t *kept);
/* "full" or "header-less", and why it was not the full one ("" if it was). Never NULL. */
INK_API const char *ink_instrumented_parse(const ink_instrumented *result, const char **why);
INK_API bool ink_instrumented_was_marked(const ink_instrumented *result); /* marked before: unchanged */
/* The source, or a header of the project that it includes, includes our device headers. */
INK_API bool ink_instrumented_includes_marks(const ink_instrumented *result);
/* A hash of the text of the source and of all that it includes, the toolkit's headers among them. */
INK_API uint64_t ink_instrumented_text_hash(const ink_instrumented *result);
INK_API uint64_t ink_instrumented_parse_ns(const ink_instrumented *result); /* libclang's part */

/* The text has a line #include <inkmark/...>. */
INK_API bool ink_includes_marks(const char *text, size_t bytes);

/* Gives back the bytes from before marking. *out is malloc'ed (the caller frees it).
 * INK_ERROR_FORMAT: the text holds damaged insertions. Text without any comes back as it is. */
INK_API ink_status ink_instrument_strip(const char *text, size_t bytes, char **out,
                                        size_t *out_bytes, ink_error *error);

/* A unified diff from the original to `marked`. *out is malloc'ed and terminated. */
INK_API ink_status ink_instrument_diff(const char *marked, size_t bytes, const char *old_name,
                                       const char *new_name, char **out, ink_error *error);

/* The flags that `folder`/compile_commands.json has for a source: *flags is one malloc'ed block, the
 * words and the array alike; options files are opened, relative folders made absolute. INK_ERROR_NOT_FOUND: no such database, or the file is not in it. */
INK_API ink_status ink_compile_flags(const char *folder, const char *source, const char ***flags,
                                     size_t *count, ink_error *error);

/* The words of a file of options (nvcc's --options-file): *words is malloc'ed, one terminated word behind the
 * other, *bytes long. */
INK_API ink_status ink_option_words(const char *path, char **words, size_t *bytes, ink_error *error);

/* "kernel", "call", ... and "marked", "left", "not asked", "error". */
INK_API const char *ink_place_kind_word(ink_place_kind kind);
INK_API const char *ink_place_state_word(ink_place_state state);

#ifdef __cplusplus
}
#endif
#endif
