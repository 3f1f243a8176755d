# SPDX-License-Identifier: BSD-3-Clause
"""rpma-soft with a stub in the place of the device: what a command gets, and what is refused.

The stub prints "device" on standard error when it is loaded.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

LAUNCHER = Path(os.environ["RPMA_SOFT_LAUNCHER"])
STUB = """#include <unistd.h>
static __attribute__((constructor)) void start(void)
{
	if (write(2, "device\\n", 7) != 7)
		_exit(99);
}
"""
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
int main(void) { return printf("%s\\n", getenv("LD_PRELOAD")) < 0; }
"""
NAMES = ("libibverbs.so.1", "librdmacm.so.1")
CLEAN = ("RPMA_SOFT", "LD_PRELOAD", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS")

Run = subprocess.CompletedProcess[str]


def own_runtime() -> str:
    """That of the launcher, if it is built with a sanitizer: what is preloaded into it."""
    dynamic = subprocess.run(
        ["readelf", "-d", LAUNCHER], capture_output=True, text=True, check=True, timeout=60
    )
    found = re.search(r"\[(lib[at]san\.so[^\]]*)\]", dynamic.stdout)
    return found[1] if found else ""


def compile_with(compiler: str, source: str, output: Path, *options: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    subprocess.run(
        [compiler, "-x", "c", "-", "-o", output, *options],
        input=source, text=True, check=True, timeout=60,
    )  # fmt: skip
    return output


def make_device(folder: Path, *options: str) -> Path:
    """A launcher with a stub and the two names beside it; gives the launcher."""
    (folder / "librpma-soft").mkdir(parents=True, exist_ok=True)
    compile_with("gcc", STUB, folder / "librpma-soft.so", "-shared", "-fPIC", *options)
    for name in NAMES:
        compile_with("gcc", "", folder / "librpma-soft" / name, "-shared", "-fPIC")
    return Path(shutil.copy(LAUNCHER, folder))


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_device(tmp_path_factory.mktemp("device"))


def run(*words: str | Path, before: Callable[[], None] | None = None, **environment: str) -> Run:
    clean = {key: value for key, value in os.environ.items() if key not in CLEAN}
    return subprocess.run(
        words, env={**clean, **environment}, capture_output=True, text=True, check=False,
        timeout=60, preexec_fn=before, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def show(launcher: Path, name: str, *options: str, **environment: str) -> str:
    """A variable as the command finds it."""
    done = run(launcher, *options, "printenv", name, before=None, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n")


def preloaded(launcher: Path) -> list[str]:
    """The device and its names."""
    folder = launcher.parent
    return [f"{folder}/librpma-soft.so", *(f"{folder}/librpma-soft/{name}" for name in NAMES)]


def refused(done: Run, status: int, *parts: str) -> None:
    assert done.returncode == status, done
    assert done.stdout == ""
    assert done.stderr.startswith("rpma-soft: ") and done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


# The environment of a command


def test_the_device_is_preloaded_and_said_to_be(launcher: Path) -> None:
    assert show(launcher, "LD_PRELOAD") == ":".join(preloaded(launcher))
    assert show(launcher, "RPMA_SOFT") == ""
    assert run(launcher, "true").stderr == "device\n"


def test_options_become_words(launcher: Path) -> None:
    options = ["-v", "--seed", "7", "--transport=tcp", "-f", "refuse:at=1", "--fault", "rate:1GB"]
    words = "verbose seed:7 transport:tcp refuse:at=1 rate:1GB"
    assert show(launcher, "RPMA_SOFT", *options) == words


def test_words_are_added_to_those_that_are_set(launcher: Path) -> None:
    words = show(launcher, "RPMA_SOFT", "--seed=2", RPMA_SOFT="seed:1 refuse")
    assert words == "seed:1 refuse seed:2"


def test_options_after_the_command_are_its_own(launcher: Path) -> None:
    assert run(launcher, "-v", "printf", "%s.", "-v", "--seed", "--help").stdout == "-v.--seed.--help."
    assert run(launcher, "--", "printf", "%s.", "--", "-f").stdout == "--.-f."


def test_the_soft_limit_on_files_is_raised(launcher: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = run(
        launcher, "sh", "-c", "ulimit -n",
        before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)),
    )  # fmt: skip
    assert done.stdout.strip() in (str(hard), "unlimited")


def test_the_status_is_that_of_the_command(launcher: Path) -> None:
    assert run(launcher, "sh", "-c", "exit 7").returncode == 7
    assert run(launcher, "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_it_becomes_the_command(launcher: Path) -> None:
    with subprocess.Popen(
        [launcher, "sh", "-c", "echo $$"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert int(process.stdout.read()) == process.pid


def test_a_command_keeps_its_own_name(launcher: Path) -> None:
    assert run(launcher, "sh", "-c", "echo $0").stdout == "sh\n"


# Other libraries to be preloaded


def test_what_was_to_be_preloaded_comes_after_the_device(launcher: Path) -> None:
    device = launcher.parent / "librpma-soft.so"
    other = Path(shutil.copy(device, launcher.parent / "other.so"))
    before = [own_runtime(), str(other)] if own_runtime() else [str(other)]
    after = [*before[:-1], *preloaded(launcher), str(other)]
    assert show(launcher, "LD_PRELOAD", LD_PRELOAD=":".join(before)) == ":".join(after)


def test_a_launcher_within_a_launcher_preloads_once(launcher: Path) -> None:
    done = run(launcher, "-v", launcher, "--seed=3", "sh", "-c", "echo $LD_PRELOAD $LD_LIBRARY_PATH $RPMA_SOFT")
    assert done.stdout.removeprefix(f"{own_runtime()}:").split() == [
        ":".join(preloaded(launcher)), f"{launcher.parent}/librpma-soft", "verbose", "seed:3",
    ]  # fmt: skip


def test_its_names_are_looked_for_first(launcher: Path) -> None:
    folder = f"{launcher.parent}/librpma-soft"
    assert show(launcher, "LD_LIBRARY_PATH") == folder
    assert show(launcher, "LD_LIBRARY_PATH", LD_LIBRARY_PATH="/a:/b") == f"{folder}:/a:/b"
    assert show(launcher, "LD_LIBRARY_PATH", LD_LIBRARY_PATH=f"{folder}er") == f"{folder}:{folder}er"


def test_the_names_are_not_preloaded_twice(launcher: Path) -> None:
    before = f"/usr/lib/libibverbs.so.1:{launcher.parent}/librpma-soft/librdmacm.so.1"
    first = f"{own_runtime()}:" if own_runtime() else ""  # a sanitizer insists on it
    done = run(launcher, "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD=first + before)
    assert done.stdout.removeprefix(f"{own_runtime()}:").strip() == ":".join(preloaded(launcher))


# Finding the device


def test_it_is_found_where_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    libdir = Path(os.path.normpath(tmp_path / "bin" / os.environ["LIBDIR_FROM_BINDIR"]))
    beside = make_device(libdir)
    shutil.move(beside, tmp_path / "bin")
    expected = ":".join(preloaded(libdir / "any"))
    assert show(tmp_path / "bin" / LAUNCHER.name, "LD_PRELOAD") == expected


def test_it_is_found_through_a_link_to_the_launcher(launcher: Path, tmp_path: Path) -> None:
    (tmp_path / "soft").symlink_to(launcher)
    assert run(tmp_path / "soft", "true").stderr == "device\n"


def test_a_path_with_blanks_does(tmp_path: Path) -> None:
    launcher = make_device(tmp_path / "with blank")
    done = run(launcher, "true")
    assert (done.returncode, done.stderr) == (0, "device\n")
    folder = launcher.parent
    assert show(launcher, "LD_PRELOAD") == "librpma-soft.so:libibverbs.so.1:librdmacm.so.1"
    assert show(launcher, "LD_LIBRARY_PATH", LD_LIBRARY_PATH="/a") == f"{folder}/librpma-soft:{folder}:/a"


def test_a_path_with_a_colon_cannot_do(tmp_path: Path) -> None:
    refused(run(make_device(tmp_path / "a:b"), "true"), 125, "a:b", "colon")


def test_a_missing_device_is_named(tmp_path: Path) -> None:
    if (Path(os.environ["LIBDIR"]) / "librpma-soft.so").exists():
        pytest.skip("the device is installed on this machine")
    refused(run(shutil.copy(LAUNCHER, tmp_path), "true"), 125, "librpma-soft.so", str(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_name_is_named(tmp_path: Path, name: str) -> None:
    launcher = make_device(tmp_path)
    (tmp_path / "librpma-soft" / name).unlink()
    refused(run(launcher, "true"), 125, f"{tmp_path}/librpma-soft/{name}", "No such file")


# Wrong usage


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["-f", "delay:time=2"], "delay:time=2"),
        (["-f", "delay:time=2us", "-f", "dely"], "dely"),
        (["--transport", "udp"], "transport:udp"),
        (["--seed", "x"], "seed:x"),
        (["--check=rnr,colour=red"], "colour=red"),
        (["--nope"], "--nope"),
        (["-f"], "-f"),
        ([], "COMMAND"),
    ],
)
def test_wrong_usage_starts_nothing(
    launcher: Path, tmp_path: Path, options: list[str], part: str
) -> None:
    command = ["touch", str(tmp_path / "made")] if options and options != ["-f"] else []
    refused(run(launcher, *options, *command), 64, part)
    assert not (tmp_path / "made").exists()


def test_a_wrong_word_that_was_set_is_refused_too(launcher: Path) -> None:
    refused(run(launcher, "true", RPMA_SOFT="seed:1 tcp"), 64, "tcp")


@pytest.mark.parametrize("option", ["--help", "-h", "--version", "-V"])
def test_help_and_version_go_to_standard_output(launcher: Path, option: str) -> None:
    done = run(launcher, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rpma-soft" in done.stdout


# Commands that cannot be run


def test_a_command_that_is_nowhere(launcher: Path, tmp_path: Path) -> None:
    refused(run(launcher, "no-such-command"), 127, "no-such-command", "not found")
    refused(run(launcher, ""), 127, "not found")
    refused(run(launcher, tmp_path / "none"), 127, str(tmp_path / "none"))
    refused(run(launcher, "/dev/null/none"), 127, "/dev/null/none")


def test_a_command_that_may_not_be_executed(launcher: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("echo\n")
    refused(run(launcher, tmp_path / "plain"), 126, "plain", "Permission denied")
    refused(run(launcher, tmp_path), 126, str(tmp_path))
    refused(run(launcher, "plain", PATH=f"{tmp_path}:/nowhere"), 126, "plain")


def test_the_path_is_searched_as_a_shell_does(launcher: Path, tmp_path: Path) -> None:
    for name, mode in (("first", 0o644), ("second", 0o755)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "it").write_text(f"#!/bin/sh\necho {name}\n")
        (tmp_path / name / "it").chmod(mode)
    assert run(launcher, "it", PATH=f"{tmp_path}/first:{tmp_path}/second").stdout == "second\n"


def script(path: Path, first: str) -> Path:
    path.write_text(f"{first}\necho ran\n")
    path.chmod(0o755)
    return path


def test_a_script_runs_in_its_interpreter(launcher: Path, tmp_path: Path) -> None:
    for name, first in (("a", "#!/bin/sh"), ("b", "#! /bin/sh -e"), ("c", "# no interpreter")):
        done = run(launcher, script(tmp_path / name, first))
        assert (done.returncode, done.stdout) == (0, "ran\n"), first
    (tmp_path / "d").write_text(f"#!{tmp_path / 'a'}\n")
    (tmp_path / "d").chmod(0o755)
    assert run(launcher, tmp_path / "d").stdout == "ran\n"


def test_a_script_without_its_interpreter(launcher: Path, tmp_path: Path) -> None:
    done = run(launcher, script(tmp_path / "a", "#!/no/such/shell"))
    refused(done, 126, "/no/such/shell")


def test_a_static_command_is_refused(launcher: Path, tmp_path: Path) -> None:
    static = compile_with("gcc", PROGRAM, tmp_path / "static", "-static")
    refused(run(launcher, static), 126, "statically")
    static = compile_with("gcc", PROGRAM, tmp_path / "pie", "-static-pie")
    refused(run(launcher, static), 126, "statically")
    refused(run(launcher, script(tmp_path / "script", f"#!{static}")), 126, "statically")


def test_a_command_with_other_privileges_is_refused(launcher: Path, tmp_path: Path) -> None:
    if os.getuid() == 0:
        command = Path(shutil.copy("/bin/true", tmp_path / "other"))
        os.chown(command, 65534, -1)
        command.chmod(0o4755)
    else:
        command = Path("/usr/bin/passwd")
    if not command.exists():
        pytest.skip("no set-user-ID program here")
    refused(run(launcher, command), 126, "privileges")


def test_a_command_for_another_machine_is_refused(launcher: Path, tmp_path: Path) -> None:
    foreign = bytearray(Path("/bin/true").read_bytes())
    foreign[18:20] = (0xF3).to_bytes(2, "little")  # e_machine: RISC-V
    (tmp_path / "foreign").write_bytes(foreign)
    (tmp_path / "foreign").chmod(0o755)
    refused(run(launcher, tmp_path / "foreign"), 126, "another kind of machine")


# Sanitizers: whose runtime comes first


def sanitized(sanitizer: str, compiler: str, tmp_path: Path) -> Path:
    return compile_with(compiler, PROGRAM, tmp_path / "program", f"-fsanitize={sanitizer}")


@pytest.mark.parametrize(
    ("sanitizer", "runtime"),
    [("address", "libasan.so"), ("thread", "libtsan.so"), ("address,undefined", "libasan.so")],
)
def test_the_runtime_of_a_command_comes_first(
    launcher: Path, tmp_path: Path, sanitizer: str, runtime: str
) -> None:
    done = run(launcher, sanitized(sanitizer, "gcc", tmp_path))
    assert (done.returncode, done.stderr) == (0, "device\n")
    first, *rest = done.stdout.strip().split(":")
    assert first.startswith(runtime)
    assert rest == preloaded(launcher)


def test_undefined_behaviour_alone_needs_nothing_first(launcher: Path, tmp_path: Path) -> None:
    done = run(launcher, sanitized("undefined", "gcc", tmp_path))
    assert (done.returncode, done.stderr) == (0, "device\n")
    assert done.stdout.strip() == ":".join(preloaded(launcher))


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_runtime_inside_the_command_needs_nothing_first(
    launcher: Path, tmp_path: Path, sanitizer: str
) -> None:
    done = run(launcher, sanitized(sanitizer, "clang", tmp_path))
    assert (done.returncode, done.stderr) == (0, "device\n")
    assert done.stdout.strip() == ":".join(preloaded(launcher))


def test_the_runtime_of_the_device_comes_first(tmp_path: Path) -> None:
    launcher = make_device(tmp_path / "device", "-fsanitize=address")
    plain = compile_with("gcc", PROGRAM, tmp_path / "plain")
    done = run(launcher, plain, ASAN_OPTIONS="detect_leaks=0")
    assert (done.returncode, done.stderr) == (0, "device\n")
    assert done.stdout.startswith("libasan.so")
    done = run(launcher, sanitized("address", "gcc", tmp_path))
    assert (done.returncode, done.stderr) == (0, "device\n")
    assert done.stdout.count("libasan.so") == 1


@pytest.mark.parametrize(("compiler", "sanitizer"), [("gcc", "thread"), ("clang", "address")])
def test_two_runtimes_are_refused(tmp_path: Path, compiler: str, sanitizer: str) -> None:
    launcher = make_device(tmp_path / "device", "-fsanitize=address")
    refused(run(launcher, sanitized(sanitizer, compiler, tmp_path)), 126, "libasan", "both")


def test_a_runtime_that_was_to_be_preloaded_stays_first(launcher: Path, tmp_path: Path) -> None:
    sanitizer = "thread" if own_runtime().startswith("libtsan") else "address"
    program = sanitized(sanitizer, "gcc", tmp_path)
    runtime = run("gcc", f"-print-file-name=lib{sanitizer[0]}san.so").stdout.strip()
    done = run(launcher, program, LD_PRELOAD=runtime)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().split(":")[-3:] == preloaded(launcher)
