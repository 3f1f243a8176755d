# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is whether the NIC's writes stay in the cache: the
registers of root ports, what stands against them, and processors without any."""

from typing import Any

from config_space import ConfigSpace, connectx, ice_lake_port, intel_port, other_port
from golden import (ASSUMED, DEVDAX, FAIL, INFO, PASS, SKIP, UNKNOWN, UNKNOWN_DDIO, WARN, Ddio,
                    Golden, healthy, in_slot)
from machine import OFF, ON, Function, Region, card
from processors import PROCESSORS

NO_SNOOP_ALLOCATES = (0x00183019, 0x200)  # bit 3, and TPH is off
TPH_ALLOWED = (0x00183011, 0)

# Memory traffic against RDMA traffic of a probe: below a fifth on, above four fifths off.
SEEN_ON = {"rdma_bytes": 20 << 30, "memory_write_bytes": 1 << 30, "window_bytes": 1 << 20,
           "events": "uncore_imc_0/cas_count_write/", "phases": 6, "share_low_ppm": 30_000,
           "share_high_ppm": 70_000}
SEEN_OFF = SEEN_ON | {"memory_write_bytes": 20 << 30, "share_low_ppm": 970_000, "share_high_ppm": 1_030_000}
# By arithmetic 87 of 100 machines with DDIO on and a writer in the only phase look so.
ONE_PHASE = {key: value for key, value in SEEN_OFF.items() if key not in ("phases", "share_low_ppm", "share_high_ppm")}
WIDE = SEEN_OFF | {"share_low_ppm": 700_000, "share_high_ppm": 1_300_000}
PROBE = [*DEVDAX, "--probe"]
SAID_OFF = [*DEVDAX, "--assume-ddio", "off:switched off in the firmware's menu, ticket \u2116 4711"]

SAID_PMEM = ["--assume-pmem", "NVDIMMs of host db7, checked there"]
GUEST: dict[str, Any] = {"cpu": "clx-guest", "sys_vendor": "QEMU"}


def registers(values: tuple[int, int], nic: ConfigSpace | None = None) -> list[Function]:
    return card(port=intel_port(0x2030, values), nic=nic)


def port(config: ConfigSpace) -> list[Function]:
    return card(port=config)


DDIO_ON = Ddio("ON", registers=ON)

# TPH enabled in the NIC: PCI Express base specification 6.17 (a requester with TPH Requester
# Enable may send hints), and what each maker documents of hints: AMD 58725 (SDCI steers by them),
# Intel's Data Direct I/O brief (DDIO is the default of its servers, hints or not), Arm IHI 0050
# (CHI stashes by hints of the requester). No statement about allocation takes them away.
HINTS = [("icx", ice_lake_port()), ("spr", other_port(0x8086, 0x352A)), ("epyc", other_port(0x1022, 0x14AB)),
         ("turin", other_port(0x1022, 0x153B)), ("gnr", other_port(0x8086, 0x0DB0))]
STEERED_DDIO = Ddio("ON_POSSIBLE", "registers", "0000:16:00.0", None)


def steered(cpu: str, root: ConfigSpace, tph: int | None = 1, **changes: Any) -> Any:
    parts = {"no_turbo": None} if PROCESSORS[cpu].vendor != "GenuineIntel" else {}
    return in_slot(*card(port=root, nic=connectx(tph=tph)), cpu=cpu, **(parts | changes))


def no_turbo(cpu: str) -> dict[str, str]:
    return {"SYS-02": SKIP} if PROCESSORS[cpu].vendor != "GenuineIntel" else {}


STEERED = [
    *(Golden(f"{cpu}-tph", "the NIC may steer its writes into a cache",
             steered(cpu, root), "ddio-on-possible", STEERED_DDIO,
             {"DDIO-04": WARN, "PCI-06": WARN} | no_turbo(cpu)) for cpu, root in HINTS),
    *(Golden(f"{cpu}-tph-said-off", "a statement does not win over what is read of the NIC",
             steered(cpu, root), "ddio-on-possible", STEERED_DDIO,
             {"DDIO-04": WARN, "DDIO-05": WARN, "PCI-06": WARN} | no_turbo(cpu), SAID_OFF) for cpu, root in HINTS),
    *(Golden(f"{cpu}-tph-seen-off", "nor does traffic without hints show what traffic with hints does",
             steered(cpu, root, probe=SEEN_OFF), "ddio-on-possible", STEERED_DDIO,
             {"DDIO-04": WARN, "PCI-06": WARN, "DDIO-06": PASS} | no_turbo(cpu), PROBE) for cpu, root in HINTS[:2]),
    *(Golden(f"{cpu}-tph-disabled-said-off", "with TPH disabled nothing speaks against the statement",
             steered(cpu, root, tph=0), "ddio-assumed-off", Ddio("OFF", "statement", "0000:16:00.0", None),
             {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PCI-06": INFO} | no_turbo(cpu), SAID_OFF, True)
      for cpu, root in HINTS),
    Golden("clx-tph-global-said-off", "off for the whole processor, as traffic and operator have it: but hints are heeded",
           in_slot(*registers((0x00183091, 0), connectx(tph=1)), probe=SEEN_OFF), "ddio-on-possible", None,
           {"DDIO-04": WARN, "DDIO-05": WARN, "DDIO-06": PASS, "PCI-06": WARN}, [*SAID_OFF, "--probe"]),
]
TREES = [
    Golden("clx-ddio-on", "bit 7 of perfctrlsts_0 is 1, as firmware leaves it: writes allocate in "
           "the cache, and a flush by read does not bring them further",
           in_slot(*registers(ON)), "ddio-on", DDIO_ON, {"DDIO-04": WARN}),
    Golden("clx-ddio-off", "bits 7 and 3 are 0 and TPH is disabled: all writes go to memory",
           healthy(), "ddio-off", Ddio("OFF")),

    # the escapes: no-snoop writes (bit 3) and writes with TPH hints
    Golden("clx-off-nosnoop", "writes marked no-snoop allocate, but the NIC may not mark any: "
           "off with a doubt, which is not enough by itself",
           in_slot(*registers(NO_SNOOP_ALLOCATES)), "ddio-off-warn",
           Ddio("OFF_WARN", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN}),
    Golden("clx-off-nosnoop-lenient", "the same where the operator takes it for off",
           in_slot(*registers(NO_SNOOP_ALLOCATES)), "ddio-off-lenient",
           Ddio("OFF_WARN", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN},
           [*DEVDAX, "--lenient"]),
    Golden("clx-tph", "the NIC's TPH is enabled and the port lets it steer into the cache",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=1))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("clx-nic-unreadable", "64 bytes of the NIC: that it cannot send TPH is not known",
           in_slot(Function("0000:16:00.0", intel_port(0x2030, TPH_ALLOWED)),
                   Function("0000:17:00.0", connectx(), readable=64)),
           "ddio-on-possible", Ddio("ON_POSSIBLE", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "PCI-03": UNKNOWN, "PCI-04": INFO, "PCI-05": UNKNOWN,
            "PCI-06": UNKNOWN}),

    # what looks like the register and is not
    Golden("icx-trap", "0x1901000b at 0x180 is the header of a capability, its bit 7 has no meaning here",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("clx-in-guest", "a virtual machine on Cascade Lake: the ports are the emulator's, and "
           "0 at 0x180 is nothing; nothing is known of the real port",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "unproven",
           UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("client-cpu", "a processor that is not in the list",
           in_slot(*registers(OFF), cpu="client"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),

    # Haswell: the same registers, on less evidence
    Golden("hsx-ddio-off", "registers read off, with low confidence: off with a warning",
           in_slot(*port(intel_port(0x2F04, OFF)), cpu="hsx"), "ddio-off-warn",
           Ddio("OFF", low_confidence=True), {"DDIO-04": WARN}),

    # processors without a public register
    Golden("spr-unknown", "Sapphire Rapids: the place of the switch is not public",
           in_slot(*port(other_port(0x8086, 0x352A)), cpu="spr"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("amd-sdci", "AMD's injection goes by TPH and can be confined by resctrl, but none of "
           "that proves it off",
           in_slot(*card(port=other_port(0x1022, 0x14AB), nic=connectx(tph=1)), cpu="epyc",
                   resctrl={"shareable_bits": "0", "cbm_mask": "ffff", "io_alloc": "disabled",
                            "io_alloc_cbm": "0=ffff;1=ffff"}),
           "ddio-on-possible", Ddio("ON_POSSIBLE", "registers", "0000:16:00.0", None),
           {"DDIO-04": WARN, "PCI-06": WARN, "DDIO-03": INFO, "SYS-02": SKIP}),
    Golden("arm-dcpop", "no generic register on Arm; no intel_pstate either",
           in_slot(*port(other_port(0x1CB0, 0xD100)), cpu="neoverse",
                   clocksource="arch_sys_counter", governor="performance"),
           "unproven", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": UNKNOWN, "SYS-02": SKIP}),

    # within eADR the cache is persistent
    Golden("icx-eadr", "the cache is in the power-fail domain: whatever DDIO does is fine",
           in_slot(*port(ice_lake_port()), cpu="icx", regions=[Region(domain="cpu_cache")]),
           "eadr", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN}),

    # statements
    Golden("icx-assumed-off", "nothing contradicts the operator, whose word it then is",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-assumed-off",
           Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED}, SAID_OFF, True),
    Golden("clx-assumed-off-is-on", "the registers show that the operator is wrong",
           in_slot(*registers(ON)), "conflict", None, {"DDIO-04": WARN, "DDIO-05": FAIL},
           SAID_OFF),
    *STEERED,

    # probes
    Golden("icx-probe-off", "as much goes to memory as the NIC writes: the evidence there is",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=SEEN_OFF), "ddio-off",
           Ddio("OFF", "probe", "0000:16:00.0", None), {"DDIO-04": UNKNOWN, "DDIO-06": PASS},
           PROBE),
    Golden("icx-probe-one-phase", "a single phase is no proof: another writer may have been active in it",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=ONE_PHASE), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("icx-probe-wide", "phases that disagree: the interval reaches below 0.8",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=WIDE), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("icx-probe-one-phase-on", "that nothing was written is shown by one phase, too",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=ONE_PHASE | {"memory_write_bytes": 1 << 30}), "ddio-on",
           Ddio("ON", "probe", "0000:16:00.0", None), {"DDIO-04": UNKNOWN, "DDIO-06": WARN}, PROBE),
    Golden("icx-probe-impossible", "asked for, and no figures of one: unknown, not skipped",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),

    # in a virtual machine, what the hypervisor shows of itself is no proof
    Golden("guest-eadr", "a NIC passed through, and memory that QEMU reports as cpu_cache",
           in_slot(*port(other_port(0x8086, 0x3420)), regions=[Region(domain="cpu_cache")],
                   **GUEST), "unproven", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("guest-both-assumed", "both are stated",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "ddio-assumed-off",
           Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-07": ASSUMED}, [*SAID_OFF, *SAID_PMEM],
           True),
    Golden("host-pmem-assumed", "the statement is for what a hypervisor shows alone",
           healthy(), "ddio-off", Ddio("OFF"), {}, [*DEVDAX, *SAID_PMEM]),
]
