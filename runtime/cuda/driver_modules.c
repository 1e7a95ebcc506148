/* SPDX-License-Identifier: MIT */
/* The list of what has marks: one entry for each module, and for each context that a library is in. With lazy
 * loading a library comes into a context when something of it is first asked for there; to ask for its buffer
 * symbol brings it in, so that is done for libraries with marks only, and no launch has to be watched. */
#include "cuda/driver_modules.h"

#include "cuda/driver_api.h"
#include "cuda/driver_kernels.h"
#include "cuda/idle_wait.h"
#include "cuda/module_scan.h"
#include "cuda/options.h"
#include "cuda/registry.h"
#include "cuda/session_private.h"
#include "inkmark/record.h"
#include "inkmark/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
  void *handle;
  bool library;
  int slot;                /* -1: a library, whichever contexts it is in */
  ink_i_device_ptr symbol;
  ink_module_desc desc;    /* registered, where there is a slot */
  uint64_t *tables;        /* hashes, of the entry that the image belonged to */
  size_t table_count;
  struct entry *next;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list; held for nothing else */
static entry *entries;
static _Atomic unsigned libraries; /* with marks */

/* Tables of what was unloaded while kernels ran: those go on counting in their slots. */
typedef struct leftover {
  uint64_t slots; /* of contexts that were not seen idle since */
  uint64_t *tables;
  size_t table_count;
  struct leftover *next;
} leftover;

static leftover *leftovers; /* with the list's lock */
static _Atomic unsigned unwaited;

/* ---- descriptors ---- */

static int set_buffer_in(void *self, void *buffer, void *stream) {
  const entry *e = self;
  return ink_i_driver_write(e->symbol, &buffer, sizeof buffer, stream);
}

static int set_buffer(void *self, void *buffer) { return set_buffer_in(self, buffer, NULL); }

static int set_nothing(void *self, void *buffer) {
  (void)self, (void)buffer;
  return 0;
}

const ink_module_desc *ink_i_driver_desc(void) {
  static ink_module_desc desc;
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  const ink_cuda_api *cuda = ink_i_driver();
  if (!cuda)
    return NULL;
  pthread_mutex_lock(&once);
  if (!desc.cuda)
    desc = (ink_module_desc){.abi = INK_MODULE_ABI, .bytes = sizeof desc, .file = "", .set_buffer = set_nothing,
                             .read_globaltimer = ink_i_kernel_globaltimer, .cuda = cuda,
                             .measure_cost = ink_i_kernels_are_all() ? ink_i_kernel_cost : NULL,
                             .catch_edges = ink_i_kernels_are_all() ? ink_i_kernel_edges : NULL};
  pthread_mutex_unlock(&once);
  return &desc;
}

static void describe(entry *e) {
  e->desc = *ink_i_driver_desc();
  e->desc.set_buffer = set_buffer;
  e->desc.set_buffer_in = set_buffer_in;
  e->desc.self = e;
  e->desc.only_device = (uint32_t)e->slot + 1;
}

/* ---- tables ---- */

static void note_table(void *user, const char *name, const char *sections, const char *file, uint32_t line) {
  entry *e = user;
  uint64_t *grown = realloc(e->tables, (e->table_count + 1) * sizeof *grown);
  if (grown)
    e->tables = grown;
  uint64_t hash;
  if (grown && ink_i_registry_table_came(name, sections, file, line, &hash))
    e->tables[e->table_count++] = hash;
}

/* Those that no other module has give their kernels' slots back. */
static void release_tables(uint64_t *tables, size_t count) {
  for (size_t i = 0; i < count; i++)
    ink_i_session_table_goes(tables[i]);
  free(tables);
}

/* `busy`: slots where kernels may run still, that are to be counted by name. */
static void leave_tables(entry *e, uint64_t busy) {
  leftover *left = busy && e->table_count ? malloc(sizeof *left) : NULL;
  if (!left) {
    release_tables(e->tables, e->table_count);
    return;
  }
  pthread_mutex_lock(&lock);
  *left = (leftover){busy, e->tables, e->table_count, leftovers};
  leftovers = left;
  pthread_mutex_unlock(&lock);
}

