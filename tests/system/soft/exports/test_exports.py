# SPDX-License-Identifier: BSD-3-Clause
"""librpma-soft.so against the libibverbs.so.1 and librdmacm.so.1 that are installed here.

The real libraries are not loaded, so a program that needs a symbol or a version that the device
lacks does not start; one more than needed could catch a call that is meant for another library.
"""

import ctypes
import ctypes.util
import errno
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

DEVICE = os.environ["RPMA_SOFT_LIBRARY"]
REAL = ("libibverbs.so.1", "librdmacm.so.1")
NAMES = os.path.join(os.path.dirname(DEVICE), "librpma-soft")
# private to rdma-core by its version, but programs import them all the same
PRIVATE_YET_USED = {"ibv_query_gid_type"}
# rdma-core has these since releases after 44, up to 65
NEWER = re.compile(
    r"ibv_(wr_opcode_str|(alloc|free|reg)_buf(_mr)?|(de)?alloc_dmah|reg_mr_ex|query_port_speed)$"
    r"|ibv_(dm_export|export_buf)_dmabuf_fd$|_?ibv_(\w+_)?comp_cntr(_caps)?$"
    r"|rdma_(query|resolve)_addrinfo$|rdma_write_cm_event$|repoll_(create|ctl|wait)$"
)
# what libibverbs gives to providers has no fixed version: see librpma-soft.map
FOR_PROVIDERS = re.compile(
    r"ibv_cmd_\w+$|_{0,2}verbs_\w+$|(__ioctl_final_num_attrs|execute_ioctl)$|ibv_dmabuf_heap_\w+$"
    r"|ibv_read_ibdev_sysfs_file$|ibv_register_driver$"
)
# how a target makes memory durable: the device watches it where a power failure is asked for
DURABILITY = {"msync", "fsync", "fdatasync", "pmem_persist", "pmem_flush", "pmem_drain"}
# libc's with the path of a file: the device answers for its own (soft_device/sysfs)
FILES = set(
    "open openat open64 openat64 __open_2 __openat_2 __open64_2 __openat64_2 fopen fopen64 access"
    " euidaccess eaccess faccessat readlink readlinkat __readlink_chk __readlinkat_chk realpath"
    " __realpath_chk canonicalize_file_name stat lstat fstat fstatat stat64 lstat64 fstat64 fstatat64"
    " __xstat __lxstat __fxstat __fxstatat __xstat64 __lxstat64 __fxstat64 __fxstatat64 statx opendir"
    " fdopendir readdir readdir64 readdir_r readdir64_r closedir dirfd rewinddir telldir seekdir"
    " scandir scandir64 scandirat scandirat64 glob glob64".split()
)
# how a program takes registered memory away: the device keeps its peers from what comes there next
UNMAPPING = {"munmap", "mmap", "mmap64", "mremap", "madvise"}
# a process with findings ends with their status (rpma-soft --check)
ENDING = {"_exit", "_Exit", "rpma_soft_block_freed", "rpma_soft_block_is_registered",
          "rpma_soft_durable", "rpma_soft_durable_at_peer", "rpma_soft_commit_word"}  # fmt: skip
# belong to a sanitizer, or to gcov (libgcov's own mangle_path() is not hidden)
OF_A_RUNTIME = re.compile(r"__asan|__gcov_|mangle_path$")


class Symbol(NamedTuple):
    name: str
    version: str  # empty: none
    is_default: bool = True


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
            symbols.add(Symbol(bare, version.lstrip("@"), version[:1] in ("", "@")))
    return symbols


def of_library(library: str) -> set[Symbol]:
    """Those that programs are linked with: by default, not of the ABI before 2007."""
    return {symbol for symbol in exports(path_of(library)) if symbol.is_default}


@pytest.mark.parametrize("library", REAL)
def test_every_public_function_is_there_at_its_version(library: str) -> None:
    public = {symbol for symbol in of_library(library) if "PRIVATE" not in symbol.version}
    assert sorted(public - exports(DEVICE)) == []


@pytest.mark.parametrize("library", REAL)
def test_every_private_symbol_is_there_for_each_version(library: str) -> None:
    """libmlx5 and the like name some, and programs are linked with these."""
    ours = {symbol.name for symbol in exports(DEVICE) if symbol.version == ""}
    private = {symbol.name for symbol in of_library(library) if "PRIVATE" in symbol.version}
    assert sorted((private | PRIVATE_YET_USED | {"ibv_wr_opcode_str"}) - ours) == []


def versions(path: str) -> set[str]:
    output = subprocess.run(
        ["readelf", "--wide", "--version-info", path], capture_output=True, text=True, check=True
    ).stdout
    defined = output.partition(".gnu.version_d")[2].partition(".gnu.version_r")[0]
    return set(re.findall(r"Name: (\w+_[\w.]+)$", defined, re.MULTILINE))


@pytest.mark.parametrize("library", REAL)
def test_every_version_is_there(library: str) -> None:
    real = versions(path_of(library))
    assert len(real) > 3
    assert sorted(real - versions(os.path.join(NAMES, library))) == []


def test_only_what_has_a_version_there_has_one() -> None:
    """A symbol without one serves each version that is asked for."""
    known = set().union(*map(of_library, REAL))
    ours = {symbol for symbol in exports(DEVICE) if symbol.version}
    assert sorted(symbol for symbol in ours - known if not NEWER.match(symbol.name)) == []


def test_nothing_else_is_there() -> None:
    known = {symbol.name for library in REAL for symbol in of_library(library)}
    known |= PRIVATE_YET_USED | DURABILITY | FILES | UNMAPPING | ENDING
    ours = {symbol.name for symbol in exports(DEVICE)} - known
    expected = (NEWER, FOR_PROVIDERS, OF_A_RUNTIME)
    assert sorted(name for name in ours if not any(known.match(name) for known in expected)) == []


