# SPDX-License-Identifier: BSD-3-Clause
"""The sidecar of a fio job: found beside fio's JSON, joined with its own run alone, and never a result by itself."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import sample_tools as tools
from conftest import Command, Write
from rpma_report import sources
from rpma_report.model import Run
from rpma_report.page import summary

RUN = "0123456789abcdef"
FACTS = f"mode=apm flush=each flush_type=persistent target=fsdax device=mlx5_0 writes=100 covered=100 flushes=100 run={RUN}"
SIDECAR: dict[str, Any] = {
    "schema": "fio-sidecar/1",
    "tool": {"name": "fio-librpma", "version": "1.4.0", "fio": "fio-3.33"},
    "run": RUN,
    "ended": "2026-11-26T02:00:00.000Z",
    "job": {"name": "w", "number": 0, "jobs": 1},
    "status": "complete",
    "mode": "apm",
    "write_op": "write",
    "flush": {"policy": "each", "method": "read", "asked": "auto", "reached": "persistence", "count": 100,
              "writes": 100, "covered": 100},
    "target": {"kind": "fsdax", "size_bytes": 4096, "direct_write_to_pmem": True, "server_persists_by": "libpmem"},
    "readiness": None,
    "device": {"name": "mlx5_0", "kind": "hardware", "transport": "roce", "software": False},
    "server": {"address": "192.0.2.1", "port": 7204},
    "syncs": {"flushed": 0, "empty": 0, "failed": 0},
    "commits": {"kind": "write", "count": 100, "latency": {
        "count": 100, "min_ns": 1000, "max_ns": 3000, "mean_ns": 2000.0,
        "percentiles": [{"p": 0.5, "ns": 2000.0}, {"p": 0.999, "ns": None}]}},
}  # fmt: skip
SOFT = {"name": "soft0", "kind": "soft", "transport": "roce", "software": True}


def loaded(write: Write, *sidecars: tuple[str, Any], **options: str) -> Run:
    """fio's JSON with a server and a client, beside these files."""
    for name, document in sidecars:
        write(document, name)
    client = tools.fio_job("w", range(10_000, 20_000), **{"librpma": FACTS, "result": "side.json", **options})
    server = tools.fio_job("s", role="server")
    return sources.load(write(tools.fio(server, client, ioengine="librpma"), "fio.json"))


def texts(run: Run) -> list[str]:
    return [remark.text for remark in run.warnings]


def changed(**parts: dict[str, Any]) -> dict[str, Any]:
    document = copy.deepcopy(SIDECAR)
    for key, values in parts.items():
        document[key].update(values)
    return document


def test_it_tells_what_kind_of_device_it_was(write: Write) -> None:
    run = loaded(write, ("side.json", SIDECAR))
    assert (run.device_name, run.device_kind, run.device_transport, run.is_hardware) == ("mlx5_0", "hardware", "roce", True)
    run = loaded(write, ("side.json", {**SIDECAR, "device": SOFT}))
    assert (run.device_kind, run.is_hardware) == ("soft", False)


def test_its_sentence_has_what_was_reached_and_by_whose_word(write: Write) -> None:
    [text] = texts(loaded(write, ("side.json", SIDECAR)))
    assert text.startswith("w: 100 writes to fsdax are flushed to persistence, by the statement of the server's operator (mode=apm, flush=each, by read")
    assert text.endswith(": 100 writes with their flush; p50 2 us")
    [text] = texts(loaded(write, ("side.json", changed(flush={"reached": "visibility"}, commits={"latency": None}))))
    assert "visibility only (" in text and text.endswith("device mlx5_0)")
    [text] = texts(loaded(write, ("side.json", changed(flush={"method": "message"}))))
    assert "operator" not in text


@pytest.mark.parametrize(
    ("flush", "sentence"),
    [({"reached": "nothing", "count": 0, "covered": 0}, "none of 100 writes to fsdax is flushed (mode"),
     ({"covered": 96}, "96 of 100 writes to fsdax are flushed to persistence, by the statement of the server's operator, the other 4 are not (mode"),
     ({"writes": 0, "covered": 0, "reached": "nothing"}, "nothing is written to fsdax (mode")],
    ids=str,
)  # fmt: skip
def test_its_sentence_counts_what_was_flushed(write: Write, flush: dict[str, Any], sentence: str) -> None:
    [text] = texts(loaded(write, ("side.json", changed(flush=flush))))
    assert text.startswith(f"w: {sentence}")


def test_syncs_that_had_nothing_to_flush_are_told_apart(write: Write) -> None:
    [text] = texts(loaded(write, ("side.json", changed(syncs={"flushed": 100, "empty": 27}, commits={"kind": "sync"}))))
    assert "100 fsyncs that flushed (27 more had nothing to flush, and are in fio's sync latencies); p50" in text


def test_without_one_fio_s_own_word_is_left(write: Write) -> None:
    run = loaded(write)
    assert (run.device_name, run.device_kind) == ("mlx5_0", None)
    assert texts(run) == ["w: its sidecar is not used: side.json is not beside fio.json",
                          "w: 100 writes to fsdax are flushed to persistence (mode=apm, flush=each, device mlx5_0)"]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "why"),
    [({**SIDECAR, "run": "f" * 16}, "is of another run of fio"), ({**SIDECAR, "mode": "magic"}, 'mode: is "magic"'),
     (b"{", "not JSON"), ({**SIDECAR, "device": {}}, 'key "name" is missing'), ({**SIDECAR, "schema": "fio-sidecar/2"}, "schema")],
    ids=["other", "mode", "broken", "device", "newer"],
)  # fmt: skip
def test_one_that_is_of_no_use_is_named_and_not_used(write: Write, document: Any, why: str) -> None:
    run = loaded(write, ("side.json", document))
    assert run.device_kind is None
    assert texts(run)[0].startswith("w: its sidecar is not used: ")
    assert why in texts(run)[0] or why == "not JSON"
    assert run.dropped == (texts(run)[0],)  # which leaves a gate undetermined


def test_compressed_one_is_read(write: Write) -> None:
    assert loaded(write, ("side.json.gz", gzip.compress(json.dumps(SIDECAR).encode()))).device_kind == "hardware"


def test_clones_share_the_first_one(write: Write) -> None:
    run = loaded(write, ("side.json.0", SIDECAR), numjobs="2")
    assert run.device_kind == "hardware"


def test_its_folder_is_fios_and_not_the_readers(write: Write) -> None:
    """A path in fio's JSON opens nothing elsewhere."""
    assert loaded(write, ("side.json", SIDECAR), result="/etc/../some/where/side.json").device_kind == "hardware"
    run = loaded(write, result="/etc/hostname")
    assert texts(run)[0].endswith("hostname is not beside fio.json")


def test_by_itself_it_is_sound_and_no_result(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(SIDECAR, "side.json")
    assert "a sidecar of fio, sound" in quick("validate", path).stdout
    done = quick("create", path, "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert "give fio's JSON" in done.stderr


def test_page_knows_the_kind_of_device_and_the_flushes_by_the_sidecar(write: Write) -> None:
    facts = FACTS.replace("flush=each", "flush=fsync")
    run = loaded(write, ("side.json", changed(device=SOFT, flush={"policy": "fsync"})), librpma=facts)
    assert [note.heading for note in summary.alarms([run])][0].startswith("NOT HARDWARE: ")
    (text,) = [text for text in summary.verdicts([run]) if "nothing" in text or "flushed" in text]
    assert "are flushed to persistence" in text and "nothing here was made persistent" not in text
