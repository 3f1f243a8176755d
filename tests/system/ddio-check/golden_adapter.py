# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is who places received data, and whether the machine is one.

One of each kind: drivers have their rows in tests/unit/common/test_adapter.c, names and signs of hypervisors
in test_guest.c and test_gather_platform.c of tests/unit/readiness.
"""

from typing import Any

from config_space import connectx, intel_port, other_port
from golden import (ASSUMED, DEVDAX, FAIL, PASS, SKIP, SOFTWARE_DDIO, UNKNOWN, UNKNOWN_DDIO, WARN, Ddio, Golden,
                    healthy, in_slot)
from golden_ddio import SAID_PMEM
from machine import OFF, Nic, Port, Region, card

COPIED = {"DEV-05": WARN, "DDIO-01": SKIP, "DDIO-04": SKIP}
EADR = [Region(domain="cpu_cache")]


def of(driver: str, vendor: int, device: int, **changes: Any) -> list[Nic]:
    return [Nic(chain=card(nic=connectx(device, vendor=vendor)), driver=driver, **changes)]


PLACED = [
    Golden("cpu-hfi1", "hw/hfi1/rc.c: RDMA_WRITE ends in rvt_copy_sge(), a memcpy",
           healthy(nics=of("hfi1", 0x8086, 0x24F0)), "software", SOFTWARE_DDIO, COPIED),
    Golden("no-rc-efa", "hw/efa/efa_verbs.c: create_qp takes UD and SRD",
           healthy(nics=of("efa", 0x1D0F, 0xEFA1, node_type="7: unspecified")), "failed", Ddio("OFF"), {"DEV-05": FAIL}),
    Golden("unknown-driver", "a driver that was not there when the table was made",
           healthy(nics=of("tomorrow", 0xABCD, 1)), "unproven", Ddio("OFF"), {"DEV-05": UNKNOWN}),
    Golden("no-rc-no-interface", "EFA has no network interface: that is not why it is not ready",
           healthy(nics=of("efa", 0x1D0F, 0xEFA1, node_type="7: unspecified",
                           ports=[Port(link_layer="Unknown", gids=[])]), without=["sys/class/net/*"]), "failed",
           Ddio("OFF"), {"DEV-03": SKIP, "DEV-05": FAIL}),
    Golden("unknown-no-driver", "the link to the driver cannot be read",
           healthy(without=["sys/devices/pci*/*/*/drive[r]"]), "unproven", Ddio("OFF"), {"DEV-05": UNKNOWN}),
    Golden("dma-before-no-rc", "of two devices the one that can do it is meant",
           healthy(nics=[Nic("efa_0", card("0000:d8:00.0", root="0000:d7:00.0"), netdev="eth9", driver="efa",
                             node_type="7: unspecified"), Nic(chain=card())]), "ddio-off", Ddio("OFF")),
]

# Machines and guests: with memory in eADR, where all but the hypervisor is well.
ARM: dict[str, Any] = {"cpu": "neoverse", "no_turbo": None, "clocksource": "arch_sys_counter"}
IRON_ARM = {"DDIO-04": UNKNOWN, "SYS-02": SKIP}
QEMU_PORT = other_port(0x1B36, 0x000C)


def below(port: Any, **changes: Any) -> Any:
    return in_slot(*card(port=port), regions=EADR, **changes)


MACHINES = [
    Golden("x86-hidden-port", "QEMU's root port above the NIC: pci.ids 1b36:000c", below(QEMU_PORT), "unproven", None,
           {"PM-07": WARN, "DDIO-04": UNKNOWN}),
    Golden("x86-hidden-smbios", "DSP0134 7.1.2.2, bit 4: SMBIOS table describes a virtual machine",
           below(intel_port(0x2030, OFF), smbios=0x1C), "unproven", None, {"PM-07": WARN, "DDIO-04": UNKNOWN}),
    Golden("iron-i3en-metal", "a whole machine: no flag, and the name",
           below(intel_port(0x2030, OFF), sys_vendor="Amazon EC2", product="i3en.metal"), "eadr", Ddio("OFF")),
    Golden("arm-qemu", "what QEMU's board virt has",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="QEMU", product="KVM Virtual Machine"), "unproven",
           UNKNOWN_DDIO, IRON_ARM | {"PM-07": WARN}),
    Golden("arm-open-table", "a server, but an ordinary user cannot read its table",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="GIGABYTE"), "unproven", UNKNOWN_DDIO,
           IRON_ARM | {"PM-07": UNKNOWN}),
    Golden("arm-open-assumed", "what is not known can be stated",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="GIGABYTE"), "eadr", UNKNOWN_DDIO,
           IRON_ARM | {"PM-07": ASSUMED}, [*DEVDAX, *SAID_PMEM], True),
    Golden("arm-iron", "pci.ids: 1def is Ampere Computing; and the table has bit 4 at 0",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="GIGABYTE", smbios=0x0C), "eadr", UNKNOWN_DDIO,
           IRON_ARM | {"PM-07": PASS}),
    Golden("x86-virtio", "a card may show a virtio function, and a hypervisor does",
           below(intel_port(0x2030, OFF), other_functions=[(0x1AF4, 0x1041)]), "unproven", Ddio("OFF"),
           {"PM-07": UNKNOWN}),
]

TREES = [*PLACED, *MACHINES]
