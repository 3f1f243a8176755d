# SPDX-License-Identifier: BSD-3-Clause
"""The change from one run's repeats to another's, with its bootstrap interval.

The change is the ratio of the geometric means. Its interval is a bootstrap-t: what
would chance alone make of Welch's t, were the deviations of both runs' repeats,
pooled, all there is to draw from? Pooling is what three repeats need: resampled by
themselves they miss the truth in one case of ten. The seed is fixed: equal repeats
give equal intervals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

RESAMPLES = 10_000
LEVEL = 0.95
_SEED = 1
_CACHED_CELLS = 64 * RESAMPLES  # larger resamples are drawn anew each time
_BATCH_CELLS = 1 << 20

Reals = NDArray[numpy.float64]
Indices = NDArray[numpy.int64]


@dataclass(frozen=True)
class Change:
    """new / base - 1, and its 95 % interval."""

    value: float
    low: float
    high: float


def ratio(base: Sequence[float], new: Sequence[float]) -> float:
    """Of positive values."""
    return float(numpy.expm1(numpy.log(new).mean() - numpy.log(base).mean()))


def change(base: Sequence[float], new: Sequence[float]) -> Change:
    """Of at least two positive values on each side."""
    if sorted(base) == sorted(new):
        return Change(0.0, 0.0, 0.0)  # a file compared with itself: nothing is left to chance
    first, second = numpy.log(base), numpy.log(new)
    difference = second.mean() - first.mean()
    error = _error(_variance(first), len(first), _variance(second), len(second))
    half = _quantile_of_t(first, second) * float(error)
    low, high = numpy.expm1([difference - half, difference + half])
    return Change(float(numpy.expm1(difference)), float(low), float(high))


def _quantile_of_t(first: Reals, second: Reals) -> float:
    """What chance alone keeps below in so many cases; of sides unequally long, that of the shorter."""
    pool = numpy.concatenate([first - first.mean(), second - second.mean()])
    size = min(len(first), len(second))
    drawn = [_t(pool[index], size) for index in _resamples(len(pool), 2 * size)]
    rank = int(LEVEL * RESAMPLES)
    return float(numpy.partition(numpy.concatenate(drawn), rank)[rank])


def _t(drawn: Reals, size: int) -> Reals:
    """Of columns that begin with one side and end with the other."""
    first, second = drawn[:size], drawn[size:]
    difference = numpy.abs(second.mean(axis=0) - first.mean(axis=0))
    error = _error(_variance(first), size, _variance(second), size)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        t: Reals = numpy.divide(difference, error)
    t[numpy.isnan(t)] = 0.0
    return t


def _variance(values: Reals) -> Reals:
    return numpy.asarray(values.var(axis=0, ddof=1))


def _error(first: Reals, first_size: int, second: Reals, second_size: int) -> Reals:
    """Welch's standard error of a difference of means, from variances."""
    return numpy.asarray(numpy.sqrt(first / first_size + second / second_size))


def _resamples(pool: int, size: int) -> Iterator[Indices]:
    """Batches of columns of `size` indices into the pool."""
    if RESAMPLES * size <= _CACHED_CELLS:
        yield _cached(pool, size)
        return
    generator, columns = numpy.random.default_rng(_SEED), max(_BATCH_CELLS // size, 1)
    for begin in range(0, RESAMPLES, columns):
        yield generator.integers(0, pool, (size, min(columns, RESAMPLES - begin)))


@lru_cache(maxsize=8)
def _cached(pool: int, size: int) -> Indices:
    return numpy.random.default_rng(_SEED).integers(0, pool, (size, RESAMPLES))
