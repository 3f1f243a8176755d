# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of either side, at a random moment: the other ends with an error.

The promise is a second. The limit here is --end-limit-ms, more on machines
that have other things to do; what was measured is printed at the end.
"""

import contextlib
import random
import re
import time
from pathlib import Path

import pytest
from device import BUILD, Device
from pair import MEASURED, Case, Pair, Side, links_named, pair, until

STARTUP_S = 0.1  # these programs take about that long
LINKED_S = 0.3
BENCH = f"{BUILD}/tools/rpma-bench/rpma-bench"


def perftest(name: str, command: str, long: str = "-D 60") -> Case:
    command += f" -F -p {{port}} {long} {{perftest}}"
    return Case(name, command, command + " {exchange}", listens="tcp")


ENDLESS = [
    Case("rping", "rping -s -a {address} -p {port} -V", "rping -c -a {address} -p {port} -V"),
    perftest("ib_send_lat", "ib_send_lat"),
    perftest("ib_send_bw", "ib_send_bw"),
    perftest("ib_send_lat-e", "ib_send_lat -e", "-n 10000000"),
    Case("rpma-bench", f"{BENCH} server --listen {{address}} --port {{port}}",
         f"{BENCH} client {{address}} --port {{port}} --size 64 --duration 60s --warmup 0s"),
]  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" in metafunc.fixturenames:
        rounds = metafunc.config.getoption("rounds")
        names = [f"{number}-{case_of(number).name}-{victim_of(number)}" for number in range(rounds)]
        metafunc.parametrize("number", range(rounds), ids=names)


def case_of(number: int) -> Case:
    return ENDLESS[number % len(ENDLESS)]


def victim_of(number: int) -> str:
    return ("server", "client")[number // len(ENDLESS) % 2]


def linked(*sides: Side) -> bool:
    return all(links_named(side) or side.wait(0) is not None for side in sides)


def kill(side: Side) -> float:
    moment = time.monotonic()
    side.kill()
    return moment


def ended_with_an_error(both: Pair, side: Side, killed: float, limit_s: float) -> float:
    """The seconds it took."""
    status = side.wait(killed + limit_s - time.monotonic())
    took = time.monotonic() - killed
    both.require(status is not None, f"the {side.name} goes on {took:.3f} s after the kill")
    said = re.search("DISCONNECT", side.out() + side.err())  # all that rping prints of it
    both.require((status or 0) > 0 or (status == 0 and said), f"the {side.name}: {status}")
    return took


def serves_the_next(both: Pair) -> Side:
    """Unless the server ends because its client was killed, it must serve the next client."""
    client, server = both.start_client(), both.sides[0]
    found = until(lambda: server.wait(0) is not None or linked(client, server) and bool(links_named(client)))
    both.require(found, "the server neither ends nor serves another client")
    return client


@pytest.mark.soft_only
def test_kill(number: int, device: Device, request: pytest.FixtureRequest) -> None:
    limit_s = request.config.getoption("end_limit_ms") / 1000
    chance = random.Random(f"{request.config.getoption('seed')} {number}")
    case = case_of(number)
    with pair(case, device) as both:
        server = both.start_server()
        client = both.start_client()
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, STARTUP_S))
        else:
            both.require(until(lambda: linked(server, client)), "no link is named")
            time.sleep(chance.uniform(0, LINKED_S))
        if victim_of(number) == "server":
            took = ended_with_an_error(both, client, kill(server), limit_s)
        else:
            killed = kill(client)
            goes_on = case.name == "rpma-bench" or not links_named(server)
            if goes_on and server.wait(1) is None:
                next_client = serves_the_next(both)
                if case.name == "rpma-bench":
                    both.require(server.wait(0) is None, "the server ends with its client")
                    return
                if server.wait(0) is None:
                    killed = kill(next_client)
            took = ended_with_an_error(both, server, killed, limit_s)
        MEASURED.append((took, f"{case.name}, the {victim_of(number)} killed"))


def holdings(side: Side) -> tuple[int, int]:
    """How many descriptors a program and what started it have, and how many pieces of shared memory."""
    descriptors, pieces = 0, 0
    for pid in side.members():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
            maps = Path(f"/proc/{pid}/maps").read_text()
            descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
            pieces += len(re.findall(r"/memfd:", maps))
    return descriptors, pieces


@pytest.mark.soft_only
@pytest.mark.parametrize("victim", ["server", "client"])
def test_killed_under_a_poller_of_memory(victim: str, device: Device) -> None:
    """ib_write_lat looks at memory only and goes on, but holds no line to the dead."""
    with pair(perftest("ib_write_lat", "ib_write_lat"), device) as both:
        sides = {"server": both.start_server(), "client": both.start_client()}
        dead = sides.pop(victim)
        (survivor,) = sides.values()
        both.require(until(lambda: linked(dead, survivor)), "no link is named")
        with_peer = holdings(survivor)
        kill(dead)
        freed = until(lambda: survivor.wait(0) is not None or holdings(survivor) < with_peer)
        both.require(freed, f"the {survivor.name} still holds {holdings(survivor)}")


def more_for_each(clients: int, before: tuple[int, int], after: tuple[int, int]) -> bool:
    """Something is made once, with the first client, and may stay."""
    return any(now - then >= clients for then, now in zip(before, after, strict=True))


@pytest.mark.soft_only
def test_killed_clients_leave_a_server_as_it_was(device: Device) -> None:
    clients = 5
    with pair(ENDLESS[-1], device) as both:
        server = both.start_server()
        before = holdings(server)
        for _ in range(clients):
            client = serves_the_next(both)
            kill(client)
            both.sides.remove(client)
        freed = until(lambda: not more_for_each(clients, before, holdings(server)))
        both.require(freed, f"held {before} before its clients, and then {holdings(server)}")
