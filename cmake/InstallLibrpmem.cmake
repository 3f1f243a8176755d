# SPDX-License-Identifier: BSD-3-Clause
# Installs librpmem for those who build against it: library, header, a
# pkg-config file and a CMake package. Included by librpmem/CMakeLists.txt.
# All paths are relative to the files' own place, so the tree can be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rpmem)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set_target_properties(rpmem_shared PROPERTIES EXPORT_NAME rpmem)
install(TARGETS rpmem_shared EXPORT rpmem-targets
  LIBRARY COMPONENT librpmem1 NAMELINK_COMPONENT librpmem-dev)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT rpmem-targets NAMESPACE rpmem:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rpmem-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/rpmem-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rpmem-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rpmem-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/rpmem-config-version.cmake
        DESTINATION ${package_dir})

file(RELATIVE_PATH RPMEM_PC_PREFIX /prefix/${pkgconfig_dir} /prefix)
string(REGEX REPLACE "/$" "" RPMEM_PC_PREFIX "${RPMEM_PC_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/librpmem.pc.in librpmem.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/librpmem.pc DESTINATION ${pkgconfig_dir})
