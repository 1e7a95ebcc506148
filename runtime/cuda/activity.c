/* SPDX-License-Identifier: MIT */
/* CUPTI's activity API: switches the kinds on, takes its buffers, turns its records into ours. CUPTI
 * calls back from threads of its own and from whichever thread flushes; both only touch the queue. */
#include "cuda/activity.h"

#include "cuda/activity_queue.h"
#include "cuda/cupti_api.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  BUFFER_BYTES = 1 << 20,
  BUFFERS_MAX = 32,       /* CUPTI may hold this many at a time: 32 MiB */
  CALLS_MAX = 4096,       /* numbers of calls whose names are kept */
  READINGS_MAX = 64,
  READING_EVERY_S = 10
};

#define OWN_ID UINT64_C(0x696e6b6d61726b21) /* what inkmark pushes around its own calls */
#define CALL_SKIPPED UINT32_MAX

struct ink_i_activity {
  ink_i_cupti cupti;
  void *subscriber;
  bool on;               /* CUPTI collects */
  char refusal[512];
  char missing[256];     /* kinds that could not be switched on */
  ink_i_activity_queue queue;
  uint32_t call_names[2][CALLS_MAX]; /* by domain - 1 and number; 0: not seen yet */
  ink_activity_reading readings[READINGS_MAX];
  size_t reading_count, readings_written;
  time_t read_at;
  bool facts_written;
  atomic_uint buffers;   /* out with CUPTI */
  atomic_ullong dropped, unknown_records, without_time;
};

static _Thread_local int own_depth;     /* between own_begin and own_end */
/* By which calls are marked; NULL: CUPTI does not collect. Kept here, for threads that may outlast the session: CUPTI
 * itself is never unloaded. */
static int (*_Atomic push_own)(int kind, uint64_t id);
static int (*_Atomic pop_own)(int kind, uint64_t *id);
static ink_i_activity *current; /* for CUPTI's callbacks, which take no user pointer */

/* ---- records ---- */

static void put_kernel(ink_i_activity *a, const ink_i_cupti_kernel *r) {
  ink_activity item = {.kind = INK_ACTIVITY_KERNEL, .device = (int32_t)r->device,
                       .begin_ns = r->start, .end_ns = r->end, .correlation = r->correlation,
                       .context = r->context, .stream = r->stream,
                       .grid_id = (uint64_t)r->grid_id, .registers = r->registers,
                       .static_shared_bytes = (uint32_t)r->static_shared,
                       .dynamic_shared_bytes = (uint32_t)r->dynamic_shared,
                       .sm_shared_bytes = r->shared_executed, .local_bytes = r->local_per_thread,
                       .graph = r->graph, .graph_node = r->graph_node, .peer = -1,
                       .launch = r->launch_type};
  for (int i = 0; i < 3; i++) {
    item.grid_dim[i] = (uint32_t)r->grid[i];
    item.block_dim[i] = (uint32_t)r->block[i];
  }
  ink_i_queue_item(&a->queue, &item, r->name);
}

static void put_copy(ink_i_activity *a, const ink_i_cupti_copy *r) {
  const ink_activity item = {.kind = INK_ACTIVITY_COPY, .device = (int32_t)r->device,
                             .begin_ns = r->start, .end_ns = r->end,
                             .correlation = r->correlation, .context = r->context,
                             .stream = r->stream, .bytes = r->bytes, .graph = r->graph,
                             .graph_node = r->graph_node, .peer = -1, .copy = r->copy};
  ink_i_queue_item(&a->queue, &item, NULL);
}

static void put_peer_copy(ink_i_activity *a, const ink_i_cupti_peer_copy *r) {
  const ink_activity item = {.kind = INK_ACTIVITY_COPY, .device = (int32_t)r->device,
                             .begin_ns = r->start, .end_ns = r->end,
                             .correlation = r->correlation, .context = r->context,
                             .stream = r->stream, .bytes = r->bytes, .graph = r->graph,
                             .graph_node = r->graph_node, .copy = r->copy,
                             .peer = (int16_t)(r->to_device == r->device ? r->from_device
                                                                         : r->to_device)};
  ink_i_queue_item(&a->queue, &item, NULL);
}

static void put_set(ink_i_activity *a, const ink_i_cupti_set *r) {
  const ink_activity item = {.kind = INK_ACTIVITY_SET, .device = (int32_t)r->device,
                             .begin_ns = r->start, .end_ns = r->end,
                             .correlation = r->correlation, .context = r->context,
                             .stream = r->stream, .bytes = r->bytes, .graph = r->graph,
                             .graph_node = r->graph_node, .result = (int32_t)r->value, .peer = -1};
  ink_i_queue_item(&a->queue, &item, NULL);
}

