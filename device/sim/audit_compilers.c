/* SPDX-License-Identifier: MIT */
/* NVRTC and nvJitLink make machine code by default, which the simulated device cannot run. They have PTX too: whoever
 * asks NVRTC for a cubin gets its PTX, and whoever asks nvJitLink for the linked cubin gets the PTX of what was linked
 * (link-time optimisation is asked to end there), or the texts that were put in, in a bundle. */
#include "audit.h"
#include "ptx_bundle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 256, INPUT_PTX = 2 /* NVJITLINK_INPUT_PTX */ };

typedef int size_fn(void *, size_t *);
typedef int get_fn(void *, void *);
typedef int create_fn(void **, uint32_t, const char **);
typedef int add_fn(void *, int, const void *, size_t, const char *);
typedef int destroy_fn(void **);

typedef struct place {
  uintptr_t at;
  uint64_t bytes;
} place;

/* Of the one that was mapped last. */
static struct {
  place ptx_size, ptx, cubin_size, cubin; /* nvrtcGetPTXSize, nvrtcGetPTX, ... */
} rtc;

static struct {
  create_fn *create;
  add_fn *add;
  destroy_fn *destroy;
  size_fn *ptx_size, *cubin_size;
  get_fn *ptx, *cubin;
} linker;

/* A link that goes on: of PTX that is kept here, or of what becomes PTX there. */
typedef struct link {
  void *handle;
  bool optimises; /* -lto */
  bool other;     /* something was put in that is no PTX */
  char *texts;
  size_t bytes;
  struct link *next;
} link;

static link *links;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static link *link_of(void *handle) {
  link *at = links;
  while (at && at->handle != handle)
    at = at->next;
  return at;
}

/* ---- in nvJitLink's place ---- */

static int create(void **handle, uint32_t count, const char **options) {
  const char *all[OPTIONS_MAX];
  bool optimises = false, ends = false;
  for (uint32_t i = 0; i < count && count < OPTIONS_MAX - 1; i++) {
    all[i] = options[i];
    optimises = optimises || !strcmp(options[i], "-lto");
    ends = ends || !strcmp(options[i], "-ptx");
  }
  const bool changes = optimises && !ends;
  if (changes)
    all[count] = "-ptx";
  const int code = linker.create(handle, changes ? count + 1 : count, changes ? all : options);
  link *made = code ? NULL : calloc(1, sizeof *made);
  if (made) {
    pthread_mutex_lock(&lock);
    *made = (link){.handle = *handle, .optimises = optimises, .next = links};
    links = made;
    pthread_mutex_unlock(&lock);
  }
  return code;
}

static int add(void *handle, int type, const void *data, size_t bytes, const char *name) {
  pthread_mutex_lock(&lock);
  link *at = link_of(handle);
  const size_t n = type == INPUT_PTX ? strnlen(data, bytes) : 0, line = strlen(PTX_BUNDLE_LINE);
  char *grown = at && n ? realloc(at->texts, at->bytes + line + n + 1) : NULL;
  if (grown) {
    at->texts = grown;
    memcpy(grown + at->bytes, PTX_BUNDLE_LINE, line);
    memcpy(grown + at->bytes + line, data, n);
    at->bytes += line + n;
    grown[at->bytes] = 0;
  } else if (at) {
    at->other = true;
  }
  pthread_mutex_unlock(&lock);
  return linker.add(handle, type, data, bytes, name);
}

static int destroy(void **handle) {
  pthread_mutex_lock(&lock);
  link **at = &links;
  while (*at && (*at)->handle != *handle)
    at = &(*at)->next;
  link *gone = *at;
  if (gone)
    *at = gone->next;
  pthread_mutex_unlock(&lock);
  if (gone)
    free(gone->texts);
  free(gone);
  return linker.destroy(handle);
}

static int cubin_size(void *handle, size_t *bytes) {
  const link *at = link_of(handle);
  if (at && at->optimises)
    return linker.ptx_size(handle, bytes);
  if (!at || at->other || !at->bytes)
    return linker.cubin_size(handle, bytes);
  *bytes = at->bytes + 1; /* with a NUL */
  return 0;
}

