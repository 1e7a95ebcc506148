/* SPDX-License-Identifier: MIT */
/* One run of the rewriter: the parsed file, its sources, functions, sections and places. */
#ifndef INKMARK_UNIT_H
#define INKMARK_UNIT_H

#include "inkmark/instrument.h"
#include "cursor_map.h"
#include "tree.h"

#include <regex.h>

typedef struct ink_function {
  CXCursor cursor;
  CXCursor body;
  ink_source *source;
  char *name;
  uint32_t start, named_at, body_start, body_end;
  bool kernel, device, is_constexpr;
  bool in_macro;  /* comes wholly from a macro */
  bool odd_braces, opens_by_macro, closes_by_macro; /* its braces are `<%` and `%>`, or a macro's */
  bool is_off;    /* a `// prof: off` comment */
  bool has_rows;  /* a track of rows, by hand: its marks are of its own table only */
  bool is_opened; /* PROF_KERNEL by hand, or by us */
  bool in_rows;   /* the guard leaves it a track of rows: of the waits in its loops, or of nothing */
  bool opens;     /* the track is opened here: a kernel, or the function that one is a call of */
  uint32_t opens_for; /* of such a function: the kernel's index and 1; UINT32_MAX: of several */
  uint32_t opened_in; /* of its kernel: the function's index and 1 */
  const char *track;  /* the section of the track */
  int roles;          /* of roles.c, and 1; 0: not looked for */
  bool reads_clock;
  /* A lambda, or a function of a class that is defined in a function: the index of the function that
   * it stands in, and 1. 0: neither. */
  uint32_t outer;
  uint32_t repeats; /* its file is included again: the function that has the same text, its index and 1 */
  bool in_host;     /* a __device__ lambda in host code */
  bool host;        /* compiled for the host too */
  uint32_t opened_at, first_hand; /* the first PROF_KERNEL and the first mark by hand; 0: none */
  uint32_t opened_by; /* of a kernel: the function that it calls and that opens the track by hand: its index and 1 */
  uint32_t marks;
  uint32_t sums;      /* so many sections are summed */
  uint32_t loop_sums; /* of these, in the outermost loop that was seen last */
  uint32_t calls_left; /* so many calls in it may be summed: its waits and loops come first */
  uint32_t sums_at, sums_end, sums_depth, sums_line; /* where that loop begins and ends, and its insertion; sums_end 0: it has none */
  bool is_forwarder; /* all it does is one call */
  bool gone_into;    /* a called function that waits in its loops: the default marks it like the body of what calls it */
  uint32_t owner;     /* of such a function: who opens the track, an index and 1; UINT32_MAX: several do */
  uint32_t sums_with, sums_loop; /* of such a function: the ink_sums_place of its calls */
  uint32_t loops_outside; /* the loops around its calls */
  bool is_done;      /* the rules were applied to it */
  bool has_context;  /* a copy of it gets the context of its callers */
  bool keeps_marks;  /* of such a function: the original has its marks too, for calls of others */
  int calls_deep; /* calls from a kernel, 0: a kernel itself, -1: none reaches it. Where --depth is not given, those of
                     functions that are one call do not count */
  uint8_t tiny[5]; /* of callees.c, for each depth: 1 yes, 2 no; 0: not looked for */
  int reached_at;  /* calls_deep and 1, when its calls were followed last */
  ink_tree tree;
  ink_guard_level guarded;
  unsigned most_registers; /* of ink_guarded */
  bool skipped;            /* the same */
  int leaves_writes, registers_behind; /* of asm_facts.c, and 1; 0: not looked for */
  struct ink_variables *variables; /* of variables.c; NULL until they are needed */
} ink_function;

typedef struct ink_section {
  char *name; /* the identifier */
  char *text; /* what reports show */
  uint32_t summed_by; /* a function's index and 1: its sums stand together in the table; 0: no sum */
  uint32_t rows_of;   /* a function's index and 1: of the table of its rows; 0: of the file's table */
} ink_section;

