# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report validate: what each file is, or one line with its place."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tools
from rpma_report.sources import redundancies
from conftest import SOURCE, START, Command, Write
from rpma_report import terminal

PLAN = {"schema": "rpma-report-study/1", "name": "s", "series": [{"name": "a", "tool": "fio"}]}
SOUND = [
    (sample.result([sample.lat_point(0, 64, count=100)]), "rpma-bench/1"),
    (sample_tools.ping([1000, 1100, 1200]), "rpma-ping/1"),
    (sample_tools.ddio_check(), "rpma-ddio-check/1"),
    (sample_tools.fio(sample_tools.fio_job("a", range(1000, 1100))), "fio's json"),
    (PLAN, "rpma-report-study/1"),
]


@pytest.mark.parametrize("document, kind", SOUND)
def test_sound_file_is_named(document: dict[str, Any], kind: str, quick: Command, write: Write) -> None:
    path = write(document)
    done = quick("validate", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path}: {kind}, sound\n", "")


@pytest.mark.parametrize("document, _kind", SOUND[:-1])  # but in a plan one is a slip of the pen
def test_unknown_keys_are_ignored(document: dict[str, Any], _kind: str, quick: Command, write: Write) -> None:
    assert quick("validate", write({**document, "x-new": {"deep": [1, None]}})).returncode == 0


HOSTILE = "\x1b[2J</script>\u202e"
BROKEN: list[tuple[Any, tuple[str, ...]]] = [
    (b"\xff\xfe", ("UTF-16", "UTF-8")),
    ({"schema": HOSTILE * 100}, ("schema",)),
    ({**sample.result([]), "points": [{"id": HOSTILE}]}, ("points[0]",)),
    ({**sample.result([]), "device": {"name": "x", "kind": HOSTILE, "transport": None}}, ("device.kind",)),
    ({**PLAN, "schema": "rpma-report-study/2"}, ("schema", "rpma-report-study/1")),
]


@pytest.mark.parametrize("content, parts", BROKEN)
def test_broken_file_is_one_line_with_its_place(
    content: Any, parts: tuple[str, ...], quick: Command, write: Write
) -> None:
    done = quick("validate", write(content, "broken.json"))
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 600 and done.stderr.rstrip("\n").isprintable()
    assert all(part in done.stderr for part in ("broken.json: ", *parts)), done.stderr


def test_list_has_a_line_for_each_row(quick: Command) -> None:
    done = quick("validate", "--list")
    assert done.returncode == 0 and "rpma-bench side: bytes: ops x size_bytes\n" in done.stdout
    assert len(done.stdout.splitlines()) == len(redundancies.BENCH) + len(redundancies.OTHERS)


def test_nothing_to_validate_is_wrong_usage(quick: Command) -> None:
    done = quick("validate")
    assert done.returncode == 64 and "expected a file, or --list" in done.stderr


def test_every_file_is_looked_at(quick: Command, write: Write) -> None:
    paths = [write(b"{", "a.json"), write(sample.result([]), "b.json"), write({}, "c.json")]
    done = quick("validate", *paths)
    assert done.returncode == 2 and done.stderr.count("\n") == 2
    assert done.stdout == f"{paths[1]}: rpma-bench/1, sound\n"


def test_full_disk_under_standard_output_is_a_failure(write: Write) -> None:
    """In a process of its own: what is left in the buffer must not fail again at exit."""
    line = [*START, "validate", str(write(sample.result([])))]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with open("/dev/full", "w") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (
        2, "rpma-report: standard output cannot be written to: No space left on device\n"
    )  # fmt: skip


def test_closed_standard_output_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(terminal.NotWritten, match="standard output cannot be written to: it is closed"):
        terminal.say("words")


def test_terminal_without_unicode_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    terminal.say("5 \u00b5s \u2192 6 \u00b5s")
    assert written.getvalue() == b"5 \xb5s ? 6 \xb5s\n"


def test_schemas_are_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    folder = Path(__file__).parents[2] / "doc" / "schema"
    for path in folder.glob("*.json"):
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", sorted((SOURCE.parent / "doc/schema").glob("*.json")), ids=lambda f: f.name)
def test_patterns_are_anchored_where_the_reader_expects_it(file: Path) -> None:
    """It reads a $ at the end as ECMA does, and no other."""
    for pattern in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', file.read_text(encoding="utf-8")):
        told = json.loads(pattern)
        assert told.startswith("^") and told.endswith("$") and "$" not in told[:-1], told
