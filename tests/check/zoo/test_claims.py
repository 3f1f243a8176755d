# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --check: what is durable by the platform, and messages that claim it by --check=durable-on-send."""

from __future__ import annotations

import re
import subprocess

import pytest
from programs import BUILT, HERE, LAUNCHER, Program, Run, run

RULE = "--check=durable-on-send"


@pytest.mark.parametrize("transport", ["local", "tcp"])
def test_a_message_before_the_flush_is_found(transport: str) -> None:
    program = Program("faulty", "answered_before_the_flush")
    expected = program.expected()
    done = run(program, RULE, f"--transport={transport}")
    assert [finding.identity for finding in done.findings()] == ["not-durable"], done.err
    finding = done.findings()[0]
    assert any(finding.names(f"{expected.function} {program.name}.c:{line}") for line in program.lines()), done.err
    assert finding.names(expected.about) and all(finding.names(word) for word in done.named()), done.err
    assert done.status == 99


def test_a_message_is_no_claim_unless_asked_for() -> None:
    done = run(Program("faulty", "answered_before_the_flush"), "--check")
    assert (done.status, done.findings()) == (0, []), done


@pytest.mark.parametrize("name", ["answered_after_the_flush", "durable_after_its_flush", "write_then_send"])
def test_nothing_is_said_about_a_right_one(name: str) -> None:
    done = run(Program("right", name), RULE)
    assert (done.status, done.findings()) == (0, []), done


def committed(*options: str) -> Run:
    done = subprocess.run([LAUNCHER, *options, BUILT / "zoo_committed"], capture_output=True, text=True, timeout=600)
    return Run(done.returncode, done.stdout, done.stderr)


def test_a_read_is_a_flush_where_ddio_is_off() -> None:
    done = committed("--check", "-f", "powerfail:at=1000000000,ddio=off")
    assert (done.status, done.findings()) == (0, []), done


def test_a_read_is_no_flush_where_ddio_is_on() -> None:
    done = committed("--check")
    assert done.status == 99 and [finding.identity for finding in done.findings()] == ["not-durable"], done
    line = next(n for n, text in enumerate((HERE / "committed.c").read_text().splitlines(), 1) if "/* HERE */" in text)
    assert done.findings()[0].names(f"post committed.c:{line}") and done.findings()[0].names("visible only"), done.err
    assert re.search(r"(?m)^== rpma-soft: not-durable at .*: seen 16 times$", done.err), done.err
