# SPDX-License-Identifier: BSD-3-Clause
"""Inputs in place of a regular file: pipes, with a writer and without."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import sample
from conftest import Command, Write, refused
from rpma_report import sources
from rpma_report.commands import verify
from rpma_report.failure import Failure
from rpma_report.sources import input_file
from test_study_plan import FIO, planned

RESULT = json.dumps(sample.result([sample.lat_point(0, 64, count=2000)])).encode()


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(input_file, "_WRITER_S", 0.0)
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    return path


def test_pipe_that_nobody_writes_to_is_refused(pipe: Path, quick: Command) -> None:
    for command in (("create", "-o", pipe.with_name("o.html")), ("compare", pipe), ("validate",)):
        done = quick(*command, pipe)
        refused(done, "pipe.json: cannot be read: it is a pipe without a writer")


def test_job_file_that_nobody_writes_to_is_refused(pipe: Path, quick: Command, write: Write) -> None:
    series = {key: FIO[key] for key in ("name", "tool", "axes")}
    plan = write(planned({**series, "job_file": str(pipe)}), "plan.json")
    refused(quick("validate", plan), "series[0].job_file: ", "a pipe without a writer")


def test_pipe_with_a_writer_is_waited_for(
    pipe: Path, quick: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However late it writes: here only once the reader has found nothing yet."""
    writer = os.fdopen(os.open(pipe, os.O_RDWR), "wb")  # opens both ends, so that it waits for no reader
    set_blocking = os.set_blocking

    def write_all() -> None:
        with writer:
            writer.write(RESULT)

    def found_nothing(descriptor: int, blocking: bool) -> None:
        set_blocking(descriptor, blocking)
        threading.Thread(target=write_all, daemon=True).start()

    monkeypatch.setattr(os, "set_blocking", found_nothing)
    assert quick("validate", pipe).returncode == 0


@pytest.mark.parametrize("kind", ["result", "plan"])
def test_pipe_is_read_once(kind: str, command: Command) -> None:
    text = RESULT.decode() if kind == "result" else json.dumps(planned(FIO))
    done = command("validate", "/dev/stdin", input=text)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith(", sound\n")


def test_output_of_a_command_is_a_result(command: Command, tmp_path: Path) -> None:
    """A shell passes <(cat result.json) so."""
    reader, writer = os.pipe()
    threading.Thread(target=lambda: open(writer, "wb").write(RESULT), daemon=True).start()
    page = tmp_path / "o.html"
    done = command("create", f"/dev/fd/{reader}", "-o", page, pass_fds=(reader,))
    os.close(reader)
    assert (done.returncode, done.stderr) == (0, "") and page.exists()


@pytest.mark.parametrize("read", [sources.load, verify._read])
def test_name_with_a_nul_byte_is_not_a_file_name(read: Callable[[Path], object]) -> None:
    """A shell cannot pass one; a plan of a study can."""
    with pytest.raises(Failure, match="is not a file name: it has a NUL byte$"):
        read(Path("a\0b.json"))


def test_mark_before_utf8_is_passed_over(write: Write, quick: Command) -> None:
    assert quick("validate", write(b"\xef\xbb\xbf" + RESULT)).returncode == 0


@pytest.mark.parametrize(
    "content, why",
    [(RESULT.decode().encode("utf-16"), "is UTF-16 text, expected UTF-8"), (b"hello", "not JSON: expected a value, such as an object that begins with {"),
     (b"{'a': 1}", "not JSON: expected a name in double quotes"), (b'{"a" 1}', "not JSON: expected a colon behind the name"),
     (b'{"a": 1 "b": 2}', "not JSON: expected a comma or the closing bracket"), (b"{} {}", "not JSON: expected the end of the file behind the value")],
)  # fmt: skip
def test_text_that_is_no_json_is_refused_in_plain_words(content: bytes, why: str, write: Write, quick: Command) -> None:
    refused(quick("validate", write(content)), why)
