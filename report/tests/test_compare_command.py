# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report compare as it is used: words on files, exit codes, page and CSV."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write, refused

SPREAD = (1.0, 1.004, 0.997, 1.002, 0.996)  # of five repeats, by less than 1 %


def measured(factor: float = 1.0, sizes: tuple[int, ...] = (64, 4096), repeats: int = 5) -> dict[str, Any]:
    """A result whose latencies are exactly `factor` times those of measured()."""
    points = []
    for number, size in enumerate(sizes):
        samples = [[round((2000 + size + i) * factor * s) for i in range(1000)] for s in SPREAD[:repeats]]
        per_s = [1e9 / (2500 + size) / factor / spread for spread in SPREAD]
        made = [sample.repeat(i, size, per_s[i], 1000, s) for i, s in enumerate(samples)]
        points.append(sample.point(number, sample.params("lat", size), made, sorted(sum(samples, []))))
    return sample.result(points)


def test_words_of_a_run_that_is_worse(quick: Command, write: Write) -> None:
    done = quick("compare", write(measured(), "base.json"), write(measured(1.1), "new.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "new.json against base.json: 4 worse, 0 better, 0 unclear, 0 the same" in done.stdout
    assert done.stdout.count("+10.0 %") >= 4  # p50 and p99 at 64 B and 4 KiB


def test_run_compared_with_itself_is_the_same(quick: Command, write: Write) -> None:
    path = write(measured(), "base.json")
    done = quick("compare", path, path)
    assert done.returncode == 0 and "0 worse, 0 better, 0 unclear, 4 the same" in done.stdout


def tail_of_all_repeats(seed: int) -> dict[str, Any]:
    """4,000 operations a repeat: only all three together have a p99.9."""
    return sample.result([sample.lat_point(0, 64, seed=seed, count=4000)])


def test_itself_is_the_same_where_no_repeat_has_the_figure(quick: Command, write: Write, tmp_path: Path) -> None:
    result = tail_of_all_repeats(1)
    nan = [{"t_ns": 1000, "ops": 5, "bytes": 320, "p99_ns": None}]
    result["points"][0]["repeats"][0]["intervals"] = nan  # an unknown value equals nothing
    path = write(result)
    done = quick("compare", path, path, "--fail-if", "p99.9 > 0%")
    assert done.returncode == 0 and "0 worse, 0 better, 0 unclear, 3 the same" in done.stdout
    assert quick("compare", path, path, "-o", tmp_path / "o.html").returncode == 0
    assert "no word can be said of it" not in (tmp_path / "o.html").read_text(encoding="utf-8")


def test_fewer_than_three_repeats_are_the_same_as_themselves(quick: Command, write: Write) -> None:
    path = write(measured(repeats=2))
    assert "0 unclear, 4 the same" in quick("compare", path, path).stdout


def test_equal_tails_of_different_runs_without_repeats_are_unclear(quick: Command, write: Write) -> None:
    """Equal by chance, or because a histogram is coarse: who knows what repeats would have said?"""
    base, new = tail_of_all_repeats(1), tail_of_all_repeats(2)
    told = [r["points"][0]["summary"]["latency"]["percentiles"] for r in (base, new)]
    told[1][3] = told[0][3]
    done = quick("compare", write(base, "a.json"), write(new, "b.json"))
    (line,) = (line for line in done.stdout.splitlines() if " p99.9 " in line)
    assert line.endswith("0.0 %                          unclear")


@pytest.mark.parametrize("still", [1, 5])
def test_limit_sees_a_point_that_stood_still(still: int, quick: Command, write: Write) -> None:
    """No ratio of geometric means, and yet a change: that of the rates of all repeats."""
    new = measured()
    point = new["points"][1]
    for repeat in point["repeats"][:still]:
        repeat.update(ops=0, bytes=0, ops_per_s=0.0, bytes_per_s=0.0, latency=None)
    for name in ("ops_per_s", "bytes_per_s"):
        point["summary"][name] = sample.interval([r[name] for r in point["repeats"]])
    if still == 5:
        point["summary"]["latency"] = None
    paths = write(measured(), "base.json"), write(new, "new.json")
    assert quick("compare", *paths, "--fail-if", "ops_per_s < -15%").returncode == 1
    assert quick("compare", *paths, "--fail-if", "bytes_per_s > 0%").returncode == 0


def test_two_repeats_are_unclear(quick: Command, write: Write) -> None:
    done = quick("compare", write(measured(repeats=2), "a.json"), write(measured(2.0, repeats=2), "b.json"))
    assert "0 worse, 0 better, 4 unclear, 0 the same" in done.stdout and "+100 %" in done.stdout


def test_each_of_many_runs_is_compared_with_the_base(quick: Command, write: Write) -> None:
    factors = (1, 1.5, 0.5, 1, 1.2, 3)
    paths = [write(measured(factor), f"n{number}.json") for number, factor in enumerate(factors)]
    done = quick("compare", *paths)
    lines = [line for line in done.stdout.splitlines() if " against n0.json: " in line]
    words = [line.split(": ")[1] for line in lines]
    assert [w[:9] for w in words] == ["4 worse, ", "0 worse, ", "0 worse, ", "4 worse, ", "4 worse, "]
    assert "4 better" in words[1] and "4 the same" in words[2]


@pytest.mark.parametrize(
    "expressions, code",
    [(("p99 > 5%",), 1), (("p99 > 15%",), 0), (("p50 > 15%", "p99 > 9.5%"), 1), (("p99 > 15%, p50 > 9%",), 1),
     (("ops_per_s < -8%",), 1), (("ops_per_s < -10%",), 0), (("mean < 0%",), 0), ((), 0)],
)  # fmt: skip
def test_fail_if_exits_with_1_exactly_then(
    expressions: tuple[str, ...], code: int, quick: Command, write: Write
) -> None:
    options = [part for text in expressions for part in ("--fail-if", text)]
    done = quick("compare", write(measured(), "base.json"), write(measured(1.1), "new.json"), *options)
    assert (done.returncode, done.stderr) == (code, "")
    assert ("limit passed: " in done.stdout) is (code == 1)


def test_malformed_fail_if_is_wrong_usage(command: Command, write: Write) -> None:
    path = write(measured())
    done = command("compare", path, path, "--fail-if", "p99.9 > fast")
    assert done.returncode == 64 and done.stderr.count("\n") == 1
    assert "'p99.9 > fast' is no condition, expected one such as 'p99.9 > 5%'" in done.stderr


def test_runs_without_a_common_point_are_refused(quick: Command, write: Write) -> None:
    done = quick("compare", write(measured(sizes=(64,)), "a.json"), write(measured(sizes=(128,)), "b.json"))
    refused(done, "b.json has no point of a.json", "equal parameters")


def test_points_of_one_side_only_are_named(quick: Command, write: Write) -> None:
    base, new = write(measured(sizes=(64, 256)), "a.json"), write(measured(sizes=(64, 1024)), "b.json")
    done = quick("compare", base, new)
    assert "only in the base, not in b.json: " in done.stdout and "256 B" in done.stdout
    assert "only in b.json: " in done.stdout and "1 KiB" in done.stdout


def test_points_of_the_base_are_missed_by_name(quick: Command, write: Write, tmp_path: Path) -> None:
    sizes = (("base", (64, 256)), ("whole", (64, 256)), ("short", (64,)))
    paths = [write(measured(sizes=of), f"{name}.json") for name, of in sizes]
    done = quick("compare", *paths, "-o", tmp_path / "o.html")
    missed = "only in the base, not in short.json: write + apm flush, 256 B"
    assert done.stdout.count("only in") == 1 and f"  {missed}\n" in done.stdout
    assert f"<p>{missed}</p>" in (tmp_path / "o.html").read_text(encoding="utf-8")


def test_page_has_rule_words_charts_and_what_differs(quick: Command, write: Write, tmp_path: Path) -> None:
    new = measured(1.1)
    new["environment"]["server"]["os"]["kernel"] = "6.12.0"
    page = tmp_path / "out.html"
    done = quick("compare", write(measured(), "base.json"), write(new, "new.json"), "-o", page)
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "Worse or better: the whole interval lies beyond 2 % to that side." in text
    assert text.count(">worse<") >= 4 and "<svg" in text
    assert "Facts that differ between runs" in text and "6.12.0" in text
    assert "base.json" in text and "new.json" in text


def test_page_is_the_same_every_time(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = write(measured(), "base.json"), write(measured(1.03), "new.json")
    pages = [tmp_path / "1.html", tmp_path / "2.html"]
    for page in pages:
        assert quick("compare", *paths, "-o", page).returncode == 0
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_devices_that_differ_are_an_alarm(quick: Command, write: Write) -> None:
    new = measured()
    new["device"] = {"name": "mlx5_0", "kind": "hardware", "transport": "roce", "emulated_cpu": False}
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"))
    assert done.stdout.startswith("The devices differ. rxe0 software device rxe, emulated CPU: a.json.")


def test_terminal_has_the_alarms_and_the_facts_that_differ(quick: Command, write: Write) -> None:
    new = measured()
    new["environment"]["server"]["os"]["kernel"] = "6.12.0"
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"))
    assert "Not hardware." in done.stdout and "The devices differ" not in done.stdout
    assert "  server os.kernel: 6.1.0-40-amd64 (a.json), 6.12.0 (b.json)\n" in done.stdout


def test_csv_has_every_change_with_its_interval(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = write(measured(), "base.json"), write(measured(1.1), "new.json")
    assert quick("compare", *paths, "-o", tmp_path / "o.html", "--csv", tmp_path / "o.csv").returncode == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "o.csv").read_text(encoding="utf-8"))))
    assert [(r["place"], r["figure"], r["word"]) for r in rows] == [
        (size, figure, "worse") for size in ("64 B", "4 KiB") for figure in ("p50", "p99")
    ]
    for row in rows:
        columns = ("ci95_low_fraction", "change_fraction", "ci95_high_fraction")
        low, change, high = (float(row[column]) for column in columns)
        assert low <= change <= high and change == pytest.approx(0.1, abs=1e-3)


def test_outputs_without_a_page_are_wrong_usage(command: Command, write: Write, tmp_path: Path) -> None:
    path = write(measured())
    done = command("compare", path, path, "--csv", tmp_path / "o.csv")
    assert done.returncode == 64 and "give -o as well" in done.stderr


def test_page_never_takes_the_place_of_a_result(command: Command, write: Write, tmp_path: Path) -> None:
    path = write(measured())
    for base in (path, tmp_path):
        done = command("compare", base, path, "-o", path)
        assert done.returncode == 64 and "is a result" in done.stderr
    assert json.loads(path.read_text())["schema"] == "rpma-bench/1"


def test_same_file_names_are_told_apart_by_their_folders(command: Command, tmp_path: Path) -> None:
    for folder, factor in (("old", 1.0), ("new", 1.1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lat.json").write_text(json.dumps(measured(factor)))
    done = command("compare", "old/lat.json", "new/lat.json", cwd=tmp_path)
    assert "new/lat.json against old/lat.json: 4 worse" in done.stdout


def test_directory_without_results_is_refused(quick: Command, write: Write, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(quick("compare", tmp_path / "empty", write(measured())), "empty", "without results")
