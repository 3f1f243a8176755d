# SPDX-License-Identifier: BSD-3-Clause
"""A process that may open few files, or start few threads: whichever call is the one too many, the
run ends as a run that failed, and the message has the limit to raise. It is never an internal error.
"""

import json
import os
import re
import resource
import subprocess
from collections.abc import Callable

import pytest
from pinging import LIMIT_S, PING, command, for_others, served, server, soft

BENCH = os.environ["RPMA_BENCH"]
CHECK = os.environ["RPMA_DDIO_CHECK"]
MEASURE = ["--device", "soft", "--test=lat", "--op=write", "--persist=none", "--duration=10ms", "--warmup=0s",
           "--repeats=1", "--quiet"]  # fmt: skip
# below it not even the loader opens a library; with so many all of these work
FILES = range(4, 64)


def limited(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


def ended(words: list[str], kind: int, most: int) -> tuple[int, str]:
    """Status and messages; of a server that listens, 0."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=soft(),
                          preexec_fn=limited(kind, most)) as it:  # fmt: skip
        assert it.stdout is not None and it.stderr is not None
        if "listening on" in (first := it.stdout.readline()):
            it.kill()
            return 0, ""
        _, err = it.communicate(timeout=LIMIT_S)
        return it.returncode, first + err


def judge(status: int, text: str, words: str) -> None:
    assert status in (1, 2, 3), text  # 1: of several hosts one answered
    assert re.search(words, text), text


SERVERS = {
    "ping": [PING, "--server", "--device", "soft", "-p", "0"],
    "bench": [BENCH, "server", "--device", "soft", "--port=0", "--target=dram:1M"],
}


@pytest.mark.parametrize("tool", SERVERS)
def test_few_files_for_a_server(tool: str) -> None:
    for most in FILES:
        status, text = ended(SERVERS[tool], resource.RLIMIT_NOFILE, most)
        if status == 0:
            break
        judge(status, f"{most} files: {text}", r"ulimit -n")
    assert status == 0 and most > 8


def test_few_files_for_a_client() -> None:
    """Where the call that fails is this process's own there is a cause: the device's shows in its line alone."""
    causes, status = set(), -1
    with server() as it:
        for most in FILES:
            done = subprocess.run(command(it.port, "-c", "1", "--json"), capture_output=True, text=True, timeout=LIMIT_S,
                                  env=soft(), preexec_fn=limited(resource.RLIMIT_NOFILE, most))  # fmt: skip
            status = done.returncode
            if status == 0:
                break
            judge(status, f"{most} files: {done.stdout}{done.stderr}", r"ulimit -n")
            if done.stdout:
                causes.add(json.loads(done.stdout)["failure"]["cause"])
    assert status == 0 and most > 8 and "limit" in causes


@pytest.mark.parametrize("most", [4, 5, 6, 7, 8, 9, 14, *range(18, 25)])
def test_few_files_for_a_server_and_a_client(most: int) -> None:
    """Both have the limit; where it is the server that has no more, the message is the server's."""
    status, text = ended([BENCH, "local", "--target=dram:1M", *MEASURE], resource.RLIMIT_NOFILE, most)
    judge(status, text, r"ulimit -n")


def test_a_check_without_files() -> None:
    """It has no result without sysfs, and what it cannot read is unknown."""
    for most in FILES:
        done = subprocess.run([CHECK, "--quiet"], capture_output=True, text=True, timeout=LIMIT_S,
                              preexec_fn=limited(resource.RLIMIT_NOFILE, most))  # fmt: skip
        assert done.returncode in (1, 2, 3), done.stderr
        if done.returncode == 2:
            judge(done.returncode, done.stderr, r"ulimit -n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_few_threads() -> None:
    """The limit is the user's, and counts the server's threads too."""
    status = -1
    with for_others() as other_user, served([*other_user, "--server", "--device", "soft", "-p", "0"]) as it:
        for most in range(1, 32):
            options = command(it.port, "-c", "1")[1:]
            words = [*other_user[:-1], "prlimit", f"--nproc={most}", other_user[-1], *options, "127.0.0.1"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, env=soft())
            status = done.returncode
            if status == 0:
                break
            judge(status, f"{most} threads: {done.stderr}", r"thread|ulimit -u")
    assert status == 0
