# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a machine that a tree stands for, each healthy unless said otherwise."""

from dataclasses import dataclass, field
from typing import Any

from config_space import ConfigSpace, connectx, intel_port

GIB = 1 << 30
OFF = (0x00183011, 0x200)  # no allocating writes, none for no-snoop, none for TPH
ON = (0x00183091, 0)  # as firmware leaves it
GEN3 = "8.0 GT/s PCIe"
ROCE_V2 = ("0000:0000:0000:0000:0000:ffff:c0a8:0a01", "RoCE v2")
LINK_LOCAL = ("fe80:0000:0000:0000:0e42:a1ff:fe2b:1c40", "IB/RoCE v1")
LINK_LOCAL_V2 = (LINK_LOCAL[0], "RoCE v2")
MLX5_VERBS = {"device_cap_flags_ex": 0x05721C36, "odp_general": 3, "odp_rc": 0x1F,
              "max_qp_wr": 32768, "max_cqe": 4194303, "max_qp_rd_atom": 16, "tph_handle": False}
RXE_VERBS = {"device_cap_flags_ex": 0x01223C76, "odp_general": 0, "odp_rc": 0,
             "max_qp_wr": 1048576, "max_cqe": 32767, "max_qp_rd_atom": 128, "tph_handle": False}


@dataclass
class Function:
    """A PCI function; speeds and widths are (current, best)."""
    address: str
    config: ConfigSpace
    readable: int = 4096  # bytes of it
    speed: tuple[str, str] = (GEN3, GEN3)
    width: tuple[int, int] = (16, 16)


@dataclass
class Port:
    state: str = "4: ACTIVE"
    phys_state: str = "5: LinkUp"
    rate: str = "100 Gb/sec (4X EDR)"
    link_layer: str = "Ethernet"
    gids: list[tuple[str, str]] = field(default_factory=lambda: [LINK_LOCAL, LINK_LOCAL_V2,
                                                                 (ROCE_V2[0], "IB/RoCE v1"),
                                                                 ROCE_V2])


@dataclass
class Nic:
    """An RDMA device below the first of CHAIN, a root port, or one of software:
    then there is no chain, unless an old kernel gave it its network card's."""
    name: str = "mlx5_0"
    chain: list[Function] = field(default_factory=list)
    netdev: str = "ens1f0np0"
    driver: str = "mlx5_core"
    node_type: str = "1: CA"
    node_desc: str = "db1 mlx5_0"
    hca_type: str = "MT4119"
    ports: list[Port] = field(default_factory=lambda: [Port()])
    numa_node: int = 0
    cpus: str = "0-1"
    irq_cpus: str = "0-1"
    physfn: Function | None = None
    parent: bool = False  # has the attribute "parent", which only rxe has
    bond: dict[str, list[Function]] | None = None  # network devices below bond0
    auxiliary: str = ""  # the device below the PCI function that has it, as of a subfunction
    platform: str = ""  # the device that has it instead of a PCI function
    verbs: dict[str, Any] | None = field(default_factory=lambda: dict(MLX5_VERBS))


@dataclass
class Dimm:
    name: str = "nmem0"
    flags: str | None = ""
    dirty_shutdown: int | None = 0


@dataclass
class Region:
    """A region with one namespace: region0, namespace0.0 and dax0.0 or pmem0."""
    number: int = 0
    mode: str = "dax"
    provider: str = "ACPI.NFIT"
    bus: int = 0
    domain: str | None = "memory_controller"
    size: int = 252 * GIB
    read_only: int = 0
    devtype: str = "nd_pmem"
    badblocks: str = ""
    numa_node: int = 0
    target_node: int = 2
    dax_size: int = 248 * GIB
    align: int = 2 << 20
    dimms: list[Dimm] = field(default_factory=lambda: [Dimm()])
    claimed: bool = True  # by a pfn device, as ndctl makes it
    other_modes: list[str] = field(default_factory=list)  # further namespaces
    other_dimms: list[Dimm] = field(default_factory=list)  # on the bus, not of this region

    @property
    def block(self) -> str:
        return f"pmem{self.number}" + ("s" if self.mode == "safe" else "")


@dataclass
class Mount:
    place: str
    device: str  # in sys/block
    number: str
    filesystem: str = "ext4"
    options: str = "rw,dax=always"


@dataclass
class Host:
    cpu: str = "clx"
    sys_vendor: str | None = "Dell Inc."
    product: str | None = None
    smbios: int | None = None  # the second extension byte of its BIOS table: bit 4 is a guest's
    other_functions: list[tuple[int, int]] = field(default_factory=list)  # PCI ids, beside the NIC
    files: dict[str, str] = field(default_factory=dict)  # further files of any kind
    nics: list[Nic] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    mounts: list[Mount] = field(default_factory=list)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    striped: list[str] = field(default_factory=list)  # block devices below dm-0
    cxl_pmem_bytes: int = 0
    # whether root port and device have the DVSEC of GPF; None: their configuration is not there
    cxl_gpf: tuple[bool, bool] | None = None
    lost_dimms: int = 0  # memory modules without a region
    soft_reserved: bool = False  # a device DAX of ordinary memory
    memlock: str = "unlimited"
    cap_ipc_lock: bool = True
    root: bool = True  # what only root may read is there
    resctrl: dict[str, str] = field(default_factory=dict)
    governor: str = "performance"
    no_turbo: int | None = 1
    idle: list[tuple[str, int]] = field(default_factory=lambda: [("POLL", 0), ("C1", 2)])
    clocksource: str = "tsc"
    numa_balancing: int = 0
    usable_cpus: str = "0-3"
    probe: dict[str, Any] | None = None
    facts: bool = True
    without: list[str] = field(default_factory=list)  # patterns of files that are not there


def card(slot: str = "0000:17:00.0", port: ConfigSpace | None = None,
         nic: ConfigSpace | None = None, root: str = "0000:16:00.0") -> list[Function]:
    """A card in a slot of a root port, DDIO off and healthy unless said otherwise."""
    return [Function(root, port or intel_port(0x2030, OFF)), Function(slot, nic or connectx())]
