/* SPDX-License-Identifier: MIT */
/* Edges of globaltimer in a capture: writing and reading their chunk. */
#include "capture/capture_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ------------------------------------------------------------------------------- */

/* What is counted from the SM's first edge; false where it does not fit. */
static bool pack(const ink_edge *edge, const ink_edge *first, ink_file_edge *out) {
  const uint64_t cycles = edge->cycles0 - first->cycles0, width = edge->cycles1 - edge->cycles0;
  const uint64_t ns = edge->global_ns - first->global_ns;
  *out = (ink_file_edge){.cycles = (uint32_t)cycles, .width_cycles = (uint32_t)width,
                         .ns = (uint32_t)ns, .jump_ns = edge->jump_ns};
  return cycles <= UINT32_MAX && width <= UINT32_MAX && ns <= UINT32_MAX && edge->jump_ns;
}

static size_t put_sm(unsigned char *to, const ink_sm_edges *sm) {
  ink_file_sm_edges fixed = {.sm = sm->sm};
  size_t bytes = sizeof fixed;
  if (sm->count) {
    fixed.cycles = sm->edges[0].cycles0;
    fixed.global_ns = sm->edges[0].global_ns;
  }
  for (uint32_t i = 0; i < sm->count; i++) {
    ink_file_edge edge;
    if (!pack(&sm->edges[i], &sm->edges[0], &edge))
      continue;
    memcpy(to + bytes, &edge, sizeof edge);
    bytes += sizeof edge;
    fixed.count++;
  }
  memcpy(to, &fixed, sizeof fixed);
  return bytes;
}

ink_status ink_writer_clock_edges(ink_writer *writer, const ink_clock_edges *edges,
                                  ink_error *error) {
  if (!writer || !edges || (edges->sm_count && !edges->sms))
    return ink_error_set(error, INK_ERROR_ARGUMENT, "no clock edges to write");
  const char *note = edges->note ? edges->note : "";
  size_t most = strlen(note) + 1, bytes = 0;
  for (uint32_t i = 0; i < edges->sm_count; i++)
    most += sizeof(ink_file_sm_edges) + edges->sms[i].count * sizeof(ink_file_edge);
  unsigned char *body = malloc(most);
  if (!body)
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for clock edges");
  for (uint32_t i = 0; i < edges->sm_count; i++)
    bytes += put_sm(body + bytes, &edges->sms[i]);
  memcpy(body + bytes, note, strlen(note) + 1);
  bytes += strlen(note) + 1;
  const ink_file_clock_edges fixed = {.device = edges->device, .when = edges->when,
                                      .realtime_ns = edges->realtime_ns,
                                      .count = edges->sm_count};
  const ink_status status = ink_i_writer_chunk(writer, INK_CHUNK_CLOCK_EDGES, &fixed, sizeof fixed,
                                               body, bytes, error);
  free(body);
  return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Walks the SMs of a payload; counts their edges, and says where the note begins. */
static bool measure(const unsigned char *payload, uint64_t bytes, uint32_t count,
                    uint64_t *edge_count, uint64_t *end) {
  uint64_t at = sizeof(ink_file_clock_edges);
  *edge_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    ink_file_sm_edges sm;
    if (bytes - at < sizeof sm)
      return false;
    memcpy(&sm, payload + at, sizeof sm);
    at += sizeof sm;
    if (sm.count > (bytes - at) / sizeof(ink_file_edge))
      return false;
    at += sm.count * sizeof(ink_file_edge);
    *edge_count += sm.count;
  }
  *end = at;
  return true;
}

static void unpack(const unsigned char *payload, uint32_t count, ink_sm_edges *sms,
                   ink_edge *edges) {
  uint64_t at = sizeof(ink_file_clock_edges);
  for (uint32_t i = 0; i < count; i++) {
    ink_file_sm_edges sm;
    memcpy(&sm, payload + at, sizeof sm);
    at += sizeof sm;
    sms[i] = (ink_sm_edges){.sm = sm.sm, .count = sm.count, .edges = edges};
    for (uint32_t k = 0; k < sm.count; k++, at += sizeof(ink_file_edge)) {
      ink_file_edge edge;
      memcpy(&edge, payload + at, sizeof edge);
      *edges++ = (ink_edge){.cycles0 = sm.cycles + edge.cycles,
                            .cycles1 = sm.cycles + edge.cycles + edge.width_cycles,
                            .global_ns = sm.global_ns + edge.ns,
                            .jump_ns = edge.jump_ns};
    }
  }
}

ink_status ink_read_clock_edges(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                                ink_error *error) {
  ink_file_clock_edges fixed;
  uint64_t edge_count, note_at;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "clock edges that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  if (fixed.count > (bytes - sizeof fixed) / sizeof(ink_file_sm_edges) ||
      !measure(payload, bytes, fixed.count, &edge_count, &note_at))
    return ink_error_set(error, INK_ERROR_DAMAGED, "clock edges that are cut off");
  if (!memchr(payload + note_at, 0, (size_t)(bytes - note_at)))
    return ink_error_set(error, INK_ERROR_DAMAGED, "clock edges without their note");
  /* Both fit in the address space many times over: the file holds them packed. */
  const size_t sms_bytes = fixed.count * sizeof(ink_sm_edges);
  ink_sm_edges *sms = malloc(sms_bytes + (size_t)edge_count * sizeof(ink_edge) + 1);
  if (!sms || !INK_I_ROOM(capture->blocks) || !INK_I_ROOM(capture->clock_edges)) {
    free(sms);
    return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for clock edges");
  }
  capture->blocks.items[capture->blocks.count++] = sms;
  unpack(payload, fixed.count, sms, (ink_edge *)(void *)((char *)sms + sms_bytes));
  capture->clock_edges.items[capture->clock_edges.count++] =
      (ink_clock_edges){.device = fixed.device, .when = fixed.when,
                        .realtime_ns = fixed.realtime_ns, .sm_count = fixed.count, .sms = sms,
                        .note = (const char *)payload + note_at};
  return INK_OK;
}

size_t ink_capture_clock_edges(const ink_capture *capture, const ink_clock_edges **out) {
  *out = capture->clock_edges.items;
  return capture->clock_edges.count;
}