typedef struct ink_found { /* a place, as the rules found it */
  ink_place_kind kind;
  ink_place_state state;
  ink_source *source;
  uint32_t offset, end; /* end: behind the last statement of a range of several; else 0 */
  const ink_function *function;
  char *name, *section, *held, *reason;
} ink_found;

typedef struct ink_said {
  ink_source *source;
  uint32_t offset;
  char *text;
} ink_said;

typedef struct ink_complaint { /* an error of the parse */
  char *file, *text;
  unsigned line, column;
} ink_complaint;

typedef enum ink_hand_kind {
  INK_HAND_OTHER,
  INK_HAND_BEGIN, /* PROF_BEGIN, PROF_BEGIN_WITH */
  INK_HAND_END,
  INK_HAND_SUM_BEGIN,
  INK_HAND_SUM_END,
  INK_HAND_SCOPE,
  INK_HAND_MARK, /* the time before it is its section's */
  INK_HAND_ITER,
  INK_HAND_ROLE
} ink_hand_kind;

typedef struct ink_hand { /* a mark of the user's in a function */
  const ink_function *function;
  uint32_t offset, end; /* of the use of its macro */
  ink_hand_kind kind;
  char *name;
} ink_hand;

typedef struct ink_resolved { /* what an instance of a template says of the call at this place */
  const ink_source *source;
  uint32_t start, end;
  uint32_t next; /* of the bucket, and 1 */
  CXCursor target;
} ink_resolved;

typedef struct ink_patch { /* a file of which the parse gets other bytes, as many, and more behind them */
  char *name, *path;       /* as clang calls it, and absolute */
  ink_bytes original;
  char *text;        /* [original.count + more] */
  size_t more;       /* bytes behind the file's own */
} ink_patch;

typedef struct ink_unit {
  const ink_instrument_options *options;
  char *main_path, *root;
  bool root_may_grow; /* the root is a guess from the source's folder alone */
  bool header_less;
  bool joins; /* the functions of joined sources are looked for */
  bool was_marked;
  struct {
    uint64_t *items;
    size_t count, room;
  } hashes; /* of the texts of all that is included, each once or more */
  struct {
    char **items;
    size_t count, room;
  } kept_files; /* that the kept parse was made of */
  uint64_t parse_ns;
  struct {
    ink_patch *items;
    size_t count, room;
  } patches;
  struct {
    ink_resolved *items;
    size_t count, room;
    uint32_t *heads;
    size_t buckets;
  } resolved;
  ink_cursor_map waiting; /* what functions do, for waiting.c */
  ink_cursor_map known; /* the functions that cursors stand for: index and 1, 0: none of ours */
  CXFile last_file;     /* the file last asked for, and what it is */
  ink_source *last_source;
  CXIndex index;
  CXTranslationUnit tu;
  regex_t kernels, exclude, calls_like;
  bool has_kernels, has_exclude, has_calls_like;
  struct {
    ink_source **items;
    size_t count, room;
  } sources;
  struct {
    ink_function *items;
    size_t count, room;
  } functions;
  struct {
    uint32_t *names, *bodies; /* functions in the order of their names (those that a call can name) and of their bodies */
    size_t name_count, of;    /* of so many functions */
    ink_cursor_map cursors;   /* index and 1 */
    const ink_tree *tree;     /* the call that was last looked up by its name, and what may be meant */
    uint32_t at;
    size_t from, to;
  } found_by;
  struct {
    ink_section *items;
    size_t count, room;
  } sections;
  struct {
    char **items;
    size_t count, room;
  } declared; /* names in the user's own PROF_SECTIONS */
  struct {
    ink_found *items;
    size_t count, room;
  } found;
  struct {
    ink_said *items;
    size_t count, room;
  } said;
  struct {
    ink_complaint *items;
    size_t count, room;
  } complaints; /* the first few of parse_errors */
  uint32_t parse_errors;
  struct {
    ink_hand *items;
    size_t count, room;
  } hand; /* in the order of the text */
  ink_source *comma_source; /* of an `operator,` that may take what ours is for; NULL: there is none */
  uint32_t comma_offset;
  bool comma_said;
  bool failed; /* memory ran out */
} ink_unit;

