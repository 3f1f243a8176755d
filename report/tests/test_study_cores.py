# SPDX-License-Identifier: BSD-3-Clause
"""Did each polling thread have a core? By threads, CPUs and the CPU time of others."""

from typing import Any

import pytest

import sample
from rpma_report.studies import cores

SECOND = 1_000_000_000


def document(argv: str, others: tuple[float | None, float | None], cpus: int = 4, busy: float = 1.0,
             server_busy: float = 0.0, **params: Any) -> dict[str, Any]:  # fmt: skip
    """One point of three repeats of a second; others took so many CPUs at client and server."""
    point = sample.lat_point(0, 64, count=200, **params)
    for repeat in point["repeats"]:
        repeat["elapsed_ns"] = SECOND
        repeat["cpu"] = {"client": {"busy_fraction": busy}, "server": {"busy_fraction": server_busy}}
        repeat["interference"] = {
            end: {"other_cpu_ns": None if took is None else round(took * SECOND), "steal_ns": 0, "cpus": cpus}
            for end, took in zip(("client", "server"), others, strict=True)
        }
    return sample.result([point], argv=["rpma-bench", argv])


@pytest.mark.parametrize(
    ("params", "client", "server"),
    [({}, 1, 0), ({"threads": 3}, 3, 0), ({"completion": "event"}, 0, 0), ({"persist": "gpspm", "threads": 2}, 2, 2),
     ({"op": "send", "persist": "none"}, 1, 1), ({"bidirectional": True}, 1, 1)],
)  # fmt: skip
def test_each_polling_thread_needs_a_core(params: dict[str, Any], client: int, server: int) -> None:
    found = cores.hosts(document("client", (0, 0), busy=0.2, **params))
    assert [(host.name, host.needed) for host in found] == [
        ("the client's host", client), ("the server's host", server)
    ]  # fmt: skip
    (local,) = cores.hosts(document("local", (0, 0), busy=0.2, **params))
    assert local.needed == client + server


def test_threads_of_the_device_count_by_what_they_used() -> None:
    client, server = cores.hosts(document("client", (0, 0), busy=1.9, server_busy=0.8))
    assert (client.needed, server.needed) == (2, 1)


@pytest.mark.parametrize(
    ("cpus", "others", "threads", "disturbed"),
    [(4, 0.1, 1, False), (4, 2.5, 1, False), (2, 0.1, 2, False),
     # k programs that never sleep get k / (k + threads) of all CPUs beside our threads
     (4, 4 * 3 / 4, 1, False), (4, 4 * 4 / 5, 1, True), (2, 2 * 2 / 3, 1, True), (2, 1.0, 1, False),
     (4, 4 * 3 / 5, 2, True), (1, 0.5, 1, True)],
)  # fmt: skip
def test_run_without_a_core_for_each_thread_is_disturbed(
    cpus: int, others: float, threads: int, disturbed: bool
) -> None:
    (host,) = cores.hosts(document("local", (others, others), cpus=cpus, busy=0.5, threads=threads))
    assert host.is_disturbed is disturbed and not host.is_too_small


def test_either_end_can_be_disturbed() -> None:
    client, server = cores.hosts(document("client", (0.0, 3.9), server_busy=0.9))
    assert not client.is_disturbed and server.is_disturbed
    assert server.text() == "the server's host: 1 thread polls, and other programs took 3.9 of 4 CPUs"


def test_host_with_fewer_cpus_than_threads_is_too_small() -> None:
    (host,) = cores.hosts(document("local", (0, 0), cpus=1, persist="gpspm"))
    assert host.is_too_small
    assert host.text() == "the host of both ends: 2 threads poll, and rpma-bench may use 1 CPU"


def test_repeat_without_a_record_among_others_is_disturbed() -> None:
    """The counters of a CPU that a hypervisor holds stand still, so that rpma-bench does not know."""
    for gap in (None, {"other_cpu_ns": None, "steal_ns": 0, "cpus": 4}):
        told = document("local", (0.5, 0.5))
        told["points"][0]["repeats"][1]["interference"]["client"] = gap
        (host,) = cores.hosts(told)
        assert host.is_disturbed and host.others == 0.5
        assert "in some repeats it is unknown what other programs took" in host.text()


def test_time_of_the_hypervisor_is_taken_too() -> None:
    told = document("local", (0.0, 0.0), cpus=1)
    for repeat in told["points"][0]["repeats"]:
        repeat["interference"]["client"]["steal_ns"] = SECOND // 2
    (host,) = cores.hosts(told)
    assert host.is_disturbed


def test_what_is_not_recorded_is_unknown() -> None:
    (host,) = cores.hosts(document("local", (None, None), cpus=1))
    assert host.others is None and not host.is_disturbed
    assert cores.hosts(sample.result([sample.lat_point(0, 64, count=200)])) == []
    assert cores.hosts({"fio version": "fio-3.33", "jobs": []}) == []
