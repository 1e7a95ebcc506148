/* SPDX-License-Identifier: MIT */
/* Parses a CUDA source file with libclang: nvcc's flags become clang's, and where the toolkit's
 * headers cannot be parsed a small header of our own declares what kernels use. */
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
  unsigned sm; /* the newest architecture named, 0: none */
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

static void note_architecture(arguments *to, const char *text) {
  for (const char *at = text; *at; at++) {
    unsigned sm = 0;
    if ((!strncmp(at, "sm_", 3) && sscanf(at + 3, "%u", &sm) == 1) ||
        (!strncmp(at, "compute_", 8) && sscanf(at + 8, "%u", &sm) == 1))
      to->sm = sm > to->sm ? sm : to->sm;
  }
}

static size_t take_flag(arguments *to, const char *const *flags, size_t count, size_t at) {
  const char *flag = flags[at];
  if (strstr(flag, "arch") || strstr(flag, "gencode") || strstr(flag, "gpu-code"))
    note_architecture(to, strchr(flag, '=') || at + 1 == count ? flag : flags[at + 1]);
  if (!strcmp(flag, "-rdc=true") || !strcmp(flag, "-dc") || !strcmp(flag, "--device-c") ||
      !strcmp(flag, "--relocatable-device-code=true"))
    argument(to, "-D__CUDACC_RDC__");
  if (!strcmp(flag, "-extended-lambda") || !strcmp(flag, "--extended-lambda") ||
      !strcmp(flag, "--expt-extended-lambda") || !strcmp(flag, "-expt-extended-lambda"))
    argument(to, "-D__CUDACC_EXTENDED_LAMBDA__");
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

static void make_arguments(ink_unit *unit, bool header_less, arguments *to) {
  const ink_instrument_options *options = unit->options;
  if (header_less) { /* before the user's own -include, which needs __device__ and its like */
    argument(to, "-include");
    argument(to, INK_SHIM "/shim.h");
  }
  for (size_t i = 0; i < options->flag_count;)
    i += take_flag(to, options->flags, options->flag_count, i);
  if (!to->has_std)
    argument(to, "-std=c++17");
  argument(to, "-x");
  argument(to, "cuda");
  argument(to, "--cuda-device-only");
  argument(to, "-ferror-limit=0");
  argument(to, "-w");
  argument(to, "-Wno-unknown-cuda-version");
  /* clang 19 ends at sm_90: newer ones are parsed as that, with their own __CUDA_ARCH__ */
  argument(to, "--cuda-gpu-arch=sm_%u", to->sm && to->sm < 90 ? to->sm : 90);
  if (to->sm > 90) {
    argument(to, "-U__CUDA_ARCH__");
    argument(to, "-D__CUDA_ARCH__=%u0", to->sm);
  }
  if (header_less) {
    argument(to, "-nocudainc");
    argument(to, "-nocudalib");
    argument(to, "-D__CUDA_ARCH_LIST__=%u0", to->sm ? to->sm : 75);
  } else {
    argument(to, "--cuda-path=%s", options->cuda);
    argument(to, "-isystem");
    argument(to, "%s/include/cccl", options->cuda);
    argument(to, "-isystem");
    argument(to, INK_SHIM);
    argument(to, "-include");
    argument(to, INK_SHIM "/after.h");
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

ink_status ink_unit_parse(ink_unit *unit, bool header_less, ink_error *error) {
  arguments list = {0};
  ink_status status = INK_OK;
  unit->header_less = header_less;
  make_arguments(unit, header_less, &list);
  if (list.failed) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  } else {
    const uint64_t begun = now_ns();
    if (!unit->index)
      unit->index = clang_createIndex(0, 0);
    struct CXUnsavedFile files[INK_SHIM_FILES + 1], *patched = &files[INK_SHIM_FILES];
    const size_t shims = ink_shim_files(files);
    *patched = (struct CXUnsavedFile){.Filename = unit->options->source};
    if (ink_bytes_read(&unit->original, unit->options->source) && unit->original.count)
      patched->Contents = unit->patched = malloc(unit->original.count);
    patched->Length = unit->original.count;
    if (unit->patched)
      memcpy(unit->patched, unit->original.at, unit->original.count);
    const bool use = unit->patched && ink_suffix_patch(unit->patched, unit->original.count);
    if (!use)
      ink_bytes_free(&unit->original);
    enum CXErrorCode code = clang_parseTranslationUnit2(
        unit->index, unit->options->source, (const char *const *)list.list.items,
        (int)list.list.count, files, (unsigned)shims + use,
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &unit->tu);
    unit->parse_ns = now_ns() - begun;
    if (code != CXError_Success)
      status = ink_error_set(error, INK_ERROR_FORMAT, "cannot parse '%s': libclang error %d",
                             unit->options->source, (int)code);
  }
  for (size_t i = 0; i < list.list.count; i++)
    free(list.list.items[i]);
  free(list.list.items);
  return status;
}
