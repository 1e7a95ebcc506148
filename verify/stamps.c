/* SPDX-License-Identifier: MIT */
/* Finds the stamps of a function: clock reads that come from inkmark's header, grouped by the macro
 * call that they come from. */
#include "verify_private.h"

#include "inkmark/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ink_v_compare(const ink_verify *v, v_place a, v_place b) {
  const uint32_t n = a.count < b.count ? a.count : b.count;
  if (n == 0)
    return 2;
  for (uint32_t i = 0; i < n; i++) {
    const v_frame *x = &v->frames[a.first + i], *y = &v->frames[b.first + i];
    if (x->file != y->file)
      return 2;
    if (x->line != y->line)
      return x->line < y->line ? -1 : 1;
  }
  return 0; /* one of them is the call that the other is inside of: the same line */
}

int ink_v_compare_stamp(const ink_verify *v, v_place place, const v_stamp *stamp) {
  if (stamp->lost)
    return 2;
  const uint32_t inner = stamp->place.count - 1;
  for (uint32_t i = 0; i < inner && i < place.count; i++) {
    const v_frame *x = &v->frames[place.first + i], *y = &v->frames[stamp->place.first + i];
    if (x->file != y->file || x->line != y->line)
      return ink_v_compare(v, place, stamp->place);
  }
  if (inner < place.count) {
    const v_frame *x = &v->frames[place.first + inner], *y = &v->frames[stamp->place.first + inner];
    if (x->file == y->file && x->line >= stamp->first_line && x->line <= stamp->last_line)
      return stamp->mark && x->line == y->line && !stamp->shared ? stamp->mark->side : 0;
  }
  return ink_v_compare(v, place, stamp->place);
}

int ink_v_compare_stamps(const ink_verify *v, const v_stamp *a, const v_stamp *b) {
  const int order = ink_v_compare(v, a->place, b->place);
  if (order || !a->mark || !b->mark || a->mark == b->mark || a->place.count != b->place.count)
    return order;
  return a->mark < b->mark ? -1 : 1;
}

static bool text_has(const v_instruction *i, const char *word) {
  return memmem(i->text, i->text_bytes, word, strlen(word)) != NULL;
}

static bool reads_clock(const v_instruction *i) {
  return i->ours && text_has(i, "SR_CLOCK") && !text_has(i, "SR_CLOCKHI");
}

/* An opening, a closing or PROF_CLOCKS reads the clock around globaltimer: no stamp of a section. */
static bool is_triple(const ink_verify *v, const v_function *f, uint32_t at) {
  const uint32_t first = at < f->first + 12 ? f->first : at - 12;
  const uint32_t end = f->first + f->count < at + 12 ? f->first + f->count : at + 12;
  for (uint32_t i = first; i < end; i++)
    if (text_has(&v->instructions[i], "SR_GLOBALTIMER"))
      return true;
  return false;
}

/* ---- which macro a clock read comes from ----
 * The tag in the machine code decides where it can: of several marks in a row, which all come from the
 * same line of inkmark's header, the assembler's line table often names the wrong one. */

/* CS2R R10, SR_CLOCKLO ... LOP3.LUT R13, R11, 0x20000, RZ, 0x3c: tag 2. */
static uint32_t find_tag(const ink_verify *v, const v_function *f, uint32_t at) {
  const v_instruction *read = &v->instructions[at];
  size_t bytes;
  const char *opcode = ink_v_opcode(read, &bytes);
  char high[16];
  const char *reg = memchr(opcode + bytes, 'R', 3);
  if (!reg)
    return INK_V_NONE;
  const unsigned long number = strtoul(reg + 1, NULL, 10);
  const int n = snprintf(high, sizeof high, ", R%lu", number + 1);
  const uint32_t end = f->first + f->count < at + 96 ? f->first + f->count : at + 96;
  for (uint32_t i = at + 1; i < end; i++) {
    const v_instruction *other = &v->instructions[i];
    size_t n_opcode;
    const char *word = ink_v_opcode(other, &n_opcode);
    if (reads_clock(other) && strtoul(word + n_opcode + 2, NULL, 10) == number)
      return INK_V_NONE; /* the register is another read's from here on */
    const char *operand = memmem(other->text, other->text_bytes, high, (size_t)n);
    if (!operand || !other->ours || !text_has(other, "LOP3.LUT") ||
        !(text_has(other, ", RZ, 0x3c") || text_has(other, ", URZ, 0x3c")))
      continue;
    const char *value = strchr(operand + n, ','); /* behind a .reuse */
    const char *hex = value ? value + 1 + strspn(value + 1, " ") : "";
    if (value && value < other->text + other->text_bytes && strncmp(hex, "0x", 2) == 0)
      return (uint32_t)(strtoul(hex, NULL, 16) >> 16);
  }
  return INK_V_NONE;
}

