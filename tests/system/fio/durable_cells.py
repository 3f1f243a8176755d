# SPDX-License-Identifier: BSD-3-Clause
"""Many jobs that a power failure strikes at once: one for each policy and method, on one platform.

A cell is a server with a file of its own and its client, which logs what it reports as durable;
all cells of a platform run in one fio, and RPMA_SOFT fails the power of each server at the same
operation of its own. What a cell is to show follows from the manual of rpma-soft, which tells what
makes a line durable there.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fio_runs import CLOCK, NATIVE, run_fio
from free_port import free_port

CHECK = os.environ["RPMA_FIO_CHECK"]
REGION_KIB = 64
PLATFORMS = {
    "adr, DDIO off": "domain=adr,ddio=off",
    "adr, DDIO on": "domain=adr,ddio=on",
    "eADR": "domain=eadr,ddio=on",
}
# name: options of the client, and whether the server states that what a read flushes is durable
METHODS: dict[str, tuple[dict[str, Any], int]] = {
    "read": ({"mode": "apm", "flush_type": "persistent"}, 1),
    "gpspm": ({"mode": "gpspm", "flush_type": "auto"}, 0),
    **({"native": ({"mode": "native", "flush_type": "persistent"}, 1),
        "native to visibility": ({"mode": "native", "flush_type": "visibility"}, 0)} if NATIVE else {}),
}  # fmt: skip
TOGETHER: dict[str, Any] = {"iodepth": 4, "iodepth_batch": 4, "iodepth_batch_complete_min": 1, "iodepth_batch_complete_max": 4}
POLICIES: dict[str, dict[str, Any]] = {
    "auto": {"flush": "auto", "rw": "write", **TOGETHER},
    "each": {"flush": "each", "iodepth": 4},
    "batch": {"flush": "batch", **TOGETHER},
    "fsync": {"flush": "fsync", "fsync": 4, "iodepth": 4},
    "sync=1": {"flush": "fsync", "sync": 1},
    "none": {"flush": "none", "fsync": 4},
}


@dataclass(frozen=True)
class Cell:
    platform: str
    method: str
    policy: str

    @property
    def durable(self) -> bool:
        """Whether the platform keeps what this cell flushes."""
        caches = self.platform == "adr, DDIO on" and self.method in ("read", "native to visibility")
        return self.policy != "none" and not caches

    def __str__(self) -> str:
        return f"{self.platform} | {self.method} | {self.policy}"


@dataclass(frozen=True)
class Verdict:
    code: int
    there: int
    lost: int
    covered: int
    undecided: int
    unclaimed: int

    @property
    def claimed(self) -> int:
        return self.there + self.lost + self.covered + self.undecided


def cells(platform: str) -> list[Cell]:
    """Nothing to visibility is nothing to persistence, too: once is enough."""
    return [Cell(platform, method, policy) for method in METHODS for policy in POLICIES
            if (method, policy) != ("native to visibility", "none")]  # fmt: skip


def check(log: Path, target: Path) -> Verdict:
    done = subprocess.run([CHECK, log, target], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1, 3), done.stderr
    counts = re.findall(r"^\w.*: +(\d+) writes$", done.stdout, re.MULTILINE)
    assert len(counts) == 5, done.stdout
    return Verdict(done.returncode, *map(int, counts))


def section(name: str, options: dict[str, Any]) -> str:
    return "".join([f"[{name}]\n", *(f"{key}={value}\n" for key, value in options.items())])


def free_ports(count: int) -> list[int]:
    """Each is picked by chance, and free until it is bound: two may be one."""
    ports: set[int] = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)


def job_file(folder: Path, which: list[Cell]) -> Path:
    text = section("global", {
        "ioengine": "librpma", "clocksource": CLOCK, "busy_wait_polling": 0, "bs": "4k", "size": f"{REGION_KIB}k",
    })  # fmt: skip
    for number, (cell, port) in enumerate(zip(which, free_ports(len(which)), strict=True)):
        (folder / f"{number}.pool").write_bytes(bytes(REGION_KIB * 1024))
        (folder / f"{number}.log").unlink(missing_ok=True)
        options, stated = METHODS[cell.method]
        text += section(f"server{number}", {
            "role": "server", "port": port, "filename": f"{number}.pool", "direct_write_to_pmem": stated})  # fmt: skip
        text += section(f"client{number}", {
            "port": port, "rw": "randwrite", "norandommap": 1, "io_size": "1m", "refill_buffers": 1,
            "durable_log": f"{number}.log", **options, **POLICIES[cell.policy]})  # fmt: skip
    path = folder / "cells.fio"
    path.write_text(text)
    return path


def fail_power(folder: Path, platform: str, at: int, seed: int) -> dict[Cell, Verdict]:
    """Each cell of the platform struck once, and judged."""
    which = cells(platform)
    soft = f"seed:{seed} powerfail:at={at},{PLATFORMS[platform]}"
    errors = "Address already in use"
    for _ in range(3):  # another program may have taken a port meanwhile
        if "Address already in use" in errors:
            file = job_file(folder, which)
            _, _, errors = run_fio(folder, f"--randseed={seed}", "--output=/dev/null", file.name, soft=soft)
    assert len(re.findall(rf"power fails at operation {at} of", errors)) == len(which), errors[-4000:]
    return {cell: check(folder / f"{number}.log", folder / f"{number}.pool") for number, cell in enumerate(which)}
