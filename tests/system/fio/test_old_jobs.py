# SPDX-License-Identifier: BSD-3-Clause
"""Job files for the engines that fio had until 3.37, as their options were described: two files, one for
each side, a port for each job, the server's memory called malloc, create_serialize=0 and threads.

Only times and sizes are less than they were.
"""

from pathlib import Path

import pytest
from fio_runs import Run
from free_port import free_port

CLIENT = """
[global]
ioengine=librpma_{method}_client
create_serialize=0
serverip=127.0.0.1
port={port}
thread

[client]
numjobs={jobs}
group_reporting=1
sync=1
iodepth=2
iodepth_batch_submit=1
rw={rw}
rwmixread=70
bs=4KiB
ramp_time=100ms
time_based
runtime=300ms
"""
SERVER = """
[global]
ioengine=librpma_{method}_server
create_serialize=0
kb_base=1000
serverip=127.0.0.1
port={port}
thread

[server]
direct_write_to_pmem={direct}
numjobs={jobs}
size=100MiB
filename={filename}
"""
GPSPM = """
busy_wait_polling={poll}
iodepth=2
time_based
runtime=365d
"""


def pair(folder: Path, method: str, *command: str, jobs: int = 1, rw: str = "write", filename: str = "malloc",
         direct: int = 0, poll: int = 1) -> tuple[Run, Run]:  # fmt: skip
    """Both have ended; the server listens before the client is started."""
    values = {"method": method, "port": free_port(jobs), "jobs": jobs, "rw": rw, "filename": filename,
              "direct": direct, "poll": poll}  # fmt: skip
    (folder / "server.fio").write_text((SERVER + (GPSPM if method == "gpspm" else "")).format(**values))
    (folder / "client.fio").write_text(CLIENT.format(**values))
    server = Run(folder, "server.fio")
    try:
        server.listening()
        client = Run(folder, "--output-format=json", *command, "client.fio")
        try:
            assert client.end() == 0, client.said() + server.said()
        finally:
            client.kill()
        assert server.end() == 0, server.said()
    finally:
        server.kill()
    assert sorted(entry.name for entry in folder.iterdir() if entry.name != filename) == ["client.fio", "server.fio"]
    return server, client


@pytest.mark.parametrize(("method", "rw"), [("apm", "write"), ("apm", "randrw"), ("gpspm", "randwrite")])
def test_a_pair_of_files_runs_as_it_is(tmp_path: Path, method: str, rw: str) -> None:
    _, client = pair(tmp_path, method, rw=rw)
    (job,) = client.document()["jobs"]
    assert job["error"] == 0 and job["write"]["total_ios"] > 0
    assert (job["read"]["total_ios"] > 0) == (rw == "randrw")


def test_jobs_have_a_port_each(tmp_path: Path) -> None:
    server, client = pair(tmp_path, "apm", jobs=2)
    first, second = (int(line.split(" port ")[1].split()[0]) for line in server.said().splitlines() if " port " in line)
    assert sorted((first, second))[0] + 1 == max(first, second)
    assert client.document()["jobs"][0]["error"] == 0


def test_a_server_need_not_spin(tmp_path: Path) -> None:
    pair(tmp_path, "gpspm", poll=0)


def test_a_file_on_a_platform_with_direct_write(tmp_path: Path) -> None:
    path = tmp_path / "pmem"
    path.write_bytes(bytes(100 << 20))
    pair(tmp_path, "apm", filename="pmem", direct=1)
    assert path.stat().st_size == 100 << 20


@pytest.mark.parametrize("content", [b"", b"old"], ids=["empty", "short"])
def test_a_file_that_ends_too_early_is_extended(tmp_path: Path, content: bytes) -> None:
    """fio did that, for the engines that it had: it is there, and of its size, when all have ended."""
    path = tmp_path / "pmem"
    path.write_bytes(content)
    server, _ = pair(tmp_path, "gpspm", filename="pmem")
    assert path.stat().st_size == 100 << 20
    assert f"pmem extended from {len(content)} to {100 << 20} bytes" in server.said()