/* No kernel from before runs in these slots. */
static void release_leftovers(uint64_t idle) {
  leftover *done = NULL;
  pthread_mutex_lock(&lock);
  for (leftover **link = &leftovers; *link;) {
    leftover *left = *link;
    left->slots &= ~idle;
    if (left->slots) {
      link = &left->next;
      continue;
    }
    *link = left->next;
    left->next = done;
    done = left;
  }
  pthread_mutex_unlock(&lock);
  for (leftover *next; done; done = next) {
    next = done->next;
    release_tables(done->tables, done->table_count);
    free(done);
  }
}

/* ---- coming ---- */

static void put(entry *e) {
  pthread_mutex_lock(&lock);
  e->next = entries;
  entries = e;
  pthread_mutex_unlock(&lock);
}

/* The entry of one context, registered; the buffer symbol is asked for. False: it has none. */
static bool put_here(void *handle, bool library, int slot, entry *image) {
  ink_i_device_ptr symbol = 0;
  size_t bytes = 0;
  if (slot < 0 || ink_i_driver_global(library, handle, INK_BUFFER_SYMBOL_TEXT, &symbol, &bytes) || bytes != sizeof(void *))
    return false;
  entry *e = image ? image : calloc(1, sizeof *e);
  if (!e)
    return false;
  e->handle = handle;
  e->library = library;
  e->slot = slot;
  e->symbol = symbol;
  describe(e);
  put(e);
  ink_i_registry_add(&e->desc);
  return true;
}

/* In every context that is known, each of them current for a moment. */
static void put_everywhere(void *handle) {
  const ink_cuda_api *cuda = ink_i_driver();
  int before;
  if (cuda->get_device(&before))
    return;
  ink_i_driver_slot_here();
  for (int slot = 0; slot < INK_I_DEVICES_MAX; slot++)
    if (ink_i_driver_is_seen(slot) && cuda->set_device(slot) == 0)
      put_here(handle, true, slot, NULL);
  cuda->set_device(before);
}

/* A library may come into every context, a module is in this thread's. */
static ink_status take_in(entry *e, void *handle, bool library, bool *marked, ink_error *error) {
  if (!ink_i_driver_desc())
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "no CUDA driver is loaded in this process");
  const int slot = ink_i_driver_slot_here();
  if (slot < 0 && !library)
    return ink_error_set(error, INK_ERROR_NOT_FOUND, "this thread has no CUDA context");
  if (library) {
    *e = (entry){.handle = handle, .library = true, .slot = -1, .tables = e->tables, .table_count = e->table_count};
    put(e);
    atomic_fetch_add(&libraries, 1);
    put_everywhere(handle);
    *marked = true;
  } else {
    *marked = put_here(handle, false, slot, e);
  }
  if (*marked)
    ink_i_idle_prepare();
  return INK_OK;
}

/* Of an image that could not be looked at: whether the headers of layout 4 or older made its marks. */
static bool has_older_symbol(void *handle, bool library) {
  ink_i_device_ptr symbol;
  size_t bytes;
  return ink_i_driver() && !ink_i_driver_global(library, handle, "ink_current", &symbol, &bytes);
}

static void note_other_layout(const char *file) {
  ink_i_registry_note_other_abi(&(ink_module_desc){.bytes = sizeof(ink_module_desc), .file = file});
}

