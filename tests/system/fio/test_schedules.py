# SPDX-License-Identifier: BSD-3-Clause
"""What fio reads back is what it wrote, with any schedule that the specification allows: one client of several small
jobs for each seed, one job after the other, for each way to write and to make it durable.
"""

from pathlib import Path
from typing import Any

from fio_runs import CLOCK, NATIVE, Done, Run, server, words
from seeds import schedules

VERIFIED: dict[str, Any] = {"rw": "randwrite", "bs": "4k", "size": "64k", "verify": "crc32c", "iodepth": 8}
JOBS: dict[str, dict[str, Any]] = {
    "each": {**VERIFIED, "flush": "each", "write_barrier": 4},
    "batches": {**VERIFIED, "iodepth_batch": 8, "flush": "batch", "fsync": 5},
    "gpspm": {**VERIFIED, "mode": "gpspm"},
    "immediate": {**VERIFIED, "write_op": "imm", "bs": 512, "size": "16k"},
    "sizes": {**VERIFIED, "bs": None, "bsrange": "512-16k", "mode": "native" if NATIVE else "apm"},
    "mix": {"rw": "randrw", "rwmixread": 50, "bsrange": "512-16k", "size": "128k", "iodepth": 8},
}
# as much is read as was written, by fio's manual
BYTES = {name: int(str(job["size"])[:-1]) << 10 for name, job in JOBS.items() if "verify" in job}


def options(port: str, seed: int) -> list[str]:
    shared = {"port": port, "verify_state_save": 0, "clocksource": CLOCK, "thread": 1, "stonewall": 1}
    found = words(**{"output-format": "json"})
    for at, (name, job) in enumerate(JOBS.items()):
        given = {key: value for key, value in job.items() if value is not None}
        # another seed than the job's before it, or it would find that one's blocks
        found += words(name=name, ioengine="librpma", randseed=1000 * seed + at, **shared, **given)
    return found


def run_jobs(folder: Path, port: str, seed: int) -> None:
    run = Run(folder, *options(port, seed))
    try:
        done = Done(run)
    finally:
        run.kill()
    assert done.code == 0, f"seed {seed}: {done.said}{done.out}"
    jobs = {job["jobname"]: job for job in done.jobs()}
    assert all(job["error"] == 0 for job in jobs.values()) and jobs.keys() == JOBS.keys(), f"seed {seed}: {done.said}"
    for name, size in BYTES.items():
        moved = [jobs[name][direction]["io_bytes"] for direction in ("write", "read")]
        assert moved == [size, size], f"seed {seed}, {name}: {moved}"


def test_all_jobs(tmp_path: Path) -> None:
    for seed in schedules("fio", "1-20"):
        with server(tmp_path, clients=len(JOBS)) as one:
            run_jobs(tmp_path, one.port, seed)
