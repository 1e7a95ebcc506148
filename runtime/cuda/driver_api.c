/* SPDX-License-Identifier: MIT */
/* The driver's functions in the form in which libinkmark calls a CUDA runtime's, and the slots of contexts. */
#include "cuda/driver_api.h"

#include "cuda/options.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { /* cuda.h */
  HOST = 1, /* CUmemorytype; also cudaMemcpyHostToDevice */
  DEVICE = 2,
  INVALID_CONTEXT = 201,
  NON_BLOCKING = 1,
  HOST_PORTABLE = 1,
  HOST_MAPPED = 2,
  NO_CONTEXT = -3, /* device numbers that get_device gives and set_device takes back */
  OTHER_CONTEXT = -2
};

typedef struct copy_2d { /* CUDA_MEMCPY2D */
  size_t from_x, from_y;
  int from_type;
  const void *from_host;
  ink_i_device_ptr from_device;
  void *from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void *to_host;
  ink_i_device_ptr to_device;
  void *to_array;
  size_t to_pitch, width, height;
} copy_2d;

/* What must be there: all of it has been since CUDA 10. */
#define FUNCTIONS(X)                                                                               \
  X(init, "cuInit", (unsigned))                                                                    \
  X(version, "cuDriverGetVersion", (int *))                                                        \
  X(error_text, "cuGetErrorString", (int, const char **))                                          \
  X(device_count, "cuDeviceGetCount", (int *))                                                     \
  X(attribute, "cuDeviceGetAttribute", (int *, int, int))                                          \
  X(name, "cuDeviceGetName", (char *, int, int))                                                   \
  X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                            \
  X(release, "cuDevicePrimaryCtxRelease_v2", (int))                                                \
  X(state, "cuDevicePrimaryCtxGetState", (int, unsigned *, int *))                                 \
  X(get_context, "cuCtxGetCurrent", (void **))                                                     \
  X(set_context, "cuCtxSetCurrent", (void *))                                                      \
  X(context_device, "cuCtxGetDevice", (int *))                                                     \
  X(synchronize, "cuCtxSynchronize", (void))                                                       \
  X(memory, "cuMemGetInfo_v2", (size_t *, size_t *))                                               \
  X(allocate, "cuMemAlloc_v2", (ink_i_device_ptr *, size_t))                                       \
  X(free, "cuMemFree_v2", (ink_i_device_ptr))                                                      \
  X(allocate_host, "cuMemHostAlloc", (void **, size_t, unsigned))                                  \
  X(free_host, "cuMemFreeHost", (void *))                                                          \
  X(register_host, "cuMemHostRegister_v2", (void *, size_t, unsigned))                             \
  X(unregister_host, "cuMemHostUnregister", (void *))                                              \
  X(host_address, "cuMemHostGetDevicePointer_v2", (ink_i_device_ptr *, void *, unsigned))          \
  X(to_device, "cuMemcpyHtoDAsync_v2", (ink_i_device_ptr, const void *, size_t, void *))           \
  X(to_host, "cuMemcpyDtoHAsync_v2", (void *, ink_i_device_ptr, size_t, void *))                   \
  X(rows, "cuMemcpy2DAsync_v2", (const copy_2d *, void *))                                         \
  X(set, "cuMemsetD8Async", (ink_i_device_ptr, unsigned char, size_t, void *))                     \
  X(set_rows, "cuMemsetD2D8Async", (ink_i_device_ptr, size_t, unsigned char, size_t, size_t, void *)) \
  X(make_stream, "cuStreamCreate", (void **, unsigned))                                            \
  X(destroy_stream, "cuStreamDestroy_v2", (void *))                                                \
  X(wait_stream, "cuStreamSynchronize", (void *))                                                  \
  X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *))                                    \
  X(load, "cuModuleLoadData", (void **, const void *))                                             \
  X(function, "cuModuleGetFunction", (void **, void *, const char *))                              \
  X(global, "cuModuleGetGlobal_v2", (ink_i_device_ptr *, size_t *, void *, const char *))          \
  X(launch, "cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                               unsigned, void *, void **, void **))

static struct {
#define FIELD(field, symbol, parameters) int(*field) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
  int (*library_global)(ink_i_device_ptr *, size_t *, void *, const char *); /* CUDA 12 */
  int (*function_module)(void **, void *), (*kernel_library)(void **, void *);
} driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded;

/* A slot's context; of a primary one NULL until it was seen. */
static void *_Atomic contexts[INK_I_DEVICES_MAX];
static int ordinals[INK_I_DEVICES_MAX], devices; /* of slots above `devices` */
static bool retained[INK_I_DEVICES_MAX];
static _Thread_local void *other; /* a context without a slot, to be given back */

/* ---- slots ---- */

int ink_i_driver_ordinal(int slot) { return slot < devices ? slot : ordinals[slot]; }

bool ink_i_driver_is_seen(int slot) { return atomic_load(&contexts[slot]) != NULL; }

int ink_i_driver_slot_of(const void *context) {
  for (int i = 0; i < INK_I_DEVICES_MAX && context; i++)
    if (atomic_load(&contexts[i]) == context)
      return i;
  return -1;
}

/* A primary context that is active is retained and released without being made. */
static bool is_primary(const void *context, int device) {
  unsigned flags;
  int active = 0;
  void *primary = NULL;
  if (driver.state(device, &flags, &active) || !active || driver.retain(&primary, device))
    return false;
  driver.release(device);
  return primary == context;
}

int ink_i_driver_slot_here(void) {
  void *context = NULL;
  int device, slot;
  if (!ink_i_driver() || driver.get_context(&context) || !context)
    return -1;
  slot = ink_i_driver_slot_of(context);
  if (slot >= 0 || driver.context_device(&device))
    return slot;
  pthread_mutex_lock(&lock);
  if (device < INK_I_DEVICES_MAX && is_primary(context, device))
    slot = device;
  for (int i = devices; i < INK_I_DEVICES_MAX && slot < 0; i++)
    if (!contexts[i])
      slot = i;
  if (slot >= 0) {
    ordinals[slot] = device;
    atomic_store(&contexts[slot], context);
  }
  pthread_mutex_unlock(&lock);
  return slot;
}

void ink_i_driver_context_goes(int slot) {
  if (slot >= devices)
    atomic_store(&contexts[slot], NULL);
}

/* ---- as a runtime's functions ---- */

static int get_device_count(int *count) {
  const int code = driver.init(0);
  return code ? code : driver.device_count(count);
}

static int get_device(int *slot) {
  void *context = NULL;
  const int code = driver.get_context(&context);
  if (code)
    return code;
  *slot = ink_i_driver_slot_of(context);
  if (*slot < 0) {
    other = context;
    *slot = context ? OTHER_CONTEXT : NO_CONTEXT;
  }
  return 0;
}

/* A device that is recorded keeps its primary context: what the program's last release would end. */
static int use_primary(int device) {
  void *context = NULL;
  int code = 0;
  pthread_mutex_lock(&lock);
  if (!retained[device]) {
    code = driver.retain(&context, device);
    retained[device] = !code;
    if (!code)
      atomic_store(&contexts[device], context);
  }
  pthread_mutex_unlock(&lock);
  return code ? code : driver.set_context(contexts[device]);
}

static int set_device(int slot) {
  if (slot == NO_CONTEXT || slot == OTHER_CONTEXT)
    return driver.set_context(slot == NO_CONTEXT ? NULL : other);
  if (slot < 0 || slot >= INK_I_DEVICES_MAX)
    return INVALID_CONTEXT;
  if (slot < devices)
    return use_primary(slot);
  return contexts[slot] ? driver.set_context(contexts[slot]) : INVALID_CONTEXT;
}

static int get_attribute(int *value, int attribute, int slot) {
  return driver.attribute(value, attribute, ink_i_driver_ordinal(slot));
}

static int device_name(char *name, size_t bytes, int slot) {
  const int code = driver.name(name, (int)bytes, ink_i_driver_ordinal(slot));
  const size_t n = code ? bytes : strlen(name);
  if (slot >= devices && n < bytes)
    snprintf(name + n, bytes - n, " (a context of device %d)", ordinals[slot]);
  return code;
}

static ink_i_device_ptr address(const void *pointer) { return (ink_i_device_ptr)(uintptr_t)pointer; }

static int malloc_device(void **pointer, size_t bytes) {
  ink_i_device_ptr at = 0;
  const int code = driver.allocate(&at, bytes);
  if (!code)
    *pointer = (void *)(uintptr_t)at;
  return code;
}

static int free_device(void *pointer) { return driver.free(address(pointer)); }
static int malloc_host(void **pointer, size_t bytes) { return driver.allocate_host(pointer, bytes, HOST_PORTABLE); }

static int copy_async(void *to, const void *from, size_t bytes, int kind, void *stream) {
  return kind == HOST ? driver.to_device(address(to), from, bytes, stream)
                      : driver.to_host(to, address(from), bytes, stream);
}

static int copy_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, int kind, void *stream) {
  copy_2d box = {.from_pitch = from_pitch, .to_pitch = to_pitch, .width = width, .height = height,
                 .from_type = kind == HOST ? HOST : DEVICE, .to_type = kind == HOST ? DEVICE : HOST};
  if (kind == HOST) {
    box.from_host = from;
    box.to_device = address(to);
  } else {
    box.from_device = address(from);
    box.to_host = to;
  }
  return driver.rows(&box, stream);
}

