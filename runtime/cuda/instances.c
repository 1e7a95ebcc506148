/* SPDX-License-Identifier: MIT */
/* The names of the functions that opened tracks. A header says where its name lies on the device: it is read when the
 * address is first seen, while the device answers, and written to the capture once. */
#include "cuda/drain_parts.h"
#include "cuda/device_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 1 << 13 };

struct ink_i_instances {
  uint64_t seen[PLACES]; /* addresses, by hash */
  uint32_t count;
  char text[INK_NAME_BYTES_MOST + 1];
};

bool ink_i_instances_make(ink_i_device *d) {
  d->instances = calloc(1, sizeof *d->instances);
  return d->instances != NULL;
}

void ink_i_instances_free(ink_i_device *d) {
  free(d->instances);
  d->instances = NULL;
}

void ink_i_instances_forget(ink_i_device *d) {
  if (!d->instances)
    return;
  memset(d->instances->seen, 0, sizeof d->instances->seen);
  d->instances->count = 0;
}

/* Whether the address is new; then it is noted. A table that is nearly full begins anew: names are written again. */
static bool is_new(struct ink_i_instances *known, uint64_t address) {
  if (known->count >= PLACES / 4 * 3) {
    memset(known->seen, 0, sizeof known->seen);
    known->count = 0;
  }
  uint32_t at = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (PLACES - 1);
  for (; known->seen[at]; at = (at + 1) & (PLACES - 1))
    if (known->seen[at] == address)
      return false;
  known->seen[at] = address;
  known->count++;
  return true;
}

/* A name that cannot be read is not tried again: its tracks are told apart by nothing then. */
ink_status ink_i_instance_note(ink_session *s, ink_i_device *d, const ink_device_track *h, ink_error *error) {
  const uint32_t bytes = INK_NAME_BYTES(h->name_rows);
  if (!d->instances || d->dead || !h->instance || h->instance == INK_UNWRITTEN || bytes < 2 ||
      !is_new(d->instances, h->instance))
    return INK_OK;
  char *text = d->instances->text;
  int code = ink_i_drain_copy(d, text, h->instance, (size_t)bytes);
  if (!code)
    code = d->cuda->stream_synchronize(d->stream);
  if (code) {
    d->cuda->get_last_error();
    return INK_OK;
  }
  text[bytes] = 0;
  const size_t length = strlen(text);
  if (length != bytes - 1 && !(length == bytes && bytes == INK_NAME_BYTES_MOST)) /* or its beginning */
    return INK_OK; /* a header that is not whole */
  const ink_status status = ink_i_session_writer(s, error);
  return status ? status : ink_writer_instance(s->writer, d->index, h->instance, text, error);
}
