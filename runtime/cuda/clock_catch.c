/* SPDX-License-Identifier: MIT */
/* Catches edges of globaltimer on every SM: launches the kernel of mark_clock.cuh on the session's own
 * stream and brings what it found to the host. */
#include "cuda/clock_catch.h"

#include "inkmark/module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  TO_HOST = 2, /* cudaMemcpyKind */
  /* A block may come to an SM that another one has, then those of the next launch take the rest. */
  LAUNCHES = 4,
  BLOCKS_PER_SM = 2,
  FEW_CYCLES = 200000,   /* some 100 us: enough for INK_EDGES_MAX edges of a timer of 1 us */
  MOST_CYCLES = 4000000, /* some 2 ms: two edges of a timer of 1 ms */
  SMS_LEAST = 256,
  SMS_MAX = 4096         /* the clock map takes no more either */
};

static void say(ink_i_caught *caught, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(ink_i_caught *caught, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(caught->note, sizeof caught->note, format, arguments);
  va_end(arguments);
}

/* The first file that has the kernel. */
static const ink_module_desc *find_module(const ink_i_device *d) {
  const ink_module_desc *found = INK_MODULE_HAS(d->module, catch_edges) ? d->module : NULL;
  ink_i_module *modules;
  ink_i_registry_lock();
  const size_t n = ink_i_registry_modules(&modules);
  for (size_t i = 0; i < n && !found; i++)
    if (INK_MODULE_HAS(modules[i].desc, catch_edges))
      found = modules[i].desc;
  ink_i_registry_unlock();
  return found;
}

static uint32_t count_taken(const ink_edge_slot *slots, uint32_t n) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < n; i++)
    taken += slots[i].taken != 0;
  return taken;
}

/* Launches until every SM has had a block. `slots` is pageable: the copy needs no pinned memory. */
static int run(ink_i_device *d, const ink_module_desc *module, ink_edge_slot *slots, uint32_t n) {
  const size_t bytes = n * sizeof *slots;
  int code = d->cuda->set_async(d->edges, 0, bytes, d->stream);
  for (int i = 0; i < LAUNCHES && !code; i++) {
    code = module->catch_edges(module->self, d->edges, n, d->info.sm_count * BLOCKS_PER_SM, FEW_CYCLES,
                               MOST_CYCLES, d->stream);
    if (!code)
      code = d->cuda->copy_async(slots, d->edges, bytes, TO_HOST, d->stream);
    if (!code)
      code = d->cuda->stream_synchronize(d->stream);
    if (!code && count_taken(slots, n) >= d->info.sm_count)
      break;
  }
  return code;
}

static uint32_t keep(const ink_edge_slot *slot, ink_edge *to) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < slot->count && i < INK_EDGES_MAX; i++) {
    const ink_edge_words *words = &slot->edges[i];
    const uint64_t jump = words->global_ns - words->before_ns;
    if (jump && jump <= UINT32_MAX && words->cycles1 >= words->cycles0)
      to[count++] = (ink_edge){.cycles0 = words->cycles0, .cycles1 = words->cycles1,
                               .global_ns = words->global_ns, .jump_ns = (uint32_t)jump};
  }
  return count;
}

static void conclude(ink_i_caught *caught, const ink_i_device *d, const ink_edge_slot *slots,
                     uint32_t n) {
  ink_sm_edges *sms = (ink_sm_edges *)(caught + 1);
  ink_edge *edges = (ink_edge *)(void *)(sms + n);
  uint32_t without = 0, count = 0;
  for (uint32_t sm = 0; sm < n; sm++) {
    if (!slots[sm].taken)
      continue;
    const uint32_t kept = keep(&slots[sm], edges);
    without += !kept;
    if (kept)
      sms[count++] = (ink_sm_edges){.sm = sm, .count = kept, .edges = edges};
    edges += kept;
  }
  caught->edges.sms = sms;
  caught->edges.sm_count = count;
  const uint32_t taken = count_taken(slots, n);
  if (taken < d->info.sm_count)
    say(caught, "%u of %u SMs had no block of the kernel that catches them", d->info.sm_count - taken,
        d->info.sm_count);
  else if (without)
    say(caught, "on %u of %u SMs globaltimer did not step in %d cycles", without, d->info.sm_count,
        MOST_CYCLES);
}

static int64_t realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The PTX ISA: "%nsmid may be larger than the physical number of SMs". In a part of a GPU (MIG) that is by
 * far so. */
size_t ink_i_edges_bytes(uint32_t sm_count) {
  const uint32_t slots = sm_count < SMS_MAX / 2 ? sm_count * 2 : SMS_MAX;
  return (slots < SMS_LEAST ? SMS_LEAST : slots) * sizeof(ink_edge_slot);
}

ink_i_caught *ink_i_catch_edges(ink_i_device *d, enum ink_edges_when when) {
  const uint32_t n = (uint32_t)(ink_i_edges_bytes(d->info.sm_count) / sizeof(ink_edge_slot));
  const ink_module_desc *module = find_module(d);
  ink_i_caught *caught = calloc(1, sizeof *caught + n * sizeof(ink_sm_edges) +
                                       (size_t)n * INK_EDGES_MAX * sizeof(ink_edge));
  ink_edge_slot *slots = calloc(n + 1, sizeof *slots);
  if (!caught || !slots) {
    free(caught);
    free(slots);
    return NULL;
  }
  caught->edges = (ink_clock_edges){.device = d->index, .when = when, .note = caught->note,
                                    .realtime_ns = realtime_ns()};
  if (!module) {
    say(caught, "the marks were compiled with headers that have no kernel for it");
  } else if (!d->edges) {
    say(caught, "no memory on the device");
  } else {
    d->cuda->set_device(d->index);
    const int code = run(d, module, slots, n);
    if (code) {
      d->cuda->get_last_error(); /* ours, not the program's */
      say(caught, "the kernel that catches them could not run: %s", d->cuda->error_string(code));
    } else {
      conclude(caught, d, slots, n);
    }
  }
  free(slots);
  return caught;
}
