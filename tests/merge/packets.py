# SPDX-License-Identifier: MIT
# Perfetto packets for tests, as the SDK, its service and GPU drivers write them: a writer of protobuf of its own. Field
# numbers are those of Perfetto's protos/perfetto/trace.
import struct

REALTIME, MONOTONIC, BOOTTIME, DELTA = 1, 3, 6, 64
BEGIN, END = 1, 2


def varint(n):
    n &= 2 ** 64 - 1
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


def packet(*fields):
    return field(1, message(*fields))


def snapshot(clocks, primary=None, sequence=None, more=()):
    """clocks: (id, time) or (id, time, is incremental, unit)."""
    body = b"".join(field(1, message(*[(i + 1, v) for i, v in enumerate(c) if v])) for c in clocks)
    return packet((6, body + (field(2, primary) if primary else b"")), *([(10, sequence)] if sequence else []), *more)


def argument(name, value):
    """name: a text, or the iid of one."""
    key = (1, name) if isinstance(name, int) else (10, name)
    if isinstance(value, list):
        return message(key, *[(12, message((4, v))) for v in value])
    return message(key, (6, value) if isinstance(value, str) else (3, value))


def event(kind, track=None, name=None, category=None, args=()):
    """name and category: texts, or iids."""
    fields = [(9, kind)]
    fields += [(11, track)] if track else []
    fields += [(10 if isinstance(name, int) else 23, name)] if name else []
    fields += [(3 if isinstance(category, int) else 22, category)] if category else []
    return message(*fields, *[(4, argument(*a)) for a in args])


def interned(categories=(), names=(), arguments=(), values=(), stages=()):
    entries = [(number, iid, text) for number, table in ((1, categories), (2, names), (3, arguments), (29, values)) for iid, text in table]
    return message(*[(n, message((1, iid), (2, text))) for n, iid, text in entries],
                   *[(24, message((1, iid), (2, text), (4, kind))) for iid, text, kind in stages])


def track(uuid, name=None, parent=None, process=None):
    fields = [(1, uuid)] + ([(2, name)] if name else []) + ([(5, parent)] if parent else [])
    return message(*fields, *([(3, message((1, process[0]), (6, process[1])))] if process else []))
