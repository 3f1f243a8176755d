# SPDX-License-Identifier: BSD-3-Clause
"""The readiness block of rpma-ddio-check, which results of rpma-bench carry too."""

from typing import Any

from rpma_report.model import Check, Readiness
from rpma_report.text import shown


def from_document(block: dict[str, Any] | None) -> Readiness | None:
    if not block:
        return None
    judgement = block.get("judgement")
    judgement = judgement if isinstance(judgement, dict) else {}
    target, ddio, direct = (block.get(k) for k in ("target", "ddio", "direct_write_to_pmem"))
    path = target.get("path") if isinstance(target, dict) else None
    state = ddio.get("state") if isinstance(ddio, dict) else None
    value = direct.get("value") if isinstance(direct, dict) else None
    return Readiness(
        verdict=shown(block["verdict"], 40),
        checks=tuple(_check(c) for c in block["checks"]),
        reason=_text(judgement, "reason"),
        because=_text(judgement, "because"),
        assumed=judgement.get("assumed") is True,
        target=shown(path) if isinstance(path, str) else None,
        ddio=shown(state, 40) if isinstance(state, str) else None,
        direct_write_to_pmem=value if isinstance(value, bool) else None,
    )


def _check(check: dict[str, Any]) -> Check:
    texts = {key: _text(check, key) for key in ("title", "value", "meaning", "fix")}
    return Check(shown(check["id"], 40), check["status"], **texts)


def _text(holder: dict[str, Any], key: str) -> str | None:
    """A result of rpma-bench may have anything beside what its schema names."""
    value = holder.get(key)
    return shown(value, 500) if isinstance(value, str) and value else None
