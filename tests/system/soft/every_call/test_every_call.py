# SPDX-License-Identifier: BSD-3-Clause
"""librpma when a call of libibverbs or librdmacm fails: each call in turn, on either side.

A scenario is run again and again, each time with the next call of one side failing,
until a run makes no such call. Every time both ends must come to their end by
themselves; each error that a librpma function returns must be one that
librpma.h lists for it; and under AddressSanitizer nothing may be left. The run
without a failing call must come through on both sides, so nothing passes for a wrong
reason.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
PROGRAM = os.environ["SOFT_EVERY_CALL"]
HEADER = os.environ["LIBRPMA_H"]
ADDRESS = "127.0.0.1"
LIMIT_S = 300
MOST_CALLS = 400  # no scenario makes more
SCENARIOS = ["messages", "shared_channel", "srq", "data", "reject", "refuse", "alone"]
# What a device that refuses to release something keeps is its own; librpma has nothing to give back.
DEVICE_LEAKS = "leak:librpma-soft.so\n"
RELEASES = re.compile(r"ibv_(dealloc|dereg|destroy|close)|rdma_(destroy|freeaddrinfo)")


def documented_errors() -> dict[str, set[str]]:
    """The errors of each function, from the comments that its manual page is cut from."""
    header = Path(HEADER).read_text()
    errors = {}
    for comment in re.findall(r"/\*\*\n(.*?)\*/", header, re.DOTALL):
        name = re.match(r" \* (rpma_\w+) - ", comment)
        returns = re.search(r"\n \* Return:(.*?)\n \* Threads:", comment, re.DOTALL)
        if name and returns:
            errors[name[1]] = set(re.findall(r"RPMA_E_\w+", returns[1]))
    assert len(errors) > 60, "librpma.h is not read right"
    return errors


DOCUMENTED = documented_errors()


@dataclass
class Ended:
    """What an end said and how it ended."""

    out: str
    err: str
    status: int

    def came_through(self) -> bool:
        return self.out.endswith("done\n")

    def failing_call(self) -> str | None:
        found = re.search(r"^rpma-soft: fault \S+: (\w+) fails", self.err, re.MULTILINE)
        return found[1] if found else None

    def check(self, what: str) -> None:
        said = f"{what}\n{self.out}{self.err}"
        assert self.status == 0, said
        for function, error in re.findall(r"^error (\w+) (.*)$", self.out, re.MULTILINE):
            assert error in DOCUMENTED[function], f"{function}: {error} is undocumented: {said}"


@contextmanager
def start(*words: str) -> Iterator[subprocess.Popen]:
    with subprocess.Popen(
        [LAUNCHER, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen) -> str:
    """Byte by byte: what a buffer took beyond the line communicate() would not see."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(process.stdout.fileno(), 1)):
        line += byte
    return line.decode()


def ended(process: subprocess.Popen, before: str, what: str) -> Ended:
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"{what}: still running after {LIMIT_S} s\n{before}{out}{err}")
    return Ended(before + out, err, process.returncode)


def run(scenario: str, fault: dict[str, list[str]]) -> dict[str, Ended]:
    """Both ends, the client only if the server listens."""
    ends = {}
    with start("-v", *fault.get("server", []), PROGRAM, "server", scenario, ADDRESS) as server:
        first = first_line(server)
        port = re.match(r"port (\d+)\n", first)
        if port:
            words = (*fault.get("client", []), PROGRAM, "client", scenario, ADDRESS, port[1])
            with start("-v", *words) as client:
                ends["client"] = ended(client, "", "the client")
        ends["server"] = ended(server, first, "the server")  # its stdin ends here
    return ends


def run_with_device_leaks(scenario: str, fault: dict[str, list[str]]) -> dict[str, Ended]:
    with tempfile.NamedTemporaryFile("w", suffix=".supp") as suppressions:
        suppressions.write(DEVICE_LEAKS)
        suppressions.flush()
        saved = os.environ.get("LSAN_OPTIONS")
        os.environ["LSAN_OPTIONS"] = f"suppressions={suppressions.name}:print_suppressions=0"
        try:
            return run(scenario, fault)
        finally:
            if saved is None:
                del os.environ["LSAN_OPTIONS"]
            else:
                os.environ["LSAN_OPTIONS"] = saved


def fail_call(scenario: str, side: str, number: int, error: str) -> str | None:
    """Lets the call of this number fail and looks at both ends; which one it was, or None."""
    fault = {side: ["-f", f"call:at={number},errno={error}"]}
    ends = run(scenario, fault)
    failed = ends[side].failing_call()
    if failed and RELEASES.match(failed) and any(end.status for end in ends.values()):
        ends = run_with_device_leaks(scenario, fault)
    for name, end in ends.items():
        end.check(f"{scenario}: call {number} of the {side} ({failed}): the {name}")
    if failed is None:
        assert all(end.came_through() for end in ends.values()), ends
    return failed


@pytest.mark.parametrize("side", ["server", "client"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_call_fails(scenario: str, side: str) -> None:
    failed = []
    while call := fail_call(scenario, side, len(failed) + 1, "ENOMEM"):
        failed.append(call)
        assert len(failed) < MOST_CALLS
    print(f"{scenario}, {side}: {len(failed)} calls, {len(set(failed))} functions")
    assert len(failed) > 10


@pytest.mark.parametrize("side", ["server", "client"])
@pytest.mark.parametrize("error", ["EIO", "EOPNOTSUPP", "EAGAIN"])
def test_each_call_alone_fails_otherwise(side: str, error: str) -> None:
    number = 1
    while fail_call("alone", side, number, error):
        number += 1
