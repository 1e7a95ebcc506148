/* SPDX-License-Identifier: MIT */
/* Parses a CUDA source file with libclang: nvcc's flags become clang's, and where the toolkit's
 * headers cannot be parsed a small header of our own declares what kernels use. */
#include "nvcc_macros.h"
#include "prelude.h"
#include "resources.h"
#include "shim.h"
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct arguments {
  struct {
    char **items;
    size_t count, room;
  } list;
  bool failed, has_std;
  ink_bytes late; /* the text of macros.h: what is defined behind clang's own wrapper */
} arguments;

__attribute__((format(printf, 2, 3))) static void argument(arguments *to, const char *format, ...) {
  char *text;
  va_list list;
  va_start(list, format);
  int n = vasprintf(&text, format, list);
  va_end(list);
  if (n < 0 || !INK_I_GROW(to->list)) {
    to->failed = true;
    return;
  }
  to->list.items[to->list.count++] = text;
}

static void free_arguments(arguments *list) {
  for (size_t i = 0; i < list->list.count; i++)
    free(list->list.items[i]);
  free(list->list.items);
  ink_bytes_free(&list->late);
  *list = (arguments){0};
}

/* nvcc's options that the parse needs: { nvcc's spelling, clang's }. The value is attached, after
 * an equals sign, or the next word. */
static const struct {
  const char *nvcc, *clang;
} taken[] = {{"--include-path", "-I"},
             {"-I", "-I"},
             {"--define-macro", "-D"},
             {"-D", "-D"},
             {"--undefine-macro", "-U"},
             {"-U", "-U"},
             {"--system-include", "-isystem"},
             {"-isystem", "-isystem"},
             {"--pre-include", "-include"},
             {"-include", "-include"},
             {"--std", "-std="},
             {"-std", "-std="}};

static size_t take_flag(arguments *to, const char *const *flags, size_t count, size_t at) {
  const char *flag = flags[at];
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    const size_t length = strlen(taken[i].nvcc);
    if (strncmp(flag, taken[i].nvcc, length))
      continue;
    const char *value = flag + length;
    size_t used = 1;
    if (!*value) {
      if (at + 1 == count)
        return 1;
      value = flags[at + 1];
      used = 2;
    } else if (*value == '=') {
      value++;
    } else if (taken[i].nvcc[1] == '-' || length > 2) {
      continue; /* a longer option's name */
    }
    if (!strcmp(taken[i].clang, "-std="))
      to->has_std = true;
    if (taken[i].clang[1] == 'i') { /* two words */
      argument(to, "%s", taken[i].clang);
      argument(to, "%s", value);
    } else {
      argument(to, "%s%s", taken[i].clang, value);
    }
    return used;
  }
  return 1;
}

static void define(void *data, bool early, const char *name, const char *value) {
  arguments *to = data;
  value = *value ? value : "1"; /* as of -DNAME */
  if (early) {
    argument(to, "-U%s", name);
    argument(to, "-D%s=%s", name, value);
  } else {
    ink_bytes_format(&to->late, "#undef %s\n#define %s %s\n", name, name, value);
  }
}

/* For the prelude alone: what names the user's folders and files is left out. */
static bool is_for_all(const char *flag) {
  static const char *const own[] = {"-I", "--include-path", "-isystem", "--system-include", "-include", "--pre-include"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    if (!strncmp(flag, own[i], strlen(own[i])))
      return false;
  return true;
}

/* Headers of the C library that nvcc's compiler begins with, by these names, and clang's own wrapper does not. Where a folder of
 * the project has one of its own, it is seen too. */
static void include_own_headers(arguments *to, const char *folder) {
  static const char *const names[] = {"math.h", "stdlib.h", "string.h", "time.h", "limits.h", "stdio.h", "assert.h", "ctype.h"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path && !access(path, R_OK))
      ink_bytes_format(&to->late, "#include <%s>\n", names[i]);
  }
}

static void make_arguments(ink_unit *unit, bool header_less, bool prelude, arguments *to) {
  const ink_instrument_options *options = unit->options;
  ink_nvcc nvcc;
  ink_nvcc_read(&nvcc, options->flags, options->flag_count, options->cuda);
  ink_nvcc_macros(&nvcc, define, to);
  /* before the user's own -include, which needs these, and __device__ and its like */
  argument(to, "-include");
  argument(to, header_less ? INK_SHIM "/shim.h" : INK_SHIM "/after.h");
  argument(to, "-include");
  argument(to, INK_SHIM "/macros.h");
  for (size_t i = 0; i < options->flag_count;) {
    arguments none = {0};
    const bool skip = prelude && !is_for_all(options->flags[i]);
    const size_t had = to->list.count;
    i += take_flag(skip ? &none : to, options->flags, options->flag_count, i);
    free_arguments(&none);
    if (!header_less && to->list.count > had && !strncmp(to->list.items[had], "-I", 2))
      include_own_headers(to, to->list.items[had] + 2);
  }
  if (!to->has_std)
    argument(to, "-std=c++17");
  argument(to, "-x");
  argument(to, "cuda");
  argument(to, "--cuda-device-only");
  argument(to, "-ferror-limit=0");
  argument(to, "-w");
  argument(to, "-Wno-unknown-cuda-version");
  char *resources = ink_clang_resources_loaded();
  if (resources)
    argument(to, "-resource-dir=%s", resources);
  free(resources);
  /* clang 19 ends at sm_90: newer ones are parsed as that, with their own __CUDA_ARCH__ */
  argument(to, "--cuda-gpu-arch=sm_%u", nvcc.sm < 90 ? nvcc.sm : 90);
  if (header_less) {
    argument(to, "-nocudainc");
    argument(to, "-nocudalib");
  } else {
    argument(to, "--cuda-path=%s", options->cuda);
    argument(to, "-isystem");
    argument(to, "%s/include/cccl", options->cuda);
    argument(to, "-isystem");
    argument(to, INK_SHIM);
    argument(to, "-D_CG_CLUSTER_INTRINSICS_AVAILABLE"); /* cooperative groups: clusters are declared */
  }
  if (options->device_include) { /* the macros are seen, as nothing: marks by hand are found */
    argument(to, "-DINKMARK_DISABLE");
    argument(to, "-isystem");
    argument(to, "%s", options->device_include);
    argument(to, "-include");
    argument(to, "%s/inkmark/mark.cuh", options->device_include);
  }
}

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool has_errors(CXTranslationUnit tu) {
  for (unsigned i = 0, n = clang_getNumDiagnostics(tu); i < n; i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(tu, i);
    const bool error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    clang_disposeDiagnostic(diagnostic);
    if (error)
      return true;
  }
  return false;
}

