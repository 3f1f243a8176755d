# SPDX-License-Identifier: BSD-3-Clause
"""Figures that a repeat of rpma-bench holds twice beside its sums: threads, spans, the plan of a rate, moments of a latency."""

import math
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from rpma_report.model import Histogram
from rpma_report.sources import histogram
from rpma_report.sources.document import quoted
from rpma_report.sources.sums import contradiction

_ROUNDED = 0.0011
_EXACT_TESTS = frozenset({"lat", "bw", "rate", "connect", "register"})  # one latency for each signalled operation
_TICKS = 1e-6  # share of a time that its ticks round
_TICKS_NS = 1_000_000_000  # CPU time may be counted by the tick, and begin before the repeat
_LATE_NS = 1_000_000  # the last span of a thread may end a little after the last completion
_APART = 1.25
_GRID_NS = 2  # the end of a span, rounded
_CLOCK = 1e-3
_SIGMAS = 7  # by which a share of random operations may be off: once in 10^11
_SHORT = 0.9  # part of the time of a closed loop: the last completion may come before its end


def check_threads(at: Any) -> None:
    threads, params = at.value["threads"], at.point["params"]
    if not threads or at.source.document.get("ranks"):
        return
    if params["threads"] is not None and len(threads) != params["threads"]:
        raise contradiction(at, ("threads",), f"are {len(threads)}, but params.threads is {params['threads']}")
    for number, thread in enumerate(threads):
        if thread["index"] != number:
            raise contradiction(at, ("threads", number, "index"), f"is {thread['index']}, expected {number}")
        used = thread.get("user_ns", 0) + thread.get("sys_ns", 0)
        polls_on = params["mode"] == "open" and not at.value["complete"]  # past its last completion, until it is stopped
        if not polls_on and used > at.value["elapsed_ns"] * 1.05 + _TICKS_NS:
            raise contradiction(at, ("threads", number, "user_ns"), f"and sys_ns are {used}, but the repeat took {at.value['elapsed_ns']}")


def check_cpu(at: Any) -> None:
    """Threads are a part of their process, whose time is not the repeat's: it began before, for as long as the host let it."""
    repeat = at.value
    busy = ((repeat.get("cpu") or {}).get("client") or {}).get("busy_fraction")
    used = sum(thread.get("user_ns", 0) + thread.get("sys_ns", 0) for thread in repeat["threads"])
    if busy is not None and not at.source.document.get("ranks") and used > busy * repeat["elapsed_ns"] * _APART + _TICKS_NS:
        raise contradiction(at, ("threads",), f"have {used} ns of CPU time, but cpu.client.busy_fraction is {busy}")


def check_quota(at: Any) -> None:
    for end, told in (at.value.get("cpu_quota") or {}).items():
        if told and told["limited"] != ("periods" in told):
            raise contradiction(at, ("cpu_quota", end, "limited"), f"is {quoted(told['limited'])}, but periods are {'' if 'periods' in told else 'not '}there")


def check_intervals(at: Any) -> None:
    repeat, spans = at.value, at.value.get("intervals") or ()
    if not spans:
        return
    done, params = sum(span["ops"] for span in spans), at.point["params"]
    if done > repeat["ops"] or done < repeat["ops"] and spans[-1]["t_ns"] >= repeat["elapsed_ns"]:
        raise contradiction(at, ("intervals",), f"have {done} operations, but the repeat has {repeat['ops']}")
    one = len(repeat["threads"]) == 1  # several begin one after the other
    if not params.get("target_rate_per_s") and one and spans[-1]["t_ns"] * 1.5 + 1 < repeat["elapsed_ns"]:
        raise contradiction(at, ("intervals", len(spans) - 1, "t_ns"), f"is {spans[-1]['t_ns']}, but the repeat took {repeat['elapsed_ns']}")
    if not params.get("target_rate_per_s") and spans[-1]["t_ns"] > repeat["elapsed_ns"] * 1.01 + _LATE_NS:
        raise contradiction(at, ("intervals", len(spans) - 1, "t_ns"), f"is {spans[-1]['t_ns']}, but the repeat took {repeat['elapsed_ns']}")
    most = max((repeat[key]["max_ns"] for key in ("latency", "read_latency") if repeat.get(key)), default=None)
    for number, span in enumerate(spans):
        place = ("intervals", number)
        if repeat["bytes"] is not None and not params.get("size_mix") and span["bytes"] != span["ops"] * params["size_bytes"]:
            due = span["ops"] * params["size_bytes"]
            raise contradiction(at, place + ("bytes",), f"is {span['bytes']}, but ops x size_bytes is {due}")
        if one and not at.source.document.get("ranks") and span["t_ns"] != spans[-1]["t_ns"] and abs(span["t_ns"] - (number + 1) * spans[0]["t_ns"]) > _GRID_NS * (number + 1):
            raise contradiction(at, place + ("t_ns",), f"is {span['t_ns']}, but spans take {spans[0]['t_ns']} ns each")
        ordered = [ns for key in ("p50_ns", "p99_ns", "max_ns") if (ns := span.get(key)) is not None]
        if ordered != sorted(ordered):
            raise contradiction(at, place, f"has p50, p99 and maximum {ordered}, which do not ascend")
        if ordered and most is not None and ordered[-1] > most:
            raise contradiction(at, place, f"has {ordered[-1]} ns, but the repeat's maximum is {most}")
    _check_interval_latencies(at, spans, done)


