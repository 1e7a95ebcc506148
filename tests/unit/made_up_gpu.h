/* SPDX-License-Identifier: MIT */
/* A CUDA runtime of plain C functions over host memory, and a GPU of threads that open, fill and close tracks
 * one store at a time, as device/inkmark/mark_track.cuh does. The GPU runs between any two calls of the
 * runtime and in the midst of every copy, so whatever a drain reads may be torn anywhere. */
#ifndef INKMARK_TESTS_MADE_UP_GPU_H
#define INKMARK_TESTS_MADE_UP_GPU_H

#include "cuda/session_private.h"
#include "id_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GPU_KERNELS = 3, GPU_LANES = 8, GPU_TABLE = 0x4711, GPU_CODE = 700 };

typedef struct gpu_lane {
  int step;                  /* 0: between two tracks; else the next store */
  uint64_t ticket, ring, word;
  uint32_t from_end;         /* tracks from its own to the end */
  uint32_t kernel, tries;
  bool stays;                /* hangs before it closes, until gpu.ends */
} gpu_lane;

/* When each ticket opened and closed: as on a GPU, a ticket may come to its slot after a later one left it. */
static uint64_t gpu_opened[1 << 16], gpu_closed[1 << 16];

static struct made_up_gpu {
  ink_i_device *device;
  gpu_lane lanes[GPU_LANES];
  uint64_t random, now;
  uint32_t rate;             /* most stores between two calls or units of a copy */
  uint32_t stay_one_in;      /* lanes that hang, 0: none */
  uint64_t tracks_left;      /* to be opened */
  bool ends;                 /* nothing hangs any more */
  uint64_t closed[GPU_KERNELS], missed[GPU_KERNELS];
  uint64_t unknown;          /* entries of a kernel that no table names */
  uint64_t calls, copies, bytes, waits; /* of the runtime; copies of both kinds, to the host */
  bool laps;                 /* whoever hangs writes over its ring in the midst of a copy */
  uint64_t fails_at;         /* this call fails, and all after it; 0: none */
  bool failed;
  size_t free_bytes;         /* what the runtime says of its memory */
  size_t most_bytes;         /* allocations above it fail; 0: none */
  int low, high_first;       /* so many get memory below 4 GiB, behind so many that do not */
  void *low_at[2];
  int low_freed;             /* of these; they stay mapped */
} gpu;

static uint32_t gpu_random(uint32_t below) {
  gpu.random += 0x9e3779b97f4a7c15u;
  return below ? (uint32_t)(ink_mix64(gpu.random) >> 32) % below : 0;
}

/* ---- what a track of a ticket holds: all of it follows from the ticket ---- */

static uint64_t gpu_words(uint64_t ticket) {
  return ink_mix64(ticket * 3 + 1) % (2 * (uint64_t)gpu.device->info.records_per_track + 1);
}
static uint64_t gpu_aux_words(uint64_t ticket) {
  const uint64_t n = ink_mix64(ticket * 3 + 2);
  return n % 3 ? 0 : n / 3 % (2 * (uint64_t)gpu.device->info.records_per_track + 1);
}
static uint64_t gpu_word(uint64_t ticket, uint64_t k, bool aux) {
  return INK_HEAD(INK_KIND_MARK, aux ? 2 : 1, (ticket << 12) + k); /* no other ticket's, and after the opening */
}
static uint32_t gpu_kernel(uint64_t ticket) { return (uint32_t)(ink_mix64(ticket * 3) % GPU_KERNELS); }

/* ---- the GPU ---- */

static ink_device_track *gpu_header(uint64_t ring) {
  return (ink_device_track *)(uintptr_t)(ring - sizeof(ink_device_track));
}

static ink_kernel_slot *gpu_slot(uint32_t kernel) {
  ink_kernel_slot *slots = (ink_kernel_slot *)((char *)gpu.device->buffer + sizeof(ink_buffer));
  const uint64_t key = INK_KERNEL_KEY(GPU_TABLE, kernel + 1);
  for (uint32_t i = INK_KERNEL_FIRST(key);; i += INK_KERNEL_STEP(key)) {
    ink_kernel_slot *slot = &slots[i & gpu.device->buffer->kernel_mask];
    if (slot->key == key || !slot->key)
      return slot;
  }
}

static void gpu_claim(gpu_lane *lane) {
  ink_buffer *b = gpu.device->buffer;
  lane->ticket = b->claim++;
  lane->from_end = b->tracks_mask + 1 - ((uint32_t)lane->ticket & b->tracks_mask);
  lane->ring = b->rings_end - lane->from_end * b->stride;
  lane->step = 2;
}

