# SPDX-License-Identifier: BSD-3-Clause
"""study --ab with rpma-bench: what is many times slower is worse, and both sides are kept."""

import json
import re
from pathlib import Path

from pairs_on_soft import plans, skip_without_cores, study


def test_slower_side_is_worse_and_both_are_kept(tmp_path: Path) -> None:
    plans(tmp_path, "1us", "50us", repeats=1)
    done = study(tmp_path, "--figures", "p50")
    skip_without_cores(done)
    assert done.returncode == 1, done.stdout
    found = re.search(r"  write, p50: worse: \+.*, (\d+) pairs\n", done.stdout)
    assert found, done.stdout
    for side in "AB":
        results = [json.loads(path.read_text()) for path in (tmp_path / "a-b.study" / side).glob("*.json")]
        kept = [result["study"] for result in results if not result["study"]["disturbed"]]
        assert sorted(place["pair"] for place in kept) == list(range(int(found[1])))
        assert {place["side"] for place in kept} == {side}
