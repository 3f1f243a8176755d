# SPDX-License-Identifier: BSD-3-Clause
"""The options of rpma-ddio-check, and its messages about wrong ones."""

import os
import subprocess
from pathlib import Path

import pytest
from checker import TOOL, look, run, statuses
from config_space import intel_port
from golden import HEALTHY, healthy
from trees import Nic, build, card

DEVDAX = ["--target", "/dev/dax0.0"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("healthy") / "tree"
    build(healthy(), top)
    return top


@pytest.fixture(scope="module")
def icelake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Registers tell nothing there."""
    top = tmp_path_factory.mktemp("icelake") / "tree"
    build(healthy(cpu="icx", nics=[Nic(chain=card(port=intel_port(0x347A, None)))]), top)
    return top


WRONG = [
    (["--nonsense"], "unknown option --nonsense"),
    (["mlx5_0"], "unexpected argument mlx5_0"),
    (["--target"], "--target needs a value"),
    (["--target", ""], "--target : expected a path"),
    (["--target", "/" + "x" * 300], "expected a path"),
    (["--device", ""], "--device : expected auto, or the name"),
    (["--device", "../mlx5_0"], "expected auto, or the name"),
    (["--device", "m" * 64], "expected auto, or the name"),
    (["--only", ""], "expected ids such as"),
    (["--only", "DDIO-4"], "--only DDIO-4: expected ids such as"),
    (["--only", "DDIO-04,"], "expected ids such as"),
    (["--only", "all"], "expected ids such as"),
    (["--explain", "DDIO"], "expected ids such as"),
    (["--explain", "all,DDIO-04"], "expected ids such as"),
    (["--assume-ddio", "off"], "expected on, or off:WHY"),
    (["--assume-ddio", "off:"], "expected on, or off:WHY"),
    (["--assume-ddio", "off:  "], "expected on, or off:WHY"),
    (["--assume-ddio", "OFF:BIOS"], "expected on, or off:WHY"),
    (["--assume-ddio", "offline:BIOS"], "expected on, or off:WHY"),
    (["--assume-ddio", "off:" + "x" * 128], "127 bytes of text"),
    (["--assume-ddio", "off:a\nb"], "127 bytes of text"),
    (["--assume-ddio", b"off:\xff"], "127 bytes of text"),
    (["--assume-pmem", ""], "expected a reason"),
    (["--assume-pmem", "  "], "expected a reason"),
    (["--assume-pmem", "x" * 128], "127 bytes of text"),
    (["--sysroot", ""], "--sysroot : expected a path"),
    (["--sysroot", "/nowhere/at/all"], "--sysroot /nowhere/at/all: No such file or directory"),
    (["--sysroot", "/etc/passwd"], "--sysroot /etc/passwd: Not a directory"),
    (["--sysroot", "/tmp", "--target", "dax0.0"], "as /dev/dax0.0"),
    (["--explain", "all", "--json"], "an explanation is text"),
    (["--probe=yes"], "--probe"),
]


@pytest.mark.parametrize("arguments, sentence", WRONG, ids=[str(words)[:60] for words, _ in WRONG])
def test_wrong_usage_is_one_line_that_says_what_was_expected(
        arguments: list[str | bytes], sentence: str) -> None:
    done = subprocess.run([TOOL, *arguments], capture_output=True, timeout=60)
    text = done.stderr.decode(errors="replace")
    assert (done.returncode, done.stdout) == (64, b"")
    assert text.startswith("rpma-ddio-check: ") and text.count("\n") == 1 + arguments.count(
        "off:a\nb")
    assert sentence in text


def test_help_and_version_are_answered() -> None:
    help_, version = run("--help"), run("--version")
    assert help_.returncode == version.returncode == 0
    assert help_.stdout.startswith("Usage: rpma-ddio-check ") and not help_.stderr
    assert version.stdout.startswith("rpma-ddio-check ") and version.stdout.count("\n") == 1


def test_only_limits_what_is_shown_and_not_the_verdict(tree: Path) -> None:
    document = look(tree, *DEVDAX, "--only", "pm-06,DEV-01")
    assert statuses(document) == {"DEV-01": "PASS", "PM-06": "PASS"}
    assert document["verdict"] == "APM_READY"
    failing = look(tree, "--target", "dram:64M", "--only", "DEV-01")
    assert (statuses(failing), failing["verdict"]) == ({"DEV-01": "PASS"}, "NOT_READY")


@pytest.mark.parametrize("statement", ["on", "on:", "on:unchanged in the firmware menu"])
def test_on_is_believed_against_the_registers(tree: Path, statement: str) -> None:
    document = look(tree, *DEVDAX, "--assume-ddio", statement)
    assert document["verdict"] == "NOT_READY" and document["judgement"]["row"] == "conflict"
    assert document["direct_write_to_pmem"]["value"] is False


def test_a_probe_is_of_this_machine(tree: Path) -> None:
    document = look(tree, *DEVDAX, "--probe")
    assert statuses(document)["DDIO-06"] == "UNKNOWN"
    assert document["verdict"] == "APM_READY"


def test_the_variable_is_a_sysroot_that_the_option_overrides(tree: Path, icelake: Path) -> None:
    env = {**os.environ, "RPMA_SYSROOT": str(tree)}
    assert subprocess.run([TOOL, "-q", *DEVDAX], env=env).returncode == 0
    assert subprocess.run([TOOL, "-q", *DEVDAX, "--sysroot", str(icelake)], env=env).returncode == 3
    told = subprocess.run([TOOL, *DEVDAX], env=env, capture_output=True, text=True).stdout
    assert told.startswith(f"Below    {tree}\n")


def test_quiet_leaves_the_exit_status(tree: Path) -> None:
    done = run("--sysroot", str(tree), *DEVDAX, "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run("--sysroot", str(tree), "-q")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == ("UNDETERMINED (no-target): No target was given, so it is not known which "
                           "memory is meant.\n")


def test_quiet_names_what_is_unknown(tmp_path: Path) -> None:
    build(healthy(without=["sys/devices/**/region0/badblocks"]), tmp_path / "tree")
    done = run("--sysroot", str(tmp_path / "tree"), *DEVDAX, "-q")
    assert done.returncode == 3 and done.stdout.count("\n") == 1
    assert "UNDETERMINED (unproven)" in done.stdout and "PM-10 UNKNOWN" in done.stdout


def test_a_device_is_found_by_name_among_more_than_can_be_listed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(), tree)
    infiniband = tree / "sys/class/infiniband"
    for number in range(4200):
        (infiniband / f"a{number}").symlink_to("mlx5_0")
    names = [entry.name for entry in os.scandir(infiniband)]
    last = names[-1]  # no more than 4096 are listed of those that the directory gives first
    assert statuses(look(tree, "--device", last))["DEV-01"] == "PASS"


def test_a_device_is_taken_by_its_name(tree: Path) -> None:
    assert look(tree, "--device", "mlx5_0")["device"]["asked"] == "mlx5_0"
    found = look(tree, "--device", "auto")["device"]
    assert (found["name"], found["kind"], found["asked"]) == ("mlx5_0", "hardware", None)
    assert (found["driver"], found["placement"]) == ("mlx5_core", "dma")
    for name in ("mlx5_1", "soft", "soft0"):
        document = look(tree, "--device", name, *DEVDAX)
        assert (document["device"], document["judgement"]["row"]) == (None, "no-device")


def test_every_check_is_explained() -> None:
    everything = run("--explain", "all")
    assert everything.returncode == 0 and not everything.stderr
    parts = everything.stdout.split("\n\n")
    assert [part.split()[0] for part in parts] == list(HEALTHY)
    for part in parts:
        lines = part.splitlines()
        assert max(len(line) for line in lines) <= 80
        assert not any(line.endswith(" ") for line in lines)
        assert run("--explain", lines[0].split()[0].lower()).stdout.rstrip("\n") == part.rstrip("\n")


def test_several_are_explained_in_the_order_of_the_checks() -> None:
    text = run("--explain", "PM-06,DEV-01").stdout
    assert 0 == text.index("DEV-01") < text.index("PM-06  ")


def test_output_that_is_lost_is_a_failure(tree: Path) -> None:
    for options in ((), ("--json",)):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([TOOL, "--sysroot", tree, *DEVDAX, *options], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2
        assert "No space left on device" in done.stderr


def test_closed_standard_output_is_a_failure(tree: Path) -> None:
    done = subprocess.run(["sh", "-c", f"'{TOOL}' --sysroot '{tree}' >&-"], stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1
