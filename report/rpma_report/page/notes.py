# SPDX-License-Identifier: BSD-3-Clause
"""A user's own notes: a file or a text, and the blocks they become.

Of Markdown four things are known: paragraphs, "- " items, "# " headings and code
between lines of ```. Everything else stands as it is written; no markup gets
into a page from here, since blocks are plain text.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rpma_report.failure import Failure
from rpma_report.page.document import Block, Code, Heading, Items, Paragraph
from rpma_report.text import shown

MAX_BYTES = 1 << 20
_MAX_LINE = 20_000
_NAME = re.compile(r"\S+\.(md|markdown|txt)")
_ITEM = re.compile(r" {0,3}[-*] +(\S.*)")
_HEADING = re.compile(r" {0,3}#{1,6} +(\S.*?)[ #]*")


def read(given: str) -> tuple[Block, ...]:
    """The name of a file, "-" for standard input, or the text itself."""
    if given == "-" or _NAME.fullmatch(given) or _is_file(given):
        return parse(_text_of(given))
    return parse(given)


def _is_file(given: str) -> bool:
    try:
        return "\n" not in given and Path(given).is_file()
    except (OSError, ValueError):  # too long for a name, or has a NUL
        return False


def _text_of(name: str) -> str:
    try:
        with open(name, "rb") if name != "-" else sys.stdin.buffer as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Failure(f"{shown(name)}: cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise Failure(f"{shown(name)}: has more than {MAX_BYTES:,} bytes, notes have fewer")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure(f"{shown(name)}: is not UTF-8 text: byte {error.start + 1:,}") from error


def parse(text: str) -> tuple[Block, ...]:
    lines = [shown(line.expandtabs(4), _MAX_LINE) for line in re.split(r"\r\n|\r|\n", text)]
    return tuple(_blocks(lines))


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        begin = at
        if lines[at].startswith("```"):
            at = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            yield Code("\n".join(lines[begin + 1 : at]))
            at += 1
        elif heading := _HEADING.fullmatch(lines[at]):
            yield Heading(heading[1])
            at += 1
        elif _ITEM.fullmatch(lines[at]):
            items: list[str] = []
            while at < len(lines) and lines[at].strip() and not lines[at].startswith("```"):
                item = _ITEM.fullmatch(lines[at])
                items = [*items, item[1]] if item else [*items[:-1], f"{items[-1]} {lines[at].strip()}"]
                at += 1
            yield Items(tuple(items))
        else:
            while at < len(lines) and lines[at].strip() and not _begins(lines[at], at > begin):
                at += 1
            if at > begin:
                yield Paragraph(" ".join(line.strip() for line in lines[begin:at]))
            else:
                at += 1


def _begins(line: str, later: bool) -> bool:
    """Does a line end the paragraph before it?"""
    return later and bool(line.startswith("```") or _ITEM.fullmatch(line) or _HEADING.fullmatch(line))
