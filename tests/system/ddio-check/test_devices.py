# SPDX-License-Identifier: BSD-3-Clause
"""--device by other names than the RDMA device's, and the short form."""

import re
from pathlib import Path

import pytest
from checker import look, run
from golden import DEVDAX, healthy
from machine import OFF, ON, Function, Nic, card
from trees import build

from config_space import connectx, intel_port


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A single NIC, and one below a bond of two ports."""
    top = tmp_path_factory.mktemp("two") / "tree"
    single = Nic(chain=card())
    single.ports[0].gids = [("0000:0000:0000:0000:0000:ffff:c000:0207", "RoCE v2")]
    bond = Nic(name="mlx5_bond_0", netdev="bond0",
               chain=[Function("0000:3a:00.0", intel_port(0x2030, OFF)), Function("0000:3b:00.0", connectx())],
               bond={"ens2f0": [Function("0000:3a:00.0", intel_port(0x2030, OFF)),
                                Function("0000:3b:00.0", connectx())],
                     "ens2f1": [Function("0000:3a:00.0", intel_port(0x2030, OFF)),
                                Function("0000:3b:00.1", connectx())]})
    bond.ports[0].gids = [("2001:0db8:0000:0000:0000:0000:0000:0007", "RoCE v2")]
    build(healthy(nics=[single, bond]), top)
    return top


@pytest.mark.parametrize("words, name", [
    ("mlx5_0", "mlx5_0"), ("0000:17:00.0", "mlx5_0"), ("17:00.0", "mlx5_0"), ("ens1f0np0", "mlx5_0"),
    ("192.0.2.7", "mlx5_0"), ("::ffff:192.0.2.7", "mlx5_0"), ("mlx5_bond_0", "mlx5_bond_0"),
    ("3b:00.0", "mlx5_bond_0"), ("0000:3B:00.0", "mlx5_bond_0"), ("bond0", "mlx5_bond_0"),
    ("ens2f0", "mlx5_bond_0"), ("2001:db8::7", "mlx5_bond_0")])  # fmt: skip
def test_a_device_has_many_names(two: Path, words: str, name: str) -> None:
    document = look(two, "--device", words, *DEVDAX)
    assert document["device"]["name"] == name
    assert document["verdict"] == "APM_READY"


@pytest.mark.parametrize("words", ["mlx5_1", "16:00.0", "0001:17:00.0", "eth9", "192.0.2.8", "2001:db8::8", ".."])
def test_what_there_is_is_listed(two: Path, words: str) -> None:
    done = run("--sysroot", str(two), "--device", words)
    assert done.returncode == 3
    assert f"--device {words}: no RDMA device has this name" in done.stderr
    assert "there are mlx5_0 (0000:17:00.0, ens1f0np0), mlx5_bond_0 (0000:3b:00.0, bond0)" in done.stderr


def test_several_devices_of_one_function_have_to_be_named(tmp_path: Path) -> None:
    build(healthy(nics=[Nic(chain=card()), Nic(name="mlx5_1", chain=card(), netdev="ens1f1np1")]), tmp_path / "tree")
    done = run("--sysroot", str(tmp_path / "tree"), "--device", "17:00.0")
    assert done.returncode == 3 and not done.stdout
    assert done.stderr == ("rpma-ddio-check: --device 17:00.0 leads to several RDMA devices: "
                           "expected one of mlx5_0, mlx5_1\n")


def test_the_short_form_has_the_verdict_and_the_steps(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(nics=[Nic(chain=card(port=intel_port(0x2030, ON)))]), tree)
    done = run("--sysroot", str(tree), *DEVDAX, "--short")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) <= 10
    text = " ".join(done.stdout.split())
    assert text.startswith("GPSPM_ONLY (ddio-on): ")
    assert re.search(r"Do 1\. As root: rpma-ddio-check --device mlx5_0 --set ddio=off\. .*Then: APM_READY$", text)
    advice = look(tree, *DEVDAX)["advice"]
    assert [step["verdict"] for step in advice["steps"]] == ["APM_READY"] == [advice["verdict"]]


def test_without_a_target_the_first_step_is_to_name_one(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(), tree)
    advice = look(tree)["advice"]
    assert [step["text"] for step in advice["steps"]] == ["Name the memory: --target /dev/dax0.0"]
    assert advice["steps"][0]["verdict"] == "APM_READY" == look(tree, *DEVDAX)["verdict"]


def test_a_host_that_is_ready_is_told_what_to_call(tmp_path: Path) -> None:
    build(healthy(), tmp_path / "tree")
    done = run("--sysroot", str(tmp_path / "tree"), *DEVDAX, "--short")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("APM_READY ") and len(lines) == 3
    assert lines[2].split() == ["Use", "rpma_peer_cfg_set_direct_write_to_pmem(pcfg,", "true)"]
