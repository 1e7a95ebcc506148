/* SPDX-License-Identifier: MIT */
/* Makes the buffer of one device. It allocates the buffer through the program's own CUDA runtime, fills the header
 * and the kernel slots, and ties globaltimer to the host's clocks. */
#include "cuda/device_buffer.h"

#include "block_sample.h"
#include "cuda/buffer_size.h"
#include "cuda/clock_catch.h"
#include "cuda/cost_measure.h"
#include "cuda/drain_open.h"
#include "cuda/drain_runs.h"
#include "cuda/flight.h"
#include "cuda/passed_kernels.h"
#include "number_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { /* cudaMemcpyKind and cudaDeviceAttr, CUDA runtime API 12 and 13 */
  TO_DEVICE = 1,
  TO_HOST = 2,
  ATTRIBUTE_CLOCK_KHZ = 13,
  ATTRIBUTE_SM_COUNT = 16,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76
};

#define STAGING_BYTES (8u << 20)

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static size_t all_tracks_bytes(size_t ring_bytes, uint32_t tracks) {
  return tracks * ink_i_track_bytes((uint32_t)(ring_bytes / 8)) + ring_bytes + sizeof(ink_device_track);
}

/* The bits of the warps whose threads may record, and of those that a kernel chose; and what spares kernels to look at
 * them, where recording is on and neither warps nor blocks are listed. */
static void set_warps(ink_i_device *d) {
  const uint32_t flags = d->layout.flags;
  d->layout.warps_chosen = flags & INK_BUFFER_ON ? d->warps : 0;
  d->layout.warps = d->layout.warps_chosen & (flags & INK_BUFFER_PER_WARP ? UINT32_MAX : 1u);
  d->layout.thread_mask = flags & INK_BUFFER_PER_WARP ? 0 : UINT32_MAX;
  d->layout.blocks_limit = d->layout.warps_chosen != UINT32_MAX || d->layout.last_block ? 0
                            : ink_sample_blocks_limit(d->layout.sample_warps, d->layout.sample_rate);
}

/* How many tracks a block needs, for the choice of a sample: one, or one for each of its warps, or, if warps are
 * listed, as many as are listed, rounded up to a power of two. */
static uint32_t sampled(const ink_i_options *options) {
  uint32_t log2 = 0;
  if (!options->sample)
    return 0;
  if (options->per_warp && options->warps == UINT32_MAX)
    return INK_BUFFER_SAMPLED | INK_BUFFER_SAMPLED_WARPS;
  while (options->per_warp && 1u << log2 < (uint32_t)__builtin_popcount(options->warps))
    log2++;
  return INK_BUFFER_SAMPLED | log2 << 8;
}

static void describe(ink_i_device *d, const ink_i_options *options) {
  const ink_cuda_api *cuda = d->cuda;
  int value = 0, major = 0, minor = 0, version = 0;
  d->info = (ink_device_info){.index = d->index, .name = d->name};
  cuda->device_name(d->name, sizeof d->name, d->index);
  d->info.simulated = strstr(d->name, "inkmark simulated") != NULL;
  if (!cuda->get_attribute(&value, ATTRIBUTE_SM_COUNT, d->index))
    d->info.sm_count = (uint32_t)value;
  if (!cuda->get_attribute(&value, ATTRIBUTE_CLOCK_KHZ, d->index))
    d->info.clock_khz = (uint32_t)value;
  if (!cuda->get_attribute(&major, ATTRIBUTE_MAJOR, d->index) &&
      !cuda->get_attribute(&minor, ATTRIBUTE_MINOR, d->index))
    d->info.capability = (uint32_t)(major * 10 + minor);
  if (!cuda->runtime_version(&version))
    d->info.runtime_version = (uint32_t)version;
  if (!cuda->driver_version(&version))
    d->info.driver_version = (uint32_t)version;
  d->info.flags = INK_BUFFER_ON | (options->per_warp ? INK_BUFFER_PER_WARP : 0u) |
                  (options->keep_first ? INK_BUFFER_KEEP_FIRST : 0u) | sampled(options);
}

/* ---- kernel slots ---- */

static bool name_selected(const ink_i_options *options, const char *table, const char *name) {
  char qualified[1024];
  if (!options->has_kernels || regexec(&options->kernels, name, 0, NULL, 0) == 0)
    return true;
  snprintf(qualified, sizeof qualified, "%s::%s", table, name);
  return regexec(&options->kernels, qualified, 0, NULL, 0) == 0;
}

