# SPDX-License-Identifier: BSD-3-Clause
"""Ours in place of Debian 12's librpma.so.0 and librpma-dev, and the reverse.

Run by ctest with RPMA_LIBRARY (our librpma.so.0) and RPMA_INCLUDE (our header's folder) in the
environment.
"""

import ctypes
import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LIBRARY = Path(os.environ["RPMA_LIBRARY"])
INCLUDE = Path(os.environ["RPMA_INCLUDE"])
COMPILER = ["cc", "-std=gnu11", "-Wall", "-Werror"]


def output(*command: object, env: dict[str, str] | None = None) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=env)
    assert done.returncode == 0, f"{command[0]} failed"
    return done.stdout


@pytest.fixture(scope="session")
def reference() -> Path:
    fetched = subprocess.run(
        [ROOT / "tests/fetch-reference", "bookworm"], stdout=subprocess.PIPE, text=True
    )
    if fetched.returncode != 0:
        pytest.skip("no reference: Debian 12's librpma could not be fetched")
    return Path(fetched.stdout.strip())


@pytest.fixture(scope="session")
def reference_library(reference: Path) -> Path:
    return next(reference.glob("usr/lib/*/librpma.so.0"))


@pytest.fixture(scope="session")
def reference_include(reference: Path) -> Path:
    return reference / "usr/include"


# --- the library ---------------------------------------------------------------


