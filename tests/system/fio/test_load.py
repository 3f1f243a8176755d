# SPDX-License-Identifier: BSD-3-Clause
"""Four jobs of depth 32, reading what they wrote, for a while; where the engine is built with a
sanitizer, that watches."""

import os
import re
from pathlib import Path

import pytest
from fio_runs import Done, client, server

SECONDS = int(os.environ.get("LOAD_SECONDS", "1"))


@pytest.mark.parametrize("mode", ["apm", "gpspm"])
@pytest.mark.parametrize("thread", [0, 1])
def test_four_jobs_of_depth_32(tmp_path: Path, mode: str, thread: int) -> None:
    with server(tmp_path, size="16m", thread=thread, iodepth=32) as it:
        with client(tmp_path, it.port, mode=mode, thread=thread, numjobs=4, iodepth=32, rw="randwrite", bsrange="512-16k",
                    size="2m", verify="crc32c", verify_backlog=64, fsync=50, flush="batch", time_based=1,
                    runtime=SECONDS) as run:  # fmt: skip
            done = Done(run)
        assert done.code == 0, done.said
        assert it.end() == 0, it.said()
        said = done.said + it.said()
    assert not re.search("Sanitizer|runtime error", said), said
    assert len(done.jobs()) == 4
    assert all(job["error"] == 0 and job["write"]["total_ios"] > 0 for job in done.jobs())
    assert list(tmp_path.iterdir()) == []
