# SPDX-License-Identifier: BSD-3-Clause
"""The file of the engine librpma beside fio's output (result=): what the figures of a job stand for.

fio's JSON has the name of the file among the options of the job, and the run of fio that
wrote it. The file is looked for beside fio's JSON, under that name without its folder.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rpma_report.model import NOT_READ, Remark, Run
from rpma_report.sources import fio_options
from rpma_report.sources.document import BadResult, Source, check_numbers, read
from rpma_report.sources.schema import check_schema
from rpma_report.text import shown

KIND = "a sidecar of fio"
_SCHEMA = "fio-sidecar-1.schema.json"
_CLONES = 64  # looked for at most: they differ in their latencies alone

Options = dict[str, str]


def check(source: Source) -> None:
    check_schema(source, _SCHEMA)
    check_numbers(source, source.document)


def run(source: Source) -> Run:
    raise BadResult(source.name, "", "is the sidecar of a fio job: give fio's JSON, it is read from beside that")


@dataclass(frozen=True)
class Sidecar:
    """One job's; its clones are alike."""

    job: str
    document: dict[str, Any]

    @property
    def device(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["device"]
        return found

    def remark(self) -> Remark:
        """In a sentence, with what is known of its commits."""
        flush, target, device = (self.document[key] for key in ("flush", "target", "device"))
        stated = ", by the statement of the server's operator" if self._is_stated() else ""
        flushed = fio_options.flushed(target["kind"], flush["reached"], flush["writes"], flush["covered"], stated)
        text = (f"{self.job}: {flushed} (mode={self.document['mode']}, "
                f"flush={flush['policy']}, by {flush['method']}, {device['kind']} device {shown(device['name'], 60)})")  # fmt: skip
        return Remark("FIO_FLUSHES", "info", "client", text + self._commits())

    def _is_stated(self) -> bool:
        """The server's processor needs no statement of its operator."""
        flush: dict[str, str] = self.document["flush"]
        return flush["method"] != "message" and flush["reached"] == "persistence"

    def _commits(self) -> str:
        commits = self.document["commits"]
        if not commits["latency"]:
            return ""
        known = [f"p{p['p'] * 100:g} {p['ns'] / 1000:.3g} us" for p in commits["latency"]["percentiles"] if p["ns"] is not None]
        what = "fsyncs that flushed" if commits["kind"] == "sync" else "writes with their flush"
        empty = self.document["syncs"]["empty"]
        if commits["kind"] == "sync" and empty:
            what += f" ({empty} more had nothing to flush, and are in fio's sync latencies)"
        return "; ".join([f": {commits['count']} {what}", *known[:4]])


def of_job(source: Source, job: str, options: Options) -> tuple[Sidecar | None, Remark | None]:
    """That of a job of fio's JSON; a remark where one is to be there and is of no use."""
    found = fio_options.facts(options)
    if "result" not in options or "run" not in found:
        return None, None
    name = Path(options["result"]).name
    for path in islice(_candidates(Path(source.name).parent / name, options), _CLONES):
        if path.is_file():
            return _joined(path, job, found["run"])
    return None, Remark("FIO_SIDECAR", "warn", "client", f"{job}: its sidecar is not used: "
                        f"{shown(name, 60)} is not beside {shown(source.file, 60)}")  # fmt: skip


def _candidates(path: Path, options: Options) -> Iterator[Path]:
    clones = (f"{path.name}.0",) if options.get("numjobs", "1") != "1" else ()
    for name in (path.name, *clones):
        yield from (path.with_name(name), path.with_name(f"{name}.gz"))


def _joined(path: Path, job: str, run_id: str) -> tuple[Sidecar | None, Remark | None]:
    try:
        source = read(path)
        check_schema(source, _SCHEMA)
        check_numbers(source, source.document)
    except BadResult as bad:
        return None, _useless(job, str(bad))
    if source.document["run"] != run_id:
        return None, _useless(job, f"{shown(path.name, 60)} is of another run of fio")
    return Sidecar(job, source.document), None


def _useless(job: str, why: str) -> Remark:
    return Remark(NOT_READ, "warn", "client", f"{job}: its sidecar is not used: {why}")
