# SPDX-License-Identifier: BSD-3-Clause
# The CMakeLists.txt of a stranger's project that finds the installed package.
cmake_minimum_required(VERSION 3.18...3.25)
project(consumer LANGUAGES C CXX)
find_package(rpma 1.4 REQUIRED)
configure_file(consumer.c consumer.cpp COPYONLY)
foreach(library IN ITEMS rpma rpma_static)
  add_executable(c_${library} consumer.c)
  add_executable(cxx_${library} ${CMAKE_CURRENT_BINARY_DIR}/consumer.cpp)
  target_link_libraries(c_${library} PRIVATE rpma::${library})
  target_link_libraries(cxx_${library} PRIVATE rpma::${library})
endforeach()
