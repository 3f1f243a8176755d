# SPDX-License-Identifier: BSD-3-Clause
"""The /proc/cpuinfo of the processors that the trees have.

Families, models and steppings are those of <asm/intel-family.h> and
<asm/cputype.h> of Linux.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Processor:
    vendor: str
    model: int
    stepping: int
    name: str
    family: int = 6
    flags: str = "fpu vme tsc msr clflushopt clwb constant_tsc nonstop_tsc"


PROCESSORS = {
    "clx": Processor("GenuineIntel", 0x55, 7, "Intel(R) Xeon(R) Gold 6240 CPU @ 2.60GHz"),
    "clx-guest": Processor("GenuineIntel", 0x55, 7, "Intel(R) Xeon(R) Gold 6240 CPU @ 2.60GHz",
                           flags="fpu vme tsc msr clflushopt clwb hypervisor"),
    "hsx": Processor("GenuineIntel", 0x3F, 2, "Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz"),
    "icx": Processor("GenuineIntel", 0x6A, 6, "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"),
    "spr": Processor("GenuineIntel", 0x8F, 8, "Intel(R) Xeon(R) Platinum 8480+"),
    "gnr": Processor("GenuineIntel", 0xAD, 1, "Intel(R) Xeon(R) 6980P"),
    "turin": Processor("AuthenticAMD", 2, 1, "AMD EPYC 9755 128-Core Processor", family=26),
    "bdx": Processor("GenuineIntel", 0x4F, 1, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz"),
    "emr": Processor("GenuineIntel", 0xCF, 2, "Intel(R) Xeon(R) Platinum 8580"),
    "srf": Processor("GenuineIntel", 0xAF, 3, "Intel(R) Xeon(R) 6780E"),
    "rome": Processor("AuthenticAMD", 0x31, 0, "AMD EPYC 7742 64-Core Processor", family=23),
    "milan": Processor("AuthenticAMD", 0x01, 1, "AMD EPYC 7763 64-Core Processor", family=25),
    "client": Processor("GenuineIntel", 0x9E, 10, "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz"),
    "epyc": Processor("AuthenticAMD", 17, 1, "AMD EPYC 9654 96-Core Processor", family=25),
    "icx-d": Processor("GenuineIntel", 0x6C, 1, "Intel(R) Xeon(R) D-2796TE CPU @ 2.00GHz"),
    "naples": Processor("AuthenticAMD", 0x01, 2, "AMD EPYC 7601 32-Core Processor", family=23),
    "bergamo": Processor("AuthenticAMD", 0xA0, 2, "AMD EPYC 9754 128-Core Processor", family=25),
    "amd-later": Processor("AuthenticAMD", 0x00, 0, "of a family that is not known yet", family=27),
    "hygon": Processor("HygonGenuine", 0x00, 2, "Hygon C86 7185 32-core Processor", family=24),
    "zhaoxin": Processor("CentaurHauls", 0x3B, 0, "ZHAOXIN KaiSheng KH-37800D", family=7),
    "neoverse": Processor("ARM", 0xD49, 0, "", family=8),
}
CPUS = 4  # two in each of two sockets
ARM_FEATURES = "fp asimd aes crc32 atomics asimdrdm lrcpc dcpop"


def cpuinfo(name: str, cpus: int = CPUS) -> str:
    processor = PROCESSORS[name]
    blocks = []
    for cpu in range(cpus):
        if processor.vendor == "ARM":
            blocks.append(f"processor\t: {cpu}\nBogoMIPS\t: 50.00\nFeatures\t: {ARM_FEATURES}\n"
                          "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
                          f"CPU part\t: {processor.model:#x}\nCPU revision\t: 0\n")
        else:
            blocks.append(f"processor\t: {cpu}\nvendor_id\t: {processor.vendor}\n"
                          f"cpu family\t: {processor.family}\nmodel\t\t: {processor.model}\n"
                          f"model name\t: {processor.name}\nstepping\t: {processor.stepping}\n"
                          f"physical id\t: {cpu // 2}\nflags\t\t: {processor.flags}\n")
    return "\n".join(blocks)
