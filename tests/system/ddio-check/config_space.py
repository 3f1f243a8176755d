# SPDX-License-Identifier: BSD-3-Clause
"""The configuration space of a PCI function, made from a list of capabilities.

Offsets and numbers are those of the PCI Express base specification, chapter 7;
<linux/pci_regs.h> has the same. What a root port of Intel has at 0x180 is in
the public scripts that switch its allocating writes.
"""
from __future__ import annotations

import struct

BRIDGE = 0x060400
ETHERNET = 0x020000

ENDPOINT, ROOT_PORT = 0, 4
INTEGRATED_ENDPOINT = 9

# The usual offset of the PCI Express capability, as firmware leaves it.
EXPRESS_AT = 0x60
PERFCTRLSTS = 0x180


def device_control() -> int:
    """DEVCTL with payloads of 256 and read requests of 512 bytes."""
    return 1 << 5 | 2 << 12


class ConfigSpace:
    """4096 bytes; capabilities are chained in the order in which they are added."""

    def __init__(self, vendor: int, device: int, class_code: int) -> None:
        self.vendor, self.device, self.class_code = vendor, device, class_code
        self.bytes = bytearray(4096)
        self._last = 0
        self._last_extended = 0
        self.word(0, vendor)
        self.word(2, device)
        self.word(4, 0x0546)  # memory, bus master, parity, SERR
        self.dword(8, class_code << 8)
        self.bytes[0x0E] = 1 if class_code == BRIDGE else 0

    def word(self, at: int, value: int) -> None:
        struct.pack_into("<H", self.bytes, at, value)

    def dword(self, at: int, value: int) -> None:
        struct.pack_into("<I", self.bytes, at, value)

    def as_virtual_function(self) -> ConfigSpace:
        """A virtual function's: it has no ids of its own, and no device control."""
        self.dword(0, 0xFFFFFFFF)
        self.word(EXPRESS_AT + 8, 0)
        return self

    def capability(self, at: int, number: int) -> ConfigSpace:
        if self._last:
            self.bytes[self._last + 1] = at
        else:
            self.bytes[0x34] = at
            self.word(6, 0x0010)  # status: there is a list
        self.bytes[at:at + 2] = bytes((number, 0))
        self._last = at
        return self

    def express(self, kind: int, control: int, at: int = EXPRESS_AT) -> ConfigSpace:
        """The PCI Express capability, version 2, of a port or endpoint of this KIND."""
        self.capability(at, 0x10)
        self.word(at + 2, kind << 4 | 2)
        self.word(at + 8, control)
        return self

    def extended(self, at: int, number: int, version: int = 1) -> ConfigSpace:
        """An extended capability; the first one has to be at 0x100."""
        assert (at == 0x100) == (self._last_extended == 0)
        self.dword(at, version << 16 | number)
        if self._last_extended:
            before = struct.unpack_from("<I", self.bytes, self._last_extended)[0]
            self.dword(self._last_extended, before | at << 20)
        self._last_extended = at
        return self

    def tph(self, at: int, control: int) -> ConfigSpace:
        """TPH requester: CONTROL is bits 9:8, 0 not enabled, 1 TPH, 3 extended TPH."""
        self.extended(at, 0x17)
        self.dword(at + 4, 0x00000101)  # no steering tags mode, device specific mode
        self.dword(at + 8, control << 8)
        return self


CXL = 0x1E98  # its vendor id, CXL specification 8.1.1
CXL_PORT_GPF, CXL_DEVICE_GPF = 4, 5


def dvsec(config: ConfigSpace, at: int, vendor: int, number: int, size: int) -> ConfigSpace:
    """A designated vendor-specific capability, PCI Express 7.9.6: vendor, revision, length, id."""
    config.extended(at, 0x23)
    config.dword(at + 4, size << 20 | vendor)
    config.word(at + 8, number)
    return config


def cxl_port(gpf: bool) -> ConfigSpace:
    port = ConfigSpace(0x8086, 0x0DB0, BRIDGE)
    port.capability(0x40, 0x01).express(ROOT_PORT, device_control())
    port.extended(0x100, 0x01, 2)
    dvsec(port, 0x200, CXL, 3, 0x28)  # extensions of a port
    return dvsec(port, 0x240, CXL, CXL_PORT_GPF, 0x10) if gpf else port


def cxl_memory(gpf: bool) -> ConfigSpace:
    """A type 3 device: DVSEC 0, and that of GPF."""
    device = ConfigSpace(0x1B21, 0x0001, 0x050210)
    device.express(ENDPOINT, device_control())
    device.extended(0x100, 0x01, 2)
    dvsec(device, 0x200, CXL, 0, 0x3C)
    dvsec(device, 0x240, 0x8086, CXL_DEVICE_GPF, 0x10)  # the same number of another vendor
    return dvsec(device, 0x280, CXL, CXL_DEVICE_GPF, 0x10) if gpf else device


def intel_port(device: int, perfctrlsts: tuple[int, int] | None) -> ConfigSpace:
    """A root port of Skylake-SP and what is like it: vendor capabilities on both
    sides of 0x180, none at it; PERFCTRLSTS are the dwords at 0x180 and 0x184."""
    port = ConfigSpace(0x8086, device, BRIDGE)
    port.capability(0x40, 0x0D).capability(0x60, 0x05)
    port.express(ROOT_PORT, device_control(), at=0x90).capability(0xE0, 0x01)
    port.extended(0x100, 0x0B).extended(0x110, 0x0D).extended(0x148, 0x01)
    port.extended(0x1D0, 0x0B).extended(0x250, 0x19)
    if perfctrlsts is not None:
        port.dword(PERFCTRLSTS, perfctrlsts[0])
        port.dword(PERFCTRLSTS + 4, perfctrlsts[1])
    return port


def ice_lake_port() -> ConfigSpace:
    """Reads 0x1901000b at 0x180: the header of a capability, bit 7 of which is 0."""
    port = ConfigSpace(0x8086, 0x347A, BRIDGE)
    port.capability(0x40, 0x01).express(ROOT_PORT, device_control())
    port.extended(0x100, 0x01, 2).extended(0x180, 0x0B).extended(0x190, 0x19)
    assert struct.unpack_from("<I", port.bytes, 0x180)[0] == 0x1901000B
    return port


def other_port(vendor: int, device: int) -> ConfigSpace:
    """A root port that has nothing at 0x180."""
    port = ConfigSpace(vendor, device, BRIDGE)
    port.capability(0x40, 0x01).express(ROOT_PORT, device_control())
    port.extended(0x100, 0x01, 2).extended(0x148, 0x0D)
    return port


def connectx(device: int = 0x1017, tph: int | None = None, kind: int = ENDPOINT,
             vendor: int = 0x15B3) -> ConfigSpace:
    """A NIC; TPH is the value of its TPH control (None: it has none)."""
    nic = ConfigSpace(vendor, device, ETHERNET)
    nic.express(kind, device_control()).capability(0x9C, 0x11)
    nic.extended(0x100, 0x01, 2).extended(0x150, 0x0E)
    if tph is not None:
        nic.tph(0x180, tph)
    nic.extended(0x230, 0x0D)
    return nic