static uint32_t *gpu_state(const gpu_lane *lane) {
  return &((ink_device_state *)(void *)gpu.device->buffer - lane->from_end)->word;
}

static void gpu_take(gpu_lane *lane) {
  const bool taken = *gpu_state(lane) != INK_STATE_FREE;
  if (!taken)
    *gpu_state(lane) = INK_STATE_NO_PLACE;
  lane->step = 3;
  if (!taken)
    return;
  lane->step = 1;
  if (lane->tries) {
    const uint32_t tracks = gpu.device->buffer->further;
    const uint64_t next = lane->ticket + (--lane->tries == 2 ? 0 : lane->tries == 1 ? tracks / 8 : tracks / 2);
    if (gpu.device->buffer->claim < next)
      gpu.device->buffer->claim = next;
    return;
  }
  lane->step = 0;
  gpu_slot(lane->kernel)->missed++;
  gpu.missed[lane->kernel]++;
}

/* The rows of the header, one a step. */
static void gpu_open(gpu_lane *lane) {
  ink_device_track *h = gpu_header(lane->ring);
  const uint32_t low = (uint32_t)lane->ticket;
  switch (lane->step++) {
  case 3:
    h->state_at = (uint64_t)(uintptr_t)gpu_state(lane);
    h->slot = (uint64_t)(uintptr_t)gpu_slot(lane->kernel) - sizeof(ink_buffer);
    break;
  case 4: h->ticket = lane->ticket; h->grid_id = lane->ticket / 4; break;
  case 5: h->grid_dim[0] = h->grid_dim[1] = h->grid_dim[2] = low + 1; h->sm_open = low * 5; break;
  case 6: h->block_dim[0] = h->block_dim[1] = h->block_dim[2] = low + 2; h->cluster_rank = low * 3; break;
  case 7:
    gpu_opened[lane->ticket & 0xffff] = gpu.now;
    h->open_clock0 = gpu.now << 8;
    h->open_global_ns = gpu.now;
    break;
  default:
    h->block_index[0] = h->block_index[1] = h->block_index[2] = low;
    h->thread_index = low & 1023;
    h->name_rows = 0;
    h->open_clock1 = (uint32_t)gpu_opened[lane->ticket & 0xffff] << 8;
    lane->word = 0;
    lane->stays = gpu.stay_one_in && gpu_random(gpu.stay_one_in) == 0;
  }
}

static void gpu_store_word(gpu_lane *lane) {
  const uint64_t records = gpu.device->info.records_per_track, words = gpu_words(lane->ticket);
  const bool aux = lane->word >= words, first = gpu.device->info.flags & INK_BUFFER_KEEP_FIRST;
  const uint64_t k = aux ? lane->word - words : lane->word;
  uint64_t *ring = (uint64_t *)(uintptr_t)lane->ring + (aux ? records : 0);
  if (!first || k < records)
    ring[k % records] = gpu_word(lane->ticket, k, aux);
  lane->word++;
}

static void gpu_close(gpu_lane *lane) {
  ink_device_track *h = gpu_header(lane->ring);
  ink_kernel_slot *sums = (ink_kernel_slot *)((char *)(uintptr_t)h->slot + sizeof(ink_buffer));
  const uint64_t words = gpu_words(lane->ticket), aux = gpu_aux_words(lane->ticket);
  const uint32_t low = gpu.device->buffer->ring_mask & INK_MASK_LOW;
  const bool rare = aux || low != INK_MASK_KEEP_LAST;
  switch (lane->step++) {
  case 9:
    gpu_closed[lane->ticket & 0xffff] = gpu.now;
    h->close_clock0 = gpu.now << 8;
    h->close_global_ns = gpu.now;
    break;
  case 10:
    h->close_clock1 = (uint32_t)(gpu_closed[lane->ticket & 0xffff] << 8) + 9;
    h->sm_close = (uint32_t)lane->ticket % 9 | (rare ? INK_CLOSED_CALLED : 0);
    break;
  case 11: h->bytes = words * 8; h->extra = lane->ticket % 5; break;
  case 12:
    if (rare)
      h->aux_bytes = aux * 8, h->aux_extra = 0;
    break;
  case 13:
    if (low == INK_MASK_FLIGHT)
      h->closing = INK_STATE_CLOSED;
    break;
  case 14: sums->closed += h->slot; gpu.closed[lane->kernel]++; break;
  case 15: sums->extra += lane->ticket % 5; break;
  case 16: sums->bytes += (words + aux) * 8; break;
  default:
    *gpu_state(lane) = low == INK_MASK_KEEP_LAST ? INK_STATE_FREE : INK_STATE_CLOSED;
    lane->step = 0;
  }
}