/* Returns the slot's index, or slot_count if there is no room. *added says whether the slot is new. An eighth of the
 * slots stays empty: without an empty slot, a kernel whose key is not there would search for ever. */
static uint32_t put_key(ink_i_device *d, uint64_t key, bool *added) {
  uint32_t free_slot = d->slot_count;
  *added = false;
  for (uint32_t i = 0; i < d->slot_count; i++) {
    const uint32_t at = (INK_KERNEL_FIRST(key) + i * INK_KERNEL_STEP(key)) & (d->slot_count - 1);
    if (d->slots[at].key == key)
      return at;
    if (d->slots[at].key == INK_I_SLOT_GIVEN_BACK && free_slot == d->slot_count)
      free_slot = at;
    if (d->slots[at].key != 0)
      continue;
    if (free_slot == d->slot_count) {
      if (d->slots_taken >= d->slot_count - d->slot_count / 8)
        return d->slot_count;
      d->slots_taken++;
      d->unknown_before += d->slots[at].missed;
      free_slot = at;
    }
    d->before[free_slot] = d->written[free_slot] = d->slots[free_slot];
    d->touched[free_slot] = d->named[free_slot] = false;
    d->slots[free_slot].key = key;
    d->slots[free_slot].enabled = 1;
    *added = true;
    return free_slot;
  }
  return d->slot_count;
}

static int send_slot(ink_i_device *d, uint32_t slot) {
  return d->cuda->copy_async(ink_i_device_slots(d) + slot, &d->slots[slot], offsetof(ink_kernel_slot, missed),
                             TO_DEVICE, d->stream);
}

/* Enters the sections of a table that pass the filter, because each may name a kernel. The other sections get no
 * slot. `send` copies new slots to the device at once. */
static ink_status put_table(ink_i_device *d, const ink_i_options *options, const ink_i_table *table,
                            bool selected, bool send, ink_error *error) {
  const char *at = table->sections;
  for (uint32_t id = 1; id <= table->section_count; id++) {
    char name[512];
    at += strspn(at, " ");
    const char *begin = at;
    const size_t length = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    for (size_t n = strlen(name); n && name[n - 1] == ' '; n--)
      name[n - 1] = 0;
    at += length + (at[length] == ',');
    bool added;
    const uint64_t key = INK_KERNEL_KEY(table->hash48, id);
    if (name_selected(options, table->name, name) != selected)
      continue;
    if (!selected) {
      ink_i_passed_enter(d, key, table->name, begin, strlen(name));
      continue;
    }
    const uint32_t slot = put_key(d, key, &added);
    if (slot == d->slot_count)
      return ink_error_set(error, INK_ERROR_LIMIT,
                           "no room for the kernels of section table '%s': it came after arming",
                           table->name);
    if (added && send) {
      const int code = send_slot(d, slot);
      if (code)
        return ink_i_cuda_failed(d, code, "enter a kernel", error);
    }
  }
  return INK_OK;
}

static void list_kernels(ink_i_device *d) {
  d->kernel_count = 0;
  for (uint32_t i = 0; i < d->slot_count; i++)
    if (d->slots[i].key && d->slots[i].key != INK_I_SLOT_GIVEN_BACK)
      d->kernels[d->kernel_count++] = i;
}

static ink_status put_tables(ink_i_device *d, const ink_i_options *options, bool send,
                             ink_error *error) {
  ink_status status = INK_OK;
  ink_i_table *tables;
  ink_i_registry_lock();
  const uint64_t version = ink_i_registry_version();
  const size_t n = ink_i_registry_tables(&tables);
  ink_i_table *copy = malloc((n + 1) * sizeof *copy); /* the strings are never freed */
  if (copy && n)
    memcpy(copy, tables, n * sizeof *copy);
  ink_i_registry_unlock();
  if (!copy)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the section tables");
  ink_i_passed_clear(d);
  for (size_t i = 0; i < 2 * n; i++) {
    const ink_i_table *table = &copy[i % n];
    if (!table->modules && !table->lasting)
      continue;
    const ink_status one = put_table(d, options, table, i < n, send, error);
    if (one)
      status = one;
  }
  free(copy);
  list_kernels(d);
  d->tables_version = status ? 0 : version;
  return status;
}