/* Calls that put work on a device or wait for it; the many others would only fill the file. */
static bool is_wanted_call(const char *name) {
  static const char *const words[] = {"Launch", "Memcpy", "Memset", "Synchronize", "MemcpyBatch"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(name, words[i]))
      return !strstr(name, "LaunchHostFunc");
  return false;
}

/* "cudaLaunchKernel" for "cudaLaunchKernel_v7000"; 0: the call is not wanted. */
static uint32_t call_name(ink_i_activity *a, int domain, uint32_t id) {
  uint32_t *known = id < CALLS_MAX ? &a->call_names[domain - 1][id] : NULL;
  if (known && *known)
    return *known == CALL_SKIPPED ? 0 : *known;
  const char *text = NULL;
  char name[128];
  uint32_t found = 0;
  if (a->cupti.callback_name(domain, id, &text) == CUPTI_OK && text && is_wanted_call(text)) {
    snprintf(name, sizeof name, "%s", text);
    char *version = strstr(name, "_v");
    if (domain == CUPTI_DOMAIN_RUNTIME && version && version[2] >= '0' && version[2] <= '9')
      *version = 0;
    found = ink_i_queue_name(&a->queue, name);
  }
  if (known)
    *known = found ? found : CALL_SKIPPED;
  return found;
}

static void put_call(ink_i_activity *a, const ink_i_cupti_call *r, int domain) {
  const uint32_t name = call_name(a, domain, r->id);
  if (!name)
    return;
  const ink_activity item = {
      .kind = domain == CUPTI_DOMAIN_RUNTIME ? INK_ACTIVITY_RUNTIME_CALL : INK_ACTIVITY_DRIVER_CALL,
      .device = -1, .begin_ns = r->start, .end_ns = r->end, .correlation = r->correlation,
      .name = name, .context = r->process, .stream = r->thread, .result = (int32_t)r->result,
      .peer = -1};
  ink_i_queue_item(&a->queue, &item, NULL);
}

static void put_device(ink_i_activity *a, const ink_i_cupti_device *r) {
  const ink_activity_device device = {
      .index = (int32_t)r->index, .capability = r->capability_major * 10 + r->capability_minor,
      .sm_count = r->sm_count, .warps_per_sm = r->warps_per_sm, .blocks_per_sm = r->blocks_per_sm,
      .registers_per_sm = r->registers_per_sm, .shared_per_sm_bytes = r->shared_per_sm,
      .registers_per_block = r->registers_per_block, .shared_per_block_bytes = r->shared_per_block,
      .threads_per_block = r->threads_per_block, .threads_per_warp = r->threads_per_warp};
  ink_i_queue_device(&a->queue, &device);
}

/* Times that are no times: CUPTI says 0 where it could not measure. */
static bool has_time(ink_i_activity *a, uint64_t begin, uint64_t end) {
  if (begin && begin <= end && end < INT64_MAX / 2)
    return true;
  atomic_fetch_add(&a->without_time, 1);
  return false;
}

static void put_record(ink_i_activity *a, const void *record) {
  uint32_t kind;
  memcpy(&kind, record, sizeof kind);
  const ink_i_cupti_kernel *kernel = record;
  const ink_i_cupti_copy *copy = record; /* peer copies and sets have their times at the same place */
  const ink_i_cupti_call *call = record;
  const ink_i_cupti_external *external = record;
  switch (kind) {
  case CUPTI_CONCURRENT_KERNEL:
    if (has_time(a, kernel->start, kernel->end))
      put_kernel(a, kernel);
    break;
  case CUPTI_MEMCPY:
    if (has_time(a, copy->start, copy->end))
      put_copy(a, copy);
    break;
  case CUPTI_MEMCPY_PEER:
    if (has_time(a, copy->start, copy->end))
      put_peer_copy(a, record);
    break;
  case CUPTI_MEMSET:
    if (has_time(a, copy->start, copy->end))
      put_set(a, record);
    break;
  case CUPTI_RUNTIME:
  case CUPTI_DRIVER:
    if (call->start && call->start <= call->end)
      put_call(a, call, kind == CUPTI_RUNTIME ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER);
    break;
  case CUPTI_DEVICE:
    put_device(a, record);
    break;
  case CUPTI_EXTERNAL_CORRELATION:
    if (external->external_kind == CUPTI_EXTERNAL_CUSTOM2 && external->external_id == OWN_ID)
      ink_i_queue_own(&a->queue, external->correlation);
    break;
  default:
    atomic_fetch_add(&a->unknown_records, 1);
  }
}

/* ---- buffers ---- */

