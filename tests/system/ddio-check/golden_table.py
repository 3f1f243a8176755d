# SPDX-License-Identifier: BSD-3-Clause
"""A machine for each row of the tables of readiness/ and common/rdma/adapter.c that no other
file of golden machines has; test_trees.py looks that there is one for each.

Names of hypervisors: systemd's src/basic/virt.c (what systemd-detect-virt looks for), virt-what(1), and
what QEMU, OVMF and Apple's Virtualization framework put into the table themselves. Names of clouds: their
machines' sys_vendor, most of them in cloud-init's tools/ds-identify. Vendors of PCI functions: pci.ids.
Devices that firmware describes: docs/specs of QEMU, Documentation/hwmon and drivers/hv of Linux.
"""

from typing import Any

from config_space import ice_lake_port, intel_port, other_port
from golden import PASS, SKIP, UNKNOWN, UNKNOWN_DDIO, WARN, Ddio, Golden, healthy, in_slot
from golden_adapter import ARM, EADR, IRON_ARM, below, of
from machine import OFF, card
from processors import PROCESSORS

DMI = "sys/class/dmi/id"
# The DMI file that has the name, the name, and its source.
HYPERVISORS: list[tuple[str, str, str]] = [
    ("product_name", "KVM", "systemd; of Red Hat's"),
    ("bios_vendor", "VMW", "systemd, by VMware's article 1009458"),
    ("product_name", "VirtualBox", "systemd"),
    ("sys_vendor", "innotek GmbH", "systemd; of the first VirtualBox"),
    ("sys_vendor", "Xen", "systemd"),
    ("bios_vendor", "Bochs", "systemd"),
    ("bios_vendor", "BHYVE", "systemd"),
    ("bios_vendor", "Hyper-V UEFI Release v4.1", "systemd"),
    ("product_name", "Virtual Machine", "of Microsoft's, whose vendor alone is that of laptops, too"),
    ("product_name", "RHEV Hypervisor", "virt-what: rhev"),
    ("product_name", "oVirt Node", "virt-what: ovirt"),
    ("product_name", "OpenShift Virtualization", "of KubeVirt, as Red Hat sells it"),
    ("sys_vendor", "Cloud Hypervisor", "its own"),
    ("product_name", "cloud-hypervisor", "its own"),
    ("product_name", "crosvm", "its own"),
    ("product_name", "Firecracker", "its own"),
    ("product_name", "ACRN", "its own"),
    ("product_name", "CloudStack KVM Hypervisor", "ds-identify"),
    ("product_name", "Droplet", "DigitalOcean's"),
    ("sys_vendor", "DigitalOcean", "ds-identify"),
    ("product_name", "AHV", "virt-what: nutanix_ahv; it is the vendor Nutanix whose name it stands behind"),
    ("product_name", "Virtual Platform", "VMware's, of old"),
    ("product_name", "VirtualMac2,1", "Apple's, of guests with macOS"),
    ("bios_vendor", "EFI Development Kit II / OVMF", "OVMF's own"),
    ("bios_vendor", "SeaBIOS", "QEMU's firmware"),
]
CLOUDS = ["HUAWEICLOUD", "Hetzner", "Vultr", "Linode", "Akamai", "IBM:VPC", "Yandex", "UpCloud", "Exoscale", "OVHcloud",
          "Nutanix", "Kamatera", "Nebius", "Baidu Cloud", "VolcEngine"]  # fmt: skip
# Makers of processors, by a root port of theirs
ARM_PORTS = [(0x19E5, 0xA120), (0x177D, 0xAF84), (0x14E4, 0x9084), (0x10DE, 0x22B1), (0x17CB, 0x0401), (0x1DB7, 0xDC01),
             (0x11AB, 0x0110)]  # fmt: skip
FUNCTIONS = [(0x1AB8, 0x4005, "Parallels' display"), (0xFB5D, 0x40FB, "bhyve's framebuffer"),
             (0x1234, 0x1111, "QEMU's display"), (0x8086, 0x3420, "QEMU's ioh3420"), (0x8086, 0x7075, "QEMU's cxl-rp")]  # fmt: skip
DESCRIBED = [("sys/bus/acpi/devices/QEMU0002:00/status", "QEMU docs/specs/fw_cfg: its ACPI id"),
             ("sys/bus/acpi/devices/QEMUVGID:00/status", "QEMU docs/specs/vmgenid: its ACPI id"),
             ("sys/bus/acpi/devices/VMGENCTR:00/status", "the same as Microsoft calls it"),
             ("sys/bus/vmbus/devices/vmbus_0_1/class_id", "Linux ABI/stable/sysfs-bus-vmbus")]  # fmt: skip
