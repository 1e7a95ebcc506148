/* SPDX-License-Identifier: MIT */
/* NVTX's own way in: NVTX_INJECTION64_PATH names the preloaded library where `record --nvtx` or `--range` wants to know
 * of the program's ranges, and each copy of NVTX in the process hands over the table of its functions here with its first
 * call. Numbers and structures are those of NVTX 3 (nvtxDetail/nvtxTypes.h), which are fixed. What NVTX calls a handle,
 * of a domain or a registered string, is here the id of its text. */
#include "cuda/host_scopes.h"
#include "cuda/record_window.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CALLBACKS_TABLE = 1, CORE = 1, CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3, COLOR_ARGB = 1 };

typedef struct callbacks {
  size_t bytes;
  int (*functions)(int module, void ****table, unsigned *size);
} callbacks;

typedef struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  union {
    const char *ascii;
    const wchar_t *unicode;
    const void *registered;
  } message;
} attributes;

static uint32_t id_of(const void *handle) { return (uint32_t)(uintptr_t)handle; }
static void *handle_of(uint32_t id) { return (void *)(uintptr_t)id; }

/* ---- what is said ---- */

/* Of the name that --range gives. */
static bool is_wanted(uint32_t name) {
  const char *wanted = secure_getenv("INKMARK_RANGE");
  return wanted && name && !strcmp(ink_i_host_text_of(name), wanted);
}

static ink_host_event named(const void *domain, uint32_t name) {
  return (ink_host_event){.domain = id_of(domain), .name = name};
}

static ink_host_event from(const void *domain, const attributes *a) {
  ink_host_event e = named(domain, 0);
  if (!a || a->size < sizeof *a)
    return e;
  e.name = a->message_type == MESSAGE_ASCII        ? ink_i_host_id(a->message.ascii)
           : a->message_type == MESSAGE_UNICODE    ? ink_i_host_wide_id(a->message.unicode)
           : a->message_type == MESSAGE_REGISTERED ? id_of(a->message.registered)
                                                   : 0;
  e.category = a->category;
  e.color = a->color_type == COLOR_ARGB ? a->color : 0;
  if (a->payload_type >= INK_PAYLOAD_U64 && a->payload_type <= INK_PAYLOAD_F32) {
    const bool narrow = a->payload_type >= INK_PAYLOAD_U32;
    e.payload_type = (uint32_t)a->payload_type;
    e.payload = narrow ? a->payload & UINT32_MAX : a->payload; /* the rest of the union is not set */
  }
  return e;
}

/* ---- ranges of a thread: those of the wanted name are counted as windows too ---- */

static _Thread_local struct {
  uint32_t domain, level;
} wanted[64];
static _Thread_local size_t wanted_count; /* more that lie in each other are not windows */

static int push(ink_host_event e) {
  const int level = ink_i_host_push(&e);
  if (is_wanted(e.name) && wanted_count < sizeof wanted / sizeof *wanted) {
    wanted[wanted_count].domain = e.domain;
    wanted[wanted_count++].level = (uint32_t)level;
    ink_record_range(true);
  }
  return level;
}

static int pop(const void *domain) {
  const int level = ink_i_host_pop(id_of(domain));
  for (size_t i = wanted_count; i-- > 0 && level >= 0;)
    if (wanted[i].domain == id_of(domain) && wanted[i].level == (uint32_t)level) {
      memmove(&wanted[i], &wanted[i + 1], (--wanted_count - i) * sizeof *wanted);
      ink_record_range(false);
      break;
    }
  return level;
}

static int push_ex(const attributes *a) { return push(from(NULL, a)); }
static int push_ascii(const char *name) { return push(named(NULL, ink_i_host_id(name))); }
static int push_wide(const wchar_t *name) { return push(named(NULL, ink_i_host_wide_id(name))); }
static int pop_plain(void) { return pop(NULL); }
static int domain_push(const void *domain, const attributes *a) { return push(from(domain, a)); }

/* ---- ranges of the process: the lowest bit of an id tells whether it is of the wanted name ---- */

static uint64_t start(ink_host_event e) {
  const bool is = is_wanted(e.name);
  if (is)
    ink_record_range(true);
  return ink_i_host_start(&e) << 1 | is;
}

static void end(uint64_t id) {
  ink_i_host_end(id >> 1);
  if (id & 1)
    ink_record_range(false);
}

