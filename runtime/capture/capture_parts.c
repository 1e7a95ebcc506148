/* SPDX-License-Identifier: MIT */
/* Tracks that came in pieces: joins what TRACKS and PARTS chunks have of one track's rings into pieces without a gap
 * inside. Most captures have none of it. */
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>

static ink_status no_memory(ink_error *error) {
  return ink_error_set(error, INK_ERROR_MEMORY, "out of memory for the parts of the capture's tracks");
}

ink_status ink_i_add_part(ink_capture *capture, const part_ref *part, ink_error *error) {
  if (!part->count)
    return INK_OK;
  if (capture->parts.count >= INK_ID_NONE - 1)
    return ink_error_set(error, INK_ERROR_LIMIT, "the capture holds too many parts of tracks");
  if (!INK_I_ROOM(capture->parts))
    return no_memory(error);
  part_ref *to = &capture->parts.items[capture->parts.count++];
  *to = *part;
  to->order = (uint32_t)capture->parts.count;
  return INK_OK;
}

ink_status ink_read_parts(ink_capture *capture, const unsigned char *payload, uint64_t bytes,
                          ink_error *error) {
  ink_file_parts fixed;
  if (bytes < sizeof fixed)
    return ink_error_set(error, INK_ERROR_DAMAGED, "holds parts of tracks that are too short");
  memcpy(&fixed, payload, sizeof fixed);
  uint64_t at = sizeof fixed;
  ink_status status = INK_OK;
  for (uint64_t i = 0; i < fixed.count && status == INK_OK; i++) {
    ink_file_part part;
    if (bytes - at < sizeof part)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds fewer parts of tracks than it claims");
    memcpy(&part, payload + at, sizeof part);
    at += sizeof part;
    if (part.words > (bytes - at) / 8 || part.ring > 1 || part.first > UINT64_MAX - part.words)
      return ink_error_set(error, INK_ERROR_DAMAGED, "holds a part of a track that is longer than itself");
    const part_ref ref = {.offset = (uint64_t)(payload + at - capture->bytes), .count = part.words,
                          .ticket = part.ticket, .open_clock0 = part.open_clock0, .first = part.first,
                          .device = fixed.device, .ring = (uint8_t)part.ring,
                          .lost = part.flags & INK_PART_LOST};
    status = ink_i_add_part(capture, &ref, error);
    at += part.words * 8;
  }
  return status;
}

#define INK_I_COMPARE(a, b)                                                                        \
  if ((a) != (b))                                                                                  \
  return (a) < (b) ? -1 : 1

static int compare_tracks(const part_ref *a, const part_ref *b) {
  INK_I_COMPARE(a->device, b->device);
  INK_I_COMPARE(a->ticket, b->ticket);
  INK_I_COMPARE(a->open_clock0, b->open_clock0);
  INK_I_COMPARE(a->ring, b->ring);
  return 0;
}

static int by_track(const void *left, const void *right) {
  const part_ref *a = left, *b = right;
  const int order = compare_tracks(a, b);
  if (order)
    return order;
  INK_I_COMPARE(a->first, b->first);
  INK_I_COMPARE(a->order, b->order);
  return 0;
}

