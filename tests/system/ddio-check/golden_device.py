# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is the RDMA device: which one, where it stands on the
way from a root port, of what kind it is, and how the machine is tuned."""

from typing import Any

from config_space import INTEGRATED_ENDPOINT, connectx, intel_port
from golden import (DEVDAX, HIDDEN_DDIO, HIDDEN_NIC, NO_DEVICE, PASS, SKIP, SOFTWARE, SOFTWARE_DDIO,
                    UNKNOWN, UNKNOWN_DDIO, UNREADABLE, WARN, Ddio, Golden, healthy, in_slot)
from machine import GEN3, OFF, ON, RXE_VERBS, Function, Host, Nic, Port, card

OFF_DDIO = Ddio("OFF")
DOWN = Port(state="1: DOWN", phys_state="3: Disabled")
FLUSH = 1 << 38 | 1 << 39
ATOMIC_WRITE = 1 << 40
NATIVE_VERBS = RXE_VERBS | {"device_cap_flags_ex": 0x01223C76 | FLUSH | ATOMIC_WRITE}
OTHER_ROOT = "0000:d7:00.0"
OTHER_SLOT = "0000:d8:00.0"


def rxe(verbs: dict[str, Any] = RXE_VERBS, **changes: Any) -> Nic:
    parts: dict[str, Any] = {"name": "rxe0", "netdev": "eth0", "node_desc": "rxe",
                                "hca_type": "", "parent": True, "verbs": dict(verbs)}
    return Nic(**(parts | changes))


def siw(**changes: Any) -> Nic:
    gids = [("0c42:a12b:1c40:0000:0000:0000:0000:0000", "")]
    parts: dict[str, Any] = {"name": "siw0", "netdev": "eth0", "node_type": "4: RNIC",
                                "node_desc": "Software iWARP stack", "hca_type": "",
                                "ports": [Port(gids=gids)], "verbs": dict(RXE_VERBS)}
    return Nic(**(parts | changes))


def virtual_function() -> Nic:
    """What a VF has of its own are neither ids nor device control nor link status."""
    vf = Function("0000:17:00.2", connectx(0x1018).as_virtual_function(),
                  speed=("Unknown", GEN3), width=(0, 16))
    return Nic("mlx5_2", [Function("0000:16:00.0", intel_port(0x2030, OFF)), vf],
               physfn=Function("0000:17:00.0", connectx()))


def bond(second: Function) -> Nic:
    """One RDMA device over two cards below different root ports."""
    first = card()
    other = [second, Function(OTHER_SLOT, connectx())]
    return Nic("mlx5_bond_0", first, netdev="bond0",
               bond={"ens1f0np0": first, "ens2f0np0": other})


def hidden(*names: str) -> Host:
    """A bond with DDIO on below its second root port, without these files."""
    return healthy(nics=[bond(Function(OTHER_ROOT, intel_port(0x2030, ON)))], without=list(names))


def other_card(values: tuple[int, int]) -> Nic:
    return Nic("mlx5_1", card(OTHER_SLOT, intel_port(0x2030, values), root=OTHER_ROOT),
               netdev="ens2f0np0")


NICS = [Nic(chain=card(port=intel_port(0x2030, ON))), other_card(OFF)]
SILENT = ["sys/devices/**/ports/1/*state", "sys/devices/**/ports/1/gid*",
          "sys/devices/**/*_link_speed", "sys/devices/**/*_link_width",
          "sys/kernel/iommu_groups/0/type", "proc/cpuinfo", "proc/self/*",
          "sys/devices/**/dax0.0/dax0.0/size", "sys/devices/**/namespace0.0/mode",
          "sys/devices/**/region0/badblocks", "sys/devices/**/region0/read_only",
          "sys/devices/system/clocksource", "sys/devices/**/local_cpulist",
          "sys/devices/**/msi_irqs", "sys/devices/**/fw_ver", "sys/devices/**/board_id",
          "sys/devices/**/hca_type", "sys/devices/**/0000:17:00.0/vendor",
          "sys/devices/**/0000:17:00.0/device"]


TREES = [
    # which device
    Golden("no-device", "without an RDMA device there is no answer",
           healthy(nics=[]), "no-device", None, NO_DEVICE),
    Golden("two-nics", "the first of two",
           healthy(nics=NICS), "ddio-on", Ddio("ON", registers=ON), {"DDIO-04": WARN}),
    Golden("two-nics-by-name", "the second one, by name: its own root port counts",
           healthy(nics=NICS), "ddio-off", Ddio("OFF", root_port=OTHER_ROOT), {},
           [*DEVDAX, "--device", "mlx5_1"]),

    # the way from the root port
    Golden("vf-physfn", "of a virtual function the physical one has control and link",
           healthy(nics=[virtual_function()]), "ddio-off", OFF_DDIO),
    Golden("bond", "two root ports, both off",
           healthy(nics=[bond(Function(OTHER_ROOT, intel_port(0x2030, OFF)))]), "ddio-off",
           OFF_DDIO),
    Golden("bond-unseen", "the bond is not among the interfaces that can be seen: what it is made "
           "of is not known",
           hidden("sys/class/net/bond0"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-parts-unseen", "the bond is there, and nothing tells what it is made of",
           hidden("sys/devices/virtual/net/bond0/lower_*", "sys/devices/virtual/net/bond0/bonding"),
           "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-part-without-device", "one of its two interfaces leads to no NIC",
           hidden("sys/devices/**/net/ens2f0np0/device"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-no-interfaces", "no GID names an interface: the device may be a bond",
           hidden("sys/devices/**/gid_attrs/ndevs"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("integrated", "a function of the root complex itself has no port above it",
           in_slot(Function("0000:16:02.0", connectx(kind=INTEGRATED_ENDPOINT))), "unproven",
           Ddio("UNKNOWN", "none", None, None),
           {"PCI-01": UNKNOWN, "DDIO-04": UNKNOWN, "PM-07": UNKNOWN}),
    Golden("non-root", "an ordinary user sees 64 bytes of a configuration space",
           healthy(root=False, cap_ipc_lock=False, memlock="8388608"), "ddio-unknown",
           UNKNOWN_DDIO, UNREADABLE | {"LIM-01": WARN}),

    Golden("subfunction", "the PCI function is above the auxiliary device that has it",
           healthy(nics=[Nic(chain=card(), auxiliary="mlx5_core.sf.4")]), "ddio-off", OFF_DDIO),
    Golden("platform-device", "a NIC of an SoC, on no PCI bus: hardware, and nothing else known",
           healthy(cpu="neoverse", nics=[Nic("hns_0", platform="HISI00D1:00", driver="hns_roce")],
                   no_turbo=None), "unproven", Ddio("UNKNOWN", "none", None, None),
           {"PCI-01": UNKNOWN, "PCI-02": UNKNOWN, "PCI-03": UNKNOWN, "PCI-04": UNKNOWN,
            "PCI-05": UNKNOWN, "PCI-06": UNKNOWN, "PCI-07": UNKNOWN, "DDIO-04": UNKNOWN,
            "NUMA-02": UNKNOWN, "PM-07": UNKNOWN, "SYS-02": SKIP, "SYS-06": UNKNOWN}),

    # devices of software
    Golden("rxe", "the processor copies: a read of it flushes nothing out of the cache",
           healthy(nics=[rxe()]), "software", SOFTWARE_DDIO, SOFTWARE),
    Golden("rxe-native", "the kernel's native flush is done by the processor",
           healthy(nics=[rxe(NATIVE_VERBS)]), "native", SOFTWARE_DDIO, SOFTWARE | {"CAP-01": PASS}),
    Golden("siw", "iWARP in software; it has no RoCE address to look for",
           healthy(nics=[siw()]), "software", SOFTWARE_DDIO, SOFTWARE | {"DEV-03": SKIP}),

    # the rest of the machine
    Golden("noisy", "nothing here is tuned for measurements; which does not affect persistence",
           healthy(nics=[Nic(chain=card(), irq_cpus="2-3")], governor="powersave", no_turbo=0,
                   idle=[("POLL", 0), ("C1", 2), ("C6", 133)], clocksource="hpet",
                   numa_balancing=1, usable_cpus="2-3"), "ddio-off", OFF_DDIO,
           {"NUMA-02": WARN, "NUMA-03": WARN, "SYS-01": WARN, "SYS-02": WARN, "SYS-03": WARN,
            "SYS-04": WARN, "SYS-06": WARN}),
    Golden("silent", "a machine that does not tell much: unknown is not off, not good, not bad",
           healthy(without=SILENT), "unproven", None,
           HIDDEN_NIC |
           {"DEV-02": UNKNOWN, "DEV-03": UNKNOWN, "DEV-04": UNKNOWN, "PCI-08": UNKNOWN,
            "DDIO-01": UNKNOWN, "PM-02": UNKNOWN, "PM-05": UNKNOWN, "PM-07": UNKNOWN,
            "PM-10": UNKNOWN, "PM-11": UNKNOWN, "LIM-01": UNKNOWN, "LIM-02": UNKNOWN,
            "NUMA-02": UNKNOWN, "SYS-04": UNKNOWN, "SYS-06": UNKNOWN}),
]
