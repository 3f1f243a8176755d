# SPDX-License-Identifier: BSD-3-Clause
"""A gate over fio's output: what a side lacks, or cannot be certain of, is no pass."""

import json
from typing import Any

import pytest

from conftest import Command, Write
from test_fio_releases import RELEASES, document, without_latency


def slower(of: dict[str, Any], times: int) -> dict[str, Any]:
    made = json.loads(json.dumps(of))
    lat = made["jobs"][0]["read"]["clat_ns"]
    lat["percentile"] = {key: value * times for key, value in lat["percentile"].items()}
    lat.update({key: lat[key] * times for key in ("min", "max", "mean")})
    return made


@pytest.mark.parametrize("release", RELEASES)
def test_latency_three_times_as_long_passes_no_gate(release: str, write: Write, quick: Command) -> None:
    """json has no bins, so that nothing is certain; json of 3.7 once passed, as its latency was not read."""
    told = document(release, plus=False)
    done = quick("compare", write(told, "base.json"), write(slower(told, 3), "new.json"), "--fail-if", "worse")
    assert done.returncode == 3 and "+200" in done.stdout and "undetermined: worse: " in done.stdout


@pytest.mark.parametrize("base_has, new_has", [(True, False), (False, True)])
@pytest.mark.parametrize("condition", ["worse", "p99 > 5%"])
def test_figure_that_one_side_lacks_passes_no_gate(base_has: bool, new_has: bool, condition: str, write: Write, quick: Command) -> None:
    whole = document("3.33")
    sides = [write(whole if has else without_latency(whole), f"{has}.json") for has in (base_has, new_has)]
    done = quick("compare", *sides, "--noise", "1%", "--fail-if", condition)
    assert done.returncode == 3, done.stdout
    assert "lacks p99" in done.stdout or "no point of False.json has p99" in done.stdout
