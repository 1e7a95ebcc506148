/* SPDX-License-Identifier: MIT */
/* Reads what the host said of itself: pairs begins with ends into ranges, which nest in each thread and domain, and puts
 * all on Unix time. Whatever the program did, every event is in a range or counted. */
#include "capture_private.h"

#include "number_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 24 };
#define NS_MAX (INT64_MAX / 4)

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the host's ranges");
}

static ink_status damaged(ink_error *error, const char *what) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "%s", what);
}

/* ---- while the chunks are read --------------------------------------------------------------- */

static bool makes_sense(const ink_host_event *e) {
  const bool launch = e->kind == INK_HOST_LAUNCH;
  return e->ns >= 0 && e->ns < NS_MAX &&
         (!launch || (e->id >= (uint64_t)e->ns && e->id < (uint64_t)NS_MAX));
}

ink_status ink_read_host(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  capture_host *host = &capture->host;
  ink_file_host head;
  if (bytes < sizeof head)
    return damaged(error, "events of the host that are too short");
  memcpy(&head, payload, sizeof head);
  if (head.item_bytes < sizeof(ink_host_event) || head.item_bytes % 8 ||
      head.count > (bytes - sizeof head) / head.item_bytes)
    return damaged(error, "events of the host whose sizes do not fit");
  if (head.monotonic_ns < 0 || head.monotonic_ns >= NS_MAX || head.realtime_ns < 0 || head.realtime_ns >= INT64_MAX / 2)
    return damaged(error, "events of the host with clocks that make no sense");
  for (uint64_t i = 0; i < head.count; i++) {
    const ink_host_event *event = (const void *)(payload + sizeof head + i * head.item_bytes); /* 8-aligned, as all is */
    if (!makes_sense(event))
      return damaged(error, "an event of the host whose times make no sense");
    if (!INK_I_ROOM(host->events))
      return no_memory(error);
    host->events.items[host->events.count++] = event;
  }
  if (!host->has_offset)
    host->offset_ns = head.realtime_ns - head.monotonic_ns;
  host->has_offset = true;
  host->heard_ns = head.monotonic_ns > host->heard_ns ? head.monotonic_ns : host->heard_ns;
  host->facts.lost = head.lost > host->facts.lost ? head.lost : host->facts.lost;
  return INK_OK;
}

ink_status ink_read_host_name(ink_capture *capture, const unsigned char *payload, uint64_t bytes, ink_error *error) {
  capture_host *host = &capture->host;
  uint64_t id;
  if (bytes <= sizeof id || payload[bytes - 1])
    return damaged(error, "a name of the host's without its text");
  memcpy(&id, payload, sizeof id);
  if (bytes - sizeof id > INK_NAME_BYTES_MAX)
    return damaged(error, "a name of the host's that is too long");
  if (!id || id > NAMES_MAX)
    return damaged(error, "a name of the host's with an id that makes no sense");
  while (host->names.count < id) { /* ids come one after the other, but for what is damaged */
    if (!INK_I_ROOM(host->names))
      return no_memory(error);
    host->names.items[host->names.count++] = NULL;
  }
  host->names.items[id - 1] = (const char *)payload + sizeof id;
  return INK_OK;
}

/* ---- pairing --------------------------------------------------------------------------------- */

typedef struct pairing {
  capture_host *host;
  id_map tops;       /* thread and domain: its innermost range, or CLOSED */
  id_map starts;     /* id: a range of the process, or CLOSED */
  id_map categories; /* domain and category: the id of its name */
  INK_I_LIST(uint32_t) below; /* [range]: the one that it is inside of, or CLOSED */
  INK_I_LIST(uint32_t) domains; /* [range]: the id of the domain's name */
} pairing;

#define CLOSED (UINT32_MAX - 1)

