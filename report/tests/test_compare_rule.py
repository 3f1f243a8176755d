# SPDX-License-Identifier: BSD-3-Clause
"""The words on fixed repeats, and how often they are wrong of pairs whose change is known."""

import math
import random

import pytest

from conftest import SOURCE
from rpma_report.comparison import bootstrap, rule

# Five repeats of a latency, spread by 1 %, and the words for what may have become of them.
BASE = (100.0, 101.2, 99.1, 100.4, 98.9)
PAIRS = 1000


def scaled(factor: float, by: tuple[float, ...] = (99.6, 100.8, 100.1, 98.8, 101.0)) -> tuple[float, ...]:
    return tuple(value * factor for value in by)


@pytest.mark.parametrize(
    "new, higher_is_better, word",
    [(scaled(1.06), False, "worse"), (scaled(1.06), True, "better"),
     (scaled(0.94), False, "better"), (scaled(0.94), True, "worse"),
     (scaled(1.00), False, "same"), (scaled(1.00), True, "same"),
     (scaled(1.02), False, "unclear"),  # its interval has 2 % in it
     (scaled(1.00, (80, 130, 95, 112, 90)), False, "unclear"),  # no change, but too much noise to say so
     (scaled(1.50, (80, 130, 95, 112, 90)), False, "worse"),  # so much that noise does not matter
     (BASE, False, "same")],
)  # fmt: skip
def test_word(new: tuple[float, ...], higher_is_better: bool, word: str) -> None:
    assert rule.judge(BASE, new, higher_is_better).word == word


def test_rule_stands_in_the_manual() -> None:
    page = (SOURCE.parent / "doc/rpma-report.1").read_text(encoding="utf-8")
    assert f".Bd -filled -offset indent {rule.RULE} .Ed" in " ".join(page.split())


def test_noisy_run_compared_with_itself_is_the_same() -> None:
    values = (50.0, 300.0, 120.0)
    assert rule.judge(values, values, False) == rule.Verdict("same", 0.0, 0.0, 0.0)


@pytest.mark.parametrize("base, new", [(BASE, (200.0, 201.0)), ((100.0, 101.0), scaled(2)), ((1.0,), (2.0,))])
def test_fewer_than_three_repeats_are_unclear_whatever_the_change(
    base: tuple[float, ...], new: tuple[float, ...]
) -> None:
    verdict = rule.judge(base, new, False)
    assert verdict.word == "unclear" and verdict.low is None
    assert verdict.change is not None and verdict.change > 0.9


@pytest.mark.parametrize("base, new", [((), BASE), (BASE, ()), (BASE, (0.0, 1.0, 2.0))])
def test_no_ratio_is_unclear_without_a_change(base: tuple[float, ...], new: tuple[float, ...]) -> None:
    assert rule.judge(base, new, False) == rule.Verdict("unclear", None)


def test_change_is_the_ratio_of_geometric_means() -> None:
    change = bootstrap.change((1.0, 2.0, 4.0), (2.0, 4.0, 9.0))
    assert change.value == pytest.approx((72 / 8) ** (1 / 3) - 1)
    assert change.low < change.value < change.high


def test_change_of_equal_repeats_needs_no_chance() -> None:
    change = bootstrap.change((2390.0,) * 3, (2510.0,) * 3)
    assert (change.low, change.high) == (pytest.approx(change.value), pytest.approx(change.value))


def test_interval_mirrors_when_the_sides_change_places() -> None:
    there, back = bootstrap.change(BASE, scaled(1.05)), bootstrap.change(scaled(1.05), BASE)
    assert 1 + back.value == pytest.approx(1 / (1 + there.value))
    assert 1 + back.low == pytest.approx(1 / (1 + there.high), rel=2e-3)  # other draws, near to equal


def test_interval_is_the_same_every_time_and_for_many_repeats() -> None:
    draw = random.Random(7)
    many = [100 * math.exp(draw.gauss(0, 0.02)) for _ in range(90)]
    first = bootstrap.change(many[:45], many[45:])
    assert first == bootstrap.change(many[:45], many[45:])
    assert first.high - first.low < 0.03


# Repeats of each side, and their spread.
SIMULATED = [
    (3, 3, 0.01, 0.01), (3, 3, 0.01, 0.05), (3, 10, 0.05, 0.01),
    (5, 5, 0.01, 0.01), (5, 5, 0.15, 0.15), (10, 10, 0.02, 0.02),
]  # fmt: skip
# A rule that says nothing is never wrong: the least share of right words.
RIGHT = {(5, 0.01, 0.0): 0.4, (5, 0.01, 0.05): 0.9, (10, 0.02, 0.05): 0.8}


@pytest.mark.parametrize("true", [0.0, -0.019, 0.05])
@pytest.mark.parametrize("base, new, base_spread, new_spread", SIMULATED)
def test_wrong_words_are_one_in_twenty_at_most(
    base: int, new: int, base_spread: float, new_spread: float, true: float
) -> None:
    truth = "same" if abs(true) <= rule.RELEVANT else "worse" if true > 0 else "better"
    draw = random.Random(f"{base} {new} {base_spread} {new_spread} {true}")
    words = [
        rule.judge(
            [100 * math.exp(draw.gauss(0, base_spread)) for _ in range(base)],
            [100 * (1 + true) * math.exp(draw.gauss(0, new_spread)) for _ in range(new)],
            False,
        ).word
        for _ in range(PAIRS)
    ]
    right, unclear = words.count(truth), words.count("unclear")
    assert PAIRS - right - unclear <= 0.05 * PAIRS
    assert right >= RIGHT.get((base, base_spread, true), 0) * PAIRS
