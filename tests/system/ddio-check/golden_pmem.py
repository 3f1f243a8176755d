# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is the memory: what the target lies on, how it is
made accessible, and whether the process may register it."""

from typing import Any

from config_space import intel_port, other_port
from golden import (ASSUMED, FAIL, FILE, FSDAX, INFO, NO_TARGET, PASS, SKIP, UNKNOWN, UNKNOWN_DDIO,
                    WARN, Ddio, Golden, healthy, on_fsdax)
from golden_ddio import SAID_OFF, SAID_PMEM
from machine import MLX5_VERBS, ON, Dimm, Mount, Nic, Region, card

OFF_DDIO = Ddio("OFF")
FLUSH = {"device_cap_flags_ex": 1 << 38 | 1 << 39}
NO_ODP = MLX5_VERBS | {"odp_general": 0, "odp_rc": 0}
# A target that lies on no persistent memory: the regions of the host are not its own.
ELSEWHERE = {"PM-01": FAIL, "PM-02": SKIP, "PM-05": SKIP, "PM-06": SKIP, "PM-07": SKIP,
             "PM-08": SKIP, "PM-10": SKIP, "PM-11": SKIP, "NUMA-01": SKIP}


def emulated(provider: str, **changes: Any) -> Region:
    """A region without DIMMs and without a persistence domain."""
    return Region(mode="memory", provider=provider, domain=None, dimms=[], claimed=False,
                  **changes)


def cxl(**changes: Any) -> Region:
    return Region(provider="CXL", dimms=[Dimm(flags=None)], **changes)


def cxl_counted(dirty: int = 0) -> Region:
    return Region(provider="CXL", dimms=[Dimm(flags=None, dirty_shutdown=dirty)])


SPR = [Nic(chain=card(port=other_port(0x8086, 0x352A)))]
# The only persistent memory of the host is CXL, and no target was given.
CXL_ALONE = NO_TARGET | {"DDIO-04": UNKNOWN, "PM-05": SKIP, "PM-06": SKIP, "PM-07": SKIP, "PM-08": SKIP,
                         "PM-09": UNKNOWN, "PM-10": SKIP, "PM-11": SKIP}
DM = Mount("/mnt/pmem", "mapper/striped", "253:0")
ON_DM = {"/mnt/pmem/log": {"kind": "regular", "size_bytes": 1 << 30, "major": 253, "minor": 0,
                           "dax": True, "map_sync": "ok"}}


def nic_with(verbs: dict[str, Any] | None) -> list[Nic]:
    return [Nic(chain=card(), verbs=verbs)]


# CXL 3.1, 9.8: what a device holds survives where it takes part in GPF, DVSEC 5, and so do the
# ports above it, DVSEC 4; drivers/cxl/pci.h has the same numbers.
GPF: list[tuple[str, tuple[bool, bool] | None, dict[str, Any], bool, str, dict[str, str]]] = [
    ("gpf", (True, True), {}, False, "all take part, and nothing is stated of the platform",
     {"PM-07": UNKNOWN, "PM-09": UNKNOWN}),
    ("gpf-stated", (True, True), {}, True, "and the operator states the rest",
     {"PM-07": ASSUMED, "PM-09": ASSUMED}),
    ("no-device-gpf", (True, False), {}, True, "a device that is not told wins over a statement",
     {"PM-07": UNKNOWN, "PM-09": FAIL}),
    ("no-port-gpf", (False, True), {}, True, "nor may a port on the way be missing",
     {"PM-07": UNKNOWN, "PM-09": FAIL}),
    ("gpf-unreadable", None, {}, True, "registers that cannot be read are no good ones",
     {"PM-07": UNKNOWN, "PM-09": UNKNOWN}),
    ("gpf-locked", (True, True), {"files": {"sys/devices/pci0000:34/0000:34:00.0/0000:35:00.0/mem0/security/state":
                                            "locked"}}, True, "what is locked cannot be reached",
     {"PM-07": UNKNOWN, "PM-09": UNKNOWN, "PM-12": WARN}),
]
CXL_TREES = [
    *(Golden(f"cxl-{key}", why, healthy(cpu="spr", nics=SPR, regions=[cxl_counted()], cxl_pmem_bytes=256 << 30,
                                        cxl_gpf=gpf, **changes),
             "failed" if FAIL in differs.values() else
             "ddio-assumed-off" if differs["PM-09"] == ASSUMED else "unproven", None,
             {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-12": INFO} | differs,
             [*SAID_OFF, *SAID_PMEM] if stated else SAID_OFF, differs["PM-09"] == ASSUMED)
      for key, gpf, changes, stated, why, differs in GPF),
    Golden("cxl-gpf-dirty", "a flush has failed before",
           healthy(cpu="spr", nics=SPR, regions=[cxl_counted(2)], cxl_pmem_bytes=256 << 30, cxl_gpf=(True, True)),
           "ddio-assumed-off", None,
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-07": ASSUMED, "PM-08": WARN, "PM-09": ASSUMED,
            "PM-12": INFO}, [*SAID_OFF, *SAID_PMEM], True),
    Golden("cxl-gpf-no-count", "before Linux 6.15 no count tells of failed flushes",
           healthy(cpu="spr", nics=SPR, regions=[Region(provider="CXL", dimms=[Dimm(flags=None, dirty_shutdown=None)])],
                   cxl_pmem_bytes=256 << 30, cxl_gpf=(True, True)), "unproven", None,
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-07": ASSUMED, "PM-08": UNKNOWN, "PM-09": ASSUMED,
            "PM-12": INFO}, [*SAID_OFF, *SAID_PMEM]),
    Golden("cxl-gpf-ddio-unknown", "what holds for the memory does not settle DDIO",
           healthy(cpu="spr", nics=SPR, regions=[cxl_counted()], cxl_pmem_bytes=256 << 30, cxl_gpf=(True, True)),
           "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": ASSUMED, "PM-09": ASSUMED, "PM-12": INFO},
           ["--target", "/dev/dax0.0", *SAID_PMEM]),
]

TREES = [
    *CXL_TREES,
    Golden("fsdax-rtdev", "XFS may put a file's data on its realtime device, which is other memory: mkfs.xfs(8)",
           on_fsdax(mounts=[Mount("/mnt/pmem", "pmem0", "259:0", "xfs", "rw,dax=always,rtdev=/dev/sdb1")]),
           "unproven", OFF_DDIO, FSDAX | {"PM-01": UNKNOWN}, FILE),
    Golden("no-target-memory-mode", "modules without a region: memory mode, ipmctl-create-goal(1)",
           healthy(regions=[], targets={}, lost_dimms=2), "failed", OFF_DDIO, NO_TARGET | ELSEWHERE, []),
    Golden("no-target-no-namespace", "a region that nothing was made of yet: ndctl-create-namespace(1)",
           healthy(targets={}, without=["sys/bus/nd/devices/namespace0.0", "sys/bus/dax/devices/dax0.0"]), "no-target",
           OFF_DDIO, NO_TARGET | {"PM-05": SKIP}, []),
    # file systems
    Golden("fsdax", "a DAX file system, and a NIC that need not pin its pages",
           on_fsdax(), "ddio-off", OFF_DDIO, FSDAX, FILE),
    Golden("fsdax-inode", "DAX by file, and this file has it",
           on_fsdax(options="rw,dax=inode"), "ddio-off", OFF_DDIO, FSDAX, FILE),
    Golden("fsdax-directory", "files in a directory of a mount that always has DAX",
           on_fsdax({"kind": "directory", "dax": False, "size_bytes": 4096}), "ddio-off", OFF_DDIO,
           FSDAX, FILE),
    Golden("fsdax-no-odp", "pages of a DAX file cannot be pinned for long, and the NIC cannot fault "
           "them in",
           on_fsdax(nics=nic_with(NO_ODP)), "failed", OFF_DDIO,
           FSDAX | {"ODP-01": FAIL}, FILE),
    Golden("fsdax-half-odp", "a NIC that faults pages in for reads only",
           on_fsdax(nics=nic_with(MLX5_VERBS | {"odp_rc": 0x0B})), "failed",
           OFF_DDIO, FSDAX | {"ODP-01": FAIL}, FILE),
    Golden("fsdax-native-not-paged", "native flush, but not of what is paged on demand",
           on_fsdax(nics=[Nic(chain=card(port=intel_port(0x2030, ON)), verbs=MLX5_VERBS | FLUSH)]),
           "ddio-on", Ddio("ON", registers=ON), FSDAX | {"DDIO-04": WARN, "CAP-01": INFO}, FILE),
    Golden("fsdax-native", "native flush, and on-demand paging that knows it",
           on_fsdax(nics=[Nic(chain=card(port=intel_port(0x2030, ON)),
                              verbs=MLX5_VERBS | FLUSH | {"odp_rc": 0x5F})]),
           "native", Ddio("ON", registers=ON), FSDAX | {"DDIO-04": WARN, "CAP-01": PASS}, FILE),
    Golden("fsdax-no-dax", "mounted without DAX: what is mapped is the page cache",
           on_fsdax({"dax": False, "map_sync": "EOPNOTSUPP"}, options="rw"), "failed", OFF_DDIO,
           FSDAX | {"PM-03": FAIL, "PM-04": FAIL}, FILE),
    Golden("fsdax-never", "the mount forbids DAX, and the file could not be asked",
           on_fsdax(options="rw,dax=never", targets={}), "failed", OFF_DDIO,
           FSDAX | {"PM-03": FAIL, "PM-04": UNKNOWN}, FILE),
    Golden("fsdax-no-answers", "the mapping could not be tried: the mount alone does not prove it",
           on_fsdax(targets={}), "unproven", OFF_DDIO,
           FSDAX | {"PM-04": UNKNOWN}, FILE),
    Golden("btt", "a block translation table moves blocks about and has no DAX",
           on_fsdax({"dax": False, "map_sync": "EOPNOTSUPP"}, "rw", Region(mode="safe")), "failed",
           OFF_DDIO, FSDAX | {"PM-03": FAIL, "PM-04": FAIL, "PM-05": FAIL}, FILE),
    Golden("striped", "device mapper over two regions of the same kind",
           on_fsdax(regions=[Region(0, "memory"), Region(1, "memory")], mounts=[DM],
                    targets=ON_DM, striped=["pmem0", "pmem1"]), "ddio-off", OFF_DDIO, FSDAX, FILE),
    Golden("striped-disagree", "one half is outside of the domain of the other",
           on_fsdax(regions=[Region(0, "memory"), Region(1, "memory", domain="cpu_cache")],
                    mounts=[DM], targets=ON_DM, striped=["pmem0", "pmem1"]), "failed", OFF_DDIO,
           FSDAX | {"PM-06": FAIL}, FILE),
    Golden("striped-with-disk", "half of it is on a disk: whatever else is claimed, not this",
           on_fsdax(regions=[Region(0, "memory")], mounts=[DM], targets=ON_DM,
                    striped=["pmem0", "sda"]), "failed", None,
           FSDAX | ELSEWHERE | {"PM-03": SKIP, "PM-04": SKIP, "ODP-01": INFO, "ODP-02": SKIP},
           FILE),
    Golden("raw", "the block device of a raw namespace: what is mapped of it is the page cache",
           healthy(regions=[Region(mode="raw")], targets={"/dev/pmem0": {
               "kind": "block", "major": 259, "minor": 0}}), "unproven", OFF_DDIO,
           {"PM-01": WARN, "PM-02": SKIP, "PM-05": WARN}, ["--target", "/dev/pmem0"]),

    Golden("fsdax-inode-no-answers", "DAX by file, and this one could not be asked",
           on_fsdax(options="rw,dax=inode", targets={}), "unproven", OFF_DDIO,
           FSDAX | {"PM-03": UNKNOWN, "PM-04": UNKNOWN}, FILE),
    Golden("may-not-look", "who may not look at the target knows nothing of it",
           on_fsdax({"kind": "none", "error": "EACCES"}), "unproven", None,
           ELSEWHERE | {"PM-01": UNKNOWN}, FILE),
    Golden("missing-target", "nothing of that name is there",
           on_fsdax({"kind": "none", "error": "ENOENT"}), "failed", None, ELSEWHERE, FILE),

    Golden("partition", "a file system on a partition of the block device",
           on_fsdax({"minor": 16}, region=Region(mode="memory", partition=True),
                    mounts=[Mount("/mnt/pmem", "pmem0p1", "259:16")]), "ddio-off", OFF_DDIO,
           FSDAX, FILE),
    Golden("partition-no-answers", "the same, known by the mounts alone",
           on_fsdax(region=Region(mode="memory", partition=True), targets={},
                    mounts=[Mount("/mnt/pmem", "pmem0p1", "259:16")]), "unproven", OFF_DDIO,
           FSDAX | {"PM-04": UNKNOWN}, FILE),
    Golden("place-with-a-space", "mountinfo writes a space as \\040",
           on_fsdax(targets={}, mounts=[Mount("/mnt/my\\040pmem", "pmem0", "259:0")]),
           "unproven", OFF_DDIO, FSDAX | {"PM-04": UNKNOWN},
           ["--target", "/mnt/my pmem/log"]),
    Golden("place-beside", "/mnt/pmem-old is not below /mnt/pmem",
           on_fsdax(targets={}), "failed", OFF_DDIO, ELSEWHERE,
           ["--target", "/mnt/pmem-old/log"]),
    Golden("mounted-over", "what was mounted last is seen: a disk, over the persistent memory",
           on_fsdax(targets={}, mounts=[Mount("/mnt/pmem", "pmem0", "259:0"),
                                        Mount("/mnt/pmem", "sda2", "8:2", options="rw")]),
           "failed", OFF_DDIO, ELSEWHERE, FILE),

    # device DAX
    Golden("other-namespace", "another namespace of the region is a block translation table",
           healthy(regions=[Region(other_modes=["safe", "raw"])]), "ddio-off", OFF_DDIO),
    Golden("other-dimm", "a DIMM of another region is broken",
           healthy(regions=[Region(other_dimms=[Dimm("nmem1", "not_armed flush_fail ")])]),
           "ddio-off", OFF_DDIO),
    Golden("smart-event", "a DIMM tells of an event, and of no failure to save",
           healthy(regions=[Region(dimms=[Dimm(flags="smart_notify ")])]), "ddio-off", OFF_DDIO),
    Golden("soft-reserved-dax", "a device DAX of memory that firmware set aside: high bandwidth, "
           "not persistent",
           healthy(regions=[], soft_reserved=True), "failed", OFF_DDIO, ELSEWHERE),
    Golden("devdax-no-answers", "a device DAX is known by its name in sysfs",
           healthy(targets={}), "ddio-off", OFF_DDIO),
    Golden("kmem-dax", "the kernel has taken it as system memory",
           healthy(regions=[Region(dax_driver="kmem")]), "failed", OFF_DDIO, {"PM-02": FAIL}),
    Golden("unbound-dax", "no driver: it cannot be opened",
           healthy(regions=[Region(dax_driver=None)]), "failed", OFF_DDIO, {"PM-02": FAIL}),
    Golden("empty-dax", "nothing to write to",
           healthy(regions=[Region(dax_size=0)]), "failed", OFF_DDIO, {"PM-02": FAIL}),

    # no persistent memory, or not this
    Golden("no-pmem", "the kernel knows of none, with or without a target",
           healthy(regions=[], targets={}), "failed", OFF_DDIO,
           NO_TARGET | ELSEWHERE, []),
    Golden("target-on-disk", "a file on a disk beside good persistent memory",
           healthy(targets={"/var/lib/log": {"kind": "regular", "size_bytes": 1 << 30, "major": 8,
                                             "minor": 2, "dax": False}}), "failed", OFF_DDIO,
           ELSEWHERE, ["--target", "/var/lib/log"]),
    Golden("target-dram", "memory of the process: a baseline for measurements, never persistent",
           healthy(), "failed", OFF_DDIO, ELSEWHERE, ["--target", "dram:16M"]),
    Golden("no-target", "all is well, but no option names what is to be written",
           healthy(targets={}), "no-target", OFF_DDIO, NO_TARGET, []),
    Golden("no-target-one-btt", "one of two namespaces is of the wrong kind: that may be meant",
           healthy(regions=[Region(), Region(1, "safe")], targets={}), "no-target", OFF_DDIO,
           NO_TARGET | {"PM-05": WARN}, []),

    Golden("no-target-disagree", "two regions of two kinds: it depends on which one is meant",
           healthy(regions=[Region(), Region(1, domain="cpu_cache", badblocks="16 8\n")],
                   targets={}), "no-target", OFF_DDIO,
           NO_TARGET | {"PM-06": UNKNOWN, "PM-10": WARN}, []),
    Golden("no-target-odd-domain", "one region of a domain that is none",
           healthy(regions=[Region(), Region(1, domain="wishes")], targets={}), "no-target",
           OFF_DDIO, NO_TARGET | {"PM-06": WARN}, []),
    Golden("no-target-memlock", "how much has to be locked is not known yet",
           healthy(targets={}, memlock="65536", cap_ipc_lock=False), "no-target", OFF_DDIO,
           NO_TARGET | {"LIM-01": INFO}, []),

    # providers
    Golden("e820-emulated", "memmap= makes it from DRAM: nothing of it outlives a power failure",
           on_fsdax(region=emulated("e820")), "unproven", OFF_DDIO,
           FSDAX | {"PM-06": UNKNOWN, "PM-07": WARN, "PM-08": SKIP}, FILE),
    Golden("virtio-pmem", "a file of the hypervisor: persistent by its flush only, no MAP_SYNC",
           on_fsdax({"map_sync": "EOPNOTSUPP"}, region=emulated("virtio-pmem")), "failed", OFF_DDIO,
           FSDAX | {"PM-04": FAIL, "PM-06": UNKNOWN, "PM-07": WARN, "PM-08": SKIP}, FILE),
    Golden("nfit-test", "the kernel's own test module",
           healthy(regions=[Region(provider="nfit_test.0")]), "unproven", OFF_DDIO,
           {"PM-07": WARN}),
    Golden("cxl-pmem", "that global persistent flush works cannot be seen in sysfs, whatever the "
           "region's domain is",
           healthy(cpu="spr", nics=SPR, regions=[cxl()], cxl_pmem_bytes=256 << 30),
           "unproven", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": UNKNOWN, "PM-09": UNKNOWN, "PM-12": "INFO"}),
    Golden("cxl-pmem-assumed", "nor does a statement about DDIO say anything of it",
           healthy(cpu="spr", nics=SPR, regions=[cxl()], cxl_pmem_bytes=256 << 30),
           "unproven", Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": "ASSUMED", "PM-07": UNKNOWN,
            "PM-09": UNKNOWN, "PM-12": "INFO"}, SAID_OFF),
    Golden("cxl-not-committed", "capacity that no region uses",
           healthy(cpu="spr", nics=SPR, regions=[], targets={}, cxl_pmem_bytes=256 << 30,
                   without=["**/commit"]),
           "no-target", UNKNOWN_DDIO, CXL_ALONE | {"PM-12": WARN}, []),
    Golden("cxl-unreadable", "a device whose capacity cannot be read",
           healthy(cpu="spr", nics=SPR, regions=[], targets={}, cxl_pmem_bytes=256 << 30,
                   without=["**/pmem/size"]),
           "no-target", UNKNOWN_DDIO, CXL_ALONE | {"PM-12": UNKNOWN}, []),

    # domain
    Golden("no-domain", "the kernel hides the attribute where firmware does not tell the domain",
           healthy(regions=[Region(domain=None)]), "unproven", OFF_DDIO, {"PM-06": UNKNOWN}),
    Golden("odd-domain", "a word that is none of the two",
           healthy(regions=[Region(domain="wishes")]), "failed", OFF_DDIO, {"PM-06": FAIL}),

    # health
    Golden("dimm-not-armed", "its supply for the time after a power failure is not ready",
           healthy(regions=[Region(dimms=[Dimm(flags="not_armed ")])]), "failed", OFF_DDIO,
           {"PM-08": FAIL}),
    Golden("dimm-save-failed", "the second of two DIMMs lost what it had",
           healthy(regions=[Region(dimms=[Dimm(), Dimm("nmem1", "save_fail smart_event ")])]),
           "failed", OFF_DDIO, {"PM-08": FAIL}),
    Golden("dimm-dirty", "it was shut down dirty three times",
           healthy(regions=[Region(dimms=[Dimm(dirty_shutdown=3)])]), "ddio-off", OFF_DDIO,
           {"PM-08": WARN}),
    Golden("dimm-unknown", "a DIMM that does not report its health",
           healthy(regions=[Region(dimms=[Dimm(flags=None, dirty_shutdown=None)])]), "unproven",
           OFF_DDIO, {"PM-08": UNKNOWN}),
    Golden("dimm-word", "a word that the kernel's driver did not have when this was written",
           healthy(regions=[Region(dimms=[Dimm(flags="garbage ")])]), "unproven", OFF_DDIO,
           {"PM-08": UNKNOWN}),
    Golden("dimm-locked", "locked is a word of another firmware's modules",
           healthy(regions=[Region(dimms=[Dimm(flags="smart_notify locked ")])]), "unproven",
           OFF_DDIO, {"PM-08": UNKNOWN}),
    Golden("dimm-word-and-fault", "a fault is one, whatever stands beside it",
           healthy(regions=[Region(dimms=[Dimm(flags="garbage save_fail ")])]), "failed", OFF_DDIO,
           {"PM-08": FAIL}),
    Golden("dimm-second-line", "a line that is empty is not the whole of it",
           healthy(regions=[Region(dimms=[Dimm(flags="\nnot_armed")])]), "unproven", OFF_DDIO,
           {"PM-08": UNKNOWN}),
    Golden("dimm-many-words", "more words than are read",
           healthy(regions=[Region(dimms=[Dimm(flags="smart_notify " * 20)])]), "unproven",
           OFF_DDIO, {"PM-08": UNKNOWN}),
    Golden("no-dimms-named", "which modules the region has cannot be read, and none is there",
           healthy(without=["sys/devices/**/region0/mappings", "sys/bus/nd/devices/nmem0",
                            "sys/devices/**/nmem0"]), "unproven", OFF_DDIO,
           {"PM-08": UNKNOWN}),
    Golden("no-bad-block-list", "which parts are broken cannot be read",
           healthy(without=["sys/devices/**/region0/badblocks"]), "unproven", OFF_DDIO,
           {"PM-10": UNKNOWN}),
    Golden("no-list-of-one-disk", "one of two joined devices has no list, nor has its region",
           on_fsdax(regions=[Region(0, "memory"), Region(1, "memory")], mounts=[DM],
                    targets=ON_DM, striped=["pmem0", "pmem1"],
                    without=["sys/devices/**/pmem1/badblocks",
                             "sys/devices/**/region1/badblocks"]), "unproven", OFF_DDIO,
           FSDAX | {"PM-10": UNKNOWN}, FILE),
    Golden("no-read-only", "whether it may be written to cannot be read",
           healthy(without=["sys/devices/**/region0/read_only"]), "unproven", OFF_DDIO,
           {"PM-11": UNKNOWN}),
    Golden("no-devtype", "memory that forgets is on the same bus: of this region it is not known",
           healthy(without=["sys/devices/**/region0/devtype"]), "unproven", OFF_DDIO,
           {"PM-07": UNKNOWN}),
    Golden("odd-devtype", "nor of a type that has another name",
           healthy(regions=[Region(devtype="nd_blk")]), "unproven", OFF_DDIO, {"PM-07": UNKNOWN}),
    Golden("bad-blocks", "reading these gives errors, and machine checks",
           healthy(regions=[Region(badblocks="8192 8\n")]), "failed", OFF_DDIO, {"PM-10": FAIL}),
    Golden("bad-blocks-of-block", "the block device has its own list",
           on_fsdax(region=Region(mode="memory", block_badblocks="64 1\n")), "failed", OFF_DDIO,
           FSDAX | {"PM-10": FAIL}, FILE),
    Golden("read-only", "the region may not be written",
           healthy(regions=[Region(read_only=1)]), "failed", OFF_DDIO, {"PM-11": FAIL}),
    Golden("unaligned", "not a multiple of 2 MiB: no huge pages at the end",
           healthy(regions=[Region(size=(252 << 30) + 4096)]), "ddio-off", OFF_DDIO,
           {"PM-11": WARN}),

    # what the process may do
    Golden("memlock", "248 GiB cannot be pinned with 64 KiB, and the NIC has no other way",
           healthy(nics=nic_with(NO_ODP), memlock="65536", cap_ipc_lock=False), "failed", OFF_DDIO,
           {"LIM-01": FAIL}),
    Golden("memlock-odp", "the same with a NIC that may fault pages in",
           healthy(memlock="65536", cap_ipc_lock=False), "ddio-off", OFF_DDIO, {"LIM-01": WARN}),
    Golden("memlock-capable", "with CAP_IPC_LOCK there is no limit",
           healthy(nics=nic_with(NO_ODP), memlock="65536"), "ddio-off", OFF_DDIO),
    Golden("memlock-enough", "a limit above the size of the target",
           healthy(nics=nic_with(NO_ODP), memlock=str(300 << 30), cap_ipc_lock=False), "ddio-off",
           OFF_DDIO),
    Golden("few-files", "ten descriptors do not hold one connection",
           healthy(open_files=10), "failed", OFF_DDIO, {"LIM-02": FAIL}),
    Golden("no-limits", "how much may be locked cannot be read",
           healthy(cap_ipc_lock=False, without=["proc/self/limits"]), "unproven", OFF_DDIO,
           {"LIM-01": UNKNOWN, "LIM-02": UNKNOWN}),
    Golden("size-unknown", "nor can the size of what has to fit into a limit",
           on_fsdax({"size_bytes": None}, memlock="65536", cap_ipc_lock=False), "unproven",
           OFF_DDIO, FSDAX | {"LIM-01": UNKNOWN}, FILE),
    Golden("no-verbs", "the device could not be asked; a device DAX needs no paging",
           healthy(nics=nic_with(None)), "unproven", OFF_DDIO,
           {"CAP-01": UNKNOWN, "CAP-02": UNKNOWN, "CAP-03": UNKNOWN,
            "LIM-02": UNKNOWN}),
    Golden("fsdax-no-verbs", "whether its pages can be faulted in is not known",
           on_fsdax(nics=nic_with(None)), "unproven", OFF_DDIO,
           FSDAX | {"ODP-01": UNKNOWN, "CAP-01": UNKNOWN, "CAP-02": UNKNOWN, "CAP-03": UNKNOWN,
                    "LIM-02": UNKNOWN}, FILE),
]