static void request_buffer(uint8_t **buffer, size_t *size, size_t *max_records) {
  ink_i_activity *a = current;
  *buffer = NULL;
  *size = 0;
  *max_records = 0; /* as many as fit */
  if (!a || atomic_fetch_add(&a->buffers, 1) >= BUFFERS_MAX) {
    if (a)
      atomic_fetch_sub(&a->buffers, 1);
    return; /* CUPTI drops records, and counts them */
  }
  *buffer = aligned_alloc(8, BUFFER_BYTES);
  *size = *buffer ? BUFFER_BYTES : 0;
  if (!*buffer)
    atomic_fetch_sub(&a->buffers, 1);
}

static void complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid) {
  ink_i_activity *a = current;
  void *record = NULL;
  size_t dropped = 0;
  (void)size;
  while (a && valid && a->cupti.next_record(buffer, valid, &record) == CUPTI_OK)
    put_record(a, record);
  if (a && a->cupti.dropped_records(context, stream, &dropped) == CUPTI_OK)
    atomic_fetch_add(&a->dropped, dropped);
  if (a && buffer)
    atomic_fetch_sub(&a->buffers, 1);
  free(buffer);
}

/* ---- the clock ---- */

static int64_t realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The tightest of some round trips. */
static void read_clock(ink_i_activity *a) {
  ink_activity_reading best = {0};
  const int tries = a->cupti.simulated ? 4 : 64;
  struct timespec now;
  for (int i = 0; i < tries; i++) {
    ink_activity_reading r = {.realtime_before_ns = realtime_ns()};
    if (a->cupti.timestamp(&r.ns) != CUPTI_OK)
      return;
    r.realtime_after_ns = realtime_ns();
    if (!i || r.realtime_after_ns - r.realtime_before_ns <
                  best.realtime_after_ns - best.realtime_before_ns)
      best = r;
  }
  if (a->reading_count == READINGS_MAX) { /* the first and the newest are what counts */
    if (a->readings_written == READINGS_MAX)
      a->readings_written--;
    a->reading_count--;
  }
  a->readings[a->reading_count++] = best;
  clock_gettime(CLOCK_MONOTONIC, &now);
  a->read_at = now.tv_sec;
}

/* ---- starting and ending ---- */

static const struct {
  int kind;
  const char *name; /* for the list of those that are missing */
  bool needed;
} kinds[] = {
    {CUPTI_EXTERNAL_CORRELATION, "external correlation", false},
    {CUPTI_DEVICE, "device", false},
    {CUPTI_CONCURRENT_KERNEL, "kernels", true},
    {CUPTI_MEMCPY, "copies", false},
    {CUPTI_MEMCPY_PEER, "copies between devices", false},
    {CUPTI_MEMSET, "sets", false},
    {CUPTI_RUNTIME, "runtime calls", false},
    {CUPTI_DRIVER, "driver calls", false},
};

static void let_go(ink_i_activity *a) {
  for (size_t i = sizeof kinds / sizeof *kinds; i-- > 0;)
    a->cupti.disable(kinds[i].kind);
  if (a->subscriber)
    a->cupti.unsubscribe(a->subscriber);
  a->subscriber = NULL;
  a->on = false;
  push_own = NULL;
  pop_own = NULL;
}

static bool switch_on(ink_i_activity *a) {
  size_t n = 0;
  /* Only one subscriber is allowed: whoever comes second is told, in either order. */
  int result = a->cupti.subscribe(&a->subscriber, ink_i_cupti_called, NULL);
  if (result != CUPTI_OK) {
    a->subscriber = NULL;
    ink_i_cupti_explain(&a->cupti, result, a->refusal, sizeof a->refusal);
    return false;
  }
  a->cupti.set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
  result = a->cupti.register_buffers(request_buffer, complete_buffer);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && result == CUPTI_OK; i++) {
    const int one = a->cupti.enable(kinds[i].kind);
    if (one == CUPTI_OK)
      continue;
    if (kinds[i].needed)
      result = one;
    else
      n += (size_t)snprintf(a->missing + n, sizeof a->missing - n, "%s%s", n ? ", " : "",
                            kinds[i].name);
  }
  if (result != CUPTI_OK)
    ink_i_cupti_explain(&a->cupti, result, a->refusal, sizeof a->refusal);
  return result == CUPTI_OK;
}

ink_i_activity *ink_i_activity_start(void) {
  ink_i_activity *a = calloc(1, sizeof *a);
  if (!a)
    return NULL;
  ink_i_queue_init(&a->queue);
  current = a;
  if (!ink_i_cupti_load(&a->cupti, ink_i_cupti_major(), a->refusal, sizeof a->refusal))
    return a;
  if (switch_on(a)) {
    a->on = true;
    pop_own = a->cupti.pop_external;
    push_own = a->cupti.push_external;
    if (own_depth) /* in the midst of inkmark's first call */
      a->cupti.push_external(CUPTI_EXTERNAL_CUSTOM2, OWN_ID);
    read_clock(a);
  } else {
    let_go(a);
  }
  return a;
}

