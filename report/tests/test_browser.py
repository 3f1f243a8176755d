# SPDX-License-Identifier: BSD-3-Clause
"""The page in headless Chromium without network: on a phone, a desk, and paper."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sample
from conftest import Command
from devtools import CHROMIUM, Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"no {CHROMIUM}"),
]

SWEEP = [sample.lat_point(i, size, count=2000) for i, size in enumerate(sample.SIZES)]
PLAIN = [sample.lat_point(20 + i, size, count=2000, base_ns=4000, persist="none", flush=None,
                          flush_method=None, latency_kind="post_to_cqe")
         for i, size in enumerate(sample.SIZES)]  # fmt: skip
BW = [sample.bw_point(40 + i, size) for i, size in enumerate(sample.SIZES)]
PAGES = {
    "one series": sample.result(SWEEP + BW),
    "two series": sample.result(SWEEP + PLAIN + BW),
    "one size": sample.result([SWEEP[3], PLAIN[3], BW[3]]),
    "long label": sample.result(SWEEP + BW, label="a rather long label of a run " * 5),
}

# Of each drawing that is shown: its box, and the boxes of its labels.
DRAWINGS = """
[...document.querySelectorAll('svg')].filter(s => getComputedStyle(s).display != 'none').map(s => {
  const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return { box: box(s), name: s.getAttribute('aria-label').split('.')[0],
           texts: [...s.querySelectorAll('text')].map(t => [t.textContent, ...box(t)]) };
})"""
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(params=PAGES, ids=lambda name: name.replace(" ", "-"))
def opened(
    request: pytest.FixtureRequest, browser: Browser, command: Command, write: Any, tmp_path: Path
) -> Browser:
    page = tmp_path / "report.html"
    document = PAGES[request.param]
    assert command("create", write(document), write(document, "b.json"), "-o", page).returncode == 0
    browser.open(page)
    return browser


def overlap(one: list[Any], other: list[Any]) -> bool:
    """More than a pixel of both sides in common."""
    across = min(one[3], other[3]) - max(one[1], other[1])
    down = min(one[4], other[4]) - max(one[2], other[2])
    return across > 1 and down > 1


def check_drawings(browser: Browser, width: int) -> None:
    drawings = browser.value(DRAWINGS)
    assert len(drawings) == 2
    assert [d["name"].split()[0].rstrip(":") for d in drawings] == ["Latency", "Bandwidth"]
    for drawing in drawings:
        left, top, right, bottom = drawing["box"]
        assert 0 <= left and right <= width and right - left > 0.7 * min(width, 1000)
        assert bottom - top > 150
        for text, *box in drawing["texts"]:
            inside = left - 1 <= box[0] and box[2] <= right + 1 and top - 1 <= box[1]
            assert inside and box[3] <= bottom + 1, f"{text} leaves the chart"
            assert min(box[3] - box[1], box[2] - box[0]) >= 5, f"{text} is tiny"
        for index, one in enumerate(drawing["texts"]):
            for other in drawing["texts"][index + 1 :]:
                assert not overlap(one, other), (one[0], other[0])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1400])
def test_charts_are_whole_and_labels_apart(width: int, scheme: str, opened: Browser) -> None:
    opened.window(width, scheme=scheme)
    check_drawings(opened, width)
    assert opened.value(SIDEWAYS) <= 0, "the page scrolls sideways"


def test_no_error_and_no_request(opened: Browser) -> None:
    opened.pdf()
    requests = [r["request"]["url"] for r in opened.saw("Network.requestWillBeSent")]
    assert len(requests) == 1 and requests[0].startswith("file://")
    for kind in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
        assert opened.saw(kind) == []


def test_paper_cuts_no_chart(opened: Browser) -> None:
    """A4 less 15 mm of margin: 180 x 267 mm at 96 dots an inch."""
    width, height = round(180 / 25.4 * 96), 267 / 25.4 * 96
    opened.window(width, medium="print", scheme="dark")
    check_drawings(opened, width)
    figures = "[...document.querySelectorAll('figure')]"
    heights = opened.value(f"{figures}.map(f => f.getBoundingClientRect().height)")
    assert len(heights) == 2 and max(heights) < height
    assert opened.value(f"{figures}.map(f => getComputedStyle(f).breakInside)") == ["avoid"] * 2
    assert opened.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.value(SIDEWAYS) <= 0, "a table is cut at the edge of the paper"


def test_dark_and_light_differ(opened: Browser) -> None:
    seen = set()
    for scheme in ("light", "dark"):
        opened.window(1400, scheme=scheme)
        colours = "[document.body, document.querySelector('svg text')].map(e => getComputedStyle(e)"
        seen.add(tuple(opened.value(f"{colours}).flatMap(s => [s.backgroundColor, s.fill])")))
    assert len(seen) == 2
