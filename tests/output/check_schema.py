# SPDX-License-Identifier: MIT
"""The Perfetto output against the whole schema of a current Perfetto, as its Python package has it:
every field is one of the schema's, and enumerations hold known values.

check_schema.py OUTPUT_TOOL"""
import sys

from scratch import Scratch, skip

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
except ImportError as error:
    skip(f"{error}: tests/run.sh installs it")


def unknown(message, path):
    """The unknown fields of a message and of those in it, as paths."""
    found = [f"{path}.{field.field_number}" for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        values = [value] if not field.is_repeated else value
        for item in values:
            found += unknown(item, f"{path}.{field.name}")
    return found


def main(tool):
    with Scratch(tool) as scratch:
        with open(scratch.write("perfetto", scratch.make("mixed"), "mixed.pftrace"), "rb") as f:
            data = f.read()
        trace = schema.Trace()
        trace.ParseFromString(data)
        assert len(trace.packet) > 1000 and len(trace.SerializeToString()) == len(data)
        found = unknown(trace, "trace")
        assert not found, found[:5]
        # An unknown field is seen: the check can fail.
        odd = schema.Trace()
        odd.ParseFromString(b"\x0a\x06\x8a\xa9\x3d\x02\x08\x01")
        assert unknown(odd, "trace"), "an unknown field went unnoticed"

        packets = trace.packet
        tracks = [p.track_descriptor for p in packets if p.HasField("track_descriptor")]
        explicit = schema.TrackDescriptor.ChildTracksOrdering.Value("EXPLICIT")
        apart = schema.TrackDescriptor.SiblingMergeBehavior.Value("SIBLING_MERGE_BEHAVIOR_NONE")
        for track in tracks:
            assert track.HasField("counter") or track.child_ordering == explicit
            assert not track.parent_uuid or track.sibling_merge_behavior == apart
        uuids = [t.uuid for t in tracks]
        assert len(set(uuids)) == len(uuids), "two tracks with one number"
        for track in tracks:
            assert not track.parent_uuid or track.parent_uuid in uuids
        sms = [t for t in tracks if t.name.startswith("SM ")]
        assert all(t.sibling_order_rank == int(t.name[3:]) for t in sms) and sms
        blocks = {}
        for t in tracks:
            if t.name.startswith("block ") and "async" not in t.name and " warp " not in t.name:
                blocks.setdefault(t.parent_uuid, []).append((t.sibling_order_rank, int(t.name.split()[1])))
        for order in blocks.values():
            assert [b for _, b in sorted(order)] == sorted(b for _, b in order)
    print("ok")


main(sys.argv[1])
