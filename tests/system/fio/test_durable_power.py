# SPDX-License-Identifier: BSD-3-Clause
"""Power failures at operations chosen by chance, and what rpma-fio-check finds of the claims then.

Where the platform keeps what a policy flushes no claim is lost, nor is any undecided, since the
device loses whole lines. Where it does not, half of the lines that were not durable are put back:
so a loss shows whenever something was claimed.
"""

import os
import random
from collections import defaultdict
from pathlib import Path

import pytest
from durable_cells import PLATFORMS, Cell, Verdict, cells, fail_power
from fio_runs import STORES, file_system

FAILURES = int(os.environ.get("DURABLE_FAILURES", "2"))
FIRST = 12  # by then each policy has claimed something: a batch of gpspm is 4 writes and 4 requests
LAST = 64
CAUGHT = 0.95


def row(cell: Cell, found: list[Verdict]) -> str:
    caught = sum(verdict.lost > 0 for verdict in found)
    claims, lost = sum(verdict.claimed for verdict in found), sum(verdict.lost for verdict in found)
    undecided = sum(verdict.undecided for verdict in found)
    expected = "none lost" if cell.durable else "caught"
    return f"{cell} | {expected} | {len(found)} failures | {caught} with losses | {claims} claims | {lost} lost | {undecided} undecided"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_claims_are_kept_where_the_platform_keeps_them_and_else_are_caught(tmp_path: Path, platform: str) -> None:
    if file_system(tmp_path) not in STORES:
        pytest.skip("needs a folder for temporary files on a disk")
    found: dict[Cell, list[Verdict]] = defaultdict(list)
    for seed in range(1, FAILURES + 1):
        at = random.Random(seed).randrange(FIRST, LAST)
        for cell, verdict in fail_power(tmp_path, platform, at, seed).items():
            found[cell].append(verdict)
    assert list(found) == cells(platform)
    print(*(row(cell, verdicts) for cell, verdicts in found.items()), sep="\n")
    for cell, verdicts in found.items():
        assert all(verdict.claimed for verdict in verdicts), cell
        if cell.durable:
            assert [verdict for verdict in verdicts if verdict.code != 0] == [], cell
        else:
            assert sum(verdict.code == 1 for verdict in verdicts) >= CAUGHT * len(verdicts), cell
