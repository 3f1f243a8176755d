# SPDX-License-Identifier: BSD-3-Clause
"""What fio prints with the engine in it: the same as of any engine, and nothing else on its output."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fio_runs import KIB, Run, facts, run_client, run_fio, server, words
from free_port import free_port

SCHEMA = Path(__file__).resolve().parents[3] / "doc/schema/fio-sidecar-1.schema.json"
ALL: dict[str, Any] = {"rw": "randrw", "bs": 4 * KIB, "size": 1024 * KIB, "iodepth": 8, "fsync": 16}


@pytest.mark.parametrize("mode", ["apm", "gpspm"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_json_plus_is_json(anybody: Run, tmp_path: Path, mode: str, jobs: int) -> None:
    done = run_client(tmp_path, anybody.port, mode=mode, numjobs=jobs, **{**ALL, "output-format": "json+", "size": "256k"})
    assert len(done.jobs()) == jobs
    for job in done.jobs():
        assert job["job options"]["ioengine"] == "librpma" or done.document["global options"]["ioengine"] == "librpma"
        for direction in ("read", "write"):
            bins = job[direction]["clat_ns"]["bins"]
            assert sum(bins.values()) == job[direction]["total_ios"] > 0


def test_json_in_a_file_is_nothing_but_json(anybody: Run, tmp_path: Path) -> None:
    """What fio prints of errors goes there as well as to standard error; a good run has none."""
    file = tmp_path / "client.json"
    run_client(tmp_path, anybody.port, **{**ALL, "output-format": "json+", "output": file})
    assert json.loads(file.read_text())["jobs"][0]["error"] == 0


def test_a_report_of_the_run_ends_nobody(tmp_path: Path) -> None:
    """fio asks each job what it has used, and waits for the answer: the server's, too."""
    (tmp_path / "both.fio").write_text(
        f"[global]\nioengine=librpma\nport={free_port()}\nrw=write\nbs=4k\n[server]\nrole=server\nsize=1m\n"
        "[client]\nsize=256k\ntime_based\nruntime=3\nrate_iops=100\n"
    )
    code, out, errors = run_fio(tmp_path, "--status-interval=1", "--output-format=json", "both.fio")
    assert (code, "stuck" in errors + out) == (0, False)
    reports = out.count('"jobs" : [')
    assert reports >= 2, errors  # the last one is of the end


@pytest.mark.parametrize("shape", ["normal", "terse", "normal,json"])
def test_the_other_outputs_are_there(anybody: Run, tmp_path: Path, shape: str) -> None:
    code, out, errors = run_fio(
        tmp_path, *words(name="x", ioengine="librpma", port=anybody.port, **{**ALL, "output-format": shape})
    )
    assert code == 0, errors
    assert "librpma server" not in out and "librpma: " not in out
    if shape == "terse":
        assert out.startswith("3;fio-")
    else:
        assert "ioengine=librpma" in out


def test_a_servers_output_is_json_too(tmp_path: Path) -> None:
    """A server has no figures of its own, whatever it is told to do."""
    with server(tmp_path, rw="write", **{"output-format": "json"}) as it:
        run_client(tmp_path, it.port, **ALL)
        assert it.end() == 0
        (job,) = it.document()["jobs"]
    assert [job[one]["total_ios"] for one in ("read", "write", "trim")] == [0, 0, 0]


def test_showcmd_knows_the_options(tmp_path: Path) -> None:
    (tmp_path / "one.fio").write_text("[x]\nioengine=librpma\nmode=gpspm\nflush=batch\nsize=4k\n")
    code, out, _ = run_fio(tmp_path, "--showcmd", "one.fio")
    assert code == 0
    assert "--flush=batch" in out


@pytest.mark.parametrize(
    ("options", "why"),
    [({"fsync": 4}, "flush=auto"), ({"fsync": 4, "flush": "none"}, "flush=none"), ({"fdatasync": 4, "sync": 1, "flush": "fsync"}, "sync=1"),
     ({"end_fsync": 1, "flush": "each", "numjobs": 2}, "flush=each"), ({"fsync": 4, "flush": "fsync"}, None), ({}, None)],
    ids=str,
)  # fmt: skip
def test_a_sync_that_measures_nothing_is_told_once(tmp_path: Path, options: dict[str, Any], why: str | None) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", **options)
    lines = [line for line in done.told if "fsync" in line]
    assert [why in line and "measure nothing" in line for line in lines] == ([True] if why else [])


