# SPDX-License-Identifier: BSD-3-Clause
"""Reads the bytes of a file and refuses anything but sound JSON.

A file is untrusted: it may be truncated, huge, of another program, or written to
do harm. Every refusal is a BadResult whose text is one line naming the file and the
place in it. What must hold of each kind is the business of the other modules here.
"""

import codecs
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from rpma_report.failure import Failure
from rpma_report.sources.input_file import read_at_most
from rpma_report.text import shown

# A run of 1,000 points with full histograms is below 30 MiB.
MAX_FILE_BYTES = 64 << 20
_GZIP = b"\x1f\x8b"  # RFC 1952
# rpma-ping pings as many hosts at once.
MAX_PARTS = 64
# fio with --status-interval writes many: the first and the last ones are looked at
MAX_DOCUMENTS = 100
# Each takes some 100 bytes of memory; a file of that size full of buckets has 4 million.
MAX_CONTAINERS = 6_000_000
# Nanoseconds, bytes and rates beyond a signed 64-bit number are no measurement.
MAX_NUMBER = 2.0**63

Place = tuple[str | int, ...]


class BadResult(Failure):
    """A file that cannot be used, in one line."""

    def __init__(self, name: str, place: str, text: str) -> None:
        super().__init__(f"{shown(name)}: {place}: {text}" if place else f"{shown(name)}: {text}")


@dataclass(frozen=True)
class Source:
    """A file that is JSON with an object on top, or one object of a list of them."""

    name: str  # as it was given, for messages
    file: str  # without its folder, for the page
    sha256: str
    document: dict[str, Any]
    text: str = field(repr=False)
    part: int | None = None  # which of the objects of a list the document is; None: there is no list
    earlier: int = 0  # documents of fio before this one, in the file
    same_jobs: bool = True  # those are what the same jobs had done until then

    def line_of(self, place: Place) -> int:
        """The line that the value at a place of the document begins in; where it is not there, what it is missing in."""
        at = _next(self.text, 0)
        for part in (*(() if self.part is None else (self.part,)), *place):
            found = _begin_of(self.text, at, part)
            if found is None:
                break
            at = found
        return self.text.count("\n", 0, at) + 1


class Contradiction(BadResult):
    """Two values in a file of which one must be false."""

    def __init__(self, source: Source, place: Place, text: str) -> None:
        super().__init__(source.name, f"line {source.line_of(place)}: {place_text(place)}", text)


class LineContradiction(Contradiction):
    """The same in a file of lines."""

    def __init__(self, name: str, line: int, text: str) -> None:
        BadResult.__init__(self, name, f"line {line}", text)


_DECODER = json.JSONDecoder()


def _begin_of(text: str, at: int, part: str | int) -> int | None:
    """The begin of a member of the object or list at `at`; None: it has no such member."""
    if text[at] != ("{" if isinstance(part, str) else "["):
        return None
    for number in count():
        at = _next(text, at + 1)  # behind the bracket or the comma
        if text[at] in "]}":
            return None
        key: str | int = number
        if isinstance(part, str):
            key, at = _DECODER.raw_decode(text, at)
            at = _next(text, _next(text, at) + 1)  # behind the colon
        if key == part:
            break
        at = _next(text, _DECODER.raw_decode(text, at)[1])
        if text[at] in "]}":
            return None
    return at


def _next(text: str, at: int) -> int:
    """Behind white space."""
    while text[at] in " \t\r\n":
        at += 1
    return at


