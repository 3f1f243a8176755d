# SPDX-License-Identifier: BSD-3-Clause
"""A user's own title, name and notes: text in their places, and nothing more."""

import io
import re
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write, refused
from outline import Outline
from rpma_report.page import notes
from rpma_report.page.document import Block, Code, Heading, Items, Paragraph

RESULT = sample.result([sample.bw_point(0, 64)])


@pytest.mark.parametrize(
    "text, blocks",
    [("one\ntwo\n\nthree", [Paragraph("one two"), Paragraph("three")]),
     ("# Why #\ntext", [Heading("Why"), Paragraph("text")]),
     ("#tag", [Paragraph("#tag")]),
     ("- a\n  b\n* c\n\nd", [Items(("a b", "c")), Paragraph("d")]),
     ("text\n- a", [Paragraph("text"), Items(("a",))]),
     ("-5 % in all", [Paragraph("-5 % in all")]),
     ("```\n<b> # no\n\n- x\n```\nafter", [Code("<b> # no\n\n- x"), Paragraph("after")]),
     ("```\nopen", [Code("open")]),
     ("**bold** <i>", [Paragraph("**bold** <i>")]),
     ("a\r\nb\rc", [Paragraph("a b c")]), ("\n \n", [])],
)  # fmt: skip
def test_paragraphs_headings_items_and_code(text: str, blocks: list[Block]) -> None:
    assert list(notes.parse(text)) == blocks


def test_characters_that_turn_or_hide_text_are_replaced() -> None:
    assert notes.parse("a\u202eb\x00c") == (Paragraph("a\ufffdb\ufffdc"),)


def test_all_stand_in_the_page_as_text(quick: Command, write: Write, tmp_path: Path) -> None:
    hostile = "</title><script>alert(1)</script>\"'&"
    done = quick("create", write(RESULT), "-o", tmp_path / "r.html", "--title", hostile, "--author", hostile,
                 "--notes", f"# {hostile}\n\n{hostile}\n\n- {hostile}\n\n```\n{hostile}\n```",
                 "--md", tmp_path / "r.md", "--pdf", tmp_path / "r.pdf")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    outline = Outline((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert len(outline.all("script")) == 2
    for tag in ("h1", "h3", "p", "li", "code"):
        assert (tag, hostile) in outline.texts
    assert {"name": "author", "data-own": None, "content": hostile} in outline.all("meta")
    told = re.sub("(?s)```.*?```", "", (tmp_path / "r.md").read_text(encoding="utf-8"))
    assert re.search("<script", told) and not re.search(r"(?<!\\)<script", told)


def test_notes_come_from_a_file_or_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"\xef\xbb\xbfof a file")
    assert notes.read(str(path)) == (Paragraph("of a file"),)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"of a pipe")))
    assert notes.read("-") == (Paragraph("of a pipe"),)
    for text in ("no file has this name", "x" * 5000, "see why.md", "a\nb.md"):
        assert isinstance(notes.read(text)[0], Paragraph)


@pytest.mark.parametrize(
    "content, part",
    [(None, "n.md: cannot be read: No such file or directory"), (b"\xff", "n.md: is not UTF-8 text: byte 1"),
     (b"x" * (notes.MAX_BYTES + 1), "n.md: has more than 1,048,576 bytes")],
)  # fmt: skip
def test_bad_file_is_refused(content: Any, part: str, quick: Command, write: Write, tmp_path: Path) -> None:
    if content is not None:
        write(content, "n.md")
    done = quick("create", write(RESULT), "-o", tmp_path / "r.html", "--notes", tmp_path / "n.md")
    refused(done, part)
    assert not (tmp_path / "r.html").exists()


def test_verify_leaves_them_out_and_checks_the_rest(quick: Command, write: Write, tmp_path: Path) -> None:
    """They are the user's, with numbers that no result has."""
    path, out = write(RESULT), tmp_path / "r.html"
    quick("create", path, "-o", out, "--title", "Run 7", "--author", "B. 12", "--notes", "- 99 % idle\n\n```\nx=1\n```")
    assert quick("verify", out, path).returncode == 0
    text = out.read_text(encoding="utf-8")
    out.write_text(text.replace("</h2>", " 5</h2>", 1), encoding="utf-8")
    assert quick("verify", out, path).returncode == 1


@pytest.mark.parametrize("option", ["--title", "--author"])
def test_empty_text_is_a_mistake(option: str, quick: Command, write: Write, tmp_path: Path) -> None:
    done = quick("create", write(RESULT), "-o", tmp_path / "r.html", option, " ")
    assert done.returncode == 64 and "expected a text" in done.stderr
