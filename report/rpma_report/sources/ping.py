# SPDX-License-Identifier: BSD-3-Clause
"""Results of rpma-ping: the time of each step, and the latencies of the pings that came back.

For several hosts it writes a list, whose parts are runs that bear the names of their hosts.
"""

from dataclasses import replace
from typing import Any

from rpma_report.model import Estimate, Histogram, Latency, Ping, Run
from rpma_report.sources import histogram, repeat_sums
from rpma_report.sources.bench import command_line
from rpma_report.sources.claims import CLOCK_S, time_of
from rpma_report.sources.document import Contradiction, Place, Source, check_numbers
from rpma_report.sources.schema import check_schema
from rpma_report.sources.text import is_supported
from rpma_report.text import shown

KIND = "rpma-ping/1"
_CODES = (0, 1, 2, 3, 64, 70, 130, 143)
_SCHEMA = "rpma-ping-1.schema.json"


def check(source: Source) -> None:
    taken = histogram.take(source.document)
    check_schema(source, _SCHEMA)
    check_numbers(source, source.document)
    histogram.give_back(source, taken)
    sizes = source.document.get("sizes") or []
    every: list[tuple[Place, dict[str, Any]]] = [(("latency",), source.document)]
    every += [(("sizes", n, "latency"), one) for n, one in enumerate(sizes)]
    for place, holder in every:
        for name, figures in holder["latency"].items():
            if isinstance(figures, dict) and "histogram" in figures:
                _check_figures(source, (*place, name), figures)
    told = source.document["run"]
    if told["ended"] < told["started"]:
        raise Contradiction(source, ("run", "ended"), f"is {told['ended']}, before run.started")
    _check_end(source)
    if told["status"] == "failed" and source.document["failure"] is None:
        raise Contradiction(source, ("run", "status"), "is failed, but failure is null")
    took, pinged = (time_of(told["ended"]) - time_of(told["started"])).total_seconds(), source.document["pings"]["elapsed_ns"]
    if pinged is not None and pinged / 1e9 > took + CLOCK_S:
        raise Contradiction(source, ("pings", "elapsed_ns"), f"is {pinged}, but the run took {took:.3f} s")
    rtt, received = source.document["latency"]["rtt"], source.document["pings"]["received"]
    if rtt and not sizes and rtt["count"] != received:
        raise Contradiction(source, ("latency", "rtt", "count"), f"is {rtt['count']}, but {received} pings were received")
    for key in ("transmitted", "received", "lost", "corrupt") if sizes else ():
        if (told := sum(one[key] for one in sizes)) != source.document["pings"][key]:
            raise Contradiction(source, ("pings", key), f"is {source.document['pings'][key]}, but those of all sizes are {told}")
    _check_pings(source, ("pings",), source.document["pings"])
    for number, one in enumerate(sizes):
        _check_pings(source, ("sizes", number), one)


def _check_end(source: Source) -> None:
    """The exit code of a single host: 0 where every ping came back, 1 where not. Steps are there once."""
    told, pings = source.document["run"], source.document["pings"]
    good = pings["transmitted"] > 0 and not pings["lost"] and not pings["corrupt"]
    asked = any(word.startswith("--expect") for word in told["argv"])
    if source.part is None and (told["exit_code"] == 0 and not good or told["exit_code"] == 1 and good and not asked):
        text = f"is {told['exit_code']}, but {pings['lost']} of {pings['transmitted']} pings are lost and {pings['corrupt']} corrupt"
        raise Contradiction(source, ("run", "exit_code"), text)
    if told["exit_code"] not in _CODES:
        raise Contradiction(source, ("run", "exit_code"), f"is {told['exit_code']}, which rpma-ping does not have")
    stopped = told["exit_code"] in (130, 143)
    if source.part is None and stopped != (told["status"] == "interrupted"):
        raise Contradiction(source, ("run", "status"), f"is {told['status']}, but exit_code is {told['exit_code']}")
    names = [step["name"] for step in source.document["steps"]]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise Contradiction(source, ("steps", number, "name"), f"is {name}, which another step has")


def _check_pings(source: Source, place: Place, pings: dict[str, Any]) -> None:
    """A ping that came back is received, also where it came back corrupt."""
    sent, lost, received = pings["transmitted"], pings["lost"], pings["received"]
    if lost != sent - received:
        raise Contradiction(source, place + ("lost",), f"is {lost}, but {received} of {sent} pings were received")
    if pings["corrupt"] > received:
        raise Contradiction(source, place + ("corrupt",), f"is {pings['corrupt']}, but {received} pings were received")
    share = pings.get("loss_fraction")
    if share is not None and (not sent or abs(share - lost / sent) > 1e-3):
        raise Contradiction(source, place + ("loss_fraction",), f"is {share}, but {lost} of {sent} pings are lost")


