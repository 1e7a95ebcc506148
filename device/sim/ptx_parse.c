/* SPDX-License-Identifier: MIT */
/* One PTX text: directives of the unit, functions with their parameters, statements in bodies. */
#include "ptx_parser.h"

#include <stdlib.h>
#include <string.h>

/* .param [.align N] .type [.ptr ...]: up to the name. */
static bool parameter_type(ptx_parser *p, unsigned *type, uint64_t *align, const char **text,
                           uint32_t *length) {
  uint64_t value;
  uint8_t literal;
  if (!ptx_take_word(p, text, length)) {
    return false;
  }
  if (!ptx_is(*text, *length, ".param")) {
    return ptx_fail(p, SIM_UNSUPPORTED, "parameters in '%.*s' are not simulated", (int)*length,
                    *text);
  }
  for (;;) {
    if (!ptx_take_word(p, text, length)) {
      return false;
    }
    if ((*text)[0] != '.') {
      return true;
    }
    if (ptx_is(*text, *length, ".align")) {
      if (!ptx_take_number(p, &value, &literal)) {
        return false;
      }
      /* The .align after .ptr speaks of what is pointed at. */
      *align = *align == 0 && *type == SIM_T_NONE ? value : *align;
    } else if (*type == SIM_T_NONE) {
      bool handle = ptx_is(*text, *length, ".texref") || ptx_is(*text, *length, ".surfref") ||
                    ptx_is(*text, *length, ".samplerref");
      *type = handle ? SIM_B64 : ptx_type(*text + 1, *length - 1);
    }
  }
}

/* [n]...: multiplies *bytes. */
static bool parameter_array(ptx_parser *p, uint64_t *bytes) {
  uint64_t value;
  uint8_t literal;
  while (ptx_take(p, '[')) {
    if (!ptx_take_number(p, &value, &literal) || !ptx_need(p, ']')) {
      return false;
    }
    *bytes = value <= 65536 ? *bytes * value : UINT64_MAX;
    if (*bytes > 65536) {
      return ptx_fail(p, SIM_BAD_PTX, "a parameter is larger than 65536 bytes");
    }
  }
  return true;
}

/* Entry parameters are placed in the argument block, others in the frame. */
static bool parameter(ptx_parser *p, bool entry, uint64_t *offset, sim_parameter *made) {
  const char *text = NULL;
  uint32_t length = 0;
  uint64_t align = 0, bytes;
  unsigned type = SIM_T_NONE;
  int32_t index;
  sim_symbol *symbol;
  if (!parameter_type(p, &type, &align, &text, &length)) {
    return false;
  }
  bytes = sim_type_bytes(type);
  if (bytes == 0 || align > 4096 || (align & (align - 1)) != 0) {
    return ptx_fail(p, SIM_BAD_PTX, "a parameter has no type or a bad alignment");
  }
  align = align != 0 ? align : bytes;
  if (!parameter_array(p, &bytes)) {
    return false;
  }
  index = ptx_symbol(p, text, length, p->line);
  if (index < 0) {
    return false;
  }
  *offset = (*offset + align - 1) / align * align;
  symbol = &p->program->symbols[index];
  symbol->space = SIM_PARAM;
  symbol->defined = 1;
  symbol->bytes = bytes;
  symbol->align = align;
  symbol->frame_offset = *offset + (entry ? SIM_ENTRY_PARAMETERS : 0);
  *made = (sim_parameter){.offset = *offset, .bytes = bytes, .align = align};
  *offset += bytes;
  return *offset <= 1u << 20 || ptx_fail(p, SIM_BAD_PTX, "the parameters are too large");
}

static bool parameter_list(ptx_parser *p, bool entry, uint64_t *offset, sim_function *function) {
  while (!ptx_take(p, ')')) {
    sim_parameter made;
    if (*p->at == '\0') {
      return ptx_fail(p, SIM_BAD_PTX, "the text ends inside a parameter list");
    }
    if (!parameter(p, entry, offset, &made)) {
      return false;
    }
    if (!SIM_GROW(function->parameters, function->parameter_capacity,
                  function->parameter_count)) {
      return ptx_no_memory(p);
    }
    function->parameters[function->parameter_count++] = made;
    ptx_take(p, ',');
  }
  return true;
}