/* The read's words go into the track with a store of its register pair, whatever line the table lends that. */
static void claim_store(ink_verify *v, const v_function *f, uint32_t at) {
  size_t bytes;
  const char *opcode = ink_v_opcode(&v->instructions[at], &bytes);
  const char *reg = memchr(opcode + bytes, 'R', 3);
  char pair[16];
  const int n = reg ? snprintf(pair, sizeof pair, ", R%lu", strtoul(reg + 1, NULL, 10)) : 0;
  const uint32_t end = f->first + f->count < at + 96 ? f->first + f->count : at + 96;
  for (uint32_t i = at + 1; n > 0 && i < end; i++) {
    v_instruction *other = &v->instructions[i];
    if (reads_clock(other) && text_has(other, pair + 2))
      return;
    const char *last = memrchr(other->text, ',', other->text_bytes);
    const size_t length = last ? (size_t)(other->text + other->text_bytes - last) : 0;
    if (!text_has(other, "STG.E.64") || length < (size_t)n || memcmp(last, pair, (size_t)n))
      continue;
    const char behind = last[n];
    if (length == (size_t)n || behind == ' ' || behind == '.') {
      other->ours = true;
      return;
    }
  }
}

static const v_frame *inner_frame(const ink_verify *v, v_place place) {
  return &v->frames[place.first + place.count - 1];
}

static const v_mark *mark_at(const ink_verify *v, const v_frame *frame, uint32_t tag) {
  for (size_t i = 0; i < v->mark_count; i++)
    if (v->marks[i].file == frame->file && v->marks[i].line == frame->line &&
        (tag == INK_V_NONE || ink_v_mark_fits(v, &v->marks[i], tag)))
      return &v->marks[i];
  return NULL;
}

/* A place of this function that ends at the mark's line. */
static bool place_of(const ink_verify *v, const v_function *f, const v_mark *mark, v_place *place) {
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    const v_place at = v->instructions[i].place;
    if (!v->instructions[i].ours || !at.count)
      continue;
    const v_frame *inner = inner_frame(v, at);
    if (inner->file == mark->file && inner->line == mark->line) {
      *place = at;
      return true;
    }
  }
  return false;
}

/* The lines of a function in its own file. */
typedef struct extent {
  uint32_t file, low, high; /* low > high: none is known */
} extent;

static extent own_lines(const ink_verify *v, const v_function *f) {
  extent own = {.low = UINT32_MAX};
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    const v_place place = v->instructions[i].place;
    const bool known = own.low <= own.high;
    if (!place.count || (known && v->frames[place.first].file != own.file))
      continue;
    const v_frame *frame = &v->frames[place.first];
    own = (extent){frame->file, known && own.low < frame->line ? own.low : frame->line,
                   known && own.high > frame->line ? own.high : frame->line};
  }
  return own;
}

static bool is_within(const extent *own, const v_mark *mark) {
  return mark->file == own->file && mark->line >= own->low && mark->line <= own->high;
}

/* How far a mark is from a line that the assembler's table gives to its read, and rather behind it: the table gives the reads
 * of neighbours to the first. */
static uint32_t distance(const v_frame *from, const v_mark *mark) {
  if (mark->file != from->file)
    return UINT32_MAX - 1;
  return mark->line > from->line ? (mark->line - from->line) * 2 : (from->line - mark->line) * 2 + 1;
}

/* Where the read comes from: its own place if a mark that fits stands there, else that of the nearest other mark that fits,
 * of the function's own text or with an instruction; else its own place all the same. False: no memory. */
