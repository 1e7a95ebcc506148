/* SPDX-License-Identifier: MIT */
/* Sees what a program loads through the driver's API, in the preloaded library. Programs come to the driver by
 * their PLT (linked with -lcuda), by dlsym, and by cuGetProcAddress, with which a CUDA runtime comes to it too: in
 * each of these ways some functions are exchanged for those below, which call the driver's own. Launches are
 * among them only where they are counted, for a window. */
#include "cuda/driver_wrap.h"

#include "cuda/record_mode.h"
#include "cuda/record_window.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_INITIALIZED = 3 /* CUDA_ERROR_NOT_INITIALIZED */ };

typedef struct configuration { /* the beginning of CUlaunchConfig */
  unsigned extents[6], shared_bytes;
  void *stream;
} configuration;

#define PLAIN                                                                                      \
  (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,   \
   unsigned shared, void *stream, void **values, void **extra)
#define PLAIN_VALUES (function, gx, gy, gz, bx, by, bz, shared, stream, values, extra)
#define COOPERATIVE                                                                                \
  (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,   \
   unsigned shared, void *stream, void **values)
#define COOPERATIVE_VALUES (function, gx, gy, gz, bx, by, bz, shared, stream, values)
#define CONFIGURED (const configuration *config, void *function, void **values, void **extra)
#define CONFIGURED_VALUES (config, function, values, extra)
#define CONFIGURED_STREAM (config ? config->stream : NULL)
#define EXTENTS {gx, gy, gz, bx, by, bz}
#define CONFIGURED_EXTENT(i) (config ? config->extents[i] : 0)
#define CONFIGURED_EXTENTS                                                                         \
  {CONFIGURED_EXTENT(0), CONFIGURED_EXTENT(1), CONFIGURED_EXTENT(2), CONFIGURED_EXTENT(3), CONFIGURED_EXTENT(4), CONFIGURED_EXTENT(5)}
#define GRAPH (void *graph, void *stream)
#define GRAPH_VALUES (graph, stream)

/* Launches, with the stream that each goes to, the function, NULL for a graph, and its grid and block. */
#define LAUNCHES(X)                                                                                \
  X(cuLaunchKernel, PLAIN, PLAIN_VALUES, stream, function, EXTENTS) \
  X(cuLaunchKernel_ptsz, PLAIN, PLAIN_VALUES, INK_I_PER_THREAD(stream), function, EXTENTS) \
  X(cuLaunchCooperativeKernel, COOPERATIVE, COOPERATIVE_VALUES, stream, function, EXTENTS) \
  X(cuLaunchCooperativeKernel_ptsz, COOPERATIVE, COOPERATIVE_VALUES, INK_I_PER_THREAD(stream), function, EXTENTS) \
  X(cuLaunchKernelEx, CONFIGURED, CONFIGURED_VALUES, CONFIGURED_STREAM, function, CONFIGURED_EXTENTS) \
  X(cuLaunchKernelEx_ptsz, CONFIGURED, CONFIGURED_VALUES, INK_I_PER_THREAD(CONFIGURED_STREAM), function, CONFIGURED_EXTENTS) \
  X(cuGraphLaunch, GRAPH, GRAPH_VALUES, stream, NULL, {0})                                              \
  X(cuGraphLaunch_ptsz, GRAPH, GRAPH_VALUES, INK_I_PER_THREAD(stream), NULL, {0})

