# SPDX-License-Identifier: BSD-3-Clause
"""The lines that a study prints of its progress."""

import io

import pytest

from rpma_report.studies.plan import Job
from rpma_report.studies.progress import Progress, bar, duration, estimate_s


def job(tool: str = "fio", subject: str = "s") -> Job:
    return Job("id", tool, (), (), b"", None, None, subject, 0)


@pytest.mark.parametrize(
    "seconds, text",
    [(None, "?"), (0, "0:00"), (59.6, "1:00"), (125, "2:05"), (3600, "1:00:00"), (100_000, "27:46:40")],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    "seconds, expected",
    [({}, None), ({"fio": [2, 10.0]}, 15.0), ({"fio": [2, 10.0], "rpma-bench": [1, 7.0]}, 17.0)],
)
def test_time_left_is_what_the_same_tool_took(seconds: dict[str, list[float]], expected: float | None) -> None:
    assert estimate_s([job(), job(), job("rpma-bench")], seconds) == expected


def test_bar_fills() -> None:
    assert bar(0, 8, None, "x") == "[" + "." * 24 + "] 0/8  ? left  x"
    assert bar(4, 8, 60, "x") == "[" + "#" * 12 + "." * 12 + "] 4/8  1:00 left  x"
    assert bar(8, 8, 0, "x").startswith("[" + "#" * 24 + "] 8/8")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminal_has_a_bar_in_one_line_and_failures_in_lines_of_their_own() -> None:
    stream = Terminal()
    progress = Progress(2, stream)
    progress.begin(0, None, job(subject="first"))
    progress.end(1, job(subject="first"), "measured")
    progress.begin(1, 3.0, job(subject="second"))
    progress.end(1, job(subject="second"), "failed: no device")
    progress.close()
    assert stream.getvalue().count("\n") == 1
    assert "\r[............" in stream.getvalue() and "1/2 second: failed: no device\n" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_file_has_a_line_each_measurement() -> None:
    stream = io.StringIO()
    progress = Progress(2, stream)
    progress.begin(0, None, job(subject="first"))
    progress.tick(0, None, job(subject="first"))
    progress.end(1, job(subject="first"), "measured")
    progress.close()
    assert stream.getvalue() == "1/2 first: measured\n"
