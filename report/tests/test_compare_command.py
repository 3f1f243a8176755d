# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report compare as it is used: words on files, exit codes, page and CSV."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command, Write, refused
from paired import write_pairs

SPREAD = (1.0, 1.004, 0.997, 1.002, 0.996)  # five repeats, within 1 %


def measured(factor: float = 1.0, sizes: tuple[int, ...] = (64, 4096), repeats: int = 5,
             spread: tuple[float, ...] = SPREAD) -> dict[str, Any]:  # fmt: skip
    """A result whose latencies are exactly `factor` times those of measured()."""
    points = []
    for number, size in enumerate(sizes):
        samples = [[round((2000 + size + i) * factor * s) for i in range(1000)] for s in spread[:repeats]]
        per_s = [1e9 / (2500 + size) / factor / s for s in spread]
        made = [sample.repeat(i, size, per_s[i], 1000, s) for i, s in enumerate(samples)]
        points.append(sample.point(number, sample.params("lat", size), made, sorted(sum(samples, []))))
    return sample.result(points)


def test_words_of_a_side_that_is_worse(quick: Command, tmp_path: Path) -> None:
    done = quick("compare", *write_pairs(tmp_path, measured, 1.1))
    assert (done.returncode, done.stderr) == (0, "")
    assert "new against base: 4 worse, 0 better, 0 unclear, 0 not seen, 0 the same" in done.stdout
    assert len(re.findall(r"\+1[01]\.\d %.*\(\+9\.\d % to \+1[01]\.\d %\) +worse$", done.stdout, re.M)) == 4


def test_words_where_nothing_changed(quick: Command, tmp_path: Path) -> None:
    done = quick("compare", *write_pairs(tmp_path, measured, 1.0), "--fail-if", "worse, p50 > 1%")
    assert done.returncode == 0 and "0 worse, 0 better, 0 unclear, 0 not seen, 4 the same" in done.stdout
    assert "same (within 0." in done.stdout and done.stdout.endswith("passed: worse, p50 > 1%\n")


def test_files_that_were_not_interleaved_get_no_word(quick: Command, write: Write) -> None:
    done = quick("compare", write(measured(), "base.json"), write(measured(1.5), "new.json"), "--fail-if", "worse")
    assert done.returncode == 3
    assert "new.json against base.json: 0 worse, 0 better, 4 unclear, 0 not seen, 0 the same" in done.stdout
    assert done.stdout.count("unclear: not interleaved") == 4
    assert done.stdout.count("\nundetermined: worse: new.json, ") == 4


def test_stated_noise_supports_words(quick: Command, write: Write) -> None:
    paths = write(measured(), "base.json"), write(measured(1.1), "new.json")
    assert "4 worse" in quick("compare", *paths, "--noise", "3%").stdout
    assert "0 worse, 0 better, 0 unclear, 4 not seen" in quick("compare", *paths, "--noise", "15 %").stdout


def test_named_figures_decide(quick: Command, tmp_path: Path) -> None:
    sides = write_pairs(tmp_path, measured, 1.1)
    done = quick("compare", *sides, "--figures", "p90,mean")
    assert "4 worse, 0 better, 0 unclear, 0 not seen, 0 the same" in done.stdout
    (line, _) = (line for line in done.stdout.splitlines() if " p50 " in line)
    assert line.endswith("%)")  # its interval, without a word


def test_disturbed_pairs_are_left_out_and_counted(quick: Command, tmp_path: Path) -> None:
    sides = write_pairs(tmp_path, measured, 1.0)
    path = sides[1] / "03.json"
    document = {**measured(5.0), "study": json.loads(path.read_text())["study"] | {"disturbed": True}}
    path.write_text(json.dumps(document))
    done = quick("compare", *sides)
    assert "4 the same" in done.stdout
    assert "  left out: 1 pair during which other programs took CPU time\n" in done.stdout


def test_itself_is_the_same_with_unknown_values_too(quick: Command, write: Write, tmp_path: Path) -> None:
    result = measured()
    repeat = result["points"][0]["repeats"][0]
    unknown = [{"t_ns": repeat["elapsed_ns"], "ops": repeat["ops"], "bytes": repeat["bytes"], "p99_ns": None}]
    repeat["intervals"] = unknown  # an unknown value equals nothing
    path = write(result)
    done = quick("compare", path, path, "--fail-if", "p99 > 0%")
    assert done.returncode == 0 and "0 worse, 0 better, 0 unclear, 0 not seen, 4 the same" in done.stdout
    assert quick("compare", path, path, "-o", tmp_path / "o.html").returncode == 0
    assert "has no interval" not in (tmp_path / "o.html").read_text(encoding="utf-8")


