# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of repeats and changes between runs: Student's t on logarithms.

Page, tables, compare and study --ab all take theirs from here; rpma-bench computes
those of its summaries alike. Values are positive; a rate or a time of 0 has no
logarithm and gets no interval. Fewer than three values get none either.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from scipy import special

from rpma_report.model import Estimate

LEVEL = 0.05  # the share of intervals that miss the truth
MIN_VALUES = 3
LOOKS = (6, 12, 18, 24)  # pairs after which a sequential comparison looks
_C_OF_FOUR_LOOKS = 2.024  # O'Brien-Fleming, two-sided 5 %: Jennison & Turnbull, table 2.3
# Four looks at their levels add up to 6.67 %. A single figure makes 5 % of it, as its looks
# are alike; at the smaller levels of several, that is not certain: their sum is made 5 %.
OF_SEVERAL = 0.75


def normal_cdf(z: float) -> float:
    return float(special.ndtr(z))


def t_cdf(t: float, freedom: float) -> float:
    return float(special.stdtr(freedom, t))


def t_quantile(p: float, freedom: float) -> float:
    return float(special.stdtrit(freedom, p))


@dataclass(frozen=True)
class Change:
    """new / base on a logarithmic scale, with its standard error.

    `slack` is a difference that runs of the same thing may have (a stated noise); it
    widens the interval to both sides. `share` is what a look of a sequential comparison may
    use of a level: intervals and p-values are those of the whole sequence of looks.
    """

    log: float
    error: float
    freedom: float
    slack: float = 0.0
    share: float = 1.0

    @property
    def value(self) -> float:
        """new / base - 1."""
        return math.expm1(self.log)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Low and high, as fractions like `value`."""
        half = t_quantile(1 - level * self.share / 2, self.freedom) * self.error + self.slack
        return math.expm1(self.log - half), math.expm1(self.log + half)

    def p_above(self, limit: float = 0.0) -> float:
        """One-sided p-value: how probable such data is where the change is at most `limit`."""
        return self._p(self.log - math.log1p(limit))

    def p_below(self, limit: float = 0.0) -> float:
        return self._p(math.log1p(limit) - self.log)

    def p_differs(self) -> float:
        """Two-sided, of no change: below 5 % exactly where the 95 % interval excludes 0."""
        return min(2 * min(self.p_above(), self.p_below()), 1.0)

    def _p(self, beyond: float) -> float:
        beyond -= self.slack
        if self.error == 0:
            return 0.0 if beyond > 0 else 1.0
        return min(t_cdf(-beyond / self.error, self.freedom) / self.share, 1.0)


def _logs(values: Sequence[float]) -> list[float] | None:
    """None: too few, or one has no logarithm."""
    if len(values) < MIN_VALUES or min(values) <= 0:
        return None
    return [math.log(value) for value in values]


def _stdev(values: Sequence[float]) -> float:
    """That of the statistics module takes forty times as long, as it adds fractions. Of equal values it is 0, not almost."""
    apart = [value - values[0] for value in values]
    return math.dist(apart, [fmean(apart)] * len(apart)) / math.sqrt(len(apart) - 1)


def of_repeats(values: Sequence[float]) -> Estimate | None:
    """Geometric mean with its 95 % interval; with a value of 0 it is 0, and has none."""
    if not values:
        return None
    if min(values) <= 0:
        return Estimate(0.0)
    mean = math.exp(fmean(map(math.log, values)))
    logs = _logs(values)
    if logs is None:
        return Estimate(mean)
    half = t_quantile(1 - LEVEL / 2, len(logs) - 1) * _stdev(logs) / math.sqrt(len(logs))
    return Estimate(mean, mean * math.exp(-half), mean * math.exp(half))


def difference(more: Estimate, less: Estimate) -> Estimate:
    """more - less of two independent sides, with the interval that follows from theirs.

    The method of variance estimates recovery (Zou and Donner 2008): it takes any intervals,
    and keeps those on logarithms apart above and below.
    """
    apart = more.value - less.value
    if more.low is None or more.high is None or less.low is None or less.high is None:
        return Estimate(apart)
    below = math.hypot(more.value - more.low, less.high - less.value)
    above = math.hypot(more.high - more.value, less.value - less.low)
    return Estimate(apart, apart - below, apart + above)


def of_pairs(base: Sequence[float], new: Sequence[float]) -> Change | None:
    """Paired t: one value a run, base[i] measured beside new[i]."""
    if len(base) != len(new):
        raise ValueError("pairs have two sides")
    first, second = _logs(base), _logs(new)
    if first is None or second is None:
        return None
    differences = [after - before for before, after in zip(first, second, strict=True)]
    return Change(fmean(differences), _stdev(differences) / math.sqrt(len(differences)), len(differences) - 1)


def of_sides(base: Sequence[float], new: Sequence[float], noise: float = 0.0) -> Change | None:
    """Welch's t of two sides that were not measured in pairs.

    `noise` is how far two runs of the same thing may lie apart, as a fraction.
    """
    first, second = _logs(base), _logs(new)
    if first is None or second is None:
        return None
    parts = [_stdev(logs) ** 2 / len(logs) for logs in (first, second)]
    change, total = fmean(second) - fmean(first), sum(parts)
    if total == 0:
        return Change(change, 0.0, len(first) + len(second) - 2, math.log1p(noise))
    freedom = total**2 / sum(
        part**2 / (len(logs) - 1) for part, logs in zip(parts, (first, second), strict=True)
    )
    return Change(change, math.sqrt(total), freedom, math.log1p(noise))


def benjamini_hochberg(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of them are findings. Where nothing differs, any is found with probability `level` at most."""
    ordered, number = sorted(p_values), len(p_values)
    passed = [p for rank, p in enumerate(ordered, 1) if p <= level * rank / number]
    limit = passed[-1] if passed else -1.0
    return [p <= limit for p in p_values]


def obrien_fleming_level(look: int) -> float:
    """The two-sided level of the look with that number, from 1, at LOOKS."""
    return 2 * (1 - normal_cdf(_C_OF_FOUR_LOOKS * math.sqrt(len(LOOKS) / look)))


def share_of_look(pairs: int) -> float:
    """The share of LEVEL that may be used after PAIRS pairs: at a look its own level, between two what those before left.

    Nothing that was seen ends a study between its looks: its budget did, or it was none.
    """
    passed = [OF_SEVERAL * obrien_fleming_level(look) / LEVEL for look, at in enumerate(LOOKS, 1) if at <= pairs]
    if pairs in LOOKS or pairs > LOOKS[-1]:
        return passed[-1]
    return 1 - sum(passed)
