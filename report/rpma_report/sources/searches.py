# SPDX-License-Identifier: BSD-3-Clause
"""Searches of rpma-bench for the highest rate that keeps a limit: what they found, and their trials."""

from typing import Any

from rpma_report.model import Search, Trial
from rpma_report.sources.document import Contradiction, Source
from rpma_report.text import shown


def check(source: Source) -> None:
    """A trial is a point of its rate, and the ends of an answer are trials."""
    rates = {p["id"]: p["params"]["target_rate_per_s"] for p in source.document["points"]}
    for number, search in enumerate(source.document["run"].get("searches") or ()):
        place = ("run", "searches", number)
        for at, trial in enumerate(search["trials"]):
            rate = rates.get(trial["point"])
            if rate != trial["rate_per_s"]:
                told = f"is {trial['rate_per_s']}, but {trial['point']} is {'no point' if rate is None else f'of {rate:g}'}"
                raise Contradiction(source, (*place, "trials", at, "rate_per_s"), told)
        for key, kept in (("highest_kept_per_s", True), ("lowest_missed_per_s", False)):
            told = search[key]
            if told is not None and not any(t["kept"] is kept and t["rate_per_s"] == told for t in search["trials"]):
                raise Contradiction(source, (*place, key), f"is {told}, but no trial of that rate was {'kept' if kept else 'missed'}")


def from_run(told: dict[str, Any]) -> tuple[Search, ...]:
    return tuple(
        Search(
            limit=shown(s["limit"], 60),
            name=shown(s["name"], 60) if s["name"] else "",
            verdict=s["verdict"],
            highest_kept=s["highest_kept_per_s"],
            lowest_missed=s["lowest_missed_per_s"],
            gap=s["gap_fraction"],
            trials=tuple(Trial(t["point"], t["rate_per_s"], t["kept"], t["achieved"], t["value"], t["again"]) for t in s["trials"]),
        )
        for s in told.get("searches") or ()
    )
