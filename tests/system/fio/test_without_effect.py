# SPDX-License-Identifier: BSD-3-Clause
"""Options of fio that have no effect here, by fio-librpma(1): a job with one does what it does without,
and leaves nothing; and those that do not work fail as the page tells."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fio_runs import CLOCK, Done, client, run_client, run_fio, server
from free_port import free_port

PAGE = (Path(__file__).resolve().parents[3] / "doc/fio-librpma.1").read_text(encoding="utf-8")
VALUES = {
    "direct": "1", "buffered": "0", "atomic": "1", "invalidate": "1", "fadvise_hint": "random", "fallocate": "posix",
    "overwrite": "1", "create_fsync": "1", "create_on_open": "1", "allow_file_create": "0", "openfiles": "1",
    "filename": "/dev/null", "filename_format": "a.$jobnum", "unique_filename": "0", "replay_redirect": "/dev/null",
    "lockfile": "exclusive", "unlink": "1", "unlink_each_loop": "1", "ioscheduler": "none", "prio": "7", "prioclass": "2",
    "write_hint": "short", "disk_util": "0", "allow_mounted_write": "1", "read_beyond_wp": "1", "max_open_zones": "4",
    "job_max_open_zones": "4", "ignore_zone_limits": "1", "zone_reset_threshold": "0.5", "fill_device": "1",
}  # fmt: skip
KIB_EACH = 64


def listed() -> list[str]:
    text = PAGE.partition("These have no effect")[2].partition("\n.El\n")[0]
    return [name for item in re.findall(r"^\.It Cm (.*)$", text, re.MULTILINE) for name in item.split(" , ")]


def test_the_page_lists_what_is_tried() -> None:
    assert listed() and set(listed()) == set(VALUES)


def test_a_job_with_one_does_what_it_does_without(tmp_path: Path) -> None:
    """Each has a part of the memory: 16 blocks are written, and verified."""
    text = (f"[global]\nioengine=librpma\nclocksource={CLOCK}\nbusy_wait_polling=0\nport={free_port()}\n"
            f"[server]\nrole=server\nsize={KIB_EACH * (len(VALUES) + 1)}k\n")  # fmt: skip
    for number, (name, value) in enumerate([("bs", "4k"), *VALUES.items()]):
        text += (f"[{name}]\n{name}={value}\nrw=write\nsize={KIB_EACH}k\noffset={number * KIB_EACH}k\nverify=crc32c\n"
                 "verify_state_save=0\niodepth=4\n")  # fmt: skip
    (tmp_path / "all.fio").write_text(text)
    code, out, errors = run_fio(tmp_path, "--output-format=json", "all.fio")
    assert code == 0, errors
    jobs = {job["jobname"]: job for job in json.loads(out)["jobs"]}
    done = {name: (job["error"], job["write"]["total_ios"], job["read"]["total_ios"]) for name, job in jobs.items() if name != "server"}
    assert done == dict.fromkeys(["bs", *VALUES], (0, 16, 16))
    assert [path.name for path in tmp_path.iterdir()] == ["all.fio"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "text"),
    [({"zonemode": "zbd"}, "zonemode=zbd"), ({"pre_read": 1}, "pre-read"), ({"file_append": 1}, "file_append=1"),
     ({"hipri": 1}, "unrecognized option")],
    ids=str,
)  # fmt: skip
def test_what_does_not_work_fails(tmp_path: Path, options: dict[str, Any], text: str) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, code=1, rw="write", bs=4096, size="64k", **options)
    assert text in done.said


def test_a_local_folder_gives_the_number_of_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("a", "b"):
        (tmp_path / "folder" / name).write_bytes(name.encode() * 65536)
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", opendir="folder", output="fio.json")
    assert "16 writes, all flushed" in done.said
    assert [(tmp_path / "folder" / name).read_bytes() for name in ("a", "b")] == [b"a" * 65536, b"b" * 65536]


@pytest.mark.long
def test_zones_are_fios_own(tmp_path: Path) -> None:
    with server(tmp_path) as it:
        done = run_client(tmp_path, it.port, rw="write", bs=4096, size="64k", zonemode="zbd", zonesize="16k")
    assert done.ios("write") == 16


@pytest.mark.long
@pytest.mark.parametrize("option", ["opendir", "create_only"])
def test_what_does_nothing_is_not_taken_for_a_measurement(tmp_path: Path, option: str) -> None:
    (tmp_path / "folder").mkdir()
    with server(tmp_path) as it:
        with client(tmp_path, it.port, rw="write", bs=4096, size="64k", **{option: {"opendir": "folder"}.get(option, 1)}) as run:
            done = Done(run)
    assert done.code == 0, done.said
    assert not any(int(count) for count in re.findall(r'"total_ios" : (\d+)', done.out))
