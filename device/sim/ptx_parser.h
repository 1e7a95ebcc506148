/* SPDX-License-Identifier: MIT */
/* State of the PTX parser and what its files share. A failure is recorded once in `error`; every
 * function then returns false and nothing more is read. Private to the parser. */
#ifndef INKMARK_SIM_PTX_PARSER_H
#define INKMARK_SIM_PTX_PARSER_H

#include "program.h"

enum ptx_class { PTX_CLASS_DATA, PTX_CLASS_PREDICATE, PTX_CLASS_PAIR };

enum ptx_name_kind { PTX_REGISTER, PTX_SYMBOL, PTX_LABEL, PTX_TABLE, PTX_PROTOTYPE };

/* A name of the unit, a function or a block. Ranges (%r<100>) are one name with a count. */
typedef struct ptx_name {
  const char *text;
  uint32_t length, count, entries, depth;
  int32_t value, next;
  uint8_t kind, rows; /* rows of one register: 2 for .b128 */
} ptx_name;

/* A label that was used before it was seen. */
typedef struct ptx_fixup {
  const char *text;
  uint32_t length, line, depth;
  int32_t index;
  bool in_rows; /* index into sim_program.rows, else an instruction */
} ptx_fixup;

enum ptx_operand_kind {
  PTX_O_NONE, PTX_O_ROW, PTX_O_NUMBER, PTX_O_SPECIAL, PTX_O_ADDRESS, PTX_O_VECTOR, PTX_O_SYMBOL,
  PTX_O_NAME, PTX_O_SINK, PTX_O_LIST
};

typedef struct ptx_operand {
  enum ptx_operand_kind kind;
  bool negated, frame, is_register;
  uint8_t literal; /* of a number: 0 integer, 1 f32 bits, 2 f64 bits */
  uint16_t special;
  int32_t row, row2, symbol;
  int64_t offset;
  uint64_t value;
  uint32_t first, count; /* vector or list in sim_program.rows */
  const char *text;
  uint32_t length;
} ptx_operand;

#define PTX_HEADS 2048
#define PTX_OPERANDS 8

typedef struct ptx_parser {
  sim_program *program;
  sim_error *error;
  bool failed;
  const char *at;
  uint32_t line, unit, source_line, source_file;
  ptx_name *names;
  size_t name_count, name_capacity;
  int32_t heads[PTX_HEADS];
  uint32_t depth;
  ptx_fixup *fixups;
  size_t fixup_count, fixup_capacity;
  int32_t *files; /* the unit's file numbers to the program's */
  size_t file_count, file_capacity;
  int32_t function; /* being parsed, or -1 */
  uint32_t registers;
  uint8_t *classes; /* of each register: enum ptx_class */
  size_t class_count, class_capacity;
  uint64_t frame, frame_most; /* bytes of the scopes that are open, and the most there were */
  uint64_t frame_before[SIM_MAX_NESTING + 1];
} ptx_parser;

/* Lexing: white space and comments are skipped before each. */
void ptx_skip_space(ptx_parser *p);
bool ptx_at(ptx_parser *p, char c);
bool ptx_take(ptx_parser *p, char c);
bool ptx_need(ptx_parser *p, char c);
/* A name (no dots), or an opcode or directive (dots and "::" inside). An error if there is none. */
bool ptx_take_name(ptx_parser *p, const char **text, uint32_t *length);
bool ptx_take_word(ptx_parser *p, const char **text, uint32_t *length);
bool ptx_take_string(ptx_parser *p, const char **text, uint32_t *length);
/* literal as in ptx_operand. */
bool ptx_take_number(ptx_parser *p, uint64_t *value, uint8_t *literal);
bool ptx_at_number(ptx_parser *p);
void ptx_skip_line(ptx_parser *p);
bool ptx_skip_past(ptx_parser *p, char c);
bool ptx_skip_braces(ptx_parser *p);
bool ptx_is(const char *text, uint32_t length, const char *word);
bool ptx_name_char(char c);
bool ptx_fail(ptx_parser *p, enum sim_error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool ptx_no_memory(ptx_parser *p);

/* Names. */
ptx_name *ptx_find(ptx_parser *p, const char *text, uint32_t length, uint32_t *index);
ptx_name *ptx_add(ptx_parser *p, const char *text, uint32_t length, enum ptx_name_kind kind,
                  int32_t value);
bool ptx_open_scope(ptx_parser *p);
bool ptx_close_scope(ptx_parser *p);
bool ptx_want_label(ptx_parser *p, const char *text, uint32_t length, uint32_t line, bool in_rows,
                    int32_t index);
/* Notes that the function being parsed names a symbol. */
bool ptx_use(ptx_parser *p, int32_t symbol);

/* Declarations. `word` is the first word after the space. */
unsigned ptx_type(const char *text, uint32_t length);
bool ptx_registers(ptx_parser *p);
bool ptx_variable(ptx_parser *p, enum sim_space space, enum sim_linkage linkage);
int32_t ptx_symbol(ptx_parser *p, const char *text, uint32_t length, uint32_t line);
bool ptx_function(ptx_parser *p, bool entry, enum sim_linkage linkage);
bool ptx_unit(ptx_parser *p);

/* Instructions. */
int ptx_special(const char *text, uint32_t length);
bool ptx_words(ptx_parser *p, sim_insn *insn, const char *text, uint32_t length);
bool ptx_operand_read(ptx_parser *p, ptx_operand *operand, unsigned nesting);
bool ptx_instruction(ptx_parser *p);
/* Fills rows and chooses how the instruction runs; false: this form is not simulated. */
bool ptx_decode(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count);

/* Parts of that. A row for a constant, SIM_NO_ROW without memory; a source that is a register, a number or an address
 * of something that has one address; an address in brackets; a destination. */
int32_t ptx_constant(ptx_parser *p, uint64_t value, int32_t symbol);
bool ptx_source(ptx_parser *p, sim_insn *insn, unsigned slot, const ptx_operand *operand, unsigned type);
bool ptx_address(ptx_parser *p, sim_insn *insn, unsigned slot, const ptx_operand *operand, int64_t *offset);
bool ptx_destination(sim_insn *insn, const ptx_operand *operand);
/* The mbarrier, the last operand, that st.async and red.async tell; others have none. */
bool ptx_decode_told(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count);
bool ptx_decode_copy(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count);
bool ptx_decode_mbarrier(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count);
bool ptx_decode_matrix(ptx_parser *p, sim_insn *insn, const ptx_operand *operands, unsigned count);

/* Gives the registers of a function's instructions rows; returns how many. */
uint32_t ptx_assign_rows(ptx_parser *p, int32_t begin, int32_t end);

/* Joins what the units declared; fills forwards, constant rows and call targets. */
bool sim_program_link(sim_program *program, sim_error *error);

#endif
