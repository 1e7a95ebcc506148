/* SPDX-License-Identifier: MIT */
/* Reads headers and rings that kernels kept in memory of the host, after the kernels. */
#include "shm/flight_area.h"

#include "capture/capture_write.h"
#include "decode/open_ring.h"

#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

uint64_t ink_i_flight_place(ink_i_flight_head *head, uint64_t address, uint64_t stride) {
  const uint64_t ring_bytes = (uint64_t)head->info.records_per_track * 8;
  head->stride = stride;
  head->kernels_at = round_up(sizeof *head, 64);
  head->written_at = head->kernels_at + head->slot_count * sizeof(ink_i_flight_kernel);
  const uint64_t tracks_at = head->written_at + head->info.track_count * sizeof(uint64_t) + sizeof(ink_device_track);
  head->rings_at = round_up(address + tracks_at, ring_bytes) - address;
  head->bytes = tracks_at + ring_bytes + head->info.track_count * stride;
  return head->bytes;
}

/* ---- headers ---- */

bool ink_i_header_opened(const ink_device_track *h) {
  const uint64_t wide[] = {h->state_at, h->slot, h->ticket, h->grid_id, h->open_clock0, h->open_global_ns};
  const uint32_t narrow[] = {h->thread_index, h->grid_dim[0],    h->grid_dim[1],    h->grid_dim[2],
                             h->sm_open,      h->block_dim[0],   h->block_dim[1],   h->block_dim[2],
                             h->cluster_rank, h->block_index[0], h->block_index[1], h->block_index[2],
                             h->name_rows};
  bool whole = true;
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    whole = whole && wide[i] != INK_UNWRITTEN;
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    whole = whole && narrow[i] != UINT32_MAX;
  return whole;
}

bool ink_i_header_closed(const ink_device_track *h) {
  return h->closing != UINT32_MAX && ink_i_header_opened(h);
}

/* Extends `low`, the low 32 bits of a clock that was read soon after `clock0`, to 64 bits. */
static uint64_t soon_after(uint64_t clock0, uint32_t low) {
  return clock0 + (uint32_t)(low - (uint32_t)clock0);
}

static uint32_t linear_thread(const ink_device_track *h) {
  const uint32_t x = h->thread_index & 1023, y = h->thread_index >> 10 & 1023, z = h->thread_index >> 20;
  return x + h->block_dim[0] * (y + h->block_dim[1] * z);
}

ink_track ink_i_track_of_header(const ink_device_track *h, uint32_t kernel, uint32_t state) {
  ink_track track = {.state = state,
                     .kernel = kernel,
                     .ticket = h->ticket,
                     .grid_id = h->grid_id,
                     .thread = linear_thread(h),
                     .cluster_rank = h->cluster_rank,
                     .role = h->role_ticket == h->ticket ? h->role : 0,
                     .instance = h->instance == INK_UNWRITTEN ? 0 : h->instance,
                     .flags = (h->name_rows & ((1u << INK_ROWS_BITS) - 1)) << INK_TRACK_ROWS_SHIFT,
                     .sm_open = h->sm_open,
                     .open_clock0 = h->open_clock0,
                     .open_global_ns = h->open_global_ns,
                     .open_clock1 = soon_after(h->open_clock0, h->open_clock1)};
  memcpy(track.grid_dim, h->grid_dim, sizeof track.grid_dim);
  memcpy(track.block_dim, h->block_dim, sizeof track.block_dim);
  memcpy(track.block_index, h->block_index, sizeof track.block_index);
  if (state != INK_TRACK_CLOSED)
    return track;
  track.sm_close = h->sm_close & ~INK_CLOSED_CALLED;
  track.close_clock0 = h->close_clock0;
  track.close_global_ns = h->close_global_ns;
  track.close_clock1 = soon_after(h->close_clock0, h->close_clock1);
  track.words = h->bytes / 8;
  track.extra = h->extra;
  if (h->sm_close & INK_CLOSED_CALLED) {
    track.aux_words = h->aux_bytes / 8;
    track.aux_extra = h->aux_extra;
  }
  return track;
}

/* ---- the rest of an area ---- */

