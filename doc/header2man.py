#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cut the section 3 manual pages out of librpma.h or librpmem.h.

Called by doc/CMakeLists.txt at build. A comment that opens with two stars
documents what follows it: a function becomes a page of its own, a type or a
group of macros a section of the pages that use it. A comment that lacks a part
or a parameter stops the build, so a page cannot say less than the prototype.
"""

import argparse
import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

COMMENT = re.compile(r"/\*\*\s(.*?)\*/\n([^/]*)", re.DOTALL)
LABEL = re.compile(r"(Return|Threads|Since|See also): *(.*)")
ERROR = re.compile(r" +(RPMA_E_\w+|E[A-Z]+) - (.*)")
INLINE = re.compile(
    r"@(?P<param>\w+)"
    r"|(?P<call>rpm(?:a|em)_\w+)\(\)"
    r"|(?P<page>\w+)\((?P<section>[1-8])\)"
    r"|(?P<constant>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\*?)"
)


@dataclass
class Entry:
    """One documented name: its comment taken apart, and its declaration."""

    name: str
    purpose: str
    declaration: str
    params: list[tuple[str, str]] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    errors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        return re.match(rf"(?!typedef)[\w ]+[ *]{self.name}\(", self.declaration) is not None


@dataclass
class Book:
    """The parts that all pages of a library have in common."""

    library: str
    version: str
    date: str
    since: str


def sentence(text: str) -> str:
    """Upper case first, one full stop last."""
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."


def join(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)


def split_items(lines: list[str], opening: re.Pattern[str]) -> list[tuple[str, str]]:
    """Items that start at a line matching `opening` and go on indented."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        match = opening.match(line)
        if match:
            items.append((match[1], [match[2]]))
        elif items:
            items[-1][1].append(line)
        else:
            raise ValueError(f"text before the first item: {line!r}")
    return [(name, join(text)) for name, text in items]


def parse_labels(entry: Entry, lines: list[str]) -> None:
    labelled: dict[str, list[str]] = {}
    text: list[str] = []
    for line in lines:
        match = LABEL.match(line)
        if match:
            text = labelled[match[1]] = [match[2]]
        else:
            text.append(line)
    returned = labelled.get("Return", [])
    first = next((i for i, line in enumerate(returned) if ERROR.match(line)), None)
    if first is not None:
        entry.errors = split_items(returned[first:], ERROR)
        labelled["Return"] = returned[:first]
    entry.labels = {name: join(text) for name, text in labelled.items()}


def parse_comment(comment: str, declaration: str) -> Entry:
    lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in comment.strip().split("\n")]
    title = re.match(r"(.+?) - (.+)", lines[0])
    if title is None:
        raise ValueError(f"not 'name - purpose': {lines[0]!r}")
    declaration = declaration.strip()
    end = re.search(r"^(?:enum|struct) \w+ \{.*?\};|^[^#;{]*?;", declaration, re.DOTALL)
    entry = Entry(title[1], title[2], end[0] if end else "")
    body = lines[1:]
    labels = next((i for i, line in enumerate(body) if LABEL.match(line)), len(body))
    parse_labels(entry, body[labels:])
    blocks = [block.split("\n") for block in "\n".join(body[:labels]).strip("\n").split("\n\n")]
    if blocks[0][0].startswith("@"):
        entry.params = split_items(blocks.pop(0), re.compile(r"@(\w+): (.*)"))
    entry.paragraphs = [join(block) for block in blocks if block != [""]]
    return entry


def check(entry: Entry) -> None:
    """A function's comment must be complete."""
    inside = entry.declaration[entry.declaration.index("(") + 1 : entry.declaration.rindex(")")]
    declared = [re.sub(r"\[\d+\]$", "", p.strip()).split()[-1].strip("*")
                for p in inside.split(",") if inside != "void"]
    documented = [name for name, _ in entry.params]
    if declared != documented:
        raise ValueError(f"{entry.name}: documents {documented}, declares {declared}")
    for label in ("Return", "Threads", "Since", "See also"):
        if not entry.labels.get(label):
            raise ValueError(f"{entry.name}: no '{label}:'")
    if entry.labels["Return"].endswith((" or", "errno set to")) != bool(entry.errors):
        raise ValueError(f"{entry.name}: 'Return: ..., or' goes with a list of errors")


