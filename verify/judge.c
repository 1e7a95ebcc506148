/* SPDX-License-Identifier: MIT */
/* Judges each instruction: is there a pair of stamps around it that its source line stands between? */
#include "verify_private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bookkeeping ---- */

/* Indices and addresses where nothing else is made of them: use.c tells. */
static bool serves(const v_instruction *i) {
  static const char *const words[] = {"PLOP3", "UPLOP3", "ISETP", "UISETP", "LEA", "ULEA", "PRMT", NULL};
  static const char *const beginnings[] = {"IMAD.IADD", "IMAD.WIDE", "IMAD.SHL", NULL};
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (ink_v_opcode_in(i, words) || *opcode == 'U')
    return true;
  for (const char *const *word = beginnings; *word; word++)
    if (bytes >= strlen(*word) && memcmp(opcode, *word, strlen(*word)) == 0)
      return true;
  return false;
}

/* LDC R4, c[0x3][R6]: a table of constants, at an index. */
static bool reads_table(const v_instruction *i) {
  const char *open = memmem(i->text, i->text_bytes, "][", 2);
  return open && open + 2 < i->text + i->text_bytes && (open[2] == 'R' || open[2] == 'U') && open[3] != 'Z' &&
         !(open[2] == 'U' && open[3] == 'R' && open[4] == 'Z');
}

/* LDL R4, [R1+0x10], STL: a register that was put aside. */
bool ink_v_is_spill(const v_instruction *i) {
  return ink_v_opcode_in(i, (const char *const[]){"LDL", "STL", NULL}) &&
         (memmem(i->text, i->text_bytes, "[R1]", 4) || memmem(i->text, i->text_bytes, "[R1+", 4));
}

bool ink_v_only_moves(const v_instruction *i) {
  static const char *const words[] = {
      "MOV", "UMOV", "MOV64", "S2R", "S2UR", "CS2R", "R2UR", "R2P", "P2R", "UR2UP", "UP2UR",
      "BRA", "BRX", "BSSY", "BSYNC", "BREAK", "BMOV", "EXIT", "RET", "NOP", "YIELD", "WARPSYNC", "COLLECTIVE",
      "ENDCOLLECTIVE", "DEPBAR", "ELECT", NULL};
  if (ink_v_opcode_in(i, words) || ink_v_is_spill(i))
    return true;
  return ink_v_opcode_in(i, (const char *const[]){"LDC", "LDCU", "ULDC", NULL}) && (!i->work || !reads_table(i));
}

/* Moves, constants, special registers, branches, addresses. */
static bool is_bookkeeping(const v_instruction *i) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (ink_v_only_moves(i))
    return true;
  if (ink_v_opcode_in(i, (const char *const[]){"LDC", "LDCU", "ULDC", NULL}))
    return false;
  if (serves(i) && !ink_v_is_device_unit(i))
    return !i->work;
  if (ink_v_opcode_is(i, "CALL") && memmem(i->text, i->text_bytes, "`(.L_", 5))
    return true; /* into the function itself: the assembler's own flow, not a call of the source */
  if ((bytes >= 8 && memcmp(opcode, "IMAD.MOV", 8) == 0) || (bytes >= 8 && memcmp(opcode, "IMAD.U32", 8) == 0))
    return true;
  if (ink_v_opcode_is(i, "IMAD") && memmem(i->text, i->text_bytes, ", RZ, RZ, -", 11))
    return true; /* a move that negates: a loop's bound, to be counted up to zero */
  /* HFMA2 R5, -RZ, RZ, 0, 0 loads a constant */
  return ink_v_opcode_is(i, "HFMA2") && memmem(i->text, i->text_bytes, "-RZ, RZ", 7);
}

/* IMAD R9, R9, 0x100, R21: an index that the compiler counts on with the loop, a row further. */
static bool is_scaling(const v_instruction *i) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  if (bytes != 4 || memcmp(opcode, "IMAD", 4) != 0)
    return false;
  const char *text = i->text, *end = text + i->text_bytes;
  const char *number = memmem(text, i->text_bytes, ", 0x", 4);
  uint64_t factor = 0;
  for (number = number ? number + 4 : end; number < end && isxdigit((unsigned char)*number); number++)
    factor = factor << 4 | (uint64_t)(isdigit((unsigned char)*number) ? *number - '0' : (*number | 32) - 'a' + 10);
  return number < end && *number == ',' && factor && (factor & (factor - 1)) == 0;
}

