# SPDX-License-Identifier: BSD-3-Clause
"""Data that librpmem writes are in the remote pool, and are what it reads."""

import os

import pytest
from laning import WAYS, daemon

LONG = "RPMEM_LONG" in os.environ


def with_each(values: list[int]) -> list[tuple[str, str, int]]:
    """Each value goes with one way, and in a long run with all of them."""
    if LONG:
        return [(*way, value) for way in WAYS for value in values]
    most = max(len(WAYS), len(values))
    return [(*WAYS[at % len(WAYS)], values[at % len(values)]) for at in range(most)]


@pytest.mark.parametrize("transport, method, seed", with_each([1, 2]))
def test_all_calls_on_all_lanes(transport: str, method: str, seed: int) -> None:
    with daemon(transport, method, nlanes=8) as d:
        d.good("calls", seed)


@pytest.mark.parametrize("transport, method", WAYS)
def test_small_reads_into_the_stack(transport: str, method: str) -> None:
    with daemon(transport, method) as d:
        d.good("small-reads")


@pytest.mark.parametrize("transport, method, work_queue", with_each([0, 1, 2, 3, 8, 0xFFFFFFFF]))
def test_work_queues(transport: str, method: str, work_queue: int) -> None:
    with daemon(transport, method) as d:
        d.good("queue", work_queue=work_queue)


def test_a_write_and_its_flush_by_reading_have_one_doorbell() -> None:
    """500 persists; more doorbells than these and what connects and compares would fail."""
    faults = "call:name=ibv_post_send,at=600"
    if os.environ["RPMA_NATIVE"] == "1":
        # with lists and without: then nothing can be flushed natively
        faults += " call:name=rdma_create_qp_ex,at=1 call:name=rdma_create_qp_ex,at=2"
    with daemon("rdma", "apm", 1) as d:
        d.good("persists", faults=faults)


@pytest.mark.parametrize("transport, method", WAYS)
def test_many_lanes(transport: str, method: str) -> None:
    with daemon(transport, method, nlanes=64) as d:
        d.good("calls")


@pytest.mark.parametrize("method", ["gpspm", "apm"])
def test_operations_that_take_their_time(method: str) -> None:
    with daemon("rdma", method) as d:
        d.good("calls", faults="delay:time=1us..30us")
        d.good("queue", work_queue=8, faults="rnr:every=50,times=2")


@pytest.mark.parametrize("method", ["gpspm", "apm"])
def test_processes_that_do_not_share_memory(method: str) -> None:
    with daemon("rdma", method) as d:
        d.good("calls", faults="transport:tcp")
