# SPDX-License-Identifier: BSD-3-Clause
"""librpmem.so.1 as libpmemobj and libpmempool 1.12.1 load it, and as programs link it.

Run by ctest with RPMEM_LIBRARY (our librpmem.so.1) and RPMEM_INCLUDE (the header's
folder) in the environment. Names, sizes and values are those of the manuals and of
PMDK 1.12.1.
"""

import ctypes
import os
import re
import subprocess
import threading
from pathlib import Path

import pytest

LIBRARY = Path(os.environ["RPMEM_LIBRARY"])
INCLUDE = Path(os.environ["RPMEM_INCLUDE"])
COMPILER = ["cc", "-std=gnu11", "-Wall", "-Werror", f"-I{INCLUDE}"]

FUNCTIONS = {
    "rpmem_check_version", "rpmem_close", "rpmem_create", "rpmem_deep_persist", "rpmem_drain",
    "rpmem_errormsg", "rpmem_flush", "rpmem_open", "rpmem_persist", "rpmem_read", "rpmem_remove",
    "rpmem_set_attr",
}  # fmt: skip


def output(*command: object, env: dict[str, str] | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=env)
    assert done.returncode == 0, f"{command[0]} failed"
    return done.stdout


def dynamic(tag: str) -> set[str]:
    entries = output("readelf", "-dW", LIBRARY)
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", entries))