/* Each function with what the driver has by its name; found by dlsym where the program has asked for nothing. */
#define WRAPPED(X)                                                                                 \
  X(cuModuleLoad, (void **module, const char *path), (module, path))                               \
  X(cuModuleLoadData, (void **module, const void *image), (module, image))                         \
  X(cuModuleLoadDataEx, (void **module, const void *image, unsigned n, int *options, void **values), \
    (module, image, n, options, values))                                                           \
  X(cuModuleLoadFatBinary, (void **module, const void *image), (module, image))                    \
  X(cuModuleUnload, (void *module), (module))                                                      \
  X(cuLibraryLoadData, (void **library, const void *image, int *jit, void **jit_values, unsigned jit_n, \
                        int *options, void **values, unsigned n),                                  \
    (library, image, jit, jit_values, jit_n, options, values, n))                                  \
  X(cuLibraryLoadFromFile, (void **library, const char *path, int *jit, void **jit_values, unsigned jit_n, \
                            int *options, void **values, unsigned n),                              \
    (library, path, jit, jit_values, jit_n, options, values, n))                                   \
  X(cuLibraryUnload, (void *library), (library))                                                   \
  X(cuCtxCreate, (void **context, unsigned flags, int device), (context, flags, device))           \
  X(cuCtxCreate_v2, (void **context, unsigned flags, int device), (context, flags, device))        \
  X(cuCtxCreate_v3, (void **context, void *parameters, int n, unsigned flags, int device),         \
    (context, parameters, n, flags, device))                                                       \
  X(cuCtxCreate_v4, (void **context, void *parameters, unsigned flags, int device),                \
    (context, parameters, flags, device))                                                          \
  X(cuGreenCtxCreate, (void **context, void *resources, int device, unsigned flags),               \
    (context, resources, device, flags))                                                           \
  X(cuCtxDestroy, (void *context), (context))                                                      \
  X(cuCtxDestroy_v2, (void *context), (context))                                                   \
  X(cuCtxSetCurrent, (void *context), (context))                                                   \
  X(cuCtxPushCurrent, (void *context), (context))                                                  \
  X(cuCtxPushCurrent_v2, (void *context), (context))                                               \
  X(cuDevicePrimaryCtxReset, (int device), (device))                                               \
  X(cuDevicePrimaryCtxReset_v2, (int device), (device))                                            \
  X(cuProfilerStart, (void), ())                                                                   \
  X(cuProfilerStop, (void), ())                                                                    \
  X(cuGetProcAddress, (const char *name, void **entry, int version, uint64_t flags),               \
    (name, entry, version, flags))                                                                 \
  X(cuGetProcAddress_v2, (const char *name, void **entry, int version, uint64_t flags, int *status), \
    (name, entry, version, flags, status))

enum wrapped_index {
#define INDEX(name, ...) INDEX_##name,
  WRAPPED(INDEX) WRAPPED_CALLS, /* launches are behind these */
  INDEX_before_launches = WRAPPED_CALLS - 1,
  LAUNCHES(INDEX)
#undef INDEX
      WRAPPED_COUNT
};

#define DECLARE(name, parameters, ...)                                                             \
  typedef int name##_fn parameters;                                                                \
  INK_API int name parameters;
WRAPPED(DECLARE)
LAUNCHES(DECLARE)
#undef DECLARE

static const struct {
  const char *name;
  void *function;
} wrapped[] = {
#define ROW(name, ...) {#name, (void *)name},
    WRAPPED(ROW) LAUNCHES(ROW)
#undef ROW
};

/* How many of them are exchanged. */
static size_t exchanged(void) { return ink_record_counts_launches() ? WRAPPED_COUNT : WRAPPED_CALLS; }

static void *_Atomic behind[WRAPPED_COUNT];

/* ---- what is behind ---- */

static void *find_behind(enum wrapped_index which) {
  void *found = atomic_load(&behind[which]);
  if (found)
    return found;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!driver)
    driver = dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
  found = driver ? ink_real_dlsym(driver, wrapped[which].name) : NULL;
  if (found)
    atomic_store(&behind[which], found);
  if (driver)
    dlclose(driver);
  return found;
}

#define REAL(name) name##_fn *real = (name##_fn *)find_behind(INDEX_##name)

/* What the program gets for a driver's function; the same one, where it is not among ours. */
static void *exchange(const char *name, void *found) {
  for (size_t i = 0; i < exchanged(); i++)
    if (!strcmp(name, wrapped[i].name) && found != wrapped[i].function) {
      atomic_store(&behind[i], found);
      return wrapped[i].function;
    }
  return found;
}

/* cuGetProcAddress is asked by the name without a version, and gives a function of some version: what it gave is
 * told by the driver's own names. */
static void *exchange_by_address(const char *name, void *found) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < exchanged(); i++)
    if (!strncmp(name, wrapped[i].name, length) &&
        (!wrapped[i].name[length] || wrapped[i].name[length] == '_') && found == find_behind((enum wrapped_index)i))
      return wrapped[i].function;
  return found;
}

static void *by_dlsym(void *handle, const char *name) {
  for (size_t i = 0; i < WRAPPED_COUNT; i++) /* none is compared that is not one of ours */
    if (!strcmp(name, wrapped[i].name) && i < exchanged()) {
      void *found = ink_real_dlsym(handle, name);
      return found ? exchange(name, found) : NULL;
    }
  return NULL;
}