typedef struct rest {
  ink_i_flight_head head;      /* a copy: what stands in the area may change */
  const unsigned char *area;
  ink_i_flight_kernel *kernels; /* copies */
  bool *named;
  uint64_t *body, *aux;        /* room for a ring each */
  bool cut;
  ink_writer *writer;
  uint64_t tracks;
} rest;

static bool fits(uint64_t at, uint64_t n, uint64_t size, uint64_t bytes) {
  return at <= bytes && n <= (bytes - at) / size;
}

static bool is_power(uint64_t n) { return n && !(n & (n - 1)); }

static bool is_sound(const ink_i_flight_head *h, uint64_t bytes) {
  const uint64_t ring_bytes = (uint64_t)h->info.records_per_track * 8;
  return h->magic == INK_I_FLIGHT_MAGIC && h->version == INK_I_FLIGHT_VERSION && h->layout == INK_LAYOUT_VERSION &&
         is_power(h->info.records_per_track) && ring_bytes <= bytes && h->info.track_count && h->slot_count &&
         h->info.aux_records_per_track == h->info.records_per_track &&
         h->stride >= 2 * ring_bytes + sizeof(ink_device_track) && h->stride <= bytes && h->stride % 8 == 0 &&
         h->rings_at >= sizeof(ink_device_track) && h->rings_at % 8 == 0 && h->kernels_at % 8 == 0 &&
         h->written_at % 8 == 0 && fits(h->rings_at, h->info.track_count, h->stride, bytes) &&
         fits(h->kernels_at, h->slot_count, sizeof(ink_i_flight_kernel), bytes) &&
         fits(h->written_at, h->info.track_count, sizeof(uint64_t), bytes);
}

/* The header of a track, and the number of its kernel's slot; false: there is none that can be told. */
static bool read_header(const rest *r, uint32_t track, ink_device_track *out, uint32_t *kernel) {
  const unsigned char *at = r->area + r->head.rings_at + (uint64_t)track * r->head.stride;
  memcpy(out, at - sizeof *out, sizeof *out);
  if (!ink_i_header_opened(out) || out->slot < r->head.buffer_at)
    return false;
  const uint64_t index = (out->slot - r->head.buffer_at) / sizeof(ink_kernel_slot);
  *kernel = (uint32_t)index;
  return index < r->head.slot_count && r->kernels[index].key;
}

static bool is_written(const rest *r, uint32_t track, uint64_t ticket) {
  uint64_t written;
  memcpy(&written, r->area + r->head.written_at + track * sizeof written, sizeof written);
  return written == ticket + 1;
}

static ink_status write_counts(rest *r, ink_error *error) {
  ink_kernel_counts *counts = calloc(r->head.slot_count, sizeof *counts);
  if (!counts)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the kernels' counts");
  size_t n = 0;
  for (uint32_t track = 0; track < r->head.info.track_count; track++) {
    ink_device_track h;
    uint32_t kernel;
    if (!read_header(r, track, &h, &kernel))
      continue;
    r->named[kernel] = true;
    if (!ink_i_header_closed(&h) || is_written(r, track, h.ticket))
      continue;
    r->kernels[kernel].tracks++;
    r->kernels[kernel].words += (h.bytes + h.aux_bytes) / 8;
    r->kernels[kernel].extra += h.extra + h.aux_extra;
  }
  for (uint32_t i = 0; i < r->head.slot_count; i++) {
    const ink_i_flight_kernel *k = &r->kernels[i];
    if (!k->key || !(r->named[i] || k->tracks || k->missed))
      continue;
    ink_kernel_counts *c = &counts[n++];
    *c = (ink_kernel_counts){.device = r->head.info.index, .slot = i, .key = k->key, .missed = k->missed,
                             .tracks = k->tracks, .marks = k->words - k->extra, .words = k->words};
    if (k->counted_tracks > k->tracks) { /* a counter never falls: what it had more was lost */
      c->tracks = k->counted_tracks;
      c->marks = k->counted_marks;
      c->words = k->counted_words;
    }
  }
  const ink_status status = n ? ink_writer_counts(r->writer, counts, n, r->head.claims, r->head.unknown,
                                                  r->head.info.index, error)
                              : INK_OK;
  free(counts);
  return status;
}

