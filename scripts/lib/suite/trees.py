# SPDX-License-Identifier: BSD-3-Clause
"""The build trees: which preset each is, what it is configured with, what it needs installed."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MEMCHECK = ("/usr/bin/valgrind", "--quiet", "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99")


@dataclass(frozen=True)
class Tree:
    """A folder build/NAME."""

    name: str
    preset: str = "release"
    options: tuple[str, ...] = field(default=())
    compiler: str = "gcc"  # a tree whose compiler is not installed is left out


TREES = {tree.name: tree for tree in (
    Tree("release"),
    Tree("asan", "asan"),
    Tree("tsan", "tsan"),
    Tree("coverage", "coverage"),
    Tree("clang", options=("-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++",
                           "-DRPMA_BUILD_FUZZ=ON"), compiler="clang"),
    # the oldest that is supported; its tests are run with the others
    Tree("gcc-11", options=("-DCMAKE_C_COMPILER=gcc-11", "-DRPMA_BUILD_TESTS=OFF"),
         compiler="gcc-11"),
    # a cross build, whose tests run under qemu-user
    Tree("arm64", options=("--toolchain", "cmake/aarch64.cmake", "-DRPMA_MPI=OFF"),
         compiler="aarch64-linux-gnu-gcc"),
    # test programs run under it; an error or a leak fails the test
    Tree("valgrind", "debug", (f"-DCMAKE_CROSSCOMPILING_EMULATOR={';'.join(MEMCHECK)}",)),
)}


def is_possible(tree: Tree) -> bool:
    if tree.name == "arm64" and platform.machine() == "aarch64":
        return False
    return shutil.which(tree.compiler) is not None


def _arm64_root() -> str:
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    done = subprocess.run([ROOT / "tests/fetch-arm64", release], check=True, stdout=subprocess.PIPE,
                          text=True)
    return f"-DRPMA_ARM64_ROOT={done.stdout.strip()}"


def build(name: str) -> list[list[str]]:
    """The commands that configure and build the tree NAME, in the root of the sources."""
    tree = TREES[name]
    options = [*tree.options, f"-DFIO_SOURCE_DIR={os.environ.get('FIO_SOURCE_DIR', '')}"]
    if name == "arm64":
        options.append(_arm64_root())
    if shutil.which("ccache"):
        options += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    folder = f"build/{name}"
    return [["cmake", "--preset", tree.preset, "-B", folder, *options],
            ["cmake", "--build", folder, "-j", str(os.cpu_count())]]
