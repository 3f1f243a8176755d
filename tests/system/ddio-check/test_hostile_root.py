# SPDX-License-Identifier: BSD-3-Clause
"""Trees from another machine, or made to do harm: links in circles and out of the
root, FIFOs, devices, a gigabyte of nothing, junk, what may not be read,
directories without end. A look at one ends in little time and memory (limits of
the process, so that a slow machine is no failure), reports that clearly, and
never calls it ready."""

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from checker import NOBODY, TOOL, Document, validate
from golden import healthy
from golden_ddio import TREES as DDIO_TREES
from golden_pmem import TREES as PMEM_TREES
from trees import build

SECRET = "7c3f-secret-of-the-host"
SANITIZED = "RPMA_SANITIZED" in os.environ
LONG = "RPMA_LONG" in os.environ
CPU_S = 60 if SANITIZED else 10
MEMORY_BYTES = 256 << 20
ENTRIES = 100_000
UNPRINTABLE = re.compile(rb"[^\n\t -~\x80-\xff]")
TARGET = ["--target", "/dev/dax0.0"]
OTHER = NOBODY if os.geteuid() == 0 else None  # one who may not read everything


# By a program, as a preexec_fn has Python copy itself for each of thousands of looks.
LIMITS = ["prlimit", f"--cpu={CPU_S}", "--nofile=64"]
if SANITIZED:  # whose shadow takes terabytes of addresses
    given = os.environ.get("ASAN_OPTIONS", "")
    os.environ["ASAN_OPTIONS"] = f"{given}:max_allocation_size_mb={MEMORY_BYTES >> 20}:allocator_may_return_null=1"
else:
    LIMITS.append(f"--as={MEMORY_BYTES}")


def run(tree: Path, *options: str, before: list[str] | None = None,
        json_too: bool = True) -> subprocess.CompletedProcess[bytes]:
    command = [*LIMITS, *(before or []), TOOL, "--sysroot", str(tree), *TARGET, *options]
    done = subprocess.run(command + (["--json"] if json_too else []), capture_output=True,
                          timeout=300, check=False)
    assert done.returncode in (0, 1, 3, 64), done
    for text in (done.stdout, done.stderr):
        assert SECRET.encode() not in text
        assert not UNPRINTABLE.search(text), text
    return done


def look(tree: Path, *options: str, before: list[str] | None = None) -> Document:
    done = run(tree, *options, before=before)
    document: Document = json.loads(done.stdout)
    validate(document)
    assert document["run"]["exit_code"] == done.returncode
    return document


def is_not_ready(document: Document) -> None:
    assert document["run"]["exit_code"] in (1, 3), document["judgement"]
    assert not document["direct_write_to_pmem"]["value"]


@contextmanager
def hostile_place() -> Iterator[Path]:
    """Where others may look too, unlike in pytest's own."""
    place = Path(tempfile.mkdtemp(prefix="rpma-hostile-"))
    place.chmod(0o755)
    try:
        yield place
    finally:
        for tool in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # Python's own recurse
            subprocess.run([*tool, str(place)], check=True)


@pytest.fixture(name="place")
def place_with_a_secret() -> Iterator[Path]:
    with hostile_place() as place:
        (place / "secret").write_text(SECRET + "\n", encoding="ascii")
        yield place


@pytest.fixture(name="tree")
def healthy_tree(place: Path) -> Path:
    build(healthy(), place / "tree")
    assert look(place / "tree")["verdict"] == "APM_READY"
    return place / "tree"


def files(tree: Path) -> list[Path]:
    """Those of the machine; facts.json was written by a user, see readiness.answers."""
    return sorted(Path(folder, name) for folder, _, names in os.walk(tree) for name in names
                  if not Path(folder, name).is_symlink() and name != "facts.json")


def read_of(tree: Path, *options: str) -> list[Path]:
    """Those that a look reaches, or whose directory it lists: no other file can change its answer."""
    before = ["env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-y", "-s", "4096", "-e", "trace=%file,getdents64"]
    done = subprocess.run([*before, TOOL, "--sysroot", str(tree), *options], capture_output=True, text=True,
                          timeout=300, check=False)
    reached = set(re.findall(r" = \d+<([^>]*)>", done.stderr))
    reached |= {os.path.join(*named) for named in re.findall(r'<([^>]*)>, "([^"]*)"', done.stderr)}
    listed = set(re.findall(r"getdents64\(\d+<([^>]*)>", done.stderr))
    read = [file for file in files(tree) if str(file) in reached or str(file.parent) in listed]
    assert len(read) > 50
    return read


