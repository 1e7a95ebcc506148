/* SPDX-License-Identifier: MIT */
/* Indexes the tracks of a capture: where they stand in the file, to which launch each belongs, and the stable order
 * in which readers get them. */
#include "block_sample.h"
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture's tracks");
}

/* If a later entry replaces the entry of an open track, the ring words of the earlier one are kept. */
static ink_status add_open_words(ink_capture *capture, int32_t device, const ink_file_track *track,
                                 uint64_t offset, ink_error *error) {
  const ink_track *h = &track->header;
  part_ref part = {.offset = offset, .count = track->ring_words, .ticket = h->ticket,
                   .open_clock0 = h->open_clock0, .device = device,
                   .first = h->words > track->ring_words ? h->words - track->ring_words : 0,
                   .lost = h->flags & INK_TRACK_LOST_OLDER};
  const ink_status status = ink_i_add_part(capture, &part, error);
  if (status != INK_OK)
    return status;
  part.offset += track->ring_words * 8;
  part.count = track->aux_words;
  part.first = h->aux_words > track->aux_words ? h->aux_words - track->aux_words : 0;
  part.ring = 1;
  return ink_i_add_part(capture, &part, error);
}

ink_status ink_read_tracks(ink_capture *capture, const unsigned char *payload, uint64_t bytes, bool brief,
                           ink_error *error) {
  const size_t head = brief ? INK_FILE_TRACK_1 : sizeof(ink_file_track);
  ink_file_tracks fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds tracks that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  uint64_t at = sizeof fixed;
  for (uint64_t i = 0; i < fixed.count; i++) {
    ink_file_track track = {0};
    if (bytes - at < head)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds fewer tracks than it claims");
    memcpy(&track, payload + at, head);
    uint64_t room = (bytes - at - head) / 8;
    if (track.ring_words > room || track.aux_words > room - track.ring_words)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds a track longer than itself");
    if (capture->tracks.count >= INK_ID_NONE - 1)
      return ink_error_set(error, INK_ERROR_LIMIT, "the capture holds too many tracks");
    if (!INK_I_ROOM(capture->tracks))
      return no_memory(error);
    capture->tracks.items[capture->tracks.count++] = (track_ref){
        .offset = (uint64_t)(payload + at - capture->bytes), .device = fixed.device,
        .flags = fixed.flags, .launch = capture->armings, .brief = brief,
        .instance = ink_instance_of(capture, fixed.device, track.header.instance),
        .kernel = id_map_get(&capture->slot_map, ink_slot_key(fixed.device, track.header.kernel))};
    if (track.header.state == INK_TRACK_OPEN && track.ring_words + track.aux_words) {
      ink_status status = add_open_words(capture, fixed.device, &track,
                                         (uint64_t)(payload + at + head - capture->bytes), error);
      if (status != INK_OK)
        return status;
    }
    at += head + (track.ring_words + track.aux_words) * 8;
  }
  return INK_OK;
}

/* Tickets are far below 2^56, devices below 2^8. */
static uint64_t ended_key(int32_t device, uint64_t ticket) {
  return (uint64_t)(uint32_t)device << 56 ^ ticket;
}

ink_status ink_read_ended(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error) {
  ink_file_ended fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds tracks that ended without their number");
  memcpy(&fixed, payload, sizeof fixed);
  if (bytes - sizeof fixed != fixed.count * sizeof(uint64_t))
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds another number of ended tracks than it claims");
  for (uint32_t i = 0; i < fixed.count; i++) {
    uint64_t ticket;
    memcpy(&ticket, payload + sizeof fixed + i * sizeof ticket, sizeof ticket);
    if (!id_map_put(&capture->ended, ended_key(fixed.device, ticket), (uint32_t)capture->tracks.count))
      return no_memory(error);
  }
  return INK_OK;
}

/* If a track was stored open and has ended since, the counts hold it as closed: it is stored again as closed, or it
 * is lost. */
void ink_drop_ended(ink_capture *capture) {
  size_t kept = 0;
  ink_walk walk = {0};
  for (size_t i = 0; i < capture->tracks.count && capture->ended.count; i++) {
    const ink_track *track = &ink_track_at(capture, i)->header;
    ink_walk_track(&walk, capture, i);
    const uint32_t before =
        track->state == INK_TRACK_CLOSED
            ? INK_ID_NONE
            : id_map_get(&capture->ended, ended_key(capture->tracks.items[i].device, track->ticket));
    if (before == INK_ID_NONE || i >= before)
      capture->tracks.items[kept++] = capture->tracks.items[i];
  }
  if (capture->ended.count)
    capture->tracks.count = kept;
  id_map_free(&capture->ended);
}