def test_files_are_asked_for_by_functions_of_libc() -> None:
    libc = {symbol.name for symbol in exports(path_of("libc.so.6"))}
    assert sorted(FILES - libc) == []
    assert sorted(FILES - {symbol.name for symbol in exports(DEVICE) if symbol.version == ""}) == []


@pytest.mark.parametrize("library", REAL)
def test_the_names_have_nothing_of_their_own(library: str) -> None:
    assert exports(os.path.join(NAMES, library)) == set()


@pytest.fixture(scope="module")
def libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    needs = subprocess.run(
        ["nm", "-D", "--undefined-only", DEVICE], capture_output=True, text=True, check=True
    ).stdout
    if "__asan_" in needs or "__tsan_" in needs:
        pytest.skip("a sanitizer's runtime would have to be loaded first")
    return ctypes.CDLL(path_of("libibverbs.so.1")), ctypes.CDLL(DEVICE, use_errno=True)


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


COUNTERS = (
    "_ibv_query_comp_cntr_caps ibv_destroy_comp_cntr ibv_inc_comp_cntr ibv_inc_err_comp_cntr"
    " ibv_qp_attach_comp_cntr ibv_read_comp_cntr ibv_read_err_comp_cntr ibv_set_comp_cntr"
    " ibv_set_err_comp_cntr"
)
WITHOUT_ANYTHING_BEHIND = {
    # they return the error
    errno.EOPNOTSUPP: f"ibv_set_ece ibv_query_ece {COUNTERS} ibv_query_port_speed ibv_dealloc_dmah"
    " execute_ioctl __ioctl_final_num_attrs ibv_dmabuf_heap_cc_shared_init",
    -errno.EOPNOTSUPP: "ibv_resolve_eth_l2_from_gid",
    # errno tells
    -1: "ibv_dm_export_dmabuf_fd ibv_export_buf_dmabuf_fd ibv_read_ibdev_sysfs_file"
    " rdma_query_addrinfo rdma_resolve_addrinfo rdma_write_cm_event repoll_create repoll_ctl"
    " repoll_wait",
    None: "ibv_import_device ibv_import_pd ibv_import_mr ibv_import_dm ibv_reg_dmabuf_mr"
    " ibv_alloc_buf ibv_alloc_dmah ibv_create_comp_cntr ibv_reg_buf_mr ibv_reg_mr_ex"
    " _verbs_init_and_alloc_context verbs_open_device ibv_dmabuf_heap_alloc",
    # they have nothing to do
    0: "ibv_fork_init ibv_dontfork_range ibv_dofork_range ibv_query_qp_data_in_order",
    2: "ibv_is_fork_initialized",  # IBV_FORK_UNNEEDED
}
WITHOUT_A_RESULT = (
    "ibv_unimport_pd ibv_unimport_mr ibv_unimport_dm ibv_register_driver ibv_free_buf __verbs_log"
    " verbs_init_cq verbs_set_ops verbs_uninit_context ibv_dmabuf_heap_free ibv_dmabuf_heap_destroy"
)


@pytest.mark.parametrize("result", WITHOUT_ANYTHING_BEHIND)
def test_what_has_nothing_behind_it_tells_so(
    libraries: tuple[ctypes.CDLL, ctypes.CDLL], result: int | None
) -> None:
    """None of their arguments is looked at."""
    names = WITHOUT_ANYTHING_BEHIND[result].split()
    if result == errno.EOPNOTSUPP:
        names += [symbol.name for symbol in exports(DEVICE) if symbol.name.startswith("ibv_cmd_")]
        assert len(names) > 90
    for name in names:
        function = getattr(libraries[1], name)
        function.restype = ctypes.c_void_p if result is None else ctypes.c_int
        ctypes.set_errno(0)
        assert (name, function()) == (name, result)
        if result in (-1, None):
            assert (name, ctypes.get_errno()) == (name, errno.EOPNOTSUPP)


def test_what_can_tell_nothing_returns(libraries: tuple[ctypes.CDLL, ctypes.CDLL]) -> None:
    drivers = re.compile(r"verbs_register_driver_\d+$")
    names = [symbol.name for symbol in exports(DEVICE) if drivers.match(symbol.name)]
    assert len(names) > 40
    for name in WITHOUT_A_RESULT.split() + names:
        getattr(libraries[1], name)()


@pytest.mark.parametrize(
    "name", ["ah_attr_from_kern", "qp_attr_from_kern", "path_rec_from_kern", "path_rec_to_kern"]
)
def test_what_no_kernel_fills_is_empty(
    libraries: tuple[ctypes.CDLL, ctypes.CDLL], name: str
) -> None:
    room = (ctypes.c_ubyte * 1024)(*[0xFF] * 1024)
    getattr(libraries[1], f"ibv_copy_{name}")(room, None)
    filled = bytes(room).rstrip(b"\xff")
    assert filled == bytes(len(filled)) != b""


def test_a_file_is_read_without_its_newline(
    libraries: tuple[ctypes.CDLL, ctypes.CDLL], tmp_path: Path
) -> None:
    (tmp_path / "rate").write_text("100 Gb/sec\n")
    for library in libraries:
        room = ctypes.create_string_buffer(64)
        read = library.ibv_read_sysfs_file
        assert read(os.fsencode(tmp_path), b"rate", room, ctypes.c_size_t(64)) == 10
        assert room.value == b"100 Gb/sec"
        assert read(os.fsencode(tmp_path), b"absent", room, ctypes.c_size_t(64)) == -1