def place_text(place: Place) -> str:
    """('points', 3, 'id') is points[3].id."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{shown(p, 60)}" for p in place)
    return "".join(parts).lstrip(".") or "top level"


def quoted(value: object) -> str:
    try:
        return shown(json.dumps(value, ensure_ascii=False), 60)
    except RecursionError:
        return "a deeply nested value"


@dataclass(frozen=True)
class Content:
    """The text of a file, of which it is not yet known what it is."""

    name: str
    file: str
    sha256: str
    text: str = field(repr=False)


def read(path: Path) -> Source:
    return parsed(content(path))


def content(path: Path) -> Content:
    name = str(path)
    data = _read_bytes(path, name)
    return Content(name, path.name, hashlib.sha256(data).hexdigest(), _text(name, _unpacked(name, data)))


def parsed(of: Content) -> Source:
    source, *others = parsed_all(of)
    if others or source.part is not None:
        raise BadResult(of.name, "top level", "is a list, expected one object")
    return source


def parsed_all(of: Content) -> list[Source]:
    """One document, or those of a list, which are named by their numbers: ping.json[0]."""
    text, earlier = _without_remarks(of.text)
    document = _parse(of.name, text)
    if isinstance(document, dict):
        same = all(_precedes(_parse(of.name, one), document) for one in earlier)
        return [Source(of.name, of.file, of.sha256, document, text, earlier=len(earlier), same_jobs=same)]
    if not isinstance(document, list) or not document or not all(isinstance(one, dict) for one in document):
        raise BadResult(of.name, "top level", f"is {quoted(document)}, expected an object")
    if len(document) > MAX_PARTS:
        raise BadResult(of.name, "top level", f"is a list of {len(document):,} results, expected at most {MAX_PARTS}")
    return [Source(f"{of.name}[{n}]", of.file, of.sha256, one, text, n) for n, one in enumerate(document)]


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        data = read_at_most(path, MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadResult(name, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with a NUL
        raise BadResult(name, "", "is not a file name: it has a NUL byte") from error
    if len(data) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES >> 20} MiB"
        raise BadResult(name, "", f"is larger than {limit}, the limit for a result")
    return data


def _unpacked(name: str, data: bytes) -> bytes:
    """The JSON, where the file is compressed by gzip."""
    if data.startswith(_GZIP):
        data = _inflated(name, data)
    if not data.strip():
        raise BadResult(name, "", "is empty")
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
        raise BadResult(name, "", f"has more than {MAX_CONTAINERS:,} lists and objects, the limit for a result")
    return data


def _inflated(name: str, data: bytes) -> bytes:
    """A small file can expand to gigabytes: unpacking stops one byte beyond the limit."""
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        text = unpacking.decompress(data, MAX_FILE_BYTES + 1)
    except zlib.error as error:
        raise BadResult(name, "", f"is not sound gzip data: {error}") from error
    if len(text) > MAX_FILE_BYTES:
        raise BadResult(name, "", f"is larger than {MAX_FILE_BYTES >> 20} MiB when unpacked, the limit for a result")
    if not unpacking.eof:
        raise BadResult(name, "", "is not sound gzip data: it ends early (truncated?)")
    return text


# Messages of Python's reader of JSON, in plain words.
_NO_JSON = "unexpected text"
_EXPECTED = {
    "Expecting value": "expected a value, such as an object that begins with {",
    "Expecting property name enclosed in double quotes": "expected a name in double quotes",
    "Illegal trailing comma before end of object": "expected a name in double quotes behind the comma",
    "Expecting ':' delimiter": "expected a colon behind the name",
    "Expecting ',' delimiter": "expected a comma or the closing bracket",
    "Extra data": "expected the end of the file behind the value",
    "Invalid control character at": "a text has a control character, expected \\n or the like",
    "Invalid \\escape": "a text has an unknown escape behind a backslash",
    "Invalid \\uXXXX escape": "a text has an escape \\u without four hexadecimal digits",
}


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number {shown(text, 40)} is too large")
    return value


class _Objects:
    """Makes the objects, and keeps the first key that has two values in one."""

    def __init__(self) -> None:
        self.twice: str | None = None
        self.twice_but_options: str | None = None

    def make(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs) and (key := _twice(pairs)) is not None:
            self.twice = self.twice or key
            if not all(isinstance(value, str) for value in made.values()):
                self.twice_but_options = self.twice_but_options or key
        return made

    def offending(self, document: Any) -> str | None:
        """fio writes every option as it was given: that one is given twice, the last counts there too."""
        is_fio = isinstance(document, dict) and "fio version" in document
        return self.twice_but_options if is_fio else self.twice


def _twice(pairs: list[tuple[str, Any]]) -> str | None:
    first: dict[str, Any] = {}
    return next((key for key, value in pairs if first.setdefault(key, value) != value), None)


def _text(name: str, data: bytes) -> str:
    """Without the mark that some editors put before UTF-8."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadResult(name, "", "is UTF-16 text, expected UTF-8")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadResult(name, f"byte {error.start}", "is not UTF-8 text") from error


