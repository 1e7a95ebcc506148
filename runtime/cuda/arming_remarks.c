/* SPDX-License-Identifier: MIT */
/* What of an arming is not as it was asked for though it did not fail: devices that are not there,
 * less room than wanted. Kept in the session for whoever can say it. */
#include "cuda/arming_remarks.h"

#include "cuda/flight.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ink_i_remark(ink_session *s, const char *format, ...) {
  char text[INK_I_REMARK_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (uint32_t i = 0; i < s->remark_count; i++)
    if (!strcmp(s->remarks[i], text))
      return;
  if (s->remark_count < INK_I_REMARKS_MAX)
    strcpy(s->remarks[s->remark_count++], text);
}

/* "0 (NVIDIA H100), 1 (NVIDIA H100)" */
static void list_devices(const ink_cuda_api *cuda, int count, char *text, size_t bytes) {
  size_t used = 0;
  for (int i = 0; i < count && used < bytes; i++) {
    char name[256] = "";
    cuda->device_name(name, sizeof name, i);
    used += (size_t)snprintf(text + used, bytes - used, "%s%d (%s)", i ? ", " : "", i, name);
  }
}

bool ink_i_remark_absent(ink_session *s, const ink_cuda_api *cuda, int count) {
  const uint64_t there = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
  const uint64_t asked = s->options.devices, absent = asked & ~there;
  char numbers[200] = "", devices[INK_I_REMARK_BYTES - 100] = "";
  size_t used = 0;
  uint32_t n = 0;
  if (asked == UINT64_MAX || !absent)
    return (asked & there) != 0;
  for (int i = 0; i < 64 && used < sizeof numbers - 4; i++)
    if (absent >> i & 1)
      used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%s%d", n++ ? "," : "", i);
  list_devices(cuda, count, devices, sizeof devices);
  ink_i_remark(s, "device%s %s %s not there; this process sees %s", n == 1 ? "" : "s", numbers,
               n == 1 ? "is" : "are", devices);
  return (asked & there) != 0;
}

void ink_i_remark_other_abi(ink_session *s) {
  const char *file = ink_i_registry_other_abi();
  if (file)
    ink_i_remark(s, "'%s' was compiled with the headers of another inkmark, whose tracks have another layout: its "
                 "marks are not recorded; compile it with this one's", file);
}

void ink_i_remark_flight(ink_session *s, const ink_i_device *d) {
  if (s->by_writer && d->flight && d->flight->owned)
    ink_i_remark(s, "device %d: its rings are in the program's own memory, and are lost where the program is killed: "
                 "there was none to share for %" PRIu32 " tracks of %" PRIu32 " records", d->index,
                 d->info.track_count, d->info.records_per_track);
}

void ink_i_remark_room(ink_session *s, const ink_i_device *d) {
  if (d->tracks_wanted > d->info.track_count)
    ink_i_remark(s,
                 "device %d holds %" PRIu32 " tracks of %" PRIu32 " records, not %" PRIu32
                 ", so as to leave memory to the program: fewer --records-per-track leave room for more, "
                 "--tracks takes more",
                 d->index, d->info.track_count, d->info.records_per_track, d->tracks_wanted);
}

void ink_i_remark_left_out(ink_session *s, int device) {
  if (s->options.choice == INK_I_DEVICES_LISTED && !(s->options.devices >> device & 1))
    ink_i_remark(s, "a module with marks is on device %d, which --devices leaves out", device);
}
