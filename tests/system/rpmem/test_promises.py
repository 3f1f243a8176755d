# SPDX-License-Identifier: BSD-3-Clause
"""promises.md: its words are those of librpmem(7) and rpmemd(1), and its tests are there."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEXT = (Path(__file__).parent / "promises.md").read_text(encoding="utf-8")


def read(page: str) -> str:
    """The page as a reader has it, in one line."""
    done = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=78", ROOT / "doc" / page], stdout=subprocess.PIPE,
                          text=True, check=True)  # fmt: skip
    return " ".join(re.sub(".\b", "", done.stdout).split())


PAGES = {"librpmem(7)": read("librpmem.7"), "rpmemd(1)": read("rpmemd.1")}
PAGES["Not tried"] = " ".join(PAGES.values())


def rows() -> list[tuple[str, str, str]]:
    found, section = [], ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("|") and not line.startswith(("|---", "| promise")):
            promise, second = re.split(r"(?<!\\)\|", line.strip("|"))
            found.append((section, promise.strip().replace("\\|", "|"), second))
    return found


@pytest.mark.parametrize("section, promise, tests", rows(), ids=[row[1][:50] for row in rows()])
def test_it_is_promised_and_tried(section: str, promise: str, tests: str) -> None:
    assert promise in PAGES[section]
    names = re.findall(r"`(tests/[^`:]+)::(\w+)`", tests)
    assert names or section == "Not tried"
    for file, name in names:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")), f"{file} has no {name}"
