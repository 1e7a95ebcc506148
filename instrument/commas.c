/* SPDX-License-Identifier: MIT */
/* Comma operators of the user's that would be taken in place of ours: INK_UNTIL hands a call's value on
 * through one. */
#include "unit.h"

#include <string.h>

static enum CXChildVisitResult is_from_anything(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_FunctionTemplate ||
      clang_getTemplateCursorKind(cursor) != CXCursor_Constructor)
    return CXChildVisit_Continue;
  *(bool *)data = true;
  return CXChildVisit_Break;
}

typedef struct parameters {
  unsigned count;
  bool takes_ours;
} parameters;

/* Whether a temporary of a class template of ours may be the left operand: a parameter of the template's
 * own takes it, by value or reference, and a class that is made from whatever there is. */
static bool takes_any(CXType type) {
  const bool lvalue = type.kind == CXType_LValueReference;
  if (lvalue || type.kind == CXType_RValueReference)
    type = clang_getPointeeType(type);
  if (lvalue && !clang_isConstQualifiedType(type))
    return false;
  const CXType whole = clang_getCanonicalType(type);
  if (whole.kind == CXType_Unexposed || whole.kind == CXType_Dependent || whole.kind == CXType_Auto) {
    CXString spelling = clang_getTypeSpelling(whole); /* `vec<T>` is unexposed too, and takes only that */
    const char *text = clang_getCString(spelling);
    const bool bare = text && (!strchr(text, '<') || !strncmp(text, "typename ", 9));
    clang_disposeString(spelling);
    return bare;
  }
  bool any = false;
  if (whole.kind == CXType_Record)
    clang_visitChildren(clang_getTypeDeclaration(whole), is_from_anything, &any);
  return any;
}

static enum CXChildVisitResult note_parameter(CXCursor cursor, CXCursor parent, CXClientData data) {
  parameters *found = data;
  (void)parent;
  if (clang_getCursorKind(cursor) != CXCursor_ParmDecl)
    return CXChildVisit_Continue;
  if (!found->count++)
    found->takes_ours = takes_any(clang_getCursorType(cursor));
  return CXChildVisit_Continue;
}

void ink_unit_note_comma(ink_unit *unit, CXCursor function) {
  const CXSourceLocation at = clang_getCursorLocation(function);
  if (unit->comma_source || clang_Location_isInSystemHeader(at))
    return;
  CXString name = clang_getCursorSpelling(function);
  const char *text = clang_getCString(name);
  const bool is_comma = text && !strncmp(text, "operator,", 9);
  clang_disposeString(name);
  parameters found = {0};
  if (is_comma)
    clang_visitChildren(function, note_parameter, &found);
  if (found.count != 2 || !found.takes_ours) /* one: a member, whose left operand is never ours */
    return;
  CXFile file;
  clang_getExpansionLocation(at, &file, NULL, NULL, &unit->comma_offset);
  unit->comma_source = ink_unit_source(unit, file);
}

bool ink_unit_avoids_comma(ink_unit *unit) {
  if (unit->comma_source && !unit->comma_said)
    ink_unit_say(unit, unit->comma_source, unit->comma_offset,
                 "this 'operator,' may take any type: a range around a call inside of an expression ends with "
                 "the whole expression if the call gives an object, a reference or a type that depends on a "
                 "template");
  unit->comma_said = true;
  return unit->comma_source != NULL;
}
