# SPDX-License-Identifier: BSD-3-Clause
"""The other forms of a report: PNG, PDF, Markdown and CSV, and tables that are too long."""

import csv
import io
import math
import re
import statistics
from pathlib import Path

import pytest

import sample
import sample_tools as tools
from conftest import Command, Write
from loaded import runs
from rpma_report.figures.tables import plain
from rpma_report.page import markdown, outputs, points_csv
from rpma_report.page.document import Document, Section

LAT = [sample.lat_point(i, size, count=2000) for i, size in enumerate((64, 4096))]
HOSTILE = "<script>alert(1)</script> | `x` **b** [a](javascript:x) =1+1"


def rows(document: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(points_csv.render(runs(document)))))


def test_all_forms_twice_are_the_same_bytes_whatever_the_user_has_set(command: Command, write: Write, tmp_path: Path) -> None:
    path, seen = write(sample.result([*LAT, sample.bw_point(2, 64)])), []
    for seed, settings in (("1", ""), ("2", "lines.linewidth: 9\nsvg.fonttype: path\n")):  # the order of sets and dicts must not show
        folder = tmp_path / seed
        folder.mkdir()
        (folder / "matplotlibrc").write_text(settings, encoding="ascii")
        env = {"PYTHONHASHSEED": seed, "TZ": f"UTC{seed}", "LC_ALL": "C", "HOME": str(tmp_path / f"home{seed}")}
        done = command("create", path, "-o", "r.html", "--png", "p", "--pdf", "r.pdf", "--md", "r.md",
                       "--csv", "r.csv", cwd=folder, env=env)  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "matplotlibrc")
        seen.append({str(p.relative_to(folder)): p.read_bytes() for p in files})
    assert seen[0] == seen[1]
    pictures = {f"p/{name}.png" for name in ("latency", "ladder", "distribution", "bandwidth")}
    assert set(seen[0]) == {"r.html", "r.pdf", "r.md", "r.csv"} | pictures
    assert seen[0]["r.pdf"].startswith(b"%PDF-") and b"CreationDate" not in seen[0]["r.pdf"]
    assert all(data.startswith(b"\x89PNG\r\n") for name, data in seen[0].items() if name.endswith("png"))


def test_markdown_links_its_pictures_and_has_the_tables(quick: Command, write: Write, tmp_path: Path) -> None:
    out = tmp_path / "notes"
    out.mkdir()
    done = quick("create", write(sample.result(LAT)), "-o", tmp_path / "r.html", "--png", tmp_path / "p",
                 "--md", out / "r.md")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    text = (out / "r.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[.*\]\(<(.*)>\)", text)
    assert [link for link in links if (out / link).is_file()] == links and len(links) == 3
    assert text.count("NOT HARDWARE") == 1 and "| size | min | p50 |" in text


def test_markdown_of_hostile_text_stays_text() -> None:
    document = Document("t", (HOSTILE,), (), (Section("s", HOSTILE, (plain(HOSTILE, ["a"], [[HOSTILE]]),)),), "", "")
    made = markdown.render(document, None)
    assert not re.search(r"(?<!\\)<script", made) and not re.search(r"(?<!\\)\]\(", made)
    assert not re.search(r"(?<!\\)`", made)
    body = [line for line in made.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 2 for line in body)


@pytest.mark.parametrize(
    "plain_text, shown",
    [("2.28 µs", "2.28 µs"), ("1. first", "1\\. first"), ("- a", "\\- a"), ("---", "\\---"), ("-2 ns", "-2 ns"),
     ("===", "\\==="), ("# x", "\\# x")],
)  # fmt: skip
def test_markdown_escapes_only_what_would_be_markup(plain_text: str, shown: str) -> None:
    assert markdown.text(plain_text) == shown


def test_csv_has_a_row_for_all_and_one_for_each_repeat() -> None:
    made = rows(sample.result(LAT[:1]))
    assert [row["repeat"] for row in made] == ["all", "0", "1", "2"]
    medians = [repeat["latency"]["percentiles"][0]["ns"] for repeat in LAT[0]["repeats"]]
    logs = [math.log(repeat["ops_per_s"]) for repeat in LAT[0]["repeats"]]
    half = 4.302653 * statistics.stdev(logs) / math.sqrt(3)  # Student's t of 2 degrees of freedom
    assert float(made[0]["latency_p50_ns"]) == pytest.approx(statistics.geometric_mean(medians))
    assert float(made[0]["ops_per_s_ci95_low"]) == pytest.approx(math.exp(statistics.fmean(logs) - half))
    assert made[0]["latency_p99.99_ns"] == ""  # not supported: empty, not 0
    assert {row["notice"] for row in made} == {"NOT HARDWARE: software device rxe, emulated CPU \u00b7 persistence not proven"}
    for index, row in enumerate(made[1:]):
        repeat = LAT[0]["repeats"][index]
        assert float(row["bytes_per_s"]) == repeat["bytes_per_s"]
        assert float(row["latency_mean_ns"]) == repeat["latency"]["mean_ns"]
    assert {"size_bytes", "latency_max_ns", "bytes_per_s", "client_cpu_fraction"} <= set(made[0])


def test_csv_text_is_no_formula() -> None:
    made = rows(tools.fio(tools.fio_job("=HYPERLINK(1)", range(1000, 2000))))
    assert made[0]["job"] == "'=HYPERLINK(1)"


def test_long_table_is_cut_and_the_csv_has_it(tmp_path: Path) -> None:
    table = plain("long", ["a"], [[str(i)] for i in range(2001)])
    document = Document("t", (), (), (Section("s", "s", (table,)),), "", "")
    outputs.write(document, outputs.Wanted(tmp_path / "r.html"), lambda: "all of it\n")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The table has the first 2,000 of 2,001 rows; all points are in r.html.csv." in text
    assert text.count('<th scope="row">') == 2000
    assert (tmp_path / "r.html.csv").read_text(encoding="utf-8") == "all of it\n"


def test_table_of_two_thousand_rows_is_whole(tmp_path: Path) -> None:
    table = plain("long", ["a"], [[str(i)] for i in range(2000)])
    document = Document("t", (), (), (Section("s", "s", (table,)),), "", "")
    outputs.write(document, outputs.Wanted(tmp_path / "r.html"), lambda: "")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize("option", ["--pdf", "--md", "--csv"])
def test_no_output_takes_the_place_of_a_result(option: str, quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(sample.result([]))
    done = quick("create", path, "-o", tmp_path / "r.html", option, path)
    assert done.returncode == 64 and "is a result" in done.stderr
    done = quick("create", path, "-o", tmp_path / "r.html", option, tmp_path / "r.html")
    assert done.returncode == 64 and "two outputs at once" in done.stderr
