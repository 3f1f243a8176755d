# SPDX-License-Identifier: BSD-3-Clause
"""what-our-words-stand-on.md: every row is whole, and its tests are there."""

import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(os.environ["RPMA_SOURCE_DIR"])
TEXT = (ROOT / "doc/what-our-words-stand-on.md").read_text(encoding="utf-8")
COLUMNS = ("word", "printed by", "stands on", "does not say", "test")


class Row(NamedTuple):
    section: str
    cells: tuple[str, ...]


def rows() -> list[Row]:
    found, section = [], ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("|"):
            found.append(Row(section, tuple(cell.strip() for cell in line.strip("|").split("|"))))
    return [row for row in found if row.cells != COLUMNS and set(row.cells) != {"---"}]


def name_of(row: Row) -> str:
    return f"{row.section}: {row.cells[0]}"


def is_test(file: Path, name: str) -> bool:
    """A function of pytest, or a test of cmocka: TEST(name) or another with a setup."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return re.search(rf"^def {name}\(", text, re.M) is not None
    return re.search(rf"^(?:\w+_)?TEST\({name}[,)]", text, re.M) is not None


@pytest.mark.parametrize("row", rows(), ids=name_of)
def test_a_row_is_whole_and_its_tests_are_there(row: Row) -> None:
    assert len(row.cells) == len(COLUMNS) and all(row.cells), "expected five cells, none empty"
    tests = re.findall(r"`([^`]+)`", row.cells[-1])
    assert tests and re.sub(r"`[^`]+`", "", row.cells[-1]).strip() == "", "expected `file::test`, one or more"
    for test in tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), f"no file {file}"
        assert name and is_test(ROOT / file, name), f"no test {name} in {file}"


def test_no_word_has_two_rows() -> None:
    names = [name_of(row) for row in rows()]
    assert names and len(set(names)) == len(names)


def test_every_verdict_has_a_row() -> None:
    schema = json.loads((ROOT / "doc/schema/rpma-ddio-check-1.schema.json").read_text(encoding="utf-8"))
    verdicts = set(re.findall(r'"([A-Z_]*READY[A-Z_]*|GPSPM_ONLY|UNDETERMINED)"', json.dumps(schema)))
    assert verdicts <= {row.cells[0] for row in rows()}


def test_every_word_of_a_comparison_has_a_row() -> None:
    rule = (ROOT / "report/rpma_report/comparison/rule.py").read_text(encoding="utf-8")
    words = re.findall(r'"([^"]+)"', next(line for line in rule.splitlines() if line.startswith("WORDS")))
    told = " ".join(row.cells[0] for row in rows() if row.section == "rpma-report")
    assert words and all(word in told for word in words)
