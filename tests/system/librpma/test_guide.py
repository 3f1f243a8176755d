# SPDX-License-Identifier: BSD-3-Clause
"""What "Pipelining persistent writes" shows of the examples stands in them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDE = (ROOT / "doc/pipelining-persistent-writes.md").read_text()
SNIPPETS = re.findall(r"(?ms)^```c\n(.*?)^```", GUIDE)
EXAMPLES = [path.read_text() for path in sorted((ROOT / "examples").glob("1*.c"))]


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippet_is_of_an_example(snippet: str) -> None:
    assert any(words(snippet) in words(example) for example in EXAMPLES)


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) >= 4
