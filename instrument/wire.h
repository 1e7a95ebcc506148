/* SPDX-License-Identifier: MIT */
/* The result of a run as one block of bytes: written by the process that parses, read by the one
 * that asked. */
#ifndef INKMARK_WIRE_H
#define INKMARK_WIRE_H

#include "unit.h"

typedef struct ink_wire_head {
  uint32_t files, places, remarks, complaints, parse_errors, header_less, was_marked,
      includes_marks;
  uint64_t parse_ns, pool_bytes, text_hash;
} ink_wire_head;
typedef struct ink_wire_file {
  uint64_t at, bytes;
  uint32_t path, shown, marks, reserved;
} ink_wire_file;
typedef struct ink_wire_place {
  uint32_t kind, state, line, column, file, function, name, section, held, reason;
} ink_wire_place;
typedef struct ink_wire_remark {
  uint32_t line, column, file, text;
} ink_wire_remark;

/* All files of the result: the source, and with `headers` what it includes. False: out of memory.
 */
bool ink_wire_write(ink_unit *unit, ink_bytes *out);
/* Takes the block over (also when it fails, and frees it). */
ink_status ink_wire_read(ink_bytes *block, const char *why, ink_instrumented **out,
                         ink_error *error);

#endif
