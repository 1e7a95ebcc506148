/* SPDX-License-Identifier: MIT */
/* One plane of an XLA profile in the making: lines of events, and the names that they refer to by number. Field numbers
 * are those of tsl/profiler/protobuf/xplane.proto. */
#ifndef INK_XPLANE_LINES_H
#define INK_XPLANE_LINES_H

#include "output/output_file.h"
#include "merge/read/text_table.h"

#include <stdint.h>

typedef struct xplane_line {
  char *name;
  text_buffer events;
} xplane_line;

typedef struct xplane_lines {
  xplane_line *lines;
  size_t count, room;
  text_table events, stats; /* names */
  int64_t begin_ns;         /* of every line, in the file's time */
  text_buffer event;        /* the one being written */
  size_t line;
} xplane_lines;

void xplane_lines_free(xplane_lines *x);
ink_status xplane_line_add(xplane_lines *x, const char *name, size_t *out);
/* An event on a line; its arguments come before its end. Failures are kept to xplane_write. */
void xplane_begin(xplane_lines *x, size_t line, const char *name, int64_t begin_ns, int64_t end_ns);
void xplane_int(xplane_lines *x, const char *name, int64_t value);
void xplane_double(xplane_lines *x, const char *name, double value);
void xplane_text(xplane_lines *x, const char *name, const char *value);
void xplane_end(xplane_lines *x);
/* The plane as a field of the file. */
ink_status xplane_write(xplane_lines *x, ink_file *file, int64_t id, const char *name);

#endif
