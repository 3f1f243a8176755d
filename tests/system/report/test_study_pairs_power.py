# SPDX-License-Identifier: BSD-3-Clause
"""Six studies of 1 us against 1.11 us of delay: how many find the slower p50 within 24 pairs.

The fault itself costs some 270 ns, so both sides carry it. On busy cores the tool must
refuse, or say why it is unclear: then it is not asked for more. Nor is it where the runs of
this host lie so far apart that 24 pairs cannot tell 5 %: then it must say how little it sees.
"""

from pathlib import Path
from statistics import median

import pytest
from pairs_on_soft import MAX_SPREAD, plans, point_spreads, study, without_cores

TRIES, FOUND = 6, 5


def test_five_percent_slower_median_is_found(tmp_path: Path) -> None:
    found, apart = 0, []
    for number in range(TRIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        plans(folder, "1us", "1.11us")
        done = study(folder, "--figures", "p50")
        print(f"try {number + 1}: exit {done.returncode}:", *done.stdout.splitlines()[1:3], sep="\n  ")
        if reason := without_cores(done):
            print(f"  {reason}")
            pytest.skip("refused, with the reason")
        assert "p50: better: " not in done.stdout
        found += "p50: worse: " in done.stdout
        apart += point_spreads(folder / "a-b.study")
        print(f"  pairs lie {100 * apart[-1]:.1f} % apart")
        if number + 1 - found > TRIES - FOUND and median(apart) > MAX_SPREAD:
            pytest.skip("the runs of this host lie too far apart")
    print(f"found in {found} of {TRIES} tries")
    assert found >= FOUND
