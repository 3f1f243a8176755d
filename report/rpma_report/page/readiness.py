# SPDX-License-Identifier: BSD-3-Clause
"""The checks a readiness verdict rests on, those that ask for something first."""

from collections.abc import Sequence

from rpma_report import quantity
from rpma_report.figures import tables
from rpma_report.model import Readiness, Run
from rpma_report.page.document import Block, Facts, Heading, Paragraph, Section
from rpma_report.text import some

_ORDER = ("FAIL", "WARN", "UNKNOWN", "ASSUMED", "PASS", "INFO")


def section(runs: Sequence[Run]) -> Section | None:
    """Equal blocks of several runs stand once."""
    blocks: list[Block] = []
    told: dict[Readiness, list[str]] = {}
    for run in runs:
        if run.readiness:
            told.setdefault(run.readiness, []).append(run.name)
    for readiness, names in told.items():
        blocks += [Heading(some(names)), _facts(readiness), _table(readiness, some(names))]
        skipped = ", ".join(c.id for c in readiness.checks if c.status == "SKIP")
        if skipped:
            blocks.append(Paragraph(f"Skipped, since the question does not arise: {skipped}."))
    if not blocks:
        return None
    return Section("readiness", "Readiness of the target", tuple(blocks), "Readiness")


def _facts(readiness: Readiness) -> Facts:
    reason = readiness.reason or quantity.UNKNOWN
    pairs = [("verdict", readiness.verdict), ("reason", reason)]
    if readiness.because:
        pairs.append(("because of", readiness.because))
    if readiness.target:
        pairs.append(("target", readiness.target))
    if readiness.ddio:
        pairs.append(("DDIO", readiness.ddio))
    if readiness.direct_write_to_pmem is not None:
        pairs.append(("direct_write_to_pmem", "true" if readiness.direct_write_to_pmem else "false"))
    return Facts(tuple(pairs))


def _table(readiness: Readiness, which: str) -> tables.Table:
    asked = [c for c in readiness.checks if c.status in _ORDER]
    checks = sorted(asked, key=lambda c: _ORDER.index(c.status))
    rows = [
        [c.id, c.status, *(text or quantity.UNKNOWN for text in (c.title, c.value, c.meaning, c.fix))]
        for c in checks
    ]
    columns = ["check", "status", "what", "seen", "what it means", "what to do"]
    return tables.plain(f"Readiness checks of {which}", columns, rows, "text")
