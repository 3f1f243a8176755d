#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sends what a process of another host sends to begin a connection, by itself.

    handshake.py ADDRESS PORT SECRET    prints what became of it, and of the same words said again

The hash is Python's, so it is not of our making.
"""

import hmac
import os
import socket
import struct
import sys

FIRST, PROOF = 1, 7
HEADER = struct.Struct("!IHHI")
FIRST_BODY = struct.Struct("!IQQQ16s")
LIMIT_S = 100


def message(kind: int, body: bytes) -> bytes:
    return HEADER.pack(0x52505346, 4, kind, len(body)) + body


def gid(address: str) -> bytes:
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def receive(connection: socket.socket, length: int) -> bytes:
    """Less at the end of the connection."""
    got = b""
    while len(got) < length:
        try:
            more = connection.recv(length - len(got))
        except ConnectionResetError:
            break
        if not more:
            break
        got += more
    return got


def proof_of(side: int, secret: bytes, connection: socket.socket, firsts: list[bytes]) -> bytes:
    client, server = connection.getsockname()[0], connection.getpeername()[0]
    said = bytes([side]) + gid(client) + gid(server) + b"".join(firsts)
    return hmac.new(secret, said, "sha256").digest()


def begin(address: str, port: int, first: bytes) -> tuple[socket.socket, bytes]:
    connection = socket.create_connection((address, port), timeout=LIMIT_S)
    connection.sendall(first)
    return connection, receive(connection, len(first))


def talk(address: str, port: int, secret: bytes) -> tuple[str, bytes, bytes]:
    """What became of it; and what was said."""
    first = message(FIRST, FIRST_BODY.pack(0, 0x5417, 0, 0, os.urandom(16)))
    connection, reply = begin(address, port, first)
    if len(reply) < len(first):
        return f"hung up after {len(reply)} bytes", first, b""
    proof = message(PROOF, proof_of(0, secret, connection, [first, reply]))
    connection.sendall(proof)
    answer = receive(connection, HEADER.size + 32)
    if not answer:
        return "hung up on the proof", first, proof
    expected = message(PROOF, proof_of(1, secret, connection, [first, reply]))
    return "admitted" if answer == expected else "another proof", first, proof


def replay(address: str, port: int, first: bytes, proof: bytes) -> str:
    connection, _ = begin(address, port, first)
    connection.sendall(proof)
    return f"replay: {len(receive(connection, 1))} bytes"


if __name__ == "__main__":
    at = (sys.argv[1], int(sys.argv[2]))
    outcome, *said = talk(*at, sys.argv[3].encode())
    print(outcome)
    print(replay(*at, *said))
