# SPDX-License-Identifier: BSD-3-Clause
"""The trace of programs that are told how many operations to post.

The option -n of Debian's programs is the number that they post, so the count is known without the device.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from free_port import free_port
from soft_trace import Kind, Trace, read_traces

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
TRANSPORT = os.environ["TRANSPORT"]
ADDRESS = "127.0.0.1"
LIMIT_S = 300
SUCCESS = 0


@contextmanager
def start(words: list[str], *command: str) -> Iterator[subprocess.Popen]:
    faults = [option for word in words for option in ("-f", word)]
    with subprocess.Popen(
        [LAUNCHER, "--transport", TRANSPORT, *faults, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_listening(port: str, process: subprocess.Popen) -> None:
    listens = re.compile(rf":{int(port):04X} \S+ 0A ")
    while not listens.search(Path("/proc/net/tcp").read_text()):
        assert process.poll() is None
        time.sleep(0.01)


def run(words: list[str], *command: str) -> None:
    """The command as server, and as client with the words for the device."""
    port = str(free_port())
    with start([], *command, "-p", port) as server:
        wait_listening(port, server)
        with start(words, *command, "-p", port, ADDRESS) as client:
            said, _ = client.communicate(timeout=LIMIT_S)
        assert client.returncode == 0, said
        said, _ = server.communicate(timeout=LIMIT_S)
        assert server.returncode == 0, said


def pingpong(directory: Path, *words: str) -> Trace:
    name = str(directory / "posted.%p")
    run([f"trace:{name}", *words], "ibv_rc_pingpong", "-d", "soft0", "-g", "0", "-s", "512",
        "-n", "1000")  # fmt: skip
    (trace,) = read_traces(name)
    return trace


def test_every_operation_is_there(tmp_path: Path) -> None:
    trace = pingpong(tmp_path)
    assert trace.kinds == {"send": Kind(1000, 512000)}
    assert not trace.overflowed
    assert len(trace.operations) == 1000
    assert {(one.kind, one.bytes, one.status, one.signaled) for one in trace.operations} == {
        ("send", 512, SUCCESS, 1)
    }
    assert len({one.qpn for one in trace.operations}) == 1


def test_stamps_are_in_order(tmp_path: Path) -> None:
    before = time.monotonic_ns()
    operations = pingpong(tmp_path).operations
    after = time.monotonic_ns()
    for one in operations:
        assert before < one.posted_ns <= one.done_ns <= one.polled_ns < after
    # the next ping is posted when the pong is there, which comes after the completion
    for one, following in zip(operations, operations[1:], strict=False):
        assert one.done_ns <= following.posted_ns


def test_operations_take_their_delay(tmp_path: Path) -> None:
    operations = pingpong(tmp_path, "delay:time=20us", "delay:time=300us,every=100").operations
    delays = [one.delay_ns for one in operations]
    assert delays == 10 * ([20000] * 99 + [320000])
    for one in operations:
        assert one.done_ns - one.posted_ns >= one.delay_ns


def perftest(directory: Path, tool: str, *options: str) -> Trace:
    name = str(directory / "posted.%p")
    run([f"trace:{name}"], tool, "-F", "-d", "soft0", "-s", "64", *options)
    (trace,) = read_traces(name)
    return trace


def test_reads_are_told_from_writes(tmp_path: Path) -> None:
    assert perftest(tmp_path, "ib_read_lat", "-n", "1000").kinds == {"read": Kind(1000, 64000)}


def test_what_has_no_completion_is_done_but_not_polled(tmp_path: Path) -> None:
    trace = perftest(tmp_path, "ib_write_bw", "-n", "1000", "-Q", "10")
    assert trace.kinds == {"write": Kind(1000, 64000)}
    assert [one.signaled for one in trace.operations] == 100 * ([0] * 9 + [1])
    for one in trace.operations:
        assert one.done_ns >= one.posted_ns
        assert (one.polled_ns >= one.done_ns) if one.signaled else one.polled_ns == 0


def test_what_finds_no_room_is_counted(tmp_path: Path) -> None:
    posted = (1 << 20) + 1000
    trace = perftest(tmp_path, "ib_write_bw", "-n", str(posted))
    assert trace.overflowed
    assert len(trace.operations) == 1 << 20
    assert trace.kinds == {"write": Kind(posted, 64 * posted)}
    assert all(one.done_ns for one in trace.operations)


def test_a_killed_process_leaves_its_operations(tmp_path: Path) -> None:
    name = str(tmp_path / "posted.%p")
    port = str(free_port())
    rping = ["rping", "-a", ADDRESS, "-p", port]
    with start([], *rping, "-s") as server:
        wait_listening(port, server)
        with start([f"trace:{name}"], *rping, "-c", "-v") as client:
            assert client.stdout
            for _ in range(100):
                assert client.stdout.readline().startswith("ping data")
            client.send_signal(signal.SIGKILL)
            client.wait(LIMIT_S)
    trace = read_traces(name)[0]
    assert len(trace.operations) >= 100
    assert {one.kind for one in trace.operations} == {"send"}
    # what was posted before the last is done
    assert all(one.done_ns for one in trace.operations[:-2])


def test_each_process_has_a_file_of_its_own(tmp_path: Path) -> None:
    name = str(tmp_path / "posted.%p")
    port = str(free_port())
    ping = ["ibv_rc_pingpong", "-d", "soft0", "-g", "0", "-n", "200", "-p", port]
    with start([f"trace:{name}"], *ping) as server:
        wait_listening(port, server)
        with start([f"trace:{name}"], *ping, ADDRESS) as client:
            assert client.wait(LIMIT_S) == server.wait(LIMIT_S) == 0
            pids = {client.pid, server.pid}
    assert {path.name for path in tmp_path.iterdir()} == {f"posted.{pid}" for pid in pids}
    assert [trace.kinds["send"].operations for trace in read_traces(name)] == [200, 200]


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    name = str(tmp_path / "nowhere/posted.%p")
    with start([f"trace:{name}"], "ibv_devinfo", "-d", "soft0") as process:
        said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode != 0
    assert f"trace {name.replace('%p', str(process.pid))}: No such file or directory" in said


def test_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    """The shell knows the id that the program will have."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    script = 'ln -s "$1" "$2.$$" && RPMA_SOFT="trace:$2.%p" exec "$3" ibv_devinfo'
    subprocess.run(["sh", "-c", script, "sh", victim, tmp_path / "posted", LAUNCHER], check=True, timeout=LIMIT_S)
    assert victim.read_text() == "precious"
    (trace,) = tmp_path.glob("posted.*")
    assert not trace.is_symlink()
