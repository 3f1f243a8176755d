# SPDX-License-Identifier: BSD-3-Clause
"""A server of rpma-bench outlives its clients, whatever these do, and is none the larger for it.

What it holds is counted from outside, in /proc, once every session has ended.
"""

import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import serving

LAUNCHER, BENCH, HOSTILE = (os.environ[name] for name in ("RPMA_SOFT_LAUNCHER", "RPMA_BENCH", "BENCH_HOSTILE"))
LONG = os.environ.get("HOSTILE_LENGTH") == "long"
ATTACKERS = 5  # at once, as most of an attack is waiting
FIRST_ATTACKS, ATTACKS, KILLS = (6, 60, 30) if LONG else (3, 4, 6)  # attacks of each
ADDRESS = "127.0.0.1"
GROWTH_KIB = int(os.environ["GROWTH_KIB"])  # allocators keep some of what sessions gave back
DEADLINE_S = 300
# what a sanitizer holds back of freed memory would count as growth
NO_QUARANTINE = {
    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
}


@dataclass
class Held:
    descriptors: int
    threads: int
    resident_kib: int


class Server(serving.Server):
    def __init__(self, *options: str) -> None:
        command = [LAUNCHER, "--", BENCH, "server", "--listen", ADDRESS, "--port", "0", *options]
        super().__init__(command, {**os.environ, **NO_QUARANTINE})
        self.proc = Path(f"/proc/{self.process.pid}")

    def held(self) -> Held:
        resident = re.search(r"VmRSS:\s+(\d+)", (self.proc / "status").read_text())
        assert resident
        return Held(
            descriptors=len(list((self.proc / "fd").iterdir())),
            threads=len(list((self.proc / "task").iterdir())),
            resident_kib=int(resident[1]),
        )

    def at_rest(self, threads: int, descriptors: int | None = None) -> Held:
        """Once no session is left: a client's end reaches the server after the client's own,
        and the device closes what was theirs after that."""
        deadline = time.monotonic() + DEADLINE_S
        held = self.held()
        while time.monotonic() < deadline and (
            held.threads > threads or (descriptors is not None and held.descriptors > descriptors)
        ):
            time.sleep(0.02)
            held = self.held()
        return held

    def client(self, *options: str) -> list[str]:
        return [LAUNCHER, "--", BENCH, "client", ADDRESS, "--port", self.port, *options]

    def hostile(self, *words: str) -> list[str]:
        return [LAUNCHER, "--", HOSTILE, ADDRESS, self.port, *words]


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server("--target", "dram:8M")
    yield one
    assert one.end() == 128 + signal.SIGTERM, one.said()


def serves(server: Server, *options: str) -> dict:
    quick = ("--warmup", "0s", "--duration", "50ms", "--repeats", "1", "--json", "--quiet")
    done = subprocess.run(server.client(*quick, *options), capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def serves_every_kind(server: Server) -> None:
    for options in (["--verify"], ["--persist", "gpspm"], ["--op", "send", "--srq"], ["--bidirectional"]):
        serves(server, "--size", "64", *options)


def assert_no_larger(server: Server, before: Held) -> None:
    after = server.at_rest(before.threads, before.descriptors)
    assert after.threads <= before.threads
    assert after.descriptors <= before.descriptors
    assert after.resident_kib <= before.resident_kib + GROWTH_KIB


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * DEADLINE_S)
    assert done.returncode == 0, done.stderr


def attack(server: Server, count: int, first_seed: int) -> None:
    seeds = range(first_seed, first_seed + ATTACKERS)
    attackers = [subprocess.Popen(server.hostile("attack", str(count), str(seed))) for seed in seeds]
    assert [one.wait(3 * DEADLINE_S) for one in attackers] == [0] * ATTACKERS


def test_near_misses_leave_nothing_behind(server: Server) -> None:
    idle = server.held()
    serves_every_kind(server)
    attack(server, FIRST_ATTACKS, 1)  # what the allocator takes for good, it has taken
    before = server.at_rest(idle.threads)
    attack(server, ATTACKS, 1 + ATTACKERS)
    assert_no_larger(server, before)
    serves_every_kind(server)


def killed_at_random(server: Server, chance: random.Random) -> None:
    options = chance.choice(
        [
            ["--size", "64"],
            ["--size", "4K", "--persist", "gpspm", "--depth", "4"],
            ["--op", "send", "--threads", "2", "--connections", "2", "--test", "bw"],
            ["--bidirectional", "--connections", "3"],
            ["--test", "connect"],
            ["--test", "register"],
            ["--op", "write-imm", "--verify"],
            ["--server-load", "0.2", "--persist", "apm", "--verify"],
        ]
    )
    command = server.client("--duration", "20ms", "--warmup", "5ms", "--repeats", "50", "--quiet", *options)
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        client.wait(chance.uniform(0.05, 0.8))
    except subprocess.TimeoutExpired:
        client.kill()
        client.wait()


def test_killed_clients_leave_nothing_behind(server: Server) -> None:
    chance = random.Random(1)
    idle = server.held()
    serves_every_kind(server)
    for _ in range(KILLS // 2):  # what the allocator takes for good, it has taken
        killed_at_random(server, chance)
    before = server.at_rest(idle.threads)
    for _ in range(KILLS):
        killed_at_random(server, chance)
    assert_no_larger(server, before)
    serves_every_kind(server)


def test_unexpected_connections_get_no_queue_pair_and_keep_none_out(server: Server) -> None:
    run(server.hostile("unexpected"))


def test_once_ends_with_the_first_client_and_cuts_off_the_others() -> None:
    server = Server("--target", "dram:1M", "--once")
    held = subprocess.Popen(server.hostile("hold"), stdout=subprocess.PIPE, text=True)
    assert held.stdout and held.stdout.readline() == "held\n"
    serves(server, "--size", "64")
    assert server.process.wait(DEADLINE_S) == 0
    assert held.wait(DEADLINE_S) == 0
