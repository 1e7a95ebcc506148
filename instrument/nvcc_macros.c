/* SPDX-License-Identifier: MIT */
/* The macros that nvcc defines in its device pass: what `nvcc --dryrun` shows, without running it. */
#include "nvcc_macros.h"
#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- architectures ------------------------------------------------------------------------------ */

static void list_architecture(ink_nvcc *nvcc, unsigned sm) {
  unsigned at = 0;
  while (at < nvcc->list_count && nvcc->listed[at] < sm)
    at++;
  if ((at < nvcc->list_count && nvcc->listed[at] == sm) ||
      nvcc->list_count == sizeof nvcc->listed / sizeof *nvcc->listed)
    return;
  memmove(nvcc->listed + at + 1, nvcc->listed + at, (nvcc->list_count - at) * sizeof *nvcc->listed);
  nvcc->listed[at] = sm;
  nvcc->list_count++;
}

/* `sm_90a`, `compute_100f`, `lto_80`; of one number the one with the most features counts. */
static void add_architecture(ink_nvcc *nvcc, const char *name) {
  static const char *const kinds[] = {"sm_", "compute_", "lto_"};
  unsigned sm = 0;
  char suffix = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const size_t length = strlen(kinds[i]);
    if (!strncmp(name, kinds[i], length) && sscanf(name + length, "%u%c", &sm, &suffix) >= 1)
      break;
  }
  if (!sm)
    return;
  suffix = suffix == 'a' || suffix == 'f' ? suffix : 0;
  list_architecture(nvcc, sm);
  const bool more = suffix == 'a' || (suffix && nvcc->suffix != 'a');
  if (sm > nvcc->sm || (sm == nvcc->sm && more))
    nvcc->suffix = suffix;
  if (sm > nvcc->sm)
    nvcc->sm = sm;
}

/* The value of -arch: `all` and `all-major` stand for what the toolkit can do. */
static void take_architecture(ink_nvcc *nvcc, const char *value) {
  static const unsigned all[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
  const unsigned version = nvcc->major * 10 + nvcc->minor;
  const bool majors = !strcmp(value, "all-major");
  if (!majors && strcmp(value, "all")) {
    add_architecture(nvcc, value);
    return;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const unsigned sm = all[i];
    const unsigned first = sm == 103 || sm == 121 ? 129 : sm >= 100 ? 128 : 0;
    const unsigned oldest = nvcc->major >= 13 ? 75 : 50;
    if (sm < oldest || version < first || (version >= 130 ? sm == 101 : sm == 110 || sm == 88) ||
        (majors && sm % 10 && sm != oldest))
      continue;
    list_architecture(nvcc, sm);
    nvcc->sm = sm;
    nvcc->suffix = 0;
  }
}

/* ---- flags -------------------------------------------------------------------------------------- */

/* The value of a flag that has one, attached with `=` or the next word; NULL: it is another flag. */
static const char *value_of(const char *const *flags, size_t count, size_t at, const char *name) {
  const size_t length = strlen(name);
  if (strncmp(flags[at], name, length))
    return NULL;
  if (flags[at][length] == '=')
    return flags[at] + length + 1;
  return !flags[at][length] && at + 1 < count ? flags[at + 1] : NULL;
}

static const char *any_value_of(const char *const *flags, size_t count, size_t at, const char *one,
                                const char *other) {
  const char *value = value_of(flags, count, at, one);
  return value ? value : value_of(flags, count, at, other);
}

static bool is_one_of(const char *flag, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(flag, *words))
      return true;
  return false;
}

static void take_word(ink_nvcc *nvcc, const char *flag) {
  static const char *const rdc[] = {"-dc", "--device-c", "-dlto", "--dlink-time-opt", NULL};
  static const char *const lambda[] = {"-extended-lambda", "--extended-lambda", "--expt-extended-lambda",
                                       "-expt-extended-lambda", NULL};
  static const char *const relaxed[] = {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", NULL};
  static const char *const debug[] = {"-G", "--device-debug", NULL};
  static const char *const ewp[] = {"-ewp", "--extensible-whole-program", NULL};
  nvcc->rdc |= is_one_of(flag, rdc);
  nvcc->lambda |= is_one_of(flag, lambda);
  nvcc->relaxed |= is_one_of(flag, relaxed);
  nvcc->debug |= is_one_of(flag, debug);
  nvcc->ewp |= is_one_of(flag, ewp);
}

static void take_flags(ink_nvcc *nvcc, const char *const *flags, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *arch = any_value_of(flags, count, i, "-arch", "--gpu-architecture");
    const char *code = any_value_of(flags, count, i, "-gencode", "--generate-code");
    const char *rdc = any_value_of(flags, count, i, "-rdc", "--relocatable-device-code");
    const char *stream = any_value_of(flags, count, i, "-default-stream", "--default-stream");
    const char *dopt = any_value_of(flags, count, i, "-dopt", "--dopt");
    take_word(nvcc, flags[i]);
    if (arch)
      take_architecture(nvcc, arch);
    if (code && (code = strstr(code, "arch=")))
      add_architecture(nvcc, code + 5);
    if (rdc)
      nvcc->rdc = !strcmp(rdc, "true");
    nvcc->per_thread |= stream && !strcmp(stream, "per-thread");
    nvcc->optimized |= dopt && !strcmp(dopt, "on");
  }
}

