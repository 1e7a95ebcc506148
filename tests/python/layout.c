/* SPDX-License-Identifier: MIT */
/* Prints where the members of the structures lie that the Python binding reads: lines "STRUCTURE MEMBER
 * OFFSET", and "STRUCTURE . SIZE". */
#include "inkmark/activity.h"
#include "inkmark/host_ranges.h"
#include "inkmark/output.h"
#include "inkmark/rows.h"
#include "inkmark/session.h"
#include "inkmark/table.h"

#include <stdio.h>

#define SIZE(type) printf(#type " . %zu\n", sizeof(type));
#define AT(type, member) AT_EXPANDED(type, member)
#define AT_EXPANDED(type, member) printf(#type " " #member " %zu\n", offsetof(type, member));

#define ROW(name, type) printf("ink_row_type " #name " %d\n", (int)INK_ROW_##type);

int main(void) {
  ROW(ROW_DEVICE, ink_device_info) ROW(ROW_KERNEL, ink_kernel) ROW(ROW_LAUNCH, ink_launch)
  ROW(ROW_SECTION, ink_section) ROW(ROW_TABLE_ROW, ink_table_row) ROW(ROW_TOTAL, ink_kernel_total)
  ROW(ROW_CROSSING, ink_crossing_total) ROW(ROW_HOST_RANGE, ink_host_range) ROW(ROW_OPEN_TRACK, ink_open_track)
#define T ink_table_row
  SIZE(ink_table_row)
  AT(T, part) AT(T, kernel) AT(T, section) AT(T, group) AT(T, depth) AT(T, called) AT(T, summed)
  AT(T, twice) AT(T, self_known) AT(T, passes) AT(T, tracks) AT(T, self_cycles) AT(T, p1_cycles)
  AT(T, self_ns) AT(T, p1_ns) AT(T, max_track) AT(T, max_iteration)
  AT(T, inside_count) AT(T, inside) AT(T, count) AT(T, cut) AT(T, nested) AT(T, total_cycles)
  AT(T, min_cycles) AT(T, median_cycles) AT(T, p99_cycles) AT(T, max_cycles) AT(T, total_ns)
  AT(T, min_ns) AT(T, median_ns) AT(T, p99_ns) AT(T, max_ns) AT(T, share) AT(T, imbalance)
  AT(T, marking_cycles) AT(T, marking_bound_cycles) AT(T, bound_ns)
#undef T
#define T ink_kernel_total
  SIZE(ink_kernel_total)
  AT(T, kernel) AT(T, device) AT(T, instance) AT(T, iterations) AT(T, tracks) AT(T, launches) AT(T, marks_executed) AT(T, marks_kept)
  AT(T, marks_dropped) AT(T, missed) AT(T, tracks_partial) AT(T, tracks_lost) AT(T, marks_lost)
  AT(T, total_cycles) AT(T, unmarked_cycles) AT(T, total_ns) AT(T, unmarked_ns)
  AT(T, unknown_cycles) AT(T, without_marking) AT(T, marking_cycles) AT(T, marking_bound_cycles)
  AT(T, bound_ns) AT(T, outside_cycles) AT(T, async_ranges) AT(T, instants) AT(T, values)
  AT(T, marks_dropped_open) AT(T, rows_executed)
#undef T
#define T ink_launch
  SIZE(ink_launch)
  AT(T, device) AT(T, kernel) AT(T, grid_id) AT(T, grid_dim) AT(T, block_dim) AT(T, track_count)
  AT(T, first_open_global_ns) AT(T, last_close_global_ns) AT(T, at_most) AT(T, one_of)
#undef T
#define T ink_crossing_total
  SIZE(ink_crossing_total)
  AT(T, kernel) AT(T, section) AT(T, from_role) AT(T, to_role) AT(T, scope) AT(T, exact) AT(T, reserved) AT(T, count)
  AT(T, backwards) AT(T, without_end) AT(T, without_begin) AT(T, min_cycles) AT(T, median_cycles)
  AT(T, max_cycles) AT(T, total_ns) AT(T, min_ns) AT(T, median_ns) AT(T, max_ns) AT(T, bound_ns) AT(T, mean_in_flight) AT(T, most_in_flight)
#undef T
#define T ink_error
  SIZE(ink_error)
  AT(T, status) AT(T, code) AT(T, offset) AT(T, message)
#undef T
#define T ink_section_table
  SIZE(ink_section_table)
  AT(T, name) AT(T, file) AT(T, line) AT(T, section_count) AT(T, hash48) AT(T, sections)
#undef T
#define T ink_section
  SIZE(ink_section)
  AT(T, table) AT(T, name) AT(T, id)
#undef T
#define T ink_kernel
  SIZE(ink_kernel)
  AT(T, key) AT(T, name) AT(T, instance) AT(T, table) AT(T, launches) AT(T, tracks) AT(T, marks_executed)
  AT(T, missed) AT(T, tracks_lost) AT(T, marks_lost)
#undef T
#define T ink_device_info
  SIZE(ink_device_info)
  AT(T, index) AT(T, simulated) AT(T, sm_count) AT(T, capability) AT(T, clock_khz)
  AT(T, track_count) AT(T, records_per_track) AT(T, aux_records_per_track) AT(T, flags)
  AT(T, runtime_version) AT(T, driver_version) AT(T, name)
#undef T
#define T ink_capture_facts
  SIZE(ink_capture_facts)
  AT(T, version) AT(T, complete) AT(T, file_bytes) AT(T, used_bytes) AT(T, damaged_chunks)
  AT(T, open_tracks) AT(T, unknown_kernels) AT(T, note) AT(T, full_tracks)
#undef T
#define T ink_place
  SIZE(ink_place)
  AT(T, known) AT(T, newest) AT(T, ranges) AT(T, inside) AT(T, after) AT(T, row) AT(T, begin_cycles)
#undef T
#define T ink_open_track
  SIZE(ink_open_track)
  AT(T, track) AT(T, launch) AT(T, cut) AT(T, seen_known) AT(T, seen_ns) AT(T, inside_ns) AT(T, marks) AT(T, place)
#undef T
#define T ink_table_options
  SIZE(ink_table_options)
  AT(T, size) AT(T, by) AT(T, kernel_regex) AT(T, launch) AT(T, progress) AT(T, user)
  AT(T, without_marking) AT(T, findings) AT(T, waits_regex)
#undef T
#define T ink_output_options
  SIZE(ink_output_options)
  AT(T, size) AT(T, kernel_regex) AT(T, launch) AT(T, progress) AT(T, user)
  AT(T, marking) AT(T, filter) AT(T, comparison)
#undef T
#define T ink_session_options
  SIZE(ink_session_options)
  AT(T, size) AT(T, output) AT(T, kernels) AT(T, blocks) AT(T, warps) AT(T, devices) AT(T, per_warp)
  AT(T, keep_first) AT(T, records_per_track) AT(T, tracks) AT(T, drain_ms) AT(T, replace) AT(T, activity)
  AT(T, flight) AT(T, live) AT(T, hang_ms) AT(T, start_off) AT(T, schedule) AT(T, host_ranges)
  AT(T, modules)
#undef T
#define T ink_activity
  SIZE(ink_activity)
  AT(T, kind) AT(T, device) AT(T, begin_ns) AT(T, end_ns) AT(T, correlation) AT(T, name) AT(T, context)
  AT(T, stream) AT(T, grid_id) AT(T, bytes) AT(T, grid_dim) AT(T, block_dim) AT(T, registers)
  AT(T, static_shared_bytes) AT(T, dynamic_shared_bytes) AT(T, sm_shared_bytes) AT(T, local_bytes)
  AT(T, graph) AT(T, graph_node) AT(T, result) AT(T, peer) AT(T, copy) AT(T, launch) AT(T, reserved)
#undef T
#define T ink_host_range
  SIZE(ink_host_range)
  AT(T, name) AT(T, domain) AT(T, category_name) AT(T, begin_ns) AT(T, end_ns) AT(T, kind) AT(T, flags) AT(T, thread)
  AT(T, depth) AT(T, category) AT(T, color) AT(T, payload_type) AT(T, open) AT(T, reserved) AT(T, payload) AT(T, launches)
  AT(T, kernels) AT(T, kernels_ns)
#undef T
#define T ink_activity_clock
  SIZE(ink_activity_clock)
  AT(T, known) AT(T, simulated) AT(T, reference_ns) AT(T, offset_ns) AT(T, drift) AT(T, bound_ns) AT(T, map)
#undef T
#define T ink_output
  SIZE(ink_output)
  AT(T, name) AT(T, endings) AT(T, summary) AT(T, write)
  return 0;
}
