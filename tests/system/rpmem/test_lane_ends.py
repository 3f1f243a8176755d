# SPDX-License-Identifier: BSD-3-Clause
"""How lanes end: the daemon dies, the session ends, the client cancels; and why they do not begin."""

import os
import random
import subprocess
import time
from typing import Any

import pytest
from laning import LIMIT_S, WAYS, Daemon, daemon


def refused(d: Daemon, error: str, **how: Any) -> str:
    """Why a client could not open its lanes."""
    done = d.client("calls", **how)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout.startswith(f"open: {error}: "), done.stdout
    return done.stdout


@pytest.mark.parametrize("transport, method", WAYS)
@pytest.mark.parametrize("turn", range(3))
def test_a_killed_daemon_is_a_lost_connection(transport: str, method: str, turn: int) -> None:
    delay_s = random.Random(f"{transport} {method} {turn}").uniform(0, 0.3)
    with daemon(transport, method) as d, d.working(d.command("until-lost", turn)) as client:
        time.sleep(delay_s)  # which operation it hits is left to chance
        d.kill()
        output, _ = client.communicate(timeout=LIMIT_S)
    assert client.returncode == 0, output
    assert output.startswith("lost: ECONNRESET: "), output


def served_again(d: Daemon) -> None:
    """The daemon may not have freed the lanes of the last client yet."""
    end = time.monotonic() + LIMIT_S
    while (done := d.client("calls")).returncode != 0:
        assert time.monotonic() < end, done.stderr + d.said()


@pytest.mark.parametrize("transport, method", WAYS)
def test_calls_under_way_end_with_the_session(transport: str, method: str) -> None:
    # a flush of the device needs no daemon, so calls would be seldom under way
    faults = "delay:op=flush,time=60s" if method == "apm" else ""
    with daemon(transport, method, nlanes=8) as d:
        d.good("end-of-session", faults=faults)
        served_again(d)


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_a_wrong_token_is_refused(transport: str) -> None:
    with daemon(transport, "gpspm") as d:
        refused(d, "ECONNRESET", token=str(int(d.token) ^ 1))
        assert "does not have the token of this session" in d.said()
        d.good("calls")


def test_without_rdma_device() -> None:
    with daemon("rdma", "gpspm") as d:
        done = subprocess.run(
            d.command("calls")[2:], capture_output=True, text=True, timeout=LIMIT_S, env={**os.environ, "LD_PRELOAD": ""}
        )
        if "no RDMA device" not in done.stdout:
            pytest.skip("this host has an RDMA device")
        assert done.stdout.startswith("open: ENOMEDIUM: ")


def test_memory_that_cannot_be_registered() -> None:
    with daemon("rdma", "gpspm") as d:
        why = refused(d, "ENOMEM", faults="register:at=1,errno=ENOMEM")
        assert "cannot register the pool of 8 MiB" in why
        assert "ulimit -l" in why


def test_open_files_that_run_out() -> None:
    with daemon("rdma", "gpspm", nlanes=1024) as d:
        done = d.client("calls", open_files=64)
        assert done.returncode == 1
        assert "Too many open files" in done.stderr, done.stderr


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_lanes_are_as_many_as_open_files_allow(transport: str) -> None:
    with daemon(transport, "gpspm", nlanes=200) as d:
        none = d.client("most", open_files=24).stdout
        few, more = (int(d.client("most", open_files=files).stdout) for files in (60, 180))
        assert none.startswith("EMFILE: "), none
        assert 0 < few < more
        done = d.client("calls", open_files=180, nlanes=str(more))
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("at", range(1, 6))
def test_a_failed_registration_leaves_nothing_behind(at: int) -> None:
    with daemon("rdma", "gpspm") as d:
        done = d.client("small-reads", faults=f"register:at={at},errno=ENOMEM")
        assert done.returncode in (0, 1, 2)
        assert "ENOMEM" in done.stdout or "Cannot allocate memory" in done.stderr or done.returncode == 0
        d.good("calls")


@pytest.mark.parametrize("status", ["REM_ACCESS_ERR", "RETRY_EXC_ERR"])
def test_a_failed_operation_is_a_lost_connection(status: str) -> None:
    with daemon("rdma", "gpspm") as d:
        done = d.client("until-lost", faults=f"complete:op=write+read+send,at=50,status={status}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "lost: ECONNRESET: " in done.stdout
        assert status in done.stdout
