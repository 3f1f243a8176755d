# SPDX-License-Identifier: BSD-3-Clause
"""Runs from documents, by way of the same checks that a file goes through."""

import json
from typing import Any

from rpma_report import sources
from rpma_report.model import Run, name_apart
from rpma_report.sources.document import Content, parsed


def load(document: Any, name: str = "r0.json") -> Run:
    text = json.dumps(document)
    source = parsed(Content(name, name, "0" * 64, text))
    reader = sources._reader(source)
    reader.check(source)
    run: Run = reader.run(source)
    return run


def runs(*documents: Any) -> list[Run]:
    return name_apart([load(d, f"r{i}.json") for i, d in enumerate(documents)])
