/* SPDX-License-Identifier: MIT */
/* Private: a parsed listing and what the analysis adds to it. */
#ifndef INK_VERIFY_PRIVATE_H
#define INK_VERIFY_PRIVATE_H

#include "inkmark/verify.h"

#include <stddef.h>
#include <stdint.h>

#define INK_V_FRAMES_MAX 24
#define INK_V_NONE UINT32_MAX

/* One level of inlining. */
typedef struct v_frame {
  uint32_t file; /* index into files */
  uint32_t line;
} v_frame;

/* A place in the source: frames[0] is the function's own line, the last one the innermost that is
 * not inkmark's. */
typedef struct v_place {
  uint32_t first; /* index into frames */
  uint32_t count;
} v_place;

typedef struct v_instruction {
  uint32_t address;
  const char *text;   /* in the listing, up to ';' */
  uint32_t text_bytes;
  uint32_t listing_at; /* offset of its line in the listing */
  v_place place;
  uint32_t block;
  uint32_t stamp;     /* index into the function's stamps, or NONE */
  bool ours;          /* comes from inkmark's header, */
  uint32_t own_line;  /* of this line there; else 0 */
  bool work;          /* its result goes into what is work: see use.c */
} v_instruction;

typedef struct v_label {
  const char *name;
  uint32_t bytes;
  uint32_t instruction; /* the one that follows */
} v_label;

typedef struct v_function {
  char *name;
  char *target;
  uint32_t first, count;             /* instructions */
  uint32_t first_label, label_count;
  bool has_lines;
  bool called;       /* stands behind another one in its section: that one calls it */
  uint32_t cubin;    /* of those that were read, counted from 0 */
} v_function;

/* The SHA-256 of a section `.text.NAME`. */
typedef struct v_hash {
  uint32_t cubin;
  char *name;
  char text[72];
} v_hash;

typedef struct ink_v_hashes {
  v_hash *items;
  size_t count, room;
  uint32_t cubins; /* how many were read */
  char **tables;   /* "Table,Step, LineSearch", as the cubins' data has them */
  size_t table_count, table_room;
} ink_v_hashes;

/* A macro call in the text of a source file; in the order of the text within each file. */
typedef struct v_mark {
  uint32_t file, line;
  const char *macro;
  uint32_t kinds; /* bits of enum ink_kind */
  const char *name;
  int side;       /* of its line's other text: -1: all stands before it, 1: all behind it, 0: neither, or not known */
  bool by_macro;  /* of the user's own, which may have had another body */
} v_mark;

/* A call of a macro of the user's own. */
typedef struct v_use {
  uint32_t file, line;
  int side;   /* as of a mark that stands there */
  bool alone; /* its line has nothing else */
} v_use;

/* What the text of a file says of a line. */
typedef struct v_line {
  uint32_t first, last; /* of the statements that touch it; 0: none does */
  uint32_t branch;      /* of #if, #elif or #else that it stands in, the innermost; 0: in none */
  bool assigns;         /* of a statement that gives something computed to a variable */
  bool loop;            /* in the head of for or while */
  bool turns;           /* has a brace, a label or a directive: control may not just pass */
} v_line;

typedef struct v_lines {
  uint32_t count;
  v_line *of;   /* [count + 1], from 1 on, or NULL: the file cannot be read */
  bool toolkit; /* a header that comes with CUDA */
} v_lines;

typedef struct v_stamp {
  v_place place;
  /* In the innermost frame's file: code of these lines may stand on either side of the stamp. */
  uint32_t first_line, last_line;
  uint32_t tag; /* as the machine code has it, or NONE */
  const v_mark *mark; /* of the source's text, or NULL; later in an array is later in the text */
  bool shared;        /* several marks of one line that the machine code cannot tell apart */
  bool lost;          /* the text has no mark for its tag, and the line table gives its line to another one too */
  uint32_t copies;
  const char *name, *macro; /* live as long as the analysis */
} v_stamp;

