# SPDX-License-Identifier: BSD-3-Clause
"""Figures that fio's output holds twice must agree; redundancies.py lists them."""

from typing import Any

from rpma_report.sources import fio_bins, fio_releases
from rpma_report.sources.document import Contradiction, Place, Source

_ROUNDED = 1e-6  # six decimals in a file
_RELATIVE = 1e-9
_IOPS_ERROR = 1e-4  # some keep fewer digits of it


def check(source: Source) -> None:
    for place, part in fio_releases.parts(source.document):
        if place[-1] != "sync":
            _check_rates(source, place, part)
            _check_order(source, place, part)
    for place, part, latency in fio_releases.latencies(source.document):
        _check_latency(source, place, latency, part)


def _check_rates(source: Source, place: Place, part: dict[str, Any]) -> None:
    """fio divides by its runtime in ms, and cuts to whole bytes and KiB."""
    runtime, count = part.get("runtime"), part["total_ios"]
    if runtime:
        due = part["io_bytes"] * 1000 / runtime
        _agree(source, place + ("bw_bytes",), part["bw_bytes"], due, 1 if due else 0, "io_bytes by runtime")
        _agree(source, place + ("iops",), part["iops"], count * 1000 / runtime, _ROUNDED + _IOPS_ERROR * part["iops"], "total_ios by runtime")
    elif part["bw_bytes"] and not part["io_bytes"]:
        raise Contradiction(source, place + ("bw_bytes",), f"is {part['bw_bytes']}, but io_bytes is 0")
    if "bw" in part:
        _agree(source, place + ("bw",), part["bw"], part["bw_bytes"] / 1024, 1, "bw_bytes in KiB")


def _agree(source: Source, place: Place, stated: float, due: float, rounded: float, why: str) -> None:
    if abs(stated - due) > rounded + _RELATIVE * abs(due):
        raise Contradiction(source, place, f"is {stated:,.10g}, but {why} is {due:,.10g}")


def _check_order(source: Source, place: Place, part: dict[str, Any]) -> None:
    """The whole latency begins before the completion latency, and ends with it."""
    whole, completion, count = part["lat_ns"], part["clat_ns"], part["total_ios"]
    if not whole["N"] == completion["N"] == count > 0:
        return
    for key in ("min", "max", "mean"):
        if whole[key] < completion[key] - _ROUNDED - _RELATIVE * completion[key]:
            raise Contradiction(source, place + ("lat_ns", key), f"is {whole[key]}, below that of clat_ns, {completion[key]}")


def _check_latency(source: Source, place: tuple[Any, ...], latency: dict[str, Any], part: dict[str, Any]) -> None:
    least, most, mean = (latency[key] for key in ("min", "max", "mean"))
    if least > most:
        raise Contradiction(source, place + ("min",), "is above max")
    if not least - _ROUNDED <= mean <= most + _ROUNDED:
        raise Contradiction(source, place + ("mean",), f"is {mean}, not between min and max")
    if place[2] != "sync" and latency["N"] > part.get("total_ios", latency["N"]):  # fio counts no fdatasync there
        raise Contradiction(source, place + ("N",), f"is {latency['N']}, but total_ios is {part['total_ios']}")
    whole = not source.document[place[0]][place[1]]["error"] and not part.get("short_ios") and not part.get("drop_ios")
    if whole and place[2] != "sync" and latency["N"] not in (0, part["total_ios"]):
        raise Contradiction(source, place + ("N",), f"is {latency['N']}, but total_ios is {part['total_ios']}")
    if not latency["N"] and (most or mean or least):
        raise Contradiction(source, place, f"has times of {least} to {most}, but no samples")
    if latency.get("stddev", 0) > (most - least) + _ROUNDED:
        raise Contradiction(source, place + ("stddev",), f"is {latency['stddev']}, but all lie within {most - least}")
    if latency.get("bins"):
        _check_bins(source, place, latency)
    _check_percentiles(source, place, latency)


def _check_bins(source: Source, place: Place, latency: dict[str, Any]) -> None:
    bins, (least, most, mean) = latency["bins"], (latency[key] for key in ("min", "max", "mean"))
    counted = sum(bins.counts)
    if counted != latency["N"]:
        raise Contradiction(source, place + ("N",), f"is {latency['N']}, but its bins hold {counted}")
    for key, value in latency.get("percentile", {}).items():
        p = float(key) / 100
        if 0 < p < 1 and not fio_bins.agrees(bins, p, value):
            text = f"is {value}, but its bins give {fio_bins.percentile(bins, p)}"
            raise Contradiction(source, place + ("percentile", key), text)
    for key, value, low in (("min", least, bins.lows[0]), ("max", most, bins.lows[-1])):
        if fio_bins.low_of(value) != low and value <= fio_bins.LAST:
            raise Contradiction(source, place + (key,), f"is {value}, but its bins give {low} or a little more")
    sums = [sum(low * n for low, n in zip(bins.lows, bins.counts, strict=True)) / counted,
            sum((low + bins.width(low) - 1) * n for low, n in zip(bins.lows, bins.counts, strict=True)) / counted]  # fmt: skip
    if most <= fio_bins.LAST and not sums[0] - 1 <= mean <= sums[1] + 1:
        raise Contradiction(source, place + ("mean",), f"is {mean}, but its bins give {sums[0]:.0f} to {sums[1]:.0f}")


def _check_percentiles(source: Source, place: Place, latency: dict[str, Any]) -> None:
    """They ascend, and none is beyond the bin of the highest value."""
    if not latency["N"]:
        return
    told = sorted((float(key), key, value) for key, value in latency.get("percentile", {}).items() if float(key) > 0)
    before, most, least = 0, latency["max"], min(latency["min"], fio_bins.LAST)
    for _, key, value in told:
        if value < before:
            raise Contradiction(source, place + ("percentile", key), f"is {value}, below that of a smaller share, {before}")
        if not fio_bins.low_of(least) <= value <= fio_bins.end_of(most):
            raise Contradiction(source, place + ("percentile", key), f"is {value}, not between min and max")
        before = value