def test_fewer_than_three_repeats_are_the_same_as_themselves(quick: Command, write: Write) -> None:
    path = write(measured(repeats=2))
    assert "0 unclear, 0 not seen, 4 the same" in quick("compare", path, path).stdout


@pytest.mark.parametrize("still", [1, 5])
def test_limit_sees_a_point_that_stood_still(still: int, quick: Command, write: Write) -> None:
    """No logarithm and no interval, and yet a change: to a rate of 0."""
    new = measured()
    point = new["points"][1]
    for repeat in point["repeats"][:still]:
        repeat.update(ops=0, bytes=0, ops_per_s=0.0, bytes_per_s=0.0, latency=None, threads=[])
    for name in ("ops_per_s", "bytes_per_s"):
        point["summary"][name] = sample.interval([r[name] for r in point["repeats"]])
    point["summary"]["latency"] = None
    of_each = [r["latency"]["mean_ns"] if r["latency"] else r["ops_per_s"] for r in point["repeats"]]
    point["summary"]["flagged_repeats"] = sample.outliers(of_each)
    sample.warn_again(new)
    paths = write(measured(), "base.json"), write(new, "new.json")
    assert quick("compare", *paths, "--fail-if-estimate", "ops_per_s < -15%").returncode == 1
    assert quick("compare", *paths, "--fail-if-estimate", "bytes_per_s > 0%").returncode == 0
    assert quick("compare", *paths, "--fail-if", "ops_per_s < -15%", "--noise", "1%").returncode == 3


def test_each_of_many_runs_is_compared_with_the_base(quick: Command, write: Write) -> None:
    factors = (1, 1.5, 0.5, 1, 1.2, 3)
    paths = [write(measured(factor), f"n{number}.json") for number, factor in enumerate(factors)]
    done = quick("compare", *paths, "--noise", "2%")
    lines = [line for line in done.stdout.splitlines() if " against n0.json: " in line]
    words = [line.split(": ")[1] for line in lines]
    assert [w[:9] for w in words] == ["4 worse, ", "0 worse, ", "0 worse, ", "4 worse, ", "4 worse, "]
    assert "4 better" in words[1] and "4 the same" in words[2]


@pytest.mark.parametrize(
    "expressions, code",
    [(("p99 > 5%",), 1), (("p99 > 15%",), 0), (("p50 > 15%", "p99 > 8%"), 1), (("p99 > 15%, p50 > 8%",), 1),
     (("p50 > 10%",), 3), (("ops_per_s < -8%",), 1), (("ops_per_s < -12%",), 0), (("mean < 0%",), 0),
     (("worse",), 1), (("p50 > 15%, worse",), 1), ((), 0)],
)  # fmt: skip
def test_fail_if_exits_with_1_exactly_then(
    expressions: tuple[str, ...], code: int, quick: Command, tmp_path: Path
) -> None:
    """At +10 %, whose interval is about +9.6 to +10.4 %."""
    options = [part for text in expressions for part in ("--fail-if", text)]
    done = quick("compare", *write_pairs(tmp_path, measured, 1.1), *options)
    assert (done.returncode, done.stderr) == (code, "")
    found = re.findall(r"^(failed|undetermined|passed): ", done.stdout, re.M)
    assert set(found) == ({0: {"passed"}, 1: {"failed"}, 3: {"undetermined"}}[code] if expressions else set())


def test_limit_inside_the_interval_is_undetermined(quick: Command, tmp_path: Path) -> None:
    sides = write_pairs(tmp_path, measured, 1.1)
    done = quick("compare", *sides, "--fail-if", "p50 > 10%")
    assert done.returncode == 3
    assert re.search(r"^undetermined: p50 > 10%: new, write.*, 64 B: the limit lies inside the interval, "
                     r"\+9\.\d % to \+10\.\d %$", done.stdout, re.M)  # fmt: skip
    done = quick("compare", *sides, "--fail-if-estimate", "p50 > 9.9%")
    assert done.returncode == 1
    assert "failed: p50 > 9.9% by the estimate: new, write + apm flush, 64 B: p50 +10" in done.stdout


