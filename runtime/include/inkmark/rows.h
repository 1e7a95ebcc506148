/* SPDX-License-Identifier: MIT */
/* Steps through the arrays that the library returns. A later version may add members at the end of a row. If a
 * program steps by ink_row_bytes, as INK_ROW_AT does, it reads the right rows even if it was compiled with an older
 * header. If a program is compiled and linked with one version, it may index the array itself.
 *
 * Threads: any thread may call it.
 * Lifetime: nothing is allocated.
 *
 * @code{.c}
 * #include <inkmark/capture.h>
 * #include <inkmark/rows.h>
 * #include <stdio.h>
 *
 * int main(int argc, char **argv) {
 *   ink_capture *capture;
 *   ink_error error = {0};
 *   if (argc < 2 || ink_capture_open(argv[1], &capture, &error)) {
 *     fprintf(stderr, "%s\n", argc < 2 ? "which capture?" : error.message);
 *     return 1;
 *   }
 *   const ink_kernel *kernels;
 *   const size_t count = ink_capture_kernels(capture, &kernels);
 *   for (size_t i = 0; i < count; i++)
 *     printf("kernel %s\n", INK_ROW_AT(ink_kernel, kernels, i)->name);
 *   ink_capture_free(capture);
 *   return 0;
 * }
 * @endcode */
#ifndef INKMARK_ROWS_H
#define INKMARK_ROWS_H

#include "inkmark/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* INK_ROW_ and the type's name: those of the stable headers, and what the Python package reads besides. The numbers never
 * change. */
enum ink_row_type {
  INK_ROW_ink_device_info = 1, /* capture.h */
  INK_ROW_ink_section_table,
  INK_ROW_ink_kernel,
  INK_ROW_ink_launch,
  INK_ROW_ink_host_clock,
  INK_ROW_ink_mark_costs,
  INK_ROW_ink_clock_edges,
  INK_ROW_ink_section, /* decode.h */
  INK_ROW_ink_clock_quality,
  INK_ROW_ink_table_row, /* table.h */
  INK_ROW_ink_kernel_total,
  INK_ROW_ink_finding,
  INK_ROW_ink_crossing_total,
  INK_ROW_ink_problem,
  INK_ROW_ink_output,     /* output.h */
  INK_ROW_ink_host_range, /* host_ranges.h */
  INK_ROW_ink_host_launch,
  INK_ROW_ink_open_track /* decode.h */
};

/* How many bytes one row of a type has in this library. A row never becomes smaller.
 * Returns: that size; 0 for a number that this library does not know. */
INK_API size_t ink_row_bytes(enum ink_row_type type);

/* Row i of an array that the library returned, as `const type *`. */
#define INK_ROW_AT(type, rows, i) \
  ((const type *)(const void *)((const char *)(rows) + (size_t)(i)*ink_row_bytes(INK_ROW_##type)))

#ifdef __cplusplus
}
#endif
#endif
