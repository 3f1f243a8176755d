#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long rpma-report takes for a large study: 1,000 points in 100 files.

Usage: report_large.py RPMA-REPORT [FOLDER]. Writes results with five repeats of full
histograms and time series to FOLDER (one that is removed again), makes a page from them and prints
seconds, those of a processor, peak memory and sizes. It fails when the page is not there; what is too slow is the reader's to say.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "report/tests"))
import sample  # noqa: E402

FILES, SERIES, REPEATS = 100, 10, 5
BUCKETS = 1500
SUB_BITS = 7


def lows(first_ns: int) -> list[int]:
    """Adjoining buckets."""
    found = [sample.bucket_low(first_ns)]
    while len(found) < BUCKETS:
        low = found[-1]
        found.append(low + (1 if low < 1 << SUB_BITS else 1 << (low.bit_length() - 1 - SUB_BITS)))
    return found


def repeat(index: int, size: int, buckets: list[list[int]]) -> dict[str, object]:
    ops = sum(count for _, count in buckets)
    made = sample.repeat(index, size, 1e5 * (1 + index / 100), ops, [1000, 2000])
    made["latency"] = {
        "count": ops, "min_ns": buckets[0][0], "max_ns": buckets[-1][0], "mean_ns": 2e3 + index,
        "stddev_ns": 1e3, "percentiles": percentiles(buckets),
        "histogram": {"scheme": "loglinear", "sub_bits": SUB_BITS, "unit": "ns", "saturated": 0, "buckets": buckets},
    }  # fmt: skip
    made["intervals"] = [
        {"t_ns": (i + 1) * 10**8, "ops": 10_000 + i, "bytes": (10_000 + i) * size, "p50_ns": 2000, "p99_ns": 3000 + i, "max_ns": 9000}
        for i in range(100)
    ]  # fmt: skip
    return made


def percentiles(buckets: list[list[int]]) -> list[dict[str, object]]:
    """Interpolated inside their buckets, by the rule in the schema."""
    total, below, stated, wanted = sum(c for _, c in buckets), 0, [], list(sample.PERCENTILES)
    for number, (low, count) in enumerate(buckets):
        end = low + 1 if number == len(buckets) - 1 else low + sample.width(low)
        while wanted and below + count >= wanted[0] * total - 1e-6:
            p = wanted.pop(0)
            ns = low - 0.5 + (end - low) * (p * total - below) / count
            stated.append({"p": p, "ns": round(min(max(ns, buckets[0][0]), buckets[-1][0]), 3), "lo_ns": None, "hi_ns": None})
        below += count
    return stated


def point(number: int, size: int, depth: int, draw: random.Random) -> dict[str, object]:
    places = lows(900 + size // 64)
    repeats = []
    for index in range(REPEATS):
        counts = [max(1, int(2e5 * 0.995**i * draw.uniform(0.9, 1.1))) for i in range(BUCKETS)]
        repeats.append(repeat(index, size, [list(pair) for pair in zip(places, counts, strict=True)]))
    merged = [[low, sum(r["latency"]["histogram"]["buckets"][i][1] for r in repeats)] for i, low in enumerate(places)]
    made = sample.point(number, sample.params("lat", size, depth=depth), repeats)
    made["summary"]["latency"] = {
        "mean_ns": sample.interval([r["latency"]["mean_ns"] for r in repeats]),
        "merged_histogram": {"scheme": "loglinear", "sub_bits": SUB_BITS, "unit": "ns", "buckets": merged},
        "percentiles": sample.summary_percentiles(repeats),
    }  # fmt: skip
    return made


def main() -> int:
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(made)
        paths = [folder / f"result{n:03}.json" for n in range(FILES)]
        draw = random.Random(1)
        for n, path in enumerate(paths):
            if not path.exists():
                points = [point(i, 64 << i, 1 + n, draw) for i in range(SERIES)]
                path.write_text(json.dumps(sample.result(points, label="study")), encoding="utf-8")
        page = folder / "page.html"
        began = time.monotonic()
        subprocess.run([command, "create", *paths, "-o", page], check=True)
        took = time.monotonic() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak, cpu = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
        read = sum(path.stat().st_size for path in paths) / 1e6
        print(f"{FILES * SERIES} points in {FILES} files, {read:.0f} MB: {took:.1f} s "
              f"({cpu:.1f} s of a processor), {peak:.0f} MiB, "
              f"page {page.stat().st_size / 1e6:.2f} MB")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
