/* SPDX-License-Identifier: MIT */
/* What stands for a cubin where several PTX texts were linked for the simulated device: this head, then
 * `count` texts, each ended by a NUL. */
#ifndef INKMARK_SIM_PTX_BUNDLE_H
#define INKMARK_SIM_PTX_BUNDLE_H

#include <stdint.h>

#define PTX_BUNDLE_MAGIC "\177SIM-PTX" /* 8 characters and a NUL */

typedef struct ptx_bundle_head {
  char magic[12];
  uint32_t count;
} ptx_bundle_head;

#endif
