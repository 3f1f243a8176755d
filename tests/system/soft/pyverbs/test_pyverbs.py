# SPDX-License-Identifier: BSD-3-Clause
"""pyverbs on the software device: its example, and the tests that Debian's package has of rdma-core."""

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from outcomes import LIMIT_S, PYTHON, TESTS, TESTS_OF_44, outcomes_of

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
EXAMPLE = Path("/usr/share/doc/python3-pyverbs/examples/ib_devices.py")
ON_RXE = Path(__file__).resolve().parent / "passes-on-rxe.txt"
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
# what passes on the kernel's rxe, and why not here
ON_RXE_ALONE = {
    "test_device.DeviceTest.test_query_gid_ex_bad_flow": "it needs a free entry in the GID table, which has none",
}

if not EXAMPLE.exists():
    pytest.skip("no pyverbs here", allow_module_level=True)


def test_the_example_lists_the_devices() -> None:
    done = subprocess.run([LAUNCHER, PYTHON, "-B", "-W", "ignore", EXAMPLE],
                          capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"(?m)^ +soft0 +CA +IB ", done.stdout), done.stdout


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if not TESTS.exists():
        pytest.skip("the package has no tests of rdma-core here")
    found, printed = outcomes_of("soft0", tmp_path_factory.mktemp("tests"), LAUNCHER)
    for outcome, count in Counter(found.values()).most_common():
        print(f"{count:4} {outcome}")
    failed = {name for name, outcome in found.items() if outcome in ("ERROR", "FAIL")}
    assert {name.rpartition(".")[2] for name in failed} <= set(FAILING), printed
    return found


def test_tests_of_rdma_core(outcomes: dict[str, str]) -> None:
    assert list(outcomes.values()).count("ok") >= PASS_AT_LEAST
    skips = {outcome for outcome in outcomes.values() if outcome.startswith("skipped")}
    unexplained = {outcome for outcome in skips if not re.search("|".join(SKIPS), outcome)}
    assert not unexplained or len(outcomes) != TESTS_OF_44, unexplained


def test_what_passes_on_rxe_passes_here(outcomes: dict[str, str]) -> None:
    """The list is checked by pyverbs_on_rxe, in a guest."""
    on_rxe = set(ON_RXE.read_text().split()) & set(outcomes)
    worse = {name: outcomes[name] for name in sorted(on_rxe) if outcomes[name] != "ok"}
    print(f"{len(on_rxe)} of {len(outcomes)} tests pass on rxe")
    assert worse.keys() <= ON_RXE_ALONE.keys(), worse
