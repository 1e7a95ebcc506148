/* SPDX-License-Identifier: MIT */
/* Unpacks one LZ4 block, the packing nvcc --compress-mode=speed gives to PTX. */
#ifndef INKMARK_SIM_LZ4_BLOCK_H
#define INKMARK_SIM_LZ4_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Unpacks `packed_bytes` into `out`, which has room for `capacity`. False when the block is damaged
 * or would not fit; *out_bytes is what came out. Never reads or writes outside what was given. */
bool lz4_block_unpack(const unsigned char *packed, size_t packed_bytes, unsigned char *out,
                      size_t capacity, size_t *out_bytes);

#endif
