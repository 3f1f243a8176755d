# SPDX-License-Identifier: BSD-3-Clause
"""Runs from documents: load() for tests of charts and words, whose results need not agree with themselves
in what they do not show; checked() by way of all the checks that a file goes through."""

import json
from typing import Any

from rpma_report import sources
from rpma_report.model import Run, name_apart
from rpma_report.sources.document import Content, parsed


def load(document: Any, name: str = "r0.json") -> Run:
    return _run(document, name, "check_form")


def checked(document: Any, name: str = "r0.json") -> Run:
    return _run(document, name, "check")


def _run(document: Any, name: str, check: str) -> Run:
    source = parsed(Content(name, name, "0" * 64, json.dumps(document)))
    reader = sources._reader(source)
    getattr(reader, check, reader.check)(source)
    run: Run = reader.run(source)
    return run


def runs(*documents: Any) -> list[Run]:
    return name_apart([load(d, f"r{i}.json") for i, d in enumerate(documents)])
