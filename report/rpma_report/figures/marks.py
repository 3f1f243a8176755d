# SPDX-License-Identifier: BSD-3-Clause
"""The notice on what leaves a page, a picture or a table: not hardware, persistence not proven. The page has it once."""

from collections.abc import Iterable

from rpma_report.model import PERSISTENT, Point, Run

_UNRECORDED = "device not recorded by "
_KIND_UNRECORDED = "kind of device not recorded by "


def hardware_mark(run: Run) -> str:
    """Empty for hardware; else why its figures do not predict hardware."""
    if run.is_hardware:
        return ""
    if run.device_kind is None:
        if run.records_device:
            return "no device"
        kind = f"{_KIND_UNRECORDED}{run.program}: {run.device_name}"
        return kind if run.device_name else f"{_UNRECORDED}{run.program}"
    kind = "" if run.device_kind == "hardware" else f"software device {run.device_kind}"
    return ", ".join(filter(None, (kind, "emulated CPU" if run.emulated_cpu else "")))


def marks(runs: Iterable[Run], points: Iterable[Point]) -> str:
    """The notice of these runs and points; empty where there is none."""
    every = list(runs)
    reasons = dict.fromkeys(filter(None, map(hardware_mark, every)))
    kinds = [r.removeprefix(_KIND_UNRECORDED) for r in reasons if r.startswith(_KIND_UNRECORDED)]
    unrecorded = [r.removeprefix(_UNRECORDED) for r in reasons if r.startswith(_UNRECORDED)]
    known = "; ".join(r for r in reasons if not r.startswith((_UNRECORDED, _KIND_UNRECORDED)))
    parts = [f"NOT HARDWARE: {known}"] if known else []
    parts += [f"DEVICE NOT RECORDED by {', '.join(unrecorded)}"] if unrecorded else []
    parts += [f"KIND OF DEVICE NOT RECORDED by {program}: {', '.join(names)}" for program, names in _by_program(kinds)]
    persists = any(p.params["persist"] in PERSISTENT for p in points)
    unproven = persists and any(run.persistence_unproven for run in every)
    parts += ["persistence not proven"] if unproven else []
    return " \u00b7 ".join(parts)


def _by_program(kinds: Iterable[str]) -> list[tuple[str, list[str]]]:
    """fio: mlx5_0 and fio: mlx5_1 are fio, with both."""
    found: dict[str, list[str]] = {}
    for kind in kinds:
        program, _, name = kind.partition(": ")
        found.setdefault(program, []).append(name)
    return list(found.items())