ink_status ink_i_device_drop_kernels(ink_i_device *d, uint64_t hash48, uint32_t sections, ink_error *error) {
  int code = 0;
  d->cuda->set_device(d->index);
  for (uint32_t id = 1; id <= sections && !code; id++) {
    const uint64_t key = INK_KERNEL_KEY(hash48, id);
    uint32_t at = INK_KERNEL_FIRST(key);
    while (d->slots[at].key && d->slots[at].key != key)
      at = (at + INK_KERNEL_STEP(key)) & (d->slot_count - 1);
    if (d->slots[at].key != key)
      continue;
    d->slots[at].key = INK_I_SLOT_GIVEN_BACK;
    d->slots[at].enabled = 0;
    code = send_slot(d, at);
  }
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  list_kernels(d);
  ink_i_flight_note(d);
  return code ? ink_i_cuda_failed(d, code, "give kernels' slots back", error) : INK_OK;
}

ink_status ink_i_device_add_kernels(ink_i_device *d, const ink_i_options *options,
                                    ink_error *error) {
  ink_i_registry_lock();
  const bool same = ink_i_registry_version() && d->tables_version == ink_i_registry_version();
  ink_i_registry_unlock();
  if (same)
    return INK_OK;
  d->cuda->set_device(d->index);
  /* What an empty slot counted was of no kernel: it must not be taken for the new one's. */
  int code = d->cuda->copy_async(d->slots, ink_i_device_slots(d), d->slot_count * sizeof *d->slots,
                                 TO_HOST, d->stream);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code)
    return ink_i_cuda_failed(d, code, "read its counters", error);
  const ink_status status = put_tables(d, options, true, error);
  code = d->cuda->stream_synchronize(d->stream);
  ink_i_flight_note(d);
  return status ? status : code ? ink_i_cuda_failed(d, code, "enter kernels", error) : INK_OK;
}

/* ---- memory ---- */

static void free_memory(ink_i_device *d) {
  void *edges = d->edges, **blocks[] = {&d->fixed, &d->rings, &edges};
  d->edges = NULL;
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    if (*blocks[i])
      d->cuda->free_device(*blocks[i]);
    *blocks[i] = NULL;
  }
}

enum { FLIGHT_TRACKS = 4096 }; /* pinned memory of the host: some 100 MB with the usual rings */

static uint32_t keep_bits(const ink_i_options *options) {
  return options->keep_first ? 0 : options->flight ? INK_MASK_FLIGHT
         : options->live || options->hang_ms ? INK_MASK_HELD : INK_MASK_KEEP_LAST;
}

/* A kernel sees in the upper half of a ring's address whether it records (docs/macros.md). */
static bool is_below_4_gib(uint64_t rings_at) { return rings_at >> 32 == 0; }
enum { BELOW_4_GIB = -1 }; /* in the place of a code of CUDA's */

static uint64_t rings_in(const ink_i_device *d, size_t ring_bytes) {
  return round_up((uintptr_t)d->rings + sizeof(ink_device_track), ring_bytes);
}

/* If the device gives memory below 4 GiB, this asks for another piece while it holds the first. */
static int allocate_rings(ink_i_device *d, size_t ring_bytes, uint32_t tracks) {
  int code = d->cuda->malloc_device(&d->rings, all_tracks_bytes(ring_bytes, tracks));
  if (code || !is_below_4_gib(rings_in(d, ring_bytes)))
    return code;
  void *low = d->rings;
  d->rings = NULL;
  code = d->cuda->malloc_device(&d->rings, all_tracks_bytes(ring_bytes, tracks));
  d->cuda->free_device(low);
  return code ? code : is_below_4_gib(rings_in(d, ring_bytes)) ? BELOW_4_GIB : 0;
}

