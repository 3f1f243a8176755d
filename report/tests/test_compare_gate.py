# SPDX-License-Identifier: BSD-3-Clause
"""The expressions of --fail-if: what they mean, and which are refused."""

import pytest

from rpma_report.comparison import gate


@pytest.mark.parametrize(
    "text, change, holds",
    [("p99.9 > 5%", 0.0501, True), ("p99.9 > 5%", 0.05, False), ("p99.9>=5%", 0.05, True),
     ("p50>5 %", 0.051, True), ("mean > -3%", -0.02, True), ("bytes_per_s < -2.5%", -0.026, True),
     ("bytes_per_s < -2.5%", -0.025, False), ("ops_per_s <= -2.5%", -0.025, True),
     ("response.p99 > +10%", 0.2, True), ("  read.mean > 0%  ", 0.0, False),
     ("p99 > 5%", 0.05 + 1e-14, False)],  # 5 %, but for the last bit of a double
)  # fmt: skip
def test_condition_holds_exactly_then(text: str, change: float, holds: bool) -> None:
    (condition,) = gate.parse(text)
    assert condition.holds(change) is holds


def test_several_conditions_in_one_expression() -> None:
    first, second = gate.parse("p99 > 5%, bytes_per_s < -3%")
    assert (first.measure.name, second.measure.name) == ("p99", "bytes_per_s")
    assert first.measure.higher_is_better is False and second.measure.higher_is_better is True
    assert (first.upward, second.upward) == (True, False)


def test_worse_is_a_condition_of_no_figure() -> None:
    first, second = gate.parse("worse, p99 > 5%")
    assert first.measure is None and second.measure is not None


@pytest.mark.parametrize(
    "text, expected",
    [("", "such as 'p99.9 > 5%'"), ("p99", "such as"), ("p99 > 5", "a change in percent"),
     ("p99 >> 5%", "one of > >= < <="), ("p99 == 5%", "such as"), ("p99 > five%", "such as"),
     ("p99 > 5%,", "such as"), ("p99 > 5% or p50 > 1%", "such as"), ("p99 > 1e3%", "such as"),
     ("p99 > nan%", "such as"), ("p99 > \u0665%", "such as"),
     ("p100 > 5%", "p50, p99.9"), ("latency > 5%", "'latency' is not a figure"), ("write.p99 > 5%", "read. or response."),
     ("__import__('os') > 5%", "such as"), ("x" * 5000 + " > 5%", "is not a figure")],
)  # fmt: skip
def test_malformed_expression_says_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(gate.Malformed) as caught:
        gate.parse(text)
    assert expected in str(caught.value) and len(str(caught.value)) < 300
