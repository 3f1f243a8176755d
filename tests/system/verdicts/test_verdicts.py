# SPDX-License-Identifier: BSD-3-Clause
"""All that judges, over evidence that is whole, half, missing or contradictory: nothing but the whole is good.

A row names its expectation by words of EXIT STATUS in the program's manual, which has the number.
"""

import json
import os
import re
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from free_port import free_port

SOFT, BENCH, REPORT, CHECK, FIO, ENGINE_DIR = (
    os.environ[name] for name in ("RPMA_SOFT_LAUNCHER", "RPMA_BENCH", "RPMA_REPORT", "RPMA_FIO_CHECK", "FIO", "FIO_ENGINE_DIR"))  # fmt: skip
MANUALS = Path(__file__).resolve().parents[3] / "doc"
REGION = 64 * 1024
LIMIT_S = 600  # a hang is a failure
Document = dict[str, Any]


class Row(NamedTuple):
    program: str
    gate: str
    evidence: str
    words: str  # in the manual
    command: list[str]  # {NAME}: a file that files() makes


def bench(options: str, faults: str = "delay:op=write,time=2ms", sizes: str = "64") -> list[str]:
    """A write takes 2 ms and more, one at a time: at most 50 of 100 begin in the 100 ms that a plan of 50 ms has."""
    return [SOFT, "-f", faults, BENCH, "local", "--target", "dram:1M", "--warmup", "0", "--size", sizes, "--quiet",
            *options.split()]  # fmt: skip


CLOSED = "--depth 1 --repeats 2 --ops 40 --slo "
OVERLOADED = "--depth 1 --repeats 2 --test rate --rate 2k --duration 50ms --slo "
SEARCH = "--depth 1 --repeats 1 --test rate --duration 100ms --find-rate "
WRONG_BYTE = "corrupt:op=write,at=40"
COMPARE = [REPORT, "compare", "{base}", "--noise", "1%", "--fail-if", "p50 > 5%"]
OTHER_RUN = [*COMPARE[:-1], "p50 > 100000%"]  # as slow as no busy host makes it
VALIDATE = [REPORT, "validate"]
ROWS = [
    Row("rpma-bench", "--slo", "whole", "success", bench(CLOSED + "lat.min>1999us")),
    Row("rpma-bench", "--slo", "half: half of the plan was begun", "unknown whether", bench(OVERLOADED + "response.p90<3600s")),
    Row("rpma-bench", "--slo", "missing: 40 operations have no p99", "unknown whether", bench(CLOSED + "lat.p99<600s")),
    Row("rpma-bench", "--slo", "contradictory: fast, and a byte is wrong", "does not hold what was written",
        bench(CLOSED + "lat.max<600s --verify", WRONG_BYTE)),
    Row("rpma-bench", "--find-rate", "whole", "success", bench(SEARCH + "response.min<600s --rate 1:2")),
    Row("rpma-bench", "--find-rate", "half: no rate is achieved", "even the lowest rate misses",
        bench(SEARCH + "response.max<600s --rate 2000:2100")),
    Row("rpma-bench", "--find-rate", "missing: no trial has a p99.9", "unknown whether",
        bench(SEARCH + "response.p99.9<600s --rate 1:2")),
    Row("rpma-bench", "--find-rate", "contradictory: kept, and a byte is wrong", "does not hold what was written",
        bench(SEARCH + "response.min<600s --rate 40:41 --verify", "corrupt:op=write,at=2")),
    Row("rpma-report", "--fail-if", "whole", "Success", [*COMPARE, "{new}"]),
    Row("rpma-report", "--fail-if", "half: the run was interrupted", "it cannot be decided", [*COMPARE, "{interrupted}"]),
    Row("rpma-report", "--fail-if", "missing: a point", "it cannot be decided", [*OTHER_RUN, "{short}"]),
    Row("rpma-report", "--fail-if", "contradictory: a rate is not that of its count", "A file cannot be used", [*COMPARE, "{wrong}"]),
    Row("rpma-report", "validate", "whole", "Success", [*VALIDATE, "{base}", "{new}", "{short}"]),
    Row("rpma-report", "validate", "half: the end of the file is missing", "A file cannot be used", [*VALIDATE, "{base}", "{cut}"]),
    Row("rpma-report", "validate", "missing: all points", "contradicts itself", [*VALIDATE, "{base}", "{empty}"]),
    Row("rpma-report", "validate", "contradictory: a rate is not that of its count", "contradicts itself", [*VALIDATE, "{base}", "{wrong}"]),
    Row("rpma-fio-check", "a log", "whole", "the log is whole", [CHECK, "{log}", "{pool}"]),
    Row("rpma-fio-check", "a log", "half: it has no end", "has no end", [CHECK, "{cut log}", "{pool}"]),
    Row("rpma-fio-check", "a log", "missing: no fsync claimed anything", "there are none", [CHECK, "{log of nothing}", "{pool}"]),
    Row("rpma-fio-check", "a log", "contradictory: the target has other bytes", "some of it is lost", [CHECK, "{log}", "{other pool}"]),
]  # fmt: skip