struct ink_verify {
  char *text; /* the listing, owned */
  size_t text_bytes;
  char **files;
  size_t file_count, file_room;
  v_frame *frames;
  size_t frame_count, frame_room;
  v_instruction *instructions;
  size_t instruction_count, instruction_room;
  v_label *labels;
  size_t label_count, label_room;
  v_function *functions;
  size_t function_count, function_room;
  ink_verify_kernel *kernels;
  size_t kernel_count, kernel_room;
  v_mark *marks;
  size_t mark_count, mark_room;
  struct v_macro *macros; /* of the user's own that make marks */
  size_t macro_count, macro_room;
  v_lines *lines; /* [file_count] */
  const char **tables; /* the argument lists of PROF_SECTIONS */
  size_t table_count, table_room;
  char **strings; /* everything that kernels point at */
  size_t string_count, string_room;
  ink_v_hashes hashes;
  ink_verify_map *maps;
  size_t map_count, map_room;
  void *cxx_library; /* that has the demangler; NULL: not looked for, or none */
};

/* Grows *array to hold one more; false: no memory. */
bool ink_v_room(void **array, size_t count, size_t *room, size_t element_bytes);
/* A string that lives as long as the analysis; NULL: no memory. */
char *ink_v_keep(ink_verify *v, char *string);

/* demangle.c: the name as the source has it; the same one where nothing is known of it. */
const char *ink_v_demangle(ink_verify *v, const char *name);
/* What is shown of such a name: the whole, or its beginning and its end. */
const char *ink_v_shown(ink_verify *v, const char *name);

/* listing.c: text to functions, labels, instructions, places. */
ink_status ink_v_parse(ink_verify *v, ink_error *error);
/* True for a name that starts the instruction after its predicate; text of the opcode. */
const char *ink_v_opcode(const v_instruction *instruction, size_t *bytes);

/* source.c: the marks and tables in the text of all files of the listing. */
ink_status ink_v_scan_sources(ink_verify *v, ink_error *error);
/* Can this macro call have made a head with this tag? */
/* Which of the macros that make marks it is; SIZE_MAX: none. */
size_t ink_v_mark_macro(const char *word, size_t bytes);
/* The first argument behind the parenthesis, without its table's name. */
const char *ink_v_first_argument(const char *open, size_t *bytes);
/* v_mark.side of the mark at `at` with its parenthesis at `open`; and whether its line has nothing but it. */
int ink_v_side_of(const char *text, const char *at, const char *open);
bool ink_v_is_alone(const char *text, const char *at, const char *open);
bool ink_v_keep_mark(ink_verify *v, uint32_t file, uint32_t line, size_t macro, const char *name, size_t bytes, int side, bool by_macro);
/* macro.c: keeps what the text's #defines make, and blanks it in the text; then the marks of a call of one of them at [at, end). False: no
 * memory. */
bool ink_v_collect_macros(ink_verify *v, char *text);
bool ink_v_expand_macro(ink_verify *v, uint32_t file, uint32_t line, const char *text, const char *at, const char *end);
/* As all tables that have such a section call it; NULL: they differ, or none does. */
const char *ink_v_section_name(ink_verify *v, uint32_t tag);
/* Does some table have it? A mark's name may be made of others by the preprocessor. */
bool ink_v_is_section(const ink_verify *v, const char *name);
bool ink_v_mark_fits(const ink_verify *v, const v_mark *mark, uint32_t tag);

/* statement.c: what a text says of its lines; false: no memory. */
bool ink_v_scan_statements(const char *text, v_lines *out);
void ink_v_statement(const ink_verify *v, uint32_t file, uint32_t line, uint32_t *first,
                     uint32_t *last);

/* stamps.c: the order of the source, -1, 0, 1; 2: cannot be compared. */
int ink_v_compare(const ink_verify *v, v_place a, v_place b);
/* The same of two stamps: of one line, by the text where their marks are known. */
int ink_v_compare_stamps(const ink_verify *v, const v_stamp *a, const v_stamp *b);
/* The same of a place and a stamp. */
int ink_v_compare_stamp(const ink_verify *v, v_place place, const v_stamp *stamp);

/* Finds the stamps of a function, in the order of the source, and names them. */
ink_status ink_v_find_stamps(ink_verify *v, const v_function *f, v_stamp **stamps, size_t *count,
                             ink_error *error);

