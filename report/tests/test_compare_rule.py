# SPDX-License-Identifier: BSD-3-Clause
"""The words on fixed values, and how often they are false of runs whose change is known."""

import math
import random
from array import array

import pytest

import sample
from conftest import SOURCE
from paired import STUDY
from rpma_report.comparison import evidence, measures, rule
from rpma_report.comparison.evidence import Evidence
from rpma_report.intervals import LOOKS, of_pairs, of_sides, share_of_look, t_quantile
from rpma_report.model import Estimate, Histogram, Latency, Point, StudyRun
from rpma_report.studies import words

P50 = measures.named("p50")
assert P50 is not None
# Five runs, spread by 1 %, and the words for what may have become of them in pairs.
BASE = (100.0, 101.2, 99.1, 100.4, 98.9)
CHANCE = (0.996, 1.004, 1.0, 0.997, 1.003)
# Equal in all points.
PARAMS, BINS = sample.params("lat", 64), Histogram(array("q", [1]), array("q", [100]), 7)


def scaled(factor: float, chance: tuple[float, ...] = CHANCE) -> tuple[float, ...]:
    return tuple(value * factor * by for value, by in zip(BASE, chance, strict=True))


def in_pairs(new: tuple[float, ...]) -> Evidence:
    return Evidence(BASE, new, of_pairs(BASE, new))


def point(values: tuple[float, ...], study_run: StudyRun | None = None, repeats: int | None = None) -> Point:
    """A file whose repeats have these medians."""
    latency = Latency(100, 1, 10**6, Estimate(1.0), {0.5: Estimate(values[0])}, {0.5: values}, values, BINS)
    return Point("p0000", PARAMS, repeats or len(values), 1, 0, latency=latency, study_run=study_run)


def run_of(pair: int, side: str, disturbed: bool = False, study: str = STUDY, order: int | None = None) -> StudyRun:
    return StudyRun(study, pair, side, 2 * pair if order is None else order, disturbed)


def sides(pairs: int, factor: float = 1.0) -> tuple[list[Point], list[Point]]:
    runs = [tuple(value * (1 + pair / 10) for value in BASE) for pair in range(pairs)]
    base = [point(values, run_of(pair, "A")) for pair, values in enumerate(runs)]
    new = [point(tuple(factor * CHANCE[pair % 5] * v for v in values), run_of(pair, "B"))
           for pair, values in enumerate(runs)]  # fmt: skip
    return base, new


@pytest.mark.parametrize(
    "new, higher_is_better, text",
    [(scaled(1.06), False, "worse"), (scaled(1.06), True, "better"),
     (scaled(0.94), False, "better"), (scaled(0.94), True, "worse"),
     (scaled(1.00), False, "same (within 0.5 %)"), (scaled(1.01), False, "same (within 1.5 %)"),
     (scaled(1.03), False, "worse"),
     (scaled(1.00, (0.8, 1.3, 0.95, 1.12, 0.9)), False, "not seen: less than 26.6 %"),
     (BASE, False, "same")],
)  # fmt: skip
def test_word(new: tuple[float, ...], higher_is_better: bool, text: str) -> None:
    (verdict,) = rule.judge([in_pairs(new)], [higher_is_better])
    assert verdict.text() == text


def test_one_of_many_figures_may_be_chance() -> None:
    """Its own interval excludes 0, p = 0.02; with nineteen others that show nothing it is not a finding."""
    nothing = in_pairs(scaled(1.0, (0.8, 1.3, 0.95, 1.12, 0.9)))
    change = of_pairs(BASE, found := scaled(1.035, (0.976, 1.024, 1.0, 0.976, 1.024)))
    assert change is not None and 0.01 < change.p_differs() < 0.05
    alone, = rule.judge([in_pairs(found)], [False])
    among, *others = rule.judge([in_pairs(found), *[nothing] * 19], [False] * 20)
    assert alone.word == "worse"
    assert among.text() == "unclear: may be chance among 20 figures"
    assert {verdict.word for verdict in others} == {"not seen"}