/* What a loop's head is made of. */
static bool is_counting(const v_instruction *i) {
  static const char *const words[] = {"IADD3", "UIADD3", "VIADD", "IADD", "ISETP", "UISETP", "SEL",
                                      "VIMNMX", "IMNMX", "LOP3", "ULOP3", "SHF", "USHF", "VOTE", "VOTEU",
                                      "IMAD.X", NULL};
  return ink_v_opcode_in(i, words) || is_scaling(i) || is_bookkeeping(i) || (serves(i) && !ink_v_is_device_unit(i));
}

static bool same_line(const ink_verify *v, v_place a, v_place b) {
  const v_frame *x = &v->frames[a.first + a.count - 1], *y = &v->frames[b.first + b.count - 1];
  return x->file == y->file && x->line == y->line;
}

/* A line whose instructions only count, compare and branch: by its text the head of a loop, or with a branch. */
static bool is_loop_head(const ink_verify *v, const v_function *f, v_place place) {
  const v_frame *inner = &v->frames[place.first + place.count - 1];
  const v_lines *lines = v->lines ? &v->lines[inner->file] : NULL;
  bool branches = lines && lines->of && inner->line <= lines->count && lines->of[inner->line].loop;
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    const v_instruction *at = &v->instructions[i];
    if (at->ours || !at->place.count || !same_line(v, at->place, place))
      continue;
    if (!is_counting(at))
      return false;
    branches = branches || ink_v_opcode_in(at, (const char *const[]){"BRA", NULL});
  }
  return branches;
}

/* The operands behind the first one, a carry that is written left out and given in *carry (0: none, else the digit). */
static const char *behind_result(const v_instruction *i, const char *from, char *carry) {
  const char *end = i->text + i->text_bytes, *comma = memchr(from, ',', (size_t)(end - from));
  *carry = 0;
  if (comma && end - comma > 5 && comma[2] == 'P' && isdigit((unsigned char)comma[3]) && comma[4] == ',') {
    *carry = comma[3];
    comma += 4;
  }
  return comma && end - comma > 2 ? comma + 2 : end;
}

/* R1 is the stack pointer in all that ptxas makes: where a frame is made and taken down, and where it is, is the
 * function's, no line's. "IADD3 R3, R1, c[0x0][0x20], RZ", "IADD3 R6, P1, R1, UR4, RZ" */
static bool adds_to_the_stack(const v_instruction *i, char *carry) {
  size_t bytes;
  const char *at = ink_v_opcode(i, &bytes), *end = i->text + i->text_bytes;
  if (bytes < 4 || (memcmp(at, "IADD", 4) && (bytes < 5 || memcmp(at, "VIADD", 5))))
    return false;
  const char *operands = behind_result(i, at, carry);
  return end - operands > 4 && !memcmp(operands, "R1, ", 4);
}

/* The same, and the upper half of that: "IMAD.X R7, RZ, RZ, c[0x0][0x24], P1". */
static bool is_of_the_stack(const ink_verify *v, const v_function *f, const v_instruction *i) {
  char carry;
  if (adds_to_the_stack(i, &carry))
    return true;
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes), *last = memrchr(i->text, ',', i->text_bytes);
  if (bytes < 2 || memcmp(opcode + bytes - 2, ".X", 2) || !last || i->text + i->text_bytes - last < 4 || last[2] != 'P')
    return false;
  const char wanted = last[3];
  const v_instruction *first = &v->instructions[f->first];
  for (const v_instruction *from = i; from-- > first;) {
    size_t n;
    const char *word = ink_v_opcode(from, &n);
    const bool is_stack = adds_to_the_stack(from, &carry);
    if (!is_stack)
      behind_result(from, word, &carry);
    if (carry == wanted)
      return is_stack;
    if (n + 2 < from->text_bytes && word[n + 1] == 'P' && word[n + 2] == wanted)
      return false; /* a comparison wrote it */
  }
  return false;
}

