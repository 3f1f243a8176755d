# SPDX-License-Identifier: BSD-3-Clause
"""Run COMMAND in a guest, or in two, from boot to exit status.

One loop reads what the guests say on their ports: progress on control, the
streams of COMMAND on out and err, each ended by the machine's token, and the
console, kept for the message if something goes wrong.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import BinaryIO

import machine
from failure import Failure
from kernel import Kernel
from machine import Machine
from options import Options
from processes import kill
from root import Root

CONSOLE_BYTES = 8192
CONSOLE_LINES = 12
# What a kernel prints before it gives up, not the registers it adds.
TELLING = re.compile("panic|Oops|BUG:|Out of memory|rpma-vm:|qemu-system")


class _Stream:
    """A stream of COMMAND on its way to FD; holds back what may be the token."""

    def __init__(self, token: bytes, descriptor: int) -> None:
        self.token = token
        self.descriptor = descriptor
        self.held = b""
        self.ended = False

    def feed(self, data: bytes) -> None:
        self.held += data
        at = self.held.find(self.token)
        if at >= 0:
            self.ended = True
            ready, self.held = self.held[:at], b""
        else:
            keep = next(n for n in range(min(len(self.token) - 1, len(self.held)), -1, -1)
                        if self.token.startswith(self.held[len(self.held) - n:]))
            cut = len(self.held) - keep
            ready, self.held = self.held[:cut], self.held[cut:]
        while ready:
            ready = ready[self._write(ready):]

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self.descriptor, data)
        except BlockingIOError:
            with selectors.DefaultSelector() as selector:
                selector.register(self.descriptor, selectors.EVENT_WRITE)
                selector.select()
            return 0


def _received(descriptor: int) -> bytes:
    """The bytes that have come, none at the end. A machine that ends with something
    unread, as one that refuses its arguments does, resets the connection."""
    try:
        return os.read(descriptor, 1 << 16)
    except ConnectionResetError:
        return b""


class _Panic(Failure):
    """A kernel that panicked before its guest was up: nothing of the command has run."""


class _Guest:
    """A machine with the state of its job."""

    def __init__(self, booted: Machine, out: BinaryIO, err: BinaryIO) -> None:
        self.machine = booted
        self.streams = {"out": _Stream(booted.token, out.fileno()),
                        "err": _Stream(booted.token, err.fileno())}
        self.said = b""
        self.words: dict[str, str] = {}

    @property
    def done(self) -> bool:
        return "exit" in self.words and all(s.ended for s in self.streams.values())

    def tell(self, word: str) -> None:
        try:
            self.machine.ports["control"].sendall(f"{word}\n".encode())
        except OSError:
            pass  # the machine is gone; its console will say why

    def hear(self, data: bytes) -> None:
        self.said += data
        *lines, self.said = self.said.split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            self.words[word] = rest
            if word == "failed":
                raise self.failure(rest)

    def failure(self, what: str) -> Failure:
        text = bytes(self.machine.console).decode(errors="replace").replace("\r", "")
        lines = [line for line in text.splitlines() if line.strip()]
        lines = ([line for line in lines if TELLING.search(line)] or lines)[-CONSOLE_LINES:]
        last = "; its last console lines:\n  " + "\n  ".join(lines) if lines else ""
        kind = _Panic if "up" not in self.words and "Kernel panic" in text else Failure
        return kind(f"{self.machine.role} guest: {what}{last}")


class Run:
    """Everything one call of scripts/vm holds; close() gives it all back."""

    def __init__(self, options: Options, kernel: Kernel, root: Root) -> None:
        self.options = options
        self.kernel = kernel
        self.root = root
        self.selector = selectors.DefaultSelector()
        self.guests: list[_Guest] = []
        self.files: list[BinaryIO] = []
        self.directory = Path(tempfile.mkdtemp(prefix="rpma-vm."))
        self.out = self.directory / "out"

    def _make_out(self) -> None:
        self.out = (self.options.out or self.out).absolute()
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            # In the guest a link would lead out of its root before it has entered it.
            self.out = self.out.resolve()
        except OSError as error:
            raise Failure(f"--out {self.out}: {error.strerror}") from error

    def _boot(self, role: str, wire: socket.socket | None, out: BinaryIO, err: BinaryIO) -> _Guest:
        booted = machine.boot(self.options, self.kernel, self.root, role, self.directory,
                              self.out, wire)
        guest = _Guest(booted, out, err)
        self.guests.append(guest)
        for name, port in booted.ports.items():
            self.selector.register(port, selectors.EVENT_READ, (guest, name))
        assert booted.process.stdout
        self.selector.register(booted.process.stdout, selectors.EVENT_READ, (guest, "console"))
        return guest

    def _read(self) -> None:
        for key, _ in self.selector.select():
            guest, name = key.data
            data = _received(key.fd)
            if not data:
                self.selector.unregister(key.fileobj)
                if name == "console" and not guest.done:
                    raise guest.failure("ended before its command did")
            elif name == "control":
                guest.hear(data)
            elif name == "console":
                guest.machine.console += data
                del guest.machine.console[:-CONSOLE_BYTES]
                if self.options.verbose:
                    sys.stderr.buffer.write(data)
                    sys.stderr.flush()
            else:
                guest.streams[name].feed(data)

    def _until_said(self, guest: _Guest, word: str) -> None:
        while word not in guest.words:
            self._read()

    def _until_done(self, guest: _Guest) -> None:
        while not guest.done:
            self._read()

    def _open_out(self, name: str) -> BinaryIO:
        file = open(self.out / name, "wb")
        self.files.append(file)
        return file

    def _show_peer(self) -> None:
        for name in ("peer.out", "peer.err"):
            for line in (self.out / name).read_text(errors="replace").splitlines():
                print(f"peer: {line}", file=sys.stderr)
        print(f"peer: exit status {(self.out / 'peer.status').read_text().strip()}",
              file=sys.stderr)

    def execute(self) -> int:
        """Boot, run, return COMMAND's status. The peer's command is running
        before COMMAND starts, and is ended after it."""
        self._make_out()
        stdout, stderr = sys.stdout.buffer, sys.stderr.buffer
        if self.options.peer is None:
            client = self._boot("client", None, stdout, stderr)
            peer = None
        else:
            one_end, other_end = socket.socketpair()
            peer = self._boot("peer", one_end, self._open_out("peer.out"),
                              self._open_out("peer.err"))
            client = self._boot("client", other_end, stdout, stderr)
            for guest in (peer, client):
                self._until_said(guest, "up")
            peer.tell("go")
            self._until_said(peer, "started")
        client.tell("go")
        self._until_done(client)
        if peer:
            peer.tell("stop")
            self._until_done(peer)
            (self.out / "peer.status").write_text(peer.words["exit"] + "\n", encoding="ascii")
            if self.options.verbose or not self.options.out:
                self._show_peer()
        return int(client.words["exit"])

    def close(self) -> None:
        for guest in self.guests:
            kill(guest.machine.process)
            for port in guest.machine.ports.values():
                port.close()
        for file in self.files:
            file.close()
        self.selector.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def run(options: Options, kernel: Kernel, root: Root) -> int:
    """Boots once more where the emulation of a processor made the kernel panic: rare, and seen."""
    try:
        return _run_once(options, kernel, root)
    except _Panic as panic:
        print(f"vm: {panic}\nvm: booting once more", file=sys.stderr)
        return _run_once(options, kernel, root)


def _run_once(options: Options, kernel: Kernel, root: Root) -> int:
    def time_is_up(_number: int, _frame: FrameType | None) -> None:
        raise Failure(f"{options.timeout_s} s are up and the command has not ended "
                      "(--timeout gives it more)")

    signal.signal(signal.SIGALRM, time_is_up)
    signal.alarm(options.timeout_s)
    this = Run(options, kernel, root)
    try:
        return this.execute()
    finally:
        signal.alarm(0)
        this.close()
