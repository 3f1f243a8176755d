# SPDX-License-Identifier: BSD-3-Clause
"""Files written to do harm: nothing from one gets out of its place in the page."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rpma_report
import sample
import sample_tests
import sample_tools as tools
from conftest import Command, Write, refused
from outline import Outline

Page = Callable[..., str]
LAT = [sample.lat_point(i, size, count=2000) for i, size in enumerate((64, 4096))]

SCRIPT = (Path(rpma_report.__file__).parent / "templates/page.js").read_text(encoding="utf-8")
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
    "L" * 500_000,
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
        for flagged in point["summary"]["flagged_repeats"]:
            flagged.update(reason=text, hints=[text])
    return document


def with_outlier() -> dict[str, Any]:
    """Five repeats, the first of which is far from the others."""
    samples = [[ns + 100 * repeat for ns in range(2000, 4000)] for repeat in (40, 1, 2, 3, 4)]
    return sample_tests.with_latency(0, "latency", samples)


def assert_only_our_script(outline: Outline) -> None:
    """And the values, which are data."""
    assert outline.all("script") == [{"type": "application/json", "id": "values"}, {}] and not outline.all("img")
    values, script = (text for name, text in outline.texts if name == "script")
    assert set(json.loads(values)) == {"column", "charts"}
    assert script == SCRIPT.strip()


@pytest.mark.drawn("wide")
@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t[:24]))
def test_hostile_text_stays_text(text: str, page: Page) -> None:
    documents = [put_everywhere(sample.result([with_outlier()]), text) for _ in range(2)]
    assert documents[0]["points"][0]["summary"]["flagged_repeats"][0]["reason"] == text
    made = page(*documents)
    outline = Outline(made)
    assert_only_our_script(outline)
    assert len(outline.all("style")) == 1 and len(outline.all("svg")) == 2 * len(outline.all("figure")) == 4
    assert not any(a.startswith("on") for _, attributes in outline.elements for a in attributes)
    assert len(made) < 400_000
    assert not re.search("[\u0000-\u0008\u000b-\u001f\u202e]", made)
    if text.startswith(("<script>", "$", "_", "{{")):
        in_charts = [t for name, t in outline.texts if name == "text"]
        assert any(text[:20] in t for t in in_charts)  # drawn as it stands


def test_environment_bomb_is_cut(page: Page) -> None:
    document = sample.result(LAT)
    deep: Any = "end"
    for _ in range(300):
        deep = {"d": deep}
    document["environment"]["client"]["host"] = {"deep": deep, **{f"k{i}": i for i in range(5000)}}
    text = page(document)
    assert "more facts in the result files" in text and len(text) < 400_000


def test_list_of_software_is_cut(page: Page) -> None:
    document = sample.result(LAT)
    document["tool"].update({f"k{i}": "v" * 200 for i in range(10_000)})
    assert len(page(document)) < 200_000


def other_tools(text: str) -> list[Any]:
    """Documents of ping, ddio-check and fio with it in every text that their schemas leave free."""
    ping, check = tools.ping(range(1000, 3000)), tools.ddio_check()
    ping["run"]["argv"] = check["run"]["argv"] = [text, text]
    ping["device"]["name"] = ping["server"]["host"] = ping["tool"]["version"] = text
    ping["failure"] = {"step": "read", "text": text, "librpma": None, "wc_status": text, "likely_cause": text}
    check["device"].update(name=text, asked=text)
    check["target"]["path"] = check["ddio"]["why"] = check["judgement"]["reason"] = text
    check["judgement"]["because"] = check["direct_write_to_pmem"]["why"] = text
    for line in check["checks"]:
        line.update(title=text, value=text, source=text, meaning=text, fix=text)
    fio = tools.fio(tools.fio_job(text, range(1000, 3000), **{text[:1000]: text, "ioengine": text, "bs": text}))
    fio["fio version"], fio["global options"] = text, {"rw": text}
    return [ping, check, fio]


# In charts test_browser_script has the texts that are markup.
DRAWN = [pytest.param(text, marks=pytest.mark.drawn("wide")) for text in ("\u202e\x00\x1b[31m]]>", "L" * 700_000)]


@pytest.mark.parametrize("text", [HOSTILE[0], HOSTILE[3], HOSTILE[-1], *DRAWN], ids=lambda t: ascii(t[:24]))
def test_hostile_text_of_the_other_tools_stays_text(text: str, page: Page) -> None:
    made = page(*other_tools(text))
    outline = Outline(made)
    assert len(outline.elements) == len(Outline(page(*other_tools("x"))).elements)
    assert_only_our_script(outline)
    assert len(made) < 600_000
    assert not re.search("[\u0000-\u0008\u000b-\u001f\u202e]", made)


EXTREMES = [0, 1, 2**62, 2**63 - 1, 10**15]


@pytest.mark.drawn
@pytest.mark.parametrize("ns", EXTREMES)
def test_extreme_times_are_drawn_or_said(ns: int, page: Page) -> None:
    """Values that the schema lets pass do not bring the drawing down."""
    samples = [ns // 2] * 1999 + [ns]
    point = sample.point(0, sample.params("bw", 64, depth=4096), [sample.repeat(0, 64, 2e12 / max(ns, 10**9), 2000, samples)], samples)
    other = sample.lat_point(1, 4096, count=2000, repeats=1)
    assert "<figure" in page(sample.result([point, other], started="1700-08-21T10:00:00.123Z", ended="2026-08-21T10:00:00.123Z"))


@pytest.mark.drawn
@pytest.mark.parametrize("ops, elapsed_ns", [(0, 10**9), (1, 2**62), (8, 1)])
def test_extreme_rates_are_drawn_or_said(ops: int, elapsed_ns: int, page: Page) -> None:
    points = [sample.bw_point(i, size) for i, size in enumerate((1, 2**30))]
    per_s = ops * 1e9 / elapsed_ns
    points[1]["stop"]["duration_ns"] = elapsed_ns
    for repeat in points[1]["repeats"]:
        repeat.update(ops=ops, bytes=ops * 2**30, elapsed_ns=elapsed_ns, ops_per_s=per_s, bytes_per_s=per_s * 2**30)
        repeat["threads"][0]["ops"] = ops
    for key, value in (("ops_per_s", per_s), ("bytes_per_s", per_s * 2**30)):
        points[1]["summary"][key] = sample.interval([value] * 5)
    assert "<figure" in page(sample.result(points, ended="4026-08-21T10:02:00.456Z"))


def offered(rate: float) -> dict[str, Any]:
    points = [sample_tests.rate_point(i, r, 1.0, range(1000), range(1000)) for i, r in enumerate((rate, 1000.0))]
    return sample.result(points, ended="2026-08-21T11:02:00.456Z")


@pytest.mark.drawn
def test_extreme_offered_rate_is_drawn(page: Page) -> None:
    page(offered(9e18))


@pytest.mark.parametrize("rate", [0.0, -5.0, 1e-300])
def test_offered_rate_that_nothing_can_keep_is_refused(rate: float, quick: Command, write: Write, tmp_path: Path) -> None:
    refused(quick("create", write(offered(rate)), "-o", tmp_path / "o.html"), "points[0].")
