# SPDX-License-Identifier: BSD-3-Clause
"""Pings that come back: over both transports, both families, with every option."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from host_address import has_ipv6
from pinging import LIMIT_S, Server, check, command, ping, pinged, server, soft, until


@pytest.fixture(params=["local", "tcp"])
def transport(request: pytest.FixtureRequest) -> dict[str, str]:
    return soft(f"transport:{request.param}")


@pytest.fixture
def one() -> Iterator[Server]:
    with server() as it:
        yield it
        assert it.end(signal.SIGTERM) == 128 + signal.SIGTERM


@pytest.mark.parametrize("wait", ["poll", "event"])
@pytest.mark.parametrize("flush", ["visibility", "auto"])
def test_all_come_back(transport: dict[str, str], wait: str, flush: str) -> None:
    with server(env=transport) as it:
        result = pinged(it.port, "-c", "20", "-i", "0", "--wait", wait, "--flush", flush, env=transport)
    assert result["pings"]["transmitted"] == result["pings"]["received"] == 20
    assert result["pings"]["flush"] == "visibility"
    assert result["settings"]["wait"] == wait
    assert result["run"]["status"] == "complete"
    assert all(step["ns"] is not None for step in result["steps"])


@pytest.mark.parametrize("size", ["1", "7", "63", "4097", "64K", "256K"])
def test_any_size_that_fits(one: Server, size: str) -> None:
    assert pinged(one.port, "-c", "4", "-i", "0", "-s", size)["pings"]["received"] == 4


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
def test_ipv6(transport: dict[str, str]) -> None:
    with server("--listen", "::1", env=transport) as it:
        result = pinged(it.port, "-c", "3", "-i", "0", host="::1", env=transport)
        refused = pinged("1", "-c", "3", host="::1", code=2, env=transport)
    assert result["server"]["address"] == "::1"
    assert "[::1]:1 " in refused["failure"]["text"]


def milliseconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[unit]


def test_the_lines_are_like_those_of_ping(one: Server) -> None:
    done = ping(one.port, "-c", "3", "-i", "1ms", "-s", "100")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"PING 127.0.0.1 (127.0.0.1) port {one.port} over soft")
    time = r"[\d.]+ (?:ns|us|ms|s)"
    for i in range(3):
        assert re.fullmatch(
            rf"100 bytes from 127\.0\.0\.1: seq={i + 1} flush=visibility time={time} "
            rf"\(write {time}, flush {time}, read {time}\)", lines[4 + i])  # fmt: skip
    assert lines[7] == ""
    # the three lines of iputils: finish() in its ping_common.c
    assert lines[8] == "--- 127.0.0.1 ping statistics ---"
    assert re.fullmatch(r"3 packets transmitted, 3 received, 0% packet loss, time \d+ms", lines[9])
    ms = r"(\d+\.\d{3})"
    figures = re.fullmatch(rf"rtt min/avg/max/mdev = {ms}/{ms}/{ms}/{ms} ms", lines[10])
    assert figures
    assert lines[11].split() == ["min", "avg", "p50", "p99", "max", "mdev"]
    assert re.fullmatch(rf"write \+ flush \+ read back( +{time}){{6}}", lines[12])
    least, average, _, _, most, deviation = map(milliseconds, re.findall(time, lines[12]))
    for shown, exact in zip(map(float, figures.groups()), (least, average, most, deviation), strict=True):
        assert abs(shown - exact) <= 0.0006 + shown * 0.005  # three digits
    assert re.fullmatch(rf"write \+ flush( +{time}){{6}}", lines[13])
    assert re.fullmatch(rf"read back( +{time}){{6}}", lines[14])
    assert re.fullmatch(r"flush to visibility by (the device's flush|a read)", lines[15])
    others = [line for i, line in enumerate(lines) if not 4 <= i < 7]  # those of pings are longer
    assert all(len(line) <= 80 for line in others)


def test_each_line_has_its_time_of_day(one: Server) -> None:
    before = time.time()
    done = ping(one.port, "-D", "-c", "3", "-i", ".01")
    stamps = [float(t) for t in re.findall(r"^\[(\d+\.\d{6})\] 64 bytes from ", done.stdout, re.MULTILINE)]
    assert len(stamps) == 3 and stamps == sorted(stamps)
    assert before - 0.001 <= stamps[0] and stamps[2] <= time.time()


def test_a_quit_signal_prints_the_statistics_so_far_and_goes_on(one: Server) -> None:
    client = subprocess.Popen(command(one.port, "-i", "1h"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, env=soft())  # fmt: skip
    until(client, "seq=1 ")
    assert client.stderr is not None
    for _ in range(2):  # it sleeps for an hour: a signal that comes just then is not lost
        client.send_signal(signal.SIGQUIT)
        while " packets, " not in (line := client.stderr.readline()):
            assert line, "it ended"
        assert re.fullmatch(r"\r?1/1 packets, 0% loss, min/avg/ewma/max = (\d+\.\d{3})/\1/\1/\1 ms", line.strip())
    client.send_signal(signal.SIGINT)
    assert "1 packets transmitted, 1 received" in client.communicate(timeout=LIMIT_S)[0]
    assert client.returncode == 130


def test_sizes_take_turns_and_each_has_its_figures(one: Server) -> None:
    result = pinged(one.port, "-c", "3", "-i", "0", "-s", "16K,64:1K:*4,64")
    sizes = [64, 256, 1024, 16384]
    assert result["settings"]["sizes_bytes"] == sizes and result["settings"]["size_bytes"] == 16384
    assert [p["size_bytes"] for p in result["pings"]["first"]] == sizes * 3
    for size, one_size in zip(sizes, result["sizes"], strict=True):
        assert one_size["size_bytes"] == size
        assert one_size["transmitted"] == one_size["received"] == 3
        own = [p["rtt_ns"] for p in result["pings"]["first"] if p["size_bytes"] == size]
        figures = one_size["latency"]["rtt"]
        assert (figures["min_ns"], figures["max_ns"]) == (min(own), max(own))
        assert abs(figures["mean_ns"] - sum(own) / 3) < 0.001
    text = ping(one.port, "-q", "-c", "2", "-i", "0", "-s", "64,1K").stdout
    assert re.search(r"^64 B: 2 of 2 back +\d.*s\n1 KiB: 2 of 2 back +\d", text, re.MULTILINE)
    assert "4 packets transmitted, 4 received" in text


def documents(port: str, *options: str, code: int) -> list[dict[str, Any]]:
    """One host more than the command's own, 127.0.0.1."""
    done = ping(port, *options, "--json")
    assert done.returncode == code, done.stderr
    return [check(json.dumps(each), each["run"]["exit_code"]) for each in json.loads(done.stdout)]