def test_rule_stands_in_the_manual() -> None:
    page = (SOURCE.parent / "doc/rpma-report.1").read_text(encoding="utf-8")
    assert f".Bd -filled -offset indent {rule.RULE} .Ed" in " ".join(page.split())


def test_files_without_pairs_are_unclear_whatever_the_change() -> None:
    found = evidence.of([point(BASE)], [point(scaled(2.0))], P50, None)
    (verdict,) = rule.judge([found], [False])
    assert verdict.text() == "unclear: not interleaved" and verdict.change == pytest.approx(1.0, abs=0.01)
    assert verdict.low is not None and verdict.low < 1 < (verdict.high or 0)


@pytest.mark.parametrize("factor, word", [(1.02, "not seen"), (1.10, "worse"), (0.9, "better")])
def test_stated_noise_must_be_exceeded(factor: float, word: str) -> None:
    found = evidence.of([point(BASE)], [point(scaled(factor))], P50, 0.05)
    assert rule.judge([found], [False])[0].word == word


def test_interval_of_a_stated_noise_is_wider_by_it() -> None:
    found = evidence.of([point(BASE)], [point(scaled(1.1))], P50, 0.05)
    plain = of_sides(BASE, scaled(1.1))
    assert found.change is not None and plain is not None
    assert 1 + found.change.interval()[0] == pytest.approx((1 + plain.interval()[0]) / 1.05)


def test_runs_are_the_units_not_their_repeats() -> None:
    """Three runs a side: three values a side, the medians of their repeats."""
    runs = [(90.0, 100.0, 400.0), (99.0, 101.0, 102.0), (102.0, 102.0, 103.0)]
    found = evidence.of([point(r) for r in runs], [point(r) for r in runs], P50, 0.03)
    assert found.base == found.new == (100.0, 101.0, 102.0)


@pytest.mark.parametrize(
    "base, new, lacks",
    [([BASE], [(200.0, 201.0)], "fewer than 3 repeats"), ([BASE] * 2, [BASE] * 3, "fewer than 3 runs"),
     ([BASE], [BASE] * 3, "fewer than 3 runs"), ([BASE], [(0.0, 1.0, 2.0)], "a value is 0")],
)  # fmt: skip
def test_too_few_values_have_no_interval(
    base: list[tuple[float, ...]], new: list[tuple[float, ...]], lacks: str
) -> None:
    found = evidence.of([point(r) for r in base], [point(r) for r in new], P50, 0.03)
    assert (found.lacks, found.change) == (lacks, None)


def test_repeat_without_the_percentile_leaves_no_interval() -> None:
    """Those that have it are the fast ones."""
    found = evidence.of([point(BASE)], [point(BASE, repeats=6)], P50, 0.03)
    assert found.lacks == "a repeat has no p50: measure longer"


def test_pairs_are_compared_in_their_order() -> None:
    base, new = sides(5, 1.05)
    found = evidence.of(base[::-1], new, P50, None)
    assert found.apart is None and found.base == tuple(pytest.approx(100 * (1 + i / 10)) for i in range(5))
    (verdict,) = rule.judge([found], [False])
    assert verdict.word == "worse" and verdict.low is not None and verdict.low > 0.04


def test_stated_noise_does_not_change_what_pairs_show() -> None:
    base, new = sides(5, 1.05)
    assert evidence.of(base, new, P50, 0.5) == evidence.of(base, new, P50, None)


def test_disturbed_pair_is_left_out() -> None:
    base, new = sides(5)
    new[2] = point(scaled(3.0), run_of(2, "B", disturbed=True))
    found = evidence.of(base, new, P50, None)
    assert len(found.base) == len(found.new) == 4 and evidence.disturbed(new) == {2}


