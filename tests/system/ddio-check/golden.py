# SPDX-License-Identifier: BSD-3-Clause
"""The machines of test_trees.py, and what rpma-ddio-check has to say of each.

What is expected was reasoned from what the kernel and the registers mean, not
printed by the tool. A machine differs from HEALTHY (a Cascade Lake with DDIO
off in the root port, a ConnectX-5, a device DAX of NVDIMMs behind an NFIT, run
by root) in its Host, and its statuses in the ids that its row names. Rows that
follow from one question stand together in one of the golden_*.py files.
"""

from dataclasses import dataclass, field
from typing import Any

from machine import OFF, Host, Mount, Nic, Region, card

PASS, WARN, FAIL, UNKNOWN = "PASS", "WARN", "FAIL", "UNKNOWN"
SKIP, INFO, ASSUMED = "SKIP", "INFO", "ASSUMED"

HEALTHY = {
    "DEV-01": PASS, "DEV-02": PASS, "DEV-03": PASS, "DEV-04": INFO, "DEV-05": PASS,
    "PCI-01": PASS, "PCI-02": PASS, "PCI-03": INFO, "PCI-04": PASS, "PCI-05": INFO,
    "PCI-06": PASS, "PCI-07": INFO, "PCI-08": PASS,
    "DDIO-01": INFO, "DDIO-02": SKIP, "DDIO-03": SKIP, "DDIO-04": PASS, "DDIO-05": SKIP,
    "DDIO-06": SKIP,
    "PM-01": PASS, "PM-02": PASS, "PM-03": SKIP, "PM-04": SKIP, "PM-05": PASS, "PM-06": PASS,
    "PM-07": PASS, "PM-08": PASS, "PM-09": SKIP, "PM-10": PASS, "PM-11": PASS,
    "PM-12": SKIP,
    "ODP-01": INFO, "ODP-02": SKIP, "CAP-01": INFO, "CAP-02": INFO, "CAP-03": INFO,
    "LIM-01": PASS, "LIM-02": PASS,
    "NUMA-01": PASS, "NUMA-02": PASS, "NUMA-03": PASS,
    "SYS-01": PASS, "SYS-02": PASS, "SYS-03": PASS, "SYS-04": PASS, "SYS-05": PASS, "SYS-06": PASS,
    "PEER-01": INFO,
}

# Row of the verdict table: verdict, exit code, value for direct_write_to_pmem.
ROWS = {
    "no-device": ("UNDETERMINED", 3, False),
    "conflict": ("NOT_READY", 1, False),
    "failed": ("NOT_READY", 1, False),
    "no-target": ("UNDETERMINED", 3, False),
    "unproven": ("UNDETERMINED", 3, False),
    "eadr": ("APM_READY_EADR", 0, True),
    "ddio-off": ("APM_READY", 0, True),
    "ddio-off-lenient": ("APM_READY", 0, True),
    "ddio-assumed-off": ("APM_READY", 0, True),
    "native": ("NATIVE_FLUSH_READY", 0, False),
    "software": ("GPSPM_ONLY", 1, False),
    "ddio-on": ("GPSPM_ONLY", 1, False),
    "ddio-on-possible": ("UNDETERMINED", 3, False),
    "ddio-off-warn": ("UNDETERMINED", 3, False),
    "ddio-unknown": ("UNDETERMINED", 3, False),
}

DEVDAX = ["--target", "/dev/dax0.0"]
DEVDAX_ANSWER = {"/dev/dax0.0": {"kind": "character", "major": 252, "minor": 0}}

