# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share: servers, clients, and a result checked against the schema
and against itself."""

import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from serving import LIMIT_S, Server, serving

PING = os.environ["RPMA_PING"]
SCHEMA = Path(__file__).resolve().parents[3] / "doc/schema/rpma-ping-1.schema.json"
NO_PROCESSES = 54321  # a user id that nothing runs as
STEPS = ["parse", "resolve", "device", "request", "connect", "handshake", "region", "register",
         "write", "flush", "read", "compare", "disconnect"]  # fmt: skip


def soft(words: str = "") -> dict[str, str]:
    return {**os.environ, "RPMA_SOFT": words}


def served(command: list[str], env: dict[str, str] | None = None) -> AbstractContextManager[Server]:
    """On the software device, without faults unless `env` has some."""
    return serving(command, env or soft())


@contextmanager
def for_others() -> Iterator[list[str]]:
    """The command of another user for rpma-ping: a copy with the software device beside it, as a build
    tree may be out of reach."""
    launcher = Path(os.environ["RPMA_SOFT_LAUNCHER"])
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for file in (Path(PING), launcher, launcher.with_name("librpma-soft.so")):
            shutil.copy(file, folder)
        shutil.copytree(launcher.with_name("librpma-soft"), f"{folder}/librpma-soft", symlinks=True)
        yield ["setpriv", f"--reuid={NO_PROCESSES}", f"--regid={NO_PROCESSES}", "--clear-groups", f"{folder}/rpma-ping"]


def server(*options: str, env: dict[str, str] | None = None) -> AbstractContextManager[Server]:
    return served([PING, "--server", "--device", "soft", "-p", "0", *options], env)


def command(port: str, *options: str, host: str = "127.0.0.1") -> list[str]:
    return [PING, "--device", "soft", "-p", port, *options, host]


def ping(
    port: str, *options: str, host: str = "127.0.0.1", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(port, *options, host=host), capture_output=True, text=True, timeout=LIMIT_S, env=env or soft()
    )


def until(client: subprocess.Popen[str], word: str) -> None:
    """A line of its standard output has the word."""
    assert client.stdout is not None
    while word not in (seen := client.stdout.readline()):
        assert seen, "it ended"


def told(stderr: str) -> str:
    """The line that reports what failed: there is one, and the notice of the software device."""
    lines = [line for line in stderr.splitlines() if "running on the software device" not in line]
    assert len(lines) == 1, stderr
    assert lines[0].startswith("rpma-ping: ")
    return lines[0]


def lowest_of(rank: int, buckets: list[list[int]]) -> int:
    for low, count in buckets:
        rank -= count
        if rank <= 0:
            return int(low)
    raise AssertionError("fewer samples than counted")


def check_figures(figures: dict[str, Any] | None, received: int) -> None:
    if received == 0:
        assert figures is None
        return
    assert figures is not None
    buckets = figures["histogram"]["buckets"]
    assert figures["count"] == received == sum(count for _, count in buckets)
    assert figures["min_ns"] <= figures["p50_ns"] <= figures["p99_ns"] <= figures["max_ns"]
    assert figures["min_ns"] <= figures["mean_ns"] <= figures["max_ns"]
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        low = lowest_of(math.ceil(share * received), buckets)
        assert low <= figures[name] <= low * (1 + 1 / 128) + 1, name


def check(text: str, code: int) -> dict[str, Any]:
    """The result, which is valid by the schema, and whose figures follow from each other."""
    document: dict[str, Any] = json.loads(text)
    try:
        import jsonschema
    except ImportError:
        pass
    else:
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(document)
    assert document["run"]["exit_code"] == code
    assert [step["name"] for step in document["steps"]] == STEPS
    pings = document["pings"]
    assert pings["transmitted"] == pings["received"] + pings["lost"]
    assert len(pings["first"]) == min(pings["transmitted"], 1000)
    ends = [one["end"] for one in pings["first"]]
    if pings["transmitted"] <= 1000:
        assert pings["corrupt"] == ends.count("corrupt")
        assert pings["lost"] == ends.count("late") + ends.count("failed")
    for one in pings["first"]:
        if one["end"] in ("back", "corrupt"):
            assert one["rtt_ns"] == one["write_ns"] + one["flush_ns"] + one["read_ns"]
    for figures in document["latency"].values():
        check_figures(figures, pings["received"])
    assert (document["failure"] is None) == (code in (0, 130, 143))
    return document


def pinged(
    port: str, *options: str, code: int = 0, host: str = "127.0.0.1", env: dict[str, str] | None = None
) -> dict[str, Any]:
    """The result of a client that ends with this status, within a minute."""
    done = ping(port, *options, "--json", host=host, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    document = check(done.stdout, code)
    if document["failure"] is not None:
        line = told(done.stderr)
        assert document["failure"]["text"] in line
        assert line.startswith(f"rpma-ping: {document['failure']['step']}: ")
        for key in ("librpma", "wc_status", "likely_cause"):
            assert (document["failure"][key] or "") in line
    return document
