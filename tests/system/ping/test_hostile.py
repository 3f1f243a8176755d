# SPDX-License-Identifier: BSD-3-Clause
"""Handshakes that no end of ours sends: refused with a sentence, and nothing crashes."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from pinging import LIMIT_S, Process, failed_at, pinged, server, soft

HOSTILE, LAUNCHER = os.environ["PING_HOSTILE"], os.environ["RPMA_SOFT_LAUNCHER"]
# common/rdma/handshake.c: where things are in a reply and in a request
VERSION, ANSWER, ROLE, MR_LENGTH, PCFG_LENGTH, MR, PCFG = 8, 10, 10, 11, 12, 24, 56


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


ANSWERS = {
    "one byte": (b"r", "handshake"),
    "junk": (b"\xa5" * 64, "handshake"),
    "another magic": (b"x" + REPLY[1:], "handshake"),
    "half a reply": (REPLY[:32], "handshake"),
    "a refusal of an unknown kind": (changed(REPLY, answer=9), "handshake"),
    "version 1": (changed(REPLY, version=1, answer=1), "handshake"),
    "version 3": (changed(REPLY, version=3, answer=1), "handshake"),
    "a welcome of another version": (changed(REPLY, version=3), "handshake"),
    "busy": (changed(REPLY, answer=2), "handshake"),
    "another tool": (changed(REPLY, answer=3), "handshake"),
    "a welcome without memory": (REPLY, "handshake"),
    "a descriptor longer than its room": (described(33, 1), "handshake"),
    "a descriptor of 255 bytes": (described(255, 1), "handshake"),
    "a peer configuration of 255 bytes": (described(29, 1, 255), "handshake"),
    "memory without a peer configuration": (described(29, 1, 0), "handshake"),
    "a descriptor of one byte": (described(1, 1), "region"),
    "a descriptor of zeros": (described(29, 0), "region"),
    "a descriptor too short": (described(12, 1), "region"),
    "a descriptor too long": (described(32, 1), "region"),
    "a peer configuration too long": (described(29, 1, 8), "region"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_wrong_answer_ends_at_its_step(name: str) -> None:
    data, step = ANSWERS[name]
    it = Process([LAUNCHER, "--", HOSTILE, "server", "127.0.0.1", data.hex()])
    try:
        result = pinged(it.port, "-c", "1", "-W", "1", code=2)
    finally:
        it.end(signal.SIGKILL)
    assert failed_at(result) == step
    if name.startswith("version"):
        assert f"{name} of the protocol" in result["failure"]["text"].replace("speaks ", "")


# address and key of a descriptor are for the device to judge
def test_a_descriptor_of_no_memory_of_the_server() -> None:
    it = Process([LAUNCHER, "--", HOSTILE, "server", "127.0.0.1", described(22, 0x3F).hex()])
    try:
        for _ in range(2):
            done = subprocess.run([LAUNCHER, "--", os.environ["RPMA_PING"], "-p", it.port, "-c", "1", "-W", "2",
                                   "127.0.0.1"], capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
            assert done.returncode in (1, 2), done.stderr
    finally:
        it.end(signal.SIGKILL)


@pytest.fixture(scope="module")
def victim() -> Iterator[Process]:
    with server() as it:
        yield it
        assert pinged(it.port, "-c", "2", "-i", "0")["pings"]["received"] == 2
        assert it.end(signal.SIGTERM) == 128 + signal.SIGTERM, it.said()


def call(victim: Process, data: bytes) -> str:
    done = subprocess.run([LAUNCHER, "--", HOSTILE, "client", "127.0.0.1", victim.port, data.hex()],
                          capture_output=True, text=True, timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (REQUEST, "answer 0"),
        (changed(REQUEST, version=1), "answer 1"),
        (changed(REQUEST, version=9), "answer 1"),
        (changed(REQUEST, role=1), "answer 3"),
        (changed(REQUEST, role=2), "answer 3"),
        (changed(REQUEST, role=0), "refused"),
        (changed(REQUEST, role=200), "refused"),
        (REQUEST[:10], "refused"),  # arrives padded with zeros
        (b"x" + REQUEST[1:], "refused"),
        (b"\xff" * 56, "refused"),
        (b"\0", "refused"),
    ],
)
def test_a_request_gets_what_it_deserves(victim: Process, data: bytes, answer: str) -> None:
    assert call(victim, data) == answer
