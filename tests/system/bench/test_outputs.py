# SPDX-License-Identifier: BSD-3-Clause
"""The same result as JSON, as CSV, as a table, and judged by --slo."""

import csv
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from check_result import check_document
from serving import serving

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
BENCH = os.environ["RPMA_BENCH"]
SHORT = ("--warmup", "0", "--repeats", "2", "--ops", "2000")


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    target = [] if {"--target", "-t"} & {*options} else ["--target", "dram:1M"]  # made sooner than 64 MiB
    command = [LAUNCHER, BENCH, "local", *target, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def parsed(cell: str) -> Any:
    return None if cell == "" else json.loads(cell)


def percentile(latency: dict[str, Any] | None, p: float) -> int | None:
    if latency is None:
        return None
    return next(item["ns"] for item in latency["percentiles"] if item["p"] == p)


@pytest.mark.parametrize(
    "options",
    [
        ("--size", "64,4K", "--op", "write", "--persist", "none,apm"),
        ("--test", "mix", "--size", "64"),
        ("--test", "connect", "--ops", "10"),
        ("--size", "64", "--bidirectional", "--label", 'a "name", of two\nlines'),
    ],
    ids=["product", "mix", "connect", "bidirectional"],
)
def test_the_csv_is_the_json(tmp_path: Path, options: tuple[str, ...]) -> None:
    files = [str(tmp_path / "r.json"), "--csv", str(tmp_path / "r.csv")]
    done = bench(*SHORT, *options, "--quiet", "-o", *files)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    check_document(document)
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    repeats = [(p, r) for p in document["points"] for r in p["repeats"]]
    assert len(rows) == len(repeats)
    for row, (point, repeat) in zip(rows, repeats, strict=True):
        assert row["run_id"] == document["run"]["id"]
        assert row["label"] == (document["run"]["label"] or "")
        assert row["point"] == point["id"]
        for key in ("test", "op", "persist", "latency_kind", "flush"):
            assert row[key] == (point["params"][key] or "")
        for key in ("size_bytes", "depth", "threads", "bidirectional", "read_fraction"):
            assert parsed(row[key]) == point["params"][key], key
        for key in ("order", "complete", "elapsed_ns", "ops", "read_ops", "bytes", "ops_per_s",
                    "bytes_per_s", "late_ops"):  # fmt: skip
            assert parsed(row[key]) == repeat[key], key
        for name in ("latency", "read_latency", "response_latency"):
            latency = repeat[name]
            for key in ("count", "min_ns", "mean_ns", "max_ns"):
                assert parsed(row[f"{name}_{key}"]) == (latency and latency[key]), (name, key)
            for text, p in (("50", 0.5), ("99", 0.99), ("99.9", 0.999), ("99.9999", 0.999999)):
                assert parsed(row[f"{name}_p{text}_ns"]) == percentile(latency, p), (name, p)
        reverse = repeat["reverse"]
        assert parsed(row["reverse_ops"]) == (reverse and reverse["ops"])
        steps = {step["name"]: step["latency"]["mean_ns"] for step in repeat["steps"] or []}
        for name in ("prepare", "establish", "disconnect", "delete", "register", "deregister"):
            assert parsed(row[f"{name}_mean_ns"]) == steps.get(name), name


def test_a_missed_slo_is_said_though_quiet() -> None:
    slos = ("--slo", "bytes_per_s<1", "--slo", "ops_per_s>0")
    done = bench(*SHORT, "--size", "64", "--quiet", *slos)
    assert done.returncode == 1
    slo, value = done.stderr.splitlines()
    assert slo == "bytes_per_s<1: missed" and value.startswith("  p0000: ")


def test_the_table_says_what_the_file_says() -> None:
    done = bench(*SHORT, "--size", "64,4K", "--json", "--slo", "ops_per_s>1e15")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert ", 2 repeats\n" in done.stderr
    rows = [line.split() for line in done.stderr.splitlines() if line.startswith("p0")]
    assert [row[:3] for row in rows] == [["p0000", "64", "B"], ["p0001", "4", "KiB"]]
    for row, point in zip(rows, document["points"], strict=True):
        assert row[0] == point["id"]
        assert f"{point['summary']['ops_per_s']['mean']:.0f}" in row
    assert "ops_per_s>1e15: missed" in done.stderr
    for warning in document["run"]["warnings"]:
        assert warning["text"] in done.stderr


TABLES = (
    ("--size", "64,4K", "--depth", "1,16"),
    ("--size", "64", "--bidirectional"),
    ("--size", "64,4K", "--test", "rate", "--rate", "10k,20k"),
    ("--size", "64", "--test", "mix"),
    ("--test", "connect", "--ops", "10"),
    ("--test", "register", "--size", "4K,64K", "--ops", "10"),
)


@pytest.mark.parametrize("options", TABLES, ids=["bw", "both", "rate", "mix", "connect", "register"])
def test_the_table_is_on_stdout_and_fits_a_terminal(options: tuple[str, ...]) -> None:
    test = ("--test", "bw") if "--depth" in options or "--bidirectional" in options else ()
    done = bench(*SHORT, *test, *options)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if len(line) > 80] == []
    assert "\np0000 " in done.stdout and "\np0000 " not in f"\n{done.stderr}"