static bool settle_place(ink_verify *v, const v_function *f, const extent *own, const v_instruction *read,
                         uint32_t tag, const v_mark **mark, v_place *place) {
  const v_frame at = *inner_frame(v, read->place);
  uint32_t nearest = UINT32_MAX;
  *place = read->place;
  *mark = mark_at(v, &at, tag);
  if (*mark || tag == INK_V_NONE)
    return true;
  for (size_t i = 0; i < v->mark_count; i++) {
    v_place ignored;
    const v_mark *other = &v->marks[i];
    if (distance(&at, other) < nearest && ink_v_mark_fits(v, other, tag) &&
        (is_within(own, other) || place_of(v, f, other, &ignored))) {
      nearest = distance(&at, other);
      *mark = other;
    }
  }
  if (!*mark) {
    *mark = mark_at(v, &at, INK_V_NONE);
    return true;
  }
  if (place_of(v, f, *mark, place))
    return true;
  if (!ink_v_room((void **)&v->frames, v->frame_count, &v->frame_room, sizeof *v->frames))
    return false;
  v->frames[v->frame_count] = (v_frame){own->file, (*mark)->line};
  *place = (v_place){(uint32_t)v->frame_count++, 1};
  return true;
}

/* More than one mark of the stamp's line that its tag fits. */
static bool is_shared(const ink_verify *v, const v_stamp *stamp) {
  uint32_t fitting = 0;
  for (size_t i = 0; i < v->mark_count && stamp->mark && stamp->tag != INK_V_NONE; i++)
    fitting += v->marks[i].file == stamp->mark->file && v->marks[i].line == stamp->mark->line &&
               ink_v_mark_fits(v, &v->marks[i], stamp->tag);
  return fitting > 1;
}

/* A mark whose text is not to be seen, by its tag. */
static bool is_textless(const ink_verify *v, const v_stamp *stamp) {
  return stamp->tag != INK_V_NONE && stamp->tag >> INK_SECTION_BITS == INK_KIND_MARK &&
         (!stamp->mark || !ink_v_mark_fits(v, stamp->mark, stamp->tag));
}

static bool name_stamp(ink_verify *v, v_stamp *stamp, const v_mark *mark) {
  const v_frame *inner = inner_frame(v, stamp->place);
  char *name = NULL;
  stamp->first_line = stamp->last_line = inner->line;
  stamp->mark = mark;
  stamp->shared = is_shared(v, stamp);
  /* The rewriter's marks in expressions, and those whose text is not to be seen, which may be such. */
  if (!mark || strncmp(mark->macro, "INK_", 4) == 0)
    ink_v_statement(v, inner->file, inner->line, &stamp->first_line, &stamp->last_line);
  stamp->macro = mark ? mark->macro : "";
  stamp->name = is_textless(v, stamp) ? ink_v_section_name(v, stamp->tag) : NULL;
  if (!stamp->name && mark)
    stamp->name = mark->name;
  if (stamp->name)
    return true;
  if (asprintf(&name, "line %u", inner->line) < 0)
    return false;
  stamp->name = ink_v_keep(v, name);
  return stamp->name != NULL;
}

/* ---- marks that left no clock read ---- */

/* Whether the function has an instruction of the branch of #if that the line stands in; without one it may not have been
 * compiled. */
static bool is_compiled(const ink_verify *v, const v_function *f, uint32_t file, uint32_t line) {
  const v_lines *lines = v->lines ? &v->lines[file] : NULL;
  if (!lines || !lines->of || line > lines->count || !lines->of[line].branch)
    return true;
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    const v_place place = v->instructions[i].place;
    const v_frame *frame = place.count ? &v->frames[place.first] : NULL;
    if (frame && frame->file == file && frame->line <= lines->count &&
        lines->of[frame->line].branch == lines->of[line].branch)
      return true;
  }
  return false;
}

/* Marks of a track of rows are clock reads without a tag: which is which is not told by the machine code. */
static bool has_rows(const ink_verify *v, const v_function *f, const extent *own) {
  if (strstr(f->name, "ink_i7rows_of")) /* a parameter: PROF_PARAMS_ROWS */
    return true;
  for (size_t m = 0; m < v->mark_count; m++)
    if (is_within(own, &v->marks[m]) && strstr(v->marks[m].macro, "_ROWS"))
      return true;
  return false;
}

