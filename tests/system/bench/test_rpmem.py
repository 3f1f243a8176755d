# SPDX-License-Identifier: BSD-3-Clause
"""--persist rpmem measures rpmem_persist() of librpmem.so.1, which is loaded when it is asked for."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from check_result import check_document
from soft_trace import read_traces

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
RPMEMD = os.environ["RPMEMD"]
LIBRARY = Path(os.environ["RPMEM_LIBRARY"])
STUB = Path(__file__).resolve().parents[1] / "rpmem/ssh-stub"
OPS, SIZE = 300, 1000  # as large as nothing else that is posted
MIB = 1 << 20


class Target:
    """A pool set of one part, on this host."""

    def __init__(self, folder: Path, *options: str, size: int = 8 * MIB, **env: str) -> None:
        self.folder, self.part = folder, folder / "part"
        (folder / "bench.set").write_text(f"PMEMPOOLSET\n{size} {self.part}\n")
        self.env = os.environ | {
            "RPMEM_SSH": str(STUB),
            "RPMEM_CMD": " ".join([RPMEMD, f"--poolset-dir={folder}", f"--log-file={folder}/log", *options]),
            "LD_LIBRARY_PATH": str(LIBRARY.parent),
            "SSH_STUB_ADDRESS": "127.0.0.1",
            **env,
        }

    def bench(self, *options: str) -> subprocess.CompletedProcess[str]:
        command = [LAUNCHER, "-f", f"trace:{self.folder}/posted.%p", BENCH, "local", "--json", "--quiet",
                   "--repeats", "2", "--warmup", "0", "--size", str(SIZE), "--ops", str(OPS),
                   "--target", "dram:4M", *options]  # fmt: skip
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120)

    def measure(self, *options: str) -> dict[str, Any]:
        done = self.bench("--rpmem-set", "bench.set", *options)
        assert done.returncode == 0, done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        check_document(document, False)
        return document

    def posted(self, kind: str) -> int:
        traces = read_traces(f"{self.folder}/posted.%p")
        return sum((o.kind, o.bytes) == (kind, SIZE) for trace in traces for o in trace.operations)


SOFT = {"RPMEM_ENABLE_VERBS": "1", "RPMEM_ENABLE_SOCKETS": "0"}
TCP = {"RPMEM_ENABLE_VERBS": "0", "RPMEM_ENABLE_SOCKETS": "1"}


def test_a_pool_is_created_persisted_and_removed(tmp_path: Path) -> None:
    target = Target(tmp_path, "--persist-apm", PMEM_IS_PMEM_FORCE="1", **SOFT)
    document = target.measure("--persist", "rpmem-relaxed")
    (point,) = document["points"]
    assert point["params"]["latency_kind"] == "rpmem_persist"
    assert point["params"]["rpmem"] == {"transport": "rdma", "method": "apm"}
    assert sum(repeat["ops"] for repeat in point["repeats"]) == 2 * OPS
    # relaxed data are written by the device: one write for each operation, and no other ones
    assert target.posted("write") == 2 * OPS
    assert not target.part.exists() and (tmp_path / "bench.set").exists()


@pytest.mark.parametrize("env, transport", [(SOFT, "rdma"), (TCP, "tcp")], ids=["soft", "tcp"])
def test_the_method_is_the_one_of_the_daemon(tmp_path: Path, env: dict[str, str], transport: str) -> None:
    document = Target(tmp_path, **env).measure("--persist", "rpmem")
    assert document["points"][0]["params"]["rpmem"] == {"transport": transport, "method": "gpspm"}


def test_a_log_of_the_user_stays_the_users(tmp_path: Path) -> None:
    log = tmp_path / "librpmem.log"
    target = Target(tmp_path, RPMEM_LOG_FILE=str(log), RPMEM_LOG_LEVEL="2", **TCP)
    document = target.measure("--persist", "rpmem")
    assert document["points"][0]["params"]["rpmem"] == {"transport": None, "method": None}
    assert "over TCP" in log.read_text()


def test_each_thread_has_a_lane(tmp_path: Path) -> None:
    document = Target(tmp_path, **SOFT).measure("--persist", "rpmem", "--threads", "3", "--pin", "none")
    assert [thread["ops"] for thread in document["points"][0]["repeats"][0]["threads"]] == [OPS // 3] * 3


def test_it_stands_beside_write_and_flush(tmp_path: Path) -> None:
    target = Target(tmp_path, "--persist-apm", PMEM_IS_PMEM_FORCE="1", **SOFT)
    document = target.measure("--persist", "apm,rpmem")
    assert {point["params"]["persist"] for point in document["points"]} == {"apm", "rpmem"}


@pytest.mark.parametrize("options, message", [
    (["--persist", "rpmem"], "expected --rpmem-set"),
    (["--rpmem-set", "bench.set"], "need --persist rpmem"),
    (["--persist", "rpmem", "--rpmem-set", "bench.set", "--depth", "2"], "need --depth 1"),
    (["--persist", "rpmem", "--rpmem-set", "bench.set", "--test", "rate", "--rate", "1000"], "need --test lat or bw"),
])  # fmt: skip
def test_wrong_usage(tmp_path: Path, options: list[str], message: str) -> None:
    done = Target(tmp_path).bench(*options)
    assert done.returncode == 64 and message in done.stderr, done.stderr


def test_a_host_without_the_library_is_told(tmp_path: Path) -> None:
    (tmp_path / LIBRARY.name).write_text("no library")
    target = Target(tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    done = target.bench("--persist", "rpmem", "--rpmem-set", "bench.set")
    assert done.returncode == 2, done.stderr
    assert "cannot load librpmem.so.1" in done.stderr and "RPMA_BUILD_RPMEM" in done.stderr


@pytest.mark.parametrize("name, size, message", [
    ("other.set", 8 * MIB, "other.set"),
    ("bench.set", 2 * MIB, "or more"),
])  # fmt: skip
def test_what_librpmem_reports_ends_the_run(tmp_path: Path, name: str, size: int, message: str) -> None:
    done = Target(tmp_path, size=size, **TCP).bench("--persist", "rpmem", "--rpmem-set", name)
    assert done.returncode == 2, done.stderr
    assert "librpmem cannot create a pool" in done.stderr and message in done.stderr
    assert not (tmp_path / "part").exists()


def test_a_pool_that_is_there_is_refused(tmp_path: Path) -> None:
    target = Target(tmp_path, **TCP)
    part = b"PMEMOBJ\0" + bytes(8 * MIB - 8)
    target.part.write_bytes(part)
    done = target.bench("--persist", "rpmem", "--rpmem-set", "bench.set")
    assert done.returncode == 2, done.stderr
    assert target.part.read_bytes() == part