def test_pair_measured_again_takes_the_place_of_the_disturbed_one() -> None:
    base, new = sides(5)
    base.append(point(BASE, run_of(2, "A", order=20)))
    new[2] = point(scaled(3.0), run_of(2, "B", disturbed=True))
    new.append(point(scaled(1.0), run_of(2, "B", order=21)))
    found = evidence.of(base, new, P50, None)
    assert len(found.base) == 5 and max(found.new) < 150


@pytest.mark.parametrize(
    "change, apart",
    [(lambda base, new: new.pop(), "pair 4 is not complete"),
     (lambda base, new: new.append(point(BASE)), "not interleaved"),
     (lambda base, new: new.append(point(BASE, run_of(5, "B", study="other"))), "not interleaved: of several studies"),
     (lambda base, new: new.append(point(BASE, run_of(5, "A"))), "not interleaved: both have runs of one side")],
)  # fmt: skip
def test_what_is_not_all_pairs_of_one_study_is_apart(change: object, apart: str) -> None:
    base, new = sides(5, 2.0)
    assert callable(change)
    change(base, new)
    (verdict,) = rule.judge([evidence.of(base, new, P50, None)], [False])
    assert verdict.text() == f"unclear: {apart}"


# 12 figures whose runs differ by 3 %, of which 2 % are common to all of a run, 5 repeats of 2 %, and a host
# that gets slower by 10 % from the first run to the last and wanders besides.
FIGURES, RUN, COMMON, REPEAT, DRIFT = 12, 0.022, 0.02, 0.02, 0.10
COMPARISONS = 400


def comparison(draw: random.Random, pairs: int, change: float, interleaved: bool) -> list[str]:
    """The words of one comparison."""
    order = [(pair, side) for pair in range(pairs) for side in draw.sample("AB", 2)]
    if not interleaved:
        order.sort(key=lambda place: place[1])
    runs: dict[str, list[list[Point]]] = {"A": [], "B": []}
    wander = 0.0
    for number, (pair, side) in enumerate(order):
        wander = 0.5 * wander + draw.gauss(0, COMMON)
        level = wander + DRIFT * number / len(order) + (change if side == "B" else 0)
        mark = run_of(pair, side, order=number) if interleaved else None
        figures = []
        for _ in range(FIGURES):
            own = level + draw.gauss(0, RUN)
            figures.append(point(tuple(100 * math.exp(own + draw.gauss(0, REPEAT)) for _ in range(5)), mark))
        runs[side].append(figures)
    found = [evidence.of([run[i] for run in runs["A"]], [run[i] for run in runs["B"]], P50, None)
             for i in range(FIGURES)]  # fmt: skip
    return [verdict.word for verdict in rule.judge(found, [False] * FIGURES)]


@pytest.mark.parametrize("pairs", [3, 8])
def test_at_most_one_comparison_in_twenty_has_a_false_word(pairs: int) -> None:
    draw = random.Random(f"nothing changed {pairs}")
    false = sum(not {"better", "worse"}.isdisjoint(comparison(draw, pairs, 0.0, True)) for _ in range(COMPARISONS))
    print(f"{pairs} pairs: {false} of {COMPARISONS} comparisons have a false word")
    assert false <= 0.05 * COMPARISONS


def test_a_study_that_ends_when_it_has_seen_a_word_gives_few_false_ones() -> None:
    """Looked at after 6, 12, 18 and 24 pairs, until compare has a word; 12 independent figures, nothing changed."""
    draw, false, studies = random.Random("looks"), 0, 300
    for _ in range(studies):
        made: list[tuple[list[Point], list[Point]]] = [([], []) for _ in range(FIGURES)]
        for pair in range(LOOKS[-1]):
            for base, new in made:
                base.append(point((100 * math.exp(draw.gauss(0, RUN)),), run_of(pair, "A")))
                new.append(point((100 * math.exp(draw.gauss(0, RUN)),), run_of(pair, "B")))
            if pair + 1 in LOOKS:
                found = [evidence.of(base, new, P50, None) for base, new in made]
                if any(v.word in ("better", "worse") for v in rule.judge(found, [False] * FIGURES)):
                    false += 1
                    break
    print(f"{false} of {studies} studies end with a false word")
    assert false <= 0.05 * studies + 3 * math.sqrt(0.05 * 0.95 * studies)


