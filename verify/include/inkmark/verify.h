/* SPDX-License-Identifier: MIT */
/* Proof of place: reads the machine code of marked kernels and says whether the instructions of each
 * source line lie between the stamps between which that line stands in the source.
 *
 * It reads what `nvdisasm -gi -c` prints, so the code must carry line information (nvcc -lineinfo).
 * A STAMP is a clock read that comes from inkmark's header; it stands where its macro stands. An
 * instruction stands where its line stands, through all levels of inlining. For each instruction the
 * stamps that can have been passed last and those that can be passed next are found along the flow of
 * control; if no pair of them has the instruction's line in between (around a loop's end: after the
 * one or before the other), it was moved. The disassembly has lines, not columns: code on a mark's own
 * line is taken to be on the right side.
 *
 * BOOKKEEPING is not judged unless asked for: register moves, constants, special registers, branches,
 * address arithmetic, and lines that consist of nothing but counting and comparing (a loop's head). */
#ifndef INKMARK_VERIFY_H
#define INKMARK_VERIFY_H

#include "inkmark/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ink_verify ink_verify;

typedef struct ink_verify_options {
  size_t size;               /* sizeof(ink_verify_options) */
  bool bookkeeping;          /* judge it too */
  const char *kernel_regex;  /* POSIX extended on the name, mangled or not; NULL: every function with stamps */
  bool without_stamps;       /* functions without a stamp too: an unmarked build, for its counts */
  bool map;                  /* makes the maps (ink_verify_maps) too, without_stamps also of functions that have none */
} ink_verify_options;

/* A stamp as the source has it: one macro, in one place, with one chain of calls above it. */
typedef struct ink_verify_stamp {
  const char *name;          /* "LineSearch" from the source's text; "line 12" where it is not there */
  const char *macro;         /* "PROF_MARK", or "" */
  const char *file;
  uint32_t line;
  uint32_t copies;           /* clock reads: 1; more: unrolled or split; 0: the compiler removed it */
} ink_verify_stamp;

/* Instructions of one source line that were found on the wrong side of a stamp. */
typedef struct ink_verify_leak {
  uint32_t line;             /* of the kernel's or function's source that contains it */
  const char *file;
  uint32_t belongs_after, belongs_before; /* stamps; UINT32_MAX: the kernel's begin or end */
  uint32_t found_after, found_before;
  uint32_t count;
  const char *instructions;  /* "FFMA x 3, MUFU.EX2 x 1" */
} ink_verify_leak;

/* What lies between two stamps, as machine instructions by source line. */
typedef struct ink_verify_line {
  uint32_t after, before;    /* stamps, as above: the nearest that control can have passed, and can */
  uint32_t line;
  uint32_t count;
} ink_verify_line;

/* Source lines between two stamps that compute something and have no instruction left in the machine code: fused with
 * what stands behind a stamp, or folded away. */
typedef struct ink_verify_gone {
  uint32_t after, before;    /* stamps */
  const char *file;
  uint32_t first_line, last_line;
} ink_verify_gone;

/* A line of the listing that is worth a word: a stamp's clock read, or an instruction that leaked. */
typedef struct ink_verify_remark {
  size_t at;                 /* offset of the line in ink_verify_text */
  uint32_t stamp;            /* or UINT32_MAX */
  uint32_t leak;             /* or UINT32_MAX */
} ink_verify_remark;

/* What a function is made of. */
typedef struct ink_verify_counts {
  uint32_t instructions;     /* without NOPs */
  uint32_t own;              /* of these, inkmark's */
  uint32_t registers;        /* that the code names: ptxas may allocate a few more */
  uint32_t spill_stores, spill_loads; /* to and from the stack, at constant places */
  uint32_t matrix;           /* HMMA, HGMMA, UTCHMMA and their like */
  uint32_t waits;            /* DEPBAR, WARPGROUP.DEPBAR */
  uint32_t drains;           /* of these, until nothing is in flight */
  uint32_t arrives;          /* WARPGROUP.ARRIVE: one an HGMMA where ptxas serialised them */
  uint32_t loops;            /* branches that go back */
} ink_verify_counts;

typedef struct ink_verify_kernel {
  const char *name;          /* mangled */
  const char *demangled;     /* as the source has it; the same where the C++ library is not there */
  const char *shown;         /* that, for people: what is long is cut in the middle */
  const char *target;        /* "sm_90" */
  size_t stamp_count, leak_count, line_count;
  const ink_verify_stamp *stamps; /* in the order of the source */
  const ink_verify_leak *leaks;
  const ink_verify_line *lines;
  uint32_t instructions;     /* judged */
  uint32_t unknown;          /* not judged: reached in a way that the listing does not show, or of a line with a mark, on a side of it
                              * that the text does not tell */
  uint32_t moved;            /* of these: the sum of the leaks' counts */
  const ink_verify_remark *remarks; /* in the order of the listing */
  size_t remark_count;
  size_t listing_begin, listing_end; /* the function's part of ink_verify_text */
  bool has_lines;            /* false: no line information, nothing could be judged */
  const ink_verify_gone *gone;
  size_t gone_count;
  ink_verify_counts counts;
} ink_verify_kernel;