/* ---- launches ------------------------------------------------------------------------------ */

/* What tracks are sorted by, taken out of the file once. */
typedef struct sort_key {
  uint64_t grid_id, ticket, block;
  uint64_t dims;        /* grid and block dimensions, mixed */
  uint64_t open_ns, close_ns; /* of an open one close_ns is the end of time */
  uint32_t thread, kernel, launch, arming, sm;
  int32_t device;
  bool closed;
} sort_key;

typedef struct sorter {
  const sort_key *keys;
} sorter;

#define INK_I_COMPARE(a, b)                                                                        \
  if ((a) != (b))                                                                                  \
  return (a) < (b) ? -1 : 1

static int compare_group(const sort_key *a, const sort_key *b) {
  INK_I_COMPARE(a->device, b->device);
  INK_I_COMPARE(a->arming, b->arming);
  INK_I_COMPARE(a->grid_id, b->grid_id);
  INK_I_COMPARE(a->dims, b->dims);
  return 0;
}

/* Group, then the order of claims: a replay claims its tracks after the one before it. */
static int by_claim(const void *left, const void *right, void *user) {
  const sort_key *keys = ((const sorter *)user)->keys;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  int order = compare_group(&keys[i], &keys[j]);
  if (order)
    return order;
  INK_I_COMPARE(keys[i].ticket, keys[j].ticket);
  INK_I_COMPARE(keys[i].open_ns, keys[j].open_ns);
  INK_I_COMPARE(keys[j].closed, keys[i].closed); /* a closed one first: it replaces the open ones */
  if (!keys[i].closed)
    INK_I_COMPARE(j, i);                         /* and the newest of these the others */
  INK_I_COMPARE(i, j);
  return 0;
}

static int by_launch(const void *left, const void *right, void *user) {
  const sort_key *keys = ((const sorter *)user)->keys;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  INK_I_COMPARE(keys[i].launch, keys[j].launch);
  INK_I_COMPARE(keys[i].block, keys[j].block);
  INK_I_COMPARE(keys[i].thread, keys[j].thread);
  INK_I_COMPARE(keys[i].ticket, keys[j].ticket);
  INK_I_COMPARE(i, j);
  return 0;
}

static int launch_order(const void *left, const void *right, void *user) {
  const ink_launch *launches = user;
  uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
  INK_I_COMPARE(launches[i].device, launches[j].device);
  INK_I_COMPARE(launches[i].first_open_global_ns, launches[j].first_open_global_ns);
  INK_I_COMPARE(launches[i].grid_id, launches[j].grid_id);
  INK_I_COMPARE(i, j);
  return 0;
}

static sort_key key_of(const ink_capture *capture, uint64_t index) {
  const track_ref *ref = &capture->tracks.items[index];
  const ink_track *track = &ink_track_at(capture, index)->header;
  sort_key key = {.grid_id = track->grid_id, .ticket = track->ticket,
                  .block = ink_linear_block(track), .open_ns = track->open_global_ns,
                  .thread = track->thread, .kernel = ref->kernel, .device = ref->device,
                  .arming = ref->launch, .sm = track->sm_open,
                  .closed = track->state == INK_TRACK_CLOSED};
  key.close_ns = key.closed ? track->close_global_ns : UINT64_MAX;
  for (int i = 0; i < 3; i++)
    key.dims = ink_mix64(ink_mix64(key.dims + track->grid_dim[i]) + track->block_dim[i]);
  return key;
}

/* The same claim, stored several times: while it was open, then closed. */
static bool same_claim(const ink_capture *capture, const sort_key *keys, uint32_t i, uint32_t j) {
  const sort_key *a = &keys[i], *b = &keys[j];
  return compare_group(a, b) == 0 && a->ticket == b->ticket && a->open_ns == b->open_ns &&
         a->block == b->block && a->thread == b->thread &&
         ink_track_at(capture, i)->header.open_clock0 ==
             ink_track_at(capture, j)->header.open_clock0;
}

static uint32_t one_of(const ink_capture *capture, const track_ref *ref, const ink_track *track) {
  for (size_t i = 0; i < capture->devices.count; i++)
    if (capture->devices.items[i].index == ref->device) {
      const uint32_t tracks = capture->devices.items[i].track_count;
      const uint32_t log2 = ink_sample_log2(ref->flags, tracks, track->grid_dim, track->block_dim);
      return UINT32_C(1) << (log2 < 31 ? log2 : 31);
    }
  return 1;
}

