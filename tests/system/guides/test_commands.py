# SPDX-License-Identifier: BSD-3-Clause
"""The commands of README.md and the guides: each is run as it stands there, on the software
device, or is marked below with the reason why it is not.

What a command would have of hardware is put in its place: an address, a port and memory of
this host; and what is measured is measured briefly.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from free_port import free_port
from host_address import host_address, is_loopback

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ["RPMA_BUILD_DIR"])
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "doc/measuring-remote-persistent-memory.md",
             "doc/testing-without-rdma.md", "doc/pipelining-persistent-writes.md"]  # fmt: skip
LIMIT_S = 300
BRIEF = "--repeats 1 --duration 20ms --warmup 0"
BUILT = [*(BUILD / f"tools/{name}/{name}" for name in ("rpma-bench", "rpma-ping", "rpma-ddio-check", "rpmemd")),
         BUILD / "fio_engine/rpma-fio-check", BUILD / "soft_device/rpma-soft", BUILD / "bin/rpma-report"]  # fmt: skip
THREADS_MOST = 4  # the guides' commands use as many, on hosts with as many cores
# Beginnings of commands that are not run.
MARKED = {
    "scripts/quickstart": "system.quickstart runs it",
    "scripts/test": "runs this",
    "scripts/package": "system.install.packages-* runs it in a bare root",
    "sudo apt install": "the same",
    "cmake ": "scripts/test does it",
    "sudo cmake --": "system.install does it, in a folder of its own",
    "ctest ": "scripts/test does it",
    "cc ": "system.install compiles such a program",
    "rpma-ddio-check --target /dev/dax0.0 --probe": "needs counters of the processor's uncore",
    "rpma-bench client 192.0.2.1 --plan lab.json --resume": "bench-soft.resume interrupts a run first",
    "rpma-soft build/release/examples/": "soft-librpma.* runs the examples, each with its two roles",
    "rpma-soft -f delay:time=5us build/release/examples/": "the same",
    "tests/perf/": "reads clocks, for minutes, and needs a quiet machine",
    "ib_read_lat ": "perftest's side of a comparison",
    "ib_write_bw -R": "perftest's side of a comparison",
    "for n in": "a loop over ./program, a program of the reader's; soft-every-call runs such a one",
    "for seed in": "a loop over programs of the reader's; librpma-soft.append-power runs such a one",
}
# Exit statuses other than 0 that are no fault of the command.
MAY_END = {
    "rpma-bench": (1,),  # a limit that this host does not keep
    "rpma-ddio-check": (1, 3),  # not ready, or undetermined
    "rpma-soft --seed 1 -f powerfail": (1, 134, -6),  # fio 3.33 aborts by itself when a job was killed
    "rpma-fio-check": (1,),  # lost by the power failure of the guide
}
PORT_OPTIONS = {"rping": "-p", "ibv_rc_pingpong": "-p", "ib_write_bw": "-p"}


def blocks(document: str) -> list[list[str]]:
    """The commands of each block of shell, and the indented ones, which are a block each."""
    text = (ROOT / document).read_text()
    found = [commands(block) for block in re.findall(r"(?ms)^```sh\n(.*?)^```", text)]
    outside = re.sub(r"(?ms)^```.*?^```", "", text)
    found += [[line] for line in re.findall(r"(?m)^    ((?:rpma-|fio |ibv?_).*)$", outside)]
    return found


def commands(block: str) -> list[str]:
    if re.match(r"for .* do\n", block):
        return [block]
    lines = [re.sub(r"^(server|client)[$#] ", "", line) for line in block.splitlines()]
    return [re.sub(r"\s+# .*$", "", line) for line in lines]


def split_table(block: list[str]) -> list[str]:
    """Perftest's command and ours stand side by side."""
    return [part for line in block
            for part in ([line] if "\n" in line else re.split(r" {4,}", line))]  # fmt: skip


def reason(command: str) -> str | None:
    return next((why for begin, why in MARKED.items() if command.startswith(begin)), None)


@pytest.fixture(scope="module", autouse=True)
def is_built() -> None:
    """All but the part of the engine, which is left out without a source of fio."""
    missing = [built.name for built in BUILT if not built.exists() and built.name != "rpma-fio-check"]
    if missing:
        pytest.fail(f"{', '.join(missing)}: not in {BUILD}; build the release preset first", pytrace=False)


ALL = [(document, split_table(block)) for document in DOCUMENTS for block in blocks(document)]


