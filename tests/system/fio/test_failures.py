# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong before any operation: one line that names it, status 1, and nothing is left."""

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fio_runs import (
    CLOCK, FIO, LIMIT_S, NATIVE, Run, client, environment, refused, run_client, run_fio, server, words,
)  # fmt: skip
from free_port import free_port

SMALL: dict[str, Any] = {"rw": "write", "bs": "4k", "size": "64k"}


@pytest.fixture(scope="module")
def anybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """What is refused is refused by its clients; it serves on."""
    folder = tmp_path_factory.mktemp("server")
    with server(folder, clients=1000) as it:
        yield it
        assert it.process.poll() is None, it.said()
        run_client(folder, it.port, **SMALL)


def client_refused(folder: Path, port: str, *parts: str, **options: Any) -> str:
    with client(folder, port, **{**SMALL, **options}) as run:
        line = refused(run, *parts)
    assert list(folder.iterdir()) == []
    return line


# test_options.c and test_layout.c have the others
WRONG: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "words at odd offsets": ({"write_op": "atomic", "bs": 8, "offset": 4}, ("write_op=atomic", "8")),
    "blocks out of line": ({"write_op": "imm", "mode": "gpspm", "offset": "2k"}, ("imm", "multiples")),
    "a part of what is not known": ({"offset": "10%"}, ("offset=10%", "filesize=")),
    "more at once than messages": ({"mode": "gpspm", "iodepth": 4097}, ("iodepth=4097", "4096 with mode=gpspm")),
    "more than a part has": ({"size": "512k", "numjobs": 4, "region": "split"}, ("region",)),
    "no size": ({"size": None}, ("size",)),
    "appending to what is full": ({"file_append": 1}, ("file_append=1",)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_refused(anybody: Run, tmp_path: Path, name: str) -> None:
    options, parts = WRONG[name]
    jobs = options.get("numjobs", 1)
    with client(tmp_path, anybody.port, **{**SMALL, **options}) as run:
        assert run.end() != 0
        lines = [line for line in run.told() if all(part in line for part in parts)]
        assert 1 <= len(lines) <= int(str(jobs)), run.said()
        assert all(line.startswith("librpma: ") for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_one_who_listens_and_is_silent(tmp_path: Path) -> None:
    served, mine = tmp_path / "server", tmp_path / "client"
    served.mkdir()
    mine.mkdir()
    with server(served) as silent:
        for pid in silent.left():
            os.kill(pid, signal.SIGSTOP)
        client_refused(mine, silent.port, "did not answer within 3 s (connect_timeout=1 is over)", connect_timeout=1)


def test_an_address_that_is_none(tmp_path: Path) -> None:
    client_refused(tmp_path, "7204", "no.such.host.invalid", serverip="no.such.host.invalid", connect_timeout=1)


def test_each_address_of_a_name_is_tried(tmp_path: Path) -> None:
    """The name has its addresses from a file of hosts in a mount namespace, and the first is of no server."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace can be made here")
    hosts, fio = tmp_path / "hosts", tmp_path / "fio"
    hosts.write_text("127.9.9.9 several\n127.0.0.1 several\n")
    fio.write_text(f"""#!/bin/sh
exec unshare -rm sh -ec 'mount --bind "$0" /etc/hosts; exec {FIO} "$@"' '{hosts}' "$@"
""")
    fio.chmod(0o755)
    with server(tmp_path, serverip="127.0.0.1") as it:
        run = Run(tmp_path, *words(name="client", ioengine="librpma", port=it.port, serverip="several", clocksource=CLOCK,
                                   **SMALL), fio=str(fio))  # fmt: skip
        try:
            assert run.end() == 0, run.said()
        finally:
            run.kill()
        assert it.end() == 0, it.said()


@pytest.mark.skipif(NATIVE, reason="this build has native flush")
def test_native_where_there_is_none(anybody: Run, tmp_path: Path) -> None:
    client_refused(tmp_path, anybody.port, "native", mode="native")


def server_refused(folder: Path, *parts: str, soft: str = "", **options: Any) -> str:
    given = {"size": "1m", "port": 0, **options}
    run = Run(folder, *words(name="server", ioengine="librpma", role="server",
                             **{key: value for key, value in given.items() if value is not None}), soft=soft)  # fmt: skip
    try:
        return refused(run, *parts)
    finally:
        run.kill()


def test_two_servers_on_one_port(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        server_refused(tmp_path, it.port, port=it.port)


@pytest.mark.parametrize(
    ("named", "options"),
    [("no/such/folder/file", {"filename": "no/such/folder/file"}), (".", {"filename": "."}),
     ("one file", {"filename": "a:b"}), ("size", {"size": None}), ("size=50%", {"size": "50%"}),
     ("offset=5%", {"offset": "5%"}), ("give it offset=0", {"offset": "4k"}),
     ("register", {"soft": "register:errno=ENOMEM"})],
)  # fmt: skip
def test_memory_that_cannot_be(tmp_path: Path, named: str, options: dict[str, Any]) -> None:
    server_refused(tmp_path, named, **options)


def test_a_device_that_is_no_memory(tmp_path: Path) -> None:
    server_refused(tmp_path, "/dev/null", filename="/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_server_that_its_client_waits_for(tmp_path: Path) -> None:
    """fio does not start the client before the server has ended, and that waits for the client."""
    (tmp_path / "both.fio").write_text(
        f"[global]\nioengine=librpma\nport={free_port()}\n[server]\nrole=server\nsize=1m\n"
        "[client]\nstonewall\nrw=write\nbs=4k\nsize=64k\nconnect_timeout=1\n"
    )
    code, _, errors = run_fio(tmp_path, "both.fio")
    assert code != 0
    assert len([line for line in errors.splitlines() if "stonewall" in line and "librpma" in line]) == 1, errors


def test_no_device(tmp_path: Path) -> None:
    """Without rpma-soft, on a machine that has none or one without a route."""
    if os.environ.get("FIO_SANITIZED") == "1":
        pytest.skip("a sanitizer's runtime would have to be loaded first")
    env = {key: value for key, value in environment().items() if key != "RPMA_SOFT"}
    if Path("/sys/class/infiniband").is_dir() and any(Path("/sys/class/infiniband").iterdir()):
        pytest.skip("there is one")
    done = subprocess.run(
        [FIO, *words(name="x", ioengine="librpma", connect_timeout=1, **SMALL)],
        capture_output=True, text=True, env=env, cwd=tmp_path, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if line.startswith("librpma: ")]
    assert len(lines) == 1 and "rpma-soft" in lines[0], done.stderr


def test_verify_and_fsync_in_global_do_not_reach_the_server(tmp_path: Path) -> None:
    with server(tmp_path, verify="crc32c", fsync=4, end_fsync=1, rw="randwrite", iodepth=8, bs="4k", loops=3,
                runtime=100, time_based=1, write_barrier=2) as it:  # fmt: skip
        run_client(tmp_path, it.port, verify="crc32c", **SMALL)
        assert it.end() == 0, it.said()
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_nobody_comes_to_ends_with_its_time(tmp_path: Path) -> None:
    with server(tmp_path, runtime=1) as it:
        assert it.process.wait(120) in (0, 1)
        assert it.left() == []