static void gpu_step(gpu_lane *lane) {
  gpu.now++;
  if (lane->step == 0) {
    if (!gpu.tracks_left)
      return;
    gpu.tracks_left--;
    if (gpu.tracks_left % 16 == 5) {
      gpu_slot(GPU_KERNELS)->missed++;
      gpu.unknown++;
      return;
    }
    lane->tries = gpu.device->buffer->further ? 3 : 0;
    lane->kernel = gpu_kernel(gpu.tracks_left);
    lane->step = 1;
  } else if (lane->step == 1) {
    gpu_claim(lane);
  } else if (lane->step == 2) {
    gpu_take(lane);
  } else if (lane->step < 9) {
    gpu_open(lane);
  } else if (lane->step == 9 && lane->word < gpu_words(lane->ticket) + gpu_aux_words(lane->ticket)) {
    gpu_store_word(lane);
  } else if (lane->step > 9 || !lane->stays || gpu.ends) {
    gpu_close(lane);
  }
}

/* The GPU goes on, by a number of stores that nobody knows. */
static void gpu_runs(void) {
  for (int i = 0; i < GPU_LANES && gpu.laps; i++)
    for (uint64_t n = gpu.lanes[i].step == 9 ? gpu.device->info.records_per_track : 0; n; n--)
      gpu_store_word(&gpu.lanes[i]);
  if (!gpu.device || !gpu.device->buffer || !gpu.rate)
    return;
  for (uint32_t n = gpu_random(gpu.rate + 1); n; n--)
    gpu_step(&gpu.lanes[gpu_random(GPU_LANES)]);
}

static uint64_t gpu_open_tracks(void) {
  uint64_t n = 0;
  for (int i = 0; i < GPU_LANES; i++)
    n += gpu.lanes[i].step >= 9;
  return n;
}

/* So that no track is closed in the counters and open in its header. */
static void gpu_close_whole(void) {
  for (int i = 0; i < GPU_LANES; i++)
    while (gpu.lanes[i].step > 14)
      gpu_step(&gpu.lanes[i]);
}

/* Until every lane has ended what it had to do, or hangs. */
static void gpu_finish(void) {
  for (int i = 0; i < GPU_LANES; i++)
    while (gpu.tracks_left || gpu.lanes[i].step) {
      gpu_lane *lane = &gpu.lanes[i];
      const uint64_t words = lane->step == 9 ? gpu_words(lane->ticket) + gpu_aux_words(lane->ticket) : 0;
      if (lane->step == 9 && lane->word >= words && lane->stays && !gpu.ends)
        break;
      gpu_step(lane);
    }
}

/* ---- the runtime ---- */

static int gpu_call(void) {
  gpu_runs();
  gpu.calls++;
  if (gpu.fails_at && gpu.calls >= gpu.fails_at)
    gpu.failed = true;
  return gpu.failed ? GPU_CODE : 0;
}

/* 16 bytes at once, as rows of a header are stored. */
static void gpu_copy_bytes(void *to, const void *from, size_t bytes, int kind) {
  for (size_t at = 0; at < bytes; at += 16) {
    memcpy((char *)to + at, (const char *)from + at, bytes - at < 16 ? bytes - at : 16);
    if (kind == 2)
      gpu_runs();
  }
  gpu.bytes += kind == 2 ? bytes : 0;
}

