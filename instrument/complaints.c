/* SPDX-License-Identifier: MIT */
/* What libclang found wrong in the source: a parse goes on behind errors, but misses what they
 * break. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 5 }; /* errors that are kept with their text; all are counted */

/* Clang's rules on what nvcc takes, or judges in other words. The tree is whole behind each of them.
 * - Who may refer to what: the parse takes __shared__ for an annotation (shim.c), and a __global__ function that launches
 *   itself is nvcc's to judge.
 * - `__shared__ alignas(128) char x[256]`, and behind the type: clang leaves out the attribute alone.
 * - `asm("mov.u32 %0, %clusterid.x;" ...)`: nvcc hands on a `%` that is no operand's. */
static bool is_clangs_own(CXDiagnostic diagnostic) {
  static const char *const words[] = {"reference to __", "'alignas' attribute cannot be applied to types",
                                      "an attribute list cannot appear here", "invalid % escape in inline assembly string"};
  CXString text = clang_getDiagnosticSpelling(diagnostic);
  const char *spelling = clang_getCString(text);
  bool own = false;
  for (size_t i = 0; spelling && i < sizeof words / sizeof *words; i++)
    own |= !strncmp(spelling, words[i], strlen(words[i]));
  clang_disposeString(text);
  return own;
}

/* Without headers names are unknown, as they are expected to be: what counts is the text's form. */
static bool is_of_form(CXDiagnostic diagnostic) {
  static const char *const words[] = {"expected ", "extraneous ", "missing ", "unterminated "};
  CXString text = clang_getDiagnosticSpelling(diagnostic);
  const char *spelling = clang_getCString(text);
  bool form = false;
  for (size_t i = 0; spelling && i < sizeof words / sizeof *words; i++)
    form |= !strncmp(spelling, words[i], strlen(words[i]));
  clang_disposeString(text);
  return form;
}

/* Behind the source's own text. */
static bool is_of_ours(const ink_unit *unit, CXSourceLocation location) {
  CXFile file;
  unsigned offset;
  clang_getExpansionLocation(location, &file, NULL, NULL, &offset);
  const ink_source *source = unit->sources.count ? unit->sources.items[0] : NULL;
  return source && file && clang_File_isEqual(source->file, file) && offset > source->text.count;
}

static bool matters(const ink_unit *unit, CXDiagnostic diagnostic, CXSourceLocation location) {
  const enum CXDiagnosticSeverity severity = clang_getDiagnosticSeverity(diagnostic);
  if (is_of_ours(unit, location))
    return false;
  if (unit->header_less && !is_of_form(diagnostic))
    return false;
  return severity == CXDiagnostic_Fatal ||
         (severity == CXDiagnostic_Error && !clang_Location_isInSystemHeader(location) &&
          !is_clangs_own(diagnostic));
}

bool ink_unit_complaint_matters(const ink_unit *unit, CXDiagnostic diagnostic) {
  return matters(unit, diagnostic, clang_getDiagnosticLocation(diagnostic));
}

static void keep(ink_unit *unit, CXDiagnostic diagnostic, CXSourceLocation location) {
  CXFile file;
  ink_complaint complaint = {0};
  if (unit->complaints.count >= KEPT)
    return;
  if (!INK_I_GROW(unit->complaints)) {
    unit->failed = true;
    return;
  }
  clang_getExpansionLocation(location, &file, &complaint.line, &complaint.column, NULL);
  CXString name = clang_getFileName(file), text = clang_getDiagnosticSpelling(diagnostic);
  const char *file_name = clang_getCString(name), *spelling = clang_getCString(text);
  complaint.file = strdup(file_name ? file_name : unit->options->source);
  complaint.text = strdup(spelling ? spelling : "");
  clang_disposeString(name);
  clang_disposeString(text);
  unit->complaints.items[unit->complaints.count++] = complaint;
}

void ink_unit_find_complaints(ink_unit *unit) {
  const unsigned n = clang_getNumDiagnostics(unit->tu);
  for (unsigned i = 0; i < n; i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit->tu, i);
    CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    if (matters(unit, diagnostic, location)) {
      unit->parse_errors++;
      keep(unit, diagnostic, location);
    }
    clang_disposeDiagnostic(diagnostic);
  }
}

void ink_unit_free_complaints(ink_unit *unit) {
  for (size_t i = 0; i < unit->complaints.count; i++) {
    free(unit->complaints.items[i].file);
    free(unit->complaints.items[i].text);
  }
  free(unit->complaints.items);
}
