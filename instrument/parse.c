/* SPDX-License-Identifier: MIT */
/* Parses a CUDA source file with libclang: nvcc's flags become clang's, and where the toolkit's
 * headers cannot be parsed a small header of our own declares what kernels use. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a kernel may name, for the parse without a toolkit. Missing names cost an error in the
 * parse, which goes on: they are not a condition for finding kernels. */
static const char shim_header[] =
    "#define __CUDACC__ 1\n#define __NVCC__ 1\n#define __CUDACC_VER_MAJOR__ 13\n"
    "#define __CUDACC_VER_MINOR__ 0\n"
    "#define __host__ __attribute__((host))\n#define __device__ __attribute__((device))\n"
    "#define __global__ __attribute__((global))\n#define __shared__ __attribute__((shared))\n"
    "#define __constant__ __attribute__((constant))\n#define __managed__ __attribute__((managed))\n"
    "#define __grid_constant__\n#define __cluster_dims__(...)\n#define __maxnreg__(...)\n"
    "#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))\n"
    "#define __forceinline__ __inline__ __attribute__((always_inline))\n"
    "#define __noinline__ __attribute__((noinline))\n#define __align__(n) "
    "__attribute__((aligned(n)))\n"
    "struct uint3 { unsigned x, y, z; };\n"
    "struct dim3 { unsigned x, y, z; __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b "
    "= 1, unsigned c = 1) : x(a), y(b), z(c) {} };\n"
    "extern const __device__ uint3 threadIdx, blockIdx;\nextern const __device__ dim3 blockDim, "
    "gridDim;\nextern const __device__ int warpSize;\n"
    "#define INK_V(b, t) struct b##1 { t x; }; struct b##2 { t x, y; }; struct b##3 { t x, y, z; "
    "}; struct b##4 { t x, y, z, w; };\n"
    "INK_V(char, signed char) INK_V(uchar, unsigned char) INK_V(short, short) INK_V(ushort, "
    "unsigned short) INK_V(int, int) struct uint1 { unsigned x; }; struct uint2 { unsigned x, y; "
    "}; struct uint4 { unsigned x, y, z, w; }; INK_V(long, long) INK_V(ulong, unsigned long) "
    "INK_V(longlong, long long) INK_V(ulonglong, unsigned long long) INK_V(float, float) "
    "INK_V(double, double)\n#undef INK_V\n"
    "typedef struct CUstream_st *cudaStream_t;\nenum cudaError_t { cudaSuccess };\n"
    "cudaError_t cudaConfigureCall(dim3, dim3, unsigned long = 0, cudaStream_t = 0);\n"
    "__device__ void __syncthreads(); __device__ void __syncwarp(unsigned = ~0u); __device__ void "
    "__threadfence(); __device__ void __threadfence_block(); __device__ void __nanosleep(unsigned);"
    "\n__device__ int __syncthreads_count(int); __device__ int __syncthreads_and(int); __device__ "
    "int __syncthreads_or(int);\n__device__ long long clock64(); __device__ int clock();\n"
    "template <class T, class U> __device__ T atomicAdd(T *, U); template <class T, class U> "
    "__device__ T atomicMax(T *, U); template <class T, class U> __device__ T atomicMin(T *, U); "
    "template <class T, class U> __device__ T atomicExch(T *, U); template <class T, class U, "
    "class "
    "V> __device__ T atomicCAS(T *, U, V);\n"
    "template <class T> __device__ T __ldg(const T *); template <class T> __device__ T "
    "__shfl_sync(unsigned, T, int, int = 32); template <class T> __device__ T "
    "__shfl_down_sync(unsigned, T, unsigned, int = 32); template <class T> __device__ T "
    "__shfl_up_sync(unsigned, T, unsigned, int = 32); template <class T> __device__ T "
    "__shfl_xor_sync(unsigned, T, int, int = 32);\n"
    "#define INK_M(f) __device__ float f(float);\n"
    "INK_M(sinf) INK_M(cosf) INK_M(expf) INK_M(logf) INK_M(sqrtf) INK_M(rsqrtf) INK_M(fabsf) "
    "INK_M(floorf) INK_M(__expf) INK_M(__logf) INK_M(__sinf) INK_M(__cosf)\n#undef INK_M\n"
    "__device__ float fmaf(float, float, float); __device__ float fmaxf(float, float); __device__ "
    "float fminf(float, float); __device__ float powf(float, float);\n";