static uint64_t two(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static const char *name_of(const capture_host *host, uint32_t id) {
  const char *text = id && id <= host->names.count ? host->names.items[id - 1] : NULL;
  return text ? text : "";
}

static bool add_range(pairing *p, const ink_host_event *e, uint32_t below) {
  capture_host *host = p->host;
  if (host->ranges.count >= CLOSED || !INK_I_ROOM(host->ranges) || !INK_I_ROOM(p->below) || !INK_I_ROOM(p->domains))
    return false;
  p->below.items[p->below.count++] = below;
  p->domains.items[p->domains.count++] = e->domain;
  host->ranges.items[host->ranges.count++] = (ink_host_range){
      .name = name_of(host, e->name), .domain = name_of(host, e->domain), .category_name = "",
      .begin_ns = e->ns, .end_ns = e->ns, .kind = e->kind, .flags = e->flags & INK_HOST_SCOPE, .thread = e->thread,
      .depth = below < CLOSED ? host->ranges.items[below].depth + 1 : 0, .category = e->category, .color = e->color,
      .payload_type = e->payload_type <= INK_PAYLOAD_F32 ? e->payload_type : 0, .payload = e->payload,
      .open = e->kind != INK_HOST_MARK};
  return true;
}

static void close_range(ink_host_range *range, int64_t ns) {
  range->end_ns = ns;
  range->open = 0;
}

static bool push(pairing *p, const ink_host_event *e) {
  const uint64_t key = two(e->thread, e->domain);
  const uint32_t top = id_map_get(&p->tops, key);
  return add_range(p, e, top == INK_ID_NONE ? CLOSED : top) &&
         id_map_put(&p->tops, key, (uint32_t)p->host->ranges.count - 1);
}

static bool pop(pairing *p, const ink_host_event *e) {
  const uint64_t key = two(e->thread, e->domain);
  const uint32_t top = id_map_get(&p->tops, key);
  if (top >= CLOSED) {
    p->host->facts.ends_without_begin++;
    return true;
  }
  close_range(&p->host->ranges.items[top], e->ns);
  return id_map_put(&p->tops, key, p->below.items[top]);
}

static bool start(pairing *p, const ink_host_event *e) {
  return add_range(p, e, CLOSED) && id_map_put(&p->starts, e->id, (uint32_t)p->host->ranges.count - 1);
}

static bool end(pairing *p, const ink_host_event *e) {
  const uint32_t range = id_map_get(&p->starts, e->id);
  if (range >= CLOSED) {
    p->host->facts.ends_without_begin++;
    return true;
  }
  close_range(&p->host->ranges.items[range], e->ns);
  return id_map_put(&p->starts, e->id, CLOSED);
}

static bool launch(pairing *p, const ink_host_event *e) {
  capture_host *host = p->host;
  if (!INK_I_ROOM(host->launches))
    return false;
  ink_host_launch *l = &host->launches.items[host->launches.count++];
  *l = (ink_host_launch){.function = name_of(host, e->name), .begin_ns = e->ns, .end_ns = (int64_t)e->id,
                         .thread = e->thread, .flags = e->flags & (INK_HOST_GRAPH | INK_HOST_OUTSIDE), .device = e->device};
  memcpy(l->grid_dim, e->grid_dim, sizeof l->grid_dim);
  memcpy(l->block_dim, e->block_dim, sizeof l->block_dim);
  return true;
}

static bool take(pairing *p, const ink_host_event *e) {
  const int64_t last = e->kind == INK_HOST_LAUNCH ? (int64_t)e->id : e->ns;
  p->host->heard_ns = last > p->host->heard_ns ? last : p->host->heard_ns;
  switch (e->kind) {
  case INK_HOST_PUSH:
    return push(p, e);
  case INK_HOST_POP:
    return pop(p, e);
  case INK_HOST_START:
    return start(p, e);
  case INK_HOST_END:
    return end(p, e);
  case INK_HOST_MARK:
    return add_range(p, e, CLOSED);
  case INK_HOST_LAUNCH:
    return launch(p, e);
  case INK_HOST_CATEGORY:
    return id_map_put(&p->categories, two(e->domain, e->category), e->name);
  case INK_HOST_THREAD:
    return id_map_put(&p->host->threads, e->id, e->name);
  default: /* of a newer version */
    return true;
  }
}

/* Of one thread's events that have one time the order in the file is that of the program. */
static int by_time(const void *left, const void *right) {
  const ink_host_event *a = *(const ink_host_event *const *)left, *b = *(const ink_host_event *const *)right;
  if (a->ns != b->ns)
    return a->ns < b->ns ? -1 : 1;
  return (a > b) - (a < b);
}

static void finish_ranges(pairing *p) {
  capture_host *host = p->host;
  for (size_t i = 0; i < host->ranges.count; i++) {
    ink_host_range *r = &host->ranges.items[i];
    const uint32_t name = r->category ? id_map_get(&p->categories, two(p->domains.items[i], r->category)) : INK_ID_NONE;
    r->category_name = name == INK_ID_NONE ? "" : name_of(host, name);
    r->end_ns = (r->open ? host->heard_ns : r->end_ns) + host->offset_ns;
    r->begin_ns += host->offset_ns;
    host->facts.open += r->open;
  }
  for (size_t i = 0; i < host->launches.count; i++) {
    host->launches.items[i].begin_ns += host->offset_ns;
    host->launches.items[i].end_ns += host->offset_ns;
  }
}

/* ---- what was launched in a range ------------------------------------------------------------ */

/* Calls of one thread, or of all, by their begin, with sums over those before. */
typedef struct summed {
  uint32_t *order;
  uint64_t *kernels; /* [n + 1] */
  int64_t *ns;
  size_t n;
} summed;

static int by_thread(const void *left, const void *right, void *user) {
  const ink_host_launch *all = user, *a = &all[*(const uint32_t *)left], *b = &all[*(const uint32_t *)right];
  if (a->thread != b->thread)
    return a->thread < b->thread ? -1 : 1;
  return (*(const uint32_t *)left > *(const uint32_t *)right) - (*(const uint32_t *)left < *(const uint32_t *)right);
}

static bool sum_up(const capture_host *host, const int64_t *ns, bool threads, summed *s) {
  const size_t n = s->n = host->launches.count;
  s->order = malloc((n + 1) * sizeof *s->order);
  s->kernels = calloc(n + 1, sizeof *s->kernels);
  s->ns = calloc(n + 1, sizeof *s->ns);
  if (!s->order || !s->kernels || !s->ns)
    return false;
  for (size_t i = 0; i < n; i++)
    s->order[i] = (uint32_t)i;
  if (threads && n)
    qsort_r(s->order, n, sizeof *s->order, by_thread, host->launches.items);
  for (size_t i = 0; i < n; i++) {
    s->kernels[i + 1] = s->kernels[i] + host->launches.items[s->order[i]].kernels;
    s->ns[i + 1] = (int64_t)((uint64_t)s->ns[i] + (uint64_t)ns[s->order[i]]);
  }
  return true;
}

static void free_summed(summed *s) {
  free(s->order);
  free(s->kernels);
  free(s->ns);
}

/* How many calls come before that moment; with `thread` in the order of threads. */
static size_t before(const capture_host *host, const summed *s, const uint32_t *thread, int64_t ns) {
  size_t low = 0, high = s->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const ink_host_launch *l = &host->launches.items[s->order[middle]];
    const bool is = thread && l->thread != *thread ? l->thread < *thread : l->begin_ns < ns;
    low = is ? middle + 1 : low;
    high = is ? high : middle;
  }
  return low;
}

