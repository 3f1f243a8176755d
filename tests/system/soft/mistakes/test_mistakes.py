# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft -v names the mistakes of a program, and vendor_err is what the manual lists."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
MISTAKES = os.environ["SOFT_MISTAKES"]
TRANSPORTS = ["local", "tcp"]


def run(transport: str, *options: str, case: str | None = None) -> subprocess.CompletedProcess[str]:
    """The mistakes between two ends of one process, as if they were in two."""
    words = "forced-remote" if transport == "local" else "transport:tcp"
    environment = {**os.environ, "RPMA_SOFT": words, "TRANSPORT": transport}
    if case is not None:
        environment["RPMA_TEST_CASE"] = case
    done = subprocess.run([LAUNCHER, *options, MISTAKES], env=environment, capture_output=True,
                          text=True, timeout=100)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_each_mistake_is_named_with_its_object_and_number(transport: str) -> None:
    done = run(transport, "-v")
    expected = re.findall(r"(?m)^expect: (.*)$", done.stdout)
    assert len(expected) == 98 + 3  # three are told to both ends
    told = done.stderr.splitlines()
    assert [line for line in expected if line not in told] == [], done.stderr
    again = [line for line in told if "opcode 77 is not supported" in line]
    assert len(set(again)) == len(again) == 16
    assert [line.endswith("; more of these are not printed") for line in again] == [False] * 15 + [True]


@pytest.mark.parametrize(("options", "written", "read"), [((), "a", "b"), (("-f", "delay:time=500ms"), "c", "a")])
def test_a_delay_shows_memory_that_is_touched_too_early(options: tuple[str, ...], written: str, read: str) -> None:
    out = run("local", *options, case="memory_touched_before_the_completion").stdout
    assert f"written: {written}\n" in out and f"read at the post: {read}\n" in out


def test_without_verbose_nothing_is_printed() -> None:
    assert "rpma-soft:" not in run("local").stderr


def test_the_manual_lists_the_codes_of_completions() -> None:
    header = (ROOT / "soft_device/transport/vendor_err.h").read_text(encoding="utf-8")
    source = (ROOT / "soft_device/transport/vendor_err.c").read_text(encoding="utf-8")
    manual = (ROOT / "doc/rpma-soft.1").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"(VENDOR_\w+) = (\d+)", header))
    texts = {numbers[name]: text for name, text in re.findall(r'\[(VENDOR_\w+)\] =\s+"(.*)"', source) if text}
    section = manual[manual.index(".Sh COMPLETION ERRORS"):].split("\n.Sh ")[0]
    listed = re.findall(r"(?ms)^\.It (\d+)\n(.*?)(?=^\.(?:It|El))", section)
    assert {number: re.sub(r"\n\.(?:Fa|Dv) |\n", " ", text).strip() for number, text in listed} == texts
    assert set(numbers.values()) == {"0", *texts}
