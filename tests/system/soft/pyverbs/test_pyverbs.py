# SPDX-License-Identifier: BSD-3-Clause
"""pyverbs on the software device: its example, and the tests that Debian's package has of rdma-core."""

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
EXAMPLE = Path("/usr/share/doc/python3-pyverbs/examples/ib_devices.py")
TESTS = Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # Debian's, for which the package is
LIMIT_S = 600
TESTS_OF_44 = 273  # in the rdma-core that this was written with
PASS_AT_LEAST = 130
# a test that fails, and why
FAILING = {
    "test_multi_process_alloc_dm": "children of fork() use the context of their parent, which the device refuses",
}
# what a skipped test prints, and what it would need
SKIPS = {
    r"Can not run the test over non MLX5 device|This is not an MLX5 device": "a device of NVIDIA",
    r"PCI device must be passed by the user": "a device of NVIDIA, by VFIO",
    r"Converting timestamp to nanoseconds": "mlx5dv_get_clock_info(): the stamps are in nanoseconds",
    r"over non EFA device": "a device of Amazon",
    r"Extended CQ is not supported": "tag matching",
    r"/dev/dri/renderD128": "a GPU whose memory is a DMA-BUF",
    r"cuda-python": "a GPU of NVIDIA",
    r"Create QP type 8|Create Raw Packet QP": "raw packets: there is no Ethernet below the device",
    r"Create XRCD": "XRC",
    r"no huge pages|Huge pages": "huge pages of the host",
    r"All gid indices populated": "a free entry of the GID table, which has none",
    r"[Ii]mport": "objects that another process imports",
}
# "name (tests.x) ... ok"; or the name, a line of what it tests, and the outcome behind that
OUTCOME = re.compile(r"(?m)^(test_\w+) \(.*?\)(?:\n.*?)? \.\.\. (ok|ERROR|FAIL|skipped .*)$")

if not EXAMPLE.exists():
    pytest.skip("no pyverbs here", allow_module_level=True)


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([LAUNCHER, PYTHON, "-B", "-W", "ignore", *words], capture_output=True, text=True, timeout=LIMIT_S, cwd=cwd)


def test_the_example_lists_the_devices() -> None:
    done = run(EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"(?m)^ +soft0 +CA +IB ", done.stdout), done.stdout


def test_tests_of_rdma_core(tmp_path: Path) -> None:
    if not TESTS.exists():
        pytest.skip("the package has no tests of rdma-core here")
    folder = Path(shutil.copytree(TESTS, tmp_path / "tests"))
    for packed in folder.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    done = run(folder / "run_tests.py", "-v", "--dev", "soft0", "--port", "1", cwd=tmp_path)
    outcomes = OUTCOME.findall(done.stderr)
    ran = re.search(r"(?m)^Ran (\d+) tests", done.stderr)
    assert ran is not None and len(outcomes) == int(ran[1]), done.stderr
    skips: dict[str, int] = {}
    for _, outcome in outcomes:
        skips[outcome] = skips.get(outcome, 0) + 1
    for outcome, count in sorted(skips.items(), key=lambda item: -item[1]):
        print(f"{count:4} {outcome}")
    assert {name for name, outcome in outcomes if outcome in ("ERROR", "FAIL")} <= set(FAILING), done.stderr
    assert skips["ok"] >= PASS_AT_LEAST
    unexplained = {
        outcome for outcome in skips if outcome.startswith("skipped") and not re.search("|".join(SKIPS), outcome)
    }
    assert not unexplained or len(outcomes) != TESTS_OF_44, unexplained
