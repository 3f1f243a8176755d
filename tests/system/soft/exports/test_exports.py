# SPDX-License-Identifier: BSD-3-Clause
"""librpma-soft.so against the libibverbs.so.1 and librdmacm.so.1 that are installed here.

A symbol that the device lacks would be the real library's, which crashes on objects of ours; one
with a version, or one more than needed, could catch a call that is meant for another library.
"""

import ctypes
import ctypes.util
import os
import re
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import pytest

DEVICE = os.environ["RPMA_SOFT_LIBRARY"]
REAL = ("libibverbs.so.1", "librdmacm.so.1")
# private to rdma-core by its version, but programs import them all the same
PRIVATE_YET_USED = {"ibv_query_gid_type"}
# public in rdma-core after the oldest that we build with
NEWER = {"ibv_wr_opcode_str"}
# how a target makes memory durable: the device watches it where a power failure is asked for
DURABILITY = {"msync", "fsync", "fdatasync", "pmem_persist", "pmem_flush", "pmem_drain"}
# belong to a sanitizer, or to gcov (libgcov's own mangle_path() is not hidden)
OF_A_RUNTIME = re.compile(r"__asan|__gcov_|mangle_path$")


class Symbol(NamedTuple):
    name: str
    version: str  # empty: none


def path_of(library: str) -> str:
    output = subprocess.run(
        ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True
    ).stdout
    for line in output.splitlines():
        if line.split(" ", 1)[0].strip() == library and "=>" in line:
            return line.split("=>")[1].strip()
    pytest.skip(f"no {library} here")


def exports(path: str) -> set[Symbol]:
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    symbols = set()
    for line in lines:
        kind, name = line.split()[-2:]
        if kind != "A":  # the version nodes themselves
            bare, _, version = name.partition("@")
            symbols.add(Symbol(bare, version.lstrip("@")))
    return symbols


def public_names(library: str) -> set[str]:
    return {symbol.name for symbol in exports(path_of(library)) if "PRIVATE" not in symbol.version}


@pytest.mark.parametrize("library", REAL)
def test_every_public_function_is_there(library: str) -> None:
    ours = {symbol.name for symbol in exports(DEVICE)}
    assert sorted(public_names(library) - ours) == []


def test_what_programs_import_besides_is_there() -> None:
    ours = {symbol.name for symbol in exports(DEVICE)}
    assert sorted((PRIVATE_YET_USED | NEWER) - ours) == []


def test_nothing_has_a_version() -> None:
    """A preloaded symbol without one serves each version that is asked for."""
    assert sorted(symbol for symbol in exports(DEVICE) if symbol.version) == []


def test_nothing_else_is_there() -> None:
    known = set().union(*(public_names(library) for library in REAL))
    known |= PRIVATE_YET_USED | NEWER | DURABILITY
    ours = {symbol.name for symbol in exports(DEVICE)}
    assert sorted(name for name in ours - known if not OF_A_RUNTIME.match(name)) == []


@pytest.fixture(scope="module")
def libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    needs = subprocess.run(
        ["nm", "-D", "--undefined-only", DEVICE], capture_output=True, text=True, check=True
    ).stdout
    if "__asan_" in needs or "__tsan_" in needs:
        pytest.skip("a sanitizer's runtime would have to be loaded first")
    return ctypes.CDLL(path_of("libibverbs.so.1")), ctypes.CDLL(DEVICE)


def results(library: ctypes.CDLL, name: str, kind: type, values: range) -> list[object]:
    function: Callable[[int], object] = getattr(library, name)
    function.restype = kind  # type: ignore[attr-defined]
    return [function(value) for value in values]


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("ibv_wc_status_str", ctypes.c_char_p, range(-1, 40)),
        ("ibv_event_type_str", ctypes.c_char_p, range(-1, 40)),
        ("ibv_node_type_str", ctypes.c_char_p, range(-1, 20)),
        ("ibv_port_state_str", ctypes.c_char_p, range(-1, 20)),
        ("ibv_rate_to_mult", ctypes.c_int, range(-1, 40)),
        ("ibv_rate_to_mbps", ctypes.c_int, range(-1, 40)),
        ("mult_to_ibv_rate", ctypes.c_int, range(-1, 1000)),
        ("mbps_to_ibv_rate", ctypes.c_int, range(0, 1300000)),
    ],
)
def test_words_and_rates_are_the_same(
    libraries: tuple[ctypes.CDLL, ctypes.CDLL], name: str, kind: type, values: range
) -> None:
    real, ours = libraries
    assert results(ours, name, kind, values) == results(real, name, kind, values)
