# SPDX-License-Identifier: BSD-3-Clause
"""The server that the clients of a file share. Cases marked as long are taken only where FIO_LENGTH asks for them."""

import os
from collections.abc import Iterator

import pytest
from fio_runs import Run, server


@pytest.fixture(scope="module")
def anybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with server(tmp_path_factory.mktemp("server"), clients=1000) as it:
        yield it


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: with FIO_LENGTH=long only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("FIO_LENGTH") == "long":
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