def _check_interval_latencies(at: Any, spans: list[dict[str, Any]], done: int) -> None:
    """Samples of a span are those of the repeat, and so lie in its buckets; of all spans, the maximum is."""
    latency = at.value.get("latency")
    if not latency or latency["histogram"].get("saturated") or at.source.document.get("ranks"):
        return
    found = histogram.from_document(latency["histogram"])
    for number, span in enumerate(spans):
        for key in ("p50_ns", "p99_ns", "max_ns"):
            if found and span.get(key) and not _in_bucket(found, span[key], 0 if key == "max_ns" else 1):
                raise contradiction(at, ("intervals", number, key), f"is {span[key]}, but the repeat has no such latency")
    longest: list[int] = [span["max_ns"] for span in spans if span.get("max_ns") is not None]
    known = longest and all(span.get("max_ns") is not None for span in spans if span["ops"])
    if known and done == at.value["ops"] and latency["max_ns"] not in (None, max(longest)):
        raise contradiction(at, ("intervals",), f"have a maximum of {max(longest)}, but that of the repeat is {latency['max_ns']}")


def _in_bucket(found: Histogram, ns: int, rounded: int) -> bool:
    """A percentile is interpolated in its bucket, and then rounded."""
    index = bisect_right(found.lows, ns + rounded) - 1
    return index >= 0 and ns < found.lows[index] + found.width(found.lows[index]) + rounded


def check_in_flight(at: Any) -> None:
    """The operations under way at once are bounded, so that latencies have room in the time of all slots."""
    repeat, params = at.value, at.point["params"]
    if at.source.document.get("ranks") or not repeat["elapsed_ns"]:
        return
    known = [one for key in ("latency", "read_latency") if (one := repeat.get(key)) and one["mean_ns"] is not None]
    spent = sum(one["count"] * one["mean_ns"] for one in known)
    slots = params["depth"] * params["threads"] * params["connections"]
    if spent > slots * (repeat["elapsed_ns"] * (1 + _CLOCK) + _LATE_NS):
        text = f"and their count are {spent / repeat['elapsed_ns']:.1f} operations at once, but depth, threads and connections permit {slots}"
        raise contradiction(at, ("latency", "mean_ns"), text)


def check_mix(at: Any) -> None:
    repeat, params = at.value, at.point["params"]
    reads = repeat.get("read_ops")
    if reads is None:
        return
    if reads > repeat["ops"]:
        raise contradiction(at, ("read_ops",), f"is {reads}, but there were {repeat['ops']} operations")
    share, done = params.get("read_fraction"), repeat["ops"]
    if share is not None and done and abs(reads / done - share) > _SIGMAS * math.sqrt(share * (1 - share) / done) + 1 / done:
        raise contradiction(at, ("read_ops",), f"is {reads} of {done}, but params.read_fraction is {share}")
    found = repeat.get("read_latency")
    if params.get("signal_every", 1) == 1 and found and found["count"] != reads:
        raise contradiction(at, ("read_ops",), f"is {reads}, but read_latency has {found['count']}")