@pytest.mark.parametrize("extra", [{"unlink": 1}, {"unlink_each_loop": 1, "loops": 2}], ids=str)
def test_unlink_removes_nothing(tmp_path: Path, extra: dict[str, Any]) -> None:
    """Neither a local file of a client's name, nor the pool of a server."""
    (tmp_path / "pool").write_bytes(bytes(1 << 20))
    (tmp_path / "mine").write_bytes(b"mine")
    with server(tmp_path, filename="pool", **extra) as it:
        run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", filename="mine", **extra)
        assert it.end() == 0, it.said()
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / "pool").stat().st_size == 1 << 20


# --- what the figures stand for ------------------------------------------------


@pytest.mark.parametrize(
    ("options", "mode", "flush", "flush_type"),
    [({}, "apm", "auto", "visibility"), ({"mode": "gpspm", "flush": "batch"}, "gpspm", "batch", "visibility"),
     ({"flush": "none"}, "apm", "none", "none"), ({"flush": "fsync", "sync": 1}, "apm", "each", "visibility"),
     ({"thread": 1}, "apm", "auto", "visibility"), ({"numjobs": 3}, "apm", "auto", "visibility"),
     ({"numjobs": 3, "group_reporting": 1}, "apm", "auto", "visibility"),
     ({"create_serialize": 0, "thread": 1}, "apm", "auto", "visibility")],
    ids=str,
)  # fmt: skip
def test_json_says_what_a_job_stands_for(tmp_path: Path, options: dict[str, Any], mode: str, flush: str, flush_type: str) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", **options)
    assert len(done.jobs()) == (1 if "group_reporting" in options else options.get("numjobs", 1))
    for job in done.jobs():
        found = facts(job)
        device = found.pop("device")
        assert any(device in line for line in done.told)
        counts = {"writes": "16", "covered": "0" if flush == "none" else "16", "flushes": "0" if flush == "none" else "16"}
        assert found == {"mode": mode, "flush": flush, "flush_type": flush_type, "target": "dram", **counts,
                         "syncs": "0", "empty_syncs": "0"}  # fmt: skip


def test_json_says_where_a_file_is(tmp_path: Path) -> None:
    """In the words of the engine's first line."""
    with server(tmp_path, filename="pool") as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", mode="gpspm")
    found = facts(done.job)
    assert (found["flush_type"] == "persistent") == ("reaches persistence" in done.told[0])
    assert (found["target"] == "file") == ("writes to a file reaches" in done.told[0])


def test_json_says_nothing_of_a_server_that_was_not_reached(tmp_path: Path) -> None:
    done = run_client(tmp_path, str(free_port()), code=1, rw="write", bs=4096, size="64k", connect_timeout=1)
    assert done.out.count('"librpma" : "unknown"') == 1


def test_a_process_that_sets_itself_up_has_no_word_in_the_json(tmp_path: Path) -> None:
    """It is one already, and fio's list of options is another process's."""
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, create_serialize=0)
    assert "librpma" not in done.job["job options"]


# --- the sidecar ------------------------------------------------------------------


def sidecar(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize(
    ("options", "flushes", "kind", "commits"),
    [({"flush": "fsync", "fsync": 4, "end_fsync": 1}, 4, "sync", 4), ({"flush": "each"}, 16, "write", 16), ({}, 16, "write", 16),
     ({"flush": "each", "sync": 1}, 16, "write", 16), ({"flush": "none", "fsync": 4}, 0, None, 0),
     ({"mode": "gpspm", "write_op": "imm"}, 16, "write", 16), ({"mode": "gpspm"}, 16, "write", 16), ({"rw": "read"}, 0, "write", 0)],
    ids=str,
)  # fmt: skip
def test_a_sidecar_counts_flushes_and_commits(tmp_path: Path, options: dict[str, Any], flushes: int, kind: str | None, commits: int) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, bs=4096, size="64k", result="side", **{"rw": "write", **options})
    found = sidecar(tmp_path / "side")
    assert (found["flush"]["count"], found["commits"]["kind"], found["commits"]["count"]) == (flushes, kind, commits)
    assert facts(done.job)["run"] == found["run"]
    assert (found["device"]["kind"], found["device"]["software"]) == ("soft", True)
    reached = "visibility" if flushes else "nothing"
    assert (found["mode"], found["flush"]["reached"], found["target"]["kind"]) == (options.get("mode", "apm"), reached, "dram")


def test_each_clone_has_a_sidecar_of_one_run(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", result="side", numjobs=2)
    found = [sidecar(tmp_path / f"side.{number}") for number in range(2)]
    assert [one["job"]["number"] for one in found] == [0, 1]
    assert found[0]["run"] == found[1]["run"]


def test_a_sidecar_that_cannot_be_written_ends_the_job_before_it_begins(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, code=1, rw="write", bs=4096, size="64k", result="no/side")
    assert any("no/side" in line for line in done.told)
    assert not any(int(count) for count in re.findall(r"\"total_ios\" : (\d+)", done.out))