static int gpu_one(int *value) { *value = 1; return gpu_call(); }
static int gpu_zero(int *value) { *value = 0; return gpu_call(); }
static int gpu_use(int device) { (void)device; return gpu_call(); }
static int gpu_nothing(void) { return gpu_call(); }
static int gpu_attribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 16 ? 4 : 1000;
  return gpu_call();
}
static int gpu_name(char *name, size_t bytes, int device) {
  snprintf(name, bytes, "made up %d", device);
  return gpu_call();
}
static void *gpu_some_memory(size_t bytes) {
  if (!gpu.low || gpu.high_first-- > 0)
    return calloc(1, bytes);
  gpu.low--;
  const uintptr_t where = gpu.low_at[0] ? 0x50000000 : 0x40000000;
  void *at = mmap((void *)where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  gpu.low_at[gpu.low_at[0] != NULL] = at;
  return at == MAP_FAILED ? NULL : at;
}
static int gpu_malloc(void **at, size_t bytes) {
  const int code = gpu_call();
  *at = !code && (!gpu.most_bytes || bytes <= gpu.most_bytes) ? gpu_some_memory(bytes) : NULL;
  return code ? code : *at ? 0 : 2;
}
static int gpu_free(void *at) {
  if (at && (at == gpu.low_at[0] || at == gpu.low_at[1]))
    gpu.low_freed++;
  else
    free(at);
  return gpu_call();
}
/* What goes past the end of the staging is refused, as CUDA does of pinned memory. */
static int gpu_refuses(const void *to, size_t bytes) {
  const unsigned char *at = to, *staging = gpu.device ? gpu.device->staging : NULL;
  const size_t room = staging ? gpu.device->staging_bytes + 8 : 0;
  return staging && at >= staging && at < staging + room && bytes > (size_t)(staging + room - at) ? 1 : 0;
}
static int gpu_copy(void *to, const void *from, size_t bytes, int kind, void *stream) {
  (void)stream;
  int code = gpu_call();
  code = code ? code : gpu_refuses(to, bytes);
  gpu.copies += kind == 2;
  if (!code)
    gpu_copy_bytes(to, from, bytes, kind);
  return code;
}
static int gpu_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t height, int kind, void *stream) {
  (void)stream;
  int code = gpu_call();
  code = code ? code : gpu_refuses(to, (height - 1) * to_pitch + width);
  gpu.copies += kind == 2;
  for (size_t row = 0; row < height && !code; row++)
    gpu_copy_bytes((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
  return code;
}
static int gpu_set(void *to, int byte, size_t bytes, void *stream) {
  (void)stream;
  const int code = gpu_call();
  if (!code)
    memset(to, byte, bytes);
  return code;
}
static int gpu_set_2d(void *to, size_t pitch, int byte, size_t width, size_t height, void *stream) {
  (void)stream;
  const int code = gpu_call();
  for (size_t row = 0; row < height && !code; row++) {
    memset((char *)to + row * pitch, byte, width);
    gpu_runs();
  }
  return code;
}
static int gpu_register(void *at, size_t bytes) { (void)at, (void)bytes; return gpu_call(); }
static int gpu_unregister(void *at) { (void)at; return gpu_call(); }
static int gpu_pointer(void **device, void *at) { *device = at; return gpu_call(); }
static int gpu_stream(void **stream) { *stream = &gpu; return gpu_call(); }
static int gpu_stream_end(void *stream) { (void)stream; return gpu_call(); }
static int gpu_wait(void *stream) { (void)stream; gpu.waits++; return gpu_call(); }
static const char *gpu_error(int code) { return code == GPU_CODE ? "illegal address" : "out of memory"; }
static int gpu_read_clock(void *self, uint64_t *ns, void *stream) {
  (void)self, (void)stream;
  *ns = gpu.calls;
  return gpu_call();
}
static int gpu_memory(size_t *free_bytes, size_t *total_bytes) {
  *free_bytes = gpu.free_bytes;
  *total_bytes = gpu.free_bytes * 2;
  return gpu_call();
}
static int gpu_set_buffer(void *self, void *buffer) { (void)self, (void)buffer; return gpu_call(); }

static ink_cuda_api gpu_api = {
    .bytes = sizeof gpu_api, .get_device_count = gpu_one, .get_device = gpu_zero, .set_device = gpu_use,
    .device_synchronize = gpu_nothing, .get_attribute = gpu_attribute, .device_name = gpu_name,
    .malloc_device = gpu_malloc, .free_device = gpu_free, .malloc_host = gpu_malloc, .free_host = gpu_free,
    .copy_async = gpu_copy, .set_async = gpu_set, .stream_create = gpu_stream,
    .stream_destroy = gpu_stream_end, .stream_synchronize = gpu_wait, .runtime_version = gpu_one,
    .driver_version = gpu_one, .peek_last_error = gpu_nothing, .get_last_error = gpu_nothing,
    .error_string = gpu_error, .exchange_capture_mode = gpu_one, .copy_2d_async = gpu_copy_2d,
    .memory = gpu_memory, .set_2d_async = gpu_set_2d, .host_register = gpu_register,
    .host_unregister = gpu_unregister, .host_device_pointer = gpu_pointer};

static const ink_module_desc gpu_module = {.abi = INK_MODULE_ABI, .bytes = sizeof gpu_module, .file = "made_up.cu",
                                           .set_buffer = gpu_set_buffer, .read_globaltimer = gpu_read_clock,
                                           .cuda = &gpu_api};

#endif
