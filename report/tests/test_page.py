# SPDX-License-Identifier: BSD-3-Clause
"""The contents of the page."""

import base64
import hashlib
import re
from collections.abc import Callable

import pytest

import sample
from outline import Outline

Page = Callable[..., str]
LAT = [sample.lat_point(i, size, count=2000) for i, size in enumerate((64, 4096))]
BW = [sample.bw_point(10 + i, size) for i, size in enumerate((64, 4096))]


CHARTS = ["latency", "ladder", "distribution", "bandwidth"]


@pytest.mark.drawn
def test_every_chart_has_an_alternative_text_and_a_table(page: Page) -> None:
    made = page(sample.result(LAT + BW))
    outline = Outline(made)
    drawings = outline.all("svg")
    assert [f["id"] for f in outline.all("figure")] == CHARTS
    assert [d["class"] for d in drawings] == ["wide", "narrow"] * len(CHARTS)
    for drawing in drawings:
        assert drawing["role"] == "img" and len(drawing["aria-label"] or "") > 60
    for after in made.split("</figure>")[1:]:
        assert re.match(r'\s*<div class="scroll" role="region" tabindex="0" aria-label=', after)


def test_tables_have_captions_and_scopes(page: Page) -> None:
    text = page(sample.result(LAT + BW))
    outline = Outline(text)
    tables = len(outline.all("table"))
    assert tables == len(CHARTS) + 2  # warnings, environment
    assert len(outline.all("caption")) == tables
    assert all(h.get("scope") in ("col", "row", "rowgroup") for h in outline.all("th"))


def test_only_what_was_measured_has_a_chart(page: Page) -> None:
    assert [f["id"] for f in Outline(page(sample.result(BW))).all("figure")] == ["bandwidth"]


def test_nothing_measured_says_how_to(page: Page) -> None:
    outline = Outline(page(sample.result([])))
    assert not outline.all("figure") and "rpma-bench client --test lat" in outline.text("p")


def test_results_of_both_tests_make_one_page(page: Page) -> None:
    outline = Outline(page(sample.result(LAT, label="l"), sample.result(BW, label="b")))
    assert [f["id"] for f in outline.all("figure")] == CHARTS and len(outline.all("pre")) == 2


@pytest.mark.drawn
def test_software_device_is_told_once_and_loudly(page: Page) -> None:
    made = page(sample.result(LAT + BW))
    assert "NOT HARDWARE: software device rxe, emulated CPU." in Outline(made).text("strong")
    assert made.count("NOT HARDWARE") == 1


@pytest.mark.parametrize("native, told", [(False, True), (True, False), (None, False)])
def test_librpma_built_without_native_operations_is_told(page: Page, native: bool | None, told: bool) -> None:
    document = sample.result(LAT)
    document["tool"]["librpma_native"] = native
    assert ("built without native flush and native atomic write" in page(document)) == told


def test_failed_run_without_device_says_why(page: Page) -> None:
    document = sample.result([], status="failed", exit_code=2,
                             failure={"step": "connect", "text": "192.0.2.7: refused"})  # fmt: skip
    document.update(device=None, clock=None)
    outline = Outline(page(document))
    assert "connect: 192.0.2.7: refused" in outline.text()
    assert "the run failed" in outline.text("strong")


def test_interrupted_run_is_marked(page: Page) -> None:
    outline = Outline(page(sample.result(LAT, status="interrupted", exit_code=130)))
    assert "the run was interrupted" in outline.text("strong")


def test_summary_has_three_figures_and_the_verdict(page: Page) -> None:
    outline = Outline(page(sample.result(LAT + BW)))
    values = [t for name, t in outline.texts if name == "span"][1:]
    assert len([a for n, a in outline.elements if a.get("class") == "value"]) == 3
    assert any("\u00b5s" in v for v in values) and any("GB/s" in v for v in values)
    assert "Persistence: not proven, no file has a readiness verdict" in outline.text("p")


def test_warnings_environment_and_command_are_shown(page: Page) -> None:
    document = sample.result(LAT)
    document["points"][1]["warmup"]["steady"] = False
    document["environment"]["server"]["host"]["hostname"] = "target-7"
    text = Outline(page(document)).text()
    for part in ("PERSISTENCE_UNPROVEN", "NOT_STEADY", "os.kernel", "6.1.0-40-amd64", "target-7",
                 "rpma-bench client 192.0.2.7 --op write --persist apm --size '64:1M:*4' "
                 "-o 'result file.json'"):  # fmt: skip
        assert part in text


def test_unknown_is_a_dash_not_zero(page: Page) -> None:
    text = page(sample.result(LAT))
    assert "Not known of any: os.lockdown." in text
    assert '<th scope="row"><span>cpu.sockets</span></th><td>1</td><td>the same</td>' in text


@pytest.mark.drawn
def test_page_fetches_nothing(page: Page) -> None:
    text = page(sample.result(LAT + BW))
    outline = Outline(text)
    (policy,) = [m["content"] for m in outline.all("meta") if "http-equiv" in m]
    (script,) = [text for name, text in outline.texts if name == "script" and not text.startswith("{")]
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    assert policy == (f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
                      "base-uri 'none'; form-action 'none'")  # fmt: skip
    tags = {name for name, _ in outline.elements}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "style svg"}
    for _, attributes in outline.elements:
        assert not {"src", "srcset", "data", "action"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"@import|url\((?!#)", text)


def test_title_of_many_kinds_is_cut(page: Page) -> None:
    points = [sample.lat_point(i, 64, count=200, op=op, persist=persist) for i, (op, persist) in enumerate(
        [*(("write", persist) for persist in ("apm", "native", "none", "gpspm", "append", "rpmem")),
         *((op, "none") for op in ("send", "write-imm", "read"))])]  # fmt: skip
    text = page(sample.result(points))
    (title,) = (said for element, said in Outline(text).texts if element == "title")
    assert title.startswith("latency of write, ") and title.endswith("\u2026: Remote persistent memory benchmark")
    assert len(title) < 120 and "write + native flush" in text


@pytest.mark.drawn
def test_ids_are_unique_and_links_resolve(page: Page) -> None:
    outline = Outline(page(sample.result(LAT + BW)))
    ids = [a["id"] for _, a in outline.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.elements:
        if attributes.get("href"):
            assert (attributes["href"] or "").removeprefix("#") in ids
        clip = re.fullmatch(r"url\(#(.*)\)", attributes.get("clip-path") or "")
        assert clip is None or clip[1] in ids
