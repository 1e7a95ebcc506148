/* SPDX-License-Identifier: MIT */
/* Private: what the host keeps of one device, beside the buffer there. device_buffer.h makes and frees it. */
#ifndef INK_CUDA_DEVICE_H
#define INK_CUDA_DEVICE_H

#include "cuda/options.h"
#include "cuda/registry.h"
#include "inkmark/capture.h"

enum { INK_I_COSTS_MAX = 32, INK_I_CAUGHT_MAX = 16 };

/* What is known of a slot whose header the next drain reads again: 0, or the ticket of the track that was
 * open in it, plus 1, with these. */
#define INK_I_OPEN_STORED (1ull << 63)  /* its header is in the capture */
#define INK_I_OPEN_FOREIGN (1ull << 62) /* it is a parent process's */
#define INK_I_OPEN_AGAIN (1ull << 60)   /* no track: the header was not whole */
#define INK_I_OPEN_TICKET (INK_I_OPEN_AGAIN - 1)

typedef struct ink_i_device {
  int index;
  bool made;
  bool dead;                    /* a CUDA call failed for good: a reset, a sticky error */
  bool described;               /* written to the open capture */
  const ink_cuda_api *cuda;
  const ink_module_desc *module; /* whose read_globaltimer is used */
  ink_cuda_api calls_kept;      /* what `cuda` points at once its file has gone while this thread was in one of its calls */
  ink_device_info info;
  uint32_t tracks_wanted;       /* there may be fewer */
  char name[256];
  ink_buffer layout;            /* the buffer's header as it was sent */
  ink_buffer *buffer;           /* device */
  void *fixed, *rings;          /* device allocations; fixed: states, header, slots, block bits; rings: tracks */
  bool left;                    /* the capture had no room for something, since the last drain began */
  bool held;                    /* a closed track is not used again before the drain has wiped it */
  struct ink_i_flight *flight;  /* flight.h; NULL: rings are on the device */
  struct ink_i_follow **follows; /* [tracks], drain_open.h: of open tracks */
  struct ink_i_instances *instances; /* instances.c */
  struct ink_i_passed *passed;  /* passed_kernels.h; NULL: no kernel is left out by its name */
  struct ink_i_hang *hang;      /* hang.c; NULL: nothing was watched yet */
  uint32_t warps;               /* that may record, of any kernel */
  void *stream;
  uint64_t *probe;              /* device, 8 bytes */
  ink_edge_slot *edges;         /* device; NULL: no memory for it */
  ink_device_track *headers;    /* host, pinned, [tracks]: the newest reading */
  ink_device_state *states;     /* host, pinned, [tracks]: the newest reading */
  uint64_t *clean_below;        /* [tracks]: a track whose ticket is below it found its rings wiped */
  unsigned char *staging;       /* host, pinned; 8 bytes more than staging_bytes, for clocks */
  size_t staging_bytes;
  uint64_t *seen;               /* [tracks]: ticket + 1 of the track last captured from a slot */
  uint64_t *open;               /* [tracks]: INK_I_OPEN_... */
  uint32_t open_count;          /* of those that are not 0 */
  struct ink_i_wanted *wanted;  /* [tracks]: what a drain reads and copies */
  uint64_t *ended;              /* [tracks]: tickets that were stored open and ended, not written yet */
  uint32_t ended_count;
  ink_kernel_slot *slots;       /* [slot_count]: as sent and read back */
  ink_kernel_slot *before;      /* [slot_count]: counts that belong to something else, or zeros */
  ink_kernel_slot *written;     /* [slot_count]: as the capture has them */
  ink_kernel_counts *counts;    /* [slot_count]: room to write them from */
  bool *touched, *named;        /* [slot_count]: has a track that is new; has a count in the capture */
  uint32_t *kernels;            /* the slots that have a key, ascending */
  uint32_t slot_count, slots_taken, kernel_count;
  uint64_t tables_version;      /* of the registry, whose tables all have their slots */
  uint64_t claims, unknown;     /* newest reading */
  uint64_t looked;              /* at the claims, by the thread that drains */
  uint64_t unknown_written;
  uint64_t settled;             /* tickets below it have come to their slots; others may be on their way */
  uint32_t settle_tries;
  uint32_t until_full;          /* idle drains until all counters are read */
  bool sweep;                   /* the next drain reads and writes everything: an end, a fork */
  uint64_t unknown_before;      /* of slots that were empty then and have a kernel now */
  ink_host_clock start;         /* the clocks at arming */
  bool has_start;
  const ink_module_desc *cost_module;   /* whose measure_cost was used */
  ink_mark_cost costs[INK_I_COSTS_MAX]; /* what marks cost here */
  uint32_t cost_count;
  char cost_note[160];          /* why something was not measured */
  /* Edges of globaltimer that are still to be written. The first are those of arming, which a forked
   * child's capture gets too. */
  struct ink_i_caught *caught[INK_I_CAUGHT_MAX];
  uint32_t caught_count, caught_written;
} ink_i_device;

/* A slot that is free again has this key, which no kernel has: a search goes on behind it. */
#define INK_I_SLOT_GIVEN_BACK UINT64_MAX

/* Addresses on the device. */
static inline ink_kernel_slot *ink_i_device_slots(const ink_i_device *device) {
  return (ink_kernel_slot *)(uintptr_t)((uintptr_t)device->buffer + sizeof(ink_buffer));
}
/* What a header has of slot i. */
static inline uint64_t ink_i_slot_address(const ink_i_device *device, uint32_t i) {
  return (uint64_t)(uintptr_t)device->buffer + i * sizeof(ink_kernel_slot);
}
static inline uint64_t ink_i_device_ring_at(const ink_i_device *device, uint32_t track) {
  return device->layout.rings_end - (uint64_t)(device->layout.tracks_mask + 1 - track) * device->layout.stride;
}
static inline uint64_t ink_i_device_header_at(const ink_i_device *device, uint32_t track) {
  return ink_i_device_ring_at(device, track) - sizeof(ink_device_track);
}
static inline uint64_t ink_i_device_state_at(const ink_i_device *device, uint32_t track) {
  return (uint64_t)(uintptr_t)device->buffer -
         (uint64_t)(device->layout.tracks_mask + 1 - track) * sizeof *device->states;
}

/* What globaltimer is about now, by the host's clock since arming; 0: not known. No call of the CUDA runtime. Of the
 * simulated device, whose time is none of the host's, it is later than its own. */
uint64_t ink_i_device_global_ns(const ink_i_device *device);
/* Fills error for a CUDA call that failed, and takes the error from the runtime. Returns INK_ERROR_CUDA. */
ink_status ink_i_cuda_failed(ink_i_device *device, int code, const char *what, ink_error *error);
/* Of one slot, less what a parent process counted. */
ink_kernel_counts ink_i_counts_of(const ink_i_device *device, uint32_t slot);

#endif