static void count_range(const capture_host *host, const summed *s, ink_host_range *r) {
  const uint32_t *thread = r->kind == INK_HOST_PUSH ? &r->thread : NULL;
  if (r->kind == INK_HOST_MARK)
    return;
  const size_t first = before(host, s, thread, r->begin_ns), last = before(host, s, thread, r->end_ns);
  r->launches = last - first;
  r->kernels = s->kernels[last] - s->kernels[first];
  r->kernels_ns = (int64_t)((uint64_t)s->ns[last] - (uint64_t)s->ns[first]);
}

static bool count_launches(ink_capture *capture) {
  capture_host *host = &capture->host;
  summed by_one = {0}, all = {0};
  int64_t *ns = calloc(host->launches.count + 1, sizeof *ns);
  for (size_t i = 0; ns && host->calls && i < capture->launches.count; i++) {
    const ink_launch *l = &capture->launches.items[i];
    const uint64_t lasted = l->last_close_global_ns - l->first_open_global_ns;
    if (host->calls[i] == UINT32_MAX)
      continue;
    host->facts.launches_joined++;
    host->launches.items[host->calls[i]].kernels++;
    if (l->last_close_global_ns > l->first_open_global_ns && lasted < (uint64_t)NS_MAX)
      ns[host->calls[i]] = (int64_t)((uint64_t)ns[host->calls[i]] + lasted);
  }
  const bool fine = ns && sum_up(host, ns, true, &by_one) && sum_up(host, ns, false, &all);
  for (size_t i = 0; fine && i < host->ranges.count; i++)
    count_range(host, host->ranges.items[i].kind == INK_HOST_PUSH ? &by_one : &all, &host->ranges.items[i]);
  free_summed(&by_one);
  free_summed(&all);
  free(ns);
  return fine;
}

