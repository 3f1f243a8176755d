# SPDX-License-Identifier: BSD-3-Clause
"""Output of fio --output-format=json or json+: a point for each job and direction.

Clones of a job that fio reports one by one are added up, as its group_reporting does;
jobs that fio --client had several hosts run are not.
With the bins of json+ percentiles are interpolated inside a bin, and those that fio wrote
must agree with the bins; json has fio's own, which are middles of bins. fio does not
record the device it ran on; a sidecar of the engine librpma does (fio_sidecar.py).
What older releases write otherwise, fio_releases.py puts into the words of today's.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from rpma_report.model import NOT_READ, PERCENTILES, Cpu, Estimate, Histogram, Latency, Point, Remark, Run
from rpma_report.sources import fio_options, fio_releases, fio_sidecar, fio_sums, histogram, study
from rpma_report.sources.document import Source
from rpma_report.sources.fio_releases import DIRECTIONS, Job
from rpma_report.sources.schema import check_schema
from rpma_report.sources.text import is_supported
from rpma_report.text import shown

KIND = "fio's json"
_SCHEMA = "fio-output.schema.json"
_SUM = "All clients"
_NO_PERCENTILES = (
    "fio left them out (clat_percentiles=0, or another percentile_list), or several clones without group_reporting "
    "need --output-format=json+"
)


def check(source: Source) -> None:
    fio_releases.clear_unset(source.document)
    check_schema(source, _SCHEMA)
    fio_releases.complete(source)
    fio_sums.check(source)


def _jobs(document: dict[str, Any]) -> list[Job]:
    """Without the sum that a client of several jobs adds, which has no percentiles."""
    jobs: list[Job] = document[fio_releases.jobs_key(document)]
    if len(jobs) > 1 and "jobs" not in document and jobs[-1]["jobname"] == _SUM:
        return jobs[:-1]
    return jobs


def run(source: Source) -> Run:
    document = source.document
    version = shown(document["fio version"], 40)
    shared = document.get("global options", {})
    told = _jobs(document)
    hosts = list(dict.fromkeys(shown(job["hostname"], 60) for job in told if "hostname" in job))
    jobs = list(_groups(told))
    failed = [j for j in told if j["error"]]
    points = [p for i, group in enumerate(jobs) for p in _points(i, shared, group, len(hosts) > 1)]
    clients = [first for first, *_ in jobs if not fio_options.is_server({**shared, **first.get("job options", {})})]
    joined = [fio_sidecar.of_job(source, shown(first["jobname"], 60), {**shared, **first.get("job options", {})})
              for first in clients]  # fmt: skip
    kind, transport = _kind_of_device([sidecar for sidecar, _ in joined])
    return Run(
        program="fio",
        name=shown(source.file, 60),
        file=shown(source.file),
        sha256=source.sha256,
        started=_time(document),
        status="failed" if failed else "complete",
        failure=_failure(failed[0]) if failed else None,
        commands=(_job_file(shared, jobs, hosts),),
        tool={"name": "fio", "version": version},
        device_name=_device(shared, clients),
        device_kind=kind,
        device_transport=transport,
        points=study.mark(document, points),
        warnings=(*_earlier(source), *_remarks(points), *_stands_for(shared, clients, joined)),
    )


def _device(shared: dict[str, str], clients: list[Job]) -> str | None:
    """The name that the engine librpma told of every job, which does not tell what kind of device that is."""
    found = [fio_options.facts({**shared, **first.get("job options", {})}).get("device") for first in clients]
    names = dict.fromkeys(name for name in found if name)
    return ", ".join(islice(names, 4)) if found and all(found) else None


def _kind_of_device(sidecars: list[fio_sidecar.Sidecar | None]) -> tuple[str | None, str | None]:
    """Known if each job has told it, and all of them the same."""
    found = {(one.device["kind"], one.device["transport"]) if one else None for one in sidecars}
    return (found.pop() if len(found) == 1 else None) or (None, None)


def _time(document: dict[str, Any]) -> str | None:
    """A client of fio's servers has no milliseconds."""
    if "timestamp_ms" not in document and "timestamp" not in document:
        return None
    seconds = document["timestamp_ms"] / 1000 if "timestamp_ms" in document else document["timestamp"]
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _failure(job: Job) -> str:
    return shown(f"job {shown(job['jobname'], 60)}: error {job['error']}")


def _groups(jobs: list[Job]) -> Iterator[list[Job]]:
    """Jobs of one name, group, host and options are clones by numjobs=."""
    groups: dict[tuple[object, ...], list[Job]] = {}
    for job in jobs:
        own = job.get("job options", {})
        key = (job["jobname"], job.get("groupid"), job.get("hostname"), *sorted(own.items()))
        groups.setdefault(key, []).append(job)
    yield from groups.values()


def _job_file(shared: dict[str, str], groups: list[list[Job]], hosts: list[str]) -> str:
    sections = [("global", shared)] if shared else []
    for first, *_ in groups:
        section = (first["jobname"], first.get("job options", {}))
        if len(hosts) < 2 or section not in sections:
            sections.append(section)
    text = fio_options.job_file(sections[:200])
    if hosts:
        text = f"# run by fio --client on {', '.join(hosts[:20])}\n{text}"
    return "\n".join(shown(line, 500) for line in text.split("\n")[:2000])


