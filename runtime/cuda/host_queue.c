/* SPDX-License-Identifier: MIT */
/* The ring of events, a bounded queue of many producers and one consumer after Dmitry Vyukov: a cell's turn says whose
 * it is. Texts are in an arena that only grows, found through a table of slots that are set once. */
#include "cuda/host_queue.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <wchar.h>

enum { SLOTS = INK_I_HOST_NAMES * 2, WRITTEN_AT_ONCE = 512, NO_ROOM_ID = 1 };

typedef struct cell {
  _Atomic uint64_t turn; /* less its index, so that untouched memory is right. ticket: free for it; ticket + 1: it is there */
  ink_host_event event;
} cell;

struct ink_i_host_queue {
  _Atomic uint64_t put, lost;
  uint64_t taken, lost_before, lost_written; /* the consumer's, and the next three */
  int64_t from_ns;
  uint32_t names_written;                 /* so many, without a gap */
  bool written[INK_I_HOST_NAMES];
  ink_host_event some[WRITTEN_AT_ONCE];   /* the consumer's too: stacks of threads may be small */
  _Atomic uint32_t name_count, arena_used; /* ids given; bytes */
  _Atomic uint32_t by_id[INK_I_HOST_NAMES]; /* offset into the arena, + 1 */
  _Atomic uint32_t slots[SLOTS];          /* ids */
  cell cells[INK_I_HOST_EVENTS];
  char arena[INK_I_HOST_NAME_BYTES];
};

/* ---- events ---- */

static uint64_t turn_of(const cell *c, uint64_t index) {
  return atomic_load_explicit(&c->turn, memory_order_acquire) + index;
}
static void set_turn(cell *c, uint64_t index, uint64_t turn) {
  atomic_store_explicit(&c->turn, turn - index, memory_order_release);
}

void ink_i_host_put(ink_i_host_queue *q, const ink_host_event *event) {
  uint64_t ticket = atomic_load_explicit(&q->put, memory_order_relaxed);
  for (;;) {
    const uint64_t index = ticket % INK_I_HOST_EVENTS;
    cell *c = &q->cells[index];
    const uint64_t turn = turn_of(c, index);
    if (turn < ticket) { /* what was there a round ago is not taken yet */
      atomic_fetch_add_explicit(&q->lost, 1, memory_order_relaxed);
      return;
    }
    if (turn > ticket) {
      ticket = atomic_load_explicit(&q->put, memory_order_relaxed);
    } else if (atomic_compare_exchange_weak_explicit(&q->put, &ticket, ticket + 1, memory_order_relaxed,
                                                     memory_order_relaxed)) {
      c->event = *event;
      set_turn(c, index, ticket + 1);
      return;
    }
  }
}

static bool take(ink_i_host_queue *q, ink_host_event *out) {
  const uint64_t index = q->taken % INK_I_HOST_EVENTS;
  cell *c = &q->cells[index];
  if (turn_of(c, index) != q->taken + 1)
    return false; /* nothing, or a thread is in the middle of it */
  *out = c->event;
  set_turn(c, index, q->taken + INK_I_HOST_EVENTS);
  q->taken++;
  return true;
}

bool ink_i_host_any(const ink_i_host_queue *q) {
  return atomic_load_explicit(&q->put, memory_order_relaxed) != q->taken;
}

/* ---- texts ---- */

static const char *text_of(const ink_i_host_queue *q, uint32_t id) {
  const uint32_t at = atomic_load_explicit(&q->by_id[id - 1], memory_order_acquire);
  return at ? q->arena + at - 1 : NULL;
}

const char *ink_i_host_text(const ink_i_host_queue *q, uint32_t id) {
  const char *text = id && id <= INK_I_HOST_NAMES ? text_of(q, id) : NULL;
  return text ? text : "";
}

/* A new text, in no slot yet; NO_ROOM_ID where it does not fit. */
static uint32_t add(ink_i_host_queue *q, const char *text, size_t bytes) {
  const uint32_t room = (uint32_t)bytes + 1;
  if (atomic_load(&q->name_count) >= INK_I_HOST_NAMES || atomic_load(&q->arena_used) > INK_I_HOST_NAME_BYTES - room)
    return NO_ROOM_ID;
  const uint32_t at = atomic_fetch_add(&q->arena_used, room);
  if (at > INK_I_HOST_NAME_BYTES - room)
    return NO_ROOM_ID;
  const uint32_t id = atomic_fetch_add(&q->name_count, 1) + 1;
  if (id > INK_I_HOST_NAMES)
    return NO_ROOM_ID;
  memcpy(q->arena + at, text, bytes);
  atomic_store_explicit(&q->by_id[id - 1], at + 1, memory_order_release);
  return id;
}

