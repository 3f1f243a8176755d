# SPDX-License-Identifier: BSD-3-Clause
"""What a peer that breaks the rules of lanes can do: end its own lane, and nothing else."""

import os
import socket
from contextlib import ExitStack

import pytest
from laning import LIMIT_S, MIB, Daemon, daemon

HEADER = 4096
LONG = "RPMEM_LONG" in os.environ
REQUESTS, SEEDS = (3000, [1, 2, 3]) if LONG else (1000, [1])
PENDING_SPARE = 64  # as in lanes_tcp.c


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
@pytest.mark.parametrize("seed", SEEDS)
def test_requests_reach_nothing_outside_the_pool(transport: str, seed: int) -> None:
    """The daemon's pool is between pages that end it when they are touched."""
    with daemon(transport, "gpspm", 4, MIB, "headers") as d:
        # lane 3: small-reads uses lane 0, and the daemon frees a lane some time after its client has left
        d.fuzz(3, REQUESTS, seed)
        d.good("small-reads")
        assert d.pool.read_bytes()[:HEADER] == bytes(HEADER)


def connect_silently(d: Daemon, count: int, connections: ExitStack) -> None:
    for _ in range(count):
        connections.enter_context(socket.create_connection((d.address, int(d.port)), timeout=LIMIT_S))


def test_silent_connections_keep_no_lane_out() -> None:
    with daemon("tcp", "gpspm", 8) as d, ExitStack() as connections:
        connect_silently(d, 2 * (d.nlanes + PENDING_SPARE), connections)
        d.good("calls")


def test_silent_connections_end_no_lane() -> None:
    with daemon("tcp", "gpspm") as d, ExitStack() as connections, d.working(d.command("until-lost")) as client:
        connect_silently(d, 3 * PENDING_SPARE, connections)
        assert client.poll() is None
        d.kill()
        assert client.communicate(timeout=LIMIT_S)[0].startswith("lost: ECONNRESET: ")


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_a_client_that_never_stops_asking_ends_with_the_session(transport: str) -> None:
    with daemon(transport, "gpspm", 4, 64 * MIB) as d, d.working(d.hostile_command("flood", 0)):
        assert d.end() == 0, d.said()
