# SPDX-License-Identifier: BSD-3-Clause
"""The pages of compare and history in a browser: the answer first, words and names whole, worse by colour and sign."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from devtools import CHROMIUM, Browser
from rpma_report import cli
from test_browser import SIDEWAYS, overlap
from test_compare_command import measured

pytestmark = pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"no {CHROMIUM}")

SIZES, DEPTHS = (64, 4096), (1, 4, 16, 64, 256)
# The shown drawing of a figure: its box, and its texts with theirs.
DRAWING = """
(() => {
  const svg = [...document.querySelectorAll('#%s svg')].find(s => s.getClientRects().length);
  const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  return { box: box(svg), texts: [...svg.querySelectorAll('text')].map(t => [t.textContent, ...box(t)]) };
})()"""
# The upright lines of the shown drawing of a figure: where across, and from where to where down.
UPRIGHT = """
(() => {
  const svg = [...document.querySelectorAll('#%s svg')].find(s => s.getClientRects().length);
  return [...svg.querySelectorAll('path')].filter(e => !e.closest('defs')).map(e => e.getBoundingClientRect())
    .filter(r => r.width <= 4 && r.height > 4).map(r => [(r.left + r.right) / 2, r.top, r.bottom]);
})()"""
# Each box with a table, once it is laid out: whether there is more to scroll to, and what of a row it cuts at its lower end.
CUT = """
new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(
  [...document.querySelectorAll('.scroll')].map(box => {
    const end = box.getBoundingClientRect().top + box.clientTop + box.clientHeight;
    const cut = [...box.querySelectorAll('tbody tr')].map(row => row.getBoundingClientRect()).find(r => r.top < end - 1 && r.bottom > end + 1);
    return [box.scrollHeight > box.clientHeight, cut ? cut.bottom - end : 0];
  })))))"""
# Each row of the forest's table: its first cell, whether the box that scrolls has all of it in sight, colour and sign.
WORDS = """
[...document.querySelectorAll('#forest-table tbody tr')].map(row => {
  const cell = row.cells[0], word = cell.firstChild, at = cell.getBoundingClientRect();
  const box = cell.closest('.scroll').getBoundingClientRect();
  return [word.textContent, at.left >= box.left - 1 && at.right <= box.right + 1, getComputedStyle(word).color,
          getComputedStyle(word, '::before').content];
})"""
# True for each table, forest and changes, whose column of changes is in sight without scrolling.
CHANGES = """
['forest-table', 'changes-table'].map(id => {
  const table = document.getElementById(id), box = table.closest('.scroll').getBoundingClientRect();
  const head = [...table.querySelectorAll('thead th')].find(th => th.textContent.trim() == 'change').getBoundingClientRect();
  return head.left >= box.left - 1 && head.right <= box.right + 1;
})"""
ANSWER = """
(() => {
  const p = document.querySelector('p'), r = p.getBoundingClientRect();
  return [p.className, p.textContent, r.top >= 0 && r.bottom <= window.innerHeight && r.right <= window.innerWidth];
})()"""
# The middle of the first row's mark, and what the page tells of it.
FIRST_MARK = """
(() => {
  const svg = [...document.querySelectorAll('#forest svg')].find(s => s.getClientRects().length);
  window.scrollTo({ top: scrollY + svg.getBoundingClientRect().top - 200, behavior: 'instant' }); // the navigation sticks
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  const [left, top, right, bottom, x0, x1, , y0, y1] = JSON.parse(svg.dataset.axes)[0];
  const ratio = JSON.parse(document.getElementById('values').textContent).charts.forest.panels[0].lines[0].marks[0][1];
  return [box.left + (left + (right - left) * (Math.log(ratio) - x0) / (x1 - x0)) * scale,
          box.top + (bottom - (bottom - top) * (0 - y0) / (y1 - y0)) * scale];
})()"""
TIP = "document.querySelector('.tip:not([hidden])')?.innerText"


def result(factor: float, label: str, day: int) -> dict[str, Any]:
    """Points of ten names that differ at their ends; the last is as many times slower, the first a little faster."""
    points = []
    for depth in DEPTHS:
        for size in SIZES:
            of = factor if (depth, size) == (256, 4096) else 2 - factor if (depth, size) == (1, 64) else 1.0
            (point,) = measured(max(of, 0.8), sizes=(size,))["points"]
            point["params"]["depth"] = depth
            for repeat in point["repeats"]:
                repeat["order"] += len(points) * len(point["repeats"])
            points.append({**point, "id": f"p{len(points):04}"})
    made = measured()
    made["points"] = points
    made["run"].update(label=label, started=f"2026-08-1{day}T10:00:00.123Z", id=f"{day}b0e7c3e-6a5e-4d8f-9c2b-2f6d1f6a7e10")
    return made


def unlike(factor: float, label: str, day: int) -> dict[str, Any]:
    """The same of two series with long names."""
    made = result(factor, label, day)
    for point in made["points"][1::2]:
        point["params"].update(persist="gpspm", flush=None, flush_method=None, latency_kind="gpspm_rtt", connections=16)
    made["run"]["argv"] = ["rpma-bench", "client", "192.0.2.7"]
    return made


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("compared")
    files = []
    for number, factor in enumerate((1.0, 3.1)):
        files.append(str(folder / f"{number}.json"))
        Path(files[-1]).write_text(json.dumps(result(factor, f"v{number}", number)), encoding="utf-8")
    for command in ("compare", "history"):
        assert cli.main([command, *files, "--noise", "3%", "-o", str(folder / f"{command}.html")]) == 0
    for number, file in enumerate(files):
        Path(file).write_text(json.dumps(unlike((1.0, 3.1)[number], f"release 1.4.{number}", number)), encoding="utf-8")
    assert cli.main(["compare", *files, "-o", str(folder / "unclear.html")]) == 0
    return {name: folder / f"{name}.html" for name in ("compare", "history", "unclear")}


def check_texts(browser: Browser, figure: str, width: int) -> list[str]:
    """All in the drawing, which is in the window, and none on another."""
    drawing = browser.value(DRAWING % figure)
    left, top, right, bottom = drawing["box"]
    assert 0 <= left and right <= width
    for index, one in enumerate(drawing["texts"]):
        text, *box = one
        assert left - 1 <= box[0] and box[2] <= right + 1 and top - 1 <= box[1] and box[3] <= bottom + 1, f"{text} leaves the chart"
        assert not [other[0] for other in drawing["texts"][index + 1 :] if overlap(one, other)], text
    return [text[0] for text in drawing["texts"]]


@pytest.mark.parametrize("width, scheme", [(390, "light"), (1400, "light"), (1400, "dark"), (2500, "dark")])
def test_comparison_answers_first_and_has_each_word_in_sight(
    width: int, scheme: str, browser: Browser, pages: dict[str, Path]
) -> None:
    browser.look(pages["compare"], width, scheme)
    name, said, seen = browser.value(ANSWER)
    assert (name, seen) == ("answer", True) and "depth 256, 4 KiB, takes 3.1 times as long" in said
    assert browser.value(SIDEWAYS) <= 0
    texts = check_texts(browser, "forest", width)
    words = browser.value(WORDS)
    assert len(words) == 20 and all(seen for _, seen, _, _ in words)
    assert browser.value(CHANGES) == [True, True]
    assert [word for word, *_ in words[:2]] == ["worse", "worse"] and texts.count("\u2716 worse") == 2
    drawn = [text for text in texts if text.lstrip("\u2716\u2714 ") in ("worse", "better", "not seen", "same", "unclear")]
    assert [text.lstrip("\u2716\u2714 ") for text in drawn] == [word.partition(":")[0].partition(" (")[0] for word, *_ in words]
    assert words[0][2] != words[5][2] and "\u2716" in words[0][3] and words[5][3] == "none"
    whole = " ".join(texts)
    assert all(f"{p} write + apm flush, depth {depth}, {size}" in whole
               for p in ("p50", "p99") for depth in DEPTHS for size in ("64 B", "4 KiB"))  # fmt: skip


@pytest.mark.parametrize("width", [390, 1200, 1400])
def test_change_is_in_sight_beside_long_words(width: int, browser: Browser, pages: dict[str, Path]) -> None:
    browser.look(pages["unclear"], width)
    assert {word for word, *_ in browser.value(WORDS)} >= {"unclear: not interleaved", "same"}
    assert browser.value(CHANGES) == [True, width > 390]  # the wider table scrolls on a phone


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("page", ["compare", "unclear"])
def test_no_line_runs_through_a_word(page: str, width: int, browser: Browser, pages: dict[str, Path]) -> None:
    browser.look(pages[page], width)
    texts, lines = browser.value(DRAWING % "forest")["texts"], browser.value(UPRIGHT % "forest")
    assert len(lines) >= 2
    crossed = [text for text, left, top, right, bottom in texts
               if any(left + 1 < x < right - 1 and min(bottom, end) - max(top, begin) > 1 for x, begin, end in lines)]  # fmt: skip
    assert not crossed


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("page", ["compare", "unclear"])
def test_no_box_cuts_its_last_row(page: str, width: int, browser: Browser, pages: dict[str, Path]) -> None:
    browser.look(pages[page], width)
    boxes = browser.value(CUT)
    assert any(more for more, _ in boxes) and [cut for _, cut in boxes if cut] == []


def test_pointer_shows_the_row(browser: Browser, pages: dict[str, Path]) -> None:
    browser.look(pages["compare"], 1400)
    browser.move(*browser.value(FIRST_MARK))
    assert "3.1" in browser.value(TIP) and "4 KiB" in browser.value(TIP)


@pytest.mark.parametrize("width", [390, 1400, 2500])
def test_history_of_many_points_is_small_multiples(width: int, browser: Browser, pages: dict[str, Path]) -> None:
    browser.look(pages["history"], width)
    name, said, seen = browser.value(ANSWER)
    assert (name, seen) == ("answer", True) and said.startswith("Certainly worse: p")
    texts = check_texts(browser, "history-p50", width)
    whole = " ".join(texts)
    assert all(f"depth {depth}, {size}" in whole for depth in DEPTHS for size in ("64 B", "4 KiB"))
    assert browser.value("document.querySelector('#history-p50').getBoundingClientRect().top"
                         " < [...document.querySelectorAll('h3')].find(e => e.textContent == 'The rule').getBoundingClientRect().top")  # fmt: skip
