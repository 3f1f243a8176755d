# SPDX-License-Identifier: BSD-3-Clause
# Writes version.h; leaves it alone when nothing changed, so nothing is rebuilt.
set(commit "")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty --abbrev=40
    --match=NeMatch OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#define VERSION_GIT \"${commit}\"
#define VERSION_COMPILER \"${COMPILER}\"
#define VERSION_CFLAGS \"${FLAGS}\"
#define VERSION_HWLOC \"${HWLOC}\"
#define VERSION_LIBRPMA_NATIVE (${NATIVE}) /* -1: unknown */
")
