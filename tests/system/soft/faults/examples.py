# SPDX-License-Identifier: BSD-3-Clause
"""Two ends of an example of librpma, which are told to fail; each ends by itself, well or with a message."""

import os
import random
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from free_port import PORTS, is_free

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
EXAMPLES = os.environ["RPMA_EXAMPLES"]
TRANSPORT = os.environ["TRANSPORT"]
ADDRESS = "127.0.0.1"
LIMIT_S = 300
PORTS_EACH = 250


def own_ports() -> Iterator[int]:
    """Ports that no other run has: a client that comes when its server has just ended meets no server of theirs."""
    mark = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for first in random.SystemRandom().sample(PORTS[::PORTS_EACH], len(PORTS) // PORTS_EACH):
        with suppress(OSError):
            mark.bind((ADDRESS, first))
            break
    while True:
        yield from filter(is_free, range(first, first + PORTS_EACH))


PORT = own_ports()


@dataclass
class Ended:
    well: bool
    text: str


@contextmanager
def start(faults: list[str], example: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    options = [word for fault in faults for word in ("-f", fault)]
    with subprocess.Popen(
        [LAUNCHER, "-v", "--transport", TRANSPORT, *options, f"{EXAMPLES}/{example}", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode in (0, 1), out + err
    return Ended(process.returncode == 0, out + err)


def run(example: str, client_faults: list[str], server_faults: list[str] | None = None) -> dict[str, Ended]:
    """Both ends, the client only if the server listens."""
    ends = {}
    with start(server_faults or [], example, "server", ADDRESS, str(next(PORT))) as server:
        assert server.stdout is not None
        port = re.match(r"port (\d+)\n", server.stdout.readline())
        if port:
            words = (example, "client", ADDRESS, port[1])
            with start(client_faults, *words) as client:
                ends["client"] = ended(client)
            if not ends["client"].well and server.poll() is None:  # it may still wait for a client
                with start([], *words) as another:
                    ended(another)
        ends["server"] = ended(server)
    return ends