static int cubin(void *handle, void *out) {
  const link *at = link_of(handle);
  if (at && at->optimises)
    return linker.ptx(handle, out);
  if (!at || at->other || !at->bytes)
    return linker.cubin(handle, out);
  memcpy(out, at->texts, at->bytes + 1);
  return 0;
}

/* ---- who is asked for ---- */

/* nvJitLink's functions have their version in their names too: __nvJitLinkCreate_13_0. */
static bool is_named(const char *name, const char *function) {
  const size_t length = strlen(function);
  name += !strncmp(name, "__", 2) ? 2 : 0;
  return !strncmp(name, function, length) && (!name[length] || name[length] == '_');
}

static void learn(const audit_symbols *symbols, uintptr_t base) {
  for (size_t i = 0; i < symbols->count; i++) {
    const char *name = audit_function(symbols, i);
    const uintptr_t at = base + symbols->symbols[i].st_value;
    if (!name)
      continue;
    const place here = {at, symbols->symbols[i].st_size};
    if (!strcmp(name, "nvrtcGetPTXSize"))
      rtc.ptx_size = here;
    else if (!strcmp(name, "nvrtcGetPTX"))
      rtc.ptx = here;
    else if (!strcmp(name, "nvrtcGetCUBINSize"))
      rtc.cubin_size = here;
    else if (!strcmp(name, "nvrtcGetCUBIN"))
      rtc.cubin = here;
    else if (is_named(name, "nvJitLinkCreate"))
      linker.create = (create_fn *)at;
    else if (is_named(name, "nvJitLinkAddData"))
      linker.add = (add_fn *)at;
    else if (is_named(name, "nvJitLinkDestroy"))
      linker.destroy = (destroy_fn *)at;
    else if (is_named(name, "nvJitLinkGetLinkedPtxSize"))
      linker.ptx_size = (size_fn *)at;
    else if (is_named(name, "nvJitLinkGetLinkedPtx"))
      linker.ptx = (get_fn *)at;
    else if (is_named(name, "nvJitLinkGetLinkedCubinSize"))
      linker.cubin_size = (size_fn *)at;
    else if (is_named(name, "nvJitLinkGetLinkedCubin"))
      linker.cubin = (get_fn *)at;
  }
}

/* A program that was linked with NVRTC, and takes a function's address or was compiled with -fno-plt, binds it without a
 * word to an auditor: so NVRTC itself is changed, where that can be done. */
static void redirect(void) {
  if (rtc.ptx_size.at && rtc.ptx.at && rtc.cubin_size.at && rtc.cubin.at) {
    audit_jump(rtc.cubin_size.at, rtc.cubin_size.bytes, rtc.ptx_size.at);
    audit_jump(rtc.cubin.at, rtc.cubin.bytes, rtc.ptx.at);
  }
}

bool audit_compiler_object(const char *path, uintptr_t base) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  audit_file file;
  audit_symbols symbols;
  if (strncmp(name, "libnvrtc.so", 11) && strncmp(name, "libnvJitLink.so", 15))
    return false;
  if (!audit_file_open(path, &file))
    return false;
  if (audit_file_symbols(&file, SHT_DYNSYM, &symbols)) {
    rtc.ptx_size = rtc.ptx = rtc.cubin_size = rtc.cubin = (place){0, 0};
    learn(&symbols, base);
    redirect();
  }
  audit_file_close(&file);
  return true;
}

uintptr_t audit_compiler_bind(const char *name, uintptr_t found) {
  if (strncmp(name, "nvJitLink", 9) && strncmp(name, "__nvJitLink", 11))
    return found;
  if (!linker.create || !linker.add || !linker.destroy || !linker.ptx_size || !linker.ptx || !linker.cubin_size ||
      !linker.cubin)
    return found;
  return is_named(name, "nvJitLinkCreate")               ? (uintptr_t)create
         : is_named(name, "nvJitLinkAddData")            ? (uintptr_t)add
         : is_named(name, "nvJitLinkDestroy")            ? (uintptr_t)destroy
         : is_named(name, "nvJitLinkGetLinkedCubinSize") ? (uintptr_t)cubin_size
         : is_named(name, "nvJitLinkGetLinkedCubin")     ? (uintptr_t)cubin
                                                         : found;
}
