# SPDX-License-Identifier: BSD-3-Clause
"""A comparison for programs: one JSON document, by the schema rpma-report-compare/1.

The fractions are those that the page prints, unrounded; unknown is null.
"""

import json
from typing import Any

from rpma_report import __version__
from rpma_report.comparison import rule
from rpma_report.comparison.changes import Comparison, Row
from rpma_report.comparison.limits import Findings
from rpma_report.comparison.match import Alone, Place
from rpma_report.measurement import Measurement

SCHEMA = "rpma-report-compare/1"


def render(found: Findings, exit_code: int) -> str:
    document = {
        "schema": SCHEMA,
        "tool": {"name": "rpma-report", "version": __version__},
        "rule": rule.RULE,
        "base": _measurement(found.base),
        "comparisons": [_comparison(one) for one in found.comparisons],
        "conditions": [condition.text for condition in found.conditions],
        "failed": [
            {"condition": f.condition.text, "new": f.new.name, **_place(f.row.pair.place), "figure": f.row.measure.name}
            for f in found.failed
        ],
        "undetermined": [
            {"condition": u.condition.text, "new": u.new.name if u.new else None, **_place(u.place),
             "figure": u.figure or None, "why": u.why}
            for u in found.undetermined
        ],
        "exit_code": exit_code,
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _measurement(measurement: Measurement) -> dict[str, Any]:
    files = dict.fromkeys(p.file for run in measurement.runs for p in run.points if p.file)
    return {"name": measurement.name, "runs": [
        {"program": run.program, "label": run.label, "file": run.file, "started": run.started, "device": run.device_name,
         "device_kind": run.device_kind} for run in measurement.runs
    ], "sha256_prefixes": list(files)}  # fmt: skip


def _comparison(comparison: Comparison) -> dict[str, Any]:
    counted = comparison.words()
    return {
        "new": _measurement(comparison.new),
        "noise_fraction": comparison.asked.noise,
        "words": {word: counted[word] for word in rule.WORDS},
        "changes": [_row(row) for row in comparison.rows],
        "only_base": [_alone(alone) for alone in comparison.matched.only_base],
        "only_new": [_alone(alone) for alone in comparison.matched.only_new],
    }


def _row(row: Row) -> dict[str, Any]:
    base, new = row.values
    verdict = row.verdict
    return {
        **_place(row.pair.place),
        "figure": row.measure.name,
        "higher_is_better": row.measure.higher_is_better,
        "decides": row.decides,
        "base": row.base,
        "new": row.new,
        "base_values": base,
        "new_values": new,
        "change_fraction": verdict.change,
        "ci95_low_fraction": verdict.low,
        "ci95_high_fraction": verdict.high,
        "word": verdict.word or None,
        "why": verdict.why,
    }


def _place(place: Place | None) -> dict[str, Any]:
    return {"series": place.series if place else None, "where": place.where if place else None}


def _alone(alone: Alone) -> dict[str, Any]:
    return _place(alone.place)