static uint64_t start_ex(const attributes *a) { return start(from(NULL, a)); }
static uint64_t start_ascii(const char *name) { return start(named(NULL, ink_i_host_id(name))); }
static uint64_t start_wide(const wchar_t *name) { return start(named(NULL, ink_i_host_wide_id(name))); }
static uint64_t domain_start(const void *domain, const attributes *a) { return start(from(domain, a)); }
static void domain_end(const void *domain, uint64_t id) {
  (void)domain;
  end(id);
}

/* ---- marks and names ---- */

static void say(ink_host_event e, uint32_t kind) {
  e.kind = kind;
  ink_i_host_say(&e);
}
static void mark_ex(const attributes *a) { say(from(NULL, a), INK_HOST_MARK); }
static void mark_ascii(const char *name) { say(named(NULL, ink_i_host_id(name)), INK_HOST_MARK); }
static void mark_wide(const wchar_t *name) { say(named(NULL, ink_i_host_wide_id(name)), INK_HOST_MARK); }
static void domain_mark(const void *domain, const attributes *a) { say(from(domain, a), INK_HOST_MARK); }

static void name_category(const void *domain, uint32_t category, uint32_t name) {
  ink_host_event e = named(domain, name);
  e.category = category;
  say(e, INK_HOST_CATEGORY);
}
static void category_ascii(uint32_t category, const char *name) { name_category(NULL, category, ink_i_host_id(name)); }
static void category_wide(uint32_t category, const wchar_t *name) {
  name_category(NULL, category, ink_i_host_wide_id(name));
}
static void domain_category_ascii(const void *domain, uint32_t category, const char *name) {
  name_category(domain, category, ink_i_host_id(name));
}
static void domain_category_wide(const void *domain, uint32_t category, const wchar_t *name) {
  name_category(domain, category, ink_i_host_wide_id(name));
}

static void name_thread(uint32_t thread, uint32_t name) {
  ink_host_event e = named(NULL, name);
  e.id = thread;
  say(e, INK_HOST_THREAD);
}
static void thread_ascii(uint32_t thread, const char *name) { name_thread(thread, ink_i_host_id(name)); }
static void thread_wide(uint32_t thread, const wchar_t *name) { name_thread(thread, ink_i_host_wide_id(name)); }

static void *register_ascii(const void *domain, const char *text) {
  (void)domain;
  return handle_of(ink_i_host_id(text));
}
static void *register_wide(const void *domain, const wchar_t *text) {
  (void)domain;
  return handle_of(ink_i_host_wide_id(text));
}
static void *domain_ascii(const char *name) { return handle_of(ink_i_host_id(name)); }
static void *domain_wide(const wchar_t *name) { return handle_of(ink_i_host_wide_id(name)); }

/* ---- the table ---- */

typedef struct slot {
  unsigned index;
  void *function;
} slot;

static void fill(const callbacks *table, int module, const slot *slots, size_t n) {
  void ***functions;
  unsigned size = 0;
  if (!table->functions(module, &functions, &size))
    return;
  for (size_t i = 0; i < n; i++)
    if (slots[i].index < size && functions[slots[i].index])
      *functions[slots[i].index] = slots[i].function;
}

INK_API int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t id)) {
  static const slot core[] = {
      {1, (void *)mark_ex},         {2, (void *)mark_ascii},     {3, (void *)mark_wide},    {4, (void *)start_ex},
      {5, (void *)start_ascii},     {6, (void *)start_wide},     {7, (void *)end},          {8, (void *)push_ex},
      {9, (void *)push_ascii},      {10, (void *)push_wide},     {11, (void *)pop_plain},   {12, (void *)category_ascii},
      {13, (void *)category_wide},  {14, (void *)thread_ascii},  {15, (void *)thread_wide}};
  static const slot core2[] = {
      {1, (void *)domain_mark},            {2, (void *)domain_start},         {3, (void *)domain_end},
      {4, (void *)domain_push},            {5, (void *)pop},                  {8, (void *)domain_category_ascii},
      {9, (void *)domain_category_wide},   {10, (void *)register_ascii},      {11, (void *)register_wide},
      {12, (void *)domain_ascii},          {13, (void *)domain_wide}};
  const callbacks *table = table_of(CALLBACKS_TABLE);
  if (!table || table->bytes < sizeof *table || !ink_i_host_prepare())
    return 0;
  fill(table, CORE, core, sizeof core / sizeof *core);
  fill(table, CORE2, core2, sizeof core2 / sizeof *core2);
  return 1;
}
