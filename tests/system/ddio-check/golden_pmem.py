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
    Golden("fsdax-no-odp", "pages of a DAX file cannot be pinned for long, and the NIC cannot fault "
           "them in",
           on_fsdax(nics=nic_with(NO_ODP)), "failed", OFF_DDIO,
           FSDAX | {"ODP-01": FAIL}, FILE),
    Golden("fsdax-native", "native flush, and on-demand paging that knows it",
           on_fsdax(nics=[Nic(chain=card(port=intel_port(0x2030, ON)),
                              verbs=MLX5_VERBS | FLUSH | {"odp_rc": 0x5F})]),
           "native", Ddio("ON", registers=ON), FSDAX | {"DDIO-04": WARN, "CAP-01": PASS}, FILE),
    Golden("btt", "a block translation table moves blocks about and has no DAX",
           on_fsdax({"dax": False, "map_sync": "EOPNOTSUPP"}, "rw", Region(mode="safe")), "failed",
           OFF_DDIO, FSDAX | {"PM-03": FAIL, "PM-04": FAIL, "PM-05": FAIL}, FILE),
    Golden("striped", "device mapper over two regions of the same kind",
           on_fsdax(regions=[Region(0, "memory"), Region(1, "memory")], mounts=[DM],
                    targets=ON_DM, striped=["pmem0", "pmem1"]), "ddio-off", OFF_DDIO, FSDAX, FILE),
    Golden("raw", "the block device of a raw namespace: what is mapped of it is the page cache",
           healthy(regions=[Region(mode="raw")], targets={"/dev/pmem0": {
               "kind": "block", "major": 259, "minor": 0}}), "unproven", OFF_DDIO,
           {"PM-01": WARN, "PM-02": SKIP, "PM-05": WARN}, ["--target", "/dev/pmem0"]),

    # device DAX
    Golden("other-namespace", "another namespace of the region is a block translation table",
           healthy(regions=[Region(other_modes=["safe", "raw"])]), "ddio-off", OFF_DDIO),
    Golden("other-dimm", "a DIMM of another region is broken",
           healthy(regions=[Region(other_dimms=[Dimm("nmem1", "not_armed flush_fail ")])]),
           "ddio-off", OFF_DDIO),

    # no persistent memory, or not this
    Golden("no-pmem", "the kernel knows of none, with or without a target",
           healthy(regions=[], targets={}), "failed", OFF_DDIO,
           NO_TARGET | ELSEWHERE, []),
    Golden("no-target", "all is well, but no option names what is to be written",
           healthy(targets={}), "no-target", OFF_DDIO, NO_TARGET, []),

    # providers
    Golden("virtio-pmem", "a file of the hypervisor: persistent by its flush only, no MAP_SYNC",
           on_fsdax({"map_sync": "EOPNOTSUPP"}, region=emulated("virtio-pmem")), "failed", OFF_DDIO,
           FSDAX | {"PM-04": FAIL, "PM-06": UNKNOWN, "PM-07": WARN, "PM-08": SKIP}, FILE),
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

    # health
    Golden("dimm-save-failed", "the second of two DIMMs lost what it had",
           healthy(regions=[Region(dimms=[Dimm(), Dimm("nmem1", "save_fail smart_event ")])]),
           "failed", OFF_DDIO, {"PM-08": FAIL}),
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
    Golden("no-list-of-one-disk", "one of two joined devices has no list, nor has its region",
           on_fsdax(regions=[Region(0, "memory"), Region(1, "memory")], mounts=[DM],
                    targets=ON_DM, striped=["pmem0", "pmem1"],
                    without=["sys/devices/**/pmem1/badblocks",
                             "sys/devices/**/region1/badblocks"]), "unproven", OFF_DDIO,
           FSDAX | {"PM-10": UNKNOWN}, FILE),
    Golden("odd-devtype", "nor of a type that has another name",
           healthy(regions=[Region(devtype="nd_blk")]), "unproven", OFF_DDIO, {"PM-07": UNKNOWN}),

    # what the process may do
    Golden("memlock-odp", "the same with a NIC that may fault pages in",
           healthy(memlock="65536", cap_ipc_lock=False), "ddio-off", OFF_DDIO, {"LIM-01": WARN}),
]
