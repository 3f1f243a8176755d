# SPDX-License-Identifier: BSD-3-Clause
"""Who can flush whose memory, and what a power failure leaves: the table of doc/librpma-interoperability.md.

Every librpma as initiator against every one as target, on a device with native flush that refuses the
persistent kind for memory without a file: Debian's 1.2.0 and 1.3.0, ours with a program built for those,
ours with a program built for 1.4, and ours without native flush. The rule is that no pair with ours is
weaker than the pair with the original on both sides, but for the cells that librpma(7) names as weaker.

CELLS=all measures every pair and compares the table; CELLS=few the pairs that were weaker once. With
UPDATE=1 the table is written.
"""

import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PEERS = os.environ["RPMA_FLUSH_PEERS"]
TABLE = SOURCE / "doc/librpma-interoperability.md"
ALL = os.environ["CELLS"] == "all"
POWER_FAILURES = 40 if ALL else 6
RECORDS = 100
RECORD_BYTES = 64
LIMIT_S = 60

# (name, folder, version that a program was linked with)
OURS, BY_READ = Path(os.environ["RPMA_OURS"]), Path(os.environ["RPMA_BY_READ"])
LIBRARIES = {
    "1.2.0": ("bookworm", None),
    "1.3.0": ("trixie", None),
    "ours, built for 1.x": (OURS, "LIBRPMA_1.0"),
    "ours, built for 1.4": (OURS, None),
    "ours without native flush": (BY_READ, "LIBRPMA_1.0"),
}
ORIGINALS = ["1.2.0", "1.3.0"]
OLD_PROGRAM, NEW_PROGRAM = "ours, built for 1.x", "ours, built for 1.4"
# not emulated by asking for the old symbols, but compiled and linked with Debian 13's librpma-dev
COMPILED = "ours, compiled with 1.3.0"

# usage bits: 8 is WRITE_DST, 1 READ_SRC, 0x10 and 0x20 the flush types
KINDS = [
    ("visibility", "dram", ["0x18", "0x19", "0x38", "0x39"]),
    ("persistent", "file", ["0x28", "0x29", "0x38", "0x3f"]),
    ("persistent", "dram", ["0x28", "0x29", "0x38", "0x3f"]),
]


def own_address() -> str:
    """librpma 1.3.0 cannot find the device of a loopback address."""
    out = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
    return next((address for address in out if "." in address), "127.0.0.1")


ADDRESS = own_address()


def folder_of(name: str) -> Path:
    folder = OURS if name == COMPILED else LIBRARIES[name][0]
    if isinstance(folder, Path):
        return folder
    done = subprocess.run([SOURCE / "tests/fetch-reference", folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("no reference: Debian's librpma could not be fetched")
    return next(Path(done.stdout.strip()).glob("usr/lib/*/librpma.so.0")).parent


@functools.cache
def compiled_with_1_3() -> str:
    """The path of flush_peers, built with the header and the library of 1.3.0; it ends with the tests."""
    reference = folder_of("1.3.0").parents[2]
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    sources = [str(SOURCE / "tests/vm" / f"{name}.c") for name in ("flush_peers", "session")]
    # the library itself needs newer libraries than those here; ours does not
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{reference}/usr/include", f"-I{SOURCE}", *sources,
                    str(folder_of("1.3.0") / "librpma.so.0"), "-Wl,--unresolved-symbols=ignore-in-shared-libs",
                    "-libverbs", "-lrdmacm", "-ldl", "-o", str(folder / "flush_peers")], check=True)  # fmt: skip
    return str(folder / "flush_peers")


def program_of(name: str) -> str:
    return compiled_with_1_3() if name == COMPILED else PEERS


def environment(name: str, soft: str = "") -> dict[str, str]:
    folder, version = folder_of(name), LIBRARIES[name][1] if name in LIBRARIES else None
    set_here = {"LD_LIBRARY_PATH": str(folder), "RPMA_TEST_LIBRARY": str(folder), "RPMA_SOFT": soft}
    return os.environ | set_here | ({"RPMA_TEST_VERSION": version} if version else {})