def test_several_hosts_have_a_block_each(one: Server) -> None:
    done = ping(one.port, "-c", "3", "-i", "0", "localhost")
    assert done.returncode == 0
    blocks = done.stdout.split("\n--- ")[1:]
    assert [block.split()[0] for block in blocks] == ["localhost", "127.0.0.1"]
    for block in blocks:
        assert "\n3 packets transmitted, 3 received, 0% packet loss, " in block
    both = documents(one.port, "-c", "3", "-i", "0", "localhost", code=0)
    assert [each["server"]["host"] for each in both] == ["localhost", "127.0.0.1"]
    assert [each["pings"]["received"] for each in both] == [3, 3]


def test_a_host_that_fails_leaves_the_others(one: Server) -> None:
    bad, good = documents(one.port, "-c", "2", "-i", "0", "nowhere.invalid", code=1)
    assert bad["failure"]["step"] == "resolve" and bad["run"]["exit_code"] == 2
    assert good["failure"] is None and good["pings"]["received"] == 2
    done = ping("1", "-c", "1", "127.0.0.1")  # no server listens there
    assert done.returncode == 2  # the same for all hosts
    assert done.stderr.count("rpma-ping: connect") + done.stderr.count("rpma-ping: request") == 2


def test_a_signal_ends_all_hosts(one: Server) -> None:
    client = subprocess.Popen(command(one.port, "-i", "1h", "localhost"), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=soft())  # fmt: skip
    until(client, "seq=1 ")
    until(client, "seq=1 ")
    client.send_signal(signal.SIGINT)
    rest = client.communicate(timeout=LIMIT_S)[0]
    assert client.returncode == 130
    assert rest.count("1 packets transmitted, 1 received") == 2


def test_the_route_has_to_leave_from_where_it_should(one: Server) -> None:
    for source in ("lo", "127.0.0.1"):
        assert pinged(one.port, "-I", source, "-c", "1")["pings"]["received"] == 1
    wrong = pinged(one.port, "-I", "192.0.2.9", "-c", "1", code=2)
    assert wrong["failure"]["step"] == "device" and wrong["failure"]["cause"] == "unreachable"
    assert "leaves from 127.0.0.1 of the interface lo" in wrong["failure"]["text"]
    assert "no such interface" in pinged(one.port, "-I", "nosuch0", "-c", "1", code=2)["failure"]["text"]


def test_an_address_of_the_other_family(one: Server) -> None:
    assert pinged(one.port, "-4", "-c", "1")["server"]["address"] == "127.0.0.1"
    refused = pinged(one.port, "-6", "-c", "1", code=2)
    assert refused["failure"]["cause"] == "name"


def test_quiet_leaves_the_summary(one: Server) -> None:
    done = ping(one.port, "-c", "3", "-i", "0", "-q")
    assert done.stdout.startswith("--- 127.0.0.1 ping statistics ---\n3 packets transmitted")
    assert done.stderr == "" or "running on the software device" in done.stderr


def test_a_flood_takes_its_dots_back(one: Server) -> None:
    done = ping(one.port, "-c", "5000", "-f")
    assert done.returncode == 0
    dots = done.stdout.partition("\n\n--- ")[0].splitlines()[4]
    assert dots == ".\b" * 5000


def test_floods_of_several_hosts_lose_no_dot(one: Server) -> None:
    done = ping(one.port, "-c", "500", "-f", "localhost")
    assert done.returncode == 0, done.stderr
    shown = done.stdout.partition("\n--- ")[0]
    assert shown.count("\b") == 1000 and "\bC" not in shown


