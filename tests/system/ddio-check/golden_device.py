# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is the RDMA device: which one, where it stands on the
way from a root port, of what kind it is, and how the machine is tuned."""

from typing import Any

from config_space import (DOWNSTREAM, INFINIBAND, INTEGRATED_ENDPOINT, NO_SNOOP, RELAXED_ORDERING,
                          UPSTREAM, connectx, intel_port, switch_port)
from golden import (ASSUMED, DEVDAX, FAIL, HIDDEN_DDIO, HIDDEN_NIC, INFO, NO_DEVICE, PASS, SKIP,
                    SOFTWARE, SOFTWARE_DDIO, UNKNOWN, UNKNOWN_DDIO, UNREADABLE, WARN, Ddio, Golden, healthy, in_slot)
from golden_ddio import NO_SNOOP_ALLOCATES, SAID_OFF, SEEN_OFF, TPH_ALLOWED, header_at
from machine import (GEN3, GEN4, LINK_LOCAL, LINK_LOCAL_V2, MLX5_VERBS, OFF, ON, ROCE_V2, RXE_VERBS,
                     Function, Host, Nic, Port, Region, card)

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


def virtual_function(flags: int = 0, tph: int | None = None, physical_tph: int | None = None,
                     values: tuple[int, int] = OFF) -> Nic:
    """What a VF has of its own are neither ids nor device control nor link status."""
    vf = Function("0000:17:00.2", connectx(0x1018, tph=tph).as_virtual_function(),
                  speed=("Unknown", GEN3), width=(0, 16))
    physical = Function("0000:17:00.0", connectx(flags=flags, tph=physical_tph))
    return Nic("mlx5_2", [Function("0000:16:00.0", intel_port(0x2030, values)), vf],
               physfn=physical)


def bond(second: Function) -> Nic:
    """One RDMA device over two cards below different root ports."""
    first = card()
    other = [second, Function(OTHER_SLOT, connectx())]
    return Nic("mlx5_bond_0", first, netdev="bond0",
               bond={"ens1f0np0": first, "ens2f0np0": other})


def hidden(*names: str, **changes: Any) -> Host:
    """A bond with DDIO on below its second root port, without these files."""
    return healthy(nics=[bond(Function(OTHER_ROOT, intel_port(0x2030, ON)))], without=list(names),
                   **changes)


def other_card(values: tuple[int, int]) -> Nic:
    return Nic("mlx5_1", card(OTHER_SLOT, intel_port(0x2030, values), root=OTHER_ROOT),
               netdev="ens2f0np0")


NICS = [Nic(chain=card(port=intel_port(0x2030, ON))), other_card(OFF)]
IRON = [Function("0000:16:00.0", intel_port(0x2030, OFF)),
        Function("0000:17:00.0", switch_port(UPSTREAM)),
        Function("0000:18:04.0", switch_port(DOWNSTREAM)), Function("0000:19:00.0", connectx())]


def widths(port: tuple[int, int], nic: tuple[int, int], speeds: tuple[str, str] = (GEN3, GEN3),
           port_speeds: tuple[str, str] = (GEN3, GEN3)) -> list[Function]:
    return [Function("0000:16:00.0", intel_port(0x2030, OFF), speed=port_speeds, width=port),
            Function("0000:17:00.0", connectx(), speed=speeds, width=nic)]


def with_ports(*ports: Port, **changes: Any) -> Nic:
    return Nic(chain=card(), ports=list(ports), **changes)

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
    Golden("other-name", "a name that no device has",
           healthy(), "no-device", None, NO_DEVICE, [*DEVDAX, "--device", "mlx5_7"]),
    Golden("two-nics", "the first of two",
           healthy(nics=NICS), "ddio-on", Ddio("ON", registers=ON), {"DDIO-04": WARN}),
    Golden("two-nics-by-name", "the second one, by name: its own root port counts",
           healthy(nics=NICS), "ddio-off", Ddio("OFF", root_port=OTHER_ROOT), {},
           [*DEVDAX, "--device", "mlx5_1"]),
    Golden("hardware-before-software", "a software device that sorts first is not the one meant",
           healthy(nics=[rxe(name="a0"), Nic(chain=card())]), "ddio-off", OFF_DDIO),
    Golden("first-port-down", "the first that has an active port",
           healthy(nics=[with_ports(DOWN), other_card(OFF)]), "ddio-off",
           Ddio("OFF", root_port=OTHER_ROOT)),

    # ports and addresses
    Golden("port-unknown", "whether its port is active cannot be read",
           healthy(without=["sys/devices/**/ports/1/state"]), "unproven", OFF_DDIO,
           {"DEV-02": UNKNOWN}),
    Golden("port-down", "no port is active",
           healthy(nics=[with_ports(DOWN)]), "failed", OFF_DDIO, {"DEV-02": FAIL}),
    Golden("one-of-two-down", "a card with two ports and one cable",
           healthy(nics=[with_ports(Port(), DOWN)]), "ddio-off", OFF_DDIO, {"DEV-02": WARN}),
    Golden("infiniband", "InfiniBand needs no RoCE address",
           healthy(nics=[Nic(chain=card(nic=connectx(class_code=INFINIBAND)), netdev="ib0", ports=[
               Port(link_layer="InfiniBand", gids=[("fe80:0000:0000:0000:0c42:a103:002b:1c40",
                                                    "IB/RoCE v1")])])]),
           "ddio-off", OFF_DDIO, {"DEV-03": SKIP}),
    Golden("link-local-only", "RoCE v2 by a link-local address alone goes through no router",
           healthy(nics=[with_ports(Port(gids=[LINK_LOCAL, LINK_LOCAL_V2]))]), "ddio-off",
           OFF_DDIO, {"DEV-03": WARN}),
    Golden("roce-v1-only", "an address of RoCE v1 alone",
           healthy(nics=[with_ports(Port(gids=[LINK_LOCAL, (ROCE_V2[0], "IB/RoCE v1")]))]),
           "ddio-off", OFF_DDIO, {"DEV-03": WARN}),

    # the way from the root port
    Golden("switch-between", "upstream and downstream port of a switch are no root ports",
           in_slot(*IRON), "ddio-off", OFF_DDIO),
    Golden("vf-physfn", "of a virtual function the physical one has control and link",
           healthy(nics=[virtual_function()]), "ddio-off", OFF_DDIO),
    Golden("vf-nosnoop", "its own No Snoop Enable reads 0 and means nothing",
           healthy(nics=[virtual_function(NO_SNOOP, values=NO_SNOOP_ALLOCATES)]), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN},
           [*DEVDAX, "--lenient"]),
    Golden("vf-relaxed-ordering", "nor does its own relaxed ordering",
           healthy(nics=[virtual_function(RELAXED_ORDERING)]), "ddio-off", OFF_DDIO,
           {"PCI-04": INFO}),
    Golden("vf-tph", "a virtual function has TPH of its own",
           healthy(nics=[virtual_function(tph=1, values=TPH_ALLOWED)]), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("bond", "two root ports, both off",
           healthy(nics=[bond(Function(OTHER_ROOT, intel_port(0x2030, OFF)))]), "ddio-off",
           OFF_DDIO),
    Golden("bond-one-on", "one of two is on: what comes in there stays in the cache",
           healthy(nics=[bond(Function(OTHER_ROOT, intel_port(0x2030, ON)))]), "ddio-on",
           Ddio("ON", root_port=OTHER_ROOT, registers=ON), {"DDIO-04": WARN}),
    Golden("bond-one-unknown", "one of two is unknown: so is the whole",
           healthy(nics=[bond(Function(OTHER_ROOT, header_at(0x180)))]), "ddio-unknown",
           Ddio("UNKNOWN", "none", OTHER_ROOT, None), {"DDIO-04": UNKNOWN}),
    Golden("bond-unseen", "the bond is not among the interfaces that can be seen: what it is made "
           "of is not known",
           hidden("sys/class/net/bond0"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-parts-unseen", "the bond is there, and nothing tells what it is made of",
           hidden("sys/devices/virtual/net/bond0/lower_*", "sys/devices/virtual/net/bond0/bonding"),
           "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-part-unseen", "one of its two interfaces is not to be seen",
           hidden("sys/class/net/ens2f0np0"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-part-without-device", "one of its two interfaces leads to no NIC",
           hidden("sys/devices/**/net/ens2f0np0/device"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-no-interfaces", "no GID names an interface: the device may be a bond",
           hidden("sys/devices/**/gid_attrs/ndevs"), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-unseen-eadr", "whether relaxed ordering is broken there is not known either",
           hidden("sys/class/net/bond0", regions=[Region(domain="cpu_cache")]), "unproven",
           HIDDEN_DDIO, HIDDEN_NIC),
    Golden("bond-unseen-assumed-off", "nor does a statement about DDIO tell",
           hidden("sys/class/net/bond0"), "unproven", None, HIDDEN_NIC | {"DDIO-05": ASSUMED},
           SAID_OFF),
    Golden("bond-unseen-seen-off", "nor traffic, which takes one way",
           hidden("sys/class/net/bond0", probe=SEEN_OFF), "unproven", HIDDEN_DDIO,
           HIDDEN_NIC | {"DDIO-06": UNKNOWN}, [*DEVDAX, "--probe"]),
    Golden("interface-unseen", "a single NIC in another network namespace than its interface",
           healthy(without=["sys/class/net/ens1f0np0"]), "unproven", HIDDEN_DDIO, HIDDEN_NIC),
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

    # links
    Golden("downtrained", "the link came up slower than both ends can",
           in_slot(*widths((16, 16), (16, 16), ("2.5 GT/s PCIe", GEN3), ("2.5 GT/s PCIe", GEN3))),
           "ddio-off", OFF_DDIO, {"PCI-02": WARN}),
    Golden("narrow-slot", "the card could do twice of what the slot gives",
           in_slot(*widths((8, 8), (8, 16))), "ddio-off", OFF_DDIO, {"PCI-02": WARN}),
    Golden("wide-slot", "a slot that could do more than the card is no loss",
           in_slot(*widths((8, 16), (8, 8), port_speeds=(GEN3, GEN4))), "ddio-off", OFF_DDIO),
    Golden("small-reads", "read requests of 128 bytes",
           in_slot(*card(nic=connectx(mrrs=128))), "ddio-off", OFF_DDIO, {"PCI-03": WARN}),
    Golden("relaxed-ordering", "relaxed ordering on a processor that does it well",
           in_slot(*card(nic=connectx(flags=RELAXED_ORDERING))), "ddio-off", OFF_DDIO,
           {"PCI-04": INFO}),
    Golden("iommu", "every address is translated",
           healthy(nics=[Nic(chain=card(), iommu="DMA-FQ")]), "ddio-off", OFF_DDIO,
           {"PCI-08": WARN}),
    Golden("no-iommu", "no group: nothing is translated",
           healthy(nics=[Nic(chain=card(), iommu=None)]), "ddio-off", OFF_DDIO),

    # devices of software
    Golden("rxe", "the processor copies: a read of it flushes nothing out of the cache",
           healthy(nics=[rxe()]), "software", SOFTWARE_DDIO, SOFTWARE),
    Golden("rxe-native", "the kernel's native flush is done by the processor",
           healthy(nics=[rxe(NATIVE_VERBS)]), "native", SOFTWARE_DDIO, SOFTWARE | {"CAP-01": PASS}),
    Golden("rxe-half-native", "flushing for visibility only is not it",
           healthy(nics=[rxe(RXE_VERBS | {"device_cap_flags_ex": 1 << 38})]), "software",
           SOFTWARE_DDIO, SOFTWARE),
    Golden("rxe-eadr", "what the processor writes is safe in its cache, too",
           healthy(nics=[rxe()], regions=[Region(domain="cpu_cache")]), "eadr", SOFTWARE_DDIO,
           SOFTWARE),
    Golden("rxe-assumed-off", "what is said of DDIO does not matter here",
           healthy(nics=[rxe()]), "software", None, SOFTWARE | {"DDIO-05": ASSUMED}, SAID_OFF),
    Golden("rxe-old-kernel", "before 5.11 it had its network card's PCI device as parent",
           healthy(nics=[rxe(chain=card(), driver="ixgbe")]), "software", SOFTWARE_DDIO, SOFTWARE),
    Golden("siw", "iWARP in software; it has no RoCE address to look for",
           healthy(nics=[siw()]), "software", SOFTWARE_DDIO, SOFTWARE | {"DEV-03": SKIP}),
    Golden("siw-old-kernel", "with its network card's PCI device as parent, and its driver",
           healthy(nics=[siw(chain=card(), driver="ixgbe")]), "software", SOFTWARE_DDIO,
           SOFTWARE | {"DEV-03": SKIP}),
    Golden("native-ddio-on", "a NIC that flushes natively does so with DDIO on, too",
           healthy(nics=[Nic(chain=card(port=intel_port(0x2030, ON)), verbs=MLX5_VERBS | {
               "device_cap_flags_ex": FLUSH})]), "native", Ddio("ON", registers=ON),
           {"DDIO-04": WARN, "CAP-01": PASS}),

    # the rest of the machine
    Golden("numa-cross", "NIC and memory are on different sockets: slow, not wrong",
           healthy(regions=[Region(numa_node=1, target_node=3)]), "ddio-off", OFF_DDIO,
           {"NUMA-01": WARN}),
    Golden("numa-unknown", "firmware does not tell where the NIC is",
           healthy(nics=[Nic(chain=card(), numa_node=-1, cpus="0-3")]), "ddio-off", OFF_DDIO,
           {"NUMA-01": UNKNOWN}),
    Golden("noisy", "nothing here is tuned for measurements; which does not affect persistence",
           healthy(nics=[Nic(chain=card(), irq_cpus="2-3")], governor="powersave", no_turbo=0,
                   idle=[("POLL", 0), ("C1", 2), ("C6", 133)], clocksource="hpet",
                   numa_balancing=1, usable_cpus="2-3"), "ddio-off", OFF_DDIO,
           {"NUMA-02": WARN, "NUMA-03": WARN, "SYS-01": WARN, "SYS-02": WARN, "SYS-03": WARN,
            "SYS-04": WARN, "SYS-06": WARN}),
    Golden("untunable", "a kernel without frequencies, idle states, balancing and lockdown",
           healthy(governor=None, no_turbo=None, idle=[], numa_balancing=None, lockdown=None),
           "ddio-off", OFF_DDIO,
           {"NUMA-03": SKIP, "SYS-01": SKIP, "SYS-02": SKIP, "SYS-03": SKIP, "SYS-05": SKIP}),
    Golden("silent", "a machine that does not tell much: unknown is not off, not good, not bad",
           healthy(without=SILENT), "unproven", None,
           HIDDEN_NIC |
           {"DEV-02": UNKNOWN, "DEV-03": UNKNOWN, "DEV-04": UNKNOWN, "PCI-08": UNKNOWN,
            "DDIO-01": UNKNOWN, "PM-02": UNKNOWN, "PM-05": UNKNOWN, "PM-07": UNKNOWN,
            "PM-10": UNKNOWN, "PM-11": UNKNOWN, "LIM-01": UNKNOWN, "LIM-02": UNKNOWN,
            "NUMA-02": UNKNOWN, "SYS-04": UNKNOWN, "SYS-06": UNKNOWN}),
    Golden("locked-down", "integrity: no MSR, no register can be changed from here",
           healthy(lockdown="none [integrity] confidentiality"), "ddio-off", OFF_DDIO,
           {"SYS-05": WARN}),
]