def share(read: list[Path], part: int, parts: int) -> list[Path]:
    """The files of one case out of `parts`; in a long run each case has all."""
    return read if LONG else read[part % parts::parts]


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def spoil(file: Path) -> None:
        file.unlink()
        make(file)
    return spoil


def sparse(file: Path) -> None:
    file.write_bytes(b"")
    os.truncate(file, 1 << 30)


def character_device(file: Path) -> None:
    try:
        os.mknod(file, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        pytest.skip("only root makes devices")


JUNK = bytes(range(256)) * 64
UP = "../" * 40
KINDS: dict[str, Callable[[Path], None]] = {
    "empty": replaced(lambda file: file.touch()),
    "sparse": replaced(sparse),
    "junk": replaced(lambda file: file.write_bytes(JUNK)),
    "ones": replaced(lambda file: file.write_bytes(b"\xff" * 8192)),
    "terminal": replaced(lambda file: file.write_bytes(b"\x1b]0;x\x07\x1b[2J\xc2\x9b31m\n" * 9)),
    "long-line": replaced(lambda file: file.write_bytes(b"a" * (4 << 20))),
    "long-number": replaced(lambda file: file.write_bytes(b"9" * (1 << 20))),
    "negative": replaced(lambda file: file.write_bytes(b"-9223372036854775808\n")),
    "format": replaced(lambda file: file.write_bytes(b"%s%s%n%1000000d\n")),
    "fifo": replaced(os.mkfifo),
    "device": replaced(character_device),
    "directory": replaced(lambda file: file.mkdir()),
    "circle": replaced(lambda file: file.symlink_to(file.name)),
    "growing": replaced(lambda file: file.symlink_to(f"{file.name}/{file.name}")),
    "escaping": replaced(lambda file: file.symlink_to(UP + "etc/passwd")),
    "absolute": replaced(lambda file: file.symlink_to("/etc/passwd")),
    "machine": replaced(lambda file: file.symlink_to("/proc/self/root/etc/passwd")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_nothing_else(tree: Path, kind: str) -> None:
    for file in files(tree):
        KINDS[kind](file)
    is_not_ready(look(tree))
    is_not_ready(look(tree, "--target", "/mnt/pmem/log"))
    assert run(tree, "--verbose", json_too=False).returncode in (1, 3)


ONE_SUCH = ["junk", "escaping", "directory", "sparse", "negative"]


@pytest.mark.parametrize("kind", ONE_SUCH)
def test_one_such_file(tree: Path, kind: str) -> None:
    """Whichever it is; that the verdict is no better than right is golden.py's."""
    for file in share(read_of(tree, *TARGET), ONE_SUCH.index(kind), len(ONE_SUCH)):
        aside = tree.parent / "aside"
        shutil.copy2(file, aside)
        KINDS[kind](file)
        look(tree)
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
        else:
            file.unlink()
        aside.rename(file)
    assert look(tree)["verdict"] == "APM_READY"


# Each is not ready for another reason, and has no second evidence that would be left.
NOT_READY = ["clx-ddio-on", "clx-tph", "clx-nic-unreadable", "clx-in-guest", "icx-trap", "amd-sdci",
             "btt", "raw"]


@pytest.mark.parametrize("name", NOT_READY)
def test_what_is_not_known_makes_nothing_ready(place: Path, name: str) -> None:
    golden = next(tree for tree in [*DDIO_TREES, *PMEM_TREES] if tree.name == name)
    tree = place / "tree"
    build(golden.host, tree)
    for file in share(read_of(tree, *golden.options), NOT_READY.index(name), len(NOT_READY)):
        for kind in ("missing", "zeros"):
            aside = place / "aside"
            file.rename(aside)
            if kind == "zeros":
                file.write_bytes(bytes(4096))
            document = json.loads(run(tree, *golden.options).stdout)
            assert document["run"]["exit_code"] in (1, 3), (kind, file, document["judgement"])
            assert not document["direct_write_to_pmem"]["value"]
            aside.rename(file)


def links(tree: Path) -> list[Path]:
    return sorted(Path(folder, name) for folder, folders, names in os.walk(tree)
                  for name in folders + names if Path(folder, name).is_symlink())


@pytest.mark.parametrize("target", ["{name}", "../{name}", UP + "secret", "../../../../../secret",
                                    "/", "/sys", "..", ".", "/proc/self/fd/0", "a" * 255,
                                    "x/" * 2000])
def test_every_link_leads_astray(tree: Path, target: str) -> None:
    for link in links(tree):
        link.unlink()
        link.symlink_to(target.format(name=link.name)[:4095])
    is_not_ready(look(tree))


def test_what_may_not_be_read(tree: Path) -> None:
    for file in files(tree):
        file.chmod(0)
    is_not_ready(look(tree, before=OTHER))
    assert b"may not be read" in run(tree, before=OTHER).stderr


def test_directories_that_may_not_be_entered(tree: Path) -> None:
    for folder in sorted((tree / "sys").iterdir()):
        folder.chmod(0)
    is_not_ready(look(tree, before=OTHER))


# Directories that the tool lists, so that an unexpected name may stand there.
LISTED = ["sys/class/infiniband", "sys/class/infiniband/mlx5_0/ports",
          "sys/class/infiniband/mlx5_0/ports/1/gids", "sys/class/infiniband/mlx5_0/device/net",
          "sys/class/infiniband/mlx5_0/device/msi_irqs", "sys/class/infiniband/mlx5_0/device",
          "sys/bus/nd/devices", "sys/bus/dax/devices", "sys/bus/cxl/devices",
          "sys/bus/pci/devices", "sys/devices/system/cpu", "sys/devices/system/cpu/cpu0/cpuidle",
          "sys/block", "sys/kernel/iommu_groups"]


@pytest.fixture(name="crowd", scope="module")
def crowded_directory() -> Iterator[Path]:
    """One for all tests, each of which has it somewhere else in its tree."""
    with hostile_place() as place:
        crowd = place / "crowd"
        crowd.mkdir()
        here = os.open(crowd, os.O_RDONLY)
        for number in range(ENTRIES):
            os.symlink("nothing", f"region{number + 1000}" if number % 2 else f"mlx5_{number + 1000}",
                       dir_fd=here)
        os.close(here)
        yield crowd


@pytest.mark.parametrize("folder", LISTED)
def test_a_hundred_thousand_entries(tree: Path, crowd: Path, folder: str) -> None:
    here = (tree / folder).resolve()
    here.mkdir(parents=True, exist_ok=True)
    own = [entry.name for entry in here.iterdir()]
    for name in own:
        (here / name).rename(crowd / name)
    here.rmdir()
    crowd.rename(here)
    try:
        look(tree)
    finally:
        here.rename(crowd)
        here.mkdir()
        for name in own:
            (crowd / name).rename(here / name)


def test_a_directory_without_end(tree: Path) -> None:
    """Deeper than any path is long; links lead to its end, and the end leads on."""
    start, here = tree / "sys/deep", os.getcwd()
    start.mkdir()
    try:
        os.chdir(start)
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    (start / "link").symlink_to("d/" * 2000)
    shortcut = tree / "sys/class/infiniband/mlx5_0"
    shortcut.unlink()
    shortcut.symlink_to("../../deep/link/link")
    is_not_ready(look(tree))
    shortcut.unlink()
    shortcut.symlink_to("../../deep/" + "d/" * 300)
    is_not_ready(look(tree))


@pytest.mark.parametrize("kind", ["junk", "circle", "escaping", "fifo", "sparse", "long-line"])
def test_a_dump_of_it_is_small_and_replays(tree: Path, kind: str) -> None:
    for file in files(tree):
        KINDS[kind](file)
    document = look(tree, "--dump-facts", str(tree.parent / "dump"))
    again = look(tree.parent / "dump")
    assert [c["status"] for c in again["checks"]] == [c["status"] for c in document["checks"]]
    assert again["judgement"]["row"] == document["judgement"]["row"]
    blocks = sum(os.lstat(file).st_blocks for file in files(tree.parent / "dump"))
    assert blocks * 512 < 4 << 20