/* The real dlsym goes on with NULL: its caller stays who it was. A sanitizer's runtime asks for its functions by
 * here before its shadow memory is there: without any check until the name is one of a driver. */
__attribute__((no_sanitize("address", "undefined"))) void *ink_wrap_dlsym(void *handle, const char *name) {
  if (!name || name[0] != 'c' || name[1] != 'u' || handle == RTLD_NEXT)
    return NULL;
  return by_dlsym(handle, name);
}

/* ---- loading ---- */

static void came(int code, void *const *handle, bool library, const void *image) {
  if (!code && handle)
    ink_record_module_loaded(*handle, library, image, 0);
}

static void came_from_file(int code, void *const *handle, bool library, const char *path) {
  if (!code && handle)
    ink_record_file_loaded(*handle, library, path);
}

int cuModuleLoad(void **module, const char *path) {
  REAL(cuModuleLoad);
  const int code = real ? real(module, path) : NOT_INITIALIZED;
  came_from_file(code, module, false, path);
  return code;
}

int cuModuleLoadData(void **module, const void *image) {
  REAL(cuModuleLoadData);
  const int code = real ? real(module, image) : NOT_INITIALIZED;
  came(code, module, false, image);
  return code;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
  REAL(cuModuleLoadDataEx);
  const int code = real ? real(module, image, n, options, values) : NOT_INITIALIZED;
  came(code, module, false, image);
  return code;
}

int cuModuleLoadFatBinary(void **module, const void *image) {
  REAL(cuModuleLoadFatBinary);
  const int code = real ? real(module, image) : NOT_INITIALIZED;
  came(code, module, false, image);
  return code;
}

int cuLibraryLoadData(void **library, const void *image, int *jit, void **jit_values, unsigned jit_n, int *options,
                      void **values, unsigned n) {
  REAL(cuLibraryLoadData);
  const int code = real ? real(library, image, jit, jit_values, jit_n, options, values, n) : NOT_INITIALIZED;
  came(code, library, true, image);
  return code;
}

int cuLibraryLoadFromFile(void **library, const char *path, int *jit, void **jit_values, unsigned jit_n,
                          int *options, void **values, unsigned n) {
  REAL(cuLibraryLoadFromFile);
  const int code = real ? real(library, path, jit, jit_values, jit_n, options, values, n) : NOT_INITIALIZED;
  came_from_file(code, library, true, path);
  return code;
}

int cuModuleUnload(void *module) {
  REAL(cuModuleUnload);
  ink_record_module_goes(module, false);
  return real ? real(module) : NOT_INITIALIZED;
}

int cuLibraryUnload(void *library) {
  REAL(cuLibraryUnload);
  ink_record_module_goes(library, true);
  return real ? real(library) : NOT_INITIALIZED;
}

/* ---- contexts ---- */

static int made(int code, void *const *context) {
  if (!code && context)
    ink_record_context_came(*context);
  return code;
}

#define CONTEXT_MADE(name, parameters, arguments)                                                  \
  int name parameters {                                                                            \
    REAL(name);                                                                                    \
    return real ? made(real arguments, context) : NOT_INITIALIZED;                                 \
  }
CONTEXT_MADE(cuCtxCreate, (void **context, unsigned flags, int device), (context, flags, device))
CONTEXT_MADE(cuCtxCreate_v2, (void **context, unsigned flags, int device), (context, flags, device))
CONTEXT_MADE(cuCtxCreate_v3, (void **context, void *parameters, int n, unsigned flags, int device),
             (context, parameters, n, flags, device))
CONTEXT_MADE(cuCtxCreate_v4, (void **context, void *parameters, unsigned flags, int device),
             (context, parameters, flags, device))

int cuGreenCtxCreate(void **context, void *resources, int device, unsigned flags) {
  REAL(cuGreenCtxCreate);
  const int code = real ? real(context, resources, device, flags) : NOT_INITIALIZED;
  ink_record_green_context(code);
  return code;
}

#define CONTEXT_SET(name)                                                                          \
  int name(void *context) {                                                                        \
    REAL(name);                                                                                    \
    return real ? made(real(context), &context) : NOT_INITIALIZED;                                 \
  }
CONTEXT_SET(cuCtxSetCurrent)
CONTEXT_SET(cuCtxPushCurrent)
CONTEXT_SET(cuCtxPushCurrent_v2)

