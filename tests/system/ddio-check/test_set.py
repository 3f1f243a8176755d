# SPDX-License-Identifier: BSD-3-Clause
"""--set on trees: the one byte that it writes, and all that it must not write."""

import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest
from checker import NOBODY, look, run
from config_space import connectx, ice_lake_port, intel_port
from golden import DEVDAX, healthy, in_slot
from machine import ON, Function, Host, Nic, card
from trees import build

PORT = "sys/bus/pci/devices/0000:16:00.0/config"
OTHER = "sys/bus/pci/devices/0000:64:00.0/config"


def made(host: Host, top: Path) -> Path:
    build(host, top / "tree")
    return top / "tree"


def digest(tree: Path) -> dict[str, str]:
    return {str(file.relative_to(tree)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(tree.rglob("*")) if file.is_file() and not file.is_symlink()}


def changed(tree: Path, what: str, *options: str, state: Path | None = None) -> tuple[int, str, str]:
    done = run("--sysroot", str(tree), "--set", what, "--state", str(state or tree.parent / "state"), *options)
    return done.returncode, done.stdout, done.stderr


def test_off_writes_one_byte_and_restore_writes_it_back(tmp_path: Path) -> None:
    tree = made(in_slot(*card(port=intel_port(0x2030, (0x00183099, 0)))), tmp_path)
    before, config = digest(tree), (tree / PORT).read_bytes()
    assert look(tree, *DEVDAX)["verdict"] == "GPSPM_ONLY"
    code, out, err = changed(tree, "ddio=off")
    assert (code, out) == (0, "0000:16:00.0: perfctrlsts_0 0x00183099 -> 0x00183011, read back\n")
    assert "until the next boot or --set ddio=restore" in err
    # bits 7 and 3 of the byte at 0x180, and nothing else in the whole tree
    assert (tree / PORT).read_bytes() == config[:0x180] + b"\x11" + config[0x181:]
    assert [name for name, value in digest(tree).items() if before[name] != value] == \
        [str((tree / PORT).resolve().relative_to(tree))]
    # what the advice of --short promised
    assert look(tree, *DEVDAX)["verdict"] == "APM_READY"
    assert json.loads((tmp_path / "state").read_text())["ports"] == {"0000:16:00.0": "0x99"}
    assert changed(tree, "ddio=on")[0] == 0
    assert (tree / PORT).read_bytes()[0x180] == 0x91
    assert changed(tree, "ddio=restore")[0] == 0
    assert digest(tree) == before and not (tmp_path / "state").exists()


def test_what_is_off_is_not_written(tmp_path: Path) -> None:
    tree = made(healthy(), tmp_path)
    (tree / PORT).resolve().chmod(0o444)
    before = digest(tree)
    assert changed(tree, "ddio=off")[:2] == (0, "0000:16:00.0: perfctrlsts_0 0x00183011, as it is to be\n")
    assert digest(tree) == before


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    tree = made(in_slot(*card(port=intel_port(0x2030, ON))), tmp_path)
    before = digest(tree)
    done = run("--sysroot", str(tree), "--set", "ddio=off", "--dry-run")
    assert done.returncode == 0 and not done.stderr
    assert done.stdout == ("0000:16:00.0: perfctrlsts_0 0x00183091, would write 0x11 to byte 0x180 "
                           "(setpci -s 0000:16:00.0 180.b=00:88)\n")
    assert digest(tree) == before and list(tmp_path.iterdir()) == [tree]


def bond(second: tuple[int, int] | None) -> Host:
    port = intel_port(0x2030, second) if second else ice_lake_port()
    first = [Function("0000:16:00.0", intel_port(0x2030, ON)), Function("0000:17:00.0", connectx())]
    return healthy(nics=[Nic(name="mlx5_bond_0", netdev="bond0", chain=first, bond={
        "ens1f0": first, "ens2f0": [Function("0000:64:00.0", port), Function("0000:65:00.0", connectx())]})])


def test_all_ports_of_a_bond_or_none(tmp_path: Path) -> None:
    tree = made(bond(ON), tmp_path)
    assert changed(tree, "ddio=off")[0] == 0
    assert {(tree / port).read_bytes()[0x180] for port in (PORT, OTHER)} == {0x11}
    (tmp_path / "other").mkdir()
    tree = made(bond(None), tmp_path / "other")
    before = digest(tree)
    code, _, err = changed(tree, "ddio=off")
    assert code == 3 and "nothing was written" in err
    assert digest(tree) == before


REFUSED = {
    "ice-lake": (in_slot(*card(port=ice_lake_port()), cpu="icx"), "the header of an extended capability"),
    "sapphire-rapids": (in_slot(*card(port=intel_port(0x352A, ON)), cpu="spr"), "no public register"),
    "haswell": (in_slot(*card(port=intel_port(0x2F04, ON)), cpu="hsx"), "not well documented"),
    "guest": (in_slot(*card(port=intel_port(0x2030, ON)), cpu="clx-guest", sys_vendor="QEMU"), "hypervisor"),
    "not-root": (in_slot(*card(port=intel_port(0x2030, ON)), root=False), "needs root"),
    "no-device": (healthy(nics=[]), "there is no RDMA device"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_the_register_is_not_known_nothing_is_written(name: str, tmp_path: Path) -> None:
    host, why = REFUSED[name]
    tree = made(host, tmp_path)
    before = digest(tree)
    for what in ("ddio=off", "ddio=on"):
        code, out, err = changed(tree, what)
        assert (code, out) == (3, "")
        assert f"--set {what}: nothing was written: " in err and why in err
    assert digest(tree) == before and not (tmp_path / "state").exists()


def test_what_was_not_kept_is_not_restored(tmp_path: Path) -> None:
    tree = made(in_slot(*card(port=intel_port(0x2030, ON))), tmp_path)
    before = digest(tree)
    assert changed(tree, "ddio=restore")[0] == 3
    for text in ("", "[]", "{}", '{"schema": "rpma-ddio-check-state/1"}',
                 '{"schema": "other", "ports": {"0000:16:00.0": "0x11"}}'):
        (tmp_path / "state").write_text(text)
        code, _, err = changed(tree, "ddio=restore")
        assert code == 2 and "is not a state file" in err
        assert changed(tree, "ddio=off")[0] == 2
    for value in ("17", '"17"', '"0x1"', '"0x111"', '"0xzz"', "null"):
        (tmp_path / "state").write_text('{"schema": "rpma-ddio-check-state/1", "ports": {"0000:16:00.0": %s}}' % value)
        assert changed(tree, "ddio=restore")[0] == 3
    assert digest(tree) == before


def test_a_state_file_changes_no_other_bits(tmp_path: Path) -> None:
    tree = made(healthy(), tmp_path)
    (tmp_path / "state").write_text('{"schema": "rpma-ddio-check-state/1", "ports": {"0000:16:00.0": "0xff"}}')
    assert changed(tree, "ddio=restore")[0] == 0
    assert (tree / PORT).read_bytes()[0x180] == 0x99


def test_without_a_state_file_nothing_is_written(tmp_path: Path) -> None:
    tree = made(in_slot(*card(port=intel_port(0x2030, ON))), tmp_path)
    before = digest(tree)
    code, _, err = changed(tree, "ddio=off", state=tmp_path / "missing" / "state")
    assert code == 2 and str(tmp_path / "missing") in err
    assert digest(tree) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_it_takes_the_right_to_write() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are for one user
        top = Path(folder)
        top.chmod(0o755)
        tree = made(in_slot(*card(port=intel_port(0x2030, ON))), top)
        before = digest(tree)
        (top / "free").mkdir()
        (top / "free").chmod(0o777)
        done = run("--sysroot", str(tree), "--set", "ddio=off", "--state", str(top / "free/state"), before=NOBODY)
        assert done.returncode == 2 and "it takes root" in done.stderr
        assert digest(tree) == before


@pytest.mark.parametrize("words, why", [
    (["--set", "ddio=maybe"], "--set ddio=maybe: expected ddio=off, ddio=on or ddio=restore"),
    (["--set", "ddio=off", "--json"], "--set does nothing else"),
    (["--set", "ddio=off", "--target", "/dev/dax0.0"], "--set does nothing else"),
    (["--set", "ddio=off", "--sysroot", "/tmp"], "expected --state FILE"),
    (["--dry-run"], "are for --set"), (["--state", "x"], "are for --set")])  # fmt: skip
def test_wrong_usage(words: list[str], why: str) -> None:
    done = run(*words)
    assert done.returncode == 64 and why in done.stderr
