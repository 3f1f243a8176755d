# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is who places received data, and whether the machine is one.

Who places it was read in the sources of Linux, drivers/infiniband: the file of each row.
"""

from typing import Any

from config_space import connectx, intel_port, other_port
from golden import (ASSUMED, DEVDAX, FAIL, PASS, SKIP, SOFTWARE_DDIO, UNKNOWN, UNKNOWN_DDIO, WARN, Ddio, Golden,
                    healthy, in_slot)
from golden_ddio import SAID_OFF, SAID_PMEM
from machine import OFF, Nic, Port, Region, card

# Driver behind the link "device", PCI ids, and where it is seen.
BY_DMA = [
    ("mlx5_core", 0x15B3, 0x1017, "hw/mlx5/mr.c: the adapter gets a table of DMA addresses"),
    ("mlx4_core", 0x15B3, 0x1003, "hw/mlx4/mr.c: mlx4_ib_umem_write_mtt()"),
    ("bnxt_en", 0x14E4, 0x1750, "hw/bnxt_re/ib_verbs.c: bnxt_re_reg_user_mr()"),
    ("ice", 0x8086, 0x1592, "hw/irdma/verbs.c: irdma_hwreg_mr()"),
    ("i40e", 0x8086, 0x37D0, "hw/irdma/verbs.c: irdma_hwreg_mr()"),
    ("cxgb4", 0x1425, 0x6407, "hw/cxgb4/mem.c: write_pbl()"),
    ("qede", 0x1077, 0x1656, "hw/qedr/verbs.c: populate_pbls of the MR"),
    ("hns3", 0x19E5, 0xA222, "hw/hns/hns_roce_mr.c: hns_roce_mr_enable()"),
    ("be2net", 0x19A2, 0x0710, "hw/ocrdma/ocrdma_verbs.c: build_user_pbes()"),
    ("erdma", 0x1DED, 0x107F, "hw/erdma/erdma_verbs.c: regmr_cmd()"),
]
BY_CPU = [
    ("hfi1", 0x8086, 0x24F0, "hw/hfi1/rc.c: RDMA_WRITE ends in rvt_copy_sge(), a memcpy"),
    ("hfi1", 0x8086, 0x24F1, "the integrated adapter of the same driver"),
    ("ib_qib", 0x1077, 0x7322, "hw/qib/qib_rc.c: RDMA_WRITE ends in rvt_copy_sge()"),
    ("renamed", 0x8086, 0x24F0, "the ids alone: whatever the driver is called, the adapter is that"),
]
WITHOUT_RC = [
    ("efa", "7: unspecified", 0x1D0F, 0xEFA1, "hw/efa/efa_verbs.c: create_qp takes UD and SRD"),
    ("usnic_verbs", "6: usNIC UDP", 0x1137, 0x00CF, "hw/usnic/usnic_ib_verbs.c: create_qp takes UD"),
    ("enic", "6: usNIC UDP", 0x1137, 0x0043, "the physical function has the network driver"),
    ("tomorrow", "5: usNIC", 0x1137, 0x0043, "node_type alone: RDMA_NODE_USNIC"),
]
NOT_KNOWN = [
    ("tomorrow", 0xABCD, 0x0001, "a driver that was not there when the table was made"),
    ("vmw_pvrdma", 0x15AD, 0x0820, "hw/vmw_pvrdma: the hypervisor copies, or an adapter of its host"),
    ("vfio-pci", 0x15B3, 0x1017, "the kernel's driver has given the adapter away"),
]
COPIED = {"DEV-05": WARN, "DDIO-01": SKIP, "DDIO-04": SKIP}
EADR = [Region(domain="cpu_cache")]


def of(driver: str, vendor: int, device: int, **changes: Any) -> list[Nic]:
    return [Nic(chain=card(nic=connectx(device, vendor=vendor)), driver=driver, **changes)]


def name(driver: str, device: int) -> str:
    return f"{driver.replace('_', '-')}-{device:04x}"


PLACED = [
    *(Golden(f"dma-{name(driver, device)}", source, healthy(nics=of(driver, vendor, device)), "ddio-off",
             Ddio("OFF")) for driver, vendor, device, source in BY_DMA),
    *(Golden(f"cpu-{name(driver, device)}", source, healthy(nics=of(driver, vendor, device)), "software",
             SOFTWARE_DDIO, COPIED) for driver, vendor, device, source in BY_CPU),
    *(Golden(f"cpu-assumed-{name(driver, device)}", "what is stated of DDIO moves no copy of the CPU",
             healthy(nics=of(driver, vendor, device)), "software", SOFTWARE_DDIO,
             COPIED | {"DDIO-05": ASSUMED}, SAID_OFF) for driver, vendor, device, _ in BY_CPU[:2]),
    *(Golden(f"no-rc-{name(driver, device)}-{node[0]}", source,
             healthy(nics=of(driver, vendor, device, node_type=node)), "failed", Ddio("OFF"), {"DEV-05": FAIL})
      for driver, node, vendor, device, source in WITHOUT_RC),
    Golden("no-rc-no-interface", "EFA has no network interface: that is not why it is not ready",
           healthy(nics=of("efa", 0x1D0F, 0xEFA1, node_type="7: unspecified",
                           ports=[Port(link_layer="Unknown", gids=[])]), without=["sys/class/net/*"]), "failed",
           Ddio("OFF"), {"DEV-03": SKIP, "DEV-05": FAIL}),
    *(Golden(f"unknown-{name(driver, device)}", source, healthy(nics=of(driver, vendor, device)), "unproven",
             Ddio("UNKNOWN", "none", "0000:16:00.0", None) if vendor == 0x15AD else Ddio("OFF"),
             {"DEV-05": UNKNOWN} | ({"DDIO-04": UNKNOWN, "PM-07": WARN} if vendor == 0x15AD else {}))
      for driver, vendor, device, source in NOT_KNOWN),
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
GUESTS_X86: list[tuple[str, dict[str, Any], str]] = [
    ("hidden-port", {"files": {}}, "QEMU's root port above the NIC: pci.ids 1b36:000c"),
    ("hidden-smbios", {"smbios": 0x1C}, "DSP0134 7.1.2.2, bit 4: SMBIOS table describes a virtual machine"),
    ("hidden-vmware", {"other_functions": [(0x15AD, 0x07A0)]}, "pci.ids: VMware's root port"),
    ("hidden-hyper-v", {"other_functions": [(0x1414, 0x5353)]}, "pci.ids: Hyper-V's virtual VGA"),
    ("hidden-vbox", {"other_functions": [(0x80EE, 0xCAFE)]}, "pci.ids: VirtualBox's guest service"),
    ("hidden-xen", {"other_functions": [(0x5853, 0x0001)]}, "pci.ids: Xen's platform device"),
    ("hidden-xenfs", {"files": {"sys/hypervisor/type": "xen"}}, "Linux ABI/stable/sysfs-hypervisor-xen"),
    ("hidden-fw-cfg", {"files": {"sys/firmware/qemu_fw_cfg/rev": "3"}}, "Linux ABI/testing/sysfs-firmware-qemu_fw_cfg"),
    ("hidden-product", {"product": "VMware20,1"}, "the product has the name, the vendor has not"),
    ("hidden-ec2-smbios", {"sys_vendor": "Amazon EC2", "product": "m7i.metal-24xl", "smbios": 0x1C},
     "the table wins over the name"),
]
GUESTS_ARM: list[tuple[str, dict[str, Any], str]] = [
    ("qemu", {"sys_vendor": "QEMU", "product": "KVM Virtual Machine"}, "what QEMU's board virt has"),
    ("apple", {"sys_vendor": "Apple Inc.", "product": "Apple Virtualization Generic Platform"}, "Virtualization.framework"),
    ("vmware", {"sys_vendor": "VMware, Inc.", "product": "VMware20,1"}, "ESXi on Arm and Fusion"),
    ("hetzner", {"sys_vendor": "Hetzner", "product": "vServer"}, "Hetzner CAX"),
    ("parallels", {"sys_vendor": "Parallels International GmbH."}, "Parallels Desktop"),
    ("kubevirt", {"sys_vendor": "KubeVirt"}, "KubeVirt's SMBIOS defaults"),
    ("openstack", {"sys_vendor": "OpenStack Foundation", "product": "OpenStack Nova"}, "nova's SMBIOS"),
    ("dt-kvm", {"sys_vendor": None, "files": {"proc/device-tree/hypervisor/compatible": "linux,kvm"}},
     "Linux Documentation/devicetree: a hypervisor node"),
    ("dt-fw-cfg", {"sys_vendor": None, "files": {"proc/device-tree/fw-cfg@9020000/compatible": "qemu,fw-cfg-mmio"}},
     "QEMU docs/specs/fw_cfg"),
    ("dt-dummy-virt", {"sys_vendor": None, "files": {"proc/device-tree/compatible": "linux,dummy-virt"}},
     "kvmtool and QEMU without firmware"),
]
OPEN_ARM: list[tuple[str, dict[str, Any], str]] = [
    ("aws", {"sys_vendor": "Amazon EC2", "product": "m7g.xlarge"}, "an instance that is not .metal"),
    ("azure", {"sys_vendor": "Microsoft Corporation"}, "Azure's Cobalt without product_name"),
    ("google", {"sys_vendor": "Google", "product": "Google Compute Engine"}, "C4A and T2A"),
    ("alibaba", {"sys_vendor": "Alibaba Cloud", "product": "Alibaba Cloud ECS"}, "Yitian"),
    ("tencent", {"sys_vendor": "Tencent Cloud", "product": "CVM"}, "SR1"),
    ("huawei", {"sys_vendor": "Huawei Cloud"}, "Kunpeng kc1"),
    ("scaleway", {"sys_vendor": "Scaleway", "product": "SCW-AMP2-C4"}, "COP-ARM"),
    ("oracle", {"sys_vendor": "Oracle", "files": {"sys/class/dmi/id/chassis_asset_tag": "OracleCloud.com"}}, "A1 Flex"),
    ("no-table", {"sys_vendor": "GIGABYTE"}, "a server, but an ordinary user cannot read its table"),
    ("no-names", {"sys_vendor": None, "smbios": 0x0C}, "a table alone"),
]
IRON: list[tuple[str, dict[str, Any], str]] = [
    ("i3en-metal", {"sys_vendor": "Amazon EC2", "product": "i3en.metal"}, "a whole machine: no flag, and the name"),
    ("c3-metal", {"sys_vendor": "Google", "product": "Google Compute Engine", "smbios": 0x0C},
     "bit 4 is 0, and the processor has no flag"),
    ("smbios", {"smbios": 0x0C}, "bit 4 is 0"),
    ("asset-tag", {"files": {"sys/class/dmi/id/chassis_asset_tag": "KVM switch, rack 7"}},
     "what an owner writes on a chassis names no maker"),
]


def below(port: Any, **changes: Any) -> Any:
    return in_slot(*card(port=port), regions=EADR, **changes)


KNOWN_DDIO = Ddio("OFF")
MACHINES = [
    *(Golden(f"x86-{key}", why,
             below(QEMU_PORT if key == "hidden-port" else intel_port(0x2030, OFF), **changes), "unproven", None,
             {"PM-07": WARN, "DDIO-04": UNKNOWN}) for key, changes, why in GUESTS_X86),
    *(Golden(f"iron-{key}", why, below(intel_port(0x2030, OFF), **changes), "eadr", KNOWN_DDIO)
      for key, changes, why in IRON),
    *(Golden(f"arm-{key}", why, below(QEMU_PORT if "dt" in key else other_port(0x1DEF, 0xE100), **ARM, **changes),
             "unproven", UNKNOWN_DDIO, IRON_ARM | {"PM-07": WARN}) for key, changes, why in GUESTS_ARM),
    *(Golden(f"arm-open-{key}", why, below(other_port(0x1DEF, 0xE100), **ARM, **changes), "unproven", UNKNOWN_DDIO,
             IRON_ARM | {"PM-07": UNKNOWN}) for key, changes, why in OPEN_ARM),
    Golden("arm-open-assumed", "what is not known can be stated",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="GIGABYTE"), "eadr", UNKNOWN_DDIO,
           IRON_ARM | {"PM-07": ASSUMED}, [*DEVDAX, *SAID_PMEM], True),
    Golden("arm-iron", "pci.ids: 1def is Ampere Computing; and the table has bit 4 at 0",
           below(other_port(0x1DEF, 0xE100), **ARM, sys_vendor="GIGABYTE", smbios=0x0C), "eadr", UNKNOWN_DDIO,
           IRON_ARM | {"PM-07": PASS}),
    Golden("arm-metal", "m7g.metal is a whole machine",
           below(other_port(0x1C36, 0x0031), **ARM, sys_vendor="Amazon EC2", product="m7g.metal"), "eadr",
           UNKNOWN_DDIO, IRON_ARM),
    Golden("x86-virtio", "a card may show a virtio function, and a hypervisor does",
           below(intel_port(0x2030, OFF), other_functions=[(0x1AF4, 0x1041)]), "unproven", KNOWN_DDIO,
           {"PM-07": UNKNOWN}),
]

TREES = [*PLACED, *MACHINES]
