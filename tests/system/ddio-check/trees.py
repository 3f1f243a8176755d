# SPDX-License-Identifier: BSD-3-Clause
"""Makes the sysfs, procfs and facts.json of a machine that was thought up.

build() writes a Host below a directory in the shape that Linux gives it: devices
in sys/devices, relative links to them everywhere else, numbers in the kernel's
words. The expectations for these machines are in the golden_*.py files.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from config_space import ConfigSpace, cxl_memory, cxl_port
from machine import GIB, Dimm, Function, Host, Nic, Port, Region, card
from processors import CPUS, PROCESSORS, cpuinfo

__all__ = ["Host", "Nic", "Region", "build", "card"]


class _Tree:
    def __init__(self, top: Path, host: Host) -> None:
        self.top = top
        self.host = host
        self.next_irq = 120
        self.groups = 0
        self.folders: set[str] = set()

    def place(self, path: str) -> str:
        """Makes the folder of a file below the top, once for all files in it, and returns the place of the file."""
        place = f"{self.top}/{path}"
        folder = os.path.dirname(place)
        if folder not in self.folders:
            os.makedirs(folder, exist_ok=True)
            self.folders.add(folder)
        return place

    def file(self, path: str, content: str | int | bytes) -> None:
        with open(self.place(path), "wb") as file:
            file.write(content if isinstance(content, bytes) else f"{content}\n".encode("ascii"))

    def files(self, directory: str, **contents: str | int) -> None:
        for name, content in contents.items():
            self.file(f"{directory}/{name}", content)

    def link(self, path: str, target: str) -> None:
        """A relative link to TARGET, a path below the top."""
        link = self.place(path)
        if not os.path.islink(link):
            os.symlink(os.path.relpath(f"{self.top}/{target}", os.path.dirname(link)), link)

    # --- the processor and the kernel

    def platform(self) -> None:
        host = self.host
        self.file("proc/cpuinfo", cpuinfo(host.cpu))
        self.file("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro")
        if host.sys_vendor:
            self.file("sys/class/dmi/id/sys_vendor", host.sys_vendor)
        if host.product:
            self.file("sys/class/dmi/id/product_name", host.product)
        if host.smbios is not None:
            # DSP0134 7.1: type 0, its length, and extension byte 2 at 13h
            table = bytes((0, 0x1A)) + bytes(0x11) + bytes((host.smbios,)) + bytes(6)
            self.file("sys/firmware/dmi/entries/0-0/raw", table)
        for at, (vendor, device) in enumerate(host.other_functions):
            self.files(f"sys/bus/pci/devices/0000:00:{at + 1:02x}.0", vendor=f"0x{vendor:04x}",
                       device=f"0x{device:04x}")
        cpus = "sys/devices/system/cpu"
        for cpu in range(CPUS):
            directory = f"{cpus}/cpu{cpu}"
            self.files(f"{directory}/topology", physical_package_id=cpu // 2, core_id=cpu % 2)
            self.file(f"{directory}/cpufreq/scaling_governor", host.governor)
            for number, (name, latency) in enumerate(host.idle):
                self.files(f"{directory}/cpuidle/state{number}", name=name, latency=latency,
                           disable=0)
        self.files(cpus, online="0-3", possible="0-3", present="0-3")
        if host.no_turbo is not None and PROCESSORS[host.cpu].vendor == "GenuineIntel":
            self.file(f"{cpus}/intel_pstate/no_turbo", host.no_turbo)
        for node, list_ in enumerate(("0-1", "2-3")):
            self.file(f"sys/devices/system/node/node{node}/cpulist", list_)
        self.file("sys/devices/system/node/online", "0-1")
        self.files("sys/devices/system/clocksource/clocksource0",
                   current_clocksource=host.clocksource,
                   available_clocksource=f"{host.clocksource} hpet acpi_pm")
        self.file("sys/kernel/security/lockdown", "[none] integrity confidentiality")
        self.file("proc/sys/kernel/numa_balancing", host.numa_balancing)
        for name, value in host.resctrl.items():
            self.file(f"sys/fs/resctrl/info/L3/{name}", value)

    def process(self) -> None:
        host = self.host
        capabilities = 0x1FFFFFFFFFF if host.root else 0
        capabilities &= ~(1 << 14)
        if host.cap_ipc_lock:
            capabilities |= 1 << 14
        self.file("proc/self/status", "Name:\trpma-ddio-check\n"
                  "Uid:\t1000\t1000\t1000\t1000\n"
                  f"CapInh:\t{0:016x}\nCapPrm:\t{capabilities:016x}\nCapEff:\t{capabilities:016x}\n"
                  f"Cpus_allowed:\tf\nCpus_allowed_list:\t{host.usable_cpus}")
        self.file("proc/self/limits", "\n".join((
            "Limit                     Soft Limit           Hard Limit           Units     ",
            f"{'Max open files':<25} {1048576:<20} {1048576:<20} files     ",
            f"{'Max locked memory':<25} {host.memlock:<20} {host.memlock:<20} bytes     ")))
        lines = ["22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw",
                 "23 22 0:21 / /sys rw,nosuid shared:2 - sysfs sysfs rw",
                 "24 22 0:22 / /proc rw,nosuid shared:3 - proc proc rw",
                 "25 22 0:5 / /dev rw,nosuid shared:4 - devtmpfs udev rw"]
        lines += [f"{100 + at} 22 {m.number} / {m.place} rw,relatime shared:{50 + at} - "
                  f"{m.filesystem} /dev/{m.device} {m.options}"
                  for at, m in enumerate(host.mounts)]
        self.file("proc/self/mountinfo", "\n".join(lines))
        disk = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"
        self.files(f"{disk}/sda2", dev="8:2", size=1 << 30, partition=2)
        self.files(f"{disk}/queue", dax=0)
        self.file(f"{disk}/dev", "8:0")
        self.link("sys/dev/block/8:2", f"{disk}/sda2")
        self.link("sys/dev/block/8:0", disk)
        self.link("sys/block/sda", disk)

    # --- PCI and RDMA

    def function(self, directory: str, function: Function, numa_node: int) -> None:
        config = function.config
        readable = function.readable if self.host.root else 64
        self.file(f"{directory}/config", bytes(config.bytes[:readable]))
        self.files(directory, vendor=f"0x{config.vendor:04x}", device=f"0x{config.device:04x}")
        self.file(f"{directory}/class", f"0x{config.class_code:06x}")
        self.files(directory, current_link_speed=function.speed[0],
                   max_link_speed=function.speed[1], current_link_width=function.width[0],
                   max_link_width=function.width[1], numa_node=numa_node,
                   local_cpulist="0-1" if numa_node <= 0 else "2-3")
        self.link(f"{directory}/subsystem", "sys/bus/pci")
        self.link(f"sys/bus/pci/devices/{function.address}", directory)

    def chain(self, chain: list[Function], numa_node: int) -> str:
        """All functions of it; the directory of the last one."""
        directory = f"sys/devices/pci{chain[0].address[:7]}"
        for at, function in enumerate(chain):
            directory += f"/{function.address}"
            self.function(directory, function, numa_node)
            if at < len(chain) - 1:
                self.link(f"{directory}/driver", "sys/bus/pci/drivers/pcieport")
        return directory

    def netdev(self, device: str, name: str) -> None:
        directory = f"{device}/net/{name}"
        self.files(directory, mtu=4200, operstate="up", address="0c:42:a1:2b:1c:40")
        if "/virtual/" not in f"{directory}/":
            self.link(f"{directory}/device", device)
        self.link(f"sys/class/net/{name}", directory)

    def physical(self, nic: Nic) -> str:
        """The card below an RDMA device; its directory."""
        device = self.chain(nic.chain, nic.numa_node)
        self.file(f"{device}/local_cpulist", nic.cpus)
        self.link(f"{device}/driver", f"sys/bus/pci/drivers/{nic.driver}")
        self.link(f"{device}/iommu_group", f"sys/kernel/iommu_groups/{self.groups}")
        self.file(f"sys/kernel/iommu_groups/{self.groups}/type", "identity")
        self.groups += 1
        if nic.physfn:
            physical = self.chain(nic.chain[:-1] + [nic.physfn], nic.numa_node)
            self.link(f"{physical}/driver", f"sys/bus/pci/drivers/{nic.driver}")
            self.link(f"{physical}/virtfn0", device)
            self.link(f"{device}/physfn", physical)
        for _ in range(4):
            self.file(f"{device}/msi_irqs/{self.next_irq}", "msix")
            self.files(f"proc/irq/{self.next_irq}", smp_affinity_list=nic.irq_cpus,
                       effective_affinity_list=nic.irq_cpus)
            self.next_irq += 1
        if nic.bond is None:
            self.netdev(device, nic.netdev)
        return device

    def bond(self, nic: Nic) -> None:
        bond = f"sys/devices/virtual/net/{nic.netdev}"
        self.files(bond, mtu=4200, operstate="up")
        self.file(f"{bond}/bonding/slaves", " ".join(nic.bond or {}))
        self.link(f"sys/class/net/{nic.netdev}", bond)
        for name, chain in (nic.bond or {}).items():
            device = self.chain(chain, nic.numa_node)
            self.link(f"{device}/driver", f"sys/bus/pci/drivers/{nic.driver}")
            self.netdev(device, name)
            self.link(f"{device}/net/{name}/master", bond)
            self.link(f"{bond}/lower_{name}", f"{device}/net/{name}")

    def nic(self, nic: Nic) -> None:
        if nic.chain:
            device = self.physical(nic)
            if nic.auxiliary:
                device += f"/{nic.auxiliary}"
                self.link(f"{device}/driver", f"sys/bus/auxiliary/drivers/{nic.driver}.sf")
                self.link(f"{device}/subsystem", "sys/bus/auxiliary")
            directory = f"{device}/infiniband/{nic.name}"
            self.link(f"{directory}/device", device)
        elif nic.platform:
            device = f"sys/devices/platform/{nic.platform}"
            self.link(f"{device}/driver", f"sys/bus/platform/drivers/{nic.driver}")
            self.file(f"{device}/numa_node", nic.numa_node)
            self.netdev(device, nic.netdev)
            directory = f"{device}/infiniband/{nic.name}"
            self.link(f"{directory}/device", device)
        else:
            directory = f"sys/devices/virtual/infiniband/{nic.name}"
            self.netdev("sys/devices/virtual", nic.netdev)
        if nic.bond:
            self.bond(nic)
        self.link(f"sys/class/infiniband/{nic.name}", directory)
        self.link(f"{directory}/subsystem", "sys/class/infiniband")
        self.files(directory, node_type=nic.node_type, node_desc=nic.node_desc,
                   node_guid="0c42:a103:002b:1c40", sys_image_guid="0c42:a103:002b:1c40")
        if nic.parent:
            self.file(f"{directory}/parent", nic.netdev)
        if nic.hca_type:
            self.files(directory, fw_ver="16.35.2000", hw_rev="0", hca_type=nic.hca_type,
                       board_id="MT_0000000010")
        for number, port in enumerate(nic.ports, 1):
            self.port(f"{directory}/ports/{number}", nic, port)

    def port(self, directory: str, nic: Nic, port: Port) -> None:
        self.files(directory, state=port.state, phys_state=port.phys_state, rate=port.rate,
                   link_layer=port.link_layer, lid="0x0", sm_lid="0x0")
        none = ("0000:0000:0000:0000:0000:0000:0000:0000", "")
        for at, (gid, kind) in enumerate(port.gids + [none] * 4):
            self.file(f"{directory}/gids/{at}", gid)
            if kind:  # reading that of an empty entry gives an error
                self.file(f"{directory}/gid_attrs/types/{at}", kind)
                self.file(f"{directory}/gid_attrs/ndevs/{at}", nic.netdev)

    # --- persistent memory

    def bus(self, region: Region) -> str:
        parents = {
            "ACPI.NFIT": "LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00",
            "e820": "platform/e820_pmem",
            "virtio-pmem": "pci0000:00/0000:00:04.0/virtio2",
            "CXL": "platform/ACPI0017:00/root0/nvdimm-bridge0",
        }
        parent = parents.get(region.provider, f"platform/{region.provider}")
        directory = f"sys/devices/{parent}/ndbus{region.bus}"
        self.file(f"{directory}/provider", region.provider)
        self.link(f"sys/bus/nd/devices/ndbus{region.bus}", directory)
        return directory

    def region(self, region: Region) -> None:
        n = region.number
        bus = self.bus(region)
        directory = f"{bus}/region{n}"
        self.files(directory, size=region.size, read_only=region.read_only, align="0x1000000",
                   numa_node=region.numa_node, target_node=region.target_node, nstype=5,
                   devtype=region.devtype, mappings=len(region.dimms), available_size=0)
        if region.domain:
            self.file(f"{directory}/persistence_domain", region.domain)
        self.file(f"{directory}/badblocks", region.badblocks.encode())
        self.link(f"{directory}/subsystem", "sys/bus/nd")
        self.link(f"sys/bus/nd/devices/region{n}", directory)
        for at, dimm in enumerate(region.dimms):
            self.file(f"{directory}/mapping{at}", f"{dimm.name},0,{region.size},0")
            self.dimm(bus, dimm, "cxl" if region.provider == "CXL" else "nfit")
        for dimm in region.other_dimms:
            self.dimm(bus, dimm, "nfit")
        for at, mode in enumerate(region.other_modes, 2):
            self.files(f"{directory}/namespace{n}.{at}", mode=mode, size=region.size)
            self.link(f"sys/bus/nd/devices/namespace{n}.{at}", f"{directory}/namespace{n}.{at}")
        self.namespace(directory, region)

    def dimm(self, bus: str, dimm: Dimm, family: str) -> None:
        directory = f"{bus}/{dimm.name}"
        if family == "nfit":
            if dimm.flags is not None:
                self.file(f"{directory}/nfit/flags", dimm.flags)
            self.files(f"{directory}/nfit", serial="0x0000316e", handle="0x1")
        if dimm.dirty_shutdown is not None:
            self.file(f"{directory}/{family}/dirty_shutdown", dimm.dirty_shutdown)
        self.file(f"{directory}/devtype", "nvdimm")
        self.link(f"sys/bus/nd/devices/{dimm.name}", directory)

    def namespace(self, directory: str, region: Region) -> None:
        n = region.number
        name = f"namespace{n}.0"
        self.files(f"{directory}/{name}", mode=region.mode, size=region.size, nstype=5,
                   numa_node=region.numa_node, target_node=region.target_node)
        self.link(f"sys/bus/nd/devices/{name}", f"{directory}/{name}")
        self.seeds(directory, n)
        claims = {"dax": f"dax{n}.0", "memory": f"pfn{n}.0", "safe": f"btt{n}.0"}
        holder = name
        if region.mode in claims and region.claimed:
            holder = claims[region.mode]
            self.files(f"{directory}/{holder}", namespace=name, numa_node=region.numa_node,
                       size=region.dax_size)
            self.file(f"{directory}/{name}/holder", holder)
            self.link(f"sys/bus/nd/devices/{holder}", f"{directory}/{holder}")
        if region.mode == "dax":
            self.device_dax(f"{directory}/{holder}", region)
        else:
            self.block(f"{directory}/{holder}", region)

    def seeds(self, directory: str, n: int) -> None:
        """What the kernel keeps ready to be made into the next namespace."""
        self.files(f"{directory}/namespace{n}.1", mode="raw", size=0, nstype=5, holder="")
        self.files(directory, namespace_seed=f"namespace{n}.1")
        self.link(f"sys/bus/nd/devices/namespace{n}.1", f"{directory}/namespace{n}.1")
        for kind in ("btt", "pfn", "dax"):
            self.files(f"{directory}/{kind}{n}.1", namespace="", mode="none")
            self.link(f"sys/bus/nd/devices/{kind}{n}.1", f"{directory}/{kind}{n}.1")

    def device_dax(self, parent: str, region: Region) -> None:
        name = f"dax{region.number}.0"
        directory = f"{parent}/{name}"
        self.files(directory, size=region.dax_size, align=region.align, dev=f"252:{region.number}",
                   numa_node=region.numa_node, target_node=region.target_node,
                   resource=hex(0x2080000000 + region.number * region.size))
        self.files(f"{parent}/dax_region", id=region.number, size=region.dax_size,
                   align=region.align)
        self.link(f"{directory}/subsystem", "sys/bus/dax")
        self.link(f"{directory}/driver", "sys/bus/dax/drivers/device_dax")
        (self.top / "sys/bus/dax/drivers/device_dax").mkdir(parents=True, exist_ok=True)
        self.link(f"sys/bus/dax/devices/{name}", directory)
        self.link(f"sys/dev/char/252:{region.number}", directory)

    def block(self, parent: str, region: Region) -> None:
        directory = f"{parent}/block/{region.block}"
        self.files(directory, dev=f"259:{region.number}", size=region.dax_size // 512, ro=0)
        self.file(f"{directory}/badblocks", b"")
        self.files(f"{directory}/queue", dax=int(region.mode != "safe"), logical_block_size=4096)
        self.link(f"{directory}/device", parent)
        self.link(f"{directory}/subsystem", "sys/class/block")
        for place in ("sys/block/" + region.block, "sys/class/block/" + region.block,
                      f"sys/dev/block/259:{region.number}"):
            self.link(place, directory)

    def ordinary_dax(self) -> None:
        directory = "sys/devices/platform/hmem.0/dax0.0"
        self.files(directory, size=GIB, align=2 << 20, dev="252:0", numa_node=0, target_node=2)
        self.link(f"{directory}/subsystem", "sys/bus/dax")
        self.link(f"{directory}/driver", "sys/bus/dax/drivers/device_dax")
        self.link("sys/bus/dax/devices/dax0.0", directory)
        self.link("sys/dev/char/252:0", directory)

    def device_mapper(self) -> None:
        directory = "sys/devices/virtual/block/dm-0"
        self.files(directory, dev="253:0", size=1 << 30)
        self.files(f"{directory}/queue", dax=1)
        self.files(f"{directory}/dm", name="striped")
        for name in self.host.striped:
            self.link(f"{directory}/slaves/{name}",
                      os.path.relpath((self.top / f"sys/block/{name}").resolve(), self.top))
        self.link("sys/block/dm-0", directory)
        self.link("sys/dev/block/253:0", directory)

    def cxl(self) -> None:
        memory = "sys/devices/pci0000:34/0000:34:00.0/0000:35:00.0/mem0"
        self.file(f"{memory}/pmem/size", hex(self.host.cxl_pmem_bytes))
        if self.host.cxl_gpf is not None:
            port, device = self.host.cxl_gpf
            self.file("sys/devices/pci0000:34/0000:34:00.0/config", self._cxl_config(cxl_port(port)))
            self.file("sys/devices/pci0000:34/0000:34:00.0/0000:35:00.0/config", self._cxl_config(cxl_memory(device)))
        self.file(f"{memory}/ram/size", "0x0")
        self.file(f"{memory}/security/state", "disabled")
        self.link("sys/bus/cxl/devices/mem0", memory)
        decoder = "sys/devices/platform/ACPI0017:00/root0/decoder0.0"
        self.file(f"{decoder}/cap_pmem", 1)
        self.link("sys/bus/cxl/devices/decoder0.0", decoder)
        region = f"{decoder}/region0"
        self.files(region, mode="pmem", size=hex(self.host.cxl_pmem_bytes), commit=1)
        bridge = "sys/devices/platform/ACPI0017:00/root0/nvdimm-bridge0"
        self.file(f"{bridge}/uevent", "DEVTYPE=cxl_nvdimm_bridge")
        self.link("sys/bus/cxl/devices/nvdimm-bridge0", bridge)
        self.link("sys/bus/cxl/devices/region0", region)

    def _cxl_config(self, config: ConfigSpace) -> bytes:
        return bytes(config.bytes[:4096 if self.host.root else 64])

    def facts(self) -> None:
        host = self.host
        facts: dict[str, Any] = {"schema": "rpma-ddio-check-facts/1"}
        facts["devices"] = {nic.name: nic.verbs for nic in host.nics if nic.verbs}
        facts["targets"] = host.targets
        if host.probe:
            facts["probe"] = host.probe
        self.file("facts.json", json.dumps(facts, indent=1))


def build(host: Host, top: Path) -> None:
    """Write HOST below TOP, which does not exist yet."""
    top.mkdir(parents=True)
    tree = _Tree(top, host)
    for directory in ("sys/bus/nd/devices", "sys/bus/dax/devices", "sys/bus/pci/devices"):
        (top / directory).mkdir(parents=True)
    if host.nics:
        (top / "sys/class/infiniband").mkdir(parents=True)
    tree.platform()
    tree.process()
    for nic in host.nics:
        tree.nic(nic)
    for region in host.regions:
        tree.region(region)
    if host.striped:
        tree.device_mapper()
    if host.soft_reserved:
        tree.ordinary_dax()
    if host.cxl_pmem_bytes:
        tree.cxl()
    for name, content in host.files.items():
        tree.file(name, content)
    for at in range(host.lost_dimms):
        tree.dimm("sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0012:00/ndbus0", Dimm(f"nmem{at}"), "nfit")
    if host.facts:
        tree.facts()
    for pattern in host.without:
        found = list(top.glob(pattern))
        assert found, f"nothing is called {pattern}"
        for path in found:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)  # found by another link, too
