# SPDX-License-Identifier: BSD-3-Clause
"""The compressed histogram of an HdrHistogram log, V2: bytes in, buckets out.

The published form: base64 around a cookie, a length and a zlib stream; in it a header of 40
bytes and counts as ZigZag LEB128 of 9 bytes at most, where a negative number is that many
empty buckets. Bytes are hostile: nothing is unpacked beyond MAX_BYTES.
"""

import base64
import binascii
import struct
import zlib
from array import array

from rpma_report.model import Histogram

MAX_BYTES = 8 << 20  # unpacked; a histogram of 3 digits over an hour has 0.3 MiB
MAX_BASE64 = 16 << 20
_COOKIE, _COMPRESSED, _MASK = 0x1C849303, 0x1C849304, ~0xF0
_HEADER = struct.Struct(">iiiiqqd")
_MAX_VALUE = 2**62


class Malformed(ValueError):
    """The expectation that the bytes miss."""


def decode(text: str) -> Histogram | None:
    """None for a histogram without samples."""
    payload, digits, lowest = _payload(_unpacked(text))
    return _histogram(_counts(payload), digits, lowest)


def _unpacked(text: str) -> bytes:
    if len(text) > MAX_BASE64:
        raise Malformed(f"expected at most {MAX_BASE64 >> 20} MiB of base64")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed("expected a histogram in base64") from error
    if len(data) < 8:
        raise Malformed("expected a cookie and a length, the histogram ends before")
    cookie, length = struct.unpack_from(">ii", data)
    if cookie & _MASK != _COMPRESSED:
        raise Malformed(f"expected the cookie of a compressed V2 histogram, found {cookie & 0xFFFFFFFF:#010x}")
    if length != len(data) - 8:
        raise Malformed(f"expected {length} compressed bytes, found {len(data) - 8}")
    return _inflated(data[8:])


def _inflated(data: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, MAX_BYTES)
    except zlib.error as error:
        raise Malformed("expected a zlib stream, it is damaged") from error
    if stream.unconsumed_tail:
        raise Malformed(f"expected at most {MAX_BYTES >> 20} MiB in the zlib stream")
    if not stream.eof:
        raise Malformed("expected the end of the zlib stream, it is cut off")
    if stream.unused_data:
        raise Malformed("expected nothing behind the zlib stream")
    return found


def _payload(data: bytes) -> tuple[bytes, int, int]:
    """Counts, significant digits, lowest value that is told from others."""
    if len(data) < _HEADER.size:
        raise Malformed(f"expected a header of {_HEADER.size} bytes, found {len(data)}")
    cookie, length, offset, digits, lowest, highest, ratio = _HEADER.unpack_from(data)
    if cookie & _MASK != _COOKIE:
        raise Malformed(f"expected the cookie of a V2 histogram, found {cookie & 0xFFFFFFFF:#010x}")
    if not 0 <= length <= len(data) - _HEADER.size:
        raise Malformed(f"expected {length} bytes of counts, found {len(data) - _HEADER.size}")
    if not 0 <= digits <= 5:
        raise Malformed(f"expected 0 to 5 significant digits, found {digits}")
    if not 1 <= lowest <= highest < _MAX_VALUE:
        raise Malformed(f"expected a range of values from 1, found {lowest} to {highest}")
    if offset != 0 or ratio != 1.0:
        raise Malformed(f"expected integers that are not shifted, found offset {offset} and ratio {ratio:g}")
    return data[_HEADER.size : _HEADER.size + length], digits, lowest


def _counts(payload: bytes) -> list[tuple[int, int]]:
    """(index of the bucket, count), those that are not empty."""
    found, index, at = [], 0, 0
    while at < len(payload):
        number, at = _zigzag(payload, at)
        if number < 0:
            index -= number
        else:
            if number:
                found.append((index, number))
            index += 1
        if index > 1 << 31:
            raise Malformed("expected fewer buckets, a run of empty ones does not end")
    return found


def _zigzag(payload: bytes, at: int) -> tuple[int, int]:
    """The ninth byte has eight bits."""
    value, shift = 0, 0
    for number in range(9):
        if at >= len(payload):
            raise Malformed("expected another byte of a count, the counts are cut off")
        byte = payload[at]
        at += 1
        if number == 8:
            value |= byte << shift
            break
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    return value >> 1 if not value & 1 else -(value >> 1) - 1, at


def _histogram(counts: list[tuple[int, int]], digits: int, lowest: int) -> Histogram | None:
    """A bucket of index i begins at s << b: s runs over the upper half of 2^sub_bits+1 values in each octave b."""
    sub_bits = max((2 * 10**digits - 1).bit_length(), 1) - 1
    unit_bits, half = lowest.bit_length() - 1, 1 << sub_bits
    lows, numbers = array("q"), array("q")
    for index, count in counts:
        octave = max((index >> sub_bits) - 1, 0)
        within = index if index < half else (index & (half - 1)) + half
        if octave + unit_bits + sub_bits >= 62:
            raise Malformed("expected values below 2^62, a bucket lies above")
        lows.append(within << (octave + unit_bits))
        numbers.append(count)
    if sum(numbers) >= _MAX_VALUE:
        raise Malformed("expected fewer samples, there are 2^62 or more")
    return Histogram(lows, numbers, sub_bits, unit_bits) if lows else None