bool ink_i_activity_subscriber(const ink_i_activity *a, ink_i_cupti *cupti, void **subscriber) {
  if (!a || !a->on)
    return false;
  *cupti = a->cupti;
  *subscriber = a->subscriber;
  return true;
}

const char *ink_i_activity_refusal(const ink_i_activity *a) {
  return a && a->refusal[0] ? a->refusal : NULL;
}

void ink_i_activity_own_begin(void) {
  int (*const push)(int, uint64_t) = push_own;
  own_depth++;
  if (push)
    push(CUPTI_EXTERNAL_CUSTOM2, OWN_ID);
}

void ink_i_activity_own_end(void) {
  int (*const pop)(int, uint64_t *) = pop_own;
  uint64_t id;
  own_depth--;
  if (pop)
    pop(CUPTI_EXTERNAL_CUSTOM2, &id);
}

void ink_i_activity_flush(ink_i_activity *a, bool last, bool *wanted) {
  struct timespec now;
  *wanted = false;
  if (!a)
    return;
  if (a->on) {
    a->cupti.flush_all(last ? CUPTI_FLUSH_FORCED : 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (last || now.tv_sec - a->read_at >= READING_EVERY_S)
      read_clock(a);
  }
  *wanted = ink_i_queue_wanted(&a->queue);
}

void ink_i_activity_stop(ink_i_activity *a) {
  if (a && a->on)
    let_go(a);
}

void ink_i_activity_free(ink_i_activity *a) {
  if (!a)
    return;
  ink_i_activity_stop(a);
  current = NULL; /* a buffer that comes still is freed */
  ink_i_queue_free(&a->queue);
  free(a);
}

void ink_i_activity_after_fork(ink_i_activity *a) {
  if (!a)
    return;
  current = NULL;
  push_own = NULL;
  pop_own = NULL;
  pthread_mutex_init(&a->queue.lock, NULL);
  a->on = false;
  a->queue.count = a->queue.own_count = a->queue.device_count = a->queue.names_written = 0;
  a->reading_count = a->readings_written = 0;
  a->facts_written = false;
  snprintf(a->refusal, sizeof a->refusal, "CUPTI does not work in a forked process");
}

/* ---- writing ---- */

static ink_status write_number(ink_writer *writer, const char *key, unsigned long long number,
                               ink_error *error) {
  char text[32];
  snprintf(text, sizeof text, "%llu", number);
  return ink_writer_fact(writer, key, text, error);
}

static ink_status write_facts(ink_i_activity *a, ink_writer *writer, ink_error *error) {
  char text[640];
  ink_status status =
      ink_writer_fact(writer, "activity", a->refusal[0] ? a->refusal : "recorded", error);
  if (!status && a->cupti.path[0]) {
    snprintf(text, sizeof text, "%u %s", a->cupti.version, a->cupti.path);
    status = ink_writer_fact(writer, "activity_cupti", text, error);
  }
  if (!status && a->cupti.simulated)
    status = ink_writer_fact(writer, "activity_simulated", "1", error);
  if (!status && a->missing[0])
    status = ink_writer_fact(writer, "activity_missing", a->missing, error);
  a->facts_written = !status;
  return status;
}

/* What was lost on the way, as of now; only what there is. */
static ink_status write_losses(ink_i_activity *a, ink_writer *writer, ink_error *error) {
  ink_status status = INK_OK;
  pthread_mutex_lock(&a->queue.lock);
  const unsigned long long left_out = a->queue.left_out, own = a->queue.own_items;
  pthread_mutex_unlock(&a->queue.lock);
  if (a->dropped)
    status = write_number(writer, "activity_dropped", a->dropped, error);
  if (!status && own)
    status = write_number(writer, "activity_own", own, error);
  if (!status && left_out)
    status = write_number(writer, "activity_left_out", left_out, error);
  if (!status && a->without_time)
    status = write_number(writer, "activity_without_time", a->without_time, error);
  return status;
}

ink_status ink_i_activity_write(ink_i_activity *a, ink_writer *writer, ink_error *error) {
  if (!a)
    return INK_OK;
  ink_status status = a->facts_written ? INK_OK : write_facts(a, writer, error);
  while (!status && a->readings_written < a->reading_count) {
    status = ink_writer_activity_reading(writer, &a->readings[a->readings_written], error);
    a->readings_written += !status;
  }
  if (!status)
    status = ink_i_queue_write(&a->queue, writer, error);
  return status ? status : write_losses(a, writer, error);
}
