# SPDX-License-Identifier: BSD-3-Clause
"""The page asked in a browser: values at the pointer, series hidden, tables sorted, links, dark mode.

What it has to show is computed here from the result files.
"""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest

import sample
import sample_tools as tools
from devtools import CHROMIUM, Browser
from rpma_report import cli, quantity

pytestmark = pytest.mark.skipif(not os.access(CHROMIUM, os.X_OK), reason=f"no {CHROMIUM}")

SIZES = sample.SIZES
PLAIN = {"persist": "none", "flush": None, "flush_method": None, "latency_kind": "post_to_cqe"}
DOCUMENT = sample.result(
    [sample.lat_point(i, size, count=2000) for i, size in enumerate(SIZES)]
    + [sample.lat_point(20 + i, size, count=2000, base_ns=4000, **PLAIN) for i, size in enumerate(SIZES)]
    + [sample.bw_point(40 + i, size) for i, size in enumerate(SIZES)]
)
# Position in the window of a mark of the first chart: (panel, place on x, value on y).
PLACE = """
(() => {
  const svg = [...document.querySelectorAll('#latency svg')].find(s => s.getClientRects().length);
  svg.scrollIntoView({ block: 'center' });
  const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
  const [left, top, right, bottom, x0, x1, xLog, y0, y1, yLog] = JSON.parse(svg.dataset.axes)[%d];
  const at = (v, from, to, log) => ((log ? Math.log(v) : v) - from) / (to - from);
  return [box.left + (left + (right - left) * at(%r, x0, x1, xLog)) * scale,
          box.top + (bottom - (bottom - top) * at(%r, y0, y1, yLog)) * scale];
})()"""
TIP = "document.querySelector('.tip:not([hidden])')?.innerText"
SERIES = "[...document.querySelectorAll('#latency svg.wide [data-series=\"%d\"]')].filter(e => e.getClientRects().length).length"
ROWS = """
[...document.querySelectorAll('#%s-table tbody tr:not(.group)')].filter(r => r.getClientRects().length)
  .map(r => [...r.cells].map(c => c.firstChild ? c.firstChild.textContent : ''))"""


