# SPDX-License-Identifier: BSD-3-Clause
# The CMakeLists.txt of a stranger's project that finds the installed librpmem.
cmake_minimum_required(VERSION 3.18...3.25)
project(consumer LANGUAGES C)
find_package(rpmem 1.4 REQUIRED)
add_executable(consumer rpmem_consumer.c)
target_link_libraries(consumer PRIVATE rpmem::rpmem)