static bool is_judged(const ink_verify *v, const v_function *f, const v_instruction *i,
                      bool bookkeeping) {
  if (i->ours || !i->place.count || ink_v_is_argument(v, f, (uint32_t)(i - v->instructions)))
    return false;
  if (is_of_the_stack(v, f, i) || ink_v_opcode_in(i, (const char *const[]){"NOP", "EXIT", "RET", "BRA", "BSSY", "BSYNC", NULL}))
    return false;
  return bookkeeping || (!is_bookkeeping(i) && !(is_counting(i) && is_loop_head(v, f, i->place)));
}

/* ---- the verdict ---- */

typedef struct judgement {
  ink_verify *v;
  const v_function *f;
  v_stamp *stamps;
  size_t n;
  const uint64_t *last, *next; /* of the instruction at hand */
  size_t words;
  bool exact; /* code of a mark's own line, on a side of it that the text does not tell, and of another file, is nowhere in place */
} judgement;

static bool has_bit(const uint64_t *set, size_t bit) { return set[bit / 64] >> bit % 64 & 1; }

/* The rewriter's marks, and those whose text is not to be seen, are held against no code of their statement: docs/verify.md. */
static bool is_of_text(const v_stamp *stamp) {
  return stamp->mark && strncmp(stamp->mark->macro, "INK_", 4) != 0;
}

/* Is `place` between the stamps a and b (n: the begin, n + 1: the end)? Around a loop's end, where b
 * does not stand behind a, it may be behind a or before b. */
static bool between(const judgement *j, v_place place, size_t a, size_t b) {
  const int after_a = a == j->n ? 1 : ink_v_compare_stamp(j->v, place, &j->stamps[a]);
  const int before_b = b == j->n + 1 ? -1 : ink_v_compare_stamp(j->v, place, &j->stamps[b]);
  if (after_a == 2 || before_b == 2)
    return !j->exact;
  if (after_a == 0 || before_b == 0)
    return !j->exact || !((after_a == 0 && is_of_text(&j->stamps[a])) || (before_b == 0 && is_of_text(&j->stamps[b])));
  const bool forward = a == j->n || b == j->n + 1 ||
                       ink_v_compare_stamps(j->v, &j->stamps[a], &j->stamps[b]) < 0;
  return forward ? after_a > 0 && before_b < 0 : after_a > 0 || before_b < 0;
}

/* Reached in a way that is not seen; or between marks that the machine code does not tell apart. */
static bool is_unknown(const judgement *j) {
  for (size_t s = 0; s < j->n; s++)
    if (j->stamps[s].shared && has_bit(j->last, s) && has_bit(j->next, s))
      return true;
  return has_bit(j->last, j->n + 2) || has_bit(j->next, j->n + 2);
}

static bool in_place(const judgement *j, v_place place) {
  if (is_unknown(j))
    return true;
  for (size_t a = 0; a < j->n + 1; a++)
    for (size_t b = 0; b < j->n + 2 && has_bit(j->last, a); b++)
      if (b != j->n && has_bit(j->next, b) && between(j, place, a, b))
        return true;
  return false;
}

/* ---- lines that are inlined in several places ----
 * The assembler's line table tells the line of an instruction, but of a helper that is inlined twice it
 * often names the wrong call. So each of the calls that it names anywhere will do; and each must have
 * at least one instruction where it belongs. */

typedef struct variant {
  v_place place;
  uint32_t count; /* instructions that the table gives to it */
  uint32_t moved; /* of these, as leaks of their own */
  bool seen;      /* one of the line's instructions lies where this one belongs */
} variant;

typedef struct variants {
  variant *items;
  size_t count, room;
} variants;

static bool same_place(const ink_verify *v, v_place a, v_place b) {
  return a.count == b.count && memcmp(&v->frames[a.first], &v->frames[b.first],
                                      a.count * sizeof *v->frames) == 0;
}

