/* SPDX-License-Identifier: MIT */
/* Sizes a buffer by the device's free memory: a 64th of it, within bounds. */
#include "cuda/buffer_size.h"

#include "inkmark/record.h"

enum {
  RECORDS_LEAST = 128,     /* where there is little memory */
  TRACKS_OF_SMALL = 1024,  /* before rings are made shorter */
  TRACKS_LEAST = 256,      /* of rings that the user made long, up to a quarter of the memory */
  TRACKS_UNKNOWN = 16384,  /* where the free memory is not known */
  TRACKS_UNKNOWN_SIMULATED = 2048,
  PART = 64,
  PART_OF_LONG = 4
};
#define LEAST_BYTES ((size_t)16 << 20)
#define MOST_BYTES ((size_t)2 << 30)

size_t ink_i_track_bytes(uint32_t records) {
  const size_t ring = (size_t)records * 8;
  return (2 * ring + sizeof(ink_device_track) + ring - 1) / ring * ring;
}

static uint32_t tracks_in(size_t bytes, uint32_t records) {
  const size_t most = bytes / ink_i_track_bytes(records);
  uint32_t tracks = 1;
  while ((size_t)tracks * 2 <= most)
    tracks *= 2;
  return tracks;
}

ink_i_buffer_size ink_i_size_buffer(uint32_t records, uint32_t tracks, size_t free_bytes, bool simulated) {
  const uint32_t unknown = simulated ? TRACKS_UNKNOWN_SIMULATED : TRACKS_UNKNOWN;
  ink_i_buffer_size size = {.records = records ? records : INK_I_RECORDS_USUAL, .tracks = tracks ? tracks : unknown};
  size_t bytes = free_bytes / PART;
  bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
  if (free_bytes && !records && !tracks)
    while (size.records > RECORDS_LEAST && tracks_in(bytes, size.records) < TRACKS_OF_SMALL)
      size.records /= 2;
  size.tracks_wanted = size.tracks;
  if (free_bytes && !tracks) {
    /* Shorter rings leave memory to the program; longer ones must not take all of it. */
    size.tracks_wanted = tracks_in(bytes, size.records < INK_I_RECORDS_USUAL && !records ? size.records : INK_I_RECORDS_USUAL);
    size.tracks = tracks_in(bytes, size.records);
    if (size.tracks > size.tracks_wanted)
      size.tracks = size.tracks_wanted;
    const uint32_t least = size.tracks_wanted < TRACKS_LEAST ? size.tracks_wanted : TRACKS_LEAST;
    const uint32_t room = tracks_in(free_bytes / PART_OF_LONG, size.records);
    if (size.tracks < least)
      size.tracks = room < least ? room : least;
  }
  return size;
}