/* What an instruction is for, by its opcode. */
enum ink_instruction_kind {
  INK_INSTRUCTION_MEMORY,    /* global and generic memory, textures, bulk copies */
  INK_INSTRUCTION_SHARED,    /* shared memory, and shuffles, which go the same way */
  INK_INSTRUCTION_LOCAL,     /* the stack: spills and local arrays */
  INK_INSTRUCTION_TENSOR,
  INK_INSTRUCTION_MATH,      /* floating point, and conversions */
  INK_INSTRUCTION_BARRIER,   /* barriers, fences, waits for copies and matrices */
  INK_INSTRUCTION_INT,       /* integers, addresses, moves, constants */
  INK_INSTRUCTION_CONTROL,   /* branches, calls, NOPs */
  INK_INSTRUCTION_KINDS
};

typedef struct ink_verify_instruction {
  uint32_t offset;           /* from the function's start */
  uint32_t row;              /* index into the map's rows */
  uint32_t stamp;            /* whose clock read it is, or UINT32_MAX */
  uint32_t line;             /* of the user's source; 0: none */
  const char *file;          /* or NULL */
  const char *text;          /* "FFMA R1, R2, R3, R1"; not ended by a 0 */
  uint32_t text_bytes;
  uint32_t opcode_at, opcode_bytes; /* in the text */
  bool own;                  /* a mark's */
  enum ink_instruction_kind kind;
  uint32_t memory_bytes, operations; /* of one thread; 0: none, or the opcode does not tell */
} ink_verify_instruction;

/* What some instructions' time goes to. */
typedef struct ink_verify_row {
  const char *name;          /* "Search"; "Search | Descent": the one or the other, as control goes; or one of
                              * "(prologue)", before the track is opened; "(epilogue)", behind the last mark;
                              * "(unmarked)", which no section claims; "(padding)"; "(unknown)" */
  uint32_t several;          /* between so many it cannot be told; 1: it can */
  uint32_t instructions, own; /* own: of these, the marks' */
} ink_verify_row;

typedef struct ink_verify_map_stamp {
  ink_verify_stamp stamp;
  const char *closes;        /* the section whose slice ends at it, or NULL: none does */
} ink_verify_map_stamp;

/* Every instruction of a kernel's machine code, NOPs and the functions behind it that it calls included, with the section
 * that its time goes to: that of the mark that comes next on the way of control. Each is in exactly one row. A clock
 * read belongs to what it closes. */
typedef struct ink_verify_map {
  const char *name, *shown, *target; /* as a kernel's */
  const char *code_hash;     /* SHA-256 of the machine code, in hexadecimal digits; NULL: made of a listing */
  size_t stamp_count, row_count, instruction_count;
  const ink_verify_map_stamp *stamps;
  const ink_verify_row *rows;
  const ink_verify_instruction *instructions; /* by offset */
} ink_verify_map;

/* Analyses a listing. INK_ERROR_FORMAT: it is not nvdisasm's. INK_ERROR_EMPTY: no stamp in it. */
INK_API ink_status ink_verify_listing(const char *text, size_t bytes,
                                      const ink_verify_options *options, ink_verify **out,
                                      ink_error *error);

/* Disassembles a cubin, or every cubin of an executable, object or library, and analyses it.
 * nvdisasm (and cuobjdump, for anything but a cubin) are taken from INKMARK_NVDISASM and
 * INKMARK_CUOBJDUMP, the PATH, CUDA_HOME or /usr/local/cuda. INK_ERROR_NOT_FOUND: no such tool.
 * INK_ERROR_UNSUPPORTED: the file has PTX only. */
INK_API ink_status ink_verify_file(const char *path, const ink_verify_options *options,
                                   ink_verify **out, ink_error *error);

/* The SHA-256 of a function's machine code in a cubin, as the code_hash of its map is; false: the cubin has none. */
enum { INK_VERIFY_HASH_TEXT = 65 };
INK_API bool ink_verify_code_hash(const void *cubin, size_t bytes, const char *function, char text[INK_VERIFY_HASH_TEXT]);

INK_API size_t ink_verify_kernels(const ink_verify *verify, const ink_verify_kernel **out);
/* None where they were not asked for. */
INK_API size_t ink_verify_maps(const ink_verify *verify, const ink_verify_map **out);
/* The disassembler's listing of everything that was read. Owned by `verify`. */
INK_API const char *ink_verify_text(const ink_verify *verify, size_t *bytes);
INK_API void ink_verify_free(ink_verify *verify);

#ifdef __cplusplus
}
#endif
#endif