def exported(library: Path) -> set[str]:
    """Each exported symbol as name@node, or name@@node where new programs bind to it; without
    the nodes themselves."""
    lines = output("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[2] for line in lines if line.split()[1] != "A"}


def dynamic(library: Path, tag: str) -> set[str]:
    entries = output("readelf", "-dW", library)
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", entries))


# Functions with two versions: for programs linked with 1.0 to 1.3 and for later ones.
CHANGED = {"rpma_mr_get_descriptor", "rpma_mr_get_descriptor_size"}
# Symbols that packages of programs depend on: name@node, without the nodes themselves.
PACKAGED = set(re.findall(r"^ (rpma_\S+)", (ROOT / "cmake/package/librpma0/symbols").read_text(), re.MULTILINE))


def test_exports_the_symbols_of_the_reference_and_new_ones_at_their_own_node(reference_library: Path) -> None:
    theirs = {symbol.replace("@@", "@") for symbol in exported(reference_library)}
    assert len(theirs) == 84
    assert all(symbol.endswith("@LIBRPMA_1.0") for symbol in theirs)
    ours = exported(LIBRARY)
    assert {symbol.replace("@@", "@") for symbol in ours} == PACKAGED
    added = PACKAGED - theirs
    assert len(added) == len(PACKAGED) - 84 and all(symbol.endswith("@LIBRPMA_1.4") for symbol in added)
    old_only = {symbol for symbol in ours if "@@" not in symbol}
    assert old_only == {f"{name}@LIBRPMA_1.0" for name in CHANGED}


# Values and layouts that programs built for 1.4 contain, as they were when it was released.
LAYOUT_OF_1_4 = """
#include <librpma.h>
#include <poll.h>
#define IS(what, value) _Static_assert((what) == (value), #what)
#define AT(type, field, offset) IS(offsetof(struct type, field), offset)
IS(RPMA_E_TIMEOUT, -100010);
IS(RPMA_F_MORE, 1 << 16); IS(RPMA_F_SOLICITED, 1 << 18); IS(RPMA_F_INLINE, 1 << 19);
IS(RPMA_MR_USAGE_ATOMIC, 1 << 8);
IS(RPMA_SGES_MAX, 16); IS(RPMA_WAIT_ITEMS_MAX, 1024); IS(RPMA_CONN_OPT_UNSET, UINT32_MAX);
IS(RPMA_FLUSH_METHOD_AUTO, 0); IS(RPMA_FLUSH_METHOD_READ, 1); IS(RPMA_FLUSH_METHOD_NATIVE, 2);
IS(RPMA_REJECTION_NONE, 0); IS(RPMA_REJECTION_NO_LISTENER, 1); IS(RPMA_REJECTION_PROGRAM, 2);
IS(RPMA_REJECTION_OTHER, 3);
IS(RPMA_CONN_OPT_CQ_SIZE, 0); IS(RPMA_CONN_OPT_RCQ_SIZE, 1);
IS(RPMA_CONN_OPT_SQ_SIZE, 2); IS(RPMA_CONN_OPT_RQ_SIZE, 3);
IS(RPMA_CONN_OPT_INLINE_SIZE, 4); IS(RPMA_CONN_OPT_SEND_SGES, 5);
IS(RPMA_CONN_OPT_BATCH_SIZE, 6); IS(RPMA_CONN_OPT_SIGNAL_EVERY, 7);
IS(RPMA_CONN_OPT_COMP_VECTOR, 8); IS(RPMA_CONN_OPT_CQ_MODERATION_COUNT, 9);
IS(RPMA_CONN_OPT_CQ_MODERATION_US, 10); IS(RPMA_CONN_OPT_RETRIES, 11);
IS(RPMA_CONN_OPT_RNR_RETRIES, 12); IS(RPMA_CONN_OPT_RNR_TIMER, 13);
IS(RPMA_CONN_OPT_ACK_TIMEOUT, 14); IS(RPMA_CONN_OPT_TRAFFIC_CLASS, 15);
IS(RPMA_CONN_OPT_FLUSH_METHOD, 16); IS(RPMA_CONN_OPT_CONNECT_MS, 17);

AT(rpma_record, dst, 0); AT(rpma_record, dst_offset, 8); AT(rpma_record, src, 16); AT(rpma_record, src_offset, 24);
AT(rpma_record, len, 32); AT(rpma_record, end_offset, 40); AT(rpma_record, end, 48);
IS(sizeof(struct rpma_record), 56);
AT(rpma_wait_item, cq, 0); AT(rpma_wait_item, conn, 8); AT(rpma_wait_item, ep, 16); AT(rpma_wait_item, peer, 24);
AT(rpma_wait_item, pollfd, 32); AT(rpma_wait_item, context, 40); AT(rpma_wait_item, ready, 48);
IS(sizeof(struct rpma_wait_item), 56);
AT(rpma_range, mr, 0); AT(rpma_range, offset, 8); AT(rpma_range, len, 16); IS(sizeof(struct rpma_range), 24);
"""


def test_values_and_layouts_of_1_4_stay(tmp_path: Path) -> None:
    source = tmp_path / "layout.c"
    source.write_text(LAYOUT_OF_1_4)
    output(*COMPILER, "-Wno-pedantic", f"-I{INCLUDE}", "-fsyntax-only", source)


def test_has_the_soname_of_the_reference(reference_library: Path) -> None:
    assert dynamic(LIBRARY, "SONAME") == dynamic(reference_library, "SONAME") == {"librpma.so.0"}


def test_has_the_version_of_its_header() -> None:
    numbers = re.findall(r"#define RPMA_VERSION_(MAJOR|MINOR) (\d+)", (INCLUDE / "librpma.h").read_text())
    assert LIBRARY.resolve().name.startswith("librpma.so." + ".".join(n for _, n in numbers) + ".")
    assert [name for name, _ in numbers] == ["MAJOR", "MINOR"]


def test_needs_what_the_reference_needs(reference_library: Path) -> None:
    needed = {"libibverbs.so.1", "librdmacm.so.1", "libc.so.6"}
    assert dynamic(reference_library, "NEEDED") == needed
    # and who gives each thread its own rpma_err_text(), which every process has
    assert {name for name in dynamic(LIBRARY, "NEEDED") if not name.startswith("ld-linux")} == needed


def test_takes_no_lock_of_its_own() -> None:
    imported = output("nm", "-D", "--undefined-only", LIBRARY)
    assert "ibv_alloc_pd" in imported
    assert not re.search(r"\b(pthread_|mtx_|sem_)", imported)


# --- texts ---------------------------------------------------------------------


def test_gives_the_texts_of_the_reference(reference_library: Path) -> None:
    def texts(library: Path) -> list[bytes]:
        calls = ctypes.CDLL(str(library))
        calls.rpma_err_2str.restype = calls.rpma_utils_conn_event_2str.restype = ctypes.c_char_p
        errors = [1, 0, -1, *range(-99999, -100010, -1)]
        return [calls.rpma_err_2str(error) for error in errors] + [
            calls.rpma_utils_conn_event_2str(event) for event in range(-2, 6)]

    assert texts(LIBRARY) == texts(reference_library)


# --- the header ----------------------------------------------------------------


def without_comments(header: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)


def constants(include: Path, names: list[str], folder: Path) -> str:
    """What a program compiled with this header thinks the names are worth."""
    rows = "".join(f'printf("{n} %lld\\n", (long long)(intptr_t)({n}));' for n in names)
    layout = (
        'printf("%zu %zu %zu\\n", sizeof(struct rpma_conn_private_data),'
        "offsetof(struct rpma_conn_private_data, ptr),"
        "offsetof(struct rpma_conn_private_data, len));"
    )
    source = folder / "constants.c"
    source.write_text(f"#include <librpma.h>\nint main(void) {{ {rows} {layout} return 0; }}\n")
    output(*COMPILER, f"-I{include}", source, "-o", folder / "constants")
    return output(folder / "constants")


def test_defines_the_constants_of_the_reference(reference_include: Path, tmp_path: Path) -> None:
    header = without_comments(reference_include / "librpma.h")
    names = sorted(set(re.findall(r"\bRPMA_[A-Z0-9_]+\b", header)))
    assert len(names) > 40
    theirs = constants(reference_include, names, tmp_path)
    assert constants(INCLUDE, names, tmp_path) == theirs


def prototypes(include: Path) -> list[str]:
    header = re.sub(r"^#.*$", "", without_comments(include / "librpma.h"), flags=re.MULTILINE)
    statements = re.split(r"[;{}]", header)
    flat = [" ".join(statement.split()) for statement in statements]
    return [s for s in flat if re.match(r"(int|const char ?\*|typedef void) ?rpma_", s)]


def test_declares_the_functions_of_the_reference(reference_include: Path, tmp_path: Path) -> None:
    """C takes a second declaration only if its type is compatible with the first."""
    theirs = prototypes(reference_include)
    assert len(theirs) == 84 + 1  # and the type of the log function
    source = tmp_path / "declarations.c"
    source.write_text("#include <librpma.h>\n" + "".join(f"{p};\n" for p in theirs))
    output(*COMPILER, f"-I{INCLUDE}", "-fsyntax-only", source)


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_compiles_as_cxx(standard: str, tmp_path: Path) -> None:
    source = tmp_path / "program.cc"
    source.write_text(
        "#include <librpma.h>\n"
        "int main() { rpma_peer *peer = nullptr; return rpma_peer_delete(&peer); }\n"
    )
    program = tmp_path / "program"
    output("c++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
           f"-I{INCLUDE}", source, "-o", program, f"-L{LIBRARY.parent}", "-l:librpma.so.0",
           f"-Wl,-rpath-link,{LIBRARY.parent}")  # fmt: skip
    output(program, env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARY.parent)})


