# SPDX-License-Identifier: BSD-3-Clause
"""Student's t on logarithms: table values, coverage, and words that hold together."""

import math
import random
from statistics import NormalDist

import pytest

from rpma_report import intervals
from rpma_report.model import Estimate

# Two-sided 95 % quantiles of t, and one of 99 %, as tables of statistics print them.
TABLE = [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 29, 2.045), (0.995, 7, 3.499)]


@pytest.mark.parametrize("p, freedom, t", TABLE)
def test_quantiles_of_t_are_those_of_the_table(p: float, freedom: int, t: float) -> None:
    assert intervals.t_quantile(p, freedom) == pytest.approx(t, abs=5e-4)
    assert intervals.t_cdf(t, freedom) == pytest.approx(p, abs=1e-4)


def test_normal_distribution_is_that_of_the_table() -> None:
    assert intervals.normal_cdf(1.959964) == pytest.approx(0.975, abs=1e-7)


def test_repeats_have_a_geometric_mean_inside_an_interval_of_equal_factors() -> None:
    """By hand: logarithms 0, ln 2, ln 4 have the mean ln 2 and the deviation ln 2."""
    found = intervals.of_repeats((1.0, 2.0, 4.0))
    factor = math.exp(4.3027 * math.log(2) / math.sqrt(3))
    assert found is not None and found.value == pytest.approx(2)
    assert (found.low, found.high) == (pytest.approx(2 / factor, rel=1e-4), pytest.approx(2 * factor, rel=1e-4))


@pytest.mark.parametrize("values, told", [((), None), ((4.0, 9.0), Estimate(6.0)), ((0.0, 1.0, 2.0), Estimate(0.0))])
def test_too_few_repeats_and_zeros_have_no_interval(values: tuple[float, ...], told: Estimate | None) -> None:
    assert intervals.of_repeats(values) == told


def test_pairs_take_their_common_drift_away() -> None:
    base = (100.0, 150.0, 80.0, 300.0)
    change = intervals.of_pairs(base, [1.1 * value for value in base])
    assert change is not None and change.value == pytest.approx(0.1)
    assert change.interval() == pytest.approx((0.1, 0.1))
    assert change.p_differs() < 1e-9


def test_p_value_and_interval_agree() -> None:
    base, new = (100.0, 103.0, 98.0, 101.0), (104.0, 105.0, 103.0, 102.0)
    for change in (intervals.of_pairs(base, new), intervals.of_sides(base, new)):
        assert change is not None
        p = change.p_differs()
        assert change.interval(p)[0] == pytest.approx(0, abs=1e-9)
        assert change.p_above(change.interval()[0]) == pytest.approx(0.025)
        assert change.p_below(change.interval()[1]) == pytest.approx(0.025)


def test_noise_widens_the_interval_by_itself() -> None:
    base, new = (100.0, 103.0, 98.0), (104.0, 105.0, 103.0)
    plain, noisy = intervals.of_sides(base, new), intervals.of_sides(base, new, 0.03)
    assert plain is not None and noisy is not None and noisy.value == plain.value
    for side, factor in ((0, 1 / 1.03), (1, 1.03)):
        assert 1 + noisy.interval()[side] == pytest.approx((1 + plain.interval()[side]) * factor)


@pytest.mark.parametrize("base, new", [((1.0, 2.0), (1.0, 2.0)), ((1.0, 2.0, 0.0), (1.0, 2.0, 3.0))])
def test_change_of_too_few_or_of_zeros_is_unknown(base: tuple[float, ...], new: tuple[float, ...]) -> None:
    assert intervals.of_pairs(base, new) is None and intervals.of_sides(base, new) is None


def test_benjamini_hochberg_on_the_example_of_its_paper() -> None:
    """Benjamini & Hochberg 1995, section 3.1: of 15 p-values the first four are findings."""
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
                0.5719, 0.6528, 0.7590, 1.0000]  # fmt: skip
    shuffled = list(enumerate(p_values))
    random.Random(1).shuffle(shuffled)
    found = intervals.benjamini_hochberg([p for _, p in shuffled])
    assert sorted(i for (i, _), hit in zip(shuffled, found, strict=True) if hit) == [0, 1, 2, 3]
    assert intervals.benjamini_hochberg([]) == []


def test_looks_of_obrien_and_fleming_spend_five_percent() -> None:
    """Their nominal levels by the formula; 100,000 walks cross any of them in 5 % of cases."""
    levels = [intervals.obrien_fleming_level(look) for look in (1, 2, 3, 4)]
    assert levels == pytest.approx([0.0000517, 0.00420, 0.01943, 0.04297], rel=1e-2)
    limits = [NormalDist().inv_cdf(1 - level / 2) for level in levels]
    draw, crossed = random.Random(1), 0
    for _ in range(100_000):
        walk = 0.0
        for look, limit in enumerate(limits, 1):
            walk += draw.gauss(0, 1)
            if abs(walk) / math.sqrt(look) > limit:
                crossed += 1
                break
    assert crossed / 100_000 == pytest.approx(0.05, abs=0.003)


@pytest.mark.parametrize("spread", [0.005, 0.05, 0.3])
def test_interval_of_five_repeats_covers_the_truth(spread: float) -> None:
    draw, held = random.Random(f"{spread}"), 0
    for _ in range(2000):
        found = intervals.of_repeats([100 * math.exp(draw.gauss(0, spread)) for _ in range(5)])
        held += found is not None and found.low is not None and found.high is not None \
            and found.low <= 100 <= found.high  # fmt: skip
    assert held / 2000 >= 0.935
