# SPDX-License-Identifier: BSD-3-Clause
"""The words of study --ab, on simulated runs whose truth is known: false ones, and those found."""

import math
import random
from collections.abc import Sequence

import pytest

from rpma_report.studies import words
from rpma_report.studies.words import LOOKS, Decision, decide

LAST = LOOKS[-1]


def runs(draw: random.Random, spread: float, factor: float = 1.0) -> list[float]:
    return [1000 * factor * draw.lognormvariate(0, spread) for _ in range(LAST)]


def study(draw: random.Random, figures: int, spread: float, factor: float = 1.0) -> list[Decision]:
    """Independent figures are the hardest case for a false word."""
    pairs = [(runs(draw, spread), runs(draw, spread, factor)) for _ in range(figures)]
    return [decide(a, b, False, figures) for a, b in pairs]


@pytest.mark.parametrize("figures", [1, 6, 12])
def test_at_most_one_study_in_twenty_has_any_false_word(figures: int) -> None:
    """The limit for 1,000 studies is 5 % and three standard deviations."""
    draw, studies = random.Random(f"false {figures}"), 1000
    false = sum(any(d.word in ("better", "worse") for d in study(draw, figures, 0.03)) for _ in range(studies))
    assert false <= studies * 0.05 + 3 * math.sqrt(studies * 0.05 * 0.95)


def test_five_percent_slower_is_found() -> None:
    """Runs that differ by 2.5 %, one figure: a pair's logarithm by 3.5 %."""
    draw, studies = random.Random("power"), 300
    found = [study(draw, 1, 0.025, 1.05)[0] for _ in range(studies)]
    assert sum(d.word == "worse" for d in found) >= 0.98 * studies
    assert not any(d.word in ("better", "same") for d in found)


def test_same_is_not_said_of_a_change_beyond_its_limit() -> None:
    draw, studies = random.Random("same"), 1000
    found = [study(draw, 1, 0.03, 1 + words.SAME)[0].word for _ in range(studies)]
    assert found.count("same") <= 0.05 * studies


def test_quiet_runs_without_a_change_are_the_same() -> None:
    """A pair's logarithm differs by 1.4 %: 2 % are six times its error after 18 pairs."""
    draw = random.Random("quiet")
    found = [study(draw, 1, 0.01)[0] for _ in range(200)]
    assert sum(d.word == "same" and d.pairs <= 18 for d in found) >= 180


@pytest.mark.parametrize("figures", [2, 12])
def test_levels_of_several_figures_add_up_to_five_percent(figures: int) -> None:
    whole = sum(words.level(look, figures) for look in range(1, len(LOOKS) + 1)) * figures
    assert 0.049 < whole <= 0.0501


def level_values(pairs: int, change: float) -> tuple[list[float | None], list[float | None]]:
    """A change that is seen at once: the spread is a thousandth."""
    a: list[float | None] = [1000 + i % 2 for i in range(pairs)]
    b: list[float | None] = [(1000 + (i // 2) % 2) * (1 + change) for i in range(pairs)]
    return a, b


def test_nothing_is_said_between_the_looks() -> None:
    assert decide(*level_values(5, 0.1), False, 1) == Decision("unclear", 5, why="5 of at least 6 pairs")
    assert decide(*level_values(11, 0.1), False, 1).pairs == 6


def test_first_certain_word_stands() -> None:
    a, b = level_values(6, 0.1)
    assert decide([*a, *b], [*b, *a], False, 1).pairs == 6


def test_what_is_not_seen_has_a_bound() -> None:
    draw = random.Random("bound")
    found = decide(runs(draw, 0.3), runs(draw, 0.3), False, 1)
    assert found.word == "not seen" and found.low is not None and found.high is not None
    most = max(-found.low, found.high)
    assert f"not seen: less than {math.ceil(1000 * most) / 10:.1f} %" in found.text()


@pytest.mark.parametrize("bad, why", [(None, "measure longer"), (0.0, "a value is 0")])
def test_figure_without_values_is_unclear(bad: float | None, why: str) -> None:
    a, b = level_values(12, 0.1)
    values: Sequence[float | None] = [*a[:3], bad, *a[4:]]
    found = decide(values, b, False, 1)
    assert found.word == "unclear" and why in found.text()
