/* SPDX-License-Identifier: MIT */
/* Declarations: registers and variables of every space, with their initialisers. */
#include "ptx_parser.h"

#include <stdlib.h>
#include <string.h>

unsigned ptx_type(const char *text, uint32_t length) {
  for (unsigned type = 1; type < SIM_TYPES; type++) {
    if (ptx_is(text, length, sim_type_name(type))) {
      return type;
    }
  }
  return SIM_T_NONE;
}

/* After ".reg": .type name<count>, name, ...; */
bool ptx_registers(ptx_parser *p) {
  const char *text;
  uint32_t length;
  unsigned type;
  uint8_t literal;
  if (!ptx_take_word(p, &text, &length)) {
    return false;
  }
  type = text[0] == '.' ? ptx_type(text + 1, length - 1) : SIM_T_NONE;
  if (type == SIM_T_NONE) {
    return ptx_fail(p, SIM_UNSUPPORTED, "registers of type '%.*s' are not simulated", (int)length,
                    text);
  }
  do {
    uint64_t count = 1;
    uint32_t rows = type == SIM_B128 ? 2 : 1;
    ptx_name *name;
    if (!ptx_take_name(p, &text, &length)) {
      return false;
    }
    name = ptx_add(p, text, length, PTX_REGISTER, (int32_t)p->registers);
    if (name == NULL) {
      return false;
    }
    if (ptx_take(p, '<')) {
      if (!ptx_take_number(p, &count, &literal) || !ptx_need(p, '>')) {
        return false;
      }
      name->count = count < SIM_MAX_REGISTERS ? (uint32_t)count : SIM_MAX_REGISTERS;
    }
    if (count == 0 || count > SIM_MAX_REGISTERS ||
        p->registers + count * rows > SIM_MAX_REGISTERS) {
      return ptx_fail(p, SIM_BAD_PTX, "a function has more than %d registers", SIM_MAX_REGISTERS);
    }
    name->rows = (uint8_t)rows;
    for (uint64_t i = 0; i < count * rows; i++) {
      if (!SIM_GROW(p->classes, p->class_capacity, p->class_count)) {
        return ptx_no_memory(p);
      }
      p->classes[p->class_count++] = type == SIM_PRED   ? PTX_CLASS_PREDICATE
                                     : type == SIM_B128 ? PTX_CLASS_PAIR
                                                        : PTX_CLASS_DATA;
    }
    p->registers += (uint32_t)count * rows;
  } while (ptx_take(p, ','));
  return ptx_need(p, ';');
}

/* The symbol of this name at unit level, made if it is new; -1 on failure. */
int32_t ptx_symbol(ptx_parser *p, const char *text, uint32_t length, uint32_t line) {
  sim_program *program = p->program;
  uint32_t index;
  ptx_name *name = p->depth == 0 ? ptx_find(p, text, length, &index) : NULL;
  sim_symbol *symbol;
  if (name != NULL && name->kind == PTX_SYMBOL && name->depth == 0) {
    return name->value;
  }
  if (program->symbol_count >= INT32_MAX / 2 ||
      !SIM_GROW(program->symbols, program->symbol_capacity, program->symbol_count)) {
    ptx_no_memory(p);
    return -1;
  }
  symbol = &program->symbols[program->symbol_count];
  *symbol = (sim_symbol){.forward = (int32_t)program->symbol_count, .function = -1, .align = 1,
                         .unit = p->unit, .line = line};
  symbol->name = strndup(text, length);
  program->symbol_count++;
  if (symbol->name == NULL) {
    ptx_no_memory(p);
    return -1;
  }
  if (ptx_add(p, text, length, PTX_SYMBOL, symbol->forward) == NULL) {
    return -1;
  }
  return symbol->forward;
}

