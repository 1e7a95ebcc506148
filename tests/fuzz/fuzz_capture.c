/* SPDX-License-Identifier: MIT */
/* Fuzzes the capture reader and all that reads through it. The first byte chooses: 0, the rest is a
 * capture file as it is; else the rest is a list of chunks, each a type byte, a 16-bit length and
 * the payload, around which right checksums are put, so that the insides are reached too. */
#include "craft.h"
#include "pipeline.h"

#include "inkmark/activity.h"
#include "inkmark/host_ranges.h"
#include "inkmark/sources.h"
#include "inkmark/stalls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that is computed from activities. */
static void read_activity(const ink_capture *capture) {
  const ink_activity *const *all;
  const ink_activity_device *devices;
  const size_t n = ink_capture_activities(capture, &all, NULL);
  const size_t device_count = ink_capture_activity_devices(capture, &devices);
  ink_clock_map *map = NULL;
  char name[64];
  if (ink_clock_map_make(capture, &map, NULL) != INK_OK)
    return;
  const ink_activity_clock clock = ink_activity_clock_make(capture, map);
  for (size_t i = 0; i < n; i++) {
    ink_activity_short_name(ink_capture_activity_name(capture, all[i]->name), name, sizeof name);
    ink_activity_launch(capture, all[i]);
    ink_activity_unix_ns(&clock, all[i]->device, all[i]->begin_ns);
    ink_activity_occupancy(all[i], device_count ? &devices[i % device_count] : NULL);
  }
  ink_clock_map_free(map);
}

/* What the host said, and that it holds together. */
static void read_host(const ink_capture *capture) {
  const ink_host_range *ranges;
  const ink_host_launch *calls;
  const size_t n = ink_capture_host_ranges(capture, &ranges), call_count = ink_capture_host_launches(capture, &calls);
  char text[64];
  for (size_t i = 0; i < n; i++) {
    if (ranges[i].end_ns < ranges[i].begin_ns || (i && ranges[i].begin_ns < ranges[i - 1].begin_ns) ||
        ranges[i].launches > call_count)
      abort();
    ink_host_payload_text(ranges[i].payload_type, ranges[i].payload, text, sizeof text);
    ink_capture_host_thread(capture, ranges[i].thread);
  }
  const ink_launch *launches;
  const size_t launch_count = ink_capture_launches(capture, &launches);
  for (size_t i = 0; i < launch_count; i++) {
    const uint32_t call = ink_launch_call(capture, (uint32_t)i);
    if (call != UINT32_MAX && call >= call_count)
      abort();
  }
}

/* The lines of the marks in each source lie in it. */
static void read_sources(const ink_capture *capture) {
  const ink_source *sources;
  const ink_section *sections;
  const size_t n = ink_capture_sources(capture, &sources), section_count = ink_capture_sections(capture, &sections);
  for (size_t i = 0; i < n; i++) {
    ink_source_mark *marks;
    size_t count;
    if (strlen(sources[i].text) != sources[i].bytes)
      abort();
    if (ink_source_marks(capture, &sources[i], &marks, &count, NULL) != INK_OK)
      continue;
    for (size_t k = 0; k < count; k++)
      if (marks[k].section >= section_count || !marks[k].line || marks[k].line > sources[i].bytes + 1)
        abort();
    free(marks);
  }
}

/* Samples in their order, each place and reason once; code that is whole to its last byte. */
static void read_stalls(const ink_capture *capture) {
  const ink_stall *stalls;
  const ink_code *codes;
  const size_t n = ink_capture_stalls(capture, &stalls, NULL), code_count = ink_capture_codes(capture, &codes);
  for (size_t i = 1; i < n; i++)
    if (stalls[i].code < stalls[i - 1].code ||
        (stalls[i].code == stalls[i - 1].code && stalls[i].offset == stalls[i - 1].offset &&
         !strcmp(stalls[i].function, stalls[i - 1].function) && !strcmp(stalls[i].reason, stalls[i - 1].reason)))
      abort();
  for (size_t i = 0; i < code_count; i++) {
    if (!codes[i].bytes || codes[i].bytes > INK_CODE_BYTES_MAX)
      abort();
    void *copy = malloc((size_t)codes[i].bytes);
    if (copy)
      memcpy(copy, codes[i].data, (size_t)codes[i].bytes);
    free(copy);
  }
}

static void read_all(const void *bytes, size_t size) {
  ink_capture *capture = NULL;
  pipeline_sums sums = {0};
  if (ink_capture_open_memory(bytes, size, &capture, NULL) != INK_OK)
    return;
  if (ink_capture_track_count(capture) < 1000) /* a thousand tables' worth of time at most */
    pipeline_run(capture, &sums, NULL);
  read_activity(capture);
  read_host(capture);
  read_sources(capture);
  read_stalls(capture);
  ink_capture_free(capture);
}

static void read_chunks(const uint8_t *data, size_t size) {
  static craft c;
  craft_start(&c, 1, 0);
  while (size >= 3) {
    size_t bytes = data[1] | (size_t)data[2] << 8;
    size_t room = sizeof c.bytes - c.size - sizeof(ink_chunk_header);
    if (bytes > size - 3)
      bytes = size - 3;
    if (ink_pad8(bytes) > room || room > sizeof c.bytes)
      break;
    craft_chunk(&c, data[0] & 31, data + 3, bytes);
    data += 3 + bytes;
    size -= 3 + bytes;
  }
  void *exact = malloc(c.size); /* so that a read beyond it is seen */
  if (exact)
    read_all(memcpy(exact, c.bytes, c.size), c.size);
  free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size)
    return 0;
  if (data[0] == 0)
    read_all(data + 1, size - 1);
  else
    read_chunks(data + 1, size - 1);
  return 0;
}
