# SPDX-License-Identifier: BSD-3-Clause
"""Documents of fio 3.0 and later in the words of today's fio, before anything is made of them.

By fio's history bw_bytes came about 3.2, bins by their time about 3.3 (by their number before, beside
the constants FIO_IO_U_PLAT_*), percentiles of lat_percentiles=1 below lat_ns about 3.7 (below clat_ns
before), the number of samples N with 3.17. The least of no samples was the highest number there is, also
written as -1. 3.33 and 3.41 were compared with their stat.c, older ones and 3.42 were not: what a document
lacks decides here, never the number of its release.
"""

from collections.abc import Iterator
from typing import Any

from rpma_report.sources import fio_bins
from rpma_report.sources.document import BadResult, Place, Source, check_numbers, place_text

DIRECTIONS = ("read", "write", "trim")
KINDS = ("lat_ns", "clat_ns", "slat_ns")
_NUMBERS = ("io_bytes", "bw_bytes", "bw", "iops", "runtime", "total_ios")
_UNSET = (-1, 2**64 - 1)

Job = dict[str, Any]
Part = tuple[Place, dict[str, Any]]


def jobs_key(document: dict[str, Any]) -> str:
    return "jobs" if "jobs" in document else "client_stats"


def parts(document: dict[str, Any]) -> Iterator[Part]:
    """The directions and the syncs of each job that has them."""
    key = jobs_key(document)
    for index, job in enumerate(document[key]):
        yield from (((key, index, name), job[name]) for name in (*DIRECTIONS, "sync") if name in job)


def latencies(document: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any], dict[str, Any]]]:
    """Each with the direction that it is of."""
    for place, part in parts(document):
        yield from ((place + (kind,), part, part[kind]) for kind in KINDS if kind in part)


def clear_unset(document: dict[str, Any]) -> None:
    """The least of no samples is 0, as today; the document has not been checked."""
    jobs = document.get(jobs_key(document))
    for job in jobs if isinstance(jobs, list) else ():
        for part in job.values() if isinstance(job, dict) else ():
            for latency in part.values() if isinstance(part, dict) else ():
                if isinstance(latency, dict) and latency.get("max") == 0 and latency.get("min") in _UNSET:
                    latency["min"] = 0


def complete(source: Source) -> None:
    """Adds what the release did not write yet; the document keeps to its schema."""
    document = source.document
    shared = document.get("global options", {})
    for place, part in parts(document):
        check_numbers(source, {key: part[key] for key in (*_NUMBERS, *KINDS) if key in part}, place)
        if place[-1] != "sync" and "bw_bytes" not in part:
            _add_bandwidth(source, place, part)
    for job in document[jobs_key(document)]:
        _move_total({**shared, **job.get("job options", {})}, job)
    for place, part, latency in latencies(document):
        latency.setdefault("N", part.get("total_ios", 0) if latency["max"] > 0 else 0)
        if latency.get("bins"):
            latency["bins"] = fio_bins.from_document(source, place + ("bins",), latency["bins"])


def _add_bandwidth(source: Source, place: Place, part: dict[str, Any]) -> None:
    """Adds the bandwidth as fio computes it, of milliseconds."""
    if part["io_bytes"] and not part.get("runtime"):
        raise BadResult(source.name, place_text(place), 'has no "bw_bytes", and no "runtime" to compute it of')
    part["bw_bytes"] = part["io_bytes"] * 1000 // part["runtime"] if part["io_bytes"] else 0


def _move_total(options: dict[str, str], job: Job) -> None:
    """Percentiles of the whole latency that stand below clat_ns, which has extremes of its own."""
    if options.get("lat_percentiles", "0") == "0":
        return
    for name in DIRECTIONS:
        total, part = job[name]["lat_ns"], job[name]["clat_ns"]
        if "N" not in part and not any(key in total for key in ("percentile", "bins")):
            total.update((key, part.pop(key)) for key in ("percentile", "bins") if key in part)