def middle(browser: Browser, selector: str) -> tuple[float, float]:
    """The place of an element in the window, where it can be clicked on."""
    find = f"document.querySelector({json.dumps(selector)})"
    browser.value(f"{find}.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
    left, top, right, bottom = browser.value(f"(r => [r.left, r.top, r.right, r.bottom])({find}.getBoundingClientRect())")
    return (left + right) / 2, (top + bottom) / 2


def numbers(browser: Browser, column: int, table: str = "latency") -> list[str]:
    return [row[column] for row in browser.value(ROWS % table)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    (folder / "r.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert cli.main(["create", str(folder / "r.json"), "-o", str(folder / "r.html")]) == 0
    return folder / "r.html"


def still(browser: Browser) -> None:
    """A window in which nothing scrolls smoothly: what is seen is there at once."""
    browser.window(1400)
    browser.call("Emulation.setEmulatedMedia", media="", features=[
        {"name": "prefers-color-scheme", "value": "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}])  # fmt: skip


@pytest.fixture
def page(browser: Browser, made: Path) -> Browser:
    still(browser)
    browser.open(made)
    return browser


def told(point: dict[str, Any], size: int) -> list[str]:
    """The texts that the page must have on the median of a point."""
    p50 = point["summary"]["latency"]["percentiles"][0]
    value, low, high = (quantity.time_ns(p50[key]) for key in ("ns", "lo_ns", "hi_ns"))
    return [f"size {quantity.size(size)}: latency {value}", f"95 % interval {low} \u2013 {high}, 3 repeats",
            f"point of r.json {point['id']}"]  # fmt: skip


def place(browser: Browser, number: int) -> tuple[float, float]:
    """The place of the median of a point in the window."""
    point = DOCUMENT["points"][number]
    p50 = point["summary"]["latency"]["percentiles"][0]["ns"]
    x, y = browser.value(PLACE % (0, point["params"]["size_bytes"], p50))
    return x, y


@pytest.mark.parametrize("width", [1400, 390])
def test_pointer_shows_the_values_of_the_nearest_point(width: int, page: Browser) -> None:
    page.window(width)
    for number in (0, 3, 15):
        x, y = place(page, number)
        page.move(x + 2, y + 1)
        series = "write + apm flush" if number < 8 else "write"
        assert page.value(TIP).split("\n") == [f"{series}, p50", *told(DOCUMENT["points"][number], SIZES[number % 8])]
    page.move(5, 5)
    assert page.value(TIP) is None


def test_finger_shows_them_too(page: Browser) -> None:
    page.window(390)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    page.touch(*place(page, 3))
    shown = page.value(TIP)
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert told(DOCUMENT["points"][3], 4096)[0] in shown


def test_keys_go_from_point_to_point_and_to_the_row(page: Browser) -> None:
    page.value("document.querySelector('#latency svg.wide').focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        page.key(key)
    assert told(DOCUMENT["points"][10], 1024)[0] in page.value(TIP)  # the first arrow shows the first point
    page.key("ArrowDown")
    assert told(DOCUMENT["points"][2], 1024)[0] in page.value(TIP)
    page.key("Enter")
    assert page.value("location.hash") == "#latency-write-apm-flush-1-kib"
    assert page.value("document.querySelector('tr.target .point').textContent") == "p0002"
    page.value("document.querySelector('#latency svg.wide').focus()")
    page.key("Escape")
    assert page.value(TIP) is None


def test_page_has_the_path_between_the_marks(page: Browser) -> None:
    """The slowest operation ends the ladder: its value is the maximum of the file."""
    values = json.loads(page.value("document.getElementById('values').textContent"))
    lines = values["charts"]["ladder"]["panels"][0]["lines"]
    slowest = max(point["repeats"][0]["latency"]["max_ns"] for point in DOCUMENT["points"][:16])
    assert max(y for line in lines for y in line["path"][1::2]) >= slowest * (1 - 1e-5)


def test_legend_hides_a_series_and_the_address_keeps_it(page: Browser, made: Path) -> None:
    assert page.value(SERIES % 0) > 0 and page.value(SERIES % 1) > 0
    page.click(*middle(page, "#latency svg.wide [data-legend='1']"))
    assert page.value(SERIES % 0) > 0 and page.value(SERIES % 1) == 0
    pressed = "[...document.querySelectorAll('#latency svg.wide [role=button]')].map(e => e.getAttribute('aria-pressed'))"
    assert page.value(pressed) == ["true", "false"]
    faded = "getComputedStyle(document.querySelector('#latency svg.wide [aria-pressed=false] text').parentElement).opacity"
    assert page.value(faded) == "1", "its name stays readable"
    x, y = place(page, 3)
    page.move(x, y)
    assert told(DOCUMENT["points"][3], 4096)[0] not in (page.value(TIP) or "")
    address = page.value("location.href")
    page.open(made, address.partition("#")[2])
    assert page.value(pressed) == ["true", "false"] and page.value(SERIES % 1) == 0
    page.window(800, medium="print")
    assert page.value(SERIES % 1) > 0, "paper has all series"
    page.window(1400)
    page.value("document.querySelector('#latency svg.wide [data-legend=\"1\"]').focus()")
    page.key("Enter")
    assert page.value(pressed) == ["true", "true"] and page.value(SERIES % 1) > 0
    page.key(" ")
    assert page.value(pressed) == ["true", "false"]


def test_head_of_a_column_sorts_numerically(page: Browser) -> None:
    p50 = [quantity.time_ns(p["summary"]["latency"]["percentiles"][0]["ns"]) for p in DOCUMENT["points"][:16]]
    by_value = [text for _, text in sorted(
        (p["summary"]["latency"]["percentiles"][0]["ns"], text) for p, text in zip(DOCUMENT["points"], p50, strict=False))]  # fmt: skip
    before = numbers(page, 2)
    assert sorted(before) == sorted(p50) and before != by_value
    selector = "#latency-table thead th:nth-child(3)"
    for ways in (("ascending", by_value), ("descending", by_value[::-1]), ("none", before)):
        page.click(*middle(page, f"{selector} button"))
        order = page.value(f"document.querySelector({json.dumps(selector)}).getAttribute('aria-sort')")
        assert (order, numbers(page, 2)) == ways
    assert "sort" not in page.value("location.hash")


def test_unknown_stands_last_either_way(page: Browser) -> None:
    """Beside a bandwidth there is no latency here, and the table at a glance has no other of reads."""
    columns = page.value("[...document.querySelectorAll('#basis-table thead th')].map(h => h.textContent)")
    at = columns.index("highest bandwidth")
    for _ in range(2):
        page.click(*middle(page, f"#basis-table thead th:nth-child({at + 1}) button"))
        assert numbers(page, at, "basis")[-1] == quantity.UNKNOWN


def test_filter_keeps_the_rows_that_have_all_words(page: Browser) -> None:
    page.value("document.querySelector('#latency-table').parentElement.previousElementSibling.querySelector('input').focus()")
    page.type("apm kib")
    rows = page.value(ROWS % "latency")
    assert [row[0] for row in rows] == [quantity.size(size) for size in SIZES if "KiB" in quantity.size(size)]
    assert page.value("document.querySelector('.tools [role=status]').textContent") == f"{len(rows)} of 16 rows"
    groups = "[...document.querySelectorAll('#latency-table .group')].filter(r => r.getClientRects().length).length"
    assert page.value(groups) == 1
    page.window(800, medium="print")
    assert len(page.value(ROWS % "latency")) == 16


def test_permalink_leads_to_its_row_and_the_row_to_the_chart(page: Browser, made: Path) -> None:
    page.open(made, "bandwidth-64-kib")
    inside = "(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector('tr.target').getBoundingClientRect())"
    assert page.value(inside) and page.value("document.querySelector('.target').id") == "bandwidth-64-kib"
    assert page.value("document.querySelectorAll('.target').length") == 1
    page.click(*middle(page, "#latency-write-apm-flush-4-kib td.point a"))
    assert told(DOCUMENT["points"][3], 4096)[0] in page.value(TIP)
    assert page.value("location.hash") == "#latency"
    page.value("history.back()")
    assert page.value("location.hash") == "#bandwidth-64-kib"


def test_point_in_the_page_is_that_of_the_file(page: Browser) -> None:
    """Every row of a chart's table that names a point has its size."""
    pairs = page.value("[...document.querySelectorAll('#latency-table td.point')].map(c => [c.textContent, c.parentElement.cells[0].firstChild.textContent])")
    points = {point["id"]: quantity.size(point["params"]["size_bytes"]) for point in DOCUMENT["points"]}
    assert len(pairs) == 16 and all(points[name] == size for name, size in pairs)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_switch_turns_the_colours_whatever_the_system_has(scheme: str, page: Browser, made: Path) -> None:
    page.window(1400, scheme=scheme)
    page.open(made)
    paper = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('svg.wide text')).fill"
    before = page.value(f"[{paper}, {text}]")
    page.click(*middle(page, ".lamp"))
    after = page.value(f"[{paper}, {text}]")
    assert before[0] != after[0] and before[1] != after[1]
    assert page.value("document.querySelector('.lamp').getAttribute('aria-pressed')") == str(scheme == "light").lower()
    page.window(1400, scheme="dark" if scheme == "light" else "light")
    assert page.value(f"[{paper}, {text}]") == after
    page.window(1400, medium="print")
    assert page.value(paper) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("kind, forms", [
    ("time", [1, 12.5, 999.94, 1000, 1234.5, 99_960, 123_456, 2.5e6, 98e9]),
    ("rate", [0.05, 0.5, 9.994, 99.94, 1234, 56_789, 2.8e9, 1.5e13]),
])  # fmt: skip
def test_numbers_are_written_as_in_the_tables(kind: str, forms: list[float], page: Browser) -> None:
    """The script has its own writer of numbers: it must not drift from the page's."""
    source = page.value("document.scripts[1].textContent")
    part = re.search(r"function digits.*?(?=const FORMS)", source, re.S)
    assert part
    call = "time" if kind == "time" else "rate('B')"
    shown = page.value(f"(() => {{ {part[0]}; return {json.dumps(forms)}.map({call}); }})()")
    assert shown == [quantity.time_ns(v) if kind == "time" else quantity.rate(v, "B") for v in forms]


# ---- Files written to do harm

PAYLOADS = ("window.hit=1", "top.hit=1//", "self['hit']=1")
CONTEXTS = (
    "<script>{}</script>", "</script><script>{}</script>", "<!--<script>{}</script>", "\"><img src=x onerror={}>",
    "'><svg onload={}>", "</style><script>{}</script>", "]]></text></svg><script>{}</script>", "javascript:{}",
    "<iframe srcdoc='<script>{}</script>'>", "\" onmouseover=\"{}", "' autofocus onfocus='{}", "</td></tr></table><b onclick={}>",
    "</title><script>{}</script>", "{{{{ {} }}}}", "${{{}}}", "`{}`", "\\u003cscript>{}\\u003c/script>", "&lt;script&gt;{}",
    "\";{};\"", "\\\";{};//", "</textarea><script>{}</script>", "<math><mi xlink:href=javascript:{}>", "<base href=//x {}>",
    "\u2028{}\u2029", "{}\u0000", "<a href=\"javascript:{}\">", "<meta http-equiv=refresh content='0;javascript:{}'>",
    "<object data=javascript:{}>", "#{}&latency.off=0", "__proto__ {}", "<link rel=stylesheet href=data:,{}>",
    "@import '{}';", "url(javascript:{})", "<template><script>{}</script>", "<details open ontoggle={}>", "\ufeff<x onclick={}>",
    "</g></svg><foreignObject><script>{}</script>", "<use href='data:image/svg+xml,{}'/>", "%3Cscript%3E{}%3C/script%3E",
    "--><script>{}</script>", "<marquee onstart={}>", "\" style=\"animation:x\" onanimationstart=\"{}", "]]>{}<![CDATA[",
    "<form action=javascript:{}><button>", "<embed src=javascript:{}>", "<svg><animate onbegin={} attributeName=x>",
    "<input onfocus={} autofocus>", "=cmd|'{}'!A1", "constructor {}", "\u202e{}", "\ud83d\ude00{}", "\\{}", "[{}](javascript:{})",
)  # fmt: skip
HOSTILE = [context.replace("{}", payload) for context in CONTEXTS for payload in PAYLOADS]


@pytest.mark.drawn
def test_hostile_texts_run_nothing(browser: Browser, tmp_path: Path) -> None:
    """Names of jobs, labels, warnings and facts of hosts: in charts, tables, ids, values and addresses."""
    in_turns = [context.replace("{}", PAYLOADS[i % 3]) for i, context in enumerate(CONTEXTS)]  # each is drawn
    jobs = [tools.fio_job(text, range(1000, 1100), rw="randwrite", bs=f"{1 + i % 40}k") for i, text in enumerate(in_turns)]
    document = sample.result([sample.bw_point(i, size) for i, size in enumerate((64, 4096))], label=HOSTILE[0])
    document["run"]["warnings"] += [{"code": "PIN_FAILED", "severity": "warn", "host": "client", "text": t} for t in HOSTILE]
    document["environment"]["client"]["host"] = {text: text for text in HOSTILE}
    paths = []
    for name, document in {"fio": tools.fio(*jobs), "r": document}.items():
        paths.append(tmp_path / f"{name}<b>&'.json")
        paths[-1].write_text(json.dumps(document), encoding="utf-8")
    out = tmp_path / "r.html"
    notes = "\n\n".join(HOSTILE)
    assert cli.main(["create", *map(str, paths), "-o", str(out), "--title", HOSTILE[0], "--notes", notes]) == 0
    still(browser)
    browser.open(out)
    browser.value("""
      for (const [what, every] of [['.lamp, th:first-child .sort, [data-legend]', 1], ['td.point a', 40], ['.anchor', 100]])
        [...document.querySelectorAll(what)].filter((_, i) => i % every === 0)
          .forEach(e => e.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true })))""")
    for point in ((300, 500), (400, 600)):
        browser.move(*point)
    assert browser.value("typeof window.hit") == "undefined"
    assert browser.value("document.querySelectorAll('[aria-pressed]').length") > 1, "our own script ran"
    assert browser.value("document.querySelectorAll('img, iframe, object, embed, base, link, form').length") == 0
    for kind in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening"):
        assert browser.saw(kind) == []
    requests = [r["request"]["url"] for r in browser.saw("Network.requestWillBeSent")]
    assert len(requests) == 1, requests


def test_policy_stops_what_would_get_in(page: Browser) -> None:
    """A script, a handler and eval put into the page by other hands."""
    page.value("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.hit = 1' }))")
    page.value("document.body.setAttribute('onclick', 'window.hit = 1'); document.body.click()")
    page.call("Runtime.evaluate", expression="try { eval('window.hit = 1') } catch { }", allowUnsafeEvalBlockedByCSP=False)
    assert page.value("typeof window.hit") == "undefined"
    told = [entry["entry"]["text"] for entry in page.saw("Log.entryAdded")]
    assert any("Content Security Policy" in text for text in told)


def test_math_of_the_chart_agrees_with_its_axis(page: Browser) -> None:
    """The tick that reads 4 KiB stands where a point of 4 KiB is looked for."""
    x, _ = place(page, 3)
    tick = "[...document.querySelectorAll('#latency svg.wide text')].find(t => t.textContent === '4 KiB').getBoundingClientRect()"
    left, width = page.value(f"(r => [r.left, r.width])({tick})")
    assert math.isclose(left + width / 2, x, abs_tol=1.5)