def _parse(name: str, text: str) -> Any:
    objects = _Objects()
    document = _loaded(name, text, objects)
    if (key := objects.offending(document)) is not None:
        raise BadResult(name, "", f"key {quoted(key)} is there twice in one object, with two values")
    return document


def _loaded(name: str, text: str, objects: _Objects) -> Any:
    try:
        return json.loads(text, object_pairs_hook=objects.make, parse_constant=_refuse_constant,
                          parse_float=_finite)  # fmt: skip
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = "the file ends in mid-value (truncated?)" if cut else f"not JSON: {_EXPECTED.get(error.msg, _NO_JSON)}"
        raise BadResult(name, place, why) from error
    except RecursionError as error:
        raise BadResult(name, "", "not a result: values are nested too deeply") from error
    except ValueError as error:
        why = "a number has too many digits" if "digits" in str(error) else shown(error)
        raise BadResult(name, "", f"not JSON: {why}") from error


def _without_remarks(text: str) -> tuple[str, list[str]]:
    """Jobs of fio log before and after its JSON: those lines are passed over.

    With --status-interval there are several documents: the last one, and those before it.
    """
    begins = [found.start() for found in re.finditer(r'^\{\s*"fio version"', text, re.MULTILINE)]
    if not begins:
        return text, []
    if len(begins) > MAX_DOCUMENTS:
        begins = [begins[0], *begins[-MAX_DOCUMENTS:]]
    parts = [_whole(text[begin:end]) for begin, end in zip(begins, [*begins[1:], len(text)], strict=True)]
    return "\n" * text.count("\n", 0, begins[-1]) + parts[-1], parts[:-1]


def _whole(text: str) -> str:
    """Up to its last bracket."""
    end = text.rfind("\n}\n")
    return text[: end + 2] if end > 0 else text


def _precedes(before: Any, last: Any) -> bool:
    """Did fio write it of the same jobs? Then none has done more than later."""
    if not (isinstance(before, dict) and isinstance(last, dict)):
        return False
    return _done(before).keys() == _done(last).keys() and all(done <= _done(last)[key] for key, done in _done(before).items())


def _done(document: dict[str, Any]) -> dict[object, float]:
    """By place, name and direction of a job, the operations it has done; the document has not been checked."""
    found: dict[object, float] = {}
    jobs = document.get("jobs")
    for index, job in enumerate(jobs if isinstance(jobs, list) else ()):
        for name in ("read", "write", "trim"):
            part = job.get(name) if isinstance(job, dict) else None
            count = part.get("total_ios") if isinstance(part, dict) else None
            found[index, str(job.get("jobname")) if isinstance(job, dict) else "", name] = count if type(count) is int else 0
    return found


def nested(value: Any, place: Place = ()) -> Iterator[tuple[Any, Place]]:
    """The value and all in it, each before what it holds; as deep as JSON may be."""
    yield value, place
    open_ = [(_items(value), place)]
    while open_:
        items, at = open_[-1]
        found = next(items, None)
        if found is None:
            open_.pop()
            continue
        key, item = found
        yield item, at + (key,)
        if isinstance(item, (dict, list)):
            open_.append((_items(item), at + (key,)))


def values(value: Any) -> Iterator[Any]:
    """The same values in the same order, without their places: three times as fast."""
    left = [value]
    while left:
        item = left.pop()
        yield item
        if isinstance(item, dict):
            left.extend(reversed(item.values()))
        elif isinstance(item, list):
            left.extend(reversed(item))


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value) if isinstance(value, list) else ())


def _beyond(value: Any) -> bool:
    return (value.__class__ is int or value.__class__ is float) and abs(value) > MAX_NUMBER


def check_numbers(source: Source, value: Any, place: Place = ()) -> None:
    """Numbers are those that something could have measured, which a schema cannot express."""
    if not any(_beyond(item) for item in values(value)):
        return
    for number, at in nested(value, place):
        if _beyond(number):
            text = f"is {quoted(number)}: no such measurement exists"
            raise BadResult(source.name, place_text(at), text)
