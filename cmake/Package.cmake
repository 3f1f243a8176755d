# SPDX-License-Identifier: BSD-3-Clause
# Debian packages of an installation below /usr: one for each component that
# install() names. scripts/package configures, builds and packs. The version is
# above Debian's own of librpma, and that for one release below the next one's.
file(STRINGS /etc/os-release os_release)
foreach(key IN ITEMS ID VERSION_ID)
  set(os_${key} "")
  if("${os_release}" MATCHES "(^|;)${key}=\"?([a-z0-9.]+)")
    set(os_${key} ${CMAKE_MATCH_2})
  endif()
endforeach()
if(NOT CPACK_PACKAGE_CONTACT)
  execute_process(COMMAND git log -1 "--format=%an <%ae>" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE CPACK_PACKAGE_CONTACT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/debs)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE rpma-toolkit)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${os_ID}${os_VERSION_ID})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/fio_engine
  ${PROJECT_BINARY_DIR}/soft_device)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_trees.cmake)
# for package_trees.cmake
set(CPACK_RPMA_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_RPMA_STRIP ${CMAKE_STRIP})

set(release ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(same_machine "\nMulti-Arch: same") # CPack has no variable for it before 3.31
set(about_librpma "Remote persistent memory is read, written and flushed with RDMA.\n\
A drop-in for librpma.so.0 of the former RPMA library.")
set(about_librpmem "Keeps copies of ranges of memory durable in pools on another host.\n\
A drop-in for librpmem.so.1 of the former PMDK library.")

# package(NAME SECTION SUMMARY TEXT [FIELD VALUE]...): fields of its control file
function(package name section summary text)
  if(NOT name IN_LIST installed)
    return()
  endif()
  string(TOUPPER ${name} key)
  list(APPEND CPACK_COMPONENTS_ALL ${name})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
  set(fields NAME ${name} SECTION "${section}" ${ARGN})
  while(fields)
    list(POP_FRONT fields field value)
    set(CPACK_DEBIAN_${key}_PACKAGE_${field} "${value}" PARENT_SCOPE)
  endwhile()
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()

# cmake/package/FOLDER has the maintainer scripts and triggers of a package.
function(package_scripts name folder)
  string(TOUPPER ${name} key)
  file(GLOB files ${PROJECT_SOURCE_DIR}/cmake/package/${folder}/*)
  set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA "${files};${ARGN}" PARENT_SCOPE)
endfunction()

# The Python modules are those of a set in scripts/packages.list.
file(STRINGS ${PROJECT_SOURCE_DIR}/scripts/packages.list lines REGEX "^(\\[|[a-z])")
list(FIND lines "[report]" begin)
math(EXPR begin "${begin} + 1")
list(SUBLIST lines ${begin} -1 lines)
set(python_modules "python3 (>= 3.10)")
foreach(line IN LISTS lines)
  if(line MATCHES "^\\[")
    break()
  endif()
  string(REGEX MATCH "^[^ ]+" module "${line}")
  string(APPEND python_modules ", ${module}")
endforeach()

get_cmake_property(installed COMPONENTS)
set(CPACK_COMPONENTS_ALL)
package(librpma0 "libs${same_machine}" "remote persistent memory access library"
  "${about_librpma}")
package(librpma-dev "libdevel${same_machine}" "remote persistent memory access, development files"
  "${about_librpma}\nHeaders, the static library, and a manual page for each call."
  DEPENDS "librpma0 (= ${release}), libibverbs-dev, librdmacm-dev")
package(librpmem1 "libs${same_machine}" "remote pools of persistent memory, library"
  "${about_librpmem}" DEPENDS "openssh-client | ssh-client")
package(librpmem-dev "libdevel${same_machine}" "remote pools of persistent memory, development files"
  "${about_librpmem}\nHeader, examples, and a manual page for each call."
  DEPENDS "librpmem1 (= ${release})")
package(rpma-tools utils "tools for remote persistent memory over RDMA"
  "rpma-bench measures latency and bandwidth, rpma-ping tests the way to remote\n\
memory, rpma-ddio-check tells whether a machine keeps what a peer flushed, and\n\
rpmemd serves pools to librpmem. With guides and JSON schemas."
  RECOMMENDS rpma-soft SUGGESTS rpma-report PROVIDES rpmemd CONFLICTS rpmemd REPLACES rpmemd)
package(rpma-bench-mpi utils "measure remote memory over RDMA from many hosts"
  "rpma-bench-mpi is rpma-bench run by MPI, one client or server in each rank."
  RECOMMENDS "rpma-tools, openmpi-bin")
package(rpma-soft utils "software RDMA device in user space"
  "Runs unmodified programs of libibverbs and librdmacm without an RDMA NIC and\n\
without root, and injects faults such as lost connections."
  RECOMMENDS "libdw1 | libdw1t64") # the lines of --check
package(rpma-report utils "charts and comparisons of remote memory measurements"
  "Makes one HTML page from results of rpma-bench, rpma-ping, rpma-ddio-check and\n\
fio, compares them, and runs studies."
  DEPENDS "${python_modules}" ARCHITECTURE all SHLIBDEPS OFF SUGGESTS rpma-tools)
get_directory_property(fio_version DIRECTORY fio_engine DEFINITION headers_version)
if(NOT TARGET fio_librpma) # without the engine, programs beside it are no package
  list(REMOVE_ITEM installed fio-engine-librpma)
endif()
package(fio-engine-librpma utils "fio ioengine for remote persistent memory"
  "The ioengine librpma lets fio read and write the memory of another host over\n\
RDMA. Its job files, and those of fio's former librpma engines, run with it."
  RECOMMENDS rpma-soft)
if(fio_version) # fio loads engines of its own release only
  list(SORT fio_version COMPARE NATURAL)
  list(TRANSFORM fio_version REPLACE "^fio-([0-9]+\\.[0-9]+).*" "\\1")
  list(GET fio_version 0 oldest)
  list(GET fio_version -1 newest)
  string(REGEX MATCH "([0-9]+)\\.([0-9]+)" newest ${newest})
  math(EXPR next "${CMAKE_MATCH_2} + 1")
  set(CPACK_DEBIAN_FIO-ENGINE-LIBRPMA_PACKAGE_DEPENDS
    "fio (>= ${oldest}), fio (<< ${CMAKE_MATCH_1}.${next}~)")
endif()

# A trigger runs ldconfig. CPack writes scripts for it unless some are given; these do not exist,
# and are left out.
foreach(name IN ITEMS librpma0 librpmem1 rpma-soft fio-engine-librpma)
  set(more omitted-on-purpose/postinst omitted-on-purpose/postrm)
  if(name MATCHES "^(librpm.*)([0-9])$") # what programs linked with it depend on
    file(WRITE ${PROJECT_BINARY_DIR}/package/${name}/shlibs
      "${CMAKE_MATCH_1} ${CMAKE_MATCH_2} ${name} (>= ${PROJECT_VERSION})\n")
    list(APPEND more ${PROJECT_BINARY_DIR}/package/${name}/shlibs)
    file(GLOB symbols ${PROJECT_SOURCE_DIR}/cmake/package/${name}/symbols) # shlibs is for what it lacks
    list(APPEND more ${symbols})
  endif()
  package_scripts(${name} library ${more})
endforeach()
package_scripts(rpma-tools rpma-tools)
package_scripts(rpma-report rpma-report)
include(CPack)
