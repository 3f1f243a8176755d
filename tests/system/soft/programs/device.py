# SPDX-License-Identifier: BSD-3-Clause
"""The devices and places in which the same cases are run.

A Device knows how to start a program on it and by which names it goes. Each
environment makes one, and undoes what it had to set up for it.
"""

import contextlib
import functools
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from host_address import host_address
from path_writes import STRACE, changes
from remote import output_of

ROOT = Path(__file__).resolve().parents[4]
BUILD = Path(os.environ.get("RPMA_BUILD_DIR", ROOT / "build/release"))
LAUNCHER = BUILD / "soft_device/rpma-soft"
DENY_VM = BUILD / "tests/system/soft/programs/deny_vm"
REMOTE = Path(__file__).resolve().parent / "remote.py"
LOCAL = r"local \(process_vm\)"
TCP = r"tcp \(.+\)"
NOT_PERMITTED = r"tcp \(.*Operation not permitted.*\)"
LISTEN = "0A"  # TCP_LISTEN in /proc/net/tcp
NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--pdeathsig=KILL")


def call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{command}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def network_tables(pid: int) -> str:
    """/proc/net/tcp and tcp6 of a process, which may have a network of its own."""
    with contextlib.suppress(OSError):  # it may have ended
        return "".join(Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6"))
    return ""


def tcp_listens(tables: str, port: int) -> bool:
    """Whether a program listens on the port, by the text of /proc/net/tcp and tcp6."""
    for fields in map(str.split, tables.splitlines()):
        if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
            return True
    return False


def cm_listens(table: str, port: int) -> bool:
    """The same of the kernel's connection manager, by the text of `rdma resource`."""
    return any(
        "state LISTEN" in line and re.search(rf"src-addr \S+:{port} ", line + " ")
        for line in table.splitlines()
    )


@dataclass(frozen=True)
class Device:
    address: str  # the server's, for the connection manager
    exchange: str  # the server's, for programs that exchange parameters over TCP
    environment: dict[str, str]
    transport: str | None = None  # a pattern for every link, None if the device does not tell
    server: tuple[str, ...] = ()  # what starts a program on it
    client: tuple[str, ...] = ()
    pingpong: str = "-g 0"  # options that choose the device and the GID
    perftest: str = ""
    elsewhere: str = ""  # the address of the server's machine, if it is not this one
    traces: Path | None = None  # what strace writes, for both sides

    @property
    def is_kernel(self) -> bool:
        return self.transport is None

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.address

    def values(self) -> dict[str, object]:
        return {
            "address": self.address,
            "exchange": self.exchange,
            "pingpong": self.pingpong,
            "perftest": self.perftest,
            "examples": BUILD / "examples",
            "build": BUILD,
        }

    def written(self) -> list[str]:
        """What the programs did to files since the last call; only where they are traced."""
        if self.traces is None:
            return []
        found = list(changes(self.traces, "/dev/null", "/dev/tty", "/proc/self/task/"))  # there threads get names
        for trace in self.traces.iterdir():
            trace.unlink()
        return found

    def listens(self, pid: int, port: int, by_cm: bool) -> bool:
        """The connection manager of the software device listens on TCP, too."""
        if by_cm and self.is_kernel:
            return cm_listens(self.ask("rdma", "resource", "show", "cm_id"), port)
        if self.elsewhere:
            return tcp_listens(self.ask("cat", "/proc/net/tcp", "/proc/net/tcp6"), port)
        return tcp_listens(network_tables(pid), port)

    def ask(self, *command: str) -> str:
        """What a command prints on the machine of the server."""
        if self.elsewhere:
            return output_of(self.elsewhere, *command)
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False, timeout=60,
        ).stdout  # fmt: skip


def base_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C"}


def soft(options: str = "", **fields: object) -> Device:
    if not LAUNCHER.exists():
        pytest.skip(f"{LAUNCHER}: not built")
    given = {
        "address": host_address(),
        "exchange": "127.0.0.1",
        "environment": {**base_environment(), "RPMA_SOFT": f"verbose {options}".strip()},
        "transport": LOCAL,
        "server": (str(LAUNCHER),),
        "client": (str(LAUNCHER),),
    }
    return Device(**{**given, **fields})  # type: ignore[arg-type]


def behind(device: Device, *prefix: str, **fields: object) -> Device:
    """The device, with every program started by this command."""
    return replace(
        device, server=(*prefix, *device.server), client=(*prefix, *device.client), **fields
    )


def need_root(what: str) -> None:
    if os.geteuid() != 0:
        pytest.skip(f"{what}: needs root")


@contextmanager
def plain() -> Iterator[Device]:
    yield soft()


@contextmanager
def strace() -> Iterator[Device]:
    """What the programs do to files is looked at: nothing may be written."""
    if shutil.which("strace") is None:
        pytest.skip("no strace here")
    traces = Path(os.environ["TMPDIR"]) / "traces"
    traces.mkdir()
    yield behind(soft(), *STRACE, "-o", str(traces / "of"), traces=traces)


@contextmanager
def tcp() -> Iterator[Device]:
    yield soft("transport:tcp", transport=TCP)


def as_nobody(device: Device) -> Device:
    """As an ordinary user with a home of its own."""
    need_root("another user")
    home = Path(os.environ["TMPDIR"]) / "home"
    home.mkdir(exist_ok=True)
    os.chown(home, pwd.getpwnam("nobody").pw_uid, -1)
    for path in (LAUNCHER, BUILD / "examples"):
        allowed = subprocess.run([*NOBODY, "test", "-x", path], check=False, timeout=60)
        if allowed.returncode != 0:
            pytest.skip(f"{path}: out of reach for user nobody")
    environment = {**device.environment, "HOME": str(home)}
    return behind(device, *NOBODY, environment=environment)


