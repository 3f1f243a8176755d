# SPDX-License-Identifier: BSD-3-Clause
"""A plan becomes jobs: what to run, once each, whatever the number of series that ask for it.

A job's id is made of what it runs and of nothing else, so that a name in a plan never
becomes a name of a file, and a point of two series is one job. They run in the order
of the plan's settings, then of the rounds of repeats, and in a round of their ids,
which shuffles them, in the same way at each start.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rpma_report.sources.document import MAX_FILE_BYTES, BadResult, Place, Source, place_text, read
from rpma_report.sources.input_file import read_at_most
from rpma_report.sources.schema import check_schema
from rpma_report.studies import command
from rpma_report.text import shown

FORMAT = "rpma-report-study"
KIND = f"{FORMAT}/1"
_SCHEMA = "rpma-report-study.schema.json"
REPEATS = 5  # for fio; rpma-bench has the same default
MAX_JOBS = 20_000


@dataclass(frozen=True)
class Requirement:
    name: str
    text: str
    check: tuple[str, ...] | None


@dataclass(frozen=True)
class Job:
    """One start of a program, with one result."""

    id: str
    tool: str
    words: tuple[str, ...]  # arguments after the program
    variables: tuple[tuple[str, Any], ...]  # for a job file
    stdin: bytes
    ssh: str | None
    requires: str | None
    subject: str  # its series and place there, for people
    round: int


@dataclass(frozen=True)
class Plan:
    name: str
    folder: Path
    programs: dict[str, list[str]]
    timeout_s: int
    requirements: tuple[Requirement, ...]
    jobs: tuple[Job, ...]  # in the order of the plan

    @property
    def queue(self) -> list[Job]:
        """In the order in which they run."""
        settings = [None, *(requirement.name for requirement in self.requirements)]
        return sorted(self.jobs, key=lambda job: (settings.index(job.requires), job.round, job.id))

    @property
    def digest(self) -> str:
        """The digest of what is measured: a plan of other jobs is another plan."""
        return hashlib.sha256("\n".join(job.id for job in self.queue).encode()).hexdigest()

    def program(self, name: str) -> list[str]:
        return located(self.programs.get(name, [name]), self.folder)


def located(words: list[str], folder: Path) -> list[str]:
    """A first word with a slash is relative to the plan."""
    first = str((folder / words[0]).absolute()) if "/" in words[0] else words[0]
    return [first, *words[1:]]


def load(path: Path) -> Plan:
    return of(read(path), path.resolve().parent)


def of(source: Source, folder: Path) -> Plan:
    """`folder` is that of the plan."""
    check(source)
    document = source.document
    found: dict[str, Job] = {}
    for index, series in enumerate(document["series"]):
        for job in _jobs(source, index, series, folder):
            found.setdefault(job.id, job)
            if len(found) > MAX_JOBS:
                raise BadResult(source.name, "series", f"come to more than {MAX_JOBS:,} measurements")
    return Plan(
        name=document["name"],
        folder=folder,
        programs=document.get("programs", {}),
        timeout_s=document.get("timeout_s", 3600),
        requirements=tuple(_requirement(r) for r in document.get("requirements", [])),
        jobs=tuple(found.values()),
    )


def check(source: Source) -> None:
    """Checks what the schema requires, and what a schema cannot express."""
    check_schema(source, _SCHEMA)
    names = [r["name"] for r in source.document.get("requirements", [])]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise BadResult(source.name, f"requirements[{number}].name", f"{name} is there twice")
    for number, series in enumerate(source.document["series"]):
        if "requires" in series and series["requires"] not in names:
            text = f"{series['requires']} is none of the requirements"
            raise BadResult(source.name, f"series[{number}].requires", text)
        _check_own(source, number, series)


def _check_own(source: Source, number: int, series: dict[str, Any]) -> None:
    """No option that the study sets itself, and none that is fixed and swept at once."""
    tool, options, axes = series["tool"], series.get("options", {}), series.get("axes", {})
    given_at: list[tuple[Place, dict[str, Any]]] = [(("options",), options), (("axes",), axes)]
    jobs = enumerate(series.get("jobs", []))
    given_at += [(("jobs", i, "options"), job.get("options", {})) for i, job in jobs]
    for place, given in given_at:
        for key in given:
            at = place_text(("series", number, *place, key))
            if command.is_own(tool, key) and "job_file" not in series:
                raise BadResult(source.name, at, f"is an option of {tool} that the study sets itself")
    for key in axes:
        if key in options:
            at = place_text(("series", number, "axes", key))
            raise BadResult(source.name, at, "is among the options as well")


def _requirement(told: dict[str, Any]) -> Requirement:
    check_words = told.get("check")
    return Requirement(told["name"], told["text"], tuple(check_words) if check_words else None)


def _jobs(source: Source, number: int, series: dict[str, Any], folder: Path) -> Iterator[Job]:
    axes = {key: list(dict.fromkeys(map(_scalar, values))) for key, values in series.get("axes", {}).items()}
    stdin = b""
    if "job_file" in series:
        stdin = _job_file(source, number, folder / series["job_file"])
    for place in product(*axes.values()):
        swept = {key: value for key, (_, value) in zip(axes, place, strict=True)}
        where = " ".join(f"{key}={value}" for key, value in swept.items())
        subject = shown(f"{series['name']} {where}".rstrip(), 100)
        yield from _repeated(series, swept, stdin, subject)


def _scalar(value: Any) -> tuple[str, Any]:
    """1 and true are two values, though Python has them equal."""
    return type(value).__name__, value


def _job_file(source: Source, number: int, path: Path) -> bytes:
    at = f"series[{number}].job_file"
    try:
        data = read_at_most(path, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadResult(source.name, at, f"{shown(path)} cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise BadResult(source.name, at, f"{shown(path)} is larger than any job file")
    return data


def _repeated(series: dict[str, Any], swept: dict[str, Any], stdin: bytes, subject: str) -> Iterator[Job]:
    """rpma-bench repeats by itself; fio is started again each time."""
    tool, often = series["tool"], series.get("repeats")
    options = dict(sorted({**series.get("options", {}), **swept}.items()))
    variables: tuple[tuple[str, Any], ...] = ()
    if tool == "rpma-bench":
        words, rounds = command.rpma_bench(series.get("server"), options, often), 1
    else:
        rounds = often or REPEATS
        if "job_file" in series:
            words, variables = command.fio_file(), tuple(sorted(swept.items()))
        else:
            words = command.fio(options, _fio_jobs(series))
    for number in range(rounds):
        fixed = (tool, tuple(words), variables, stdin, series.get("ssh"), series.get("requires"))
        yield Job(_id(fixed, number), *fixed, subject, number)


def _fio_jobs(series: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    jobs = series.get("jobs", [{"name": command.FIO_JOB}])
    return [(job["name"], dict(sorted(job.get("options", {}).items()))) for job in jobs]


def _id(fixed: tuple[Any, ...], number: int) -> str:
    text = json.dumps([part.hex() if isinstance(part, bytes) else part for part in fixed])
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{fixed[0]}-{digest}" + (f"-{number}" if fixed[0] == "fio" else "")
