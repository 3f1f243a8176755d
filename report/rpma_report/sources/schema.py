# SPDX-License-Identifier: BSD-3-Clause
"""Checks a document against one of the JSON Schemas, and explains in a sentence what breaks it."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError

from rpma_report.failure import Failure
from rpma_report.sources.document import BadResult, Place, Source, place_text, quoted
from rpma_report.sources.quick_schema import Compiler, Fits

BENCH = "rpma-bench-1.schema.json"


class SchemaMissing(Failure):
    """The installation lacks the JSON Schema."""


@cache
def schema(file: str) -> dict[str, Any]:
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "schema", package.parent / "schema"):
        if (folder / file).is_file():
            found: dict[str, Any] = json.loads((folder / file).read_text(encoding="utf-8"))
            return found
    raise SchemaMissing(f"{file} is not installed beside {package}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """In ECMA's sense, which is JSON Schema's: no newline after $, and digits are 0 to 9."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern), re.ASCII)


def _pattern(_: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _compiled(pattern).search(instance):
        yield ValidationError(f"{quoted(instance)} does not match {pattern}")


_Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})


@cache
def _validator(file: str) -> Any:
    return _Validator(schema(file))


@cache
def _fits(file: str) -> Fits:
    def other(part: Any) -> Fits:
        validator = _validator(file).evolve(schema=part)
        return lambda value: bool(validator.is_valid(value))

    def matches(pattern: str, text: str) -> bool:
        return _compiled(pattern).search(text) is not None

    return Compiler(schema(file), matches, other).fits(schema(file))


def check_schema(source: Source, file: str, at: Place = (), value: Any = None) -> None:
    """Checks the whole document, or a value in it against a schema of its own."""
    document = source.document if value is None else value
    try:
        if _fits(file)(document):
            return
        error = next(_validator(file).iter_errors(document), None)
    except RecursionError as deep:
        raise BadResult(source.name, "", "not a result: values are nested too deeply") from deep
    while error is not None and error.context:
        # The alternative that matched furthest is the one that was meant.
        error = max(error.context, key=lambda e: (len(e.absolute_path), e.validator != "type"))
    if error is not None:
        raise BadResult(source.name, place_text(at + tuple(error.absolute_path)), why(error))


def why(error: ValidationError) -> str:
    value, wanted = quoted(error.instance), error.validator_value
    match error.validator:
        case "required":
            missing = next(key for key in wanted if key not in error.instance)
            return f'key "{missing}" is missing'
        case "type":
            names = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"is {value}, should be of type {names}"
        case "enum":
            return f"is {value}, should be one of {quoted(wanted)}"
        case "const":
            return f"is {value}, should be {quoted(wanted)}"
        case "minimum":
            return f"is {value}, should be at least {wanted}"
        case "maximum":
            return f"is {value}, should be at most {wanted}"
        case _:
            return f"is {value}, which breaks the schema's rule {error.validator} {quoted(wanted)}"
