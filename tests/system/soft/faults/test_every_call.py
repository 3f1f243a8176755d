# SPDX-License-Identifier: BSD-3-Clause
"""Examples of librpma when a call of libibverbs or librdmacm fails: each call in turn, on either side.

An example is run again and again, each time with the next call of one side failing, until a run makes no
such call. Every time both ends must come to their end by themselves; the run without a failing call must
come through on both sides, so nothing passes for a wrong reason. What librpma returns then, and that it
keeps nothing, is for its unit tests (every_call_fails.h).
"""

import re

import pytest
from examples import run

MOST_CALLS = 400  # no example here makes more
EXAMPLES = ["02-read", "03-write-flush", "06-immediate"]


def fail_call(example: str, side: str, number: int, error: str) -> str | None:
    """Lets the call of this number fail; which one it was, or None."""
    fault = [f"call:at={number},errno={error}"]
    ends = run(example, *([fault] if side == "client" else [[], fault]))
    failed = re.search(r"^rpma-soft: fault \S+: (\w+) fails", ends[side].text, re.MULTILINE)
    if failed is None:
        assert all(end.well for end in ends.values()), ends
    return failed[1] if failed else None


@pytest.mark.parametrize("side", ["server", "client"])
@pytest.mark.parametrize(("example", "error"), [*((name, "ENOMEM") for name in EXAMPLES), ("02-read", "EAGAIN")])
def test_each_call_fails(example: str, error: str, side: str) -> None:
    failed = []
    while call := fail_call(example, side, len(failed) + 1, error):
        failed.append(call)
        assert len(failed) < MOST_CALLS
    print(f"{example}, {side}: {len(failed)} calls, {len(set(failed))} functions")
    assert len(failed) > 10
