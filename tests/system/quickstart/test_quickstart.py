# SPDX-License-Identifier: BSD-3-Clause
"""scripts/quickstart in a copy of the tree, here and with --vm: what it leaves, and what is in it."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SIZES = [64, 256, 1024, 4096, 16384, 65536]
RUNS = {
    "lat-write": ("lat", "write", "none"),
    "lat-persist": ("lat", "write", "apm"),
    "lat-read": ("lat", "read", "none"),
    "bw-write": ("bw", "write", "none"),
    "bw-read": ("bw", "read", "none"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("quickstart") / "tree"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "build*", "out"))
    return copy


@pytest.fixture(scope="module", params=["soft", "rxe"])
def kind(request: pytest.FixtureRequest) -> str:
    """The device: tests of one are run together, as the next run removes what the last one left."""
    return str(request.param)


@pytest.fixture(scope="module")
def done(tree: Path, kind: str) -> subprocess.CompletedProcess[str]:
    options = ["--vm"] if kind == "rxe" else []
    return subprocess.run(
        [tree / "scripts/quickstart", "--no-install", *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=1100,
    )


@pytest.fixture(scope="module")
def out(done: subprocess.CompletedProcess[str]) -> Path:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return Path(done.stdout.splitlines()[-1]).parent


def test_its_last_line_is_the_path_of_the_report(done: Any, out: Path) -> None:
    report = Path(done.stdout.splitlines()[-1])
    assert report == out / "report.html"
    assert report.read_text().startswith("<!DOCTYPE html>")
    assert sorted(path.stem for path in out.glob("*.json")) == sorted(RUNS)


def test_the_remote_pool_outlives_its_writer(done: Any, out: Path) -> None:
    lines = done.stdout.splitlines()
    last = next(int(line.split()[-1]) for line in lines if line.startswith("the last number printed: "))
    at = next(i for i, line in enumerate(lines) if line.startswith("found "))
    found = int(lines[at].split()[1])
    assert last <= found <= last + 1
    assert lines[at + 1 : at + 4] == [str(found + i) for i in (1, 2, 3)]


@pytest.mark.parametrize("name", RUNS)
def test_a_result_has_exactly_the_points_asked_for(out: Path, name: str) -> None:
    result = json.loads((out / f"{name}.json").read_text())
    assert result["run"]["status"] == "complete"
    points = result["points"]
    assert [point["params"]["size_bytes"] for point in points] == SIZES
    for point in points:
        params = point["params"]
        assert (params["test"], params["op"], params["persist"]) == RUNS[name]
        assert len(point["repeats"]) == 3
        for repeat in point["repeats"]:
            assert repeat["ops"] > 0
            assert repeat["bytes"] == repeat["ops"] * params["size_bytes"]


@pytest.mark.parametrize("name", RUNS)
def test_a_result_says_what_it_was_made_on(out: Path, name: str, kind: str) -> None:
    if kind == "soft" and any(Path("/sys/class/infiniband").glob("*")):
        pytest.skip("this machine has an RDMA device of its own")
    result = json.loads((out / f"{name}.json").read_text())
    assert result["device"]["kind"] == kind
    warnings = {warning["code"] for warning in result["run"]["warnings"]}
    assert "DEVICE_NOT_HARDWARE" in warnings


def test_the_report_says_so_too(out: Path, kind: str) -> None:
    if kind == "soft" and any(Path("/sys/class/infiniband").glob("*")):
        pytest.skip("this machine has an RDMA device of its own")
    page = (out / "report.html").read_text()
    assert "NOT HARDWARE: " in page
    assert f"software device {kind}" in page.lower()