static int set_async(void *to, int byte, size_t bytes, void *stream) {
  return driver.set(address(to), (unsigned char)byte, bytes, stream);
}

static int set_2d_async(void *to, size_t pitch, int byte, size_t width, size_t height, void *stream) {
  return driver.set_rows(address(to), pitch, (unsigned char)byte, width, height, stream);
}

static int host_register(void *at, size_t bytes) {
  return driver.register_host(at, bytes, HOST_PORTABLE | HOST_MAPPED);
}

static int host_device_pointer(void **device, void *at) {
  ink_i_device_ptr found = 0;
  const int code = driver.host_address(&found, at, 0);
  if (!code)
    *device = (void *)(uintptr_t)found;
  return code;
}

static int stream_create(void **stream) { return driver.make_stream(stream, NON_BLOCKING); }
static int no_error(void) { return 0; } /* the driver remembers none */

static const char *error_string(int code) {
  const char *text = NULL;
  return driver.error_text(code, &text) == 0 && text ? text : "an unknown error";
}

static ink_cuda_api api = {
    .bytes = sizeof api, .get_device_count = get_device_count, .get_device = get_device, .set_device = set_device,
    .get_attribute = get_attribute, .device_name = device_name, .malloc_device = malloc_device,
    .free_device = free_device, .malloc_host = malloc_host, .copy_async = copy_async, .set_async = set_async,
    .stream_create = stream_create, .peek_last_error = no_error, .get_last_error = no_error,
    .error_string = error_string, .copy_2d_async = copy_2d_async, .set_2d_async = set_2d_async,
    .host_register = host_register, .host_device_pointer = host_device_pointer,
};

