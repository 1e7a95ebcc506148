/* SPDX-License-Identifier: MIT */
/* What the program says of itself while it is recorded. A range that began before the recording, or in the parent of a
 * fork, is known by its era, and its end is left out; deeper ones than a thread's stack holds are not recorded. */
#include "cuda/host_scopes.h"

#include "cuda/host_queue.h"
#include "monotonic.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEPTH_MAX = 256, ERA_BITS = 16 };

static ink_i_host_queue *_Atomic queue;
static atomic_bool on;
static _Atomic uint32_t era = 1; /* of recordings and forks */

static _Thread_local struct {
  uint32_t era, thread;
  uint32_t depth;
  struct {
    uint32_t domain;
    uint32_t era; /* 0: not recorded */
  } stack[DEPTH_MAX];
} mine;

/* ---- beginning and ending ---- */

bool ink_i_host_prepare(void) {
  if (atomic_load(&queue))
    return true;
  ink_i_host_queue *made = ink_i_host_queue_make(), *none = NULL;
  if (made && !atomic_compare_exchange_strong(&queue, &none, made))
    made = none; /* another thread was first; ours is some address space */
  return made != NULL;
}

bool ink_i_host_on(void) {
  if (!ink_i_host_prepare())
    return false;
  if (!atomic_load(&on)) {
    ink_i_host_new_file(atomic_load(&queue), ink_i_monotonic_ns());
    atomic_fetch_add(&era, 1);
    atomic_store(&on, true);
  }
  return true;
}

void ink_i_host_off(void) { atomic_store(&on, false); }

void ink_i_host_after_fork(void) {
  atomic_fetch_add(&era, 1);
  if (atomic_load(&queue)) {
    ink_i_host_queue_forget(atomic_load(&queue));
    ink_i_host_new_file(atomic_load(&queue), ink_i_monotonic_ns());
  }
}

bool ink_i_host_is_on(void) { return atomic_load_explicit(&on, memory_order_relaxed); }

/* ---- texts ---- */

uint32_t ink_i_host_id(const char *text) { return ink_i_host_prepare() ? ink_i_host_name(atomic_load(&queue), text) : 0; }
uint32_t ink_i_host_wide_id(const wchar_t *text) {
  return ink_i_host_prepare() ? ink_i_host_wide_name(atomic_load(&queue), text) : 0;
}
const char *ink_i_host_text_of(uint32_t id) {
  return atomic_load(&queue) ? ink_i_host_text(atomic_load(&queue), id) : "";
}

/* ---- events ---- */

static uint32_t this_thread(void) {
  const uint32_t now = atomic_load_explicit(&era, memory_order_relaxed);
  if (mine.era != now) { /* a forked child's thread has a new number */
    mine.thread = (uint32_t)syscall(SYS_gettid);
    mine.era = now;
  }
  return mine.thread;
}

static void put(const ink_host_event *event, enum ink_host_kind kind, uint64_t id) {
  ink_host_event e = *event;
  e.kind = kind;
  e.id = id;
  e.ns = ink_i_monotonic_ns();
  e.thread = this_thread();
  ink_i_host_put(atomic_load(&queue), &e);
}

static int level_of(uint32_t domain) {
  int level = 0;
  for (uint32_t i = 0; i < mine.depth && i < DEPTH_MAX; i++)
    level += mine.stack[i].domain == domain;
  return level;
}

int ink_i_host_push(const ink_host_event *event) {
  const bool records = ink_i_host_is_on() && mine.depth < DEPTH_MAX;
  const int level = level_of(event->domain);
  if (records)
    put(event, INK_HOST_PUSH, 0);
  if (mine.depth < DEPTH_MAX) {
    mine.stack[mine.depth].domain = event->domain;
    mine.stack[mine.depth].era = records ? mine.era : 0;
  }
  mine.depth++;
  return level;
}

int ink_i_host_pop(uint32_t domain) {
  if (mine.depth > DEPTH_MAX) {
    mine.depth--;
    return DEPTH_MAX;
  }
  uint32_t at = mine.depth;
  while (at && mine.stack[at - 1].domain != domain)
    at--;
  if (!at)
    return -1;
  const uint32_t began = mine.stack[at - 1].era;
  memmove(&mine.stack[at - 1], &mine.stack[at], (mine.depth - at) * sizeof *mine.stack);
  mine.depth--;
  if (ink_i_host_is_on() && began == atomic_load(&era))
    put(&(ink_host_event){.domain = domain}, INK_HOST_POP, 0);
  return level_of(domain);
}

uint64_t ink_i_host_start(const ink_host_event *event) {
  static _Atomic uint64_t count;
  const bool records = ink_i_host_is_on();
  const uint64_t id = (atomic_fetch_add(&count, 1) + 1) << ERA_BITS | (records ? atomic_load(&era) & 0xffff : 0);
  if (records)
    put(event, INK_HOST_START, id);
  return id;
}

void ink_i_host_end(uint64_t id) {
  if (ink_i_host_is_on() && (id & 0xffff) == (atomic_load(&era) & 0xffff))
    put(&(ink_host_event){0}, INK_HOST_END, id);
}

void ink_i_host_say(const ink_host_event *event) {
  if (ink_i_host_is_on())
    put(event, (enum ink_host_kind)event->kind, event->id);
}

void ink_i_host_scope(const char *name) {
  if (!name)
    ink_i_host_pop(UINT32_MAX);
  else if (!ink_i_host_is_on()) /* its end is to be known */
    ink_i_host_push(&(ink_host_event){.domain = UINT32_MAX});
  else
    ink_i_host_push(&(ink_host_event){.domain = UINT32_MAX, .flags = INK_HOST_SCOPE, .name = ink_i_host_id(name)});
}

void ink_i_host_launched(const ink_host_event *launch) {
  if (!ink_i_host_is_on())
    return;
  ink_host_event e = *launch;
  e.kind = INK_HOST_LAUNCH;
  e.thread = this_thread();
  ink_i_host_put(atomic_load(&queue), &e);
}

/* ---- draining ---- */

bool ink_i_host_waiting(void) { return ink_i_host_is_on() && ink_i_host_any(atomic_load(&queue)); }

ink_status ink_i_host_drain(ink_writer *writer, ink_error *error) {
  return ink_i_host_is_on() ? ink_i_host_write(atomic_load(&queue), writer, error) : INK_OK;
}
