# SPDX-License-Identifier: BSD-3-Clause
"""The change from one run's repeats to another's, with its bootstrap interval.

The change is the ratio of the geometric means. Its interval is a smoothed bootstrap-t:
how large would Welch's t get by chance alone? The deviations of both sides' repeats,
each in units of its side's spread, are pooled, for three repeats by themselves say too
little of what chance can do; a draw of them is blurred (by Silverman's bandwidth), for
ties among a few repeats would make a spread of 0; and each side keeps its spread and
its number of repeats. The seed is fixed: equal repeats give equal intervals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

RESAMPLES = 10_000
LEVEL = 0.95
_SEED = 1
_CACHED_REPEATS = 64  # draws for more are made anew each time
_BATCH_CELLS = 1 << 20
_NO_SPREAD = 1e-12  # of logarithms: the last bits of a double

Reals = NDArray[numpy.float64]
Indices = NDArray[numpy.int64]
Draws = tuple[Indices, Reals]  # columns of places in the pool, and what blurs them


@dataclass(frozen=True)
class Change:
    """new / base - 1, and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class _Side:
    size: int
    spread: float  # standard deviation


def ratio(base: Sequence[float], new: Sequence[float]) -> float:
    """Of positive values."""
    return float(numpy.expm1(numpy.log(new).mean() - numpy.log(base).mean()))


def change(base: Sequence[float], new: Sequence[float]) -> Change:
    """Of at least two positive values on each side."""
    if sorted(base) == sorted(new):
        return Change(0.0, 0.0, 0.0)  # a file compared with itself: nothing is left to chance
    logs = [numpy.log(values) for values in (base, new)]
    first, second = (_Side(len(values), float(values.std(ddof=1))) for values in logs)
    difference = float(logs[1].mean() - logs[0].mean())
    error = numpy.sqrt(first.spread**2 / first.size + second.spread**2 / second.size)
    scaled = [
        (values - values.mean()) / side.spread
        for values, side in zip(logs, (first, second), strict=True)
        if side.spread > _NO_SPREAD
    ]
    half = _quantile_of_t(numpy.concatenate(scaled), first, second) * float(error) if scaled else 0.0
    low, high = numpy.expm1([difference - half, difference + half])
    return Change(float(numpy.expm1(difference)), float(low), float(high))


def _quantile_of_t(pool: Reals, first: _Side, second: _Side) -> float:
    """What chance alone stays below in so many cases."""
    draws = _draws(len(pool), first.size + second.size)
    found = numpy.concatenate([_t(pool[index] + blur, first, second) for index, blur in draws])
    rank = int(LEVEL * RESAMPLES)
    return float(numpy.partition(found, rank)[rank])


def _t(drawn: Reals, first: _Side, second: _Side) -> Reals:
    """Of columns that begin with one side and end with the other."""
    x, y = drawn[: first.size] * first.spread, drawn[first.size :] * second.spread
    error = numpy.sqrt(x.var(axis=0, ddof=1) / first.size + y.var(axis=0, ddof=1) / second.size)
    return numpy.asarray(numpy.abs(y.mean(axis=0) - x.mean(axis=0)) / error)


def _draws(pool: int, size: int) -> Iterator[Draws]:
    """Batches of columns of `size` repeats."""
    if size <= _CACHED_REPEATS:
        yield _cached(pool, size)
        return
    generator, columns = numpy.random.default_rng(_SEED), max(_BATCH_CELLS // size, 1)
    for begin in range(0, RESAMPLES, columns):
        yield _drawn(generator, pool, size, min(columns, RESAMPLES - begin))


@lru_cache(maxsize=8)
def _cached(pool: int, size: int) -> Draws:
    return _drawn(numpy.random.default_rng(_SEED), pool, size, RESAMPLES)


def _drawn(generator: numpy.random.Generator, pool: int, size: int, columns: int) -> Draws:
    bandwidth = 1.06 * size**-0.2
    index = generator.integers(0, pool, (size, columns))
    return index, bandwidth * generator.standard_normal((size, columns))
