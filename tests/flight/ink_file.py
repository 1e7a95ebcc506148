# SPDX-License-Identifier: MIT
"""Reads tracks, parts and counts of a capture by docs/format.md alone, and the clocks that the simulator's log says
each thread read. Shares no code with libinkmark."""
import collections
import struct

LOST_BEFORE, CLOSED, OPEN = 1, 2, 1
TRACK = struct.Struct("<QQIIQQ3I3I3IIIIII6Q4Q2Q")
PART = struct.Struct("<QQQQII")
UNWRITTEN = (1 << 64) - 1
LOW = (1 << 48) - 1

Track = collections.namedtuple("Track", "state ticket grid block thread flags open0 open1 close0 words extra "
                               "aux_words aux_extra body aux")
Part = collections.namedtuple("Part", "ticket open0 first ring flags words")


class Capture:
    """tracks and parts in the order of the file; counts: the newest of each kernel slot."""

    def __init__(self, path):
        self.tracks, self.parts, self.counts, self.facts = [], [], {}, {}
        self.claims = self.unknown = 0
        data = open(path, "rb").read()
        at = struct.unpack_from("<I", data, 16)[0]
        while at + 32 <= len(data):
            magic, kind, size = struct.unpack_from("<IIQ", data, at)
            if magic != 0xC5A1B7E9 or at + 32 + size > len(data):
                break
            self.chunk(kind, data[at + 32:at + 32 + size])
            at += 32 + (size + 7) // 8 * 8

    def chunk(self, kind, body):
        if kind == 1:
            key, value = body.split(b"\0")[:2]
            self.facts.setdefault(key.decode(), []).append(value.decode())
        elif kind == 5:
            _, n, self.claims, self.unknown = struct.unpack_from("<iIQQ", body)
            for i in range(n):
                slot, _, key, missed, tracks, marks, words = struct.unpack_from("<IIQQQQQ", body, 24 + i * 48)
                self.counts[slot] = (missed, tracks, marks, words)
        elif kind in (13, 14):
            n, at = struct.unpack_from("<Q", body, 8)[0], 16
            for _ in range(n):
                at = (self.track if kind == 14 else self.part)(body, at)

    def track(self, body, at):
        f = TRACK.unpack_from(body, at)
        at += TRACK.size
        ring, aux = f[0], f[1]
        words = struct.unpack_from(f"<{ring + aux}Q", body, at)
        gx, gy = f[6], f[7]
        block = f[12] + gx * (f[13] + gy * f[14])
        open0, _, open1, close0 = f[20:24]
        self.tracks.append(Track(f[2], f[4], f[5], block, f[15], f[19], open0, open1, close0, f[26], f[27], f[28],
                                 f[29], words[:ring], words[ring:]))
        return at + 8 * (ring + aux)

    def part(self, body, at):
        n, ticket, open0, first, ring, flags = PART.unpack_from(body, at)
        at += PART.size
        self.parts.append(Part(ticket, open0, first, ring, flags, struct.unpack_from(f"<{n}Q", body, at)))
        return at + 8 * n


def records(words, upper):
    """[(index of the first word, words, clock)] of the whole records, oldest first; None: something is none."""
    found, left = [], len(words)
    while left:
        kind = (words[left - 1] ^ upper) >> 61
        size, head = 1, left - 1
        if kind in (4, 5, 6):
            size = 2
        elif kind == 7:
            code = (words[left - 1] ^ upper) >> 48 & 0x1FFF
            inner = (words[left - 2] ^ upper) >> 61 if left > 1 else 0
            size = {2: 3 if inner >= 4 else 2, 4: 3, 6: 3, 8: 3, 10: 6, 12: 5}.get(code, 0)
            head = left - 2
            if not size:
                return None
        if size > left:
            break  # its beginning was overwritten
        left -= size
        found.append((left, size, upper | words[head] & LOW))
    return found[::-1]


class Log:
    """reads[(grid, block)]: the clocks that its thread 0 read, in order; done: the grids that ended; grids: name, blocks."""

    def __init__(self, path):
        self.reads, self.done, self.grids = collections.defaultdict(list), set(), {}
        for line in open(path):
            f = line.split()
            if f[0] == "clock64" and len(f) == 12 and f[6] == "0":
                self.reads[(int(f[2]), int(f[3]))].append(int(f[10]))
            elif f[0] == "grid" and len(f) == 12:
                self.done.add(int(f[2]))
                self.grids[int(f[2])] = f[3], int(f[4])