def _points(number: int, shared: dict[str, str], clones: list[Job], several_hosts: bool) -> Iterator[Point]:
    options = {**shared, **clones[0].get("job options", {})}
    job = shown(clones[0]["jobname"], 60)
    if several_hosts:
        job = f"{job} on {shown(clones[0].get('hostname'), 60)}"
    for direction in DIRECTIONS:
        parts = [c[direction] for c in clones if c[direction]["total_ios"]]
        if parts:
            yield _point(f"job {number} {direction}", job, options, direction, parts, clones)
    syncs = [c["sync"] for c in clones if c.get("sync", {}).get("total_ios")]
    syncs = [s for s in syncs if "lat_ns" in s]
    if syncs:
        yield _sync_point(f"job {number} sync", job, options, syncs)


def _point(id: str, job: str, options: dict[str, str], direction: str, parts: list[dict[str, Any]],
           clones: list[Job]) -> Point:  # fmt: skip
    key = "lat_ns" if any(p["lat_ns"].get("percentile") for p in parts) else "clat_ns"
    params = fio_options.params(options, direction, "fio_lat" if key == "lat_ns" else "fio_clat")
    rate, bandwidth = sum(p["iops"] for p in parts), sum(p["bw_bytes"] for p in parts)
    busy = sum(c.get("usr_cpu", 0) + c.get("sys_cpu", 0) for c in clones) / 100
    return Point(
        id=id,
        params={**params, "job": job},
        repeats=1,
        ops=sum(p["total_ios"] for p in parts),
        errors=sum(1 for c in clones if c["error"]),
        ops_per_s=Estimate(rate),
        bytes_per_s=Estimate(float(bandwidth)),
        ops_per_s_by_repeat=(rate,),
        bytes_per_s_by_repeat=(float(bandwidth),),
        latency=_latency([p[key] for p in parts]),
        cpu=Cpu(client_busy=busy),
    )


def _sync_point(id: str, job: str, options: dict[str, str], parts: list[dict[str, Any]]) -> Point:
    params = fio_options.params(options, "sync", "fio_sync")
    return Point(
        id=id,
        params={**params, "job": job},
        repeats=1,
        ops=sum(p["total_ios"] for p in parts),
        errors=0,
        latency=_latency([p["lat_ns"] for p in parts]),
    )


def _latency(parts: list[dict[str, Any]]) -> Latency | None:
    parts = [p for p in parts if p.get("N")]
    if not parts:
        return None
    count = sum(p["N"] for p in parts)
    mean = sum(p["mean"] * p["N"] for p in parts) / count
    found = [p["bins"] for p in parts if p.get("bins")]
    whole = Histogram.sum_of(found) if len(found) == len(parts) else None
    least, most = min(p["min"] for p in parts), max(p["max"] for p in parts)
    wanted = [p for p in PERCENTILES if is_supported(count, p)]
    stated = {p: histogram.percentile(whole, p, least, most) for p in wanted} if whole else _told(wanted, parts)
    return Latency.once(count, least, most, mean, stated, whole)


def _told(wanted: list[float], parts: list[dict[str, Any]]) -> dict[float, float]:
    """fio's own percentiles; those of several parts cannot be added up."""
    if len(parts) > 1:
        return {}
    told = {round(float(k) / 100, 10): v for k, v in parts[0].get("percentile", {}).items()}
    return {p: told[p] for p in wanted if p in told}


def _stands_for(shared: dict[str, str], clients: list[Job],
                joined: list[tuple[fio_sidecar.Sidecar | None, Remark | None]]) -> Iterator[Remark]:  # fmt: skip
    """A sentence on the clients of the engine librpma, from a sidecar or an option of the job."""
    for first, (sidecar, useless) in zip(clients, joined, strict=True):
        if sidecar:
            yield sidecar.remark()
            continue
        if useless:
            yield useless
        found = fio_options.facts({**shared, **first.get("job options", {})})
        if not {"mode", "flush", "flush_type", "target", "device"} <= found.keys():
            continue
        counts = [int(found[key]) if found.get(key, "").isdecimal() else None for key in ("writes", "covered")]
        flushed = fio_options.flushed(found["target"], found["flush_type"].replace("persistent", "persistence"), counts[0], counts[1])
        text = (f"{shown(first['jobname'], 60)}: {flushed} "
                f"(mode={found['mode']}, flush={found['flush']}, device {found['device']})")  # fmt: skip
        yield Remark("FIO_FLUSHES", "info", "client", text)


def _earlier(source: Source) -> Iterator[Remark]:
    """The last document has all that those of --status-interval before it have; other runs are lost."""
    if source.earlier and source.same_jobs:
        yield Remark("FIO_STATUS", "info", "client", f"the last of {source.earlier + 1} documents is used (--status-interval)")
    elif source.earlier:
        text = f"{source.earlier} documents of other runs before the last one are not read: give each run a file"
        yield Remark(NOT_READ, "warn", "client", text)


def _remarks(points: list[Point]) -> Iterator[Remark]:
    """Remarks on what the file does not have of a job, and the page therefore lacks."""
    for point in points:
        latency, job = point.latency, point.params["job"]
        if latency is None:
            yield Remark("FIO_NO_LATENCY", "info", "client", f"{job}: the file has no latency (gtod_reduce or disable_clat)")
        elif not latency.percentiles and is_supported(latency.count, 0.5):
            yield Remark("FIO_NO_PERCENTILES", "info", "client", f"{job}: no percentiles: {_NO_PERCENTILES}")