/* The first part of the ring in the sorted list, or where it would stand. */
static size_t find_parts(const ink_capture *capture, const part_ref *key) {
  size_t low = 0, high = capture->parts.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_tracks(&capture->parts.items[middle], key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- one ring ------------------------------------------------------------------------------ */

typedef struct joiner {
  INK_I_LIST(ink_piece) pieces;
  uint64_t end;    /* index behind the last word, at least */
  bool uncertain;  /* that is all that is known of it */
} joiner;

/* The second word of a record that names a table: it holds no clock, so there are many like it. */
static bool is_escape(uint64_t word, const part_ref *part) {
  return (word ^ (part->open_clock0 & ~INK_CLOCK_MASK)) >> (INK_TAG_SHIFT + INK_SECTION_BITS) == INK_KIND_ESCAPE;
}

/* Whether the words of `next` from `at` on go on where the last piece ends. */
static bool goes_on(const joiner *j, const uint64_t *next, uint64_t at, const part_ref *part) {
  const ink_piece *last = &j->pieces.items[j->pieces.count - 1];
  const uint64_t newest = last->words[last->count - 1];
  if (!at || newest != next[at - 1])
    return false;
  return at < 2 || last->count < 2 ? !is_escape(newest, part) : last->words[last->count - 2] == next[at - 2];
}

/* How many words of the part the last piece has already; *joined: the rest goes on right behind it. */
static uint64_t overlap(const joiner *j, const uint64_t *words, const part_ref *part, bool *joined) {
  *joined = true;
  if (part->first <= j->end && j->end - part->first <= part->count && goes_on(j, words, j->end - part->first, part))
    return j->end - part->first;
  if (part->first == j->end && !part->lost && !j->uncertain)
    return 0;
  for (uint64_t at = j->uncertain || part->lost ? part->count : 0; at; at--)
    if (goes_on(j, words, at, part))
      return at;
  if (part->first == j->end && !part->lost && !part->closed)
    return 0; /* both count from the same place */
  *joined = false;
  return part->first < j->end && !part->lost ? j->end - part->first : 0;
}

/* Pieces that a closed entry has whole make room for it: it may have words in front of theirs. */
static void leave_to(joiner *j, const uint64_t *words, const part_ref *part) {
  while (j->pieces.count) {
    const ink_piece *last = &j->pieces.items[j->pieces.count - 1];
    bool joined;
    const uint64_t skip = overlap(j, words, part, &joined);
    if (!joined || skip < last->count || memcmp(words + skip - last->count, last->words, last->count * 8) != 0)
      return;
    j->end -= last->count + last->lost;
    j->pieces.count--;
  }
}

static bool add(joiner *j, const ink_capture *capture, const part_ref *part) {
  const uint64_t *words = (const uint64_t *)(const void *)(capture->bytes + part->offset);
  if (part->closed)
    leave_to(j, words, part);
  ink_piece piece = {.words = words, .count = part->count, .lost = part->first, .lost_more = part->lost};
  if (j->pieces.count) {
    bool joined;
    const uint64_t skip = overlap(j, words, part, &joined);
    if (skip >= part->count && (joined || !part->closed))
      return true; /* nothing new */
    piece.words += skip < part->count ? skip : 0;
    piece.count -= skip < part->count ? skip : 0;
    uint64_t from = part->first + (skip < part->count ? skip : 0);
    if (part->lost && !joined && from < j->end) /* the least that it can be, and none of it was there before */
      from = j->end;
    const bool known = !part->lost && !(part->closed && j->uncertain);
    piece.lost_more = !joined && !known;
    piece.lost = joined || !known || from < j->end ? 0 : from - j->end;
    if (part->lost && !joined && from > j->end)
      piece.lost = from - j->end;
    j->end = joined ? j->end + piece.count : from + piece.count;
  } else {
    j->end = part->first + part->count;
  }
  j->uncertain = (j->uncertain || part->lost) && !part->closed;
  if (!INK_I_ROOM(j->pieces))
    return false;
  j->pieces.items[j->pieces.count++] = piece;
  return true;
}

/* The pieces of one ring of a track: its parts in order, a closed entry's words last. */
static bool join_ring(ink_capture *capture, uint64_t index, int ring, joined_track *out) {
  const ink_file_track *track = ink_track_at(capture, index);
  const track_ref *ref = &capture->tracks.items[index];
  const uint64_t count = ring ? track->aux_words : track->ring_words;
  const uint64_t executed = ring ? track->header.aux_words : track->header.words;
  const bool closed = track->header.state == INK_TRACK_CLOSED;
  part_ref own = {.offset = ref->offset + ink_track_head(ref) + (ring ? track->ring_words * 8 : 0),
                  .count = count, .ticket = track->header.ticket,
                  .open_clock0 = track->header.open_clock0, .device = ref->device,
                  .ring = (uint8_t)ring, .closed = true};
  own.first = ref->flags & INK_BUFFER_KEEP_FIRST || executed < count ? 0 : executed - count;
  joiner j = {0};
  bool fine = true;
  size_t at = find_parts(capture, &own);
  for (; fine && at < capture->parts.count && !compare_tracks(&capture->parts.items[at], &own); at++)
    fine = add(&j, capture, &capture->parts.items[at]);
  if (fine && closed && count)
    fine = add(&j, capture, &own);
  out->executed[ring] = closed || executed > j.end ? executed : j.end;
  out->piece_count[ring] = j.pieces.count;
  out->pieces[ring] = j.pieces.items;
  if (fine && j.pieces.items) {
    fine = INK_I_ROOM(capture->blocks);
    if (fine)
      capture->blocks.items[capture->blocks.count++] = j.pieces.items;
  }
  if (!fine)
    free(j.pieces.items);
  return fine;
}

ink_status ink_join_parts(ink_capture *capture, ink_error *error) {
  if (!capture->parts.count)
    return INK_OK;
  qsort(capture->parts.items, capture->parts.count, sizeof *capture->parts.items, by_track);
  ink_walk walk = {0};
  for (uint64_t i = 0; i < capture->tracks.count; i++) {
    ink_walk_track(&walk, capture, i);
    const ink_track *track = &ink_track_at(capture, i)->header;
    part_ref key = {.ticket = track->ticket, .open_clock0 = track->open_clock0,
                    .device = capture->tracks.items[i].device};
    size_t at = find_parts(capture, &key);
    key.ring = at < capture->parts.count ? capture->parts.items[at].ring : 0;
    if (at == capture->parts.count || compare_tracks(&capture->parts.items[at], &key))
      continue;
    joined_track joined = {.track = i};
    if (!INK_I_ROOM(capture->joined) || !join_ring(capture, i, 0, &joined) ||
        !join_ring(capture, i, 1, &joined))
      return no_memory(error);
    capture->joined.items[capture->joined.count++] = joined;
  }
  return INK_OK;
}

const joined_track *ink_i_joined(const ink_capture *capture, uint64_t index) {
  size_t low = 0, high = capture->joined.count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (capture->joined.items[middle].track < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low < capture->joined.count && capture->joined.items[low].track == index
             ? &capture->joined.items[low]
             : NULL;
}

uint64_t ink_i_kept_words(const ink_capture *capture, uint64_t index, int ring) {
  const joined_track *joined = ink_i_joined(capture, index);
  const ink_file_track *track = ink_track_at(capture, index);
  uint64_t words = 0;
  if (!joined)
    return ring ? track->aux_words : track->ring_words;
  for (uint64_t i = 0; i < joined->piece_count[ring]; i++)
    words += joined->pieces[ring][i].count;
  return words;
}
