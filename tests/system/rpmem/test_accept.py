# SPDX-License-Identifier: BSD-3-Clause
"""What librpmem and rpmemd have to do, in one setting: the cases of accept.c."""

import os
from collections.abc import Iterator

import pytest
from accepting import Setting, setting

CASES = ["too_few_descriptors", "two_pools_of_one_client", "persist_the_whole_pool",
         "the_daemon_may_lock_too_little_memory", "a_pool_on_device_dax"]  # fmt: skip
LONG_CASES = ["more_than_4_gib_in_a_call"]


@pytest.fixture(scope="module")
def here() -> Iterator[Setting]:
    with setting(os.environ["RPMEM_SETTING"]) as one:
        yield one


@pytest.mark.parametrize("case", LONG_CASES if os.environ.get("RPMEM_LONG") else CASES)
def test_case(here: Setting, case: str) -> None:
    command = here.env["RPMEM_CMD"]
    if case == "the_daemon_may_lock_too_little_memory":
        limited = "setpriv --bounding-set=-ipc_lock " if os.geteuid() == 0 else ""  # as others than root
        command = f"ulimit -l 64; exec {limited}env RPMA_SOFT=register:errno=ENOMEM {command}"
    said = here.case(case, RPMEM_CMD=command)
    if f"[  SKIPPED ] {case}\n" in said:
        pytest.skip("there is no device DAX to overwrite")
    assert f"[       OK ] {case}\n" in said, said + here.logged()
