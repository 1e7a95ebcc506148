/* SPDX-License-Identifier: MIT */
/* The variables of a function and where each is read and written, for the search for held values. */
#ifndef INKMARK_HOLDS_H
#define INKMARK_HOLDS_H

#include "unit.h"

typedef struct ink_variable {
  CXCursor cursor;
  char *name;
  char *fields;              /* of a plain structure: ", p.x, p.y"; NULL: another type */
  uint32_t declared;         /* from here on it has its value: the end of its declaration, or the body */
  uint32_t named;            /* from here on its name hides others */
  uint32_t scope, scope_end; /* where it lives */
  bool initialised, is_parameter;
  bool is_counter;   /* a loop's own: the compiler counts with it */
  bool is_known;     /* its value is known where the loop is unrolled */
  bool is_integer, is_dependent, has_literal;
  bool is_computed;  /* an integer that a call or a mixing operator gives: no index or size */
  bool never;        /* memory, a reference, a pointer, const: not for holding */
  const char *why_not; /* would have to be held and cannot be; NULL: can */
  bool missed;         /* a mark would have had to hold it */
  bool is_loaded;      /* its first value is memory's, as it is */
  bool waits;          /* is_loaded, and a mark outside of loops holds it */
  uint32_t writes;     /* behind its declaration */
  uint32_t assigned;   /* of these by an operator, not by a call */
} ink_variable;

typedef struct ink_use {
  uint32_t variable, offset, node;
  bool write;
} ink_use;

struct ink_variables {
  struct {
    ink_variable *items;
    size_t count, room;
  } list;
  struct {
    ink_use *items;
    size_t count, room;
  } uses; /* in the order of the text */
};

/* NULL, and the run fails, when memory runs out. */
struct ink_variables *ink_variables_find(ink_unit *unit, const ink_function *function);
void ink_variables_free(struct ink_variables *all); /* NULL is fine */

#endif