def test_steps_are_told_from_quantiles() -> None:
    heading = bench("--test", "connect", "--ops", "10", "--repeats", "1").stdout.splitlines()[2]
    assert heading.endswith(", steps are means")


def test_a_terminal_gets_whole_words() -> None:
    columns = 60
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    command = [LAUNCHER, BENCH, "local", "--target", "dram:1M", *SHORT, "--size", "64", "--json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=300, check=True)
    os.close(theirs)
    said = b""
    try:
        while more := os.read(ours, 65536):
            said += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    lines = said.decode().replace("\r\n", "\n")
    words = " ".join(lines.split())
    for warning in json.loads(run.stdout)["run"]["warnings"]:
        assert f"{warning['code']}: {warning['text']}" in words
    shown = lines[lines.index(json.loads(run.stdout)["run"]["warnings"][0]["code"]) :].splitlines()
    assert max(map(len, shown)) <= columns


def test_a_parameter_is_a_column_only_where_it_differs() -> None:
    done = bench(*SHORT, "--test", "bw", "--size", "64", "--depth", "1,16")
    title, _, head, *rows = done.stdout.splitlines()[1:6]
    assert title.startswith("bw write to dram, 64 B, ") and "size" not in head
    assert [row.split()[1] for row in rows] == ["1", "16"] and head.split()[1] == "depth"


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    options = (*SHORT, "--size", "64", "--seed", "1")
    document = json.loads(bench(*options, "-o", "-").stdout)
    check_document(document)
    table = bench(*options, "--csv", "-")
    (first, *_) = csv.DictReader(table.stdout.splitlines())
    assert first["size_bytes"] == "64" and "p0000" in table.stderr
    both = bench(*options, "-o", str(tmp_path / "r.json"), "--csv", "-")
    rows = list(csv.DictReader(both.stdout.splitlines()))
    assert len(rows) == 2 and (tmp_path / "r.json").exists()
    assert not Path("-").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "-", "--csv", "-"), "--csv -: expected a file"),
        (("--json", "--csv", "-"), "--csv -: expected a file"),
        (("--resume", "-"), "--resume -: expected the file"),
    ],
)
def test_two_documents_do_not_fit_standard_output(options: tuple[str, ...], message: str) -> None:
    done = bench(*SHORT, "--size", "64", *options)
    assert done.returncode == 64 and message in done.stderr and done.stdout == ""


@pytest.mark.parametrize("piped", [True, False], ids=["pipe", "file"])
def test_a_plan_comes_from_standard_input(tmp_path: Path, piped: bool) -> None:
    """--device soft has the program start again, and it still finds its plan."""
    plan = json.dumps({"series": [{"size": [64, 128]}], "repeats": 1})
    command = [BENCH, "local", "--device", "soft", "--target", "dram:1M", "--warmup", "0", "--ops", "100", "--plan", "-", "--json"]
    (tmp_path / "plan").write_text(plan)
    with (tmp_path / "plan").open() as file:
        source: dict[str, Any] = {"input": plan} if piped else {"stdin": file}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **source)
    assert done.returncode == 0, done.stderr
    assert [p["params"]["size_bytes"] for p in json.loads(done.stdout)["points"]] == [64, 128]


@pytest.mark.parametrize(("closed", "status"), [("2>&-", 0), (">/dev/full", 2)], ids=["stderr", "stdout"])
def test_the_table_may_only_get_lost_beside_a_document(closed: str, status: int) -> None:
    json_too = "--json" if status == 0 else ""
    line = f"'{LAUNCHER}' '{BENCH}' local --target dram:1M {' '.join(SHORT)} --size 64 {json_too} {closed}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stderr
    assert done.stdout.startswith("{") if status == 0 else "cannot write to standard output" in done.stderr