class Target:
    """A process with the region; ends with the block."""

    def __init__(self, name: str, place: str, kind: str, usage: str, *soft: str) -> None:
        self.process = subprocess.Popen(
            [LAUNCHER, *soft, "--", program_of(name), "target", ADDRESS, place, kind, usage, "1"],
            env=environment(name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        line = self.process.stdout.readline()
        self.port = line.split()[1] if line.startswith("port ") else None

    def __enter__(self) -> "Target":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def initiate(name: str, target: Target, kind: str, *records: str) -> str:
    assert target.port
    done = subprocess.run(
        [LAUNCHER, "--", program_of(name), "initiator", ADDRESS, target.port, kind, *records],
        env=environment(name), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "pmem"
    path.write_bytes(bytes(4 << 20))
    return str(path)


def cell(target_name: str, initiator: str, kind: str, place: str, usage: str) -> str:
    with Target(target_name, place, kind, usage) as target:
        if target.port is None:
            return "not registered"
        return {"by-read": "read", "by-flush": "native"}.get(result := initiate(initiator, target, kind), result)


# Refused once with ours, and good with 1.2.0 on both sides.
@pytest.mark.parametrize("usage", ["0x28", "0x38"])
@pytest.mark.parametrize("initiator", [OLD_PROGRAM, NEW_PROGRAM])
@pytest.mark.parametrize("target", [OLD_PROGRAM, NEW_PROGRAM])
def test_a_region_that_the_device_refuses_natively_is_read(target: str, initiator: str, usage: str) -> None:
    assert cell(target, initiator, "persistent", "dram", usage) == "read"


# Read once with ours, and native with 1.3.0 on both sides.
@pytest.mark.parametrize("usage", ["0x28", "0x29", "0x3f"])
@pytest.mark.parametrize("initiator", [OLD_PROGRAM, NEW_PROGRAM])
@pytest.mark.parametrize("target", [OLD_PROGRAM, NEW_PROGRAM])
def test_a_region_that_flushes_natively_does(target: str, initiator: str, usage: str, file: str) -> None:
    assert cell(target, initiator, "persistent", file, usage) == "native"


# --- power failure ----------------------------------------------------------------------------------


# DDIO on and caches that lose their content: only a native flush keeps what was flushed.
HARDEST = "domain=adr,ddio=on"


def lost_in(target_name: str, initiator: str, usage: str, file: str, seed: int, platform: str = HARDEST) -> bool:
    Path(file).write_bytes(bytes(4 << 20))
    at = 2 * (10 + 2 * seed) + seed % 2
    fault = f"powerfail:{platform},at={at}"
    with Target(target_name, file, "persistent", usage, "--seed", str(seed), "-f", fault) as target:
        kept = int(initiate(initiator, target, "persistent", str(RECORDS)))
    assert 0 < kept < RECORDS
    found = Path(file).read_bytes()[: kept * RECORD_BYTES]
    return found != b"".join(bytes([1 + i]) * RECORD_BYTES for i in range(kept))


PAIRS = [(OLD_PROGRAM, OLD_PROGRAM), (OLD_PROGRAM, NEW_PROGRAM), (NEW_PROGRAM, OLD_PROGRAM), (COMPILED, COMPILED)]
if not ADDRESS.startswith("127."):
    PAIRS.append((OLD_PROGRAM, "1.3.0"))
PAIRS_OF_REFERENCE = [("1.3.0", "1.3.0")]


@pytest.mark.parametrize("usage", ["0x29", "0x28"])
@pytest.mark.parametrize("target,initiator", PAIRS + (PAIRS_OF_REFERENCE if ALL else []))
def test_a_power_failure_loses_nothing_that_1_3_keeps(target: str, initiator: str, usage: str, file: str) -> None:
    lost = [seed for seed in range(POWER_FAILURES) if lost_in(target, initiator, usage, file, seed)]
    assert lost == []


def test_the_judge_sees_what_a_read_loses(file: str) -> None:
    """A file that a target of 1.2.0 registers is read; its platform flushes otherwise."""
    lost = [seed for seed in range(POWER_FAILURES) if lost_in("1.2.0", "1.2.0", "0x29", file, seed)]
    assert len(lost) >= POWER_FAILURES / 2


# librpma(7) under DIRECT WRITE TO PMEM, by the platform of the software device.
PLATFORMS = {
    "domain=adr,ddio=on": "DDIO on, caches lose their content",
    "domain=adr,ddio=off": "DDIO off (Direct Write to PMem)",
    "domain=eadr,ddio=on": "DDIO on, caches are flushed when power fails (eADR)",
    "domain=eadr,ddio=off": "DDIO off, eADR",
}
BY_METHOD = {"read": "ours without native flush", "native": NEW_PROGRAM}


def kept(method: str, platform: str, file: str) -> str:
    library = BY_METHOD[method]
    lost = [seed for seed in range(POWER_FAILURES) if lost_in(library, library, "0x29", file, seed, platform)]
    return "lost" if lost else "kept"


@pytest.mark.parametrize("platform", PLATFORMS if ALL else [HARDEST])
@pytest.mark.parametrize("method", BY_METHOD)
def test_a_flush_keeps_what_its_method_and_the_platform_promise(method: str, platform: str, file: str) -> None:
    expected = "lost" if method == "read" and platform == HARDEST else "kept"
    assert kept(method, platform, file) == expected
    assert f"| {PLATFORMS[platform]} | {method} | {expected} |" in TABLE.read_text()


# --- the table --------------------------------------------------------------------------------------

GOOD = {"native": 2, "read": 1, "refused": 0}


def known_as_weaker(target: str, initiator: str, usage: int) -> bool:
    """Named in librpma(7): 21 bytes do not tell 1.2.0 from 1.3.0."""
    readable = bool(usage & 1)
    if target == "1.3.0":
        return readable or "without" in initiator
    return target == "1.2.0" and not readable


def weaker(cells: dict[tuple[str, str], str], usage: int) -> list[str]:
    """Pairs with ours that are below the same pair with the original in its place."""
    found = []
    for (target, initiator), result in cells.items():
        originals = [
            cells[t, t]
            for t in ORIGINALS
            if target in (t, OLD_PROGRAM) and initiator in (t, OLD_PROGRAM) and cells[t, t] in GOOD
        ]
        if target in ORIGINALS and initiator in ORIGINALS or not originals:
            continue
        least = max(GOOD[o] for o in originals)
        if GOOD.get(result, 0) < least and not known_as_weaker(target, initiator, usage):
            found.append(f"{initiator} to {target}: {result}, the originals {originals}")
    return found


def render(tables: dict[tuple[str, str, str], dict[tuple[str, str], str]]) -> str:
    lines = []
    for (kind, place, usage), cells in tables.items():
        memory = "memory with a file" if place == "file" else "memory without a file"
        lines += ["", f"Flush to {kind}, {memory}, usage {usage}:", ""]
        lines.append("| initiator \\ target | " + " | ".join(LIBRARIES) + " |")
        lines.append("|---" * (len(LIBRARIES) + 1) + "|")
        for initiator in LIBRARIES:
            lines.append(f"| {initiator} | " + " | ".join(cells[target, initiator] for target in LIBRARIES) + " |")
    return "\n".join(lines) + "\n"


def table_is_as_measured(file: str) -> None:
    tables = {}
    worse = []
    for kind, place, usages in KINDS:
        for usage in usages:
            cells = {
                (target, initiator): cell(target, initiator, kind, file if place == "file" else place, usage)
                for target in LIBRARIES
                for initiator in LIBRARIES
            }
            tables[kind, place, usage] = cells
            worse += [f"{kind} {place} {usage}: {pair}" for pair in weaker(cells, int(usage, 16))]
    head = re.search(r"\A.*<!-- table -->\n", TABLE.read_text(), re.DOTALL)
    assert head
    if os.environ.get("UPDATE"):
        TABLE.write_text(head[0] + render(tables))
    assert TABLE.read_text() == head[0] + render(tables)
    assert worse == []


if ALL:

    def test_the_table(file: str) -> None:
        table_is_as_measured(file)