/* The image is looked at before anything is asked of the driver: most have no marks. */
ink_status ink_i_modules_came(void *handle, bool library, const void *image, size_t bytes, bool *marked,
                              ink_error *error) {
  entry e = {.handle = handle}, *kept = NULL;
  ink_status status = INK_OK;
  *marked = false;
  const ink_i_scan seen = ink_i_scan_image(image, bytes, note_table, &e);
  /* What is compressed is asked for its symbol, and so is a module without an image. Files of another layout that were linked
   * into it have another symbol. */
  const bool ask = seen.has_marks || seen.compressed || !image;
  if (seen.other_layout[0])
    note_other_layout(seen.other_layout);
  if (ask && !(kept = malloc(sizeof *kept)))
    status = ink_error_set(error, INK_ERROR_MEMORY, "out of memory for a module");
  if (kept) {
    *kept = e;
    status = take_in(kept, handle, library, marked, error);
    if (!status && !*marked && seen.compressed && has_older_symbol(handle, library))
      note_other_layout("a packed image");
  }
  if (!*marked) {
    release_tables(e.tables, e.table_count);
    free(kept);
  }
  return status;
}

bool ink_i_modules_context_came(void) {
  void *handles[64];
  size_t n = 0;
  bool any = false;
  if (!atomic_load(&libraries))
    return false;
  const int slot = ink_i_driver_slot_here();
  pthread_mutex_lock(&lock);
  for (const entry *e = entries; e && slot >= 0; e = e->next) {
    bool there = e->slot >= 0 || n == sizeof handles / sizeof *handles;
    for (const entry *other = entries; other && !there; other = other->next)
      there = other->library && other->handle == e->handle && other->slot == slot;
    if (!there)
      handles[n++] = e->handle;
  }
  pthread_mutex_unlock(&lock);
  for (size_t i = 0; i < n; i++)
    any = put_here(handles[i], true, slot, NULL) || any;
  return any;
}

/* ---- going ---- */

typedef struct goes {
  const void *handle; /* NULL: any */
  bool library;
  int slot; /* -1: any */
} goes;

static entry *take(const goes *which) {
  pthread_mutex_lock(&lock);
  entry **link = &entries;
  while (*link && !(which->handle ? (*link)->handle == which->handle && (*link)->library == which->library
                                  : (*link)->slot == which->slot))
    link = &(*link)->next;
  entry *found = *link;
  if (found)
    *link = found->next;
  pthread_mutex_unlock(&lock);
  return found;
}

/* Whoever writes to the symbol has the session's lock, as taking it out of the registry has. */
static void take_all(const goes *which, uint64_t busy) {
  entry *e;
  while ((e = take(which))) {
    if (e->slot >= 0)
      ink_i_session_module_goes(&e->desc);
    else
      atomic_fetch_sub(&libraries, 1);
    leave_tables(e, busy);
    free(e);
  }
}

static uint64_t slots_of(const void *handle, bool library) {
  uint64_t slots = 0;
  pthread_mutex_lock(&lock);
  for (const entry *e = entries; e; e = e->next)
    if (e->handle == handle && e->library == library && e->slot >= 0)
      slots |= 1ull << e->slot;
  pthread_mutex_unlock(&lock);
  return slots;
}

/* Its kernels end before its tables and the names of its instances go; but a kernel that waits for the program, which
 * waits here, is not waited for. */
void ink_i_modules_gone(void *handle, bool library) {
  const uint64_t slots = slots_of(handle, library);
  const bool recorded = slots && ink_i_driver() && ink_i_session_current();
  const bool idle = !recorded || ink_i_idle_wait(slots);
  atomic_fetch_add(&unwaited, !idle);
  take_all(&(goes){handle, library, -1}, idle ? 0 : slots);
  if (recorded && idle)
    release_leftovers(slots);
}

bool ink_i_modules_have(void *handle, bool library) {
  bool there = false;
  pthread_mutex_lock(&lock);
  for (const entry *e = entries; e && !there; e = e->next)
    there = e->handle == handle && e->library == library;
  pthread_mutex_unlock(&lock);
  return there;
}

void ink_i_modules_forget(void) {
  for (int slot = -1; slot < INK_I_DEVICES_MAX; slot++)
    take_all(&(goes){NULL, false, slot}, 0);
  release_leftovers(UINT64_MAX);
}

unsigned ink_i_modules_unwaited(void) { return atomic_load(&unwaited); }

void ink_i_modules_context_gone(int slot) {
  take_all(&(goes){NULL, false, slot}, 0);
  release_leftovers(1ull << slot);
}
