# SPDX-License-Identifier: BSD-3-Clause
"""Each fault, on the client's side of an example of librpma: what both ends see of it."""

import re
import time

import pytest
from examples import Ended, run

FLUSH, MESSAGES, IMMEDIATE = "03-write-flush", "05-messages", "06-immediate"


def both(example: str, *faults: str) -> tuple[Ended, Ended]:
    ends = run(example, list(faults))
    return ends["client"], ends["server"]


def hits(end: Ended, fault: str) -> int:
    found = re.search(rf"^rpma-soft: fault {re.escape(fault)}: (\d+) of \d+ hit", end.text, re.M)
    assert found, end.text
    return int(found[1])


@pytest.mark.parametrize(
    ("example", "fault", "least_s"),
    [(FLUSH, "delay:time=100ms,op=flush+read", 0.1), (FLUSH, "rate:100B", 0.25)],  # 35 bytes are written
)
def test_what_takes_its_time_is_waited_for(example: str, fault: str, least_s: float) -> None:
    started = time.monotonic()
    client, server = both(example, fault)
    assert time.monotonic() - started >= least_s
    assert client.well and server.well and hits(client, fault) >= 1


def test_a_receiver_that_is_late_is_waited_for() -> None:
    client, server = both(MESSAGES, "rnr:at=1,times=3")
    assert client.well and server.well
    assert hits(client, "rnr:at=1,times=3") == 1


def test_a_dropped_connection_ends_both_sides() -> None:
    client, server = both(MESSAGES, "drop:after=2")
    assert "transport retry counter exceeded" in client.text
    assert not client.well and not server.well


@pytest.mark.parametrize(("fault", "told"), [("refuse", "Connection rejected"), ("unreachable", "Connection unreachable"),
                                             ("register:at=1", "rpma_mr_reg(")])  # fmt: skip
def test_one_that_cannot_connect_is_told_why(fault: str, told: str) -> None:
    client, server = both(FLUSH, fault)
    assert not client.well and told in client.text
    assert server.well  # it served the next one


def test_memory_that_cannot_be_pinned_is_paged_on_demand() -> None:
    client, server = both(FLUSH, "register:at=1,errno=EOPNOTSUPP")
    assert client.well and server.well


def test_an_operation_completes_with_an_error() -> None:
    client, server = both(FLUSH, "complete:op=write,at=1,status=REM_ACCESS_ERR")
    assert "remote access error" in client.text
    assert not server.well


def test_faults_stack() -> None:
    client, server = both(IMMEDIATE, "delay:time=20ms", "rnr:every=1", "delay:time=1ms..2ms")
    assert client.well and server.well
    assert hits(client, "delay:time=20ms") == hits(client, "delay:time=1ms..2ms") >= 1
