# SPDX-License-Identifier: BSD-3-Clause
"""The page in headless Chromium without network: on a phone, a desk, and paper."""

import json
import os
from dataclasses import dataclass
from typing import Any

import pytest

import sample
import sample_tests as made
import sample_tools as tools
from devtools import CHROMIUM, Browser
from rpma_report import cli

pytestmark = pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"no {CHROMIUM}")

SWEEP = [sample.lat_point(i, size, count=2000) for i, size in enumerate(sample.SIZES)]
PLAIN = [sample.lat_point(20 + i, size, count=2000, base_ns=4000, persist="none", flush=None,
                          flush_method=None, latency_kind="post_to_cqe")
         for i, size in enumerate(sample.SIZES)]  # fmt: skip
BW = [sample.bw_point(40 + i, size) for i, size in enumerate(sample.SIZES)]
TEN_US = range(10_000, 12_000)
CONNECT_STEPS = ("prepare", "establish", "disconnect", "delete")
WINDOWED = made.with_latency(95, "latency", [TEN_US])
EVERYTHING = [
    *(made.rate_point(60 + i, 1000.0 * 2**i, 900.0 * 2**i, TEN_US, TEN_US) for i in range(6)),
    *(made.mix_point(70 + i, share, TEN_US, TEN_US) for i, share in enumerate((0.1, 0.5, 0.9))),
    *(made.load_point(80 + i, load, load, TEN_US) for i, load in enumerate((0.0, 0.5))),
    made.stepped_point(90, "connect", dict.fromkeys(CONNECT_STEPS, TEN_US), TEN_US),
    *(made.stepped_point(91 + i, "register", {"register": TEN_US}, TEN_US, 4096 << i) for i in range(3)),
    made.with_windows(WINDOWED, [[(WINDOWED["repeats"][0]["elapsed_ns"] * i // 40, WINDOWED["repeats"][0]["ops"] // 40, 11_959 + i)
                                  for i in range(1, 41)]]),
]  # fmt: skip
LONG = "a rather long label of a run " * 5
# The documents of each page, and the figures on it.
PAGES: dict[str, tuple[list[Any], list[str]]] = {
    "one series": ([sample.result(SWEEP + BW, label=LONG)] * 2, ["latency", "ladder", "distribution", "bandwidth"]),
    "two series": ([sample.result(SWEEP + PLAIN + BW)] * 2,
                   ["latency", "ladder", "distribution", "bandwidth", "methods", "methods-ladder", "cost"]),
    "one size": ([sample.result([SWEEP[3], PLAIN[3], BW[3]])],
                 ["ladder", "distribution", "bandwidth", "methods", "methods-ladder", "cost"]),
    "other tests": ([sample.result(EVERYTHING)],
                    ["ladder", "distribution", "rate", "throughput", "mix", "load", "time", "bands", "connect", "register"]),
    "other tools": ([tools.ping(TEN_US), tools.ddio_check(),
                     tools.fio(tools.fio_job("w", TEN_US, TEN_US, rw="randrw", bs="4k"))],
                    ["ladder", "distribution", "bandwidth", "ping", "ping-steps"]),
}  # fmt: skip

# The box of each drawing that is shown, and the boxes of its labels.
DRAWINGS = """
[...document.querySelectorAll('svg')].filter(s => getComputedStyle(s).display != 'none').map(s => {
  const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return { box: box(s), figure: s.closest('figure').id,
           texts: [...s.querySelectorAll('text')].map(t => [t.textContent, ...box(t)]) };
})"""
# Charts, and what stands beside them: charts or tables that begin within their height.
ROWS = """
[...document.querySelectorAll('figure')].map(f => {
  const own = f.getBoundingClientRect();
  const beside = e => { const r = e.getBoundingClientRect();
    return (r.left >= own.right || r.right <= own.left) && r.top < own.bottom && r.bottom > own.top; };
  return { id: f.id, others: [...document.querySelectorAll('figure, table')].filter(beside).length };
})"""
# Texts of cells that are aligned otherwise than the head of their column.
MISALIGNED = """
[...document.querySelectorAll('table')].flatMap(table => {
  const align = cell => getComputedStyle(cell).textAlign, heads = [...table.tHead.rows[0].cells].map(align);
  return [...table.querySelectorAll('tbody tr')].filter(row => row.cells.length == heads.length)
    .flatMap(row => [...row.cells].filter((cell, i) => align(cell) != heads[i]).map(cell => cell.textContent));
})"""
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
# The first chart's upper edge, and the lower edge of its first panel.
FIRST = """
(() => {
  const svg = [...document.querySelectorAll('figure svg')].find(s => s.getClientRects().length);
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  return [box.top, box.top + JSON.parse(svg.dataset.axes)[0][3] * scale];
})()"""


@dataclass(frozen=True)
class Opened:
    """A page in the browser, and the figures that it must have."""

    browser: Browser
    figures: list[str]


@pytest.fixture(scope="module", params=PAGES, ids=lambda name: name.replace(" ", "-"))
def opened(request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """A page made once, in the browser."""
    documents, figures = PAGES[request.param]
    folder = tmp_path_factory.mktemp("page")
    results = []
    for number, document in enumerate(documents):
        results.append(folder / f"r{number}.json")
        results[-1].write_text(json.dumps(document), encoding="utf-8")
    assert cli.main(["create", *map(str, results), "-o", str(folder / "report.html")]) == 0
    browser.open(folder / "report.html")
    return Opened(browser, figures)


def overlap(one: list[Any], other: list[Any]) -> bool:
    """More than a pixel of both sides in common."""
    across = min(one[3], other[3]) - max(one[1], other[1])
    down = min(one[4], other[4]) - max(one[2], other[2])
    return across > 1 and down > 1


def check_drawings(opened: Opened, width: int) -> None:
    drawings = opened.browser.value(DRAWINGS)
    assert [d["figure"] for d in drawings] == opened.figures
    for drawing in drawings:
        left, top, right, bottom = drawing["box"]
        assert 0 <= left and right <= width and right - left > 0.7 * min(width, 900)
        assert bottom - top > 150
        for text, *box in drawing["texts"]:
            inside = left - 1 <= box[0] and box[2] <= right + 1 and top - 1 <= box[1]
            assert inside and box[3] <= bottom + 1, f"{text} leaves the chart"
            assert min(box[3] - box[1], box[2] - box[0]) >= 5, f"{text} is tiny"
        for index, one in enumerate(drawing["texts"]):
            for other in drawing["texts"][index + 1 :]:
                assert not overlap(one, other), (one[0], other[0])


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_charts_are_whole_and_labels_apart(width: int, opened: Opened) -> None:
    opened.browser.window(width)
    check_drawings(opened, width)
    assert opened.browser.value(SIDEWAYS) <= 0, "the page scrolls sideways"


def test_two_columns_leave_no_place_empty(opened: Opened) -> None:
    """A chart stands beside another one or beside its own table."""
    opened.browser.window(1400)
    for figure in opened.browser.value(ROWS):
        assert figure["others"], f"nothing stands beside {figure['id']}"


def test_cells_stand_below_the_heads_of_their_columns(opened: Opened) -> None:
    for medium in ("screen", "print"):
        opened.browser.window(1400, medium=medium)
        assert opened.browser.value(MISALIGNED) == []


def test_no_error_and_no_request(opened: Opened) -> None:
    if opened.figures == PAGES["one size"][1]:  # printing takes a second, and all pages have one style sheet
        opened.browser.pdf()
    requests = [r["request"]["url"] for r in opened.browser.saw("Network.requestWillBeSent")]
    assert len(requests) == 1 and requests[0].startswith("file://")
    for kind in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
        assert opened.browser.saw(kind) == []


def test_paper_cuts_no_chart(opened: Opened) -> None:
    """A4 less 15 mm of margin: 180 x 267 mm at 96 dots an inch."""
    width, height = round(180 / 25.4 * 96), 267 / 25.4 * 96
    opened.browser.window(width, medium="print", scheme="dark")
    check_drawings(opened, width)
    figures = "[...document.querySelectorAll('figure')]"
    heights = opened.browser.value(f"{figures}.map(f => f.getBoundingClientRect().height)")
    assert len(heights) == len(opened.figures) and max(heights) < height
    assert opened.browser.value(f"{figures}.map(f => getComputedStyle(f).breakInside)") == ["avoid"] * len(heights)
    assert opened.browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.browser.value(SIDEWAYS) <= 0, "a table is cut at the edge of the paper"


def test_dark_and_light_differ(opened: Opened) -> None:
    seen = set()
    for scheme in ("light", "dark"):
        opened.browser.window(1400, scheme=scheme)
        colours = "[document.body, document.querySelector('svg text')].map(e => getComputedStyle(e)"
        seen.add(tuple(opened.browser.value(f"{colours}).flatMap(s => [s.backgroundColor, s.fill])")))
    assert len(seen) == 2


@pytest.mark.parametrize("width, height", [(390, 844), (1400, 900), (2500, 1300)])
def test_first_chart_is_on_the_first_screen(width: int, height: int, opened: Opened) -> None:
    """Its first panel is; on a phone at least half of it, whatever has to be said before."""
    opened.browser.window(width, height)
    assert opened.browser.value(SIDEWAYS) <= 0, "the page scrolls sideways"
    top, bottom = opened.browser.value(FIRST)
    assert (top + bottom) / 2 < height if width < 600 else bottom < height