static bool add_variant(const ink_verify *v, variants *list, v_place place) {
  for (size_t i = 0; i < list->count; i++)
    if (same_place(v, list->items[i].place, place)) {
      list->items[i].count++;
      return true;
    }
  if (!ink_v_room((void **)&list->items, list->count, &list->room, sizeof *list->items))
    return false;
  list->items[list->count++] = (variant){.place = place, .count = 1};
  return true;
}

static void count_moved(const ink_verify *v, variants *list, v_place place) {
  for (size_t i = 0; i < list->count; i++)
    list->items[i].moved += same_place(v, list->items[i].place, place);
}

static bool any_in_place(const judgement *j, variants *list, v_place place) {
  bool fine = false;
  for (size_t i = 0; i < list->count; i++)
    if (same_line(j->v, list->items[i].place, place) && in_place(j, list->items[i].place))
      fine = list->items[i].seen = true;
  return fine;
}

/* The stamps that stand around a place in the source. */
static void around(const judgement *j, v_place place, uint32_t *after, uint32_t *before) {
  *after = *before = INK_V_NONE;
  for (size_t s = 0; s < j->n; s++) {
    const int order = ink_v_compare_stamp(j->v, place, &j->stamps[s]);
    if (order == 1 && (*after == INK_V_NONE ||
                       ink_v_compare_stamps(j->v, &j->stamps[*after], &j->stamps[s]) == -1))
      *after = (uint32_t)s;
    if (order == -1 && (*before == INK_V_NONE ||
                        ink_v_compare_stamps(j->v, &j->stamps[s], &j->stamps[*before]) == -1))
      *before = (uint32_t)s;
  }
}

/* One of the stamps of a set, for the report: the first in the source, NONE for the edge. */
static uint32_t first_of(const judgement *j, const uint64_t *set) {
  for (size_t s = 0; s < j->n; s++)
    if (has_bit(set, s))
      return (uint32_t)s;
  return INK_V_NONE;
}

/* ---- gathering ---- */

typedef struct found {
  ink_verify_leak leak;
  v_place place;
  bool absent; /* nothing of the call was found where it belongs */
  struct {
    char opcode[28];
    uint32_t count;
  } kinds[12];
} found;

static void count_opcode(found *at, const v_instruction *i) {
  size_t bytes;
  const char *opcode = ink_v_opcode(i, &bytes);
  char word[28];
  snprintf(word, sizeof word, "%.*s", (int)(bytes < 27 ? bytes : 27), opcode);
  for (size_t k = 0; k < sizeof at->kinds / sizeof *at->kinds; k++)
    if (!at->kinds[k].count || strcmp(at->kinds[k].opcode, word) == 0) {
      memcpy(at->kinds[k].opcode, word, sizeof word);
      at->kinds[k].count++;
      return;
    }
}

const v_frame *ink_v_users_frame(const ink_verify *v, v_place place) {
  uint32_t at = place.count - 1;
  while (at > 0 && v->lines && v->lines[v->frames[place.first + at].file].toolkit)
    at--;
  return &v->frames[place.first + at];
}

/* *which is the leak that the instruction was added to. */
static bool add_leak(const judgement *j, const v_instruction *i, found **list, size_t *count,
                     size_t *room, uint32_t *which) {
  ink_verify_leak leak = {.count = 1};
  const v_frame *inner = ink_v_users_frame(j->v, i->place);
  leak.line = inner->line;
  leak.file = j->v->files[inner->file];
  around(j, i->place, &leak.belongs_after, &leak.belongs_before);
  leak.found_after = first_of(j, j->last);
  leak.found_before = first_of(j, j->next);
  for (size_t n = 0; n < *count; n++) {
    found *at = &(*list)[n];
    if (at->leak.line == leak.line && at->leak.belongs_after == leak.belongs_after &&
        at->leak.found_after == leak.found_after && at->leak.found_before == leak.found_before) {
      at->leak.count++;
      count_opcode(at, i);
      *which = (uint32_t)n;
      return true;
    }
  }
  if (!ink_v_room((void **)list, *count, room, sizeof **list))
    return false;
  *which = (uint32_t)*count;
  found *at = &(*list)[(*count)++];
  *at = (found){.leak = leak, .place = i->place};
  count_opcode(at, i);
  return true;
}

