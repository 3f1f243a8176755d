# SPDX-License-Identifier: BSD-3-Clause
"""The words of compare on real runs: 12 comparisons of 8 interleaved pairs, six points each.

Both sides run the same program, so that any better or worse is false; then one side is
made 10 % slower by arithmetic, and must be found in the points whose pairs lie close enough
together for 8 of them to tell it. Writes are as noisy as this host makes them; reads are
delayed by 50 us, in which the noise of the host is small. The promise is at most one comparison
in 20 with any false word, and so with any "better" of the slower side; 2 are let pass, as chance
has more in one of 50 such tests.
"""

import json
import os
import random
import re
import subprocess
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pairs_on_soft import MAX_SPREAD, point_spreads
from rpma_report.comparison import changes
from rpma_report.comparison.changes import Comparison
from rpma_report.measurement import Measurement, read
from rpma_report.model import Latency, Point
from rpma_report.studies import cores

REPORT, BENCH, SOFT = (os.environ[name] for name in ("RPMA_REPORT", "RPMA_BENCH", "RPMA_SOFT_LAUNCHER"))
COMPARISONS, PAIRS, POINTS = 12, 8, 6
SLOWER = 1.1
MAX_FALSE, MIN_FOUND = 2, 0.9  # a count, and a share of the comparisons
MIN_CLOSE = 3  # points of a comparison that can be asked for the 10 %
MIN_ASKED = 6  # such comparisons
MAX_DISTURBED = 6  # pairs of one comparison


def measure(place: dict[str, Any]) -> dict[str, Any]:
    # bound to one CPU the measuring thread meets the fault's own thread at a lock: two modes
    line = [SOFT, "-f", "delay:op=read,time=50us", BENCH, "local", "--json", "--quiet", "--op", "write,read",
            "--size", "64,4K,16K", "--repeats", "1", "--duration", "40ms", "--warmup", "10ms",
            "--pin", "none"]  # fmt: skip
    done = subprocess.run(line, capture_output=True, check=True, timeout=300)
    result: dict[str, Any] = json.loads(done.stdout)
    assert len(result["points"]) == POINTS
    return {**result, "study": place}


def interleaved(folder: Path, seed: int) -> None:
    """Pairs in A/ and B/, each in an order of chance; one that others disturbed is measured again."""
    study, draw, disturbed = str(uuid.uuid4()), random.Random(seed), 0
    for side in "AB":
        (folder / side).mkdir(parents=True)
    for pair in range(PAIRS):
        while True:
            order = 2 * (pair + disturbed)
            places = [{"id": study, "pair": pair, "side": side, "order": order + i, "disturbed": False}
                      for i, side in enumerate(draw.sample("AB", 2))]  # fmt: skip
            results = [measure(place) for place in places]
            busy = [host.text() for result in results for host in cores.hosts(result) if host.is_disturbed]
            if not busy:
                break
            disturbed += 1
            if disturbed > MAX_DISTURBED:
                print(busy[0])
                pytest.skip("refused, with the reason")
        for result in results:
            (folder / result["study"]["side"] / f"{pair}.json").write_text(json.dumps(result))


def changed(measurement: Measurement, change: "type[Slower] | type[Apart]") -> Measurement:
    runs = (replace(run, points=tuple(change.of(p) for p in run.points)) for run in measurement.runs)
    return replace(measurement, runs=tuple(runs))


class Slower:
    """Each latency by 10 %."""

    @staticmethod
    def of(point: Point) -> Point:
        assert point.latency
        return replace(point, latency=Slower._latency(point.latency))

    @staticmethod
    def _latency(latency: Latency) -> Latency:
        of_repeats = {p: tuple(ns * SLOWER for ns in values) for p, values in latency.by_repeat.items()}
        return replace(latency, by_repeat=of_repeats)


class Apart:
    """As if each side had been measured by itself."""

    @staticmethod
    def of(point: Point) -> Point:
        return replace(point, study_run=None)


def words(comparison: Comparison) -> Counter[str]:
    return Counter(row.verdict.word for row in comparison.rows if row.decides)


def p50(comparison: Comparison) -> list[str]:
    """The words of the points, in the order of the results."""
    return [row.verdict.word for row in comparison.rows if row.measure.name == "p50"]


def test_words_of_interleaved_runs_are_true(tmp_path: Path) -> None:
    false, opposite, asked, found, apart = 0, 0, 0, 0, Counter[str]()
    for number in range(COMPARISONS):
        folder = tmp_path / str(number)
        interleaved(folder, number)
        a, b = (read(folder / side) for side in "AB")
        same, slower = changes.compare(a, b), changes.compare(a, changed(b, Slower))
        false += any(words(same)[word] for word in ("better", "worse"))
        said, spreads = p50(slower), point_spreads(folder)
        opposite += "better" in said
        assert len(said) == POINTS
        close = [word for word, by in zip(said, spreads, strict=True) if by <= MAX_SPREAD]
        if len(close) >= MIN_CLOSE:
            asked, found = asked + 1, found + (close.count("worse") > len(close) // 2)
        apart += words(changes.compare(changed(a, Apart), changed(b, Apart)))
        lie = ", ".join(f"{100 * by:.1f} %{' worse' if word == 'worse' else ''}"
                        for word, by in zip(said, spreads, strict=True))  # fmt: skip
        print(f"{number + 1}: no change: {dict(words(same))}; 10 % slower: p50 by how far pairs lie apart: {lie}")
    print(f"any false word in {false} of {COMPARISONS} comparisons")
    print(f"10 % slower: any better in {opposite} of {COMPARISONS} comparisons")
    print(f"10 % slower: p50 worse in most of the points whose pairs lie {100 * MAX_SPREAD:g} % apart at most: "
          f"{found} of {asked} comparisons that have {MIN_CLOSE} of them")  # fmt: skip
    assert set(apart) == {"unclear"} and false <= MAX_FALSE and opposite <= MAX_FALSE
    not_interleaved(tmp_path / "0")
    if asked < MIN_ASKED:
        pytest.skip("the runs of this host lie too far apart")
    assert found >= MIN_FOUND * asked


def not_interleaved(folder: Path) -> None:
    """The same files without their places in the study."""
    for path in folder.glob("?/*.json"):
        result = json.loads(path.read_text())
        del result["study"]
        path.write_text(json.dumps(result))
    done = subprocess.run([REPORT, "compare", folder / "A", folder / "B"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "unclear: not interleaved" in done.stdout
    assert re.search(r": 0 worse, 0 better, \d+ unclear, 0 not seen, 0 the same\n", done.stdout)