static ink_status new_launch(ink_capture *capture, const sort_key *key, uint32_t index,
                             ink_error *error) {
  if (!INK_I_ROOM(capture->launches))
    return no_memory(error);
  const ink_track *track = &ink_track_at(capture, index)->header;
  ink_launch launch = {.device = key->device, .kernel = key->kernel, .grid_id = key->grid_id,
                       .first_open_global_ns = UINT64_MAX, .at_most = 1,
                       .one_of = one_of(capture, &capture->tracks.items[index], track)};
  memcpy(launch.grid_dim, track->grid_dim, sizeof launch.grid_dim);
  memcpy(launch.block_dim, track->block_dim, sizeof launch.block_dim);
  capture->launches.items[capture->launches.count++] = launch;
  return INK_OK;
}

static void join_launch(ink_capture *capture, sort_key *key) {
  uint32_t last = (uint32_t)capture->launches.count - 1;
  ink_launch *launch = &capture->launches.items[last];
  key->launch = last;
  launch->track_count++;
  if (launch->one_of > 1 && !ink_sample_has((uint32_t)__builtin_ctz(launch->one_of), (uint32_t)key->block))
    launch->one_of = 1; /* recorded by code that knows of no sample */
  if (key->open_ns < launch->first_open_global_ns)
    launch->first_open_global_ns = key->open_ns;
  if (key->closed && key->close_ns > launch->last_close_global_ns)
    launch->last_close_global_ns = key->close_ns;
}

/* The tracks of one grid id, in the order of their claims, while the first launch in them is looked for. */
typedef struct walk_state {
  id_map threads, blocks; /* (block, thread), block: where in the order it opened last */
  uint64_t last_close_ns; /* of all so far */
  uint32_t border;        /* the newest place in front of which all had closed */
  uint32_t part;          /* where the newest of the launches that it may be begins */
  uint32_t parts;
} walk_state;

/* Takes the track at `at`. Returns UINT32_MAX if the track may belong to the launch. Otherwise returns where the next
 * launch must have begun, because a block stays on its SM. */
static uint32_t take_track(walk_state *w, const sort_key *keys, const uint32_t *order, uint32_t at, bool *fine) {
  const sort_key *key = &keys[order[at]];
  const uint64_t thread = ink_mix64(key->block) + key->thread;
  const uint32_t block_before = id_map_get(&w->blocks, key->block), before = id_map_get(&w->threads, thread);
  if (w->last_close_ns <= key->open_ns)
    w->border = at;
  if (block_before != INK_ID_NONE && w->border > block_before && keys[order[block_before]].sm != key->sm)
    return w->border;
  if (before != INK_ID_NONE && w->border > before && before >= w->part) {
    w->parts++;
    w->part = w->border;
  }
  if (key->close_ns > w->last_close_ns)
    w->last_close_ns = key->close_ns;
  *fine = id_map_put(&w->threads, thread, at) && id_map_put(&w->blocks, key->block, at);
  return UINT32_MAX;
}

/* Whether no block comes twice in the group, as far as a bit for each block is cheap: nothing splits such a one, and the
 * maps of walk_state would take most of the memory of a large capture. */
static bool is_each_block_once(const sort_key *keys, const uint32_t *order, uint32_t from, uint32_t to, bool *fine) {
  uint64_t most = 0;
  for (uint32_t at = from; at < to; at++)
    most = keys[order[at]].block > most ? keys[order[at]].block : most;
  if (most / 64 > to - from)
    return false;
  uint64_t *seen = calloc((size_t)(most / 64) + 1, sizeof *seen);
  bool once = *fine = seen != NULL;
  for (uint32_t at = from; at < to && once; at++) {
    const uint64_t block = keys[order[at]].block, bit = UINT64_C(1) << block % 64;
    once = !(seen[block / 64] & bit);
    seen[block / 64] |= bit;
  }
  free(seen);
  return once;
}

/* The tracks of one grid id are one launch, unless a block came back on another SM when all had closed. If all had
 * closed and a thread opened a track again on the same SM, there may be another launch: this is reported, not
 * decided. */
static ink_status split_group(ink_capture *capture, sort_key *keys, const uint32_t *order, uint32_t from, uint32_t to,
                              ink_error *error) {
  ink_status status = INK_OK;
  bool fine = true;
  const bool whole = is_each_block_once(keys, order, from, to, &fine);
  if (!fine)
    return no_memory(error);
  while (from < to && status == INK_OK) {
    walk_state w = {.border = from, .part = from, .parts = 1};
    uint32_t end = to;
    for (uint32_t at = from; at < end && fine && !whole; at++) {
      const uint32_t next = take_track(&w, keys, order, at, &fine);
      end = next < end ? next : end;
    }
    w.parts -= w.part >= end && w.parts > 1; /* it began where the next launch does */
    id_map_free(&w.threads);
    id_map_free(&w.blocks);
    status = fine ? new_launch(capture, &keys[order[from]], order[from], error) : no_memory(error);
    for (uint32_t at = from; at < end && status == INK_OK; at++)
      join_launch(capture, &keys[order[at]]);
    if (status == INK_OK)
      capture->launches.items[capture->launches.count - 1].at_most = w.parts;
    from = end;
  }
  return status;
}

