# SPDX-License-Identifier: BSD-3-Clause
"""Data that librpmem writes are in the remote pool with any schedule that the specification allows: a second for
each seed, in which four threads persist, deep persist, flush and drain on a lane each, and one fills its work queue.
"""

from laning import daemon
from seeds import schedules

SIZE = 64 << 10  # a step of the adversary moves a few lines of 64 bytes


def test_all_operations() -> None:
    for seed in schedules("rpmem", "1-20"):
        for method in ("gpspm", "apm"):
            with daemon("rdma", method, nlanes=4, size=SIZE) as one:
                one.good("calls", seed)
                one.good("queue", seed, work_queue=8)
