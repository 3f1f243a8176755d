# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for rpma-bench in tests of study --ab: `fake_pairs.py FOLDER WORD...`.

Each call adds a line to FOLDER/calls. The latency is --fake-ns and noise, which is that of
the first call with this latency, of the second, and so on, in whatever order they come;
other programs take the CPUs that FOLDER/others has for it, a number a call, the last for
all that follow; null: not known. FOLDER/fail makes it fail. Of words as fio gets them its
output is fio's.
"""

import json
import random
import sys
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import sample
import sample_tools

SECOND = 1_000_000_000


def main() -> int:
    code, output, errors = answer(Path(sys.argv[1]), sys.argv[2:])
    sys.stdout.write(output)
    sys.stderr.write(errors)
    return code


def answer(folder: Path, words: Sequence[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of one call."""
    given = dict(word.removeprefix("--").partition("=")[::2] for word in words)
    with (folder / "calls").open("a+") as calls:
        calls.seek(0)
        before = calls.readlines()
        call, own = len(before), sum(f"--fake-ns={given.get('fake-ns')} " in f"{line.strip()} " for line in before)
        calls.write(" ".join(words) + "\n")
    if "output-format" in given:
        job = sample_tools.fio_job("job", range(900, 1100), rw="write", bs="4k")
        return 0, json.dumps(sample_tools.fio(job)), ""
    if (folder / "fail").exists():
        return 2, "", "no such device: mlx7_0\n"
    told = json.loads((folder / "others").read_text()) if (folder / "others").exists() else [0]
    took = told[min(call, len(told) - 1)]
    noise = random.Random(f"{given['fake-ns']} {own}").uniform(1, 1 + float(given.get("fake-noise", 0)))
    test = given.get("fake-test", "lat")
    points = [point(i, test, float(given["fake-ns"]) * noise, took, int(given.get("threads", 1)))
              for i in range(int(given.get("fake-points", 1)))]  # fmt: skip
    run_id = str(uuid.UUID(int=call + 1, version=4))
    return 0, json.dumps(sample.result(points, argv=["rpma-bench", "local", *words], id=run_id)), ""


@cache
def point(number: int, test: str, ns: float, took: float | None, threads: int) -> dict[str, object]:
    samples = [round(ns * (1 + i / 4000)) for i in range(1000)]
    repeat = sample.repeat(0, 64, len(samples) * 1e9 / sum(samples), len(samples), samples)
    end = {"other_cpu_ns": None if took is None else round(took * repeat["elapsed_ns"]), "steal_ns": 0, "cpus": 4}
    repeats = [{**repeat, "index": i, "order": i, "interference": {"client": end, "server": end}} for i in range(3)]
    return sample.point(number, sample.params(test, 64, threads=threads), repeats, samples * 3)


if __name__ == "__main__":
    sys.exit(main())
