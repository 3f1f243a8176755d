# SPDX-License-Identifier: BSD-3-Clause
"""Files that are no sound result: one line naming file and place, exit code 2."""

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write, refused
from edits import at

GOOD = sample.result([sample.lat_point(0, 64, count=2000), sample.bw_point(1, 64)])


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    at(document, path[:-1])[path[-1]] = value
    return document


def without(*path: str | int) -> dict[str, Any]:
    document = changed(path, None)
    del at(document, path[:-1])[path[-1]]
    return document


TEXT = json.dumps(GOOD).encode()
REPEAT = ("points", 0, "repeats", 1)
SPAN = {"t_ns": 5, "ops": 1, "bytes": 64}
LATENCY = ("points", 0, "repeats", 1, "latency")

NOT_JSON: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "truncated": (TEXT[: len(TEXT) // 2], "truncated?"),
    "last brace missing": (TEXT[:-1], "truncated?"),
    "rubbish": (b'{\n "schema": oops}', "line 2 column 12: not JSON"),
    "two documents": (TEXT + b"\n{}", "line 2 column 1: not JSON: expected the end of the file behind the value"),
    "not UTF-8": (b'{"schema": "\xff"}', "byte 12: is not UTF-8"),
    "binary": (bytes(range(128, 256)) * 50, "byte 0: is not UTF-8"),
    "NaN": (TEXT.replace(b'"seed": 42', b'"seed": NaN'), "NaN is not a JSON number"),
    "infinity": (TEXT.replace(b'"seed": 42', b'"seed": -Infinity'), "-Infinity is not"),
    "1e999": (TEXT.replace(b'"seed": 42', b'"seed": 1e999'), "number 1e999 is too large"),
    "endless number": (b'{"schema": ' + b"1" * 100_000 + b"}", "too many digits"),
    "key with two values": (TEXT.replace(b'"seed": 42', b'"seed": 42, "seed": 43'),
                            'key "seed" is there twice in one object, with two values'),
    "hostile key": (b'{"\\u001b<b>": 1, "\\u001b<b>": 2}', 'key "\\u001b<b>" is there twice'),
    "deep array": (b"[" * 200_000, "nested too deeply"),
    "deep object": (b'{"a":' * 200_000, "nested too deeply"),
}

NOT_A_RESULT: dict[str, tuple[Any, str]] = {
    "array": ([], "top level: is [], expected an object"),
    "perftest": ({"test_info": {"test": "RDMA_Write_Latency_Test"}, "results": {"t_avg": 1.7}},
                 "line 1: expected a name and its value"),
    "foreign JSON": ({"latency": 5}, 'top level: is not a result: it has no "schema" key and is not of fio'),
    "other tool": ({"schema": "rpma-pong/1"}, 'schema: is "rpma-pong/1", not one of rpma-bench/1'),
    "newer ping": ({"schema": "rpma-ping/7"}, "of a newer rpma-ping"),
    "fio without jobs": ({"fio version": "fio-3.33"}, 'top level: key "jobs" is missing'),
    "newer major": ({"schema": "rpma-bench/2"}, "of a newer rpma-bench"),
    "older major": ({"schema": "rpma-bench/0"}, "of an older rpma-bench"),
    "schema no text": ({"schema": {"a": ["b"]}}, 'schema: is {"a": ["b"]}, not one of rpma-bench/1'),
    "schema hostile": ({"schema": "\x1b[31m\n" * 1000}, "not one of rpma-bench/1"),
    "only schema": ({"schema": "rpma-bench/1"}, 'top level: key "tool" is missing'),
    "newline after an id": (changed(("points", 0, "id"), "p0000\n"), 'points[0].id: is "p0000\\n", which breaks'),
    "no digits of time": (changed(("run", "started"), GOOD["run"]["started"].replace("1", "\u0661")),
                          "run.started: is "),
    "no points": (without("points"), 'top level: key "points" is missing'),
    "points no list": (changed(("points",), {}), "points: is {}, should be of type array"),
    "no size": (without("points", 1, "params", "size_bytes"),
                'points[1].params: key "size_bytes" is missing'),
    "size 0": (changed(("points", 0, "params", "size_bytes"), 0),
               "points[0].params.size_bytes: is 0, should be at least 1"),
    "huge time": (changed((*LATENCY, "max_ns"), 10**30),
                  "points[0].repeats[1].latency.max_ns: is 1000000000000000000000000000000"),
    "huge mean": (changed(("points", 1, "summary", "bytes_per_s", "mean"), 1e308),
                  "points[1].summary.bytes_per_s.mean: is 1e+308: no such measurement"),
    "min above max": (changed((*LATENCY, "min_ns"), 10**12), "latency.min_ns: is above max_ns"),
    "buckets unordered": (changed((*LATENCY, "histogram", "buckets"), [[8, 1], [4, 1]]),
                          "latency.histogram.buckets[1]: is not an ascending"),
    "bucket no pair": (changed((*LATENCY, "histogram", "buckets"), [[8, 1, 2]]),
                       "latency.histogram.buckets[0]: is not an ascending"),
    "span without a time": (changed((*REPEAT, "intervals"), [{"ops": 1, "bytes": 1}]),
                            "points[0].repeats[1].intervals[0]: is not a span"),
    "spans unordered": (changed((*REPEAT, "intervals"), [SPAN, SPAN]), "intervals[1]: is not a span"),
    "span negative": (changed((*REPEAT, "intervals"), [{**SPAN, "p99_ns": -1}]), "intervals[0]: is not a span"),
    "endless environment": (changed(("environment", "client"), {str(i): [i] for i in range(6000)}),
                            "environment: has more than 10,000 values, the limit for a result"),
    "endless list of facts": (changed(("environment", "server", "nic"), [{}] * 10_000), "environment: has more"),
    "long text for number": (changed(("run", "seed"), "x" * 1_000_000), "run.seed: is"),
}  # fmt: skip


@pytest.mark.parametrize("data, part", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_not_json(data: bytes, part: str, quick: Command, write: Write, tmp_path: Path) -> None:
    refused(quick("create", write(data), "-o", tmp_path / "out.html"), "result.json", part)
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize("document, part", NOT_A_RESULT.values(), ids=NOT_A_RESULT.keys())
def test_not_a_result(
    document: Any, part: str, quick: Command, write: Write, tmp_path: Path
) -> None:
    done = quick("create", write(document), "-o", tmp_path / "out.html")
    refused(done, "result.json: ", part)
    assert "\x1b" not in done.stderr
    assert not (tmp_path / "out.html").exists()


def test_key_with_the_same_value_twice_loses_nothing(quick: Command, write: Write) -> None:
    assert quick("validate", write(TEXT.replace(b'"seed": 42', b'"seed": 42, "seed": 42'))).returncode == 0


def test_huge_file_is_not_read_to_its_end(quick: Command, tmp_path: Path) -> None:
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(1 << 40)  # sparse: no room is taken
    refused(quick("create", huge, "-o", tmp_path / "out.html"), "huge.json: is larger than 64 MiB")


def test_file_that_would_fill_the_memory(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(b'{"schema": "rpma-bench/1", "x": [' + b"[]," * 6_000_000 + b"[]]}")
    refused(quick("create", path, "-o", tmp_path / "out.html"), "more than 6,000,000 lists and objects")


def test_compressed_file_is_read(quick: Command, write: Write) -> None:
    assert quick("validate", write(gzip.compress(TEXT), "r.json.gz")).returncode == 0


NOT_GZIP = {
    "cut off": (gzip.compress(TEXT)[:-9], "ends early"),
    "damaged": (gzip.compress(TEXT)[:60] + b"\xff" * 60, "is not sound gzip data"),
    "of nothing": (gzip.compress(b""), "is empty"),
    "of gigabytes": (gzip.compress(b" " * (65 << 20)), "is larger than 64 MiB when unpacked"),
}


@pytest.mark.parametrize("data, part", NOT_GZIP.values(), ids=NOT_GZIP.keys())
def test_not_gzip(data: bytes, part: str, quick: Command, write: Write) -> None:
    refused(quick("validate", write(data, "r.json.gz")), "r.json.gz", part)


@pytest.mark.parametrize(
    "make, part",
    [(lambda p: p / "absent.json", "cannot be read: No such file or directory"),
     (lambda p: p, "cannot be read: Is a directory")],
    ids=["absent", "directory"],
)  # fmt: skip
def test_unreadable(
    make: Callable[[Path], Path], part: str, quick: Command, tmp_path: Path
) -> None:
    refused(quick("create", make(tmp_path), "-o", tmp_path / "out.html"), part)


def test_keys_of_a_later_minor_version_are_ignored(
    quick: Command, write: Write, tmp_path: Path
) -> None:
    document = changed(("run", "mood"), {"deep": [1, {"er": None}]})
    document["points"][0]["novelty"] = "yes"
    done = quick("create", write(document), "-o", tmp_path / "out.html")
    assert (done.returncode, done.stderr) == (0, "")
