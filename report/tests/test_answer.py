# SPDX-License-Identifier: BSD-3-Clause
"""The first line of a comparison and of a history: which figure, how much, how certain."""

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, Write
from paired import write_pairs
from test_compare_command import measured
from test_history import found


def answer(page: Path) -> str:
    """The first paragraph of the page."""
    said = re.search("<p[^>]*>(.*?)</p>", page.read_text(encoding="utf-8"))
    assert said
    return said[1].replace("\u2212", "-")


@pytest.mark.parametrize("factor, told", [
    (3.1, r"Certainly worse: new against base, p(50|99) of write \+ apm flush, (64 B|4 KiB), takes 3\.1 times as long "
          r"\(95 % interval 3\.1 to 3\.1 times\); of 4 deciding figures 4 worse\."),
    (1.1, r"Certainly worse: .* takes 10\.\d % longer \(95 % interval \+9\.\d % to \+10\.\d %\); of 4 deciding figures 4 worse\."),
    (0.8, r"Certainly better: .* takes (19\.9|20\.[01]) % less time \(95 % interval -20\.\d % to -19\.\d %\); of 4 deciding figures 4 better\."),
    (1.0, r"The same: new against base, all 4 deciding figures lie within 2 %\."),
])  # fmt: skip
def test_of_pairs(factor: float, told: str, quick: Command, tmp_path: Path) -> None:
    quick("compare", *write_pairs(tmp_path, measured, factor), "-o", tmp_path / "c.html", "--md", tmp_path / "c.md")
    assert re.fullmatch(told, answer(tmp_path / "c.html")), answer(tmp_path / "c.html")
    assert (tmp_path / "c.md").read_text().splitlines()[2].startswith("**")


def test_of_what_is_not_certain(quick: Command, write: Write, tmp_path: Path) -> None:
    """However large: the files were not interleaved."""
    quick("compare", write(measured(), "a.json"), write(measured(1.5), "b.json"), "-o", tmp_path / "c.html")
    said = answer(tmp_path / "c.html")
    assert said.startswith("No change is certain: b.json against a.json, of 4 deciding figures 4 unclear; the largest: p")
    assert " % longer (" in said and said.endswith("unclear: not interleaved.") and "ertainly" not in said


def test_what_one_side_lacks_is_told(quick: Command, write: Write, tmp_path: Path) -> None:
    base = write(measured(), "a.json")
    quick("compare", base, write(measured(sizes=(64,)), "b.json"), "--noise", "1%", "-o", tmp_path / "c.html")
    assert answer(tmp_path / "c.html") == ("The same where both have it: b.json against a.json, all 2 deciding figures lie within 2 %; "
                                           "1 point of the base not measured again.")  # fmt: skip


def test_a_rate_that_is_lower_is_worse(quick: Command, tmp_path: Path) -> None:
    quick("compare", *write_pairs(tmp_path, measured, 1.25), "--figures", "ops_per_s", "-o", tmp_path / "c.html")
    assert "takes" not in answer(tmp_path / "c.html")
    assert re.search(r"Certainly worse: .*ops_per_s of .*, is (19\.9|20\.[01]) % lower \(", answer(tmp_path / "c.html"))


@pytest.mark.parametrize("limit, told", [("p50 > 5%", "failed, 2 places"), ("p50 > 50%", "passed, none of it holds anywhere"),
                                         ("response.p50 > 5%", "undetermined, 1 place")])  # fmt: skip
def test_limits_have_a_line_of_their_own(limit: str, told: str, quick: Command, tmp_path: Path) -> None:
    quick("compare", *write_pairs(tmp_path, measured, 1.1), "--fail-if", limit, "-o", tmp_path / "c.html")
    assert f"<p>--fail-if {limit.replace('>', '&gt;')}: {told}.</p>" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize("noise, factors, told", [
    (0.03, (1.0, 1.0, 1.2, 1.2), r"Certainly worse: p(50|99) of write \+ apm flush, .*, takes 20\.0 % longer \(.*\) from v1 .* to v2 .*; "
                                 r"4 worse and 0 better of 12 steps\."),
    (0.5, (1.0, 1.0, 1.2, 1.2), r"No change is certain: none of 12 steps exceeds a noise of 50 %\."),
    (None, (1.0, 1.5), r"No change is claimed: without a stated --noise a step may be the host's drift\."),
])  # fmt: skip
def test_of_a_history(noise: float | None, factors: Any, told: str) -> None:
    from rpma_report.comparison import answer as answers
    from rpma_report.comparison import history_page

    made = found(noise, factors)
    assert re.fullmatch(told, answers.of_history(made)), answers.of_history(made)
    page = history_page.document(made)
    assert page.answer == answers.of_history(made)
    ids = [section.id for section in page.sections]
    assert ids.index("section-history-p50") < ids.index("changes")  # charts before the rule