static void dispose(ink_unit *unit) {
  ink_file_forget();
  if (unit->tu)
    clang_disposeTranslationUnit(unit->tu);
  unit->tu = NULL;
}

/* The parse complains of this file. */
static bool says_of(CXTranslationUnit tu, const char *path) {
  bool says = false;
  for (unsigned i = 0, n = clang_getNumDiagnostics(tu); i < n && !says; i++) {
    CXDiagnostic diagnostic = clang_getDiagnostic(tu, i);
    CXString text = clang_getDiagnosticSpelling(diagnostic);
    says = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error && strstr(clang_getCString(text), path);
    clang_disposeString(text);
    clang_disposeDiagnostic(diagnostic);
  }
  return says;
}

/* Headers of our own that the parse reads from memory. */
static size_t shim_files(const arguments *list, struct CXUnsavedFile *files) {
  const size_t n = ink_shim_files(files);
  files[n] = (struct CXUnsavedFile){.Filename = INK_SHIM "/macros.h", .Contents = list->late.at, .Length = list->late.count};
  return n + 1;
}

/* One parse with the headers of our own and the patched files. */
static enum CXErrorCode parse_once(ink_unit *unit, const arguments *list, const arguments *prelude) {
  const size_t room = INK_SHIM_FILES + 2 + unit->patches.count;
  struct CXUnsavedFile *files = calloc(room, sizeof *files);
  const char **words = calloc(list->list.count + 2, sizeof *words);
  size_t n = files ? shim_files(list, files) : 0, count = list->list.count;
  char *kept = NULL;
  enum CXErrorCode code = CXError_Failure;
  if (!files || !words)
    goto cleanup;
  memcpy(words, list->list.items, count * sizeof *words);
  if (prelude)
    kept = ink_prelude_take(unit, (const char *const *)prelude->list.items, prelude->list.count, files, &n);
  if (kept) {
    words[count++] = "-include-pch";
    words[count++] = kept;
  }
  for (size_t i = 0; i < unit->patches.count; i++)
    files[n++] = (struct CXUnsavedFile){.Filename = unit->patches.items[i].name,
                                        .Contents = unit->patches.items[i].text,
                                        .Length = unit->patches.items[i].original.count + unit->patches.items[i].more};
  for (int round = 0; round < 2; round++) {
    code = clang_parseTranslationUnit2(unit->index, unit->options->source, words, (int)count, files, (unsigned)n,
                                       CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &unit->tu);
    if (!kept || (!code && !says_of(unit->tu, kept)))
      break;
    ink_prelude_drop(kept, code == CXError_Crashed);
    ink_prelude_forget(unit);
    dispose(unit);
    free(kept);
    kept = NULL;
    count = list->list.count;
  }
cleanup:
  free(kept);
  free(words);
  free(files);
  return code;
}

static enum CXErrorCode parse(ink_unit *unit, const arguments *list, const arguments *prelude) {
  enum CXErrorCode code = parse_once(unit, list, prelude);
  if (code || !has_errors(unit->tu) || !ink_unit_patch_headers(unit))
    return code;
  dispose(unit);
  return parse_once(unit, list, prelude);
}

ink_status ink_unit_parse(ink_unit *unit, bool header_less, ink_error *error) {
  arguments list = {0}, prelude = {0};
  ink_status status = INK_OK;
  const bool keeps = unit->options->cache && !header_less;
  unit->header_less = header_less;
  make_arguments(unit, header_less, false, &list);
  if (keeps)
    make_arguments(unit, header_less, true, &prelude);
  if (list.failed || list.late.failed || prelude.failed || prelude.late.failed) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  } else {
    const uint64_t begun = now_ns();
    if (!unit->index)
      unit->index = clang_createIndex(0, 0);
    ink_unit_patch_source(unit);
    const enum CXErrorCode code = parse(unit, &list, keeps ? &prelude : NULL);
    unit->parse_ns = now_ns() - begun;
    if (code != CXError_Success)
      status = ink_error_set(error, INK_ERROR_FORMAT, "cannot parse '%s': libclang error %d",
                             unit->options->source, (int)code);
  }
  free_arguments(&list);
  free_arguments(&prelude);
  return status;
}