/* prelude.c */
uint64_t ink_text_hash(const char *text, size_t bytes);
uint64_t ink_unit_text_hash(ink_unit *unit); /* of all texts that are included, in any order */
/* function_index.c */
/* The device functions that a call can name so: [*from, *to), for ink_named_function, in the order in which they were found. */
void ink_functions_named(ink_unit *unit, const char *name, size_t length, size_t *from, size_t *to);
ink_function *ink_named_function(const ink_unit *unit, size_t at);
uint32_t ink_function_by_body(ink_unit *unit, const ink_source *source, uint32_t start, bool opens_by_macro); /* index and 1; 0 */
uint32_t ink_function_by_cursor(ink_unit *unit, CXCursor cursor);
void ink_index_free(ink_unit *unit);
/* parse.c */
ink_status ink_unit_parse(ink_unit *unit, bool header_less, ink_error *error);
/* project_root.c */
void ink_unit_guess_root(ink_unit *unit, const char *path);
void ink_unit_grow_root(ink_unit *unit); /* behind the parse: to the headers beside the source */
/* complaints.c */
void ink_unit_find_complaints(ink_unit *unit);
void ink_unit_free_complaints(ink_unit *unit);
bool ink_unit_complaint_matters(const ink_unit *unit, CXDiagnostic diagnostic);
/* hidden.c */
void ink_unit_hidden_remarks(ink_unit *unit);
/* patches.c */
void ink_unit_patch_source(ink_unit *unit);
/* Behind a parse: whether a header is patched now that was not, so that it has to be done again. */
bool ink_unit_patch_headers(ink_unit *unit);
const ink_patch *ink_patch_of(const ink_unit *unit, const char *path); /* NULL: none */
/* A file's own text, where the parse got another; NULL: none. */
const char *ink_unit_file_text(const ink_unit *unit, CXFile file, size_t *bytes);
void ink_unit_free_patches(ink_unit *unit);
/* suffix.c */
bool ink_suffix_patch(char *text, size_t bytes); /* true: something was changed */
void ink_suffix_remarks(ink_unit *unit);         /* what could not be */
/* functions.c */
ink_source *ink_unit_source(ink_unit *unit, CXFile file);
bool ink_unit_find_sources(ink_unit *unit);
/* The file, included at stack[0], is a header of the system. */
bool ink_is_system(const ink_unit *unit, CXFile file, const CXSourceLocation *stack);
bool ink_unit_find_functions(ink_unit *unit);
void ink_unit_find_depths(ink_unit *unit);
ink_function *ink_unit_function(ink_unit *unit, CXCursor cursor);
/* A __device__ function that is no kernel; *system: it is declared outside the project. */
bool ink_cursor_is_device(ink_unit *unit, CXCursor cursor, bool *system);
/* What a call calls; a null cursor when it cannot be told. */
CXCursor ink_call_target(CXCursor call);
CXCursor ink_first_child(CXCursor cursor); /* a null cursor: it has none */
/* The set that a call in a template chooses from, in which ink_call_target's is the first; a null cursor
 * where it is known what is called. */