@pytest.mark.parametrize("pairs", [6, 12, 18, 24])
def test_words_of_pairs_are_those_of_the_study(pairs: int) -> None:
    """A change of which the study is just certain, and one of which it is just not: two figures."""
    look = LOOKS.index(pairs) + 1
    spread = [math.exp((-1) ** pair * 0.1) for pair in range(pairs)]
    error = 0.1 / math.sqrt(pairs - 1)
    due = t_quantile(1 - words.level(look, 2) / 2, pairs - 1) * error
    for factor, seen in ((math.exp(due * 1.001), True), (math.exp(due * 0.999), False)):
        base = [point((100.0,), run_of(pair, "A")) for pair in range(pairs)]
        new = [point((100 * factor * by,), run_of(pair, "B")) for pair, by in enumerate(spread)]
        same = [point((100 * by,), run_of(pair, "B")) for pair, by in enumerate(spread)]
        found = [evidence.of(base, side, P50, None) for side in (new, same)]
        assert (rule.judge(found, [False, False])[0].word == "worse") is seen


def test_looks_and_a_last_count_between_them_share_five_percent() -> None:
    """Whatever its budget of pairs is, looks and end together use 5 % at most; few pairs lose next to nothing."""
    for budget in range(3, LOOKS[-1]):
        ends = {*(look for look in LOOKS if look <= budget), budget}
        assert sum(0.05 * share_of_look(pairs) for pairs in ends) <= 0.05 + 1e-12
    assert all(share_of_look(pairs) > 0.99 for pairs in (3, 5, 7, 8, 11))


@pytest.mark.parametrize("change", [0.0, 0.5])
def test_directories_measured_one_after_the_other_get_no_word(change: float) -> None:
    draw = random.Random("apart")
    assert {word for _ in range(20) for word in comparison(draw, 3, change, False)} == {"unclear"}


def test_change_of_ten_percent_is_found_in_eight_pairs() -> None:
    """A rule that never finds anything is never wrong."""
    draw, tries = random.Random("worse"), 50
    found = [comparison(draw, 8, math.log(1.1), True).count("worse") / FIGURES for _ in range(tries)]
    assert sum(found) / tries >= 0.9


def test_interval_of_directories_covers_the_truth() -> None:
    """Three runs of 5 repeats a side, runs differ by 3 %, no change, no drift."""
    draw, held, tries = random.Random("coverage"), 0, 1000
    for _ in range(tries):
        sides = [[point(tuple(100 * math.exp(level + draw.gauss(0, REPEAT)) for _ in range(5)))
                  for level in (draw.gauss(0, 0.03) for _ in range(3))] for _ in "AB"]  # fmt: skip
        change = evidence.of(sides[0], sides[1], P50, None).change
        assert change is not None
        low, high = change.interval()
        held += low <= 0 <= high
    print(f"the interval covers no change in {held} of {tries}")
    assert held >= 0.925 * tries


def test_stated_noise_gives_few_false_words() -> None:
    """Single files; two runs of the same thing lie 3 % apart at most."""
    draw, false, tries = random.Random("noise"), 0, 400
    for _ in range(tries):
        found = []
        for _ in range(FIGURES):
            levels = (0.0, draw.choice((-1, 1)) * math.log(1.03))
            base, new = ([point(tuple(100 * math.exp(level + draw.gauss(0, REPEAT)) for _ in range(5)))]
                         for level in levels)  # fmt: skip
            found.append(evidence.of(base, new, P50, 0.03))
        false += any(v.word in ("better", "worse") for v in rule.judge(found, [False] * FIGURES))
    print(f"with a noise of 3 % stated: {false} of {tries} comparisons have a false word")
    assert false <= 0.05 * tries
