# SPDX-License-Identifier: BSD-3-Clause
"""A control group with half a CPU: which end the kernel stopped is in the result, and no other program is blamed.

The kernel's own count (cpu.stat) is the other witness.
"""

import json
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from check_result import check_document
from serving import serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
LIMIT_S = 200
QUOTA_US, PERIOD_US = 10_000, 20_000
SPINNING = 4  # programs in the group that use up the rest, however busy the host is
WORK = ("--size", "64", "--threads", "2", "--pin", "none", "--repeats", "2", "--duration", "400ms", "--warmup", "0")


class Group(NamedTuple):
    folder: Path

    def enter(self) -> None:
        """In the child, between fork and exec."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def count(self, name: str) -> int:
        return int(dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())[name])


def made_in(parent: Path) -> Path:
    """A control group with the quota; OSError if this host allows none."""
    folder = parent / f"rpma-bench-{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        if (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text(f"{QUOTA_US} {PERIOD_US}")
        else:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        run = subprocess.run(["true"], preexec_fn=Group(folder).enter, timeout=LIMIT_S, check=False)
        if run.returncode != 0:
            raise OSError("no process can enter it")
    except (OSError, subprocess.SubprocessError) as error:
        folder.rmdir()
        raise OSError(str(error)) from error
    return folder


@pytest.fixture
def group() -> Iterator[Group]:
    root = Path("/sys/fs/cgroup")
    for parent in (root / "cpu,cpuacct", root / "cpu", root):
        if not (parent / "cgroup.procs").exists():
            continue
        try:
            folder = made_in(parent)
        except OSError:
            continue
        spinning = ["sh", "-c", "while :; do :; done"]
        others = [subprocess.Popen(spinning, preexec_fn=Group(folder).enter) for _ in range(SPINNING)]
        try:
            yield Group(folder)
        finally:
            for other in others:
                other.kill()
                other.wait()
        folder.rmdir()
        return
    pytest.skip("no control group with a CPU quota can be made here")


def codes(document: dict[str, Any], code: str) -> list[str]:
    return [warning["host"] for warning in document["run"]["warnings"] if warning["code"] == code]


def run(command: list[str], enter: Callable[[], None] | None) -> dict[str, Any]:
    done = subprocess.run([LAUNCHER, BENCH, *command, *WORK, "--json"], capture_output=True, text=True, timeout=LIMIT_S,
                          preexec_fn=enter, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    check_document(document)
    return document


def expect_stopped(document: dict[str, Any], end: str, group: Group) -> None:
    seen = [repeat["cpu_quota"][end] for repeat in document["points"][0]["repeats"]]
    assert all(one["limited"] and one["cpus"] <= QUOTA_US / PERIOD_US for one in seen), seen
    stops = sum(one["throttled_periods"] for one in seen)
    throttled = group.count("nr_throttled")
    if 2 * throttled < group.count("nr_periods"):  # what spins in it would end each of them
        pytest.skip("this host is too busy to give the group half a CPU")
    assert 0 < stops <= throttled, seen
    assert all(one["throttled_periods"] <= one["periods"] for one in seen), seen
    if stops > 10:  # the kernel adds the time of a stop when it ends, and its period before that
        assert sum(one["throttled_ns"] for one in seen) > 0, seen


def expect_free(document: dict[str, Any], end: str) -> None:
    """Whatever holds the whole test may have a quota too, but not this one."""
    seen = [repeat["cpu_quota"][end] for repeat in document["points"][0]["repeats"] if "cpu_quota" in repeat]
    assert all(one is None or not one["limited"] or one["cpus"] > QUOTA_US / PERIOD_US for one in seen), seen


def expect_no_blame(document: dict[str, Any], ends: list[str]) -> None:
    """Where the kernel stopped all of these ends in each repeat, others took nothing from them."""
    repeats = document["points"][0]["repeats"]
    stopped = all(repeat["cpu_quota"][end]["throttled_periods"] > 0 for repeat in repeats for end in ends)
    stolen = any((repeat["interference"][end] or {}).get("steal_ns") for repeat in repeats for end in ends)
    if stopped and not stolen:
        assert not set(ends) & set(codes(document, "CPU_TIME_TAKEN"))


def test_both_ends_in_one_group(group: Group) -> None:
    document = run(["local", "--target", "dram:1M"], group.enter)
    for end in ("client", "server"):
        expect_stopped(document, end, group)
    assert sorted(codes(document, "CPU_THROTTLED")) == ["client", "server"]
    expect_no_blame(document, ["client", "server"])


@pytest.mark.parametrize("inside", ["client", "server"])
def test_one_end_in_a_group(group: Group, inside: str) -> None:
    """The server polls for each request, so either end can use up its share."""
    server = [LAUNCHER, BENCH, "server", "--port", "0", "--target", "dram:1M", "--quiet"]
    with serving(server, preexec_fn=group.enter if inside == "server" else None) as it:
        document = run(["client", "127.0.0.1", "--port", it.port, "--persist", "gpspm-rt"],
                       group.enter if inside == "client" else None)  # fmt: skip
    expect_stopped(document, inside, group)
    expect_free(document, "server" if inside == "client" else "client")
    assert inside in codes(document, "CPU_THROTTLED")
    expect_no_blame(document, [inside])
