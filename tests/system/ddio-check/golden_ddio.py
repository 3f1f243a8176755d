# SPDX-License-Identifier: BSD-3-Clause
"""Machines whose question is whether the NIC's writes stay in the cache: the
registers of root ports, what stands against them, and processors without any."""

from typing import Any

from config_space import (NO_SNOOP, RELAXED_ORDERING, UPSTREAM, ConfigSpace, connectx,
                          ice_lake_port, intel_port, other_port, switch_port)
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
SEEN_BETWEEN = SEEN_ON | {"memory_write_bytes": 10 << 30}
PROBE = [*DEVDAX, "--probe"]
ONE_BYTE = {"rdma_bytes": 1, "memory_write_bytes": 1, "window_bytes": 1}
TOO_LITTLE = SEEN_OFF | {"rdma_bytes": 255_999_999, "memory_write_bytes": 255_999_999}
ENOUGH = SEEN_OFF | {"rdma_bytes": 256_000_000, "memory_write_bytes": 256_000_000}
SAID_OFF = [*DEVDAX, "--assume-ddio", "off:switched off in the firmware's menu"]

SAID_PMEM = ["--assume-pmem", "NVDIMMs of host db7, checked there"]
GUEST: dict[str, Any] = {"cpu": "clx-guest", "sys_vendor": "QEMU"}


def registers(values: tuple[int, int], nic: ConfigSpace | None = None) -> list[Function]:
    return card(port=intel_port(0x2030, values), nic=nic)


def port(config: ConfigSpace) -> list[Function]:
    return card(port=config)


def vanished() -> ConfigSpace:
    gone = intel_port(0x2030, OFF)
    gone.bytes[:] = b"\xff" * len(gone.bytes)
    return gone


def header_at(at: int) -> ConfigSpace:
    """A port of the right kind that has a capability where the register should be."""
    config = ConfigSpace(0x8086, 0x2030, 0x060400)
    config.capability(0x40, 0x01).express(4, 0x2020)
    config.extended(0x100, 0x01).extended(at, 0x0B)
    return config