/* argument.c: the instruction only makes the number of a PROF_ITER a word. */
bool ink_v_is_argument(const ink_verify *v, const v_function *f, uint32_t at);

/* flow.c: the blocks of a function. */
typedef struct v_block {
  uint32_t first, count; /* instructions, from the function's first on */
  uint32_t to[2];        /* successors, or NONE */
  bool leaves;           /* the function can end here */
  bool anywhere;         /* an indirect branch: every label */
} v_block;

typedef struct v_graph {
  v_block *blocks;
  uint32_t count;
  uint32_t *block_of; /* [instructions of the function] */
} v_graph;

bool ink_v_make_graph(const ink_verify *v, const v_function *f, v_graph *graph); /* false: no memory */
void ink_v_free_graph(v_graph *graph);
bool ink_v_flows_to(const v_graph *graph, uint32_t from, uint32_t to);
bool ink_v_opcode_is(const v_instruction *instruction, const char *name); /* NAME or NAME.more */
bool ink_v_opcode_in(const v_instruction *instruction, const char *const *names); /* one of them; NULL ends the list */

/* The retry loop of an mbarrier wait stands at the function's end, and the line table lends all copies of it one call's line:
 * it is placed where the branch to it is. */
void ink_v_place_retries(ink_verify *v, const v_function *f, const v_graph *graph);

/* use.c: an instruction of TMA, bulk copies or tensor memory. */
bool ink_v_is_device_unit(const v_instruction *instruction);
/* Sets `work` of every instruction. */
ink_status ink_v_find_work(ink_verify *v, const v_function *f, const v_graph *graph, ink_error *error);

/* gone.c: fills `gone`: ranges of the source between two stamps that compute something of which no instruction is left. */
ink_status ink_v_find_gone(ink_verify *v, const v_function *f, const v_stamp *stamps, size_t stamp_count,
                           ink_verify_kernel *kernel, ink_error *error);

/* flow.c: for each instruction, which stamps (bits; n: the begin, n + 1: the end, n + 2: unknown) can
 * have been passed last and can come next. Arrays of words_per_set words for each instruction, the caller's to free. */
ink_status ink_v_flow(const ink_verify *v, const v_function *f, const v_graph *graph, size_t stamp_count,
                      uint64_t **last, uint64_t **next, size_t *words_per_set, ink_error *error);

/* counts.c */
void ink_v_count(const ink_verify *v, const v_function *f, const v_graph *graph, ink_verify_counts *out);

/* code_hash.c: adds the hashes of a cubin's sections and its tables, none where it is no sound ELF file. */
ink_status ink_v_hash_cubin(ink_v_hashes *to, const char *path, ink_error *error);
const char *ink_v_find_hash(const ink_v_hashes *hashes, uint32_t cubin, const char *name); /* or NULL */
void ink_v_free_hashes(ink_v_hashes *hashes);

/* kind.c: by the opcode; bytes of global memory and operations on floating-point numbers (a product with a sum is two) of one
 * thread, 0 where the opcode does not tell. */
enum ink_instruction_kind ink_v_kind(const v_instruction *instruction);
uint32_t ink_v_memory_bytes(const v_instruction *instruction);
uint32_t ink_v_operations(const v_instruction *instruction);

/* map.c: the map of the function and of the `count - 1` behind it, which it calls; none where no stamp is in them, but `without_stamps`. */
ink_status ink_v_add_map(ink_verify *v, const v_function *functions, size_t count, bool without_stamps, ink_error *error);

/* judge.c: the innermost line that is not of a header of CUDA's own. */
const v_frame *ink_v_users_frame(const ink_verify *v, v_place place);

/* judge.c: a register that was put aside, or taken back. */
bool ink_v_is_spill(const v_instruction *instruction);
/* A move, a constant, a special register or a branch: no work on any line. */
bool ink_v_only_moves(const v_instruction *instruction);

/* Fills one ink_verify_kernel. */
ink_status ink_v_judge(ink_verify *v, const v_function *f, v_stamp *stamps, size_t stamp_count,
                       const ink_verify_options *options, ink_error *error);

#endif