# --- programs ------------------------------------------------------------------


def compiled(source: Path, include: Path, folder: Path) -> Path:
    thing = folder / f"{source.stem}.o"
    output(*COMPILER, f"-I{include}", f"-I{ROOT}", "-DBUILT_FOR_1_0", "-c", source, "-o", thing)
    return thing


@pytest.fixture(scope="session")
def support(reference_include: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What the test programs share, built with the header of the reference."""
    folder = tmp_path_factory.mktemp("support")
    sources = [path for path in HERE.glob("*.c") if not path.stem.startswith("test_")]
    sources.append(ROOT / "tests/lib/test.c")
    return [compiled(source, reference_include, folder) for source in sources]


# but for the one that must know how ours was configured
TESTS_OF_1_4 = ("native", "append", "atomics", "connecting", "cq_conns", "deadline", "err_text", "handles", "option", "room", "sendq",
                "sendq_threads", "superseded", "wait")  # fmt: skip
NOT_FOR_1_2 = {HERE / f"test_{name}.c" for name in TESTS_OF_1_4}
PROGRAMS = sorted(set(HERE.glob("test_*.c")) - NOT_FOR_1_2)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_runs_what_was_built_with_the_reference(
    source: Path, support: list[Path], reference_include: Path, reference_library: Path,
    tmp_path: Path
) -> None:  # fmt: skip
    """The reverse, built with ours and run with the reference, is librpma-reference.*."""
    program = tmp_path / source.stem
    output("cc", compiled(source, reference_include, tmp_path), *support, "-o", program,
           "-rdynamic", reference_library, "-lcmocka", "-libverbs", "-lrdmacm", "-ldl")  # fmt: skip
    environment = os.environ | {"LD_LIBRARY_PATH": str(LIBRARY.parent)}
    output(program, "--expect", "ours", env=environment)