def mark_up(text: str, own_name: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match["param"]:
            return rf"\fI{match['param']}\fP"
        if match["call"] == own_name:
            return rf"\fB{own_name}\fP()"
        if match["constant"]:
            return rf"\fB{match['constant']}\fP"
        return rf"\fB{match['call'] or match['page']}\fP({match['section'] or 3})"

    filled = textwrap.wrap(text.replace("\\", r"\e"), 72, break_long_words=False, break_on_hyphens=False)
    return "\n".join(re.sub(r"^(?=[.'])", r"\\&", INLINE.sub(replace, line)) for line in filled)


def tagged(items: list[tuple[str, str]], own_name: str, font: str) -> list[str]:
    return [f".TP\n\\f{font}{name}\\fP\n{mark_up(text, own_name)}" for name, text in items]


def verbatim(declaration: str) -> str:
    one_line = re.sub(r"\s+", " ", declaration)
    if "\n\t" in declaration and "{" in declaration:
        shown = declaration.expandtabs(4)
    else:
        unbroken = re.sub(r"(?<=[^,{]) (?=[^{}])", "\0", one_line)
        lines = textwrap.wrap(unbroken, 72, subsequent_indent="    ")
        shown = "\n".join(lines).replace("\0", " ")
    return f".nf\n\\fB{shown}\\fP\n.fi".replace("\n    ", "\n\\&    ")


def uses(function: Entry, other: Entry) -> bool:
    """Does the page of `function` have to explain the type or group `other`?"""
    if not other.params:
        return False
    if not other.name.endswith("*"):
        return re.search(rf"\b{other.name}\b", function.declaration) is not None
    if other.name == "RPMA_E_*":
        return "RPMA_E_" in function.labels["Return"]
    texts = [text for _, text in function.params] + function.paragraphs
    member = re.compile(rf"\b{other.name[:-1]}")
    return any(member.search(text) for text in texts)


def type_section(entry: Entry, own_name: str) -> list[str]:
    lines = [f".SS {entry.name}", mark_up(sentence(entry.purpose), own_name)]
    if entry.declaration:
        lines += [".PP", verbatim(entry.declaration)]
    lines += tagged(entry.params, own_name, "I" if "struct" in entry.name else "B")
    for paragraph in entry.paragraphs:
        lines += [".PP", mark_up(paragraph, own_name)]
    return lines


def page(entry: Entry, types: list[Entry], book: Book) -> str:
    name, library = entry.name, book.library
    lines = [
        '.\\" SPDX-License-Identifier: BSD-3-Clause',
        f'.\\" Cut out of {library}.h by header2man.py: edit that comment, not this file.',
        f'.TH {name} 3 {book.date} "{library} {book.version}" "{library} manual"\n.nh\n.ad l',
        f".SH NAME\n{name} \\- {entry.purpose}",
        f".SH SYNOPSIS\n.nf\n\\fB#include <{library}.h>\\fP\n.fi\n.PP",
        verbatim(entry.declaration),
    ]
    if entry.params:
        lines += [".SH PARAMETERS", *tagged(entry.params, name, "I")]
    if entry.paragraphs:
        lines.append(".SH DESCRIPTION\n" + "\n.PP\n".join(mark_up(p, name) for p in entry.paragraphs))
    used = [other for other in types if uses(entry, other)]
    if used:
        lines.append(".SH TYPES AND CONSTANTS")
    for other in used:
        lines += type_section(other, name)
    returned = re.sub("^0, or\\b", "0 on success, or", entry.labels["Return"])
    suffix = " one of the errors below" if entry.errors else ""
    lines.append(f".SH RETURN VALUE\n{mark_up(sentence(returned + suffix), name)}")
    if entry.errors:
        lines += [".SH ERRORS", *tagged(entry.errors, name, "B")]
    lines.append(f".SH THREAD SAFETY\n{mark_up(sentence(entry.labels['Threads']), name)}")
    lines.append(f".SH SINCE\n{mark_up(f'{book.since} ' + sentence(entry.labels['Since']), name)}")
    lines.append(f".SH SEE ALSO\n{mark_up(entry.labels['See also'] + f', {library}(7)', name)}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("header", type=Path)
    parser.add_argument("directory", type=Path, help="where the pages go")
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True, help="YYYY-MM-DD, for the foot of the page")
    parser.add_argument("--since", help="what the numbers of 'Since:' count, the library by default")
    args = parser.parse_args()
    library = args.header.stem
    book = Book(library, args.version, args.date, args.since or library)
    try:
        text = args.header.read_text(encoding="utf-8")
        entries = [parse_comment(*match.groups()) for match in COMMENT.finditer(text)]
        functions = [entry for entry in entries if entry.is_function]
        for entry in functions:
            check(entry)
    except (OSError, ValueError) as error:
        print(f"header2man: {args.header}: {error}", file=sys.stderr)
        return 2
    types = [entry for entry in entries if not entry.is_function]
    args.directory.mkdir(parents=True, exist_ok=True)
    for stale in args.directory.glob(f"{library.removeprefix('lib')}_*.3"):
        stale.unlink()
    for entry in functions:
        target = args.directory / f"{entry.name}.3"
        target.write_text(page(entry, types, book), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
