# SPDX-License-Identifier: BSD-3-Clause
"""A limit that cannot be decided, because the measurement is missing, is no pass."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, Write
from test_compare_command import measured

Change = Callable[[dict[str, Any]], object]


def without_p99(result: dict[str, Any], number: int = 1) -> None:
    """As where a run was too short for it."""
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
        repeat.update(ops=0, bytes=0, ops_per_s=0.0, bytes_per_s=0.0, latency=None)
    zero = {"mean": 0.0, "ci95_low": 0.0, "ci95_high": 0.0}
    point["summary"].update(ops_per_s=zero, bytes_per_s=zero, latency=None)


def lines(stdout: str, of: str) -> list[str]:
    return [line.removeprefix(f"{of}: ") for line in stdout.splitlines() if line.startswith(f"{of}: ")]


@pytest.mark.parametrize(
    "change, expression, told",
    [(lambda r: r["points"].pop(), "p99 > 5%", "write + apm flush, 4 KiB: lacks the point"),
     (lambda r: r["points"].pop(), "ops_per_s < -5%", "write + apm flush, 4 KiB: lacks the point"),
     (without_p99, "p99 > 5%", "write + apm flush, 4 KiB: lacks p99"),
     (without_latency, "mean > 5%", "write + apm flush, 4 KiB: lacks mean")],
)  # fmt: skip
def test_what_only_the_base_has_is_undetermined(
    change: Change, expression: str, told: str, quick: Command, write: Write
) -> None:
    new = measured()
    change(new)
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"), "--fail-if", expression)
    assert (done.returncode, done.stderr) == (3, "")
    assert lines(done.stdout, "undetermined") == [f"{expression}: b.json, {told}"]


@pytest.mark.parametrize("change", [lambda r: r["points"].pop(), without_p99])
def test_what_only_the_new_one_has_counts_for_nothing(change: Change, quick: Command, write: Write) -> None:
    base = measured()
    change(base)
    done = quick("compare", write(base, "a.json"), write(measured(), "b.json"), "--fail-if", "p99 > 5%")
    assert done.returncode == 0 and "undetermined" not in done.stdout


def test_figure_that_is_not_asked_for_may_be_missing(quick: Command, write: Write) -> None:
    new = measured()
    without_p99(new)
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"), "--fail-if", "p50 > 5%")
    assert done.returncode == 0


@pytest.mark.parametrize("expression", ["p99.99 > 5%", "response.p99 > 5%"])
def test_figure_that_the_base_has_nowhere_is_undetermined(
    expression: str, quick: Command, write: Write
) -> None:
    paths = write(measured(), "a.json"), write(measured(), "b.json")
    done = quick("compare", *paths, "--fail-if", f"p99 > 5%, {expression}")
    name = expression.split()[0]
    assert done.returncode == 3
    assert lines(done.stdout, "undetermined") == [f"{expression}: no point of a.json has {name}"]


def test_change_from_nothing_is_undetermined(quick: Command, write: Write) -> None:
    base = measured()
    standing_still(base)
    done = quick("compare", write(base, "a.json"), write(measured(), "b.json"), "--fail-if", "ops_per_s < -5%")
    assert done.returncode == 3
    assert "4 KiB: the base is 0, there is no ratio" in done.stdout


def test_limit_that_is_passed_wins(quick: Command, write: Write) -> None:
    new = measured(1.1)
    new["points"].pop()
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"), "--fail-if", "p99 > 5%")
    assert done.returncode == 1
    assert len(lines(done.stdout, "limit passed")) == len(lines(done.stdout, "undetermined")) == 1


def test_each_new_one_must_have_what_the_base_has(quick: Command, write: Write) -> None:
    short = measured(sizes=(64,))
    paths = [write(document, f"{name}.json") for name, document in
             (("base", measured()), ("whole", measured()), ("short", short))]  # fmt: skip
    done = quick("compare", *paths, "--fail-if", "p99 > 5%")
    assert done.returncode == 3
    assert [line.split(", ")[0] for line in lines(done.stdout, "undetermined")] == ["p99 > 5%: short.json"]


def test_many_lines_are_cut(quick: Command, write: Write) -> None:
    sizes = tuple(64 * i for i in range(1, 9))
    limits = ", ".join(f"p50 > {i}%" for i in range(60))
    paths = write(measured(sizes=sizes), "a.json"), write(measured(sizes=sizes[:1]), "b.json")
    found = lines(quick("compare", *paths, "--fail-if", limits).stdout, "undetermined")
    assert len(found) == 401 and found[-1] == "and 20 more"


def test_page_says_what_is_undetermined(quick: Command, write: Write, tmp_path: Path) -> None:
    new = measured()
    new["points"].pop()
    paths = write(measured(), "a.json"), write(new, "b.json")
    done = quick("compare", *paths, "--fail-if", "p99 > 5%", "-o", tmp_path / "o.html")
    page = (tmp_path / "o.html").read_text(encoding="utf-8")
    assert done.returncode == 3 and "No limit is passed." not in page
    assert "Whether a limit is passed is not known everywhere." in page
    assert "p99 &gt; 5%: b.json, write + apm flush, 4 KiB: lacks the point" in page