# An RDMA device in software has no PCI, and no cache that it writes to.
SOFTWARE = {
    "DEV-05": WARN, "PCI-01": SKIP, "PCI-02": SKIP, "PCI-03": SKIP, "PCI-04": SKIP,
    "PCI-05": SKIP, "PCI-06": SKIP, "PCI-07": SKIP, "PCI-08": SKIP, "DDIO-01": SKIP,
    "DDIO-04": SKIP, "NUMA-01": SKIP, "NUMA-02": SKIP, "SYS-06": SKIP,
}
# Without any device.
NO_DEVICE = {
    "DEV-01": FAIL, "DEV-02": SKIP, "DEV-03": SKIP, "DEV-04": SKIP, "DEV-05": SKIP,
    "PCI-01": SKIP, "PCI-02": SKIP, "PCI-03": SKIP, "PCI-04": SKIP, "PCI-05": SKIP,
    "PCI-06": SKIP, "PCI-07": SKIP, "PCI-08": SKIP, "DDIO-04": SKIP, "ODP-01": SKIP,
    "ODP-02": SKIP, "CAP-01": SKIP, "CAP-02": SKIP, "CAP-03": SKIP, "LIM-02": UNKNOWN,
    "NUMA-01": SKIP, "NUMA-02": SKIP, "SYS-06": SKIP,
}
# No --target names one of the host's namespaces.
NO_TARGET = {"PM-01": SKIP, "PM-02": SKIP, "PM-03": SKIP, "PM-04": SKIP, "NUMA-01": SKIP}
# On a file system of a block device.
FSDAX = {"PM-02": SKIP, "PM-03": PASS, "PM-04": PASS, "ODP-01": PASS, "ODP-02": WARN}
# To an ordinary user, who sees the first 64 bytes of a configuration space.
UNREADABLE = {"PCI-01": UNKNOWN, "PCI-03": UNKNOWN, "PCI-04": INFO, "PCI-05": UNKNOWN,
              "PCI-06": UNKNOWN, "PCI-07": UNKNOWN, "DDIO-04": UNKNOWN}


@dataclass
class Ddio:
    """The ddio block. None: not compared."""
    state: str
    evidence: str = "registers"
    root_port: str | None = "0000:16:00.0"
    registers: tuple[int, int] | None = OFF
    low_confidence: bool = False


# The RDMA device's NIC cannot be seen: facts about other devices do not hold for it.
HIDDEN_NIC = {"PCI-01": UNKNOWN, "PCI-02": UNKNOWN, "PCI-03": UNKNOWN, "PCI-04": UNKNOWN,
              "PCI-05": UNKNOWN, "PCI-06": UNKNOWN, "DDIO-04": UNKNOWN}
HIDDEN_DDIO = Ddio("UNKNOWN", "none", None, None)
UNKNOWN_DDIO = Ddio("UNKNOWN", "none", "0000:16:00.0", None)
SOFTWARE_DDIO = Ddio("UNKNOWN", "none", None, None)


@dataclass
class Golden:
    name: str
    why: str
    host: Host
    row: str
    ddio: Ddio | None
    differs: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=lambda: list(DEVDAX))
    assumed: bool = False

    @property
    def statuses(self) -> dict[str, str]:
        unknown = set(self.differs) - set(HEALTHY)
        assert not unknown, f"{self.name}: no such check: {unknown}"
        return HEALTHY | self.differs


def healthy(**changes: Any) -> Host:
    """The healthy machine but for the CHANGES to its Host."""
    parts: dict[str, Any] = {"nics": [Nic(chain=card())], "regions": [Region()],
                             "targets": dict(DEVDAX_ANSWER)}
    return Host(**(parts | changes))


def in_slot(*chain: Any, **changes: Any) -> Host:
    """The healthy machine with this CHAIN from root port to NIC."""
    return healthy(nics=[Nic(chain=list(chain))], **changes)


def on_fsdax(answer: dict[str, Any] | None = None, options: str = "rw,dax=always",
             region: Region | None = None, **changes: Any) -> Host:
    """The healthy machine with a file on the PMem's file system; ANSWER differs from
    that of a file that is as it should be."""
    region = region or Region(mode="memory")
    file = {"kind": "regular", "size_bytes": 1 << 30, "major": 259, "minor": region.number,
            "dax": True, "map_sync": "ok"}
    mount = Mount("/mnt/pmem", region.block, f"259:{region.number}", options=options)
    parts: dict[str, Any] = {"regions": [region], "mounts": [mount],
                             "targets": {"/mnt/pmem/log": file | (answer or {})}}
    return healthy(**(parts | changes))


FILE = ["--target", "/mnt/pmem/log"]
