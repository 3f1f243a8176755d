#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands on another machine of these tests, as if they ran here.

    remote.py serve                  on that machine: take commands, for ever
    remote.py run ADDRESS COMMAND... here: its output and status become ours

A connection is a command: one line of JSON, then frames of one letter (o and e
for output, x for the status), a length and the bytes. The command and all it
started ends with the connection.
"""

import json
import os
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

PORT = 19000
LIMIT_S = 300
HEADER = struct.Struct("!cI")
PASSED_ON = ("LD_LIBRARY_PATH", "LC_ALL", "RPMA_SOFT", "RPMA_TEST_LIBRARY")


class Command(socketserver.StreamRequestHandler):
    """Runs one command, on the machine that serves."""

    def handle(self) -> None:
        request = json.loads(self.rfile.readline())
        self.sending = threading.Lock()
        process = subprocess.Popen(
            request["command"],
            env={**os.environ, **request["environment"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        threading.Thread(target=self.end_with_connection, args=[process], daemon=True).start()
        streams = [(b"o", process.stdout), (b"e", process.stderr)]
        pumps = [threading.Thread(target=self.pump, args=stream) for stream in streams]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        self.send(b"x", str(process.wait()).encode())

    def send(self, kind: bytes, text: bytes) -> None:
        with self.sending:
            try:
                self.wfile.write(HEADER.pack(kind, len(text)) + text)
            except OSError:  # who asked has gone
                pass

    def pump(self, kind: bytes, stream: BinaryIO) -> None:
        while text := os.read(stream.fileno(), 65536):
            self.send(kind, text)

    def end_with_connection(self, process: subprocess.Popen[bytes]) -> None:
        try:
            self.rfile.read(1)
        except (OSError, ValueError):
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def serve() -> None:
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(("", PORT), Command) as server:
        server.serve_forever()


def frames(address: str, command: list[str]) -> Iterator[tuple[bytes, bytes]]:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with socket.create_connection((address, PORT), timeout=LIMIT_S) as connection:
        connection.settimeout(None)
        stream = connection.makefile("rwb")
        stream.write(json.dumps({"command": command, "environment": environment}).encode() + b"\n")
        stream.flush()
        while header := stream.read(HEADER.size):
            kind, length = HEADER.unpack(header)
            yield kind, stream.read(length)
            if kind == b"x":  # the other end closes when we do
                return


def output_of(address: str, *command: str) -> str:
    return b"".join(text for kind, text in frames(address, list(command)) if kind == b"o").decode()


def run(address: str, command: list[str]) -> int:
    outputs = {b"o": sys.stdout, b"e": sys.stderr}
    for kind, text in frames(address, command):
        if kind == b"x":
            status = int(text)
            return status if status >= 0 else 128 - status
        outputs[kind].buffer.write(text)
        outputs[kind].flush()
    print(f"remote: {address} hung up", file=sys.stderr)
    return 1


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) > 3 and sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    else:
        sys.exit("remote: expected serve, or run ADDRESS COMMAND...")
