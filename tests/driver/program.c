/* SPDX-License-Identifier: MIT */
/* program WAY CASE IMAGE...: loads modules through the driver's API and launches their kernels. It comes to the
 * driver by its PLT, by dlsym, or by cuGetProcAddress. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(WITH_SESSION)
#include "inkmark/session.h"
#endif

typedef unsigned long long address;

/* name, what cuGetProcAddress is asked for, parameters */
#define FUNCTIONS(X)                                                                               \
  X(cuInit, "cuInit", (unsigned))                                                                  \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (void **, int))                          \
  X(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", (int))                                  \
  X(cuCtxCreate_v2, "cuCtxCreate", (void **, unsigned, int))                                       \
  X(cuCtxDestroy_v2, "cuCtxDestroy", (void *))                                                     \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", (void *))                                                  \
  X(cuGreenCtxCreate, "cuGreenCtxCreate", (void **, void *, int, unsigned))                        \
  X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                  \
  X(cuModuleLoad, "cuModuleLoad", (void **, const char *))                                         \
  X(cuModuleLoadData, "cuModuleLoadData", (void **, const void *))                                 \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx", (void **, const void *, unsigned, int *, void **))   \
  X(cuModuleLoadFatBinary, "cuModuleLoadFatBinary", (void **, const void *))                       \
  X(cuModuleUnload, "cuModuleUnload", (void *))                                                    \
  X(cuModuleGetFunction, "cuModuleGetFunction", (void **, void *, const char *))                   \
  X(cuLibraryLoadData, "cuLibraryLoadData",                                                        \
    (void **, const void *, int *, void **, unsigned, int *, void **, unsigned))                   \
  X(cuLibraryUnload, "cuLibraryUnload", (void *))                                                  \
  X(cuLibraryGetKernel, "cuLibraryGetKernel", (void **, void *, const char *))                     \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                 \
  X(cuMemAlloc_v2, "cuMemAlloc", (address *, size_t))                                              \
  X(cuMemFree_v2, "cuMemFree", (address))                                                          \
  X(cuMemsetD8_v2, "cuMemsetD8", (address, unsigned char, size_t))                                 \
  X(cuMemcpyDtoH_v2, "cuMemcpyDtoH", (void *, address, size_t))                                    \
  X(cuLaunchKernel, "cuLaunchKernel", (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                       unsigned, void *, void **, void **))

#define DECLARE(name, asked, parameters) int name parameters;
FUNCTIONS(DECLARE)
#undef DECLARE

static struct {
#define FIELD(name, asked, parameters) int(*name) parameters;
  FUNCTIONS(FIELD)
#undef FIELD
} cu;

static void fail(const char *what, int code) {
  fprintf(stderr, "program: %s: %d\n", what, code);
  exit(1);
}

