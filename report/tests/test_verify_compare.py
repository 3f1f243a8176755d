# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report verify of the pages of compare and history: made again from their results and recorded options."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write
from paired import write_pairs
from test_compare_command import measured


@pytest.fixture
def compared(quick: Command, write: Write, tmp_path: Path) -> Path:
    """The page of base.json and new.json, which stand beside it."""
    paths = [write(measured(factor), name) for name, factor in (("base.json", 1.0), ("new.json", 1.1))]
    page = tmp_path / "c.html"
    words = ("--noise", "3%", "--figures", "p50", "--fail-if", "p50 > 5%", "-o", page)
    assert quick("compare", *paths, *words).returncode == 1
    return page


@pytest.mark.drawn
def test_page_of_compare_is_made_again(compared: Path, quick: Command, tmp_path: Path) -> None:
    done = quick("verify", compared, tmp_path / "base.json", tmp_path / "new.json")
    assert (done.returncode, done.stderr) == (0, "") and re.search(r": [0-9,]+ numbers agree\n$", done.stdout)


@pytest.mark.parametrize("have, put", [("+10.0 %", "+10.1 %"), ("2 worse", "1 worse"), ("a noise is stated", "5 noises are stated")])
def test_changed_digits_of_words_are_found(have: str, put: str, compared: Path, quick: Command, tmp_path: Path) -> None:
    """measured() makes changes of exactly a tenth."""
    text = compared.read_text(encoding="utf-8")
    assert have in text
    compared.write_text(text.replace(have, put, 1), encoding="utf-8")
    done = quick("verify", compared, tmp_path / "base.json", tmp_path / "new.json")
    assert done.returncode == 1 and put.split()[0] in done.stdout


def test_results_in_another_order_get_the_line_to_type(compared: Path, quick: Command, tmp_path: Path) -> None:
    done = quick("verify", compared, tmp_path / "new.json", tmp_path / "base.json")
    assert done.returncode == 3
    assert done.stdout == f"{compared}: expected the results as compare had them: rpma-report verify c.html base.json new.json\n"


def test_changed_result_is_named(compared: Path, quick: Command, tmp_path: Path, write: Write) -> None:
    write(measured(1.2), "new.json")
    done = quick("verify", compared, tmp_path / "base.json", tmp_path / "new.json")
    assert done.returncode == 1 and "new.json does not match: SHA-256: printed" in done.stdout


def test_directories_in_pairs_are_made_again(quick: Command, tmp_path: Path) -> None:
    sides = write_pairs(tmp_path, measured, 1.1)
    assert quick("compare", *sides, "-o", tmp_path / "c.html").returncode == 0
    assert quick("verify", tmp_path / "c.html", *sides).returncode == 0
    next(iter(sorted(sides[0].glob("*.json")))).unlink()
    done = quick("verify", tmp_path / "c.html", *sides)
    assert done.returncode in (1, 3) and re.search(r"it is of \d+ files, \d+ are given", done.stdout)


def test_page_of_history_is_made_again_in_any_order(quick: Command, write: Write, tmp_path: Path) -> None:
    days = [sample.result(measured(1 + n / 10)["points"], started=f"2026-08-2{n}T10:00:00.123Z", id=f"{n}b0e7c3e-6a5e-4d8f-9c2b-2f6d1f6a7e10")
            for n in range(3)]  # fmt: skip
    paths = [write(day, f"day{n}.json") for n, day in enumerate(days)]
    assert quick("history", *paths, "--noise", "2%", "-o", tmp_path / "h.html").returncode == 0
    assert quick("verify", tmp_path / "h.html", *reversed(paths)).returncode == 0
    done = quick("verify", tmp_path / "h.html", *paths[1:])
    assert done.returncode == 3 and "no result was given for day0.json" in done.stdout


RECIPES: dict[str, tuple[str, int, str]] = {
    "no JSON": ("{", 3, "this version cannot make it again: {"),
    "a list": ("[1]", 3, "cannot make it again"),
    "nested": ("[" * 100_000, 3, "cannot make it again"),
    "another command": (json.dumps({"command": "study", "inputs": ["a"], "options": {}}), 3, "cannot make it again"),
    "inputs that are no texts": (json.dumps({"command": "compare", "inputs": [7, 8], "options": {}}), 3, "cannot make it again"),
    "an option that is none": ("figures=latency", 2, "the options of the page: 'latency' has a word that is not a figure"),
    "a limit that is none": ("fail_if=p99", 2, "the options of the page: --fail-if: 'p99' is not a condition"),
    "a number in place of a text": ("noise=3", 2, "the options of the page are not those of rpma-report"),
}
OPTIONS: dict[str, Any] = {"figures=latency": {"figures": "latency"}, "fail_if=p99": {"fail_if": ["p99"]}, "noise=3": {"noise": 3}}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_of_strangers_are_refused(name: str, compared: Path, quick: Command, tmp_path: Path) -> None:
    recipe, code, text = RECIPES[name]
    if recipe in OPTIONS:
        recipe = json.dumps({"command": "compare", "inputs": ["base.json", "new.json"], "options": OPTIONS[recipe]})
    page = compared.read_text(encoding="utf-8")
    made = f'rpma-report-made" content="{html.escape(recipe)}"'
    compared.write_text(re.sub(r'rpma-report-made" content="[^"]*"', lambda _: made, page), encoding="utf-8")
    done = quick("verify", compared, tmp_path / "base.json", tmp_path / "new.json")
    assert done.returncode == code and text in done.stdout + done.stderr


def test_recipe_has_no_paths(compared: Path) -> None:
    """A page that is passed on does not tell where files lie."""
    (made,) = re.findall(r'rpma-report-made" content="([^"]*)"', compared.read_text(encoding="utf-8"))
    assert json.loads(html.unescape(made)) == {
        "command": "compare", "inputs": ["base.json", "new.json"],
        "options": {"figures": "p50", "noise": "3%", "fail_if": ["p50 > 5%"]},
    }  # fmt: skip
