# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for rpma-bench and fio in tests of studies: `fake_tool.py FOLDER WORD...`.

Notes its words in FOLDER/calls, and does what --fake=... asks for: fail, truncate,
wait (tells FOLDER/began its process id and waits for ever, unless FOLDER/free is
there). Else its output is FOLDER/bench.json or, of words as fio gets them, fio.json.
"""

import json
import os
import signal
import sys
from pathlib import Path


def main() -> int:
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    told = {"words": words, "stdin": sys.stdin.read(), "size": os.environ.get("size"), "cwd": os.getcwd()}
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps(told) + "\n")
    is_fio = any(word.startswith("--output-format") for word in words)
    output = (folder / ("fio.json" if is_fio else "bench.json")).read_text()
    fake = next((word.partition("=")[2] for word in words if word.startswith("--fake=")), "")
    if fake and not (folder / "free").exists():
        if fake == "fail":
            sys.stderr.write("opening things\nno such device: mlx7_0\n")
            return 2
        if fake == "wait":
            (folder / "began").write_text(str(os.getpid()))
            signal.pause()
        if fake == "truncate":
            output = output[: len(output) // 2]
    sys.stdout.write(output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