static bool add_reloc(ptx_parser *p, sim_symbol *symbol, uint64_t offset, unsigned bytes,
                      unsigned shift) {
  const char *text;
  uint32_t length, index;
  ptx_name *name;
  sim_reloc *reloc;
  bool generic;
  uint64_t addend = 0;
  uint8_t literal;
  if (!ptx_take_name(p, &text, &length)) {
    return false;
  }
  generic = ptx_is(text, length, "generic") && ptx_take(p, '(');
  if (generic && !ptx_take_name(p, &text, &length)) {
    return false;
  }
  if (ptx_take(p, '+') && !ptx_take_number(p, &addend, &literal)) {
    return false;
  }
  if (generic && !ptx_need(p, ')')) {
    return false;
  }
  if (ptx_take(p, '+')) {
    uint64_t more;
    if (!ptx_take_number(p, &more, &literal)) {
      return false;
    }
    addend += more;
  }
  name = ptx_find(p, text, length, &index);
  if (name == NULL || name->kind != PTX_SYMBOL) {
    return ptx_fail(p, SIM_BAD_PTX, "the initialiser names '%.*s', which nothing declares",
                    (int)length, text);
  }
  if (!SIM_GROW(symbol->relocs, symbol->reloc_capacity, symbol->reloc_count)) {
    return ptx_no_memory(p);
  }
  p->program->symbols[name->value].used = 1;
  p->program->symbols[name->value].address_taken = 1;
  reloc = &symbol->relocs[symbol->reloc_count++];
  *reloc = (sim_reloc){.offset = offset, .addend = addend, .symbol = name->value,
                       .bytes = (uint8_t)bytes, .shift = (uint8_t)shift};
  return true;
}

/* 0xFF00(sym): the byte of the address that the mask names. */
static bool masked_reloc(ptx_parser *p, sim_symbol *symbol, uint64_t mask, uint64_t offset) {
  unsigned shift = 0;
  while (shift < 56 && (mask >> shift & 0xff) == 0) {
    shift += 8;
  }
  return ptx_need(p, '(') && add_reloc(p, symbol, offset, 1, shift) && ptx_need(p, ')');
}

static bool initial_value(ptx_parser *p, int32_t index, uint64_t offset, unsigned type) {
  sim_symbol *symbol = &p->program->symbols[index];
  unsigned bytes = sim_type_bytes(type);
  uint64_t value;
  uint8_t literal;
  if (symbol->unsized && offset + bytes <= 1u << 24) {
    symbol->bytes = offset + bytes; /* name[] = {...} is as long as its values */
  }
  if (offset + bytes > symbol->bytes || bytes > 8) {
    return ptx_fail(p, SIM_BAD_PTX, "too many initialisers for '%s'", symbol->name);
  }
  if (!ptx_at_number(p)) {
    return add_reloc(p, symbol, offset, bytes, 0);
  }
  if (!ptx_take_number(p, &value, &literal)) {
    return false;
  }
  if (ptx_at(p, '(')) {
    return masked_reloc(p, symbol, value, offset);
  }
  if (literal == 2 && bytes == 4) {
    double wide;
    float narrow;
    memcpy(&wide, &value, sizeof wide);
    narrow = (float)wide;
    value = 0;
    memcpy(&value, &narrow, sizeof narrow);
  }
  if (offset + 8 > symbol->init_bytes) {
    uint64_t wanted = offset + 8 < 64 ? 128 : (offset + 8) * 2;
    uint8_t *grown = realloc(symbol->init, wanted);
    if (grown == NULL) {
      return ptx_no_memory(p);
    }
    memset(grown + symbol->init_bytes, 0, wanted - symbol->init_bytes);
    symbol->init = grown;
    symbol->init_bytes = wanted;
  }
  memcpy(symbol->init + offset, &value, bytes);
  return true;
}

static bool initialiser(ptx_parser *p, int32_t index, unsigned type) {
  uint64_t offset = 0;
  unsigned depth = 0;
  do {
    if (ptx_take(p, '{')) {
      if (++depth > SIM_MAX_NESTING) {
        return ptx_fail(p, SIM_BAD_PTX, "the initialiser nests too deep");
      }
    } else if (depth != 0 && ptx_take(p, '}')) {
      depth--;
    } else if (!ptx_take(p, ',')) {
      if (!initial_value(p, index, offset, type)) {
        return false;
      }
      offset += sim_type_bytes(type);
    }
  } while (depth != 0);
  return true;
}

static bool place_in_frame(ptx_parser *p, sim_symbol *symbol) {
  p->frame = (p->frame + symbol->align - 1) / symbol->align * symbol->align;
  symbol->frame_offset = p->frame;
  p->frame += symbol->bytes;
  return p->frame <= SIM_MAX_FRAME ||
         ptx_fail(p, SIM_BAD_PTX, "a function has more than %u bytes of local memory",
                  SIM_MAX_FRAME);
}