def _check_figures(source: Source, place: Place, figures: dict[str, Any]) -> None:
    """rpma-ping rounds a percentile to the middle of its bucket: it lies between the ends."""
    counted = histogram.total(figures["histogram"])
    if counted != figures["count"]:
        raise Contradiction(source, place + ("count",), f"is {figures['count']}, but its histogram holds {counted}")
    found = histogram.from_document(figures["histogram"])
    least, most = figures["min_ns"], figures["max_ns"]
    saturated = figures["histogram"]["saturated"]
    if found and saturated and (saturated > found.counts[-1] or most < found.lows[-1] + found.width(found.lows[-1])):
        raise Contradiction(source, place + ("histogram", "saturated"), f"is {saturated}, but the maximum lies in the last bucket")
    if found and not saturated:
        _check_moments(source, place, figures, found)
    for key, p in (("p50_ns", 0.5), ("mean_ns", None), ("p99_ns", 0.99)):
        ns = figures[key]
        if not least - 0.5 <= ns <= most + 0.5:
            raise Contradiction(source, place + (key,), f"is {ns}, not between min_ns and max_ns")
        if found and p is not None:
            due = histogram.percentile(found, p, least, most)
            if abs(ns - due) > found.width(int(due)) + 1:
                raise Contradiction(source, place + (key,), f"is {ns}, but its histogram gives {due:.0f}")


def _check_moments(source: Source, place: Place, figures: dict[str, Any], found: Histogram) -> None:
    """Extremes in the first and last bucket, mean and deviation as the buckets allow; of mdev with either divisor."""
    least, most = figures["min_ns"], figures["max_ns"]
    for key, ns, low in (("min_ns", least, found.lows[0]), ("max_ns", most, found.lows[-1])):
        if not low <= ns < low + found.width(low):
            raise Contradiction(source, place + (key,), f"is {ns}, but its histogram has {low} to {low + found.width(low) - 1}")
    means, deviations = repeat_sums.moments(found, least, most, figures["mean_ns"])
    for key, (low_ns, high_ns) in (("mean_ns", means), ("mdev_ns", deviations)):
        if not low_ns * 0.999 - 1 <= figures[key] <= high_ns * 1.001 + 1:
            raise Contradiction(source, place + (key,), f"is {figures[key]}, but its histogram gives {low_ns:.3f} to {high_ns:.3f}")


def run(source: Source) -> Run:
    document = source.document
    told, device = document["run"], document["device"] or {}
    return Run(
        program="rpma-ping",
        name=shown(source.file if source.part is None else _host(document), 60),
        file=shown(source.file),
        sha256=source.sha256,
        started=told["started"],
        ended=told["ended"],
        status=told["status"],
        failure=_failure(document["failure"]),
        commands=(command_line(told["argv"]),),
        tool=document["tool"],
        device_name=shown(device["name"], 60) if device else None,
        device_kind=device.get("kind"),
        device_transport=device.get("transport"),
        ping=_ping(document),
    )


def _failure(failure: dict[str, Any] | None) -> str | None:
    if not failure:
        return None
    parts = [failure["text"], failure["likely_cause"]]
    said = "; ".join(shown(p, 500) for p in parts if p)
    return f"{failure['step']}: {said}" if said else str(failure["step"])


def _ping(document: dict[str, Any]) -> Ping:
    pings, settings = document["pings"], document["settings"]
    whole = Ping(
        steps=tuple((s["name"], s["ns"]) for s in document["steps"]),
        transmitted=pings["transmitted"],
        received=pings["received"],
        lost=pings["lost"],
        corrupt=pings["corrupt"],
        server=shown(f"{_host(document)}:{document['server']['port']}", 100),
        size_bytes=settings["size_bytes"],
        flush=pings["flush"],
        latencies=_latencies(document),
    )
    return replace(whole, sizes=tuple(_of_size(whole, one) for one in document.get("sizes") or ()))


def _of_size(whole: Ping, told: dict[str, Any]) -> Ping:
    counts = {key: told[key] for key in ("transmitted", "received", "lost", "corrupt", "size_bytes")}
    return replace(whole, steps=(), latencies=_latencies(told), **counts)


def _latencies(holder: dict[str, Any]) -> dict[str, Latency]:
    told = ((name, holder["latency"][name]) for name in ("rtt", "write_flush", "read"))
    return {name: _latency(figures) for name, figures in told if figures}


def _host(document: dict[str, Any]) -> str:
    return str(document["server"]["host"] or document["server"]["address"] or "?")


def _latency(figures: dict[str, Any]) -> Latency:
    """p50 and p99 as rpma-ping states them; a percentile has ten samples beyond it."""
    count = figures["count"]
    stated = {
        p: Estimate(figures[key])
        for p, key in ((0.5, "p50_ns"), (0.99, "p99_ns"))
        if is_supported(count, p)
    }
    return Latency(
        count=count,
        min=figures["min_ns"],
        max=figures["max_ns"],
        mean=Estimate(figures["mean_ns"]),
        percentiles=stated,
        by_repeat={p: () for p in stated},
        means_by_repeat=(),
        histogram=histogram.from_document(figures["histogram"]),
    )
