# SPDX-License-Identifier: BSD-3-Clause
"""Points of rpma-bench's other tests: open loops, mixes, loads, connections, time series."""

from collections.abc import Sequence
from typing import Any

import sample


def with_latency(number: int, key: str, samples: Sequence[Sequence[int]], **params: Any) -> dict[str, Any]:
    """A point whose repeats have these samples as `key` (latency, response_latency…)."""
    size = params.pop("size_bytes", 4096)
    settings = sample.params(params.pop("test", "lat"), size, **params)
    # no more operations a second than their latencies have room for
    places = settings["depth"] * settings["threads"] * settings["connections"]
    repeats = [sample.repeat(i, size or 1, min(1e5, places * len(ns) * 1e9 / sum(ns)), len(ns), ns)
               for i, ns in enumerate(samples)]  # fmt: skip
    made = sample.point(number, settings, repeats, [n for s in samples for n in s])
    if key != "latency":
        for holder in (made["summary"], *repeats):
            holder[key], holder["latency"] = holder["latency"], None
    return made


def add_latency(point: dict[str, Any], key: str, other: dict[str, Any], of: str = "latency") -> dict[str, Any]:
    """Takes over what another point has of a latency."""
    point["summary"][key] = other["summary"][of]
    for repeat, source in zip(point["repeats"], other["repeats"], strict=True):
        repeat[key] = source[of]
    return point


def rate_point(number: int, offered: float, achieved: float, response: Sequence[int],
               service: Sequence[int], late: int = 0) -> dict[str, Any]:  # fmt: skip
    point = with_latency(number, "latency", [service], test="rate", mode="open", target_rate_per_s=offered)
    add_latency(point, "response_latency", with_latency(0, "latency", [response]))
    repeat, summary = point["repeats"][0], point["summary"]
    repeat.update(ops_per_s=achieved, bytes_per_s=achieved * 4096, late_ops=late,
                  elapsed_ns=round(len(service) / achieved * 1e9))  # fmt: skip
    summary.update(ops_per_s=sample.interval([achieved]), bytes_per_s=sample.interval([achieved * 4096]),
                   late_ops=late, unbegun_ops=0)  # fmt: skip
    return point


def mix_point(number: int, reads: float, write_ns: Sequence[int], read_ns: Sequence[int]) -> dict[str, Any]:
    point = with_latency(number, "latency", [write_ns], test="mix", read_fraction=reads)
    return add_latency(point, "read_latency", with_latency(0, "latency", [read_ns]))


def load_point(number: int, asked: float, measured: float | None, samples: Sequence[int], **params: Any) -> dict[str, Any]:
    point = with_latency(number, "latency", [samples], server_load_fraction=asked, **params)
    point["repeats"][0]["cpu"] = {
        "client": {"busy_fraction": 1.0}, "server": {"busy_fraction": 0.25, "load_fraction_measured": measured}
    }  # fmt: skip
    return point


def stepped_point(number: int, test: str, steps: dict[str, Sequence[int]], whole: Sequence[int],
                  size: int | None = None) -> dict[str, Any]:  # fmt: skip
    kind = {"connect": "connect", "register": "mr_reg"}[test]
    point = with_latency(number, "latency", [whole], test=test, op=None, persist="none", flush=None,
                         flush_method=None, latency_kind=kind, size_bytes=size)  # fmt: skip
    made = {name: with_latency(0, "latency", [ns]) for name, ns in steps.items()}
    for holder, of in ((point["summary"], "summary"), (point["repeats"][0], "repeats")):
        holder["steps"] = [
            {"name": name, "latency": (p[of] if of == "summary" else p[of][0])["latency"]} for name, p in made.items()
        ]
        holder["bytes_per_s"] = None
    point["repeats"][0]["bytes"] = None
    return point


def with_windows(point: dict[str, Any], repeats: Sequence[Sequence[tuple[int, int, int | None]]]) -> dict[str, Any]:
    """(end in ns, operations, p99) of each span of each repeat."""
    for repeat, spans in zip(point["repeats"], repeats, strict=True):
        repeat["intervals"] = [
            {"t_ns": end, "ops": ops, "bytes": ops * 4096, "p50_ns": None, "p99_ns": p99, "max_ns": p99} for end, ops, p99 in spans
        ]
    return point


def unbegun_point(number: int, offered: float, response: Sequence[int], unbegun: int, p50: float) -> dict[str, Any]:
    """An open loop of one repeat that left so many operations undone: they are later than all samples."""
    point = rate_point(number, offered, offered / 4, response, response, late=len(response))
    of_repeat, of_all = (holder["response_latency"] for holder in (point["repeats"][0], point["summary"]))
    for latency in (of_repeat, of_all):
        latency.update(unbegun_ops=unbegun, mean_ns=None, max_ns=None)
        latency["percentiles"] = [{"p": 0.5, "ns": p50, "lo_ns": None, "hi_ns": None}]
    of_repeat.update(stddev_ns=None)
    point["stop"]["duration_ns"] = round((len(response) + unbegun) / offered * 1e9)
    point["repeats"][0]["unbegun_ops"] = point["summary"]["unbegun_ops"] = unbegun
    return point