def test_a_wrong_plan_names_standard_input() -> None:
    command = [LAUNCHER, BENCH, "local", "--plan", "-"]
    done = subprocess.run(command, input="{", capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 64 and "standard input: line 1" in done.stderr


@pytest.mark.parametrize("options", [(), ("--anonymous",)], ids=["named", "anonymous"])
def test_a_result_names_its_hosts_unless_told_not_to(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    file = tmp_path / "r.json"
    assert bench(*SHORT, "--size", "64", "--quiet", "-o", str(file), *options).returncode == 0
    document = json.loads(file.read_text())
    check_document(document)
    name = None if options else os.uname().nodename
    for block in document["environment"].values():
        assert block["host"]["hostname"] == name
        assert block["nic"]["ibdev"]
    assert document["readiness"]["verdict"] == "NOT_READY"  # its target is no persistent memory
    assert os.uname().nodename not in json.dumps(document["readiness"]) or not options


@pytest.mark.parametrize("faults", ["", "corrupt:at=5,op=write"], ids=["intact", "corrupted"])
def test_verify_finds_the_byte_that_went_wrong(
    monkeypatch: pytest.MonkeyPatch, faults: str
) -> None:
    monkeypatch.setenv("RPMA_SOFT", faults)
    wrong = 1 if faults else 0
    done = bench("--warmup", "0", "--repeats", "1", "--ops", "100", "--size", "4K",
                 "--target", "dram:1M", "--verify", "--json")  # fmt: skip
    document = json.loads(done.stdout)
    (point,) = document["points"]
    assert done.returncode == wrong
    assert point["repeats"][0]["verify"]["checked_bytes"] == 100 * 4096
    assert point["repeats"][0]["verify"]["mismatches"] == wrong
    codes = [warning["code"] for warning in document["run"]["warnings"]]
    assert ("VERIFY_MISMATCH" in codes) == bool(wrong)


def test_impossible_points_are_told_and_the_others_measured(tmp_path: Path) -> None:
    """A write of 64 MiB does not fit a target of 1 MiB."""
    result, slo = tmp_path / "r.json", ("--slo", "lat.p50_ns<1000000000")
    options = ("--target", "dram:1M", "--size", "64M,64", "--quiet", "-o", str(result))
    done = bench(*SHORT, *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(result.read_text())
    check_document(document)
    assert [point["params"]["size_bytes"] for point in document["points"]] == [64]
    assert [point["id"] for point in document["points"]] == ["p0001"]
    (unsupported,) = document["run"]["unsupported"]
    assert (unsupported["id"], unsupported["params"]["size"]) == ("p0000", 64 << 20)
    assert "does not fit target 0" in unsupported["reason"]
    warnings = {warning["code"]: warning["text"] for warning in document["run"]["warnings"]}
    assert warnings["POINT_UNSUPPORTED"].endswith(unsupported["reason"])
    done = bench(*SHORT, *options[:-2], *slo)
    assert done.returncode == 3 and "POINT_UNSUPPORTED: " in done.stderr
    alone = bench(*SHORT, "--target", "dram:1M", "--size", "64M")
    assert (alone.returncode, "does not fit target 0" in alone.stderr) == (2, True)


@pytest.mark.parametrize(("repeats", "told"), [("3", True), ("2", False)])
def test_the_table_tells_what_its_intervals_cover(repeats: str, told: bool) -> None:
    done = bench(*SHORT, "--repeats", repeats, "--size", "64")
    assert done.returncode == 0, done.stderr
    assert ("+- 95% covers the repeats of this run" in done.stdout) == told


def refused_by_a_server(fault: str, options: Sequence[str], result: Path) -> list[dict[str, Any]]:
    """What a server with that fault of its own keeps a client from measuring."""
    soft = {**os.environ, "RPMA_SOFT": "transport:local"}
    try:
        with serving([BENCH, "server", "--device", "soft", "--port", "0"], {**soft, "RPMA_SOFT": f"transport:local {fault}"}) as server:
            line = [BENCH, "client", "127.0.0.1", "--device", "soft", "--port", server.port, *options, "-o", result]
            done = subprocess.run(line, capture_output=True, text=True, timeout=300, env=soft)
    except AssertionError:  # it could not register its target
        return []
    if done.returncode != 0:
        return []
    document = json.loads(result.read_text())
    check_document(document)
    found: list[dict[str, Any]] = document["run"]["unsupported"]
    return found


def test_what_the_server_refuses_when_it_is_measured_is_told(tmp_path: Path) -> None:
    """The server's own writes of --bidirectional take memory that it may not get to register."""
    options = (*SHORT, "--bidirectional", "--size", "64,128", "--quiet")
    for at in range(1, 10):  # which registration is that one
        result = tmp_path / f"{at}.json"
        if refused := refused_by_a_server(f"register:at={at},errno=ENOMEM", options, result):
            break
    document = json.loads(result.read_text())
    (one,) = refused
    assert "cannot register buffers" in one["reason"]
    assert {point["id"] for point in document["points"]} == {"p0000", "p0001"} - {one["id"]}
    assert [len(point["repeats"]) for point in document["points"]] == [2]
    texts = [w["text"] for w in document["run"]["warnings"] if w["code"] == "POINT_UNSUPPORTED"]
    assert texts == [f"1 of 2 points not measured, {one['id']} the first: {one['reason']}"]


def test_a_run_with_an_impossible_point_is_resumed(tmp_path: Path) -> None:
    result, repeats = tmp_path / "r.json", 8
    options = ["--target", "dram:1M", "--size", "64M,64", "--warmup", "0", "--duration", "200ms",
               "--repeats", str(repeats), "--quiet"]  # fmt: skip
    command = [LAUNCHER, BENCH, "local", *options]
    run = subprocess.Popen([*command, "-o", result], stderr=subprocess.DEVNULL)
    journal = tmp_path / "r.json.jsonl"
    end = time.monotonic() + 60
    while not journal.exists() or journal.read_text().count("\n") < 3:
        assert run.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 130
    resumed = subprocess.run([*command, "--resume", result], timeout=300, check=False)
    assert resumed.returncode == 0
    document = json.loads(result.read_text())
    check_document(document)
    assert [len(point["repeats"]) for point in document["points"]] == [repeats]
    assert [point["id"] for point in document["run"]["unsupported"]] == ["p0000"]


@pytest.mark.parametrize("persist", ["apm", "gpspm"])
@pytest.mark.parametrize(("folder", "stated"), [("/dev/shm", ()), ("/dev/shm", ("--direct-write-to-pmem",)), (None, ())])
def test_a_file_is_as_persistent_as_its_file_system(
    tmp_path: Path, folder: str | None, stated: tuple[str, ...], persist: str
) -> None:
    """stat(1) names it. Nothing makes memory persistent, and nothing but the server's sync a page cache."""
    path, result = Path(folder or tmp_path) / f"bench-{os.getpid()}", tmp_path / "r.json"
    few = ("--warmup", "0", "--repeats", "2", "--ops", "100")  # a sync of a disk for each
    done = bench(*few, "--size", "64", "--persist", persist, "-t", f"{path}:1M", *stated, "-o", str(result))
    assert done.returncode == 0, done.stderr
    assert not path.exists()
    where = subprocess.run(["stat", "-f", "-c", "%T", path.parent], capture_output=True, text=True, check=True).stdout.strip()
    kind = {"tmpfs": "memfile", "ext2/ext3": "file", "xfs": "file", "btrfs": "file"}.get(where, "otherfile")
    document = json.loads(result.read_text())
    check_document(document)
    (point,) = document["points"]
    if kind != "otherfile" or where != "overlayfs":  # what an overlay lies on, stat does not tell
        assert point["params"]["target_memory"]["kind"] == kind
    assert point["params"]["flush"] != "persistent"
    claims = {w["code"] for w in document["run"]["warnings"]} & {"PERSISTENCE_UNPROVEN"}
    assert bool(claims) == (kind != "file" or persist == "apm") or where == "overlayfs"
    if persist == "gpspm" and kind == "memfile":
        assert {repeat["persist_method"] for repeat in point["repeats"]} == {"nothing"}


def test_a_file_named_gz_is_the_same_document_compressed(tmp_path: Path) -> None:
    packed = tmp_path / "r.json.gz"
    done = bench(*SHORT, "--size", "64", "--quiet", "-o", str(packed), "--json")
    assert done.returncode == 0, done.stderr
    unpacked = subprocess.run(["gzip", "-dc", packed], capture_output=True, text=True, check=True)
    assert unpacked.stdout == done.stdout
    check_document(json.loads(unpacked.stdout))
