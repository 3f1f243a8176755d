# SPDX-License-Identifier: BSD-3-Clause
"""Plans of studies: what they come to, and which are refused."""

from pathlib import Path
from typing import Any

import pytest

from conftest import SOURCE, Write
from rpma_report.sources.document import BadResult
from rpma_report.studies import command, plan

BENCH: dict[str, Any] = {"name": "b", "tool": "rpma-bench", "options": {"persist": "apm"},
                         "axes": {"size": [64, 256]}}  # fmt: skip
FIO: dict[str, Any] = {"name": "f", "tool": "fio", "options": {"rw": "write"},
                       "axes": {"bs": ["4k", "64k"]}, "repeats": 2}  # fmt: skip


def planned(*series: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema": "rpma-report-study/1", "name": "s", "series": list(series), **more}


def subjects(found: plan.Plan) -> list[str]:
    return sorted(job.subject for job in found.jobs)


def test_points_are_the_product_of_the_axes(write: Write) -> None:
    found = plan.load(write(planned({**BENCH, "axes": {"size": [64, 256], "depth": [1, 2, 4]}})))
    assert subjects(found) == sorted(f"b size={s} depth={d}" for s in (64, 256) for d in (1, 2, 4))


def test_series_without_axes_is_one_point(write: Write) -> None:
    assert subjects(plan.load(write(planned({"name": "b", "tool": "rpma-bench"})))) == ["b"]


def test_point_of_two_series_is_measured_once(write: Write) -> None:
    other = {"name": "other", "tool": "rpma-bench", "options": {"size": 256},
             "axes": {"persist": ["gpspm", "apm"]}}  # fmt: skip
    found = plan.load(write(planned(BENCH, other)))
    assert subjects(found) == ["b size=256", "b size=64", "other persist=gpspm"]


def test_same_point_under_another_requirement_is_another(write: Write) -> None:
    needs = [{"name": "ddio-off", "text": "t"}]
    found = plan.load(write(planned(BENCH, {**BENCH, "requires": "ddio-off"}, requirements=needs)))
    assert len(found.jobs) == 4


def test_fio_is_started_for_each_repeat_and_rpma_bench_once(write: Write) -> None:
    found = plan.load(write(planned({**BENCH, "repeats": 7}, FIO)))
    assert sorted((job.tool, job.round) for job in found.jobs) == [
        ("fio", 0), ("fio", 0), ("fio", 1), ("fio", 1), ("rpma-bench", 0), ("rpma-bench", 0)
    ]  # fmt: skip
    assert all("--repeats=7" in job.words for job in found.jobs if job.tool == "rpma-bench")


def test_rounds_follow_each_other_within_a_setting(write: Write) -> None:
    needs = [{"name": "a", "text": "t"}, {"name": "z", "text": "t"}]
    series = ({**FIO, "requires": "z"}, {**FIO, "requires": "a"}, FIO)
    found = plan.load(write(planned(*series, requirements=needs)))
    order = [(job.requires, job.round) for job in found.queue]
    assert order == [(need, number) for need in (None, "a", "z") for number in (0, 0, 1, 1)]


def test_order_and_ids_are_the_same_each_time_and_whatever_the_names(write: Write) -> None:
    first = plan.load(write(planned(BENCH, FIO)))
    again = plan.load(write(planned({**FIO, "name": "x"}, {**BENCH, "name": "y"}, timeout_s=5), "b.json"))
    assert [job.id for job in first.queue] == [job.id for job in again.queue]
    assert first.digest == again.digest


def test_other_options_are_another_plan(write: Write) -> None:
    other = {**BENCH, "options": {"persist": "gpspm"}}
    assert plan.load(write(planned(BENCH))).digest != plan.load(write(planned(other), "b.json")).digest


def test_words_of_rpma_bench() -> None:
    local = command.rpma_bench(None, {"size": 64, "rate": 1e6, "srq": True, "bidirectional": False}, None)
    assert local == ["local", "--json", "--quiet", "--size=64", "--rate=1000000", "--srq"]
    assert command.rpma_bench("192.0.2.1", {}, 3) == ["client", "192.0.2.1", "--json", "--quiet", "--repeats=3"]


def test_words_of_fio_have_the_options_of_all_before_the_jobs() -> None:
    words = command.fio({"ioengine": "librpma"}, [("server", {"role": "server"}), ("client", {"rw": "write"})])
    assert words[2:] == ["--ioengine=librpma", "--name=server", "--role=server", "--name=client", "--rw=write"]


def test_program_with_a_slash_is_beside_the_plan(write: Write, tmp_path: Path) -> None:
    programs = {"rpma-bench": ["bin/rpma-bench", "--x"], "fio": ["env", "fio"]}
    found = plan.load(write(planned(BENCH, programs=programs)))
    assert found.program("rpma-bench") == [str(tmp_path / "bin/rpma-bench"), "--x"]
    assert found.program("fio") == ["env", "fio"] and found.program("ssh") == ["ssh"]


def changed(series: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return planned({**series, **changes})


@pytest.mark.parametrize(
    "document, parts",
    [(planned(), ("series", "minItems")),
     (planned(BENCH, schema="rpma-report-study/2"), ("schema", "rpma-report-study/1")),
     (planned(BENCH, name="../../etc/x"), ("name", "../../etc/x")),
     (planned(BENCH, name="s\n"), ("name", '"s\\n"')),
     (planned(BENCH, requirements=[{"name": "a\n", "text": "t"}]), ("requirements[0].name",)),
     (changed(BENCH, server="host\n"), ("series[0].server",)),
     (changed(BENCH, ssh="host\n"), ("series[0].ssh",)),
     (changed(BENCH, options={"size\n": 1}), ("series[0].options", '"size\\n"')),
     (changed(BENCH, axes={"size\n": [1]}), ("series[0].axes", '"size\\n"')),
     (planned(BENCH, color=1), ("top level", "additionalProperties")),
     (changed(BENCH, name="a/b"), ("series[0].name",)),
     (changed(BENCH, name=".."), ("series[0].name",)),
     (changed(BENCH, tool="sh"), ("series[0].tool", "rpma-bench")),
     (changed(BENCH, options={"output": "/etc/x"}), ("series[0].options.output", "sets itself")),
     (changed(BENCH, options={"outp": "x"}), ("series[0].options.outp", "sets itself")),
     (changed(FIO, options={"o": "x"}), ("series[0].options.o", "sets itself")),
     (changed(BENCH, options={"a=b; rm": 1}), ("series[0].options",)),
     (changed(BENCH, axes={"persist": ["apm"]}), ("series[0].axes.persist", "among the options")),
     (changed(BENCH, axes={"size": []}), ("series[0].axes.size",)),
     (changed(BENCH, axes={"size": [{}]}), ("series[0].axes.size[0]",)),
     (changed(BENCH, axes={"size": ["a\0b"]}), ("series[0].axes.size[0]",)),
     (changed(BENCH, requires="ddio-off"), ("series[0].requires", "none of the requirements")),
     (changed(BENCH, ssh="-oProxyCommand=reboot"), ("series[0].ssh",)),
     (changed(BENCH, server="--json"), ("series[0].server",)),
     (changed(BENCH, job_file="x"), ("series[0]",)),
     (changed(FIO, server="h"), ("series[0]",)),
     (changed(FIO, jobs=[{"name": "../x"}]), ("series[0].jobs[0].name",)),
     (changed(FIO, jobs=[{"name": "x", "options": {"output": "x"}}]), ("series[0].jobs[0].options.output",)),
     (changed({"name": "f", "tool": "fio"}, job_file="nowhere.fio"), ("series[0].job_file", "No such file")),
     (changed(BENCH, axes={k: list(range(30)) for k in "uwyz"}), ("series", "more than 20,000")),
     (planned(BENCH, requirements=[{"name": "a", "text": "t"}] * 2), ("requirements[1].name", "twice")),
     (planned(BENCH, programs={"fio": "fio; reboot"}), ("programs.fio", "array")),
     (planned(BENCH, programs={"sh": ["sh"]}), ("programs",))],
)  # fmt: skip
def test_what_is_no_plan_is_refused_with_its_place(
    document: dict[str, Any], parts: tuple[str, ...], write: Write
) -> None:
    with pytest.raises(BadResult) as caught:
        plan.load(write(document, "plan.json"))
    text = str(caught.value)
    assert "plan.json: " in text and "\n" not in text and len(text) < 400
    assert all(part in text for part in parts), text


def test_plan_of_the_manual_is_one(write: Write) -> None:
    page = (SOURCE.parent / "doc/rpma-report.1").read_text(encoding="utf-8")
    start = page.index('{\n  "schema": "rpma-report-study/1"')
    found = plan.load(write(page[start : page.index("\n}\n", start) + 3].encode()))
    assert len(found.jobs) == 6 + 2 * 3