ADAPTERS = [("ib_mthca", 0x15B3, 0x6274, "hw/mthca/mthca_mr.c: mthca_write_mtt()"),
            ("hns_roce", 0x19E5, 0xA222, "hw/hns/hns_roce_mr.c, by the name of its own driver")]  # fmt: skip
# Processors without a register that tells: see the comment in platforms.c.
PROCESSORS_WITHOUT = [
    ("icx-d", ice_lake_port()), ("emr", other_port(0x8086, 0x352A)), ("gnr", other_port(0x8086, 0x0DB0)),
    ("srf", other_port(0x8086, 0x0DB0)), ("naples", other_port(0x1022, 0x1453)), ("rome", other_port(0x1022, 0x1483)),
    ("milan", other_port(0x1022, 0x1483)), ("epyc", other_port(0x1022, 0x14AB)), ("bergamo", other_port(0x1022, 0x14AB)),
    ("turin", other_port(0x1022, 0x153B)), ("amd-later", other_port(0x1022, 0x153B)),
    ("hygon", other_port(0x1D94, 0x1453)), ("zhaoxin", other_port(0x1D17, 0x0717)),
]  # fmt: skip


def key(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def named(field: str, name: str) -> dict[str, Any]:
    """The machine's names with this one among them."""
    if field == "sys_vendor":
        return {"sys_vendor": name}
    vendor = {"sys_vendor": "Nutanix"} if name == "AHV" else {}
    return vendor | {"files": {f"{DMI}/{field}": name}}


def without_register(cpu: str, port: Any) -> Golden:
    is_intel = PROCESSORS[cpu].vendor == "GenuineIntel"
    host = in_slot(*card(port=port), cpu=cpu, **({} if is_intel else {"no_turbo": None}))
    return Golden(f"{cpu}-no-register", "no public register tells", host, "ddio-unknown", UNKNOWN_DDIO,
                  {"DDIO-04": UNKNOWN} | ({} if is_intel else {"SYS-02": SKIP}))  # fmt: skip


HIDDEN = {"PM-07": WARN, "DDIO-04": UNKNOWN}
INTEL_PORT = intel_port(0x2030, OFF)
TREES = [
    *(Golden(f"named-{field[:3]}-{key(name)}", why, below(INTEL_PORT, **named(field, name)), "unproven", None, HIDDEN)
      for field, name, why in HYPERVISORS),
    *(Golden(f"cloud-{key(name)}", "most of its machines are virtual, and some are not",
             below(INTEL_PORT, sys_vendor=name), "unproven", Ddio("OFF"), {"PM-07": UNKNOWN}) for name in CLOUDS),
    *(Golden(f"arm-port-{vendor:04x}", "pci.ids has its maker, and the table has bit 4 at 0",
             below(other_port(vendor, device), **ARM, sys_vendor="GIGABYTE", smbios=0x0C), "eadr", UNKNOWN_DDIO,
             IRON_ARM | {"PM-07": PASS}) for vendor, device in ARM_PORTS),
    *(Golden(f"function-{vendor:04x}-{device:04x}", why, below(INTEL_PORT, other_functions=[(vendor, device)]),
             "unproven", None, HIDDEN) for vendor, device, why in FUNCTIONS),
    *(Golden(f"described-{key(path.split('/')[4])}", why, below(INTEL_PORT, files={path: "15"}), "unproven", None, HIDDEN)
      for path, why in DESCRIBED),
    *(Golden(f"dma-{key(driver)}", source, healthy(nics=of(driver, vendor, device)), "ddio-off", Ddio("OFF"))
      for driver, vendor, device, source in ADAPTERS),
    Golden("cpu-qib", "hw/qib/qib_rc.c: the name of the driver before it was a module's",
           healthy(nics=of("qib", 0x1077, 0x7220), regions=EADR), "eadr", Ddio("UNKNOWN", "none", None, None),
           {"DEV-05": WARN, "DDIO-01": SKIP, "DDIO-04": SKIP}),
    Golden("bdx-ddio-off", "Broadwell-EP has the registers of Haswell, on as little evidence",
           in_slot(*card(port=intel_port(0x6F04, OFF)), cpu="bdx"), "ddio-off-warn",
           Ddio("OFF", low_confidence=True), {"DDIO-04": WARN}),
    *(without_register(cpu, port) for cpu, port in PROCESSORS_WITHOUT),
]