#define OK(call)                                                                                   \
  do {                                                                                             \
    const int code_ = (call);                                                                      \
    if (code_)                                                                                     \
      fail(#call, code_);                                                                          \
  } while (0)

#if defined(LINKED)
static void find(const char *way) {
  (void)way;
#define TAKE(name, asked, parameters) cu.name = name;
  FUNCTIONS(TAKE)
#undef TAKE
}
#else
/* What to ask cuGetProcAddress for: of version 13000 these two have other parameters (cudaTypedefs.h). */
static int version_of(const char *asked) {
  return !strcmp(asked, "cuCtxCreate") || !strcmp(asked, "cuCtxSynchronize") ? 4000 : 13000;
}

static void find(const char *way) {
  int (*by_name)(const char *, void **, int, uint64_t, int *) = NULL;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    fail(dlerror(), 0);
  if (!strcmp(way, "address"))
    *(void **)&by_name = dlsym(driver, "cuGetProcAddress_v2");
#define TAKE(name, asked, parameters)                                                              \
  if (by_name)                                                                                     \
    OK(by_name(asked, (void **)&cu.name, version_of(asked), 0, NULL));                             \
  else                                                                                             \
    *(void **)&cu.name = dlsym(driver, #name);
  FUNCTIONS(TAKE)
#undef TAKE
}
#endif

static void *read_image(const char *path) {
  FILE *file = fopen(path, "rb");
  char *bytes = calloc(1, 1 << 22);
  if (!file || !bytes || !fread(bytes, 1, (1 << 22) - 1, file))
    fail(path, 0);
  fclose(file);
  return bytes;
}

/* 4 blocks, 3 turns: ((0 * 1.5 + 0)^2 * 1.5 + 1)^2 and so on, of four blocks one after another or not */
static void run(void *function) {
  address x;
  float host[32];
  int n = 3;
  OK(cu.cuMemAlloc_v2(&x, sizeof host));
  OK(cu.cuMemsetD8_v2(x, 0, sizeof host));
  void *arguments[] = {&x, &n};
  OK(cu.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  OK(cu.cuCtxSynchronize());
  OK(cu.cuMemcpyDtoH_v2(host, x, sizeof host));
  OK(cu.cuMemFree_v2(x));
  if (!(host[0] > 0))
    fail("the kernel did not run", 0);
}

/* As often, and nobody waits. */
#if !defined(WITH_SESSION)
static void queue(void *module, int launches) {
  void *function;
  address x;
  int n = 200;
  void *arguments[] = {&x, &n};
  OK(cu.cuModuleGetFunction(&function, module, "step"));
  OK(cu.cuMemAlloc_v2(&x, 128));
  OK(cu.cuMemsetD8_v2(x, 0, 128));
  for (int i = 0; i < launches; i++)
    OK(cu.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
}
#endif

static void run_module(void *module, const char *name) {
  void *function;
  OK(cu.cuModuleGetFunction(&function, module, name));
  run(function);
}

static void run_library(void *library) {
  void *kernel;
  OK(cu.cuLibraryGetKernel(&kernel, library, "step"));
  run(kernel);
}

static void *use_primary(void) {
  void *context;
  OK(cu.cuDevicePrimaryCtxRetain(&context, 0));
  OK(cu.cuCtxSetCurrent(context));
  return context;
}

static void *load(const void *image) {
  void *module;
  OK(cu.cuModuleLoadDataEx(&module, image, 0, NULL, NULL));
  return module;
}

static void *load_library(const void *image) {
  void *library;
  OK(cu.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
  return library;
}

#if !defined(WITH_SESSION)
/* Modules, and one library, in two contexts of a device; one of which goes. */
static void contexts(const void *image) {
  void *library = load_library(image); /* before any context */
  void *first = use_primary(), *second;
  void *module = load(image);
  run_library(library);
  OK(cu.cuCtxCreate_v2(&second, 0, 0));
  run_library(library);
  run_module(load(image), "step");
  OK(cu.cuCtxDestroy_v2(second));
  OK(cu.cuCtxSetCurrent(first));
  run_module(module, "step");
  OK(cu.cuCtxCreate_v2(&second, 0, 0)); /* perhaps with the same handle */
  run_library(library);
  OK(cu.cuCtxSetCurrent(first));
  run_library(library);
  OK(cu.cuLibraryUnload(library));
}

/* Modules one after another whose tables differ in their names alone; no kernel of theirs runs. */
static void edits(char *image, int count, bool unloads) {
  char digits[64];
  snprintf(digits, sizeof digits, "69, 100, 105, 116, 48, 48, 48, 48,");
  char *at = strstr(image, digits);
  if (!at)
    fail("the PTX has no table Edit0000", 0);
  for (int i = 1; i <= count; i++) {
    snprintf(digits, sizeof digits, "69, 100, 105, 116, %d, %d, %d, %d,", '0' + i / 1000 % 10, '0' + i / 100 % 10,
             '0' + i / 10 % 10, '0' + i % 10);
    memcpy(at, digits, strlen(digits));
    void *module = load(image);
    if (unloads)
      OK(cu.cuModuleUnload(module));
  }
}

/* Modules go while a kernel of another one waits for the program; the last goes behind it. */
static void persistent(const char *image) {
  void *function, *waits = load(image), *others[3], *go;
  OK(cu.cuMemHostAlloc(&go, sizeof(int), 0));
  *(volatile int *)go = 0;
  for (int i = 0; i < 3; i++)
    others[i] = load(image);
  run_module(others[0], "step");
  OK(cu.cuModuleGetFunction(&function, waits, "persist"));
  OK(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&go}, NULL));
  OK(cu.cuModuleUnload(others[0]));
  OK(cu.cuModuleUnload(others[1]));
  *(volatile int *)go = 1;
  OK(cu.cuModuleUnload(waits));
  run_module(others[2], "step");
  OK(cu.cuModuleUnload(others[2]));
}

static void run_case(const char *what, char **images) {
  void *module;
  if (!strcmp(what, "contexts")) {
    contexts(read_image(images[0]));
    return;
  }
  use_primary();
  if (!strcmp(what, "module")) {
    OK(cu.cuModuleLoadData(&module, read_image(images[0])));
    run_module(module, "step");
  } else if (!strcmp(what, "library")) {
    run_library(load_library(read_image(images[0])));
  } else if (!strcmp(what, "file")) {
    OK(cu.cuModuleLoad(&module, images[0]));
    run_module(module, "step");
  } else if (!strcmp(what, "fatbin")) {
    OK(cu.cuModuleLoadFatBinary(&module, read_image(images[0])));
    run_module(module, "step");
  } else if (!strcmp(what, "unload")) { /* while tracks wait to be drained */
    module = load(read_image(images[0]));
    run_module(module, "step");
    OK(cu.cuModuleUnload(module));
    run_module(load(read_image(images[0])), "step");
  } else if (!strcmp(what, "queued")) { /* while its kernels wait to run */
    module = load(read_image(images[0]));
    queue(module, 8);
    OK(cu.cuModuleUnload(module));
  } else if (!strcmp(what, "reset")) {
    run_module(load(read_image(images[0])), "step");
    OK(cu.cuDevicePrimaryCtxReset_v2(0));
    use_primary();
    run_module(load(read_image(images[0])), "step");
  } else if (!strcmp(what, "green")) {
    void *green;
    module = load(read_image(images[0]));
    if (cu.cuGreenCtxCreate(&green, NULL, 0, 1) != 801) /* CUDA_ERROR_NOT_SUPPORTED */
      fail("cuGreenCtxCreate", 0);
    run_module(module, "step");
  } else if (!strcmp(what, "fork")) { /* the child goes on with what the parent has */
    module = load(read_image(images[0]));
    run_module(module, "step");
    const pid_t child = fork();
    if (!child) {
      run_module(module, "step");
      run_module(load(read_image(images[0])), "step");
      exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status)
      fail("the child", status);
    run_module(module, "step");
  } else if (!strcmp(what, "closes")) { /* the device was armed through a library that goes */
    void *library = dlopen(images[1], RTLD_NOW);
    int (*run_marked)(void) = library ? (int (*)(void))dlsym(library, "run_library") : NULL;
    if (!run_marked || run_marked())
      fail(images[1], 0);
    module = load(read_image(images[0]));
    run_module(module, "step");
    dlclose(library);
    run_module(module, "step");
  } else if (!strcmp(what, "two")) { /* one that is unloaded, one in a context that goes */
    void *context = NULL;
    module = load(read_image(images[0]));
    run_module(module, "step");
    OK(cu.cuModuleUnload(module));
    run_module(load(read_image(images[0])), "step");
    OK(cu.cuCtxCreate_v2(&context, 0, 0));
    run_module(load(read_image(images[1])), "cell");
    OK(cu.cuCtxDestroy_v2(context));
  } else if (!strcmp(what, "persistent")) {
    persistent(read_image(images[0]));
  } else if (!strcmp(what, "idle")) { /* loaded, and no kernel of it runs */
    load(read_image(images[0]));
  } else if (!strcmp(what, "full")) { /* nothing is unloaded: the first has its slots, the last have none */
    module = load(read_image(images[2]));
    edits(read_image(images[0]), atoi(images[1]), false);
    run_module(module, "step");
  } else if (!strcmp(what, "edits")) {
    char *image = read_image(images[0]), *original = strdup(image);
    edits(image, atoi(images[1]), true);
    run_module(load(original), "cell");
  } else {
    fail(what, 0);
  }
}

#else
/* The same by the program itself, which hands its module over. */
static void session(const char *output, const char *path) {
  ink_session *s;
  ink_error error;
  prof_buffer buffer;
  bool marked = false;
  const ink_session_options options = {.size = sizeof options, .output = output, .replace = true};
  use_primary();
  if (ink_session_open(&options, &s, &error) || ink_session_buffer(s, 0, &buffer, &error))
    fail(error.message, 0);
  void *image = read_image(path), *module = load(image), *library = load_library(image);
  if (ink_session_add_module(s, module, image, 0, &marked, &error) || !marked ||
      ink_session_add_library(s, library, image, 0, &marked, &error) || !marked)
    fail(error.message, 0);
  run_module(module, "step");
  run_library(library);
  ink_session_remove_module(s, module);
  OK(cu.cuModuleUnload(module));
  run_library(library);
  if (ink_session_close(s, &marked, &error) || !marked)
    fail(error.message, 0);
}
#endif

#if defined(WITH_SESSION)
/* Another profiler: by CUPTI's older entry point, which nobody may stand beside, or by the newer one. */
typedef void callback_fn(void *, int, unsigned, const void *);
static void note_call(void *user, int domain, unsigned id, const void *data) {
  (void)domain, (void)id, (void)data;
  ++*(int *)user;
}

static void subscribe(const char *how, callback_fn *callback, void *user, unsigned call) {
  void *cupti = dlopen(getenv("INKMARK_CUPTI"), RTLD_NOW), *subscriber;
  struct {
    size_t bytes;
    const char *name;
    char *old_name;
    size_t old_name_bytes;
    unsigned char shares;
  } params = {.bytes = 33, .name = "another", .shares = 1};
  int (*alone)(void **, callback_fn *, void *), (*beside)(void **, callback_fn *, void *, void *);
  int (*enable)(unsigned, void *, int, unsigned);
  if (!cupti)
    fail(dlerror(), 0);
  *(void **)&alone = dlsym(cupti, "cuptiSubscribe");
  *(void **)&beside = dlsym(cupti, "cuptiSubscribe_v2");
  *(void **)&enable = dlsym(cupti, "cuptiEnableCallback");
  OK(strcmp(how, "beside") ? alone(&subscriber, callback, user) : beside(&subscriber, callback, user, &params));
  OK(enable(1, subscriber, 1, call));
}

#define LAUNCH(function, ...)                                                                      \
  OK(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){__VA_ARGS__}, NULL))

static struct {
  void *context, *function; /* of a kernel that was launched before */
  const char *image;
  address x;
  volatile int *go; /* ends the kernel that runs */
  atomic_int wanted, unloads, launched;
  int launched_meanwhile;
} others;

/* While another thread is inside of an unload that waits for a kernel: a launch, and then the word that ends the kernel. */
static void *launches(void *user) {
  int n = 3;
  (void)user;
  OK(cu.cuCtxSetCurrent(others.context));
  while (atomic_load(&others.wanted)) {
    usleep(1000);
    if (!atomic_load(&others.unloads))
      continue;
    usleep(20000);
    LAUNCH(others.function, &others.x, &n);
    atomic_store(&others.launched, 1);
    *others.go = 1;
    atomic_store(&others.unloads, 0);
  }
  return NULL;
}

static void *loads(void *user) {
  (void)user;
  OK(cu.cuCtxSetCurrent(others.context));
  while (atomic_load(&others.wanted))
    OK(cu.cuModuleUnload(load(others.image)));
  return NULL;
}

static void begin(pthread_t *thread, void *(*body)(void *)) {
  atomic_store(&others.wanted, 1);
  OK(pthread_create(thread, NULL, body, NULL));
}

static void end(pthread_t thread) {
  atomic_store(&others.wanted, 0);
  OK(pthread_join(thread, NULL));
}

static ink_session *open_small(const char *output) {
  ink_session *s;
  ink_error error;
  const ink_session_options options = {.size = sizeof options, .output = output, .replace = true, .modules = true,
                                       .tracks = 256, .records_per_track = 64};
  if (ink_session_open(&options, &s, &error))
    fail(error.message, 0);
  return s;
}

static void close_it(ink_session *s) {
  ink_error error;
  bool written;
  if (ink_session_close(s, &written, &error))
    fail(error.message, 0);
}

/* An unload waits for a kernel, which another thread ends behind a launch of its own: whether that launch went by. */
static bool unload_beside(const char *image) {
  void *function, *waits = load(image), *goes = load(image);
  *others.go = 0;
  atomic_store(&others.launched, 0);
  run_module(goes, "step");
  OK(cu.cuModuleGetFunction(&function, waits, "persist"));
  LAUNCH(function, &(void *){(void *)others.go});
  OK(cu.cuModuleUnload(goes)); /* note_unload tells the other thread, note_launched sees what it has done */
  const int went_by = others.launched_meanwhile;
  while (atomic_load(&others.unloads))
    usleep(1000);
  OK(cu.cuModuleUnload(waits));
  return went_by;
}

static void note_unload(void *user, int domain, unsigned id, const void *data) {
  (void)user, (void)domain, (void)id;
  if (!*(const int *)data && !*others.go)
    atomic_store(&others.unloads, 1);
}

static void note_launched(void *user, int domain, unsigned id, const void *data) {
  (void)user, (void)domain, (void)id;
  if (!*(const int *)data)
    others.launched_meanwhile = atomic_load(&others.launched);
}

/* Callbacks of several threads: one that waits holds up no launch, and a session that ends beside them leaves nothing that
 * is written to what is gone. */
static void threads(const char *output, const char *path) {
  pthread_t thread;
  int tries = 0, n = 3;
  void *go;
  others.image = read_image(path);
  others.context = use_primary();
  OK(cu.cuMemHostAlloc(&go, sizeof(int), 0));
  others.go = go;
  OK(cu.cuMemAlloc_v2(&others.x, 128));
  OK(cu.cuMemsetD8_v2(others.x, 0, 128));
  subscribe("beside", note_unload, NULL, 22 /* cuModuleUnload */);
  ink_session *s = open_small(output);
  subscribe("beside", note_launched, NULL, 22); /* told behind the session */
  OK(cu.cuModuleGetFunction(&others.function, load(others.image), "step"));
  LAUNCH(others.function, &others.x, &n);
  begin(&thread, launches);
  while (!unload_beside(others.image)) /* on a busy machine the other thread may come too late */
    if (++tries == 10)
      fail("a launch waits for an unload of another thread", tries);
  end(thread);
  close_it(s);
  begin(&thread, loads);
  for (int i = 0; i < 5; i++) {
    s = open_small(output);
    usleep(20000);
    close_it(s);
  }
  end(thread);
  run_module(load(others.image), "step");
}

/* A session that begins when a module is there already, and sees the others come and go. */
static void watch(const char *output, const char *path, const char *profiler) {
  ink_session *s;
  ink_error error;
  bool written = false;
  int calls = 0;
  void *context, *before;
  const ink_session_options options = {.size = sizeof options, .output = output, .replace = true, .modules = true};
  void *image = read_image(path), *first = use_primary();
  before = load(image);
  run_module(before, "step");
  if (strcmp(profiler, "none"))
    subscribe(profiler, note_call, &calls, 307 /* cuLaunchKernel */);
  if (ink_session_open(&options, &s, &error))
    fail(error.message, 0);
  run_module(before, "step"); /* nothing has named its sections yet */
  void *module = load(image), *library = load_library(image);
  run_module(module, "step");
  run_module(before, "step");
  run_library(library);
  OK(cu.cuModuleUnload(module));
  OK(cu.cuModuleLoad(&module, path));
  run_module(module, "step");
  OK(cu.cuCtxCreate_v2(&context, 0, 0)); /* the library comes into it */
  run_library(library);
  OK(cu.cuCtxDestroy_v2(context));
  OK(cu.cuCtxSetCurrent(first));
  OK(cu.cuLibraryUnload(library));
  OK(cu.cuDevicePrimaryCtxReset_v2(0));
  use_primary();
  module = load(image);
  run_module(module, "step");
  if (ink_session_close(s, &written, &error) || !written)
    fail(error.message, 0);
  run_module(module, "step");
  OK(cu.cuModuleUnload(module));
  printf("%d\n", calls);
}
#endif

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  find(argv[1]);
  OK(cu.cuInit(0));
#if defined(WITH_SESSION)
  if (argc > 4 && !strcmp(argv[4], "threads"))
    threads(argv[2], argv[3]);
  else if (argc > 4)
    watch(argv[2], argv[3], argv[4]);
  else
    session(argv[2], argv[3]);
#else
  run_case(argv[2], argv + 3);
#endif
  return 0;
}
