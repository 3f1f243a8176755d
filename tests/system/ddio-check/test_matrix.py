# SPDX-License-Identifier: BSD-3-Clause
"""--all: each pair has the verdict that a look at it alone gives."""

import json
from pathlib import Path
from typing import Any

import jsonschema
from checker import SCHEMA, look, run
from config_space import connectx, intel_port
from golden import healthy
from machine import ON, Dimm, Function, Host, Mount, Nic, Region, card
from trees import build

MATRIX = SCHEMA.with_name("rpma-ddio-check-matrix-1.schema.json")
SICK = [Dimm(name="nmem1", flags="not_armed")]


def server() -> Host:
    """Two NICs, DDIO on above one of them; a device DAX, a file system, and a region that is not armed."""
    second = [Function("0000:64:00.0", intel_port(0x2030, ON)), Function("0000:65:00.0", connectx())]
    nics = [Nic(chain=card()), Nic(name="mlx5_1", chain=second, netdev="ens2f0np0")]
    regions = [Region(), Region(number=1, mode="memory"), Region(number=2, dimms=SICK)]
    file = {"kind": "directory", "major": 259, "minor": 1, "dax": False, "map_sync": "ok"}
    return healthy(nics=nics, regions=regions, mounts=[Mount("/mnt/pmem", "pmem1", "259:1")], targets={
        "/dev/dax0.0": {"kind": "character", "major": 252, "minor": 0},
        "/dev/dax2.0": {"kind": "character", "major": 252, "minor": 2}, "/mnt/pmem": file})


def matrix(tree: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = run("--sysroot", str(tree), "--all", "--json", *options)
    document: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(json.loads(MATRIX.read_text())).validate(document)
    assert document["run"]["exit_code"] == done.returncode
    return done.returncode, document


def test_each_pair_is_as_a_look_at_it(tmp_path: Path) -> None:
    build(server(), tmp_path / "tree")
    code, document = matrix(tmp_path / "tree")
    assert document["devices"] == ["mlx5_0", "mlx5_1"]
    assert document["targets"] == ["/dev/dax0.0", "/dev/dax2.0", "/mnt/pmem"]
    verdicts = {}
    for pair in document["matrix"]:
        alone = look(tmp_path / "tree", "--device", pair["device"], "--target", pair["target"])
        assert (pair["verdict"], pair["row"], pair["direct_write_to_pmem"]) == \
            (alone["verdict"], alone["judgement"]["row"], alone["direct_write_to_pmem"]["value"])
        verdicts[pair["device"], pair["target"]] = pair["verdict"]
    assert len(verdicts) == 6
    assert verdicts["mlx5_0", "/dev/dax0.0"] == "APM_READY"
    assert verdicts["mlx5_1", "/dev/dax0.0"] == "GPSPM_ONLY"
    assert verdicts["mlx5_0", "/dev/dax2.0"] == verdicts["mlx5_1", "/dev/dax2.0"] == "NOT_READY"
    assert code == 1 and document["cut"] is False


def test_the_table_has_a_row_per_target(tmp_path: Path) -> None:
    build(server(), tmp_path / "tree")
    done = run("--sysroot", str(tmp_path / "tree"), "--all")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].split() == ["mlx5_0", "mlx5_1"]
    assert lines[1].split() == ["/dev/dax0.0", "APM_READY", "GPSPM_ONLY"]
    assert lines[2].split() == ["/dev/dax2.0", "NOT_READY", "NOT_READY"]
    assert lines[3].split()[0] == "/mnt/pmem"
    assert "mlx5_0, /dev/dax2.0: PM-08 FAIL" in done.stdout
    assert max(len(line) for line in lines) <= 80


def test_the_worst_is_the_exit_status(tmp_path: Path) -> None:
    build(healthy(), tmp_path / "good")
    assert matrix(tmp_path / "good")[0] == 0
    assert run("--sysroot", str(tmp_path / "good"), "--all", "-q").stdout == ""
    build(healthy(regions=[Region(), Region(number=1, domain=None)]), tmp_path / "unknown")
    assert matrix(tmp_path / "unknown")[0] == 3
    build(healthy(nics=[]), tmp_path / "no-device")
    code, document = matrix(tmp_path / "no-device")
    assert code == 3 and document["matrix"] == [] == document["devices"]
    build(healthy(regions=[], soft_reserved=True), tmp_path / "no-pmem")
    code, document = matrix(tmp_path / "no-pmem")
    assert code == 3 and document["matrix"] == [] == document["targets"]
    done = run("--sysroot", str(tmp_path / "no-pmem"), "--all")
    assert done.stdout == "1 RDMA devices, 0 targets: nothing to check\n"


def test_statements_hold_for_all_pairs(tmp_path: Path) -> None:
    build(healthy(cpu="icx", nics=[Nic(chain=card(port=intel_port(0x347A, None)))]), tmp_path / "tree")
    assert matrix(tmp_path / "tree")[0] == 3
    assert matrix(tmp_path / "tree", "--assume-ddio", "off:menu")[0] == 0


def test_wrong_usage() -> None:
    for words in (["--device", "mlx5_0"], ["--target", "/dev/dax0.0"], ["--short"], ["--set", "ddio=off"]):
        done = run("--all", *words)
        assert done.returncode == 64 and "--all takes every device and target" in done.stderr
