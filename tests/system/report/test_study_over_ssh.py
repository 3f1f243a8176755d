# SPDX-License-Identifier: BSD-3-Clause
"""A study whose measuring host is reached by a real ssh: what it started there ends with it.

rpma-bench measures for ten minutes, asleep for most of them, unless a file tells it to be
quick; each start of it notes whether another one was still there.
"""

import json
import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sshd import SSHD, Sshd

REPORT, BENCH = os.environ["RPMA_REPORT"], os.environ["RPMA_BENCH"]
LIMIT_S = 600  # a net: a busy machine takes minutes
_TOOL = """\
#!/bin/sh
cd "$(dirname "$0")" || exit 70
exec 8>alone; flock -n 8 || echo beside >> beside
[ -e quick ] && exec {bench} "$@" --duration=10ms
echo $$ > began
exec {bench} "$@" --duration=10m --test=rate --rate=10 --completion=event
"""


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    if not SSHD:
        pytest.skip("sshd is not installed")
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    try:
        if not server.answers():
            pytest.skip("no sshd can run here")
        yield server
    finally:
        server.close()


class Study:
    def __init__(self, folder: Path, server: Sshd, **more: object) -> None:
        self.folder = folder
        os.mkfifo(folder / "began")
        (folder / "tool").write_text(_TOOL.format(bench=BENCH))
        (folder / "tool").chmod(0o755)
        options = {"device": "soft", "warmup": 0, "pin": "none", "mem-node": "none", "size": 64}
        series = {"name": "b", "tool": "rpma-bench", "ssh": "target", "repeats": 1, "options": options}
        programs = {"rpma-bench": [str(folder / "tool")], "ssh": server.client}
        plan = {"schema": "rpma-report-study/1", "name": "x", "programs": programs, "series": [series], **more}
        (folder / "plan.json").write_text(json.dumps(plan))

    def start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen([REPORT, "study", "plan.json"], cwd=self.folder, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip

    def began(self) -> int:
        """A descriptor of the rpma-bench that measures on the other host."""
        with (self.folder / "began").open() as fifo:
            return os.pidfd_open(int(fifo.read()))

    def finishes_alone(self) -> bool:
        (self.folder / "quick").touch()
        process = self.start()
        _, told = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, told
        return not (self.folder / "beside").exists()


def ended(pidfd: int) -> bool:
    try:
        return bool(select.select([pidfd], [], [], LIMIT_S)[0])
    finally:
        os.close(pidfd)


def kill_ssh(study: "subprocess.Popen[str]") -> None:
    """As one that loses its connection."""
    children = Path(f"/proc/{study.pid}/task/{study.pid}/children").read_text().split()
    (ssh,) = (c for c in children if Path(f"/proc/{c}/comm").read_text().strip() == "ssh")
    os.kill(int(ssh), signal.SIGKILL)


ENDS: dict[str, Callable[["subprocess.Popen[str]"], None]] = {
    "SIGINT": lambda study: study.send_signal(signal.SIGINT),
    "SIGTERM": lambda study: study.send_signal(signal.SIGTERM),
    "SIGKILL": lambda study: study.kill(),
    "killed ssh": kill_ssh,
}


@pytest.mark.parametrize("end", ENDS)
def test_measurement_ends_with_the_study(end: str, sshd: Sshd, tmp_path: Path) -> None:
    study = Study(tmp_path, sshd)
    with study.start() as process:
        measuring = study.began()
        ENDS[end](process)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode in (130, 143, -9, 2)
    assert study.finishes_alone()
    assert ended(measuring)


def test_measurement_that_takes_too_long_ends(sshd: Sshd, tmp_path: Path) -> None:
    study = Study(tmp_path, sshd, timeout_s=15)  # a short one ends in it, however busy the host
    with study.start() as process:
        measuring = study.began()
        _, told = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2 and "took longer than 15 s (timeout_s)" in told
    assert select.select([measuring], [], [], 0)[0], "it was over before the study was"
    assert ended(measuring) and study.finishes_alone()
