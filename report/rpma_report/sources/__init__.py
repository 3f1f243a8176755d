# SPDX-License-Identifier: BSD-3-Clause
"""A file in, a Run out: load() for the report, check() for callers that only ask whether it is sound.

A file of rpma-ping for several hosts has a Run for each: load_all(). Which of the kinds it is follows from what stands in it, never from its name. One file
is in memory at a time.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from rpma_report.model import SHA_DIGITS, Run
from rpma_report.sources import bench, ddio_check, fio, fio_hist, fio_log, fio_sidecar, hdr_log, hgrm, perftest, ping
from rpma_report.sources.document import BadResult, Content, Source, content, parsed_all, quoted
from rpma_report.sources.text import TextSource

_OURS: dict[str, ModuleType] = {
    "rpma-bench": bench,
    "rpma-ping": ping,
    "rpma-ddio-check": ddio_check,
    "fio-sidecar": fio_sidecar,
}
MAJOR = 1
_KNOWN = "rpma-bench/1, rpma-ping/1, rpma-ddio-check/1 or fio's json"
_OF_LINES: tuple[ModuleType, ...] = (hdr_log, hgrm, fio_hist, fio_log, perftest)


def load(path: Path, unit: str | None = None) -> Run:
    """The only one of a file. `unit` is that of the values in files that have none."""
    run, *others = load_all(path, unit)
    if others:
        raise BadResult(str(path), "top level", f"is a list of {len(others) + 1} results, expected one")
    return run


def load_all(path: Path, unit: str | None = None) -> list[Run]:
    return [_run(source, unit) for source in read_all(path)]


def _run(source: Source | TextSource, unit: str | None) -> Run:
    reader = _reader(source)
    reader.check(source)
    run: Run = hgrm.run(source, unit) if isinstance(source, TextSource) and reader is hgrm else reader.run(source)
    file = run.sha256[:SHA_DIGITS]
    return replace(run, points=tuple(replace(point, file=file) for point in run.points))


def read_all(path: Path) -> Sequence[Source | TextSource]:
    return recognised(content(path))


def recognised(of: Content) -> Sequence[Source | TextSource]:
    """Lines of another program, else JSON."""
    if any(reader.is_one(of.text) for reader in _OF_LINES):
        return [TextSource(of.name, of.file, of.sha256, of.text)]
    sources = parsed_all(of)
    for source in sources:
        if source.part is not None and _reader(source) is not ping:
            raise BadResult(source.name, "schema", f"is {quoted(source.document.get('schema'))}: only rpma-ping writes a list of results")
    return sources


def check(source: Source | TextSource) -> str:
    """Raises BadResult; gives what the file is."""
    reader = _reader(source)
    reader.check(source)
    kind: str = reader.KIND
    return kind


def _reader(source: Source | TextSource) -> ModuleType:
    if isinstance(source, TextSource):
        return next(reader for reader in _OF_LINES if reader.is_one(source.text))
    document = source.document
    if "schema" in document:
        return _ours(source, document["schema"])
    if "fio version" in document:
        return fio
    raise BadResult(source.name, "top level", _foreign(document))


def _ours(source: Source, schema: Any) -> ModuleType:
    match = re.fullmatch(r"([a-z0-9-]+)/([0-9]{1,6})", schema) if isinstance(schema, str) else None
    if not match or match[1] not in _OURS:
        raise BadResult(source.name, "schema", f"is {quoted(schema)}, not one of {_KNOWN}")
    if int(match[2]) != MAJOR:
        age = "a newer" if int(match[2]) > MAJOR else "an older"
        raise BadResult(
            source.name, "schema", f"is {schema}, of {age} {match[1]}; this program reads "
            f"{match[1]}/{MAJOR}: use the rpma-report of that version"
        )  # fmt: skip
    return _OURS[match[1]]


def _foreign(document: dict[str, Any]) -> str:
    return f'is not a result: it has no "schema" key and is not of fio, expected {_KNOWN}'
