/* SPDX-License-Identifier: MIT */
/* Waits: barriers, and instructions that wait for memory or for other threads. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const wait_names[] = {"__syncthreads",
                                         "__syncthreads_count",
                                         "__syncthreads_and",
                                         "__syncthreads_or",
                                         "__syncwarp",
                                         "__barrier_sync",
                                         "__pipeline_wait_prior",
                                         "cudaGridDependencySynchronize",
                                         "consumer_wait",
                                         "producer_acquire",
                                         "arrive_and_wait",
                                         "wait_prior",
                                         "pipeline_consumer_wait_prior",
                                         "mbarrier_try_wait",
                                         "mbarrier_test_wait",
                                         "__mbarrier_try_wait",
                                         "__mbarrier_test_wait",
                                         "cluster_sync",
                                         "barrier_wait"};
static const char *const sync_names[] = {"sync", "wait", "barrier_sync", "wait_parity", "try_wait"};
static const char *const wait_instructions[] = {
    "mbarrier.try_wait",   "mbarrier.test_wait", "cp.async.wait", "cp.async.bulk.wait",
    "griddepcontrol.wait", "bar.sync",           "barrier.sync",  "barrier.cluster.wait",
    "wgmma.wait_group",    "bar.warp.sync",      "tcgen05.wait"};

static bool asm_waits(const ink_tree *tree, const ink_node *node, char *name, size_t room) {
  const ink_source *source = tree->source;
  if (node->in_macro)
    return false;
  for (size_t i = 0; i < sizeof wait_instructions / sizeof *wait_instructions; i++) {
    const char *word = wait_instructions[i];
    if (memmem(source->text.at + node->start, node->end - node->start, word, strlen(word))) {
      snprintf(name, room, "%s", word);
      return true;
    }
  }
  return false;
}

/* `sync` and `wait` are waits where they come from the toolkit: cooperative groups, barriers. */
static bool is_from_toolkit(CXCursor target) {
  CXFile file;
  if (clang_Location_isInSystemHeader(clang_getCursorLocation(target)))
    return true;
  clang_getExpansionLocation(clang_getCursorLocation(target), &file, NULL, NULL, NULL);
  CXString name = clang_getFileName(file);
  const char *path = clang_getCString(name);
  const bool found = path && (strstr(path, "/cooperative_groups") || strstr(path, "/cuda/") ||
                              strstr(path, "cuda_pipeline"));
  clang_disposeString(name);
  return found;
}

bool ink_is_wait(ink_unit *unit, const ink_tree *tree, uint32_t at, char *name, size_t room) {
  (void)unit;
  const ink_node *node = &tree->nodes.items[at];
  if (node->kind == CXCursor_GCCAsmStmt || node->kind == CXCursor_MSAsmStmt)
    return asm_waits(tree, node, name, room);
  if (node->kind != CXCursor_CallExpr)
    return false;
  CXCursor target = ink_call_target(node->cursor);
  bool found = false;
  char *called = clang_Cursor_isNull(target) ? ink_name_of(node->cursor) : ink_name_of(target);
  for (size_t i = 0; called && i < sizeof wait_names / sizeof *wait_names; i++)
    found |= !strcmp(called, wait_names[i]);
  for (size_t i = 0; called && i < sizeof sync_names / sizeof *sync_names; i++)
    found |=
        !strcmp(called, sync_names[i]) && !clang_Cursor_isNull(target) && is_from_toolkit(target);
  if (found)
    snprintf(name, room, "%s", called);
  free(called);
  return found;
}

void ink_rule_wait(ink_unit *unit, ink_function *function, uint32_t at) {
  const ink_node *node = &function->tree.nodes.items[at];
  const ink_instrument_options *options = unit->options;
  char name[64];
  ink_is_wait(unit, &function->tree, at, name, sizeof name);
  ink_found *found =
      ink_unit_place(unit, INK_PLACE_WAIT, function, function->source, node->start, name);
  if (!options->waits)
    found->reason = strdup("waits are marked with --waits");
  else
    ink_mark_call(unit, function, at, name, found);
}
