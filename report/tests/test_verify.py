# SPDX-License-Identifier: BSD-3-Clause
"""rpma-report verify: a page tells what its results say, and one digit more or less is found."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tests
import sample_tools
from conftest import Command, Write
from rpma_report.model import name_apart
from rpma_report.page import html, report
from rpma_report.sources import load
from rpma_report.sources.document import BadResult
from rpma_report.verification import check, printed
from rpma_report.verification.assign import assign
from rpma_report.verification.tokens import Page

MIXED = sample.result([
    sample.lat_point(0, 64, count=2000), sample.lat_point(1, 4096, count=2000), sample.bw_point(2, 64),
    sample_tests.rate_point(3, 1000.0, 900.0, range(5000, 7000), range(3000, 5000), late=7),
])  # fmt: skip
FIO = sample_tools.fio(sample_tools.fio_job("a", range(1000, 3000)))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without drawings, which are most of their bytes."""
    monkeypatch.setattr(html.drawings, "draw", lambda figures: {figure.id: [] for figure in figures})


def found(text: str, path: Path, expected: Page | None) -> check.Found:
    page = Page(text)
    return check.check(page, assign(page.results, [load(path)]).runs, expected)


@pytest.mark.drawn
def test_a_page_agrees_with_its_results(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = [write(MIXED, "a.json"), write(FIO, "b.json")]
    assert quick("create", *paths, "-o", tmp_path / "p.html").returncode == 0
    done = quick("verify", tmp_path / "p.html", *reversed(paths))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r".*p\.html: [0-9,]+ numbers agree\n", done.stdout)


def test_a_copy_under_another_name_is_the_same_result(quick: Command, write: Write, tmp_path: Path) -> None:
    path = write(FIO, "a.json")
    quick("create", path, "-o", tmp_path / "p.html")
    path.rename(tmp_path / "copy.json")
    assert quick("verify", tmp_path / "p.html", tmp_path / "copy.json").returncode == 0


@pytest.mark.parametrize("document", [MIXED, FIO], ids=["bench", "fio"])
def test_single_digits_of_a_page_are_found(document: Any, write: Write, bare: None) -> None:
    """99 of 100 altered digits at least, wherever in the page they stand."""
    path = write(document)
    text = html.render(report.document(name_apart([load(path)])))
    expected, draw = Page(text), random.Random(1)
    digits = [m.start() for m in re.finditer("[0-9]", text) if m.start() > text.index("</style>")]
    chosen = draw.sample(digits, 30)
    caught = 0
    for at in chosen:
        other = draw.choice([d for d in "0123456789" if d != text[at]])
        caught += bool(found(text[:at] + other + text[at + 1 :], path, expected).differences)
    assert caught >= 0.99 * len(chosen)


@pytest.mark.drawn
def test_single_digits_of_a_drawing_are_found(quick: Command, write: Write, tmp_path: Path) -> None:
    path, page = write(sample.result([sample.bw_point(0, 64)])), tmp_path / "p.html"
    quick("create", path, "-o", page)
    text, draw = page.read_text(), random.Random(2)
    begin, end = text.index("<svg"), text.rindex("</svg>")
    expected = Page(text)
    for at in draw.sample([m.start() for m in re.finditer("[0-9]", text) if begin < m.start() < end], 12):
        altered = text[:at] + ("1" if text[at] != "1" else "7") + text[at + 1 :]
        assert found(altered, path, expected).differences, text[at - 40 : at + 5]


_ATTRIBUTE = re.compile('data-metric="([^"]*)"')
_CELL = re.compile(r"<t[dh]([^>]*)>(?:<span>)?([^<]*)")


def cells_of(text: str) -> list[tuple[str, re.Match[str]]]:
    """The metric of each cell with an address, its own or that of its column, and the cell."""
    found = []
    for table in re.finditer(r"<table.*?</table>", text, re.DOTALL):
        heads = [m[1] if (m := _ATTRIBUTE.search(head)) else "" for head in re.findall('<th scope="col"[^>]*>', table[0])]
        for row in re.finditer(r"<tr id=[^>]* data-from=.*?</tr>", table[0], re.DOTALL):
            cells = _CELL.finditer(text, table.start() + row.start(), table.start() + row.end())
            for head, cell in zip(heads, cells, strict=True):
                own = _ATTRIBUTE.search(cell[1])
                found.append((own[1] if own else head, cell))
    return [(metric, cell) for metric, cell in found if metric]


def test_single_digits_of_a_cell_are_found_without_making_the_page_again(write: Write, bare: None) -> None:
    """The addresses alone are enough: no table or chart of this program is asked."""
    path = write(MIXED)
    text, draw = html.render(report.document(name_apart([load(path)]))), random.Random(3)
    cells = [cell for _, cell in cells_of(text) if re.search("[0-9]", cell[2])]
    assert len(cells) > 50 and not found(text, path, None).differences
    for cell in draw.sample(cells, 40):
        at = draw.choice([cell.start(2) + m.start() for m in re.finditer("[0-9]", cell[2])])
        altered = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
        (one,) = found(altered, path, None).differences
        assert one.printed in altered and one.what.startswith("p000")


