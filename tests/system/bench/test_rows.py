# SPDX-License-Identifier: BSD-3-Clause
"""The keys of a repeat that rpma-bench checks (repeat_schema.c) are those of the published schema, and stand in one order
everywhere; the report reads no others."""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "report"), str(ROOT / "report/tests")]
BENCH = ROOT / "tools/rpma-bench"
COUNTS = re.findall(r"ROW\((\w+), \w+, \w+\)", (BENCH / "protocol/plain_counts.h").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "doc/schema/rpma-bench-1.schema.json").read_text(encoding="utf-8"))
ORDER = [*SCHEMA["$defs"]["repeat"]["properties"]]
# A table of C by its name: its keys with the table that each leads to, if any.
Table = dict[str, str]


def tables() -> dict[str, Table]:
    text = (BENCH / "result/repeat_schema.c").read_text(encoding="utf-8")
    text = text.replace("PLAIN_COUNT_ROWS(COUNT, PLAIN_COUNT_COMMA)", "".join(f'{{"{name}", NULL}}' for name in COUNTS))
    elements = dict(re.findall(r"struct schema (\w+) = \{NULL, SCHEMA_OBJECT, 0, (\w+)\}", text))
    found = {}
    for name, rows in re.findall(r"struct schema (\w+)\[\] = \{(.*?)\{0\},?\s*\};", text, re.DOTALL):
        keys = re.findall(r'\{"(\w+)",[^{}]*?&?(\w+|"[^"]*")\}', rows)
        found[name] = {key: elements.get(more, more) for key, more in keys}
    return found


def of_code(all_tables: dict[str, Table], name: str, prefix: str = "") -> Iterator[str]:
    for key, more in all_tables[name].items():
        yield prefix + key
        if more in all_tables:
            yield from of_code(all_tables, more, f"{prefix}{key}.")


def of_schema(part: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Properties of an object, of what it refers to, of each of several forms and of elements."""
    if "$ref" in part:
        yield from of_schema(SCHEMA["$defs"][part["$ref"].rpartition("/")[2]], prefix)
    for form in [*part.get("oneOf", ()), *part.get("anyOf", ()), *part.get("allOf", ())]:
        yield from of_schema(form, prefix)
    if isinstance(part.get("items"), dict):
        yield from of_schema(part["items"], prefix)
    for key, value in part.get("properties", {}).items():
        yield prefix + key
        yield from of_schema(value, f"{prefix}{key}.")


# Members that only one of the two has, and why.
OF_SERVER = {"cpu.client.load_fraction_measured"}  # the schema has one form for both ends
OF_RANKS = {"begin_unix_ns", "start_lag_ns", "threads.rank", "reverse.threads.rank"}  # rpma-bench-mpi adds them to the file
LATENCIES = ("latency.", "read_latency.", "response_latency.", "steps.latency.", "reverse.latency.")  # SCHEMA_LATENCY


def in_order(keys: list[str]) -> bool:
    places = [ORDER.index(key) for key in keys if key in ORDER]
    return len(places) > 5 and places == sorted(places)


def table(file: str, name: str) -> str:
    text = (BENCH / file).read_text(encoding="utf-8").partition(f"{name}[] = {{")[2].partition("};")[0]
    return re.sub(r"PLAIN_COUNT_ROWS\([^)]*\)", ", ".join(f'{{"{key}", REPEAT, "{key}"}}' for key in COUNTS), text)


def test_figures_have_one_order() -> None:
    assert [*tables()["repeat_fields"]] == [key for key in ORDER if key not in OF_RANKS]
    assert in_order([*SCHEMA["$defs"]["point"]["properties"]["summary"]["properties"]])
    assert in_order(re.findall(r'(?:REPEAT|LATENCY\("\w+"), "(\w+)', table("result/csv.c", "columns")))
    assert in_order(re.findall(r'\{"(\w+)', table("options/slo.c", "figures")))


def test_rows_and_schema_have_the_same_keys() -> None:
    code = set(of_code(tables(), "repeat_fields"))
    published = set(of_schema(SCHEMA["$defs"]["repeat"]))
    assert len(code) > 80
    assert code - published == set()
    assert {key for key in published - code if not key.startswith(LATENCIES)} == OF_RANKS | OF_SERVER


class Noting(dict[str, Any]):
    """An object of a document that notes which keys are asked for, with those that lead to it."""

    asked: set[str] = set()

    def __init__(self, value: dict[str, Any], path: str) -> None:
        super().__init__({key: noting(part, f"{path}{key}.") for key, part in value.items()})
        self.path = path

    def __getitem__(self, key: str) -> Any:
        self.asked.add(self.path + key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(self.path + key)
        return super().get(key, default)


def noting(value: Any, path: str = "") -> Any:
    if isinstance(value, list):
        return [noting(part, path) for part in value]
    return Noting(value, path) if isinstance(value, dict) else value


# Sides have one kind of latency, and percentiles no cv: the report looks there as it does where these are.
NOT_WRITTEN = ("reverse.read_latency", "reverse.response_latency", "percentiles.cv")


def test_the_report_reads_only_what_the_schema_has() -> None:
    pytest.importorskip("rpma_report.sources")  # a host with its base packages alone has not what it imports
    from rpma_report.sources import bench, redundancies
    from rpma_report.sources.document import Content, parsed
    from test_validate_redundancies import SOUND

    for make in SOUND.values():
        source = parsed(Content("r.json", "r.json", "", json.dumps(make())))
        bench.check_form(source)
        source = replace(source, document=noting(source.document))
        redundancies.check(source)
        bench.run(source)
    assert len(Noting.asked) > 300
    assert {key for key in Noting.asked - set(of_schema(SCHEMA)) if not key.endswith(NOT_WRITTEN)} == set()
