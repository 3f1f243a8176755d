# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the word trace:FILE of RPMA_SOFT leaves; rpma-soft(1) has the format."""

import struct
from pathlib import Path
from typing import NamedTuple

MAGIC = b"pmtrace1"
HEADER = struct.Struct("=8sIIQQ")
KINDS_AT = 64
KIND = struct.Struct("=QQ")
RECORD = struct.Struct("=QQQQIIBBB5x")
# the numbers of enum ibv_wr_opcode
KIND_NAMES = {
    0: "write",
    1: "write-imm",
    2: "send",
    3: "send-imm",
    4: "read",
    5: "compare-swap",
    6: "fetch-add",
    14: "flush",
    15: "atomic-write",
}


class Operation(NamedTuple):
    posted_ns: int
    delay_ns: int
    done_ns: int
    polled_ns: int
    qpn: int
    bytes: int
    opcode: int
    status: int
    signaled: int

    @property
    def kind(self) -> str:
        return KIND_NAMES[self.opcode]


class Kind(NamedTuple):
    operations: int
    bytes: int


class Trace:
    """One process's: its operations in the order of their posts, and how many of each kind."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:  # most of it is room
            content = file.read(HEADER.size)
            magic, header_bytes, record_bytes, room, posted = HEADER.unpack(content)
            assert magic == MAGIC and record_bytes == RECORD.size, f"{path} is no trace"
            content += file.read(header_bytes - HEADER.size)
            records = file.read(min(posted, room) * record_bytes)
        self.overflowed = posted > room
        self.operations = [Operation(*fields) for fields in RECORD.iter_unpack(records)]
        self.kinds: dict[str, Kind] = {}
        for number, name in KIND_NAMES.items():
            kind = Kind(*KIND.unpack_from(content, KINDS_AT + number * KIND.size))
            if kind.operations:
                self.kinds[name] = kind


def read_traces(pattern: str) -> list[Trace]:
    """Those of all processes that had this name, with its %p, for their file."""
    path = Path(pattern.replace("%p", "*"))
    return [Trace(found) for found in sorted(path.parent.glob(path.name))]


def take_traces(pattern: str) -> list[Trace]:
    """Removes them, too: rpma-bench locks its memory, and the room of 48 MiB goes to the disk."""
    path = Path(pattern.replace("%p", "*"))
    found = read_traces(pattern)
    for file in path.parent.glob(path.name):
        file.unlink()
    return found