/* The parts of the fixed block, in order: states, header and slots, block bits, what clocks are read to. */
static int allocate(ink_i_device *d, const ink_i_options *options, uint32_t tracks) {
  const size_t ring_bytes = (size_t)options->records * 8, stride = ink_i_track_bytes(options->records);
  size_t buffer_at = round_up(tracks * sizeof *d->states, 256);
  const size_t bits_at = /* 256 more: see below */
      round_up(buffer_at + 256 + sizeof(ink_buffer) + d->slot_count * sizeof(ink_kernel_slot), 256);
  const size_t probe_at = round_up(bits_at + options->block_bit_count / 8 + 4, 256);
  uint64_t rings_at = 0;
  int code = d->cuda->malloc_device(&d->fixed, probe_at + 256);
  if (!code && options->flight)
    code = ink_i_flight_make(d, tracks, stride, &rings_at);
  else if (!code)
    code = allocate_rings(d, ring_bytes, tracks);
  if (!code && !options->flight)
    rings_at = rings_in(d, ring_bytes);
  if (!code && is_below_4_gib(rings_at))
    code = BELOW_4_GIB;
  if (code) {
    d->cuda->get_last_error(); /* ours, not the program's: fewer tracks may do */
    ink_i_flight_free(d, true);
    free_memory(d);
    return code;
  }
  const uint64_t base = (uint64_t)(uintptr_t)d->fixed;
  const bool keep_last = !options->keep_first;
  if ((uint32_t)(base + buffer_at) == 0) /* to kernels: no buffer */
    buffer_at += 256;
  d->buffer = (ink_buffer *)(uintptr_t)(base + buffer_at);
  d->probe = (uint64_t *)(uintptr_t)(base + probe_at);
  d->warps = options->warps;
  d->layout = (ink_buffer){
      .magic = INK_BUFFER_MAGIC, .version = INK_LAYOUT_VERSION, .flags = d->info.flags,
      .kernel_mask = d->slot_count - 1, .last_block = options->block_bit_count, /* 0: no filter */
      .tracks_mask = tracks - 1, .block_bits_at = base + bits_at, .rings_end = rings_at + tracks * stride,
      .ring_mask = (uint32_t)ring_bytes - 8 + keep_bits(options),
      .stride = (uint32_t)stride, .further = d->held || keep_last ? tracks : 0,
      .state_bytes = sizeof *d->states};
  ink_sample_fields(d->info.flags, tracks, &d->layout.sample_warps, &d->layout.sample_rate);
  set_warps(d);
  return 0;
}

static int allocate_host(ink_i_device *d, const ink_i_options *options, uint32_t tracks) {
  const size_t ring_bytes = (size_t)options->records * 8;
  const size_t one = 4 * ring_bytes + sizeof(ink_device_track) + 8; /* an open track's rings are copied twice */
  const size_t all = d->slot_count * sizeof *d->slots;
  const size_t most = one > all ? one : all; /* what must go through it at once */
  d->staging_bytes = STAGING_BYTES > most ? STAGING_BYTES : most;
  int code = d->cuda->malloc_host((void **)&d->headers, tracks * sizeof *d->headers);
  if (!code)
    code = d->cuda->malloc_host((void **)&d->states, tracks * sizeof *d->states);
  if (!code)
    code = d->cuda->malloc_host((void **)&d->staging, d->staging_bytes + 8);
  for (uint32_t i = 0; i < tracks && !code; i++)
    d->states[i] = (ink_device_state){.ring = ink_i_device_ring_at(d, i), .mask = d->layout.ring_mask, .word = INK_STATE_FREE};
  d->seen = calloc(tracks, sizeof *d->seen);
  d->open = calloc(tracks, sizeof *d->open);
  d->wanted = calloc(tracks, sizeof *d->wanted);
  d->ended = calloc(tracks, sizeof *d->ended);
  d->follows = calloc(tracks, sizeof *d->follows);
  d->clean_below = malloc(tracks * sizeof *d->clean_below);
  for (uint32_t i = 0; i < tracks && d->clean_below; i++)
    d->clean_below[i] = tracks; /* the first of each */
  const bool made = d->seen && d->open && d->wanted && d->ended && d->follows && d->clean_below && ink_i_instances_make(d);
  return code ? code : made ? 0 : 2 /* cudaErrorMemoryAllocation */;
}

static int send_block_bits(ink_i_device *d, const ink_i_options *options) {
  void *to = (void *)(uintptr_t)d->layout.block_bits_at;
  const size_t bytes = options->block_bit_count / 8;
  if (!options->block_bits) /* all blocks share a bit that is set */
    return d->cuda->set_async(to, 0xff, 4, d->stream);
  const int code = d->cuda->copy_async(to, options->block_bits, bytes, TO_DEVICE, d->stream);
  return code ? code : d->cuda->set_async((char *)to + bytes, 0, 4, d->stream);
}