/* Clang takes no constructor of a __shared__ variable, and then knows none of its members: the waits of a
 * cuda::barrier would be lost. */
static const char after_header[] =
    "#undef __shared__\n#define __shared__ __attribute__((annotate(\"ink_shared\")))\n";

static bool write_file(const char *folder, const char *name, const char *text) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file)
    return false;
  bool fine = fputs(text, file) >= 0;
  return !fclose(file) && fine;
}

/* What clang's CUDA wrapper includes and a toolkit may lack. */
static const char *const shim_files[] = {"texture_fetch_functions.h", "curand_mtgp32_kernel.h"};

static ink_status make_shim(ink_unit *unit, ink_error *error) {
  char path[PATH_MAX];
  const char *folder = getenv("TMPDIR");
  if (unit->shim)
    return INK_OK;
  snprintf(path, sizeof path, "%s/inkmark-parse-XXXXXX", folder && *folder ? folder : "/tmp");
  if (!mkdtemp(path))
    return ink_error_set(error, INK_ERROR_IO, "cannot make a folder in '%s': %s",
                         folder && *folder ? folder : "/tmp", strerror(errno));
  unit->shim = strdup(path);
  bool fine = unit->shim && write_file(path, "shim.h", shim_header) &&
              write_file(path, "after.h", after_header);
  for (size_t i = 0; i < 2; i++)
    fine = fine && write_file(path, shim_files[i], "");
  return fine ? INK_OK : ink_error_set(error, INK_ERROR_IO, "cannot write to '%s'", path);
}

void ink_unit_remove_shim(ink_unit *unit) {
  char path[PATH_MAX];
  if (!unit->shim)
    return;
  for (size_t i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", unit->shim,
             i < 2 ? shim_files[i] : i == 2 ? "shim.h" : "after.h");
    unlink(path);
  }
  rmdir(unit->shim);
}

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
    argument(to, "-include");
    argument(to, "%s/shim.h", unit->shim);
    argument(to, "-D__CUDA_ARCH_LIST__=%u0", to->sm ? to->sm : 75);
  } else {
    argument(to, "--cuda-path=%s", options->cuda);
    argument(to, "-isystem");
    argument(to, "%s/include/cccl", options->cuda);
    argument(to, "-isystem");
    argument(to, "%s", unit->shim);
    argument(to, "-include");
    argument(to, "%s/after.h", unit->shim);
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
  ink_status status = make_shim(unit, error);
  if (status)
    return status;
  unit->header_less = header_less;
  make_arguments(unit, header_less, &list);
  if (list.failed) {
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory");
  } else {
    const uint64_t begun = now_ns();
    if (!unit->index)
      unit->index = clang_createIndex(0, 0);
    struct CXUnsavedFile patched = {.Filename = unit->options->source};
    if (ink_bytes_read(&unit->original, unit->options->source) && unit->original.count)
      patched.Contents = unit->patched = malloc(unit->original.count);
    patched.Length = unit->original.count;
    if (unit->patched)
      memcpy(unit->patched, unit->original.at, unit->original.count);
    const bool use = unit->patched && ink_suffix_patch(unit->patched, unit->original.count);
    if (!use)
      ink_bytes_free(&unit->original);
    enum CXErrorCode code = clang_parseTranslationUnit2(
        unit->index, unit->options->source, (const char *const *)list.list.items,
        (int)list.list.count, use ? &patched : NULL, use,
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
