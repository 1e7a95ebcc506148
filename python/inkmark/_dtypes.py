# SPDX-License-Identifier: MIT
"""The rows of arrays, as the structures of libinkmark's headers have them, and what stands for "none" in them."""
import numpy

UNMARKED = 0xFFFFFFFF
"""`section` of the rows that count what no section claims, "(unmarked)"."""
NO_ROLE = 0xFFFFFFFF
ROW_NONE = -2**63
"""`group` of rows by iteration: before any PROF_ITER."""
ROW_UNKNOWN = -2**63 + 1
"""`group` of rows by iteration: its PROF_ITER was overwritten."""

# One row of a table, ink_table_row: inkmark/table.h says what each field means.
row_dtype = numpy.dtype([
    ("part", "u4"), ("kernel", "u4"), ("section", "u4"), ("group", "i8"), ("depth", "u4"), ("called", "u1"),
    ("summed", "u1"), ("twice", "u1"), ("self_known", "u1"), ("inside_count", "u1"), ("inside", "u4", 4),
    ("count", "u8"), ("cut", "u8"), ("nested", "u8"), ("passes", "u8"), ("tracks", "u8"),
    ("total_cycles", "u8"), ("self_cycles", "u8"), ("min_cycles", "u8"), ("p1_cycles", "u8"), ("median_cycles", "u8"),
    ("p99_cycles", "u8"), ("max_cycles", "u8"), ("total_ns", "f8"), ("self_ns", "f8"), ("min_ns", "f8"),
    ("p1_ns", "f8"), ("median_ns", "f8"), ("p99_ns", "f8"), ("max_ns", "f8"), ("max_track", "u8"), ("max_iteration", "i8"),
    ("share", "f8"), ("imbalance", "f8"), ("marking_cycles", "u8"), ("marking_bound_cycles", "f8"),
    ("bound_ns", "f8")], align=True)
# The totals of one part of a kernel, ink_kernel_total. `instance` is a C string's address; Capture.instance reads it.
total_dtype = numpy.dtype([
    ("kernel", "u4"), ("device", "i4"), ("instance", "u8"), ("iterations", "u8"), ("tracks", "u8"), ("launches", "u8"),
    ("marks_executed", "u8"), ("marks_kept", "u8"),
    ("marks_dropped", "u8"), ("missed", "u8"), ("tracks_partial", "u8"), ("tracks_lost", "u8"), ("marks_lost", "u8"),
    ("total_cycles", "u8"), ("unmarked_cycles", "u8"), ("total_ns", "f8"), ("unmarked_ns", "f8"),
    ("unknown_cycles", "u8"), ("without_marking", "?"), ("marking_cycles", "u8"), ("marking_bound_cycles", "f8"),
    ("bound_ns", "f8"), ("outside_cycles", "f8"),
    ("async_ranges", "u8"), ("instants", "u8"), ("values", "u8"), ("marks_dropped_open", "u8"), ("rows_executed", "u8")],
    align=True)
# One launch, ink_launch: dimensions are x, y, z; times are raw globaltimer.
launch_dtype = numpy.dtype([
    ("device", "i4"), ("kernel", "u4"), ("grid_id", "u8"), ("grid_dim", "u4", 3), ("block_dim", "u4", 3),
    ("track_count", "u8"), ("first_open_global_ns", "u8"), ("last_close_global_ns", "u8"), ("at_most", "u4"),
    ("one_of", "u4")], align=True)
# Ranges across threads, ink_crossing_total: roles are indices into sections, NO_ROLE where there is none.
crossing_dtype = numpy.dtype([
    ("kernel", "u4"), ("section", "u4"), ("from_role", "u4"), ("to_role", "u4"), ("scope", "u1"), ("exact", "u1"),
    ("reserved", "u1", 6), ("count", "u8"), ("backwards", "u8"), ("without_end", "u8"), ("without_begin", "u8"),
    ("min_cycles", "u8"), ("median_cycles", "u8"), ("max_cycles", "u8"), ("total_ns", "f8"), ("min_ns", "f8"),
    ("median_ns", "f8"), ("max_ns", "f8"), ("bound_ns", "f8"), ("mean_in_flight", "f8"), ("most_in_flight", "u8")], align=True)


# One activity of CUPTI's, ink_activity; begin_ns and end_ns are CUPTI's clock.
activity_dtype = numpy.dtype([
    ("kind", "u4"), ("device", "i4"), ("begin_ns", "u8"), ("end_ns", "u8"), ("correlation", "u4"), ("name", "u4"),
    ("context", "u4"), ("stream", "u4"), ("grid_id", "u8"), ("bytes", "u8"), ("grid_dim", "u4", 3), ("block_dim", "u4", 3),
    ("registers", "u4"), ("static_shared_bytes", "u4"), ("dynamic_shared_bytes", "u4"), ("sm_shared_bytes", "u4"),
    ("local_bytes", "u4"), ("graph", "u4"), ("graph_node", "u8"), ("result", "i4"), ("peer", "i2"), ("copy", "u1"),
    ("launch", "u1"), ("reserved", "u8")], align=True)
# A range of the host, or a mark, ink_host_range. The names are C strings' addresses; Capture.host_ranges reads them.
host_range_dtype = numpy.dtype([
    ("name", "u8"), ("domain", "u8"), ("category_name", "u8"), ("begin_ns", "i8"), ("end_ns", "i8"), ("kind", "u4"),
    ("flags", "u4"), ("thread", "u4"), ("depth", "u4"), ("category", "u4"), ("color", "u4"), ("payload_type", "u4"),
    ("open", "u1"), ("reserved", "u1", 3), ("payload", "u8"), ("launches", "u8"), ("kernels", "u8"), ("kernels_ns", "i8")],
    align=True)
