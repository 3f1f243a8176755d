# SPDX-License-Identifier: BSD-3-Clause
"""The dashed line of bandwidth charts: the rate of the slower link, where the hosts know it."""

from typing import Any

import pytest

import sample
from conftest import Command, Write
from loaded import runs
from outline import Outline
from rpma_report.figures import bandwidth

BW = [sample.bw_point(i, size) for i, size in enumerate((64, 4096))]


def linked(client: Any, server: Any, kind: str = "hardware") -> dict[str, Any]:
    """A result of hosts of which the kernel states these rates."""
    document = sample.result(BW, kind=kind)
    for side, rate in (("client", client), ("server", server)):
        document["environment"][side]["nic"]["rate"] = rate
    return document


@pytest.mark.parametrize(
    "client, server, label, bytes_per_s",
    [("100 Gb/sec (4X EDR)", "100 Gb/sec (4X EDR)", "link 100 Gbit/s", 12.5e9),
     ("100 Gb/sec (4X EDR)", "25 Gb/sec (1X EDR)", "link 25.0 Gbit/s", 3.125e9),
     ("2.5 Gb/sec (1X SDR)", None, "link 2.50 Gbit/s", 0.3125e9),
     (None, "400 Gb/sec (4X NDR)", "link 400 Gbit/s", 50e9)],
)  # fmt: skip
def test_line_is_the_rate_of_the_slower_link(client: Any, server: Any, label: str, bytes_per_s: float) -> None:
    figure = bandwidth.figure(runs(linked(client, server)))
    assert figure is not None and figure.reference is not None
    assert (figure.reference.label, figure.reference.y) == (label, bytes_per_s)
    assert f": {label}." in figure.alt


@pytest.mark.parametrize(
    "rate", [None, "", 100, ["100 Gb/sec"], {}, "fast", "-5 Gb/sec", "0 Gb/sec (4X)", "1e9 Gb/sec", "100 Mb/sec",
             "\u0661 Gb/sec", "9" * 5000 + " Gb/sec"],
)  # fmt: skip
def test_what_is_no_rate_draws_no_line(rate: Any) -> None:
    figure = bandwidth.figure(runs(linked(rate, rate)))
    assert figure is not None and figure.reference is None and "dashed" not in figure.alt


def test_software_has_no_link() -> None:
    """The rate that rxe states is not that of a wire."""
    figure = bandwidth.figure(runs(linked("2.5 Gb/sec (1X SDR)", "2.5 Gb/sec (1X SDR)", kind="rxe")))
    assert figure is not None and figure.reference is None


@pytest.mark.drawn
def test_line_is_drawn_with_its_name(quick: Command, write: Write, tmp_path: Any) -> None:
    pages = []
    for name, rate in (("with", "100 Gb/sec (4X EDR)"), ("without", None)):
        path = write(linked(rate, rate), "result.json")
        assert quick("create", path, "-o", tmp_path / f"{name}.html").returncode == 0
        pages.append((tmp_path / f"{name}.html").read_text(encoding="utf-8"))
    drawn, plain = ([text for name, text in Outline(page).texts if name == "text"] for page in pages)
    assert drawn.count("link 100 Gbit/s") == 2 and "link 100 Gbit/s" not in plain  # wide and narrow
    assert pages[0].count("stroke-dasharray") > pages[1].count("stroke-dasharray")