static int send(ink_i_device *d, const ink_i_options *options, uint32_t tracks) {
  const ink_cuda_api *cuda = d->cuda;
  /* INK_UNWRITTEN: where the first track on a ring ends without closing, the rest is known to be none of it. */
  int code = 0;
  if (!d->flight) /* else it is wiped */
    code = cuda->set_async(d->rings, 0xff, all_tracks_bytes((size_t)options->records * 8, tracks), d->stream);
  if (!code)
    code = cuda->copy_async((void *)(uintptr_t)ink_i_device_state_at(d, 0), d->states, tracks * sizeof *d->states, TO_DEVICE,
                            d->stream);
  if (!code)
    code = cuda->copy_async(ink_i_device_slots(d), d->slots, d->slot_count * sizeof *d->slots,
                            TO_DEVICE, d->stream);
  if (!code)
    code = send_block_bits(d, options);
  if (!code)
    code = cuda->copy_async(d->buffer, &d->layout, sizeof d->layout, TO_DEVICE, d->stream);
  return code ? code : cuda->stream_synchronize(d->stream);
}

static ink_status make_slots(ink_i_device *d, const ink_i_options *options, ink_error *error) {
  ink_i_registry_lock();
  const size_t sections = ink_i_registry_sections();
  ink_i_registry_unlock();
  d->slot_count = INK_KERNEL_PLACES; /* at least: libraries loaded later bring their tables, and the
                                              * first file arms before its table is known */
  while (d->slot_count < 4 * sections)
    d->slot_count *= 2;
  d->slots = calloc(d->slot_count, sizeof *d->slots);
  d->before = calloc(d->slot_count, sizeof *d->before);
  d->written = calloc(d->slot_count, sizeof *d->written);
  d->counts = calloc(d->slot_count, sizeof *d->counts);
  d->touched = calloc(d->slot_count, sizeof *d->touched);
  d->named = calloc(d->slot_count, sizeof *d->named);
  d->kernels = calloc(d->slot_count, sizeof *d->kernels);
  if (!d->slots || !d->before || !d->written || !d->counts || !d->touched || !d->named || !d->kernels)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for %u kernel slots",
                         d->slot_count);
  for (uint32_t i = 0; i < d->slot_count; i++)
    d->slots[i].enabled = 1; /* so that entries without a kernel's slot are counted */
  return put_tables(d, options, false, error);
}

/* Before anything else runs there for long, so that the session's first kernels lie behind it. */
static void catch_first_edges(ink_i_device *d) {
  void *edges = NULL;
  if (d->cuda->malloc_device(&edges, ink_i_edges_bytes(d->info.sm_count)) != 0)
    d->cuda->get_last_error();
  d->edges = edges;
  d->caught[0] = ink_i_catch_edges(d, INK_EDGES_AT_START);
  d->caught_count = d->caught[0] != NULL;
}

static ink_i_buffer_size size_of(const ink_i_device *d, const ink_i_options *options) {
  size_t free_bytes = 0, total_bytes;
  if (INK_CUDA_HAS(d->cuda, memory) && d->cuda->memory(&free_bytes, &total_bytes) != 0) {
    d->cuda->get_last_error(); /* ours, not the program's */
    free_bytes = 0;
  }
  return ink_i_size_buffer(options->records, options->tracks, free_bytes, d->info.simulated);
}

ink_status ink_i_device_make(ink_i_device *d, int index, const ink_i_options *given,
                             const ink_module_desc *module, ink_error *error) {
  *d = (ink_i_device){.index = index, .cuda = module->cuda, .module = module};
  int code = d->cuda->set_device(index);
  if (code)
    return ink_i_cuda_failed(d, code, "use it", error);
  describe(d, given);
  const ink_i_buffer_size size = size_of(d, given);
  ink_i_options sized = *given, *options = &sized;
  uint32_t tracks = size.tracks;
  sized.records = d->info.records_per_track = d->info.aux_records_per_track = size.records;
  d->tracks_wanted = size.tracks_wanted;
  d->held = options->flight || options->live || options->hang_ms;
  if (options->flight && !options->tracks && tracks > FLIGHT_TRACKS)
    d->tracks_wanted = tracks = FLIGHT_TRACKS;
  ink_status status = make_slots(d, options, error);
  if (!status && (code = d->cuda->stream_create(&d->stream)) != 0)
    status = ink_i_cuda_failed(d, code, "make a stream", error);
  while (!status && (code = allocate(d, options, tracks)) != 0 && code != BELOW_4_GIB && tracks > 1 && !options->tracks)
    tracks /= 2;
  if (!status && code == BELOW_4_GIB)
    status = ink_error_set(error, INK_ERROR_MEMORY,
                           "device %d gives memory for marks below 4 GiB only, where marks take an address for none", d->index);
  if (!status && code) {
    char what[96];
    ink_i_print(what, sizeof what, "allocate %u track%s of %u records, %.1f GiB", tracks, tracks == 1 ? "" : "s", options->records,
             (double)tracks * options->records * 16 / (1u << 30));
    status = ink_i_cuda_failed(d, code, what, error);
  }
  if (!status && (code = allocate_host(d, options, tracks)) != 0)
    status = ink_i_cuda_failed(d, code, "allocate the host's copy of the buffer", error);
  if (!status && (code = send(d, options, tracks)) != 0)
    status = ink_i_cuda_failed(d, code, "fill the buffer", error);
  if (status) {
    ink_i_device_free(d, true);
    return status;
  }
  d->info.track_count = tracks;
  d->has_start = ink_i_device_read_clock(d, &d->start, NULL) == INK_OK;
  catch_first_edges(d);
  ink_i_measure_costs(d);
  d->made = true;
  ink_i_flight_note(d);
  return INK_OK;
}