def test_single_digits_of_a_result_are_found(write: Write, bare: None) -> None:
    small = sample.result([sample.lat_point(0, 64, count=200), sample.bw_point(1, 64)])
    text = html.render(report.document(name_apart([load(write(small))])))
    page, data, draw = Page(text), json.dumps(small), random.Random(4)
    chosen = draw.sample([m.start() for m in re.finditer("[0-9]", data)], 100)
    caught = 0
    for at in chosen:
        altered = data[:at] + str((int(data[at]) + draw.randint(1, 9)) % 10) + data[at + 1 :]
        try:
            caught += bool(assign(page.results, [load(write(altered.encode()))]).changed)
        except BadResult:
            caught += 1
    assert caught >= 99


def test_a_forged_listing_does_not_hide_other_numbers(write: Write, bare: None) -> None:
    first, other = (sample.result([sample.lat_point(0, 64, seed=seed, count=2000)]) for seed in (1, 2))
    text = html.render(report.document(name_apart([load(write(first, "a.json"))])))
    path = write(other, "b.json")
    run = load(path)
    forged = re.sub("[0-9a-f]{64}", run.sha256, text).replace(Page(text).cells[0].file, run.sha256[:12])
    differences = found(forged, path, None).differences
    assert any(one.what == "p0000 latency.p50" for one in differences)


def test_what_differs_is_named_with_its_place(quick: Command, write: Write, tmp_path: Path) -> None:
    path, page = write(sample.result([sample.lat_point(0, 64, count=2000)])), tmp_path / "p.html"
    quick("create", path, "-o", page)
    text = page.read_text()
    at = next(cell.start(2) for metric, cell in cells_of(text) if metric == "latency.count")
    assert text[at : at + 5] == "6,000"
    page.write_text(text[:at] + "6,001" + text[at + 5 :])
    done = quick("verify", page, path)
    assert done.returncode == 1
    assert re.search(r'p\.html: line \d+, .*"Percentiles.*p0000 latency\.count: printed 6,001, derived 6000\n', done.stdout)
    assert "1 do not match" in done.stdout


def test_changed_results_are_named(quick: Command, write: Write, tmp_path: Path) -> None:
    document = sample.result([sample.lat_point(0, 64, count=2000)])
    quick("create", write(document, "a.json"), "-o", tmp_path / "p.html")
    document["run"]["seed"] = 4711
    done = quick("verify", tmp_path / "p.html", write(document, "b.json"))
    assert done.returncode == 1 and "b.json does not match: SHA-256: printed" in done.stdout
    document["points"][0]["summary"]["latency"]["percentiles"][0]["ns"] += 5
    done = quick("verify", tmp_path / "p.html", write(document, "a.json"))
    assert done.returncode == 1 and "a result contradicts itself: " in done.stdout


def test_numbers_without_a_source_are_no_success(quick: Command, write: Write, tmp_path: Path) -> None:
    paths = [write(sample.result([sample.lat_point(0, size, count=200)]), f"{size}.json") for size in (64, 128)]
    quick("create", *paths, "-o", tmp_path / "p.html")
    done = quick("verify", tmp_path / "p.html", paths[0])
    assert done.returncode == 3 and "no result was given for 128.json, SHA-256" in done.stdout
    assert "no given result has that point" in done.stdout
    done = quick("verify", tmp_path / "p.html", *paths, write(FIO, "f.json"))
    assert done.returncode == 3 and "f.json does not belong to the page" in done.stdout


@pytest.mark.parametrize("content, why", [(b"", "<!DOCTYPE html>"), (b"{}", "<!DOCTYPE html>"), (b"\xff", "UTF-8")])
def test_no_page(content: bytes, why: str, quick: Command, write: Write) -> None:
    done = quick("verify", write(content, "p.html"), write(FIO))
    assert done.returncode == 2 and "p.html: " in done.stderr and why in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("text, value, half", [
    ("9.81 \u00b5s", 9810, 5), ("1,234 ns", 1234, 0.5), ("12.5 %", 0.125, 0.0005), ("4 KiB", 4096, 512),
    ("2.80 GB/s", 2.8e9, 5e6), ("\u22121.5", -1.5, 0.05), ("0.012 op/s", 0.012, 0.0005), ("1e-05 s", 1e4, 5e3),
])  # fmt: skip
def test_printed_numbers(text: str, value: float, half: float) -> None:
    number = printed.parse(text)
    assert number is not None
    assert number.value == pytest.approx(value) and number.half == pytest.approx(half)


@pytest.mark.parametrize("text", ["", "-", "\u2013", "x", "1 parsec", "--1", "1.2.3", "1" * 400])
def test_what_is_no_printed_number(text: str) -> None:
    number = printed.parse(text)
    assert number is None or text == "1" * 400