/* .maxntid and the like between the parameters and the body. */
static bool performance_directives(ptx_parser *p, sim_function *function) {
  while (ptx_at(p, '.')) {
    const char *text;
    uint32_t length;
    uint64_t product = 1, value;
    uint32_t sizes[3] = {1, 1, 1}, count = 0;
    uint8_t literal;
    if (!ptx_take_word(p, &text, &length)) {
      return false;
    }
    if (ptx_is(text, length, ".pragma")) {
      if (!ptx_skip_past(p, ';')) {
        return false;
      }
      continue;
    }
    if (ptx_is(text, length, ".abi_preserve") || ptx_is(text, length, ".abi_preserve_control") ||
        ptx_at_number(p)) {
      do {
        if (!ptx_take_number(p, &value, &literal)) {
          return false;
        }
        product = product <= 65536 && value <= 65536 ? product * value : UINT64_MAX;
        if (count < 3) {
          sizes[count++] = value <= 65536 ? (uint32_t)value : 65536;
        }
      } while (ptx_take(p, ','));
    }
    if (ptx_is(text, length, ".reqnctapercluster")) {
      function->cluster = (sim_dim3){sizes[0], sizes[1], sizes[2]};
    }
    if (ptx_is(text, length, ".maxntid") || ptx_is(text, length, ".reqntid")) {
      function->max_threads = product < 1024 ? (uint32_t)product : 1024;
    }
  }
  return true;
}

static bool pragma_or_location(ptx_parser *p, const char *text, uint32_t length, bool *known) {
  uint64_t file, line;
  uint8_t literal;
  *known = true;
  if (ptx_is(text, length, ".loc")) {
    if (!ptx_take_number(p, &file, &literal) || !ptx_take_number(p, &line, &literal)) {
      return false;
    }
    p->source_line = (uint32_t)line;
    p->source_file = file <= 65535 ? (uint32_t)file : 0; /* ptx_unit knows the names at its end */
    ptx_skip_line(p);
    return true;
  }
  if (ptx_is(text, length, ".pragma")) {
    return ptx_skip_past(p, ';');
  }
  *known = false;
  return true;
}

static bool directive(ptx_parser *p) {
  const char *text;
  uint32_t length;
  bool known;
  enum sim_linkage linkage = SIM_L_LOCAL;
  if (!ptx_take_word(p, &text, &length)) {
    return false;
  }
  if (!pragma_or_location(p, text, length, &known) || known) {
    return !p->failed;
  }
  if (ptx_is(text, length, ".extern")) {
    linkage = SIM_L_EXTERN;
    if (!ptx_take_word(p, &text, &length)) {
      return false;
    }
  }
  if (ptx_is(text, length, ".reg")) {
    return ptx_registers(p);
  }
  for (unsigned space = SIM_GLOBAL; space <= SIM_CONST; space++) {
    if (ptx_is(text + 1, length - 1, sim_space_name(space))) {
      return ptx_variable(p, (enum sim_space)space, linkage);
    }
  }
  return ptx_fail(p, SIM_UNSUPPORTED, "'%.*s' in a function is not simulated", (int)length, text);
}

/* name: .branchtargets a, b, c; */
static bool branch_targets(ptx_parser *p, const char *name, uint32_t name_length) {
  sim_program *program = p->program;
  ptx_name *table = ptx_add(p, name, name_length, PTX_TABLE, (int32_t)program->row_count);
  uint32_t line = p->line, entries = 0;
  size_t index;
  if (table == NULL) {
    return false;
  }
  index = (size_t)(table - p->names);
  do {
    const char *text;
    uint32_t length;
    if (!ptx_take_name(p, &text, &length)) {
      return false;
    }
    if (program->row_count >= INT32_MAX / 2 ||
        !SIM_GROW(program->rows, program->row_capacity, program->row_count)) {
      return ptx_no_memory(p);
    }
    program->rows[program->row_count] = 0;
    if (!ptx_want_label(p, text, length, line, true, (int32_t)program->row_count++)) {
      return false;
    }
    entries++;
  } while (ptx_take(p, ','));
  p->names[index].entries = entries;
  return ptx_need(p, ';');
}

