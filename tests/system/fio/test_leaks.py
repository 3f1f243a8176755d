# SPDX-License-Identifier: BSD-3-Clause
"""AddressSanitizer's list of what was not freed at the end has nothing of the engine's. What fio itself leaves
is not looked at. Jobs are threads: processes of fio end without asking anybody."""

import re
from pathlib import Path
from typing import Any

import pytest
from fio_runs import Run, words

ALL: dict[str, Any] = {"rw": "randwrite", "bs": "4k", "size": "64k", "verify": "crc32c", "verify_state_save": 0, "iodepth": 4,
       "thread": 1, "connect_timeout": 1}  # fmt: skip
LEAKS: dict[str, Any] = {"ASAN_OPTIONS": "detect_leaks=1:verify_asan_link_order=0"}
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "apm": ("", {}, ""),
    "gpspm": ("", {"mode": "gpspm", "fsync": 3, "flush": "batch"}, ""),
    "immediate data": ("", {"mode": "gpspm", "write_op": "imm"}, ""),
    "trim": ("", {"rw": "trim", "verify": 0}, ""),
    "several": ("", {"numjobs": 3, "nrfiles": 2}, ""),
    "too small": ("", {"size": "2m"}, "region"),
    "no such block": ("", {"write_op": "atomic"}, "write_op=atomic"),
    "no memory": ("register:at=1,errno=ENOMEM", {}, "ibv_reg_mr"),
    "a broken connection": ("drop:after=20", {"rw": "write", "verify": 0}, "RETRY_EXC_ERR"),
    "a connection made again": ("drop:after=40", {"rw": "write", "verify": 0, "continue_on_error": "all"}, ""),
}


def leaks(text: str) -> list[str]:
    found = re.findall(r"(?m)^(?:Direct|Indirect) leak of .*\n(?:    #.*\n)+", text)
    return [one for one in found if "librpma" in one or "fio_engine" in one]


@pytest.mark.parametrize("case", CASES)
def test_nothing_of_ours_is_left(tmp_path: Path, case: str) -> None:
    soft, options, told = CASES[case]
    serving = Run(tmp_path, *words(name="server", ioengine="librpma", role="server", size="1m", port=0, thread=1,
                                   busy_wait_polling=0), **LEAKS)  # fmt: skip
    try:
        port = serving.listening()
        run = Run(tmp_path, *words(name="client", ioengine="librpma", port=port, **{**ALL, **options}), soft=soft, **LEAKS)
        try:
            run.end()
            assert told in run.said()
            assert leaks(run.said()) == []
        finally:
            run.kill()
        if not told:
            serving.end()
            assert leaks(serving.said()) == []
    finally:
        serving.kill()
