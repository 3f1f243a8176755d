# SPDX-License-Identifier: BSD-3-Clause
"""programs-on-the-software-device.md: what a row names is in the test that it names."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(os.environ["RPMA_SOURCE_DIR"])
TEXT = (ROOT / "doc/programs-on-the-software-device.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("| ")][1:]


def is_in(program: str, text: str) -> bool:
    """perftest's tests, and cases that are made of parts, are named without their common part."""
    return any(part in text for part in (program, program.removeprefix("ib_"), program.split("_")[-1].partition(".")[0]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_its_test(row: list[str]) -> None:
    assert len(row) == 4 and row[0] and row[1], "expected programs, what runs, needs and a test"
    test = ROOT / row[3].strip("`")
    near = "".join(file.read_text(encoding="utf-8") for file in test.parent.glob("*.[cp]*"))
    for program in re.findall(r"`([^`=]+)`", row[0]):
        assert is_in(program, near), f"{program} is not in {test.parent}"


def test_there_are_rows() -> None:
    assert len(ROWS) > 10
