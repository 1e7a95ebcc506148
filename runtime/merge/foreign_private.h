/* SPDX-License-Identifier: MIT */
/* What the readers fill: kernels as they come, names kept once. */
#ifndef INK_FOREIGN_PRIVATE_H
#define INK_FOREIGN_PRIVATE_H

#include "inkmark/merge.h"

struct ink_foreign {
  ink_foreign_facts facts;
  ink_foreign_kernel *kernels;
  size_t kernel_count, kernel_room;
  char **names;
  size_t name_count, name_room;
  uint32_t *slots; /* hash table over the names: index + 1 */
  size_t slot_count;
  uint64_t events_end; /* JSON: at which byte, unpacked, the bracket stands that closes the events */
};

/* Interns `length` bytes. */
ink_status ink_foreign_intern(ink_foreign *foreign, const char *text, size_t length, uint32_t *out);
ink_status ink_foreign_add(ink_foreign *foreign, const ink_foreign_kernel *kernel);

/* Microseconds as text to ns, exact to the ns. False: no number, or beyond +-146 years. */
bool ink_us_to_ns(const char *text, int64_t *out);

ink_status ink_kineto_read(ink_foreign *foreign, const char *path, ink_error *error);
ink_status ink_nsight_read(ink_foreign *foreign, const char *path, ink_error *error);

#endif