ink_status ink_i_device_set_flags(ink_i_device *d, uint32_t flags, ink_error *error) {
  d->cuda->set_device(d->index);
  d->layout.flags = flags;
  set_warps(d);
  int code = d->cuda->copy_async(
      &d->buffer->warps, &d->layout.warps,
      offsetof(ink_buffer, tracks_mask) - offsetof(ink_buffer, warps), TO_DEVICE, d->stream);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  return code ? ink_i_cuda_failed(d, code, "switch recording", error) : INK_OK;
}

void ink_i_device_free(ink_i_device *d, bool free_device_memory) {
  ink_i_follows_free(d);
  free(d->hang);
  if (free_device_memory && d->cuda)
    d->cuda->set_device(d->index);
  ink_i_flight_free(d, free_device_memory);
  if (free_device_memory && d->cuda) {
    free_memory(d);
    if (d->headers)
      d->cuda->free_host(d->headers);
    if (d->states)
      d->cuda->free_host(d->states);
    if (d->staging)
      d->cuda->free_host(d->staging);
    if (d->stream)
      d->cuda->stream_destroy(d->stream);
  }
  for (uint32_t i = 0; i < d->caught_count; i++)
    free(d->caught[i]);
  ink_i_instances_free(d);
  ink_i_passed_free(d);
  free(d->clean_below);
  free(d->seen);
  free(d->open);
  free(d->wanted);
  free(d->ended);
  free(d->slots);
  free(d->before);
  free(d->written);
  free(d->counts);
  free(d->touched);
  free(d->named);
  free(d->kernels);
  *d = (ink_i_device){.index = d->index};
}

/* ---- clocks ---- */

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

ink_status ink_i_device_read_clock(ink_i_device *d, ink_host_clock *out, ink_error *error) {
  const int tries = d->info.simulated ? 2 : 24; /* the smallest round trip wins */
  unsigned char *clock = d->staging + d->staging_bytes; /* tracks may wait in the rest of it */
  int64_t best = INT64_MAX;
  d->cuda->set_device(d->index);
  for (int i = 0; i < tries; i++) {
    ink_host_clock pair = {.device = d->index};
    const int64_t earlier = clock_ns(CLOCK_REALTIME);
    pair.monotonic_before_ns = clock_ns(CLOCK_MONOTONIC);
    pair.realtime_before_ns = clock_ns(CLOCK_REALTIME);
    const int64_t width = pair.realtime_before_ns - earlier; /* negative: it was set just now */
    pair.monotonic_width_ns = width < 0 || width > UINT32_MAX ? 0 : (uint32_t)width + 1;
    int code = d->module->read_globaltimer(d->module->self, d->probe, d->stream);
    if (!code)
      code = d->cuda->stream_synchronize(d->stream);
    pair.realtime_after_ns = clock_ns(CLOCK_REALTIME);
    if (!code)
      code = d->cuda->copy_async(clock, d->probe, 8, TO_HOST, d->stream);
    if (!code)
      code = d->cuda->stream_synchronize(d->stream);
    if (code)
      return ink_i_cuda_failed(d, code, "read its clock", error);
    memcpy(&pair.global_ns, clock, 8);
    if (pair.realtime_after_ns - pair.realtime_before_ns < best) {
      best = pair.realtime_after_ns - pair.realtime_before_ns;
      *out = pair;
    }
  }
  return INK_OK;
}