class Desk:
    """A folder with the programs on its path, and what servers were started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.servers = folder, free_port(2), []  # type: ignore[var-annotated]
        programs = folder / "bin"
        programs.mkdir()
        for built in BUILT:
            (programs / built.name).symlink_to(built)
        (folder / "examples").symlink_to(ROOT / "examples")
        (folder / "counter").symlink_to(BUILD / "examples/rpmem/counter")
        (folder / "memory").write_bytes(bytes(16 << 20))
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": f"{BUILD / 'fio_engine'}:{BUILD / 'librpmem'}",
            "RPMEM_SSH": str(ROOT / "examples/rpmem/ssh-here"),
            "RPMEM_CMD": f"rpmemd --poolset-dir={folder}",
        }
        self.exports = ""

    def in_place(self, command: str) -> str:
        """With what this host has in the place of the reader's hosts and programs."""
        address = host_address() if "fi_pingpong" in command else "127.0.0.1"
        command = re.sub(r"\bHOST\b|192\.0\.2\.1\b", address, command).replace("/dev/dax0.0", "memory")
        command = re.sub(r"\./(client|server|program)( 127\.0\.0\.1)?", "true", command)
        command = command.replace("/mnt/pmem", str(self.folder)).replace("REPLICA server", "REPLICA localhost")
        command = re.sub(r"^pmempool ", "rpma-soft pmempool ", command)
        if re.match(r"rpma-bench (client|local)", command):
            command += "" if "--dry-run" in command else f" {BRIEF}"
            command += " --pin none" if len(os.sched_getaffinity(0)) < THREADS_MOST else ""
        if re.match(r"rpma-bench (client|server)", command):
            command += f" --port {self.port}"
        if command.startswith("fio "):
            command = "rpma-soft " + command.replace("=1G", "=1M") + f" --port={self.port}"
        if "fi_pingpong" in command:
            command = command.replace("-e msg", f"-e msg {'-B' if '&' in command else '-P'} {self.port}")
        for program, option in PORT_OPTIONS.items():
            command = command.replace(f"rpma-soft {program}", f"rpma-soft {program} {option} {self.port}")
        return command

    def start(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(["bash", "-c", f"{self.exports} exec {command}"], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)  # fmt: skip

    def serve(self, command: str) -> None:
        self.servers.append(self.start(self.in_place(command).rstrip(" &").replace(" & ", " ")))

    def run(self, command: str) -> None:
        """Again while a server that was started is not there yet."""
        if command.startswith("export "):
            self.exports += f"{command};"
            return
        end = time.monotonic() + LIMIT_S
        may_end = (0, *next((codes for begin, codes in MAY_END.items() if command.startswith(begin)), ()))
        while True:
            process = self.start(self.in_place(command))
            out, _ = process.communicate(timeout=LIMIT_S)
            if process.returncode in may_end:
                return
            starting = self.servers and process.returncode not in (64, 70, 127)
            assert starting and time.monotonic() < end, f"{command}: {process.returncode}\n{out}"

    def stop(self) -> None:
        for server in self.servers:
            server.kill()
            server.communicate()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.stop()


def is_server(command: str) -> bool:
    return command.endswith("&") or command.startswith("rpma-bench server") or "--role=server" in command


def server_for(command: str) -> str | None:
    """What a reader has running who comes to a block of clients."""
    if command.startswith("rpma-bench client"):
        return "rpma-bench server --listen HOST --target memory --force --direct-write-to-pmem"
    if command.startswith("fio ") and "--serverip" in command:
        return "fio --ioengine=librpma --role=server --serverip=HOST --name=pool --size=1G"
    return None


def lacks(command: str) -> str | None:
    if "fio " in command and not (BUILD / "fio_engine/librpma-fio.so").exists():
        return "the fio engine is not built"
    if command.startswith("pmempool ") and shutil.which("pmempool") is None:
        return "pmempool is not installed"
    if "fi_pingpong" in command and is_loopback(host_address()):
        return "this host has loopback addresses only"
    return None


def write_plan(folder: Path) -> None:
    text = (ROOT / "doc/measuring-remote-persistent-memory.md").read_text()
    found = re.search(r"(?ms)^```json\n(.*?)^```", text)
    assert found
    (folder / "lab.json").write_text(found[1].replace('"repeats": 5,', ""))


@pytest.mark.parametrize(("document", "block"), ALL, ids=[f"{d}: {b[0][:50]}" for d, b in ALL])
def test_block(document: str, block: list[str], desk: Desk) -> None:
    write_plan(desk.folder)
    to_run = [command for command in block if reason(command) is None]
    lacking = [why for command in to_run if (why := lacks(command))]
    if lacking:
        pytest.skip(lacking[0])
    if not any(is_server(command) for command in to_run):
        needed = {server_for(command) for command in to_run} - {None}
        for command in needed:
            desk.serve(str(command))
    for command in to_run:
        if is_server(command):
            desk.serve(command)
        else:
            desk.run(command)


def test_the_build_of_readme_needs_only_what_is_listed_to_build_with() -> None:
    """Tests need more: cmocka, and Python's pytest."""
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
             if line.startswith("cmake --preset")]
    assert lines and all(" -DRPMA_BUILD_TESTS=OFF " in line for line in lines)


def test_marks_are_of_use() -> None:
    every = [command for _, block in ALL for command in block]
    assert [mark for mark in MARKED if not any(command.startswith(mark) for command in every)] == []