/* Each claim once, then launch by launch. */
static ink_status split_launches(ink_capture *capture, sort_key *keys, uint32_t *order,
                                 uint32_t *count, ink_error *error) {
  ink_status status = INK_OK;
  uint32_t kept = 0;
  ink_walk walk = {0};
  for (uint32_t n = 0; n < *count; n++) {
    ink_walk_track(&walk, capture, order[n]);
    if (!kept || !same_claim(capture, keys, order[kept - 1], order[n]))
      order[kept++] = order[n];
  }
  *count = kept;
  for (uint32_t from = 0, to; from < kept && status == INK_OK; from = to) {
    for (to = from + 1; to < kept && !compare_group(&keys[order[from]], &keys[order[to]]); to++)
      ;
    status = split_group(capture, keys, order, from, to, error);
  }
  return status;
}

/* Of the tracks [first, end) of one block: those whose role some other thread of it has too. */
static bool find_alike(ink_capture *capture, uint64_t first, uint64_t end) {
  track_ref *tracks = capture->tracks.items;
  id_map by_role = {0};
  bool fine = true;
  for (uint64_t i = first; i < end && fine; i++) {
    const uint64_t role = ink_track_role(capture, i);
    const uint32_t known = role ? id_map_get(&by_role, role) : INK_ID_NONE;
    if (known != INK_ID_NONE && ink_track_at(capture, known)->header.thread != ink_track_at(capture, i)->header.thread)
      tracks[known].alike = true;
    if (role && known == INK_ID_NONE)
      fine = id_map_put(&by_role, role, (uint32_t)i);
  }
  for (uint64_t i = first; i < end && fine && by_role.count; i++) {
    const uint64_t role = ink_track_role(capture, i);
    tracks[i].alike = role && tracks[id_map_get(&by_role, role)].alike;
  }
  id_map_free(&by_role);
  return fine;
}

/* A kernel has the launches that it has tracks in. A role is written with its warp where a block has several of it. */
static ink_status count_launches(ink_capture *capture, ink_error *error) {
  const track_ref *tracks = capture->tracks.items;
  const uint64_t n = capture->tracks.count;
  uint32_t *last = malloc((capture->kernels.count + 1) * sizeof *last);
  bool fine = last != NULL;
  for (size_t i = 0; i < capture->kernels.count && fine; i++)
    last[i] = UINT32_MAX;
  ink_walk walk = {0};
  for (uint64_t first = 0, end; first < n && fine; first = end) {
    const uint64_t block = ink_linear_block(&ink_track_at(capture, first)->header);
    for (end = first; end < n && tracks[end].launch == tracks[first].launch &&
                      ink_linear_block(&ink_track_at(capture, end)->header) == block; end++) {
      ink_walk_track(&walk, capture, end);
      if (last[tracks[end].kernel] != tracks[end].launch)
        capture->kernels.items[tracks[end].kernel].launches++;
      last[tracks[end].kernel] = tracks[end].launch;
    }
    if (end - first > 1)
      fine = find_alike(capture, first, end);
  }
  free(last);
  return fine ? INK_OK : no_memory(error);
}

/* Puts the launches into their final order and renumbers the tracks' launches. */
static ink_status order_launches(ink_capture *capture, sort_key *keys, const uint32_t *tracks,
                                 uint32_t track_count, ink_error *error) {
  size_t n = capture->launches.count;
  uint32_t *order = malloc((n + 1) * sizeof *order), *rank = malloc((n + 1) * sizeof *rank);
  ink_launch *sorted = malloc((n + 1) * sizeof *sorted);
  ink_status status = INK_OK;
  if (!order || !rank || !sorted) {
    status = no_memory(error);
    goto cleanup;
  }
  for (size_t i = 0; i < n; i++)
    order[i] = (uint32_t)i;
  qsort_r(order, n, sizeof *order, launch_order, capture->launches.items);
  for (size_t i = 0; i < n; i++) {
    sorted[i] = capture->launches.items[order[i]];
    rank[order[i]] = (uint32_t)i;
  }
  if (n)
    memcpy(capture->launches.items, sorted, n * sizeof *sorted);
  for (uint32_t i = 0; i < track_count; i++)
    keys[tracks[i]].launch = rank[keys[tracks[i]].launch];
cleanup:
  free(order);
  free(rank);
  free(sorted);
  return status;
}

