/* SPDX-License-Identifier: MIT */
/* The tracks of a capture: where they stand in the file, which launch each belongs to, and the
 * stable order in which they are handed out. */
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the capture's tracks");
}

/* What an entry of an open track has of its rings is kept when a later one takes its place. */
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

ink_status ink_read_tracks(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                           ink_error *error) {
  ink_file_tracks fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds tracks that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  uint64_t at = sizeof fixed;
  for (uint64_t i = 0; i < fixed.count; i++) {
    ink_file_track track;
    if (bytes - at < sizeof track)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds fewer tracks than it claims");
    memcpy(&track, payload + at, sizeof track);
    uint64_t room = (bytes - at - sizeof track) / 8;
    if (track.ring_words > room || track.aux_words > room - track.ring_words)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds a track longer than itself");
    if (capture->tracks.count >= INK_ID_NONE - 1)
      return ink_error_set(error, INK_ERROR_LIMIT, "the capture holds too many tracks");
    if (!INK_I_ROOM(capture->tracks))
      return no_memory(error);
    capture->tracks.items[capture->tracks.count++] = (track_ref){
        .offset = (uint64_t)(payload + at - capture->bytes), .device = fixed.device,
        .flags = fixed.flags,
        .kernel = id_map_get(&capture->slot_map, ink_slot_key(fixed.device, track.header.kernel))};
    if (track.header.state == INK_TRACK_OPEN && track.ring_words + track.aux_words) {
      ink_status status = add_open_words(capture, fixed.device, &track,
                                         (uint64_t)(payload + at + sizeof track - capture->bytes), error);
      if (status != INK_OK)
        return status;
    }
    at += sizeof track + (track.ring_words + track.aux_words) * 8;
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

/* A track that was stored open and ended since is one of those that the counts have: stored again, as
 * closed, or lost. */
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
  uint64_t open_ns;
  uint32_t thread, kernel, launch;
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
  INK_I_COMPARE(a->grid_id, b->grid_id);
  INK_I_COMPARE(a->kernel, b->kernel);
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
                  .closed = track->state == INK_TRACK_CLOSED};
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

static ink_status new_launch(ink_capture *capture, const sort_key *key, uint32_t index,
                             ink_error *error) {
  if (!INK_I_ROOM(capture->launches))
    return no_memory(error);
  const ink_track *track = &ink_track_at(capture, index)->header;
  ink_launch launch = {.device = key->device, .kernel = key->kernel, .grid_id = key->grid_id,
                       .first_open_global_ns = UINT64_MAX};
  memcpy(launch.grid_dim, track->grid_dim, sizeof launch.grid_dim);
  memcpy(launch.block_dim, track->block_dim, sizeof launch.block_dim);
  capture->launches.items[capture->launches.count++] = launch;
  capture->kernels.items[key->kernel].launches++;
  return INK_OK;
}

static void join_launch(ink_capture *capture, sort_key *key, uint32_t index) {
  uint32_t last = (uint32_t)capture->launches.count - 1;
  ink_launch *launch = &capture->launches.items[last];
  const ink_track *track = &ink_track_at(capture, index)->header;
  key->launch = last;
  launch->track_count++;
  if (track->open_global_ns < launch->first_open_global_ns)
    launch->first_open_global_ns = track->open_global_ns;
  if (key->closed && track->close_global_ns > launch->last_close_global_ns)
    launch->last_close_global_ns = track->close_global_ns;
}

/* Walks the tracks in the order of their claims; a grid id that repeats a (block, thread) has been
 * launched again. Where tracks of a replay were lost, a track of the next one may fill the gap. */
static ink_status split_launches(ink_capture *capture, sort_key *keys, uint32_t *order,
                                 uint32_t *count, ink_error *error) {
  id_map seen = {0}; /* (block, thread): in the current launch */
  ink_status status = INK_OK;
  uint32_t kept = 0;
  ink_walk walk = {0};
  for (uint32_t n = 0; n < *count && status == INK_OK; n++) {
    uint32_t i = order[n];
    ink_walk_track(&walk, capture, i);
    if (kept && same_claim(capture, keys, order[kept - 1], i))
      continue;
    uint64_t place = ink_mix64(keys[i].block) + keys[i].thread;
    bool fresh = !kept || compare_group(&keys[order[kept - 1]], &keys[i]) != 0 ||
                 id_map_get(&seen, place) != INK_ID_NONE;
    if (fresh) {
      id_map_free(&seen);
      status = new_launch(capture, &keys[i], i, error);
    }
    if (status == INK_OK && !id_map_put(&seen, place, 0))
      status = no_memory(error);
    if (status != INK_OK)
      break;
    join_launch(capture, &keys[i], i);
    order[kept++] = i;
  }
  *count = kept;
  id_map_free(&seen);
  return status;
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

void ink_capture_track(const ink_capture *capture, uint64_t index, ink_stored_track *out) {
  const track_ref *ref = &capture->tracks.items[index];
  const ink_file_track *track = ink_track_at(capture, index);
  const uint64_t *words = (const uint64_t *)(const void *)(track + 1);
  *out = (ink_stored_track){.device = ref->device, .launch = ref->launch, .header = track->header,
                            .ring = words, .ring_words = track->ring_words,
                            .aux = words + track->ring_words, .aux_words = track->aux_words,
                            .flags = ref->flags};
  const joined_track *joined = capture->joined.count ? ink_i_joined(capture, index) : NULL;
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