def check_signalled(at: Any) -> None:
    """Each signalled operation has a latency; check_mix looks at mixes."""
    params, side = at.point["params"], at.repeat
    every = params.get("signal_every") or 1
    if params["test"] not in _EXACT_TESTS or side.get("complete") is False:
        return
    each = len(side["threads"]) * (params.get("connections") or 1) if every > 1 else 0  # a connection counts its own
    if not side["ops"] // every - each <= at.value["count"] <= -(-side["ops"] // every) + each:
        text = f"is {at.value['count']}, but {side['ops']} operations were done and each {every}. is signalled"
        raise contradiction(at, ("count",), text)


def check_lag(at: Any) -> None:
    repeat = at.value
    late, lag = repeat.get("late_ops"), repeat.get("max_lag_ns")
    service, response = repeat.get("latency"), repeat.get("response_latency")
    if late is not None and late > repeat["ops"]:
        raise contradiction(at, ("late_ops",), f"is {late}, but there were {repeat['ops']} operations")
    rate = at.point["params"].get("target_rate_per_s")
    merged = at.source.document.get("ranks")
    if late is not None and lag is not None and rate and not merged and at.point["params"].get("arrivals") in (None, "even"):
        period = 1e9 / rate
        longest = period * max(len(repeat["threads"]), 1)  # that of a thread, where they share the rate
        if late > 0 and lag < period - 1 or late == 0 and lag > longest * (1 + _TICKS) + 1:
            raise contradiction(at, ("max_lag_ns",), f"is {lag}, but {late} operations began more than a period of {period:.0f} ns late")
    if response and service and at.point["params"].get("signal_every", 1) == 1:
        for key in ("min_ns", "max_ns", "mean_ns"):
            if response[key] is not None and response[key] < service[key] - _ROUNDED:
                text = f"is {response[key]}, below that of the latency, {service[key]}, which it begins before"
                raise contradiction(at, ("response_latency", key), text)
        if repeat["complete"] and None not in (lag, response["max_ns"]) and lag > response["max_ns"]:
            raise contradiction(at, ("max_lag_ns",), f"is {lag}, above the longest response, {response['max_ns']}")


def check_plan(at: Any) -> None:
    repeat, params, stop = at.value, at.point["params"], at.point["stop"]
    if not repeat["complete"] or at.source.document.get("ranks"):
        return
    rate, duration = params.get("target_rate_per_s"), stop["duration_ns"]
    planned = stop.get("ops") or (duration * rate / 1e9 if rate and duration and params.get("arrivals") in (None, "even") else None)
    done = repeat["ops"] + (repeat.get("unbegun_ops") or 0)
    known = rate is None or repeat.get("unbegun_ops") is not None
    rounded = len(repeat["threads"]) + 1 if rate else 0  # each thread has its share of a time
    if planned and known and stop["kind"] != "ci" and abs(done - planned) > rounded:
        raise contradiction(at, ("ops",), f"and those not begun are {done}, but {planned:,.10g} were planned")
    if rate and repeat["elapsed_ns"] < repeat["ops"] * 1e9 / rate - repeat["ops"] - 1 and params.get("arrivals") in (None, "even"):
        raise contradiction(at, ("elapsed_ns",), f"is {repeat['elapsed_ns']}, shorter than the plan of {repeat['ops']} operations")
    if not rate and duration and params["mode"] == "closed" and repeat["elapsed_ns"] < _SHORT * duration:
        raise contradiction(at, ("elapsed_ns",), f"is {repeat['elapsed_ns']}, but it was measured for {duration}")


def check_errors(at: Any) -> None:
    """The first operation that fails, and a signal, end the run."""
    if not at.value["complete"] and at.source.document["run"]["status"] == "complete":
        raise contradiction(at, ("complete",), "is false, but the run is complete")
    if at.value["errors"] and at.source.document["run"]["status"] == "complete":
        raise contradiction(at, ("errors",), f"is {at.value['errors']}, but the run is complete")