/* [n][m]...: multiplies *bytes; [] leaves the size open. */
static bool dimensions(ptx_parser *p, uint64_t *bytes, bool *unsized) {
  *unsized = false;
  while (ptx_take(p, '[')) {
    uint64_t count = 0;
    uint8_t literal = 0;
    if (ptx_at(p, ']')) {
      *unsized = true;
    } else if (!ptx_take_number(p, &count, &literal)) {
      return false;
    }
    if (literal != 0 && !*unsized) {
      return ptx_fail(p, SIM_BAD_PTX, "an array's size is not an integer");
    }
    if (count != 0 && *bytes > SIM_MAX_VARIABLE / count) {
      return ptx_fail(p, SIM_BAD_PTX, "an array of %llu elements is too large",
                      (unsigned long long)count);
    }
    *bytes *= count;
    if (!ptx_need(p, ']')) {
      return false;
    }
  }
  return true;
}

static bool declare_one(ptx_parser *p, const char *text, uint32_t length, enum sim_space space,
                        enum sim_linkage linkage, unsigned type, uint64_t unit_bytes,
                        uint64_t align) {
  uint64_t bytes = unit_bytes;
  bool unsized;
  int32_t index = ptx_symbol(p, text, length, p->line);
  sim_symbol *symbol;
  if (index < 0 || !dimensions(p, &bytes, &unsized)) {
    return false;
  }
  symbol = &p->program->symbols[index];
  if (symbol->function >= 0) {
    return ptx_fail(p, SIM_BAD_PTX, "'%s' is a function already", symbol->name);
  }
  if (symbol->defined && linkage != SIM_L_EXTERN) {
    return ptx_fail(p, SIM_BAD_PTX, "'%s' is defined twice", symbol->name);
  }
  if (symbol->defined) {
    return true;
  }
  symbol->space = (uint8_t)space;
  symbol->linkage = (uint8_t)linkage;
  symbol->align = align;
  symbol->bytes = bytes;
  symbol->unsized = unsized;
  symbol->defined = linkage != SIM_L_EXTERN;
  if (space == SIM_LOCAL || space == SIM_PARAM) {
    return place_in_frame(p, symbol);
  }
  if (ptx_take(p, '=')) {
    return initialiser(p, index, type);
  }
  return true;
}

/* After the space's word: .align N .v2 .type name[n] = {...}, name...; */
bool ptx_variable(ptx_parser *p, enum sim_space space, enum sim_linkage linkage) {
  uint64_t align = 0, vector = 1, bytes;
  unsigned type = SIM_T_NONE;
  const char *text;
  uint32_t length;
  uint8_t literal;
  for (;;) {
    if (!ptx_take_word(p, &text, &length)) {
      return false;
    }
    if (text[0] != '.') {
      break;
    }
    if (ptx_is(text, length, ".align")) {
      if (!ptx_take_number(p, &align, &literal)) {
        return false;
      }
      if (align == 0 || align > 4096 || (align & (align - 1)) != 0) {
        return ptx_fail(p, SIM_BAD_PTX, "an alignment is not a power of two up to 4096");
      }
    } else if (ptx_is(text, length, ".v2") || ptx_is(text, length, ".v4")) {
      vector = (uint64_t)(text[2] - '0');
    } else if (ptx_is(text, length, ".attribute")) {
      if (!ptx_skip_past(p, ')')) {
        return false;
      }
    } else if (ptx_is(text, length, ".texref") || ptx_is(text, length, ".surfref") ||
               ptx_is(text, length, ".samplerref")) {
      type = SIM_B64;
    } else {
      type = ptx_type(text + 1, length - 1);
      if (type == SIM_T_NONE) {
        return ptx_fail(p, SIM_BAD_PTX, "'%.*s' does not belong in a declaration", (int)length,
                        text);
      }
    }
  }
  bytes = sim_type_bytes(type) * vector;
  if (bytes == 0) {
    return ptx_fail(p, SIM_BAD_PTX, "a variable has no type");
  }
  for (;;) {
    if (!declare_one(p, text, length, space, linkage, type, bytes, align != 0 ? align : bytes)) {
      return false;
    }
    if (!ptx_take(p, ',')) {
      return ptx_need(p, ';');
    }
    if (!ptx_take_name(p, &text, &length)) {
      return false;
    }
  }
}