/* A label, with what may hang on it; *was false when the text here is no label. */
static bool label(ptx_parser *p, bool *was) {
  const char *begin = p->at, *text;
  uint32_t line = p->line, length, word_length;
  const char *word;
  *was = false;
  if (!ptx_name_char(*p->at)) {
    return true;
  }
  if (!ptx_take_name(p, &text, &length)) {
    return false;
  }
  if (!ptx_at(p, ':') || p->at[1] == ':') {
    p->at = begin;
    p->line = line;
    return true;
  }
  p->at++;
  *was = true;
  if (!ptx_at(p, '.') || (strncmp(p->at, ".branchtargets", 14) != 0 &&
                          strncmp(p->at, ".callprototype", 14) != 0 &&
                          strncmp(p->at, ".calltargets", 12) != 0)) {
    return ptx_add(p, text, length, PTX_LABEL, (int32_t)p->program->code_count) != NULL;
  }
  if (!ptx_take_word(p, &word, &word_length)) {
    return false;
  }
  if (ptx_is(word, word_length, ".branchtargets")) {
    return branch_targets(p, text, length);
  }
  return ptx_add(p, text, length, PTX_PROTOTYPE, 0) != NULL && ptx_skip_past(p, ';');
}

static bool statement(ptx_parser *p) {
  bool was;
  ptx_skip_space(p);
  if (*p->at == '\0') {
    return ptx_fail(p, SIM_BAD_PTX, "the text ends inside a function");
  }
  if (ptx_take(p, '{')) {
    return ptx_open_scope(p);
  }
  if (*p->at == '.') {
    return directive(p);
  }
  if (!label(p, &was) || was) {
    return !p->failed;
  }
  return ptx_instruction(p);
}

static bool body(ptx_parser *p, sim_function **function) {
  uint32_t depth = p->depth;
  sim_insn *last;
  sim_program *program = p->program;
  while (!ptx_at(p, '}') || p->depth > depth) {
    if (ptx_take(p, '}') ? !ptx_close_scope(p) : !statement(p)) {
      return false;
    }
  }
  if (!SIM_GROW(program->code, program->code_capacity, program->code_count)) {
    return ptx_no_memory(p);
  }
  *function = &program->functions[p->function];
  last = &program->code[program->code_count++];
  *last = (sim_insn){.guard = SIM_NO_ROW, .dst = SIM_NO_ROW, .dst2 = SIM_NO_ROW, .latency = 4,
                     .src = {SIM_NO_ROW, SIM_NO_ROW, SIM_NO_ROW, SIM_NO_ROW},
                     .op = SIM_OP_ret, .kind = SIM_K_CONTROL, .line = p->line,
                     .source_line = p->source_line, .source_file = p->source_file};
  last->target = p->function;
  last->run = sim_select_control(last);
  last->text = (uint32_t)sim_program_word(program, "ret", 3);
  p->at++;
  return true;
}

/* [ (result) ] name [ (parameters) ] in the scope of the new function; places its frame. */
static bool signature(ptx_parser *p, bool entry, sim_function *made, const char **name,
                      uint32_t *name_length) {
  uint64_t offset = 0;
  if (ptx_take(p, '(')) {
    sim_function result = {0};
    bool good = parameter_list(p, false, &p->frame, &result);
    if (good && result.parameter_count > 1) {
      good = ptx_fail(p, SIM_UNSUPPORTED, "a function with several results is not simulated");
    }
    if (good && result.parameter_count == 1) {
      made->result = result.parameters[0];
    }
    free(result.parameters);
    if (!good) {
      return false;
    }
  }
  if (!ptx_take_name(p, name, name_length)) {
    return false;
  }
  if (ptx_take(p, '(') &&
      !parameter_list(p, entry, entry ? &offset : &p->frame, made)) {
    return false;
  }
  made->parameter_bytes = offset;
  return performance_directives(p, made);
}

