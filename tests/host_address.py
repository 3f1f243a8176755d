#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""An address of this host that other hosts could reach: prints host_address(4) or, with -6, (6).

Debian's librpma cannot serve on a loopback address: the RDMA CM binds that to no device, here
as in the kernel.
"""

import json
import socket
import subprocess
import sys

LOOPBACK = {4: "127.0.0.1", 6: "::1"}


def host_address(version: int = 4) -> str:
    """The loopback address if the host has no other."""
    done = subprocess.run(["ip", f"-{version}", "-json", "address", "show", "up", "scope", "global"],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=60)  # fmt: skip
    for interface in json.loads(done.stdout or "[]"):
        for address in interface.get("addr_info", []):
            if "local" in address:
                return address["local"]
    return LOOPBACK[version]


def is_loopback(address: str) -> bool:
    return address in LOOPBACK.values()


def has_ipv6() -> bool:
    """Whether something can listen on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind((LOOPBACK[6], 0))
    except OSError:
        return False
    return True


if __name__ == "__main__":
    print(host_address(6 if sys.argv[1:] == ["-6"] else 4))
