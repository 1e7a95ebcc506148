/* SPDX-License-Identifier: MIT */
/* The statements and expressions of one function's body, as a tree with parents and byte offsets.
 */
#ifndef INKMARK_TREE_H
#define INKMARK_TREE_H

#include "source.h"

#define INK_NO_NODE UINT32_MAX

typedef struct ink_node {
  CXCursor cursor;
  enum CXCursorKind kind;
  uint32_t start, end;                /* as libclang gives them: without the `;` of an expression */
  uint32_t parent, first, next, last; /* INK_NO_NODE: none */
  uint32_t depth;
  ink_span spelled; /* of what is in a macro: where it is written in this file, if it is; else empty */
  bool in_macro;   /* begins or ends in what a macro became, or in another file */
  bool included;   /* in another file: start and end are of the line that includes it */
  uint32_t summed; /* which sum of its function, from 1 on, it or its passes are: 0: none */
  bool rows;       /* of a loop: PROF_ITER in it */
  bool rows_by_hand;
  bool in_lambda;  /* in a lambda or in a class that is defined in the function */
} ink_node;

typedef struct ink_tree {
  ink_source *source;
  struct {
    ink_node *items;
    size_t count, room;
  } nodes; /* in the order of the text; nodes.items[0] is the body */
  bool failed;
} ink_tree;

bool ink_tree_build(ink_tree *tree, ink_source *source, CXCursor body);
void ink_tree_free(ink_tree *tree);

/* Behind the last node inside of this one. */
uint32_t ink_tree_end(const ink_tree *tree, uint32_t at);
/* What the cursor is called or refers to. */
bool ink_node_is_named(const ink_node *node, const char *name);
bool ink_node_is_loop(const ink_node *node);
bool ink_node_is_expression(const ink_node *node);
/* Why nothing is put around a node that is in a macro: static. */
const char *ink_node_why_left(const ink_node *node);
/* Behind the last character of the statement, its `;` included; 0 where it cannot be told. */
uint32_t ink_node_statement_end(const ink_tree *tree, uint32_t at);
/* Behind the `{` or `<%` of a compound; 0: the node is none in the text. */
uint32_t ink_node_behind_brace(const ink_tree *tree, uint32_t at);
/* The node stands where a statement stands: in a compound, as the body of a loop or an if, behind a
 * label. *alone: it is not in a compound, so more than one statement there needs braces. */
bool ink_node_is_statement(const ink_tree *tree, uint32_t at, bool *alone);
/* The body of a loop; INK_NO_NODE where there is none to be seen. */
uint32_t ink_node_body(const ink_tree *tree, uint32_t loop);
/* Where a location's text lies: false when not directly in this source. */
/* The line that the compiler names at the offset: of the user's `#line`, where there is one before it. */
uint32_t ink_source_shown_line(const ink_source *source, CXTranslationUnit tu, uint32_t offset);
bool ink_source_locate(const ink_source *source, CXSourceLocation location, uint32_t *offset);

#endif