def loops() -> ConfigSpace:
    """Both lists of capabilities end in themselves, before the register."""
    config = intel_port(0x2030, OFF)
    config.bytes[0xE1] = 0x90
    config.dword(0x250, 0x110 << 20 | 1 << 16 | 0x19)
    return config


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
    Golden("clx-off-no-tph-bit", "TPH is allowed by the port, but the NIC has no such capability",
           in_slot(*registers(TPH_ALLOWED)), "ddio-off", Ddio("OFF", registers=TPH_ALLOWED)),
    Golden("skx-ddio-off", "Skylake-SP is stepping 4 of the same model",
           healthy(cpu="skx"), "ddio-off", Ddio("OFF")),

    # the escapes: no-snoop writes (bit 3) and writes with TPH hints
    Golden("clx-off-nosnoop", "writes marked no-snoop allocate, but the NIC may not mark any: "
           "off with a doubt, which is not enough by itself",
           in_slot(*registers(NO_SNOOP_ALLOCATES)), "ddio-off-warn",
           Ddio("OFF_WARN", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN}),
    Golden("clx-off-nosnoop-lenient", "the same where the operator takes it for off",
           in_slot(*registers(NO_SNOOP_ALLOCATES)), "ddio-off-lenient",
           Ddio("OFF_WARN", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN},
           [*DEVDAX, "--lenient"]),
    Golden("clx-off-nosnoop-used", "the NIC may mark writes no-snoop: lenience is not for this",
           in_slot(*registers(NO_SNOOP_ALLOCATES, connectx(flags=NO_SNOOP))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=NO_SNOOP_ALLOCATES), {"DDIO-04": WARN},
           [*DEVDAX, "--lenient"]),
    Golden("clx-off-nosnoop-tph", "no-snoop cannot be used, but TPH can: the worse one counts",
           in_slot(*registers((0x00183019, 0), connectx(tph=1))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=(0x00183019, 0)), {"DDIO-04": WARN, "PCI-06": WARN},
           [*DEVDAX, "--lenient"]),
    Golden("clx-tph", "the NIC's TPH is enabled and the port lets it steer into the cache",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=1))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("clx-tph-extended", "3 in the same field is extended TPH: enabled, too",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=3))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("clx-tph-not-enabled", "the NIC has the capability, disabled: software can enable it at "
           "any time, as it can No Snoop",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=0))), "ddio-off-warn",
           Ddio("OFF_WARN", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": INFO}),
    Golden("clx-tph-not-enabled-lenient", "the same where the operator takes it for off",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=0))), "ddio-off-lenient",
           Ddio("OFF_WARN", registers=TPH_ALLOWED), {"DDIO-04": WARN, "PCI-06": INFO},
           [*DEVDAX, "--lenient"]),
    Golden("clx-tph-not-enabled-seen-off", "and where a probe saw that writes reach memory",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=0)), probe=SEEN_OFF), "ddio-off",
           Ddio("OFF", "probe", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "PCI-06": INFO, "DDIO-06": PASS}, PROBE),
    Golden("clx-tph-not-heeded", "disabled in the NIC, and the port would disregard it (TPHDIS)",
           in_slot(*registers(OFF, connectx(tph=0))), "ddio-off", Ddio("OFF"), {"PCI-06": INFO}),
    Golden("clx-both-not-enabled", "No Snoop and TPH are both open in the port and disabled in the "
           "NIC",
           in_slot(*registers((0x00183019, 0), connectx(tph=0))), "ddio-off-warn",
           Ddio("OFF_WARN", registers=(0x00183019, 0)), {"DDIO-04": WARN, "PCI-06": INFO}),
    Golden("clx-tph-notph", "the kernel was told to let no device use TPH, but it is on: kernels "
           "before 6.13 do not know the word, and newer ones leave on what the firmware turned on",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=1)), cmdline="ro pci=realloc,notph quiet"),
           "ddio-on-possible", Ddio("ON_POSSIBLE", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("clx-tph-words-like-it", "words of the kernel command line that are not pci=notph",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=1)),
                   cmdline="xpci=notph pci=notphx,realloc pci.notph notph pci=nomsi notph"),
           "ddio-on-possible", Ddio("ON_POSSIBLE", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "PCI-06": WARN}),
    Golden("clx-tph-disabled", "the NIC sends hints, but the port disregards them (TPHDIS)",
           in_slot(*registers(OFF, connectx(tph=1))), "ddio-off", Ddio("OFF"), {"PCI-06": WARN}),
    Golden("clx-nic-unreadable", "64 bytes of the NIC: that it cannot send TPH is not known",
           in_slot(Function("0000:16:00.0", intel_port(0x2030, TPH_ALLOWED)),
                   Function("0000:17:00.0", connectx(), readable=64)),
           "ddio-on-possible", Ddio("ON_POSSIBLE", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "PCI-03": UNKNOWN, "PCI-04": INFO, "PCI-05": UNKNOWN,
            "PCI-06": UNKNOWN}),
    Golden("hsx-nic-unreadable", "the same below a port that would break relaxed ordering",
           in_slot(Function("0000:16:00.0", intel_port(0x2F02, TPH_ALLOWED)),
                   Function("0000:17:00.0", connectx(), readable=64), cpu="hsx"),
           "unproven", Ddio("ON_POSSIBLE", registers=TPH_ALLOWED, low_confidence=True),
           {"DDIO-04": WARN, "PCI-03": UNKNOWN, "PCI-04": UNKNOWN, "PCI-05": UNKNOWN,
            "PCI-06": UNKNOWN}),

    # what looks like the register and is not
    Golden("icx-trap", "0x1901000b at 0x180 is the header of a capability, its bit 7 has no meaning here",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("clx-header-180", "a capability at 0x180 in a port of Cascade Lake: not this register",
           in_slot(*port(header_at(0x180))), "ddio-unknown", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN}),
    Golden("clx-header-184", "the same of the second register",
           in_slot(*port(header_at(0x184))), "ddio-unknown", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN}),
    Golden("clx-in-guest", "a virtual machine on Cascade Lake: the ports are the emulator's, and "
           "0 at 0x180 is nothing; nothing is known of the real port",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "unproven",
           UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("clx-other-vendor", "a root port that is not Intel's",
           in_slot(*port(other_port(0x1B36, 0x000C))), "unproven", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("clx-chipset-port", "a port of the chipset (PCH) is no port of the processor",
           in_slot(*port(other_port(0x8086, 0xA190))), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("client-cpu", "a processor that is not in the list",
           in_slot(*registers(OFF), cpu="client"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("vanished-port", "all ones are what a function answers that is not there",
           in_slot(*port(vanished())), "ddio-unknown", UNKNOWN_DDIO,
           {"PCI-01": UNKNOWN, "PCI-07": UNKNOWN, "DDIO-04": UNKNOWN}),
    Golden("looping-lists", "lists that loop end; what else would be in them is not known",
           in_slot(*port(loops())), "ddio-unknown", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN}),
    Golden("half-config", "256 bytes, as without memory-mapped configuration: no extended space",
           in_slot(Function("0000:16:00.0", intel_port(0x2030, OFF), readable=256),
                   Function("0000:17:00.0", connectx(), readable=256)),
           "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PCI-06": UNKNOWN, "PCI-07": UNKNOWN}),

    Golden("all-ones-register", "the register alone reads as all ones: no device answered",
           in_slot(*registers((0xFFFFFFFF, 0xFFFFFFFF))), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("all-ones-second", "the second of the two reads as all ones: its TPH bit is no bit",
           in_slot(*registers((0x00183011, 0xFFFFFFFF))), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN}),
    Golden("no-root-port", "the first bridge is a port of a switch, as some emulators have it",
           in_slot(*port(switch_port(UPSTREAM))), "ddio-unknown", UNKNOWN_DDIO,
           {"PCI-01": UNKNOWN, "DDIO-04": UNKNOWN}),

    # Haswell: the same registers, on less evidence
    Golden("hsx-ddio-off", "registers read off, with low confidence: off with a warning",
           in_slot(*port(intel_port(0x2F04, OFF)), cpu="hsx"), "ddio-off-warn",
           Ddio("OFF", low_confidence=True), {"DDIO-04": WARN}),
    Golden("hsx-ddio-off-lenient", "the same where the operator takes it for off",
           in_slot(*port(intel_port(0x2F04, OFF)), cpu="hsx"), "ddio-off-lenient",
           Ddio("OFF", low_confidence=True), {"DDIO-04": WARN}, [*DEVDAX, "--lenient"]),
    Golden("hsx-ddio-on", "that it is on is safe to believe",
           in_slot(*port(intel_port(0x2F04, ON)), cpu="hsx"), "ddio-on",
           Ddio("ON", registers=ON, low_confidence=True), {"DDIO-04": WARN}),
    Golden("hsx-relaxed-ordering", "relaxed ordering through these ports is broken",
           in_slot(*card(port=intel_port(0x2F02, ON), nic=connectx(flags=RELAXED_ORDERING)),
                   cpu="hsx"),
           "failed", Ddio("ON", registers=ON, low_confidence=True),
           {"DDIO-04": WARN, "PCI-04": FAIL}),

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

    # the ways of the cache prove nothing
    Golden("clx-ways", "two ways by the MSR, on a machine with DDIO off: information only",
           healthy(msr=0x600, resctrl={"shareable_bits": "600", "cbm_mask": "7ff"}), "ddio-off",
           Ddio("OFF"), {"DDIO-02": INFO, "DDIO-03": INFO}),
    Golden("icx-no-ways", "no way at all for devices is no proof",
           in_slot(*port(ice_lake_port()), cpu="icx", msr=0,
                   resctrl={"shareable_bits": "0", "cbm_mask": "fff"}),
           "ddio-unknown", UNKNOWN_DDIO, {"DDIO-02": INFO, "DDIO-03": INFO, "DDIO-04": UNKNOWN}),

    # within eADR the cache is persistent
    Golden("icx-eadr", "the cache is in the power-fail domain: whatever DDIO does is fine",
           in_slot(*port(ice_lake_port()), cpu="icx", regions=[Region(domain="cpu_cache")]),
           "eadr", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN}),
    Golden("eadr-ddio-on", "even where it is known to be on",
           in_slot(*registers(ON), regions=[Region(domain="cpu_cache")]), "eadr", DDIO_ON,
           {"DDIO-04": WARN}),

    # statements
    Golden("icx-assumed-off", "nothing contradicts the operator, whose word it then is",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-assumed-off",
           Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED}, SAID_OFF, True),
    Golden("clx-assumed-off-agrees", "registers are better than words, and say the same",
           healthy(), "ddio-off", Ddio("OFF"), {"DDIO-05": ASSUMED}, SAID_OFF),
    Golden("clx-assumed-off-is-on", "the registers show that the operator is wrong",
           in_slot(*registers(ON)), "conflict", None, {"DDIO-04": WARN, "DDIO-05": FAIL},
           SAID_OFF),
    Golden("icx-assumed-off-seen-on", "the traffic shows that the operator is wrong",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=SEEN_ON), "conflict", None,
           {"DDIO-04": UNKNOWN, "DDIO-05": FAIL, "DDIO-06": FAIL}, [*SAID_OFF, "--probe"]),
    Golden("clx-tph-assumed-off", "that DDIO is off does not take the NIC's escape away",
           in_slot(*registers(TPH_ALLOWED, connectx(tph=1))), "ddio-on-possible",
           Ddio("ON_POSSIBLE", registers=TPH_ALLOWED),
           {"DDIO-04": WARN, "DDIO-05": WARN, "PCI-06": WARN}, SAID_OFF),
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
    Golden("icx-probe-on", "next to nothing goes to memory",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=SEEN_ON), "ddio-on",
           Ddio("ON", "probe", "0000:16:00.0", None), {"DDIO-04": UNKNOWN, "DDIO-06": WARN},
           PROBE),
    Golden("icx-probe-between", "half of it: inconclusive",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=SEEN_BETWEEN), "ddio-unknown",
           UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("icx-probe-impossible", "asked for, and no figures of one: unknown, not skipped",
           in_slot(*port(ice_lake_port()), cpu="icx"), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("clx-off-probe-off", "registers and traffic agree",
           healthy(probe=SEEN_OFF), "ddio-off", Ddio("OFF"), {"DDIO-06": PASS}, PROBE),
    Golden("clx-on-probe-on", "registers and traffic agree",
           in_slot(*registers(ON), probe=SEEN_ON), "ddio-on", DDIO_ON,
           {"DDIO-04": WARN, "DDIO-06": WARN}, PROBE),
    Golden("clx-off-probe-on", "the traffic stays in the cache although the register reads off",
           healthy(probe=SEEN_ON), "conflict", None, {"DDIO-06": FAIL}, PROBE),
    Golden("clx-on-probe-off", "the traffic goes to memory although bit 7 is 1: true where "
           "allocation is off for the whole processor, which is not read; so it is not a "
           "contradiction, and no proof either",
           in_slot(*registers(ON), probe=SEEN_OFF), "ddio-on-possible",
           Ddio("ON_POSSIBLE", "probe", registers=ON), {"DDIO-04": WARN, "DDIO-06": UNKNOWN},
           PROBE),
    Golden("clx-global-off", "the operator states that it is off there, and the probe bears it out",
           in_slot(*registers(ON), probe=SEEN_OFF), "ddio-assumed-off",
           Ddio("OFF", "statement", registers=ON),
           {"DDIO-04": WARN, "DDIO-05": ASSUMED, "DDIO-06": PASS}, [*SAID_OFF, "--probe"], True),
    Golden("clx-global-off-said-on", "who states that it is on is believed against a probe",
           in_slot(*registers(ON), probe=SEEN_OFF), "conflict", None,
           {"DDIO-04": WARN, "DDIO-05": FAIL, "DDIO-06": FAIL},
           [*DEVDAX, "--assume-ddio", "on", "--probe"]),
    Golden("icx-probe-one-byte", "a probe of one byte shows nothing",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=ONE_BYTE), "ddio-unknown",
           UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("icx-probe-too-little", "nor does one of less than 256 MB",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=TOO_LITTLE), "ddio-unknown",
           UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "DDIO-06": UNKNOWN}, PROBE),
    Golden("icx-probe-enough", "256 MB are enough",
           in_slot(*port(ice_lake_port()), cpu="icx", probe=ENOUGH), "ddio-off",
           Ddio("OFF", "probe", "0000:16:00.0", None), {"DDIO-04": UNKNOWN, "DDIO-06": PASS},
           PROBE),

    # in a virtual machine, what the hypervisor shows of itself is no proof
    Golden("guest-eadr", "a NIC passed through, and memory that QEMU reports as cpu_cache",
           in_slot(*port(other_port(0x8086, 0x3420)), regions=[Region(domain="cpu_cache")],
                   **GUEST), "unproven", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("guest-eadr-assumed", "the operator states that the host keeps it",
           in_slot(*port(other_port(0x8086, 0x3420)), regions=[Region(domain="cpu_cache")],
                   **GUEST), "eadr", UNKNOWN_DDIO, {"DDIO-04": UNKNOWN, "PM-07": ASSUMED},
           [*DEVDAX, *SAID_PMEM], True),
    Golden("guest-assumed-off", "DDIO is off, which proves nothing about the memory",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "unproven",
           Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-07": WARN}, SAID_OFF),
    Golden("guest-pmem-assumed", "nor does what is stated of the memory say anything of DDIO",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "ddio-unknown", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": ASSUMED}, [*DEVDAX, *SAID_PMEM]),
    Golden("guest-both-assumed", "both are stated",
           in_slot(*port(other_port(0x8086, 0x3420)), **GUEST), "ddio-assumed-off",
           Ddio("OFF", "statement", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-05": ASSUMED, "PM-07": ASSUMED}, [*SAID_OFF, *SAID_PMEM],
           True),
    Golden("guest-probe-off", "counters of a guest are the hypervisor's, too",
           in_slot(*port(other_port(0x8086, 0x3420)), probe=SEEN_OFF, **GUEST), "unproven",
           Ddio("OFF", "probe", "0000:16:00.0", None),
           {"DDIO-04": UNKNOWN, "DDIO-06": PASS, "PM-07": WARN}, PROBE),
    Golden("guest-without-flag", "a hypervisor that hides its flag, known by its name",
           in_slot(*port(other_port(0x8086, 0x3420)), sys_vendor="QEMU",
                   regions=[Region(domain="cpu_cache")]), "unproven", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": WARN}),
    Golden("guest-or-not", "an Arm machine that does not tell whether it is virtual",
           in_slot(*port(other_port(0x1CB0, 0xD100)), cpu="neoverse", sys_vendor=None,
                   no_turbo=None, regions=[Region(domain="cpu_cache")]), "unproven", UNKNOWN_DDIO,
           {"DDIO-04": UNKNOWN, "PM-07": UNKNOWN, "SYS-02": SKIP}),
    Golden("host-pmem-assumed", "the statement is for what a hypervisor shows alone",
           healthy(), "ddio-off", Ddio("OFF"), {}, [*DEVDAX, *SAID_PMEM]),
    Golden("e820-pmem-assumed", "it makes nothing else persistent",
           healthy(regions=[Region(provider="e820")]), "unproven", Ddio("OFF"), {"PM-07": WARN},
           [*DEVDAX, *SAID_PMEM]),
]
