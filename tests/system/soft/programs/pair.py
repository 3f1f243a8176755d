# SPDX-License-Identifier: BSD-3-Clause
"""Two programs that talk to each other, run to their end and looked at.

A Side is a process with a session of its own, its output in unnamed files. A
Case has what a server and a client are called with and what they must print.
run() does one Case on a Device: nothing waits without a limit, and a failure
is shown with the output of both. What they leave behind is a failure.
"""

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from device import Device, debian_librpma
from free_port import free_port
from host_address import is_loopback

LIMIT_S = float(os.environ.get("RPMA_TEST_LIMIT_S", "300"))
TRIES = 3  # where a client comes too early
LONG_LIMIT_S = 2 * LIMIT_S
POLL_S = 0.005
LINK = re.compile(r"^rpma-soft: \S+ port \d+(?: \(pid \d+\))?: (\w+ \(.*\))$", re.MULTILINE)
PRIVATE_FOLDERS = tuple(Path(name) for name in os.environ.get("RPMA_PRIVATE_FOLDERS", "").split(":") if name)
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
MEASURED: list[tuple[float, str]] = []  # seconds and of what, printed at the end of a run


class Side:
    """One program, with whatever it starts."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]):
        self.name = name
        self.command = command
        self.stdout = tempfile.TemporaryFile()
        self.stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*DIES_WITH_US, *command],
            stdin=subprocess.DEVNULL,
            stdout=self.stdout,
            stderr=self.stderr,
            env=environment,
            cwd=os.environ["TMPDIR"],
            start_new_session=True,
        )

    def out(self) -> str:
        return os.pread(self.stdout.fileno(), 1 << 24, 0).decode(errors="replace")

    def err(self) -> str:
        return os.pread(self.stderr.fileno(), 1 << 24, 0).decode(errors="replace")

    def members(self) -> dict[int, str]:
        """The processes of the session that still run: their states, see proc(5)."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found[int(entry.name)] = fields[0]
        return found

    def is_gone(self) -> bool:
        return not self.members()

    def signal_all(self, number: signal.Signals) -> None:
        for pid in self.members():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def wait(self, limit_s: float) -> int | None:
        """The exit status, -N for signal N, or None if it still runs."""
        try:
            return self.process.wait(max(limit_s, 0))
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Ends all processes, also one that is forked meanwhile. (`unshare --kill-child` forks, and
        its child asks the kernel only later to be killed when its parent dies.)"""
        while self.members():
            self.signal_all(signal.SIGKILL)
            time.sleep(POLL_S)
        self.process.wait()

    def report(self) -> str:
        status = self.process.poll()
        state = "still runs" if status is None else f"ended with {status}"
        return (
            f"--- {self.name}: {shlex.join(self.command)}: {state}\n"
            f"--- stdout\n{self.out()[-6000:]}\n--- stderr\n{self.err()[-6000:]}\n"
        )


@dataclass(frozen=True)
class Case:
    """What a server and its client are called with, and what both must print."""

    name: str
    server: str
    client: str
    listens: str = "cm"  # how the server shows that it is ready: cm, tcp, line or output
    ready: str = ""  # what it prints then, if by its output
    prints: tuple[str, ...] = ()  # patterns in what either prints
    server_prints: tuple[str, ...] = ()
    client_prints: tuple[str, ...] = ()
    never_prints: tuple[str, ...] = ()
    check: Callable[[str], None] | None = None  # takes the client's stdout
    may_end: str = ""  # a pattern in standard error with which status 255 is no failure
    server_ends: bool = True  # else it is killed once the client has ended
    ipv4_only: bool = False  # the program itself knows no other addresses
    operates: bool = True  # else the connection ends as soon as it is there
    long: bool = False
    soft_only: bool = False  # the kernel's device cannot
    kernel_only: bool = False  # the software device cannot
    debian_librpma: tuple[str, ...] = ()  # the sides that take Debian's
    environment: dict[str, str] = field(default_factory=dict)
    too_early: str = ""  # what the client prints if it came before the server listened


def until(happens: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    """Whether it happens within the limit."""
    end = time.monotonic() + limit_s
    while not happens():
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return True


def left_behind() -> set[str]:
    """Only in folders of our own: other programs of this host are not judged."""
    return {str(path) for folder in PRIVATE_FOLDERS for path in folder.iterdir()}


def links_named(side: Side) -> list[str]:
    """The transports of its links, each with the reason."""
    return LINK.findall(side.err())


def port_line(server: Side) -> int | None:
    match = re.match(r"port (\d+)\n", server.out())
    return int(match[1]) if match else None


class Pair:
    """Both sides of a case; `with pair(...)` ends them however it is left."""

    def __init__(self, case: Case, device: Device):
        self.case = case
        self.device = device
        self.port = free_port()
        self.sides: list[Side] = []

    def start(self, name: str, prefix: tuple[str, ...], template: str) -> Side:
        # a multicast group of its own, for all processes of the host may join one
        group = f"239.192.{self.port >> 8}.{self.port & 255}"
        values: dict[str, object] = {**self.device.values(), "port": self.port, "group": group}
        command = [*prefix, *shlex.split(template.format(**values))]
        environment = {**self.device.environment, **self.case.environment}
        if name in self.case.debian_librpma:
            if name == "server" and is_loopback(self.device.address):
                pytest.skip("this host has loopback addresses only")
            environment["LD_LIBRARY_PATH"] = debian_librpma()
            environment["RPMA_TEST_LIBRARY"] = debian_librpma()  # it looks
        side = Side(name, command, environment)
        self.sides.append(side)
        return side

    def start_server(self) -> Side:
        server = self.start("server", self.device.server, self.case.server)
        self.require(until(lambda: self.is_ready(server)), "the server is not ready in time")
        self.require(server.wait(0) is None, "the server ended before its client came")
        if self.case.listens == "line":
            self.port = port_line(server) or 0
        return server

    def start_client(self) -> Side:
        return self.start("client", self.device.client, self.case.client)

    def is_ready(self, server: Side) -> bool:
        if server.wait(0) is not None:
            return True
        if self.case.listens == "line":
            return port_line(server) is not None
        if self.case.listens == "output":
            return self.case.ready in server.out()
        return self.device.listens(server.process.pid, self.port, self.case.listens == "cm")

    def require(self, condition: object, message: str) -> None:
        if not condition:
            reports = "".join(side.report() for side in self.sides)
            raise AssertionError(f"{self.case.name}: {message}\n{reports}")


@contextmanager
def pair(case: Case, device: Device) -> Iterator[Pair]:
    before = left_behind()
    both = Pair(case, device)
    try:
        yield both
    finally:
        for side in both.sides:
            side.kill()
    new = left_behind() - before
    both.require(not new, f"left behind: {sorted(new)}")


def check_output(both: Pair, server: Side, client: Side) -> None:
    case = both.case
    said = {"server": server.out() + server.err(), "client": client.out() + client.err()}
    wanted = {"server": case.prints + case.server_prints, "client": case.prints + case.client_prints}
    for name, text in said.items():
        for pattern in wanted[name]:
            both.require(re.search(pattern, text), f"the {name} does not print {pattern!r}")
        for pattern in case.never_prints:
            both.require(not re.search(pattern, text), f"the {name} prints {pattern!r}")
    if case.check:
        try:
            case.check(client.out())
        except AssertionError as error:
            both.require(False, str(error))


def check_transport(both: Pair) -> None:
    """Links are named, and all are what the place permits.

    A side that starts no operation may have ended before its link was found.
    """
    expected = both.device.transport
    if expected is None or not both.case.operates:
        return
    named = [link for side in both.sides for link in links_named(side)]
    right = named and all(re.fullmatch(expected, link) for link in named)
    both.require(right, f"links named: {named}, expected {expected}")


def require_good_end(both: Pair, side: Side, limit_s: float) -> None:
    status = side.wait(limit_s)
    both.require(status is not None, f"the {side.name} has not ended in {limit_s:.0f} s")
    may_end = both.case.may_end
    good = status == 0 or (status == 255 and may_end and re.search(may_end, side.err()))
    both.require(good, f"the {side.name}'s status is {status}")


def run(case: Case, device: Device) -> None:
    for left in reversed(range(TRIES)):
        if run_once(case, device, is_last=left == 0):
            return


def run_once(case: Case, device: Device, *, is_last: bool) -> bool:
    """False: it has to run again, as the client came too early."""
    with pair(case, device) as both:
        server = both.start_server()
        client = both.start_client()
        # both ends of a latency test poll: on a machine with other work each turn takes a time slice
        end = time.monotonic() + (LONG_LIMIT_S if case.long else LIMIT_S)
        client.wait(end - time.monotonic())
        if not is_last and case.too_early and re.search(case.too_early, client.out() + client.err()):
            return False
        require_good_end(both, client, end - time.monotonic())
        if case.server_ends:
            require_good_end(both, server, end - time.monotonic())
        else:
            both.require(server.wait(0) is None, "the server ended")
            server.kill()
        check_output(both, server, client)
        check_transport(both)
        for side in both.sides:
            both.require(until(side.is_gone), f"of the {side.name} still run: {side.members()}")
    return True