static ink_status find_words(const rest *r, const ink_track *track, const uint64_t *words, bool called,
                             uint64_t *to, ink_open_words *found, ink_error *error) {
  const ink_open_ring ring = {.words = words,
                              .records = r->head.info.records_per_track,
                              .open_clock = track->open_clock1,
                              .clock_most = UINT64_MAX,
                              .wiped = true,
                              .rows = called ? 0 : INK_TRACK_ROWS(track),
                              .called = called};
  *found = (ink_open_words){0};
  return ink_i_open_ring_find(&ring, to, found, error);
}

static ink_status write_open(rest *r, ink_track *track, const uint64_t *ring, ink_error *error) {
  ink_open_words body, aux;
  ink_status status = find_words(r, track, ring, false, r->body, &body, error);
  if (!status)
    status = find_words(r, track, ring + r->head.info.records_per_track, true, r->aux, &aux, error);
  if (status)
    return status;
  track->words = body.first + body.count;
  track->aux_words = aux.first + aux.count;
  track->close_global_ns = r->head.seen_ns > track->open_global_ns ? r->head.seen_ns : 0;
  track->flags |= (body.exact && aux.exact ? 0u : INK_TRACK_LOST_OLDER) |
                 (body.newest && aux.newest ? INK_TRACK_NEWEST : 0u) | (r->cut ? INK_TRACK_CUT : 0u);
  return ink_writer_open_track(r->writer, r->head.info.index, track, r->body, body.count, r->aux, aux.count, error);
}

static ink_status write_tracks(rest *r, ink_error *error) {
  ink_status status = INK_OK;
  for (uint32_t i = 0; i < r->head.info.track_count && !status; i++) {
    ink_device_track h;
    uint32_t kernel;
    if (!read_header(r, i, &h, &kernel))
      continue;
    const uint64_t *ring =
        (const uint64_t *)(const void *)(r->area + r->head.rings_at + (uint64_t)i * r->head.stride);
    const bool closed = ink_i_header_closed(&h);
    ink_track track = ink_i_track_of_header(&h, kernel, closed ? INK_TRACK_CLOSED : INK_TRACK_OPEN);
    if (closed && is_written(r, i, h.ticket))
      continue;
    status = closed ? ink_writer_track(r->writer, r->head.info.index, &track, ring,
                                       ring + r->head.info.records_per_track, error)
                    : write_open(r, &track, ring, error);
    r->tracks += !status;
  }
  return status;
}

static ink_status prepare(rest *r, ink_error *error) {
  const ink_i_flight_head *h = &r->head;
  r->kernels = malloc(h->slot_count * sizeof *r->kernels);
  r->named = calloc(h->slot_count, sizeof *r->named);
  r->body = malloc((size_t)h->info.records_per_track * 8);
  r->aux = malloc((size_t)h->info.records_per_track * 8);
  if (!r->kernels || !r->named || !r->body || !r->aux)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for what a device left");
  memcpy(r->kernels, r->area + h->kernels_at, h->slot_count * sizeof *r->kernels);
  return INK_OK;
}

static ink_status ruined(ink_error *error) {
  return ink_error_set(error, INK_ERROR_DAMAGED, "the memory of a device's rings was ruined by the program");
}

ink_status ink_i_flight_write_rest(const void *area, size_t bytes, bool cut, ink_writer *writer, uint64_t *tracks,
                                   ink_error *error) {
  rest r = {.area = area, .cut = cut, .writer = writer};
  *tracks = 0;
  if (bytes < sizeof r.head)
    return INK_OK;
  memcpy(&r.head, area, sizeof r.head);
  if (!r.head.magic)
    return INK_OK;
  if (!is_sound(&r.head, bytes) || r.head.ended > 1)
    return ruined(error);
  if (r.head.ended)
    return INK_OK;
  uint32_t records, aux_records;
  if (!ink_i_writer_rings(writer, r.head.info.index, &records, &aux_records)) /* it was not even armed */
    return INK_OK;
  if (records != r.head.info.records_per_track || aux_records != r.head.info.aux_records_per_track)
    return ruined(error);
  ink_status status = prepare(&r, error);
  if (!status)
    status = write_counts(&r, error);
  if (!status)
    status = write_tracks(&r, error);
  if (!status)
    status = ink_writer_flush(writer, error);
  *tracks = r.tracks;
  free(r.kernels);
  free(r.named);
  free(r.body);
  free(r.aux);
  return status;
}
