# SPDX-License-Identifier: BSD-3-Clause
"""The quick check of a schema decides as jsonschema does, for what fits and for what does not."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

import sample
import sample_tests as made
import sample_tools as tools
from rpma_report.sources.quick_schema import Compiler
from rpma_report.sources.schema import _fits, _validator

ODD = [None, True, False, 0, 1, 1.0, -1, 0.5, 2**70, "", "x", "1", [], [1], {}, {"x": 1}]
TEN_US = range(10_000, 10_100)
DOCUMENTS = {
    "rpma-bench-1.schema.json": sample.result([
        sample.lat_point(0, 64, count=50), sample.bw_point(1, 64), made.load_point(2, 0.5, 0.5, TEN_US),
        made.rate_point(3, 1000.0, 900.0, TEN_US, TEN_US), made.mix_point(4, 0.5, TEN_US, TEN_US)]),
    "rpma-ping-1.schema.json": tools.ping(TEN_US),
    "rpma-ddio-check-1.schema.json": tools.ddio_check(),
    "fio-output.schema.json": tools.fio(tools.fio_job("w", TEN_US)),
}  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a document with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def changed(document: Any, draw: random.Random) -> Any:
    """One value replaced, left out or added somewhere."""
    other = copy.deepcopy(document)
    container, key = draw.choice(list(places(other)))
    match draw.randrange(4):
        case 0 if isinstance(container, dict):
            del container[key]
        case 1 if isinstance(container, dict):
            container["added"] = draw.choice(ODD)
        case 2 if isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        case _:
            container[key] = draw.choice(ODD)
    return other


@pytest.mark.parametrize("file", DOCUMENTS)
def test_it_decides_as_jsonschema_does_for_changed_documents(file: str) -> None:
    draw, seen = random.Random(file), set()
    assert _fits(file)(DOCUMENTS[file]) and _validator(file).is_valid(DOCUMENTS[file])
    for _ in range(150):
        document = changed(DOCUMENTS[file], draw)
        due = _validator(file).is_valid(document)
        assert _fits(file)(document) == due, json.dumps(document)[:2000]
        seen.add(due)
    assert seen == {True, False}


@pytest.mark.parametrize(
    "schema",
    [{"type": "integer"}, {"type": ["number", "null"]}, {"enum": [1, True]}, {"enum": ["x", None]}, {"const": 0},
     {"const": "1"}, {"minimum": 0, "exclusiveMaximum": 1}, {"minLength": 1}, {"maxItems": 0}, {"pattern": "^x$"},
     {"required": ["x"]}, {"properties": {"x": {"type": "string"}}}, {"additionalProperties": False},
     {"properties": {"x": {}}, "additionalProperties": False}, {"items": {"type": "string"}}, {"not": {"type": "null"}},
     {"oneOf": [{"type": "integer"}, {"minimum": 0}]}, {"anyOf": [False, {"type": "array"}]}, {"allOf": [True, {"const": "x"}]},
     {"prefixItems": [{"const": 2}], "items": False}, {"uniqueItems": True, "type": "array"},
     {"if": {"type": "object"}, "then": {"required": ["x"]}, "else": {"type": "null"}},
     {"$defs": {"d": {"type": "object", "additionalProperties": {"$ref": "#/$defs/d"}}}, "$ref": "#/$defs/d"}],
    ids=json.dumps,
)  # fmt: skip
def test_it_decides_as_jsonschema_does_for_odd_values(schema: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    quick = Compiler(schema, lambda pattern, text: pattern.strip("^$") == text,
                     lambda part: validator.evolve(schema=part).is_valid).fits(schema)  # fmt: skip
    assert [quick(value) for value in ODD] == [validator.is_valid(value) for value in ODD]
