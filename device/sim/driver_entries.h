/* SPDX-License-Identifier: MIT */
/* The table that driver_generate.cmake makes, and what its stubs call. Knows nothing of cuda.h, whose
 * prototypes the stubs do not have. */
#ifndef INKMARK_SIM_DRIVER_ENTRIES_H
#define INKMARK_SIM_DRIVER_ENTRIES_H

#include <stdbool.h>

typedef int drv_any(void);

typedef struct drv_entry {
  const char *name; /* as cuGetProcAddress is asked; NULL: the table's end */
  bool per_thread;  /* for programs with a default stream for each thread */
  int version;      /* of the CUDA that has it: 12000 */
  drv_any *function;
} drv_entry;

extern const drv_entry drv_entries[];

/* Says so on stderr, once for each name; CUDA_ERROR_NOT_SUPPORTED. Callers of the driver look at results,
 * and try things out: unlike the runtime's functions these do not end the program. */
int drv_not_simulated(const char *name);

#endif
