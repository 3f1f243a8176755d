# SPDX-License-Identifier: BSD-3-Clause
# Installs librpma for those who build against it: both libraries, headers,
# a pkg-config file and a CMake package. Included by librpma/CMakeLists.txt.
# All paths are relative to the files' own place, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rpma)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(rpma_shared PROPERTIES EXPORT_NAME rpma)
install(TARGETS rpma_static EXPORT rpma-targets)
install(TARGETS rpma_shared EXPORT rpma-targets
  LIBRARY COMPONENT librpma0 NAMELINK_COMPONENT librpma-dev)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT rpma-targets NAMESPACE rpma:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rpma-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/rpma-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rpma-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rpma-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/rpma-config-version.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH RPMA_PC_PREFIX /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" RPMA_PC_PREFIX "${RPMA_PC_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/librpma.pc.in librpma.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/librpma.pc DESTINATION ${pkgconfig_dir})
