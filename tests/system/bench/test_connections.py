# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a connection that rpma-bench sets: the device got them, and the result has them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from check_result import check_document  # noqa: E402

BENCH = os.environ["RPMA_BENCH"]
SIZE, OPS = 64, 20
SHORT = ("--device", "soft", "--target", "dram:1M", "--repeats", "1", "--ops", str(OPS), "--warmup", "0", "--quiet")


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    command = [BENCH, "local", *SHORT, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def measured(*options: str) -> dict[str, dict[str, Any]]:
    done = bench("--size", str(SIZE), "--json", *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    check_document(document)
    return {f"{p['params']['op']}-{p['params']['persist']}": p["params"] for p in document["points"]}


def test_what_was_chosen_is_in_the_result() -> None:
    (params,) = measured("--persist", "none", "--inline", "100", "--traffic-class", "96", "--ack-timeout", "14",
                         "--retries", "2", "--rnr-retries", "5", "--comp-vector", "0").values()  # fmt: skip
    found = params["connection"]
    assert found["inline_size_bytes"] >= 100 and found["sq_size"] >= 1 and found["cq_size"] >= 2
    chosen = ("traffic_class", "ack_timeout", "retries", "rnr_retries", "comp_vector", "buffers")
    assert [found[key] for key in chosen] == [96, 14, 2, 5, 0, "normal"]
    # IPv4 is mapped, as in the GID table of the kernel; the RDMA CM uses the first entry of RoCE v2
    assert (found["gid"], found["gid_index"], found["gid_type"]) == ("::ffff:127.0.0.1", 1, "roce-v2")
    assert found["path_mtu_bytes"] in (256, 512, 1024, 2048, 4096)


def test_what_was_not_chosen_is_unknown_or_the_librarys() -> None:
    (params,) = measured("--persist", "none", "--anonymous").values()
    found = params["connection"]
    assert (found["traffic_class"], found["ack_timeout"], found["gid"]) == (None, None, None)
    assert (found["retries"], found["rnr_retries"]) == (7, 7)  # librpma(7)
    assert params["inline_bytes"] == 0


def test_only_what_carries_the_data_is_inline() -> None:
    found = measured("--op", "write,read,send,write-imm", "--persist", "none", "--inline", str(SIZE))
    assert {name: params["inline_bytes"] for name, params in found.items()} == {
        "write-none": SIZE, "read-none": 0, "send-none": SIZE, "write-imm-none": SIZE}  # fmt: skip
    (larger,) = measured("--persist", "apm", "--inline", str(SIZE - 1)).values()
    assert larger["inline_bytes"] == 0


def test_the_server_holds_what_was_written_inline() -> None:
    assert bench("--persist", "none,apm", "--inline", "256", "--size", "64,256,257", "--verify").returncode == 0


def test_huge_pages_are_used_or_the_remedy_is_named(tmp_path: Path) -> None:
    done = bench("--persist", "none", "--size", "64", "--buffers", "hugepages", "-o", str(tmp_path / "r.json"))
    if done.returncode == 0:
        (point,) = json.loads((tmp_path / "r.json").read_text())["points"]
        assert point["params"]["connection"]["buffers"] == "hugepages"
    else:
        assert done.returncode == 2
        assert "huge pages" in done.stderr


@pytest.mark.parametrize(
    "options, code, words",
    [(("--inline", "4096"), 2, "max_inline_data 4096"), (("--comp-vector", "99"), 2, "completion vector 99"),
     (("--retries", "8"), 64, "--retries 8: expected a number from 0 to 7"),
     (("--traffic-class", "256"), 64, "--traffic-class 256"), (("--ack-timeout", "-1"), 64, "--ack-timeout -1"),
     (("--buffers", "huge"), 64, "--buffers huge: expected normal or hugepages")],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(options: tuple[str, ...], code: int, words: str) -> None:
    done = bench("--persist", "none", "--size", "64", *options)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
    assert words in done.stderr
