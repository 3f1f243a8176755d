# SPDX-License-Identifier: BSD-3-Clause
# Builds for arm64 on another machine, with gcc-aarch64-linux-gnu; tests and tools run under
# qemu-user. Libraries and headers are those below RPMA_ARM64_ROOT, or, without it, those that
# dpkg has installed for arm64 beside the host's:
#   cmake --preset release -B build/arm64 --toolchain cmake/aarch64.cmake \
#     -DRPMA_ARM64_ROOT=$(tests/fetch-arm64 bookworm) -DRPMA_MPI=OFF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RPMA_ARM64_ROOT)

set(CMAKE_SYSROOT ${RPMA_ARM64_ROOT})
if(RPMA_ARM64_ROOT)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
endif()
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${RPMA_ARM64_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
  ${RPMA_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${RPMA_ARM64_ROOT}/usr/share/pkgconfig)

find_program(RPMA_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(RPMA_QEMU)
  # a processor without DC CVAP, which qemu-user reports to programs but does not execute
  set(CMAKE_CROSSCOMPILING_EMULATOR ${RPMA_QEMU} -cpu cortex-a72 -L ${RPMA_ARM64_ROOT}/)
endif()