CXCursor ink_call_overloads(CXCursor call);
/* instances.c */
bool ink_unit_find_instances(ink_unit *unit);
void ink_unit_free_instances(ink_unit *unit);
/* What instances in this file call at the node, the `which`th from 0 on; a null cursor: no more is known. */
CXCursor ink_unit_resolved(const ink_unit *unit, const ink_source *source, const ink_node *node, unsigned which);
/* commas.c: notes a comma operator that may be taken in place of that of INK_UNTIL */
void ink_unit_note_comma(ink_unit *unit, CXCursor function);
bool ink_unit_avoids_comma(ink_unit *unit); /* there is one; said once */
/* rules.c */
void ink_unit_apply_rules(ink_unit *unit);
const char *ink_why_function_left(ink_unit *unit, const ink_function *function); /* NULL: it may be marked */
/* openings.c */
void ink_unit_find_openings(ink_unit *unit);
/* contexts.c: before the rules: the called functions that the default goes into (gone_into), as far as they can have a context */
void ink_unit_find_gone_into(ink_unit *unit);
/* Behind the rules: called functions with marks get the context of the kernels that call them. */
void ink_unit_give_contexts(ink_unit *unit);
/* context_copy.c */
typedef struct ink_head { /* the parts of a function's head */
  uint32_t start;
  uint32_t attributed; /* behind the `[[...]]` that it begins with */
  ink_span name;
  uint32_t behind_open; /* of its parameters */
  bool no_parameters, is_template;
} ink_head;
typedef struct ink_copy { /* of a function's text, what its copy with a context is made of */
  ink_head head;
  bool is_free; /* neither a member nor a template nor static: the copy is static */
  ink_source *declared_in; /* of a member that is defined outside of its class: where the class declares it; else NULL */
  ink_head declared;
  uint32_t declared_end; /* behind the `;` */
} ink_copy;
/* Why the function cannot have a copy with a context: static. NULL: it can. */
const char *ink_why_no_copy(ink_unit *unit, const ink_function *function, ink_copy *copy);
bool ink_is_call_operator(const ink_function *function);
/* The copy, with the insertions that belong into it, behind the function. `context`: its first parameter. */
void ink_copy_add(ink_function *function, const ink_copy *copy, const char *context);
/* roles.c: branches by warp that hold the work of the function that opens the track */
bool ink_has_roles(ink_unit *unit, ink_function *function);
bool ink_elects(const ink_function *function); /* an elected lane does some of it */
void ink_mark_roles(ink_unit *unit, ink_function *function);
/* threads.c: the node, or what its locals come from, depends on the thread */
size_t ink_find_thread_locals(const ink_tree *tree, CXCursor *locals, size_t room);
bool ink_is_thread_dependent(const ink_tree *tree, uint32_t at, const CXCursor *locals, size_t count);
typedef struct ink_spot { /* where a statement that shall be put between marks lies */
  uint32_t start, end, depth;
  uint32_t line; /* not 0: `start` is the start of this line, before a #pragma */
  bool alone;    /* needs braces */
} ink_spot;
/* False, and *why (static) says why not. */
bool ink_spot_find(const ink_function *function, uint32_t at, ink_spot *spot, const char **why);
/* Loops around a node, in its own function. */
uint32_t ink_loops_around(const ink_tree *tree, uint32_t at);
/* With those around the calls of a function that the default goes into. */
uint32_t ink_loops_at(const ink_function *function, uint32_t at);
bool ink_keeps_sums(const ink_function *function); /* it opens the track, or is gone into */
/* The function whose slots for sums it uses: itself, or the one in whose loop it is called. */
ink_function *ink_sums_of(const ink_unit *unit, const ink_function *function);
/* Whose sums those of a function that is called at the node stand among: of which function, an index and 1, and of which of
 * its loops, a node; 0: they are its own. */
