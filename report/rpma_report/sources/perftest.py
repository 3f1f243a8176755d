# SPDX-License-Identifier: BSD-3-Clause
"""The output of perftest with --out_json: one size, without units, versions or hosts.

Up to perftest 23.10 it is not JSON (names without quotes, commas before brackets), so it is
read by its lines. Latencies are microseconds; those of write and send are half a round trip.
The unit of BW_average depends on an option that is not in the file, MiB or with --report_gbits
10^9 bits a second: it is the one in which it agrees with MsgRate, millions a second, times MsgSize.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rpma_report.model import NOT_READ, Estimate, Latency, Point, Remark, Run
from rpma_report.sources.text import MAX_NS, TextSource, is_supported, point, run_of
from rpma_report.text import shown

KIND = "perftest's output"
SOURCE = "perftest"
_BEGIN = re.compile(r'\s*\{\s*"?test_info"?\s*:')
_MEMBER = re.compile(r'\s*"?([A-Za-z_][A-Za-z0-9_.]{0,40})"?\s*:\s*(.*?)\s*,?\s*')
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?", re.ASCII)
_TEST = re.compile(r"(RDMA_Write|RDMA_Read|Send|Atomic\w*)_(?:IMM_)?(Latency|BW|Bandwidth)_Test")
_OPS = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send"}
_ASCENDING = ("t_min", "t_typical", "percentile_99", "percentile_99.9", "t_max")
_MAX_LINES = 10_000
_UNITS = {"MiB/s": float(1 << 20), "Gbit/s": 1e9 / 8}  # units of BW_average, in bytes a second
_RATE_ROUNDED = 0.5e-6 * 1e6 * 1.01  # operations a second: MsgRate has six decimals
_UNKNOWN = (
    "perftest records no unit of BW_average, no version, host, command line, time, memory kind or repeats, and with "
    "several sizes the last alone. Its summary leaves out the slowest operations."
)

Blocks = dict[str, dict[str, tuple[int, str]]]  # by block and key: line and text


def is_one(text: str) -> bool:
    return bool(_BEGIN.match(text[:200]))


def check(source: TextSource) -> None:
    _point(source, _blocks(source))


def run(source: TextSource) -> Run:
    blocks = _blocks(source)
    device = blocks["test_info"].get("Device", (0, ""))[1]
    found = run_of(source, "perftest", "perftest", [_point(source, blocks)], _UNKNOWN, device_name=shown(device, 60) or None)
    return replace(found, warnings=(*found.warnings, *_not_read(source, blocks)))


def _not_read(source: TextSource, blocks: Blocks) -> Iterator[Remark]:
    """A bandwidth whose unit cannot be told is no figure, and its absence no pass."""
    size, bandwidth = int(_needed(source, blocks, "MsgSize")), _number(source, blocks, "BW_average")
    if bandwidth and _unit(source, blocks, size) is None:
        text = f"BW_average {bandwidth:g} is not read: MsgRate has too few digits to tell its unit, {' or '.join(_UNITS)}"
        yield Remark(NOT_READ, "warn", "client", text)


def _unit(source: TextSource, blocks: Blocks, size: int) -> float | None:
    """Bytes a second of one of BW_average; None where its unit cannot be told."""
    bandwidth, rate = _number(source, blocks, "BW_average"), _number(source, blocks, "MsgRate")
    if not bandwidth or rate is None:
        return None
    line, text = blocks["results"]["BW_average"]
    rounded = 0.5 * 10.0 ** -len(text.partition(".")[2]) * 1.01
    agreeing = [unit for unit in _UNITS.values()
                if abs(bandwidth * unit - rate * 1e6 * size) <= _RATE_ROUNDED * size + rounded * unit]  # fmt: skip
    if not agreeing:
        source.contradicts(line, f"BW_average is {text}, but MsgRate x MsgSize is {rate * 1e6 * size:,.10g} bytes a second: "
                           f"they agree neither in {' nor in '.join(_UNITS)}")  # fmt: skip
    return agreeing[0] if len(agreeing) == 1 else None


def _blocks(source: TextSource) -> Blocks:
    blocks: Blocks = {}
    within, depth, number = "", 0, 1
    for number, line in source.lines():
        text = line.strip().rstrip(",").rstrip()
        if number > _MAX_LINES:
            source.refuse(number, f"expected at most {_MAX_LINES:,} lines")
        if text == "{" and depth == 0:
            depth = 1
        elif text == "}" and depth:
            depth, within = depth - 1, ""
        elif (match := _MEMBER.fullmatch(line)) and depth == 1 and match[2] == "{":
            within, depth = match[1], 2
            if blocks.setdefault(within, {}):
                source.refuse(number, f"expected {within} once")
        elif match and depth == 2:
            if match[1] in blocks[within]:
                source.refuse(number, f"expected {match[1]} once")
            blocks[within][match[1]] = (number, match[2].strip('"'))
        elif text:
            source.expected(number, "a name and its value, such as t_avg: 1.05", line.strip()[:60])
    if depth:
        source.refuse(number, "expected a closing bracket, the file is cut off")
    for block in ("test_info", "results"):
        if not blocks.get(block):
            source.refuse(number, f"expected {block} with its values")
    return blocks


def _number(source: TextSource, blocks: Blocks, key: str) -> float | None:
    """None where it is not there."""
    line, text = blocks["results"].get(key, (0, ""))
    if not line:
        return None
    if not _NUMBER.fullmatch(text) or float(text) < 0:
        source.expected(line, f"{key} to be a number from 0", text[:60])
    return float(text)


def _needed(source: TextSource, blocks: Blocks, key: str) -> float:
    found = _number(source, blocks, key)
    if found is None:
        source.refuse(next(iter(blocks["results"].values()))[0], f"expected {key} in results")
    return found


def _point(source: TextSource, blocks: Blocks) -> Point:
    name = blocks["test_info"].get("test", (0, ""))[1]
    match = _TEST.fullmatch(name)
    op = _OPS.get(match[1], "atomic") if match else shown(name, 40) or "unknown"
    size, count = int(_needed(source, blocks, "MsgSize")), int(_needed(source, blocks, "n_iterations"))
    more = _rates(source, blocks, size)
    half = op in ("write", "send")
    params = {
        "size_bytes": size,
        "depth": _info(blocks, "TX_depth"),
        "connections": _info(blocks, "Number_of_qps"),
        "latency_kind": "perftest_half" if half else "perftest_whole",
    }
    return point(shown(name, 40) or "test", SOURCE, op, _latency(source, blocks, count), count, params=params, **more)


def _rates(source: TextSource, blocks: Blocks, size: int) -> dict[str, Any]:
    """BW_average has more digits than MsgRate where operations are large."""
    rate, bandwidth, unit = _number(source, blocks, "MsgRate"), _number(source, blocks, "BW_average"), _unit(source, blocks, size)
    peak = _number(source, blocks, "BW_peak")
    if peak and bandwidth and peak < bandwidth:
        source.contradicts(blocks["results"]["BW_peak"][0], f"BW_peak is {peak:g}, below BW_average, {bandwidth:g}")
    found: dict[str, Any] = {}
    ops = rate * 1e6 if rate is not None else _number(source, blocks, "tps_average")
    per_s = bandwidth * unit if bandwidth and unit else rate * 1e6 * size if rate and not bandwidth else None
    if per_s:
        found |= {"bytes_per_s": Estimate(per_s), "bytes_per_s_by_repeat": (per_s,)}
        ops = per_s / size if rate is not None and size and _RATE_ROUNDED > 1e-4 * rate * 1e6 else ops
    if ops:
        found |= {"ops_per_s": Estimate(ops), "ops_per_s_by_repeat": (ops,)}
    return found


def _info(blocks: Blocks, key: str) -> int | None:
    text = blocks["test_info"].get(key, (0, ""))[1]
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else None


def _check_ascent(source: TextSource, blocks: Blocks) -> None:
    """Whatever the count supports, what is written ascends."""
    before, name = 0.0, ""
    for key in _ASCENDING:
        us = _number(source, blocks, key)
        if us is None:
            continue
        if us < before:
            source.contradicts(blocks["results"][key][0], f"{key} is {us:g}, below {name}, {before:g}")
        before, name = us, key
    deviation, spread = _number(source, blocks, "t_stdev"), before - (_number(source, blocks, "t_min") or 0)
    if deviation is not None and deviation > spread + 0.01:
        source.contradicts(blocks["results"]["t_stdev"][0], f"t_stdev is {deviation:g}, but all lie within {spread:g}")


def _latency(source: TextSource, blocks: Blocks, count: int) -> Latency | None:
    """None of a bandwidth, and where only an average is there."""
    least, most, mean = (_number(source, blocks, key) for key in ("t_min", "t_max", "t_avg"))
    if least is None or most is None or mean is None or count == 0:
        return None
    line = blocks["results"]["t_min"][0]
    if not least <= mean <= most:
        source.contradicts(line, f"expected t_min, t_avg and t_max to ascend, found {least}, {mean}, {most}")
    _check_ascent(source, blocks)
    told = {0.5: "t_typical", 0.99: "percentile_99", 0.999: "percentile_99.9"}
    known = {p: us * 1e3 for p, key in told.items()
             if (us := _number(source, blocks, key)) is not None and is_supported(count, p)}  # fmt: skip
    return Latency.once(count, round(min(least * 1e3, MAX_NS)), round(min(most * 1e3, MAX_NS)), mean * 1e3, known)
