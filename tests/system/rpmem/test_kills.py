# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of the client, its ssh or the daemon, at any moment: the client gets an errno soon, nothing
stays behind, and the pool can be opened again. RPMEM_MOMENTS: how many moments for each."""

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from accepting import RPMEMD, Setting, setting

MOMENTS = int(os.environ.get("RPMEM_MOMENTS", "3"))
LIMIT_S = 300
SET, PARTS = "kills.set", ("a", "b")


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting(os.environ["RPMEM_SETTING"]) as one:
        (one.pools / SET).write_text("PMEMPOOLSET\n" + "".join(f"2M {one.pools}/{part}\n" for part in PARTS))
        yield one


def words_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []  # it has ended


def processes(wanted: Callable[[int], bool]) -> list[int]:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and wanted(int(entry))]


def daemons(here: Setting) -> list[int]:
    return processes(lambda pid: words_of(pid)[:2] == [here.program, f"--poolset-dir={here.pools}"])


def children(parent: int) -> list[int]:
    def is_child(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(parent)
        except OSError:
            return False

    return processes(is_child)


def leftovers(here: Setting) -> list[list[str]]:
    """Whatever runs the daemon's command, or is it; not the ssh server."""

    def belongs(pid: int) -> bool:
        line = " ".join(words_of(pid))
        return str(here.folder) in line and "sshd_config" not in line

    return [words_of(pid) for pid in processes(belongs)]


def client(here: Setting, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        here.command("--work", SET, str(1 << 21), *words),
        env=here.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def works(here: Setting, *words: str) -> str:
    """What a client prints that is told to end at once."""
    one = client(here, *words)
    output, _ = one.communicate(timeout=LIMIT_S)
    assert one.returncode == 0, output
    return output.splitlines()[-1]


def remove(here: Setting) -> None:
    done = subprocess.run([RPMEMD, f"--poolset-dir={here.pools}", "--log-file=/dev/null", "--remove", SET, "--force"])
    assert done.returncode == 0
    assert not any((here.pools / part).exists() for part in PARTS)


def victims(here: Setting, victim: str, one: subprocess.Popen[str]) -> list[int]:
    """What is to be killed, once it is there; a process that is about to end counts."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = {"client": lambda: [one.pid], "daemon": lambda: daemons(here), "ssh": lambda: children(one.pid)}[victim]()
        if found:
            return found
        if one.poll() is not None:
            return []
    raise AssertionError(f"there is no {victim}")


def kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def killed_at_a_moment(here: Setting, victim: str, moment: random.Random, *words: str) -> str:
    """Gives what the client printed. Half of the moments come after its first persist."""
    before = ""
    one = client(here, *words)
    try:
        assert one.stdout is not None
        assert one.stdout.readline() == "begun\n"
        if moment.random() < 0.5:
            before = one.stdout.readline()
            assert before == "persisted\n"
        time.sleep(moment.uniform(0, 0.6 if "sshd" in os.environ["RPMEM_SETTING"] else 0.15))
        kill(victims(here, victim, one))
        output, _ = one.communicate(timeout=LIMIT_S)  # and no more input
    finally:
        one.kill()
        one.wait()
    if victim != "client":
        assert one.returncode == 0, output
        assert re.match(r"done$|lost \w+ ECONNRESET: ", output.splitlines()[-1]), before + output
    return before + output


def some_were_lost(victim: str, outputs: list[str]) -> None:
    """Some kills hit no session, or an open, which tries again. A killed client prints nothing of it, and
    what the stub of ssh has started lives on without it."""
    lost = sum(bool(re.search("^lost ", output, re.MULTILINE)) for output in outputs)
    print(f"{victim}: {len(outputs)} kills, {lost} calls lost")
    if victim == "daemon" and len(outputs) >= 100:
        assert lost >= len(outputs) // 10


def nothing_stays(here: Setting) -> None:
    end = time.monotonic() + LIMIT_S
    while (left := leftovers(here)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left


@pytest.mark.parametrize("victim", ["client", "daemon", "ssh"])
def test_a_pool_that_was_there(here: Setting, victim: str) -> None:
    remove(here)
    assert works(here, "create") == "done"
    before = [(here.pools / part).stat().st_ino for part in PARTS]
    outputs: list[str] = []
    for i in range(MOMENTS):
        outputs.append(killed_at_a_moment(here, victim, random.Random(f"{victim} {i}")))
        assert works(here) == "done", i  # at once
        nothing_stays(here)
        assert [(here.pools / part).stat().st_ino for part in PARTS] == before
    some_were_lost(victim, outputs)


@pytest.mark.parametrize("victim", ["client", "daemon", "ssh"])
def test_a_pool_that_is_being_created(here: Setting, victim: str) -> None:
    outputs: list[str] = []
    for i in range(MOMENTS):
        remove(here)
        output = killed_at_a_moment(here, victim, random.Random(f"new {victim} {i}"), "create")
        outputs.append(output)
        nothing_stays(here)
        found = [(here.pools / part).exists() for part in PARTS]
        if "persisted" in output:
            assert all(found)
        elif victim != "daemon":  # it has removed them, if it did not get as far
            assert all(found) or not any(found)
        if victim != "daemon" and all(found):
            assert works(here) == "done", output
        else:  # what a killed daemon leaves may be no pool: force makes room
            remove(here)
            assert works(here, "create") == "done", output
    some_were_lost(victim, outputs)


@pytest.mark.parametrize("victim", ["client", "daemon", "ssh"])
def test_a_pool_that_is_being_created_in_older_parts(here: Setting, victim: str) -> None:
    """Files of zeros may become parts: they stay, whatever becomes of the pool."""
    remove(here)
    for part in PARTS:
        (here.pools / part).write_bytes(bytes(2 << 20))
    before = [(here.pools / part).stat().st_ino for part in PARTS]
    for i in range(MOMENTS):
        output = killed_at_a_moment(here, victim, random.Random(f"old {victim} {i}"), "create")
        nothing_stays(here)
        assert [(here.pools / part).stat().st_ino for part in PARTS] == before
        if victim != "daemon" and "persisted" in output:
            assert works(here) == "done", output
        for part in PARTS:
            (here.pools / part).write_bytes(bytes(2 << 20))
        assert works(here, "create") == "done", output
        for part in PARTS:
            (here.pools / part).write_bytes(bytes(2 << 20))
