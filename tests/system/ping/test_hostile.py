# SPDX-License-Identifier: BSD-3-Clause
"""Handshakes that no end of ours sends: refused with a sentence, and nothing crashes."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from pinging import LIMIT_S, Server, pinged, served, server, soft

HOSTILE, LAUNCHER = os.environ["PING_HOSTILE"], os.environ["RPMA_SOFT_LAUNCHER"]
# common/rdma/handshake.c: where things are in a reply and in a request
VERSION, ANSWER, ROLE, MR_LENGTH, PCFG_LENGTH, MR = 8, 10, 10, 11, 12, 24


def made(*words: str) -> bytes:
    return bytes.fromhex(subprocess.run([HOSTILE, *words], capture_output=True, text=True, check=True).stdout)


REPLY, REQUEST = made("reply"), made("request", "3")


def changed(data: bytes, **at: int) -> bytes:
    out = bytearray(data)
    for name, value in at.items():
        out[globals()[name.upper()]] = value
    return bytes(out)


def described(length: int, fill: int, pcfg_length: int = 1) -> bytes:
    """A welcome with descriptors of these lengths, of one byte over and over."""
    out = bytearray(changed(REPLY, mr_length=length, pcfg_length=pcfg_length))
    out[MR : MR + 32] = bytes([fill] * 32)
    return bytes(out)


# test_handshake.c has the other replies that are refused, test_mr_remote.c the descriptors
ANSWERS = {
    "junk": (b"\xa5" * 64, "handshake"),
    "version 1": (changed(REPLY, version=1, answer=1), "handshake"),
    "a welcome without memory": (REPLY, "handshake"),
    "a descriptor too short": (described(12, 1), "region"),
    "a peer configuration too long": (described(29, 1, 8), "region"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_wrong_answer_ends_at_its_step(name: str) -> None:
    data, step = ANSWERS[name]
    with served([LAUNCHER, "--", HOSTILE, "server", "127.0.0.1", data.hex()]) as it:
        result = pinged(it.port, "-c", "1", "-W", "1", code=2)
    assert result["failure"]["step"] == step
    if name.startswith("version"):
        assert f"{name} of the protocol" in result["failure"]["text"].replace("speaks ", "")


# address and key of a descriptor are for the device to judge
def test_a_descriptor_of_no_memory_of_the_server() -> None:
    with served([LAUNCHER, "--", HOSTILE, "server", "127.0.0.1", described(22, 0x3F).hex()]) as it:
        for _ in range(2):
            done = subprocess.run([LAUNCHER, "--", os.environ["RPMA_PING"], "-p", it.port, "-c", "1", "-W", "2",
                                   "127.0.0.1"], capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
            assert done.returncode in (1, 2), done.stderr


@pytest.fixture(scope="module")
def victim() -> Iterator[Server]:
    with server() as it:
        yield it
        assert pinged(it.port, "-c", "2", "-i", "0")["pings"]["received"] == 2
        assert it.end(signal.SIGTERM) == 128 + signal.SIGTERM, it.said()


def call(victim: Server, data: bytes) -> str:
    done = subprocess.run([LAUNCHER, "--", HOSTILE, "client", "127.0.0.1", victim.port, data.hex()],
                          capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("data", "answer"),
    [(REQUEST, "answer 0"), (changed(REQUEST, version=1), "answer 1"), (changed(REQUEST, role=1), "answer 3"), (b"\xff" * 56, "refused")],
)
def test_a_request_gets_what_it_deserves(victim: Server, data: bytes, answer: str) -> None:
    assert call(victim, data) == answer
