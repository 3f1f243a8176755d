# SPDX-License-Identifier: BSD-3-Clause
"""A limit that cannot be decided is no pass: a measurement is missing, or its interval is wide."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write
from test_compare_command import measured

Change = Callable[[dict[str, Any]], object]


def without_p99(result: dict[str, Any], number: int = 1) -> None:
    """Takes its p99, as where a run was too short for it."""
    point = result["points"][number]
    for told in (point["summary"]["latency"], *(r["latency"] for r in point["repeats"])):
        (p99,) = (q for q in told["percentiles"] if q["p"] == 0.99)
        p99.update(ns=None, lo_ns=None, hi_ns=None)


def without_latency(result: dict[str, Any]) -> None:
    point = result["points"][1]
    point["summary"]["latency"] = None
    for repeat in point["repeats"]:
        repeat["latency"] = None


def standing_still(result: dict[str, Any]) -> None:
    point = result["points"][1]
    for repeat in point["repeats"]:
        repeat.update(ops=0, bytes=0, ops_per_s=0.0, bytes_per_s=0.0, latency=None, threads=[])
    zero = {"mean": 0.0, "ci95_low": None, "ci95_high": None}
    point["summary"].update(ops_per_s=zero, bytes_per_s=zero, latency=None)


def lines(stdout: str, of: str) -> list[str]:
    return [line.removeprefix(f"{of}: ") for line in stdout.splitlines() if line.startswith(f"{of}: ")]


def compared(quick: Command, write: Write, new: dict[str, Any], *expressions: str) -> Any:
    """A noise is stated, so what is undetermined is so for another reason than the order of the runs."""
    options = [part for text in expressions for part in ("--fail-if", text)]
    return quick("compare", write(measured(), "a.json"), write(new, "b.json"), "--noise", "1%", *options)


@pytest.mark.parametrize(
    "change, expression, told",
    [(lambda r: r["points"].pop(), "p99 > 5%", "write + apm flush, 4 KiB: lacks the point"),
     (lambda r: r["points"].pop(), "ops_per_s < -5%", "write + apm flush, 4 KiB: lacks the point"),
     (without_p99, "p99 > 5%", "write + apm flush, 4 KiB: lacks p99"),
     (without_latency, "mean > 5%", "write + apm flush, 4 KiB: lacks mean"),
     (lambda r: r["points"].pop(), "worse", "write + apm flush, 4 KiB: lacks the point"),
     (without_p99, "worse", "write + apm flush, 4 KiB: lacks p99")],
)  # fmt: skip
def test_what_only_the_base_has_is_undetermined(
    change: Change, expression: str, told: str, quick: Command, write: Write
) -> None:
    new = measured()
    change(new)
    done = compared(quick, write, new, expression)
    assert (done.returncode, done.stderr) == (3, "")
    assert lines(done.stdout, "undetermined") == [f"{expression}: b.json, {told}"]


def test_point_that_only_the_new_one_has_counts_for_nothing(quick: Command, write: Write) -> None:
    base = measured()
    base["points"].pop()
    paths = write(base, "a.json"), write(measured(), "b.json")
    done = quick("compare", *paths, "--noise", "1%", "--fail-if", "p99 > 5%")
    assert done.returncode == 0 and "undetermined" not in done.stdout


@pytest.mark.parametrize("expression", ["p99 > 5%", "worse"])
@pytest.mark.parametrize("new_has, told", [(True, "the base lacks p99"), (False, "neither side has p99")])
def test_figure_that_the_base_lacks_at_a_common_point_is_undetermined(
    new_has: bool, told: str, expression: str, quick: Command, write: Write
) -> None:
    base, new = measured(), measured()
    for side in (base,) if new_has else (base, new):
        without_p99(side)
    done = quick("compare", write(base, "a.json"), write(new, "b.json"), "--noise", "1%", "--fail-if", expression)
    assert done.returncode == 3
    assert lines(done.stdout, "undetermined") == [f"{expression}: b.json, write + apm flush, 4 KiB: {told}"]


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_run_that_did_not_end_well_is_undetermined(status: str, quick: Command, write: Write) -> None:
    """Whatever it has is equal: what it did not come to is not known."""
    new = measured()
    new["run"].update(status=status, exit_code=130 if status == "interrupted" else 2, failure={"step": "measure", "text": "the server is gone"} if status == "failed" else None)
    sample.warn_again(new)
    done = compared(quick, write, new, "worse")
    assert done.returncode == 3
    assert lines(done.stdout, "undetermined") == [f"worse: b.json: b.json: the run is {status}"]


def test_figure_that_is_not_asked_for_may_be_missing(quick: Command, write: Write) -> None:
    new = measured()
    without_p99(new)
    assert compared(quick, write, new, "p50 > 5%").returncode == 0


@pytest.mark.parametrize("expression", ["p99.99 > 5%", "response.p99 > 5%"])
def test_figure_that_the_base_has_nowhere_is_undetermined(
    expression: str, quick: Command, write: Write
) -> None:
    done = compared(quick, write, measured(), f"p99 > 5%, {expression}")
    name = expression.split()[0]
    assert done.returncode == 3
    assert lines(done.stdout, "undetermined") == [f"{expression}: no point of a.json has {name}"]


def test_change_from_nothing_is_undetermined(quick: Command, write: Write) -> None:
    base = measured()
    standing_still(base)
    paths = write(base, "a.json"), write(measured(), "b.json")
    done = quick("compare", *paths, "--noise", "1%", "--fail-if", "ops_per_s < -5%")
    assert done.returncode == 3
    assert "4 KiB: the base is 0, there is no ratio" in done.stdout


def test_failure_wins_over_what_is_undetermined(quick: Command, write: Write) -> None:
    new = measured(1.1)
    new["points"].pop()
    done = compared(quick, write, new, "p99 > 5%")
    assert done.returncode == 1
    assert len(lines(done.stdout, "failed")) == len(lines(done.stdout, "undetermined")) == 1


def test_each_new_one_must_have_what_the_base_has(quick: Command, write: Write) -> None:
    short = measured(sizes=(64,))
    paths = [write(document, f"{name}.json") for name, document in
             (("base", measured()), ("whole", measured()), ("short", short))]  # fmt: skip
    done = quick("compare", *paths, "--fail-if", "p99 > 5%", "--noise", "1%")
    assert done.returncode == 3
    assert [line.split(", ")[0] for line in lines(done.stdout, "undetermined")] == ["p99 > 5%: short.json"]


def test_many_lines_are_cut(quick: Command, write: Write) -> None:
    sizes = tuple(64 * i for i in range(1, 9))
    limits = ", ".join(f"p50 > {i + 10}%" for i in range(60))
    paths = write(measured(sizes=sizes), "a.json"), write(measured(sizes=sizes[:1]), "b.json")
    found = lines(quick("compare", *paths, "--fail-if", limits, "--noise", "1%").stdout, "undetermined")
    assert len(found) == 401 and found[-1] == "and 20 more"


def test_page_says_what_is_undetermined(quick: Command, write: Write, tmp_path: Path) -> None:
    new = measured()
    new["points"].pop()
    paths = write(measured(), "a.json"), write(new, "b.json")
    done = quick("compare", *paths, "--noise", "1%", "--fail-if", "p99 > 5%", "-o", tmp_path / "o.html")
    page = (tmp_path / "o.html").read_text(encoding="utf-8")
    assert done.returncode == 3 and "Passed." not in page
    assert "Undetermined: a condition of --fail-if cannot be decided everywhere." in page
    assert "p99 &gt; 5%: b.json, write + apm flush, 4 KiB: lacks the point" in page


def test_identical_noisy_runs_do_not_fail(quick: Command, write: Write) -> None:
    """+5.1 %, but anything from a small gain to twice that: as between runs of one build."""
    noisy = measured(1.051, spread=(0.97, 1.05, 0.95, 1.04, 1.0))
    assert compared(quick, write, noisy, "p50 > 5%").returncode == 3
    assert compared(quick, write, noisy, "p50 > 20%").returncode == 0
    failed = compared(quick, write, measured(1.3), "p50 > 20%")
    assert failed.returncode == 1
    assert re.match(r"p50 > 20%: b.json, write \+ apm flush, 64 B: p50 \+30.\d % \(\+2\d.\d % to \+3\d.\d %, worse\)",
                    lines(failed.stdout, "failed")[0])  # fmt: skip
