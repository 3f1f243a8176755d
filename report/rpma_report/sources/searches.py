# SPDX-License-Identifier: BSD-3-Clause
"""Searches of rpma-bench for the highest rate that keeps a limit: what they found, and their trials."""

import re
from typing import Any

from rpma_report.model import Search, Trial
from rpma_report.sources import slos
from rpma_report.sources.document import Contradiction, Place, Source, quoted
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
        _check_answer(source, place, search)
        _check_trials(source, place, search)
        slos.check_asked(source, (*place, "limit"), "--find-rate", search["limit"])


def _check_answer(source: Source, place: Place, search: dict[str, Any]) -> None:
    """The gap is that of the two ends; a percentile needs ten samples beyond it."""
    kept, missed, gap = (search[key] for key in ("highest_kept_per_s", "lowest_missed_per_s", "gap_fraction"))
    if gap is not None and (not kept or not missed or abs(missed / kept - 1 - gap) > 1e-3 * (1 + gap)):
        raise Contradiction(source, (*place, "gap_fraction"), f"is {gap}, but {kept} is kept and {missed} missed")
    share, needed = re.search(r"\.p([0-9]{1,2}(?:\.[0-9]{1,6})?)", search["limit"]), search["needed_samples"]
    if share and needed is not None and abs(needed * (1 - float(share[1]) / 100) - 10) > 0.01 + (1 - float(share[1]) / 100):
        raise Contradiction(source, (*place, "needed_samples"), f"is {needed}, but {search['limit']} needs ten beyond p{share[1]}")
    for number, trial in enumerate(search["trials"]):
        if trial["kept"] and not trial["achieved"]:
            raise Contradiction(source, (*place, "trials", number, "kept"), "is true, but the rate was not achieved")
    ends = {"kept": (True, False), "missed": (False, True)}.get(search["verdict"])
    if ends and ends != (kept is not None, missed is not None):
        raise Contradiction(source, (*place, "verdict"), f"is {search['verdict']}, but {kept} is kept and {missed} missed")
    if (search["verdict"] == "found") != (gap is not None):
        raise Contradiction(source, (*place, "verdict"), f"is {search['verdict']}, but gap_fraction is {gap}")


def _check_trials(source: Source, place: Place, search: dict[str, Any]) -> None:
    """The trials that an answer rests on were measured twice; a value is the figure of its point, and decides where the rate was achieved."""
    points = {point["id"]: point for point in source.document["points"]}
    if search["verdict"] in ("found", "kept", "missed", "unclear"):
        for key in ("highest_kept_per_s", "lowest_missed_per_s"):
            ends = [trial["again"] for trial in search["trials"] if trial["rate_per_s"] == search[key]]
            if ends and not any(ends):
                raise Contradiction(source, (*place, key), f"is {search[key]}, but that rate was measured once")
    once = {len(points[trial["point"]]["repeats"]) for trial in search["trials"] if not trial["again"]}
    twice = {len(points[trial["point"]]["repeats"]) for trial in search["trials"] if trial["again"]}
    if source.document["run"]["status"] == "complete" and (len(once) > 1 or len(twice) > 1 or any(2 * n not in twice for n in once if twice)):
        raise Contradiction(source, (*place, "trials"), f"measured again have {sorted(twice)} repeats, and the others {sorted(once)}")
    for number, trial in enumerate(search["trials"]):
        point = points[trial["point"]]
        if trial["achieved"] and point["summary"].get("unbegun_ops"):
            raise Contradiction(source, (*place, "trials", number, "achieved"), f"is true, but {trial['point']} left operations undone")
        slos.check_value(source, (*place, "trials", number), search["limit"], trial["value"], point)
        due = slos.holds(search["limit"], trial["value"]) if trial["achieved"] else None
        if None not in (due, trial["kept"]) and trial["kept"] is not due:
            raise Contradiction(source, (*place, "trials", number, "kept"), f"is {quoted(trial['kept'])}, but its value gives {quoted(due)}")


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
