/* SPDX-License-Identifier: MIT */
/* The result of a run as one block of bytes: written by the process that parses, read by the one
 * that asked. */
#ifndef INKMARK_PARSE_RESULT_H
#define INKMARK_PARSE_RESULT_H

#include "unit.h"

typedef struct ink_parsed_head {
  uint32_t files, places, remarks, complaints, parse_errors, header_less, was_marked,
      includes_marks;
  uint64_t parse_ns, pool_bytes, text_hash;
} ink_parsed_head;
typedef struct ink_parsed_file {
  uint64_t at, bytes;
  uint32_t path, shown, marks, reserved;
} ink_parsed_file;
typedef struct ink_parsed_place {
  uint32_t kind, state, line, column, end_line, end_column, file, function, name, section, held, reason;
} ink_parsed_place;
typedef struct ink_parsed_remark {
  uint32_t line, column, file, text;
} ink_parsed_remark;

/* All files of the result: the source, and with `headers` what it includes. False: out of memory.
 */
bool ink_parsed_write(ink_unit *unit, ink_bytes *out);
/* Takes the block over (also when it fails, and frees it). */
ink_status ink_parsed_read(ink_bytes *block, const char *why, ink_instrumented **out,
                         ink_error *error);

#endif
