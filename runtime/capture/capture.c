/* SPDX-License-Identifier: MIT */
/* An open capture: its lists' room, its pages, and what it answers without reading on. */
#include "capture_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void ink_capture_release_pages(const ink_capture *capture) {
  if (capture->mapping)
    madvise(capture->mapping, (size_t)capture->size, MADV_DONTNEED);
}

const ink_capture_facts *ink_capture_get_facts(const ink_capture *capture) {
  return &capture->facts;
}

const char *ink_capture_fact(const ink_capture *capture, const char *key) {
  for (size_t i = capture->fact_list.count; i-- > 0;)
    if (strcmp(capture->fact_list.items[i].key, key) == 0)
      return capture->fact_list.items[i].value;
  return NULL;
}

size_t ink_capture_devices(const ink_capture *capture, const ink_device_info **out) {
  *out = capture->devices.items;
  return capture->devices.count;
}

size_t ink_capture_host_clocks(const ink_capture *capture, const ink_host_clock **out) {
  *out = capture->host_clocks.items;
  return capture->host_clocks.count;
}

bool ink_capture_simulated(const ink_capture *capture) {
  if (ink_capture_fact(capture, "activity_simulated"))
    return true;
  for (size_t i = 0; i < capture->devices.count; i++)
    if (capture->devices.items[i].simulated)
      return true;
  return false;
}
