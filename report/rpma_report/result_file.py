# SPDX-License-Identifier: BSD-3-Clause
"""Reads a result file and refuses whatever is not a sound rpma-bench/1 result.

Called once per file by cli.create. A file is untrusted: it may be truncated,
huge, of another program, or written to do harm. Every refusal is a BadResult
whose text is one line naming the file and the place in it.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import jsonschema
from jsonschema.exceptions import ValidationError

from rpma_report.failure import Failure
from rpma_report.text import shown

SCHEMA_NAME = "rpma-bench"
SCHEMA_MAJOR = 1
SCHEMA_FILE = "rpma-bench-1.schema.json"

LATENCIES = ("latency", "response_latency", "read_latency")

# A run of 1,000 points with full histograms is below 30 MiB.
MAX_FILE_BYTES = 64 << 20
# Nanoseconds, bytes and rates beyond a signed 64-bit number are no measurement.
MAX_NUMBER = 2.0**63

Place = tuple[str | int, ...]


class BadResult(Failure):
    """A file that cannot be used, in one line."""

    def __init__(self, name: str, place: str, text: str) -> None:
        super().__init__(f"{shown(name)}: {place}: {text}" if place else f"{shown(name)}: {text}")


class SchemaMissing(Failure):
    """The installation lacks the JSON Schema."""


def place_text(place: Place) -> str:
    """('points', 3, 'id') is points[3].id."""
    parts = (f"[{p}]" if isinstance(p, int) else f".{shown(p, 60)}" for p in place)
    return "".join(parts).lstrip(".") or "top level"


def read_result(path: Path) -> tuple[dict[str, Any], str]:
    """The checked document and the SHA-256 of the file."""
    name = str(path)
    data = _read_bytes(path, name)
    document = _parse(name, data)
    _check_kind(name, document)
    buckets = list(_take_buckets(document))
    _check_schema(name, document)
    for histogram, place, taken in buckets:
        _check_buckets(name, place + ("buckets",), taken)
        histogram["buckets"] = taken
    for index, point in enumerate(document["points"]):
        _check_point(name, ("points", index), point)
    return document, hashlib.sha256(data).hexdigest()


def _read_bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadResult(name, "", f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES >> 20} MiB"
        raise BadResult(name, "", f"is larger than {limit}, no rpma-bench result is")
    if not data.strip():
        raise BadResult(name, "", "is empty")
    return data


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"number {shown(text, 40)} is too large")
    return value


def _parse(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadResult(name, f"byte {error.start}", "is not UTF-8 text") from error
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        why = "the file ends in mid-value (truncated?)" if cut else f"not JSON: {error.msg}"
        raise BadResult(name, place, why) from error
    except RecursionError as error:
        raise BadResult(name, "", "not a result: values are nested too deeply") from error
    except ValueError as error:
        text = "a number has too many digits" if "digits" in str(error) else shown(error)
        raise BadResult(name, "", f"not JSON: {text}") from error


def _check_kind(name: str, document: Any) -> None:
    """Is it ours at all, and of a version this program reads?"""
    if not isinstance(document, dict) or "schema" not in document:
        raise BadResult(name, "top level", 'not an rpma-bench result: no "schema" key')
    schema = document["schema"]
    match = re.fullmatch(r"([a-z0-9-]+)/([0-9]{1,6})", schema) if isinstance(schema, str) else None
    if not match or match[1] != SCHEMA_NAME:
        raise BadResult(name, "schema", f"is {_quoted(schema)}, not {SCHEMA_NAME}/{SCHEMA_MAJOR}")
    if int(match[2]) != SCHEMA_MAJOR:
        age = "a newer" if int(match[2]) > SCHEMA_MAJOR else "an older"
        raise BadResult(
            name, "schema", f"is {schema}, of {age} rpma-bench; this program reads "
            f"{SCHEMA_NAME}/{SCHEMA_MAJOR}: use the rpma-report of that version"
        )  # fmt: skip


def _quoted(value: object) -> str:
    try:
        return shown(json.dumps(value, ensure_ascii=False), 60)
    except RecursionError:
        return "a deeply nested value"


def _take_buckets(document: Any) -> Iterator[tuple[dict[str, Any], Place, Any]]:
    """Moves the buckets out of every histogram: the general check is too slow for them."""
    points = document.get("points")
    for index, point in enumerate(points if isinstance(points, list) else ()):
        if not isinstance(point, dict):
            continue
        at: Place = ("points", index)
        repeats = point.get("repeats")
        for number, repeat in enumerate(repeats if isinstance(repeats, list) else ()):
            for key in LATENCIES:
                yield from _take(repeat, at + ("repeats", number), key, "histogram")
        for key in LATENCIES:
            yield from _take(point.get("summary"), at + ("summary",), key, "merged_histogram")


def _take(
    holder: Any, place: Place, key: str, name: str
) -> Iterator[tuple[dict[str, Any], Place, Any]]:
    latency = holder.get(key) if isinstance(holder, dict) else None
    histogram = latency.get(name) if isinstance(latency, dict) else None
    if isinstance(histogram, dict) and isinstance(histogram.get("buckets"), list):
        taken, histogram["buckets"] = histogram["buckets"], []
        yield histogram, place + (key, name), taken


def _check_buckets(name: str, place: Place, buckets: list[Any]) -> None:
    last = -1
    low: int
    count: int
    for index, bucket in enumerate(buckets):
        match bucket:
            case [int(low), int(count)] if last < low < MAX_NUMBER and 0 < count < MAX_NUMBER:
                last = low
            case _:
                text = "is not an ascending [low_ns, count] pair of integers"
                raise BadResult(name, place_text(place + (index,)), text)


@cache
def _validator() -> Any:
    package = Path(__file__).resolve().parent
    for folder in (package / "schema", package.parent / "schema"):
        if (folder / SCHEMA_FILE).is_file():
            schema = json.loads((folder / SCHEMA_FILE).read_text(encoding="utf-8"))
            return jsonschema.Draft202012Validator(schema)
    raise SchemaMissing(f"{SCHEMA_FILE} is not installed beside {package}")


def _check_schema(name: str, document: Any) -> None:
    try:
        error = next(_validator().iter_errors(document), None)
    except RecursionError as deep:
        raise BadResult(name, "", "not a result: values are nested too deeply") from deep
    while error is not None and error.context:
        # Of alternatives, the one that got furthest says what is meant.
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    if error is not None:
        raise BadResult(name, place_text(tuple(error.absolute_path)), _why(error))


def _why(error: ValidationError) -> str:
    value, wanted = _quoted(error.instance), error.validator_value
    match error.validator:
        case "required":
            missing = next(key for key in wanted if key not in error.instance)
            return f'key "{missing}" is missing'
        case "type":
            names = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"is {value}, should be of type {names}"
        case "enum":
            return f"is {value}, should be one of {_quoted(wanted)}"
        case "const":
            return f"is {value}, should be {_quoted(wanted)}"
        case "minimum":
            return f"is {value}, should be at least {wanted}"
        case "maximum":
            return f"is {value}, should be at most {wanted}"
        case _:
            return f"is {value}, which breaks the schema's rule {error.validator} {_quoted(wanted)}"


def _check_point(name: str, place: Place, point: dict[str, Any]) -> None:
    """What a schema cannot say: sizes of numbers, and sums that must agree."""
    _check_numbers(name, place, point)
    for index, repeat in enumerate(point["repeats"]):
        at = place + ("repeats", index)
        size = point["params"]["size_bytes"]
        due = None if size is None or _moves_nothing(point) else repeat["ops"] * size
        if repeat["bytes"] != due:
            text = f"is {repeat['bytes']}, but ops x size_bytes is {due}"
            raise BadResult(name, place_text(at + ("bytes",)), text)
        for key in LATENCIES:
            if repeat.get(key):
                _check_latency(name, at + (key,), repeat[key])


def _moves_nothing(point: dict[str, Any]) -> bool:
    return point["params"]["test"] in ("connect", "register")


def _check_latency(name: str, place: Place, latency: dict[str, Any]) -> None:
    counted = sum(count for _, count in latency["histogram"]["buckets"])
    if counted != latency["count"]:
        text = f"is {latency['count']}, but its histogram holds {counted}"
        raise BadResult(name, place_text(place + ("count",)), text)
    if latency["min_ns"] > latency["max_ns"]:
        raise BadResult(name, place_text(place + ("min_ns",)), "is above max_ns")


def _check_numbers(name: str, place: Place, value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "buckets":
                _check_numbers(name, place + (key,), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_numbers(name, place + (index,), item)
    elif isinstance(value, (int, float)) and abs(value) > MAX_NUMBER:
        raise BadResult(name, place_text(place), f"is {_quoted(value)}: no such measurement exists")