/* Makes or updates the function's record; a body replaces a declaration. */
static bool enter(ptx_parser *p, sim_function *made, const char *name, uint32_t length,
                  enum sim_linkage linkage, bool has_body) {
  sim_program *program = p->program;
  int32_t index;
  sim_symbol *symbol;
  sim_function *function;
  uint32_t place;
  ptx_name *known = ptx_find(p, name, length, &place);
  if (known != NULL && known->kind == PTX_SYMBOL && known->depth == 0) {
    index = known->value;
  } else {
    if (!SIM_GROW(program->symbols, program->symbol_capacity, program->symbol_count)) {
      return ptx_no_memory(p);
    }
    index = (int32_t)program->symbol_count;
    program->symbols[index] = (sim_symbol){.forward = index, .function = -1, .align = 1,
                                           .unit = p->unit, .line = p->line,
                                           .name = strndup(name, length)};
    program->symbol_count++;
    if (program->symbols[index].name == NULL) {
      return ptx_no_memory(p);
    }
  }
  symbol = &program->symbols[index];
  if (symbol->function < 0) {
    if (symbol->bytes != 0) {
      return ptx_fail(p, SIM_BAD_PTX, "'%s' is a variable already", symbol->name);
    }
    if (!SIM_GROW(program->functions, program->function_capacity, program->function_count)) {
      return ptx_no_memory(p);
    }
    symbol->function = (int32_t)program->function_count++;
    program->functions[symbol->function] = (sim_function){.name = strndup(name, length)};
    if (program->functions[symbol->function].name == NULL) {
      return ptx_no_memory(p);
    }
  } else if (has_body && program->functions[symbol->function].body) {
    return ptx_fail(p, SIM_BAD_PTX, "'%s' is defined twice", symbol->name);
  }
  symbol->linkage = (uint8_t)(has_body || !symbol->defined ? linkage : symbol->linkage);
  symbol->defined |= has_body;
  function = &program->functions[symbol->function];
  if (!function->body) {
    char *kept = function->name;
    free(function->parameters);
    *function = *made;
    function->name = kept;
    function->symbol = index;
    made->parameters = NULL;
  }
  function->body |= has_body;
  p->function = symbol->function;
  return true;
}

/* After .entry or .func. */
bool ptx_function(ptx_parser *p, bool entry, enum sim_linkage linkage) {
  sim_function made = {.entry = entry, .max_threads = 1024};
  sim_function *function = NULL;
  const char *name = NULL;
  uint32_t name_length = 0, place;
  bool good, has_body;
  p->registers = 0;
  p->class_count = 0;
  p->frame = 0;
  p->frame_most = 0;
  if (!ptx_open_scope(p)) {
    return false;
  }
  good = signature(p, entry, &made, &name, &name_length);
  has_body = good && !ptx_at(p, ';');
  good = good && (!has_body || ptx_need(p, '{')) &&
         enter(p, &made, name, name_length, linkage, has_body);
  free(made.parameters);
  if (!good) {
    return false;
  }
  if (has_body) {
    int32_t symbol = p->program->functions[p->function].symbol;
    int32_t start = (int32_t)p->program->code_count;
    /* The name must be known inside, for recursion, at unit level. */
    if (ptx_find(p, name, name_length, &place) == NULL) {
      ptx_name *self = ptx_add(p, name, name_length, PTX_SYMBOL, symbol);
      if (self == NULL) {
        return false;
      }
    }
    if (!body(p, &function)) {
      return false;
    }
    function->start = start;
    function->end = (int32_t)p->program->code_count;
    p->frame_most = p->frame > p->frame_most ? p->frame : p->frame_most;
    function->frame_bytes = (p->frame_most + 15) / 16 * 16;
  } else {
    p->at++;
  }
  if (!ptx_close_scope(p)) {
    return false;
  }
  if (has_body) { /* labels are known now */
    function->registers = ptx_assign_rows(p, function->start, function->end);
  }
  if (ptx_find(p, name, name_length, &place) == NULL &&
      ptx_add(p, name, name_length, PTX_SYMBOL, p->program->functions[p->function].symbol) ==
          NULL) {
    return false;
  }
  p->function = -1;
  return true;
}

/* .file N "name" [, time, size] */
static bool file_directive(ptx_parser *p) {
  sim_program *program = p->program;
  const char *text;
  uint32_t length;
  uint64_t number;
  uint8_t literal;
  if (!ptx_take_number(p, &number, &literal) || !ptx_take_string(p, &text, &length)) {
    return false;
  }
  ptx_skip_line(p);
  if (number > 65535) {
    return true;
  }
  while (p->file_count <= number) {
    if (!SIM_GROW(p->files, p->file_capacity, p->file_count)) {
      return ptx_no_memory(p);
    }
    p->files[p->file_count++] = -1;
  }
  if (!SIM_GROW(program->files, program->file_capacity, program->file_count)) {
    return ptx_no_memory(p);
  }
  program->files[program->file_count] = strndup(text, length);
  if (program->files[program->file_count] == NULL) {
    return ptx_no_memory(p);
  }
  p->files[number] = (int32_t)program->file_count++;
  return true;
}

