/* SPDX-License-Identifier: MIT */
/* Private: memory of the host in which kernels keep headers and rings (`record --flight`). It outlives the device's
 * memory, and where a writer process holds it too, the recorded process. Here is its layout, and how what is in it
 * comes into the capture without any call of the CUDA runtime. */
#ifndef INK_SHM_FLIGHT_AREA_H
#define INK_SHM_FLIGHT_AREA_H

#include "inkmark/capture.h"

#define INK_I_FLIGHT_MAGIC UINT64_C(0x746867696c666b6e)
enum { INK_I_FLIGHT_VERSION = 2 };

/* What was written of one kernel slot's closed tracks, and what was counted of it when that was last read. */
typedef struct ink_i_flight_kernel {
  uint64_t key, missed, tracks, words, extra;
  uint64_t counted_tracks, counted_marks, counted_words;
} ink_i_flight_kernel;

/* In front of the area. Offsets are bytes from here. */
typedef struct ink_i_flight_head {
  uint64_t magic;
  uint32_t version, layout;     /* INK_LAYOUT_VERSION */
  ink_device_info info;         /* without its name */
  uint64_t buffer_at;           /* the buffer's address on the device */
  uint64_t stride, rings_at;    /* of track 0's ring; its header is in front of it */
  uint64_t kernels_at;          /* ink_i_flight_kernel[slot_count] */
  uint64_t written_at;          /* uint64_t[info.track_count]: ticket + 1 of the closed track last written */
  uint64_t bytes;               /* of the whole area */
  uint64_t claims, unknown;     /* as the last drain had them */
  uint64_t seen_ns;             /* globaltimer, about, of the last drain; 0: not known */
  uint32_t slot_count;
  uint32_t ended;               /* nothing is left to be written */
} ink_i_flight_head;

/* Where everything is, in `head`, of which info.track_count, info.records_per_track and slot_count are set; `align`
 * is what the rings are aligned to, counted from the head's own address. The bytes that it takes. */
uint64_t ink_i_flight_place(ink_i_flight_head *head, uint64_t address, uint64_t stride);

static inline ink_device_track *ink_i_flight_header(const ink_i_flight_head *head, uint32_t track) {
  return (ink_device_track *)((uintptr_t)head + head->rings_at + (uint64_t)track * head->stride -
                              sizeof(ink_device_track));
}
static inline ink_i_flight_kernel *ink_i_flight_kernels(const ink_i_flight_head *head) {
  return (ink_i_flight_kernel *)((uintptr_t)head + head->kernels_at);
}
static inline uint64_t *ink_i_flight_written(const ink_i_flight_head *head) {
  return (uint64_t *)((uintptr_t)head + head->written_at);
}

/* Of a header that was wiped with ones before its track opened: whether all of the opening is there, and whether
 * all of the closing is, rings included. */
static inline uint64_t ink_i_header_aux_bytes(const ink_device_track *h) {
  return h->sm_close & INK_CLOSED_CALLED ? h->aux_bytes : 0;
}
bool ink_i_header_opened(const ink_device_track *header);
bool ink_i_header_closed(const ink_device_track *header);
/* As the capture has it; `state` is that of enum ink_track_state. */
ink_track ink_i_track_of_header(const ink_device_track *header, uint32_t kernel, uint32_t state);

/* Writes every track of the area that is not in the capture yet, closed ones and what is certain of open ones, and
 * the counts. No kernel records to it any more: it trapped (`cut`), or its process is gone. Of an area from another
 * process nothing is believed; INK_ERROR_DAMAGED: it cannot be read. The writer has been told of the device, once: told again it would count anew. */
ink_status ink_i_flight_write_rest(const void *area, size_t bytes, bool cut, ink_writer *writer, uint64_t *tracks,
                                   ink_error *error);

#endif
