/* SPDX-License-Identifier: MIT */
/* The sizes of the rows in the arrays that this library returns. */
#include "inkmark/rows.h"

#include "inkmark/host_ranges.h"
#include "inkmark/output.h"
#include "inkmark/table.h"

#define BYTES_OF(type) [INK_ROW_##type] = sizeof(type)
static const size_t bytes[] = {
    BYTES_OF(ink_device_info),    BYTES_OF(ink_section_table), BYTES_OF(ink_kernel),       BYTES_OF(ink_launch),
    BYTES_OF(ink_host_clock),     BYTES_OF(ink_mark_costs),    BYTES_OF(ink_clock_edges),  BYTES_OF(ink_section),
    BYTES_OF(ink_clock_quality),  BYTES_OF(ink_table_row),     BYTES_OF(ink_kernel_total), BYTES_OF(ink_finding),
    BYTES_OF(ink_crossing_total), BYTES_OF(ink_problem),       BYTES_OF(ink_output),       BYTES_OF(ink_host_range),
    BYTES_OF(ink_host_launch),    BYTES_OF(ink_open_track),
};

size_t ink_row_bytes(enum ink_row_type type) {
  return (size_t)type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}
