# SPDX-License-Identifier: BSD-3-Clause
"""The shell between sshd and a program: what it passes on, and how it ends the program."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rpma_report.studies import remote

LIMIT_S = 60


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Locks of its own."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    yield tmp_path


def start(*words: str, given: bytes = b"") -> "subprocess.Popen[bytes]":
    """Does with the line what sshd does: gives it to a shell. Standard input stays open."""
    line = remote.over_ssh(["ssh"], "target", words, len(given))[-1]
    process = subprocess.Popen(["sh", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, bufsize=0)  # fmt: skip
    assert process.stdin
    process.stdin.write(given)
    return process


def told(process: "subprocess.Popen[bytes]") -> bytes:
    """Its output up to the end, while its input is still open."""
    assert process.stdout
    output = process.stdout.read()
    process.wait(LIMIT_S)
    assert process.stdin
    process.stdin.close()
    return output


def is_gone(pid: int) -> bool:
    """Waits for the end of a process that is not ours."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(fd) as file:
        return bool(select.select([file], [], [], LIMIT_S)[0])


def test_program_gets_its_input_its_end_and_its_words(home: Path) -> None:
    data = bytes(range(256)) * 1000
    script = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d + repr(sys.argv[1:]).encode())"
    process = start(sys.executable, "-c", script, "a b", "$(x)", "it's", given=data)
    assert told(process) == data + repr(["a b", "$(x)", "it's"]).encode() and process.returncode == 0


@pytest.mark.parametrize("code", [0, 1, 2, 255])
def test_exit_code_is_that_of_the_program(code: int, home: Path) -> None:
    process = start("sh", "-c", f"exit {code}")
    assert told(process) == b"" and process.returncode == code


def test_end_of_input_ends_the_program_and_what_it_started(home: Path) -> None:
    process = start("sh", "-c", "sleep 1000 & echo $! $$; wait")
    assert process.stdin and process.stdout
    pids = [int(word) for word in process.stdout.readline().split()]
    process.stdin.close()
    assert process.wait(LIMIT_S) == 128 + signal.SIGTERM
    assert all(is_gone(pid) for pid in pids)


def test_next_run_waits_for_the_end_of_the_one_left_behind(home: Path) -> None:
    """The first ignores SIGTERM until it is told to end, as one that tidies up."""
    os.mkfifo(home / "gate")
    stubborn = f"trap '' TERM; echo ready; read x < {home}/gate; echo first >> {home}/order"
    first = start("sh", "-c", stubborn)
    assert first.stdin and first.stdout and first.stdout.readline() == b"ready\n"
    first.stdin.close()
    second = start("sh", "-c", f"echo second >> {home}/order")
    assert not (home / "order").exists()
    (home / "gate").write_text("\n")
    told(second)
    assert second.returncode == 0 and (home / "order").read_text() == "first\nsecond\n"
    first.wait(LIMIT_S)


def test_host_without_a_home_still_measures(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "nowhere"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    process = start("echo", "measured")
    assert told(process) == b"measured\n"