def test_exports_twelve_functions_at_one_node() -> None:
    lines = [line.split() for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
    assert {words[2] for words in lines if words[1] != "A"} == {f"{f}@@LIBRPMEM_1.0" for f in FUNCTIONS}
    assert [words[2] for words in lines if words[1] == "A"] == ["LIBRPMEM_1.0"]


def test_is_librpmem_so_1_and_stays_loaded() -> None:
    assert dynamic("SONAME") == {"librpmem.so.1"}
    assert LIBRARY.resolve().name == "librpmem.so.1.0.0"
    flags = output("readelf", "-dW", LIBRARY)
    assert "NODELETE" in flags and "NOW" in flags


def test_needs_neither_librpma_nor_what_only_tools_need() -> None:
    allowed = {"libibverbs.so.1", "librdmacm.so.1", "libpmem.so.1", "libc.so.6", "libm.so.6"}
    assert dynamic("NEEDED") <= allowed | {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_does_not_end_the_program_or_change_its_signals() -> None:
    imported = output("nm", "-D", "--undefined-only", LIBRARY)
    names = {line.split()[-1].partition("@")[0] for line in imported.splitlines()}
    assert "posix_spawnp" in names
    # execv(3) is in dial.h, for tools that look for the software device
    assert not names & {"exit", "_exit", "sigaction", "signal", "fork", "vfork", "system", "popen",
                        "execve", "execvp", "puts", "printf", "stdout"}  # fmt: skip


@pytest.fixture
def library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(LIBRARY), mode=os.RTLD_NOW | os.RTLD_LOCAL, use_errno=True)
    loaded.rpmem_check_version.restype = ctypes.c_char_p
    loaded.rpmem_errormsg.restype = ctypes.c_char_p
    return loaded


def test_works_after_it_was_loaded(library: ctypes.CDLL) -> None:
    assert library.rpmem_check_version(1, 3) is None
    assert library.rpmem_check_version(2, 0)
    assert library.rpmem_close(None) == -1
    assert ctypes.get_errno() == 22
    message = library.rpmem_errormsg()
    others: list[bytes] = []
    thread = threading.Thread(target=lambda: others.append(library.rpmem_errormsg()))
    thread.start()
    thread.join()
    assert message and others == [b""]


# --- the header ----------------------------------------------------------------

CONSTANTS = {
    "RPMEM_MAJOR_VERSION": 1, "RPMEM_MINOR_VERSION": 3, "RPMEM_PERSIST_RELAXED": 1,
    "RPMEM_FLUSH_RELAXED": 1, "RPMEM_REMOVE_FORCE": 1, "RPMEM_REMOVE_POOL_SET": 2,
    "RPMEM_POOL_HDR_SIG_LEN": 8, "RPMEM_POOL_HDR_UUID_LEN": 16, "RPMEM_POOL_USER_FLAGS_LEN": 16,
    "RPMEM_MIN_POOL": 8192, "RPMEM_MIN_PART": 2097152,
}  # fmt: skip
OFFSETS = {
    "signature": 0, "major": 8, "compat_features": 12, "incompat_features": 16,
    "ro_compat_features": 20, "poolset_uuid": 24, "uuid": 40, "next_uuid": 56, "prev_uuid": 72,
    "user_flags": 88,
}  # fmt: skip

# The declarations in the manuals of API 1.3: C takes a second one only if it is compatible.
PROTOTYPES = """
RPMEMpool *rpmem_create(const char *, const char *, void *, size_t, unsigned *,
	const struct rpmem_pool_attr *);
RPMEMpool *rpmem_open(const char *, const char *, void *, size_t, unsigned *,
	struct rpmem_pool_attr *);
int rpmem_set_attr(RPMEMpool *, const struct rpmem_pool_attr *);
int rpmem_close(RPMEMpool *);
int rpmem_remove(const char *, const char *, int);
int rpmem_persist(RPMEMpool *, size_t, size_t, unsigned, unsigned);
int rpmem_deep_persist(RPMEMpool *, size_t, size_t, unsigned);
int rpmem_flush(RPMEMpool *, size_t, size_t, unsigned, unsigned);
int rpmem_drain(RPMEMpool *, unsigned, unsigned);
int rpmem_read(RPMEMpool *, void *, size_t, size_t, unsigned);
const char *rpmem_check_version(unsigned, unsigned);
const char *rpmem_errormsg(void);
"""


def test_defines_the_constants_and_the_structure(tmp_path: Path) -> None:
    facts = [f"{name} == {value}" for name, value in CONSTANTS.items()]
    facts += [f"offsetof(struct rpmem_pool_attr, {f}) == {at}" for f, at in OFFSETS.items()]
    facts += ["sizeof(struct rpmem_pool_attr) == 104", "sizeof(RPMEM_MIN_POOL) == sizeof(size_t)"]
    source = tmp_path / "facts.c"
    source.write_text("#include <librpmem.h>\n" + "".join(f'_Static_assert({f}, "{f}");\n' for f in facts))
    output(*COMPILER, "-fsyntax-only", source)


def test_declares_the_functions(tmp_path: Path) -> None:
    source = tmp_path / "declarations.c"
    source.write_text(f"#include <librpmem.h>\n{PROTOTYPES}")
    output(*COMPILER, "-fsyntax-only", source)


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_compiles_as_cxx(standard: str, tmp_path: Path) -> None:
    source = tmp_path / "program.cc"
    source.write_text(
        "#include <librpmem.h>\n"
        "int main() { return rpmem_check_version(RPMEM_MAJOR_VERSION, RPMEM_MINOR_VERSION) != nullptr; }\n"
    )
    program = tmp_path / "program"
    output("c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}",
           source, "-o", program, f"-L{LIBRARY.parent}", "-l:librpmem.so.1")  # fmt: skip
    output(program, env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARY.parent)})


def test_documents_the_errors_that_each_function_has() -> None:
    """rpmem.c has a row for each function; what is in none of them becomes EREMOTEIO."""
    header = (INCLUDE / "librpmem.h").read_text(encoding="utf-8")
    table = (INCLUDE.parent / "src/rpmem.c").read_text(encoding="utf-8")
    rows = dict(re.findall(r"\[ERRORS_(\w+)\]\s*=\s*\{([^}]*)\}", table))
    pages = dict(re.findall(r"^ \* rpmem_(\w+) - .*?^ \* Return: (.*?)^ \* Threads:", header, re.M | re.S))
    assert set(rows) == {name.upper() for name in pages} - {"CHECK_VERSION", "ERRORMSG"}
    for name, row in rows.items():
        in_page = set(re.findall(r"^ \*   (E[A-Z]+) - ", pages[name.lower()], re.M))
        assert in_page == {*re.findall(r"E[A-Z]+", row), "EREMOTEIO"}, name
