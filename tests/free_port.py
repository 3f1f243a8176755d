# SPDX-License-Identifier: BSD-3-Clause
"""A port for a program that has to be told one. It is below those that the kernel hands out by
itself (ip_local_port_range, from 32768), so no other program is given it before it is bound."""

import random
import socket
from pathlib import Path

PORTS = range(20000, 32000)
TRIES = 100


def is_free(port: int) -> bool:
    """It is bound on no address."""
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def free_port(in_a_row: int = 1) -> int:
    """The first of IN_A_ROW free ports."""
    for first in random.SystemRandom().sample(PORTS, TRIES):
        if all(is_free(port) for port in range(first, first + in_a_row)):
            return first
    raise AssertionError(f"no free port among {TRIES} tried")


def listens(port: int) -> bool:
    """Whether a program of this network namespace listens there (0A is TCP_LISTEN)."""
    lines = "".join(Path(f"/proc/net/{table}").read_text() for table in ("tcp", "tcp6")).splitlines()
    rows = (line.split() for line in lines)
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in rows if row[0] != "sl")
