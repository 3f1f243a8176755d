# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --adversary, with a stub in the place of the device: the seed, and how to repeat a run."""

import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest
from test_launcher import CLEAN, Run, make_device, run, show

LIMIT_S = 60
STARTED = re.compile(r"(?m)^rpma-soft: --adversary=(\d+) repeats this run$")
FAILED = re.compile(r"(?m)^rpma-soft: (.+); this repeats the run: (.+)$")


@pytest.fixture(name="launcher", scope="session")
def make_launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_device(tmp_path_factory.mktemp("device"))


def seed_of(done: Run) -> str:
    found = STARTED.findall(done.stderr)
    assert len(found) == 1, done.stderr
    return str(found[0])


def repeating(done: Run) -> tuple[str, list[str]]:
    """What became of the command, and the command that repeats it."""
    found = FAILED.findall(done.stderr)
    assert len(found) == 1, done.stderr
    return found[0][0], shlex.split(found[0][1])


def test_the_seed_is_printed_and_becomes_a_word(launcher: Path) -> None:
    assert show(launcher, "RPMA_SOFT", "--adversary=18446744073709551615", "-v") == (
        "adversary:18446744073709551615 verbose"
    )
    assert seed_of(run(launcher, "--adversary=5", "true")) == "5"


def test_without_a_seed_there_is_a_random_one(launcher: Path) -> None:
    runs = [run(launcher, "--adversary", "printenv", "RPMA_SOFT") for _ in range(3)]
    seeds = [seed_of(done) for done in runs]
    assert [done.stdout for done in runs] == [f"adversary:{seed}\n" for seed in seeds]
    assert len(set(seeds)) > 1


def test_a_success_says_no_more(launcher: Path) -> None:
    done = run(launcher, "--adversary=5", "sh", "-c", "echo out; echo err >&2")
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert FAILED.search(done.stderr) is None and "err\n" in done.stderr


def test_a_failure_comes_with_the_command_that_repeats_it(launcher: Path) -> None:
    words = ["sh", "-c", "echo \"it's $1\"; exit 3", "sh", "a b"]
    done = run(launcher, "-v", "--adversary", *words, RPMA_SOFT="seed:3 transport:local")
    ended, command = repeating(done)
    assert (done.returncode, done.stdout, ended) == (3, "it's a b\n", "sh ended with status 3")
    assert command == ["RPMA_SOFT=seed:3 transport:local", str(launcher), f"--adversary={seed_of(done)}", "-v", *words]
    again = run("env", *command)
    assert (again.returncode, again.stdout) == (3, "it's a b\n")
    assert (seed_of(again), repeating(again)[1]) == (seed_of(done), command)


def test_a_command_that_a_signal_ends_ends_the_launcher_so(launcher: Path) -> None:
    done = run(launcher, "--adversary=5", "sh", "-c", "kill -ABRT $$")
    assert done.returncode == -signal.SIGABRT
    assert repeating(done)[0] == f"sh was ended by signal {int(signal.SIGABRT)} (Aborted)"


def start(launcher: Path, *words: str) -> subprocess.Popen[str]:
    clean = {key: value for key, value in os.environ.items() if key not in CLEAN}
    return subprocess.Popen([launcher, "--adversary=5", *words], env=clean, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip


def test_a_signal_to_the_launcher_reaches_the_command(launcher: Path) -> None:
    script = "trap 'exit 4' TERM; echo ready; while :; do sleep 0.01; done"
    with start(launcher, "sh", "-c", script) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.terminate()
        try:
            assert process.wait(LIMIT_S) == 4
        finally:
            process.kill()


def is_there(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def test_a_command_does_not_outlive_its_launcher(launcher: Path) -> None:
    with start(launcher, "sh", "-c", "echo $$; exec sleep 600") as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
        deadline = time.monotonic() + LIMIT_S
        while is_there(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not is_there(pid)