ink_status ink_index_host(ink_capture *capture, ink_error *error) {
  capture_host *host = &capture->host;
  pairing p = {.host = host};
  bool fine = true;
  host->facts.events = host->events.count;
  if (host->events.count)
    qsort(host->events.items, host->events.count, sizeof *host->events.items, by_time);
  for (size_t i = 0; i < host->events.count && fine; i++)
    fine = take(&p, host->events.items[i]);
  if (fine)
    finish_ranges(&p);
  id_map_free(&p.tops);
  id_map_free(&p.starts);
  id_map_free(&p.categories);
  free(p.below.items);
  free(p.domains.items);
  fine = fine && (!host->events.count || (ink_join_host(capture) && count_launches(capture)));
  return fine ? INK_OK : no_memory(error);
}

void ink_host_free(ink_capture *capture) {
  capture_host *host = &capture->host;
  free(host->events.items);
  free(host->names.items);
  free(host->ranges.items);
  free(host->launches.items);
  free(host->calls);
  id_map_free(&host->threads);
}

/* ---- what others see ------------------------------------------------------------------------- */

size_t ink_capture_host_ranges(const ink_capture *capture, const ink_host_range **out) {
  *out = capture->host.ranges.items;
  return capture->host.ranges.count;
}

size_t ink_capture_host_launches(const ink_capture *capture, const ink_host_launch **out) {
  *out = capture->host.launches.items;
  return capture->host.launches.count;
}

const ink_host_facts *ink_capture_host_facts(const ink_capture *capture) { return &capture->host.facts; }

uint32_t ink_launch_call(const ink_capture *capture, uint32_t launch) {
  return capture->host.calls && launch < capture->launches.count ? capture->host.calls[launch] : UINT32_MAX;
}

const char *ink_capture_host_thread(const ink_capture *capture, uint32_t thread) {
  const uint32_t name = id_map_get(&capture->host.threads, thread);
  return name == INK_ID_NONE ? "" : name_of(&capture->host, name);
}

void ink_host_payload_text(uint32_t type, uint64_t payload, char *text, size_t bytes) {
  uint32_t low = (uint32_t)payload;
  double wide;
  float narrow;
  memcpy(&wide, &payload, sizeof wide);
  memcpy(&narrow, &low, sizeof narrow);
  switch (type) {
  case INK_PAYLOAD_U64:
    snprintf(text, bytes, "%" PRIu64, payload);
    break;
  case INK_PAYLOAD_I64:
    snprintf(text, bytes, "%" PRId64, (int64_t)payload);
    break;
  case INK_PAYLOAD_U32:
    snprintf(text, bytes, "%" PRIu32, low);
    break;
  case INK_PAYLOAD_I32:
    snprintf(text, bytes, "%" PRId32, (int32_t)low);
    break;
  case INK_PAYLOAD_F64:
    ink_i_print(text, bytes, "%.17g", wide);
    break;
  case INK_PAYLOAD_F32:
    ink_i_print(text, bytes, "%.9g", (double)narrow);
    break;
  default:
    snprintf(text, bytes, "%s", "");
  }
}
