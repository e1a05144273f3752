"""Reads and damages the files of a stopped node's data folder, as docs/format-log.md describes them. Not a program."""

import os
import struct

SEGMENT_HEADER, RECORD_HEADER = 64, 40
TYPES = ["", "message", "half", "decide", "checked", "release", "reopen", "move", "progress", "meta", "epoch", "pad",
         "mark"]

_TABLE = []
for _n in range(256):
    for _ in range(8):
        _n = (_n >> 1) ^ (0x82F63B78 if _n & 1 else 0)
    _TABLE.append(_n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Record:
    """Where one record stands, and its bytes."""

    def __init__(self, segment, offset, data):
        self.segment, self.offset = segment, offset
        _, self.length, kind, self.flags, words, self.epoch, self.at = struct.unpack_from("<IIBBHIQ", data, offset)
        self.type = TYPES[kind] if kind < len(TYPES) else str(kind)
        self.bytes = bytes(data[offset:offset + self.length])
        self.meta = RECORD_HEADER  # where the Cap'n Proto part begins
        self.payload = RECORD_HEADER + 8 * words
        self.end = offset + (self.length + 7) // 8 * 8


class Store:
    """The log of a data folder whose node is stopped."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "handfast-store")) as identity:
            words = dict(line.split(maxsplit=1) for line in identity.read().splitlines() if " " in line)
        self.seed = struct.pack("<Q", int(words["store"], 16))
        log = os.path.join(folder, "log")
        self.segments = [os.path.join(log, name) for name in sorted(os.listdir(log)) if name.endswith(".seg")]

    def records(self, *types):
        """In log order."""
        found = []
        for segment in self.segments:
            with open(segment, "rb") as file:
                data = file.read()
            offset = SEGMENT_HEADER
            while offset + RECORD_HEADER <= len(data) and data[offset + 4:offset + 8] != bytes(4):
                found.append(Record(segment, offset, data))
                offset = found[-1].end
        return [r for r in found if not types or r.type in types]

    def write(self, record, at, data):
        """Puts bytes into a record, and changes nothing else."""
        with open(record.segment, "r+b") as file:
            file.seek(record.offset + at)
            file.write(data)

    def rewrite(self, record, at, data):
        """Puts bytes into a record's header or Cap'n Proto part, and makes its checksum right again."""
        head = bytearray(record.bytes[:record.payload])
        head[at:at + len(data)] = data
        head[0:4] = struct.pack("<I", crc32c(self.seed + head[4:]))
        self.write(record, 0, bytes(head))

    def flip(self, record, at, bit=0):
        self.write(record, at, bytes([record.bytes[at] ^ (1 << bit)]))

    def write_behind_the_last(self, data):
        """Bytes where the next record would stand."""
        last = self.records()[-1]
        self.write(last, last.end - last.offset, data)