/* ---- finding it ---- */

static bool find_all(void *library) {
  bool all = true;
#define FIND(field, symbol, parameters)                                                            \
  *(void **)&driver.field = dlsym(library, symbol);                                                \
  all = all && driver.field;
  FUNCTIONS(FIND)
#undef FIND
  *(void **)&driver.library_global = dlsym(library, "cuLibraryGetGlobal");
  *(void **)&driver.function_module = dlsym(library, "cuFuncGetModule");
  *(void **)&driver.kernel_library = dlsym(library, "cuKernelGetLibrary");
  return all && driver.device_count(&devices) == 0;
}

static void complete(void) {
  api.device_synchronize = driver.synchronize;
  api.free_host = driver.free_host;
  api.stream_destroy = driver.destroy_stream;
  api.stream_synchronize = driver.wait_stream;
  api.runtime_version = api.driver_version = driver.version;
  api.exchange_capture_mode = driver.capture_mode;
  api.memory = driver.memory;
  api.host_unregister = driver.unregister_host;
}

const ink_cuda_api *ink_i_driver(void) {
  if (atomic_load(&loaded))
    return &api;
  /* its handle is kept: the program may have loaded it with another name, and may let it go */
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    library = dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (!library)
    return NULL;
  pthread_mutex_lock(&lock);
  if (!loaded && find_all(library)) {
    complete();
    atomic_store(&loaded, true);
  }
  pthread_mutex_unlock(&lock);
  return loaded ? &api : NULL;
}

/* ---- modules ---- */

int ink_i_driver_load(void **module, const void *image) { return driver.load(module, image); }

int ink_i_driver_function(void **function, void *module, const char *name) {
  return driver.function(function, module, name);
}

void *ink_i_driver_module_of(void *function, bool *library) {
  void *found = NULL;
  if (!ink_i_driver())
    return NULL;
  *library = driver.kernel_library && driver.kernel_library(&found, function) == 0 && found;
  if (!*library && (!driver.function_module || driver.function_module(&found, function) != 0))
    found = NULL;
  return found;
}

int ink_i_driver_global(bool library, void *handle, const char *name, ink_i_device_ptr *at, size_t *bytes) {
  if (library)
    return driver.library_global ? driver.library_global(at, bytes, handle, name) : INVALID_CONTEXT;
  return driver.global(at, bytes, handle, name);
}

int ink_i_driver_write(ink_i_device_ptr to, const void *from, size_t bytes, void *stream) {
  const int code = driver.to_device(to, from, bytes, stream);
  return code ? code : driver.wait_stream(stream);
}

int ink_i_driver_launch(void *function, unsigned blocks, unsigned threads, void **arguments, void *stream) {
  return driver.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
}