static bool add_line(const judgement *j, const v_instruction *i, ink_verify_line **list,
                     size_t *count, size_t *room) {
  const ink_verify_line line = {first_of(j, j->last), first_of(j, j->next),
                                j->v->frames[i->place.first].line, 1};
  for (size_t n = 0; n < *count; n++) {
    ink_verify_line *at = &(*list)[n];
    if (at->after == line.after && at->before == line.before && at->line == line.line) {
      at->count++;
      return true;
    }
  }
  if (!ink_v_room((void **)list, *count, room, sizeof **list))
    return false;
  (*list)[(*count)++] = line;
  return true;
}

static bool add_remark(ink_verify_remark **list, size_t *count, size_t *room, size_t at,
                       uint32_t stamp, uint32_t leak) {
  if (!ink_v_room((void **)list, *count, room, sizeof **list))
    return false;
  (*list)[(*count)++] = (ink_verify_remark){at, stamp, leak};
  return true;
}

static char *words_of(const found *at) {
  char text[512];
  size_t n = 0;
  if (at->absent)
    return strdup("none of this call's instructions is where it belongs");
  for (size_t k = 0; k < sizeof at->kinds / sizeof *at->kinds && at->kinds[k].count; k++) {
    const int wrote = snprintf(text + n, sizeof text - n, "%s%s x %u", k ? ", " : "",
                               at->kinds[k].opcode, at->kinds[k].count);
    if (wrote < 0 || (size_t)wrote >= sizeof text - n)
      break;
    n += (size_t)wrote;
  }
  text[n < sizeof text ? n : sizeof text - 1] = 0;
  return strdup(text);
}

/* ---- the result ---- */

static ink_status fill(ink_verify *v, ink_verify_kernel *k, const v_stamp *stamps, size_t n,
                       const found *leaks, size_t leak_count, ink_error *error) {
  ink_verify_stamp *out_stamps = calloc(n + 1, sizeof *out_stamps);
  ink_verify_leak *out_leaks = calloc(leak_count + 1, sizeof *out_leaks);
  k->stamps = (ink_verify_stamp *)ink_v_keep(v, (char *)out_stamps);
  k->leaks = (ink_verify_leak *)ink_v_keep(v, (char *)out_leaks);
  if (!k->stamps || !k->leaks)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  for (size_t i = 0; i < n; i++) {
    const v_frame *inner = &v->frames[stamps[i].place.first + stamps[i].place.count - 1];
    out_stamps[i] = (ink_verify_stamp){stamps[i].name, stamps[i].macro, v->files[inner->file],
                                       inner->line, stamps[i].copies};
  }
  for (size_t i = 0; i < leak_count; i++) {
    out_leaks[i] = leaks[i].leak;
    out_leaks[i].instructions = ink_v_keep(v, words_of(&leaks[i]));
    if (!out_leaks[i].instructions)
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
    k->moved += leaks[i].leak.count;
  }
  k->stamp_count = n;
  k->leak_count = leak_count;
  return INK_OK;
}

/* What the pass over a function's instructions gathers. */
typedef struct gathered {
  variants places;
  found *leaks;
  size_t leak_count, leak_room;
  ink_verify_line *lines;
  size_t line_count, line_room;
  ink_verify_remark *remarks;
  size_t remark_count, remark_room;
} gathered;

static bool judge_one(judgement *j, const v_instruction *i, bool bookkeeping, gathered *g,
                      ink_verify_kernel *k) {
  uint32_t leak = INK_V_NONE;
  if (is_judged(j->v, j->f, i, bookkeeping)) {
    judgement exactly = *j;
    exactly.exact = true;
    const bool fine = any_in_place(j, &g->places, i->place);
    if (is_unknown(j) || (fine && !any_in_place(&exactly, &g->places, i->place)))
      k->unknown++;
    else
      k->instructions++;
    if (!add_line(j, i, &g->lines, &g->line_count, &g->line_room))
      return false;
    if (!fine) {
      if (!add_leak(j, i, &g->leaks, &g->leak_count, &g->leak_room, &leak))
        return false;
      count_moved(j->v, &g->places, i->place);
    }
  }
  return (i->stamp == INK_V_NONE && leak == INK_V_NONE) ||
         add_remark(&g->remarks, &g->remark_count, &g->remark_room, i->listing_at, i->stamp, leak);
}