ink_status ink_index_launches(ink_capture *capture, ink_error *error) {
  uint32_t count = (uint32_t)capture->tracks.count;
  sort_key *keys = malloc(((size_t)count + 1) * sizeof *keys);
  uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
  ink_status status = keys && order ? INK_OK : no_memory(error);
  ink_walk walk = {0};
  for (uint32_t i = 0; i < count && status == INK_OK; i++) {
    ink_walk_track(&walk, capture, i);
    keys[i] = key_of(capture, i);
    order[i] = i;
  }
  sorter user = {keys};
  if (status == INK_OK) {
    qsort_r(order, count, sizeof *order, by_claim, &user);
    status = split_launches(capture, keys, order, &count, error);
  }
  ink_capture_release_pages(capture);
  if (status == INK_OK)
    status = order_launches(capture, keys, order, count, error);
  if (status == INK_OK) {
    qsort_r(order, count, sizeof *order, by_launch, &user);
    track_ref *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (!sorted) {
      status = no_memory(error);
    } else {
      for (uint32_t i = 0; i < count; i++) {
        sorted[i] = capture->tracks.items[order[i]];
        sorted[i].launch = keys[order[i]].launch;
      }
      free(capture->tracks.items);
      capture->tracks.items = sorted;
      capture->tracks.count = count;
      capture->tracks.capacity = (size_t)count + 1;
      status = count_launches(capture, error);
    }
  }
  free(keys);
  free(order);
  return status;
}

/* ---- asking -------------------------------------------------------------------------------- */

size_t ink_capture_launches(const ink_capture *capture, const ink_launch **out) {
  *out = capture->launches.items;
  return capture->launches.count;
}

uint64_t ink_capture_track_count(const ink_capture *capture) { return capture->tracks.count; }

/* Any number of threads may ask: whoever comes to the limit gives the pages back, which are the file's own. */
static void note_touched(const ink_capture *capture, const ink_file_track *track) {
  uint64_t *touched = (uint64_t *)&capture->touched_bytes;
  const uint64_t bytes = sizeof *track + 8 * (uint64_t)(track->ring_words + track->aux_words);
  if (__atomic_add_fetch(touched, bytes, __ATOMIC_RELAXED) <= INK_WALK_BYTES)
    return;
  __atomic_store_n(touched, 0, __ATOMIC_RELAXED);
  ink_capture_release_pages(capture);
}

void ink_capture_track(const ink_capture *capture, uint64_t index, ink_stored_track *out) {
  const track_ref *ref = &capture->tracks.items[index];
  const ink_file_track *track = ink_track_at(capture, index);
  const uint64_t *words = (const uint64_t *)(const void *)((const unsigned char *)track + ink_track_head(ref));
  const uint32_t role = ink_role_section(capture, ink_track_role(capture, index));
  *out = (ink_stored_track){.device = ref->device, .launch = ref->launch, .kernel = ref->kernel, .role = role,
                            .role_name = role == INK_SECTION_UNKNOWN ? NULL : capture->sections.items[role].name,
                            .role_shared = ref->alike,
                            .ring = words, .ring_words = track->ring_words,
                            .aux = words + track->ring_words, .aux_words = track->aux_words,
                            .flags = ref->flags};
  memcpy(&out->header, &track->header, ink_track_head(ref) - offsetof(ink_file_track, header));
  const joined_track *joined = capture->joined.count ? ink_i_joined(capture, index) : NULL;
  note_touched(capture, track);
  if (!joined)
    return;
  for (int ring = 0; ring < 2; ring++) {
    out->pieces[ring] = joined->pieces[ring];
    out->piece_count[ring] = joined->piece_count[ring];
  }
  if (track->header.state != INK_TRACK_CLOSED &&
      (joined->executed[0] > track->header.words || joined->executed[1] > track->header.aux_words))
    out->header.flags &= ~(uint32_t)INK_TRACK_NEWEST; /* of what came after it nobody said so */
  out->header.words = joined->executed[0];
  out->header.aux_words = joined->executed[1];
  const ink_piece none = {.words = words};
  const ink_piece *last[2] = {&none, &none};
  for (int ring = 0; ring < 2; ring++)
    if (out->piece_count[ring])
      last[ring] = &out->pieces[ring][out->piece_count[ring] - 1];
  out->ring = last[0]->words;
  out->ring_words = last[0]->count;
  out->aux = last[1]->words;
  out->aux_words = last[1]->count;
}
