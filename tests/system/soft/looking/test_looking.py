# SPDX-License-Identifier: BSD-3-Clause
"""Programs of every day look at the devices as files; the real file system is not asked."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from free_port import free_port, listens

LAUNCHER = Path(os.environ["RPMA_SOFT_LAUNCHER"])
BY_NAME = os.environ["BY_NAME"]
LIMIT_S = 60
CLASS = "/sys/class/infiniband"
# what the script ibdev2netdev reads of each device
DEVICES_AND_INTERFACES = f"""
for device in {CLASS}/*; do
	for port in "$device"/ports/*; do
		read -r interface < "$port/gid_attrs/ndevs/0"
		read -r state < "$port/state"
		echo "${{device##*/}} port ${{port##*/}} ==> $interface (${{state#*: }})"
	done
done
"""
WALK = f"""
import os
for top in ("{CLASS}", "/sys/class/infiniband_verbs", "/dev/infiniband"):
    for folder, folders, files in os.walk(top, followlinks=True):
        for name in files:
            path = os.path.join(folder, name)
            print(path, open(path).read().strip() if os.path.isfile(path) else "")
"""

Run = subprocess.CompletedProcess[str]


def run(*words: str | Path) -> Run:
    return subprocess.run([LAUNCHER, *words], capture_output=True, text=True, check=False, timeout=LIMIT_S)


def output(*words: str | Path) -> str:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def devices() -> list[str]:
    """As the verbs have them."""
    return re.findall(r"(?m)^\s+(soft\d+)\s", output("ibv_devices"))


def test_a_shell_lists_devices_and_interfaces() -> None:
    lines = output("bash", "-c", DEVICES_AND_INTERFACES).splitlines()
    assert [line.split()[0] for line in lines] == devices()
    for line in lines:
        assert re.fullmatch(r"soft\d+ port 1 ==> \S+ \(ACTIVE\)", line)
        assert Path("/sys/class/net", line.split()[4]).exists()
    assert output("sh", "-c", DEVICES_AND_INTERFACES).splitlines() == lines


def test_find_and_python_walk_to_the_same_files() -> None:
    found = output("find", "-L", CLASS, "/sys/class/infiniband_verbs", "/dev/infiniband", "!", "-type", "d").split()
    walked = [line.split()[0] for line in output(sys.executable, "-c", WALK).splitlines()]
    assert sorted(found) == sorted(walked)
    assert len(found) == len(devices()) * (5 + 9 + 1 + 3 * 4 + 3 + 1) + 2


def test_the_table_of_verbs_is_that_of_the_files() -> None:
    told = output("ibv_devinfo", "-v", "-d", "soft0")
    types = output("sh", "-c", f"cat {CLASS}/soft0/ports/1/gid_attrs/types/*").splitlines()
    assert re.findall(r"GID\[ *\d+\]:.*, (.*)", told) == [name.removeprefix("IB/") for name in types]
    assert types == ["IB/RoCE v1", "RoCE v2"] * 2


def test_command_lines_for_a_nic_have_their_index() -> None:
    """-g of ibv_rc_pingpong and -x of perftest: 1 and 3 are RoCE v2."""
    port = free_port()
    server = [LAUNCHER, "ibv_rc_pingpong", "-g", "3", "-n", "100", "-p", str(port)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + LIMIT_S
        while not listens(port) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        try:
            told = output(*server[1:3], "1", *server[4:], "127.0.0.1")
        finally:
            process.kill()
    assert "100 iters in" in told


def test_only_memory_is_written() -> None:
    """No file below /sys or /dev is touched, and none is made anywhere."""
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=%file,memfd_create", "-o", "/dev/stderr", LAUNCHER, sys.executable, "-B", "-c", WALK],
        capture_output=True, text=True, check=False, timeout=LIMIT_S,
    )  # fmt: skip
    if "strace: " in done.stderr and "ptrace" in done.stderr:
        pytest.skip("no ptrace here")
    assert done.returncode == 0, done.stderr[-2000:]
    calls = re.findall(r"(?m)^(?:\d+ +)?(\w+)\((.*)", done.stderr)
    assert "memfd_create" in {name for name, _ in calls}
    touched = [rest for name, rest in calls if "infiniband" in rest and not name.startswith(("memfd_create", "readlink", "exec"))]
    assert touched == []
    makes = ("mkdir", "mknod", "symlink", "link", "rename", "unlink", "truncate", "chmod", "chown", "utime")
    assert [name for name, _ in calls if name.startswith(makes)] == []
    assert [rest for _, rest in calls if re.search("O_CREAT|O_WRONLY|O_RDWR", rest) and "/dev/shm" not in rest] == []


def test_a_libibverbs_that_was_loaded_by_its_path_is_told_once() -> None:
    library = next(
        line.split()[-1]
        for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
        if line.split()[:1] == ["libibverbs.so.1"]
    )
    done = run(BY_NAME, library, "now", "IBVERBS_1.1")
    told = [line for line in done.stderr.splitlines() if line.startswith("rpma-soft: ")]
    assert len(told) == 1 and library in told[0] and "LOADING" in told[0]
    assert "devices: 0" in done.stdout or Path(CLASS).exists()


def test_other_files_are_those_of_the_host() -> None:
    looks = ("ls -R /sys/class/mem", "ls -lR /usr/include | md5sum", "stat -c '%n %i %s %f %y' /etc/debian_version",
             "readlink -f /proc/self/exe")  # fmt: skip
    command = "; ".join(looks)
    plain = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert output("sh", "-c", command) == plain.stdout


def test_files_are_made_as_before(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        script = f"import os; os.close(os.open('{tmp_path}/infiniband', os.O_CREAT | os.O_WRONLY, 0o641)); open('{tmp_path}/b', 'w').write('x')"
        output(sys.executable, "-c", script)
    finally:
        os.umask(old)
    assert (tmp_path / "infiniband").stat().st_mode & 0o777 == 0o641
    assert (tmp_path / "b").read_text() == "x"
