# SPDX-License-Identifier: BSD-3-Clause
"""A JSON Schema as one function that tells whether a value fits, without saying why.

It is for results of thousands of points, which fit: jsonschema, which explains, takes
seconds for them. A part of a schema with a keyword that is not known here is left to
jsonschema, so both always decide alike.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Fits = Callable[[Any], bool]
# Gives what decides of a part of a schema that this file does not know.
Other = Callable[[Any], Fits]

_SAID = {"description", "title", "$comment", "$schema", "$defs", "$id"}  # decide nothing
_KNOWN = {"type", "$ref", "properties", "required", "additionalProperties", "items", "enum", "const", "pattern",
          "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
          "maxItems", "oneOf", "anyOf", "allOf", "not"}  # fmt: skip
_TIED = {"prefixItems", "patternProperties"}  # decide what their neighbours apply to


def _is_number(value: Any) -> bool:
    return value.__class__ is int or value.__class__ is float


# Loops, as a generator in all() or any() costs more than what most parts do.


def _all_of(parts: Sequence[Fits]) -> Fits:
    def fits(value: Any) -> bool:
        for part in parts:
            if not part(value):
                return False
        return True

    return fits


def _any_of(parts: Sequence[Fits]) -> Fits:
    def fits(value: Any) -> bool:
        for part in parts:
            if part(value):
                return True
        return False

    return fits


def _all_items(item: Fits) -> Fits:
    def fits(value: Any) -> bool:
        if isinstance(value, list):
            for one in value:
                if not item(one):
                    return False
        return True

    return fits


_TYPES: Mapping[str, Fits] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "number": _is_number,
    "integer": lambda v: _is_number(v) and (isinstance(v, int) or v.is_integer()),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}
_LIMITS: Mapping[str, tuple[Fits, Callable[[Any, Any], bool]]] = {
    "minimum": (_is_number, lambda v, limit: v >= limit),
    "maximum": (_is_number, lambda v, limit: v <= limit),
    "exclusiveMinimum": (_is_number, lambda v, limit: v > limit),
    "exclusiveMaximum": (_is_number, lambda v, limit: v < limit),
    "minLength": (_TYPES["string"], lambda v, limit: len(v) >= limit),
    "maxLength": (_TYPES["string"], lambda v, limit: len(v) <= limit),
    "minItems": (_TYPES["array"], lambda v, limit: len(v) >= limit),
    "maxItems": (_TYPES["array"], lambda v, limit: len(v) <= limit),
}


class Compiler:
    def __init__(self, root: Any, matches: Callable[[str, str], bool], other: Other) -> None:
        self._root, self._matches, self._other = root, matches, other
        self._refs: dict[str, Fits] = {}

    def fits(self, schema: Any) -> Fits:
        if isinstance(schema, bool):
            return lambda _: schema
        rest = {key: wanted for key, wanted in schema.items() if self._is_strange(key, wanted)}
        if rest.keys() & _TIED:
            return self._other(schema)
        keys = [key for key in schema if key not in rest and key not in _SAID]
        parts = [self._part(key, schema[key], schema) for key in keys] + ([self._other(rest)] if rest else [])
        if len(parts) == 1:
            return parts[0]
        return _all_of(parts)

    def _is_strange(self, key: str, wanted: Any) -> bool:
        """Numbers among the values of enum and const are equal in ways of their own: true is not 1."""
        if key in ("enum", "const"):
            return not all(value is None or isinstance(value, str) for value in (wanted if key == "enum" else [wanted]))
        return key not in _KNOWN and key not in _SAID or key == "$ref" and not wanted.startswith("#/")

    def _part(self, key: str, wanted: Any, schema: dict[str, Any]) -> Fits:
        match key:
            case "type":
                return self._type(wanted)
            case "$ref":
                return self._ref(wanted)
            case "properties":
                return self._properties(wanted)
            case "required":
                return lambda v: not isinstance(v, dict) or all(name in v for name in wanted)
            case "additionalProperties":
                known, fits = frozenset(schema.get("properties", ())), self.fits(wanted)
                return lambda v: not isinstance(v, dict) or all(fits(v[name]) for name in v if name not in known)
            case "items":
                return _all_items(self.fits(wanted))
            case "enum" | "const":
                values = frozenset(wanted) if key == "enum" else frozenset([wanted])
                return lambda v: (v is None or isinstance(v, str)) and v in values
            case "pattern":
                return lambda v: not isinstance(v, str) or self._matches(wanted, v)
            case "not":
                denied = self.fits(wanted)
                return lambda v: not denied(v)
            case "oneOf" | "anyOf" | "allOf":
                return self._several(key, [self.fits(one) for one in wanted])
        applies, holds = _LIMITS[key]
        return lambda v: not applies(v) or holds(v, wanted)

    def _type(self, wanted: str | list[str]) -> Fits:
        if isinstance(wanted, str):
            return _TYPES[wanted]
        return _any_of([_TYPES[name] for name in wanted])

    def _ref(self, target: str) -> Fits:
        """A referred schema may refer back: it is made when it is first needed."""

        def fits(value: Any) -> bool:
            if target not in self._refs:
                found = self._root
                for name in target[2:].split("/"):
                    found = found[name]
                self._refs[target] = self.fits(found)
            return self._refs[target](value)

        return fits

    def _properties(self, wanted: dict[str, Any]) -> Fits:
        parts = [(name, self.fits(schema)) for name, schema in wanted.items()]

        def fits(value: Any) -> bool:
            if isinstance(value, dict):
                for name, part in parts:
                    if name in value and not part(value[name]):
                        return False
            return True

        return fits

    def _several(self, key: str, parts: Sequence[Fits]) -> Fits:
        if key == "oneOf":
            return lambda v: sum(1 for fits in parts if fits(v)) == 1
        return _any_of(parts) if key == "anyOf" else _all_of(parts)
