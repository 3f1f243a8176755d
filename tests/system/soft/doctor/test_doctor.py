# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft --doctor: what the device offers, whether a program gets it, and who is beside it."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

LAUNCHER = os.environ["RPMA_SOFT_LAUNCHER"]
DENY_VM = os.environ["DENY_VM"]
GOOD, BAD, UNDETERMINED = 0, 1, 3
LINES_MOST = 24  # a terminal has as many
NOBODY = 65534
# Makes a queue pair, as this user, and waits for its standard input to end.
LISTENER = """#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc != 2 || setuid((uid_t)atoi(argv[1])) != 0)
		return 2;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);
	struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
					.cap = {1, 1, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(ibv_alloc_pd(context), &attr);

	printf("%d\\n", qp != NULL);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
"""
LOADS = """#include <dlfcn.h>
int main(void) { return dlopen("%s", RTLD_NOW) == 0; }
"""


def compiled(folder: Path, source: str, *options: str) -> Path:
    program = folder / "program"
    subprocess.run(["cc", "-x", "c", "-", "-o", program, *options], input=source, text=True,
                   check=True, timeout=60)  # fmt: skip
    return program


def doctor(*words: str | Path, before: tuple[str, ...] = ()) -> tuple[int, str]:
    done = subprocess.run([*before, LAUNCHER, "--doctor", *words], capture_output=True, text=True, timeout=100)
    assert done.stderr == ""
    assert done.stdout.count("\n") <= LINES_MOST
    return done.returncode, done.stdout


def of_program(*words: str | Path) -> tuple[int, str]:
    status, out = doctor(*words)
    found = re.search(r"(?m)^program +(.*)$", out)
    assert found, out
    return status, found[1]


def test_it_prints_what_there_is() -> None:
    status, out = doctor()
    assert status == GOOD
    listed = subprocess.run([LAUNCHER, "ibv_devices"], capture_output=True, text=True, timeout=100).stdout
    first = re.search(r"(?m)^ +(soft0)\s", listed)
    assert first and re.search(r"(?m)^devices +soft0 [0-9a-f.:]+", out), out
    assert re.search(r"(?m)^offers +RC\b.*: 16384 of them", out), out
    assert re.search(r"(?m)^library +/.*/librpma-soft.so$", out)
    assert not re.search(r"(?m)^program", out)


def test_words_of_rpma_soft_are_shown() -> None:
    status, out = doctor("-f", "refuse:at=1")
    assert status == GOOD and re.search(r"(?m)^RPMA_SOFT +refuse:at=1$", out)


def test_a_linked_program_gets_the_device() -> None:
    status, told = of_program("ibv_devices")
    assert status == GOOD and told.startswith("ibv_devices gets the device: it is linked with")


def test_a_program_that_loads_libibverbs_by_name(tmp_path: Path) -> None:
    """It gets what the launcher puts in the place of that name, if it does."""
    shown = subprocess.run([LAUNCHER, "printenv", "LD_PRELOAD"], capture_output=True, text=True, timeout=100)
    status, told = of_program(compiled(tmp_path, LOADS % "libibverbs.so.1"))
    if "libibverbs.so.1" in shown.stdout:
        assert status == GOOD and "gets the device: it loads" in told
    else:
        assert status == BAD and "does not get the device" in told


def test_a_program_that_loads_libibverbs_by_its_path(tmp_path: Path) -> None:
    status, told = of_program(compiled(tmp_path, LOADS % "/usr/lib/libibverbs.so.1"))
    assert status == BAD and "/usr/lib/libibverbs.so.1" in told


def test_a_program_without_libibverbs_is_undetermined() -> None:
    status, told = of_program("/bin/true")
    assert status == UNDETERMINED and "undetermined" in told


def test_no_program() -> None:
    status, told = of_program("no-such-command")
    assert status == BAD and "not found" in told


def test_a_script_is_its_interpreter(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\nibv_devices\n")
    (tmp_path / "script").chmod(0o755)
    status, told = of_program(tmp_path / "script")
    assert status == UNDETERMINED and "a script, and its interpreter /bin/sh" in told


def test_the_program_is_not_started(tmp_path: Path) -> None:
    doctor("touch", tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_seccomp_filter_leaves_tcp() -> None:
    assert re.search(r"(?m)^transport +local", doctor()[1])
    status, out = doctor(before=(DENY_VM,))
    assert status == GOOD
    assert re.search(r"(?m)^transport +tcp: process_vm_readv\(\) fails, Operation not permitted", out), out


@pytest.fixture
def beside(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[int]:
    """A process with a queue pair, of another user if so."""
    program = compiled(tmp_path, LISTENER, "-libverbs")
    user = str(request.param if request.param != 0 else os.getuid())
    with subprocess.Popen([LAUNCHER, program, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:  # fmt: skip
        assert process.stdout and process.stdout.readline() == "1\n"
        yield process.pid


def listed(pid: int) -> str:
    """The line of a process, of which others may be there as well."""
    done = subprocess.run([LAUNCHER, "-v", "--doctor"], capture_output=True, text=True, timeout=100)
    found = re.search(rf"(?m)^ +{pid} program: (.*)$", done.stdout)
    assert found, done.stdout
    return found[1]


@pytest.mark.parametrize("beside", [0], indirect=True)
def test_a_process_of_the_same_user_is_reached(beside: int) -> None:
    assert re.fullmatch(r"local; listens at (\S+:\d+ ?)+", listed(beside))


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to start a process as another user")
@pytest.mark.parametrize("beside", [NOBODY], indirect=True)
def test_a_process_of_another_user_is_not_reached(beside: int) -> None:
    assert listed(beside).startswith(f"refused, it is of user {NOBODY}; listens at ")
