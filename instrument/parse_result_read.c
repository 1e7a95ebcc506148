/* SPDX-License-Identifier: MIT */
/* Unpacks the result of a run, and answers what callers ask of it. */
#include "parse_result.h"

#include <stdlib.h>
#include <string.h>

struct ink_instrumented {
  ink_bytes block;
  char why[160];
  ink_parsed_head head;
  ink_marked_file *files;
  ink_place *places;
  ink_remark *remarks, *complaints;
};

void ink_instrumented_free(ink_instrumented *result) {
  if (!result)
    return;
  ink_bytes_free(&result->block);
  free(result->files);
  free(result->places);
  free(result->remarks);
  free(result->complaints);
  free(result);
}

static const char *unpack_remarks(const char *at, uint32_t n, const char *pool, ink_remark *out) {
  for (uint32_t i = 0; i < n; i++, at += sizeof(ink_parsed_remark)) {
    ink_parsed_remark parsed;
    memcpy(&parsed, at, sizeof parsed);
    out[i] = (ink_remark){.line = parsed.line,
                          .column = parsed.column,
                          .file = pool + parsed.file,
                          .text = pool + parsed.text};
  }
  return at;
}

static void unpack(ink_instrumented *result) {
  const char *at = result->block.at + sizeof result->head;
  const ink_parsed_head *head = &result->head;
  const char *pool = at + head->files * sizeof(ink_parsed_file) +
                     head->places * sizeof(ink_parsed_place) +
                     (head->remarks + (size_t)head->complaints) * sizeof(ink_parsed_remark);
  for (uint32_t i = 0; i < head->files; i++, at += sizeof(ink_parsed_file)) {
    ink_parsed_file parsed;
    memcpy(&parsed, at, sizeof parsed);
    result->files[i] = (ink_marked_file){.path = pool + parsed.path,
                                         .shown = pool + parsed.shown,
                                         .text = pool + parsed.at,
                                         .bytes = (size_t)parsed.bytes,
                                         .marks = parsed.marks};
  }
  for (uint32_t i = 0; i < head->places; i++, at += sizeof(ink_parsed_place)) {
    ink_parsed_place parsed;
    memcpy(&parsed, at, sizeof parsed);
    result->places[i] = (ink_place){.kind = (ink_place_kind)parsed.kind,
                                    .state = (ink_place_state)parsed.state,
                                    .line = parsed.line,
                                    .column = parsed.column,
                                    .end_line = parsed.end_line,
                                    .end_column = parsed.end_column,
                                    .file = pool + parsed.file,
                                    .function = pool + parsed.function,
                                    .name = pool + parsed.name,
                                    .section = pool + parsed.section,
                                    .held = pool + parsed.held,
                                    .reason = pool + parsed.reason};
  }
  at = unpack_remarks(at, head->remarks, pool, result->remarks);
  unpack_remarks(at, head->complaints, pool, result->complaints);
}

ink_status ink_parsed_read(ink_bytes *block, const char *why, ink_instrumented **out,
                         ink_error *error) {
  ink_instrumented *result = calloc(1, sizeof *result);
  ink_status status = INK_OK;
  if (!result || block->count < sizeof result->head) {
    status = ink_error_set(error, result ? INK_ERROR_FORMAT : INK_ERROR_MEMORY,
                           result ? "the parse ended early" : "out of memory");
    goto cleanup;
  }
  memcpy(&result->head, block->at, sizeof result->head);
  result->files = calloc(result->head.files + 1u, sizeof *result->files);
  result->places = calloc(result->head.places + 1u, sizeof *result->places);
  result->remarks = calloc(result->head.remarks + 1u, sizeof *result->remarks);
  result->complaints = calloc(result->head.complaints + 1u, sizeof *result->complaints);
  if (!result->files || !result->places || !result->remarks || !result->complaints) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
    goto cleanup;
  }
  result->block = *block;
  *block = (ink_bytes){0};
  strncpy(result->why, why, sizeof result->why - 1);
  unpack(result);
  *out = result;
  result = NULL;
cleanup:
  ink_bytes_free(block);
  ink_instrumented_free(result);
  return status;
}

size_t ink_instrumented_files(const ink_instrumented *result, const ink_marked_file **out) {
  *out = result->files;
  return result->head.files;
}

size_t ink_instrumented_places(const ink_instrumented *result, const ink_place **out) {
  *out = result->places;
  return result->head.places;
}

size_t ink_instrumented_remarks(const ink_instrumented *result, const ink_remark **out) {
  *out = result->remarks;
  return result->head.remarks;
}

size_t ink_instrumented_parse_errors(const ink_instrumented *result, const ink_remark **first,
                                     size_t *kept) {
  *first = result->complaints;
  *kept = result->head.complaints;
  return result->head.parse_errors;
}

const char *ink_instrumented_parse(const ink_instrumented *result, const char **why) {
  if (why)
    *why = result->why;
  return result->head.header_less ? "header-less" : "full";
}

bool ink_instrumented_was_marked(const ink_instrumented *result) {
  return result->head.was_marked != 0;
}

bool ink_instrumented_includes_marks(const ink_instrumented *result) {
  return result->head.includes_marks != 0;
}

uint64_t ink_instrumented_text_hash(const ink_instrumented *result) {
  return result->head.text_hash;
}

uint64_t ink_instrumented_parse_ns(const ink_instrumented *result) {
  return result->head.parse_ns;
}

const char *ink_place_kind_word(ink_place_kind kind) {
  static const char *const words[] = {"kernel", "call", "loop", "wait", "directive", "mark", "line", "role", "context", "setup"};
  return (unsigned)kind < sizeof words / sizeof *words ? words[kind] : "?";
}

const char *ink_place_state_word(ink_place_state state) {
  static const char *const words[] = {"marked", "left", "not asked", "error"};
  return (unsigned)state < 4 ? words[state] : "?";
}