def test_without_a_count_the_deadline_ends_it(one: Server) -> None:
    result = pinged(one.port, "-i", "1ms", "-w", "3")
    assert result["pings"]["transmitted"] > 0
    assert result["settings"]["count"] is None


def test_a_deadline_that_passed_before_is_told(one: Server) -> None:
    result = pinged(one.port, "-w", "1ns", code=1)
    assert result["pings"]["transmitted"] == 0
    assert "--deadline" in result["failure"]["text"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", ["poll", "event"])
def test_a_signal_ends_it_with_its_summary(one: Server, number: int, wait: str) -> None:
    client = subprocess.Popen(command(one.port, "-i", "10ms", "--wait", wait), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=soft())  # fmt: skip
    until(client, "seq=2")
    client.send_signal(number)
    rest = client.communicate(timeout=LIMIT_S)[0]
    assert client.returncode == 128 + number
    assert " 0% packet loss" in rest


def test_a_signal_in_a_long_pause_leaves_a_result(one: Server, tmp_path: Path) -> None:
    words = soft(f"trace:{tmp_path}/posted.%p")
    client = subprocess.Popen(command(one.port, "-i", "1h", "--json"), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=words)  # fmt: skip
    trace = tmp_path / f"posted.{client.pid}"
    # a write, a flush and a read have been posted: offset 24 of the trace counts
    while not trace.exists() or int.from_bytes(trace.read_bytes()[24:32], "little") < 3:
        assert client.poll() is None
    client.send_signal(signal.SIGINT)
    text = client.communicate(timeout=LIMIT_S)[0]
    assert client.returncode == 130
    result = check(text, 130)
    assert result["run"]["status"] == "interrupted"
    assert result["pings"]["lost"] == 0


def test_sixteen_clients_at_once_and_one_too_many(one: Server) -> None:
    clients = [
        subprocess.Popen(command(one.port, "-i", "5ms"), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, env=soft())  # fmt: skip
        for _ in range(16)
    ]
    for client in clients:
        until(client, "seq=1 ")
    busy = pinged(one.port, "-c", "1", code=2)
    assert busy["failure"]["step"] == "handshake"
    assert busy["failure"]["cause"] == "busy" and "all its slots" in busy["failure"]["text"]
    for client in clients:
        client.send_signal(signal.SIGINT)
    for client in clients:
        assert " received, 0% packet loss" in client.communicate(timeout=LIMIT_S)[0]
        assert client.returncode == 130


def test_a_slot_is_free_again_when_its_client_was_killed() -> None:
    with server("--target", "dram:4K") as it:
        for _ in range(3):
            client = subprocess.Popen(command(it.port, "-i", "5ms"), stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True, env=soft())  # fmt: skip
            until(client, "seq=1 ")
            client.kill()
            client.communicate()
            # its end reaches the server after its own
            while (done := ping(it.port, "-c", "1")).returncode == 2:
                assert "all its slots" in done.stderr
            assert done.returncode == 0


def test_persistent_on_the_word_of_the_server(tmp_path: Path) -> None:
    target = f"{tmp_path}/target:64K"
    with server("--target", target, "--direct-write-to-pmem") as it:
        for flush in ("persistent", "auto"):
            result = pinged(it.port, "-c", "2", "-i", "0", "--flush", flush)
            assert result["pings"]["flush"] == "persistent"
            assert result["server"]["direct_write_to_pmem"] is True
        assert it.end(signal.SIGTERM) == 143
    assert not (tmp_path / "target").exists()


def test_auto_is_visibility_without_that_word(tmp_path: Path) -> None:
    with server("--target", f"{tmp_path}/target:64K") as it:
        assert pinged(it.port, "-c", "2", "-i", "0")["pings"]["flush"] == "visibility"
        refused = pinged(it.port, "--flush", "persistent", code=2)
    assert refused["failure"]["step"] == "region"
    assert "--direct-write-to-pmem" in refused["failure"]["text"]


def test_a_statement_is_no_proof_of_persistence(tmp_path: Path) -> None:
    """No machine that runs this has a check that is ready: an RDMA device in software never is."""
    with server("--target", f"{tmp_path}/target:64K", "--direct-write-to-pmem") as it:
        refused = pinged(it.port, "--expect-persistent", code=1)
        assert refused["pings"]["transmitted"] == 0
        assert refused["server"]["verdict"] in ("NOT_READY", "UNDETERMINED")
        assert f"does not support it: {refused['server']['verdict']} (" in refused["failure"]["text"]


def test_what_was_in_a_file_is_kept_without_force(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    done = ping("0")  # only for its refusal of port 0
    assert done.returncode == 64
    refused = subprocess.run(
        [*command("0")[:3], "--server", "-t", f"{tmp_path}/precious"], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("options", [["-c", "3", "-i", "0"], ["--json", "-c", "1"], ["-i", "1ms"]])
def test_a_full_disk_is_told(one: Server, options: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(command(one.port, *options), stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=LIMIT_S, env=soft())  # fmt: skip
    assert done.returncode == 2
    assert "standard output" in done.stderr