@contextmanager
def user() -> Iterator[Device]:
    yield as_nobody(soft())


@contextmanager
def seccomp() -> Iterator[Device]:
    yield behind(soft(transport=NOT_PERMITTED), str(DENY_VM))


@contextmanager
def ipv6() -> Iterator[Device]:
    address = host_address(6)
    name = device_of(address, soft())
    yield soft(
        address=address, pingpong=f"-d {name} -g 1", perftest=f"-d {name} -x 1"
    )


def device_of(address: str, device: Device) -> str:
    """The name of the device with this address, as ibv_devinfo has it: of RoCE v2, others are in hexadecimal."""
    done = subprocess.run(
        [*device.client, "ibv_devinfo", "-v"],
        capture_output=True, text=True, check=True, timeout=60, env=device.environment,
    )  # fmt: skip
    for block in done.stdout.split("hca_id:")[1:]:
        if re.search(rf"GID\[\s*1\]:\s+{re.escape(address)}[,\s]", block):
            return block.split()[0]
    raise AssertionError(f"no device has the GID {address}:\n{done.stdout}")


@contextmanager
def namespaces() -> Iterator[Device]:
    """Two network namespaces joined by a wire; each program has its own pids."""
    need_root("network namespaces")
    names = [f"soft-{os.getpid()}-{side}" for side in "ab"]
    try:
        for name in names:
            call("ip", "netns", "add", name)
        call("ip", "-n", names[0], "link", "add", "wire", "type", "veth",
             "peer", "wire", "netns", names[1])  # fmt: skip
        for host, name in enumerate(names, 1):
            call("ip", "-n", name, "address", "add", f"10.201.0.{host}/24", "dev", "wire")
            call("ip", "-n", name, "link", "set", "lo", "up")
            call("ip", "-n", name, "link", "set", "wire", "up")
        apart = [
            ("ip", "netns", "exec", name, "unshare", "--pid", "--fork", "--kill-child",
             "--mount-proc", str(LAUNCHER)) for name in names
        ]  # fmt: skip
        address = "10.201.0.1"
        yield soft(
            address=address, exchange=address, transport=TCP, server=apart[0], client=apart[1]
        )
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL, check=False)


def on_kernel(address_name: str) -> Device:
    if address_name not in os.environ:
        pytest.skip("kernel RDMA: only in a guest of scripts/vm")
    exchange = os.environ["RPMA_VM_ADDR"]
    return Device(os.environ[address_name], exchange, base_environment())


@contextmanager
def kernel() -> Iterator[Device]:
    """The answers of a real device: the oracle of all cases."""
    yield on_kernel("RPMA_VM_ADDR")


@contextmanager
def kernel_ipv6() -> Iterator[Device]:
    yield replace(on_kernel("RPMA_VM_ADDR6"), perftest="--ipv6")


def with_peer(device: Device) -> Device:
    """The server runs on the other guest, whose command is `remote.py serve`."""
    peer = os.environ.get("RPMA_VM_PEER", "")
    if peer == os.environ.get("RPMA_VM_ADDR", ""):
        pytest.skip("two machines: only with scripts/vm --hosts 2")
    there = (str(REMOTE), "run", peer)
    return replace(
        device, server=(*there, *device.server), elsewhere=peer, address=peer, exchange=peer
    )


@contextmanager
def hosts() -> Iterator[Device]:
    yield with_peer(soft(transport=TCP))


@contextmanager
def kernel_hosts() -> Iterator[Device]:
    yield replace(with_peer(on_kernel("RPMA_VM_ADDR")), pingpong="-g 1")  # 0 is link-local


@contextmanager
def yama(scope: int, transport: str) -> Iterator[Device]:
    """An ordinary user's, with the kernel's ptrace_scope set so, in a guest only."""
    knob = Path("/proc/sys/kernel/yama/ptrace_scope")
    if "RPMA_VM_ADDR" not in os.environ or not knob.exists():
        pytest.skip("ptrace_scope: only in a guest of scripts/vm")
    before = knob.read_text()
    knob.write_text(str(scope))
    try:
        yield as_nobody(soft(transport=transport))
    finally:
        knob.write_text(before)


@contextmanager
def yama1() -> Iterator[Device]:
    """Only those traced by consent: the device consents."""
    with yama(1, LOCAL) as device:
        yield device


@contextmanager
def yama2() -> Iterator[Device]:
    """Only with CAP_SYS_PTRACE."""
    with yama(2, NOT_PERMITTED) as device:
        yield device


ENVIRONMENTS: dict[str, Callable] = {
    "plain": plain,
    "strace": strace,
    "tcp": tcp,
    "user": user,
    "seccomp": seccomp,
    "namespaces": namespaces,
    "ipv6": ipv6,
    "kernel": kernel,
    "kernel-ipv6": kernel_ipv6,
    "hosts": hosts,
    "kernel-hosts": kernel_hosts,
    "yama1": yama1,
    "yama2": yama2,
}


@functools.cache
def fetched_librpma() -> Path:
    library = "usr/lib/x86_64-linux-gnu/librpma.so.0"
    guest = Path(os.environ.get("RPMA_VM_OUT", "/nowhere")) / "reference/1.2.0/librpma.so.0"
    return guest if guest.exists() else Path(call(str(ROOT / "tests/fetch-reference"), "bookworm").strip()) / library


def debian_librpma() -> str:
    """A directory that anyone may read, with the librpma.so.0 of Debian 12; fetched when needed."""
    folder = Path(os.environ["TMPDIR"]) / "debian-librpma"
    if not folder.exists():  # else programs may run with it
        folder.mkdir()
        shutil.copy(fetched_librpma(), folder)
    return str(folder)