static bool is(const ink_i_host_queue *q, uint32_t id, const char *text, size_t bytes) {
  const char *there = text_of(q, id);
  return there && !strncmp(there, text, bytes) && !there[bytes];
}

static uint32_t intern(ink_i_host_queue *q, const char *text, size_t bytes) {
  uint32_t hash = 2166136261u, id = 0; /* FNV-1a */
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  for (uint32_t at = (hash ^ hash >> 15) % SLOTS;; at = (at + 1) % SLOTS) {
    uint32_t there = atomic_load_explicit(&q->slots[at], memory_order_acquire);
    if (there && is(q, there, text, bytes))
      return there;
    if (there)
      continue;
    id = id ? id : add(q, text, bytes);
    if (id == NO_ROOM_ID || atomic_compare_exchange_strong(&q->slots[at], &there, id))
      return id;
    if (is(q, there, text, bytes)) /* another thread was first */
      return there;
  }
}

uint32_t ink_i_host_name(ink_i_host_queue *q, const char *text) {
  return text && *text ? intern(q, text, strnlen(text, INK_I_HOST_NAME_MOST)) : 0;
}

static size_t put_utf8(char *out, uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    c = 0xfffd;
  if (c < 0x80)
    return out[0] = (char)c, 1;
  const size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out[0] = (char)((0xff00u >> (more + 1) & 0xff) | c >> 6 * more);
  for (size_t i = 1; i <= more; i++)
    out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
  return more + 1;
}

uint32_t ink_i_host_wide_name(ink_i_host_queue *q, const wchar_t *text) {
  char utf8[INK_I_HOST_NAME_MOST];
  size_t used = 0;
  for (; text && *text && used + 4 <= sizeof utf8; text++)
    used += put_utf8(utf8 + used, (uint32_t)*text);
  return used ? intern(q, utf8, used) : 0;
}

/* ---- making, forking, writing ---- */

ink_i_host_queue *ink_i_host_queue_make(void) {
  void *memory = mmap(NULL, sizeof(ink_i_host_queue), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  ink_i_host_queue *q = memory;
  static const char no_room[] = "(more names than inkmark keeps)";
  add(q, no_room, strlen(no_room)); /* NO_ROOM_ID */
  return q;
}

/* What a thread of the parent was in the middle of never comes. */
void ink_i_host_queue_forget(ink_i_host_queue *q) {
  for (const uint64_t put = atomic_load(&q->put); q->taken < put; q->taken++)
    set_turn(&q->cells[q->taken % INK_I_HOST_EVENTS], q->taken % INK_I_HOST_EVENTS, q->taken + INK_I_HOST_EVENTS);
}

void ink_i_host_new_file(ink_i_host_queue *q, int64_t from_ns) {
  memset(q->written, 0, sizeof q->written);
  q->names_written = 0;
  q->lost_before = atomic_load(&q->lost);
  q->lost_written = 0;
  q->from_ns = from_ns;
}

static ink_status write_names(ink_i_host_queue *q, ink_writer *writer, ink_error *error) {
  const uint32_t given = atomic_load(&q->name_count), n = given < INK_I_HOST_NAMES ? given : INK_I_HOST_NAMES;
  for (uint32_t id = q->names_written + 1; id <= n; id++) {
    const char *text = q->written[id - 1] ? NULL : text_of(q, id); /* not there: a thread is at it */
    const ink_status status = text ? ink_writer_host_name(writer, id, text, error) : INK_OK;
    if (status)
      return status;
    q->written[id - 1] = q->written[id - 1] || text;
    if (q->written[id - 1] && q->names_written == id - 1)
      q->names_written = id;
  }
  return INK_OK;
}

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

ink_status ink_i_host_write(ink_i_host_queue *q, ink_writer *writer, ink_error *error) {
  ink_host_event *some = q->some;
  const uint64_t until = atomic_load(&q->put);
  bool more = true;
  ink_status status = INK_OK;
  while (more && !status) {
    size_t n = 0;
    while (n < WRITTEN_AT_ONCE && q->taken < until && take(q, &some[n]))
      n += some[n].ns >= q->from_ns;
    more = n == WRITTEN_AT_ONCE;
    const uint64_t lost = atomic_load(&q->lost) - q->lost_before;
    if (!n && lost == q->lost_written)
      break;
    status = write_names(q, writer, error);
    if (!status)
      status = ink_writer_host_events(writer, some, n, lost, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_REALTIME), error);
    q->lost_written = lost;
  }
  return status;
}