/* Calls of an inlined helper none of whose instructions lies where the call stands. */
static bool add_absent(judgement *j, gathered *g) {
  uint64_t nowhere[2] = {0, 0};
  v_instruction none = {.text = "", .stamp = INK_V_NONE};
  uint64_t *set = j->words <= 2 ? nowhere : calloc(j->words, sizeof *set);
  bool fine = set != NULL;
  for (size_t i = 0; i < g->places.count && fine; i++) {
    const variant *at = &g->places.items[i];
    uint32_t leak;
    if (at->seen || at->place.count < 2 || at->moved == at->count)
      continue;
    none.place = at->place;
    j->last = j->next = set;
    fine = add_leak(j, &none, &g->leaks, &g->leak_count, &g->leak_room, &leak);
    if (fine) {
      g->leaks[leak].leak.count = at->count;
      g->leaks[leak].absent = true;
    }
  }
  if (set != nowhere)
    free(set);
  return fine;
}

ink_status ink_v_judge(ink_verify *v, const v_function *f, v_stamp *stamps, size_t n,
                       const ink_verify_options *options, ink_error *error) {
  ink_verify_kernel k = {.name = f->name, .target = f->target, .has_lines = f->has_lines};
  k.demangled = ink_v_demangle(v, f->name);
  k.shown = ink_v_shown(v, k.demangled);
  uint64_t *last = NULL, *next = NULL;
  size_t words = 0;
  gathered g = {0};
  v_graph graph = {0};
  ink_status status = ink_v_make_graph(v, f, &graph)
                          ? INK_OK
                          : ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the flow of '%s'", f->name);
  if (!status) {
    ink_v_place_retries(v, f, &graph);
    status = ink_v_find_work(v, f, &graph, error);
  }
  if (!status)
    status = ink_v_flow(v, f, &graph, n, &last, &next, &words, error);
  judgement j = {.v = v, .f = f, .stamps = stamps, .n = n, .words = words};
  const bool strict = options && options->bookkeeping;
  for (uint32_t i = 0; i < f->count && !status; i++)
    if (is_judged(v, f, &v->instructions[f->first + i], strict) &&
        !add_variant(v, &g.places, v->instructions[f->first + i].place))
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  for (uint32_t i = 0; i < f->count && !status; i++) {
    j.last = last + i * words;
    j.next = next + i * words;
    if (!judge_one(&j, &v->instructions[f->first + i], strict, &g, &k))
      status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  }
  if (!status && !add_absent(&j, &g))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  if (!status)
    status = fill(v, &k, stamps, n, g.leaks, g.leak_count, error);
  if (!status)
    status = ink_v_find_gone(v, f, stamps, n, &k, error);
  if (!status)
    ink_v_count(v, f, &graph, &k.counts);
  ink_v_free_graph(&graph);
  if (f->count) {
    k.listing_begin = v->instructions[f->first].listing_at;
    k.listing_end = v->instructions[f->first + f->count - 1].listing_at;
  }
  k.line_count = g.line_count;
  k.lines = g.lines ? (ink_verify_line *)ink_v_keep(v, (char *)g.lines) : NULL;
  k.remark_count = g.remark_count;
  k.remarks = g.remarks ? (ink_verify_remark *)ink_v_keep(v, (char *)g.remarks) : NULL;
  if (!status && !ink_v_room((void **)&v->kernels, v->kernel_count, &v->kernel_room,
                             sizeof *v->kernels))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  if (!status)
    v->kernels[v->kernel_count++] = k;
  free(g.leaks);
  free(g.places.items);
  free(last);
  free(next);
  return status;
}