typedef struct ink_sums_place {
  uint32_t with, loop;
} ink_sums_place;
ink_sums_place ink_sums_at(const ink_unit *unit, const ink_function *function, uint32_t at);
/* The default goes into the function by the call at the node, which another one may call too. */
bool ink_goes_by(const ink_unit *unit, const ink_function *function, uint32_t at, const ink_function *to);
/* The call at the node is of functions that the default goes into by it. */
bool ink_goes_into(ink_unit *unit, const ink_function *function, uint32_t at);
/* Some wait in a loop of the function, or around its calls, is marked by the rules. */
bool ink_waits_in_loops(ink_unit *unit, const ink_function *function);
enum { INK_SUM_SLOTS = 8 }; /* sum_slots of mark_impl.cuh */
/* The next sum of the function can be kept within the sums around the node. */
bool ink_sum_fits(const ink_unit *unit, const ink_function *function, uint32_t at);
/* What is marked at the node is summed: a loop around it has no rows. */
bool ink_is_summed(const ink_unit *unit, const ink_function *function, uint32_t at);
/* Why the default marks nothing at a node for the loops around it; NULL: it may. */
const char *ink_why_not_in_loops(const ink_unit *unit, const ink_function *function, uint32_t at);
/* --calls, --loops or --waits choose, not the default. */
bool ink_rules_are_asked(const ink_unit *unit);
bool ink_function_may_mark(ink_unit *unit, ink_function *function, ink_found *found);
/* The offset lies in a lambda, or in a local class's function, that `function` holds. */
bool ink_is_in_inner(const ink_unit *unit, const ink_function *function, uint32_t offset);
/* loop_cost.c: what marks a loop bears without harm */
typedef enum ink_loop_cost {
  INK_LOOP_LONG,     /* around it and inside */
  INK_LOOP_SMALL,    /* around it: its body is a few operations */
  INK_LOOP_UNROLLED, /* around it: it is unrolled */
  INK_LOOP_LEFT      /* none: it is unrolled, and holds a few operations and tiny helpers */
} ink_loop_cost;
ink_loop_cost ink_loop_judge(ink_unit *unit, const ink_function *function, uint32_t at);
/* A loop around the node is unrolled: a mark there would be made many times over. */
bool ink_is_unrolled(const ink_unit *unit, const ink_tree *tree, uint32_t at);
bool ink_constant_of(CXCursor expression, long long *value); /* false: no integer that is known */
/* How often a loop of known bounds runs, at most `most`; -1: cannot tell. */
long long ink_trips_of(const ink_tree *tree, uint32_t loop, long long most);
bool ink_is_tiny(ink_unit *unit, const ink_function *function); /* a helper whose calls the default leaves out */
bool ink_is_light(ink_unit *unit, const ink_function *function); /* too little to be summed in a loop */
/* asm_facts.c: the statement or call leaves writes of the tensor cores under way, to what it was given */
bool ink_writes_in_flight(ink_unit *unit, const ink_tree *tree, uint32_t at);
/* Why the default leaves the branch around the node: its warps gave their registers away; NULL: they did not. */
const char *ink_why_no_registers(ink_unit *unit, const ink_function *function, uint32_t at);
/* callees.c */
typedef struct ink_callee {
  char *name;           /* the caller frees it */
  ink_function *body;   /* NULL: elsewhere */
  bool matched;         /* by --calls=REGEX */
  const char *why_not;  /* a rule leaves it out */
  const char *why_left; /* it cannot be marked */
} ink_callee;
/* False: the node is no call that a rule could choose, and *found is not the caller's. */
bool ink_find_callee(ink_unit *unit, const ink_function *function, uint32_t at, ink_callee *found);
/* What the text or the first instance says is called; a null cursor: neither. */
CXCursor ink_call_known(const ink_unit *unit, const ink_tree *tree, uint32_t at);
char *ink_called_name(const ink_tree *tree, uint32_t at); /* as the text has it; the caller frees */
/* Of `f(x)`, `a.f<3>(x)`: the tokens of the name and of the parenthesis. False: the call has no such form. */
bool ink_call_words(const ink_tree *tree, uint32_t at, size_t *name, size_t *open);
/* All that the call may call is told by the text or by instances, nothing by its name alone. */
bool ink_call_is_told(const ink_unit *unit, const ink_tree *tree, uint32_t at);
/* The `which`th function of ours that the call may call; NULL: no more. */
ink_function *ink_called_function(ink_unit *unit, const ink_tree *tree, uint32_t at, unsigned which);
void ink_unit_find_forwarders(ink_unit *unit);
char *ink_name_of(CXCursor cursor); /* without template arguments; the caller frees */
/* rule_loops.c, rule_calls.c */
void ink_rule_loop(ink_unit *unit, ink_function *function, uint32_t at);
/* PROF_ITER in the loop: a row for each pass. */
void ink_rule_row(ink_unit *unit, ink_function *function, uint32_t at);
void ink_rule_call(ink_unit *unit, ink_function *function, uint32_t at);
bool ink_is_unevaluated(const ink_tree *tree, uint32_t at); /* `sizeof f(x)`, `decltype(f(x))` */
void ink_mark_call(ink_unit *unit, ink_function *function, uint32_t at, const char *name, ink_found *found);
/* rule_setups.c: behind the other rules */
void ink_rule_setups(ink_unit *unit, ink_function *function);
/* rule_lines.c */
void ink_rule_lines(ink_unit *unit, ink_function *function);
/* loop_names.c: `for i < n` */
void ink_loop_name(const ink_tree *tree, uint32_t at, char *name, size_t room);
/* Adds the text [start, end) to the name, without comments and breaks, cut where it is long. */
void ink_put_text(const ink_source *source, uint32_t start, uint32_t end, char *name, size_t room);
/* waiting.c */
bool ink_only_waits(ink_unit *unit, CXCursor function); /* it does nothing else */
bool ink_is_spin(ink_unit *unit, CXCursor loop);
bool ink_is_wait_name(const char *name, CXCursor target);
const char *ink_wait_instruction(const char *text, size_t bytes);
bool ink_asm_text(CXCursor cursor, const char **text, size_t *bytes); /* where it is written; false: in pieces */ /* the one in an assembly's text; NULL: none */
/* rule_waits.c */
typedef enum ink_wait_kind {
  INK_WAIT_NONE,
  INK_WAIT_ITSELF,   /* of the toolkit, or an instruction */
  INK_WAIT_FUNCTION, /* the call of a function that only waits */
  INK_WAIT_LOOP      /* a loop that spins */
} ink_wait_kind;
ink_wait_kind ink_wait_at(ink_unit *unit, const ink_tree *tree, uint32_t at, char *name, size_t room);
/* By the rules in force it is a wait; else a call or a loop that was asked for. */
bool ink_takes_wait(const ink_unit *unit, ink_wait_kind kind);
/* Why the rules in force leave the wait out; NULL: they choose it. */
const char *ink_why_no_wait(ink_unit *unit, const ink_function *function, uint32_t at, const char *name);
void ink_rule_wait(ink_unit *unit, ink_function *function, uint32_t at);
bool ink_is_wait(ink_unit *unit, const ink_tree *tree, uint32_t at, char *name, size_t room);
/* macros.c: behind the `;` of a statement that the use of a macro makes up wholly; 0: it does not */
uint32_t ink_macro_statement_end(const ink_tree *tree, uint32_t at);
/* The node is part of an argument that its macro evaluates once, and is written at *text. */
bool ink_macro_argument(ink_unit *unit, const ink_function *function, uint32_t at, ink_span *text);
typedef struct ink_macro_text { /* a definition: its name, parameters and body */
  CXTranslationUnit tu;
  CXToken *tokens;
  unsigned count;
  char **words; /* the tokens' texts */
} ink_macro_text;
/* False: there is no text to read, or memory ran out. ink_macro_free it in any case. */
bool ink_macro_read(ink_macro_text *text, CXTranslationUnit tu, CXCursor definition);
void ink_macro_free(ink_macro_text *text);
/* directives.c */
void ink_unit_find_off(ink_unit *unit);
void ink_function_directives(ink_unit *unit, ink_function *function);
/* The name that a `// prof: loop NAME` comment gives to what starts at `offset`; NULL: none. */
char *ink_directive_name(const ink_source *source, uint32_t offset);
void ink_unit_find_hand_marks(ink_unit *unit);
/* variables.c: it is __shared__, __constant__ or __device__ */
bool ink_is_in_memory_space(CXCursor variable);
/* holds.c: ", x, y" for a mark at `offset`, or "" (NULL: out of memory); the caller frees. */
char *ink_hold_list(ink_unit *unit, const ink_function *function, uint32_t offset);
/* The macro of a mark that holds these: a strict one for PROF_MARK, PROF_BEGIN and PROF_END where asked. */
const char *ink_hold_macro(const ink_unit *unit, const char *macro, const char *held);
/* Says which values the marks of the function should have held and could not. */
void ink_hold_remarks(ink_unit *unit, const ink_function *function);
/* unopened.c */
/* PROF_KERNEL, PROF_OPEN and their forms. */
bool ink_macro_opens(const char *macro);
void ink_function_note_hand(ink_function *function, const char *macro, uint32_t offset);
void ink_unit_unopened_remarks(ink_unit *unit); /* marks that record nothing for want of PROF_KERNEL */
/* hand_marks.c */
/* The mark of the user's that the macro is. */
ink_hand_kind ink_hand_kind_of(const char *macro);
/* What libclang has of marks in macros of the user's own, and of loops with PROF_ITER; behind ink_unit_find_hand_marks. */
void ink_unit_see_hand_marks(ink_unit *unit);
/* The text [start, end), statements of the function, is all that a range or section by hand has; *line is its. */
bool ink_hand_holds(const ink_unit *unit, const ink_function *function, uint32_t start, uint32_t end, uint32_t *line);
/* All that the function does is in one range by hand. */
bool ink_hand_is_whole(const ink_unit *unit, const ink_function *function);
/* A mark of the kind stands in [start, end), and in no loop or lambda that begins there. */
bool ink_hand_has(const ink_unit *unit, const ink_function *function, ink_hand_kind kind, uint32_t start, uint32_t end);
/* The function that opens the track of the kernel by hand: index and 1; 0: none. */
uint32_t ink_hand_opener(ink_unit *unit, const ink_function *kernel);
/* pairs.c: errors for ranges by hand that do not end on every way */
void ink_function_pairs(ink_unit *unit, const ink_function *function);
/* remarks.c */
void ink_function_remarks(ink_unit *unit, const ink_function *function);
/* threads.c: of marks that the recording thread may not pass */
void ink_function_thread_remarks(ink_unit *unit, const ink_function *function);
/* sections.c */
const char *ink_section_named(ink_unit *unit, const char *name); /* as written by hand */
/* The declared name that `name` was probably meant to be; NULL: it is declared, or resembles none. */
const char *ink_section_misspelt(const ink_unit *unit, const char *name);
const char *ink_section_at(ink_unit *unit, const char *name, const ink_source *source,
                           uint32_t offset);
/* ink_section_at; where the function has a track of rows, of the table of its rows. NULL: there is no room. */
const char *ink_section_in_row(ink_unit *unit, const ink_function *function, const char *name, uint32_t offset,
                               const ink_source *source);
/* ink_section_at for a sum in the function. */
const char *ink_section_summed(ink_unit *unit, ink_function *function, const char *name, uint32_t offset);
bool ink_section_preamble(ink_unit *unit, const ink_source *source, bool with_table,
                          ink_bytes *out);
/* found.c */
ink_found *ink_unit_place(ink_unit *unit, ink_place_kind kind, const ink_function *function,
                          ink_source *source, uint32_t offset, const char *name);
__attribute__((format(printf, 2, 3))) void ink_found_left(ink_found *found, const char *format,
                                                          ...);
void ink_found_marked(ink_found *found, const char *section, const char *held);
__attribute__((format(printf, 4, 5))) void ink_unit_say(ink_unit *unit, ink_source *source,
                                                        uint32_t offset, const char *format, ...);
void ink_unit_free(ink_unit *unit);
#endif
