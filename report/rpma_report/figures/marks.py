# SPDX-License-Identifier: BSD-3-Clause
"""The warnings that belong on a chart itself: not hardware, persistence not proven."""

from collections.abc import Iterable

from rpma_report.model import PERSISTENT, Point, Run

_UNRECORDED = "device not recorded by fio"
_KIND_UNRECORDED = "kind of device not recorded by fio: "


def hardware_mark(run: Run) -> str:
    """Empty for hardware; else why its figures do not predict hardware."""
    if run.is_hardware:
        return ""
    if run.device_kind is None:
        if run.program != "fio":
            return "no device"
        return f"{_KIND_UNRECORDED}{run.device_name}" if run.device_name else _UNRECORDED
    kind = "" if run.device_kind == "hardware" else f"software device {run.device_kind}"
    return ", ".join(filter(None, (kind, "emulated CPU" if run.emulated_cpu else "")))


def marks(runs: Iterable[Run], points: Iterable[Point]) -> str:
    """The marks of the runs and the points that a chart has."""
    every = list(runs)
    reasons = dict.fromkeys(filter(None, map(hardware_mark, every)))
    named = [r.removeprefix(_KIND_UNRECORDED) for r in reasons if r.startswith(_KIND_UNRECORDED)]
    known = "; ".join(r for r in reasons if r != _UNRECORDED and not r.startswith(_KIND_UNRECORDED))
    parts = [f"NOT HARDWARE: {known}"] if known else []
    parts += ["DEVICE NOT RECORDED by fio"] if _UNRECORDED in reasons else []
    parts += [f"KIND OF DEVICE NOT RECORDED by fio: {', '.join(named)}"] if named else []
    persists = any(p.params["persist"] in PERSISTENT for p in points)
    unproven = persists and any(run.persistence_unproven for run in every)
    parts += ["persistence not proven"] if unproven else []
    return " \u00b7 ".join(parts)
