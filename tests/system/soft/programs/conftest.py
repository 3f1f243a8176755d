# SPDX-License-Identifier: BSD-3-Clause
"""The options of these tests, and the device that all of a run use."""

import os
import random
import signal
import tempfile
from collections.abc import Iterator

import pytest
from _pytest.terminal import TerminalReporter
from device import ENVIRONMENTS, Device
from pair import MEASURED


MARKS = {
    "long": "only with --long",
    "ipv4_only": "the program itself knows no other addresses",
    "soft_only": "of the software device alone",
    "kernel_only": "of the kernel's device alone",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--environment", default="plain", choices=sorted(ENVIRONMENTS))
    parser.addoption("--long", action="store_true", help="the cases left out otherwise, too")
    parser.addoption("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.addoption("--rounds", type=int, default=10, help="of kill -9")
    parser.addoption("--end-limit-ms", type=int, default=5000,
                     help="from the kill of one side to the end of the other")  # fmt: skip


def pytest_report_header(config: pytest.Config) -> str:
    return f"environment: {config.getoption('environment')}, seed: {config.getoption('seed')}"


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was set up is undone
    for mark, what in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {what}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What does not apply is left out: a skip is for what this machine lacks."""
    environment = config.getoption("environment")
    out = set() if config.getoption("long") else {"long"}
    out |= {"ipv4_only"} if environment.endswith("ipv6") else set()
    out.add("soft_only" if environment.startswith("kernel") else "kernel_only")
    left_out = [item for item in items if any(item.get_closest_marker(mark) for mark in out)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    for took_s, what in sorted(MEASURED, reverse=True):
        terminalreporter.write_line(f"{took_s * 1000:8.1f} ms  {what}")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with tempfile.TemporaryDirectory(prefix="soft-programs.") as scratch:
        os.chmod(scratch, 0o1777)
        os.environ["TMPDIR"] = scratch
        tempfile.tempdir = None
        with ENVIRONMENTS[request.config.getoption("environment")]() as made:
            yield made