/* Every PROF_MARK (_STRICT, _LOADED) between the first and the last line of the function, in its own file. */
static bool add_removed(ink_verify *v, const v_function *f, const extent *own, v_stamp **stamps, size_t *count,
                        size_t *room) {
  if (has_rows(v, f, own))
    return true;
  for (size_t m = 0; m < v->mark_count; m++) {
    const v_mark *mark = &v->marks[m];
    bool known = !is_within(own, mark) || mark->by_macro || (v->table_count && !ink_v_is_section(v, mark->name)) ||
                 mark->kinds != 1u << INK_KIND_MARK || !is_compiled(v, f, own->file, mark->line);
    for (size_t i = 0; i < *count && !known; i++) {
      const v_stamp *stamp = &(*stamps)[i];
      const v_frame *inner = inner_frame(v, stamp->place);
      known = stamp->mark == mark || ((stamp->shared || stamp->tag == INK_V_NONE) &&
                                      inner->line == mark->line && inner->file == own->file);
    }
    if (known)
      continue;
    if (!ink_v_room((void **)stamps, *count, room, sizeof **stamps) ||
        !ink_v_room((void **)&v->frames, v->frame_count, &v->frame_room, sizeof *v->frames))
      return false;
    v->frames[v->frame_count] = (v_frame){own->file, mark->line};
    (*stamps)[*count] = (v_stamp){.place = {(uint32_t)v->frame_count++, 1}, .tag = INK_V_NONE};
    if (!name_stamp(v, &(*stamps)[(*count)++], mark))
      return false;
  }
  return true;
}

/* Brings the stamps into the order of the source; `moved[old]` is the new index. */
static bool sort_stamps(ink_verify *v, const v_function *f, v_stamp *stamps, size_t count) {
  uint32_t *moved = calloc(count + 1, sizeof *moved);
  uint32_t *order = calloc(count + 1, sizeof *order);
  v_stamp *copy = calloc(count + 1, sizeof *copy);
  const bool fine = moved && order && copy;
  for (uint32_t i = 0; fine && i < count; i++) { /* insertion: there are few, and mostly in order */
    uint32_t at = i;
    for (; at > 0 && ink_v_compare_stamps(v, &stamps[i], &stamps[order[at - 1]]) == -1; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (uint32_t i = 0; fine && i < count; i++) {
    copy[i] = stamps[order[i]];
    moved[order[i]] = i;
  }
  if (fine && count)
    memcpy(stamps, copy, count * sizeof *copy);
  for (uint32_t i = f->first; fine && i < f->first + f->count; i++)
    if (v->instructions[i].stamp != INK_V_NONE)
      v->instructions[i].stamp = moved[v->instructions[i].stamp];
  free(moved);
  free(order);
  free(copy);
  return fine;
}

static bool same_place(const ink_verify *v, v_place a, v_place b) {
  return a.count == b.count && ink_v_compare(v, a, b) == 0;
}

/* The table gives the reads of neighbours to the first. Where one of these has another's line, it is wrong, and the others may be. */
static void find_lost(const ink_verify *v, v_stamp *stamps, size_t count) {
  bool lost = false;
  for (size_t a = 0; a < count; a++)
    for (size_t b = 0; b < a && !lost; b++)
      lost = (is_textless(v, &stamps[a]) || is_textless(v, &stamps[b])) && stamps[a].tag != stamps[b].tag &&
             same_place(v, stamps[a].place, stamps[b].place);
  for (size_t i = 0; i < count && lost; i++)
    stamps[i].lost = is_textless(v, &stamps[i]);
}

ink_status ink_v_find_stamps(ink_verify *v, const v_function *f, v_stamp **stamps, size_t *count,
                             ink_error *error) {
  size_t room = 0;
  const extent own = own_lines(v, f);
  *stamps = NULL;
  *count = 0;
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    v_instruction *read = &v->instructions[i];
    if (!reads_clock(read) || !read->place.count)
      continue;
    const v_mark *mark;
    const uint32_t tag = find_tag(v, f, i);
    if (tag == INK_V_NONE && is_triple(v, f, i))
      continue;
    v_place place;
    if (!settle_place(v, f, &own, read, tag, &mark, &place))
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the stamps");
    size_t at = 0;
    while (at < *count && !((*stamps)[at].tag == tag && same_place(v, (*stamps)[at].place, place)))
      at++;
    if (at == *count) {
      if (!ink_v_room((void **)stamps, *count, &room, sizeof **stamps))
        return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the stamps");
      (*stamps)[(*count)++] = (v_stamp){.place = place, .tag = tag};
      if (!name_stamp(v, &(*stamps)[at], mark))
        return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the stamps");
    }
    claim_store(v, f, i);
    (*stamps)[at].copies++;
    read->stamp = (uint32_t)at;
  }
  find_lost(v, *stamps, *count);
  if (*count && (!add_removed(v, f, &own, stamps, count, &room) || !sort_stamps(v, f, *stamps, *count)))
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the stamps");
  return INK_OK;
}
