# SPDX-License-Identifier: BSD-3-Clause
"""Searches for the highest rate that keeps a limit: their answers are on the page, with every trial."""

import copy
from typing import Any

import pytest

import sample
import sample_tests as made
from loaded import checked, runs
from outline import Outline
from rpma_report.figures import rate, search
from rpma_report.page import cards

TEN_US = range(10_000, 11_000)
LIMIT = "response.p99.9<20us"


def trial(number: int, per_s: int, kept: bool | None, value: float | None = 12_000.0) -> dict[str, Any]:
    return {"point": f"p{number:04}", "rate_per_s": per_s, "kept": kept, "achieved": bool(kept), "value": value, "again": number > 0}


def searched(**changes: Any) -> dict[str, Any]:
    points = [made.rate_point(n, float(per_s), 0.9 * per_s, TEN_US, TEN_US) for n, per_s in enumerate((1000, 4000, 4200))]
    told = {"limit": LIMIT, "name": "size 4 KiB", "verdict": "found", "highest_kept_per_s": 4000, "lowest_missed_per_s": 4200,
            "gap_fraction": 0.05, "needed_samples": 10_000,
            "trials": [trial(0, 1000, True), trial(1, 4000, True), trial(2, 4200, False, 25_000.0)]}  # fmt: skip
    return sample.result(points, searches=[{**told, **changes}])


def test_card_and_caption_have_the_answer() -> None:
    found = runs(searched())
    (card,) = [card for card in cards.cards_of(found) if "rate" in card.what]
    assert card.value == "4.00 kop/s" and card.what == f"highest rate that keeps {LIMIT}, size 4 KiB"
    assert card.detail == "kept up to 4.00 kop/s, missed at 4.20 kop/s (not achieved), 5 % above"
    figure = rate.figure(found)
    assert figure is not None and f"{LIMIT}, size 4 KiB: {card.detail}." in figure.caption
    assert "the plan was" not in figure.caption  # by another rule


def test_rate_that_was_achieved_missed_its_limit() -> None:
    trials = [trial(0, 1000, True), trial(1, 4000, True), {**trial(2, 4200, False, 25_000.0), "achieved": True}]
    (run,) = runs(searched(trials=trials))
    assert search.answer(run.searches[0]) == "kept up to 4.00 kop/s, missed at 4.20 kop/s (response.p99.9 25.0 µs), 5 % above"


def test_table_has_each_trial() -> None:
    (table,) = search.trials(runs(searched()))
    assert table.columns == ("offered rate", "kept", "achieved", "response.p99.9", "measured twice")
    rows = [[cell.text for cell in row] for row in table.groups[0].rows]
    assert rows[0] == ["1.00 kop/s", "yes", "yes", "12.0 µs", "no"] and rows[2] == ["4.20 kop/s", "no", "no", "25.0 µs", "yes"]
    assert table.groups[0].rows[1][0].at is not None and table.groups[0].rows[1][0].at.point == "p0001"


ANSWERS = [
    ({"verdict": "kept", "lowest_missed_per_s": None, "gap_fraction": None}, "4.00 kop/s", "kept up to 4.00 kop/s, the highest rate of the search"),
    ({"verdict": "missed", "highest_kept_per_s": None, "gap_fraction": None}, "missed", "missed even at 4.20 kop/s (not achieved), the lowest rate of the search"),
    ({"verdict": "unclear", "gap_fraction": None}, "unclear", "unclear: missed at 4.20 kop/s (not achieved) and kept at 4.00 kop/s, both measured twice"),
    ({"verdict": "unknown", "highest_kept_per_s": None, "lowest_missed_per_s": None, "gap_fraction": None}, "unknown",
     "not known: a repeat had too few samples"),
    ({"verdict": "unfinished", "highest_kept_per_s": None, "lowest_missed_per_s": None, "gap_fraction": None}, "unfinished", "unfinished"),
]  # fmt: skip


@pytest.mark.parametrize("changes, value, detail", ANSWERS, ids=lambda v: v.get("verdict") if isinstance(v, dict) else None)
def test_other_verdicts_are_no_rate(changes: dict[str, Any], value: str, detail: str) -> None:
    card = next(card for card in cards.cards_of(runs(searched(**changes))) if "rate that keeps" in card.what)
    assert (card.value, card.detail) == (value, detail)


CONTRADICTIONS = [
    ({"trials": [trial(0, 1001, True)]}, r"trials\[0\].rate_per_s: is 1001, but p0000 is of 1000"),
    ({"trials": [trial(7, 1000, True)]}, r"trials\[0\].rate_per_s: is 1000, but p0007 is no point"),
    ({"highest_kept_per_s": 4200}, r"highest_kept_per_s: is 4200, but no trial of that rate was kept"),
    ({"lowest_missed_per_s": 1000}, r"lowest_missed_per_s: is 1000, but no trial of that rate was missed"),
]


@pytest.mark.parametrize("changes, text", CONTRADICTIONS)
def test_answer_that_its_trials_do_not_support_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(Exception, match=text):
        checked(searched(**changes))


@pytest.mark.parametrize("limit, value, text", [
    ("response.p50<1ms", 900.0, "900 ns"), ("latency.mean<1ms", 1500.0, "1.50 µs"), ("bytes_per_s>1G", 2e9, "2.00 GB/s"),
    ("ops_per_s>1k", 2e3, "2.00 kop/s"), ("late_ops<7", 3.0, "3"), ("response.p50<1ms", None, "–"),
])  # fmt: skip
def test_value_of_a_trial_has_the_unit_of_the_limit(limit: str, value: float | None, text: str) -> None:
    (run,) = runs(searched(limit=limit))
    assert search.value(run.searches[0], value) == text


def test_searches_on_a_page(page: Any) -> None:
    several = searched(limit="response.p50<20us", needed_samples=20)
    told = several["run"]["searches"][0]["trials"]
    for one, point in zip(told, several["points"], strict=True):
        one.update(value=point["summary"]["response_latency"]["percentiles"][0]["ns"], again=True)
    other = copy.deepcopy(several["run"]["searches"][0])
    several["run"]["searches"].append({**other, "name": "size 64 B"})
    told = Outline(page(several)).text()
    assert told.count("Search for the highest rate that keeps") == 2
