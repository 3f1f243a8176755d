# SPDX-License-Identifier: BSD-3-Clause
"""What stands in the page, and that nothing from a file gets out of its place."""

import copy
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

import sample

Page = Callable[..., str]
LAT = [sample.lat_point(i, size, count=2000) for i, size in enumerate((64, 4096))]
BW = [sample.bw_point(10 + i, size) for i, size in enumerate((64, 4096))]
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Elements with their attributes; the text of each kind; balance of the tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str = "") -> str:
        return " ".join(text for name, text in self.texts if not tag or name == tag)


CHARTS = ["latency", "ladder", "distribution", "bandwidth"]


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
    captions = [text for name, text in outline.texts if name == "span" and "NOT HARDWARE" in text]
    assert len(captions) == len(CHARTS)


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


def test_software_device_is_marked_loudly(page: Page) -> None:
    outline = Outline(page(sample.result(LAT)))
    assert "Not hardware." in outline.text("strong")
    marks = [text for name, text in outline.texts if name == "text" and "NOT HARDWARE" in text]
    assert len(marks) == len(outline.all("svg"))  # inside every drawing


def test_hardware_is_not_marked(page: Page) -> None:
    text = page(sample.result(LAT, kind="hardware"))
    assert "not hardware" not in text.lower()


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
    assert '<th scope="row">os.lockdown</th><td>–</td><td>the same</td>' in text


def test_page_fetches_nothing(page: Page) -> None:
    text = page(sample.result(LAT + BW))
    outline = Outline(text)
    (policy,) = [m["content"] for m in outline.all("meta") if "http-equiv" in m]
    assert policy is not None and policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    tags = {name for name, _ in outline.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "style svg"}
    for _, attributes in outline.elements:
        assert not {"src", "srcset", "data", "action"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    assert not re.search(r"@import|url\((?!#)", text)


def test_ids_are_unique_and_links_resolve(page: Page) -> None:
    outline = Outline(page(sample.result(LAT + BW)))
    ids = [a["id"] for _, a in outline.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in outline.elements:
        if attributes.get("href"):
            assert (attributes["href"] or "").removeprefix("#") in ids
        clip = re.fullmatch(r"url\(#(.*)\)", attributes.get("clip-path") or "")
        assert clip is None or clip[1] in ids


HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style><style>*{display:none}</style>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "$\\frac{1}{0}$ 5 $ and 6 $",
    "_hidden",
    "]]></text></svg><script>x</script>",
    "\u202egnp.exe\u0000\u001b[31m\n\r\t",
    "\ud800 lone surrogate",
    "L" * 1_000_000,
    "\U0001f600 \u4e2d\u6587",
]


def put_everywhere(document: Any, text: str) -> Any:
    """Replaces every text that the schema leaves free."""
    run = document["run"]
    run["label"] = text
    run["argv"] = [text, text]
    run["failure"] = {"step": text, "text": text}
    run["status"], run["exit_code"] = "failed", 2
    for warning in run["warnings"]:
        warning["text"] = text
    document["tool"].update(version=text, git=text, librpma=text, **{text[:1000]: text})
    document["device"]["name"] = text
    document["readiness"] = {"schema": "rpma-ddio-check/1", "host": "server", "verdict": "NOT_READY",
                             "checks": [{"id": text, "status": "FAIL", "meaning": text}]}
    for side in ("client", "server"):
        host = document["environment"][side]
        host["host"] = {text[:1000]: text, "list": [text, {"a": text}]}
        host["os"]["kernel"] = text
    for point in document["points"]:
        point["summary"]["flagged_repeats"] = [{"index": 0, "reason": text, "hints": [text]}]
    return document


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t[:24]))
def test_hostile_text_stays_text(text: str, page: Page) -> None:
    documents = [put_everywhere(sample.result(copy.deepcopy(LAT + BW)), text) for _ in range(2)]
    made = page(*documents)
    outline = Outline(made)
    plain = Outline(page(*(sample.result(copy.deepcopy(LAT + BW)) for _ in range(2))))
    assert not outline.all("script") and not outline.all("img")
    assert len(outline.all("style")) == 1 and len(outline.all("svg")) == len(plain.all("svg"))
    assert not any(a.startswith("on") for _, attributes in outline.elements for a in attributes)
    assert len(made) < 400_000
    assert not re.search("[\u0000-\u0008\u000b-\u001f\u202e]", made)
    if text.startswith(("<script>", "$", "_", "{{")):
        in_charts = [t for name, t in outline.texts if name == "text"]
        assert any(text[:20] in t for t in in_charts)  # drawn as it stands


def test_label_of_ten_megabytes_is_cut(page: Page) -> None:
    assert len(page(sample.result(LAT, label="x" * 10_000_000))) < 200_000


def test_environment_bomb_is_cut(page: Page) -> None:
    document = sample.result(LAT)
    deep: Any = "end"
    for _ in range(300):
        deep = {"d": deep}
    document["environment"]["client"]["host"] = {"deep": deep, **{f"k{i}": i for i in range(5000)}}
    text = page(document)
    assert "more facts in the result files" in text and len(text) < 400_000
