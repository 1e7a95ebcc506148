/* SPDX-License-Identifier: MIT */
/* NVTX's own way in: NVTX_INJECTION64_PATH names the preloaded library where `record --range` wants to know of the
 * program's ranges, and each copy of NVTX in the process hands over the table of its functions here with its first call.
 * Numbers and structures are those of NVTX 3 (nvtxDetail/nvtxTypes.h), which are fixed. */
#include "cuda/record_mode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { CALLBACKS_TABLE = 1, CORE = 1, CORE2 = 5 };
enum { MESSAGE_ASCII = 1, MESSAGE_UNICODE = 2, MESSAGE_REGISTERED = 3 };
enum { STACK_MAX = 256 };

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
    const char *registered; /* ours: a copy of the text */
  } message;
} attributes;

/* ---- names ---- */

static bool is_wanted(const char *name) {
  const char *wanted = secure_getenv("INKMARK_RANGE");
  return wanted && name && !strcmp(name, wanted);
}

/* A narrow copy; what is not ASCII is '?'. */
static char *narrow(const wchar_t *wide) {
  const size_t n = wide ? wcslen(wide) : 0;
  char *text = malloc(n + 1);
  for (size_t i = 0; text && i < n; i++)
    text[i] = wide[i] > 0 && wide[i] < 128 ? (char)wide[i] : '?';
  if (text)
    text[n] = 0;
  return text;
}

static bool is_wanted_wide(const wchar_t *wide) {
  char *text = narrow(wide);
  const bool wanted = is_wanted(text);
  free(text);
  return wanted;
}

static bool has_wanted(const attributes *a) {
  if (!a || a->size < sizeof *a)
    return false;
  return a->message_type == MESSAGE_UNICODE ? is_wanted_wide(a->message.unicode)
         : a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED ? is_wanted(a->message.ascii)
                                                                                   : false;
}

/* ---- ranges of a thread ---- */

static _Thread_local struct {
  const void *domain;
  bool wanted;
} stack[STACK_MAX];
static _Thread_local size_t depth; /* deeper ones have no entry */

/* The level in its domain, from 0. */
static int push(const void *domain, bool wanted) {
  int level = 0;
  for (size_t i = 0; i < depth && i < STACK_MAX; i++)
    level += stack[i].domain == domain;
  if (depth < STACK_MAX) {
    stack[depth].domain = domain;
    stack[depth].wanted = wanted;
    if (wanted)
      ink_record_range(true);
  }
  depth++;
  return level;
}

static int pop(const void *domain) {
  if (depth > STACK_MAX) {
    depth--;
    return STACK_MAX;
  }
  size_t at = depth;
  while (at && stack[at - 1].domain != domain)
    at--;
  if (!at)
    return -1;
  if (stack[at - 1].wanted)
    ink_record_range(false);
  memmove(&stack[at - 1], &stack[at], (depth - at) * sizeof *stack);
  depth--;
  int level = 0;
  for (size_t i = 0; i < depth; i++)
    level += stack[i].domain == domain;
  return level;
}

static int push_ex(const attributes *a) { return push(NULL, has_wanted(a)); }
static int push_ascii(const char *name) { return push(NULL, is_wanted(name)); }
static int push_wide(const wchar_t *name) { return push(NULL, is_wanted_wide(name)); }
static int pop_plain(void) { return pop(NULL); }
static int domain_push(const void *domain, const attributes *a) { return push(domain, has_wanted(a)); }
static int domain_pop(const void *domain) { return pop(domain); }

/* ---- ranges of the process: an id tells whether it is of the wanted name ---- */

static uint64_t start(bool wanted) {
  static _Atomic uint64_t count;
  if (wanted)
    ink_record_range(true);
  return (++count << 1) | wanted;
}

static void end(uint64_t id) {
  if (id & 1)
    ink_record_range(false);
}

static uint64_t start_ex(const attributes *a) { return start(has_wanted(a)); }
static uint64_t start_ascii(const char *name) { return start(is_wanted(name)); }
static uint64_t start_wide(const wchar_t *name) { return start(is_wanted_wide(name)); }
static uint64_t domain_start(const void *domain, const attributes *a) {
  (void)domain;
  return start(has_wanted(a));
}
static void domain_end(const void *domain, uint64_t id) {
  (void)domain;
  end(id);
}

/* ---- what later calls refer to; kept until the process ends ---- */

static void *register_ascii(const void *domain, const char *text) {
  (void)domain;
  return text ? strdup(text) : NULL;
}
static void *register_wide(const void *domain, const wchar_t *text) {
  (void)domain;
  return narrow(text);
}
static void *domain_ascii(const char *name) { return name ? strdup(name) : NULL; }
static void *domain_wide(const wchar_t *name) { return narrow(name); }

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
  static const slot core[] = {{4, (void *)start_ex}, {5, (void *)start_ascii}, {6, (void *)start_wide}, {7, (void *)end},
                              {8, (void *)push_ex}, {9, (void *)push_ascii}, {10, (void *)push_wide}, {11, (void *)pop_plain}};
  static const slot core2[] = {{2, (void *)domain_start}, {3, (void *)domain_end}, {4, (void *)domain_push},
                               {5, (void *)domain_pop}, {10, (void *)register_ascii}, {11, (void *)register_wide},
                               {12, (void *)domain_ascii}, {13, (void *)domain_wide}};
  const callbacks *table = table_of(CALLBACKS_TABLE);
  if (!table || table->bytes < sizeof *table)
    return 0;
  fill(table, CORE, core, sizeof core / sizeof *core);
  fill(table, CORE2, core2, sizeof core2 / sizeof *core2);
  return 1;
}