@pytest.mark.parametrize(
    "option, value, told",
    [("--noise", "3", "expected a percentage such as 3%"), ("--noise", "-3%", "such as 3%"),
     ("--figures", "p50,fast", "has a word that is not a figure, expected mean"),
     ("--fail-if-estimate", "worse", "'worse' is not a condition")],
)  # fmt: skip
def test_malformed_option_is_wrong_usage(option: str, value: str, told: str, quick: Command, write: Write) -> None:
    path = write(measured())
    done = quick("compare", path, path, f"{option}={value}")
    assert done.returncode == 64 and done.stderr.count("\n") == 1 and told in done.stderr


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


@pytest.mark.drawn
def test_page_has_rule_words_charts_and_what_differs(quick: Command, tmp_path: Path) -> None:
    def made(factor: float) -> dict[str, Any]:
        document = measured(factor)
        document["environment"]["server"]["os"]["kernel"] = f"6.12.{factor > 1.09 and factor != 1.11:d}"
        return document

    page = tmp_path / "out.html"
    done = quick("compare", *write_pairs(tmp_path, made, 1.3, pairs=4), "-o", page)
    assert (done.returncode, done.stderr) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "at most one comparison in 20 has any false better or worse" in text.lower()
    assert text.count(">worse<") >= 4 and "<svg" in text
    assert "Facts that differ between runs" in text and "6.12.1" in text


def test_devices_that_differ_are_an_alarm(quick: Command, write: Write) -> None:
    new = measured()
    new["device"] = {"name": "mlx5_0", "kind": "hardware", "transport": "roce", "emulated_cpu": False}
    sample.warn_again(new)
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"))
    assert done.stdout.startswith("The devices differ. rxe0 software device rxe, emulated CPU: a.json.")


def test_terminal_has_the_alarms_and_the_facts_that_differ(quick: Command, write: Write) -> None:
    new = measured()
    new["environment"]["server"]["os"]["kernel"] = "6.12.0"
    done = quick("compare", write(measured(), "a.json"), write(new, "b.json"))
    assert "NOT HARDWARE: software device rxe, emulated CPU. " in done.stdout and "The devices differ" not in done.stdout
    assert "  server os.kernel: 6.1.0-40-amd64 (a.json), 6.12.0 (b.json)\n" in done.stdout


def test_csv_has_every_change_with_its_interval(quick: Command, tmp_path: Path) -> None:
    paths = write_pairs(tmp_path, measured, 1.1, pairs=4)
    assert quick("compare", *paths, "-o", tmp_path / "o.html", "--csv", tmp_path / "o.csv").returncode == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "o.csv").read_text(encoding="utf-8"))))
    assert [(r["place"], r["figure"], r["decides"], r["word"]) for r in rows] == [
        (size, figure, "1", "worse") for size in ("64 B", "4 KiB") for figure in ("p50", "p99")
    ]
    for row in rows:
        columns = ("ci95_low_fraction", "change_fraction", "ci95_high_fraction")
        low, change, high = (float(row[column]) for column in columns)
        assert low <= change <= high and change == pytest.approx(0.1, abs=2e-3)
        assert row["notice"].startswith("NOT HARDWARE: software device rxe")


def test_outputs_without_a_page_are_wrong_usage(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(measured())
    done = quick("compare", path, path, "--csv", tmp_path / "o.csv")
    assert done.returncode == 64 and "give -o as well" in done.stderr


def test_page_never_takes_the_place_of_a_result(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(measured())
    for base in (path, tmp_path):
        done = quick("compare", base, path, "-o", path)
        assert done.returncode == 64 and "is a result" in done.stderr
    assert json.loads(path.read_text())["schema"] == "rpma-bench/1"


def test_same_file_names_are_told_apart_by_their_folders(quick: Command, tmp_path: Path) -> None:
    for folder, factor in (("old", 1.0), ("new", 1.1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "lat.json").write_text(json.dumps(measured(factor)))
    done = quick("compare", "old/lat.json", "new/lat.json", cwd=tmp_path)
    assert "new/lat.json against old/lat.json: 0 worse, 0 better, 4 unclear" in done.stdout


def test_directory_without_results_is_refused(quick: Command, write: Write, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(quick("compare", tmp_path / "empty", write(measured())), "empty", "without results")