/* .alias name, target; */
static bool alias(ptx_parser *p) {
  const char *name, *target;
  uint32_t name_length, target_length, place;
  ptx_name *from, *to;
  if (!ptx_take_name(p, &name, &name_length) || !ptx_need(p, ',') ||
      !ptx_take_name(p, &target, &target_length) || !ptx_need(p, ';')) {
    return false;
  }
  from = ptx_find(p, name, name_length, &place);
  to = ptx_find(p, target, target_length, &place);
  if (from == NULL || to == NULL || from->kind != PTX_SYMBOL || to->kind != PTX_SYMBOL) {
    return ptx_fail(p, SIM_BAD_PTX, ".alias of '%.*s' names what is not declared",
                    (int)name_length, name);
  }
  /* Never a circle: the target must not lead back here. */
  if (sim_program_symbol(p->program, to->value) != &p->program->symbols[from->value]) {
    p->program->symbols[from->value].forward = to->value;
  }
  return true;
}

static bool linked_directive(ptx_parser *p, const char *text, uint32_t length) {
  enum sim_linkage linkage = SIM_L_LOCAL;
  for (;;) {
    if (ptx_is(text, length, ".visible")) {
      linkage = SIM_L_VISIBLE;
    } else if (ptx_is(text, length, ".weak")) {
      linkage = SIM_L_WEAK;
    } else if (ptx_is(text, length, ".common")) {
      linkage = SIM_L_COMMON;
    } else if (ptx_is(text, length, ".extern")) {
      linkage = SIM_L_EXTERN;
    } else {
      break;
    }
    if (!ptx_take_word(p, &text, &length)) {
      return false;
    }
  }
  if (ptx_is(text, length, ".entry") || ptx_is(text, length, ".func")) {
    return ptx_function(p, text[1] == 'e', linkage);
  }
  for (unsigned space = SIM_GLOBAL; space <= SIM_CONST; space++) {
    if (text[0] == '.' && (space == SIM_GLOBAL || space == SIM_SHARED || space == SIM_CONST) &&
        ptx_is(text + 1, length - 1, sim_space_name(space))) {
      return ptx_variable(p, (enum sim_space)space, linkage);
    }
  }
  if (ptx_is(text, length, ".tex")) {
    return ptx_fail(p, SIM_UNSUPPORTED, "'.tex' variables are not simulated");
  }
  return ptx_fail(p, SIM_BAD_PTX, "'%.*s' is not known", (int)(length < 60 ? length : 60), text);
}

/* The unit's file numbers into places in the program's list, from 1; .file may follow its use. */
static void name_files(ptx_parser *p, size_t first) {
  for (size_t i = first; i < p->program->code_count; i++) {
    uint32_t *file = &p->program->code[i].source_file;
    *file = *file < p->file_count && p->files[*file] >= 0 ? (uint32_t)p->files[*file] + 1 : 0;
  }
}

bool ptx_unit(ptx_parser *p) {
  size_t first = p->program->code_count;
  while (!ptx_at(p, '\0')) {
    const char *text;
    uint32_t length;
    bool known, good;
    if (!ptx_take_word(p, &text, &length) || !pragma_or_location(p, text, length, &known)) {
      return false;
    }
    if (known) {
      continue;
    }
    if (ptx_is(text, length, ".version") || ptx_is(text, length, ".target") ||
        ptx_is(text, length, ".address_size")) {
      ptx_skip_line(p);
      continue;
    }
    if (ptx_is(text, length, ".file")) {
      good = file_directive(p);
    } else if (ptx_is(text, length, ".alias")) {
      good = alias(p);
    } else if (ptx_is(text, length, ".section")) {
      good = ptx_take_word(p, &text, &length) && ptx_skip_braces(p);
    } else {
      good = linked_directive(p, text, length);
    }
    if (!good) {
      return false;
    }
  }
  name_files(p, first);
  return true;
}
