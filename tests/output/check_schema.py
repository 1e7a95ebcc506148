# SPDX-License-Identifier: MIT
"""The Perfetto output against the whole schema of a current Perfetto, as its Python package has it:
every field is one of the schema's or of the extensions that the trace itself describes.

check_schema.py OUTPUT_TOOL"""
import sys

from scratch import Scratch, skip

try:
    from google.protobuf import descriptor_pb2
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


def add_extensions(data):
    """Makes the extensions known that the trace's first packet describes."""
    packet = schema.Trace.FromString(data).packet[0]
    files = descriptor_pb2.FileDescriptorSet.FromString(
        packet.extension_descriptor.extension_set.SerializeToString()).file
    assert [f.name for f in files] == ["inkmark.proto"]
    files[0].dependency.append(schema.DESCRIPTOR.name)
    pool = schema.DESCRIPTOR.pool
    pool.Add(files[0])
    names = {e.name: e.number for e in pool.FindAllExtensions(schema.TrackEvent.DESCRIPTOR)}
    assert names == {"sm": 2036, "block": 2037, "warp": 2038, "bound_ns": 2039, "iteration": 2040,
                     "cycles": 2041, "cut": 2042, "called": 2043, "key": 2044, "iteration_unknown": 2045,
                     "marking_cycles": 2046, "net_ns": 2047, "open": 2048}, names


def main(tool):
    with Scratch(tool) as scratch:
        with open(scratch.write("perfetto", scratch.make("mixed"), "mixed.pftrace"), "rb") as f:
            data = f.read()
        assert unknown(schema.Trace.FromString(data), "trace"), "the extensions are not known yet"
        add_extensions(data)
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
        by_uuid = {t.uuid: t for t in tracks}
        groups = [t for t in tracks if t.name == "launches"]
        assert len(groups) == 2 and all(by_uuid[t.parent_uuid].HasField("process") for t in groups)
        lanes = [t for t in tracks if t.name.startswith("SM ") and not t.HasField("counter") and "async" not in t.name]
        for group in groups:  # process > launches > SMs: a plain track keeps the order
            below = sorted((t.sibling_order_rank, t.name) for t in lanes if t.parent_uuid == group.uuid)
            numbers = [int(name.split()[1]) for _, name in below]
            assert numbers and numbers == sorted(numbers) and len({rank for rank, _ in below}) == len(below), below
        assert sum(t.parent_uuid in {g.uuid for g in groups} for t in lanes) == len(lanes)
    print("ok")


main(sys.argv[1])
