# SPDX-License-Identifier: BSD-3-Clause
"""rpma-ddio-check on this very machine, whatever it is: as anybody, in
containers, without files and limits that it may hope for; and never on the
software device."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from checker import NOBODY, TOOL, Document, look, statuses, validate
from golden import HEALTHY, healthy
from trees import build

# a sanitizer needs /proc, and looks for leaks where there is no tracer
SANITIZED = b"__asan_init" in Path(TOOL).read_bytes()
NO_LEAKS = ["env", "ASAN_OPTIONS=detect_leaks=0"]
HAS_RDMA = Path("/sys/class/infiniband").is_dir() and any(Path("/sys/class/infiniband").iterdir())
ROOT = os.geteuid() == 0
AS_ROOT = pytest.mark.skipif(not ROOT, reason="only root can make a container here")
WITHOUT_RDMA = pytest.mark.skipif(HAS_RDMA, reason="this machine has an RDMA device")


def here(*options: str, before: list[str] | None = None, tool: str | Path = TOOL) -> Document:
    """The document of a look at this machine, which must be honest."""
    done = subprocess.run([*(before or []), tool, *options, "--json"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode in (0, 1, 3), (done.returncode, done.stderr)
    # one line, where --device leads to nothing here, has what there is
    others = [line for line in done.stderr.splitlines() if "no RDMA device has this name" not in line]
    assert not any("rpma-ddio-check: " in line for line in others)
    document: Document = json.loads(done.stdout)
    validate(document)
    assert document["run"]["exit_code"] == done.returncode
    assert list(statuses(document)) == list(HEALTHY)
    return document


@WITHOUT_RDMA
def test_without_rdma_it_is_undetermined() -> None:
    document = here()
    assert (document["verdict"], document["judgement"]["row"]) == ("UNDETERMINED", "no-device")
    found = statuses(document)
    assert found["DEV-01"] == "FAIL" and found["DDIO-04"] == "SKIP"
    assert document["direct_write_to_pmem"]["value"] is False


@WITHOUT_RDMA
def test_a_probe_without_rdma_says_what_is_missing() -> None:
    document = here("--probe")
    probe = next(check for check in document["checks"] if check["id"] == "DDIO-06")
    assert probe["status"] in ("UNKNOWN", "SKIP")


@AS_ROOT
def test_not_root() -> None:
    with_root, without = here(), here(before=NOBODY)
    assert without["verdict"] == with_root["verdict"] or without["verdict"] == "UNDETERMINED"


CONTAINERS = {
    "namespaces": "exec \"$@\"",
    "no-sys": "mount -t tmpfs none /sys; exec \"$@\"",
    "no-proc": "mount -t tmpfs none /proc; exec \"$@\"",
    "no-dev": "mount -t tmpfs none /dev; mknod -m 666 /dev/null c 1 3; exec \"$@\"",
    "nothing": "mount -t tmpfs none /sys; mount -t tmpfs none /dev; mount -t tmpfs none /proc; exec \"$@\"",
}


@AS_ROOT
@pytest.mark.parametrize("name", list(CONTAINERS))
def test_in_a_container(name: str) -> None:
    if SANITIZED and "/proc" in CONTAINERS[name]:
        pytest.skip("the sanitizer of this build needs /proc")
    made = subprocess.run(["unshare", "-mpf", "--mount-proc", "true"], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no namespaces can be made here: {made.stderr}")
    document = here(before=["unshare", "-mpfn", "--mount-proc", "sh", "-ec", CONTAINERS[name], "sh"])
    if name != "namespaces":
        assert document["verdict"] in ("UNDETERMINED", "NOT_READY")


def test_as_root_of_a_container_of_its_own() -> None:
    """Root in a user namespace looks like root, and may read less."""
    words = ["unshare", "-rmpf", "--mount-proc"]
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespace can be made here")
    here(before=words)


@pytest.mark.parametrize("limit, value", [(resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_MEMLOCK, 0),
                                          (resource.RLIMIT_FSIZE, 1 << 20)])
def test_with_little(limit: int, value: int) -> None:
    done = subprocess.run([TOOL, "--json"], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
    assert done.returncode in (0, 1, 3), done.stderr
    validate(json.loads(done.stdout))


@pytest.mark.parametrize("target", ["/nowhere/at/all", "/dev/null", "/proc/self/status", "/", "/tmp", "dram:64M",
                                    "hugepages:2M"])
def test_a_target_that_is_no_persistent_memory_is_never_ready(target: str) -> None:
    document = here("--target", target)
    assert document["verdict"] in ("NOT_READY", "UNDETERMINED")
    assert statuses(document)["PM-01"] in ("FAIL", "UNKNOWN")


def test_a_target_is_left_as_it_was(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    pool.write_bytes(b"content" * 1000)
    before = pool.stat()
    here("--target", str(pool))
    here("--target", str(tmp_path))
    assert pool.read_bytes() == b"content" * 1000 and list(tmp_path.iterdir()) == [pool]
    assert pool.stat().st_mtime_ns == before.st_mtime_ns


# --- never on the software device ------------------------------------------------------


@pytest.fixture
def tempted(tmp_path: Path) -> Path:
    """A copy of the program with launchers wherever a tool looks for one."""
    tool = tmp_path / "tools/rpma-ddio-check/rpma-ddio-check"
    tool.parent.mkdir(parents=True)
    shutil.copy(TOOL, tool)
    for place in (tool.parent, tmp_path / "soft_device", tmp_path / "bin"):
        place.mkdir(exist_ok=True)
        launcher = place / "rpma-soft"
        launcher.write_text(f"#!/bin/sh\necho started >> {tmp_path}/started\nshift\nexec \"$@\"\n")
        launcher.chmod(0o755)
    return tool


@pytest.mark.parametrize("options", [[], ["--device", "soft"], ["--device", "soft0"], ["--device", "auto"],
                                     ["--target", "dram:64M"], ["--probe"]])
def test_it_never_starts_itself_on_the_software_device(tempted: Path, options: list[str]) -> None:
    top = tempted.parents[2]
    path = f"{top}/bin:{os.environ['PATH']}"
    here(*options, tool=tempted, before=["env", f"PATH={path}"])
    assert not (top / "started").exists()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("options", [[], ["--device", "soft"]])
def test_it_starts_nothing_and_loads_no_device_of_software(tempted: Path, tmp_path: Path,
                                                          options: list[str]) -> None:
    trace = tmp_path / "trace"
    here(*options, tool=tempted, before=[*NO_LEAKS, "strace", "-f", "-e", "trace=execve,clone,fork,openat", "-o",
                                           str(trace)])
    text = trace.read_text()
    assert text.count("execve(") == 1 and "librpma-soft" not in text


# --- a dump of this machine ------------------------------------------------------------


def test_a_dump_of_this_machine_says_what_it_says(tmp_path: Path) -> None:
    first = here("--dump-facts", str(tmp_path / "dump"))
    again = look(tmp_path / "dump")
    assert statuses(again) == statuses(first)
    assert again["judgement"] == first["judgement"]
    facts = json.loads((tmp_path / "dump/facts.json").read_text())
    assert facts["schema"] == "rpma-ddio-check-facts/1"


def test_a_dump_of_a_target_says_what_it_says(tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    pool.write_bytes(bytes(4096))
    target = ["--target", str(pool)]
    first = here(*target, "--dump-facts", str(tmp_path / "dump"))
    again = look(tmp_path / "dump", *target)
    assert statuses(again) == statuses(first)


def test_a_dump_has_no_names_of_the_host(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    build(healthy(), tree)
    look(tree, "--target", "/dev/dax0.0", "--dump-facts", str(tmp_path / "dump"))
    secrets = {path.read_text().strip() for name in ("node_guid", "sys_image_guid", "serial", "address")
               for path in tree.rglob(name) if path.is_file()}
    dumped = b"".join(path.read_bytes() for path in (tmp_path / "dump").rglob("*") if path.is_file())
    for secret in secrets:
        assert secret.encode() not in dumped
