#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks a result of rpma-bench against what was asked for.

Used by the scripts that run in the guest. It reads nothing but the file and
the schema, and works out every figure that follows from others.
"""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[3] / "doc/schema/rpma-bench-1.schema.json"


def check_schema(document: Any) -> None:
    try:
        import jsonschema
    except ImportError:
        print("check_result: no jsonschema here: the schema was not checked", file=sys.stderr)
        return
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)


def width(low: int, sub_bits: int) -> int:
    return 1 if low < 1 << sub_bits else 1 << (low.bit_length() - 1 - sub_bits)


def check_latency(latency: dict[str, Any], ops: int) -> None:
    histogram = latency["histogram"]
    buckets = histogram["buckets"]
    lows = [low for low, _ in buckets]
    assert lows == sorted(set(lows)), "buckets are not ascending"
    assert sum(count for _, count in buckets) == latency["count"] == ops, "samples are not ops"
    assert lows[0] <= latency["min_ns"] < lows[0] + width(lows[0], histogram["sub_bits"])
    assert lows[-1] <= latency["max_ns"] < lows[-1] + width(lows[-1], histogram["sub_bits"])
    assert latency["min_ns"] <= latency["mean_ns"] <= latency["max_ns"]
    # the mean of bucket starts is below the true mean by less than a bucket's width
    start = sum(low * count for low, count in buckets) / ops
    assert start <= latency["mean_ns"] <= start * (1 + 2 ** -histogram["sub_bits"]) + 1
    for item in latency["percentiles"]:
        enough = ops * (1 - item["p"]) >= 10 - 1e-6
        assert (item["ns"] is not None) == enough, f"p{item['p']} of {ops} samples"
        if enough:
            assert latency["min_ns"] <= item["lo_ns"] <= item["ns"] <= item["hi_ns"]
            assert item["hi_ns"] <= latency["max_ns"]


def check_repeat(repeat: dict[str, Any], size: int, duration_ns: int) -> None:
    ops, elapsed = repeat["ops"], repeat["elapsed_ns"]
    assert ops > 0 and repeat["bytes"] == ops * size, "bytes are not ops x size"
    assert abs(repeat["ops_per_s"] * elapsed / 1e9 - ops) <= 1e-6 * ops + 1
    assert elapsed >= duration_ns or not repeat["complete"], "ended early"
    assert sum(thread["ops"] for thread in repeat["threads"]) == ops
    check_latency(repeat["latency"], ops)


def check_points(document: dict[str, Any], asked: argparse.Namespace) -> None:
    found = [(p["params"]["persist"], p["params"]["size_bytes"], p["params"]["depth"])
             for p in document["points"]]
    wanted = [(persist, size, depth) for persist in asked.persists or {f[0] for f in found}
              for depth in asked.depths for size in asked.sizes]
    complete = document["run"]["status"] == "complete"
    if complete:
        assert found == wanted, f"points {found}, asked for {wanted}"
    else:
        assert set(found) <= set(wanted) and len(set(found)) == len(found), found
    orders: list[int] = []
    for point in document["points"]:
        size = point["params"]["size_bytes"]
        for key, value in asked.param:
            found_value = point["params"]
            for part in key.split("."):
                found_value = found_value[part]
            assert str(found_value) == value, f"{key} is {found_value}"
        repeats = point["repeats"]
        assert not complete or [r["index"] for r in repeats] == list(range(asked.repeats))
        for repeat in repeats:
            check_repeat(repeat, size, point["stop"]["duration_ns"])
        orders += [r["order"] for r in repeats]
        merged = point["summary"]["latency"]["merged_histogram"]["buckets"]
        counted = [r for r in repeats if r["complete"]] or repeats
        assert sum(c for _, c in merged) == sum(r["ops"] for r in counted)
        assert point["summary"]["n"] == len(counted)
    assert len(set(orders)) == len(orders)
    assert not complete or sorted(orders) == list(range(len(wanted) * asked.repeats))


def pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--sizes", type=numbers, required=True)
    parser.add_argument("--depths", type=numbers, default=[1])
    parser.add_argument("--persists", type=lambda text: text.split(","),
                        help="if not given, whatever it is, and only one")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--status", default="complete")
    parser.add_argument("--kind", default="rxe")
    parser.add_argument("--warning", action="append", default=[])
    parser.add_argument("--param", type=pair, action="append", default=[])
    asked = parser.parse_args()
    document = json.loads(asked.file.read_text())
    check_schema(document)
    assert document["run"]["status"] == asked.status, document["run"]["status"]
    assert document["device"]["kind"] == asked.kind, document["device"]
    for host in ("client", "server"):
        assert document["environment"][host]["os"]["kernel"], f"no environment of the {host}"
    codes = {warning["code"] for warning in document["run"]["warnings"]}
    assert set(asked.warning) <= codes, codes
    check_points(document, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