def check_interference(at: Any) -> None:
    for side, told in (at.value.get("interference") or {}).items():
        if not told or told.get("all_cpu_ns") is None:
            continue
        for key in ("other_cpu_ns", "steal_ns"):
            if told[key] is not None and told[key] > told["all_cpu_ns"] + 20_000_000 * told["cpus"]:
                raise contradiction(at, ("interference", side, key), f"is {told[key]}, but all CPUs had {told['all_cpu_ns']}")


def check_verify(at: Any) -> None:
    verify = at.value.get("verify")
    if not verify:
        return
    wrong, first = verify["mismatches"], verify.get("first_offset", ...)
    if first is not ... and (wrong > 0) != (first is not None):
        raise contradiction(at, ("verify", "first_offset"), f"is {first}, but {wrong} bytes are wrong")
    if wrong > verify["checked_bytes"]:
        raise contradiction(at, ("verify", "mismatches"), f"is {wrong}, but {verify['checked_bytes']} bytes were checked")


def check_reverse(at: Any) -> None:
    for number, thread in enumerate((at.value.get("reverse") or {}).get("threads") or ()):
        if thread["index"] != number:
            raise contradiction(at, ("reverse", "threads", number, "index"), f"is {thread['index']}, expected {number}")
    if at.value.get("reverse") and at.point["params"].get("bidirectional") is False:
        raise contradiction(at, ("reverse",), "is there, but params.bidirectional is false")
    failed = any(warning["code"] == "REVERSE_FAILED" for warning in at.source.document["run"]["warnings"])
    if at.point["params"].get("bidirectional") and at.value["complete"] and not at.value.get("reverse") and not failed:
        raise contradiction(at, ("reverse",), "is not there, but params.bidirectional is true, and no warning REVERSE_FAILED is there")


def check_buckets(at: Any) -> None:
    found = histogram.from_document(at.value["histogram"])
    saturated = at.value["histogram"].get("saturated", 0)
    if found and saturated and at.value["max_ns"] is not None and (saturated > found.counts[-1] or at.value["max_ns"] < found.lows[-1] + found.width(found.lows[-1])):
        text = f"is {saturated}, but the last bucket has {found.counts[-1]} samples and the maximum is {at.value['max_ns']}"
        raise contradiction(at, ("histogram", "saturated"), text)
    for index, low in enumerate(found.lows if found else ()):
        if low % found.width(low):  # type: ignore[union-attr]
            raise contradiction(at, ("histogram", "buckets", index), f"begins with {low}, but no bucket of its sub_bits does")


def check_moments(at: Any) -> None:
    latency, found = at.value, histogram.from_document(at.value["histogram"])
    if found is None or latency["histogram"].get("saturated") or latency["mean_ns"] is None:
        return
    mean, deviation = latency["mean_ns"], latency["stddev_ns"]
    means, deviations = moments(found, latency["min_ns"], latency["max_ns"], mean)
    if not means[0] - _ROUNDED <= mean <= means[1] + _ROUNDED:
        raise contradiction(at, ("mean_ns",), f"is {mean}, but its histogram gives {means[0]:.3f} to {means[1]:.3f}")
    if deviation is None or latency["count"] < 2:
        return
    if not deviations[0] * (1 - 1e-3) - 1 <= deviation <= deviations[1] * (1 + 1e-3) + 1:
        raise contradiction(at, ("stddev_ns",), f"is {deviation}, but its histogram gives {deviations[0]:.3f} to {deviations[1]:.3f}")


def moments(found: Histogram, least: int, most: int, mean: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The bounds of the mean, and of the standard deviation around that mean: by n below, by n - 1 above."""
    bounds, count = list(_bounds(found, least, most)), sum(found.counts)
    low, high = (sum(bound[end] * n for bound, n in zip(bounds, found.counts, strict=True)) / count for end in (0, 1))
    near = sum(max(b[0] - mean, mean - b[1], 0) ** 2 * n for b, n in zip(bounds, found.counts, strict=True))
    far = sum(max(mean - b[0], b[1] - mean) ** 2 * n for b, n in zip(bounds, found.counts, strict=True))
    return (low, high), (math.sqrt(near / count), math.sqrt(far / max(count - 1, 1)))


def _bounds(found: Histogram, least: int, most: int) -> Iterator[tuple[int, int]]:
    """The least and the most that the samples of each bucket can be."""
    for low in found.lows:
        yield max(low, least), min(low + found.width(low) - 1, most)
