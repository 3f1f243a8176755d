# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report history: figures by time, and changes only where the rule is certain."""

from pathlib import Path
from typing import Any

import pytest

import sample_tools
from conftest import Command, Write
from loaded import runs
from rpma_report.comparison import history, history_page, measures
from test_compare_command import measured

FACTORS = (1.0, 1.01, 1.0, 1.2, 1.21)


def document(number: int, factor: float, day: int | None = None) -> dict[str, Any]:
    made = measured(factor)
    made["run"].update(label=f"v{number}", started=f"2026-08-{10 + (number if day is None else day)}T10:00:00.123Z")
    made["tool"]["git"] = f"{number}bcdef0123456"
    return made


def found(noise: float | None, factors: tuple[float, ...] = FACTORS) -> history.History:
    return history.history(runs(*(document(n, f) for n, f in enumerate(factors))), (), noise)


def test_a_step_is_claimed_where_it_is_certain() -> None:
    steps = found(0.03).certain()
    assert {(s.before.run, s.after.run, s.verdict.word) for s in steps} == {(2, 3, "worse")}
    assert {(s.track.name, s.measure.name) for s in steps} == {
        (f"write + apm flush, {size}", p) for size in ("64 B", "4 KiB") for p in ("p50", "p99")}  # fmt: skip
    assert all(s.verdict.change == pytest.approx(0.2, abs=0.002) for s in steps)


@pytest.mark.parametrize("noise, factors", [(None, FACTORS), (0.3, FACTORS), (0.03, (1.0, 1.01, 0.99, 1.0))])
def test_nothing_is_claimed_where_nothing_is_certain(noise: float | None, factors: tuple[float, ...]) -> None:
    made = found(noise, factors)
    assert not made.certain() and made.steps
    assert ("No change is claimed" in history_page.claim(made)) == (noise is None)


def test_runs_are_in_the_order_of_their_times() -> None:
    documents = [document(n, 1.0, day) for n, day in ((0, 5), (1, 3), (2, 9))]
    made = history.history(runs(*documents), (), None)
    assert [history.called(run) for run in made.runs] == ["v1 1bcdef012", "v0 0bcdef012", "v2 2bcdef012"]
    assert [m.run for m in made.tracks[0].moments] == [0, 1, 2]


def test_a_point_that_a_run_lacks_breaks_its_line() -> None:
    documents = [document(n, 1.0) for n in range(3)]
    del documents[1]["points"][0]
    page = history_page.document(history.history(runs(*documents), (), None))
    line = page.figures()[0].panels[0].lines[0]
    assert [m.x for m in line.marks] in ([0, 2], [0.0, 2.0]) and line.gaps == (1.0,)


def test_values_are_those_of_compare() -> None:
    made = found(None)
    p50 = measures.named("p50")
    assert p50 is not None
    values = [history.value_of(m.point, p50) for m in made.tracks[0].moments]
    assert all(v and v.low and v.high and v.low < v.value < v.high for v in values)
    ratios = [b.value / a.value for a, b in zip(values, values[1:], strict=False) if a and b]
    assert ratios == pytest.approx([1.01, 1 / 1.01, 1.2, 1.21 / 1.2], rel=1e-3)


def test_page_and_words(quick: Command, write: Write, tmp_path: Path) -> None:
    for number, factor in enumerate(FACTORS[1:4]):
        write(document(number, factor), f"{number}.json")
    done = quick("history", tmp_path, "-o", tmp_path / "h.html", "--noise", "3%", "--figures", "p50,ops_per_s")
    assert (done.returncode, done.stderr) == (0, "")
    assert "certain changes, with a noise of 3 % between runs." in done.stdout
    assert "write + apm flush, 64 B, p50: worse, +20.0 % (" in done.stdout and ", from v1 1bcdef012 to v2 2bcdef012" in done.stdout
    page = (tmp_path / "h.html").read_text()
    assert '<figure id="history-p50"' in page and '<figure id="history-ops-per-s"' in page


@pytest.mark.parametrize("documents, why", [
    ([document(0, 1.0)], "needs two results"),
    ([document(0, 1.0), sample_tools.fio(sample_tools.fio_job("a", range(1000, 2000)))], "no point was measured in two"),
])  # fmt: skip
def test_what_has_no_history(documents: list[dict[str, Any]], why: str, quick: Command, write: Write) -> None:
    done = quick("history", *(write(d, f"{n}.json") for n, d in enumerate(documents)))
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1