/* ---- the toolkit -------------------------------------------------------------------------------- */

static bool read_file(ink_bytes *text, const char *folder, const char *name) {
  char path[4096];
  return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && ink_bytes_read(text, path);
}

/* CUDART_VERSION of the headers; the build of the compiler is in no header, but in its `--version`. */
static void read_version(ink_nvcc *nvcc, const char *cuda) {
  static const char *const compilers[] = {"bin/nvcc", "../../bin/nvcc"};
  ink_bytes text = {0};
  char sign[40];
  if (read_file(&text, cuda, "include/cuda_runtime_api.h")) {
    const char *at = memmem(text.at, text.count, "#define CUDART_VERSION", 22);
    const unsigned long version = at ? strtoul(at + 22, NULL, 10) : 0;
    nvcc->major = (unsigned)(version / 1000);
    nvcc->minor = (unsigned)(version % 1000 / 10);
  }
  ink_bytes_free(&text);
  snprintf(sign, sizeof sign, "release %u.%u, V%u.%u.", nvcc->major, nvcc->minor, nvcc->major, nvcc->minor);
  for (size_t i = 0; i < 2 && nvcc->major && !nvcc->build; i++) {
    text = (ink_bytes){0};
    const char *at = read_file(&text, cuda, compilers[i]) ? memmem(text.at, text.count, sign, strlen(sign)) : NULL;
    if (at)
      nvcc->build = (unsigned)strtoul(at + strlen(sign), NULL, 10);
    ink_bytes_free(&text);
  }
}

void ink_nvcc_read(ink_nvcc *nvcc, const char *const *flags, size_t count, const char *cuda) {
  *nvcc = (ink_nvcc){0};
  if (cuda)
    read_version(nvcc, cuda);
  if (!nvcc->major)
    nvcc->major = 13;
  take_flags(nvcc, flags, count);
  if (!nvcc->sm)
    add_architecture(nvcc, nvcc->major >= 13 ? "sm_75" : "sm_52");
}

/* ---- what is defined ---------------------------------------------------------------------------- */

static void number(ink_nvcc_take take, void *to, bool early, const char *name, unsigned value) {
  char text[24];
  snprintf(text, sizeof text, "%u", value);
  take(to, early, name, text);
}

static void architecture_macros(const ink_nvcc *nvcc, ink_nvcc_take take, void *to) {
  char text[300];
  size_t n = 0;
  for (unsigned i = 0; i < nvcc->list_count; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%u0", i ? "," : "", nvcc->listed[i]);
  number(take, to, true, "__CUDA_ARCH__", nvcc->sm * 10);
  take(to, true, "__CUDA_ARCH_LIST__", text);
  const bool specific = nvcc->major * 10 + nvcc->minor >= 129;
  if (nvcc->suffix == 'a') {
    snprintf(text, sizeof text, "__CUDA_ARCH_FEAT_SM%u_ALL", nvcc->sm);
    take(to, true, text, "");
    if (specific)
      number(take, to, true, "__CUDA_ARCH_SPECIFIC__", nvcc->sm * 10);
  }
  if (nvcc->suffix && specific)
    number(take, to, true, "__CUDA_ARCH_FAMILY_SPECIFIC__", nvcc->sm * 10);
}

void ink_nvcc_macros(const ink_nvcc *nvcc, ink_nvcc_take take, void *to) {
  const struct {
    const char *name;
    bool defined;
  } words[] = {{"__CUDACC_RDC__", nvcc->rdc},
               {"__CUDACC_EXTENDED_LAMBDA__", nvcc->lambda},
               {"__CUDACC_RELAXED_CONSTEXPR__", nvcc->relaxed},
               {"__CUDACC_DEBUG__", nvcc->debug && !nvcc->optimized},
               {"__CUDACC_EWP__", nvcc->ewp}};
  architecture_macros(nvcc, take, to);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i].defined)
      take(to, true, words[i].name, "");
  if (nvcc->per_thread)
    take(to, true, "CUDA_API_PER_THREAD_DEFAULT_STREAM", "1");
  take(to, true, "CUDA_DOUBLE_MATH_FUNCTIONS", "");
  take(to, false, "__CUDACC__", "");
  take(to, false, "__NVCC__", "");
  number(take, to, false, "__CUDACC_VER_MAJOR__", nvcc->major);
  number(take, to, false, "__CUDACC_VER_MINOR__", nvcc->minor);
  number(take, to, false, "__CUDACC_VER_BUILD__", nvcc->build);
  number(take, to, false, "__CUDA_API_VER_MAJOR__", nvcc->major);
  number(take, to, false, "__CUDA_API_VER_MINOR__", nvcc->minor);
  take(to, false, "__NVCC_DIAG_PRAGMA_SUPPORT__", "1");
  if (nvcc->major >= 13)
    take(to, false, "__CUDACC_DEVICE_ATOMIC_BUILTINS__", "1");
}