def code_of(row: Row) -> int:
    """The number that EXIT STATUS has for these words."""
    page = (MANUALS / f"{row.program}.1").read_text(encoding="utf-8")
    section = page.partition(".Sh EXIT STATUS\n")[2].partition("\n.Sh ")[0]
    parts = re.split(r"^\.It (\d+).*$", section, flags=re.MULTILINE)
    codes = [int(code) for code, text in zip(parts[1::2], parts[2::2], strict=True) if row.words in text.replace("\n", " ")]
    assert len(codes) == 1, f"{row.words} in EXIT STATUS of {row.program}(1): {codes}"
    return codes[0]


def changed(document: Document, change: Callable[[Document], object]) -> str:
    """Another run of the same."""
    copy = json.loads(json.dumps(document))
    copy["run"]["id"] = str(uuid.uuid4())
    change(copy)
    return json.dumps(copy)


def interrupt(document: Document) -> None:
    document["run"].update(status="interrupted", exit_code=130)
    document["run"]["warnings"].append({"code": "INTERRUPTED", "severity": "warn", "host": "client", "text": "by a signal"})


def claims(folder: Path, name: str, options: str) -> None:
    """A server and a client that logs what it is told is durable, in one fio."""
    (folder / f"{name}.pool").write_bytes(bytes(REGION))
    server = ["--name=server", "--role=server", "--direct_write_to_pmem=1", f"--filename={name}.pool"]
    client = ["--name=client", "--rw=write", "--bs=4k", "--flush=fsync", f"--durable_log={name}.log", *options.split()]
    for _ in range(3):  # another program may take the port meanwhile
        run = [SOFT, FIO, "--ioengine=librpma", f"--port={free_port()}", f"--size={REGION}", "--busy_wait_polling=0"]
        done = subprocess.run([*run, *server, *client], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                              env={**os.environ, "LD_LIBRARY_PATH": ENGINE_DIR})  # fmt: skip
        if done.returncode == 0 or "Address already in use" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("evidence")
    done = subprocess.run([*bench("--depth 1 --repeats 3 --ops 40", sizes="64,256"), "--json"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    base = json.loads(done.stdout)
    made = {
        "base": done.stdout, "cut": done.stdout[:-100], "new": changed(base, lambda d: None), "interrupted": changed(base, interrupt),
        "empty": changed(base, lambda d: d["points"].clear()),
        "wrong": changed(base, lambda d: d["points"][0]["repeats"][0].update(ops_per_s=1e6)),
    }  # fmt: skip
    short = subprocess.run([*bench("--depth 1 --repeats 3 --ops 40"), "--json"], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    made["short"] = short.stdout
    for name, text in made.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    paths = {name: folder / f"{name}.json" for name in made}
    claims(folder, "synced", "--fsync=4 --end_fsync=1")
    claims(folder, "nothing", "")
    log = folder / "synced.log"
    (folder / "cut.log").write_bytes(log.read_bytes()[:-32])  # its last record
    (folder / "other.pool").write_bytes(bytes(REGION))
    return {**paths, "log": log, "pool": folder / "synced.pool", "cut log": folder / "cut.log",
            "log of nothing": folder / "nothing.log", "other pool": folder / "other.pool"}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.program} {row.gate}, {row.evidence}")
def test_verdict_over(row: Row, files: dict[str, Path]) -> None:
    done = subprocess.run([word.format_map(files) for word in row.command], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == code_of(row), done.stdout[-2000:] + done.stderr


def test_each_gate_is_tried_with_each_kind_of_evidence() -> None:
    kinds = ["whole", "half", "missing", "contradictory"]
    for gate in {(row.program, row.gate) for row in ROWS}:
        assert [row.evidence.partition(":")[0] for row in ROWS if (row.program, row.gate) == gate] == kinds
    assert len(ROWS) == 20 and all((code_of(row) == 0) == (row.evidence == "whole") for row in ROWS)
