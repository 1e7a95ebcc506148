# SPDX-License-Identifier: MIT
"""Reads protobuf messages for tests, with nothing of inkmark and without a schema."""


def tagged_fields(data):
    """(number, wire type, value) of a message's fields: an int (type 0) or the bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, 0, number()
            continue
        size = number() if tag & 7 == 2 else 8 if tag & 7 == 1 else 4
        assert at + size <= len(data), (tag, size)
        yield tag >> 3, tag & 7, data[at:at + size]
        at += size


def fields(data):
    """(number, value) of a message's fields."""
    return ((number, value) for number, _, value in tagged_fields(data))
