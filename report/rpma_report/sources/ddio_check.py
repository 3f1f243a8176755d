# SPDX-License-Identifier: BSD-3-Clause
"""Results of rpma-ddio-check: a verdict and the checks it rests on, no figures."""

from rpma_report.model import Run
from rpma_report.sources import readiness
from rpma_report.sources.bench import command_line
from rpma_report.sources.document import Source, check_numbers
from rpma_report.sources.schema import check_schema
from rpma_report.text import shown

KIND = "rpma-ddio-check/1"
_SCHEMA = "rpma-ddio-check-1.schema.json"


def check(source: Source) -> None:
    check_schema(source, _SCHEMA)
    check_numbers(source, source.document)


def run(source: Source) -> Run:
    document = source.document
    told, device = document["run"], document["device"] or {}
    name = device.get("name") or device.get("asked")
    return Run(
        program="rpma-ddio-check",
        name=shown(source.file, 60),
        file=shown(source.file),
        sha256=source.sha256,
        started=told["started"],
        commands=(command_line(told["argv"]),),
        tool=document["tool"],
        device_name=shown(name, 60) if name else None,
        device_kind=device.get("kind"),
        readiness=readiness.from_document(document),
    )
