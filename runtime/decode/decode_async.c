/* SPDX-License-Identifier: MIT */
/* Matches ASYNC_BEGIN with ASYNC_END: by section and key within a track, over both of its rings,
 * the first begun is the first ended. */
#include "decode_events.h"

#include <inttypes.h>

enum { QUEUES_CLEARED = 1024 };

static uint64_t queue_hash(uint32_t section, uint64_t key) {
  return ink_mix64(key) ^ (uint64_t)section << 32;
}

static ink_async_queue *find_queue(ink_decoder *decoder, uint32_t section, uint64_t key) {
  uint32_t i = id_map_get(&decoder->queue_map, queue_hash(section, key));
  while (i != INK_ID_NONE && (decoder->queues.items[i].section != section ||
                              decoder->queues.items[i].key != key))
    i = decoder->queues.items[i].next;
  return i == INK_ID_NONE ? NULL : &decoder->queues.items[i];
}

static ink_async_queue *make_queue(ink_decoder *decoder, uint32_t section, uint64_t key) {
  uint64_t hash = queue_hash(section, key);
  uint32_t place = (uint32_t)decoder->queues.count;
  if (!INK_I_ROOM(decoder->queues))
    return NULL;
  uint32_t next = id_map_get(&decoder->queue_map, hash);
  if (!id_map_put(&decoder->queue_map, hash, place))
    return NULL;
  decoder->queues.items[decoder->queues.count++] = (ink_async_queue){
      .key = key, .section = section, .head = INK_ID_NONE, .tail = INK_ID_NONE, .next = next};
  return &decoder->queues.items[place];
}

static ink_status begin(ink_decoder *decoder, int called, uint32_t section, uint64_t key,
                        uint64_t cycles) {
  ink_async_queue *queue = find_queue(decoder, section, key);
  if (!queue)
    queue = make_queue(decoder, section, key);
  if (!queue || !INK_I_ROOM(decoder->asyncs))
    return ink_error_set(decoder->error, INK_ERROR_MEMORY, "out of memory for open ranges");
  uint32_t place = (uint32_t)decoder->asyncs.count++;
  decoder->asyncs.items[place] = (ink_open_async){
      .key = key, .begin = cycles, .section = section, .next = INK_ID_NONE, .called = called != 0};
  if (queue->head == INK_ID_NONE)
    queue->head = place;
  else
    decoder->asyncs.items[queue->tail].next = place;
  queue->tail = place;
  return INK_OK;
}

ink_status ink_decode_async(ink_decoder *decoder, int called, const ink_record *record,
                            uint32_t section, int64_t row, uint64_t cycles) {
  uint64_t key = record->payload[0], begun = decoder->stored.header.open_clock1;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_POINT, .kind = record->kind, .called = (uint8_t)called,
                  .section = section, .row = row, .end = cycles, .u.value = key};
  ink_status status = ink_decoder_give(decoder);
  if (status != INK_OK)
    return status;
  if (record->kind == INK_KIND_ASYNC_BEGIN)
    return begin(decoder, called, section, key, cycles);
  ink_async_queue *queue = find_queue(decoder, section, key);
  const bool known = queue && queue->head != INK_ID_NONE;
  if (known) {
    ink_open_async *open = &decoder->asyncs.items[queue->head];
    open->done = true;
    queue->head = open->next;
    begun = open->begin;
  } else if (!decoder->lost[0] && !decoder->lost[1] &&
             cycles <= decoder->track.partial_after_cycles) {
    /* Else the begin may be among the words that either ring lost. */
    status = ink_decoder_problem(decoder, INK_PROBLEM_ASYNC_NEVER_BEGUN, section, called,
                                 record->word, "async end of '%s' with key %" PRIu64 " without its begin",
                                 ink_decoder_section_name(decoder, section), key);
  }
  if (status != INK_OK)
    return status;
  *ink_decoder_next(decoder) =
      (ink_event){.type = INK_EVENT_ASYNC, .called = (uint8_t)called, .cut = !known,
                  .section = section, .row = row, .begin = begun, .end = cycles, .u.value = key};
  return ink_decoder_give(decoder);
}

ink_status ink_decode_async_rest(ink_decoder *decoder, uint64_t close, bool lost) {
  ink_status status = INK_OK;
  bool lost_back = lost || decoder->open || decoder->rings[0].lost_back || decoder->rings[1].lost_back;
  for (size_t i = 0; i < decoder->asyncs.count && status == INK_OK; i++) {
    const ink_open_async *open = &decoder->asyncs.items[i];
    if (open->done)
      continue;
    /* The end may be among the overwritten words of the other ring. */
    if (!lost_back && open->begin >= decoder->track.partial_before_cycles)
      status = ink_decoder_problem(decoder, INK_PROBLEM_ASYNC_NEVER_ENDED, open->section,
                                   open->called, decoder->rings[open->called].count,
                                   "async range '%s' with key %" PRIu64 " never ended",
                                   ink_decoder_section_name(decoder, open->section), open->key);
    if (status != INK_OK)
      break;
    *ink_decoder_next(decoder) =
        (ink_event){.type = INK_EVENT_ASYNC, .called = open->called,
                    .cut = decoder->open && !lost ? INK_CUT_OPEN : INK_CUT_NEVER_ENDED,
                    .section = open->section, .row = INK_ROW_NONE, .begin = open->begin,
                    .end = close, .u.value = open->key};
    status = ink_decoder_give(decoder);
  }
  decoder->asyncs.count = decoder->queues.count = 0;
  if (decoder->queue_map.mask >= QUEUES_CLEARED) /* one track's many must not slow all others */
    id_map_free(&decoder->queue_map);
  else if (decoder->queue_map.count)
    id_map_clear(&decoder->queue_map);
  return status;
}
