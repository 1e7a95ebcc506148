/* SPDX-License-Identifier: MIT */
/* Work that is gone: ptxas joins an operation with one behind a mark (a multiply with an add, two sums, two logic
 * operations), and of the first no instruction and no line is left. Where the text between two marks computes something
 * and the function has no instruction at all of these lines, that is said. */
#include "verify_private.h"

#include <stdlib.h>

/* A stamp of the function's own text that is there. */
static const v_frame *own_frame(const ink_verify *v, const v_stamp *stamp) {
  return stamp->copies && stamp->mark && stamp->place.count == 1 ? &v->frames[stamp->place.first] : NULL;
}

static bool has_instruction(const ink_verify *v, const v_function *f, uint32_t file, uint32_t first, uint32_t last) {
  for (uint32_t i = f->first; i < f->first + f->count; i++) {
    const v_place place = v->instructions[i].place;
    if (ink_v_only_moves(&v->instructions[i]))
      continue;
    for (uint32_t k = 0; k < place.count; k++) {
      const v_frame *frame = &v->frames[place.first + k];
      if (frame->file == file && frame->line >= first && frame->line <= last)
        return true;
    }
  }
  return false;
}

/* Where a line has the number of the row before it, though of another file, ptxas writes no row for it (nvcc 13.0). So of a
 * line with a number that code of inkmark's header has, instructions may be there without a row. */
static bool shares_number(const ink_verify *v, const v_function *f, uint32_t first, uint32_t last) {
  for (uint32_t i = f->first; i < f->first + f->count; i++)
    if (v->instructions[i].own_line >= first && v->instructions[i].own_line <= last)
      return true;
  return false;
}

/* The lines between two marks that follow each other compute, and control just passes. */
static bool should_compute(const ink_verify *v, uint32_t file, uint32_t first, uint32_t last) {
  const v_lines *lines = &v->lines[file];
  bool computes = false;
  if (!lines->of || last > lines->count)
    return false;
  for (uint32_t line = first; line <= last; line++) {
    if (lines->of[line].turns || lines->of[line].branch != lines->of[first].branch)
      return false;
    computes = computes || (lines->of[line].assigns && lines->of[line].first >= first && lines->of[line].last <= last);
  }
  return computes;
}

ink_status ink_v_find_gone(ink_verify *v, const v_function *f, const v_stamp *stamps, size_t n,
                           ink_verify_kernel *k, ink_error *error) {
  ink_verify_gone *gone = NULL;
  size_t room = 0;
  for (size_t i = 0; i + 1 < n && v->lines; i++) {
    const v_frame *a = own_frame(v, &stamps[i]), *b = own_frame(v, &stamps[i + 1]);
    if (!a || !b || a->file != b->file || b->line < a->line + 2)
      continue;
    const uint32_t first = a->line + 1, last = b->line - 1;
    if (!should_compute(v, a->file, first, last) || has_instruction(v, f, a->file, first, last))
      continue;
    if (shares_number(v, f, first, last)) {
      k->unknown++;
      continue;
    }
    if (!ink_v_room((void **)&gone, k->gone_count, &room, sizeof *gone)) {
      free(gone);
      return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
    }
    gone[k->gone_count++] = (ink_verify_gone){(uint32_t)i, (uint32_t)i + 1, v->files[a->file], first, last};
  }
  k->gone = gone ? (ink_verify_gone *)ink_v_keep(v, (char *)gone) : NULL;
  if (gone && !k->gone)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the verdict");
  return INK_OK;
}