#define CONTEXT_DESTROYED(name)                                                                    \
  int name(void *context) {                                                                        \
    REAL(name);                                                                                    \
    ink_record_context_goes(context);                                                              \
    return real ? real(context) : NOT_INITIALIZED;                                                 \
  }
CONTEXT_DESTROYED(cuCtxDestroy)
CONTEXT_DESTROYED(cuCtxDestroy_v2)

#define CONTEXT_RESET(name)                                                                        \
  int name(int device) {                                                                           \
    REAL(name);                                                                                    \
    ink_i_held before;                                                                             \
    const int reset = ink_record_before_reset(device, &before);                                    \
    const int code = real ? real(device) : NOT_INITIALIZED;                                        \
    ink_record_after_reset(reset, &before);                                                        \
    return code;                                                                                   \
  }
CONTEXT_RESET(cuDevicePrimaryCtxReset)
CONTEXT_RESET(cuDevicePrimaryCtxReset_v2)

/* ---- launches, and when the program is to be recorded ---- */

typedef int capturing_fn(void *stream, int *status);

/* What a stream that is captured gets is launched with its graph, if ever. */
static bool is_captured(void *stream) {
  static void *_Atomic known;
  int status = 0;
  void *driver = known ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver) {
    known = ink_real_dlsym(driver, "cuStreamIsCapturing");
    dlclose(driver);
  }
  capturing_fn *ask = (capturing_fn *)known;
  return ask && ask(stream, &status) == 0 && status == 1 /* active */;
}

static bool count(ink_record_launch *launch, void *stream) {
  return ink_record_counts_launches() && (launch->is_graph || !is_captured(stream)) && ink_record_launch_begin(launch);
}

typedef int name_fn(const char **name, void *function);

/* Of a CUfunction, or of the CUkernel that may stand in its place. */
static const char *name_of(void *function) {
  static name_fn *_Atomic asks[2];
  static const char *const names[2] = {"cuFuncGetName", "cuKernelGetName"};
  const char *name = NULL;
  for (int i = 0; i < 2 && function && !name; i++) {
    void *driver = asks[i] ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) {
      atomic_store(&asks[i], (name_fn *)ink_real_dlsym(driver, names[i]));
      dlclose(driver);
    }
    if (!asks[i] || asks[i](&name, function) != 0)
      name = NULL;
  }
  return name;
}

static void end(ink_record_launch *launch, bool worked, void *function, const unsigned extents[6]) {
  bool wants;
  ink_record_launch_end(worked, &wants);
  if (!wants)
    return;
  memcpy(launch->grid_dim, extents, sizeof launch->grid_dim);
  memcpy(launch->block_dim, extents + 3, sizeof launch->block_dim);
  ink_record_launched(launch, name_of(function), -1);
}

#define COUNTED(name, parameters, arguments, stream, function, ...)                                \
  int name parameters {                                                                            \
    REAL(name);                                                                                    \
    if (!real)                                                                                     \
      return NOT_INITIALIZED;                                                                      \
    ink_record_launch launch = {.is_graph = !(function)};                                          \
    const unsigned extents[6] = __VA_ARGS__;                                                       \
    const bool counted = count(&launch, stream);                                                   \
    const int code = real arguments;                                                               \
    if (counted)                                                                                   \
      end(&launch, code == 0, function, extents);                                                  \
    return code;                                                                                   \
  }
LAUNCHES(COUNTED)

int cuProfilerStart(void) {
  REAL(cuProfilerStart);
  ink_record_profiler(true);
  return real ? real() : NOT_INITIALIZED;
}

int cuProfilerStop(void) {
  REAL(cuProfilerStop);
  ink_record_profiler(false);
  return real ? real() : NOT_INITIALIZED;
}

/* ---- by name and version ---- */

int cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags) {
  REAL(cuGetProcAddress);
  const int code = real ? real(name, entry, version, flags) : NOT_INITIALIZED;
  if (!code && name && *entry)
    *entry = exchange_by_address(name, *entry);
  return code;
}

int cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status) {
  REAL(cuGetProcAddress_v2);
  const int code = real ? real(name, entry, version, flags, status) : NOT_INITIALIZED;
  if (!code && name && *entry)
    *entry = exchange_by_address(name, *entry);
  return code;
}
